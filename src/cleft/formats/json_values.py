"""JSON in and out: text to values and back, checks of their shape, trees from flat rows.

What is written can be encoded as UTF-8 whatever the text holds, and its offsets
hold in what is read. A check that fails says what was found.
"""

from __future__ import annotations

import json
import math
import re
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, TypeVar

from cleft.errors import FormatError
from cleft.evidence import Evidence
from cleft.span import Span

LONGEST = 1_000_000
"""The last boundary that a span may have: a number in a file must not decide on our memory."""

PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
HALF = re.compile("[\ud800-\udfff]")


# ---------------------------------------------------------------- text


def load_json(text: str | bytes) -> Any:
    """The value of a JSON text; a ValueError where a number is none that JSON can hold.

    >>> load_json('{"share": 0.5}')
    {'share': 0.5}
    >>> load_json("[1e999]")
    Traceback (most recent call last):
        ...
    ValueError: 1e999 is no number that JSON knows
    """
    return json.loads(text, parse_constant=_no_number, parse_float=_finite)


def _no_number(name: str) -> float:
    raise ValueError(f"{name[:20]} is no number that JSON knows")


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _no_number(digits)


def dump_json(value: Any, separators: tuple[str, str] | None = None) -> str:
    r"""A value as JSON on one line that can be encoded.

    Half a surrogate pair has no UTF-8 and is written as an escape. Two halves
    side by side would be read as one character, and every offset after them
    would be wrong: each becomes the replacement character.

    >>> print(dump_json(["é", "a\udc00", "\ud83d\ude42"]).encode("unicode_escape").decode())
    ["\xe9", "a\\udc00", "\ufffd\ufffd"]
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators)
    if text.isprintable() or not HALF.search(text):
        return text
    return HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", PAIR.sub("\ufffd\ufffd", text))


# ---------------------------------------------------------------- shapes


def as_object(value: object, key: str) -> dict[str, Any]:
    """The value if it is a JSON object."""
    if not isinstance(value, dict):
        raise FormatError(f"{key!r}: expected an object, found {type(value).__name__}")
    return value


def as_list(value: object, key: str) -> list[Any]:
    """The value if it is a list."""
    if not isinstance(value, list):
        raise FormatError(f"{key!r}: expected a list, found {type(value).__name__}")
    return value


def as_strings(value: object, key: str) -> tuple[str, ...]:
    """The value as a tuple if it is a list of strings."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise FormatError(f"{key!r}: expected a list of strings")
    return tuple(value)


def as_row(value: object, count: int) -> Sequence[Any]:
    """The value if it is a list of so many entries."""
    if not isinstance(value, list | tuple) or len(value) != count:
        raise FormatError(f"expected a list of {count}, found {reprlib.repr(value)}")
    return value


def as_span(left: object, right: object) -> Span:
    """A span, if these are the two ends of one."""
    if type(left) is not int or type(right) is not int or not 0 <= left < right <= LONGEST:
        raise FormatError(
            f"expected a span [left, right] with 0 ≤ left < right ≤ {LONGEST}, "
            f"found {reprlib.repr([left, right])}"
        )
    return Span(left, right)


# ---------------------------------------------------------------- trees from flat rows

NodeData = TypeVar("NodeData")
Node = TypeVar("Node")


@dataclass(slots=True)
class _Open(Generic[NodeData, Node]):
    """A node whose children are still being gathered."""

    span: Span
    data: NodeData
    children: list[Node]


