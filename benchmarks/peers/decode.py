"""The decoder of one parser alone, on one sentence of a given length: steps, time, memory.

    ANY/venv/bin/python decode.py supar --length 80
    ANY/venv/bin/python decode.py cleft --model DIR --search "beam 20" --length 80

Prints one line of JSON. A fresh process for each length, so that the peak of
memory is this length's own. What comes before the decoder is not counted: the
encoder, and a chart's n² scores, which are random numbers here (a chart's time
does not depend on them).
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

from measure import failure, peak_memory, read_sentences
from places import LENGTHS

LABELS = 100
"""Labels of a chart, about as many as wsj-sample has."""
GIGABYTE = 2**30
Work = Callable[[], dict[str, int]]
"""Decodes once; the steps that follow one another, and the splits that were scored."""


def _chart(length: int, passes: int) -> dict[str, int]:
    """A chart goes through its spans by width, and tries every boundary of each."""
    return {"steps": passes * (length - 1), "splits": passes * (length**3 - length) // 6}


def supar(options: argparse.Namespace) -> Work:
    """The CRF: marginals of all spans, the tree that is best by them, labels of all spans."""
    import torch
    from supar.models import CRFConstituencyModel
    from supar.structs import ConstituencyCRF

    torch.set_num_threads(1)
    width = options.length + 1
    spans, labels = torch.randn(1, width, width), torch.randn(1, width, width, LABELS)
    mask = torch.ones(1, width, width, dtype=torch.bool).triu_(1)

    def work() -> dict[str, int]:
        marginals = ConstituencyCRF(spans, mask[:, 0].sum(-1)).marginals
        with torch.no_grad():
            # It uses nothing of its own model here.
            CRFConstituencyModel.decode(None, marginals.detach(), labels, mask)
        return _chart(options.length, 2)

    return work


def benepar(options: argparse.Namespace) -> Work:
    """CKY by torch-struct, as its parser calls it."""
    import torch
    from benepar.decode_chart import ChartDecoder

    torch.set_num_threads(1)
    length = options.length
    scores = torch.randn(1, length, length, LABELS)
    decoder = ChartDecoder({str(number): number for number in range(LABELS)})

    def work() -> dict[str, int]:
        decoder.charts_from_pytorch_scores_batched(scores, torch.tensor([length]))
        return _chart(length, 1)

    return work


class OneByOne:
    """A scorer that does not say that it needs no history."""

    def __init__(self, scorer: Any) -> None:
        self._scorer = scorer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scorer, name)

    def stateless(self, task: str) -> bool:
        """As if each span had to wait for the one before it."""
        return False


def cleft(options: argparse.Namespace) -> Work:
    """Greedy, a beam, or all spans of a level at once (a model without history)."""
    from cleft.runtime import ModelDirectory, OnnxScorer
    from cleft.search import SearchOptions, Statistics, search

    scorer = OnnxScorer(ModelDirectory(options.model))
    task = scorer.manifest.task("syntax")
    levels = options.search == "levels"
    if levels and not scorer.stateless("syntax"):
        raise ValueError("the model has history: a span waits for the one before it")
    words = [read_sentences(LENGTHS / f"{options.length}.mrg")[0].words]
    encoded = scorer.encode(words)
    beam = int(options.search.removeprefix("beam ")) if options.search.startswith("beam") else 1
    used: Any = scorer if levels else OneByOne(scorer)

    def work() -> dict[str, int]:
        cost = Statistics()
        (found,) = search(
            used, words, task, SearchOptions(beam=beam), encoded=encoded, statistics=cost
        )
        if isinstance(found, Exception):
            raise found
        rows = cost.greedy_rows + cost.beam_rows
        steps = cost.greedy_calls + cost.beam_calls
        return {"steps": steps, "splits": rows * (options.length - 1)}

    return work


DECODERS: dict[str, Callable[[argparse.Namespace], Work]] = {
    "cleft": cleft,
    "supar": supar,
    "benepar": benepar,
}


def forget_peak() -> None:
    """Let the peak of memory be what is used now (Linux), not what loading a model took."""
    with suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
        stream.write("5")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Once for memory, then as often as there is time for; the first time counts if alone."""
    work = DECODERS[options.parser](options)
    forget_peak()
    before = peak_memory()
    began = time.perf_counter()
    counts = work()
    times = [time.perf_counter() - began]
    memory = peak_memory() - before
    while sum(times) + times[-1] < options.budget and len(times) <= options.repeat:
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    counted = times[1:] or times
    rounded = {"ms": round(1000 * median(counted), 3), "memory_mb": round(memory, 1)}
    return {**counts, **rounded, "runs": len(counted)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parser", choices=list(DECODERS))
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--search", default="greedy")
    parser.add_argument("--budget", type=float, default=5.0, help="seconds")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--memory", type=float, default=6.0, help="gigabytes it may use")
    options = parser.parse_args()
    limit = int(options.memory * GIGABYTE)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        found = measure(options)
    except Exception as error:  # what a parser cannot do is a result
        found = {"error": failure(error)}
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
