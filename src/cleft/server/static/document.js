// A text as a whole: to be read, with less or more of it, and its one tree on demand.

import { drawing, wholeText } from "./api.js";
import { counted, visible } from "./characters.js";
import { button, element, set } from "./dom.js";
import { draw } from "./picture.js";
import { discourseNodes, flat } from "./trees.js";

/** @typedef {import("./api.js").DocumentAnswer} DocumentAnswer */

export class WholeText {
  /**
   * @param {HTMLElement} root
   * @param {import("./state.js").Store} store
   * @param {(work: Promise<void>) => void} watch  tells what goes wrong, and that work goes on
   */
  constructor(root, store, watch) {
    this.root = root;
    this.store = store;
    this.watch = watch;
    this.asked = 0;
    /** @type {DocumentAnswer | undefined} */
    this.answer = undefined;
    /** @type {HTMLElement[]} */
    this.units = [];
    this.slider = element("input", { type: "range", min: 0, step: 1, id: "levels" });
    this.slider.addEventListener("input", () => this.dim());
    this.amount = element("output", { for: "levels" });
    this.text = element("div", { class: "prose", dir: "auto" });
    this.scroll = element("div", { class: "scroll view", tabindex: 0, role: "region", "aria-label": "Tree of the whole text" });
    this.scroll.hidden = true;
    this.treeButton = button("Tree", () => this.watch(this.toggleTree()), { "aria-expanded": "false" });
    root.append(
      element("header", {}, element("h2", { id: "document-title" }, "Whole text"), this.amount, element("div", { class: "tools" }, this.treeButton)),
      element(
        "div",
        { class: "keeper" },
        element("label", { for: "levels" }, "The gist"),
        this.slider,
        element("span", { "aria-hidden": "true" }, "Everything"),
      ),
      this.text,
      this.scroll,
    );
  }

  /** Ask for the tree of the text, if there are several sentences and the model makes one. */
  show() {
    const { sentences, asked } = this.store.state;
    const mine = ++this.asked;
    this.answer = undefined;
    this.root.hidden = true;
    if (sentences.length < 2 || !this.store.canRelate) return;
    this.watch(this.fetch(asked, mine));
  }

  /**
   * @param {import("./api.js").Request} asked
   * @param {number} mine
   */
  async fetch({ text, model, beam }, mine) {
    const answer = await wholeText({ text, model, beam, task: "discourse" });
    if (mine !== this.asked || !answer.tree) return;
    this.answer = answer;
    this.root.hidden = false;
    this.write(answer.tree);
    const most = Math.max(1, ...answer.tree.levels);
    set(this.slider, { max: most });
    this.slider.value = String(most);
    this.closeTree();
    this.dim();
  }

  /**
   * The units in paragraphs, with what stands between them.
   * @param {import("./api.js").DocumentTree} tree
   */
  write(tree) {
    const { paragraphs, sentences } = /** @type {DocumentAnswer} */ (this.answer);
    const starts = new Set(paragraphs.map((number) => sentences[number]?.start));
    this.text.replaceChildren();
    this.units = tree.texts.map((text, at) => {
      const unit = element("span", { class: "part" }, visible(text));
      const fresh = starts.has(tree.characters[at][0]);
      if (fresh || !this.text.lastElementChild) this.text.append(element("p", {}));
      this.text.lastElementChild?.append(unit, " ");
      return unit;
    });
  }

  /** Dim what lies below the chosen level. */
  dim() {
    const tree = this.answer?.tree;
    if (!tree) return;
    const keep = Number(this.slider.value);
    let kept = 0;
    this.units.forEach((unit, at) => {
      const stays = tree.levels[at] <= keep;
      unit.classList.toggle("left-out", !stays);
      set(unit, { "aria-hidden": stays ? null : "true" });
      if (stays) kept += tree.edus[at][1] - tree.edus[at][0];
    });
    const all = tree.edus.reduce((sum, [left, right]) => sum + right - left, 0);
    this.amount.textContent = `${kept} of ${counted(all, "token")} kept`;
    set(this.slider, { "aria-valuetext": this.amount.textContent });
  }

  closeTree() {
    this.scroll.hidden = true;
    set(this.treeButton, { "aria-expanded": "false" });
  }

  async toggleTree() {
    if (!this.scroll.hidden) return this.closeTree();
    const { answer } = this;
    if (!answer?.tree) return;
    const width = Math.max(240, this.root.clientWidth);
    const shown = flat(answer.tree, spans(answer));
    const drawn = await drawing("discourse", answer, shown, { width, view: "auto", nested: true });
    if (answer !== this.answer) return;
    const name = `Discourse tree of the whole text: ${counted(answer.sentences.length, "sentence")}`;
    this.scroll.replaceChildren(draw(drawn, discourseNodes(shown), { name }));
    this.scroll.hidden = false;
    set(this.treeButton, { "aria-expanded": "true" });
  }
}

/**
 * The tokens of each sentence.
 * @param {DocumentAnswer} answer
 */
function spans({ sentences }) {
  let end = 0;
  return new Set(sentences.map(({ tokens }) => `${end},${(end += tokens.length)}`));
}
