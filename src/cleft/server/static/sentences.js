// The sentences of a text, to step through.

import { visible } from "./characters.js";
import { choices, choose } from "./choices.js";
import { button, element } from "./dom.js";

/** @typedef {import("./state.js").Store} Store */

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
    const group = choices({
      name: "sentence",
      legend: "Sentence",
      kind: "lines",
      items: sentences.map((sentence, number) => [
        element("b", {}, String(number + 1)),
        element("span", { dir: "auto", class: sentence.error ? "failed" : null }, visible(sentence.text)),
      ]),
      chosen: at,
      onChoose: (chosen) => this.store.update({ at: chosen, picks: { syntax: 0, discourse: 0 } }),
    });
    const step = (/** @type {number} */ by) => () => choose(group, this.store.state.at + by);
    this.previous = button("‹", step(-1), { "aria-label": "Previous sentence" });
    this.next = button("›", step(1), { "aria-label": "Next sentence" });
    const tools = element("div", { class: "tools" }, this.previous, this.next);
    const head = element("header", {}, element("h2", {}, "Sentences"), this.count, tools);
    this.root.replaceChildren(head, group);
    this.tell();
  }

  tell() {
    const { sentences, at } = this.store.state;
    this.count.textContent = `${at + 1} of ${sentences.length}`;
    if (this.previous) this.previous.disabled = at === 0;
    if (this.next) this.next.disabled = at >= sentences.length - 1;
    this.root.querySelectorAll("label")[at]?.scrollIntoView({ block: "nearest" });
  }
}
