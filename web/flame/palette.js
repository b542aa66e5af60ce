// Colours: a family of frames has one colour of the style sheet; names vary it a little, so that neighbours part.

/** @typedef {import('./unpack.js').Flame} Flame */

/**
 * Colours as the canvas stores them, 0xAABBGGRR.
 * @typedef {object} Palette
 * @property {Uint32Array} frames by frame
 * @property {Uint32Array} dimmed by frame, for what a search did not find
 * @property {number} root
 * @property {number} rootDimmed
 * @property {number} ground
 * @property {number} hit
 * @property {string} text
 * @property {string} hitText
 */

/**
 * @param {Flame} flame
 * @param {Element} element whose style has the colours `--flame-<family>`, `--flame-ground`, `--flame-hit` …
 * @returns {Palette}
 */
export function readPalette(flame, element) {
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
  const byFamily = flame.familyNames.map(([name]) => colour(name));
  const frames = new Uint32Array(flame.names.length);
  const dimmed = new Uint32Array(flame.names.length);
  for (let frame = 0; frame < frames.length; frame++) {
    const varied = mix(byFamily[flame.families[frame]], ground, 0.2 * spread(flame.names[frame]));
    frames[frame] = stored(varied);
    dimmed[frame] = stored(mix(varied, ground, 0.72));
  }
  const root = colour('root');
  const palette = {
    frames,
    dimmed,
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

/** @param {number} colour 0xRRGGBB */
function stored(colour) {
  return ((255 << 24) | ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16)) >>> 0;
}
