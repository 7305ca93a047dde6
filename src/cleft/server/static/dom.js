// Making elements. Text enters the page only as text nodes and attribute
// values set one by one: no string is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Record<string, string | number | boolean | null | undefined>} Attributes
 */

/**
 * Set attributes; null, undefined and false leave one out, true leaves it empty.
 * @template {Element} E
 * @param {E} node
 * @param {Attributes} attributes
 * @returns {E}
 */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  return node;
}

/**
 * An HTML element with attributes and children; strings become text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Attributes} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(name, attributes = {}, ...children) {
  const node = set(document.createElement(name), attributes);
  node.append(...children);
  return node;
}

/**
 * An SVG element with attributes and children; strings become text.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} name
 * @param {Attributes} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function shape(name, attributes = {}, ...children) {
  const node = set(document.createElementNS(SVG, name), attributes);
  node.append(...children);
  return node;
}

/**
 * A coordinate with at most one digit after the point.
 * @param {number} value
 */
export function short(value) {
  return String(Math.round(value * 10) / 10);
}

/**
 * The one element of the page that has an id.
 * @template {HTMLElement} [E=HTMLElement]
 * @param {string} id
 * @returns {E}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return /** @type {E} */ (found);
}

/**
 * Icons, drawn: no font has to have them.
 * @type {Record<string, string>}
 */
const ICONS = {
  play: "M5 3v10l8-5z",
  pause: "M5.500 3.500v9M10.500 3.500v9",
  next: "M6 3.500 10.500 8 6 12.500",
  previous: "M10 3.500 5.500 8l4.500 4.500",
  first: "M4.500 3.500v9M11.500 3.500 7 8l4.500 4.500",
  last: "M11.500 3.500v9M4.500 3.500 9 8l-4.500 4.500",
  close: "M4 4l8 8M12 4l-8 8",
  down: "M4 6l4 4 4-4",
};

/** @param {string} name */
export function icon(name) {
  const look = { class: `icon icon-${name}`, viewBox: "0 0 16 16", "aria-hidden": "true" };
  return shape("svg", look, shape("path", { d: ICONS[name] }));
}

/**
 * A button that does something.
 * @param {Node | string} text
 * @param {() => void} act
 * @param {Attributes} [attributes]
 */
export function button(text, act, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}
