// Where the arrow keys lead.

import { callerAt, heaviestChild, neighbour } from './layout.js';

/** @typedef {import('./view.js').View} View */

/**
 * The node that a key leads to from the selected one: -1 where there is none that way, undefined for other keys.
 * Callees lie below, or above where the graph is turned up; inward from a caller of the zoomed node leads back to it.
 * @param {View} view
 * @param {string} key
 * @returns {number | undefined}
 */
export function nodeForKey(view, key) {
  const { flame, layout, root, selected } = view;
  if (key === (view.up ? 'ArrowUp' : 'ArrowDown')) {
    const depth = flame.depths[selected];
    return depth < flame.depths[root] ? callerAt(flame, root, depth + 1) : heaviestChild(flame, layout, selected);
  }
  if (key === (view.up ? 'ArrowDown' : 'ArrowUp')) return flame.parents[selected];
  if (key === 'ArrowLeft') return neighbour(flame, layout, selected, -1, root);
  if (key === 'ArrowRight') return neighbour(flame, layout, selected, 1, root);
  return key === 'Home' ? root : undefined;
}
