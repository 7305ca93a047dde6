"""Scores of constituency trees: EVALB's counts, in total, by sentence, length and label.

Words are compared after deletion. A pair whose words differ is an error and a
pair without a predicted tree is skipped; both leave precision and recall
altogether, which is why their numbers stand beside every score. Percentages
run from 0 to 100.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cleft.metrics import Counts, Shares, check_pairs, percentage
from cleft.metrics.bracketing import (
    Bracket,
    Bracketing,
    Rules,
    bracketing,
    crossings,
    matches,
    restore_quotes,
)
from cleft.metrics.prm import COLLINS, Parameters
from cleft.tree import Tree

__all__ = [
    "Confusion", "LabelScores", "SentenceScore", "SyntaxScores", "Totals", "by_length",
    "label_scores", "score_syntax",
]  # fmt: skip


VALID, ERROR, SKIPPED = 0, 1, 2


class _Shares(Shares):
    """The percentages of brackets and tags of one sentence or many."""

    __slots__ = ()

    words: int
    correct_tags: int

    @property
    def tagging(self) -> float:
        """Words with the right tag, in per cent."""
        return percentage(self.correct_tags, self.words)


@dataclass(frozen=True, slots=True)
class SentenceScore(_Shares):
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
    def is_complete(self) -> bool:
        """Whether all brackets agree."""
        return self.matched == self.gold == self.predicted


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals(_Shares):
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
    gold: Sequence[Tree | None], predicted: Sequence[Tree | None], parameters: Parameters = COLLINS
) -> SyntaxScores:
    """Score predicted trees against gold ones, pair by pair; None is a missing tree.

    >>> gold = Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept)))")
    >>> predicted = Tree.from_brackets("(S (NP (PRP She)) (VBD slept))")
    >>> scores = score_syntax([gold], [predicted])
    >>> round(scores.recall, 2), scores.precision, round(scores.f1, 2), scores.errors
    (66.67, 100.0, 80.0, 0)
    """
    check_pairs(gold, predicted)
    rules = Rules(parameters)
    rows: list[SentenceScore] = []
    for number, (one, two) in enumerate(zip(gold, predicted, strict=True), start=1):
        rows += _score_pair(number, one, two, rules)
    short = (row for row in rows if row.length <= parameters.cutoff)
    return SyntaxScores(
        parameters=parameters, sentences=tuple(rows), total=Totals.of(rows), short=Totals.of(short)
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
    index = None if one.words == two.words else rules.first_difference(one.words, two.words)
    if index is not None:
        problem = f"{one.words[index]!r} expected, {two.words[index]!r} found"
        return [*rows, SentenceScore(number, length, ERROR, problem=problem)]
    return [*rows, _compare(number, length, one, two, rules)]


def _compare(
    number: int, length: int, one: Bracketing, two: Bracketing, rules: Rules
) -> SentenceScore:
    if one.brackets == two.brackets:
        matched, crossing = len(one.brackets), 0
    else:
        matched = matches(one.brackets, two.brackets, rules)
        crossing = crossings(one.brackets, two.brackets, len(two.words))
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


Confusion = tuple[str | None, str | None]
"""Gold and predicted label of one span; None where the other side has no bracket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScores:
    """Counts for each label, and how often one was taken for another.

    Labels that the setting holds equal count as the first of them.
    """

    labels: dict[str, Counts]
    confusions: dict[Confusion, int]


def by_length(scores: SyntaxScores, width: int = 10, last: int = 50) -> dict[str, Totals]:
    """Totals for ranges of sentence length, those without a sentence left out.

    >>> tree = Tree.from_brackets("(NP (DT the) (NN cat))")
    >>> {name: total.sentences for name, total in by_length(score_syntax([tree], [tree])).items()}
    {'1-10': 1}
    """
    ranges: dict[int, list[SentenceScore]] = {}
    for row in scores.sentences:
        step = min((max(row.length, 1) - 1) // width, last // width)
        ranges.setdefault(step, []).append(row)
    named = {}
    for step in sorted(ranges):
        first = step * width + 1
        name = f"{first}-{first + width - 1}" if first <= last else f"{first}+"
        named[name] = Totals.of(ranges[step])
    return named


def label_scores(
    gold: Sequence[Tree | None], predicted: Sequence[Tree | None], scores: SyntaxScores
) -> LabelScores:
    """Counts by label over the pairs that `scores` could score.

    >>> gold = [Tree.from_brackets("(S (NP (NN rain)) (VP (VBD fell)))")]
    >>> predicted = [Tree.from_brackets("(S (NP (NN rain)) (PP (VBD fell)))")]
    >>> found = label_scores(gold, predicted, score_syntax(gold, predicted))
    >>> found.labels["S"].f1, found.confusions
    (100.0, {('VP', 'PP'): 1})
    """
    rules = Rules(scores.parameters)
    unscored = {row.number for row in scores.problems}
    golds, predictions, matches = Counter[str](), Counter[str](), Counter[str]()
    confusions = Counter[Confusion]()
    for number, (one, two) in enumerate(zip(gold, predicted, strict=True), start=1):
        if number in unscored:
            continue
        left, right = compared(one, two, rules)
        golds.update(label for _, _, label in left.brackets)
        predictions.update(label for _, _, label in right.brackets)
        matches.update(_pair_up(left.brackets, right.brackets, rules, confusions))
    names = sorted(golds.keys() | predictions.keys(), key=lambda name: (-golds[name], name))
    return LabelScores(
        labels={name: Counts(matches[name], golds[name], predictions[name]) for name in names},
        confusions=dict(sorted(confusions.items(), key=lambda item: (-item[1], str(item[0])))),
    )


def _pair_up(
    gold: list[Bracket], predicted: list[Bracket], rules: Rules, confusions: Counter[Confusion]
) -> list[str]:
    """The labels that match; the others are counted in `confusions`, span by span."""
    spans: dict[tuple[int, int], tuple[list[str], list[str]]] = {}
    for side, brackets in enumerate((gold, predicted)):
        for start, end, label in reversed(brackets):
            spans.setdefault((start, end), ([], []))[side].append(label)
    matched = []
    for wanted, found in spans.values():
        missed = []
        for label in wanted:
            index = next((i for i, other in enumerate(found) if rules.same(label, other)), None)
            if index is None:
                missed.append(label)
            else:
                del found[index]
                matched.append(label)
        for place in range(max(len(missed), len(found))):
            one = missed[place] if place < len(missed) else None
            two = found[place] if place < len(found) else None
            confusions[one, two] += 1
    return matched
