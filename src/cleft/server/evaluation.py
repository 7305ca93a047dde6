"""Scores of trees that come in a request: what `cleft evaluate --json` prints of files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import UNSET

from cleft.discourse import DiscourseTree
from cleft.errors import CleftError, MetricError
from cleft.files import Text
from cleft.formats import registry as formats
from cleft.formats.jsonl import Record, Relations
from cleft.metrics import export
from cleft.metrics.evalb import score_syntax
from cleft.metrics.parseval import DiscourseMetric, score_discourse
from cleft.metrics.prm import parameters
from cleft.metrics.sources import pair_up
from cleft.server.requests import EvaluateRequest, check
from cleft.server.responses import RequestError

__all__ = ["evaluate"]

Task = Literal["syntax", "discourse"]
TASKS: tuple[Task, ...] = ("syntax", "discourse")
OPTIONS: Mapping[str, Task] = {
    "gold_edus": "discourse",
    "metric": "discourse",
    "prm": "syntax",
    "relations": "discourse",
}
"""The task that an option is for."""
SIDES = ("gold", "predicted")


def evaluate(value: Any) -> dict[str, Any]:
    """The scores that a body of /v1/evaluate asks for.

    >>> tree = "(NP (DT the) (NN rain))"
    >>> evaluate({"gold": tree, "predicted": tree})["f1"]
    100.0
    """
    request = check(value, EvaluateRequest)
    try:
        return _scores(request)
    except RequestError:
        raise
    except CleftError as error:
        raise RequestError(422, error.problem, where=error.where, hint=error.hint) from error


def _scores(request: EvaluateRequest) -> dict[str, Any]:
    sides = [_records(getattr(request, side), side, request) for side in SIDES]
    task = _scored_task(request.task or None, sides)
    _check_options(request, task)
    if task == "discourse":
        return _discourse_scores(sides, request.metric or "rst", request.gold_edus or False)
    one, two = ([record.syntax for record in side] for side in sides)
    gold, predicted = pair_up(one, two, SIDES)
    return export.syntax_data(score_syntax(gold, predicted, parameters(request.prm or "collins")))


def _check_options(request: EvaluateRequest, task: Task) -> None:
    for name, its_task in OPTIONS.items():
        if getattr(request, name) is not UNSET and its_task != task:
            raise RequestError(
                422,
                f"{name!r} is for {its_task}, and {task} is scored",
                where=f"body.{name}",
                hint=f"leave it out, or ask for the task {its_task!r}",
            )


def _records(
    trees: str | list[dict[str, Any]], side: str, request: EvaluateRequest
) -> list[Record]:
    """The trees of a side; a list has the records of JSON Lines."""
    text = trees if isinstance(trees, str) else "\n".join(map(json.dumps, trees))
    name = request.format or _guessed_format(text)
    relations: Relations = request.relations or "coarse"
    try:
        return formats.FORMATS[name].by_line(Text(side, text), relations)
    except UnicodeEncodeError as error:
        raise RequestError(
            422, "it holds half a surrogate pair", where=side, hint="send Unicode characters"
        ) from error


def _guessed_format(text: str) -> str:
    """The format of a text, by its first character."""
    return {"{": "jsonl", "<": "rs3"}.get(text.lstrip()[:1], "brackets")


def _scored_task(wanted: Task | None, sides: list[list[Record]]) -> Task:
    """The task that both sides have trees of."""
    held = [
        {task for task in TASKS for record in side if getattr(record, task) is not None}
        for side in sides
    ]
    for side, tasks in zip(SIDES, held, strict=True):
        if not tasks or (wanted and wanted not in tasks):
            what = f"{wanted} tree" if wanted else "tree"
            raise MetricError(f"it has no {what}", where=side, hint="give at least one")
    if wanted:
        return wanted
    common = held[0] & held[1]
    if not common:
        raise MetricError("the sides hold trees of different tasks", hint="compare like with like")
    return "syntax" if "syntax" in common else "discourse"


def _discourse_scores(
    sides: list[list[Record]], metric: DiscourseMetric, gold_edus: bool
) -> dict[str, Any]:
    one, two = ([record.discourse for record in side] for side in sides)
    gold, predicted = pair_up(one, two, SIDES)
    known: list[DiscourseTree] = []
    for number, tree in enumerate(gold, start=1):
        if tree is None:
            raise MetricError(
                f"sentence {number} has no discourse tree",
                where="gold",
                hint="leave it out on both sides",
            )
        known.append(tree)
    return export.discourse_data(score_discourse(known, predicted, metric, gold_edus))
