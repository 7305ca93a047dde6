"""One form for what treebanks and texts write in several ways.

A treebank has `-LRB-` and two backticks where a text has a bracket and a
quotation mark. A model that reads plain forms takes both for the same, so that
it can be trained on any mix of treebanks and used on raw text.
"""

from __future__ import annotations

__all__ = ["plain_form"]

_PLAIN = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": '"', "''": '"', "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"',
    "`": "'", "‘": "'", "’": "'", "‚": "'", "‛": "'", "´": "'",
    "…": "...", "–": "--", "—": "--", "―": "--",
}  # fmt: skip


def plain_form(word: str) -> str:
    r"""A word in the form that a model of plain forms reads.

    >>> [plain_form(word) for word in ("-LRB-", "``", "“", "n’t", r"and\/or", "—", "cat")]
    ['(', '"', '"', "n't", 'and/or', '--', 'cat']
    """
    found = _PLAIN.get(word)
    if found is not None:
        return found
    if "’" in word:
        word = word.replace("’", "'")
    if "\\" in word:
        word = word.replace("\\/", "/").replace("\\*", "*")
    return word
