// The run times of one stage: words, quartiles and stragglers, run time against what was read, hosts and localities.

import { LEVELS, groupOfTask, levelOf, runTime, statusOf, tasksOf, wordAt } from './task_table.js';
import { niceStep } from './task_draw.js';
import { formatCount, formatTime, formatWeight } from '../flame/format.js';

/** @typedef {import('./task_table.js').Tasks} Tasks */
/** @typedef {import('./task_colours.js').TaskPalette} TaskPalette */

/**
 * One stage attempt. Times in ms.
 * @typedef {object} StageTimes
 * @property {number} place
 * @property {number[]} tasks single bars that succeeded with a known run time
 * @property {number[]} quartiles from the shortest to the longest
 * @property {number} limit beyond it a task is a straggler
 * @property {number[]} late the stragglers among `tasks`, the slowest first
 * @property {number} folded tasks that are no single bars
 */

const BARS = 40;
const UNEVEN = 3;
const HALF = 0.5;
const MARGIN = { left: 66, right: 12, top: 26, bottom: 20 };

/**
 * @param {Tasks} tasks
 * @param {number} place
 * @returns {StageTimes}
 */
export function stageTimes(tasks, place) {
  const { columns } = tasks;
  const own = tasksOf(tasks, new Set([place])).filter((task) => statusOf(tasks, task) === 0 && runTime(tasks, task) >= 0);
  const limit = columns.stage_limit[place];
  const late = own.filter((task) => runTime(tasks, task) > limit).sort((a, b) => runTime(tasks, b) - runTime(tasks, a));
  const quartiles = [0, 1, 2, 3, 4].map((quarter) => columns[`stage_q${quarter}`][place]);
  return { place, tasks: own, quartiles, limit, late, folded: columns.stage_folded[place] };
}

/**
 * @param {Tasks} tasks
 * @param {number} place
 */
export function stageName({ columns }, place) {
  const attempt = columns.stage_attempt[place];
  return `${columns.stage_id[place]}${attempt > 0 ? `.${attempt}` : ''}`;
}

/** @param {number[]} values */
function middleOf(values) {
  const sorted = values.filter((value) => value >= 0).sort((a, b) => a - b);
  return sorted.length === 0 ? -1 : (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/**
 * What the times of the stage say, sentence by sentence.
 * @param {Tasks} tasks
 * @param {StageTimes} times
 */
export function stageWords(tasks, { place, quartiles, limit, late, tasks: own, folded }) {
  const { columns } = tasks;
  const measured = columns.stage_measured[place];
  if (measured < 2) return ['Fewer than two tasks of it succeeded with a known run time: there is nothing to compare.'];
  const [least, quarter, median, three, most] = quartiles.map(formatTime);
  const count = columns.stage_stragglers[place];
  const rule = `${formatTime(limit)} (1.5 interquartile ranges over the third quartile, and at least 1.5 times the median)`;
  const said = [
    `Run times of ${formatCount(measured)} tasks: from ${least} to ${most}, half of them between ${quarter} and ${three}, the median ${median}.`,
    count === 0 ? `No straggler: no task ran longer than ${rule}.`
      : `${count === 1 ? '1 straggler' : `${formatCount(count)} stragglers`} beyond ${rule}.`,
  ];
  if (late.length > 0) {
    const read = middleOf(late.map((task) => columns.read_bytes[task]));
    const usual = columns.stage_read[place];
    const they = late.length === 1 ? 'It' : 'They';
    const [host, there] = mostCommon(late.map((task) => hostOf(tasks, task)));
    const hosts = new Set(own.map((task) => hostOf(tasks, task))).size;
    const ratio = usual > 0 && read >= 0 ? read / usual : Number.NaN;
    if (ratio >= UNEVEN) said.push(`${they} read ${ratio.toFixed(1)} times what the median task read: the data are uneven.`);
    else if (ratio >= 0) said.push(`${they} read ${ratio.toFixed(1)} times what the median task read: the amount of data does not explain it.`);
    if (hosts > 1 && there > late.length * HALF && !(ratio >= UNEVEN)) {
      said.push(`${formatCount(there)} of them ran on ${host}, one of ${hosts} hosts: look at that machine.`);
    }
  }
  if (folded > 0) said.push(`${formatCount(folded)} shorter tasks of it are not in this page one by one: they count in the quartiles and the histogram, not in the cloud and the tables.`);
  return said;
}

/** @type {(tasks: Tasks, task: number) => string} */
const hostOf = (tasks, task) => tasks.lanes[tasks.columns.executor[task]].host || 'a host not known';

/**
 * @param {string[]} texts
 * @returns {[string, number]}
 */
function mostCommon(texts) {
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0];
}

/**
 * Rows of a table: the tasks of the stage by host or by locality.
 * @param {Tasks} tasks
 * @param {StageTimes} times
 * @param {'host' | 'locality'} by
 * @returns {[string, string, string, string, string][]} name, tasks, median, over the stage's median, stragglers
 */
export function groupRows(tasks, times, by) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (const task of times.tasks) {
    const name = by === 'host' ? hostOf(tasks, task) : (LEVELS[levelOf(tasks, task)] ?? 'not known');
    const own = groups.get(name);
    if (own === undefined) groups.set(name, [task]);
    else own.push(task);
  }
  const rows = [...groups].map(([name, own]) => ({ name, own, median: middleOf(own.map((task) => runTime(tasks, task))) }));
  if (by === 'host') rows.sort((a, b) => b.median - a.median);
  else rows.sort((a, b) => LEVELS.indexOf(a.name) - LEVELS.indexOf(b.name));
  return rows.map(({ name, own, median }) => [
    name,
    formatCount(own.length),
    formatTime(median),
    times.quartiles[2] > 0 ? `${(median / times.quartiles[2]).toFixed(2)} ×` : '–',
    formatCount(own.filter((task) => runTime(tasks, task) > times.limit).length),
  ]);
}

