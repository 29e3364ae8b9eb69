// The slider, and what happens when it moves, when the theme changes, and when the page is printed.
const isSurvival = data.task === 'cox';
const isNumber = !data.classes.length && !isSurvival;

function choose(place) {
  view.place = Math.max(0, Math.min(data.states.length - 1, place));
  show();
}

function showControl() {
  const slider = find('k-slider');
  if (!slider) return;
  const { k } = current();
  const isChosen = view.place === data.chosen;
  slider.value = String(view.place);
  slider.setAttribute('aria-valuetext', `${k} ${k === 1 ? data.unit.slice(0, -1) : data.unit}${isChosen ? ', the chosen model' : ''}`);
  find('k-value').textContent = String(k);
  find('back').hidden = isChosen;
  const scores = data.heldOut ? 'Its scores below are for information: to pick a model by them would make them too good.' : '';
  find('k-note').classList.toggle('chosen-note', isChosen);
  find('k-note').textContent = isChosen ? 'This is the chosen model. Move the slider to look at the others.' : `The chosen model has k = ${chosen().k}. ${scores}`;
}

function makeControl() {
  const slider = find('k-slider');
  if (!slider) return;
  slider.addEventListener('input', () => choose(Number(slider.value)));
  find('back').addEventListener('click', () => { choose(data.chosen); slider.focus(); });
  const showTicks = () => {
    const last = data.states.length - 1;
    const most = Math.max(2, Math.floor((slider.clientWidth || 300) / 30));
    const every = Math.ceil((last + 1) / most);
    const shown = data.states.map((state, place) => place).filter((place) => place === data.chosen || (place % every === 0 && Math.abs(place - data.chosen) >= every));
    find('k-ticks').replaceChildren(...shown.map((place) => make('span', { text: String(data.states[place].k), class: place === data.chosen ? 'chosen' : null,
      style: { left: `${(100 * place) / Math.max(1, last)}%` } })));
  };
  showTicks();
  window.addEventListener('resize', showTicks);
}

function showNotes() {
  const count = data.rowCount.toLocaleString('en');
  const held = data.refitted
    ? `On the ${count} held-out rows, by the same kind of model fitted without them. The effects above are of the model that was then fitted to all rows.`
    : `On the ${count} held-out rows, which this model has not seen.`;
  const rows = data.heldOut ? held : `On the ${count} rows the model was fitted to: on new rows it will be worse.`;
  const state = current();
  const missing = data.classes.length && chosen().curves && !state.curves ? ' There are too many classes for the curves of every model: those of the chosen one are shown.' : '';
  const { rows: shown, total } = data.predictions;
  const part = shown.length < total ? ` Charts of single rows and the download have ${shown.length.toLocaleString('en')} of them, drawn at random.` : '';
  find('quality-note').textContent = rows + missing + part;
}

function makePredictionButton() {
  if (!data.predictions.rows.length) return;
  const save = () => {
    const state = current();
    const { rows, truth } = data.predictions;
    const cell = (place) => data.classes[place].cell;
    const heads = data.classes.length === 2 ? [data.classes[1]] : data.classes;
    if (isSurvival) {
      const known = rows.map((row, i) => [row, truth[i], data.predictions.events[i], state.predictions[0][i]]);
      download(`predictions_k${state.k}.csv`, [['row', 'time', 'event', 'log_relative_hazard'], ...known]);
      return;
    }
    if (data.responses.length) {
      const pairs = data.responses.map((name, place) => [name, truth[place], state.predictions[place]]);
      const heads = pairs.flatMap(([name]) => [`true_${name.text}`, `predicted_${name.text}`]);
      download(`predictions_k${state.k}.csv`, [['row', ...heads], ...rows.map((row, i) => [row, ...pairs.flatMap(([, known, predicted]) => [known[i], predicted[i]])])]);
      return;
    }
    const table = rows.map((row, i) => (isNumber
      ? [row, truth[i], state.predictions[0][i]]
      : [row, cell(truth[i]), cell(state.predicted[i]), ...state.predictions.map((column) => column[i])]));
    download(`predictions_k${state.k}.csv`, [['row', 'true', 'predicted', ...heads.slice(0, state.predictions.length).map((name) => `probability_${name.text}`)], ...table]);
  };
  find('prediction-buttons').append(make('button', { type: 'button', id: 'download-predictions', text: 'Download the predictions as CSV', onclick: save }));
}

function show() {
  showControl();
  showCards();
  showFeatures();
  showModels();
  showNotes();
  showCharts();
  fadeTables();
}

// Tables that are wider than the page fade out on the right, as long as there is more.
function fadeTables() {
  for (const each of document.querySelectorAll('.wide')) {
    const mark = () => each.classList.toggle('faded', each.scrollWidth - each.clientWidth - each.scrollLeft > 2);
    each.onscroll = mark;
    mark();
  }
}

makeControl();
makeFeatureButtons();
makePathCharts();
(isSurvival ? makeSurvivalCharts : isNumber ? makeNumberCharts : makeClassCharts)();
makePredictionButton();
show();

function showCharts() {
  for (const each of pathFigures) each.show();
  (isSurvival ? showSurvivalCharts : isNumber ? showNumberCharts : showClassCharts)();
  showValues();
}

// On paper: light colours, charts as wide as the paper, and what is folded unfolded.
let unfolded = [];
function print(on) {
  document.documentElement.classList.toggle('printing', on);
  if (on) unfolded = [...document.querySelectorAll('details:not([open])')];
  for (const details of unfolded) details.open = on;
  showFeatures();
  showCharts();
}

let width = window.innerWidth;
let waiting = 0;
window.addEventListener('resize', () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (window.innerWidth !== width) showCharts(); // phones resize the height while they scroll
    fadeTables();
    width = window.innerWidth;
  }, 120);
});
document.addEventListener('toggle', fadeTables, true);
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
window.addEventListener('beforeprint', () => print(true));
window.addEventListener('afterprint', () => print(false));
