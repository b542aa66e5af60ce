// Elements with text from data: as text, never as markup.

/**
 * @param {string} tag
 * @param {string} text
 * @param {Record<string, string>} [properties]
 */
export function made(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}
