// One scene to one canvas. The canvas is as large as the view, never as large as the graph; rows outside are skipped.

import { callerAt, firstEndingAfter, nodeAt } from './layout.js';
import { fitTail } from './format.js';

/** @typedef {import('./unpack.js').Flame} Flame */
/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('./palette.js').Palette} Palette */
/** @typedef {import('./search.js').Found} Found */

/**
 * All that a picture depends on. Lengths are CSS pixels.
 * @typedef {object} Scene
 * @property {Flame} flame
 * @property {Layout} layout
 * @property {Palette} palette
 * @property {Found | null} found
 * @property {number} root the node that is as wide as the view
 * @property {number} deepest the last level that is drawn
 * @property {boolean} up whether callers lie below, as flames rise
 * @property {number} width
 * @property {number} height
 * @property {number} scroll how far the view is scrolled down
 */

export const ROW = 19;
const FONT = '12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
const PADDING = 5;

/**
 * The top of a level's row in the view.
 * @param {Scene} scene
 * @param {number} depth
 */
export function rowTop(scene, depth) {
  return (scene.up ? scene.deepest - depth : depth) * ROW - scene.scroll;
}

/**
 * The node under a point of the view, or -1.
 * @param {Scene} scene
 * @param {number} x
 * @param {number} y
 */
export function nodeUnder(scene, x, y) {
  const { flame, layout, root } = scene;
  const row = Math.floor((y + scene.scroll) / ROW);
  const depth = scene.up ? scene.deepest - row : row;
  if (depth < 0 || depth > scene.deepest) return -1;
  if (depth <= flame.depths[root]) return callerAt(flame, root, depth);
  return nodeAt(layout, depth, layout.starts[root] + (x / scene.width) * layout.totals[root]);
}

/**
 * Where a node lies in the view; null where it is outside of what is zoomed.
 * @param {Scene} scene
 * @param {number} node
 */
export function boxOf(scene, node) {
  const { flame, layout, root } = scene;
  const top = rowTop(scene, flame.depths[node]);
  if (node <= root && flame.ends[node] >= flame.ends[root]) return { left: 0, top, width: scene.width };
  if (node < root || node >= flame.ends[root]) return null;
  if (layout.totals[root] === 0) return null;
  const scale = scene.width / layout.totals[root];
  return { left: (layout.starts[node] - layout.starts[root]) * scale, top, width: layout.totals[node] * scale };
}

/**
 * A function that paints scenes on `canvas`. It keeps its pixels between calls.
 * @param {HTMLCanvasElement} canvas
 * @returns {(scene: Scene) => void}
 */
