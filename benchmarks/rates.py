"""Speeds of answers: sentences and tokens a second, and how many times a baseline's."""

from __future__ import annotations

from statistics import median
from typing import Any

__all__ = ["Results", "rate", "ratios", "with_rates"]

Results = dict[str, Any]


def rate(answer: Results) -> float:
    """Sentences a second, 0 where there was an error."""
    return answer["sentences"] / answer["seconds"] if answer.get("seconds") else 0.0


def with_rates(answer: Results) -> Results:
    if "error" in answer:
        return answer
    each = {key: round(answer[key] / answer["seconds"], 2) for key in ("sentences", "tokens")}
    return {
        **answer,
        "sentences_per_second": each["sentences"],
        "tokens_per_second": each["tokens"],
    }


def ratios(answers: dict[str, list[Results]], baseline: str = "supar") -> Results:
    """How many times the baseline's speed, round by round: median, lowest, highest.

    >>> slow, fast = {"seconds": 2.0, "sentences": 4}, {"seconds": 0.5, "sentences": 4}
    >>> ratios({"supar": [slow], "lstm": [fast]})["lstm"]["median"]
    4.0
    """
    found: Results = {}
    for name, rounds in answers.items():
        both = zip(rounds, answers.get(baseline, []), strict=False)
        values = sorted(rate(one) / rate(other) for one, other in both if rate(one) and rate(other))
        if values:
            found[name] = {
                "median": round(median(values), 2),
                "lowest": round(values[0], 2),
                "highest": round(values[-1], 2),
                "rounds": len(values),
            }
    return found
