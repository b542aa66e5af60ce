// A menu at a point of the window: by mouse, by arrow keys, by the key that an item names.

import { made } from './made.js';

/**
 * @typedef {object} MenuItem
 * @property {string} text
 * @property {string} [key] as KeyboardEvent.key has it
 * @property {boolean} [checked] for what is on or off
 * @property {boolean} [disabled]
 * @property {() => void} act
 */

/** Closes the menu that is open. */
let closeMenu = () => {};

/**
 * Opens a menu and closes the one that was open. It closes by Escape, by Tab, by a choice, or by a click elsewhere.
 * @param {HTMLElement} host what it is put into
 * @param {string} label for screen readers
 * @param {(MenuItem | null)[]} items null is a line
 * @param {number} x
 * @param {number} y
 * @param {HTMLElement} back gets the focus when the menu closes
 */
export function openMenu(host, label, items, x, y, back) {
  closeMenu();
  const menu = made('div', '', { className: 'flame-menu' });
  menu.setAttribute('role', 'menu');
  menu.setAttribute('aria-label', label);
  const close = () => {
    document.removeEventListener('pointerdown', outside, true);
    menu.remove();
    closeMenu = () => {};
    back.setAttribute('aria-expanded', 'false');
    if (!back.hasAttribute('aria-haspopup')) back.removeAttribute('aria-expanded');
  };
  const outside = (/** @type {Event} */ event) => {
    if (event.target instanceof Node && !menu.contains(event.target)) close();
  };
  const choose = (/** @type {MenuItem} */ item) => {
    close();
    back.focus({ preventScroll: true });
    item.act();
  };
  for (const item of items) {
    if (item === null) {
      menu.append(made('div', '', { role: 'separator' }));
      continue;
    }
    const button = /** @type {HTMLButtonElement} */ (made('button', '', { type: 'button' }));
    button.tabIndex = -1;
    button.disabled = item.disabled ?? false;
    button.setAttribute('role', item.checked === undefined ? 'menuitem' : 'menuitemcheckbox');
    if (item.checked !== undefined) button.setAttribute('aria-checked', String(item.checked));
    button.append(made('span', item.text));
    if (item.key !== undefined) {
      button.append(made('kbd', item.key, { ariaHidden: 'true' }));
      button.setAttribute('aria-keyshortcuts', item.key);
    }
    button.addEventListener('click', () => choose(item));
    menu.append(button);
  }
  menu.addEventListener('keydown', (event) => {
    const buttons = [...menu.querySelectorAll('button')].filter(({ disabled }) => !disabled);
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1 + buttons.length, Home: 0, End: buttons.length - 1 };
    const step = steps[/** @type {'Home'} */ (event.key)];
    const named = items.find((item) => item !== null && item.key === event.key && !item.disabled);
    event.stopPropagation();
    if (event.key === 'Escape' || event.key === 'Tab') {
      close();
      back.focus({ preventScroll: true });
    } else if (step !== undefined) buttons[step % buttons.length].focus();
    else if (named && event.key !== 'Enter' && !event.ctrlKey && !event.metaKey) choose(named);
    else return;
    event.preventDefault();
  });
  closeMenu = close;
  host.append(menu);
  const { offsetWidth: width, offsetHeight: height } = menu;
  menu.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
  back.setAttribute('aria-expanded', 'true');
  document.addEventListener('pointerdown', outside, true);
  menu.querySelector('button')?.focus();
}
