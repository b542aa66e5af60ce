// The zoomed nodes as text of the address: `41`, a node of the data; of a tree made anew the frames that lead there,
// `~3.17.25`; in the callers of a sandwich `^3.17`.

import { nodeOfPath, pathOf } from './view.js';

/** @typedef {import('./spans.js').Picture} Picture */

/**
 * @param {Picture} main
 * @param {Picture | null} callers
 * @param {boolean} own whether the main tree is that of the data
 */
export function zoomText(main, callers, own) {
  let text = '';
  if (main.root > 0) text = own ? String(main.root) : `~${pathOf(main.tree, main.root).join('.')}`;
  if (callers !== null && callers.root > 0) text += `^${pathOf(callers.tree, callers.root).join('.')}`;
  return text;
}

/**
 * The frames of each part of such a text.
 * @param {string} text
 * @returns {{node: number, main: number[], callers: number[]}}
 */
export function parseZoom(text) {
  const [, node, main, callers] = /^(\d*)(?:~([\d.]+))?(?:\^([\d.]+))?$/.exec(text) ?? [];
  const frames = (/** @type {string | undefined} */ part) => (part ? part.split('.').map(Number) : []);
  return { node: Number(node ?? 0), main: frames(main), callers: frames(callers) };
}

/**
 * The node to zoom to; the root where the one that is asked for is not there or has no weight.
 * @param {Picture} picture
 * @param {number} node
 * @param {number[]} path
 */
export function zoomedNode({ tree, layout }, node, path) {
  const found = path.length > 0 ? nodeOfPath(tree, path) : node;
  return found < tree.size && layout.totals[found] > 0 ? found : 0;
}
