// Two or more classes: decisions at a threshold, ROC curve, calibration.
const className = (place) => data.classes[place].text;
const quality = {};

function makeClassCharts() {
  const target = find('quality');
  const count = data.classes.length;
  if (count > 2 || !chosen().curves) {
    quality.confusion = make('div', { class: 'block' });
    target.append(quality.confusion);
  }
  if (!chosen().curves) return; // a model without probabilities
  const select = make('select', { id: 'positive', onchange: (event) => { view.positive = Number(event.target.value); showClassCharts(); } },
    ...chosen().curves.map((curve, place) => make('option', { value: place, text: className(place) })));
  view.positive = Math.min(view.positive, chosen().curves.length - 1);
  select.value = String(view.positive);
  const threshold = make('input', { type: 'range', id: 'threshold', min: 1, max: 99, value: view.threshold,
    oninput: (event) => { view.threshold = Number(event.target.value); showClassCharts(); } });
  quality.output = make('output', { for: 'threshold' });
  quality.input = threshold;
  quality.label = make('label', { for: 'threshold' });
  quality.counts = make('div');
  quality.rates = make('div', { class: 'rates', 'aria-live': 'polite' });
  const chooser = make('div', { class: 'choose' }, make('label', { for: 'positive', text: count > 2 ? 'One class against the others:' : 'Class to detect:' }), select);
  const setting = make('div', { class: 'threshold' }, quality.label, threshold, quality.output);
  const decisions = make('div', { class: 'block' }, make('h3', { text: 'Decisions at a threshold' }),
    make('div', { class: 'decisions' }, make('div', {}, setting, quality.counts), quality.rates));
  quality.roc = figure('ROC curve', 'How many of the class are found, against how many others are called so by mistake.', 'ROC curve', 330);
  quality.calibration = figure('Calibration', 'How often a probability comes true: points on the diagonal are right, bars are 95% intervals.', 'Calibration curve', 330);
  target.append(chooser, decisions, make('div', { class: 'charts' }, quality.roc.element, quality.calibration.element));
}

function showClassCharts() {
  const state = current();
  const curves = state.curves || chosen().curves;
  const confusion = state.confusion || chosen().confusion;
  if (quality.confusion && confusion) {
    const names = data.classes.map((name) => shorten(name.text, 24));
    quality.confusion.replaceChildren(make('h3', { text: 'Confusion matrix' }), confusionTable(names, confusion));
  }
  if (!curves) return;
  showDecisions(curves[view.positive]);
  showRoc(curves[view.positive]);
  showCalibration(curves[view.positive]);
}

function decide(curve) {
  const [hits, alarms] = [curve.hits[view.threshold - 1], curve.alarms[view.threshold - 1]];
  return { hits, alarms, misses: curve.positives - hits, rejections: curve.negatives - alarms };
}

function showDecisions(curve) {
  const name = className(view.positive);
  const other = data.classes.length === 2 ? className(1 - view.positive) : 'another class';
  const { hits, alarms, misses, rejections } = decide(curve);
  quality.label.textContent = `Answer “${shorten(name, 40)}” when its probability is at least`;
  quality.output.textContent = (view.threshold / 100).toFixed(2);
  quality.input.setAttribute('aria-valuetext', `probability ${(view.threshold / 100).toFixed(2)}`);
  quality.counts.replaceChildren(confusionTable([shorten(name, 24), shorten(other, 24)], [[hits, misses], [alarms, rejections]]));
  const short = `“${shorten(name, 24)}”`;
  const rates = [
    ['Sensitivity', percent(hits, curve.positives), `of those truly ${short} are found`],
    ['Specificity', percent(rejections, curve.negatives), 'of the others are left alone'],
    ['Positive predictive value', percent(hits, hits + alarms), `of the answers ${short} are right`],
    ['Negative predictive value', percent(rejections, rejections + misses), 'of the other answers are right'],
  ];
  quality.rates.replaceChildren(...rates.map(([term, value, text]) => make('div', {}, make('small', { text: term }), make('b', { text: value }), make('span', { text }))));
}

const diagonal = () => ({ type: 'line', x0: 0, y0: 0, x1: 1, y1: 1, line: { color: colour('strong-line'), width: 1, dash: 'dot' }, layer: 'below' });
const unit = (title) => ({ title, range: [-0.03, 1.03], tickvals: [0, 0.2, 0.4, 0.6, 0.8, 1], zeroline: false });

function showRoc(curve) {
  const { hits, alarms } = decide(curve);
  const here = [alarms / curve.negatives, hits / curve.positives];
  const line = { type: 'scatter', mode: 'lines', x: curve.false_positive_rate, y: curve.true_positive_rate, line: { color: colour('accent'), width: 2.2, shape: 'linear' },
    hovertemplate: 'found %{y:.0%}, false alarms %{x:.0%}<extra></extra>', fill: 'tozeroy', fillcolor: `rgba(${colour('tint')}, .07)` };
  const point = { type: 'scatter', mode: 'markers', x: [here[0]], y: [here[1]], marker: { size: 13, color: colour('surface'), line: { color: colour('accent'), width: 3 } },
    hovertemplate: `threshold ${(view.threshold / 100).toFixed(2)}<br>found %{y:.1%}, false alarms %{x:.1%}<extra></extra>` };
  const area = { xref: 'paper', yref: 'paper', x: 0.97, y: 0.06, xanchor: 'right', yanchor: 'bottom', showarrow: false, font: { size: 13.5, color: colour('ink') },
    text: curve.auc === null ? 'needs both classes' : `area under the curve ${curve.auc.toFixed(3)}` };
  draw(quality.roc.plot, curve.auc === null ? [] : [line, point], { xaxis: unit('1 − specificity'), yaxis: unit('sensitivity'), shapes: [diagonal()], annotations: [area] });
}

function showCalibration(curve) {
  const text = curve.counts.map((count, place) => `${count} rows: predicted ${percent(curve.predicted[place], 1)}, true ${percent(curve.observed[place], 1)}`);
  const trace = { type: 'scatter', mode: 'lines+markers', x: curve.predicted, y: curve.observed, text, hovertemplate: '%{text}<extra></extra>',
    line: { color: colour('accent'), width: 1.4 }, marker: { size: 8, color: colour('accent') },
    error_y: { type: 'data', symmetric: false, color: colour('faint'), thickness: 1.4, width: 0, array: curve.high.map((high, i) => high - curve.observed[i]),
      arrayminus: curve.low.map((low, i) => curve.observed[i] - low) } };
  draw(quality.calibration.plot, [trace], { xaxis: unit('predicted probability'), yaxis: unit('fraction that is true'), shapes: [diagonal()] });
}
