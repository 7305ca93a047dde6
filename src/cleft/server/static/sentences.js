// The sentences of a text, to step through, and the text without its satellites.

import { counted, visible } from "./characters.js";
import { choices, choose } from "./controls.js";
import { button, element, icon, set } from "./dom.js";
import { discourseNodes, listed, satelliteDepths } from "./trees.js";

/** @typedef {import("./state.js").Store} Store */
/** @typedef {{text: string, depth: number, words: number}} Unit */

export class SentenceList {
  /**
   * @param {HTMLElement} root
   * @param {Store} store
   */
  constructor(root, store) {
    this.root = root;
    this.store = store;
    this.count = element("span", { class: "note" });
    store.listen((changed) => {
      if (changed.has("at")) this.tell();
    });
  }

  /** List the sentences of the store anew. */
  show() {
    const { sentences, at } = this.store.state;
    this.root.hidden = sentences.length < 2;
    if (this.root.hidden) return this.root.replaceChildren();
    const group = (this.group = choices({
      name: "sentence",
      legend: "Sentence",
      kind: "lines",
      items: sentences.map((sentence, number) => [
        element("b", {}, String(number + 1)),
        element("span", { dir: "auto", class: sentence.error ? "failed" : null }, visible(sentence.text)),
      ]),
      chosen: at,
      onChoose: (chosen) => this.store.update({ at: chosen, picks: { syntax: 0, discourse: 0 } }),
    }));
    this.previous = button(icon("previous"), () => this.step(-1), { "aria-label": "Previous sentence" });
    this.next = button(icon("next"), () => this.step(1), { "aria-label": "Next sentence" });
    const tools = element("div", { class: "tools" }, this.previous, this.next);
    const head = element("header", {}, element("h2", {}, "Sentences"), this.count, tools);
    this.root.replaceChildren(head, group);
    this.tell();
  }

  /**
   * Go to another sentence; whether there is one.
   * @param {number} by
   */
  step(by) {
    const to = this.store.state.at + by;
    if (!this.group || this.root.hidden || to < 0 || to >= this.store.state.sentences.length) return false;
    choose(this.group, to);
    return true;
  }

  tell() {
    const { sentences, at } = this.store.state;
    this.count.textContent = `${at + 1} of ${sentences.length}`;
    if (this.previous) this.previous.disabled = at === 0;
    if (this.next) this.next.disabled = at >= sentences.length - 1;
    this.root.querySelectorAll("label")[at]?.scrollIntoView({ block: "nearest" });
  }
}

/** The text without its satellites: a slider says how deep they may be. */
export class Summary {
  /**
   * @param {HTMLElement} root
   * @param {Store} store
   */
  constructor(root, store) {
    this.root = root;
    this.store = store;
    /** @type {Unit[][]} */
    this.units = [];
    this.deepest = 0;
    this.slider = element("input", { type: "range", min: 0, step: 1, id: "keep" });
    this.slider.addEventListener("input", () => this.slide());
    this.amount = element("output", { for: "keep" });
    this.text = element("p", { class: "prose", dir: "auto" });
    root.append(
      element("header", {}, element("h2", { id: "summary-title" }, "Summary"), this.amount),
      element(
        "div",
        { class: "keeper" },
        element("label", { for: "keep" }, "Nuclei only"),
        this.slider,
        element("span", { "aria-hidden": "true" }, "Everything"),
      ),
      this.text,
    );
  }

  /** Take the trees of the store. */
  show() {
    const { sentences, at, picks } = this.store.state;
    this.units = sentences.map((sentence, number) => {
      const trees = /** @type {import("./trees.js").DiscourseTree[]} */ (listed(sentence, "discourse"));
      const tree = trees[number === at ? Math.min(picks.discourse, trees.length - 1) : 0];
      return tree ? unitsOf(tree) : [{ text: sentence.text, depth: 0, words: sentence.tokens.length }];
    });
    this.deepest = Math.max(0, ...this.units.flat().map((unit) => unit.depth));
    this.root.hidden = !sentences.some((sentence) => sentence.discourse);
    set(this.slider, { max: Math.max(1, this.deepest) });
    this.slider.disabled = this.deepest === 0;
    this.slider.value = String(Math.min(this.store.state.keep, Math.max(1, this.deepest)));
    this.write();
  }

  slide() {
    const value = Number(this.slider.value);
    this.store.update({ keep: value >= this.deepest ? Infinity : value });
    this.write();
  }

  write() {
    const { keep } = this.store.state;
    const all = this.units.flat();
    const kept = all.filter((unit) => unit.depth <= keep);
    const words = (/** @type {Unit[]} */ units) => units.reduce((sum, unit) => sum + unit.words, 0);
    this.amount.textContent = this.deepest
      ? `${words(kept)} of ${counted(words(all), "token")} kept`
      : "no satellites to drop";
    set(this.slider, { "aria-valuetext": `${this.level(keep)}, ${this.amount.textContent}` });
    this.text.replaceChildren(...this.units.flatMap((units) => sentence(units, keep)));
  }

  /** @param {number} keep */
  level(keep) {
    if (keep >= this.deepest) return "everything";
    return keep ? `satellites to depth ${keep}` : "nuclei only";
  }
}

/** @param {import("./trees.js").DiscourseTree} tree */
function unitsOf(tree) {
  const nodes = discourseNodes(tree);
  const depths = satelliteDepths(nodes);
  return nodes.flatMap((one, at) =>
    one.text === null ? [] : [{ text: one.text, depth: depths[at], words: one.right - one.left }],
  );
}

/**
 * The units of a sentence, with a sign where some are left out.
 * @param {Unit[]} units
 * @param {number} keep
 */
function sentence(units, keep) {
  /** @type {(HTMLElement | string)[]} */
  const parts = [];
  let gap = false;
  for (const { text, depth } of units) {
    if (depth <= keep) {
      parts.push(element("span", { class: depth ? "aside" : null }, visible(text)), " ");
      gap = false;
    } else if (!gap) {
      parts.push(element("span", { class: "gap", "aria-label": "left out" , role: "img" }, "⋯"), " ");
      gap = true;
    }
  }
  return parts;
}
