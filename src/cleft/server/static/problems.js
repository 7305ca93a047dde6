// What went wrong, told in place, with what can be done about it.

import { Refusal, setToken } from "./api.js";
import { visible } from "./characters.js";
import { button, element } from "./dom.js";

export class Problems {
  /**
   * @param {HTMLElement} root
   * @param {() => void} again
   */
  constructor(root, again) {
    this.root = root;
    this.again = again;
  }

  clear() {
    this.root.hidden = true;
    this.root.replaceChildren();
  }

  /**
   * @param {unknown} error
   * @param {() => void} [again]
   */
  show(error, again = this.again) {
    const known = error instanceof Refusal;
    const message = known ? error.message : "Something went wrong in this page.";
    const hint = known ? error.hint : String(error);
    const parts = [element("strong", {}, visible(message))];
    if (hint) parts.push(element("span", {}, visible(hint)));
    const code = known ? error.code : "page";
    // A token that is being typed must not be lost to the next refusal.
    if (code === "unauthorised" && this.root.querySelector("input")?.value) return;
    if (code === "unauthorised") parts.push(this.tokenForm());
    else parts.push(button("Try again", again));
    this.root.replaceChildren(...parts);
    this.root.hidden = false;
  }

  tokenForm() {
    const input = element("input", { type: "password", id: "token", autocomplete: "off", required: true });
    const label = element("label", { for: "token" }, "Token ");
    const form = element("form", {}, label, input, element("button", { type: "submit" }, "Use it"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      setToken(input.value.trim());
      this.clear();
      this.again();
    });
    return form;
  }
}
