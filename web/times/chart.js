// One picture over time, drawn by uPlot: lines, areas on top of each other, or what a plan draws itself.

import { formatCount, formatShare, formatTime, formatWeight } from '../flame/format.js';
import { added, coloursOf, minutesText, shareOf } from './clock.js';

/** @typedef {import('./clock.js').Range} Range */
/** @typedef {import('./clock.js').Clock} Clock */
/**
 * A value by bucket, or two: the least and the greatest in the order in which they came.
 * @typedef {{name: string, colour: string, values: Float64Array}} Line
 */
/**
 * @typedef {object} Plan
 * @property {string} title
 * @property {string} unit
 * @property {Line[]} lines
 * @property {'lines' | 'dots' | 'areas'} form
 * @property {number} height
 * @property {Map<number, string>} [rows] words on the axis by height, in pictures without lines
 * @property {(u: uPlot) => void} [draw]
 * @property {(head: HTMLElement) => void} [legend]
 */
/** @typedef {{destroy: () => void, mark: (cursor: number | null, chosen: Range | null) => void}} Chart */

/** Pixels beside each picture, the same in all. */
const LEFT_OF_PLOT = 64;
const RIGHT_OF_PLOT = 10;
const LINE_DASHES = [[], [7, 3], [2, 3]];

/**
 * @param {HTMLElement} host
 * @param {Plan} plan
 * @param {Clock} clock
 * @param {Range} seen
 * @param {boolean} isLast whether times stand below
 * @param {Set<string>} hidden names of lines that were switched off
 * @param {() => void} redraw
 * @returns {Chart}
 */
export function drawChart(host, plan, clock, seen, isLast, hidden, redraw) {
  const { title, unit, form, rows } = plan;
  const head = added(host, 'div', 'time-head');
  if (title) added(head, 'h4', '', title);
  const [text, grid, ...bands] = coloursOf(host, ['quiet', 'line', 'time-band', 'time-band-other']);
  const colours = coloursOf(host, plan.lines.map(({ colour }) => colour));
  const outputs = plan.lines.map(({ name }, i) => {
    const key = added(head, 'button', 'time-key');
    key.setAttribute('aria-pressed', String(!hidden.has(name)));
    key.title = 'Show or hide it';
    key.addEventListener('click', () => {
      if (!hidden.delete(name)) hidden.add(name);
      redraw();
    });
    const sign = added(key, 'i', `time-sign ${form === 'areas' ? 'area' : ['solid', 'dashed', 'dotted'][i % LINE_DASHES.length]}`);
    sign.style.borderColor = colours[i];
    key.append(name);
    return added(key, 'b');
  });
  plan.legend?.(head);
  const plot = added(host, 'div', 'time-plot');
  const shown = plan.lines.flatMap((line, place) => (hidden.has(line.name) ? [] : [{ ...line, place, colour: colours[place] }]));
  const { x, data } = pointsOf(clock, shown, form);
  if (form === 'areas') shown.reverse();
  const chart = new uPlot(
    {
      width: Math.max(160, host.clientWidth),
      height: plan.height + (isLast ? 30 : 8),
      padding: [6, RIGHT_OF_PLOT, isLast ? 0 : 2, 0],
      cursor: { show: false },
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [seen.from, seen.to] },
        y: { range: (_, __, most) => [0, rows ? Math.max(...rows.keys(), 1) : most > 0 ? most * 1.06 : 1] },
      },
      axes: [
        {
          show: isLast,
          size: 24,
          gap: 3,
          stroke: text,
          grid: { show: false },
          ticks: { stroke: grid, size: 4 },
          font: '11px system-ui',
          values: (_, times) => times.map((s) => (seen.to < 300 || seen.to - seen.from < 20 ? `${Math.round(s * 1e3) / 1e3} s` : minutesText(s))),
        },
        {
          size: LEFT_OF_PLOT,
          gap: 4,
          space: 26,
          stroke: text,
          grid: rows ? { show: false } : { stroke: grid, width: 1 },
          ticks: { show: false },
          font: '11px system-ui',
          splits: rows && (() => [...rows.keys()]),
          incrs: unit.startsWith('bytes') ? Array.from({ length: 50 }, (_, power) => 2 ** power) : undefined,
          values: (_, values) => values.map((value) => (rows ? (rows.get(value) ?? '') : value === 0 ? '0' : valueText(value, unit))),
        },
      ],
      series: [
        {},
        ...shown.map(({ colour, place, values }) => ({
          stroke: form === 'areas' ? undefined : colour,
          width: form === 'areas' ? 0 : 1.5,
          dash: LINE_DASHES[place % LINE_DASHES.length],
          fill: form === 'areas' ? colour : place === 0 && values.length === clock.count ? faded(colour) : undefined,
          spanGaps: form === 'lines' && values.length > clock.count,
          points: { show: form === 'dots', size: 4, fill: colour },
          paths: form === 'dots' ? () => null : undefined,
        })),
      ],
      hooks: { drawClear: [plan.draw ?? ((u) => drawBands(u, clock, seen, bands))] },
    },
    [x, ...data],
    plot,
  );
  const inside = added(plot, 'div', 'time-inside');
  inside.style.inset = `6px ${RIGHT_OF_PLOT}px ${isLast ? 24 : 2}px ${LEFT_OF_PLOT}px`;
  const [before, after, line] = ['time-veil', 'time-veil', 'time-line'].map((name) => added(inside, 'div', name));
  return {
    destroy: () => chart.destroy(),
    mark: (cursor, chosen) => {
      before.style.width = `${100 * (chosen === null ? 0 : shareOf(chosen.from, seen))}%`;
      after.style.left = `${100 * (chosen === null ? 1 : shareOf(chosen.to, seen))}%`;
      line.hidden = cursor === null || cursor < seen.from || cursor > seen.to;
      line.style.left = `${100 * shareOf(cursor ?? 0, seen)}%`;
      plan.lines.forEach((one, i) => (outputs[i].textContent = lineText(clock, one, cursor, unit, chosen ?? seen)));
    },
  };
}

