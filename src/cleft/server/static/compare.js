// A pasted gold tree beside the one that the model finds for its words, differences marked.

import { Refusal, drawing, parse } from "./api.js";
import { visible } from "./characters.js";
import { button, byId, element, icon, set } from "./dom.js";
import { draw } from "./picture.js";

const LEAF = /\(\s*([^\s()]+)\s+([^\s()]+)\s*\)/g;
const BRACKETS = new Map([
  ["-LRB-", "("], ["-RRB-", ")"], ["-LSB-", "["], ["-RSB-", "]"], ["-LCB-", "{"], ["-RCB-", "}"],
]);

/**
 * The words of a tree in brackets, without its traces.
 * @param {string} text
 */
export function words(text) {
  const leaves = [...text.matchAll(LEAF)].filter(([, tag]) => tag !== "-NONE-");
  return leaves.map(([, , word]) => BRACKETS.get(word) ?? word);
}

export class Comparison {
  /**
   * @param {HTMLElement} root
   * @param {object} given
   * @param {() => import("./api.js").Request} given.options  of the search
   * @param {() => void} given.clear  takes away what was told of an earlier try
   * @param {(work: Promise<void>) => void} given.watch  tells what goes wrong, and that work goes on
   */
  constructor(root, { options, watch, clear }) {
    this.root = root;
    this.options = options;
    this.form = /** @type {HTMLFormElement} */ (byId("gold-form"));
    this.field = /** @type {HTMLTextAreaElement} */ (byId("gold"));
    this.note = element("span", { class: "note" });
    this.scroll = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Gold and predicted tree" });
    const close = button(icon("close"), () => this.close(), { class: "close", "aria-label": "Close comparison" });
    const title = element("h2", { id: "comparison-title" }, "Gold and predicted");
    const head = element("header", {}, title, this.note, element("div", { class: "tools" }, close));
    root.append(head, element("div", { class: "view" }, this.scroll));
    byId("compare").addEventListener("click", () => this.offer(this.form.hidden));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      watch(this.compare().then(clear));
    });
    this.form.addEventListener("reset", () => this.close());
  }

  /** @param {boolean} open */
  offer(open) {
    this.form.hidden = !open;
    set(byId("compare"), { "aria-expanded": String(open) });
    if (open) this.field.focus();
  }

  close() {
    this.offer(false);
    this.root.hidden = true;
    byId("compare").focus();
  }

  async compare() {
    const gold = this.field.value.trim();
    const tokens = words(gold);
    if (!tokens.length) throw new Refusal("This is no tree in brackets.", "Each word stands with its tag: (NP (DT the) (NN rain)).", "gold");
    const answer = await parse({ ...this.options(), tokens: [tokens], task: "syntax", n_best: 1 });
    const [sentence] = answer.sentences;
    if (!sentence.syntax) throw new Refusal(sentence.error?.message ?? "The model has no syntax trees.", "", "gold");
    this.root.hidden = false;
    const width = Math.max(240, this.root.clientWidth);
    const drawn = await drawing("syntax", sentence, sentence.syntax, { width, view: "auto", gold });
    this.note.textContent = drawn.summary;
    this.scroll.replaceChildren(draw(drawn, [], { name: `Gold and predicted tree of: ${visible(tokens.join(" "))}` }));
    this.root.scrollIntoView({ block: "nearest" });
  }
}
