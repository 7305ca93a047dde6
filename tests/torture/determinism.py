"""Whether a sentence's trees depend on anything but the sentence, the model and the settings.

`differences` compares two runs over the same sentences. Trees may differ where
two choices were as good as each other, within `TIE`; the log-probabilities of
equal trees may differ by as much.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log
from pathlib import Path
from random import Random
from typing import Any

import cleft
from cleft import parser as parsing
from cleft.evidence import Evidence
from cleft.runtime.batches import plan
from cleft.search import Parse
from cleft.sentence import Sentence

__all__ = ["TIE", "compositions", "differences", "fresh_digest", "unequal"]

TIE = 1e-4
Words = Sequence[Sequence[str]]


def differences(one: Sequence[Sentence], two: Sequence[Sentence]) -> dict[str, Any]:
    """How many trees differ, how many of those are ties, and how far log-probabilities are off.

    Both sides must have been parsed with `alternatives=1`.
    """
    trees = other = ties = 0
    worst = gap = 0.0
    for left, right in zip(one, two, strict=True):
        for task, (first, *_) in left.parses.items():
            second = right.parses[task][0]
            trees += 1
            if first.derivation == second.derivation:
                worst = max(worst, abs(first.log_prob - second.log_prob))
                continue
            other += 1
            found = _margin(first, second)
            ties += found <= TIE
            gap = max(gap, found)
    return {
        "trees": trees,
        "different": other,
        "ties": ties,
        "largest_margin": float(f"{gap:.2g}"),
        "largest_log_prob_difference": float(f"{worst:.2g}"),
    }


def _margin(one: Parse, two: Parse) -> float:
    """How much better the first choice in which they differ was than the next best, as logs."""
    changed = [
        mine
        for mine, yours in zip(one.derivation.splits, two.derivation.splits, strict=False)
        if mine != yours
    ]
    if changed:
        thought = one.evidence[changed[0].span]
        return _gap(thought.split, thought.splits)
    return min(_label_gaps(one.evidence), default=0.0)


def _label_gaps(evidence: Mapping[Any, Evidence]) -> Iterator[float]:
    """Only labels differ: that of the closest call is taken for it."""
    for thought in evidence.values():
        if thought.label is not None:
            yield _gap(thought.label, thought.labels)


def _gap(chosen: float | None, others: Sequence[tuple[Any, float]]) -> float:
    if chosen is None or not others:
        return 0.0
    return log(chosen) - log(max(others[0][1], 1e-30))


@contextmanager
def batches_of(tokens: int) -> Iterator[None]:
    """Batches of another size, which users cannot ask for."""
    usual, parsing.plan = parsing.plan, lambda lengths, *_: plan(lengths, tokens)
    try:
        yield
    finally:
        parsing.plan = usual


def compositions(
    model: str | Path, sentences: Words, *, jobs: int = 2, sizes: Sequence[int] = (50, 1_000, 4_000)
) -> dict[str, Any]:
    """Each sentence alone, against other sizes and orders of batches, threads and processes."""
    parser = cleft.load(model)
    words = [list(sentence) for sentence in sentences]
    alone = [parser.parse_tokens([one], alternatives=1)[0] for one in words]
    found: dict[str, Any] = {}
    for size in sizes:
        with batches_of(size):
            batch = parser.parse_tokens(words, alternatives=1)
        found[f"batches of {size} tokens"] = differences(alone, batch)
    order = list(range(len(words)))
    Random(1).shuffle(order)
    mixed = parser.parse_tokens([words[place] for place in order], alternatives=1)
    back = dict(zip(order, mixed, strict=True))
    found["another order"] = differences(alone, [back[place] for place in range(len(words))])
    threaded = cleft.load(model, threads=2).parse_tokens(words, alternatives=1)
    found["2 threads"] = differences(alone, threaded)
    if jobs > 1:
        streamed = list(parser.stream(words, alternatives=1, jobs=jobs))
        found[f"{jobs} processes"] = differences(alone, streamed)
    return found


def unequal(parts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What of `compositions` is more than ties and rounding."""
    return [
        f"{name}: {dict(part)}"
        for name, part in parts.items()
        if part["different"] != part["ties"] or part["largest_log_prob_difference"] > TIE
    ]


SCRIPT = """
import hashlib, json, sys
import cleft
lines = [json.loads(line) for line in sys.stdin]
digest = hashlib.sha256()
for sentence in cleft.load(sys.argv[1]).stream(lines, beam=int(sys.argv[2])):
    digest.update(sentence.to_jsonl().encode())
print(digest.hexdigest())
"""


def fresh_digest(model: str | Path, sentences: Words, *, beam: int = 1, seed: int = 0) -> str:
    """The digest of all output bytes, made by a process of its own with its own hash seed."""
    lines = "".join(json.dumps(list(one)) + "\n" for one in sentences)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(model), str(beam)],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
    )
    assert len(done.stdout.strip()) == hashlib.sha256().digest_size * 2
    return done.stdout.strip()
