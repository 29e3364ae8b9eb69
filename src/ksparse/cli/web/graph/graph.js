'use strict';
// The page of a graph. Texts from the data reach the page by textContent, and the canvas of Cytoscape.js, never as markup.
const data = JSON.parse(document.getElementById('data').textContent);
const find = (id) => document.getElementById(id);
const view = { step: data.chosen, sort: null, selected: null, everyRow: false };
const FIRST_ROWS = 30, SMALL = 40, NEIGHBOURS = 6;

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'text') element.textContent = value;
    else if (name === 'colour') element.style.background = value;
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const write = (value) => (value < 0 ? '−' : '+') + Math.abs(value).toFixed(3);
const percent = (value) => `${Math.round(100 * value)}\u00a0%`;
const groupOf = (node) => (data.nodes[node].group < 0 ? null : data.groups[data.nodes[node].group]);
const isStable = (edge) => !data.frequencies || data.frequencies[edge] >= data.threshold - 1e-9;

// The graph of the current step: its edges, and the neighbours of each node, the strongest first.
function current() {
  const step = data.steps[view.step];
  const neighbours = data.nodes.map(() => []);
  step.edges.forEach((edge, place) => {
    const [one, other] = data.edges[edge];
    neighbours[one].push({ node: other, strength: step.strengths[place], edge });
    neighbours[other].push({ node: one, strength: step.strengths[place], edge });
  });
  return { step, neighbours, degrees: neighbours.map((list) => list.length) };
}
let shown = current();
// A narrow window has room for fewer names, and shows a wide graph upright.
const hubCount = () => Math.min(Math.max(Math.round(window.innerWidth / 60), 6), 18);
const upright = window.innerHeight > window.innerWidth;

// --- the picture --------------------------------------------------------------------------------------------------
const largest = Math.max(...data.steps.flatMap((step) => step.strengths.map(Math.abs)), 1e-9);
const busiest = Math.max(...shown.degrees, 1);

function style() {
  return [
    { selector: 'node', style: {
      width: 'data(size)', height: 'data(size)', 'background-color': 'data(colour)', 'border-width': 1, 'border-color': colour('node-line'),
      color: colour('ink'), 'font-size': 12, 'font-family': 'system-ui, sans-serif', 'text-outline-width': 2.5, 'text-outline-color': colour('surface'),
      'text-valign': 'top', 'text-margin-y': -2, 'min-zoomed-font-size': 6, 'text-max-width': 180, 'text-wrap': 'ellipsis' } },
    { selector: 'node.named', style: { label: 'data(name)', 'z-index': 5 } },
    { selector: 'node.steady', style: { 'font-size': 'data(font)', 'text-max-width': (node) => 14 * node.data('font'), 'font-weight': 600 } },
    { selector: 'edge', style: {
      width: 'data(width)', 'line-color': (edge) => colour(edge.data('strength') < 0 ? 'down' : 'up'), opacity: 0.65, 'curve-style': 'haystack', 'haystack-radius': 0 } },
    { selector: 'edge.unstable', style: { 'line-style': 'dashed', opacity: 0.45 } },
    { selector: 'node.near', style: { label: 'data(name)' } },
    { selector: '.away', style: { display: 'none' } },
    { selector: '.faded', style: { opacity: 0.12, 'text-opacity': 0.25 } },
    { selector: 'node.found', style: { 'border-width': 3, 'border-color': colour('accent'), label: 'data(name)', 'font-weight': 700, 'z-index': 9 } },
  ];
}

const cy = cytoscape({
  container: find('graph'),
  elements: {
    nodes: data.nodes.map((node, place) => ({
      data: { id: `n${place}`, place, name: node.name, colour: groupOf(place) ? groupOf(place).colour : '#777777', size: 14, font: 12 },
      position: upright ? { x: node.y, y: node.x } : { x: node.x, y: node.y } })),
    edges: data.edges.map(([one, other], place) => ({ data: { id: `e${place}`, place, source: `n${one}`, target: `n${other}`, width: 1, strength: 0 } })),
  },
  style: style(), layout: { name: 'preset' }, minZoom: 0.05, maxZoom: 6, boxSelectionEnabled: false, selectionType: 'single',
});
const nodes = data.nodes.map((_, place) => cy.getElementById(`n${place}`));
const edges = data.edges.map((_, place) => cy.getElementById(`e${place}`));

