// What moves in the list of findings: a link to a finding opens it, and its settings can be copied.
// <x-copy data-of="ID">: a button that copies the text of the element with this id.

import { copyText } from './clipboard.js';

/** Opens the finding that the address names, and all that it is folded into. */
function openTarget() {
  const id = decodeURIComponent(location.hash.slice(1));
  const target = id.startsWith('finding-') ? document.getElementById(id) : null;
  if (target === null) return;
  target.querySelector('details')?.setAttribute('open', '');
  for (let folded = target.closest('details'); folded; folded = folded.parentElement?.closest('details') ?? null) {
    folded.setAttribute('open', '');
  }
  target.scrollIntoView();
}

class CopyButton extends HTMLElement {
  connectedCallback() {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const text = document.getElementById(this.dataset.of ?? '')?.textContent ?? '';
      button.textContent = (await copyText(text)) ? 'Copied' : 'The browser does not let this page copy';
      setTimeout(() => (button.textContent = 'Copy'), 2_000);
    });
    this.append(button);
  }
}

addEventListener('hashchange', openTarget);
openTarget();
customElements.define('x-copy', CopyButton);