/**
 * Two points to a bucket for all lines, so that they share their times.
 * @param {Clock} clock
 * @param {Line[]} lines
 * @param {Plan['form']} form
 */
function pointsOf(clock, lines, form) {
  const steps = lines.every(({ values }) => values.length === clock.count);
  const x = Array.from({ length: 2 * clock.count }, (_, i) => {
    return clock.from + ((i >> 1) + (steps ? i % 2 : 0.25 + 0.5 * (i % 2))) * clock.length;
  });
  const data = lines.map(({ values }) =>
    x.map((_, i) => {
      const value = values[values.length > clock.count ? i : i >> 1];
      return Number.isNaN(value) ? null : value;
    }),
  );
  if (form === 'areas') {
    // Each lies on those before it; the one on top is drawn first.
    for (let i = 1; i < data.length; i++) data[i] = data[i].map((value, k) => (value ?? 0) + (data[i - 1][k] ?? 0));
    data.reverse();
  }
  return { x, data };
}

/**
 * A line's value in the bucket of the cursor; without a cursor the greatest of what is chosen, or seen.
 * @param {Clock} clock
 * @param {Line} line
 * @param {number | null} cursor
 * @param {string} unit
 * @param {Range} seen
 */
export function lineText(clock, { values }, cursor, unit, seen) {
  const per = values.length / clock.count;
  const bucket = (/** @type {number} */ seconds) =>
    Math.min(clock.count - 1, Math.max(0, Math.floor((seconds - clock.from) / clock.length + 1e-9)));
  const [first, last] = [bucket(cursor ?? seen.from), bucket(cursor ?? seen.to - 1e-6)];
  const known = values.subarray(per * first, per * (last + 1)).filter((value) => !Number.isNaN(value));
  if (known.length === 0) return '–';
  const [low, high] = [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))];
  if (cursor === null) return `max ${valueText(high, unit)}`;
  const [least, most] = [valueText(low, unit), valueText(high, unit)];
  return least === most ? least : `${least} to ${most}`;
}

/**
 * @param {number} value
 * @param {string} unit
 */
function valueText(value, unit) {
  if (unit === 'ratio') return formatShare(Math.round(value * 1e4) / 1e4);
  if (unit === 'ms') return value === 0 ? '0 ms' : formatTime(value);
  if (unit.startsWith('bytes')) return formatWeight(value, 'bytes') + unit.slice(5);
  return value >= 100 ? formatCount(value) : value.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

/**
 * @param {uPlot} u
 * @param {Clock} clock
 * @param {Range} seen
 * @param {string[]} colours of every other stage
 */
function drawBands(u, clock, seen, colours) {
  const { left, top, width, height } = u.bbox;
  clock.bands.forEach(({ from, to }, i) => {
    const [begin, end] = [from, to].map((seconds) => shareOf(seconds, seen) * width);
    u.ctx.fillStyle = colours[i % 2];
    if (end > begin) u.ctx.fillRect(left + begin, top, Math.max(1, end - begin), height);
  });
}

/** @param {string} colour as rgb(…) */
function faded(colour) {
  return colour.replace('rgb(', 'rgba(').replace(')', ', 0.16)');
}
