// Numbers and names for people.

/** @param {number} count */
export function formatCount(count) {
  return count.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** @param {number} ratio a share of one */
export function formatShare(ratio) {
  if (!Number.isFinite(ratio)) return '–';
  if (ratio > 0 && ratio < 0.0005) return '<0.1 %';
  return ratio === 0 || ratio >= 0.9995 ? `${(100 * ratio).toFixed(0)} %` : `${(100 * ratio).toFixed(1)} %`;
}

/**
 * A weight with its unit: samples, ns as time, bytes as size.
 * @param {number} weight
 * @param {string} unit
 */
export function formatWeight(weight, unit) {
  if (unit === 'ns') return formatTime(weight / 1e6);
  if (unit === 'bytes') return formatBytes(weight);
  return `${formatCount(weight)} ${weight === 1 && unit === 'samples' ? 'sample' : unit}`;
}

/**
 * Seconds since a beginning, as exact as they are given.
 * @param {number} seconds
 */
export function formatSeconds(seconds) {
  return `${seconds.toLocaleString('en-US', { maximumFractionDigits: 6 })} s`;
}

/** @param {number} ms */
export function formatTime(ms) {
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  if (ms < 999.5) return `${ms.toFixed(0)} ms`;
  if (ms < 59_950) return `${(ms / 1000 + 1e-9).toFixed(1)} s`; // a half is rounded up, as in the rest of the page
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
  const minutes = Math.round(ms / 60_000);
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** @param {number} bytes */
function formatBytes(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let place = 0;
  for (; bytes >= 1023.5 && place < units.length - 1; place++) bytes /= 1024;
  return `${place === 0 || bytes >= 99.5 ? bytes.toFixed(0) : bytes.toFixed(1)} ${units[place]}`;
}

/**
 * The last words of a qualified name: Class.method of a Java frame; other names as they are.
 * @param {string} name
 */
export function shortName(name) {
  const found = /^[\w$.]*?([^.]+\.[^.]+)$/.exec(name);
  return found ? found[1] : name;
}

/**
 * The longest end of a name that fits, cut where a word begins if that costs little. Ends tell frames apart; the
 * package in front is the same for many.
 * @param {string} name
 * @param {number} width in CSS pixels
 * @param {Float32Array} advances width of each ASCII character; that of all others at 127
 */
export function fitTail(name, width, advances) {
  let room = width;
  let first = name.length;
  while (first > 0) {
    const code = name.charCodeAt(first - 1);
    room -= advances[code < 127 ? code : 127];
    if (room < 0) break;
    first--;
  }
  if (first === 0) return name;
  const ellipsis = advances[127];
  for (let used = 0; first < name.length && used < ellipsis; first++) {
    const code = name.charCodeAt(first);
    used += advances[code < 127 ? code : 127];
  }
  if (name.length - first < 3) return '';
  for (let cut = first; cut < name.length - 6; cut++) {
    if ('.$:/'.includes(name[cut]) && cut - first < (name.length - first) / 2) return `…${name.slice(cut + 1)}`;
  }
  return `…${name.slice(first).replace(/^[.$]+/, '')}`;
}
