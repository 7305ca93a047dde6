// Text and settings in the address's fragment, which browsers keep to themselves.

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
