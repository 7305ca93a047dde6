// The layout of a discourse tree in the manner of Mann and Thompson, as in
// cleft.draw.discourse_layout: a bar over each span, a vertical line to the nucleus, an
// arc from a satellite to its nucleus, a joint over several nuclei.

import { isRightToLeft, shown } from "./characters.js";
import { UNSURE, drop, elbow, lineWeight, mirrored } from "./layout.js";
import { textWidth, wrap } from "./measure.js";
import { SPAN } from "./trees.js";

/** @typedef {import("./trees.js").Node} Node */
/** @typedef {import("./layout.js").Command} Command */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").Stroke} Stroke */
/** @typedef {import("./layout.js").Text} Text */
/** @typedef {{child: number, nucleus: number, tier: number, tiers: number}} Arc */

const BODY = 13;
const NAME = 11;
const NUMBER = 9.5;
const LINE = 17;
const NAME_HEIGHT = 17;
const NARROWEST = 112;
const WIDEST = 200;
const GAP = 22;
const TIER = 23;
const LOWEST = 15;
const BASE = 22;
const JOINT = 46;
const MARGIN = 22;
const NEAR = 7;

/**
 * Whether a relation only joins the parts of an interrupted unit.
 * @param {string} relation
 */
function isSameUnit(relation) {
  return relation.replace(/\P{L}/gu, "").toLowerCase().startsWith("sameunit");
}

/**
 * Lay out a discourse tree.
 * @param {Node[]} nodes
 * @returns {Layout}
 */
export function layOutDiscourse(nodes) {
  const layout = new Diagram(nodes).layout();
  return isRightToLeft(nodes.map((one) => one.text ?? "")) ? mirrored(layout) : layout;
}

class Diagram {
  /** @param {Node[]} nodes */
  constructor(nodes) {
    const count = nodes.length;
    this.nodes = nodes;
    this.names = nodes.map((one) => shown(one.relation, "·"));
    /** @type {string[][]} */
    this.lines = nodes.map(() => []);
    this.widths = Array(count).fill(0); // of the strip that is a node's own
    /** @type {[number, number][]} */
    this.spans = nodes.map(() => [0, 0]); // the bar, from the strip's left edge
    this.anchors = Array(count).fill(0); // the nucleus line, from the strip's left edge
    this.offsets = Array(count).fill(0); // the strip, from the parent's strip
    this.rooms = Array(count).fill(0); // from the node's bar to its children's
    /** @type {Text[]} */
    this.texts = [];
    /** @type {Stroke[]} */
    this.strokes = [];
    for (let at = count - 1; at >= 0; at--) this.measure(at);
  }

  /** @param {number} at */
  measure(at) {
    const { text, children } = this.nodes[at];
    if (children.length) return this.arrange(at);
    const body = shown(text ?? "");
    const column = Math.min(Math.max(textWidth(body, BODY) / 3.1, NARROWEST), WIDEST);
    const lines = (this.lines[at] = wrap(body, column, BODY));
    const width = Math.max(28, ...lines.map((line) => textWidth(line, BODY)));
    this.widths[at] = width;
    this.spans[at] = [0, width];
    this.anchors[at] = width / 2;
  }

  /**
   * Set the children side by side, and make room for the names above them.
   * @param {number} at
   */
  arrange(at) {
    const arcs = this.arcsOf(at);
    const boxes = this.setSideBySide(at, arcs);
    const below = this.nodes[at].children;
    const nuclei = this.nucleiOf(at);
    const last = below[below.length - 1];
    const anchor = (this.at(nuclei[0]) + this.at(nuclei[nuclei.length - 1])) / 2;
    const right = this.offsets[last] + this.widths[last];
    const tiers = Math.max(0, ...arcs.map((arc) => arc.tiers));
    const joint = nuclei.length > 1 ? JOINT : 0;
    this.rooms[at] = joint + (tiers ? tiers * TIER + BASE : 0);
    if (joint) {
      const half = nameWidth(this.jointName(at)) / 2;
      boxes.push([anchor - half, anchor + half]);
    }
    const more = Math.max(0, ...boxes.map(([left]) => -left));
    for (const child of below) this.offsets[child] += more;
    this.anchors[at] = anchor + more;
    this.spans[at] = [more, more + right];
    this.widths[at] = more + Math.max(right, ...boxes.map(([, end]) => end));
  }

