// Light, dark, or what the reader's system prefers; the choice is kept in the browser.

import { choices } from "./choices.js";

/** @typedef {"auto" | "light" | "dark"} Theme */

/** @type {Theme[]} */
const THEMES = ["auto", "light", "dark"];
const NAMES = ["Auto", "Light", "Dark"];
const KEY = "cleft-theme";

/** @returns {Theme} */
export function theme() {
  const found = document.documentElement.dataset.theme;
  return THEMES.find((one) => one === found) ?? "auto";
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
