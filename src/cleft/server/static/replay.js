// The splitting decisions of one tree, one by one: the tree as far as it is,
// and the pointer's distribution below it.

import { percent, shown } from "./characters.js";
import { button, element, icon, set } from "./dom.js";
import { spanText } from "./panel.js";
import { draw, reveal } from "./picture.js";
import { boundaries, line, ribbon } from "./ribbon.js";
import { splitRelation } from "./trees.js";

/** @typedef {import("./trees.js").Node} Node */
/** @typedef {import("./trees.js").Step} Step */
/** @typedef {import("./trees.js").Task} Task */

const PAUSE = 1300; // milliseconds from one step to the next
const QUOTED = 8; // words of a span that are told in full

export class Replay {
  /**
   * @param {object} given
   * @param {Task} given.task
   * @param {Node[]} given.nodes  of the finished tree
   * @param {import("./api.js").Drawing} given.drawing  of the finished tree
   * @param {import("./trees.js").Sentence} given.sentence
   * @param {Step[]} given.steps
   * @param {() => void} given.onClose
   */
  constructor({ task, nodes, drawing, sentence, steps, onClose }) {
    this.task = task;
    this.sentence = sentence;
    this.words = sentence.tokens.map((token) => token.text);
    this.steps = steps;
    this.onClose = onClose;
    this.taken = 0;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    this.nodes = nodes;
    this.drawing = drawing;
    this.hanging = task === "syntax" && drawing.view === "tree"; // the pointer, from the words
    this.told = element("p", { class: "told", "aria-live": "polite" });
    this.stage = element("div", { class: "stage" });
    this.root = element(
      "div",
      { class: "replay", role: "group", "aria-label": `Replay of the ${task} tree` },
      this.controls(),
      this.told,
      this.stage,
    );
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.prepare();
    this.go(0);
  }

  controls() {
    this.playButton = button(icon("play"), () => this.toggle(), { class: "play", "aria-label": "Play" });
    this.slider = element("input", { type: "range", min: 0, max: this.steps.length, step: 1 });
    set(this.slider, { "aria-label": "Step" });
    this.slider.addEventListener("input", () => {
      this.pause();
      this.go(Number(this.slider?.value));
    });
    const by = (/** @type {number} */ many) => () => {
      this.pause();
      this.go(this.taken + many);
    };
    this.count = element("span", { class: "count" });
    return element(
      "div",
      { class: "controls" },
      button(icon("first"), by(-Infinity), { "aria-label": "First step" }),
      button(icon("previous"), by(-1), { "aria-label": "Previous step" }),
      this.playButton,
      button(icon("next"), by(1), { "aria-label": "Next step" }),
      button(icon("last"), by(Infinity), { "aria-label": "Last step" }),
      this.slider,
      this.count,
      button("Close", () => this.close(), { class: "end" }),
    );
  }

  /** Draw what stays the same from step to step. */
  prepare() {
    this.scroll = element("div", { class: "scroll", tabindex: 0, role: "region" });
    set(this.scroll, { "aria-label": "The tree so far" });
    this.below = element("div", { class: "scroll", tabindex: 0, role: "region" });
    set(this.below, { "aria-label": "The pointer over the tokens" });
    const name = `${this.task === "syntax" ? "Syntax" : "Discourse"} tree so far`;
    this.svg = draw(this.drawing, this.nodes, { name });
    this.hangings = element("div", {});
    if (this.hanging) {
      this.scroll.append(element("div", { class: "together" }, this.svg, this.hangings));
      this.stage.append(this.scroll);
    } else {
      this.scroll.append(this.svg);
      this.below.append(this.hangings);
      this.stage.append(this.below, this.scroll); // the sentence is in place from the start
    }
  }

  /**
   * Show the tree after so many steps.
   * @param {number} taken
   */
  go(taken) {
    this.taken = Math.min(this.steps.length, Math.max(0, taken));
    const step = this.steps[this.taken - 1];
    this.showTree();
    this.showPointer(step);
    const telling = this.tell(step);
    this.told.textContent = telling;
    const { slider, count } = this;
    if (slider && count) {
      slider.value = String(this.taken);
      set(slider, { "aria-valuetext": telling });
      count.textContent = `${this.taken} / ${this.steps.length}`;
    }
    if (this.taken === this.steps.length) this.pause();
  }

