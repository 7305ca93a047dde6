// The trees of an answer of the API as lists of nodes in preorder, with parents
// and children, so that nothing recurses however deep a tree is.

/**
 * What the model thought of a node.
 * @typedef {object} Evidence
 * @property {number} [probability]
 * @property {number} [label]
 * @property {number} [split]
 * @property {[string, number][]} [labels]
 * @property {[number, number][]} [splits]
 */

/**
 * A node of either tree. `word` is there at the leaves of a syntax tree, `text`
 * at those of a discourse tree; `role` is N or S below a relation.
 * @typedef {object} Node
 * @property {string} label
 * @property {number} left
 * @property {number} right
 * @property {number} parent
 * @property {number[]} children
 * @property {Evidence} evidence
 * @property {string | null} word
 * @property {string | null} text
 * @property {string} role
 * @property {string} relation
 */

/** @typedef {{span: [number, number], split: number, probability: number, label: string | null, distribution?: number[]}} Step */
/** @typedef {{code: string, where: string, message: string, hint: string}} Problem */
/** @typedef {{text: string, start: number, end: number, tag: string | null}} Token */

/**
 * @typedef {object} SyntaxTree
 * @property {string[]} tags
 * @property {[string, number, number][]} nodes
 * @property {Evidence[]} [evidence]
 * @property {Evidence[]} [tag_evidence]
 * @property {number} log_prob
 * @property {number} probability
 * @property {string} brackets
 * @property {Step[]} steps
 * @property {Record<string, string>} [formats]
 * @property {SyntaxTree[]} [others]
 */

/**
 * @typedef {object} DiscourseTree
 * @property {[number, number][]} edus
 * @property {string[]} texts
 * @property {[number, number, string, string[]][]} nodes
 * @property {Evidence[]} [evidence]
 * @property {Evidence[]} [edu_evidence]
 * @property {number} log_prob
 * @property {number} probability
 * @property {Step[]} steps
 * @property {Record<string, string>} [formats]
 * @property {DiscourseTree[]} [others]
 */

/**
 * @typedef {object} Sentence
 * @property {string} text
 * @property {number} start
 * @property {number} end
 * @property {Token[]} tokens
 * @property {SyntaxTree | null} syntax
 * @property {DiscourseTree | null} discourse
 * @property {Problem | null} error
 */

/** @typedef {"syntax" | "discourse"} Task */

const SPAN = "span";

/**
 * All trees of a sentence for a task, best first.
 * @param {Sentence} sentence
 * @param {Task} task
 * @returns {(SyntaxTree | DiscourseTree)[]}
 */
export function listed(sentence, task) {
  const best = sentence[task];
  return best ? [best, ...(best.others ?? [])] : [];
}

/**
 * @param {Partial<Node> & {left: number, right: number}} values
 * @returns {Node}
 */
function node(values) {
  return {
    label: "",
    parent: -1,
    children: [],
    evidence: {},
    word: null,
    text: null,
    role: "N",
    relation: "",
    ...values,
  };
}

/**
 * Tie nodes in preorder to their parents; a node's parent is the last one before
 * it that contains it.
 * @param {Node[]} nodes
 */
function tie(nodes) {
  /** @type {number[]} */
  const open = [];
  nodes.forEach((one, at) => {
    while (open.length && nodes[/** @type {number} */ (open.at(-1))].right < one.right) open.pop();
    one.parent = open.at(-1) ?? -1;
    if (one.parent >= 0) nodes[one.parent].children.push(at);
    if (one.word === null && one.text === null) open.push(at);
  });
  return nodes;
}

/**
 * Phrases and leaves in one preorder: a phrase comes before the leaves that it holds.
 * @param {Node[]} phrases
 * @param {Node[]} leaves
 */
function merged(phrases, leaves) {
  /** @type {Node[]} */
  const nodes = [];
  let next = 0;
  for (const leaf of leaves) {
    while (next < phrases.length && phrases[next].left <= leaf.left) nodes.push(phrases[next++]);
    nodes.push(leaf);
  }
  return tie(nodes);
}

