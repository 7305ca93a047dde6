r"""Cleaning of treebank trees: explicit, chosen by the caller, never silent.

Treebanks hold more than a parser predicts: traces, function tags, indices, an
outer bracket. A `Cleaning` says which of these are removed; the named ones are those in
common use.

Some treebanks write words in their own way: they join the parts of a compound,
part what a text writes as one word, or add to a word what is no part of it. A
parser that learnt such words would not know those of a text. `respell=True` makes
them what a text writes. The rules look at the word alone:

- `de_l'` is two words; both get the tag of the compound (but `aujourd'_hui` is one)
- `hest$` and `$in` are the halves of one word: under one phrase they become it,
  with the tag of the first; across phrases each loses its mark
- `,-,` is a punctuation mark and its lemma
- `<dash/>` is a hyphen
- `山（やま）` is a word and how it is read
- `-LRB-`, `\/` and similar escapes become the characters, inside words too
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from cleft.errors import UsageError
from cleft.tree import Tree, fold, split_root

__all__ = [
    "CLEANINGS", "KEEP", "PTB", "PTB_TEXT", "SPMRL", "Cleaner", "Cleaning", "clean_tree",
    "cleaning",
]  # fmt: skip

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
    - `repeats`: a phrase whose only child has the same label, as removed traces leave it
    - `unescape`: words -LRB-, -RRB-, `\/`, `\*` … become what they stand for
    - `respell`: words become what a text writes, as described above

    >>> tree = Tree.from_brackets("( (S (NP-SBJ-1 (-NONE- *)) (VP=2 (VB Go))))")
    >>> print(clean_tree(tree, PTB))
    (S (VP (VB Go)))
    """

    traces: bool = True
    cut: str = "-="
    cut_tags: str = ""
    tag_names: tuple[tuple[str, str], ...] = ()
    root: bool = True
    repeats: bool = False
    unescape: bool = False
    respell: bool = False


KEEP = Cleaning(traces=False, cut="", root=False)
"""A cleaning that changes nothing."""

PTB = Cleaning(cut="-=|", tag_names=(("PRPP", "PRP$"), ("WPP", "WP$")))
"""English and most Penn-style treebanks: no traces, labels cut at `-`, `=` and `|`.

GENIA's PRPP and WPP become the Penn Treebank's PRP$ and WP$.
"""

PTB_TEXT = replace(PTB, repeats=True)
"""For models of text: as PTB, and no phrase repeats its only child's label.

Without its trace, `(NP (NP the man) (-NONE- *))` is an NP over an NP, and nothing in the words
tells it from a plain NP.
"""

SPMRL = Cleaning(cut="-=#|;{", cut_tags="#", respell=True)
"""Treebanks of other languages: no traces, no functions on labels, words as a text writes them.

Labels are cut at `#` (the features of the SPMRL treebanks) and at `;` and `{` (Keyaki's notes)
besides; tags at `#`.
"""

