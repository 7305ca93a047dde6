"""Scores as plain data for JSON. Percentages run from 0 to 100 and are not rounded."""

from __future__ import annotations

from typing import Any

from cleft.metrics.breakdown import LabelScores
from cleft.metrics.counts import Counts
from cleft.metrics.evalb import SyntaxScores, Totals
from cleft.metrics.parseval import MEASURES, DiscourseScores
from cleft.metrics.significance import Comparison, Interval

__all__ = [
    "comparison_data",
    "counts_data",
    "discourse_data",
    "interval_data",
    "label_data",
    "syntax_data",
    "totals_data",
]


def totals_data(total: Totals) -> dict[str, Any]:
    """The totals of a set of sentences."""
    return {
        "recall": total.recall,
        "precision": total.precision,
        "f1": total.f1,
        "complete": total.complete,
        "tagging": total.tagging,
        "errors": total.errors,
        "skipped": total.skipped,
        "sentences": total.sentences,
        "valid": total.valid,
        "matched": total.matched,
        "gold": total.gold,
        "predicted": total.predicted,
        "crossing": total.crossing,
        "no_crossing": total.uncrossed,
        "two_or_less_crossing": total.little_crossed,
        "words": total.words,
        "correct_tags": total.correct_tags,
    }


def syntax_data(scores: SyntaxScores) -> dict[str, Any]:
    """The scores of constituency trees.

    `errors` is what EVALB calls so. The SPMRL variant does not call a sentence
    of the wrong length an error; `mismatched` counts those too.
    """
    problems = [
        {"sentence": row.number, "status": row.status, "problem": row.problem}
        for row in scores.problems
    ]
    return {
        "task": "syntax",
        **totals_data(scores.total),
        "mismatched": sum(row["status"] != 2 for row in problems),
        "short": {"cutoff": scores.parameters.cutoff, **totals_data(scores.short)},
        "problems": problems,
    }


def counts_data(counts: Counts) -> dict[str, Any]:
    """Counts with their percentages."""
    return {
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        "matched": counts.matched,
        "gold": counts.gold,
        "predicted": counts.predicted,
    }


def discourse_data(scores: DiscourseScores) -> dict[str, Any]:
    """The scores of discourse trees: F1 of each measure, and the detail."""
    measures = {name: getattr(scores, name) for name in MEASURES}
    return {
        "task": "discourse",
        "metric": scores.metric,
        "gold_edus": scores.gold_edus,
        **{name: counts.f1 for name, counts in measures.items()},
        "sentences": len(scores.sentences),
        "missing": scores.missing,
        "detail": {name: counts_data(counts) for name, counts in measures.items()},
    }


def label_data(found: LabelScores) -> dict[str, Any]:
    """Counts by label."""
    return {label: counts_data(counts) for label, counts in found.labels.items()}


def interval_data(interval: Interval) -> list[float]:
    """An interval as [low, high]."""
    return [interval.low, interval.high]


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """A comparison of two systems."""
    return {
        "difference": comparison.difference,
        "interval": interval_data(comparison.interval),
        "p_value": comparison.p_value,
    }