/**
 * The nodes of a syntax tree, preterminals included.
 * @param {SyntaxTree} tree
 * @param {Token[]} tokens
 */
export function syntaxNodes(tree, tokens) {
  const phrases = tree.nodes.map(([label, left, right], at) =>
    node({ label, left, right, evidence: tree.evidence?.[at] ?? {} }),
  );
  const leaves = tokens.map((token, at) =>
    node({
      label: tree.tags[at] ?? "",
      left: at,
      right: at + 1,
      word: token.text,
      evidence: tree.tag_evidence?.[at] ?? {},
    }),
  );
  return merged(phrases, leaves);
}

/**
 * A discourse tree as it is drawn: all nuclei of a relation below one node, where a parser splits
 * them into pairs that branch to the right. Its evidence is that of the outermost pair.
 * @template {Pick<DiscourseTree, "nodes" | "evidence">} T
 * @param {T} tree
 * @param {Set<string>} [apart]  spans, as "left,right", that stay nodes: the sentences of a text
 * @returns {T}
 */
export function flat(tree, apart) {
  /** @type {DiscourseTree["nodes"]} */
  const nodes = [];
  /** @type {Evidence[]} */
  const evidence = [];
  /** @type {DiscourseTree["nodes"]} */
  const open = [];
  tree.nodes.forEach(([left, right, letters, names], at) => {
    while (open.length && open[open.length - 1][1] <= left) open.pop();
    const above = open.at(-1);
    const goesOn = above && above[1] === right && !`${above[2]}${letters}`.includes("S");
    if (goesOn && !apart?.has(`${left},${right}`) && new Set([...above[3], ...names]).size === 1) {
      above[2] += letters.slice(1);
      above[3].push(...names.slice(1));
      return;
    }
    /** @type {DiscourseTree["nodes"][number]} */
    const row = [left, right, letters, [...names]];
    nodes.push(row);
    evidence.push(tree.evidence?.[at] ?? {});
    open.push(row);
  });
  return { ...tree, nodes, ...(tree.evidence ? { evidence } : {}) };
}

/**
 * The nodes of a discourse tree, EDUs included.
 * @param {Pick<DiscourseTree, "edus" | "texts" | "nodes" | "evidence" | "edu_evidence">} tree
 */
export function discourseNodes(tree) {
  const inner = tree.nodes.map(([left, right, nuclearity, relations], at) =>
    node({
      left,
      right,
      label: relations.find((name) => name !== SPAN) ?? SPAN,
      evidence: tree.evidence?.[at] ?? {},
    }),
  );
  const leaves = tree.edus.map(([left, right], at) =>
    node({ left, right, text: tree.texts[at] ?? "", evidence: tree.edu_evidence?.[at] ?? {} }),
  );
  const rows = new Map(inner.map((one, at) => [one, tree.nodes[at]]));
  const nodes = merged(inner, leaves);
  for (const one of nodes) {
    const row = rows.get(one);
    one.children.forEach((child, at) => {
      nodes[child].role = row?.[2][at] ?? "N";
      nodes[child].relation = row?.[3][at] ?? SPAN;
    });
  }
  return nodes;
}

/**
 * A label of a discourse split, `relation_NS`, as relation and nuclearity.
 * @param {string} label
 * @returns {[string, string]}
 */
export function splitRelation(label) {
  const at = label.lastIndexOf("_");
  const letters = label.slice(at + 1);
  return at > 0 && /^[NS]{2}$/.test(letters) ? [label.slice(0, at), letters] : [label, "NN"];
}

/**
 * How many satellites each EDU stands inside, in reading order.
 * @param {Node[]} nodes
 */
export function satelliteDepths(nodes) {
  /** @type {number[]} */
  const depths = [];
  nodes.forEach((one, at) => {
    depths[at] = (one.parent < 0 ? 0 : depths[one.parent]) + (one.role === "S" ? 1 : 0);
  });
  return depths;
}
