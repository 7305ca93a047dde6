"""Scores of constituency trees: EVALB's counts, sentence by sentence and in total.

Words are compared after deletion. A pair whose words differ is an error and a
pair without a predicted tree is skipped; both leave precision and recall
altogether, which is why their numbers stand beside every score. Percentages
run from 0 to 100.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cleft.errors import MetricError
from cleft.metrics.bracketing import Bracket, Bracketing, Rules, bracketing, restore_quotes
from cleft.metrics.counts import percentage
from cleft.metrics.prm import COLLINS, Parameters
from cleft.tree import Tree

__all__ = ["SentenceScore", "SyntaxScores", "Totals", "score_syntax"]

VALID, ERROR, SKIPPED = 0, 1, 2


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """EVALB's row for one sentence.

    `status` is 0 for a scored sentence, 1 for an error, 2 for a skipped one;
    `problem` says what is wrong with it. (The SPMRL variant gives a sentence
    of the wrong length status 0 and no brackets; it has a problem still.)
    """

    number: int
    length: int
    status: int
    matched: int = 0
    gold: int = 0
    predicted: int = 0
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0
    problem: str = ""

    @property
    def recall(self) -> float:
        """Gold brackets that were found, in per cent."""
        return percentage(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """Predicted brackets that are right, in per cent."""
        return percentage(self.matched, self.predicted)

    @property
    def tagging(self) -> float:
        """Words with the right tag, in per cent."""
        return percentage(self.correct_tags, self.words)

    @property
    def is_complete(self) -> bool:
        """Whether all brackets agree."""
        return self.matched == self.gold == self.predicted


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over sentences, and the percentages made of them."""

    sentences: int
    errors: int
    skipped: int
    matched: int
    gold: int
    predicted: int
    complete_sentences: int
    crossing_brackets: int
    uncrossed_sentences: int
    little_crossed_sentences: int
    words: int
    correct_tags: int

    @classmethod
    def of(cls, rows: Iterable[SentenceScore]) -> Totals:
        """The sums over rows; errors and skipped sentences are only counted."""
        every = list(rows)
        valid = [row for row in every if row.status == VALID]
        return cls(
            sentences=len(every),
            errors=sum(row.status == ERROR for row in every),
            skipped=sum(row.status == SKIPPED for row in every),
            matched=sum(row.matched for row in valid),
            gold=sum(row.gold for row in valid),
            predicted=sum(row.predicted for row in valid),
            complete_sentences=sum(row.is_complete for row in valid),
            crossing_brackets=sum(row.crossing for row in valid),
            uncrossed_sentences=sum(row.crossing == 0 for row in valid),
            little_crossed_sentences=sum(row.crossing <= 2 for row in valid),
            words=sum(row.words for row in valid),
            correct_tags=sum(row.correct_tags for row in valid),
        )

    @property
    def valid(self) -> int:
        """Sentences that were scored."""
        return self.sentences - self.errors - self.skipped

    @property
    def recall(self) -> float:
        """Gold brackets that were found, in per cent."""
        return percentage(self.matched, self.gold)

    @property
    def precision(self) -> float:
        """Predicted brackets that are right, in per cent."""
        return percentage(self.matched, self.predicted)

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision; 0 where both are 0."""
        recall, precision = self.recall, self.precision
        # Written as in EVALB, so that not even the last bit differs.
        return 2 * precision * recall / (precision + recall) if self.matched else 0.0

    @property
    def complete(self) -> float:
        """Scored sentences whose brackets all agree, in per cent."""
        return percentage(self.complete_sentences, self.valid)

    @property
    def crossing(self) -> float:
        """Predicted brackets that cross a gold one, a sentence."""
        return self.crossing_brackets / self.valid if self.valid else 0.0

    @property
    def uncrossed(self) -> float:
        """Scored sentences without a crossing bracket, in per cent."""
        return percentage(self.uncrossed_sentences, self.valid)

    @property
    def little_crossed(self) -> float:
        """Scored sentences with two crossing brackets or fewer, in per cent."""
        return percentage(self.little_crossed_sentences, self.valid)

    @property
    def tagging(self) -> float:
        """Words with the right tag, in per cent."""
        return percentage(self.correct_tags, self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxScores:
    """The scores of predicted trees: a row for each sentence, and the totals.

    `total` is over all sentences, `short` over those up to the cutoff length.
    """

    parameters: Parameters
    sentences: tuple[SentenceScore, ...]
    total: Totals
    short: Totals

    @property
    def recall(self) -> float:
        """Gold brackets that were found, in per cent."""
        return self.total.recall

    @property
    def precision(self) -> float:
        """Predicted brackets that are right, in per cent."""
        return self.total.precision

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision."""
        return self.total.f1

    @property
    def complete(self) -> float:
        """Scored sentences whose brackets all agree, in per cent."""
        return self.total.complete

    @property
    def tagging(self) -> float:
        """Words with the right tag, in per cent."""
        return self.total.tagging

    @property
    def errors(self) -> int:
        """Sentences that could not be scored because their words differ."""
        return self.total.errors

    @property
    def skipped(self) -> int:
        """Sentences without a predicted tree."""
        return self.total.skipped

    @property
    def values(self) -> dict[str, float]:
        """The scores by name, in per cent; `errors` is how many sentences have none."""
        names = ("f1", "precision", "recall", "complete")
        found = {name: getattr(self, name) for name in names}
        return {**found, "errors": float(self.errors + self.skipped)}

    @property
    def problems(self) -> tuple[SentenceScore, ...]:
        """The rows that were not scored as they should be, each with its problem."""
        return tuple(row for row in self.sentences if row.problem)


