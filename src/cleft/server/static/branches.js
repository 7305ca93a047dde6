// The layout of a constituency tree: words on one line, phrases above them, as
// in cleft.draw.syntax_layout. A phrase stands one level above the highest of its
// children, in the middle over them; every subtree keeps a strip of its own.

import { isRightToLeft, shown, visible } from "./characters.js";
import { UNSURE, drop, elbow, lineWeight, mirrored } from "./layout.js";
import { textWidth, wrap } from "./measure.js";

/** @typedef {import("./trees.js").Node} Node */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Stroke} Stroke */
/** @typedef {import("./layout.js").Text} Text */

const WORD = 15;
const TAG = 10;
const LABEL = 12;
const LINE = 20;
const TAG_HEIGHT = 14;
const CHIP = 20;
const PITCH = 40;
const GAP = 15;
const LONGEST = 260;
const MARGIN = 20;

const CLAUSES = new Set(["TOP", "ROOT", "VROOT", "FRAG", "CP", "IP", "CS", "SENT", "PRN", "UCP"]);

/**
 * The colour family of a phrase label.
 * @param {string} label
 */
export function toneOf(label) {
  const head = label.toUpperCase();
  if (head.startsWith("S") || CLAUSES.has(head.split("-")[0])) return "clause";
  if (head.startsWith("N") || head.startsWith("WHN")) return "noun";
  if (head.startsWith("V")) return "verb";
  if (/^[APQ]/.test(head) || head.startsWith("WH")) return "modifier";
  return "other";
}

/**
 * @typedef {object} Measures
 * @property {string[][]} lines  of each leaf
 * @property {number[]} own  the width of a node's own text
 * @property {number[]} levels
 * @property {number[]} lefts
 * @property {number[]} widths
 * @property {number[]} anchors  the middle of a node's own text
 */

/**
 * Lay out a syntax tree on one line.
 * @param {Node[]} nodes
 * @returns {Layout}
 */
export function layOutSyntax(nodes) {
  const measures = measure(nodes);
  const bottom = MARGIN + measures.levels[0] * PITCH; // of the lowest level's head room
  const tagged = nodes.some((one) => one.word !== null && one.label);
  const wordsAt = bottom + (tagged ? TAG_HEIGHT + 1 : 0);
  /** @type {Text[]} */
  const texts = [];
  /** @type {Stroke[]} */
  const strokes = [];
  let lowest = LINE;
  nodes.forEach((one, at) => {
    if (one.word === null) {
      texts.push(label(one, at, measures));
      strokes.push(...branches(nodes, at, measures, wordsAt));
    } else {
      texts.push(...leaf(one, at, measures, bottom, wordsAt));
      lowest = Math.max(lowest, LINE * measures.lines[at].length);
    }
  });
  /** @type {Layout} */
  const layout = {
    width: measures.widths[0] + 2 * MARGIN,
    height: wordsAt + lowest + MARGIN,
    texts,
    strokes,
    edges: edgesOf(nodes, measures),
    mirrored: false,
  };
  return isRightToLeft(nodes.map((one) => one.word ?? "")) ? mirrored(layout) : layout;
}

/**
 * @param {Node[]} nodes
 * @returns {Measures}
 */
function measure(nodes) {
  const count = nodes.length;
  const lines = nodes.map((one) => (one.word === null ? [] : wrap(shown(one.word), LONGEST, WORD)));
  const own = nodes.map((one, at) => {
    if (one.word === null) return textWidth(shown(one.label, "·"), LABEL, true) + 14;
    const widest = Math.max(...lines[at].map((line) => textWidth(line, WORD)));
    return Math.max(widest, textWidth(visible(one.label), TAG), 8);
  });
  const levels = Array(count).fill(0);
  const inner = Array(count).fill(0);
  const widths = [...own];
  for (let at = count - 1; at >= 0; at--) {
    const below = nodes[at].children;
    if (!below.length) continue;
    for (const child of below) levels[at] = Math.max(levels[at], levels[child] + 1);
    inner[at] = below.reduce((sum, child) => sum + widths[child], GAP * (below.length - 1));
    widths[at] = Math.max(widths[at], inner[at]);
  }
  const lefts = Array(count).fill(MARGIN);
  nodes.forEach((one, at) => {
    let left = lefts[at] + (widths[at] - inner[at]) / 2;
    for (const child of one.children) {
      lefts[child] = left;
      left += widths[child] + GAP;
    }
  });
  return { lines, own, levels, lefts, widths, anchors: anchorsOf(nodes, own, lefts, widths) };
}

