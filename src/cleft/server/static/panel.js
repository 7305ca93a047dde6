// What the model thought of one node: its text, its labels, its splits.

import { counted, percent, shown, visible } from "./characters.js";
import { button, element, icon } from "./dom.js";
import { splitRelation } from "./trees.js";

/** @typedef {import("./trees.js").Node} Node */
/** @typedef {import("./trees.js").Sentence} Sentence */
/** @typedef {import("./trees.js").Step} Step */
/** @typedef {[string, number, boolean]} Share  a name, its probability, whether it was taken */

/**
 * The characters of a span as they stand in the text; offsets count code points.
 * @param {Sentence} sentence
 * @param {number} left
 * @param {number} right
 */
export function spanText(sentence, left, right) {
  const [first, last] = [sentence.tokens[left], sentence.tokens[right - 1]];
  const from = first.start - sentence.start;
  return Array.from(sentence.text).slice(from, last.end - sentence.start).join("");
}

/**
 * The panel of a node.
 * @param {object} given
 * @param {Node[]} given.nodes
 * @param {number} given.at
 * @param {Sentence} given.sentence
 * @param {(Step & {alternatives?: [number, number][]})[]} given.steps
 * @param {string} given.tone  the colour of the node's name
 * @param {() => void} given.onClose
 */
export function panel({ nodes, at, sentence, steps, tone, onClose }) {
  const one = nodes[at];
  const close = button(icon("close"), onClose, { class: "close", "aria-label": "Close details" });
  const width = one.right - one.left;
  const place = width > 1 ? `tokens ${one.left + 1}–${one.right}` : `token ${one.right}`;
  const head = element(
    "div",
    { class: "panel-head" },
    element("strong", { class: `badge ${tone}` }, nameOf(one)),
    element("span", { class: "where" }, `${place}, boundaries ${one.left} to ${one.right}`),
    close,
  );
  const quote = element("blockquote", { dir: "auto" }, visible(spanText(sentence, one.left, one.right)));
  const tables = element("div", { class: "tables" }, ...sureTable(one), ...labelTable(one), ...splitTable(one, sentence, steps));
  const title = `Details of ${nameOf(one)}, ${counted(width, "token")}`;
  return element("section", { class: "panel", "aria-label": title }, head, quote, tables);
}

/** @param {Node} one */
function nameOf(one) {
  if (one.text === null) return shown(one.label, "·");
  return one.role === "S" ? "Unit, a satellite" : "Elementary unit";
}

/** @param {Node} one */
function sureTable(one) {
  const { probability } = one.evidence;
  if (probability === undefined || one.word !== null) return [];
  return [table("Probability", [["that it is right", probability, true]])];
}

/** @param {Node} one */
function labelTable(one) {
  const { label, labels } = one.evidence;
  if (label === undefined) return [];
  const what = one.word !== null ? "Tag" : "Label";
  /** @type {Share[]} */
  const rows = [[nameOf(one), label, true]];
  for (const [name, share] of labels ?? []) rows.push([readable(name), share, false]);
  return [table(what, rows)];
}

const SIDES = new Map([["NS", "nucleus first"], ["SN", "satellite first"], ["NN", "nuclei"]]);

/**
 * A runner-up's name: that of a relation tells which side is the nucleus.
 * @param {string} name
 */
function readable(name) {
  if (name.startsWith("∅")) return name.length > 1 ? `no phrase, inside ${shown(name.slice(1))}` : "no phrase";
  const [relation, letters] = splitRelation(name);
  return relation === name ? shown(name, "·") : `${shown(relation)}, ${SIDES.get(letters)}`;
}

/**
 * @param {Node} one
 * @param {Sentence} sentence
 * @param {(Step & {alternatives?: [number, number][]})[]} steps
 */
function splitTable(one, sentence, steps) {
  const step = steps.find(({ span }) => span[0] === one.left && span[1] === one.right);
  if (!step || one.word !== null) return [];
  const before = (/** @type {number} */ at) =>
    at < step.span[1] ? `before “${shown(sentence.tokens[at].text)}”` : "none: one unit";
  /** @type {Share[]} */
  const rows = [[before(step.split), step.probability, true]];
  for (const [at, share] of step.alternatives ?? []) rows.push([before(at), share, false]);
  const title = one.children.length > 2 ? "First split" : "Split";
  return [table(title, rows)];
}

/**
 * Names with bars.
 * @param {string} caption
 * @param {Share[]} rows
 */
function table(caption, rows) {
  const body = rows.map(([name, share, taken]) => {
    const bar = element("span", { class: "bar" });
    bar.style.setProperty("--share", String(Math.min(1, share)));
    return element(
      "tr",
      { class: taken ? "taken" : null },
      element("th", { scope: "row", dir: "auto" }, name),
      element("td", { class: "gauge" }, bar),
      element("td", { class: "amount" }, percent(share)),
    );
  });
  return element("table", {}, element("caption", {}, caption), element("tbody", {}, ...body));
}
