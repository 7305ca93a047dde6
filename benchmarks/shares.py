"""Where the time of a parse goes: each graph, the search, the trees, the rest.

Processor time of one thread, so that a machine that does other work disturbs
it little. Each part has its own time only, not that of the parts it calls.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from turns import places

ROWS = {
    "transformer": ("pieces", 2),
    "encoder": ("context", 2),
    "chars": ("chars", 2),
    "tags": ("boundaries", 1),
    "memory": ("boundaries", 1),
    "step": ("hidden_0", 1),
    "labels": ("first", 1),
}
"""The input of a graph whose first dimensions count the rows of its products."""

PRODUCTS = ("MatMul", "Gemm", "LSTM", "MatMulInteger", "MatMulIntegerToFloat")


class Clock:
    """Time by part; a part that calls another does not count for that one's time."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
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


def shares(path: Path, *, limit: int | None = None) -> dict[str, Any]:
    """The parts of parsing wsj-sample dev with a model, greedy and beam 20."""
    import cleft
    from cleft.formats.brackets import read_brackets
    from cleft.search import pipeline as searching

    trees = list(read_brackets(places.DATA / "dev.none.mrg"))[:limit]
    words = [list(tree.words()) for tree in trees]
    parser = cleft.load(path)
    sizes = weights(path)
    before = parser.scorer.sessions.run, parser.scorer.encode, searching.find, searching.assemble
    results: dict[str, Any] = {}
    for name, beam in (("greedy", 1), ("beam 20", 20)):
        parser.parse_tokens(words[:8], task="syntax", beam=beam)
        clock = Clock()
        parser.scorer.sessions.run = clock.wrap_graphs(before[0])  # type: ignore[method-assign]
        parser.scorer.encode = clock.wrap("input", before[1])  # type: ignore[method-assign]
        searching.find = clock.wrap("search", before[2])
        searching.assemble = clock.wrap("trees", before[3])
        try:
            parser.parse_tokens(words, task="syntax", beam=beam)
        finally:
            clock.stop()
            parser.scorer.sessions.run = before[0]  # type: ignore[method-assign]
            parser.scorer.encode = before[1]  # type: ignore[method-assign]
            searching.find, searching.assemble = before[2:]
        results[name] = _table(clock, sizes, sum(map(len, words)), len(words))
    return results


def _table(clock: Clock, sizes: dict[str, int], tokens: int, sentences: int) -> dict[str, Any]:
    total = sum(clock.spent.values())
    parts = {}
    for name, spent in clock.spent.most_common():
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