def nest(
    nodes: Sequence[tuple[Span, NodeData]],
    leaves: Sequence[tuple[Span, Node]],
    make: Callable[[NodeData, list[Node]], Node],
) -> Node:
    """Build a tree from its nodes in preorder and its leaves, each with its span.

    `make` is called with the data of a node and its children.

    >>> leaves = [(Span(0, 1), "a"), (Span(1, 2), "b")]
    >>> nest([(Span(0, 2), "S")], leaves, lambda label, children: f"({label} {children})")
    "(S ['a', 'b'])"
    """
    whole = Span(0, leaves[-1][0].right)
    trees: list[Node] = []
    stack: list[_Open[NodeData, Node]] = []
    upcoming = iter(leaves)
    leaf = next(upcoming, None)

    def close(boundary: int) -> None:
        """Hand out the leaves before a boundary, and close what ends at or before it."""
        nonlocal leaf
        while True:
            end = min(boundary, stack[-1].span.right) if stack else boundary
            target = stack[-1].children if stack else trees
            while leaf is not None and leaf[0].right <= end:
                target.append(leaf[1])
                leaf = next(upcoming, None)
            if not stack or stack[-1].span.right > boundary:
                return
            done = stack.pop()
            (stack[-1].children if stack else trees).append(make(done.data, done.children))

    for span, data in nodes:
        close(span.left)
        start = leaf[0].left if leaf is not None else whole.right
        outer = stack[-1].span if stack else whole
        if start != span.left or not outer.holds(span):
            raise FormatError(
                f"'nodes': {list(span)} does not fit after the nodes before it",
                hint="list the nodes parents first, left to right",
            )
        stack.append(_Open(span, data, []))
    close(whole.right)
    if len(trees) != 1 or leaf is not None:
        raise FormatError(
            f"'nodes' leave {len(trees)} separate trees", hint="begin with a node over all tokens"
        )
    return trees[0]


# ---------------------------------------------------------------- probabilities of nodes


def add_evidence(
    data: dict[str, Any], found: Sequence[Evidence | None], key: str = "evidence"
) -> None:
    """Put the evidence of nodes into the data of a tree, if any has some."""
    if any(found):
        data[key] = [None if one is None else _evidence_data(one) for one in found]


_NAMES = Evidence.__slots__
_values = attrgetter(*_NAMES)


def _evidence_data(evidence: Evidence) -> dict[str, Any]:
    values = zip(_NAMES, _values(evidence), strict=True)
    return {name: value for name, value in values if value is not None and value != ()}


def read_evidence(data: dict[str, Any], key: str, count: int) -> list[Evidence | None]:
    """The evidence of so many nodes in the data of a tree."""
    rows = data.get(key)
    # A tree that is one leaf has its root among the leaves.
    holds_root = count > 0 if key == "evidence" else count == 1 and not data.get("nodes")
    if rows is None and holds_root and data.get("log_prob") is not None:
        root = {"log_prob": data["log_prob"], "tree_probability": data.get("probability")}
        rows = [root, *[None] * (count - 1)]  # of the compact form
    if rows is None:
        return [None] * count
    if len(as_list(rows, key)) != count:
        raise FormatError(f"{key!r}: expected {count} entries, found {len(rows)}")
    return [None if row is None else _one_evidence(as_object(row, key), key) for row in rows]


def _one_evidence(row: dict[str, Any], key: str) -> Evidence:
    numbers = {name: row.get(name) for name in Evidence.__slots__ if name not in SHARES}
    if not all(value is None or isinstance(value, int | float) for value in numbers.values()):
        raise FormatError(f"{key!r}: expected numbers, found {reprlib.repr(row)}")
    shares = [value for name, value in numbers.items() if "log" not in name and value is not None]
    if not all(0 <= share <= 1 + 1e-6 for share in shares):
        raise FormatError(f"{key!r}: expected probabilities, found {reprlib.repr(row)}")
    labels, splits = (_shares(row.get(name, []), name, of) for name, of in SHARES.items())
    return Evidence(labels=labels, splits=splits, **numbers)


SHARES = {"labels": str, "splits": int}


def _shares(rows: object, key: str, of: type) -> tuple[Any, ...]:
    """Pairs of a label or a split and its probability."""
    pairs = [tuple(as_row(pair, 2)) for pair in as_list(rows, key)]
    for what, share in pairs:
        if type(what) is not of or type(share) not in (int, float) or not 0 <= share <= 1 + 1e-6:
            found = reprlib.repr([what, share])
            raise FormatError(f"{key!r}: expected a {of.__name__} and its share, found {found}")
    return tuple(pairs)
