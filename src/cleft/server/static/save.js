// Copying to the clipboard, downloading to a file, and links: text and settings in the
// address's fragment, which browsers keep to themselves.

import { element } from "./dom.js";

/**
 * Copy a text or an image; false where the browser does not let us. It may still be on its way:
 * a browser lets a page copy only for a moment after a click.
 * @param {string | Promise<string | Blob>} given
 */
export async function copy(given) {
  const content = Promise.resolve(given);
  try {
    const found = await content;
    if (found instanceof Blob) await navigator.clipboard.write([new ClipboardItem({ [found.type]: found })]);
    else await navigator.clipboard.writeText(found);
    return true;
  } catch {
    const found = await content; // what is wrong with it is told by who asked for it
    return typeof found === "string" && copyBySelection(found); // plain HTTP has no clipboard
  }
}

const FINE = 2; // pixels of an image for one of the drawing
const LARGEST = 8000; // pixels of a side that every browser can draw

/**
 * An SVG drawing as a PNG image.
 * @param {string} svg
 * @returns {Promise<Blob>}
 */
export async function image(svg) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const drawing = new Image();
    drawing.src = address;
    await drawing.decode();
    const { width, height } = drawing;
    const scale = Math.min(FINE, LARGEST / width, LARGEST / height);
    const canvas = element("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
    canvas.getContext("2d")?.drawImage(drawing, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) =>
      canvas.toBlob((made) => (made ? done(made) : failed(new Error("no image was made"))), "image/png"),
    );
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** @param {string} text */
function copyBySelection(text) {
  const field = element("textarea", { class: "unseen", readonly: true, "aria-hidden": "true" });
  field.value = text;
  const before = document.activeElement;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement || before instanceof SVGElement) before.focus();
  return done;
}

const TYPES = new Map([
  ["svg", "image/svg+xml"],
  ["rs3", "application/xml"],
  ["jsonl", "application/x-ndjson"],
]);

/**
 * Offer a text or an image as a file.
 * @param {string | Blob} content
 * @param {string} name
 */
export function download(content, name) {
  const type = TYPES.get(name.split(".").at(-1) ?? "") ?? "text/plain";
  const file = content instanceof Blob ? content : new Blob([content], { type: `${type};charset=utf-8` });
  const address = URL.createObjectURL(file);
  const link = element("a", { href: address, download: name });
  link.click();
  // The browser has to have begun before the address may go.
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** @typedef {{text: string, model: string, beam: number, trees: number, sentence: number}} Shared */

const LONGEST = 30000; // characters of a fragment that browsers and chat programs bear

/**
 * The fragment that stands for what is shown, or null if the text is too long for one.
 * @param {Shared} shared
 */
export function fragment({ text, model, beam, trees, sentence }) {
  const parts = new URLSearchParams({ text });
  if (model) parts.set("model", model);
  parts.set("beam", String(beam));
  parts.set("trees", String(trees));
  if (sentence) parts.set("sentence", String(sentence + 1));
  const made = `#${parts}`;
  return made.length > LONGEST ? null : made;
}

/**
 * What a fragment says; what is missing or makes no sense is left out.
 * @param {string} hash
 * @returns {Partial<Shared>}
 */
export function shared(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  /** @type {Partial<Shared>} */
  const found = {};
  const text = parts.get("text");
  if (text !== null) found.text = text;
  const model = parts.get("model");
  if (model) found.model = model;
  for (const name of /** @type {const} */ (["beam", "trees", "sentence"])) {
    const value = Number(parts.get(name));
    if (Number.isInteger(value) && value >= 1 && value <= 1e6)
      found[name] = name === "sentence" ? value - 1 : value;
  }
  return found;
}
