// A drawing of the server as SVG whose nodes can be focused, walked and picked.

import { percent, visible } from "./characters.js";
import { set, shape, short } from "./dom.js";

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

/**
 * Draw a tree.
 * @param {Drawing} drawing
 * @param {Node[]} nodes
 * @param {Options} options
 */
export function draw(drawing, nodes, options) {
  const { width, height } = drawing;
  const svg = shape("svg", {
    class: "tree",
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
  const texts = Map.groupBy(drawing.texts, (text) => text.node);
  const words = nodes.map((one) => one.word ?? one.text ?? "");
  nodes.forEach((one, at) => {
    const item = handle(nodes, at, words, options);
    const own = texts.get(at) ?? [];
    if (own.length) item.append(hit(own));
    // The spaces keep lines apart for those who read the drawing as text.
    for (const part of own.flatMap((text) => box(text, drawing.right_to_left))) item.append(part, " ");
    svg.append(item);
  });
  if (options.onPick) walkable(svg, nodes, options.onPick);
  return svg;
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
  const sure = one.evidence.label === undefined ? "" : `, ${percent(one.evidence.label)}`;
  if (one.word !== null) return `${one.label} ${one.word}${sure}`;
  if (one.text !== null) {
    const number = nodes.slice(0, at + 1).filter((each) => each.text !== null).length;
    return `${number} ${one.text}${one.role === "S" ? ", a satellite" : ""}`;
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
 * The ground that takes clicks and shows focus.
 * @param {Text[]} texts
 */
function hit(texts) {
  const left = Math.min(...texts.map((text) => text.x));
  const top = Math.min(...texts.map((text) => text.y));
  const right = Math.max(...texts.map((text) => text.x + text.width));
  const bottom = Math.max(...texts.map((text) => text.y + text.height));
  // Several relations of one node may stand far apart: then the first holds the focus.
  const apart = texts[0].role === "relation" && texts.length > 1;
  const [width, height] = apart ? [texts[0].width, texts[0].height] : [right - left, bottom - top];
  const [x, y] = apart ? [texts[0].x, texts[0].y] : [left, top];
  return shape("rect", {
    class: "hit",
    x: short(x - 3),
    y: short(y - 2),
    width: short(width + 6),
    height: short(height + 4),
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
  const x = short(text.x + text.width / 2);
  const step = text.height / text.lines.length;
  const base = text.y + step / 2 + text.size * ASCENT;
  const names = `${text.role} ${text.tone}`.trim();
  const direction = rightToLeft ? "rtl" : null;
  const look = { class: names, "font-size": text.size, direction, x };
  const drawn = text.lines.map((line, at) =>
    shape("text", { ...look, y: short(base + at * step) }, line),
  );
  if (!text.tinted) return drawn;
  const chip = shape("rect", {
    class: `chip ${text.tone}-tint${text.doubt ? " doubt" : ""}`,
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
 */
function walkable(svg, nodes, onPick) {
  const items = /** @type {SVGGElement[]} */ ([...svg.querySelectorAll(".node")]);
  const at = (/** @type {EventTarget | null} */ target) =>
    target instanceof Element ? items.indexOf(/** @type {SVGGElement} */ (target.closest(".node"))) : -1;

  const focus = (/** @type {number | undefined} */ place) => {
    if (place === undefined || place < 0 || !items[place]) return;
    items.forEach((item, one) => set(item, { tabindex: one === place ? 0 : -1 }));
    items[place].focus();
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
