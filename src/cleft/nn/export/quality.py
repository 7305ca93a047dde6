"""What quantisation costs: dev scores of an exported model against those of the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cleft.errors import CleftError, ModelError, UsageError
from cleft.nn.train.data import Sentence, read_sentences
from cleft.nn.train.recipe import DataConfig
from cleft.runtime import Manifest
from cleft.runtime.batches import plan
from cleft.search import search
from cleft.search.scorer import Scorer
from cleft.tasks import Task, task_names

__all__ = ["MOST_LOST", "Dev", "check_tasks", "dev_score", "dev_sentences", "refuse_loss"]

Dev = Mapping[str, Sequence[Sentence]]
"""Dev sentences by task."""

MOST_LOST = 0.2
"""How much F1, in per cent, quantisation may cost."""


def dev_sentences(names: Sequence[str], *, clean: str = "ptb") -> dict[str, list[Sentence]]:
    """The sentences of files that are named as TASK=FILE."""
    found: dict[str, list[Sentence]] = {}
    for name in names:
        task, separator, path = name.partition("=")
        if task not in task_names() or not separator:
            raise UsageError(
                f"expected TASK=FILE with the task {' or '.join(task_names())}, found {name!r}"
            )
        config = DataConfig(train=(path,), dev=(path,), clean=clean)
        found.setdefault(task, []).extend(read_sentences(task, [path], config))
    return found


def check_tasks(dev: Dev, tasks: Sequence[str]) -> None:
    """Fail unless there are dev trees of every task of a model, and of no other."""
    if set(dev) != set(tasks):
        raise UsageError(
            f"expected dev trees of {' and '.join(tasks)}, found {' and '.join(sorted(dev))}",
            where="--dev",
            hint="give --dev TASK=FILE for each task that the model has",
        )


def dev_score(scorer: Scorer, task: Task[Any], dev: Sequence[Sentence], metric: str) -> float:
    """The score that a model is selected by, in per cent."""
    trees: list[Any] = [None] * len(dev)
    for batch in plan([len(sentence.words) for sentence in dev]):
        words = [dev[number].words for number in batch]
        golds = [dev[number].tree for number in batch]
        tags = [None if task.tags is None else task.tags(gold) for gold in golds]
        for number, result in zip(batch, search(scorer, words, task, tags=tags), strict=True):
            trees[number] = None if isinstance(result, CleftError) else result[0].tree
    return task.score([sentence.tree for sentence in dev], trees, metric)[task.main]


def refuse_loss(
    before: Scorer,
    after: Scorer,
    manifest: Manifest,
    dev: Dev,
    metrics: Mapping[str, str],
    where: str,
) -> dict[str, dict[str, float | str]]:
    """Both scorers' dev scores by task, by the metric of each; a ModelError if one loses much."""
    scores: dict[str, dict[str, float | str]] = {}
    for name, sentences in dev.items():
        task = manifest.task(name)
        metric = metrics.get(name, task.metrics[0])
        full, small = (dev_score(scorer, task, sentences, metric) for scorer in (before, after))
        scores[name] = {"metric": metric, "fp32": round(full, 3), "int8": round(small, 3)}
        if full - small > MOST_LOST:
            raise ModelError(
                f"int8 lowers the {name} F1 ({metric}) on dev from {full:.2f} to {small:.2f}, "
                f"by more than {MOST_LOST}",
                where=where,
                hint="export without --int8",
            )
    return scores