CLEANINGS: dict[str, Cleaning | None] = {
    "none": None,
    "ptb": PTB,
    "ptb-text": PTB_TEXT,
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
        if self.clean.root:
            tree = split_root(tree)[1]
        return without_repeats(tree) if self.clean.repeats else tree


def clean_tree(tree: Tree, clean: Cleaning) -> Tree | None:
    """A cleaned copy of a tree; None where no word is left."""
    cleaner = Cleaner(clean)

    def phrase(node: Tree, children: list[Tree | None]) -> Tree | None:
        kept = tuple([child for child in children if child is not None])
        return Tree(cleaner.phrase(node.label), kept) if kept else None

    cleaned = fold(tree, lambda leaf: cleaner.leaf(leaf.label, leaf.word or ""), phrase)
    return None if cleaned is None else cleaner.root(cleaned)


def without_repeats(tree: Tree) -> Tree:
    """A tree in which no phrase has an only child of the same label.

    >>> print(without_repeats(Tree.from_brackets("(S (NP (NP (NP (NN rain)))) (VP (VBZ falls)))")))
    (S (NP (NN rain)) (VP (VBZ falls)))
    """
    return tree if tree.word is not None else fold(tree, lambda leaf: leaf, _once)


def _once(old: Tree, children: list[Tree]) -> Tree:
    only = children[0] if len(children) == 1 else None
    if only is not None and only.word is None and only.label == old.label:
        return only
    return Tree(old.label, tuple(children))


def _cut(label: str, characters: str) -> str:
    if label[:1] in characters:
        return label
    ends = [end for end in map(label.find, characters) if end > 0]
    return label[: min(ends)] if ends else label


# ---------------------------------------------------------------- words

ESCAPED = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
"""How treebanks write brackets, which are marks of their own there."""

LEMMA = re.compile(r"([^\w\s-])-\1")
READING = re.compile(r"(?<=[㐀-鿿々〆ヶ])（[ぁ-ゖァ-ヺー]+）")
ONE_WORD = re.compile(r"((?:aujourd|quelqu)['’])_(hui|une?)\b", re.IGNORECASE)
ADDRESS = re.compile(r"@|://|^www\.")


def spell(word: str) -> str:
    r"""A word without what its treebank added to it; compounds and halves stay as they are.

    >>> [spell(word) for word in (",-,", "山（やま）", "élu-LRB-e-RRB-", r"et\/ou", "pulau-pulau")]
    [',', '山', 'élu(e)', 'et/ou', 'pulau-pulau']
    """
    if word.isalnum():  # nearly all are, and nothing is to be done
        return word
    if LEMMA.fullmatch(word):
        return word[0]
    if "（" in word:
        word = READING.sub("", word)
    if "-" in word:
        for escaped, plain in ESCAPED.items():
            word = word.replace(escaped, plain)
    return word.replace("\\/", "/").replace("\\*", "*").replace("<dash/>", "-")


def respell(tree: Tree) -> Tree:
    """A tree with its words as a text writes them.

    >>> print(respell(Tree.from_brackets("(NP (N hest$) (D $in) (ADV par_exemple) (. .-.))")))
    (NP (N hestin) (ADV par) (ADV exemple) (. .))
    """
    if tree.word is not None:  # nothing above it to hold two words
        return Tree(tree.label, (), spell(tree.word))
    return fold(tree, _leaf, _phrase)


def _leaf(leaf: Tree) -> Tree:
    assert leaf.word is not None
    word = spell(leaf.word)
    return leaf if word is leaf.word else Tree(leaf.label, (), word)


def _phrase(old: Tree, children: list[Tree]) -> Tree:
    kept: list[Tree] = []
    for child in _joined(children):
        kept.extend(_parts(child) if child.word is not None and "_" in child.word else (child,))
    return Tree(old.label, tuple(kept))


def _joined(children: list[Tree]) -> list[Tree]:
    """The children with the halves of words joined; a mark without its other half is removed."""
    kept: list[Tree] = []
    open_half = False
    for child in children:
        word = child.word
        if word is None or "$" not in word:
            kept.append(child)
            open_half = False
            continue
        second, first = _is_half(word), _is_half(word[::-1])
        word = word[second : len(word) - first]
        if second and open_half:
            before = kept.pop()
            child, word = before, f"{before.word}{word}"
        kept.append(Tree(child.label, (), word))
        open_half = first
    return kept


def _is_half(word: str) -> bool:
    """Whether a word begins with the mark of a half.

    A currency sign stands beside capitals and digits (US$, $5), the mark beside a small letter
    or, in a compound, a hyphen.
    """
    return word[0] == "$" and (word[1:2].islower() or word[1:2] == "-")


def _parts(leaf: Tree) -> list[Tree]:
    """The words of a compound, each with its tag."""
    assert leaf.word is not None
    if ADDRESS.search(leaf.word):
        return [leaf]
    parts = [part for part in ONE_WORD.sub(r"\1\2", leaf.word).split("_") if part]
    return [Tree(leaf.label, (), part) for part in parts] or [leaf]
