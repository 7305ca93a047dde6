"""Scores of a model on sentences with gold trees: our own search, our own scorers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cleft.errors import CleftError
from cleft.nn.scorer import TorchEncoded, TorchScorer
from cleft.nn.train.data import Sentence
from cleft.search import Constraints, Parse, SearchOptions, Statistics, search
from cleft.tasks import get_task

__all__ = ["Outcome", "evaluate", "parse_sentences", "score"]

BATCH_TOKENS = 2000


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
    scorer: TorchScorer,
    task: str,
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
    network = scorer.network
    # Once here rather than at every step of the search; training sets its own mode.
    network.eval()
    kind = network.config.task(task)
    outcomes = {beam: Outcome(parses=[None] * len(sentences)) for beam in beams}
    right = total = 0
    for batch in _batches(sentences):
        words = [sentences[number].words for number in batch]
        golds = [sentences[number].tree for number in batch]
        tags = [None if kind.tags is None else kind.tags(gold) for gold in golds]
        encoded = scorer.encode(words)
        for beam, outcome in outcomes.items():
            found = search(
                scorer,
                words,
                kind,
                SearchOptions(beam=beam),
                constraints=[
                    Constraints(edus=kind.leaf_ends(gold)) if given_edus else None for gold in golds
                ],
                tags=tags,
                encoded=encoded,
                statistics=outcome.statistics,
            )
            for number, result in zip(batch, found, strict=True):
                outcome.parses[number] = None if isinstance(result, CleftError) else result[0]
        if kind.tags is not None:
            matches, tokens = _count_tags(scorer, encoded, tags)
            right, total = right + matches, total + tokens
    return outcomes, (right, total)


def _count_tags(
    scorer: TorchScorer, encoded: TorchEncoded, tags: Sequence[Sequence[str] | None]
) -> tuple[int, int]:
    """How many tags the model's head has right, of how many; (0, 0) without a head."""
    guesses = scorer.tags(encoded)
    if guesses is None:
        return 0, 0
    names = np.array(scorer.tag_names())[guesses.argmax(-1)]
    flat = [tag for row in tags for tag in row or ()]
    return int((names == np.array(flat)).sum()), len(flat)


def score(
    task: str, sentences: Sequence[Sentence], parses: Sequence[Parse | None], *, metric: str
) -> dict[str, float]:
    """The scores of a task's parses, in per cent."""
    trees = [parse.tree if parse is not None else None for parse in parses]
    return get_task(task).score([sentence.tree for sentence in sentences], trees, metric)


def evaluate(
    scorer: TorchScorer, task: str, sentences: Sequence[Sentence], *, metric: str, beam: int = 1
) -> dict[str, float]:
    """The scores of a task's sentences, in per cent; with a head for it, `tagging`."""
    outcomes, (right, total) = parse_sentences(scorer, task, sentences, beams=[beam])
    scores = score(task, sentences, outcomes[beam].parses, metric=metric)
    return {**scores, "tagging": 100 * right / total} if total else scores