/**
 * A canvas ready to draw on, its size in CSS pixels, and a scale for values from 0.
 * @param {HTMLCanvasElement} canvas
 * @param {TaskPalette} palette
 */
function ready(canvas, palette) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const dpr = Math.min(devicePixelRatio || 1, 2);
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * dpr;
  canvas.height = height * dpr;
  context.setTransform(dpr, 0, 0, dpr, 0, 0);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  const axis = (/** @type {number} */ most, /** @type {(value: number) => string} */ words, /** @type {boolean} */ up, bytes = false) => {
    const least = most / (up ? 4 : Math.max(2, inner.width / 90));
    const step = bytes ? 2 ** Math.ceil(Math.log2(least)) : niceStep(least);
    for (let value = 0; value <= most * 1.001; value += step) {
      const x = up ? MARGIN.left : MARGIN.left + (value / most) * inner.width;
      const y = up ? MARGIN.top + inner.height * (1 - value / most) : MARGIN.top + inner.height;
      context.fillStyle = palette.css.line;
      context.fillRect(x, y, up ? inner.width : 1, up ? 1 : 4);
      context.fillStyle = palette.css.quiet;
      context.textAlign = up ? 'right' : value > most * 0.94 ? 'right' : 'center';
      context.fillText(value === 0 ? '0' : words(value), up ? x - 4 : x, up ? y : y + 12);
    }
    context.textAlign = 'left';
  };
  return { context, inner, axis };
}

/**
 * The histogram from 0 to the longest task, with the quartiles above it as a box.
 * @param {HTMLCanvasElement} canvas
 * @param {Tasks} tasks
 * @param {StageTimes} times
 * @param {TaskPalette} palette
 */
export function drawHistogram(canvas, { columns }, { place, quartiles, limit, late }, palette) {
  const { context, inner, axis } = ready(canvas, palette);
  const [least, quarter, median, three, most] = quartiles;
  if (!(most >= 0)) return;
  const bars = [];
  for (let at = 0; at < columns.bin_stage.length; at++) {
    if (columns.bin_stage[at] === place) bars.push([columns.bin_place[at], columns.bin_count[at]]);
  }
  const highest = Math.max(...bars.map(([, count]) => count));
  const whole = Math.max(most, 1);
  const x = (/** @type {number} */ ms) => MARGIN.left + (ms / whole) * inner.width;
  axis(highest, (count) => (Number.isInteger(count) ? formatCount(count) : ''), true);
  axis(whole, formatTime, false);
  const width = (Math.max(most - least, 1) / BARS / whole) * inner.width;
  for (const [bar, count] of bars) {
    const begin = least + (bar / BARS) * (most - least);
    const height = Math.max(2, (count / highest) * inner.height);
    context.fillStyle = begin >= limit ? palette.css.bad : palette.css.stage0;
    context.fillRect(x(begin), MARGIN.top + inner.height - height, Math.max(2, width - 0.5), height);
  }
  context.fillStyle = palette.css.quiet;
  context.fillRect(x(least), 11, x(most) - x(least), 1);
  context.fillStyle = palette.css.unknown;
  context.fillRect(x(quarter), 5, Math.max(2, x(three) - x(quarter)), 13);
  context.fillStyle = palette.css.text;
  context.fillRect(x(median) - 1, 3, 2, 17);
  if (late.length > 0) {
    context.fillStyle = palette.css.bad;
    context.fillRect(x(limit), 3, 1, MARGIN.top + inner.height - 3);
    for (const task of late) context.fillRect(x(columns.duration[task] - columns.outside[task]) - 1, 7, 2, 9);
  }
}

