"""The corpus through Python: stream, workers, parse, parse_tokens, segment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import cleft
from cleft.sentence import Sentence
from tests.torture.checks import Tally, check_item
from tests.torture.corpus import Case

__all__ = ["as_items", "by_source", "through_api"]

Item = str | list[str]


def as_items(cases: Iterable[Case]) -> list[Item]:
    """What a program would give: bytes are read as a careless one reads them."""
    return [
        case.content.decode("utf-8", "surrogateescape")
        if isinstance(case.content, bytes)
        else case.content
        for case in cases
    ]


def by_source(results: Iterable[Sentence], count: int) -> list[list[Sentence]]:
    """The results of each item; they must come in the order of the items."""
    found: list[list[Sentence]] = [[] for _ in range(count)]
    last = 0
    for result in results:
        assert result.source >= last, f"{result.source} after {last}"
        last = result.source
        found[last].append(result)
    return found


def through_api(
    cases: Sequence[Case], model: str | Path, *, jobs: int = 2, every: int = 1
) -> dict[str, Any]:
    """All cases through `stream`, twice; every so many of them alone as well."""
    parser = cleft.load(model)
    items = as_items(cases)
    streamed = by_source(parser.stream(items), len(items))
    tally = Tally()
    for case, item, found in zip(cases, items, streamed, strict=True):
        check_item(tally, case.name, item, found)
    doors = {"stream": tally}
    if jobs > 1:
        again = by_source(parser.stream(items, jobs=jobs), len(items))
        doors[f"stream, {jobs} jobs"] = tally = Tally()
        for case, item, found in zip(cases, items, again, strict=True):
            check_item(tally, case.name, item, found)
    doors["alone"] = alone = Tally()
    for case, item in list(zip(cases, items, strict=True))[::every]:
        found = parser.parse(item) if isinstance(item, str) else parser.parse_tokens([item])
        check_item(alone, case.name, item, found)
        if isinstance(item, str):
            parts = parser.segment(item)
            wanted = [len(sentence.edus) for sentence in found]
            if [len(part) for part in parts] != wanted:
                alone.fault(case.name, ["segment and parse find different EDUs"])
    return {name: vars(tally) for name, tally in doors.items()}
