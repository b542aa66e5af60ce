// Two slices side by side: each node has a share of either; the difference is judged by the error of the two counts.

import { formatShare, formatWeight } from './format.js';

/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('./shape_regroup.js').Tree} Tree */

/**
 * Weights of the two slices, this one and the other.
 * @typedef {object} Pair
 * @property {number[]} wholes what is 100 % of each
 * @property {Float64Array[]} selfs by node
 * @property {Float64Array[]} totals by node
 * @property {boolean} counted whether weights are numbers of samples, so that their error is known
 */

/**
 * @typedef {object} Difference
 * @property {number} points share in this slice less share in the other
 * @property {number} lean from -1 (only there) to 1 (only here)
 * @property {number} sigmas the difference in standard errors; NaN where weights are no counts
 * @property {boolean} noise too small to mean anything
 */

const FEWEST_SAMPLES = 5;
const LEAST_SIGMAS = 2;

/** Steps of colour to each side. */
export const SHADES = 6;

/**
 * Counts a and b of wholes A and B are Poisson, so the shares a/A and b/B have variances a/A² and b/B².
 * @param {Pair} pair
 * @param {number} here
 * @param {number} there
 * @returns {Difference}
 */
export function difference({ wholes, counted }, here, there) {
  const shares = [wholes[0] > 0 ? here / wholes[0] : 0, wholes[1] > 0 ? there / wholes[1] : 0];
  const points = shares[0] - shares[1];
  const both = shares[0] + shares[1];
  const error = Math.sqrt(here / Math.max(wholes[0], 1) ** 2 + there / Math.max(wholes[1], 1) ** 2);
  const sigmas = counted ? (error > 0 ? points / error : 0) : NaN;
  return {
    points,
    lean: both > 0 ? points / both : 0,
    sigmas,
    noise: counted ? here + there < FEWEST_SAMPLES || Math.abs(sigmas) < LEAST_SIGMAS : Math.abs(points) < 1e-12,
  };
}

/**
 * The place of a node's colour among 2 · SHADES + 1 from "less" over "noise" to "more".
 * @param {Pair} pair
 * @param {number} node
 */
export function shadeOf(pair, node) {
  const { lean, noise } = difference(pair, pair.totals[0][node], pair.totals[1][node]);
  if (noise) return SHADES;
  return SHADES + Math.sign(lean) * Math.max(1, Math.ceil(Math.abs(lean) * SHADES));
}

/**
 * @param {Pair} pair
 * @param {number} here
 * @param {number} there
 */
export function differenceWords(pair, here, there) {
  if (here + there === 0) return '';
  const { points, sigmas, noise, lean } = difference(pair, here, there);
  const errors = Number.isNaN(sigmas) ? '' : `, ${Math.abs(sigmas).toFixed(1)} standard errors`;
  if (noise && pair.counted) {
    return here + there < FEWEST_SAMPLES
      ? `${formatPoints(points)} percentage points: within noise, fewer than ${FEWEST_SAMPLES} samples`
      : `${formatPoints(points)} percentage points: within noise${errors}`;
  }
  const times = lean > 0 ? (1 + lean) / (1 - lean) : (1 - lean) / (1 + lean);
  const factor = !Number.isFinite(times) || times < 1.005 ? '' : `, ${times.toFixed(times < 10 ? 1 : 0)} times ${lean > 0 ? 'more' : 'less'}`;
  const only = Math.abs(lean) === 1 ? (lean > 0 ? ', only here' : ', only there') : factor;
  return `${formatPoints(points)} percentage points${only}${errors}`;
}

/**
 * A difference of shares in percentage points.
 * @param {number} points
 */
export function formatPoints(points) {
  const text = Math.abs(100 * points) < 0.05 && points !== 0 ? '< 0.1' : Math.abs(100 * points).toFixed(1);
  return `${points > 0 ? '+' : points < 0 ? '−' : '±'}${text}`;
}

/**
 * "1,234 samples (12.3 %)" of one of the two slices.
 * @param {Pair} pair
 * @param {number} slice 0: this one, 1: the other
 * @param {number} weight
 * @param {string} unit
 */
export function sliceFigures({ wholes }, slice, weight, unit) {
  return `${formatWeight(weight, unit)} (${formatShare(wholes[slice] > 0 ? weight / wholes[slice] : 0)})`;
}

/**
 * The mean of the shares that each node has in the slices: widths in which nothing of either is hidden.
 * @param {Float64Array[]} selfs
 * @param {number[]} wholes
 * @returns {Float64Array}
 */
export function meanShares(selfs, wholes) {
  const result = new Float64Array(selfs[0].length);
  selfs.forEach((weights, slice) => {
    const scale = wholes[slice] > 0 ? 1 / wholes[slice] / selfs.length : 0;
    for (let node = 0; node < result.length; node++) result[node] += weights[node] * scale;
  });
  return result;
}
