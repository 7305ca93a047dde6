"""Dev scores while training: our own search, our own scorers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cleft.discourse import DiscourseTree
from cleft.errors import CleftError
from cleft.metrics.evalb import score_syntax
from cleft.metrics.parseval import score_discourse
from cleft.metrics.prm import parameters
from cleft.nn.data import Sentence, syntax_task
from cleft.nn.scorer import TorchScorer
from cleft.search import SearchOptions, search
from cleft.tasks import DISCOURSE
from cleft.tree import Tree

__all__ = ["MAIN", "evaluate", "parse_sentences"]

MAIN = {"syntax": "f1", "discourse": "relation"}
"""The score of each task that a model is selected by."""

BATCH_TOKENS = 2000


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
    scorer: TorchScorer, task: str, sentences: Sequence[Sentence], *, beam: int = 1
) -> tuple[list[Tree | DiscourseTree | None], tuple[int, int]]:
    """The best tree of each sentence, and how many tags were right of how many.

    Trees are built over the gold tags, since the scorer drops punctuation by
    its tag; what the part-of-speech head says is counted beside it.
    """
    network = scorer.network
    # Once here rather than at every step of the search; training sets its own mode.
    network.eval()
    kind = syntax_task(network.config) if task == "syntax" else DISCOURSE
    trees: list[Tree | DiscourseTree | None] = [None] * len(sentences)
    right = total = 0
    for batch in _batches(sentences):
        words = [sentences[number].words for number in batch]
        golds = [sentences[number].tree for number in batch]
        tags = [gold.tags() if isinstance(gold, Tree) else None for gold in golds]
        encoded = scorer.encode(words)
        found = search(scorer, words, kind, SearchOptions(beam=beam), tags=tags, encoded=encoded)
        for number, result in zip(batch, found, strict=True):
            trees[number] = None if isinstance(result, CleftError) else result[0].tree
        if task == "syntax" and (guesses := scorer.tags(encoded)) is not None:
            names = np.array(scorer.tag_names())[guesses.argmax(-1)]
            flat = [tag for row in tags for tag in row or ()]
            right += int((names == np.array(flat)).sum())
            total += len(flat)
    return trees, (right, total)


def evaluate(
    scorer: TorchScorer, task: str, sentences: Sequence[Sentence], *, metric: str, beam: int = 1
) -> dict[str, float]:
    """The scores of a task's sentences, in per cent."""
    trees, (right, total) = parse_sentences(scorer, task, sentences, beam=beam)
    if task == "syntax":
        gold = [sentence.tree for sentence in sentences if isinstance(sentence.tree, Tree)]
        predicted = [tree if isinstance(tree, Tree) else None for tree in trees]
        syntax = score_syntax(gold, predicted, parameters(metric))
        scores = {
            "f1": syntax.f1,
            "precision": syntax.precision,
            "recall": syntax.recall,
            "complete": syntax.complete,
            "errors": float(syntax.errors + syntax.skipped),
        }
        return {**scores, "tagging": 100 * right / total} if total else scores
    golds = [s.tree for s in sentences if isinstance(s.tree, DiscourseTree)]
    parses = [tree if isinstance(tree, DiscourseTree) else None for tree in trees]
    discourse = score_discourse(golds, parses)
    names = ("span", "nuclearity", "relation", "full", "segmentation")
    return {name: getattr(discourse, name).f1 for name in names}
