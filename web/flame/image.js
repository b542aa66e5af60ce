// The picture as a file: PNG as it is painted, SVG with a tooltip on every bar. Both have a heading that says what it is.

import { FAINT, FONT, PADDING, createPainter, emphasis, measureText } from './draw.js';
import { fitTail } from './format.js';
import { cssColour } from './palette.js';
import { ROW, colourOf, eachSpan, nameOf, rowTop, rowsOf } from './spans.js';

/** @typedef {import('./spans.js').Scene} Scene */

const IMAGE_LINE = 20;
const IMAGE_MARGIN = 10;
const TALLEST = 12_000; // browsers paint no canvas of more than 32,767 pixels, some of fewer

/**
 * A scene with all its rows, or as many as an image can have.
 * @param {Scene} scene
 * @returns {Scene}
 */
export function unrolled(scene) {
  const whole = rowsOf(scene) * ROW;
  const height = Math.min(whole, TALLEST);
  return { ...scene, height, scroll: scene.up ? whole - height : 0 };
}

/**
 * @param {Scene[]} scenes from top to bottom, unrolled
 * @param {string[]} heading lines
 * @returns {Promise<Blob>}
 */
export function pngOf(scenes, heading) {
  const ratio = devicePixelRatio || 1;
  const { width, palette } = scenes[0];
  const height = scenes.reduce((sum, scene) => sum + scene.height + IMAGE_MARGIN, IMAGE_MARGIN + heading.length * IMAGE_LINE);
  const canvas = document.createElement('canvas');
  canvas.width = Math.round((width + 2 * IMAGE_MARGIN) * ratio);
  canvas.height = Math.round(height * ratio);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.scale(ratio, ratio);
  context.fillStyle = cssColour(palette.ground);
  context.fillRect(0, 0, width + 2 * IMAGE_MARGIN, height);
  context.fillStyle = palette.text;
  context.font = FONT;
  heading.forEach((line, place) => context.fillText(line, IMAGE_MARGIN, IMAGE_MARGIN + place * IMAGE_LINE + 12));
  let top = IMAGE_MARGIN + heading.length * IMAGE_LINE;
  for (const scene of scenes) {
    const part = document.createElement('canvas');
    createPainter(part)(scene);
    context.drawImage(part, IMAGE_MARGIN, top, width, scene.height);
    top += scene.height + IMAGE_MARGIN;
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the image is too large for this browser')))));
}

/**
 * @param {Scene[]} scenes from top to bottom, unrolled
 * @param {string[]} heading lines
 * @param {(scene: Scene, node: number) => string} tip
 * @returns {string[]} parts of the text
 */
export function svgText(scenes, heading, tip) {
  const { width, palette } = scenes[0];
  const height = scenes.reduce((sum, scene) => sum + scene.height + IMAGE_MARGIN, IMAGE_MARGIN + heading.length * IMAGE_LINE);
  const context = /** @type {CanvasRenderingContext2D} */ (document.createElement('canvas').getContext('2d'));
  context.font = FONT;
  const advances = measureText(context);
  const size = `width="${width + 2 * IMAGE_MARGIN}" height="${height}"`;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${width + 2 * IMAGE_MARGIN} ${height}" role="img">\n`,
    `<title>${xmlText(heading.join(' '))}</title>\n`,
    `<style>text{font:${FONT.replace(/"/g, "'")};fill:${cssOf(palette.text)};white-space:pre}</style>\n`,
    `<rect width="100%" height="100%" fill="${cssColour(palette.ground)}"/>\n`,
    ...heading.map((line, place) => `<text x="${IMAGE_MARGIN}" y="${IMAGE_MARGIN + place * IMAGE_LINE + 12}">${xmlText(line)}</text>\n`),
  ];
  let offset = IMAGE_MARGIN + heading.length * IMAGE_LINE;
  for (const scene of scenes) {
    parts.push(`<g transform="translate(${IMAGE_MARGIN} ${offset})">\n`);
    for (let depth = scene.first; depth <= scene.deepest; depth++) {
      const top = rowTop(scene, depth);
      if (top < 0 || top + ROW > scene.height) continue;
      eachSpan(scene, depth, Math.round(width), (node, from, to, hit, dim) => {
        const wide = to - from > 3 ? to - from - 1 : to - from;
        const box = `x="${from}" y="${top}" width="${wide}" height="${ROW - 1}"`;
        const label = to - from > 22 ? fitTail(nameOf(scene.tree, node), to - from - 2 * PADDING, advances) : '';
        const look = emphasis(scene, node);
        const style = `${look.hit ? ` style="fill:${cssOf(palette.hitText)}"` : ''}${look.faint ? ` opacity="${FAINT}"` : ''}`;
        const text = label && `<text x="${from + PADDING}" y="${top + 13}"${style}>${xmlText(label)}</text>`;
        const fill = cssColour(colourOf(scene, node, hit, dim));
        parts.push(`<g><title>${xmlText(tip(scene, node))}</title><rect ${box} fill="${fill}"/>${text}</g>\n`);
      });
    }
    parts.push('</g>\n');
    offset += scene.height + IMAGE_MARGIN;
  }
  parts.push('</svg>\n');
  return parts;
}

/** @param {string} colour as a style sheet has it */
function cssOf(colour) {
  return colour.replace(/[^\w#(),. %]/g, '');
}

/**
 * Text as it may stand in XML, which has no control characters.
 * @param {string} text
 */
function xmlText(text) {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uD800-\uDFFF\uE000-\uFFFD]/g, '\uFFFD')
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
