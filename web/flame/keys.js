// Where the arrow keys lead.

import { callerAt, heaviestChild, neighbour } from './layout.js';

/** @typedef {import('./spans.js').Picture} Picture */

/**
 * The node that a key leads to from the selected one: -1 where there is none that way, undefined for other keys.
 * Callees lie below, or above where the graph is turned up; inward from a caller of the zoomed node leads back to it.
 * @param {Picture} picture
 * @param {string} key
 * @returns {number | undefined}
 */
export function nodeForKey({ tree, layout, root, selected, up }, key) {
  if (key === (up ? 'ArrowUp' : 'ArrowDown')) {
    const depth = tree.depths[selected];
    return depth < tree.depths[root] ? callerAt(tree, root, depth + 1) : heaviestChild(tree, layout, selected);
  }
  if (key === (up ? 'ArrowDown' : 'ArrowUp')) return tree.parents[selected];
  if (key === 'ArrowLeft') return neighbour(tree, layout, selected, -1, root);
  if (key === 'ArrowRight') return neighbour(tree, layout, selected, 1, root);
  return key === 'Home' ? root : undefined;
}
