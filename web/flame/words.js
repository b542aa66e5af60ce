// The words and figures around the picture: path, search result, legend, comparison, tooltip.

import { formatCount, formatShare, formatWeight, shortName } from './format.js';
import { totalsOf } from './layout.js';
import { hitsBefore, matchedWeight } from './search.js';
import { wholeStacks } from './shape.js';
import { eventWeight } from './facets.js';
import { sliceParts } from './picks.js';
import { made } from './made.js';
import { groundOf } from './table.js';
import { weighFamilies } from './top.js';
import { describe, unitOf } from './view.js';
import { sumOf } from './shape_regroup.js';
import { nameOf } from './spans.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./panel.js').Panel} Panel */
/** @typedef {import('./spans.js').Picture} Picture */

/**
 * A weight of each slice in words: "1,234 samples", or "1,234 samples here, 567 samples there".
 * @param {View} view
 * @param {number[]} weights
 */
export function weightWords(view, weights) {
  const words = weights.map((weight, slice) => formatWeight(weight, unitOf(view, slice)));
  return words.length === 1 ? words[0] : `${words[0]} here, ${words[1]} there`;
}

/**
 * The weight of a node in each slice.
 * @param {Picture} picture
 * @param {number} node
 */
function weightsAt({ layout, pair }, node) {
  return pair === null ? [layout.totals[node]] : pair.totals.map((own) => own[node]);
}

/**
 * The zoomed frame and its nearest callers, each a button.
 * @param {Panel} panel
 * @param {View} view
 * @param {Picture} picture the one that is zoomed
 * @param {(node: number) => void} zoom
 */
export function showPath(panel, view, picture, zoom) {
  const { tree, layout, root } = picture;
  const callers = [];
  for (let node = root; node > 0; node = tree.parents[node]) callers.unshift(node);
  const step = (/** @type {number} */ node, /** @type {string} */ text) => {
    const button = made('button', text, { type: 'button', title: nameOf(tree, node) });
    button.addEventListener('click', () => zoom(node));
    return button;
  };
  const parts = [step(0, `All ${weightWords(view, weightsAt(picture, 0))}`)];
  if (callers.length > 3) parts.push(step(callers[callers.length - 4], '…'));
  parts.push(...callers.slice(-3).map((node) => step(node, shortName(nameOf(tree, node)))));
  parts[parts.length - 1].setAttribute('aria-current', 'true');
  panel.path.replaceChildren(...parts);
  if (root > 0) {
    const share = formatShare(layout.totals[root] / layout.totals[0]);
    panel.path.append(` ${weightWords(view, weightsAt(picture, root))}${picture.pair === null ? `, ${share} of all` : ''}`);
    return;
  }
  const whole = weightsAt(view.main, 0);
  const kept = view.slices.map((slice, place) => whole[place] / slice);
  const isCut = kept.some((share) => share < 1);
  if (isCut) panel.path.append(`, ${kept.map(formatShare).join(' and ')} of the slice`);
  const chosen = view.other === null ? view.slices[0] / eventWeight(view.flame, view.choice.event) : 1;
  if (chosen > 0 && chosen < 1) panel.path.append(`, ${isCut ? 'which is ' : ''}${formatShare(chosen)} of the whole`);
}

/**
 * The stacks in which a search is weighed. Where all is seen these are whole stacks: a sandwich parts them, and stacks
 * that are reversed may be cut.
 * @param {View} view
 */
function searchedStacks({ base, steps, main, callers }) {
  if (callers !== null || (main.leafFirst && main.root === 0)) {
    const { tree, selfs } = wholeStacks(base, steps);
    return { tree, totals: selfs.map((own) => totalsOf(tree, own)), root: 0 };
  }
  return { tree: main.tree, totals: main.pair?.totals ?? [main.layout.totals], root: main.root };
}

/**
 * @param {Panel} panel
 * @param {View} view
 */
