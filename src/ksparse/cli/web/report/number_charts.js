// Numbers and counts: predicted against true, and what is left over; of one of several targets.
function makeNumberCharts() {
  const target = find('quality');
  if (data.responses.length) {
    const select = make('select', { id: 'response', onchange: (event) => { view.response = Number(event.target.value); showNumberCharts(); } },
      ...data.responses.map((name, place) => make('option', { value: String(place), text: shorten(name.text, 60) })));
    target.append(make('div', { class: 'choose' }, make('label', { for: 'response', text: 'Target:' }), select));
  }
  quality.scatter = figure('Predicted and true', current().captions[0], 'Scatter chart of predicted and true values', 350);
  quality.residuals = figure('Residuals', current().captions[1], 'Scatter chart of residuals', 350);
  target.append(make('div', { class: 'charts' }, quality.scatter.element, quality.residuals.element));
}

function showNumberCharts() {
  caption(quality.scatter, current().captions[0]);
  caption(quality.residuals, current().captions[1]);
  const predicted = current().predictions[view.response];
  const truth = data.responses.length ? data.predictions.truth[view.response] : data.predictions.truth;
  const kept = predicted.map((value, place) => place).filter((place) => predicted[place] !== null && truth[place] !== null);
  const [x, y] = [kept.map((place) => predicted[place]), kept.map((place) => truth[place])];
  const name = shorten((data.responses[view.response] || data.target).text, 30);
  const text = kept.map((place) => `row ${data.predictions.rows[place]}<br>predicted ${write(predicted[place], 4)}, true ${write(truth[place], 4)}`);
  const points = { type: 'scatter', mode: 'markers', x, text, hovertemplate: '%{text}<extra></extra>', marker: { size: 7, color: colour('accent'), opacity: 0.55 } };
  const ends = kept.length ? [Math.min(...x, ...y), Math.max(...x, ...y)] : [0, 1];
  const line = (x0, y0, x1, y1) => ({ type: 'line', x0, y0, x1, y1, line: { color: colour('strong-line'), width: 1.2, dash: 'dot' }, layer: 'below' });
  draw(quality.scatter.plot, [{ ...points, y }], { xaxis: { title: `predicted ${plain(name)}` }, yaxis: { title: `true ${plain(name)}` }, shapes: [line(ends[0], ends[0], ends[1], ends[1])] });
  const sides = kept.length ? [Math.min(...x), Math.max(...x)] : [0, 1];
  draw(quality.residuals.plot, [{ ...points, y: y.map((value, place) => value - x[place]) }],
    { xaxis: { title: `predicted ${plain(name)}` }, yaxis: { title: 'true − predicted' }, shapes: [line(sides[0], 0, sides[1], 0)] });
}
