// Cards, the table of features, the table of all models, confusions; tables sort by a click on a heading.
function showCards() {
  const cards = current().cards.map((card) => make('div', { class: 'card' }, make('b', { text: card.value }), make('span', { text: card.label }),
    ...(card.note ? [make('small', { text: card.note })] : [])));
  find('cards').replaceChildren(...cards);
}

const order = {}; // by the id of a table: which column it is sorted by, and in which direction

// A head whose buttons sort the rows by their `keys`; numbers start with the largest.
function sortableHead(table, heads, show) {
  const state = order[table.id];
  const cells = heads.map((head, place) => {
    const sorted = state && state.place === place;
    const button = make('button', { type: 'button', text: head.text, title: head.hint || null, onclick: () => {
      const again = order[table.id] && order[table.id].place === place;
      order[table.id] = { place, down: again ? !order[table.id].down : place > 0 };
      show();
      table.querySelectorAll('thead button')[place].focus();
    } });
    return make('th', { scope: 'col', 'aria-sort': sorted ? (state.down ? 'descending' : 'ascending') : 'none' }, button);
  });
  return make('thead', {}, make('tr', {}, ...cells));
}

function sortRows(id, rows) {
  const state = order[id];
  if (!state) return rows;
  const sign = state.down ? -1 : 1;
  const compare = (first, second) => {
    const [a, b] = [first.keys[state.place], second.keys[state.place]];
    if (a === null || b === null) return (a === null) - (b === null); // what is missing comes last
    return sign * (typeof a === 'string' ? a.localeCompare(b, 'en', { numeric: true }) : a - b);
  };
  return [...rows].sort(compare);
}

function bar(length, spread) {
  const width = Math.abs(length) * 50;
  const inner = make('i', { class: length < 0 ? 'down' : null, style: { width: `${width}%`, left: `${length < 0 ? 50 - width : 50}%` } });
  const whisker = spread && make('b', { style: { left: `${50 + 50 * spread[0]}%`, width: `${50 * (spread[1] - spread[0])}%` } });
  return make('div', { class: 'bar', 'aria-hidden': 'true' }, inner, ...(whisker ? [whisker] : []));
}

const tint = (value) => `rgba(${colour(value < 0 ? 'untint' : 'tint')}, ${(0.06 + 0.44 * Math.abs(value)).toFixed(3)})`;

const hasIntervals = (table) => table.rows.some((row) => row.ends.some((ends) => ends));

function showFeatures() {
  const { table } = current();
  const single = data.outputs === 1;
  const shown = table.columns.map((column, place) => place).filter((place) => !table.columns[place].group || table.columns[place].group === view.group);
  const target = find('features');
  const rows = table.rows.map((row) => {
    const grouped = row.unit && !row.name.text.startsWith(row.unit) ? [make('small', { text: `of ${row.unit}` })] : [];
    const name = make('div', { class: 'named' }, make('span', { text: row.name.text }, ...grouped), ...(single ? [bar(row.bars[0], row.spread)] : []));
    const cells = shown.map((place, position) => {
      const strength = single || view.group === 'raw' || !table.columns[place].group ? 0 : row.bars[position];
      const below = row.below[place] ? [make('small', { text: row.below[place] })] : [];
      const style = strength ? { background: tint(strength) } : {};
      return make('td', { class: strength ? 'tinted' : null, style }, make('span', { text: row.texts[place] }), ...below);
    });
    return { keys: [row.name.text, ...shown.map((place) => row.values[place])], element: make('tr', {}, make('th', { scope: 'row' }, name), ...cells) };
  });
  const last = table.constants.map(([name, ...texts]) => make('tr', { class: 'intercept' }, make('th', { scope: 'row', text: name }), ...shown.map((place) => make('td', { text: texts[place] }))));
  const heads = [{ text: 'Feature' }, ...shown.map((place) => ({ text: table.columns[place].head.text, hint: table.columns[place].hint }))];
  const body = make('tbody', {}, ...sortRows('features', rows).map((row) => row.element), ...last);
  target.replaceChildren(sortableHead(target, heads, showFeatures), body);
  legend(find('legend'), table.rows.length ? [[colour('down'), table.legend[0]], [colour('up'), table.legend[1]]] : []);
  const notes = [];
  if (!table.rows.length) notes.push('This model has no feature: it gives the same answer for every row.');
  else notes.push(`Effect: ${table.columns[shown[0]].hint.replace(/^C/, 'c')}.`);
  if (table.rows.length && (single || view.group === 'standardized')) notes.push('Effects per SD can be compared with each other.');
  const ratio = table.columns.find((column) => column.head.text.includes('ratio ('));
  if (table.rows.length && ratio) notes.push(`${ratio.hint}.`);
  if (hasIntervals(table)) {
    const where = single ? 'thin lines' : 'small, below the effects';
    notes.push(`Intervals (95%; ${where}) and “selected again”: from ${data.resamples} resamples of the rows, with the features selected anew on each; a feature that is not selected has no effect.`);
  } else if (view.place !== data.chosen && hasIntervals(chosen().table)) notes.push('Intervals are known for the chosen model only.');
  if (table.hidden) notes.push(`${table.hidden} features with smaller effects are not listed.`);
  find('feature-note').textContent = notes.join(' ');
  showWorth();
}

