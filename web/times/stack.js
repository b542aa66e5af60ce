// Pictures of one element, one below the other: drawn anew when state, theme or width change, brushed as one.

import { onState } from '../state.js';
import { onThemeChange } from '../theme.js';
import { added, seenTime, stateOf } from './clock.js';
import { brush } from './brush.js';
import { drawChart } from './chart.js';

/** @typedef {import('./clock.js').Range} Range */
/** @typedef {import('./chart.js').Plan} Plan */

/**
 * @param {HTMLElement} host
 * @param {string} label
 * @param {import('./clock.js').Clock} clock
 * @param {(seen: Range) => Plan[]} plansOf what to draw now
 * @param {(seconds: number) => string} words what there is at a time, to be read out
 * @param {(seconds: number, height: number) => Range} [cellAt] the cell at a time and a height from 0 to 1
 * @param {() => number} [step] seconds that an arrow key moves
 * @param {(cursor: number | null) => void} [told]
 */
export function pictureStack(host, label, clock, plansOf, words, cellAt, step, told) {
  const area = added(host, 'div', 'time-area');
  area.tabIndex = 0;
  area.setAttribute('role', 'group');
  area.setAttribute('aria-label', `${label}: arrow keys move, with Shift they choose a piece of time`);
  const holder = added(area, 'div');
  let charts = /** @type {import('./chart.js').Chart[]} */ ([]);
  const hidden = /** @type {Set<string>} */ (new Set());
  let seen = seenTime(clock);
  let width = 0;
  const again = brush({
    area,
    clock,
    at: (event) => {
      const plot = event.target instanceof Element ? event.target.closest('.time-plot') : null;
      if (plot === null && !area.hasPointerCapture(event.pointerId)) return null;
      const box = (holder.querySelector('.time-inside') ?? holder).getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      const seconds = seen.from + share * (seen.to - seen.from);
      const height = Math.min(0.999, Math.max(0, 1 - (event.clientY - box.top) / box.height));
      return cellAt ? cellAt(seconds, height) : { from: seconds, to: seconds };
    },
    seen: () => seen,
    step: step ?? (() => Math.max(clock.length, (seen.to - seen.from) / 100)),
    mark: (cursor, chosen) => {
      for (const chart of charts) chart.mark(cursor, chosen);
      told?.(cursor);
    },
    words,
  });
  const draw = () => {
    seen = seenTime(clock);
    for (const chart of charts) chart.destroy();
    holder.replaceChildren();
    const plans = plansOf(seen);
    charts = plans.map((plan, i) => drawChart(added(holder, 'div'), plan, clock, seen, i === plans.length - 1, hidden, draw));
    if (plans.length === 0) added(holder, 'p', 'quiet', `Nothing of executor ${stateOf('executor')}.`);
    again();
  };
  new ResizeObserver(() => {
    if (holder.clientWidth !== width) draw();
    width = holder.clientWidth;
  }).observe(holder);
  onThemeChange(draw);
  const asked = () => JSON.stringify([seenTime(clock), ...['executor', 'event', 'heat'].map(stateOf)]);
  let last = asked();
  onState(() => {
    if (last === asked()) again();
    else draw();
    last = asked();
  });
}
