// The card of one task: its trees to step through, the drawing, the details of a
// node, the replay, and what can be saved.

import { chance, counted, visible } from "./characters.js";
import { choices, grabbable, menu } from "./controls.js";
import { button, element, set } from "./dom.js";
import { panel } from "./panel.js";
import { draw, select } from "./picture.js";
import { Replay } from "./replay.js";
import { discourseNodes, flat, listed, satelliteDepths, syntaxNodes } from "./trees.js";

/** @typedef {import("./trees.js").Task} Task */
/** @typedef {import("./trees.js").Node} TreeNode */
/** @typedef {import("./trees.js").Step} Step */
/** @typedef {import("./state.js").Store} Store */

/** @typedef {import("./trees.js").Sentence} Sentence */
/** @typedef {import("./trees.js").SyntaxTree | import("./trees.js").DiscourseTree} Tree */
/** @typedef {import("./api.js").Drawing} Drawing */
/** @typedef {import("./api.js").Frame} Frame */
/** @typedef {import("./api.js").View} TreeView */

/**
 * A tree that is drawn, with all that belongs to it.
 * @typedef {object} View
 * @property {Sentence} sentence
 * @property {Tree} tree
 * @property {Drawing} drawing
 * @property {TreeNode[]} nodes
 * @property {SVGSVGElement} svg
 * @property {Frame} frame  what it was drawn to fit
 */

/**
 * @typedef {object} Services
 * @property {(task: Task, sentence: Sentence, tree: Tree, frame: Frame) => Promise<Drawing | undefined>} draw
 * @property {(task: Task) => Promise<Step[]>} trace  the shown tree's steps with distributions
 * @property {(task: Task, format: string, how: "copy" | "download", frame: Frame) => void} save
 * @property {(text: string) => void} say
 */

const TITLES = { syntax: "Syntax", discourse: "Discourse" };
const FORMATS = {
  syntax: [["brackets", "brackets"], ["jsonl", "JSON"], ["svg", "SVG"], ["forest", "LaTeX"], ["png", "image"]],
  discourse: [["rs3", "rs3"], ["jsonl", "JSON"], ["svg", "SVG"], ["forest", "LaTeX"], ["png", "image"]],
};
/** @type {Record<Task, [TreeView, string][]>} */
const VIEWS = {
  syntax: [["auto", "Fit"], ["tree", "One line"], ["rows", "Rows"], ["outline", "Outline"]],
  discourse: [["auto", "Fit"], ["tree", "Diagram"], ["outline", "Reading"]],
};
const NARROWEST = 240; // pixels that a drawing is laid out for
const STEP = 8; // widths are rounded to this, so that few drawings are asked for
const REST = 150; // milliseconds without a change of width before the tree is drawn anew

