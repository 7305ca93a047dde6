// Controls of several parts: a choice of one, and a menu of buttons.

import { element, icon } from "./dom.js";

/**
 * One of several: native radio buttons, so that the arrow keys work as people know them.
 * @param {object} given
 * @param {string} given.name  of the group, one of its kind on the page
 * @param {string} given.legend
 * @param {string} given.kind  class of the group
 * @param {(Node | string)[][]} given.items  what each choice shows
 * @param {number} given.chosen
 * @param {(at: number) => void} given.onChoose
 */
export function choices({ name, legend, kind, items, chosen, onChoose }) {
  const group = element("fieldset", { class: `choices ${kind}` });
  group.append(element("legend", { class: "unseen" }, legend));
  items.forEach((parts, at) => {
    const radio = element("input", { type: "radio", name, value: at });
    radio.checked = at === chosen;
    radio.addEventListener("change", () => onChoose(at));
    group.append(element("label", {}, radio, element("span", { class: "choice" }, ...parts)));
  });
  return group;
}

/**
 * Choose by the program, as if by the user.
 * @param {Element} group
 * @param {number} at
 */
export function choose(group, at) {
  const radio = group.querySelectorAll("input")[at];
  if (!radio || radio.checked) return;
  radio.checked = true;
  radio.dispatchEvent(new Event("change"));
}

/**
 * A button that opens a list of further buttons.
 * @param {string} title
 * @param {HTMLElement[]} items
 */
export function menu(title, items) {
  const summary = element("summary", { class: "button" }, title, icon("down"));
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

/**
 * Let what is too wide be moved by dragging it with a mouse; fingers scroll by themselves.
 * @param {HTMLElement} scroll
 */
export function grabbable(scroll) {
  /** @type {{x: number, left: number} | undefined} */
  let held;
  scroll.addEventListener("pointerdown", (event) => {
    const free = event.pointerType === "mouse" && event.button === 0 && scroll.scrollWidth > scroll.clientWidth;
    if (free) held = { x: event.clientX, left: scroll.scrollLeft };
  });
  scroll.addEventListener("pointermove", (event) => {
    if (!held) return;
    const by = event.clientX - held.x;
    if (Math.abs(by) < 4 && !scroll.classList.contains("held")) return; // a click trembles
    scroll.classList.add("held");
    scroll.scrollLeft = held.left - by;
  });
  const drop = () => {
    held = undefined;
    // The click that ends the dragging must not pick a node.
    setTimeout(() => scroll.classList.remove("held"));
  };
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) scroll.addEventListener(name, drop);
  scroll.addEventListener("click", (event) => scroll.classList.contains("held") && event.stopPropagation(), true);
}
