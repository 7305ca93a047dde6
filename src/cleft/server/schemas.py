"""JSON Schema of what goes in and out, for the description of the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from cleft.draw import Theme
from cleft.formats.cleaning import CLEANINGS
from cleft.formats.jsonl import Relations
from cleft.metrics.parseval import DiscourseMetric
from cleft.metrics.prm import SETTINGS
from cleft.server.asked import TASKS
from cleft.server.downloads import FORMATS
from cleft.server.evaluation import FORMATS as EVALUATED
from cleft.server.refusals import CODES, OTHER_CODES
from cleft.server.settings import ALTERNATIVES, BEAM, N_BEST

__all__ = ["options", "schemas"]

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer", "minimum": 0}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1.000001}
PAIR: Schema = {"type": "array", "items": WHOLE, "minItems": 2, "maxItems": 2}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _object(properties: Schema, optional: Sequence[str] = (), **more: Any) -> Schema:
    """An object that has these keys and no other, all of them but the optional ones."""
    required = [name for name in properties if name not in optional]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
        **more,
    }


def _runners(what: Schema) -> Schema:
    """Alternatives with their probabilities, best first."""
    return _list({"type": "array", "prefixItems": [what, SHARE], "minItems": 2, "maxItems": 2})


def options(models: Sequence[str]) -> dict[str, Schema]:
    """The choices of /v1/parse by name."""
    return {
        "task": {"enum": list(TASKS), "default": "both", "type": "string"},
        "beam": {"type": "integer", "minimum": 1, "maximum": BEAM, "default": 1},
        "n_best": {"type": "integer", "minimum": 1, "maximum": N_BEST, "default": 1},
        "alternatives": {"type": "integer", "minimum": 0, "maximum": ALTERNATIVES, "default": 0},
        "trace": {"type": "boolean", "default": False},
        "model": {"enum": list(models), "default": models[0], "type": "string"},
        "formats": {**_list({"enum": list(FORMATS), "type": "string"}), "default": []},
        "theme": {"enum": list(get_args(Theme)), "default": "auto", "type": "string"},
    }


TEXTS: Schema = {
    "text": {"type": "string", "description": "raw text, of any number of sentences"},
    "tokens": {**_list(_list(STRING)), "description": "the tokens of each sentence"},
}
EITHER: Schema = {"oneOf": [{"required": ["text"]}, {"required": ["tokens"]}]}


def schemas(models: Sequence[str]) -> dict[str, Schema]:
    """All schemas by name."""
    chosen = options(models)
    parse = {**TEXTS, **chosen}
    segment = {**TEXTS, "beam": chosen["beam"], "model": chosen["model"]}
    return {
        "ParseRequest": _object(parse, list(parse), **EITHER),
        "SegmentRequest": _object(segment, list(segment), **EITHER),
        "EvaluateRequest": _evaluate_request(),
        "ParseAnswer": _object(
            {
                "model": STRING,
                "task": STRING,
                "sentences": _list(_ref("Sentence")),
                "formats": _downloads("brackets", "jsonl", "rs3"),
            },
            ["formats"],
        ),
        "LineAnswer": {
            "description": "one line of a streamed answer: a ParseAnswer with `line`, or an error",
            "type": "object",
        },
        "SegmentAnswer": _object({"model": STRING, "sentences": _list(_segmented())}),
        "EvaluateAnswer": _object({"task": {"enum": ["syntax", "discourse"], "type": "string"}})
        | {"additionalProperties": True},
        "Models": _models(),
        "Health": _object({"status": {"const": "ok"}, "version": STRING, "models": _list(STRING)}),
        "Sentence": _sentence(),
        "SyntaxTree": _tree(_syntax(), "SyntaxTree", "brackets", "jsonl", "svg"),
        "DiscourseTree": _tree(_discourse(), "DiscourseTree", "rs3", "jsonl", "svg"),
        "Evidence": _evidence(),
        "Step": _step(),
        "Error": _object(
            {
                "code": {"enum": [*CODES.values(), *OTHER_CODES, "sentence"], "type": "string"},
                "where": STRING,
                "message": STRING,
                "hint": STRING,
            }
        ),
        "Failure": _object({"error": _ref("Error")}),
    }


def _evaluate_request() -> Schema:
    trees: Schema = {
        "anyOf": [STRING, _list({"type": "object"})],
        "description": "brackets, JSON Lines or rs3 as text, or a list of JSON Lines records",
    }
    settings = {
        "format": EVALUATED,
        "task": ("syntax", "discourse"),
        "prm": SETTINGS,
        "clean": CLEANINGS,
        "metric": get_args(DiscourseMetric),
        "relations": get_args(Relations),
    }
    names = {key: {"enum": list(known), "type": "string"} for key, known in settings.items()}
    optional = {**names, "gold_edus": {"type": "boolean", "default": False}}
    return _object({"gold": trees, "predicted": trees, **optional}, list(optional))


def _downloads(*names: str) -> Schema:
    """Files as text, those that were asked for."""
    return _object(dict.fromkeys(names, STRING), names)


def _placed(more: Schema) -> Schema:
    place = {"text": STRING, "start": WHOLE, "end": WHOLE}
    return _object({**place, **more})


def _sentence() -> Schema:
    return _placed(
        {
            "tokens": _list(_placed({"tag": _or_null(STRING)})),
            "syntax": _or_null(_ref("SyntaxTree")),
            "discourse": _or_null(_ref("DiscourseTree")),
            "error": _or_null(_ref("Error")),
        }
    )


def _segmented() -> Schema:
    return _placed(
        {
            "tokens": _list(_placed({})),
            "edus": _list(_placed({"span": PAIR})),
            "error": _or_null(_ref("Error")),
        }
    )


def _syntax() -> Schema:
    node = {"type": "array", "prefixItems": [STRING, WHOLE, WHOLE], "minItems": 3, "maxItems": 3}
    return {
        "tags": _list(STRING),
        "nodes": {**_list(node), "description": "[label, left, right] in preorder"},
        "tag_evidence": _list(_or_null(_ref("Evidence"))),
        "brackets": STRING,
    }


def _discourse() -> Schema:
    node = {
        "type": "array",
        "prefixItems": [WHOLE, WHOLE, STRING, _list(STRING)],
        "minItems": 4,
        "maxItems": 4,
    }
    return {
        "edus": {**_list(PAIR), "description": "the tokens of each EDU"},
        "texts": _list(STRING),
        "characters": {**_list(PAIR), "description": "of each EDU"},
        "nodes": {
            **_list(node),
            "description": "[left, right, nuclearity, relation of each child] in preorder",
        },
    }


def _tree(own: Schema, name: str, *formats: str) -> Schema:
    """What trees of both tasks have, and what is a task's own."""
    shared: Schema = {
        "offsets": {**_list(PAIR), "description": "the characters of each node"},
        "evidence": _list(_or_null(_ref("Evidence"))),
        "log_prob": NUMBER,
        "split_log_prob": NUMBER,
        "probability": SHARE,
        "steps": _list(_ref("Step")),
        "formats": _downloads(*formats),
        "others": {**_list(_ref(name)), "description": "the n-best after this one, best first"},
    }
    return _object({**own, **shared}, ["evidence", "tag_evidence", "formats", "others"])


def _evidence() -> Schema:
    found = {
        "label": SHARE,
        "split": SHARE,
        "labels": _runners(STRING),
        "splits": _runners(WHOLE),
        "log_prob": NUMBER,
        "split_log_prob": NUMBER,
    }
    return _object(found, list(found))


def _step() -> Schema:
    return _object(
        {
            "span": PAIR,
            "split": WHOLE,
            "probability": _or_null(SHARE),
            "label": _or_null(STRING),
            "alternatives": _runners(WHOLE),
            "distribution": _list(SHARE),
        },
        ["alternatives", "distribution"],
    )


def _models() -> Schema:
    model = _object(
        {
            "name": STRING,
            "tasks": _list(STRING),
            "language": _or_null(STRING),
            "licence": _or_null(STRING),
            "training_data": {},
            "scores": {},
            "labels": {"type": "object", "additionalProperties": _list(STRING)},
            "tags": _list(STRING),
            "precision": STRING,
        }
    )
    names = ["body", "stream", "line", "tokens", "trace", "beam", "n_best", "alternatives"]
    limits = _object({**dict.fromkeys(names, WHOLE), "seconds": NUMBER})
    return _object({"default": STRING, "models": _list(model), "limits": limits})
