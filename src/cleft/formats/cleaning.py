"""Cleaning of treebank trees: explicit, chosen by the caller, never silent.

Treebanks hold more than a parser predicts: traces, function tags, indices, an
outer bracket. A `Cleaning` says which of it goes; the named ones are those in
common use.
"""

from __future__ import annotations

from dataclasses import dataclass

from cleft.errors import UsageError
from cleft.tree import Tree, split_root

__all__ = ["CLEANINGS", "PTB", "SPMRL", "Cleaning", "clean_tree", "cleaning"]

TRACE = "-NONE-"
UNESCAPED = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "\\/": "/",
    "\\*": "*",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """What is taken off a tree.

    - `traces`: preterminals tagged -NONE-, and every phrase left empty by that
    - `cut`: phrase labels are cut before the first of these characters
      (never at the first character of a label, so -LRB- stays)
    - `cut_tags`: the same for the tags of words
    - `root`: the outer bracket TOP, ROOT, S1, VROOT or without a label
    - `unescape`: words -LRB-, -RRB-, `\\/`, `\\*` … become what they stand for

    >>> tree = Tree.from_brackets("( (S (NP-SBJ-1 (-NONE- *)) (VP=2 (VB Go))))")
    >>> print(clean_tree(tree, PTB))
    (S (VP (VB Go)))
    """

    traces: bool = True
    cut: str = "-="
    cut_tags: str = ""
    root: bool = True
    unescape: bool = False


PTB = Cleaning(cut="-=|")
"""English and most Penn-style treebanks: no traces, labels cut at `-`, `=` and `|`."""

SPMRL = Cleaning(cut="-=#")
"""The SPMRL treebanks: as PTB, labels also cut at `#`."""

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
    return (
        Cleaning(cut=cut)
        if found is None
        else Cleaning(
            traces=found.traces,
            cut=cut,
            cut_tags=found.cut_tags,
            root=found.root,
            unescape=found.unescape,
        )
    )


def clean_tree(tree: Tree, clean: Cleaning) -> Tree | None:
    """A cleaned copy of a tree; None where no word is left."""
    if clean.root:
        _, tree = split_root(tree)
    cut: dict[str, str] = {}
    stack: list[Tree | None] = []
    for node in reversed(tree.preorder()):
        count = len(node.children)
        if not count:
            stack.append(_clean_leaf(node, clean))
            continue
        kept = tuple([child for child in stack[: -count - 1 : -1] if child is not None])
        del stack[-count:]
        label = cut.get(node.label)
        if label is None:
            label = cut[node.label] = _cut(node.label, clean.cut)
        stack.append(Tree(label, kept) if kept else None)
    return stack[0]


def _clean_leaf(leaf: Tree, clean: Cleaning) -> Tree | None:
    if clean.traces and leaf.label == TRACE:
        return None
    if not clean.unescape and not clean.cut_tags:
        return leaf
    word = leaf.word or ""
    if clean.unescape:
        word = UNESCAPED.get(word, word)
    return Tree(_cut(leaf.label, clean.cut_tags), (), word)


def _cut(label: str, characters: str) -> str:
    ends = [end for end in (label.find(char, 1) for char in characters) if end > 0]
    return label[: min(ends)] if ends else label
