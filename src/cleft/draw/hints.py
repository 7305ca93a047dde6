"""What a model thought of a node, in words: shown on hover."""

from __future__ import annotations

from collections.abc import Callable

from cleft.tree import Evidence

__all__ = ["UNSURE", "evidence_lines", "line_weight", "percent"]

THIN, THICK, PLAIN = 0.7, 1.6, 1.25
UNSURE = 0.6
"""A label or relation less probable than this is outlined."""


def percent(probability: float) -> str:
    """A probability for people.

    >>> percent(0.925), percent(0.0004)
    ('92 %', '<1 %')
    """
    return "<1 %" if 0 < probability < 0.01 else f"{100 * probability:.0f} %"


def line_weight(probability: float | None) -> float:
    """How thick the lines of a split are drawn: the surer, the thicker."""
    if probability is None:
        return PLAIN
    return THIN + (THICK - THIN) * min(1.0, max(0.0, probability))


def evidence_lines(evidence: Evidence | None, boundary: Callable[[int], str]) -> list[str]:
    """The lines that tell a node's probabilities and the runners-up.

    >>> evidence_lines(Evidence(label=0.9, labels=(("NP", 0.08),)), str)
    ['label 90 %, or NP 8 %']
    """
    if evidence is None:
        return []
    lines = []
    others = ", ".join(f"{name} {percent(p)}" for name, p in evidence.labels)
    if evidence.label is not None or others:
        lines.append(_line("label", evidence.label, others))
    others = ", ".join(f"{boundary(place)} {percent(p)}" for place, p in evidence.splits)
    if evidence.split is not None or others:
        lines.append(_line("split", evidence.split, others))
    return lines


def _line(what: str, probability: float | None, others: str) -> str:
    known = f" {percent(probability)}" if probability is not None else ""
    return f"{what}{known}" + (f", or {others}" if others else "")
