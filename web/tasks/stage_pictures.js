// The run times of one stage drawn: a histogram with quartiles, and run time against what was read.

import { runTime } from './task_table.js';
import { niceDecimalStep, niceTimeStep } from './task_draw.js';
import { formatCount, formatTime, formatWeight } from '../flame/format.js';

/** @typedef {import('./task_table.js').Tasks} Tasks */
/** @typedef {import('./task_colours.js').TaskPalette} TaskPalette */
/** @typedef {import('./stage_times.js').StageTimes} StageTimes */

const STAGE_BARS = 40;
const CHART_MARGIN = { left: 66, right: 12, top: 26, bottom: 20 };

/**
 * A canvas ready to draw on, its size in CSS pixels, and a scale for values from 0.
 * @param {HTMLCanvasElement} canvas
 * @param {TaskPalette} palette
 */
function readyChart(canvas, palette) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const dpr = Math.min(devicePixelRatio || 1, 2);
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * dpr;
  canvas.height = height * dpr;
  context.setTransform(dpr, 0, 0, dpr, 0, 0);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  const inner = { width: width - CHART_MARGIN.left - CHART_MARGIN.right, height: height - CHART_MARGIN.top - CHART_MARGIN.bottom };
  const axis = (/** @type {number} */ most, /** @type {(value: number) => string} */ words, /** @type {boolean} */ up, stepOf = niceTimeStep) => {
    const step = stepOf(most / (up ? 4 : Math.max(2, inner.width / 90)));
    for (let value = 0; value <= most * 1.001; value += step) {
      const x = up ? CHART_MARGIN.left : CHART_MARGIN.left + (value / most) * inner.width;
      const y = up ? CHART_MARGIN.top + inner.height * (1 - value / most) : CHART_MARGIN.top + inner.height;
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
  const { context, inner, axis } = readyChart(canvas, palette);
  const [least, quarter, median, three, most] = quartiles;
  if (!(most >= 0)) return;
  const bars = [];
  for (let at = 0; at < columns.bin_stage.length; at++) {
    if (columns.bin_stage[at] === place) bars.push([columns.bin_place[at], columns.bin_count[at]]);
  }
  const highest = Math.max(...bars.map(([, count]) => count));
  const whole = Math.max(most, 1);
  const x = (/** @type {number} */ ms) => CHART_MARGIN.left + (ms / whole) * inner.width;
  axis(highest, formatCount, true, (least) => niceDecimalStep(Math.max(1, least)));
  axis(whole, formatTime, false);
  const width = (Math.max(most - least, 1) / STAGE_BARS / whole) * inner.width;
  for (const [bar, count] of bars) {
    const begin = least + (bar / STAGE_BARS) * (most - least);
    const height = Math.max(2, (count / highest) * inner.height);
    context.fillStyle = begin >= limit ? palette.css.bad : palette.css.stage0;
    context.fillRect(x(begin), CHART_MARGIN.top + inner.height - height, Math.max(2, width - 0.5), height);
  }
  context.fillStyle = palette.css.quiet;
  context.fillRect(x(least), 11, x(most) - x(least), 1);
  context.fillStyle = palette.css.unknown;
  context.fillRect(x(quarter), 5, Math.max(2, x(three) - x(quarter)), 13);
  context.fillStyle = palette.css.text;
  context.fillRect(x(median) - 1, 3, 2, 17);
  if (late.length > 0) {
    context.fillStyle = palette.css.bad;
    context.fillRect(x(limit), 3, 1, CHART_MARGIN.top + inner.height - 3);
    for (const task of late) context.fillRect(x(columns.duration[task] - columns.outside[task]) - 1, 7, 2, 9);
  }
}

/**
 * Run time (upwards) against what a task read: shuffle and input. Gives back where each task lies; none where none
 * read anything.
 * @param {HTMLCanvasElement} canvas
 * @param {Tasks} tasks
 * @param {StageTimes} times
 * @param {TaskPalette} palette
 * @param {number} selected
 * @returns {{task: number, x: number, y: number}[]}
 */
export function drawCloud(canvas, tasks, times, palette, selected) {
  const { context, inner, axis } = readyChart(canvas, palette);
  const { read_bytes: read } = tasks.columns;
  const own = times.tasks.filter((task) => read[task] >= 0);
  const most = own.reduce((high, task) => Math.max(high, read[task]), 0);
  if (most === 0) return [];
  const longest = Math.max(times.quartiles[4], 1);
  axis(longest, formatTime, true);
  axis(most, (bytes) => formatWeight(bytes, 'bytes'), false, (least) => 2 ** Math.max(0, Math.ceil(Math.log2(least))));
  const points = own.map((task) => ({
    task,
    x: CHART_MARGIN.left + (read[task] / most) * inner.width,
    y: CHART_MARGIN.top + inner.height * (1 - runTime(tasks, task) / longest),
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