function showWorth() {
  const { worth } = current();
  find('worth-block').hidden = !worth.length;
  if (!worth.length) return;
  const most = Math.max(...worth.map((each) => each.substitutes.length));
  const ranks = ['Best replacement', 'Second', 'Third'].slice(0, most);
  const meaning = 'Worth is the part of what the model explains that is lost if a feature is left out and the others adapt.';
  const swaps = ' The next columns are the features outside the model that save more than half of this in its place, with what that costs, and their correlation r with it. Where a swap costs next to nothing, the data do not tell the two apart.';
  find('worth-meaning').textContent = meaning + (most ? swaps : '');
  find('worth').classList.toggle('short', !most);
  const rows = worth.map((each) => {
    const others = ranks.map((rank, place) => {
      const found = each.substitutes[place];
      return make('td', {}, ...(found ? [make('span', { text: found.name.text }), make('small', { text: found.text })] : place ? [] : ['none']));
    });
    const keys = [each.name.text, each.loss, ...ranks.map((rank, place) => (each.substitutes[place] ? each.substitutes[place].cost : null))];
    return { keys, element: make('tr', {}, make('th', { scope: 'row', text: each.name.text }), make('td', { text: each.text }), ...others) };
  });
  find('worth-note').hidden = worth.length === current().cards[0].value * 1;
  find('worth-note').textContent = `The ${worth.length} with the largest worth are listed.`;
  const heads = ['Feature', 'Worth', ...ranks].map((text) => ({ text }));
  find('worth').replaceChildren(sortableHead(find('worth'), heads, showWorth), make('tbody', {}, ...sortRows('worth', rows).map((row) => row.element)));
}

function makeFeatureButtons() {
  const buttons = [];
  if (data.outputs > 1) {
    const choices = [['standardized', 'Per standard deviation'], ['raw', 'Per unit']];
    const toggles = choices.map(([group, text]) => make('button', { type: 'button', text, 'data-group': group, onclick: () => {
      view.group = group;
      delete order.features;
      for (const button of toggles) button.setAttribute('aria-pressed', button.dataset.group === view.group);
      showFeatures();
    }, 'aria-pressed': String(group === view.group) }));
    buttons.push(...toggles);
  }
  buttons.push(make('button', { type: 'button', id: 'download-features', text: 'Download as CSV', onclick: () => {
    const { k, table } = current();
    const group = (column) => (column.group ? ` (per ${column.group === 'raw' ? 'unit' : 'SD'})` : '');
    // An interval is two columns of the file; where it is shown below a number, that has its own.
    const parts = table.columns.map((column, place) => {
      const name = column.head.cell + group(column);
      if (!table.rows.some((row) => row.ends[place])) return { heads: [name], values: (row) => [row.values[place]] };
      const ends = (row) => row.ends[place] || [null, null];
      if (!table.rows.some((row) => row.below[place])) return { heads: [`${name} low`, `${name} high`], values: ends };
      return { heads: [name, `${name} low`, `${name} high`], values: (row) => [row.values[place], ...ends(row)] };
    });
    const heads = ['feature', ...parts.flatMap((part) => part.heads)];
    download(`features_k${k}.csv`, [heads, ...table.rows.map((row) => [row.name.cell, ...parts.flatMap((part) => part.values(row))])]);
  } }));
  find('feature-buttons').replaceChildren(...buttons);
}

function showModels() {
  const target = find('models');
  if (!target) return;
  const numbers = data.states.map((state) => [state.k, ...state.score_texts.map((text) => {
    const value = Number(text.replace(/,/g, '').replace('−', '-'));
    return Number.isFinite(value) ? value : null;
  })]);
  const rows = data.states.map((state, place) => {
    const button = make('button', { type: 'button', text: String(state.k), 'aria-label': `Show the model with k = ${state.k}`, onclick: () => choose(place) });
    const mark = place === data.chosen ? ' (chosen)' : '';
    const cells = state.score_texts.map((text) => make('td', { text }));
    return { keys: numbers[place], element: make('tr', { class: place === view.place ? 'current' : null }, make('th', { scope: 'row' }, button, mark), ...cells) };
  });
  const shared = data.heads.length - Object.keys(current().scores).filter((name) => !name.startsWith('Baseline')).length;
  const where = data.heldOut ? 'held-out rows' : 'training rows';
  const heads = [{ text: 'k' }, ...data.heads.map((text, place) => ({ text: place < shared ? text : `${text}, ${where}` }))];
  target.replaceChildren(sortableHead(target, heads, showModels), make('tbody', {}, ...sortRows('models', rows).map((row) => row.element)));
}

// Counts by true class (rows) and predicted class (columns).
function confusionTable(names, counts) {
  const heads = names.map((name) => make('th', { scope: 'col', text: name }));
  const rows = counts.map((row, place) => {
    const sum = row.reduce((total, count) => total + count, 0) || 1;
    const cells = row.map((count, column) => make('td', { text: String(count), title: `truly ${names[place]}, predicted ${names[column]}: ${percent(count, sum)}`,
      style: { background: `rgba(${colour(place === column ? 'tint' : 'untint')}, ${(0.05 + 0.45 * (count / sum)).toFixed(3)})` } }));
    return make('tr', {}, make('th', { scope: 'row', text: names[place] }), ...cells);
  });
  const head = make('thead', {}, make('tr', {}, make('th', { text: 'true ↓  predicted →' }), ...heads));
  return make('div', { class: 'wide' }, make('table', { class: 'confusion' }, head, make('tbody', {}, ...rows)));
}