function draw() {
  const { step, degrees } = shown;
  const strengths = new Map(step.edges.map((edge, place) => [edge, step.strengths[place]]));
  const connected = degrees.filter((degree) => degree > 0).length;
  const everyName = find('labels').checked || connected <= SMALL;
  const hubs = new Set(degrees.map((degree, node) => [degree, node]).filter(([degree]) => degree > 1)
    .sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, hubCount()).map(([, node]) => node));
  cy.batch(() => {
    edges.forEach((edge, place) => {
      const strength = strengths.get(place);
      edge.toggleClass('away', strength === undefined);
      if (strength === undefined) return;
      edge.data({ strength, width: Math.max(0.8, 7 * Math.abs(strength) / largest) });
      edge.toggleClass('unstable', !isStable(place));
    });
    nodes.forEach((node, place) => {
      node.toggleClass('away', degrees[place] === 0 && !find('isolated').checked);
      node.toggleClass('steady', hubs.has(place) || connected <= SMALL);
      node.toggleClass('named', everyName || hubs.has(place));
      node.data('size', 11 + 17 * Math.sqrt(degrees[place] / busiest));
    });
  });
  keepNames();
  find('k-value').textContent = step.edges.length;
  find('headline').textContent = `${step.edges.length} edge${step.edges.length === 1 ? '' : 's'} between ${connected} of ${data.nodes.length} variables`;
  find('k').setAttribute('aria-valuetext', `${step.edges.length} edges`);
  find('back').hidden = view.step === data.chosen;
  find('isolated-count').textContent = ` (${data.nodes.length - connected})`;
}

// Names of hubs keep their size on the screen.
function keepNames() {
  const font = 13 / cy.zoom();
  cy.batch(() => cy.nodes('.steady').data('font', Math.min(Math.max(font, 3), 60)));
}
let waiting = false;
cy.on('zoom', () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; keepNames(); });
});

