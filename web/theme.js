// <x-theme>: a button that switches between dark and light. Without a choice the page follows the system.

import { readState, writeState } from './state.js';

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

/** Whether the page is dark now, by choice or by the system's setting. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen === undefined ? systemIsDark.matches : chosen === 'dark';
}

/**
 * Calls back whenever the page turns dark or light.
 * @param {() => void} changed
 */
export function onThemeChange(changed) {
  systemIsDark.addEventListener('change', changed);
  new MutationObserver(changed).observe(document.documentElement, { attributeFilter: ['data-theme'] });
}

class ThemeSwitch extends HTMLElement {
  connectedCallback() {
    const given = document.documentElement.dataset.theme; // what the page was made with
    const chosen = readState()?.get('theme');
    if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;
    const button = document.createElement('button');
    button.type = 'button';
    const label = () => {
      button.textContent = isDark() ? 'Light' : 'Dark';
      button.title = isDark() ? 'Switch to light colours' : 'Switch to dark colours';
    };
    button.addEventListener('click', () => {
      const theme = isDark() ? 'light' : 'dark';
      document.documentElement.dataset.theme = theme;
      const usual = given ?? (systemIsDark.matches ? 'dark' : 'light');
      writeState({ theme: theme === usual ? '' : theme });
    });
    onThemeChange(label);
    label();
    this.replaceChildren(button);
  }
}

customElements.define('x-theme', ThemeSwitch);
