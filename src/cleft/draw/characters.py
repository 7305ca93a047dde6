"""Characters as they can be drawn: visible substitutes, clusters, direction, widths.

Whatever a word or a label holds, `visible` makes text of it that is valid in
XML, cannot steer a terminal and cannot reorder the text around it. Widths are
columns of a terminal, or pixels without a font engine: a browser picks whatever
sans-serif font it has, so an estimate is never less than the widest of the
common ones (Helvetica, Arial, Inter, Noto Sans, DejaVu Sans), and a box made
for the estimate holds the text in all of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

REPLACEMENT = "\ufffd"
JOINER = "\u200d"
EMOJI_STYLE = "\ufe0f"

# Control characters, surrogates, non-characters, and the marks that override
# or embed text direction: none of them may reach a terminal or an XML file.
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef]"
    "|[\ufffe\uffff]|["
    + "".join(chr((plane << 16) + 0xFFFE + low) for plane in range(1, 17) for low in range(2))
    + "]"
)


def _substitute(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else REPLACEMENT


def visible(text: str) -> str:
    r"""The text with every character that must not be drawn replaced by one that shows.

    >>> visible("a\x00b\x1b[31m"), visible("\ud800")
    ('a␀b␛[31m', '�')
    """
    return UNSAFE.sub(_substitute, text)


def shown(text: str, blank: str = "␣") -> str:
    r"""The text made visible; where there is nothing to see, a sign that says so.

    >>> shown("cat"), shown("\u200b"), shown("", "·")
    ('cat', '␣', '·')
    """
    text = visible(text)
    return text if text.strip() and columns(text) else blank


@lru_cache(maxsize=4096)
def _char_columns(char: str) -> int:
    if char < "\u0300":
        return 1
    if "\u1160" <= char <= "\u11ff" or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clusters(text: str) -> list[str]:
    r"""The text in pieces that must not be broken: a base with its marks, a joined emoji.

    >>> [len(cluster) for cluster in clusters("e\u0301a👩\u200d🔬!")]
    [2, 1, 3, 1]
    """
    found: list[str] = []
    for char in text:
        after_joiner = found and found[-1].endswith(JOINER)
        if found and (after_joiner or _char_columns(char) == 0 or _is_modifier(char, found[-1])):
            found[-1] += char
        else:
            found.append(char)
    return found


def _is_modifier(char: str, before: str) -> bool:
    if "\U0001f3fb" <= char <= "\U0001f3ff":
        return True
    flag = "\U0001f1e6" <= char <= "\U0001f1ff"
    return flag and len(before) == 1 and "\U0001f1e6" <= before <= "\U0001f1ff"


def columns(text: str) -> int:
    r"""How many columns of a terminal the text takes.

    >>> columns("tennis"), columns("网球"), columns("e\u0301")
    (6, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(_cluster_columns(cluster) for cluster in clusters(text))


def _cluster_columns(cluster: str) -> int:
    if len(cluster) == 1:
        return _char_columns(cluster)
    if EMOJI_STYLE in cluster or "\U0001f1e6" <= cluster[0] <= "\U0001f1ff":
        return 2
    return max(_char_columns(char) for char in cluster)


def is_right_to_left(texts: Iterable[str]) -> bool:
    """Whether most letters are of scripts that run from right to left.

    >>> is_right_to_left(["שלום", "עולם", "!"]), is_right_to_left(["tennis"])
    (True, False)
    """
    balance = 0
    for text in texts:
        if text.isascii():
            balance -= len(text)
            continue
        for char in text:
            kind = unicodedata.bidirectional(char)
            balance += (kind in ("R", "AL")) - (kind == "L")
    return balance > 0


# ---------------------------------------------------------------- pixels

BOLD = 1.16
"""How much wider bold text is."""

# Characters by width, in hundredths of the font size.
GROUPS = {
    28: "'ijl", 33: " .,", 35: ":;I", 38: "/\\tf", 40: "()[]!r", 47: '"-', 51: "`*", 54: "sJz?",
    57: "cL_|", 62: "kvxyF", 64: "abdeghnopquT", 65: "0123456789$S", 69: "ABEKPVXYZ{}", 72: "R",
    76: "CHNU", 79: "DGOQ&", 83: "w", 85: "#+<=>^~", 91: "M", 97: "m%", 100: "W@",
}  # fmt: skip
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
    if _char_columns(char) == 0:
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


# ---------------------------------------------------------------- lines


def wrap(text: str, limit: float, size: float) -> tuple[str, ...]:
    """The text in lines that are no wider than a limit, broken at spaces where it can be.

    A cluster wider than the limit stands on a line of its own.

    >>> wrap("although it rained", 60, 10)
    ('although it', 'rained')
    """
    words = filter(None, text.split(" "))
    return tuple(_filled(words, limit, lambda part: text_width(part, size), text_width(" ", size)))


def wrap_columns(text: str, width: int) -> list[str]:
    """The text in lines of at most so many columns, broken at spaces where there are any.

    >>> wrap_columns("although it rained", 11)
    ['although it', 'rained']
    >>> wrap_columns("网球好玩", 4)
    ['网球', '好玩']
    """
    return _filled(text.split(" "), width, columns, 1)


def _filled(
    words: Iterable[str], limit: float, measure: Callable[[str], float], space: float
) -> list[str]:
    lines, line, used = [], "", 0.0
    for word in words:
        wide = measure(word)
        if line and used + space + wide <= limit:
            line, used = f"{line} {word}", used + space + wide
            continue
        if line:
            lines.append(line)
        line, used = word, wide
        if wide > limit:
            *full, line = _broken(word, limit, measure)
            lines += full
            used = measure(line)
    return [*lines, line] if line or not lines else lines


def _broken(word: str, limit: float, measure: Callable[[str], float]) -> list[str]:
    parts, part, used = [], "", 0.0
    for cluster in clusters(word):
        wide = measure(cluster)
        if part and used + wide > limit:
            parts.append(part)
            part, used = "", 0.0
        part, used = part + cluster, used + wide
    return [*parts, part]