// A graph of a few nodes is not enlarged to balloons.
const fit = () => {
  cy.stop().fit(cy.elements(':visible'), 28);
  if (cy.zoom() > 1.3) cy.zoom({ level: 1.3, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
};

function select(node, { centre = false } = {}) {
  view.selected = node;
  cy.elements().removeClass('faded found near');
  if (node === null) return hideAbout();
  const element = nodes[node];
  element.removeClass('away').addClass('found');
  const near = element.closedNeighborhood(':visible').union(element);
  cy.elements().not(near).addClass('faded');
  near.nodes().addClass('near');
  if (centre) cy.animate({ center: { eles: element }, zoom: Math.max(cy.zoom(), 1) }, { duration: 250 });
  return showAbout(node);
}

// --- what is said of a node or an edge ----------------------------------------------------------------------------
function showAbout(node) {
  const neighbours = [...shown.neighbours[node]].sort((a, b) => Math.abs(b.strength) - Math.abs(a.strength));
  const group = groupOf(node);
  const lines = neighbours.slice(0, NEIGHBOURS).map(({ node: other, strength, edge }) => make('li', {},
    make('span', { text: data.nodes[other].name }),
    make('span', { class: strength < 0 ? 'down' : 'up', text: write(strength) + (data.frequencies ? ` · ${percent(data.frequencies[edge])}` : '') })));
  const more = neighbours.length - lines.length;
  find('about').replaceChildren(make('b', { text: data.nodes[node].name }),
    make('span', { class: 'soft', text: `${neighbours.length} edge${neighbours.length === 1 ? '' : 's'}${group ? ` · ${group.name}` : ''}` }),
    make('ul', {}, ...lines, ...(more > 0 ? [make('li', { class: 'soft', text: `and ${more} more` })] : [])));
  find('about').hidden = false;
}

function showEdge(edge) {
  const [one, other] = data.edges[edge];
  const strength = shown.step.strengths[shown.step.edges.indexOf(edge)];
  find('about').replaceChildren(make('b', { text: `${data.nodes[one].name} – ${data.nodes[other].name}` }),
    make('span', { class: strength < 0 ? 'down' : 'up', text: `partial correlation ${write(strength)}` }),
    ...(data.frequencies ? [make('div', { class: 'soft', text: `in ${percent(data.frequencies[edge])} of random halves` })] : []));
  find('about').hidden = false;
}

function hideAbout() {
  if (view.selected === null) find('about').hidden = true;
  else showAbout(view.selected);
}

cy.on('mouseover', 'node', (event) => showAbout(event.target.data('place')));
cy.on('mouseover', 'edge', (event) => showEdge(event.target.data('place')));
cy.on('mouseout', 'node, edge', hideAbout);
cy.on('tap', 'node', (event) => select(event.target.data('place')));
cy.on('tap', 'edge', (event) => showEdge(event.target.data('place')));
cy.on('tap', (event) => { if (event.target === cy) { find('search').value = ''; select(null); } });

// --- the table ----------------------------------------------------------------------------------------------------
function listColumns() {
  const name = (place) => (row) => data.nodes[row.ends[place]].name;
  const group = (place) => (row) => { const found = groupOf(row.ends[place]); return found ? found.name : ''; };
  const head = data.kind === 'group' ? 'Group' : 'Community';
  return [
    { head: 'Variable', key: name(0) }, { head: 'Variable', key: name(1) },
    { head: 'Partial correlation', number: true, key: (row) => row.strength, text: (row) => write(row.strength), order: (row) => Math.abs(row.strength) },
    ...(data.frequencies ? [{ head: 'Frequency', number: true, key: (row) => row.frequency, text: (row) => percent(row.frequency) }] : []),
    ...(data.groups.length ? [{ head, key: group(0), detail: true }, { head, key: group(1), detail: true }] : []),
  ];
}

const kindOf = (column) => (column.number ? 'number' : column.detail ? 'detail' : null);

function listRows() {
  const rows = shown.step.edges.map((edge, place) => ({
    edge, ends: data.edges[edge], strength: shown.step.strengths[place], frequency: data.frequencies ? data.frequencies[edge] : null }));
  if (!view.sort) return rows;
  const column = listColumns()[view.sort.column], key = column.order || column.key, sign = view.sort.down ? -1 : 1;
  return rows.sort((a, b) => sign * (column.number ? key(a) - key(b) : key(a).localeCompare(key(b), 'en', { numeric: true })));
}

function tabulate() {
  const columns = listColumns(), rows = listRows(), count = view.everyRow ? rows.length : Math.min(rows.length, FIRST_ROWS);
  const heads = columns.map((column, place) => {
    const sorted = view.sort && view.sort.column === place;
    const button = make('button', { type: 'button', text: column.head, onclick: () => {
      view.sort = { column: place, down: sorted ? !view.sort.down : Boolean(column.number) };
      tabulate();
      find('edges').querySelectorAll('thead button')[place].focus();
    } });
    const order = sorted ? (view.sort.down ? 'descending' : 'ascending') : 'none';
    return make('th', { scope: 'col', class: kindOf(column), 'aria-sort': order }, button);
  });
  find('edges').querySelector('thead').replaceChildren(make('tr', {}, ...heads));
  find('edges').querySelector('tbody').replaceChildren(...rows.slice(0, count).map((row) => make('tr', { onclick: () => select(row.ends[0], { centre: true }) },
    ...columns.map((column) => make('td', { class: kindOf(column), text: column.text ? column.text(row) : column.key(row) })))));
  find('edges-note').textContent = `${rows.length} edge${rows.length === 1 ? '' : 's'}`;
  find('more-rows').hidden = count === rows.length;
}

// The same columns as edges.csv; cells that a spreadsheet would take for formulas have an apostrophe already.
function writeCsv() {
  const quote = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell);
  const groupCell = (node) => (groupOf(node) ? groupOf(node).cell : '');
  const heads = ['source', 'target', 'partial_correlation', ...(data.frequencies ? ['frequency'] : []), 'source_group', 'target_group'];
  const lines = listRows().map((row) => [data.nodes[row.ends[0]].cell, data.nodes[row.ends[1]].cell, String(row.strength),
    ...(data.frequencies ? [String(row.frequency)] : []), groupCell(row.ends[0]), groupCell(row.ends[1])]);
  return [heads, ...lines].map((cells) => `${cells.map(quote).join(',')}\n`).join('');
}

find('download').addEventListener('click', () => {
  const address = URL.createObjectURL(new Blob([writeCsv()], { type: 'text/csv' }));
  const link = make('a', { href: address, download: `edges-${shown.step.edges.length}.csv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
});
find('more-rows').addEventListener('click', () => { view.everyRow = true; tabulate(); });

// --- the legend and the controls ------------------------------------------------------------------------------------
function showLegend() {
  const present = new Map();
  shown.degrees.forEach((degree, node) => { if (degree > 0) present.set(data.nodes[node].group, (present.get(data.nodes[node].group) || 0) + 1); });
  const coloured = data.groups.map((group, code) => ({ ...group, code })).filter((group) => present.has(group.code));
  const own = data.kind === 'group' ? coloured : coloured.filter((group) => group.colour !== '#777777');
  const others = coloured.length - own.length;
  const entry = (mark, text) => make('span', {}, mark, text);
  const signs = [['up', 'positive', (value) => value > 0], ['down', 'negative', (value) => value < 0]]
    .filter(([, , has]) => shown.step.strengths.some(has)).map(([name, text]) => entry(make('i', { class: `line ${name}` }), `${text} partial correlation`));
  if (data.frequencies) signs.push(entry(make('i', { class: 'line dashed' }), `in less than ${percent(data.threshold)} of random halves`));
  const dots = own.map((group) => entry(make('i', { colour: group.colour }), `${group.name} (${present.get(group.code)})`));
  if (others) dots.push(entry(make('i', { colour: '#777777' }), `${others} smaller communit${others === 1 ? 'y' : 'ies'}`));
  find('legend').replaceChildren(...signs, ...dots);
}

function update() {
  shown = current();
  draw();
  tabulate();
  showLegend();
  select(view.selected);
}

function goTo(step) {
  view.step = step;
  find('k').value = step;
  update();
}

function search(text, centre) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return select(null);
  const names = data.nodes.map((node) => node.name.toLowerCase());
  let found = names.indexOf(wanted);
  if (found < 0) found = names.findIndex((name) => name.startsWith(wanted));
  if (found < 0) found = names.findIndex((name) => name.includes(wanted));
  return select(found < 0 ? null : found, { centre });
}

find('k').max = data.steps.length - 1;
find('k').addEventListener('input', (event) => goTo(Number(event.target.value)));
find('back').addEventListener('click', () => goTo(data.chosen));
find('labels').addEventListener('change', draw);
find('isolated').addEventListener('change', () => { draw(); fit(); });
find('fit').addEventListener('click', fit);
const zoom = (factor) => cy.stop().zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
find('zoom-in').addEventListener('click', () => zoom(1.35));
find('zoom-out').addEventListener('click', () => zoom(1 / 1.35));
find('search').addEventListener('input', (event) => search(event.target.value, true));
find('names').append(...data.nodes.map((node) => make('option', { value: node.name })));

const restyle = () => cy.style(style());
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', restyle);
window.addEventListener('resize', () => cy.resize());
window.addEventListener('beforeprint', () => {
  cy.style(style());
  find('picture').src = cy.png({ scale: 2, full: true, bg: '#ffffff', maxWidth: 4000, maxHeight: 3000 });
});
window.addEventListener('afterprint', restyle);

goTo(data.chosen);
// Without positions by springs, nodes are on a circle, from where Cytoscape.js moves them.
if (!data.placed) cy.elements().not('.away').layout({ name: 'cose', animate: false, randomize: false, fit: false }).run();
fit();
