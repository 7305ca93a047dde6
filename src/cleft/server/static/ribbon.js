// What the pointer thought at one step: bars that hang from the boundaries
// between the tokens, under a line that is cleft where the span was split.

import { percent, shown } from "./characters.js";
import { shape, short } from "./dom.js";

/** @typedef {import("./trees.js").Step} Step */
/** @typedef {import("./api.js").DrawnText} DrawnText */

const TALLEST = 78; // of a bar, for certainty
const TOP = 12;
const BAR = 9;
const CLEFT = 5; // half the gap that a split leaves
const WORD = 15;
const GAP = 15;
const SIDE = 24;
const TOLD = 0.03; // the least probability that is written out

const pen = document.createElement("canvas").getContext("2d");

/**
 * The width of a word as the browser draws it.
 * @param {string} text
 */
function textWidth(text) {
  if (!pen) return 0.62 * WORD * text.length;
  pen.font = `${WORD}px ${getComputedStyle(document.documentElement).getPropertyValue("--font")}`;
  return pen.measureText(text).width;
}

/**
 * The x of every boundary of a drawing: between two words, and just outside the first and last.
 * @param {import("./api.js").Drawing} drawing
 */
export function boundaries(drawing) {
  const words = drawing.texts.filter((text) => text.role === "word");
  const [left, right] = [(/** @type {DrawnText} */ one) => one.x, (/** @type {DrawnText} */ one) => one.x + one.width];
  const [start, end, side] = drawing.right_to_left ? [right, left, -1] : [left, right, 1];
  const inner = words.slice(1).map((word, at) => (end(words[at]) + start(word)) / 2);
  const first = start(words[0]) - (side * GAP) / 2;
  const last = end(words[words.length - 1]) + (side * GAP) / 2;
  return [first, ...inner, last];
}

/**
 * The places of words on a line of their own.
 * @param {string[]} words
 */
export function line(words) {
  const edges = [SIDE];
  const middles = words.map((word) => {
    const width = Math.max(8, textWidth(shown(word))) + GAP;
    const left = edges[edges.length - 1];
    edges.push(left + width);
    return left + width / 2;
  });
  return { edges, middles };
}

/**
 * Draw the distribution of a step; without a step, the line alone.
 * @param {object} given
 * @param {number[]} given.edges  the x of every boundary
 * @param {number} given.width
 * @param {Step | undefined} given.step
 * @param {Step[]} given.before  the steps that were taken before
 * @param {{words: string[], middles: number[]}} [given.words]  to be drawn above
 */
export function ribbon({ edges, width, step, before, words }) {
  const down = words ? 26 : 0;
  const height = down + TOP + (step || !words ? TALLEST + 26 : 14); // before the first step: the sentence
  const svg = shape("svg", {
    class: "ribbon",
    width: short(width),
    height,
    viewBox: `0 0 ${short(width)} ${height}`,
    "aria-hidden": "true",
  });
  words?.words.forEach((word, at) => {
    const inside = !step || (at >= step.span[0] && at < step.span[1]);
    const names = inside ? "word" : "word outside";
    const x = short(words.middles[at]);
    svg.append(shape("text", { class: names, x, y: 19, "font-size": WORD }, shown(word)));
  });
  const y = down + TOP;
  for (const { split, span } of before)
    if (split < span[1]) svg.append(shape("path", { class: "made", d: tick(edges[split], y) }));
  svg.append(...pieces(edges, step, y));
  if (step) svg.append(...bars(edges, step, y));
  return svg;
}

/**
 * @param {number} x
 * @param {number} y
 */
function tick(x, y) {
  return `M${short(x)} ${y - 6}V${y + 6}`;
}

/**
 * The line over the span, in two pieces where it was split.
 * @param {number[]} edges
 * @param {Step | undefined} step
 * @param {number} y
 */
function pieces(edges, step, y) {
  const [left, right] = step ? step.span : [0, edges.length - 1];
  const at = step && step.split < right ? step.split : null;
  /** @type {[number, number, number, number][]} */
  const parts = at === null ? [[left, right, 0, 0]] : [[left, at, 0, 1], [at, right, 1, 0]];
  return parts.map(([from, to, gap, stop]) => {
    const side = Math.sign(edges[to] - edges[from]) * CLEFT;
    const [start, end] = [edges[from] + side * (gap || 0.4), edges[to] - side * (stop || 0.4)];
    return shape("path", { class: "piece", d: `M${short(start)} ${y}H${short(end)}` });
  });
}

/**
 * @param {number[]} edges
 * @param {Step} step
 * @param {number} y
 */
function bars(edges, step, y) {
  /** @type {SVGElement[]} */
  const drawn = [];
  const shares = step.distribution ?? [];
  for (let at = step.span[0]; at <= step.span[1]; at++) {
    const share = Math.min(1, shares[at] ?? (at === step.split ? step.probability : 0));
    const chosen = at === step.split;
    const height = Math.max(1.5, TALLEST * share);
    const names = chosen ? "share chosen" : "share";
    const box = { x: short(edges[at] - BAR / 2), y: y + 5, width: BAR, height: short(height) };
    drawn.push(shape("rect", { class: names, rx: Math.min(3, height / 2), ...box }));
    if (share < TOLD && !chosen) continue;
    const place = { x: short(edges[at]), y: short(y + 5 + height + 14), "font-size": 11 };
    drawn.push(shape("text", { class: `amount${chosen ? " chosen" : ""}`, ...place }, percent(share)));
  }
  return drawn;
}
