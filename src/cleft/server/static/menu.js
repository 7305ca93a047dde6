// A button that opens a list of further buttons.

import { element } from "./dom.js";

/**
 * @param {string} title
 * @param {HTMLElement[]} items
 */
export function menu(title, items) {
  const summary = element("summary", { class: "button" }, title);
  const list = element("div", { class: "menu-list" }, ...items);
  const root = element("details", { class: "menu" }, summary, list);
  const close = (/** @type {boolean} */ back) => {
    root.open = false;
    if (back) summary.focus();
  };
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !root.open) return;
    event.stopPropagation();
    close(true);
  });
  root.addEventListener("focusout", (event) => {
    const to = event.relatedTarget;
    if (to instanceof Node && !root.contains(to)) close(false);
  });
  list.addEventListener("click", (event) => {
    if (event.target instanceof HTMLButtonElement) close(true);
  });
  document.addEventListener("pointerdown", (event) => {
    if (event.target instanceof Node && !root.contains(event.target)) close(false);
  });
  return root;
}