/**
 * Run time (upwards) against what a task read: shuffle and input. Gives back where each task lies.
 * @param {HTMLCanvasElement} canvas
 * @param {Tasks} tasks
 * @param {StageTimes} times
 * @param {TaskPalette} palette
 * @param {number} selected
 * @returns {{task: number, x: number, y: number}[]}
 */
export function drawCloud(canvas, tasks, times, palette, selected) {
  const { context, inner, axis } = ready(canvas, palette);
  const { read_bytes: read } = tasks.columns;
  const own = times.tasks.filter((task) => read[task] >= 0);
  if (own.length === 0) return [];
  const most = own.reduce((high, task) => Math.max(high, read[task]), 1);
  const longest = Math.max(times.quartiles[4], 1);
  axis(longest, formatTime, true);
  axis(most, (bytes) => formatWeight(bytes, 'bytes'), false, true);
  const points = own.map((task) => ({
    task,
    x: MARGIN.left + (read[task] / most) * inner.width,
    y: MARGIN.top + inner.height * (1 - runTime(tasks, task) / longest),
  }));
  const size = own.length > 2000 ? 2 : 5;
  for (const { task, x, y } of points) {
    context.fillStyle = runTime(tasks, task) > times.limit ? palette.css.bad : palette.css.stage0;
    context.fillRect(x - size / 2, y - size / 2, size, size);
    if (task === selected) {
      context.strokeStyle = palette.css.text;
      context.lineWidth = 2;
      context.strokeRect(x - 5, y - 5, 10, 10);
    }
  }
  return points;
}

/**
 * The figures of a task in words, the first its name.
 * @param {Tasks} tasks
 * @param {number} task
 */
export function taskWords(tasks, task) {
  const { columns, launch } = tasks;
  const took = columns.duration[task];
  const place = columns.stage[task];
  const lane = tasks.lanes[columns.executor[task]];
  const attempt = columns.kind[task] >> 8;
  const copy = (columns.kind[task] & 4) !== 0 ? ', a speculative copy' : '';
  const run = runTime(tasks, task);
  const median = columns.stage_q2[place];
  const ms = (/** @type {string} */ words, /** @type {string} */ name) => (columns[name][task] > 0 ? [`${words} ${formatTime(columns[name][task])}`] : []);
  const bytes = (/** @type {string} */ words, /** @type {string} */ name) => (columns[name][task] > 0 ? [`${words} ${formatWeight(columns[name][task], 'bytes')}`] : []);
  const state = ['', 'failed', 'killed', 'still running'][statusOf(tasks, task)];
  const reason = wordAt(columns.reason, task);
  return [
    `Task ${columns.task[task]} of stage ${stageName(tasks, place)}`,
    `index ${columns.index[task]}${attempt > 0 ? `, attempt ${attempt}` : ''}${copy}, ${lane.id === 'driver' ? 'driver' : `executor ${lane.id}`} on ${lane.host}${levelOf(tasks, task) < 0 ? '' : `, ${LEVELS[levelOf(tasks, task)]}`}`,
    ...(state === '' ? [] : [`${state}${reason === '' ? '' : `: ${reason}`}`]),
    `${formatTime(took)}, from ${formatTime(launch[task])} to ${formatTime(launch[task] + took)}`,
    ...(run < 0 ? ['no figures: Spark wrote none for it'] : [
      `ran ${formatTime(run)}${median > 0 ? `, ${(run / median).toFixed(run < 10 * median ? 1 : 0)} times the median of its stage` : ''}`,
      [...ms('CPU', 'cpu_ms'), ...ms('garbage collection', 'gc_ms'), ...ms('waited for shuffle', 'fetch_ms'), ...bytes('read', 'read_bytes'), ...bytes('spilled', 'spilled_bytes')].join(', '),
    ]),
    ...(groupOfTask(tasks, task) === '' ? [] : [`one of the ${groupOfTask(tasks, task) === 'slow' ? 'slowest' : 'median'} tasks of its stage, with a flame graph of its own`]),
  ].filter((text) => text !== '');
}
