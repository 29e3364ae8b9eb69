// The data of the page, the model that is looked at, and small helpers. Texts from the data reach the page by textContent,
// or, in charts, by plain(), since Plotly takes some tags in texts for markup, and what is between dollar signs for a formula.
const data = JSON.parse(document.getElementById('data').textContent);
const view = { place: data.chosen, positive: Math.min(1, data.classes.length - 1), threshold: 50, group: 'standardized', response: 0 };
const current = () => data.states[view.place];
const chosen = () => data.states[data.chosen];
const find = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'text') element.textContent = value;
    else if (name === 'style') Object.assign(element.style, value);
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

const plain = (text) => String(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/\$/g, '&#36;');
const shorten = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);
const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(whole >= 50 && part > 0 && part < whole ? 1 : 0)}%` : '–');

// Numbers for people: some significant digits, and a true minus sign.
function write(value, digits = 3) {
  if (value === null || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-4 || size >= 1e7)
    ? size.toExponential(digits - 1)
    : Number(size.toPrecision(digits)).toLocaleString('en', { maximumSignificantDigits: digits, useGrouping: size >= 1e4 });
  return (value < 0 ? '−' : '') + text;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const classColour = (place) => colour(`c${place % 8}`);

function legend(target, entries) {
  target.replaceChildren(...entries.map(([paint, text]) => make('span', {}, make('i', { style: { background: paint } }), text)));
}

// A chart in a figure: heading, caption, and a description for those who do not see it.
function figure(heading, caption, description, height) {
  const plot = make('div', { class: 'plot', role: 'img', 'aria-label': description, style: { height: `${height}px` } });
  const parts = [heading && make('h3', { text: heading }), caption && make('figcaption', { text: caption }), plot];
  const element = make('figure', {}, ...parts.filter(Boolean));
  return { element, plot };
}

function caption(made, text) {
  made.element.querySelector('figcaption').textContent = text;
}

function layout(extra) {
  const axis = {
    gridcolor: colour('grid'), linecolor: colour('strong-line'), zeroline: false, fixedrange: true, ticks: '',
    tickfont: { color: colour('soft'), size: 12 }, title: { font: { color: colour('soft'), size: 12 }, standoff: 10 }, showline: false,
  };
  const { xaxis = {}, yaxis = {}, ...rest } = extra;
  const merge = (own) => ({ ...axis, ...own, title: { ...axis.title, text: own.title || '' } });
  return {
    font: { family: 'Inter, system-ui, sans-serif', size: 12, color: colour('ink') }, paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)',
    margin: { l: 48, r: 14, t: 12, b: 42 }, showlegend: false, dragmode: false, hovermode: 'closest', separators: '.,',
    hoverlabel: { bgcolor: colour('surface'), bordercolor: colour('strong-line'), font: { family: 'Inter, sans-serif', size: 12.5, color: colour('ink') }, align: 'left' },
    xaxis: merge({ showgrid: false, ...xaxis }), yaxis: merge({ automargin: 'left', ...yaxis }), ...rest,
  };
}

function draw(plot, traces, extra) {
  const options = { displayModeBar: false, doubleClick: false, showTips: false };
  return Plotly.react(plot, traces, { ...layout(extra), width: plot.clientWidth, height: plot.clientHeight }, options);
}

// Cells of a CSV file; the texts have been made harmless to spreadsheets when the page was written.
function download(name, rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? '' : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const content = `${rows.map((row) => row.map(cell).join(',')).join('\n')}\n`;
  const address = URL.createObjectURL(new Blob([content], { type: 'text/csv;charset=utf-8' }));
  const link = make('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
