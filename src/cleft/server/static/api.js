// Talking to the server: one error shape, stale requests given up.

import { flat } from "./trees.js";

/** @typedef {import("./trees.js").Sentence} Sentence */
/** @typedef {import("./trees.js").Problem} Problem */

/**
 * @typedef {object} Request
 * @property {string} [text]
 * @property {string[][]} [tokens]
 * @property {string} [model]
 * @property {string} [task]
 * @property {number} [beam]
 * @property {number} [n_best]
 * @property {number} [alternatives]
 * @property {boolean} [trace]
 * @property {string[]} [formats]
 * @property {string} [theme]
 * @property {number} [width]
 * @property {View} [view]
 */

/** @typedef {"auto" | "tree" | "rows" | "outline"} View */
/** @typedef {{width: number, view: View, gold?: string, nested?: boolean}} Frame  what a drawing is to fit */

/**
 * A text in its box; `node` is the place in preorder of the node that it belongs to.
 * @typedef {object} DrawnText
 * @property {string[]} lines
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {number} size
 * @property {string} role
 * @property {string} tone
 * @property {number} [node]
 * @property {string} mark
 * @property {boolean} tinted
 * @property {boolean} doubt
 */

/** @typedef {{path: string, weight: number, role: string, node: number, to?: number}} DrawnLine */

/**
 * Where the parts of a tree's drawing stand, as cleft.draw lays them out.
 * @typedef {object} Drawing
 * @property {number} width
 * @property {number} height
 * @property {boolean} right_to_left
 * @property {"tree" | "rows" | "outline"} view
 * @property {string} summary  how gold and predicted agree
 * @property {DrawnText[]} texts
 * @property {DrawnLine[]} lines
 * @property {(import("./fold.js").Fold & {rail: number})[]} folds
 */

/** @typedef {{model: string, warnings: string[], sentences: Sentence[], formats?: Record<string, string>}} Answer */
/**
 * @typedef {object} DocumentTree
 * @property {[number, number][]} edus
 * @property {string[]} texts
 * @property {[number, number][]} characters
 * @property {[number, number, string, string[]][]} nodes
 * @property {number[]} levels  how far below the root each EDU is promoted
 */
/** @typedef {{text: string, tokens: string[], sentences: Sentence[], paragraphs: number[], tree: DocumentTree | null}} DocumentAnswer */
/** @typedef {{name: string, tasks: string[], language: string | null}} Model */
/** @typedef {{default: string, models: Model[], limits: Record<string, number>}} Models */

const KEY = "cleft-token";
const TRIES = 3;

/** An answer that is no result, in words for people. */
export class Refusal extends Error {
  /**
   * @param {string} message
   * @param {string} hint
   * @param {string} code
   */
  constructor(message, hint, code) {
    super(message);
    this.hint = hint;
    this.code = code;
  }
}

let token = "";
try {
  token = sessionStorage.getItem(KEY) ?? "";
} catch {
  // Storage may be forbidden: then the token lasts as long as the page.
}

/**
 * Remember the server's token for as long as the tab is open.
 * @param {string} given
 */
export function setToken(given) {
  token = given;
  try {
    sessionStorage.setItem(KEY, given);
  } catch {
    // As above.
  }
}

/** @returns {Promise<Models>} */
export function models() {
  return ask("v1/models", undefined, undefined);
}

/**
 * @param {Request} request
 * @param {AbortSignal} [signal]
 * @returns {Promise<Answer>}
 */
export function parse(request, signal) {
  return ask("v1/parse", request, signal);
}

/**
 * One tree over a text.
 * @param {Request} request
 * @returns {Promise<DocumentAnswer>}
 */
export function wholeText(request) {
  return ask("v1/document", request, undefined);
}

/** @type {WeakMap<object, Map<string, Promise<Drawing>>>} */
const drawings = new WeakMap();

