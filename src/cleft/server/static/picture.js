// A drawing of the server as SVG whose nodes can be focused, walked and picked.

import { percent, visible } from "./characters.js";
import { set, shape, short } from "./dom.js";
import { refold } from "./fold.js";

/** @typedef {import("./trees.js").Node} Node */
/** @typedef {import("./api.js").Drawing} Drawing */
/** @typedef {import("./api.js").DrawnText} Text */

/**
 * @typedef {object} Options
 * @property {string} name  what the drawing is called, for screen readers
 * @property {(node: number) => void} [onPick]  left out, the drawing is a picture and no more
 * @property {Set<number>} [novel]  nodes that the best tree does not have
 * @property {Set<number>} [dropped]  nodes that the summary leaves out
 */

const ASCENT = 0.355; // from the middle of a line down to its baseline, in font sizes
const WORDS = 8; // of a node's text that its name tells
const STARTING = new Set(["heading", "note", "crumb", "prose"]); // tied to their start, not middle

/**
 * Draw a tree.
 * @param {Drawing} drawing
 * @param {Node[]} nodes
 * @param {Options} options
 */
export function draw(drawing, nodes, options) {
  const { width, height } = drawing;
  const svg = shape("svg", {
    class: `tree ${drawing.view}`,
    role: options.onPick ? "tree" : "img",
    "aria-label": visible(options.name),
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
  });
  for (const { role, path, weight, node, to } of drawing.lines) {
    const look = { class: role, d: path, "stroke-width": role === "tip" ? null : weight };
    svg.append(shape("path", { ...look, "data-node": node, "data-to": to }));
  }
  /** @type {Map<number, Text[]>} */
  const texts = Map.groupBy(drawing.texts, (text) => (nodes.length ? text.node ?? -1 : -1));
  for (const part of texts.get(-1)?.flatMap((text) => box(text, drawing.right_to_left)) ?? [])
    svg.append(part, " ");
  const words = nodes.map((one) => one.word ?? one.text ?? "");
  nodes.forEach((one, at) => {
    const item = handle(nodes, at, words, options);
    const own = texts.get(at) ?? [];
    item.append(...hits(own));
    // The spaces keep lines apart for those who read the drawing as text.
    for (const part of own.flatMap((text) => box(text, drawing.right_to_left))) item.append(part, " ");
    svg.append(item);
  });
  if (options.onPick) {
    const folding = foldable(svg, drawing);
    walkable(svg, nodes, options.onPick, folding);
  }
  return svg;
}

/**
 * What of an outline is folded, and how to fold more.
 * @typedef {{can: Set<number>, folded: Set<number>, fold: (node: number) => void}} Folding
 */

/**
 * Let the phrases of an outline be folded by the signs on their lines.
 * @param {SVGSVGElement} svg
 * @param {Drawing} drawing
 * @returns {Folding}
 */
function foldable(svg, drawing) {
  /** @type {Set<number>} */
  const folded = new Set();
  const can = new Set(drawing.folds.filter((one) => one.floor > one.y).map((one) => one.node));
  const item = (/** @type {number} */ node) => svg.querySelector(`.node[data-node="${node}"]`);
  const fold = (/** @type {number} */ node) => {
    if (!folded.delete(node)) folded.add(node);
    refold(svg, drawing.folds, folded);
    const label = item(node);
    if (label) set(label, { "aria-expanded": String(!folded.has(node)) });
    svg.querySelector(`.toggle[data-node="${node}"]`)?.classList.toggle("folded", folded.has(node));
  };
  for (const { node, rail, y } of drawing.folds) {
    if (!can.has(node)) continue;
    const x = rail;
    const sign = shape(
      "g",
      { class: "toggle", "data-node": node, "aria-hidden": "true" },
      shape("rect", { class: "hit", x: short(x - 11), y: short(y - 11), width: 22, height: 22 }),
      shape("circle", { cx: short(x), cy: short(y), r: 4.5 }),
      shape("path", { class: "minus", d: `M${short(x - 2)} ${short(y)}h4` }),
      shape("path", { class: "plus", d: `M${short(x)} ${short(y - 2)}v4` }),
      shape("title", {}, "Fold or unfold"),
    );
    sign.addEventListener("click", (event) => {
      event.stopPropagation();
      fold(node);
    });
    svg.append(sign);
    const label = item(node);
    if (label) set(label, { "aria-expanded": "true" });
  }
  return { can, folded, fold };
}

