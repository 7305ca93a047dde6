// How wide text is drawn, asked of the browser.

export const FONT =
  "Inter, 'Helvetica Neue', Helvetica, Arial, 'Noto Sans', 'Liberation Sans', 'DejaVu Sans', sans-serif";

const SLACK = 1.03; // a saved picture may be drawn in another font
const pen = document.createElement("canvas").getContext("2d");
/** @type {Map<string, number>} */
const known = new Map();

/**
 * The width of a text in pixels.
 * @param {string} text
 * @param {number} size
 * @param {boolean} [bold]
 */
export function textWidth(text, size, bold = false) {
  const key = `${bold ? 600 : 400} ${size} ${text}`;
  let width = known.get(key);
  if (width === undefined) {
    if (known.size > 20000) known.clear();
    width = SLACK * ask(text, size, bold);
    known.set(key, width);
  }
  return width;
}

/**
 * @param {string} text
 * @param {number} size
 * @param {boolean} bold
 */
function ask(text, size, bold) {
  if (!pen) return 0.62 * size * text.length;
  pen.font = `${bold ? 600 : 400} ${size}px ${FONT}`;
  return pen.measureText(text).width;
}

/**
 * The text in lines that are no wider than a limit, broken at spaces where it can be.
 * @param {string} text
 * @param {number} limit
 * @param {number} size
 * @returns {string[]}
 */
export function wrap(text, limit, size) {
  /** @type {string[]} */
  const lines = [];
  let line = "";
  for (const word of text.split(" ").filter(Boolean)) {
    const longer = line ? `${line} ${word}` : word;
    if (textWidth(longer, size) <= limit) {
      line = longer;
      continue;
    }
    if (line) lines.push(line);
    const parts = broken(word, limit, size);
    line = parts.pop() ?? "";
    lines.push(...parts);
  }
  if (line || !lines.length) lines.push(line);
  return lines;
}

const clusters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * @param {string} word
 * @param {number} limit
 * @param {number} size
 * @returns {string[]}
 */
function broken(word, limit, size) {
  if (textWidth(word, size) <= limit) return [word];
  const parts = [""];
  let used = 0;
  for (const { segment } of clusters.segment(word)) {
    const wide = textWidth(segment, size);
    if (used && used + wide > limit) {
      parts.push("");
      used = 0;
    }
    parts[parts.length - 1] += segment;
    used += wide;
  }
  return parts;
}
