// The page: reads the text, asks the server as it is typed, shows what comes back.

import { Refusal, drawing, models, parse, sentence as asSentence, setToken } from "./api.js";
import { counted, visible } from "./characters.js";
import { WholeText } from "./document.js";
import { Comparison } from "./compare.js";
import { button, byId, element, set } from "./dom.js";
import { Pane } from "./pane.js";
import { copy, download, fragment, image, shared } from "./save.js";
import { SentenceList, Summary } from "./sentences.js";
import { Settings, colours, themeSwitch } from "./settings.js";
import { Store } from "./state.js";
import { listed } from "./trees.js";

/** @typedef {import("./trees.js").Task} Task */

const WAIT = 250; // milliseconds of rest after which the text is parsed
const SLOW = 200; // milliseconds after which the page says that it is waiting
const ALTERNATIVES = 5;
const EXAMPLES = [
  "Although the ferry was late, the baker waited on the pier because she had promised to meet her brother.",
  "The museum will close its north wing, the director announced. If the council agrees, repairs could start in May; otherwise the paintings must be moved.",
];

/** What went wrong, told in place, with what can be done about it. */
class Problems {
  /**
   * @param {HTMLElement} root
   * @param {() => void} again
   */
  constructor(root, again) {
    this.root = root;
    this.again = again;
  }

