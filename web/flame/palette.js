// Colours: a family of frames has one colour of the style sheet; names vary it a little, so that neighbours part.

import { SHADES } from './compare.js';

/** @typedef {import('./shape_regroup.js').Tree} Tree */

/**
 * Colours as the canvas stores them, 0xAABBGGRR.
 * @typedef {object} Palette
 * @property {Uint32Array} frames by frame
 * @property {Uint32Array} dimmed by frame, for what a search did not find
 * @property {Uint32Array} shades of differences, from "less" over "noise" to "more"; `shadeOf` has the place
 * @property {Uint32Array} shadesDimmed
 * @property {number} root
 * @property {number} rootDimmed
 * @property {number} ground
 * @property {number} hit
 * @property {string} text
 * @property {string} hitText
 */

/**
 * @param {Tree} tree
 * @param {Element} element whose style has the colours `--flame-<family>`, `--flame-ground`, `--flame-hit` …
 * @returns {Palette}
 */
export function readPalette(tree, element) {
  // A colour may depend on the colour scheme; only a property in use has the one that holds now.
  const probe = element.appendChild(document.createElement('i'));
  const used = (/** @type {string} */ name) => {
    probe.style.color = `var(--flame-${name})`;
    return getComputedStyle(probe).color;
  };
  const colour = (/** @type {string} */ name) => {
    const [red, green, blue] = (used(name).match(/\d+/g) ?? []).map(Number);
    return (red << 16) | (green << 8) | blue;
  };
  const ground = colour('ground');
  const byFamily = tree.familyNames.map(([name]) => colour(name));
  const frames = new Uint32Array(tree.names.length);
  const dimmed = new Uint32Array(tree.names.length);
  for (let frame = 0; frame < frames.length; frame++) {
    const varied = mix(byFamily[tree.families[frame]], ground, 0.2 * spread(tree.names[frame]));
    frames[frame] = stored(varied);
    dimmed[frame] = stored(mix(varied, ground, 0.72));
  }
  const noise = colour('noise');
  const shades = new Uint32Array(2 * SHADES + 1).fill(stored(noise));
  const shadesDimmed = new Uint32Array(2 * SHADES + 1).fill(stored(mix(noise, ground, 0.72)));
  for (let step = 1; step <= SHADES; step++) {
    for (const side of [-1, 1]) {
      // Even the faintest difference is told from noise.
      const shade = mix(noise, colour(side < 0 ? 'less' : 'more'), 0.3 + (0.7 * (step - 1)) / (SHADES - 1));
      shades[SHADES + side * step] = stored(shade);
      shadesDimmed[SHADES + side * step] = stored(mix(shade, ground, 0.72));
    }
  }
  const root = colour('root');
  const palette = {
    frames,
    dimmed,
    shades,
    shadesDimmed,
    root: stored(root),
    rootDimmed: stored(mix(root, ground, 0.5)),
    ground: stored(ground),
    hit: stored(colour('hit')),
    text: used('text'),
    hitText: used('hit-text'),
  };
  probe.remove();
  return palette;
}

/**
 * A number from 0 to 1 that a name always has.
 * @param {string} name
 */
function spread(name) {
  let hash = 7;
  for (let i = Math.max(0, name.length - 24); i < name.length; i++) hash = (Math.imul(hash, 31) + name.charCodeAt(i)) | 0;
  return ((hash >>> 3) & 15) / 15;
}

/**
 * @param {number} colour 0xRRGGBB
 * @param {number} other
 * @param {number} share of the other
 */
function mix(colour, other, share) {
  const channel = (/** @type {number} */ shift) =>
    Math.round(((colour >> shift) & 255) * (1 - share) + ((other >> shift) & 255) * share) << shift;
  return channel(16) | channel(8) | channel(0);
}

/**
 * @param {number} colour as a palette stores it
 * @returns {string} for style sheets and SVG
 */
export function cssColour(colour) {
  const [red, green, blue] = [colour & 255, (colour >>> 8) & 255, (colour >>> 16) & 255];
  return `#${((red << 16) | (green << 8) | blue).toString(16).padStart(6, '0')}`;
}

/** @param {number} colour 0xRRGGBB */
function stored(colour) {
  return ((255 << 24) | ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16)) >>> 0;
}
