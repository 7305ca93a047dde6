"""Scores of trees that come in a request: what `cleft evaluate --json` prints of files."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast, get_args

from cleft.discourse import DiscourseTree
from cleft.errors import CleftError, MetricError, Place
from cleft.formats.jsonl import Record, parse_record
from cleft.formats.rs3 import document_from
from cleft.formats.rs3_xml import parse as parse_rs3
from cleft.metrics import export
from cleft.metrics.evalb import score_syntax
from cleft.metrics.parseval import DiscourseMetric, score_discourse
from cleft.metrics.prm import SETTINGS, parameters
from cleft.metrics.sources import Relations, bracket_entries, pair_up
from cleft.server.asked import Keys
from cleft.server.refusals import RequestError

__all__ = ["FORMATS", "evaluate"]

FORMATS = ("brackets", "jsonl", "rs3")
Task = Literal["syntax", "discourse"]
OPTIONS: Mapping[str, Task] = {
    "prm": "syntax",
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
    prm = keys.choice("prm", tuple(SETTINGS), "collins")
    metric = keys.choice("metric", get_args(DiscourseMetric), "rst")
    gold_edus = keys.switch("gold_edus")
    relations = keys.choice("relations", get_args(Relations), "coarse")
    keys.finish()
    try:
        sides = [
            _records(text, side, name or _guess(text), cast(Relations, relations))
            for side, text in zip(SIDES, texts, strict=True)
        ]
        scored = _task(task, sides)
        _refuse_others(given, scored)
        if scored == "syntax":
            one, two = ([record.syntax for record in side] for side in sides)
            gold, predicted = pair_up(one, two, SIDES)
            return export.syntax_data(score_syntax(gold, predicted, parameters(prm)))
        return _discourse(sides, cast(DiscourseMetric, metric), gold_edus)
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


def _records(text: str, side: str, name: str, relations: Relations) -> list[Record]:
    if name == "brackets":
        return [Record(syntax=tree) for tree in bracket_entries(io.StringIO(text), side)]
    if name == "jsonl":
        lines = enumerate(io.StringIO(text, newline="\n"), start=1)
        return [
            parse_record(line, Place(side, number), relations)
            for number, line in lines
            if line.strip()
        ]
    try:
        found = document_from(parse_rs3([text], side))
    except UnicodeEncodeError as error:
        raise RequestError(422, "half a surrogate pair is no character", where=side) from error
    return [Record(discourse=tree) for tree in found.trees]


def _task(asked: str, sides: list[list[Record]]) -> str:
    """The task that both sides have trees of."""
    held = [
        {task for task in get_args(Task) for record in side if getattr(record, task) is not None}
        for side in sides
    ]
    for side, tasks in zip(SIDES, held, strict=True):
        if not tasks or (asked and asked not in tasks):
            what = f"{asked} tree".strip()
            raise MetricError(f"it has no {what}", where=side, hint="give at least one")
    if asked:
        return asked
    common = held[0] & held[1]
    if not common:
        raise MetricError("the sides hold trees of different tasks", hint="compare like with like")
    return "syntax" if "syntax" in common else "discourse"


def _discourse(
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
