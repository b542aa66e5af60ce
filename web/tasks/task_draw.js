// The timeline: one lane per executor, one row per task that runs at the same time, drawn into one canvas.

import { blended, PART_NAMES } from './task_colours.js';
import { firstCounted, firstEnding, partsOf } from './task_table.js';
import { formatTime } from '../flame/format.js';

/** @typedef {import('./task_table.js').Tasks} Tasks */
/** @typedef {import('./task_table.js').Lane} Lane */
/** @typedef {import('./task_colours.js').TaskPalette} TaskPalette */

/**
 * What is seen. Times in ms, lengths in CSS pixels.
 * @typedef {object} TaskScene
 * @property {Tasks} tasks
 * @property {TaskPalette} palette
 * @property {Uint32Array} colours by task
 * @property {import('./task_colours.js').ColourBy} by
 * @property {Int32Array | null} lit counts of the tasks that stand out; null: all do
 * @property {number} from
 * @property {number} to
 * @property {number} width
 * @property {number} height of what is seen
 * @property {number} scroll
 * @property {number} row height
 * @property {number} gutter
 * @property {number[]} tops of the lanes, and the end of the last one
 * @property {number} cursor task, -1: none
 * @property {number} selected
 * @property {[number, number] | null} brushed
 * @property {[number, number] | null} chosen piece of time of the flame graph
 */

/**
 * @typedef {object} Brush in device pixels
 * @property {Uint32Array} pixels
 * @property {number} width
 * @property {number} height
 * @property {number} dpr
 * @property {number} left edge of the time axis
 * @property {(left: number, right: number, top: number, bottom: number, colour: number) => void} box
 */

export const TASK_AXIS = 20;
const FOLD_HEIGHT = 7;
const TASK_FADE = 0.78;
const LEAST_LANE = 15;

/**
 * Where the lanes lie: rows as high as there is room for, a line above each lane for its name where it is narrow.
 * @param {Tasks} tasks
 * @param {number} width
 */
export function laneLayout({ lanes, piece, laneOf }, width) {
  const gutter = width < 700 ? 0 : 150;
  const row = [16, 12, 9, 7].find((height) => laneOf.length * height + lanes.length * 6 <= 420) ?? 5;
  const head = gutter === 0 ? 14 : 1;
  let top = TASK_AXIS;
  const tops = lanes.map((lane) => {
    const own = top;
    top += Math.max(head + lane.rows * row + (piece > 0 ? FOLD_HEIGHT : 0) + 3, LEAST_LANE);
    return own;
  });
  return { gutter, row, tops: [...tops, top] };
}

/** @param {TaskScene} scene */
const taskScale = ({ from, to, width, gutter }) => (width - gutter) / (to - from);
/** @type {(scene: TaskScene, time: number) => number} */
export const taskX = (scene, time) => scene.gutter + (time - scene.from) * taskScale(scene);
/** @type {(scene: TaskScene, x: number) => number} */
export const taskTime = (scene, x) => scene.from + (x - scene.gutter) / taskScale(scene);

/**
 * The top of a row, from the top of the canvas.
 * @param {TaskScene} scene
 * @param {number} row
 */
export function topOfRow({ tasks, tops, gutter, row: height, scroll }, row) {
  const lane = tasks.laneOf[row];
  return tops[lane] + (gutter === 0 ? 14 : 1) + (row - tasks.lanes[lane].first) * height - scroll;
}

/**
 * The lane and the task at a point; -1 for none. A task narrower than 3 pixels is met beside it, too.
 * @param {TaskScene} scene
 * @param {number} x
 * @param {number} y
 */
