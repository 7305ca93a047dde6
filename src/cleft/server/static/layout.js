// A drawing as numbers: text boxes and strokes with their places, before any
// element is made; the same shapes as cleft.draw.layout. Lengths are pixels
// from the top left corner.

/**
 * A text in its box. `node` is the place in preorder of the node it belongs to.
 * @typedef {object} Text
 * @property {string[]} lines
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {number} size
 * @property {string} role
 * @property {number} node
 * @property {string} [tone]
 * @property {boolean} [tinted]
 * @property {boolean} [doubt]
 */

/** @typedef {[string, number[]]} Command */

/**
 * A line: its path, what it stands for, its thickness, the nodes that it ties.
 * @typedef {object} Stroke
 * @property {Command[]} path
 * @property {string} role
 * @property {number} weight
 * @property {number} node
 * @property {number} [to]
 */

/**
 * A laid-out drawing; `edges` are the x of the boundaries, where words stand on a line.
 * @typedef {object} Layout
 * @property {number} width
 * @property {number} height
 * @property {Text[]} texts
 * @property {Stroke[]} strokes
 * @property {number[]} edges
 * @property {boolean} mirrored
 */

const RADIUS = 9;
const THIN = 0.7;
const THICK = 1.6;
const PLAIN = 1.25;

/** A label less probable than this is outlined. */
export const UNSURE = 0.6;

/**
 * How thick the lines of a split are drawn: the surer, the thicker.
 * @param {number | null | undefined} probability
 */
export function lineWeight(probability) {
  if (probability === null || probability === undefined) return PLAIN;
  return THIN + (THICK - THIN) * Math.min(1, Math.max(0, probability));
}

/**
 * A path down to a bar, along it, and down to the end, with round corners.
 * @param {number} x
 * @param {number} top
 * @param {number} to
 * @param {number} bottom
 * @param {number} bar
 * @returns {Command[]}
 */
export function elbow(x, top, to, bottom, bar) {
  if (Math.abs(x - to) < 1) return [["M", [x, top]], ["L", [x, bottom]]];
  if (Math.abs(x - to) < 2 * RADIUS) {
    const foot = Math.min(bottom, 2 * bar - top);
    return [["M", [x, top]], ["C", [x, bar, to, bar, to, foot]], ["L", [to, bottom]]];
  }
  const bend = to > x ? RADIUS : -RADIUS;
  const rise = Math.min(RADIUS, bar - top);
  const fall = Math.min(RADIUS, bottom - bar);
  return [
    ["M", [x, top]],
    ["L", [x, bar - rise]],
    ["Q", [x, bar, x + bend, bar]],
    ["L", [to - bend, bar]],
    ["Q", [to, bar, to, bar + fall]],
    ["L", [to, bottom]],
  ];
}

/**
 * The path of a child between others: straight down from the bar that they share.
 * @param {number} x
 * @param {number} top
 * @param {number} to
 * @param {number} bottom
 * @param {number} bar
 * @returns {Command[]}
 */
export function drop(x, top, to, bottom, bar) {
  const away = Math.abs(x - to);
  if (away < 1) return [["M", [x, top]], ["L", [x, bottom]]];
  // Within the round corner of the bar, the line begins on the corner's curve.
  const lift = Math.min(RADIUS, bar - top) * Math.max(0, 1 - Math.sqrt(away / RADIUS)) ** 2;
  return [["M", [to, bar - lift]], ["L", [to, bottom]]];
}

/**
 * The `d` of a path element.
 * @param {Command[]} path
 */
export function pathData(path) {
  return path.map(([letter, numbers]) => letter + numbers.map(short).join(" ")).join("");
}

/**
 * A coordinate with at most one digit after the point.
 * @param {number} value
 */
export function short(value) {
  return String(Math.round(value * 10) / 10);
}

/**
 * The same drawing from right to left.
 * @param {Layout} layout
 * @returns {Layout}
 */
export function mirrored(layout) {
  const flip = (/** @type {number} */ x) => layout.width - x;
  return {
    ...layout,
    mirrored: true,
    edges: layout.edges.map(flip),
    texts: layout.texts.map((text) => ({ ...text, x: flip(text.x + text.width) })),
    strokes: layout.strokes.map((stroke) => ({
      ...stroke,
      path: stroke.path.map(([letter, numbers]) => [
        letter,
        numbers.map((value, at) => (at % 2 ? value : flip(value))),
      ]),
    })),
  };
}