  /** Show the nodes that have been split off so far. */
  showTree() {
    const known = new Set([`0,${this.words.length}`]);
    const decided = new Set();
    for (const { span, split } of this.steps.slice(0, this.taken)) {
      decided.add(span.join());
      known.add(`${span[0]},${split}`).add(`${split},${span[1]}`);
    }
    const place = (/** @type {number} */ at) => `${this.nodes[at].left},${this.nodes[at].right}`;
    const isKnown = (/** @type {number} */ at) => known.has(place(at));
    if (!this.svg) return;
    reveal(this.svg, {
      known: isKnown,
      // A token cannot be split: there is nothing to decide.
      decided: (at) => decided.has(place(at)) || this.nodes[at].right - this.nodes[at].left === 1,
      // A phrase is named by itself, a relation by what it ties.
      named: (at) => isKnown(this.task === "syntax" ? at : this.nodes[at].children[0]),
    });
  }

  /**
   * Show what the pointer thought: under the words of the tree, or on a line of their own.
   * @param {Step | undefined} step
   */
  showPointer(step) {
    const { scroll, below, hangings, drawing } = this;
    if (!scroll || !below || !hangings) return;
    const before = this.steps.slice(0, Math.max(0, this.taken - 1));
    if (this.hanging) {
      const edges = boundaries(drawing);
      hangings.replaceChildren(ribbon({ edges, width: drawing.width, step, before }));
      return this.follow(scroll, step, edges);
    }
    const { edges, middles } = line(this.words);
    const width = edges[edges.length - 1] + 24;
    const words = { words: this.words, middles };
    hangings.replaceChildren(ribbon({ edges, width, step, before, words }));
    this.follow(below, step, edges);
  }

  /**
   * Keep the span that is split in view.
   * @param {HTMLElement} scroll
   * @param {Step | undefined} step
   * @param {number[]} edges
   */
  follow(scroll, step, edges) {
    if (!step) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const left = edges[step.split] - scroll.clientWidth / 2;
    scroll.scrollTo({ left, behavior: still ? "auto" : "smooth" });
  }

  /**
   * A step in words.
   * @param {Step | undefined} step
   */
  tell(step) {
    if (!step) return this.steps.length ? "The whole sentence is one span." : "One token: nothing to split.";
    const [left, right] = step.span;
    const text = (/** @type {number} */ from, /** @type {number} */ to) =>
      shown(spanText(this.sentence, from, to));
    const long = right - left > QUOTED;
    const quote = long ? `${text(left, left + 4)} … ${text(right - 3, right)}` : text(left, right);
    const sure = percent(step.probability);
    if (step.split === step.span[1]) return `“${quote}” stays whole, one unit: ${sure}.`;
    const before = shown(this.words[step.split]);
    return `“${quote}” splits before “${before}”: ${sure}${this.named(step)}.`;
  }

  /** @param {Step} step */
  named(step) {
    if (!step.label) return "";
    if (this.task === "syntax") return `; it is ${shown(step.label)}`;
    const [relation, letters] = splitRelation(step.label);
    const sides = { NS: "satellite second", SN: "satellite first" };
    const side = letters === "NN" ? "two nuclei" : sides[/** @type {"NS" | "SN"} */ (letters)];
    return `; ${shown(relation)}, ${side}`;
  }

  toggle() {
    if (this.timer !== undefined) return this.pause();
    if (this.taken === this.steps.length) this.go(0);
    this.timer = setInterval(() => {
      if (this.root.isConnected) this.go(this.taken + 1);
      else this.pause();
    }, PAUSE);
    this.mark(true);
    if (this.taken === 0) this.go(1);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.mark(false);
  }

  /** @param {boolean} playing */
  mark(playing) {
    if (!this.playButton) return;
    this.playButton.replaceChildren(icon(playing ? "pause" : "play"));
    set(this.playButton, { "aria-label": playing ? "Pause" : "Play" });
  }

  close() {
    this.pause();
    this.onClose();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {Element} */ (event.target);
    if (event.key === "Escape") this.close();
    else if (target.closest("svg") || target instanceof HTMLInputElement) return;
    else if (event.key === " " && !(target instanceof HTMLButtonElement)) this.toggle();
    else if (event.key in MOVES) {
      this.pause();
      this.go(this.taken + MOVES[/** @type {keyof typeof MOVES} */ (event.key)]);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

const MOVES = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
