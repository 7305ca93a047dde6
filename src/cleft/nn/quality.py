"""What quantisation costs: dev scores of an exported model against those of the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cleft.errors import ModelError, UsageError
from cleft.nn.data import Sentence, read_sentences
from cleft.nn.evaluate import parse_sentences, score
from cleft.nn.recipe import DataConfig
from cleft.scorer import Scorer
from cleft.tasks import DISCOURSE, DiscourseTask, SyntaxTask

__all__ = ["MOST_LOST", "Dev", "check_tasks", "dev_score", "dev_sentences", "refuse_loss"]

Dev = Mapping[str, Sequence[Sentence]]
"""Dev sentences by task."""

MOST_LOST = 0.2
"""How much F1, in per cent, quantisation may cost."""

TASKS = ("syntax", "discourse")


def dev_sentences(names: Sequence[str], *, clean: str = "ptb") -> dict[str, list[Sentence]]:
    """The sentences of files that are named as TASK=FILE."""
    found: dict[str, list[Sentence]] = {}
    for name in names:
        task, separator, path = name.partition("=")
        if task not in TASKS or not separator:
            raise UsageError(
                f"expected TASK=FILE with the task {' or '.join(TASKS)}, found {name!r}"
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


def dev_score(scorer: Scorer, task: SyntaxTask | DiscourseTask, dev: Sequence[Sentence]) -> float:
    """The F1 that counts, in per cent: brackets for syntax, relations for discourse."""
    outcomes, _ = parse_sentences(scorer, task, dev)
    return score(task.name, dev, outcomes[1].parses, metric="collins").main


def refuse_loss(
    before: Scorer, after: Scorer, syntax: SyntaxTask, dev: Dev, where: str
) -> dict[str, dict[str, float]]:
    """Both scorers' dev scores by task; a ModelError if one loses too much."""
    scores: dict[str, dict[str, float]] = {}
    for task in (syntax, DISCOURSE):
        if task.name not in dev:
            continue
        full = dev_score(before, task, dev[task.name])
        small = dev_score(after, task, dev[task.name])
        scores[task.name] = {"fp32": round(full, 3), "int8": round(small, 3)}
        if full - small > MOST_LOST:
            raise ModelError(
                f"int8 lowers the {task.name} F1 on dev from {full:.2f} to {small:.2f}, "
                f"by more than {MOST_LOST}",
                where=where,
                hint="export without --int8",
            )
    return scores