/**
 * The drawing of one of the trees of a sentence or text; each is asked for once.
 * @param {import("./trees.js").Task} task
 * @param {Sentence | DocumentAnswer} source
 * @param {import("./trees.js").SyntaxTree | import("./trees.js").DiscourseTree | DocumentTree} tree
 * @param {Frame} frame
 * @returns {Promise<Drawing>}
 */
export function drawing(task, source, tree, frame) {
  const made = drawings.get(tree) ?? new Map();
  drawings.set(tree, made);
  const key = JSON.stringify(frame);
  if (made.has(key)) return made.get(key);
  const tokens = source.tokens.map((token) => (typeof token === "string" ? token : token.text));
  // Places in the answer are those of nodes that are drawn.
  const shown = "edus" in tree && !frame.nested ? flat(tree) : tree;
  const asked = ask("v1/draw", { tokens, [task]: record(shown), ...frame }, undefined);
  made.set(key, asked);
  asked.catch(() => made.delete(key));
  return asked;
}

const RECORD = ["tags", "nodes", "evidence", "tag_evidence", "edu_evidence", "edus", "texts"];

/**
 * What of a tree a record of JSON Lines holds.
 * @param {object} tree
 */
function record(tree) {
  return Object.fromEntries(Object.entries(tree).filter(([key]) => RECORD.includes(key)));
}

/**
 * @param {string} path
 * @param {object | undefined} body
 * @param {AbortSignal | undefined} signal
 */
async function ask(path, body, signal) {
  for (let tries = 1; ; tries++) {
    const answer = await send(path, body, signal);
    if (answer.ok) return answer.json();
    if (answer.status === 429 && tries < TRIES) {
      await pause(1000 * (Number(answer.headers.get("Retry-After")) || 1), signal);
      continue;
    }
    throw await refusal(answer);
  }
}

/**
 * @param {string} path
 * @param {object | undefined} body
 * @param {AbortSignal | undefined} signal
 */
async function send(path, body, signal) {
  /** @type {Record<string, string>} */
  const headers = body ? { "Content-Type": "application/json" } : {};
  // A pasted quotation mark or the like would fail in the browser, before the server can refuse it.
  if (!/^[!-~]*$/.test(token)) {
    setToken("");
    throw new Refusal("No token has such characters.", "", "unauthorised");
  }
  if (token) headers.Authorization = `Bearer ${token}`;
  const method = body ? "POST" : "GET";
  try {
    return await fetch(path, { method, headers, body: body && JSON.stringify(body), signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    const hint = "See whether “cleft serve” is still running, then try again.";
    throw new Refusal("The server does not answer.", hint, "unreachable");
  }
}

/**
 * @param {number} time
 * @param {AbortSignal | undefined} signal
 */
function pause(time, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, time);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** What a refusal means to the reader, where the server's words are for programs. */
const PLAIN = new Map([
  ["too_large", "This text is too long for the server."],
  ["busy", "The server has too much to do just now."],
  ["timeout", "The server took too long over this text."],
  ["stopping", "The server is shutting down."],
  ["unauthorised", "This server wants a token."],
  ["internal", "Something went wrong in the server."],
]);

/** @param {Response} answer */
async function refusal(answer) {
  /** @type {Partial<Problem>} */
  let told = {};
  try {
    told = (await answer.json()).error ?? {};
  } catch {
    // A proxy may answer in HTML: the status is all there is to tell.
  }
  const code = told.code ?? "unknown";
  const message = told.message ?? `The server answered with status ${answer.status}.`;
  const plain = PLAIN.get(code);
  if (!plain) return new Refusal(sentence(message), sentence(told.hint ?? ""), code);
  const detail = code === "unauthorised" ? "" : [message, told.hint].filter(Boolean).join("; ");
  return new Refusal(plain, sentence(detail), code);
}

/**
 * The server's words as a sentence.
 * @param {string} text
 */
export function sentence(text) {
  if (!text) return "";
  const start = text[0].toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
