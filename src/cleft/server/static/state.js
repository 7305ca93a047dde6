// What the page shows, in one place; those who want to know are told of changes.

/** @typedef {import("./trees.js").Sentence} Sentence */
/** @typedef {import("./trees.js").Task} Task */

/**
 * @typedef {object} State
 * @property {string} text
 * @property {string} model
 * @property {number} beam
 * @property {number} trees  how many of each are asked for
 * @property {Sentence[]} sentences
 * @property {string[]} warnings  what the server says of the text as a whole
 * @property {string[]} relating  the models that make one tree over a whole text
 * @property {import("./api.js").Request} asked  the request that the sentences answer
 * @property {number} at  the sentence that is shown
 * @property {Record<Task, number>} picks  the tree that is shown, of the n best
 * @property {number} keep  how deep satellites may be to stay in the summary
 */

/** @type {State} */
const FIRST = {
  text: "",
  model: "",
  beam: 8,
  trees: 5,
  sentences: [],
  warnings: [],
  relating: [],
  asked: {},
  at: 0,
  picks: { syntax: 0, discourse: 0 },
  keep: Infinity,
};

export class Store {
  constructor() {
    /** @type {State} */
    this.state = { ...FIRST };
    /** @type {((changed: Set<keyof State>) => void)[]} */
    this.listeners = [];
  }

  /** @param {(changed: Set<keyof State>) => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** @param {Partial<State>} changes */
  update(changes) {
    Object.assign(this.state, changes);
    const changed = /** @type {Set<keyof State>} */ (new Set(Object.keys(changes)));
    for (const listener of this.listeners) listener(changed);
  }

  /** Whether the chosen model makes one tree over a whole text. */
  get canRelate() {
    return this.state.relating.includes(this.state.model);
  }

  /** The sentence that is shown. */
  get sentence() {
    return this.state.sentences[this.state.at];
  }
}
