// Copying to the clipboard, downloading to a file, and links: text and settings in the
// address's fragment, which browsers keep to themselves.

import { element } from "./dom.js";

/**
 * Copy a text; false where the browser does not let us.
 * @param {string} text
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text); // no clipboard over plain HTTP but on the machine itself
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
 * Offer a text as a file.
 * @param {string} text
 * @param {string} name
 */
export function download(text, name) {
  const type = TYPES.get(name.split(".").at(-1) ?? "") ?? "text/plain";
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
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