export function taskAt(scene, x, y) {
  const { tasks, tops, scroll } = scene;
  const lane = y < TASK_AXIS || x > scene.width ? -1 : tops.findIndex((top, place) => top <= y + scroll && y + scroll < tops[place + 1]);
  if (lane < 0 || x < scene.gutter) return { lane, task: -1 };
  const { first, rows } = tasks.lanes[lane];
  const row = first + Math.floor((y - topOfRow(scene, first)) / scene.row);
  if (row < first || row >= first + rows) return { lane, task: -1 };
  const near = 1.5 / taskScale(scene);
  const time = taskTime(scene, x);
  let place = firstEnding(tasks, row, time - near);
  if (place === tasks.bounds[row + 1] || tasks.launch[tasks.order[place]] > time + near) return { lane, task: -1 };
  const next = firstEnding(tasks, row, time);
  if (next < tasks.bounds[row + 1] && tasks.launch[tasks.order[next]] <= time) place = next;
  return { lane, task: tasks.order[place] };
}

/** @param {HTMLCanvasElement} canvas */
export function createTaskPainter(canvas) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  /** @type {ImageData | null} */
  let image = null;
  return (/** @type {TaskScene} */ scene) => {
    const dpr = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(scene.width * dpr), Math.round(scene.height * dpr)];
    if (width === 0 || height === 0) return;
    if (image === null || image.width !== width || image.height !== height) {
      canvas.width = width;
      canvas.height = height;
      canvas.style.width = `${scene.width}px`;
      canvas.style.height = `${scene.height}px`;
      image = context.createImageData(width, height);
    }
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(scene.palette.packed.ground);
    /** @type {Brush} */
    const brush = {
      pixels, width, height, dpr, left: Math.round(scene.gutter * dpr),
      box(left, right, top, bottom, colour) {
        const [begin, end] = [Math.max(left, brush.left), Math.min(right, width)];
        if (end <= begin) return;
        for (let y = Math.max(0, top); y < Math.min(height, bottom); y++) pixels.fill(colour, y * width + begin, y * width + end);
      },
    };
    /** @type {[number, number, number][]} */
    const labels = [];
    scene.tasks.lanes.forEach((lane, place) => {
      if (scene.tops[place + 1] - scene.scroll > TASK_AXIS && scene.tops[place] - scene.scroll < scene.height) {
        paintLane(scene, lane, place, brush, labels);
      }
    });
    context.putImageData(image, 0, 0);
    context.setTransform(dpr, 0, 0, dpr, 0, 0);
    writeNumbers(context, scene, labels);
    drawTaskMarks(context, scene);
    drawTaskAxis(context, scene);
  };
}

/**
 * @param {TaskScene} scene
 * @param {Lane} lane
 * @param {number} place
 * @param {Brush} brush
 * @param {[number, number, number][]} labels task, left and right edge in device pixels
 */
function paintLane(scene, lane, place, brush, labels) {
  const { tasks, palette, from, scroll } = scene;
  const { dpr, left } = brush;
  const scale = taskScale(scene) * dpr;
  const at = (/** @type {number} */ time) => left + Math.floor(Math.max(-1e6, Math.min(1e6, (time - from) * scale)));
  const [top, bottom] = [scene.tops[place], scene.tops[place + 1] - 2].map((y) => Math.round((y - scroll) * dpr));
  const [added, removed] = [Number.isNaN(lane.added) ? 0 : lane.added, Number.isNaN(lane.removed) ? tasks.end : lane.removed];
  brush.box(at(added), at(removed) + 1, top, bottom, palette.packed.band);
  for (let row = lane.first; row < lane.first + lane.rows; row++) paintTasks(scene, row, brush, at, scale, labels);
  const size = tasks.piece * (lane.cores || lane.rows);
  for (let p = lane.folds[0]; p < lane.folds[1]; p++) {
    const begin = tasks.columns.fold_piece[p] * tasks.piece;
    const share = Math.min(1, Math.max(0.1, tasks.columns.fold_busy[p] / size));
    const end = Math.max(at(begin + tasks.piece), at(begin) + 1);
    brush.box(at(begin), end, bottom - (FOLD_HEIGHT - 1) * dpr, bottom, blended(palette.packed.band, palette.packed.quiet, share));
  }
}

/**
 * One row: drawn once, as a line of pixels, which then stands as often as the row is high.
 * @param {TaskScene} scene
 * @param {number} row
 * @param {Brush} brush
 * @param {(time: number) => number} at
 * @param {number} scale
 * @param {[number, number, number][]} labels
 */
