// Pointer, wheel and keys on the timeline.

import { firstEnding } from './task_table.js';
import { TASK_AXIS, laneName, taskAt, taskTime, topOfRow, taskX } from './task_draw.js';
import { taskWords } from './stage_times.js';
import { formatCount, formatTime } from '../flame/format.js';

/** @typedef {import('./task_table.js').Tasks} Tasks */
/** @typedef {import('./task_draw.js').TaskScene} TaskScene */

/**
 * @typedef {object} TaskDeeds
 * @property {() => void} draw
 * @property {(from: number, to: number) => void} zoomTo
 * @property {(factor: number, time?: number) => void} zoomBy
 * @property {(task: number) => void} select -1: nothing
 * @property {(words: string[], x: number, y: number) => void} showTip
 * @property {(words: string[]) => void} say
 */

/**
 * @param {Tasks} tasks
 * @param {number} place
 */
function laneWords({ lanes }, place) {
  const { cores, count, rows, host, added, removed, reason } = lanes[place];
  return [
    `${laneName(lanes[place])} on ${host || 'a host not known'}`,
    `${cores > 0 ? `${formatCount(cores)} ${cores === 1 ? 'core' : 'cores'}, ` : ''}${formatCount(count)} tasks here, at most ${rows} at once`,
    ...(Number.isNaN(added) ? [] : [`came at ${formatTime(added)}`]),
    Number.isNaN(removed) ? 'not removed as far as is known' : `removed at ${formatTime(removed)}: ${reason || 'no reason given'}`,
  ];
}

/**
 * The task that an arrow leads to: the next of the row, or what ran then in the nearest row that has any. -1: none.
 * @param {TaskScene} scene
 * @param {string} key
 */
function taskForKey({ tasks, cursor, selected, from }, key) {
  const { bounds, order, rowOf, launch } = tasks;
  const now = cursor >= 0 ? cursor : selected;
  if (now < 0) return order[Math.min(firstEnding(tasks, rowOf[0], from), bounds[rowOf[0] + 1] - 1)];
  const row = rowOf[now];
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    const place = order.subarray(bounds[row], bounds[row + 1]).indexOf(now) + bounds[row] + (key === 'ArrowLeft' ? -1 : 1);
    return place < bounds[row] || place >= bounds[row + 1] ? -1 : order[place];
  }
  const step = key === 'ArrowUp' ? -1 : 1;
  for (let other = row + step; other >= 0 && other + 1 < bounds.length; other += step) {
    const last = bounds[other + 1] - 1;
    if (last >= bounds[other]) return order[Math.min(last, firstEnding(tasks, other, launch[now]))];
  }
  return -1;
}

/**
 * @param {HTMLElement} view
 * @param {TaskScene} scene
 * @param {TaskDeeds} deeds
 */
export function listenToTasks(view, scene, { draw, zoomTo, zoomBy, select, showTip, say }) {
  const { tasks } = scene;
  /** @type {{x: number, from: number, to: number, pan: boolean} | null} */
  let dragged = null;
  let wasDrag = false;
  const on = (/** @type {string} */ name, /** @type {(event: any) => void} */ act) => view.addEventListener(name, act, { passive: false });
  const inside = (/** @type {number} */ x) => Math.max(scene.gutter, Math.min(scene.width, x));
  const pointOf = (/** @type {MouseEvent} */ event) => {
    const edge = view.getBoundingClientRect();
    return { x: event.clientX - edge.left, y: event.clientY - edge.top };
  };
  const panBy = (/** @type {number} */ share, /** @type {{from: number, to: number}} */ { from, to } = scene) =>
    zoomTo(from + share * (to - from), to + share * (to - from));
  const hide = () => showTip([], 0, 0);

  /** Puts the keyboard on a task, brings it into view and says what it is. */
  const moveTo = (/** @type {number} */ task) => {
    if (!(task >= 0)) return;
    scene.cursor = task;
    const [begin, end, half] = [tasks.launch[task], tasks.finish[task], (scene.to - scene.from) / 2];
    if (end < scene.from || begin > scene.to) zoomTo((begin + end) / 2 - half, (begin + end) / 2 + half);
    const top = topOfRow(scene, tasks.rowOf[task]);
    view.scrollTop += Math.min(0, top - TASK_AXIS) + Math.max(0, top + scene.row - view.clientHeight);
    const words = taskWords(tasks, task);
    const edge = view.getBoundingClientRect();
    say(words);
    showTip(words, edge.left + Math.min(inside(taskX(scene, begin)), scene.width - 40), edge.top + topOfRow(scene, tasks.rowOf[task]) + scene.row);
    draw();
  };

  on('pointerdown', (event) => {
    const { x } = pointOf(event);
    if (event.button !== 0 || event.pointerType === 'touch' || x > view.clientWidth) return;
    dragged = { x, from: scene.from, to: scene.to, pan: event.shiftKey };
    view.setPointerCapture(event.pointerId);
  });
  on('pointermove', (event) => {
    const { x, y } = pointOf(event);
    if (dragged === null) {
      const { lane, task } = taskAt(scene, x, y);
      showTip(task >= 0 ? taskWords(tasks, task) : lane >= 0 ? laneWords(tasks, lane) : [], event.clientX, event.clientY);
      return;
    }
    hide();
    if (dragged.pan) panBy((dragged.x - x) / (scene.width - scene.gutter), dragged);
    else if (scene.brushed !== null || Math.abs(x - dragged.x) > 4) {
      const ends = [dragged.x, x].map((end) => taskTime(scene, inside(end)));
      scene.brushed = [Math.min(...ends), Math.max(...ends)];
      draw();
    }
  });
  on('pointerup', () => {
    const { brushed } = scene;
    wasDrag = brushed !== null || dragged?.pan === true;
    dragged = scene.brushed = null;
    if (brushed !== null && brushed[1] > brushed[0]) zoomTo(...brushed);
  });
  on('pointercancel', () => {
    dragged = scene.brushed = null;
    draw();
  });
  on('pointerleave', hide);
  on('blur', hide);
  on('click', (event) => {
    const { x, y } = pointOf(event);
    const { task } = taskAt(scene, x, y);
    if (wasDrag || task < 0) return;
    scene.cursor = task;
    select(task);
  });
  on('wheel', (event) => {
    if (event.ctrlKey || event.metaKey) zoomBy(1.0015 ** event.deltaY, taskTime(scene, inside(pointOf(event).x)));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) panBy((event.deltaX || event.deltaY) / scene.width);
    else return;
    event.preventDefault();
  });
  on('keydown', (event) => {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === '+' || key === '=') zoomBy(1 / 1.6);
    else if (key === '-') zoomBy(1.6);
    else if (key === '0' || key === 'Home') zoomTo(0, tasks.end);
    else if (event.shiftKey && (key === 'ArrowLeft' || key === 'ArrowRight')) panBy(key === 'ArrowLeft' ? -0.2 : 0.2);
    else if (key.startsWith('Arrow')) moveTo(taskForKey(scene, key));
    else if (key === 'Enter') select(scene.cursor);
    else if (key === 'Escape') select((scene.cursor = -1));
    else return;
    event.preventDefault();
  });
  on('scroll', draw);
}
