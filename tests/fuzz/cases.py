"""What targets are fed with: valid files, damaged; and JSON of every wrong shape."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

MOST = 1 << 20
"""Bytes of the largest case: repeating what was repeated grows fast."""

ODD = [
    b"",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    "\u2028".encode(),
    b"\r",
    b"\n",
    b"\t",
]
ODD += [
    "\u200d\U0001f469".encode(),
    "\u0301".encode(),
    b"-1",
    b"0",
    b"1e999",
    b"9" * 30,
    b"9" * 5000,
]


@dataclass(frozen=True, kw_only=True)
class Target:
    """Something that reads what others wrote: it may raise cleft's own errors and nothing else.

    `run` is given one case; `seconds` is the most that a case may take, once
    `warm` has been called.
    """

    name: str
    cases: st.SearchStrategy[Any]
    run: Callable[[Any], None]
    seconds: float = 10.0
    warm: Callable[[], object] = lambda: None


@st.composite
def damaged(draw: st.DrawFn, seeds: Sequence[bytes], words: Sequence[bytes] = ()) -> bytes:
    """One of some valid files with a few faults: cut, repeated, moved, overwritten, put in."""
    data = draw(st.sampled_from(seeds))
    put_in = st.sampled_from([*words, *ODD]) | st.binary(max_size=8)
    for _ in range(draw(st.integers(0, 6))):
        left = draw(st.integers(0, len(data)))
        right = min(len(data), left + draw(st.integers(0, 40)))
        match draw(st.integers(0, 6)):
            case 0:
                data = data[:left] + data[right:]
            case 1:
                data = data[:left] + draw(put_in) + data[left:]
            case 2:
                data = data[:left] + draw(put_in) + data[right:]
            case 3:
                data = data[:left] + data[left:right] * draw(st.integers(2, 3000)) + data[right:]
            case 4:
                data = data[:left]
            case 5:
                other = draw(st.sampled_from(seeds))
                data = data[:left] + other[draw(st.integers(0, len(other))) :]
            case 6:
                data = data[:left] + data[right:] + data[left:right]
        data = data[:MOST]
    return data


def files(seeds: Sequence[str | bytes], words: Sequence[str] = ()) -> st.SearchStrategy[bytes]:
    """Damaged files, and now and then bytes that never were one."""
    valid = [seed.encode() if isinstance(seed, str) else seed for seed in seeds]
    return damaged(valid, [word.encode() for word in words]) | st.binary(max_size=60)


NUMBERS = (
    st.integers()
    | st.floats()
    | st.sampled_from([0, -1, 2**31, 2**63, 2**64, 10**30, 1e308, -0.0, 0.5, 10**4000])
)
ATOMS = st.none() | st.booleans() | NUMBERS | st.text(max_size=12)


def json_values(keys: Sequence[str], atoms: st.SearchStrategy[Any] = ATOMS) -> Any:
    """Any JSON value, its objects made of these keys and others."""
    names = st.sampled_from(list(keys)) | st.text(max_size=4)
    return st.recursive(
        atoms,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
        max_leaves=8,
    )


@st.composite
def changed(draw: st.DrawFn, table: Any, depth: int = 0) -> Any:
    """A JSON value with one part of it replaced, removed, renamed or put in."""
    inner = isinstance(table, dict | list) and len(table) > 0
    if not inner or draw(st.integers(0, 5)) == 0:
        return draw(json_values(list(table) if isinstance(table, dict) else ["a"]))
    places = list(table) if isinstance(table, dict) else list(range(len(table)))
    place = draw(st.sampled_from(places))
    copy = table.copy()
    match draw(st.integers(0, 4)):
        case 0:
            del copy[place]
        case 1 if isinstance(copy, list):
            copy.insert(place, draw(ATOMS))
        case 1:
            copy[draw(st.text(max_size=3))] = draw(ATOMS)
        case 2 if isinstance(copy, list):
            copy += copy * draw(st.integers(1, 50))
        case _:
            copy[place] = draw(changed(table[place], depth + 1))
    return copy