function paintTasks(scene, row, { pixels, width, height, dpr, left, box }, at, scale, labels) {
  const { tasks, palette, colours, lit, from, to } = scene;
  const { order, launch, finish, busy, failed } = tasks;
  const { band, bad } = palette.packed;
  const y = Math.round(topOfRow(scene, row) * dpr);
  const under = y + Math.round(scene.row * dpr) - (scene.row > 6 ? Math.round(dpr) : 0);
  const [first, bottom] = [Math.max(y, 0), Math.min(under, height)];
  if (bottom <= first) return;
  const line = first * width;
  const feet = [];
  const last = tasks.bounds[row + 1];
  for (let p = firstEnding(tasks, row, from); p < last; ) {
    const task = order[p];
    if (launch[task] >= to) break;
    const [x, end] = [at(launch[task]), at(finish[task])];
    // What ends within the pixel it begins in is drawn with all others that do: as the share of it that was busy.
    const next = end > x ? p + 1 : Math.max(p + 1, firstEnding(tasks, row, from + (x + 1 - left) / scale - 1e-9, p));
    const isLit = lit === null || lit[next] > lit[p];
    const [begin, stop] = [Math.max(left, x), Math.min(width, Math.max(x + 1, end - x >= 4 * dpr ? end - Math.round(dpr) : end))];
    const parts = scene.by === 'time' && end - x >= 6 * dpr && isLit ? partsOf(tasks, task) : null;
    if (parts !== null) {
      // Shares of the bar, not moments.
      const whole = parts.reduce((sum, part) => sum + part, 0) || 1;
      let sum = 0;
      parts.forEach((part, place) => {
        const edges = [sum, (sum += part)].map((ms) => Math.min(stop, Math.max(left, Math.round(x + ((stop - x) * ms) / whole))));
        pixels.fill(palette.packed[PART_NAMES[place]], line + edges[0], line + edges[1]);
      });
    } else {
      let colour = colours[next > p + 1 && lit !== null && isLit ? order[firstCounted(lit, p, next - 1)] : task];
      if (next > p + 1) colour = blended(band, colour, Math.min(1, Math.max(0.35, (busy[next] - busy[p]) * scale)));
      if (!isLit) colour = blended(colour, band, TASK_FADE);
      if (stop === begin + 1) pixels[line + begin] = colour;
      else if (stop > begin) pixels.fill(colour, line + begin, line + stop);
    }
    if (failed[next] > failed[p]) feet.push([begin, stop]);
    if (end - x > 20 * dpr && scene.row >= 12 && isLit) labels.push([task, begin, stop]);
    p = next;
  }
  for (let copy = first + 1; copy < bottom; copy++) pixels.copyWithin(copy * width + left, line + left, line + width);
  for (const [begin, stop] of feet) box(begin, stop, under - Math.round(Math.max(3, scene.row / 4) * dpr), under, bad);
}

/**
 * Numbers of stages in the bars that are wide enough.
 * @param {CanvasRenderingContext2D} context
 * @param {TaskScene} scene
 * @param {[number, number, number][]} labels
 */
function writeNumbers(context, scene, labels) {
  const { tasks, palette } = scene;
  const dpr = Math.min(devicePixelRatio || 1, 2);
  context.font = '10px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.fillStyle = palette.css.text;
  for (const [task, left, right] of labels) {
    const text = String(tasks.columns.stage_id[tasks.columns.stage[task]]);
    if (context.measureText(text).width + 6 > (right - left) / dpr) continue;
    context.fillText(text, left / dpr + 3, topOfRow(scene, tasks.rowOf[task]) + scene.row / 2);
  }
}

/**
 * Names of lanes, removals, the chosen and brushed pieces of time, the frames of cursor and selection.
 * @param {CanvasRenderingContext2D} context
 * @param {TaskScene} scene
 */
