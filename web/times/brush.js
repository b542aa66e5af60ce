// Choosing a piece of time in a picture: with the mouse, a finger, or the keys.

import { added, chooseTime, chosenTime, clockText, snapped, stateOf, tellCursor } from './clock.js';

/** @typedef {import('./clock.js').Range} Range */
/**
 * @typedef {object} Brushed
 * @property {HTMLElement} area what has the focus
 * @property {import('./clock.js').Clock} clock
 * @property {(event: PointerEvent) => Range | null} at the time under the pointer: a cell of a map, or a moment
 * @property {() => Range} seen what the picture shows
 * @property {() => number} step seconds that an arrow key moves
 * @property {(cursor: number | null, chosen: Range | null) => void} mark
 * @property {(seconds: number) => string} words what there is at a time, to be read out
 */

const LEAST_DRAG = 4;

/**
 * @param {Brushed} brushed
 * @returns {() => void} marks again, after the picture was drawn
 */
export function brush({ area, clock, at, seen, step, mark, words }) {
  let cursor = /** @type {number | null} */ (null);
  let drag = /** @type {{start: Range, x: number, range: Range | null} | null} */ (null);
  /** Where Shift was pressed first. */
  let anchor = /** @type {number | null} */ (null);
  const spoken = added(area, 'p', 'unseen');
  spoken.setAttribute('aria-live', 'polite');
  const again = () => mark(cursor, drag?.range ?? chosenTime(clock));
  const drop = (/** @type {boolean} */ isChosen) => {
    const range = drag?.range ?? null;
    drag = null;
    if (isChosen && range !== null) chooseTime(range);
    again();
  };

  document.addEventListener('emberscope-cursor', (event) => {
    cursor = /** @type {CustomEvent} */ (event).detail;
    again();
  });
  area.addEventListener('pointerdown', (event) => {
    const start = at(event);
    if (start === null || event.button !== 0) return;
    drag = { start, x: event.clientX, range: null };
    area.setPointerCapture(event.pointerId);
  });
  area.addEventListener('pointermove', (event) => {
    const here = at(event);
    if (drag !== null && here !== null && (drag.range !== null || Math.abs(event.clientX - drag.x) >= LEAST_DRAG)) {
      drag.range = snapped({ from: Math.min(drag.start.from, here.from), to: Math.max(drag.start.to, here.to) });
    }
    tellCursor(here?.from ?? null);
  });
  area.addEventListener('pointerleave', () => tellCursor(null));
  area.addEventListener('pointerup', () => drop(true));
  area.addEventListener('pointercancel', () => drop(false));
  area.addEventListener('blur', () => tellCursor(null));
  area.addEventListener('keyup', (event) => {
    if (event.key === 'Shift') anchor = null;
  });
  area.addEventListener('keydown', (event) => {
    if (event.target !== area || event.ctrlKey || event.metaKey || event.altKey) return;
    const { from, to } = seen();
    const now = cursor ?? chosenTime(clock)?.from ?? from;
    const moves = /** @type {Record<string, number>} */ ({
      ArrowLeft: now - step(), ArrowRight: now + step(), PageUp: now - 10 * step(), PageDown: now + 10 * step(), Home: from, End: to,
    });
    if (event.key === 'Escape') {
      anchor = drag = null;
      chooseTime(null);
      spoken.textContent = 'All of the time.';
    } else if (event.key in moves) {
      const next = Math.min(to, Math.max(from, Math.round(moves[event.key] * 1e6) / 1e6));
      if (event.shiftKey) {
        anchor ??= now;
        if (anchor !== next) chooseTime({ from: Math.min(anchor, next), to: Math.max(anchor, next) });
      }
      tellCursor(next);
      spoken.textContent = event.shiftKey
        ? `Chosen: ${clockText(Number(stateOf('from')))} to ${clockText(Number(stateOf('to')))}`
        : `${clockText(next)}: ${words(next)}`;
    } else return;
    event.preventDefault();
  });
  return again;
}