export function createPainter(canvas) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
  /** @type {ImageData | null} */
  let image = null;
  /** @type {Float32Array | null} */
  let advances = null;

  return (scene) => {
    const ratio = devicePixelRatio || 1;
    const width = Math.max(1, Math.round(scene.width * ratio));
    const height = Math.max(1, Math.round(scene.height * ratio));
    if (image === null || image.width !== width || image.height !== height) {
      image = new ImageData(width, height);
      canvas.width = width;
      canvas.height = height;
      canvas.style.width = `${scene.width}px`;
      canvas.style.height = `${scene.height}px`;
    }
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(scene.palette.ground);
    const row = new Uint32Array(width);
    const gap = Math.max(1, Math.round(ratio));
    /** @type {number[]} node, left, width and top of each label */
    const labels = [];
    const first = Math.max(0, Math.floor(scene.scroll / ROW));
    const last = Math.min(scene.deepest, Math.ceil((scene.scroll + scene.height) / ROW));
    for (let place = first; place <= last; place++) {
      const depth = scene.up ? scene.deepest - place : place;
      const top = rowTop(scene, depth);
      paintRow(scene, depth, top, row, ratio, labels);
      const from = Math.max(0, Math.round(top * ratio));
      const to = Math.min(height, Math.round((top + ROW) * ratio) - gap);
      for (let y = from; y < to; y++) pixels.set(row, y * width);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(image, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    context.textBaseline = 'middle';
    advances ??= measure(context);
    writeLabels(scene, context, advances, labels);
  };
}

/**
 * One level into one line of pixels. The cost is that of the pixels, not of the nodes: a run of nodes that ends within
 * one pixel is jumped over by bisection, and still lights up when it hides a hit.
 * @param {Scene} scene
 * @param {number} depth
 * @param {number} top
 * @param {Uint32Array} row
 * @param {number} ratio device pixels per CSS pixel
 * @param {number[]} labels is added to
 */
function paintRow(scene, depth, top, row, ratio, labels) {
  const { flame, layout, palette, found, root } = scene;
  const width = row.length;
  row.fill(palette.ground);
  const isHit = (/** @type {number} */ node) => found !== null && node > 0 && found.frames[flame.labels[node]] === 1;
  const colourOf = (/** @type {number} */ node, /** @type {boolean} */ hit, /** @type {boolean} */ dim) => {
    if (hit) return palette.hit;
    if (node === 0) return dim ? palette.rootDimmed : palette.root;
    return dim ? palette.dimmed[flame.labels[node]] : palette.frames[flame.labels[node]];
  };
  if (depth < flame.depths[root]) {
    const caller = callerAt(flame, root, depth);
    row.fill(colourOf(caller, isHit(caller), true));
    labels.push(caller, 0, scene.width, top);
    return;
  }
  const left = layout.starts[root];
  const right = left + layout.totals[root];
  const scale = width / layout.totals[root];
  const end = layout.bounds[depth + 1];
  let place = firstEndingAfter(layout, layout.bounds[depth], end, left);
  while (place < end) {
    const node = layout.order[place];
    if (layout.starts[node] >= right) break;
    const from = (layout.starts[node] - left) * scale;
    const to = from + layout.totals[node] * scale;
    const x = Math.max(0, Math.floor(from + 1e-6));
    const next = Math.min(width, Math.floor(to + 1e-6));
    if (next > x) {
      // A hit in the run just before shares this node's first pixel, and must not be painted over.
      const first = found !== null && row[x] === palette.hit ? x + 1 : x;
      row.fill(colourOf(node, isHit(node), found !== null), first, next);
      if (next - x > 3) row[next - 1] = palette.ground;
      if (to - from > 22 * ratio) labels.push(node, x / ratio, (next - x) / ratio, top);
      place++;
    } else {
      const beyond = firstEndingAfter(layout, place + 1, end, left + (x + 1) / scale);
      const hit = found !== null && found.before[beyond] > found.before[place];
      if (x < width) row[x] = colourOf(node, hit, found !== null);
      place = beyond;
    }
  }
}

/**
 * @param {Scene} scene
 * @param {CanvasRenderingContext2D} context
 * @param {Float32Array} advances
 * @param {number[]} labels
 */
function writeLabels(scene, context, advances, labels) {
  const { flame, palette, found } = scene;
  for (let i = 0; i < labels.length; i += 4) {
    const [node, left, width, top] = labels.slice(i, i + 4);
    const name = node === 0 ? 'all' : flame.names[flame.labels[node]];
    const text = fitTail(name, width - 2 * PADDING, advances);
    if (text === '') continue;
    const hit = found !== null && node > 0 && found.frames[flame.labels[node]] === 1;
    context.fillStyle = hit ? palette.hitText : palette.text;
    context.globalAlpha = hit || (found === null && flame.depths[node] >= flame.depths[scene.root]) ? 1 : 0.6;
    context.fillText(text, left + PADDING, top + ROW / 2);
  }
  context.globalAlpha = 1;
}

/**
 * The width of each printable ASCII character, and at 127 that of any other.
 * @param {CanvasRenderingContext2D} context
 */
function measure(context) {
  const advances = new Float32Array(128);
  for (let code = 32; code < 127; code++) advances[code] = context.measureText(String.fromCharCode(code)).width;
  advances[127] = context.measureText('…').width;
  return advances;
}
