"""Scores as people, programs and EVALB's readers want them: tables, JSON, EVALB's own layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cleft.metrics.evalb import ERROR, SKIPPED, SentenceScore, SyntaxScores, Totals
from cleft.metrics.parseval import MEASURES, DiscourseScores

if TYPE_CHECKING:
    from cleft.metrics import Counts
    from cleft.metrics.evalb import LabelScores
    from cleft.metrics.significance import Comparison, Interval

__all__ = [
    "comparison_data", "comparison_report", "confusion_report", "evalb_lines", "genre_report",
    "interval_data", "interval_report", "label_data", "label_report", "length_report",
    "scores_data", "scores_report", "stopped_lines", "table", "totals_data",
]  # fmt: skip

SHOWN = 10  # problems listed before the rest is only counted
RULE = "=" * 76
HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag",
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy",
    RULE,
)


# ---------------------------------------------------------------- tables


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


def scores_report(scores: SyntaxScores | DiscourseScores) -> Iterator[str]:
    """The scores of a set of sentences."""
    if isinstance(scores, SyntaxScores):
        return _syntax_report(scores)
    return _discourse_report(scores)


def _syntax_report(scores: SyntaxScores) -> Iterator[str]:
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


def _discourse_report(scores: DiscourseScores) -> Iterator[str]:
    """All measures of discourse trees."""
    kind = "RST Parseval" if scores.metric == "rst" else "original Parseval"
    edus = "gold EDUs" if scores.gold_edus else "end to end"
    yield (
        f"Discourse ({kind}, {edus}): {len(scores.sentences)} trees, "
        f"{scores.missing} without a predicted tree"
    )
    yield ""
    rows = [(name, getattr(scores, name)) for name in MEASURES]
    yield from table(
        ["", "precision", "recall", "F1", "matched", "gold", "predicted"],
        [(n, c.precision, c.recall, c.f1, c.matched, c.gold, c.predicted) for n, c in rows],
    )


def genre_report(parts: Mapping[str, Any]) -> Iterator[str]:
    """F1 of each measure by genre."""
    yield from table(
        ["genre", "trees", *MEASURES],
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


# ---------------------------------------------------------------- JSON: percentages not rounded


TOTALS = (
    "recall", "precision", "f1", "complete", "tagging", "errors", "skipped", "sentences", "valid",
    "matched", "gold", "predicted", "crossing", "no_crossing", "two_or_less_crossing", "words",
    "correct_tags",
)  # fmt: skip
RENAMED = {"no_crossing": "uncrossed", "two_or_less_crossing": "little_crossed"}
COUNTS = ("precision", "recall", "f1", "matched", "gold", "predicted")


def totals_data(total: Totals) -> dict[str, Any]:
    """The totals of a set of sentences."""
    return {name: getattr(total, RENAMED.get(name, name)) for name in TOTALS}


def scores_data(scores: SyntaxScores | DiscourseScores) -> dict[str, Any]:
    """The scores of a set of sentences."""
    if isinstance(scores, SyntaxScores):
        return _syntax_data(scores)
    return _discourse_data(scores)


def _syntax_data(scores: SyntaxScores) -> dict[str, Any]:
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


def _counts_data(counts: Counts) -> dict[str, Any]:
    """Counts with their percentages."""
    return {name: getattr(counts, name) for name in COUNTS}


def _discourse_data(scores: DiscourseScores) -> dict[str, Any]:
    """The scores of discourse trees: F1 of each measure, and the detail."""
    measures = {name: getattr(scores, name) for name in MEASURES}
    return {
        "task": "discourse",
        "metric": scores.metric,
        "gold_edus": scores.gold_edus,
        **{name: counts.f1 for name, counts in measures.items()},
        "sentences": len(scores.sentences),
        "missing": scores.missing,
        "detail": {name: _counts_data(counts) for name, counts in measures.items()},
    }


def label_data(found: LabelScores) -> dict[str, Any]:
    """Counts by label."""
    return {label: _counts_data(counts) for label, counts in found.labels.items()}


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


# ---------------------------------------------------------------- EVALB, character for character


def evalb_lines(scores: SyntaxScores) -> Iterator[str]:
    """The lines that EVALB prints, without their line ends.

    >>> from cleft import Tree
    >>> from cleft.metrics.evalb import score_syntax
    >>> tree = Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept)))")
    >>> list(evalb_lines(score_syntax([tree], [tree])))[3]
    '   1    2    0  100.00 100.00     3      3    3      0      2     2   100.00'
    """
    yield from HEAD
    for row in scores.sentences:
        yield _row_line(row)
    yield RULE
    yield _total_line(scores.total)
    yield "=== Summary ==="
    yield ""
    yield "-- All --"
    yield from _summary(scores.total)
    yield ""
    yield f"-- len<={scores.parameters.cutoff} --"
    yield from _summary(scores.short)


def stopped_lines(scores: SyntaxScores) -> list[str] | None:
    """What EVALB has printed when it gives up over too many errors; None if it does not.

    It gives up at the second error beyond MAX_ERROR, without a summary.
    """
    rows, count = scores.sentences, 0
    for index, row in enumerate(rows):
        # The variant prints its row before it counts the error, and counts
        # none if it goes on to score the sentence a second time.
        again = index + 1 < len(rows) and rows[index + 1].number == row.number
        if row.status == SKIPPED or not row.problem or again:
            continue
        if count > scores.parameters.max_error:
            shown = index if row.status == ERROR else index + 1
            return [*HEAD, *map(_row_line, rows[:shown])]
        count += 1
    return None


def _row_line(row: SentenceScore) -> str:
    """The line of one sentence."""
    return (
        f"{row.number:4d}  {row.length:3d}    {row.status:d}  "
        f"{row.recall:6.2f} {row.precision:6.2f}   "
        f"{row.matched:3d}    {row.gold:3d}  {row.predicted:3d}    {row.crossing:3d}   "
        f"{row.words:4d}  {row.correct_tags:4d}   {row.tagging:6.2f}"
    )


def _total_line(total: Totals) -> str:
    brackets = ""
    if total.gold and total.predicted:
        brackets = (
            f"                {total.recall:6.2f} {total.precision:6.2f} "
            f"{total.matched:6d} {total.gold:5d} {total.predicted:5d}  "
            f"{total.crossing_brackets:5d}"
        )
    return f"{brackets}  {total.words:5d} {total.correct_tags:5d}   {total.tagging:6.2f}"


def _summary(total: Totals) -> Iterator[str]:
    yield f"Number of sentence        = {total.sentences:6d}"
    yield f"Number of Error sentence  = {total.errors:6d}"
    yield f"Number of Skip  sentence  = {total.skipped:6d}"
    yield f"Number of Valid sentence  = {total.valid:6d}"
    yield f"Bracketing Recall         = {total.recall:6.2f}"
    yield f"Bracketing Precision      = {total.precision:6.2f}"
    # EVALB divides 0 by 0 here, and this is what C prints for it.
    mean = f"{total.f1:6.2f}" if total.matched else "  -nan"
    yield f"Bracketing FMeasure       = {mean}"
    yield f"Complete match            = {total.complete:6.2f}"
    yield f"Average crossing          = {total.crossing:6.2f}"
    yield f"No crossing               = {total.uncrossed:6.2f}"
    yield f"2 or less crossing        = {total.little_crossed:6.2f}"
    yield f"Tagging accuracy          = {total.tagging:6.2f}"
