"""Scores of trees that come in a request: what `cleft evaluate --json` prints of files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from cleft.errors import CleftError
from cleft.files import Text
from cleft.metrics.evaluate import Settings, Trees, common_task, read_trees
from cleft.metrics.evaluate import evaluate as evaluate_trees
from cleft.metrics.prm import SETTINGS
from cleft.server.requests import EvaluateRequest, check
from cleft.server.responses import RequestError
from cleft.tasks import DISCOURSE, SYNTAX

__all__ = ["evaluate"]

OPTIONS: Mapping[str, str] = {
    "clean": SYNTAX.name,
    "gold_edus": DISCOURSE.name,
    "metric": DISCOURSE.name,
    "prm": SYNTAX.name,
    "relations": DISCOURSE.name,
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
        gold, predicted = (_trees(getattr(request, side), side, request) for side in SIDES)
        task = common_task(request.task or None, [gold, predicted])
        _check_options(request, task)
        return evaluate_trees(task, gold, predicted, _settings(request)).data()
    except RequestError:
        raise
    except CleftError as error:
        raise RequestError(422, error.problem, where=error.where, hint=error.hint) from error


def _settings(request: EvaluateRequest) -> Settings:
    return Settings(
        clean=request.clean or "ptb",
        parameters=SETTINGS[request.prm or "collins"],
        metric=request.metric or "rst",
        gold_edus=request.gold_edus or False,
    )


def _check_options(request: EvaluateRequest, task: str) -> None:
    for name, its_task in OPTIONS.items():
        if getattr(request, name) is not UNSET and its_task != task:
            raise RequestError(
                422,
                f"{name!r} is for {its_task}, and {task} is scored",
                where=f"body.{name}",
                hint=f"leave it out, or ask for the task {its_task!r}",
            )


def _trees(trees: str | list[dict[str, Any]], side: str, request: EvaluateRequest) -> Trees:
    """The trees of a side; a list has the records of JSON Lines."""
    text = trees if isinstance(trees, str) else "\n".join(map(json.dumps, trees))
    try:
        name = request.format or _guessed_format(text)
        return read_trees(Text(side, text), name, request.relations or "coarse")
    except UnicodeEncodeError as error:
        raise RequestError(
            422, "it holds half a surrogate pair", where=side, hint="send Unicode characters"
        ) from error


def _guessed_format(text: str) -> str:
    """The format of a text, by its first character."""
    return {"{": "jsonl", "<": "rs3"}.get(text.lstrip()[:1], "brackets")