  /**
   * Place the children; the left and right edges of the names of their arcs.
   * @param {number} at
   * @param {Arc[]} arcs
   * @returns {[number, number][]}
   */
  setSideBySide(at, arcs) {
    const byChild = new Map(arcs.map((arc) => [arc.child, arc]));
    let across = 0;
    /** @type {[number, number][]} */
    const boxes = [];
    /** @type {Arc[]} */
    let before = [];
    for (const child of this.nodes[at].children) {
      this.offsets[child] = across;
      across += this.widths[child] + GAP;
      const arc = byChild.get(child);
      if (!arc) {
        boxes.push(...before.map((one) => this.nameBox(one)));
        before = [];
      } else if (arc.child < arc.nucleus) {
        before.push(arc);
      } else {
        const box = this.nameBox(arc);
        boxes.push(box);
        across = Math.max(across, box[1] + GAP);
      }
    }
    return boxes;
  }

  /** @param {number} child */
  at(child) {
    return this.offsets[child] + this.anchors[child];
  }

  /**
   * The satellites of a node: each goes to the nucleus before it, the first ones after.
   * @param {number} at
   * @returns {Arc[]}
   */
  arcsOf(at) {
    const below = this.nodes[at].children;
    const first = below.findIndex((child) => this.nodes[child].role === "N");
    /** @type {Arc[]} */
    const arcs = below
      .slice(0, first)
      .map((child, place) => ({ child, nucleus: below[first], tier: first - 1 - place, tiers: first }));
    /** @type {number[]} */
    let run = [];
    let nucleus = below[first];
    for (const child of [...below.slice(first + 1), -1]) {
      if (child >= 0 && this.nodes[child].role === "S") {
        run.push(child);
        continue;
      }
      const [to, tiers] = [nucleus, run.length];
      arcs.push(...run.map((one, tier) => ({ child: one, nucleus: to, tier, tiers })));
      run = [];
      nucleus = child;
    }
    return arcs;
  }

  /** @param {number} at */
  nucleiOf(at) {
    return this.nodes[at].children.filter((child) => this.nodes[child].role === "N");
  }

  /** @param {number} at */
  jointName(at) {
    const names = this.nucleiOf(at).map((child) => this.names[child]);
    return [...new Set(names.filter((name) => name !== SPAN))].join(" / ");
  }

  /**
   * Where an arc meets its nucleus: the outer arcs nearer to the line.
   * @param {Arc} arc
   */
  landing(arc) {
    const side = arc.child < arc.nucleus ? -1 : 1;
    const inward = Math.min(5, 20 / arc.tiers) * (arc.tiers - 1 - arc.tier);
    return this.at(arc.nucleus) + side * (NEAR + inward);
  }

  /**
   * The edges of a relation's name: over its arc, clear of the nucleus line.
   * @param {Arc} arc
   * @returns {[number, number]}
   */
  nameBox(arc) {
    const width = nameWidth(this.names[arc.child]);
    const [start, end] = [this.at(arc.child), this.landing(arc)];
    const middle = (start + end) / 2 - width / 2;
    const left =
      arc.child < arc.nucleus ? Math.min(middle, end - 4 - width) : Math.max(middle, end + 4);
    return [left, left + width];
  }

  /** @returns {Layout} */
  layout() {
    let lowest = 0;
    let number = 0;
    /** @type {[number, number, number][]} */
    const todo = [[0, MARGIN, MARGIN]];
    for (let next = todo.pop(); next; next = todo.pop()) {
      const [at, left, top] = next;
      const [start, end] = this.spans[at];
      this.stroke([["M", [left + start, top]], ["L", [left + end, top]]], this.barRole(at), 1.2, at);
      if (!this.nodes[at].children.length) {
        lowest = Math.max(lowest, this.edu(at, left, top, ++number));
        continue;
      }
      this.nuclei(at, left, top);
      const floor = top + this.rooms[at];
      for (const arc of this.arcsOf(at)) this.arc(at, arc, left, floor);
      for (const child of [...this.nodes[at].children].reverse())
        todo.push([child, left + this.offsets[child], floor]);
    }
    return {
      width: this.widths[0] + 2 * MARGIN,
      height: lowest + MARGIN,
      texts: this.texts,
      strokes: this.strokes,
      edges: [],
      mirrored: false,
    };
  }