  clear() {
    dim(false);
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

const store = new Store();
const field = /** @type {HTMLTextAreaElement} */ (byId("text"));
const status = byId("status");
const output = byId("trees");
const problems = new Problems(byId("problem"), () => (offered ? run() : start()));
const settings = new Settings(store, run);
const services = { draw, trace, save, say };
const panes = /** @type {const} */ (["syntax", "discourse"]).map(
  (task) => new Pane(task, byId(task), store, services),
);
const summary = new Summary(byId("summary"), store);
const whole = new WholeText(byId("document"), store, watch);
const sentences = new SentenceList(byId("sentences"), store);
const comparison = new Comparison(byId("comparison"), {
  options: () => ({ beam: store.state.beam, ...(store.state.model ? { model: store.state.model } : {}) }),
  watch,
  clear: () => problems.clear(),
});
const sentenceProblem = byId("sentence-problem");

/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;
/** @type {AbortController | undefined} */
let asking;
let undrawn = 0; // trees that the server has been asked to draw
let offered = false; // whether the server has told its models
let wanted = 0; // the sentence that a shared link asks for

/** @param {string} text */
function say(text) {
  status.textContent = text;
}

function request() {
  const { text, model, beam, trees } = store.state;
  return { text, beam, n_best: trees, ...(model ? { model } : {}) };
}

/** Parse what stands in the field; an answer that is overtaken is dropped. */
async function run() {
  clearTimeout(waiting);
  waiting = undefined;
  asking?.abort();
  const mine = (asking = new AbortController());
  const text = field.value;
  store.update({ text });
  byId("empty").hidden = text.trim() !== "";
  outdated();
  const slow = setTimeout(() => say("Parsing…"), SLOW);
  const start = performance.now();
  try {
    const asked = request();
    if (!text.trim()) return show({ sentences: [], warnings: [] }, "", asked);
    const answer = await parse({ ...asked, alternatives: ALTERNATIVES }, mine.signal);
    if (mine !== asking) return;
    show(answer, told(answer.sentences, performance.now() - start), asked);
  } catch (error) {
    if (mine === asking) fail(error);
  } finally {
    clearTimeout(slow);
    if (mine === asking) asking = undefined;
    settle();
  }
}

/** What is shown no longer belongs to the text and the settings: screen readers wait. */
function outdated() {
  set(output, { "aria-busy": "true" });
}

/** Unless something is still to come, what is shown belongs to what stands in the field. */
function settle() {
  if (waiting === undefined && asking === undefined && !undrawn) set(output, { "aria-busy": "false" });
}

/**
 * @param {Pick<import("./api.js").Answer, "sentences" | "warnings">} answer
 * @param {string} message
 * @param {import("./api.js").Request} asked  what it answers: the field may hold more by now
 */
function show({ sentences: found, warnings }, message, asked) {
  problems.clear();
  const at = Math.max(0, Math.min(wanted || store.state.at, found.length - 1));
  wanted = 0;
  store.update({ sentences: found, warnings, asked, at, picks: { syntax: 0, discourse: 0 } });
  say(message);
}

/** What the server says of the text as a whole; what stands there already is not told again. */
function warn() {
  const lines = store.state.warnings.map((line) => visible(asSentence(line)));
  const root = byId("warnings");
  const shown = [...root.children].map((line) => line.textContent);
  if (lines.join("\n") === shown.join("\n")) return;
  root.replaceChildren(...lines.map((line) => element("p", {}, line)));
}

/**
 * @param {import("./trees.js").Sentence[]} found
 * @param {number} time
 */
function told(found, time) {
  const tokens = found.reduce((sum, one) => sum + one.tokens.length, 0);
  return `${counted(found.length, "sentence")}, ${counted(tokens, "token")}, ${Math.round(time)} ms`;
}

/** What is shown is not of the text that stands in the field: it dims. @param {unknown} error */
function fail(error) {
  say("");
  problems.show(error);
  dim(true);
}

/** @param {boolean} stale  whether what is shown is out of use until there is something new */
function dim(stale) {
  output.classList.toggle("stale", stale);
  output.inert = stale;
}

/** Tell of what goes wrong beside the trees; until it is done the page is busy. @param {Promise<void>} work */
async function watch(work) {
  undrawn++;
  outdated();
  try {
    await work;
  } catch (error) {
    problems.show(error);
  } finally {
    undrawn--;
    settle();
  }
}

/**
 * A tree as the server draws it; nothing if it does not, which the page then says.
 * @param {Task} task
 * @param {import("./trees.js").Sentence} sentence
 * @param {import("./trees.js").SyntaxTree | import("./trees.js").DiscourseTree} tree
 * @param {import("./api.js").Frame} frame
 */
async function draw(task, sentence, tree, frame) {
  undrawn++;
  outdated();
  try {
    return await drawing(task, sentence, tree, frame);
  } catch (error) {
    fail(error);
  } finally {
    undrawn--;
    settle();
  }
}

/**
 * The steps of the shown tree with the pointer's distributions, asked for when they are wanted.
 * @param {Task} task
 */
async function trace(task) {
  const { sentence, state } = store;
  const shown = listed(sentence, task)[state.picks[task]];
  const key = (/** @type {{steps: import("./trees.js").Step[]}} */ { steps }) =>
    JSON.stringify(steps.map(({ span, split }) => [span, split]));
  const { text: _, ...options } = state.asked;
  const words = sentence.tokens.map((token) => token.text);
  try {
    const answer = await parse({ ...options, tokens: [words], task, trace: true });
    const same = listed(answer.sentences[0], task).find((tree) => key(tree) === key(shown));
    return same?.steps ?? shown.steps;
  } catch (error) {
    if (error instanceof Refusal) say(`${error.message} The replay goes without the pointer’s bars.`);
    return shown.steps;
  }
}

/**
 * Copy or download the shown tree.
 * @param {Task} task
 * @param {string} format
 * @param {"copy" | "download"} how
 * @param {import("./api.js").Frame} frame
 */
async function save(task, format, how, frame) {
  const { at, picks, asked } = store.state;
  const written = format === "png" ? "svg" : format;
  const ending = ENDINGS.get(format) ?? format;
  const name = NAMES.get(format) ?? format;
  try {
    const wish = { task, formats: [written], theme: colours(), alternatives: ALTERNATIVES, ...frame };
    const found = parse({ ...asked, ...wish }).then((answer) => {
      const text = listed(answer.sentences[at], task)[picks[task]]?.formats?.[written];
      if (text === undefined) throw new Refusal("The server did not write this format.", "", "format");
      return text;
    });
    const content = format === "png" ? found.then(image) : found;
    if (how === "download") download(await content, `cleft-${task}-${at + 1}.${ending}`);
    else if (!(await copy(content))) throw new Refusal("The browser keeps its clipboard closed.", "Download instead.", "copy");
    say(how === "copy" ? `Copied as ${name}.` : `Saved as ${name}.`);
    problems.clear();
  } catch (error) {
    problems.show(error, () => save(task, format, how, frame));
  }
}

const ENDINGS = new Map([["brackets", "mrg"], ["forest", "tex"]]);
const NAMES = new Map([["png", "an image"], ["forest", "LaTeX"]]);

async function share() {
  const { at, text, model, beam, trees } = { ...store.state, text: field.value };
  const made = fragment({ text, model, beam, trees, sentence: at });
  if (made === null) return say("The text is too long for a link.");
  history.replaceState(null, "", made);
  say((await copy(location.href)) ? "Link copied." : "The link is in the address bar.");
}

function takeFragment() {
  const found = shared(location.hash);
  if (found.text === undefined) return false;
  field.value = found.text;
  wanted = found.sentence ?? 0;
  settings.take(found);
  return true;
}

function typed() {
  clearTimeout(waiting);
  outdated();
  // A link in the address bar must not say something else than the page.
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  waiting = setTimeout(run, WAIT);
}

/** @param {string} text */
function example(text) {
  field.value = text;
  field.focus();
  run();
}

store.listen((changed) => {
  if (changed.has("sentences")) {
    sentences.show();
    whole.show();
  }
  if (changed.has("warnings")) warn();
  if (changed.has("sentences") || changed.has("at")) {
    for (const pane of panes) pane.show();
    const { error } = store.sentence ?? {};
    sentenceProblem.hidden = !error;
    const words = error ? [asSentence(error.message), asSentence(error.hint)].filter(Boolean) : [];
    sentenceProblem.textContent = words.join(" ");
  } else if (changed.has("picks")) {
    for (const pane of panes) pane.showTree();
  }
  if (changed.has("keep")) for (const pane of panes) pane.markDropped();
  if (changed.has("sentences") || changed.has("at") || changed.has("picks")) summary.show();
});

// On a narrow screen the options are folded away, that the trees come into view.
const roomy = matchMedia("(min-width: 36.01rem)");
const unfold = () => (/** @type {HTMLDetailsElement} */ (byId("options")).open = roomy.matches);
roomy.addEventListener("change", unfold);
unfold();
byId("theme").append(themeSwitch());
byId("examples").append(...EXAMPLES.map((text) => button(text, () => example(text))));
byId("share").addEventListener("click", share);
byId("clear").addEventListener("click", () => example(""));
field.addEventListener("input", typed);
addEventListener("keydown", (event) => {
  if (!event.altKey || event.ctrlKey || event.metaKey || !/^Arrow(Up|Down)$/.test(event.key)) return;
  if (sentences.step(event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
});
addEventListener("hashchange", () => {
  if (takeFragment()) run();
});

/**
 * An empty page promises what the models can do; its examples are for those that read English.
 * @param {import("./api.js").Models} found
 */
function welcome(found) {
  const reads = found.models.some((one) => (one.language ?? "en") === "en");
  const relates = found.models.some((one) => one.tasks.includes("discourse"));
  byId("examples").hidden = !reads;
  if (!relates) byId("promise").textContent = "The tree of each sentence: how its phrases nest.";
}

async function start() {
  outdated();
  takeFragment();
  try {
    const found = await models();
    settings.offer(found);
    welcome(found);
  } catch (error) {
    fail(error);
    return settle();
  }
  offered = true;
  problems.clear();
  if (field.value.trim()) run();
  else settle();
}

start();
