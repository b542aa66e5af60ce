// Which frames a step means: one by name, a package, a family or all whose name matches.

import { shortName } from './format.js';

/** @typedef {import('./shape_regroup.js').Tree} Tree */
/** @typedef {{by: 'frame' | 'package' | 'family' | 'pattern', text: string}} Target */

const TARGET_SIGNS = /** @type {const} */ ({ ':': 'frame', '*': 'package', '@': 'family', '/': 'pattern' });

/**
 * @param {string} text a sign and the name
 * @returns {Target | null} null for what is none
 */
export function parseTarget(text) {
  const by = TARGET_SIGNS[/** @type {':'} */ (text[0])];
  if (by === undefined || text.length < 2) return null;
  return { by, text: text.slice(1) };
}

/**
 * @param {Target} target
 * @returns {string} for `parseTarget`
 */
export function targetText({ by, text }) {
  return Object.entries(TARGET_SIGNS).find(([, word]) => word === by)?.[0] + text;
}

/**
 * @param {Tree} tree
 * @param {Target} target
 * @returns {Uint8Array} by frame, 1 for those that are meant; none where a pattern is no regular expression
 */
export function framesOf({ names, families, familyNames }, { by, text }) {
  if (by === 'family') {
    const family = familyNames.findIndex(([name]) => name === text);
    return Uint8Array.from(families, (own) => (own === family ? 1 : 0));
  }
  /** @type {(name: string) => boolean} */
  let means = (name) => name === text;
  if (by === 'package') means = (name) => name.startsWith(text);
  if (by === 'pattern') {
    const expression = expressionOf(text);
    means = (name) => expression !== null && expression.test(name);
  }
  return Uint8Array.from(names, (name) => (means(name) ? 1 : 0));
}

/**
 * A regular expression in which case does not matter; null for a text that is none.
 * @param {string} pattern
 */
export function expressionOf(pattern) {
  try {
    return new RegExp(pattern, 'i');
  } catch {
    return null;
  }
}

/**
 * What the name of a frame begins with up to its class, `org.apache.spark.sql.` of
 * `org.apache.spark.sql.Dataset.collect`; empty where a name has no package, as those of native frames.
 * @param {string} name
 */
export function packageOf(name) {
  return /^(?:[a-z_$][\w$]*\.)+(?=[\w$]+\.[^.]|[A-Z])/.exec(name)?.[0] ?? '';
}

/**
 * @param {Target} target
 * @param {Tree} tree
 */
export function targetWords({ by, text }, { familyNames }) {
  if (by === 'package') return `package ${text.replace(/\.$/, '')}`;
  if (by === 'family') return `all of ${familyNames.find(([name]) => name === text)?.[1] ?? text}`;
  return by === 'pattern' ? `/${text}/` : shortName(text);
}
