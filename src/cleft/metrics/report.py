"""Scores for people: plain text in aligned columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cleft.metrics.breakdown import LabelScores
from cleft.metrics.evalb import SyntaxScores, Totals
from cleft.metrics.parseval import MEASURES, DiscourseScores
from cleft.metrics.significance import Comparison, Interval

__all__ = [
    "comparison_report",
    "confusion_report",
    "discourse_report",
    "genre_report",
    "interval_report",
    "label_report",
    "length_report",
    "syntax_report",
    "table",
]

SHOWN = 10  # problems listed before the rest is only counted


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    r"""Lines of aligned columns: the first to the left, the others to the right.

    >>> print(*table(["", "f1"], [["NP", 87.5], ["VP", 100.0]]), sep="\n")
             f1
    NP    87.50
    VP   100.00
    """
    texts = [list(head)] + [[_text(value) for value in row] for row in rows]
    widths = [max(len(row[column]) for row in texts) for column in range(len(head))]
    for row in texts:
        first, *others = zip(row, widths, strict=True)
        parts = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]
        yield "   ".join(parts).rstrip()


def _text(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def syntax_report(scores: SyntaxScores) -> Iterator[str]:
    """The totals, and every kind of sentence that was not scored."""
    total, short = scores.total, scores.short
    yield (
        f"Syntax (EVALB): {total.sentences} sentences, {total.valid} scored, "
        f"{total.errors} errors, {total.skipped} skipped"
    )
    yield ""
    names = {
        "recall": "recall",
        "precision": "precision",
        "f1": "F1",
        "complete": "complete match",
        "tagging": "tagging accuracy",
        "crossing": "crossing brackets a sentence",
        "uncrossed": "no crossing",
        "little_crossed": "two or less crossing",
        "valid": "sentences scored",
        "errors": "errors",
        "skipped": "skipped",
    }
    rows = [(text, getattr(total, name), getattr(short, name)) for name, text in names.items()]
    yield from table(["", "all", f"length <= {scores.parameters.cutoff}"], rows)
    problems = scores.problems
    if problems:
        yield ""
        yield f"{len(problems)} sentences with a problem:"
        for row in problems[:SHOWN]:
            yield f"  sentence {row.number}: {row.problem}"
        if len(problems) > SHOWN:
            yield f"  … and {len(problems) - SHOWN} more (--json lists them all)"


def length_report(ranges: Mapping[str, Totals]) -> Iterator[str]:
    """F1 by sentence length."""
    head = ["length", "sentences", "scored", "recall", "precision", "F1", "complete"]
    yield from table(
        head,
        [
            (name, t.sentences, t.valid, t.recall, t.precision, t.f1, t.complete)
            for name, t in ranges.items()
        ],
    )


def label_report(found: LabelScores) -> Iterator[str]:
    """Scores by label, the most frequent first."""
    yield from table(
        ["label", "gold", "predicted", "matched", "recall", "precision", "F1"],
        [
            (_label(name), c.gold, c.predicted, c.matched, c.recall, c.precision, c.f1)
            for name, c in found.labels.items()
        ],
    )


def confusion_report(found: LabelScores, most: int = 20) -> Iterator[str]:
    """What was taken for what; `none` is no bracket there."""
    pairs = list(found.confusions.items())
    yield from table(
        ["gold", "predicted", "times"],
        [(_label(gold), _label(predicted), n) for (gold, predicted), n in pairs[:most]],
    )
    if len(pairs) > most:
        yield f"… and {len(pairs) - most} more kinds (--json lists them all)"


def _label(label: str | None) -> str:
    return "(none)" if label is None else label or "(empty)"


def discourse_report(scores: DiscourseScores) -> Iterator[str]:
    """All measures of discourse trees."""
    kind = "RST Parseval" if scores.metric == "rst" else "original Parseval"
    edus = "gold EDUs" if scores.gold_edus else "end to end"
    yield (
        f"Discourse ({kind}, {edus}): {len(scores.sentences)} sentences, "
        f"{scores.missing} without a predicted tree"
    )
    yield ""
    rows = [(name, getattr(scores, name)) for name in MEASURES]
    yield from table(
        ["", "precision", "recall", "F1", "matched", "gold", "predicted"],
        [(n, c.precision, c.recall, c.f1, c.matched, c.gold, c.predicted) for n, c in rows],
    )


def genre_report(parts: Mapping[str, DiscourseScores]) -> Iterator[str]:
    """F1 of each measure by genre."""
    yield from table(
        ["genre", "sentences", *MEASURES],
        [
            (name, len(part.sentences), *(getattr(part, measure).f1 for measure in MEASURES))
            for name, part in parts.items()
        ],
    )


def interval_report(intervals: Mapping[str, Interval]) -> Iterator[str]:
    """Bootstrap intervals."""
    yield from table(
        ["95 % interval", "low", "high"],
        [(name, interval.low, interval.high) for name, interval in intervals.items()],
    )


def comparison_report(
    second: str, values: Mapping[str, tuple[float, float, Comparison]]
) -> Iterator[str]:
    """Two systems side by side; the difference is the second's gain."""
    yield f"Against {second}:"
    yield ""
    head = ["", "first", "second", "difference", "95 % interval", "p"]
    rows = []
    for name, (one, two, found) in values.items():
        interval = f"[{found.interval.low:+.2f}, {found.interval.high:+.2f}]"
        rows.append((name, one, two, f"{found.difference:+.2f}", interval, f"{found.p_value:.4f}"))
    yield from table(head, rows)
