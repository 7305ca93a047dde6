"""JSON as cleft writes it: UTF-8 whatever the text holds, and offsets that hold in what is read."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["dump_json"]

PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
HALF = re.compile("[\ud800-\udfff]")


def dump_json(value: Any) -> str:
    r"""A value as JSON on one line that can be encoded.

    Half a surrogate pair has no UTF-8 and is written as an escape. Two halves
    side by side would be read as one character, and every offset after them
    would be wrong: each becomes the replacement character.

    >>> print(dump_json(["é", "a\udc00", "\ud83d\ude42"]).encode("unicode_escape").decode())
    ["\xe9", "a\\udc00", "\ufffd\ufffd"]
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if text.isprintable() or not HALF.search(text):
        return text
    return HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", PAIR.sub("\ufffd\ufffd", text))
