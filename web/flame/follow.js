// From the address to the view: what it says is worked out, and no more of it than has changed.

import { EVERYTHING, otherChoice, readChoice, unknownOf, weigh } from './facets.js';
import { deepestBelow } from './layout.js';
import { search } from './search.js';
import { parseShape, shapeStacks, shownStacks } from './shape.js';
import { sumOf } from './shape_regroup.js';
import { expressionOf } from './target.js';
import { pictureOf } from './view.js';
import { parseZoom, zoomedNode } from './zoom.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./spans.js').Picture} Picture */

/**
 * What the address said when it was last followed, and the self weights of its slices.
 * @typedef {{slice: string, shape: string, search: string, node: string, up: string, selfs: Float64Array[]}} Followed
 */

/** @typedef {{sliced: boolean, shaped: boolean, searched: boolean, zoomed: boolean, flipped: boolean}} Changes */

/**
 * A view that has not followed any address yet.
 * @param {View['flame']} flame
 * @param {View['names']} names
 * @returns {{view: View, followed: Followed}}
 */
export function createView(flame, names) {
  const begun = { flame, names, other: null, callers: null, pattern: '', expression: null, sortedBy: 'self' };
  const followed = { slice: '', shape: '', search: '', node: '', up: '', selfs: [] };
  return { view: /** @type {View} */ (/** @type {Partial<View>} */ (begun)), followed };
}

/**
 * @param {View} view is brought up to date
 * @param {Followed} followed likewise
 * @param {URLSearchParams} state
 * @returns {Changes}
 */
export function follow(view, followed, state) {
  const { flame } = view;
  const value = (/** @type {string} */ name) => state.get(name) ?? '';
  const choice = readChoice(flame, state);
  const other = otherChoice(flame, choice, value('versus'));
  const next = {
    slice: JSON.stringify([choice, other]),
    shape: value('shape'),
    search: value('search'),
    node: value('node'),
    up: value('up') === '1' ? '1' : '',
  };
  const sliced = next.slice !== followed.slice;
  const shaped = sliced || next.shape !== followed.shape;
  const searched = next.search !== followed.search;
  const zoomed = next.node !== followed.node;
  const flipped = next.up !== followed.up;
  Object.assign(followed, next);
  const asked = { ...EVERYTHING, ...Object.fromEntries([...state].filter(([key]) => key in EVERYTHING)) };
  view.unknown = unknownOf(asked, choice);
  if (sliced) {
    view.choice = choice;
    view.other = other;
    followed.selfs = [choice, ...(other === null ? [] : [other])].map((of) => weigh(flame, of));
    view.slices = followed.selfs.map(sumOf);
  }
  if (shaped) {
    view.steps = parseShape(next.shape);
    view.base = shapeStacks(flame, followed.selfs, view.steps);
    view.wholes = view.base.selfs.map(sumOf);
  }
  if (searched) {
    view.pattern = next.search;
    view.expression = next.search === '' ? null : expressionOf(next.search);
  }
  const zoom = parseZoom(next.node);
  const isCut = [view.main, view.callers].some((picture) => picture?.cut);
  if (shaped || (zoomed && isCut)) {
    const near = view.steps.some(({ kind }) => kind === 'sandwich') ? zoom.callers : zoom.main;
    const { main, callers, cut } = shownStacks(view.base, view.steps, near);
    const leafFirst = callers === null && main.tree !== view.base.tree;
    const sandwiched = callers === null ? {} : { first: 1 };
    view.main = { ...pictureOf(view, main, callers === null ? cut : null, false), ...sandwiched, leafFirst };
    view.callers = callers && { ...pictureOf(view, callers, cut, true), ...sandwiched, leafFirst: true };
  } else if (searched) {
    for (const picture of [view.main, view.callers]) {
      if (picture === null) continue;
      picture.found = view.expression === null ? null : search(picture.tree, picture.layout, view.expression);
    }
  }
  if (shaped || zoomed) {
    zoomTo(view.main, zoomedNode(view.main, view.main.tree === flame ? zoom.node : 0, zoom.main));
    if (view.callers !== null) zoomTo(view.callers, zoomedNode(view.callers, 0, zoom.callers));
  }
  view.main.up = next.up === '1' && view.callers === null;
  if (flipped) view.main.selected = view.main.root;
  return { sliced, shaped, searched, zoomed, flipped };
}

/**
 * @param {Picture} picture
 * @param {number} node
 */
function zoomTo(picture, node) {
  picture.root = picture.selected = node;
  picture.deepest = deepestBelow(picture.tree, picture.layout, node);
}
