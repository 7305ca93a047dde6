// Copying to the clipboard and downloading to a file.

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
