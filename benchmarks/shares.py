"""Where the time of a parse goes: each graph, the search, the trees, the rest.

Processor time of one thread, so that a machine that does other work disturbs
it little. Each part has its own time only, not that of the parts it calls.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cleft
from cleft import search as searching
from cleft.runtime import OnnxScorer

ROWS = {
    "transformer": ("pieces", 2),
    "encoder": ("context", 2),
    "chars": ("chars", 2),
    "tags": ("boundaries", 1),
    "memory": ("boundaries", 1),
    "step": ("left", 1),
    "labels": ("first", 1),
}
"""The input of a graph whose first dimensions count the rows of its products."""

PRODUCTS = ("MatMul", "Gemm", "LSTM", "MatMulInteger", "MatMulIntegerToFloat")


class Clock:
    """Time by part; a part that calls another does not count for that one's time."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.calls: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        self._stack = ["rest"]
        self._last = time.process_time()

    def _tick(self) -> None:
        now = time.process_time()
        self.spent[self._stack[-1]] += now - self._last
        self._last = now

    def wrap(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, its time counted."""

        def timed(*args: Any, **options: Any) -> Any:
            self._tick()
            self._stack.append(name)
            try:
                return work(*args, **options)
            finally:
                self._tick()
                self._stack.pop()
                self.calls[name] += 1

        return timed

    def wrap_graphs(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """`Sessions.run`, by graph, with the rows that went through it."""

        def timed(graph: str, inputs: dict[str, Any]) -> Any:
            part = graph.rpartition("-")[2]
            key, dimensions = ROWS[part]
            shape = inputs[key if key in inputs else "vectors"].shape
            self.rows[part] += int(shape[0] * (shape[1] if dimensions == 2 else 1))
            return self.wrap(part, work)(graph, inputs)

        return timed

    def stop(self) -> None:
        """Count what is under way."""
        self._tick()


def weights(path: Path) -> dict[str, int]:
    """How many products a row costs in each graph: the elements of the matrices it meets."""
    import onnx

    found = {}
    for file in sorted(path.glob("*.onnx")):
        graph = onnx.load(str(file)).graph
        sizes = {one.name: list(one.dims) for one in graph.initializer}
        used = {
            name
            for node in graph.node
            if node.op_type in PRODUCTS
            for name in node.input
            if len(sizes.get(name, [])) > 1
        }
        total = 0
        for name in used:
            count = 1
            for side in sizes[name]:
                count *= side
            total += count
        found[file.stem.rpartition("-")[2]] = total
    return found


@contextmanager
def watched(parser: cleft.Parser) -> Iterator[Clock]:
    """A clock that counts the time of a parser's parts, until it is left."""
    clock = Clock()
    scorer = parser.scorer
    assert isinstance(scorer, OnnxScorer)
    sessions = scorer.sessions
    wrapped = [
        (sessions, "run", clock.wrap_graphs),
        (scorer, "encode", lambda work: clock.wrap("input", work)),
        (searching, "find", lambda work: clock.wrap("search", work)),
        (searching, "assemble", lambda work: clock.wrap("trees", work)),
    ]
    before = [getattr(owner, name) for owner, name, _ in wrapped]
    for (owner, name, wrap), work in zip(wrapped, before, strict=True):
        setattr(owner, name, wrap(work))
    try:
        yield clock
    finally:
        clock.stop()
        for (owner, name, _), work in zip(wrapped, before, strict=True):
            setattr(owner, name, work)


def shares(path: Path, words: Sequence[Sequence[str]]) -> dict[str, Any]:
    """The parts of parsing sentences with a model, greedy and beam 20."""
    parser = cleft.load(path)
    sizes = weights(path)
    results: dict[str, Any] = {}
    for name, beam in (("greedy", 1), ("beam 20", 20)):
        parser.parse_tokens(words[:8], task="syntax", beam=beam)
        with watched(parser) as clock:
            parser.parse_tokens(words, task="syntax", beam=beam)
        results[name] = _table(clock, sizes, sum(map(len, words)), len(words))
    return results


def _table(clock: Clock, sizes: dict[str, int], tokens: int, sentences: int) -> dict[str, Any]:
    total = sum(clock.spent.values())
    parts = {}
    for name, spent in sorted(clock.spent.items(), key=lambda item: -item[1]):
        part: dict[str, Any] = {
            "share": round(100 * spent / total, 1),
            "us_per_token": round(1e6 * spent / tokens, 2),
            "calls": clock.calls[name],
        }
        if clock.rows[name] and spent:
            part["rows"] = clock.rows[name]
            part["products_per_row"] = sizes.get(name, 0)
            part["gflops"] = round(2 * clock.rows[name] * sizes.get(name, 0) / spent / 1e9, 1)
        parts[name] = part
    return {
        "seconds": round(total, 3),
        "tokens": tokens,
        "sentences": sentences,
        "parts": parts,
    }