/**
 * @param {Node[]} nodes
 * @param {number[]} own
 * @param {number[]} lefts
 * @param {number[]} widths
 */
function anchorsOf(nodes, own, lefts, widths) {
  const anchors = Array(nodes.length).fill(0);
  for (let at = nodes.length - 1; at >= 0; at--) {
    const below = nodes[at].children;
    const [left, right] = [lefts[at], lefts[at] + widths[at]];
    if (!below.length) {
      anchors[at] = (left + right) / 2;
      continue;
    }
    const middle = (anchors[below[0]] + anchors[below[below.length - 1]]) / 2;
    anchors[at] = Math.min(Math.max(middle, left + own[at] / 2), right - own[at] / 2);
  }
  return anchors;
}

/**
 * The x of every boundary: between two words, and just outside the first and last.
 * @param {Node[]} nodes
 * @param {Measures} measures
 */
function edgesOf(nodes, { anchors, own }) {
  const leaves = nodes.flatMap((one, at) => (one.word === null ? [] : [at]));
  const left = (/** @type {number} */ at) => anchors[at] - own[at] / 2;
  const right = (/** @type {number} */ at) => anchors[at] + own[at] / 2;
  const edges = leaves.map((at, place) =>
    place ? (right(leaves[place - 1]) + left(at)) / 2 : left(at) - GAP / 2,
  );
  return [...edges, right(leaves[leaves.length - 1]) + GAP / 2];
}

/**
 * @param {number} level
 * @param {Measures} measures
 */
function levelTop(level, measures) {
  return MARGIN + (measures.levels[0] - level) * PITCH;
}

/**
 * @param {Node} one
 * @param {number} at
 * @param {Measures} measures
 * @returns {Text}
 */
function label(one, at, measures) {
  const sure = one.evidence.label;
  return {
    lines: [shown(one.label, "·")],
    x: measures.anchors[at] - measures.own[at] / 2,
    y: levelTop(measures.levels[at], measures),
    width: measures.own[at],
    height: CHIP,
    size: LABEL,
    role: "label",
    tone: toneOf(one.label),
    node: at,
    tinted: true,
    doubt: sure !== undefined && sure < UNSURE,
  };
}

/**
 * A tag and its word.
 * @param {Node} one
 * @param {number} at
 * @param {Measures} measures
 * @param {number} tagsAt
 * @param {number} wordsAt
 * @returns {Text[]}
 */
function leaf(one, at, measures, tagsAt, wordsAt) {
  const width = measures.own[at];
  const box = { x: measures.anchors[at] - width / 2, width, node: at };
  const lines = measures.lines[at];
  const word = { ...box, lines, y: wordsAt, height: LINE * lines.length, size: WORD, role: "word" };
  if (!one.label) return [word];
  const tag = { ...box, lines: [visible(one.label)], y: tagsAt, height: TAG_HEIGHT, size: TAG };
  return [{ ...tag, role: "tag" }, word];
}

/**
 * The lines from a phrase to its children.
 * @param {Node[]} nodes
 * @param {number} at
 * @param {Measures} measures
 * @param {number} wordsAt
 * @returns {Stroke[]}
 */
function branches(nodes, at, measures, wordsAt) {
  const weight = lineWeight(nodes[at].evidence.split);
  const foot = levelTop(measures.levels[at], measures) + CHIP;
  const bar = foot + (PITCH - CHIP) / 2;
  const below = nodes[at].children;
  return below.map((child, place) => {
    const bare = nodes[child].word !== null && !nodes[child].label;
    const head = bare ? wordsAt : levelTop(measures.levels[child], measures);
    const path = place && place < below.length - 1 ? drop : elbow;
    return {
      path: path(measures.anchors[at], foot, measures.anchors[child], head, bar),
      role: "branch",
      weight,
      node: at,
      to: child,
    };
  });
}
