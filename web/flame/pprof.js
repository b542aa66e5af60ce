// A call tree as a profile of pprof: github.com/google/pprof, proto/profile.proto. Numbers of fields are from there.

import { eachStack, frameTexts } from './stacks.js';

/** @typedef {import('./shape_regroup.js').Shaped} Shaped */

const PPROF_TYPES = /** @type {Record<string, [string, string]>} */ ({
  samples: ['samples', 'count'],
  ns: ['time', 'nanoseconds'],
  bytes: ['space', 'bytes'],
});

/** A message of protocol buffers as it grows. */
class ProtoMessage {
  bytes = new Uint8Array(256);
  length = 0;

  /** @param {number} more */
  reserve(more) {
    if (this.length + more <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.bytes.length, this.length + more));
    larger.set(this.bytes);
    this.bytes = larger;
  }

  /** @param {number} value a whole number from 0 to 2^53 */
  varint(value) {
    this.reserve(10);
    for (; value > 127; value = Math.floor(value / 128)) this.bytes[this.length++] = (value % 128) | 128;
    this.bytes[this.length++] = value;
  }

  /**
   * @param {number} field
   * @param {number} value
   */
  number(field, value) {
    this.varint(field * 8);
    this.varint(value);
  }

  /**
   * @param {number} field
   * @param {Uint8Array} body
   */
  data(field, body) {
    this.varint(field * 8 + 2);
    this.varint(body.length);
    this.reserve(body.length);
    this.bytes.set(body, this.length);
    this.length += body.length;
  }

  done() {
    return this.bytes.subarray(0, this.length);
  }
}

/**
 * @param {Shaped} shaped
 * @param {{name: string, unit: string}[]} slices each becomes a type of sample
 * @param {boolean} leafFirst
 * @returns {Uint8Array} not compressed
 */
export function pprofBytes(shaped, slices, leafFirst) {
  const profile = new ProtoMessage();
  const strings = [''];
  /** @type {Map<string, number>} */
  const places = new Map([['', 0]]);
  const text = (/** @type {string} */ value) => {
    const known = places.get(value);
    if (known !== undefined) return known;
    places.set(value, strings.length);
    return strings.push(value) - 1;
  };
  slices.forEach(({ name, unit }, slice) => {
    const [type, of] = PPROF_TYPES[unit] ?? PPROF_TYPES.samples;
    const message = new ProtoMessage();
    message.number(1, text(slices.length === 1 ? type : `${type} ${slice === 0 ? 'here' : 'there'}`));
    message.number(2, text(of));
    profile.data(1, message.done());
    profile.number(13, text(name)); // a comment
  });
  const used = new Uint8Array(shaped.tree.names.length);
  const [sample, list] = [new ProtoMessage(), new ProtoMessage()];
  eachStack(shaped, (path, weights) => {
    sample.length = list.length = 0;
    for (let i = 0; i < path.length; i++) {
      const frame = path[leafFirst ? i : path.length - 1 - i]; // pprof has the leaf first
      used[frame] = 1;
      list.varint(frame + 1);
    }
    sample.data(1, list.done());
    list.length = 0;
    for (const weight of weights) list.varint(weight);
    sample.data(2, list.done());
    profile.data(2, sample.done());
  });
  frameTexts(shaped.tree).forEach((name, frame) => {
    if (!used[frame]) return;
    const line = new ProtoMessage();
    line.number(1, frame + 1);
    const location = new ProtoMessage();
    location.number(1, frame + 1);
    location.data(4, line.done());
    profile.data(4, location.done());
    const made = new ProtoMessage();
    made.number(1, frame + 1);
    made.number(2, text(name));
    made.number(3, text(name));
    profile.data(5, made.done());
  });
  const encoder = new TextEncoder();
  for (const value of strings) profile.data(6, encoder.encode(value));
  return profile.done();
}
