// Folding an outline: what a phrase holds hides, and what stands below moves up.

/** @typedef {{node: number, x: number, y: number, floor: number, words: number}} Fold */

/** @type {WeakMap<Element, string>} */
const whole = new WeakMap(); // the paths as they were drawn

/**
 * Draw an outline with some phrases folded.
 * @param {SVGSVGElement} svg
 * @param {Fold[]} folds  what can be folded, in preorder
 * @param {Set<number>} folded
 */
export function refold(svg, folds, folded) {
  /** @type {Fold[]} */
  const outer = [];
  for (const one of folds)
    if (folded.has(one.node) && one.floor > one.y && one.y >= (outer.at(-1)?.floor ?? 0)) outer.push(one);
  const inside = (/** @type {number} */ y) => outer.some((one) => y > one.y && y < one.floor);
  const up = (/** @type {number} */ y) =>
    outer.reduce((sum, one) => sum + Math.max(0, Math.min(y, one.floor) - one.y), 0);
  svg.querySelectorAll(".more").forEach((sign) => sign.remove());
  for (const part of svg.children) {
    const at = part.matches("[y]") ? part : part.querySelector("[y]");
    if (part instanceof SVGPathElement) bend(part, inside, up);
    else if (at) move(part, Number(at.getAttribute("y")), inside, up);
  }
  const [, , wide, high] = (svg.dataset.box ??= svg.getAttribute("viewBox") ?? "").split(" ").map(Number);
  svg.setAttribute("viewBox", `0 0 ${wide} ${high - up(high)}`);
  svg.setAttribute("height", String(high - up(high)));
  svg.append(...outer.map((one) => sign(one, up)));
}

/**
 * @param {SVGPathElement} path
 * @param {(y: number) => boolean} inside
 * @param {(y: number) => number} up
 */
function bend(path, inside, up) {
  const drawn = whole.get(path) ?? path.getAttribute("d") ?? "";
  whole.set(path, drawn);
  const last = Number(drawn.match(/[\d.]+$/)?.[0]);
  path.classList.toggle("gone", inside(last));
  path.setAttribute("d", drawn.replace(/([\d.]+) ([\d.]+)/g, (_, x, y) => `${x} ${Number(y) - up(Number(y))}`));
}

/**
 * @param {Element} part
 * @param {number} y
 * @param {(y: number) => boolean} inside
 * @param {(y: number) => number} up
 */
function move(part, y, inside, up) {
  part.classList.toggle("gone", inside(y));
  if (up(y)) part.setAttribute("transform", `translate(0 ${-up(y)})`);
  else part.removeAttribute("transform");
}

/**
 * What stands for the words that are folded away.
 * @param {Fold} one
 * @param {(y: number) => number} up
 */
function sign(one, up) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "text");
  const place = { class: "more note", x: one.x, y: one.y - up(one.y) - 9, "font-size": 12 };
  for (const [name, value] of Object.entries(place)) made.setAttribute(name, String(value));
  made.textContent = `⋯ ${one.words} ${one.words === 1 ? "word" : "words"}`;
  return made;
}
