// What the reader sets: the model, the beam's width, how many trees are asked for, and the
// colours.

import { choices } from "./controls.js";
import { byId, element } from "./dom.js";

/** @typedef {import("./state.js").Store} Store */

const BEAMS = [1, 4, 8, 16, 32, 64];
const TREES = [1, 3, 5, 10, 20];

const CARE = new Map([[1, "quick"], [4, "brief"], [8, "usual"], [16, "careful"], [32, "thorough"], [64, "utmost"]]);

/** A width of the beam in plain words. @param {number} width */
const searched = (width) => `${CARE.get(width)} (${width})`;

/** A number of trees in plain words. @param {number} count */
const asked = (count) => (count === 1 ? "the best tree" : `the best ${count} trees`);

/** @param {string} id */
const list = (id) => /** @type {HTMLSelectElement} */ (byId(id));

export class Settings {
  /**
   * @param {Store} store
   * @param {() => void} onChange
   */
  constructor(store, onChange) {
    this.store = store;
    this.model = list("model");
    this.beam = list("beam");
    this.trees = list("trees-asked");
    fill(this.beam, BEAMS, store.state.beam, searched);
    fill(this.trees, TREES, store.state.trees, asked);
    for (const each of [this.model, this.beam, this.trees])
      each.addEventListener("change", () => {
        this.read();
        onChange();
      });
  }

  /** Put what is chosen into the store. */
  read() {
    const model = this.model.value || this.store.state.model;
    this.store.update({ model, beam: Number(this.beam.value), trees: Number(this.trees.value) });
  }

  /**
   * Offer what the server has.
   * @param {import("./api.js").Models} found
   */
  offer(found) {
    const names = found.models.map((one) => one.name);
    const relating = found.models.filter((one) => one.tasks.includes("document"));
    this.store.update({ relating: relating.map((one) => one.name) });
    const { state } = this.store;
    const chosen = names.includes(state.model) ? state.model : found.default;
    this.model.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
    this.model.value = chosen;
    byId("model-field").hidden = names.length < 2;
    const within = (/** @type {number[]} */ all, /** @type {number} */ most) => all.filter((one) => one <= most);
    fill(this.beam, within(BEAMS, found.limits.beam), state.beam, searched);
    fill(this.trees, within(TREES, found.limits.n_best), state.trees, asked);
    this.read();
  }

  /**
   * Take the settings of a shared link.
   * @param {Partial<import("./save.js").Shared>} found
   */
  take({ model, beam, trees }) {
    const { state } = this.store;
    this.store.update({ model: model ?? state.model });
    if (model && [...this.model.options].some((one) => one.value === model)) this.model.value = model;
    if (beam) this.store.update({ beam: nearest(this.beam, beam) });
    if (trees) this.store.update({ trees: nearest(this.trees, trees) });
  }
}

/**
 * @param {HTMLSelectElement} select
 * @param {number[]} values
 * @param {number} chosen
 * @param {(value: number) => string} name
 */
function fill(select, values, chosen, name) {
  select.replaceChildren(...values.map((value) => element("option", { value }, name(value))));
  nearest(select, chosen);
}

/**
 * Choose the offered value that is nearest.
 * @param {HTMLSelectElement} select
 * @param {number} wanted
 */
function nearest(select, wanted) {
  const values = [...select.options].map((option) => Number(option.value));
  const found = values.reduce((best, value) =>
    Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best,
  );
  select.value = String(found);
  return found;
}

/**
 * Light, dark, or what the reader's system prefers; the choice is kept in the browser.
 * @typedef {"auto" | "light" | "dark"} Theme
 */

/** @type {Theme[]} */
const THEMES = ["auto", "light", "dark"];
const NAMES = ["Auto", "Light", "Dark"];
const KEY = "cleft-theme";

/** @returns {Theme} */
function theme() {
  const found = document.documentElement.dataset.theme;
  return THEMES.find((one) => one === found) ?? "auto";
}

/** The colours that are seen, which a picture has to name. @returns {"light" | "dark"} */
export function colours() {
  const chosen = theme();
  if (chosen !== "auto") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** @param {Theme} chosen */
function wear(chosen) {
  if (chosen === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

/** @returns {Theme} */
function kept() {
  try {
    return THEMES.find((one) => one === localStorage.getItem(KEY)) ?? "auto";
  } catch {
    return "auto"; // storage may be forbidden
  }
}

/** @param {Theme} chosen */
function keep(chosen) {
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // Then the choice lasts as long as the page.
  }
}

/** The switch, with the kept choice put on. */
export function themeSwitch() {
  wear(kept());
  return choices({
    name: "theme",
    legend: "Colours",
    kind: "segments",
    items: NAMES.map((name) => [name]),
    chosen: THEMES.indexOf(theme()),
    onChoose: (at) => {
      wear(THEMES[at]);
      keep(THEMES[at]);
    },
  });
}
