// One scene to one canvas. The canvas is as large as the view, never as large as the graph; rows outside are skipped.

import { callerAt, nodeAt } from './layout.js';
import { fitTail } from './format.js';
import { ROW, colourOf, eachSpan, nameOf, rowTop, rowsOf } from './spans.js';

/** @typedef {import('./spans.js').Scene} Scene */

/** One label: node, left, width, top. @typedef {[number, number, number, number]} Label */

export const FONT = '12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
export const PADDING = 5;
const LEAST_LABEL = 22;

/**
 * The node under a point of the view, or -1.
 * @param {Scene} scene
 * @param {number} x
 * @param {number} y
 */
export function nodeUnder(scene, x, y) {
  const { tree, layout, root } = scene;
  const row = Math.floor((y + scene.scroll) / ROW);
  const depth = scene.up ? scene.deepest - row : row + scene.first;
  if (depth < scene.first || depth > scene.deepest) return -1;
  if (depth <= tree.depths[root]) return callerAt(tree, root, depth);
  return nodeAt(layout, depth, layout.starts[root] + (x / scene.width) * layout.totals[root]);
}

/**
 * Where a node lies in the view; null where it is outside of what is zoomed.
 * @param {Scene} scene
 * @param {number} node
 */
export function boxOf(scene, node) {
  const { tree, layout, root } = scene;
  const top = rowTop(scene, tree.depths[node]);
  if (node <= root && tree.ends[node] >= tree.ends[root]) return { left: 0, top, width: scene.width };
  if (node < root || node >= tree.ends[root]) return null;
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
    /** @type {Label[]} */
    const labels = [];
    const begin = Math.max(0, Math.floor(scene.scroll / ROW));
    const end = Math.min(rowsOf(scene), Math.ceil((scene.scroll + scene.height) / ROW) + 1);
    for (let place = begin; place < end; place++) {
      const depth = scene.up ? scene.deepest - place : place + scene.first;
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
    advances ??= measureText(context);
    writeLabels(scene, context, advances, labels);
  };
}

/**
 * One level into one line of pixels.
 * @param {Scene} scene
 * @param {number} depth
 * @param {number} top
 * @param {Uint32Array} row
 * @param {number} ratio device pixels per CSS pixel
 * @param {Label[]} labels is added to
 */
function paintRow(scene, depth, top, row, ratio, labels) {
  const { ground } = scene.palette;
  row.fill(ground);
  eachSpan(scene, depth, row.length, (node, from, to, hit, dim) => {
    row.fill(colourOf(scene, node, hit, dim), from, to);
    if (to - from > 3 && to < row.length) row[to - 1] = ground;
    if (to - from > LEAST_LABEL * ratio) labels.push([node, from / ratio, (to - from) / ratio, top]);
  });
}

/**
 * @param {Scene} scene
 * @param {CanvasRenderingContext2D} context
 * @param {Float32Array} advances
 * @param {Label[]} labels
 */
function writeLabels(scene, context, advances, labels) {
  const { palette } = scene;
  for (const [node, left, width, top] of labels) {
    const text = fitTail(nameOf(scene.tree, node), width - 2 * PADDING, advances);
    if (text === '') continue;
    const { hit, faint } = emphasis(scene, node);
    context.fillStyle = hit ? palette.hitText : palette.text;
    context.globalAlpha = faint ? FAINT : 1;
    context.fillText(text, left + PADDING, top + ROW / 2);
  }
  context.globalAlpha = 1;
}

/** How much of a label's colour is left where it is not what one looks for; still readable by WCAG AA. */
export const FAINT = 0.75;

/**
 * @param {Scene} scene
 * @param {number} node
 */
export function emphasis({ tree, found, root }, node) {
  const hit = found !== null && node > 0 && found.frames[tree.labels[node]] === 1;
  return { hit, faint: !hit && (found !== null || tree.depths[node] < tree.depths[root]) };
}

/**
 * The width of each printable ASCII character, and at 127 that of any other.
 * @param {CanvasRenderingContext2D} context
 */
export function measureText(context) {
  const advances = new Float32Array(128);
  for (let code = 32; code < 127; code++) advances[code] = context.measureText(String.fromCharCode(code)).width;
  advances[127] = context.measureText('…').width;
  return advances;
}
