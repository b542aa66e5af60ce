// One level as spans of pixels, for every kind of picture: on screen, PNG, SVG.

import { callerAt, firstEndingAfter, nextEndingAfter } from './layout.js';
import { shadeOf } from './compare.js';

/** @typedef {import('./shape_regroup.js').Tree} Tree */
/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('./palette.js').Palette} Palette */
/** @typedef {import('./search.js').Found} Found */
/** @typedef {import('./compare.js').Pair} Pair */

/**
 * What is drawn of one tree.
 * @typedef {object} Picture
 * @property {Tree} tree
 * @property {Layout} layout
 * @property {Pair | null} pair the two slices where two are compared
 * @property {Found | null} found
 * @property {Uint8Array | null} cut by node, 1 where what lies below waits for a zoom
 * @property {number} root the node that is as wide as the view
 * @property {number} selected the node that the keyboard stands on
 * @property {number} first the first level that is drawn: 1 in a sandwich, whose root would say nothing
 * @property {number} deepest the last level that is drawn
 * @property {boolean} up whether callers lie below, as flames rise
 * @property {boolean} leafFirst whether stacks are reversed: callees stand above their callers
 */

/**
 * All that pixels depend on. Lengths are CSS pixels.
 * @typedef {Picture & {palette: Palette, width: number, height: number, scroll: number}} Scene `scroll`: how far down
 */

export const ROW = 19;

/**
 * Calls back for each span of a level from left to right. The cost is that of the pixels, not of the nodes: a run of
 * nodes that ends within one pixel is jumped over by bisection, and is a hit when it hides one.
 * @param {Scene} scene
 * @param {number} depth
 * @param {number} width of the view in pixels of the picture
 * @param {(node: number, from: number, to: number, hit: boolean, dim: boolean) => void} visit one node from pixel to
 *   pixel, or (from + 1 = to) the first of a run
 */
export function eachSpan(scene, depth, width, visit) {
  const { tree, layout, found, root } = scene;
  const isHit = (/** @type {number} */ node) => found !== null && node > 0 && found.frames[tree.labels[node]] === 1;
  if (depth < tree.depths[root]) {
    const caller = callerAt(tree, root, depth);
    visit(caller, 0, width, isHit(caller), true);
    return;
  }
  const left = layout.starts[root];
  const right = left + layout.totals[root];
  const scale = width / layout.totals[root];
  const end = layout.bounds[depth + 1];
  let place = firstEndingAfter(layout, layout.bounds[depth], end, left);
  let painted = 0; // the pixels before are a hit's, and must not be painted over
  while (place < end) {
    const node = layout.order[place];
    if (layout.starts[node] >= right || node >= tree.ends[root]) break;
    if (node < root) {
      // Shares are no whole numbers: the node before may seem to reach over the edge.
      place++;
      continue;
    }
    const from = (layout.starts[node] - left) * scale;
    const to = from + layout.totals[node] * scale;
    const x = Math.max(0, Math.floor(from + 1e-6));
    const next = Math.min(width, Math.floor(to + 1e-6));
    if (next > x) {
      const hit = isHit(node);
      visit(node, Math.min(Math.max(x, painted), next), next, hit, found !== null);
      place++;
    } else {
      const beyond = nextEndingAfter(layout, place + 1, end, left + (x + 1) / scale);
      const hit = found !== null && found.before[beyond] > found.before[place];
      if (x < width) visit(node, x, x + 1, hit, found !== null);
      if (hit) painted = x + 1;
      place = beyond;
    }
  }
}

/**
 * The colour of a span, as the palette stores it.
 * @param {Scene} scene
 * @param {number} node
 * @param {boolean} hit
 * @param {boolean} dim
 */
export function colourOf({ tree, palette, pair }, node, hit, dim) {
  if (hit) return palette.hit;
  if (node === 0) return dim ? palette.rootDimmed : palette.root;
  if (pair !== null) return (dim ? palette.shadesDimmed : palette.shades)[shadeOf(pair, node)];
  return (dim ? palette.dimmed : palette.frames)[tree.labels[node]];
}

/**
 * The top of a level's row in the view.
 * @param {Scene} scene
 * @param {number} depth
 */
export function rowTop(scene, depth) {
  return (scene.up ? scene.deepest - depth : depth - scene.first) * ROW - scene.scroll;
}

/**
 * How many levels are drawn.
 * @param {Picture} picture
 */
export function rowsOf({ first, deepest }) {
  return Math.max(1, deepest + 1 - first);
}

/**
 * What stands on a node.
 * @param {Tree} tree
 * @param {number} node
 */
export function nameOf(tree, node) {
  return node === 0 ? 'all' : tree.names[tree.labels[node]];
}
