"""Scores of trees that come in a request: what `cleft evaluate --json` prints of files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast, get_args

from cleft.errors import CleftError
from cleft.files import Text
from cleft.formats.cleaning import CLEANINGS
from cleft.formats.jsonl import Relations
from cleft.metrics.evaluate import Settings, Trees, common_task, read_trees
from cleft.metrics.evaluate import evaluate as evaluate_trees
from cleft.metrics.parseval import DiscourseMetric
from cleft.metrics.prm import SETTINGS
from cleft.server.asked import Keys
from cleft.server.refusals import RequestError

__all__ = ["FORMATS", "evaluate"]

FORMATS = ("brackets", "jsonl", "rs3")
Task = Literal["syntax", "discourse"]
OPTIONS: Mapping[str, Task] = {
    "prm": "syntax",
    "clean": "syntax",
    "metric": "discourse",
    "gold_edus": "discourse",
    "relations": "discourse",
}
"""Which task an option is about."""
SIDES = ("gold", "predicted")


def evaluate(table: Any) -> dict[str, Any]:
    """The scores that a body of /v1/evaluate asks for.

    >>> tree = "(NP (DT the) (NN rain))"
    >>> evaluate({"gold": tree, "predicted": tree})["f1"]
    100.0
    """
    keys = Keys(table)
    texts = [_text(keys, side) for side in SIDES]
    name = keys.choice("format", FORMATS, "") if "format" in keys.table else ""
    task = keys.choice("task", get_args(Task), "") if "task" in keys.table else ""
    given = keys.table.keys() & OPTIONS.keys()
    settings = Settings(
        parameters=SETTINGS[keys.choice("prm", tuple(SETTINGS), "collins")],
        clean=keys.choice("clean", tuple(CLEANINGS), "ptb"),
        metric=cast(DiscourseMetric, keys.choice("metric", get_args(DiscourseMetric), "rst")),
        gold_edus=keys.switch("gold_edus"),
    )
    relations = keys.choice("relations", get_args(Relations), "coarse")
    keys.finish()
    try:
        gold, predicted = (
            _trees(text, side, name or _guess(text), cast(Relations, relations))
            for side, text in zip(SIDES, texts, strict=True)
        )
        scored = common_task(task or None, [gold, predicted])
        _refuse_others(given, scored)
        return evaluate_trees(scored, gold, predicted, settings).data()
    except RequestError:
        raise
    except CleftError as error:
        raise RequestError(422, error.problem, where=error.where, hint=error.hint) from error


def _refuse_others(given: Iterable[str], task: str) -> None:
    for name in sorted(given):
        if OPTIONS[name] != task:
            raise RequestError(
                422,
                f"{name!r} is for {OPTIONS[name]}, and {task} is scored",
                where=f"body.{name}",
                hint=f"leave it out, or ask for the task {OPTIONS[name]!r}",
            )


def _text(keys: Keys, side: str) -> str:
    """The trees of a side as text; a list has the records of JSON Lines."""
    value = keys.table.pop(side, None)
    if isinstance(value, list) and all(isinstance(record, dict) for record in value):
        value = "\n".join(json.dumps(record) for record in value)
    if not isinstance(value, str):
        raise keys.fail(side, "trees as a string, or a list of records", value)
    return value


def _guess(text: str) -> str:
    """The format that a text is in, by its first character."""
    return {"{": "jsonl", "<": "rs3"}.get(text.lstrip()[:1], "brackets")


def _trees(text: str, side: str, name: str, relations: Relations) -> Trees:
    try:
        return read_trees(Text(side, text), name, relations)
    except UnicodeEncodeError as error:
        raise RequestError(422, "half a surrogate pair is no character", where=side) from error
