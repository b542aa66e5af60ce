// What is seen, as files for other tools and for reports.

import { pngOf, svgText, unrolled } from './image.js';
import { pprofBytes } from './pprof.js';
import { shapeText, wholeStacks } from './shape.js';
import { sliceParts } from './picks.js';
import { stepWords } from './chips.js';
import { foldedText, speedscopeText } from './stacks.js';
import { describe, unitOf } from './view.js';
import { weightWords } from './words.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./spans.js').Scene} Scene */
/** @typedef {'folded' | 'speedscope' | 'pprof' | 'png' | 'svg'} FileForm */

const FILE_ENDINGS = { folded: 'folded', speedscope: 'speedscope.json', pprof: 'pb.gz', png: 'png', svg: 'svg' };
const LONGEST_NAME = 120;

/**
 * What is seen, in words: the page, the slices, what is done to the stacks, the total.
 * @param {View} view
 * @returns {string[]} lines
 */
export function viewWords(view) {
  const slices = [view.choice, ...(view.other === null ? [] : [view.other])].map((choice) => sliceParts(view, choice).join(', '));
  const steps = view.steps.map((step) => stepWords(step, view));
  return [pageTitle(), slices.join(' against '), [...steps, weightWords(view, view.wholes)].join(' · ')];
}

/** The title of the page without the program's name. */
function pageTitle() {
  return document.title.replace(/ · Emberscope$/, '');
}

/**
 * A name that says what a file is: "Orders-cpu-stage-7-hide-com.acme.folded".
 * @param {View} view
 * @param {FileForm} form
 */
export function fileName(view, form) {
  const keys = (/** @type {Record<string, string>} */ choice) =>
    Object.entries(choice).map(([key, value]) => (key === 'event' ? value : value && `${key}-${value}`));
  const words = [pageTitle(), ...keys(view.choice)];
  if (view.other !== null) words.push('versus', ...keys(view.other));
  words.push(shapeText(view.steps).replace(/[:*@/]/g, '-'));
  const name = words.filter(Boolean).join('-').replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/-+/g, '-');
  return `${name.slice(0, LONGEST_NAME).replace(/^[.-]+|[.-]+$/g, '') || 'flame'}.${FILE_ENDINGS[form]}`;
}

/**
 * @param {View} view
 * @param {Scene[]} scenes what is on screen, from top to bottom
 * @param {FileForm} form
 * @returns {Promise<Blob>}
 */
export async function fileOf(view, scenes, form) {
  const whole = wholeStacks(view.base, view.steps);
  const leafFirst = view.steps.some(({ kind }) => kind === 'reverse');
  const choices = [view.choice, ...(view.other === null ? [] : [view.other])];
  const slices = choices.map((choice, slice) => ({
    name: `${pageTitle()}, ${sliceParts(view, choice).join(', ')}`,
    unit: unitOf(view, slice),
  }));
  if (form === 'folded') return new Blob(foldedText(whole, leafFirst), { type: 'text/plain' });
  if (form === 'speedscope') return new Blob(speedscopeText(whole, slices, leafFirst), { type: 'application/json' });
  if (form === 'pprof') {
    const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (pprofBytes(whole, slices, leafFirst));
    return new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'))).blob();
  }
  const seen = scenes.map(unrolled);
  if (form === 'png') return pngOf(seen, viewWords(view));
  const tip = (/** @type {Scene} */ scene, /** @type {number} */ node) => {
    const { name, figures } = describe(view, scene, node);
    return [name, ...figures.map(([word, text]) => `${word} ${text}`.trim())].join('\n');
  };
  return new Blob(svgText(seen, viewWords(view), tip), { type: 'image/svg+xml' });
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function saveFile(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