function drawTaskMarks(context, scene) {
  const { tasks, palette, tops, scroll, gutter, width } = scene;
  context.font = '12px system-ui, sans-serif';
  const write = (/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ room) => {
    let shown = text;
    while (shown.length > 1 && context.measureText(shown).width > room) shown = `${shown.slice(0, -2)}…`;
    if (shown.length > 2 || shown === text) context.fillText(shown, x, y);
  };
  tasks.lanes.forEach((lane, place) => {
    const [top, bottom] = [tops[place] - scroll, tops[place + 1] - scroll - 2];
    if (bottom < TASK_AXIS || top > scene.height) return;
    const x = taskX(scene, lane.removed);
    if (x >= gutter && x <= width) {
      context.fillStyle = palette.css.bad;
      context.fillRect(x - 1, top, 2, bottom - top);
      const removal = `removed: ${lane.reason || 'no reason given'}`;
      write(removal, x + 5, Math.max(TASK_AXIS + 7, top + (gutter === 0 ? 21 : 8)), width - x - 8);
    }
    context.fillStyle = palette.css.text;
    if (gutter === 0) write(`${laneName(lane)} · ${lane.host}`, 2, top + 7, width - 4);
    else {
      const room = bottom - top > 28;
      write(room ? laneName(lane) : `${laneName(lane)} · ${lane.host}`, 2, top + 8, gutter - 8);
      context.fillStyle = palette.css.quiet;
      if (room) write(lane.host, 2, top + 22, gutter - 8);
    }
  });
  const range = scene.brushed ?? scene.chosen;
  if (range !== null) {
    context.globalAlpha = 0.15;
    context.fillStyle = palette.css.focus;
    const [begin, end] = range.map((time) => Math.max(gutter, Math.min(width, taskX(scene, time))));
    context.fillRect(begin, 0, end - begin, scene.height);
    context.globalAlpha = 1;
    for (const x of [begin, end]) context.fillRect(x, 0, 1, scene.height);
  }
  for (const [task, size] of [[scene.selected, 2], [scene.cursor, 1]]) {
    if (task < 0) continue;
    const [begin, end] = [taskX(scene, tasks.launch[task]), taskX(scene, tasks.finish[task])];
    const [x, stop] = [Math.max(begin - 1, gutter), Math.min(Math.max(end, begin + 3), width)];
    if (stop <= x) continue;
    context.strokeStyle = size === 2 ? palette.css.text : palette.css.focus;
    context.lineWidth = 2;
    context.strokeRect(x, topOfRow(scene, tasks.rowOf[task]) - 1, stop - x, scene.row + 1);
  }
}

/** @param {Lane} lane */
export function laneName({ id }) {
  return id === 'driver' ? 'driver' : `executor ${id || 'not known'}`;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {TaskScene} scene
 */
function drawTaskAxis(context, scene) {
  const { palette, width, gutter, from, to } = scene;
  context.fillStyle = palette.css.ground;
  context.fillRect(0, 0, width, TASK_AXIS - 1);
  context.fillStyle = palette.css.line;
  context.fillRect(gutter, TASK_AXIS - 2, width - gutter, 1);
  context.font = '11px system-ui, sans-serif';
  const step = niceTimeStep((to - from) / Math.max(2, (width - gutter) / 110));
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
    const x = taskX(scene, time);
    context.fillStyle = palette.css.line;
    context.fillRect(x, TASK_AXIS - 6, 1, 5);
    context.fillStyle = palette.css.quiet;
    const text = time === 0 ? '0 s' : formatTime(time);
    if (x + context.measureText(text).width + 3 < width) context.fillText(text, x + 3, 8);
  }
}

/**
 * The next step of a scale of time that reads well: decimal up to minutes and hours.
 * @param {number} least ms
 */
export function niceTimeStep(least) {
  const [unit] = [3_600_000, 60_000].filter((size) => least > size / 3);
  if (unit !== undefined) {
    const found = [0.5, 1, 2, 5, 10, 15, 30].find((step) => step * unit >= least);
    return unit * (found ?? Math.ceil(least / unit / 24) * 24);
  }
  return niceDecimalStep(least);
}

/**
 * The next step of a scale: 1, 2 or 5 of a power of ten.
 * @param {number} least
 */
export function niceDecimalStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 0.001)));
  return power * (/** @type {number} */ ([1, 2, 5, 10].find((step) => step * power >= least)));
}
