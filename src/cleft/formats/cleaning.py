"""Cleaning of treebank trees: explicit, chosen by the caller, never silent.

Treebanks hold more than a parser predicts: traces, function tags, indices, an
outer bracket. A `Cleaning` says which of it goes; the named ones are those in
common use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cleft.errors import UsageError
from cleft.formats.spelling import ESCAPED, respell
from cleft.tree import Tree, split_root

__all__ = ["CLEANINGS", "KEEP", "PTB", "SPMRL", "Cleaner", "Cleaning", "clean_tree", "cleaning"]

TRACE = "-NONE-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    r"""What is taken off a tree.

    - `traces`: preterminals tagged -NONE-, and every phrase left empty by that
    - `cut`: phrase labels are cut before the first of these characters
      (a label that begins with one of them stays whole, as -LRB- must)
    - `cut_tags`: the same for the tags of words
    - `tag_names`: tags that a treebank spells in its own way, and the usual spelling
    - `root`: the outer bracket TOP, ROOT, S1, VROOT or without a label
    - `unescape`: words -LRB-, -RRB-, `\/`, `\*` … become what they stand for
    - `respell`: words become what a text writes (see `cleft.formats.spelling`)

    >>> tree = Tree.from_brackets("( (S (NP-SBJ-1 (-NONE- *)) (VP=2 (VB Go))))")
    >>> print(clean_tree(tree, PTB))
    (S (VP (VB Go)))
    """

    traces: bool = True
    cut: str = "-="
    cut_tags: str = ""
    tag_names: tuple[tuple[str, str], ...] = ()
    root: bool = True
    unescape: bool = False
    respell: bool = False


KEEP = Cleaning(traces=False, cut="", root=False)
"""A cleaning that changes nothing."""

PTB = Cleaning(cut="-=|", tag_names=(("PRPP", "PRP$"), ("WPP", "WP$")))
"""English and most Penn-style treebanks: no traces, labels cut at `-`, `=` and `|`.

GENIA's PRPP and WPP become the Penn Treebank's PRP$ and WP$.
"""

SPMRL = Cleaning(cut="-=#|;{", cut_tags="#", respell=True)
"""Treebanks of other languages: no traces, no functions on labels, words as a text writes them.

Labels are cut at `#` (the features of the SPMRL treebanks) and at `;` and `{` (Keyaki's notes)
besides; tags at `#`.
"""

CLEANINGS: dict[str, Cleaning | None] = {
    "none": None,
    "ptb": PTB,
    "spmrl": SPMRL,
    "keyaki": Cleaning(cut="-=|;{"),
}
"""The cleanings that have a name, for command lines and recipes."""


def cleaning(name: str, cut: str | None = None) -> Cleaning | None:
    """A cleaning by name, its `cut` replaced if one is given.

    >>> cleaning("ptb", cut="-").cut
    '-'
    """
    if name not in CLEANINGS:
        known = ", ".join(CLEANINGS)
        raise UsageError(f"no cleaning is called {name!r}", hint=f"use one of {known}")
    found = CLEANINGS[name]
    if cut is None:
        return found
    return replace(found or KEEP, cut=cut)


class Cleaner:
    """A cleaning at work: what becomes of each label and leaf.

    Labels recur, so what they become is kept.
    """

    def __init__(self, clean: Cleaning) -> None:
        self.clean = clean
        self._phrases: dict[str, str] = {}
        self._tags = dict(clean.tag_names)

    def phrase(self, label: str) -> str:
        """What a phrase's label becomes."""
        found = self._phrases.get(label)
        if found is None:
            found = self._phrases[label] = _cut(label, self.clean.cut)
        return found

    def leaf(self, tag: str, word: str) -> Tree | None:
        """What a preterminal becomes; None for a trace."""
        clean = self.clean
        if clean.traces and tag == TRACE:
            return None
        if clean.unescape:
            word = ESCAPED.get(word, word).replace("\\/", "/").replace("\\*", "*")
        if clean.cut_tags:
            tag = _cut(tag, clean.cut_tags)
        return Tree(self._tags.get(tag, tag), (), word)

    def root(self, tree: Tree) -> Tree:
        """A whole tree: its words respelled and its outer bracket taken off, if so asked."""
        if self.clean.respell:
            tree = respell(tree)
        return split_root(tree)[1] if self.clean.root else tree


def clean_tree(tree: Tree, clean: Cleaning) -> Tree | None:
    """A cleaned copy of a tree; None where no word is left."""
    cleaner = Cleaner(clean)
    stack: list[Tree | None] = []
    for node in reversed(tree.preorder()):
        if node.word is not None:
            stack.append(cleaner.leaf(node.label, node.word))
            continue
        count = len(node.children)
        kept = tuple([child for child in stack[: -count - 1 : -1] if child is not None])
        del stack[-count:]
        stack.append(Tree(cleaner.phrase(node.label), kept) if kept else None)
    cleaned = stack[0]
    return None if cleaned is None else cleaner.root(cleaned)


def _cut(label: str, characters: str) -> str:
    if label[:1] in characters:
        return label
    ends = [end for end in map(label.find, characters) if end > 0]
    return label[: min(ends)] if ends else label
