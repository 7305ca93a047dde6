"""Classes of characters, as pieces of regular expressions.

Every character that is not white space is either a *mark* (punctuation,
symbols, emoji: the ranges below) or a *letter* (everything else: letters,
digits, combining marks, control and format characters, lone surrogates).
The two halves leave nothing out, which is why tokens cover any text.
"""

from __future__ import annotations

__all__ = ["CLOSERS", "EMOJI", "LETTER", "OPENERS", "STOPS"]

_MARK_RANGES = (
    r"!-/:-@\[-\^`{-~"  # ASCII, the underscore left out
    "\xa1-\xa9\xab\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    "\u055a-\u055f\u0589\u058a\u05be\u05c0\u05c3\u05c6"
    "\u060c\u060d\u061b\u061e\u061f\u066a\u066d\u06d4\u0700-\u070d"
    "\u0964\u0965\u0e4f\u0e5a\u0e5b\u1360-\u1368\u1800-\u180a"
    "\u2010-\u2027\u2030-\u205e\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f"
    "\u3001-\u3003\u3008-\u3020\u3030\u303d"
    "\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffee"
    "\U0001f000-\U0001faff"
)

LETTER = rf"[^\s{_MARK_RANGES}]"
"""Anything but white space and marks."""

STOPS = ".!?…‼⁇⁈⁉؟۔।॥։።"
"""What can end a sentence."""

OPENERS = "\"'`([{“‘„‚«»‹›¿¡"
"""What can stand before the first word of a sentence."""

CLOSERS = "\"')\\]}”’“‘»«›‹"
"""What can stand after the end of a sentence and belong to it, as a class's inside."""

_PICTURE = "[\xa9\xae\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff]"
_MODIFIER = "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"

EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}"  # a flag
    f"|[0-9#*]\ufe0f?\u20e3"  # a keycap
    f"|{_PICTURE}{_MODIFIER}*+(?:\u200d{_PICTURE}{_MODIFIER}*+)*+"
)
"""One emoji with its skin tones, variation selectors and joiners."""
