// Draws a page's charts from their data attributes. A table below has the same figures.
'use strict';
(() => {
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const draw = (place) => {
    const { labels, series, kind, decimals = 0 } = JSON.parse(place.dataset.chart);
    const grid = { stroke: style('--line'), width: 1 };
    const axis = { stroke: style('--soft'), grid, ticks: grid, font: '12px system-ui, sans-serif' };
    const colours = [style('--accent'), style('--good-line'), style('--wait')];
    const isBars = series.length === 1;
    const bars = uPlot.paths.bars({ size: [0.7, 48] });
    // All figures are whole; of money they are in the minor unit.
    const unit = 10 ** decimals;
    const steps = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
    const options = {
      width: place.clientWidth,
      height: 220,
      cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false, range: (_, low, high) => (isBars ? [low - 0.5, high + 0.5] : [low, high]) }, y: { range: (_, low, high) => [Math.min(0, low), Math.max(1, high * 1.05)] } },
      axes: [
        { ...axis, grid: { show: false }, incrs: steps, values: (_, at) => at.map((i) => labels[i] ?? ''), space: 88 },
        { ...axis, size: 64, incrs: steps, values: (_, at) => at.map((v) => Intl.NumberFormat('en', { notation: 'compact' }).format(v / unit)) },
      ],
      series: [
        { label: kind, value: (_, i) => labels[i] ?? '' },
        ...series.map(({ name, before }, i) => ({
          label: name,
          stroke: before ? style('--soft') : colours[i],
          dash: before ? [6, 5] : undefined,
          width: 2,
          fill: isBars ? `${colours[i]}33` : undefined,
          paths: isBars ? bars : undefined,
          points: { show: !isBars && labels.length < 40 },
          value: (_, v) => (v === null ? '' : (v / unit).toLocaleString('en', { minimumFractionDigits: decimals })),
        })),
      ],
    };
    place.replaceChildren();
    const plot = new uPlot(options, [labels.map((_, i) => i), ...series.map(({ values }) => values)], place);
    const showLast = () => plot.setLegend({ idx: labels.length - 1 });
    plot.over.addEventListener('mouseleave', () => requestAnimationFrame(showLast));
    new ResizeObserver(() => {
      plot.setSize({ width: place.clientWidth, height: 220 });
      requestAnimationFrame(showLast);
    }).observe(place);
  };
  document.querySelectorAll('[data-chart]').forEach(draw);
})();
