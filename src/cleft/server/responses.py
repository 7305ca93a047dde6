"""What the API answers: sentences and their trees as plain values for JSON.

A tree is what a record of JSON Lines holds (docs/formats.md), with the places
of its nodes in the text, its probability, and the decisions that made it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

from cleft.discourse import DiscourseTree
from cleft.formats.jsonl import discourse_data, syntax_data
from cleft.search import Parse
from cleft.sentence import Sentence
from cleft.server.downloads import Wish, tree_downloads
from cleft.server.refusals import error_data
from cleft.span import Span, Split
from cleft.text import Token
from cleft.tree import Tree

__all__ = ["segmented_data", "sentence_data"]

DIGITS = 6
"""To which a distribution's numbers are rounded: there are very many of them."""


def sentence_data(sentence: Sentence, wish: Wish) -> dict[str, Any]:
    """One sentence of the answer to /v1/parse; `syntax` is the model's kind of that task."""
    tags = sentence.syntax.tags() if sentence.syntax is not None else None
    tokens = _tokens_data(sentence.tokens)
    for number, token in enumerate(tokens):
        token["tag"] = tags[number] if tags is not None else None
    return {
        "text": sentence.text,
        "start": sentence.start,
        "end": sentence.end,
        "tokens": tokens,
        "syntax": _trees_data(sentence, "syntax", wish),
        "discourse": _trees_data(sentence, "discourse", wish),
        "error": None if sentence.error is None else error_data(sentence.error),
    }


def segmented_data(sentence: Sentence) -> dict[str, Any]:
    """One sentence of the answer to /v1/segment."""
    return {
        "text": sentence.text,
        "start": sentence.start,
        "end": sentence.end,
        "tokens": _tokens_data(sentence.tokens),
        "edus": [
            {"text": edu.text, "start": edu.start, "end": edu.end, "span": list(edu.span)}
            for edu in sentence.edus
        ],
        "error": None if sentence.error is None else error_data(sentence.error),
    }


def _tokens_data(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    return [{"text": token.text, "start": token.start, "end": token.end} for token in tokens]


def _trees_data(sentence: Sentence, task: str, wish: Wish) -> dict[str, Any] | None:
    """The best tree, with the others of the n-best list in it; None where there is none."""
    parses = sentence.parses.get(task, ())
    if not parses:
        return None
    best, *others = (_tree_data(parse, sentence, wish) for parse in parses)
    return {**best, "others": others}


def _tree_data(parse: Parse, sentence: Sentence, wish: Wish) -> dict[str, Any]:
    tree = parse.tree
    tokens = sentence.tokens
    if isinstance(tree, Tree):
        data = syntax_data(tree)
        spans = [Span(left, right) for _, left, right in data["nodes"]]
        data["brackets"] = tree.brackets()
    else:
        data = _complete(discourse_data(tree, sentence.words), tree)
        spans = [Span(left, right) for left, right, _, _ in data["nodes"]]
    data["offsets"] = [[tokens[span.left].start, tokens[span.right - 1].end] for span in spans]
    data["log_prob"] = parse.log_prob
    data["split_log_prob"] = parse.split_log_prob
    data["probability"] = exp(min(parse.log_prob, 0.0))
    data["steps"] = _steps_data(parse, parse.record.labelled)
    if wish.formats:
        data["formats"] = tree_downloads(tree, sentence, wish)
    return data


def _complete(data: dict[str, Any], tree: DiscourseTree) -> dict[str, Any]:
    """The keys that a record leaves out where they tell nothing new."""
    edus = tree.edus
    return {
        **data,
        "texts": [edu.text for edu in edus],
        "characters": [[edu.start, edu.end] for edu in edus],
    }


def _steps_data(parse: Parse, labels: Mapping[Span, str]) -> list[dict[str, Any]]:
    """The decisions in the order in which they were taken."""
    if not parse.steps:
        return [_step(parse, split, labels) for split in parse.derivation.splits]
    rows = []
    for step in parse.steps:
        row = _step(parse, step.split, labels)
        row["distribution"] = [round(share, DIGITS) for share in step.distribution.tolist()]
        rows.append(row)
    return rows


def _step(parse: Parse, split: Split, labels: Mapping[Span, str]) -> dict[str, Any]:
    span = Span(split.left, split.right)
    found = parse.evidence.get(span)
    row: dict[str, Any] = {
        "span": list(span),
        "split": split.split,
        "probability": found.split if found is not None else None,
        "label": labels.get(span),
    }
    if found is not None and found.splits:
        row["alternatives"] = [list(pair) for pair in found.splits]
    return row