export class Pane {
  /**
   * @param {Task} task
   * @param {HTMLElement} root
   * @param {Store} store
   * @param {Services} services
   */
  constructor(task, root, store, services) {
    this.task = task;
    this.root = root;
    this.store = store;
    this.services = services;
    /** @type {Tree | undefined} */
    this.wanted = undefined; // the tree to show, which may not be drawn yet
    /** @type {View | undefined} */
    this.view = undefined;
    /** @type {Promise<void> | undefined} */
    this.showing = undefined;
    this.viewChoice = element("select", { "aria-label": `View of the ${task} tree`, class: "views" });
    set(this.viewChoice, { title: "How the tree is set; “Fit” chooses by the width of the page" });
    for (const [value, name] of VIEWS[task])
      this.viewChoice.append(element("option", { value }, name));
    this.viewChoice.addEventListener("change", () => this.showTree());
    this.best = element("div", { class: "best" });
    this.scroll = element("div", { class: "scroll", tabindex: 0, role: "region" });
    set(this.scroll, { "aria-label": `${TITLES[task]} tree` });
    this.details = element("div", { class: "details" });
    this.stage = element("div", { class: "view" }, this.scroll, this.details);
    this.replayButton = button("Replay", () => this.replay());
    root.append(this.header(), this.best, this.stage);
    this.stage.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.details.firstChild) this.close();
    });
    grabbable(this.scroll);
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let resting;
    new ResizeObserver(() => {
      clearTimeout(resting);
      resting = setTimeout(() => this.resized(), REST);
    }).observe(root);
  }

  /** What the drawing is to fit. @returns {Frame} */
  get frame() {
    const view = /** @type {TreeView} */ (this.viewChoice.value);
    const style = getComputedStyle(this.root);
    const inner = this.root.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const width = Math.max(NARROWEST, STEP * Math.floor(inner / STEP));
    return { width, view };
  }

  /** The width has changed: draw the tree anew, unless it is being replayed. */
  resized() {
    const drawn = this.view?.frame;
    if (!drawn || this.root.hidden || this.playing || drawn.width === this.frame.width) return;
    this.showTree();
  }

  header() {
    const items = FORMATS[this.task].flatMap(([format, name]) =>
      /** @type {const} */ (["copy", "download"]).map((how) =>
        button(`${how === "copy" ? "Copy" : "Download"} ${name}`, () =>
          this.services.save(this.task, format, how, this.frame),
        ),
      ),
    );
    const tools = element("div", { class: "tools" }, this.viewChoice, this.replayButton, menu("Save", items));
    const title = element("h2", { id: `${this.task}-title` }, TITLES[this.task]);
    this.note = element("span", { class: "note" });
    return element("header", {}, title, this.note, tools);
  }

  /** Show the sentence of the store anew. */
  show() {
    const { sentence } = this.store;
    const trees = sentence ? listed(sentence, this.task) : [];
    this.root.hidden = !trees.length;
    this.endReplay();
    this.wanted = undefined;
    if (!sentence || !trees.length) return;
    const chosen = Math.min(this.store.state.picks[this.task], trees.length - 1);
    const items = trees.map((tree, at) => [
      element("b", {}, String(at + 1)),
      element("span", {}, chance(tree.probability)),
    ]);
    const group = choices({
      name: `${this.task}-tree`,
      legend: `${TITLES[this.task]} trees, the most probable first`,
      kind: "pills",
      items,
      chosen,
      onChoose: (at) => {
        const { picks } = this.store.state;
        this.store.update({ picks: { ...picks, [this.task]: at } });
      },
    });
    this.best.replaceChildren(...(trees.length > 1 ? [group] : []));
    this.showTree();
  }

  /**
   * @param {Sentence} sentence
   * @param {Tree} tree
   */
  nodesOf(sentence, tree) {
    return this.task === "syntax"
      ? syntaxNodes(/** @type {import("./trees.js").SyntaxTree} */ (tree), sentence.tokens)
      : discourseNodes(flat(/** @type {import("./trees.js").DiscourseTree} */ (tree)));
  }

  /**
   * What is replayed: every split has a node there, also those inside a relation of many nuclei.
   * @param {View} view
   * @returns {Promise<View>}
   */
  async replayed(view) {
    if (!("edus" in view.tree)) return view;
    const frame = { ...view.frame, nested: true };
    const drawing = await this.services.draw(this.task, view.sentence, view.tree, frame);
    return drawing ? { ...view, drawing, nodes: discourseNodes(view.tree) } : view;
  }

  /** Show the chosen tree, as soon as the server has drawn it. */
  showTree() {
    this.showing = this.fetchTree();
  }

  async fetchTree() {
    const { sentence, state } = this.store;
    if (!sentence?.[this.task]) return;
    this.endReplay();
    const trees = listed(sentence, this.task);
    const pick = Math.min(state.picks[this.task], trees.length - 1);
    const tree = (this.wanted = trees[pick]);
    const frame = (this.asked = this.frame);
    const drawing = await this.services.draw(this.task, sentence, tree, frame);
    if (this.wanted === tree && this.asked === frame && drawing) this.present(sentence, pick, drawing, frame);
  }

  /**
   * @param {Sentence} sentence
   * @param {number} pick
   * @param {Drawing} drawing
   * @param {Frame} frame
   */
  present(sentence, pick, drawing, frame) {
    const trees = listed(sentence, this.task);
    const nodes = this.nodesOf(sentence, trees[pick]);
    const novel = pick ? newcomers(nodes, this.nodesOf(sentence, trees[0])) : new Set();
    const svg = draw(drawing, nodes, {
      name: `${TITLES[this.task]} tree of: ${sentence.text}`,
      onPick: (node) => this.open(node),
      novel,
      dropped: this.dropped(nodes),
    });
    this.view = { sentence, tree: trees[pick], drawing, nodes, svg, frame };
    this.scroll.replaceChildren(svg);
    this.details.replaceChildren();
    this.tell(nodes, pick, novel.size);
    this.showRoot(drawing);
  }

  /**
   * A tree that is wider than the page begins with its root in the middle.
   * @param {Drawing} drawing
   */
  showRoot(drawing) {
    const root = drawing.texts.find((text) => text.node === 0);
    const wide = this.scroll.clientWidth;
    this.scroll.scrollLeft = root && drawing.width > wide ? root.x + root.width / 2 - wide / 2 : 0;
  }

  /**
   * @param {TreeNode[]} nodes
   * @param {number} pick
   * @param {number} different
   */
  tell(nodes, pick, different) {
    if (!this.note) return;
    const units = nodes.filter((one) => one.text !== null).length;
    const size = this.task === "syntax" ? "" : counted(units, "unit");
    const versus = different ? `${counted(different, "node")} not in tree 1, outlined` : "as tree 1";
    this.note.textContent = [size, pick ? versus : ""].filter(Boolean).join(" · ");
  }

  /**
   * The units that the summary leaves out.
   * @param {TreeNode[]} nodes
   * @returns {Set<number>}
   */
  dropped(nodes) {
    if (this.task === "syntax") return new Set();
    const depths = satelliteDepths(nodes);
    const { keep } = this.store.state;
    return new Set(nodes.flatMap((one, at) => (one.text !== null && depths[at] > keep ? [at] : [])));
  }

  /** Show anew which units the summary leaves out. */
  markDropped() {
    if (!this.view) return;
    const dropped = this.dropped(this.view.nodes);
    for (const item of this.view.svg.querySelectorAll(".unit"))
      item.classList.toggle("dropped", dropped.has(Number(item.getAttribute("data-node"))));
  }

  /** @param {number} at */
  open(at) {
    if (!this.view) return;
    const { sentence, tree, nodes, drawing, svg } = this.view;
    const tone = drawing.texts.find((text) => text.node === at && text.tinted)?.tone ?? "other";
    const { steps } = tree;
    const made = panel({ nodes, at, sentence, steps, tone, onClose: () => this.close() });
    this.details.replaceChildren(made);
    select(svg, at);
    this.services.say(visible(made.getAttribute("aria-label") ?? ""));
    made.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.details.replaceChildren();
    if (!this.view) return;
    const { svg } = this.view;
    select(svg, -1);
    /** @type {SVGElement | null} */ (svg.querySelector('[tabindex="0"]'))?.focus();
  }

  async replay() {
    if (this.playing) return this.endReplay(true);
    if (this.replayButton.ariaBusy === "true") return; // it is on its way
    set(this.replayButton, { "aria-busy": "true" });
    try {
      const { wanted } = this;
      await this.showing; // the chosen tree may not be drawn yet
      const { view } = this;
      if (!view || view.tree !== wanted || wanted !== this.wanted) return;
      const [steps, whole] = await Promise.all([this.services.trace(this.task), this.replayed(view)]);
      if (view === this.view && view.tree === this.wanted) this.startReplay(whole, steps);
    } finally {
      set(this.replayButton, { "aria-busy": null });
    }
  }

  /**
   * @param {View} view
   * @param {Step[]} steps
   */
  startReplay(view, steps) {
    const { task } = this;
    this.playing = new Replay({ task, ...view, steps, onClose: () => this.endReplay(true) });
    this.stage.replaceChildren(this.playing.root);
    set(this.replayButton, { "aria-pressed": "true" });
    this.playing.playButton?.focus();
  }

  /** @param {boolean} [back]  whether the focus goes back to the button */
  endReplay(back = false) {
    if (!this.playing) return;
    this.playing.pause();
    this.playing = undefined;
    this.stage.replaceChildren(this.scroll, this.details);
    set(this.replayButton, { "aria-pressed": null });
    this.resized();
    if (back) this.replayButton.focus();
  }
}

/**
 * The nodes that another tree does not have.
 * @param {TreeNode[]} nodes
 * @param {TreeNode[]} others
 * @returns {Set<number>}
 */
function newcomers(nodes, others) {
  const key = (/** @type {TreeNode} */ one) =>
    [one.label, one.relation, one.role, one.left, one.right].join("\u0000");
  const known = new Set(others.map(key));
  return new Set(nodes.flatMap((one, at) => (known.has(key(one)) ? [] : [at])));
}
