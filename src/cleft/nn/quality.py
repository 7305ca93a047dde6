"""What quantisation costs: dev scores of an exported model against those of the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cleft.discourse import DiscourseTree
from cleft.errors import CleftError, ModelError, UsageError
from cleft.metrics.evalb import score_syntax
from cleft.metrics.parseval import score_discourse
from cleft.metrics.prm import parameters
from cleft.nn.data import Sentence, read_sentences
from cleft.nn.recipe import DataConfig
from cleft.runtime.batches import plan
from cleft.scorer import Scorer
from cleft.search import search
from cleft.tasks import DISCOURSE, DiscourseTask, SyntaxTask
from cleft.tree import Tree

__all__ = ["MOST_LOST", "Dev", "check_tasks", "dev_score", "dev_sentences", "refuse_loss"]

Dev = Mapping[str, Sequence[Sentence]]
"""Dev sentences by task."""

MOST_LOST = 0.2
"""How much F1, in per cent, quantisation may cost."""

METRICS = {"syntax": "collins", "discourse": "parseval"}
"""How trees are scored unless the model says how it was chosen."""


def dev_sentences(names: Sequence[str], *, clean: str = "ptb") -> dict[str, list[Sentence]]:
    """The sentences of files that are named as TASK=FILE."""
    found: dict[str, list[Sentence]] = {}
    for name in names:
        task, separator, path = name.partition("=")
        if task not in METRICS or not separator:
            raise UsageError(
                f"expected TASK=FILE with the task {' or '.join(METRICS)}, found {name!r}"
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


def dev_score(
    scorer: Scorer, task: SyntaxTask | DiscourseTask, dev: Sequence[Sentence], metric: str
) -> float:
    """The F1 that counts, in per cent: brackets for syntax, relations for discourse."""
    trees: list[Tree | DiscourseTree | None] = [None] * len(dev)
    for batch in plan([len(sentence.words) for sentence in dev]):
        words = [dev[number].words for number in batch]
        golds = [dev[number].tree for number in batch]
        tags = [gold.tags() if isinstance(gold, Tree) else None for gold in golds]
        for number, result in zip(batch, search(scorer, words, task, tags=tags), strict=True):
            trees[number] = None if isinstance(result, CleftError) else result[0].tree
    if isinstance(task, SyntaxTask):
        gold = [sentence.tree for sentence in dev if isinstance(sentence.tree, Tree)]
        found = [tree if isinstance(tree, Tree) else None for tree in trees]
        return score_syntax(gold, found, parameters(metric)).f1
    relations = [s.tree for s in dev if isinstance(s.tree, DiscourseTree)]
    parses = [tree if isinstance(tree, DiscourseTree) else None for tree in trees]
    return score_discourse(relations, parses).relation.f1


def refuse_loss(
    before: Scorer,
    after: Scorer,
    syntax: SyntaxTask,
    dev: Dev,
    metrics: Mapping[str, str],
    where: str,
) -> dict[str, dict[str, float | str]]:
    """Both scorers' dev scores by task, by the metric of each; a ModelError if one loses much."""
    scores: dict[str, dict[str, float | str]] = {}
    for task in (syntax, DISCOURSE):
        if task.name not in dev:
            continue
        metric = metrics.get(task.name, METRICS[task.name])
        full = dev_score(before, task, dev[task.name], metric)
        small = dev_score(after, task, dev[task.name], metric)
        scores[task.name] = {"metric": metric, "fp32": round(full, 3), "int8": round(small, 3)}
        if full - small > MOST_LOST:
            raise ModelError(
                f"int8 lowers the {task.name} F1 ({metric}) on dev from {full:.2f} to {small:.2f}, "
                f"by more than {MOST_LOST}",
                where=where,
                hint="export without --int8",
            )
    return scores
