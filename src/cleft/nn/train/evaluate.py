"""Scores of a model on sentences with gold trees: our own search, our own scorers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cleft.errors import CleftError
from cleft.metrics.evaluate import Evaluation, Settings, Trees
from cleft.metrics.evaluate import evaluate as evaluate_trees
from cleft.metrics.parseval import DiscourseMetric
from cleft.metrics.prm import COLLINS, SETTINGS
from cleft.nn.scorer import TorchScorer
from cleft.nn.train.data import Sentence
from cleft.search import Constraints, Parse, SearchOptions, Statistics, search
from cleft.search.scorer import Encoded, Scorer
from cleft.tasks import Task

__all__ = ["Outcome", "evaluate", "parse_sentences", "score"]

BATCH_TOKENS = 2000

COUNTED: dict[str, DiscourseMetric] = {"original": "original"}
"""What metrics of recipes count in discourse trees, if not what RST Parseval does."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one search made of all sentences: a parse each, None where it failed, and its cost."""

    parses: list[Parse | None]
    statistics: Statistics = field(default_factory=Statistics)


def _batches(sentences: Sequence[Sentence]) -> list[list[int]]:
    """Numbers of sentences, like lengths together."""
    batches: list[list[int]] = []
    room = 0
    for number in sorted(range(len(sentences)), key=lambda n: len(sentences[n].words)):
        if not batches or len(sentences[number].words) > room:
            batches.append([])
            room = BATCH_TOKENS
        batches[-1].append(number)
        room -= len(sentences[number].words)
    return batches


def parse_sentences(
    scorer: Scorer,
    task: Task[Any],
    sentences: Sequence[Sentence],
    *,
    beams: Sequence[int] = (1,),
    given_edus: bool = False,
) -> tuple[dict[int, Outcome], tuple[int, int]]:
    """The best parses by each width of beam, and how many tags were right of how many.

    Trees are built over the gold tags, since EVALB drops punctuation by its
    tag; what the part-of-speech head says is counted beside it. All searches
    use one encoding. With `given_edus` discourse trees have the gold EDUs.
    """
    outcomes = {beam: Outcome(parses=[None] * len(sentences)) for beam in beams}
    right = total = 0
    for batch in _batches(sentences):
        words = [sentences[number].words for number in batch]
        golds = [sentences[number].tree for number in batch]
        tags = [None if task.tags is None else task.tags(gold) for gold in golds]
        encoded = scorer.encode(words)
        for beam, outcome in outcomes.items():
            found = search(
                scorer,
                words,
                task,
                SearchOptions(beam=beam),
                constraints=[
                    Constraints(edus=task.leaf_ends(task.derive(gold))) if given_edus else None
                    for gold in golds
                ],
                tags=tags,
                encoded=encoded,
                statistics=outcome.statistics,
            )
            for number, result in zip(batch, found, strict=True):
                outcome.parses[number] = None if isinstance(result, CleftError) else result[0]
        matches, tokens = _count_tags(scorer, encoded, tags)
        right, total = right + matches, total + tokens
    return outcomes, (right, total)


def _count_tags(
    scorer: Scorer, encoded: Encoded, tags: Sequence[Sequence[str] | None]
) -> tuple[int, int]:
    """How many tags the model's head has right, of how many; (0, 0) without a head or tags."""
    guesses = scorer.tags(encoded) if any(tags) else None
    if guesses is None:
        return 0, 0
    names = np.array(scorer.tag_names())[guesses.argmax(-1)]
    flat = [tag for row in tags for tag in row or ()]
    return int((names == np.array(flat)).sum()), len(flat)


def score(
    task: str, sentences: Sequence[Sentence], parses: Sequence[Parse | None], *, metric: str
) -> Evaluation:
    """The evaluation of a task's parses; trees were cleaned when they were read."""
    trees = [parse.tree if parse is not None else None for parse in parses]
    parameters, counted = SETTINGS.get(metric, COLLINS), COUNTED.get(metric, "rst")
    settings = Settings(clean="none", parameters=parameters, metric=counted)
    gold = Trees.of(task, [sentence.tree for sentence in sentences])
    return evaluate_trees(task, gold, Trees.of(task, trees), settings)


def evaluate(
    scorer: TorchScorer, task: str, sentences: Sequence[Sentence], *, metric: str, beam: int = 1
) -> dict[str, float]:
    """The scores of a task's sentences, in per cent; with a head for it, `tagging`."""
    # Once here rather than at every step of the search; training sets its own mode.
    scorer.network.eval()
    kind = scorer.network.config.task(task)
    outcomes, (right, total) = parse_sentences(scorer, kind, sentences, beams=[beam])
    scores = score(task, sentences, outcomes[beam].parses, metric=metric).values
    return {**scores, "tagging": 100 * right / total} if total else scores
