// Times until an event: survival of the risk groups, and how many rows each of them has.
const riskColours = ['c0', 'c2', 'c1'];

function makeSurvivalCharts() {
  const target = find('quality');
  quality.survival = figure('Survival by predicted risk', current().captions[0], 'Step chart of the fraction of rows without an event over time, for each risk group', 380);
  quality.groups = make('table', { class: 'plain', id: 'risk-groups' });
  quality.riskLegend = make('p', { class: 'legend' });
  quality.survival.element.className = 'full';
  quality.survival.plot.before(quality.riskLegend);
  target.append(make('div', { class: 'charts' }, quality.survival.element), make('div', { class: 'wide' }, quality.groups));
}

function showSurvivalCharts() {
  const { survival, captions } = current();
  caption(quality.survival, captions[0]);
  const paint = (place) => colour(riskColours[survival.length === 2 && place === 1 ? 2 : place]);
  legend(quality.riskLegend, survival.map((group, place) => [paint(place), group.name]));
  const at = (group, time) => group.survival[group.times.filter((each) => each <= time).length - 1];
  const traces = survival.flatMap((group, place) => {
    const base = { type: 'scatter', mode: 'lines', x: group.times, hoverinfo: 'skip', line: { color: paint(place), width: 0, shape: 'hv' } };
    const line = { ...base, y: group.survival, hoverinfo: 'all', hovertemplate: `${group.name}: %{y:.0%} without an event at %{x}<extra></extra>`, line: { color: paint(place), width: 2, shape: 'hv' } };
    const ticks = { type: 'scatter', mode: 'markers', x: group.censored, y: group.censored.map((time) => at(group, time)), hoverinfo: 'skip',
      marker: { symbol: 'line-ns-open', size: 6, color: paint(place) } };
    return [{ ...base, y: group.low }, { ...base, y: group.high, fill: 'tonexty', fillcolor: `${paint(place)}22` }, line, ticks];
  });
  draw(quality.survival.plot, traces, { xaxis: { title: plain(shorten(data.target.text, 30)), rangemode: 'tozero' },
    yaxis: { title: 'without an event', range: [-0.02, 1.03], tickformat: '.0%' } });
  const heads = ['Risk group', 'Rows', 'Events', 'Half have had it by'].map((text) => make('th', { scope: 'col', text }));
  const rows = survival.map((group) => make('tr', {}, make('th', { scope: 'row', text: group.name }),
    ...[group.rows, group.events, group.median === null ? 'not reached' : write(group.median, 4)].map((text) => make('td', { text: String(text) }))));
  quality.groups.replaceChildren(make('thead', {}, make('tr', {}, ...heads)), make('tbody', {}, ...rows));
}