/**
 * The group that stands for a node.
 * @param {Node[]} nodes
 * @param {number} at
 * @param {string[]} words
 * @param {Options} options
 */
function handle(nodes, at, words, { novel, dropped, onPick }) {
  const one = nodes[at];
  const kind = one.word !== null ? "leaf" : one.text !== null ? "unit" : "phrase";
  const extra = `${novel?.has(at) ? " novel" : ""}${dropped?.has(at) ? " dropped" : ""}`;
  const group = shape("g", { class: `node ${kind}${extra}`, "data-node": at });
  if (!onPick) return group;
  return set(group, {
    role: "treeitem",
    tabindex: at ? -1 : 0,
    "aria-level": depth(nodes, at),
    "aria-label": visible(nameOf(nodes, at, words)),
    "aria-selected": "false",
  });
}

/**
 * @param {Node[]} nodes
 * @param {number} at
 */
function depth(nodes, at) {
  let level = 1;
  for (let up = nodes[at].parent; up >= 0; up = nodes[up].parent) level++;
  return level;
}

/**
 * @param {Node[]} nodes
 * @param {number} at
 * @param {string[]} words
 */
function nameOf(nodes, at, words) {
  const one = nodes[at];
  const { probability } = one.evidence;
  const sure = probability === undefined ? "" : `, ${percent(probability)}`;
  if (one.word !== null) return `${one.label} ${one.word}${sure}`;
  if (one.text !== null) {
    const number = nodes.slice(0, at + 1).filter((each) => each.text !== null).length;
    return `${number} ${one.text}${one.role === "S" ? ", a satellite" : ""}${sure}`;
  }
  // A node's leaves follow it in preorder.
  const found = [];
  let next = at + 1;
  for (; next < nodes.length && nodes[next].left < one.right && found.length < WORDS; next++)
    if (!nodes[next].children.length) found.push(words[next]);
  const more = next < nodes.length && nodes[next].left < one.right ? "…" : "";
  return `${one.label || "bracket"}${sure}: ${found.join(" ")}${more}`;
}

/**
 * The grounds that take clicks and show focus: one for a leaf, one for each name of a phrase,
 * which may stand in several rows.
 * @param {Text[]} texts
 */
function hits(texts) {
  // In a reading view names of relations stand before the text of a unit: it may not cover them.
  const names = texts.filter((text) => text.tinted || text.role === "prose");
  return names.length ? names.map((text) => hit([text])) : texts.length ? [hit(texts)] : [];
}

/** @param {Text[]} texts */
function hit(texts) {
  const left = Math.min(...texts.map((text) => text.x));
  const top = Math.min(...texts.map((text) => text.y));
  const right = Math.max(...texts.map((text) => text.x + text.width));
  const bottom = Math.max(...texts.map((text) => text.y + text.height));
  return shape("rect", {
    class: "hit",
    x: short(left - 3),
    y: short(top - 2),
    width: short(right - left + 6),
    height: short(bottom - top + 4),
    rx: 7,
  });
}

/**
 * A text on its ground, an element a line.
 * @param {Text} text
 * @param {boolean} rightToLeft
 * @returns {SVGElement[]}
 */
function box(text, rightToLeft) {
  const started = STARTING.has(text.role);
  const start = rightToLeft ? text.x + text.width : text.x;
  const x = short(started ? start : text.x + text.width / 2);
  const step = text.height / text.lines.length;
  const base = text.y + step / 2 + text.size * ASCENT;
  const tone = text.mark || text.tone;
  const names = `${text.role} ${tone}`.trim();
  const direction = rightToLeft ? "rtl" : null;
  const look = { class: names, "font-size": text.size, direction, x };
  const drawn = text.lines.map((line, at) =>
    shape("text", { ...look, y: short(base + at * step) }, line),
  );
  if (!text.tinted) return drawn;
  const chip = shape("rect", {
    class: `chip ${tone}-tint${text.doubt && !text.mark ? " doubt" : ""}`,
    x: text.x,
    y: text.y,
    width: text.width,
    height: text.height,
    rx: 6,
  });
  return [chip, ...drawn];
}

