// Colours of the timeline: by stage, by what the time was, by outcome, by locality.

import { LEVELS, TASK_STATUS, levelOf, partsOf, statusOf } from './task_table.js';

/** @typedef {import('./task_table.js').Tasks} Tasks */
/** @typedef {'stage' | 'time' | 'status' | 'locality'} ColourBy */

/**
 * Colours as the canvas stores them, 0xAABBGGRR, and as text for what is written.
 * @typedef {object} TaskPalette
 * @property {Record<string, number>} packed by name
 * @property {Record<string, string>} css
 */

const STAGE_COLOURS = 8;
export const PART_NAMES = ['cpu', 'gc', 'fetch', 'rest', 'around'];
const COLOUR_WORDS = {
  stage: [],
  time: ['CPU', 'garbage collection', 'waiting for shuffle', 'else in its body (waiting for disk, network, Python, a core)', 'around its body (scheduling, code, result)', 'not known'],
  status: ['succeeded', 'failed', 'killed', 'still running'],
  locality: [...LEVELS, 'not known'],
};
const TASK_COLOURS = [
  'ground', 'band', 'line', 'text', 'quiet', 'bad', 'focus', 'unknown',
  ...Array.from({ length: STAGE_COLOURS }, (_, place) => `stage${place}`),
  ...PART_NAMES, ...TASK_STATUS, ...LEVELS.map((_, place) => `level${place}`),
];

/**
 * @param {Element} host whose style has the colours `--task-<name>`
 * @returns {TaskPalette}
 */
export function taskPalette(host) {
  // A colour may depend on the colour scheme; only a property in use has the one that holds now.
  const probe = host.appendChild(document.createElement('i'));
  /** @type {TaskPalette} */
  const palette = { packed: {}, css: {} };
  for (const name of TASK_COLOURS) {
    probe.style.color = `var(--task-${name})`;
    palette.css[name] = getComputedStyle(probe).color;
    const [red, green, blue] = (palette.css[name].match(/\d+/g) ?? []).map(Number);
    palette.packed[name] = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  }
  probe.remove();
  return palette;
}

/**
 * What the colours mean: names of colours, empty where it is no colour, and words.
 * @param {Tasks} tasks
 * @param {ColourBy} by
 * @returns {[string, string][]}
 */
export function legendOf(tasks, by) {
  const names = { stage: [], time: [...PART_NAMES, 'unknown'], status: TASK_STATUS, locality: [...LEVELS.map((_, place) => `level${place}`), 'unknown'] }[by];
  const seen = new Set();
  if (by === 'status' || by === 'locality') for (let task = 0; task < tasks.count; task++) seen.add(colourName(tasks, task, by));
  /** @type {[string, string][]} */
  const known = names.map((name, place) => [name, COLOUR_WORDS[by][place]]);
  /** @type {[string, string][]} */
  const rest = [];
  const bad = [...(tasks.failed[tasks.count] > 0 ? ['failed (foot of a bar)'] : []), ...(tasks.lanes.some(({ removed }) => removed >= 0) ? ['executor removed'] : [])];
  if (bad.length > 0) rest.push(['bad', bad.join(', ')]);
  if (tasks.piece > 0) rest.push(['quiet', 'foot of a lane: tasks that are not in this page one by one, stronger where more cores were busy with them']);
  if (by === 'stage') rest.unshift(['', 'A colour is a stage; eight repeat, the number in a bar tells them apart.']);
  if (by === 'time') rest.unshift(['', 'Parts of a bar are shares, not moments.']);
  return [...known.filter(([name]) => by === 'time' || seen.has(name)), ...rest];
}

/**
 * The name of the colour of a task.
 * @param {Tasks} tasks
 * @param {number} task
 * @param {ColourBy} by
 */
function colourName(tasks, task, by) {
  if (by === 'stage') return `stage${tasks.columns.stage[task] % STAGE_COLOURS}`;
  if (by === 'status') return TASK_STATUS[statusOf(tasks, task)];
  if (by === 'locality') return levelOf(tasks, task) < 0 ? 'unknown' : `level${levelOf(tasks, task)}`;
  const parts = partsOf(tasks, task);
  return parts === null ? 'unknown' : PART_NAMES[parts.indexOf(Math.max(...parts))];
}

/**
 * The colour of each task.
 * @param {Tasks} tasks
 * @param {TaskPalette} palette
 * @param {ColourBy} by
 */
export function taskColours(tasks, palette, by) {
  const colours = new Uint32Array(tasks.count);
  for (let task = 0; task < tasks.count; task++) colours[task] = palette.packed[colourName(tasks, task, by)];
  return colours;
}

/**
 * A colour between two, channel by channel.
 * @param {number} colour
 * @param {number} other
 * @param {number} share of the other
 */
export function blended(colour, other, share) {
  const own = 1 - share;
  const red = (colour & 255) * own + (other & 255) * share;
  const green = ((colour >>> 8) & 255) * own + ((other >>> 8) & 255) * share;
  const blue = ((colour >>> 16) & 255) * own + ((other >>> 16) & 255) * share;
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