def score_syntax(
    gold: Sequence[Tree | None],
    predicted: Sequence[Tree | None],
    parameters: Parameters = COLLINS,
) -> SyntaxScores:
    """Score predicted trees against gold ones, pair by pair; None is a missing tree.

    >>> gold = Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept)))")
    >>> predicted = Tree.from_brackets("(S (NP (PRP She)) (VBD slept))")
    >>> scores = score_syntax([gold], [predicted])
    >>> round(scores.recall, 2), scores.precision, round(scores.f1, 2), scores.errors
    (66.67, 100.0, 80.0, 0)
    """
    if len(gold) != len(predicted):
        raise MetricError(
            f"{len(gold)} gold trees but {len(predicted)} predicted ones",
            hint="give one predicted tree for each gold one, or None where there is none",
        )
    rules = Rules(parameters)
    rows: list[SentenceScore] = []
    for number, (one, two) in enumerate(zip(gold, predicted, strict=True), start=1):
        rows += _score_pair(number, one, two, rules)
    short = (row for row in rows if row.length <= parameters.cutoff)
    return SyntaxScores(
        parameters=parameters,
        sentences=tuple(rows),
        total=Totals.of(rows),
        short=Totals.of(short),
    )


def compared(
    gold: Tree | None, predicted: Tree | None, rules: Rules
) -> tuple[Bracketing, Bracketing]:
    """Both sides as EVALB compares them, quotation marks restored if the setting says so."""
    one, two = bracketing(gold, rules), bracketing(predicted, rules)
    if len(one.words) == len(two.words) or not rules.parameters.quotes:
        return one, two
    if gold is None or predicted is None or not two.words:
        return one, two
    length = one.length
    one, two = restore_quotes(gold, predicted, rules)
    one.length = length
    return one, two


def _score_pair(
    number: int, gold: Tree | None, predicted: Tree | None, rules: Rules
) -> list[SentenceScore]:
    one, two = compared(gold, predicted, rules)
    length = one.length
    if not two.words:
        return [SentenceScore(number, length, SKIPPED, problem="no predicted words")]
    rows = []
    if len(one.words) != len(two.words):
        problem = f"{len(one.words)} words expected, {len(two.words)} found"
        if not rules.is_spmrl:
            return [SentenceScore(number, length, ERROR, problem=problem)]
        # The variant counts the sentence as scored, with no brackets; and one
        # of a single gold word it goes on to score a second time.
        rows.append(SentenceScore(number, length, VALID, problem=problem))
        if len(one.words) > 1:
            return rows
    if not rules.same_words(one.words, two.words):
        index = rules.first_difference(one.words, two.words) or 0
        problem = f"{one.words[index]!r} expected, {two.words[index]!r} found"
        return [*rows, SentenceScore(number, length, ERROR, problem=problem)]
    return [*rows, _compare(number, length, one, two, rules)]


def _compare(
    number: int, length: int, one: Bracketing, two: Bracketing, rules: Rules
) -> SentenceScore:
    if one.brackets == two.brackets:
        matched, crossing = len(one.brackets), 0
    else:
        count = _matches_in_order if rules.greedy else _matches
        matched = count(one.brackets, two.brackets, rules)
        crossing = _crossing(one.brackets, two.brackets, len(two.words))
    equal = one.tags == two.tags
    correct = len(one.tags) if equal else sum(map(rules.same, one.tags, two.tags))
    return SentenceScore(
        number,
        length,
        VALID,
        matched,
        len(one.brackets),
        len(two.brackets),
        crossing,
        len(one.words),
        correct,
    )


def _matches(gold: list[Bracket], predicted: list[Bracket], rules: Rules) -> int:
    """How many brackets two multisets share."""
    left: dict[Bracket, int] = {}
    for bracket in gold:
        left[bracket] = left.get(bracket, 0) + 1
    matched = 0
    for bracket in predicted:
        count = left.get(bracket, 0)
        if count:
            left[bracket] = count - 1
            matched += 1
    return matched


def _matches_in_order(gold: list[Bracket], predicted: list[Bracket], rules: Rules) -> int:
    """As EVALB matches: each gold bracket, outermost first, takes the first that is equal."""
    left: dict[tuple[int, int], list[str]] = {}
    for start, end, label in reversed(predicted):
        left.setdefault((start, end), []).append(label)
    matched = 0
    for start, end, label in reversed(gold):
        candidates = left.get((start, end), [])
        for index, candidate in enumerate(candidates):
            if rules.same(label, candidate):
                del candidates[index]
                matched += 1
                break
    return matched


def _crossing(gold: list[Bracket], predicted: list[Bracket], length: int) -> int:
    """How many predicted brackets cross a gold one."""
    spans = {(start, end) for start, end, _ in gold}
    # A span that gold has too can cross none of gold's.
    doubtful = [(start, end) for start, end, _ in predicted if (start, end) not in spans]
    if not doubtful:
        return 0
    # The smallest gold bracket around each boundary: if any gold bracket
    # crosses at that boundary, this one does. Postorder has the inner ones
    # first, so going backwards they overwrite the outer ones.
    lefts, rights = [0] * (length + 1), [length] * (length + 1)
    for start, end, _ in reversed(gold):
        inside = end - start - 1
        lefts[start + 1 : end] = [start] * inside
        rights[start + 1 : end] = [end] * inside
    return sum(rights[start] < end or lefts[end] > start for start, end in doubtful)
