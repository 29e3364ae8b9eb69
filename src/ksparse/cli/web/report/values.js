// Values of the selected features: histograms of the classes, or points against the target.
function showValues() {
  const drawn = current().drawn.map((key) => data.distributions[key]).filter((each) => each.edges.length > 1 || each.x.length);
  find('values-section').hidden = !drawn.length;
  const entries = data.classes.slice(0, 6).map((name, place) => [classColour(place), name.text]);
  const more = data.classes.length > 6 ? [['transparent', `and ${data.classes.length - 6} more classes, not drawn`]] : [];
  legend(find('values-legend'), [...entries, ...more]);
  for (const old of find('values').querySelectorAll('.plot')) Plotly.purge(old);
  const figures = drawn.map((each) => [each, figure(each.name.text, '', `Values of ${each.name.text}`, 170)]);
  find('values').replaceChildren(...figures.map(([, made]) => made.element));
  for (const [each, made] of figures) (each.centers.length ? showBars : each.edges.length ? showHistogram : showDots)(made.plot, each);
}

// A feature with few values: bars of the classes side by side, all values equally far apart.
function showBars(plot, each) {
  const x = each.centers.map((value, place) => place);
  const traces = each.densities.map((y, place) => ({ type: 'bar', x, y, marker: { color: `${classColour(place)}bb`, line: { color: classColour(place), width: 1 } },
    hovertemplate: `${plain(shorten(className(place), 30)).replace(/%\{/g, '% {')}: %{y:.0%}<extra></extra>` }));
  const every = Math.ceil(x.length / 6);
  const shown = x.filter((place) => place % every === 0);
  draw(plot, traces, { barmode: 'group', bargap: 0.35, bargroupgap: 0.08, margin: { l: 8, r: 8, t: 6, b: 24 }, yaxis: { visible: false, rangemode: 'tozero' },
    xaxis: { tickmode: 'array', tickvals: shown, ticktext: shown.map((place) => write(each.centers[place], 4)), showline: true } });
}

function showHistogram(plot, each) {
  // Steps around each bin, so that overlapping classes remain readable.
  const traces = each.densities.map((fractions, place) => {
    const x = [each.edges[0]];
    const y = [0];
    fractions.forEach((fraction, bin) => { x.push(each.edges[bin], each.edges[bin + 1]); y.push(fraction, fraction); });
    x.push(each.edges[each.edges.length - 1]);
    y.push(0);
    const paint = classColour(place);
    return { type: 'scatter', mode: 'lines', x, y, line: { color: paint, width: 1.4, shape: 'linear' }, fill: 'tozeroy', fillcolor: `${paint}33`,
      hovertemplate: `${plain(shorten(className(place), 30)).replace(/%\{/g, '% {')}: %{y:.0%}<extra></extra>` };
  });
  draw(plot, traces, { margin: { l: 8, r: 8, t: 6, b: 24 }, yaxis: { visible: false, rangemode: 'tozero' }, xaxis: { nticks: 5, showline: true } });
}

function showDots(plot, each) {
  const trace = { type: 'scatter', mode: 'markers', x: each.x, y: each.y, marker: { size: 5, color: colour('accent'), opacity: 0.42 },
    hovertemplate: `%{x:.4~g}, ${plain(shorten(data.target.text, 30)).replace(/%\{/g, '% {')} %{y:.4~g}<extra></extra>` };
  draw(plot, [trace], { margin: { l: 40, r: 8, t: 6, b: 24 }, yaxis: { nticks: 4 }, xaxis: { nticks: 5 } });
}
