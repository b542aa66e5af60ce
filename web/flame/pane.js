// One picture on the page: scrolling, pointing, tapping, keys. What shall be done it tells its owner.

import { ROW, rowsOf } from './spans.js';
import { boxOf, createPainter, nodeUnder } from './draw.js';
import { nodeForKey } from './keys.js';

/** @typedef {import('./spans.js').Picture} Picture */
/** @typedef {import('./spans.js').Scene} Scene */
/** @typedef {import('./palette.js').Palette} Palette */

/**
 * What the owner of a pane does.
 * @typedef {object} PaneOwner
 * @property {() => Palette} palette
 * @property {(pane: Pane, node: number) => void} zoom
 * @property {(pane: Pane, node: number, x: number, y: number, touch: boolean) => void} tip node -1: none
 * @property {(pane: Pane, node: number, x: number, y: number) => void} menu
 * @property {(pane: Pane, node: number) => void} said a node was selected
 * @property {(pane: Pane, key: string) => boolean} key whether it was of use
 */

/** @typedef {ReturnType<typeof createPane>} Pane */

const TWO_TAPS_MS = 400;

/**
 * @param {HTMLElement} element `.flame-view`
 * @param {PaneOwner} owner
 */
export function createPane(element, owner) {
  const part = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (element.querySelector(selector));
  const [filler, hover, focus] = ['.flame-height', '.flame-hover', '.flame-focus'].map(part);
  const paint = createPainter(/** @type {HTMLCanvasElement} */ (part('canvas')));
  /** @type {Picture | null} */
  let picture = null;
  let frameRequest = 0;
  let tapped = { node: -1, at: 0 };

  /** @returns {Scene} */
  const scene = () => ({
    .../** @type {Picture} */ (picture),
    palette: owner.palette(),
    width: element.clientWidth,
    height: element.clientHeight,
    scroll: element.scrollTop,
  });

  const mark = (/** @type {HTMLElement} */ box, /** @type {Scene} */ now, /** @type {number} */ node) => {
    const place = node < 0 ? null : boxOf(now, node);
    box.hidden = place === null;
    if (place === null) return;
    box.style.left = `${Math.min(place.left, now.width - 3)}px`;
    box.style.top = `${place.top + now.scroll}px`;
    box.style.width = `${Math.max(place.width, 3)}px`;
  };

  const draw = () => {
    cancelAnimationFrame(frameRequest);
    frameRequest = requestAnimationFrame(drawNow);
  };
  const drawNow = () => {
    if (picture === null || element.clientWidth === 0) return;
    const now = scene();
    paint(now);
    mark(focus, now, document.activeElement === element ? picture.selected : -1);
  };

  /**
   * Shows a picture, scrolled to what is zoomed.
   * @param {Picture | null} shown
   */
  const show = (shown) => {
    picture = shown;
    hover.hidden = true;
    if (picture === null) return;
    const height = rowsOf(picture) * ROW;
    filler.style.height = `${height}px`;
    element.style.setProperty('--flame-content', `${height + 2}px`);
    const top = Math.max(0, picture.tree.depths[picture.root] - picture.first) * ROW;
    if (picture.up) element.scrollTop = element.scrollHeight - element.clientHeight - top;
    else if (top < element.scrollTop || picture.root === 0) element.scrollTop = Math.min(top, element.scrollTop);
    draw();
  };

  /**
   * Puts the keyboard on a node, scrolls to it and says what it is.
   * @param {number} node
   * @param {boolean} [touch]
   */
  const select = (node, touch = false) => {
    if (node < 0 || picture === null) return;
    picture.selected = node;
    const place = boxOf(scene(), node);
    if (place !== null) {
      if (place.top < 0) element.scrollTop += place.top - ROW;
      const over = place.top + 2 * ROW - element.clientHeight;
      if (over > 0) element.scrollTop += over;
      const { x, y } = pointOf(node);
      owner.tip(pane, node, x, y, touch);
    }
    owner.said(pane, node);
    draw();
  };

  /**
   * A point of the window on a node.
   * @param {number} node
   */
  const pointOf = (node) => {
    const edge = element.getBoundingClientRect();
    const place = boxOf(scene(), node) ?? { left: 0, top: 0 };
    return { x: edge.left + Math.min(place.left + 12, edge.width - 40), y: edge.top + place.top + ROW / 2 };
  };

  const under = (/** @type {MouseEvent} */ event) => {
    const edge = element.getBoundingClientRect();
    return picture === null ? -1 : nodeUnder(scene(), event.clientX - edge.left, event.clientY - edge.top);
  };

  element.addEventListener('pointermove', (event) => {
    if (event.pointerType === 'touch' || picture === null) return;
    const node = under(event);
    mark(hover, scene(), node);
    owner.tip(pane, node, event.clientX, event.clientY, false);
  });
  element.addEventListener('pointerleave', (event) => {
    hover.hidden = true;
    if (event.pointerType !== 'touch') owner.tip(pane, -1, 0, 0, false);
  });
  element.addEventListener('click', (event) => {
    const node = under(event);
    if (/** @type {PointerEvent} */ (event).pointerType !== 'touch') {
      owner.zoom(pane, node);
      return;
    }
    const again = node === tapped.node && event.timeStamp - tapped.at < TWO_TAPS_MS;
    tapped = { node, at: event.timeStamp };
    if (again) owner.zoom(pane, node);
    else if (node < 0) owner.tip(pane, -1, 0, 0, true);
    else select(node, true);
  });
  element.addEventListener('contextmenu', (event) => {
    if (picture === null) return;
    event.preventDefault();
    const { pointerType } = /** @type {PointerEvent} */ (event);
    // The menu key has no point of its own: it means the node that the keyboard stands on.
    const keyed = event.button !== 2 && !event.ctrlKey && pointerType !== 'touch' && pointerType !== 'mouse';
    const node = keyed ? picture.selected : under(event);
    if (node < 0) return;
    picture.selected = node;
    const { x, y } = keyed ? pointOf(node) : { x: event.clientX, y: event.clientY };
    owner.menu(pane, node, x, y);
    draw();
  });
  element.addEventListener('keydown', (event) => {
    if (picture === null || event.metaKey || event.altKey) return;
    if (event.ctrlKey) {
      if (event.key === 'c' && String(getSelection()) === '') owner.key(pane, 'Ctrl+C');
      return;
    }
    const node = nodeForKey(picture, event.key);
    if (node !== undefined) select(node);
    else if (event.key === 'Enter') owner.zoom(pane, picture.selected);
    else if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
      const { x, y } = pointOf(picture.selected);
      owner.menu(pane, picture.selected, x, y);
    } else if (!owner.key(pane, event.key)) return;
    event.preventDefault();
  });
  element.addEventListener('focus', draw);
  element.addEventListener('blur', ({ relatedTarget }) => {
    // Buttons for fingers stand in the tip.
    if (!(relatedTarget instanceof Element && relatedTarget.closest('.flame-tip'))) owner.tip(pane, -1, 0, 0, false);
    draw();
  });
  element.addEventListener('scroll', draw, { passive: true });
  new ResizeObserver(draw).observe(element);

  const pane = { element, show, select, draw, drawNow, scene, pointOf, picture: () => /** @type {Picture} */ (picture) };
  return pane;
}
