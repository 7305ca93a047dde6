// One of several: native radio buttons, so that the arrow keys work as people know them.

import { element } from "./dom.js";

/**
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