  /** @param {number} at */
  barRole(at) {
    return this.nodes[at].open ? "bar open" : "bar";
  }

  /**
   * @param {Command[]} path
   * @param {string} role
   * @param {number} weight
   * @param {number} node
   */
  stroke(path, role, weight, node) {
    this.strokes.push({ path, role, weight, node });
  }

  /**
   * @param {number} at
   * @param {number} left
   * @param {number} top
   * @param {number} number
   */
  edu(at, left, top, number) {
    const [lines, width] = [this.lines[at], this.widths[at]];
    const { open, role } = this.nodes[at];
    const box = { x: left, width, node: at };
    const sign = open ? "?" : String(number);
    this.texts.push({ ...box, lines: [sign], y: top + 5, height: 12, size: NUMBER, role: "number" });
    const height = LINE * lines.length;
    const tone = role === "S" || open ? "aside" : "";
    this.texts.push({ ...box, lines, y: top + 19, height, size: BODY, role: "edu", tone });
    return top + 19 + height;
  }

  /**
   * @param {number} at
   * @param {string} name
   * @param {number} x
   * @param {number} y
   * @param {string} tone
   */
  name(at, name, x, y, tone) {
    const sure = this.nodes[at].evidence.label;
    const doubt = sure !== undefined && sure < UNSURE;
    const box = { x, y, width: nameWidth(name), height: NAME_HEIGHT, size: NAME };
    this.texts.push({ ...box, lines: [name], role: "relation", tone, node: at, tinted: true, doubt });
  }

  /**
   * The nucleus line, or the joint of several nuclei.
   * @param {number} at
   * @param {number} left
   * @param {number} top
   */
  nuclei(at, left, top) {
    const nuclei = this.nucleiOf(at);
    const [middle, floor] = [left + this.anchors[at], top + this.rooms[at]];
    const weight = lineWeight(this.nodes[at].evidence.split);
    if (nuclei.length === 1) {
      this.stroke([["M", [middle, top]], ["L", [middle, floor]]], "nucleus", weight, at);
      return;
    }
    const name = this.jointName(at);
    const same = isSameUnit(this.names[nuclei[0]]);
    const role = same ? "bridge" : "joint";
    let foot = top;
    if (name) {
      foot = top + 7 + NAME_HEIGHT;
      this.stroke([["M", [middle, top]], ["L", [middle, top + 7]]], role, weight, at);
      this.name(at, name, middle - nameWidth(name) / 2, top + 7, same ? "modifier" : "clause");
    }
    nuclei.forEach((child, place) => {
      const path = place && place < nuclei.length - 1 ? drop : elbow;
      this.stroke(path(middle, foot, left + this.at(child), floor, foot + 10), role, weight, at);
    });
  }

  /**
   * The curved arrow from a satellite to its nucleus, and its name.
   * @param {number} at
   * @param {Arc} arc
   * @param {number} left
   * @param {number} floor
   */
  arc(at, arc, left, floor) {
    const [start, end] = [left + this.at(arc.child), left + this.landing(arc)];
    const top = floor - LOWEST - TIER * arc.tier;
    this.stroke(curve(start, end, floor, top), "arc", lineWeight(this.nodes[at].evidence.split), at);
    /** @type {Command[]} */
    const tip = [
      ["M", [end - 3.4, floor - 7.5]],
      ["L", [end + 3.4, floor - 7.5]],
      ["L", [end, floor - 1]],
      ["Z", []],
    ];
    this.stroke(tip, "tip", 0, at);
    this.name(at, this.names[arc.child], left + this.nameBox(arc)[0], top - 2 - NAME_HEIGHT, "noun");
  }
}

/**
 * Up from a satellite, along, and down to the nucleus.
 * @param {number} start
 * @param {number} end
 * @param {number} floor
 * @param {number} top
 * @returns {Command[]}
 */
function curve(start, end, floor, top) {
  const bend = Math.min(30, Math.abs(end - start) / 2) * (end > start ? 1 : -1);
  const rise = Math.min(30, floor - top - 1);
  return [
    ["M", [start, floor - 1]],
    ["L", [start, top + rise]],
    ["Q", [start, top, start + bend, top]],
    ["L", [end - bend, top]],
    ["Q", [end, top, end, top + rise]],
    ["L", [end, floor - 6]],
  ];
}

/** @param {string} name */
function nameWidth(name) {
  return textWidth(name, NAME, true) + 10;
}