export function showFound(panel, view) {
  const { found, root, selected, cut } = view.main;
  panel.hits.hidden = found === null || found.hits.length === 0;
  if (found === null) {
    panel.found.textContent = '';
    return;
  }
  const stacks = searchedStacks(view);
  const matched = stacks.totals.map((own) => matchedWeight(stacks.tree, own, found, stacks.root));
  const shares = matched.map((weight, slice) => formatShare(weight / stacks.totals[slice][stacks.root]));
  const share = `${shares.join(' and ')} of ${root === 0 ? 'all' : 'the zoomed frame'}`;
  const atLeast = cut !== null && root > 0 ? 'at least ' : '';
  const some = matched.some((weight) => weight > 0);
  panel.found.textContent = some ? `Matched ${atLeast}${weightWords(view, matched)}, ${share}` : 'Nothing matches';
  const count = formatCount(found.hits.length);
  const place = hitsBefore(found.hits, selected);
  const on = found.hits[place] === selected;
  panel.hitCount.textContent = on ? `hit ${formatCount(place + 1)} of ${count}` : count === '1' ? '1 hit' : `${count} hits`;
}

/**
 * What the colours mean; each family a button that opens what can be done with it.
 * @param {Panel} panel
 * @param {View} view
 */
export function showLegend(panel, view) {
  panel.legend.setAttribute(
    'aria-label',
    view.other === null ? 'Colours: whose code it is, and its share of self weight' : 'Colours of the comparison',
  );
  if (view.other !== null) {
    const item = (/** @type {string} */ name, /** @type {string} */ text) => {
      const row = made('li', '');
      row.append(made('i', '', { className: `flame-swatch flame-${name}-ground` }), text);
      return row;
    };
    const counted = view.main.pair?.counted;
    panel.legend.replaceChildren(
      item('more', 'larger share here'),
      item('less', 'larger share there'),
      item('noise', counted ? 'within noise: less than 2 standard errors, or fewer than 5 samples' : 'equal shares'),
      ...(counted ? [] : [made('li', 'Weights are no counts of samples, so what is noise is not known.')]),
    );
    return;
  }
  const { tree, selfs, root } = groundOf(view);
  const weights = weighFamilies(tree, selfs[0], root);
  const all = sumOf(weights) + (root === 0 ? selfs[0][0] : 0);
  const items = tree.familyNames.map(([name, words], family) => {
    const item = made('li', '');
    item.hidden = weights[family] === 0;
    const button = made('button', '', { type: 'button', title: 'Focus, merge or hide' });
    button.dataset.family = name;
    button.setAttribute('aria-haspopup', 'menu');
    const share = formatShare(weights[family] / all);
    button.append(made('i', '', { className: `flame-swatch flame-${name}` }), `${words} `, made('span', share));
    item.append(button);
    return item;
  });
  panel.legend.replaceChildren(...items);
}

/**
 * What is compared with what.
 * @param {Panel} panel
 * @param {View} view
 */
export function showComparison(panel, view) {
  if (view.other === null) {
    panel.compared.textContent = 'Choose what to compare with.';
    return;
  }
  const parts = [view.choice, view.other].map((choice) => sliceParts(view, choice));
  const common = parts[0].filter((part) => parts[1].includes(part));
  const [here, there] = parts.map((own, slice) => {
    const words = own.filter((part) => !common.includes(part)).join(', ') || 'all of it';
    return `${words} (${formatWeight(view.wholes[slice], unitOf(view, slice))})`;
  });
  panel.compared.replaceChildren(
    common.length > 0 ? `${common.join(', ')}. ` : '',
    made('i', '', { className: 'flame-swatch flame-more-ground' }),
    made('b', 'Here: '),
    `${here}. `,
    made('i', '', { className: 'flame-swatch flame-less-ground' }),
    made('b', 'There: '),
    `${there}. Each is taken as 100 %; widths are the mean of both shares.`,
  );
}

/**
 * The figures of a node beside a point of the window; -1 hides them.
 * @param {Panel} panel
 * @param {View} view
 * @param {Picture} picture
 * @param {number} node
 * @param {number} x
 * @param {number} y
 * @param {HTMLElement[]} buttons for fingers
 */
export function showTip(panel, view, picture, node, x, y, buttons) {
  panel.tip.hidden = node < 0;
  if (node < 0) return;
  const { name, about, figures } = describe(view, picture, node);
  panel.tip.replaceChildren(
    made('b', name),
    ...about.map((text) => made('span', text, { className: 'quiet' })),
    ...figures.map(([word, text]) => made('span', `${word} ${text}`.trim())),
    ...buttons,
  );
  panel.tip.classList.toggle('flame-touched', buttons.length > 0);
  const { offsetWidth: width, offsetHeight: height } = panel.tip;
  panel.tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - width - 8))}px`;
  panel.tip.style.top = `${y + 18 + height > innerHeight ? Math.max(8, y - height - 12) : y + 18}px`;
}
