"""How wide text is drawn, without a font engine.

A browser picks whatever sans-serif font it has, so an estimate is never less
than the widest of the common ones (Helvetica, Arial, Inter, Noto Sans, DejaVu
Sans): a box made for the estimate holds the text in all of them.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from cleft.draw.characters import clusters, is_zero_width

__all__ = ["BOLD", "text_width", "wrap"]

BOLD = 1.16
"""How much wider bold text is."""

# Characters by width, in hundredths of the font size.
GROUPS = {
    28: "'ijl",
    33: " .,",
    35: ":;I",
    38: "/\\tf",
    40: "()[]!r",
    47: '"-',
    51: "`*",
    54: "sJz?",
    57: "cL_|",
    62: "kvxyF",
    64: "abdeghnopquT",
    65: "0123456789$S",
    69: "ABEKPVXYZ{}",
    72: "R",
    76: "CHNU",
    79: "DGOQ&",
    83: "w",
    85: "#+<=>^~",
    91: "M",
    97: "m%",
    100: "W@",
}
ASCII = {char: width / 100 for width, chars in GROUPS.items() for char in chars}

# For what is not a Latin letter with or without marks: by general category.
CATEGORIES = {"Lu": 0.9, "Ll": 0.72, "Lt": 1.1, "Lm": 0.6, "Lo": 0.76, "Mc": 0.5, "Nd": 0.65}
CATEGORIES |= {"Nl": 1.5, "No": 1.5, "Pd": 1.0, "Pc": 0.6, "Sm": 0.95, "Sc": 0.9, "So": 1.3}
EMOJI = 1.4
WIDE = 1.02
OTHER = 0.65
LIGATURES = {"æ": 1.0, "œ": 1.05, "Æ": 1.1, "Œ": 1.2, "…": 1.02, "‰": 1.35, "ß": 0.65}


@lru_cache(maxsize=4096)
def _char_width(char: str) -> float:
    known = ASCII.get(char) or LIGATURES.get(char)
    if known:
        return known
    if is_zero_width(char):
        return 0.0
    if char >= "\U0001f000":
        return EMOJI if char < "\U00020000" else WIDE
    if unicodedata.east_asian_width(char) in "WF":
        return WIDE
    base = unicodedata.normalize("NFD", char)[0]
    if base in ASCII:
        return ASCII[base]
    return CATEGORIES.get(unicodedata.category(char), OTHER)


def text_width(text: str, size: float, bold: bool = False) -> float:
    """An upper estimate of a text's width in pixels at a font size.

    >>> text_width("tennis", 10) < text_width("tennis", 10, bold=True) < 60
    True
    >>> text_width("网球", 10) > 20
    True
    """
    return sum(map(_char_width, text)) * size * (BOLD if bold else 1.0)


def wrap(text: str, limit: float, size: float) -> tuple[str, ...]:
    """The text in lines that are no wider than a limit, broken at spaces where it can be.

    A cluster wider than the limit stands on a line of its own.

    >>> wrap("although it rained", 60, 10)
    ('although it', 'rained')
    """
    lines, line, used = [], "", 0.0
    space = _char_width(" ") * size
    for word in filter(None, text.split(" ")):
        wide = text_width(word, size)
        if line and used + space + wide <= limit:
            line, used = f"{line} {word}", used + space + wide
            continue
        if line:
            lines.append(line)
        line, used = word, wide
        if wide > limit:
            *full, line = _broken(word, limit, size)
            lines += full
            used = text_width(line, size)
    return (*lines, line) if line or not lines else tuple(lines)


def _broken(word: str, limit: float, size: float) -> list[str]:
    parts, part, used = [], "", 0.0
    for cluster in clusters(word):
        wide = text_width(cluster, size)
        if part and used + wide > limit:
            parts.append(part)
            part, used = "", 0.0
        part, used = part + cluster, used + wide
    return [*parts, part]
