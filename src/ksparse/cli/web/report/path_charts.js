// Charts over k: what the choice was made by, the score on held-out rows, coefficients. All k are equally far apart, as on the slider.
const steps = data.states.map((state, place) => place);

function countAxis(plot) {
  const most = Math.max(3, Math.floor((plot.clientWidth || 400) / 44));
  const every = Math.ceil(steps.length / most);
  const shown = steps.filter((place) => place % every === 0 || place === data.chosen)
    .filter((place) => place === data.chosen || Math.abs(place - data.chosen) >= every / 2 || every === 1);
  return { title: `number of ${data.unit}`, tickmode: 'array', tickvals: shown, ticktext: shown.map((place) => data.states[place].k), range: [-0.4, steps.length - 0.6] };
}

function marker(place, paint, dash) {
  return { type: 'line', xref: 'x', yref: 'paper', x0: place, x1: place, y0: 0, y1: 1, line: { color: paint, width: 1.2, dash }, layer: 'below' };
}

function marks() {
  const lines = [marker(data.chosen, colour('strong-line'), 'dot')];
  if (view.place !== data.chosen) lines.push(marker(view.place, colour('accent'), 'solid'));
  return lines;
}

function scoreTraces(values, errors, label) {
  const text = data.states.map((state, place) => `k = ${state.k}: ${plain(label)} ${write(values[place], 4)}${errors.length ? ` ± ${write(errors[place], 2)}` : ''}`);
  const base = { type: 'scatter', x: steps, hovertemplate: '%{text}<extra></extra>', text };
  const line = { ...base, y: values, mode: 'lines+markers', line: { color: colour('accent'), width: 1.8 }, marker: { size: 6, color: colour('accent') } };
  if (errors.length) line.error_y = { type: 'data', array: errors.map((error) => error || 0), color: colour('faint'), thickness: 1.4, width: 0 };
  const point = { ...base, x: [view.place], y: [values[view.place]], text: [text[view.place]], mode: 'markers',
    marker: { size: 14, color: colour('surface'), line: { color: colour('accent'), width: 3 } } };
  return [line, point];
}

const pathFigures = [];
const featureColours = new Map(); // the same for a feature in the charts of all classes
const featureColour = (line) => {
  if (!featureColours.has(line.name.text)) featureColours.set(line.name.text, featureColours.size);
  return classColour(featureColours.get(line.name.text));
};

function makePathCharts() {
  const target = find('path-charts');
  if (!target) return;
  if (data.choice) {
    const { element, plot } = figure('What the choice is based on', data.choice.caption, `Line chart of the ${data.choice.label} for each number of ${data.unit}`, 290);
    pathFigures.push({ element, plot, show: () => draw(plot, scoreTraces(data.choice.values, data.choice.errors, data.choice.label),
      { xaxis: countAxis(plot), yaxis: { title: data.choice.label }, shapes: marks() }) });
  }
  const name = Object.keys(current().scores)[0];
  const values = data.states.map((state) => state.scores[name]);
  const caption = data.heldOut
    ? `For information: the choice did not look at these ${data.rowCount.toLocaleString('en')} rows. The best of many such scores is too good.`
    : 'On the rows the models were fitted to, where more features nearly always look better.';
  const second = figure(`${name} on ${data.heldOut ? 'held-out' : 'training'} rows`, caption, `Line chart of ${name} for each number of ${data.unit}`, 290);
  pathFigures.push({ ...second, show: () => draw(second.plot, scoreTraces(values, [], name), { xaxis: countAxis(second.plot), yaxis: { title: name }, shapes: marks() }) });
  data.paths.forEach((part) => {
    const heading = part.name ? `Effects on “${part.name.text}”` : 'Effects of the features';
    const text = `Effect per standard deviation in each model.${part.hidden ? ` The ${part.lines.length} largest are drawn.` : ''}`;
    const made = figure(heading, text, `Line chart of the coefficients for each number of ${data.unit}`, 290);
    if (data.paths.length === 1) made.element.className = 'full';
    pathFigures.push({ ...made, show: () => showCoefficients(made.plot, part.lines) });
  });
  target.replaceChildren(...pathFigures.map((each) => each.element));
  for (const each of pathFigures) {
    each.show();
    each.plot.on('plotly_click', (event) => choose(event.points[0].x));
  }
}

// Labels at the ends of lines, pushed apart so that none covers another.
function placeLabels(ends, low, high, height) {
  const gap = 15;
  const places = ends.map((end) => ({ ...end, y: ((end.value - low) / (high - low)) * height })).sort((a, b) => a.y - b.y);
  for (let turn = 0; turn < 40; turn += 1) {
    for (let i = 1; i < places.length; i += 1) {
      const overlap = gap - (places[i].y - places[i - 1].y);
      if (overlap > 0) { places[i].y += overlap / 2; places[i - 1].y -= overlap / 2; }
    }
    const over = places.length ? Math.max(0, places[places.length - 1].y - height) : 0;
    const under = places.length ? Math.max(0, -places[0].y) : 0;
    for (const place of places) place.y += under - over;
  }
  return places.map((place) => ({ ...place, at: low + (place.y / height) * (high - low) }));
}

function showCoefficients(plot, lines) {
  const small = (plot.clientWidth || 500) < 430;
  const named = lines.filter((line) => line.values.some((value) => value !== null)).slice(0, small ? 5 : 8);
  const size = (value) => (value === null ? 0 : value);
  const all = lines.flatMap((line) => line.values.map(size));
  const margin = (Math.max(...all, 0) - Math.min(...all, 0)) * 0.06 || 1;
  const [low, high] = [Math.min(...all, 0) - margin, Math.max(...all, 0) + margin];
  const traces = lines.map((line) => {
    const rank = named.indexOf(line);
    const text = line.values.map((value, place) => `${plain(line.name.text)}<br>k = ${data.states[place].k}: ${write(value)}`);
    return { type: 'scatter', x: steps, y: line.values, mode: 'lines+markers', text, hovertemplate: '%{text}<extra></extra>', connectgaps: false,
      line: { color: rank < 0 ? colour('faint') : featureColour(line), width: rank < 0 ? 1 : 1.9 },
      marker: { opacity: 1, line: { width: 0 }, size: line.values.map((value, place) => (place === view.place ? 9 : rank < 0 ? 3.5 : 5)) } };
  }).reverse();
  const ends = named.map((line) => {
    const last = line.values.reduce((found, value, place) => (value === null ? found : place), 0);
    return { name: shorten(line.name.text, small ? 14 : 22), value: line.values[last], paint: featureColour(line) };
  });
  const widest = Math.max(0, ...ends.map((end) => end.name.length)) * 6.6 + 18;
  const labels = placeLabels(ends, low, high, 290 - 54).map((end) => ({ xref: 'paper', x: 1, y: end.at, xanchor: 'left', yanchor: 'middle', xshift: 6, showarrow: false,
    text: plain(end.name), font: { color: end.paint, size: 12 } }));
  const zero = { type: 'line', xref: 'paper', yref: 'y', x0: 0, x1: 1, y0: 0, y1: 0, line: { color: colour('strong-line'), width: 1 }, layer: 'below' };
  draw(plot, traces, { xaxis: countAxis(plot), yaxis: { title: 'effect per SD', range: [low, high] }, shapes: [zero, ...marks()], annotations: labels,
    margin: { l: 48, r: Math.min(widest, 0.4 * (plot.clientWidth || 500)), t: 12, b: 42 } });
}
