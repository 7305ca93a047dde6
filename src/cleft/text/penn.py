"""Tokens in the form that the Penn Treebank writes them.

Offsets belong to the source, so tokens keep it as it is; a tree in Penn form
has brackets as `-LRB-`, quotation marks as two backticks or two apostrophes,
and ASCII for curly apostrophes, dashes and ellipses.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["penn_forms"]

_FIXED = {
    "(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-",
    "“": "``", "„": "``", "«": "``", "”": "''", "»": "''", "‘": "`", "‚": "`", "’": "'",
    "…": "...", "–": "--", "—": "--", "―": "--",
}  # fmt: skip
_OPENING = "``"
_CLOSING = "''"


def penn_forms(words: Iterable[str], *, brackets: bool = True) -> list[str]:
    """The words of one sentence in Penn form; `brackets=False` leaves brackets alone.

    Straight quotation marks open and close by turns.

    >>> penn_forms(["“", "It", "’s", "(", "almost", ")", '"', "done", '"', "…", "”"])
    ['``', 'It', "'s", '-LRB-', 'almost', '-RRB-', '``', 'done', "''", '...', "''"]
    """
    forms = []
    opened = False
    for word in words:
        if word == '"':
            opened = not opened
            forms.append(_OPENING if opened else _CLOSING)
        elif word in "()[]{}" and not brackets:
            forms.append(word)
        else:
            forms.append(_FIXED.get(word) or word.replace("’", "'"))
    return forms
