"""Where the brackets went wrong: scores by label, by sentence length, and confusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cleft.metrics.bracketing import Bracket, Rules
from cleft.metrics.counts import Counts
from cleft.metrics.evalb import SyntaxScores, Totals, compared
from cleft.tree import Tree

__all__ = ["Confusion", "LabelScores", "by_length", "label_scores"]

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

    >>> from cleft.metrics.evalb import score_syntax
    >>> tree = Tree.from_brackets("(NP (DT the) (NN cat))")
    >>> {name: total.sentences for name, total in by_length(score_syntax([tree], [tree])).items()}
    {'1-10': 1}
    """
    ranges: dict[int, list[int]] = {}
    for index, row in enumerate(scores.sentences):
        step = min((max(row.length, 1) - 1) // width, last // width)
        ranges.setdefault(step, []).append(index)
    named = {}
    for step in sorted(ranges):
        first = step * width + 1
        name = f"{first}-{first + width - 1}" if first <= last else f"{first}+"
        named[name] = Totals.of(scores.sentences[index] for index in ranges[step])
    return named


def label_scores(
    gold: Sequence[Tree | None], predicted: Sequence[Tree | None], scores: SyntaxScores
) -> LabelScores:
    """Counts by label over the pairs that `scores` could score.

    >>> from cleft.metrics.evalb import score_syntax
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
    """The labels that match; what does not goes to the confusions, span by span."""
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
