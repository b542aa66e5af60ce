// The page's state lies in the URL's fragment, so that a link leads to just this view: #event=cpu&stage=7&node=41

/**
 * What the fragment says; null where it is an ordinary anchor such as #findings.
 * @returns {URLSearchParams | null}
 */
export function readState() {
  const text = location.hash.slice(1);
  return text === '' || text.includes('=') ? new URLSearchParams(text) : null;
}

/**
 * Puts values into the fragment; an empty one is taken out. Nothing scrolls and the history does not grow.
 * @param {Record<string, string>} changes
 */
export function writeState(changes) {
  const now = readState();
  if (now === null && Object.values(changes).every((value) => value === '')) return;
  const state = now ?? new URLSearchParams();
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') state.delete(name);
    else state.set(name, value);
  }
  const text = state.toString();
  if (text === location.hash.slice(1)) return;
  history.replaceState(null, '', `#${text}`);
  document.dispatchEvent(new Event('emberscope-state'));
}

/**
 * Calls back when the state has changed: by a link, by the address bar, or by a part of the page through `writeState`,
 * the caller's own writing among them.
 * @param {(state: URLSearchParams) => void} changed
 */
export function onState(changed) {
  const tell = () => {
    const state = readState();
    if (state !== null) changed(state);
  };
  addEventListener('hashchange', tell);
  document.addEventListener('emberscope-state', tell);
}