/**
 * Let a tree be walked by the arrow keys and its nodes be picked.
 * @param {SVGSVGElement} svg
 * @param {Node[]} nodes
 * @param {(node: number) => void} onPick
 * @param {Folding} folding
 */
function walkable(svg, nodes, onPick, folding) {
  const items = /** @type {SVGGElement[]} */ ([...svg.querySelectorAll(".node")]);
  const at = (/** @type {EventTarget | null} */ target) =>
    target instanceof Element ? items.indexOf(/** @type {SVGGElement} */ (target.closest(".node"))) : -1;

  const focus = (/** @type {number | undefined} */ place) => {
    if (place === undefined || place < 0 || !items[place]) return;
    items.forEach((item, one) => set(item, { tabindex: one === place ? 0 : -1 }));
    items[place].focus();
  };
  // In an outline: from line to line, in and out, folding on the way.
  const stroll = (/** @type {number} */ place, /** @type {string} */ key) => {
    const { can, folded, fold } = folding;
    const seen = (/** @type {number} */ one) => items[one] && !items[one].classList.contains("gone");
    if (key === "ArrowLeft" && can.has(place) && !folded.has(place)) return fold(place);
    if (key === "ArrowRight" && folded.has(place)) return fold(place);
    if (key === "ArrowLeft") return focus(nodes[place].parent);
    if (key === "ArrowRight") return focus(nodes[place].children[0]);
    const step = key === "ArrowDown" ? 1 : -1;
    let next = place + step;
    while (items[next] && !seen(next)) next += step;
    focus(next);
  };
  svg.addEventListener("click", (event) => {
    const place = at(event.target);
    if (place < 0) return;
    focus(place);
    onPick(place);
  });
  svg.addEventListener("keydown", (event) => {
    const place = at(event.target);
    if (place < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") onPick(place);
    else if (folding.can.size && /^Arrow/.test(event.key)) stroll(place, event.key);
    else if (/^(Arrow|Home|End)/.test(event.key)) focus(neighbour(nodes, place, event.key));
    else return;
    event.preventDefault();
  });
}

/**
 * The node that a key leads to: up, down, or to a sibling; at the last sibling, on to
 * the next node at the same height.
 * @param {Node[]} nodes
 * @param {number} at
 * @param {string} key
 */
function neighbour(nodes, at, key) {
  if (key === "Home") return 0;
  if (key === "End") return nodes.length - 1;
  if (key === "ArrowUp") return nodes[at].parent;
  if (key === "ArrowDown") return nodes[at].children[0];
  const step = key === "ArrowRight" ? 1 : -1;
  for (let one = at; nodes[one].parent >= 0; one = nodes[one].parent) {
    const siblings = nodes[nodes[one].parent].children;
    const next = siblings[siblings.indexOf(one) + step];
    if (next !== undefined) return next;
  }
  return undefined;
}

/**
 * Mark the node that is looked at, or none.
 * @param {SVGSVGElement} svg
 * @param {number} picked
 */
export function select(svg, picked) {
  for (const item of svg.querySelectorAll(".node")) {
    const chosen = Number(item.getAttribute("data-node")) === picked;
    set(item, { "aria-selected": String(chosen) });
  }
}

/**
 * Show a tree as far as it has been split: the texts of leaves, which are known from the
 * start; lines to spans that are known; names of nodes.
 * @param {SVGSVGElement} svg
 * @param {object} when
 * @param {(node: number) => boolean} when.known  whether the node's span is known
 * @param {(node: number) => boolean} when.decided  whether the model has looked at it
 * @param {(node: number) => boolean} when.named  whether its name is shown
 */
export function reveal(svg, { known, decided, named }) {
  for (const line of svg.querySelectorAll("path")) {
    const at = Number(line.getAttribute("data-node"));
    const to = line.getAttribute("data-to");
    line.classList.toggle("unborn", !known(to === null ? at : Number(to)));
    if (to === null) line.classList.toggle("open", !decided(at));
  }
  for (const item of svg.querySelectorAll(".node")) {
    const at = Number(item.getAttribute("data-node"));
    if (item.matches(".phrase")) item.classList.toggle("unborn", !named(at));
    else item.classList.toggle("pending", !(known(at) && decided(at)));
  }
}
