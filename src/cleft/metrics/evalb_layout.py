"""EVALB's own layout, character for character."""

from __future__ import annotations

from collections.abc import Iterator

from cleft.metrics.evalb import ERROR, SKIPPED, SentenceScore, SyntaxScores, Totals

__all__ = ["evalb_lines", "stopped_lines"]

RULE = "=" * 76
HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag",
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy",
    RULE,
)


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
        yield row_line(row)
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
            return [*HEAD, *map(row_line, rows[:shown])]
        count += 1
    return None


def row_line(row: SentenceScore) -> str:
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
