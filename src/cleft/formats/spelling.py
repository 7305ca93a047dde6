r"""Words as a text writes them, where a treebank writes them in its own way.

Some treebanks join the parts of a compound, part what a text writes as one
word, or add to a word what is no part of it. A parser that learnt such words
would not know those of a text. Each rule goes by the word alone, not by the
name of a treebank:

- `de_l'` is two words; both get the tag of the compound
- `hest$` and `$in` are the halves of one word: under one phrase they become it,
  with the tag of the first; across phrases each loses its mark
- `,-,` is a punctuation mark and its lemma
- `<dash/>` is a hyphen
- `山（やま）` is a word and how it is read
- `-LRB-`, `\/` and their like are what they stand for, inside words too
"""

from __future__ import annotations

import re

from cleft.tree import Tree, fold

__all__ = ["ESCAPED", "respell", "spell"]

ESCAPED = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}
"""How treebanks write brackets, which are marks of their own there."""

LEMMA = re.compile(r"([^\w\s-])-\1")
READING = re.compile(r"(?<=[㐀-鿿々〆ヶ])（[ぁ-ゖァ-ヺー]+）")
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
    """The children with the halves of words put together; marks without another half go."""
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
    parts = [part for part in leaf.word.split("_") if part]
    return [Tree(leaf.label, (), part) for part in parts] or [leaf]
