// Packed columns to typed arrays. The format is written down in src/emberscope/report/columns.py.

import { inflate } from './flame/unpack.js';

/**
 * Texts by place; -1 is null.
 * @typedef {{values: string[], places: Int32Array}} Words
 */

/**
 * @param {string} base64
 * @returns {Promise<Record<string, any>>} by name: Int32Array, Float64Array (NaN is null) or `Words`
 */
export async function unpackColumns(base64) {
  const buffer = await inflate(base64);
  const view = new DataView(buffer);
  const bytes = new Uint8Array(buffer);
  const text = new TextDecoder();
  if (text.decode(bytes.subarray(0, 4)) !== 'EMBC' || view.getUint32(4, true) !== 1) {
    throw new Error('the data in this page are not columns of version 1');
  }
  let at = 12 + view.getUint32(8, true);
  /** @type {Record<string, any>} */
  const columns = {};
  for (const { name, type, length, values } of JSON.parse(text.decode(bytes.subarray(12, at)))) {
    const end = at + length * (type === 'floats' ? 8 : 4);
    if (type === 'floats') columns[name] = new Float64Array(buffer.slice(at, end));
    else {
      const numbers = new Int32Array(buffer.slice(at, end));
      for (let i = 1; i < length; i++) numbers[i] += numbers[i - 1];
      columns[name] = type === 'words' ? { values, places: numbers } : numbers;
    }
    at = end;
  }
  return columns;
}
