"""Parsed sentences as responses: trees, the decisions behind them, other formats, drawings.

A tree is what a record of JSON Lines holds (docs/formats.md), with the places
of its nodes in the text, its probability, and the decisions that made it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType

from cleft.discourse import DiscourseTree, Edu
from cleft.document import Document
from cleft.draw import Diff, Drawable, Layout, Options, Section, diff, html, latex, lay_out, svg
from cleft.draw.svg_output import path_data
from cleft.files import Text
from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import PTB
from cleft.formats.jsonl import discourse_data, parse_record, syntax_data
from cleft.formats.registry import FORMATS, DocumentFormat
from cleft.formats.rst import RstDocument, as_text
from cleft.search import Parse
from cleft.sentence import Sentence
from cleft.server import responses
from cleft.server.requests import BODY, DocumentRequest, DrawRequest, ParseOptions, check
from cleft.server.responses import RequestError, refusing
from cleft.server.settings import Settings
from cleft.span import Span, Split
from cleft.tasks import DISCOURSE, SYNTAX
from cleft.tree import Tree

DIGITS = 6
"""To which the numbers of a distribution are rounded: there are very many of them."""

AnyAnswer = TypeVar("AnyAnswer", bound=responses.Answer)

NODES = 4
"""The most tokens and nodes of a tree that is drawn, for each token that a request may have."""


def parsed_sentence(sentence: Sentence, options: ParseOptions) -> responses.Sentence:
    """A sentence of the answer to /v1/parse."""
    tags = sentence.syntax.tags() if sentence.syntax is not None else [None] * len(sentence.tokens)
    trees = {
        task: _best([_tree(parse, sentence, options) for parse in parses])
        for task, parses in sentence.parses.items()
    }
    syntax, discourse = (trees.pop(task.name, None) for task in (SYNTAX, DISCOURSE))
    return responses.Sentence(
        text=sentence.text,
        start=sentence.start,
        end=sentence.end,
        tokens=[
            responses.TaggedToken(**token._asdict(), tag=tag)
            for token, tag in zip(sentence.tokens, tags, strict=True)
        ],
        syntax=syntax,
        discourse=discourse,
        trees=trees or UNSET,
        error=_error(sentence),
    )


def document_answer(
    document: Document, request: DocumentRequest, warnings: list[str]
) -> responses.DocumentAnswer:
    """The answer to /v1/document."""
    chosen = document.summary(request.summary) if request.summary else None
    return responses.DocumentAnswer(
        model=str(request.model),
        warnings=warnings,
        text=document.text,
        tokens=list(document.words),
        sentences=[parsed_sentence(each, ParseOptions()) for each in document.sentences],
        paragraphs=list(document.paragraphs),
        tree=_best([_document_tree(document, tree) for tree in document.trees] or [None]),
        summary=UNSET
        if chosen is None
        else responses.Summary(
            sentences=list(chosen.numbers), left_out=list(chosen.left_out), text=str(chosen)
        ),
        formats=responses.DocumentFormats(**_document_formats(document, request))
        if request.formats
        else UNSET,
        error=None if document.error is None else responses.Error.of(document.error),
    )


def _document_tree(document: Document, tree: DiscourseTree) -> responses.DocumentTree:
    data = discourse_data(tree, document.words)
    data["texts"] = [edu.text for edu in tree.edus]
    data["characters"] = [document.characters(edu.span) for edu in tree.edus]
    levels = list(tree.salience())
    return responses.DocumentTree(**data, levels=levels, log_prob=tree.log_prob)


def _document_formats(document: Document, request: DocumentRequest) -> dict[str, str]:
    """The formats that were asked for; those of trees where there is one."""
    found: dict[str, str] = {}
    options = Options(theme=request.theme, nested=True)
    tree = next(iter(document.flat_trees), None)
    for name in request.formats:
        if name == "jsonl":
            found[name] = document.to_jsonl()
        elif tree is None:
            continue
        elif name == "svg":
            found[name] = svg(tree, options)
        elif name == "html":
            found[name] = html(Section(trees=[tree], document=document), options)
        else:
            found[name] = _rst([as_text(tree)], name)
    return found


def segmented_sentence(sentence: Sentence) -> responses.SegmentedSentence:
    """A sentence of the answer to /v1/segment."""
    return responses.SegmentedSentence(
        text=sentence.text,
        start=sentence.start,
        end=sentence.end,
        tokens=[responses.Token(**token._asdict()) for token in sentence.tokens],
        edus=[_unit(edu) for edu in sentence.edus],
        error=_error(sentence),
    )


def _unit(edu: Edu) -> responses.Unit:
    assert edu.start is not None
    assert edu.end is not None
    span = (edu.span.left, edu.span.right)
    return responses.Unit(text=edu.text, start=edu.start, end=edu.end, span=span)


def _error(sentence: Sentence) -> responses.Error | None:
    return None if sentence.error is None else responses.Error.of(sentence.error)


def _best(trees: list[Any]) -> Any:
    """The best tree, which holds the others of the n-best list."""
    best, *others = trees
    if best is not None:
        best.others = others
    return best


def _tree(
    parse: Parse, sentence: Sentence, options: ParseOptions
) -> responses.SyntaxTree | responses.DiscourseTree:
    tree, tokens = parse.tree, sentence.tokens
    shared: dict[str, Any] = {
        "log_prob": parse.log_prob,
        "split_log_prob": parse.split_log_prob,
        "probability": tree.tree_probability,
        "steps": _steps(parse, parse.record.labelled),
        "formats": tree_formats(tree, sentence, options) if options.formats else UNSET,
    }

    def places(spans: Iterable[Any]) -> list[tuple[int, int]]:
        return [(tokens[left].start, tokens[right - 1].end) for left, right in spans]

    if isinstance(tree, Tree):
        data = syntax_data(tree)
        offsets = places(node[1:] for node in data["nodes"])
        return responses.SyntaxTree(**data, **shared, offsets=offsets, brackets=tree.brackets())
    data = discourse_data(tree, sentence.words)
    # A record leaves out what follows from its tokens; an answer does not.
    data["texts"] = [edu.text for edu in tree.edus]
    data["characters"] = [(edu.start, edu.end) for edu in tree.edus]
    offsets = places(node[:2] for node in data["nodes"])
    return responses.DiscourseTree(**data, **shared, offsets=offsets)


# ---------------------------------------------------------------- decisions


def _steps(parse: Parse, labels: Mapping[Span, str]) -> list[responses.Step]:
    """The decisions in the order in which they were taken."""
    if not parse.steps:
        return [_step(parse, split, labels) for split in parse.derivation.splits]
    found = []
    for traced in parse.steps:
        step = _step(parse, traced.split, labels)
        step.distribution = [round(share, DIGITS) for share in traced.distribution.tolist()]
        found.append(step)
    return found


def _step(parse: Parse, split: Split, labels: Mapping[Span, str]) -> responses.Step:
    span = Span(split.left, split.right)
    evidence = parse.evidence.get(span)
    return responses.Step(
        span=(span.left, span.right),
        split=split.split,
        probability=evidence.split if evidence is not None else None,
        label=labels.get(span),
        alternatives=list(evidence.splits) if evidence is not None and evidence.splits else UNSET,
    )


# ---------------------------------------------------------------- other formats


def tree_formats(
    tree: Tree | DiscourseTree, sentence: Sentence, options: ParseOptions
) -> responses.Formats:
    """One tree in the formats that are asked for and can hold it."""
    found: dict[str, str] = {}
    for name in options.formats:
        if name == "brackets" and isinstance(tree, Tree):
            found[name] = tree.brackets() + "\n"
        elif name == "rs3" and isinstance(tree, DiscourseTree):
            found[name] = _rst([tree], name)
        elif name == "svg":
            drawn = Options(theme=options.theme, width=options.width, view=options.view)
            found[name] = svg(tree, drawn)
        elif name in ("forest", "qtree"):
            found[name] = latex(tree, name)
        elif name == "jsonl":
            found[name] = _alone(tree, sentence).to_jsonl() + "\n"
    return responses.Formats(**found)


def _alone(tree: Tree | DiscourseTree, sentence: Sentence) -> Sentence:
    """The sentence with this tree and no other."""
    parses = ((task, parse) for task, found in sentence.parses.items() for parse in found)
    task = next(task for task, parse in parses if parse.tree is tree)
    return replace(sentence, trees={task: tree}, parses={})


def text_formats(sentences: Sequence[Sentence], options: ParseOptions) -> responses.Formats:
    """The best trees of a text in the formats that are asked for; a drawing is of one tree."""
    found: dict[str, str] = {}
    for name in options.formats:
        if name == "brackets":  # an empty line where there is no tree
            trees = (sentence.syntax for sentence in sentences)
            found[name] = "".join("\n" if tree is None else f"{tree}\n" for tree in trees)
        elif name == "jsonl":
            found[name] = "".join(f"{sentence.to_jsonl()}\n" for sentence in sentences)
        elif name == "rs3":
            document = _rst(_in_document(sentences), name)
            if document:
                found[name] = document
    return responses.Formats(**found)


def _in_document(sentences: Sequence[Sentence]) -> Iterable[DiscourseTree]:
    """The discourse trees, their tokens counted through the text."""
    position = 0
    for sentence in sentences:
        if sentence.discourse is not None:
            yield sentence.discourse.moved(position)
            position += len(sentence.tokens)


def _rst(trees: Iterable[DiscourseTree], name: str) -> str:
    """A document of these trees in a format of RST; empty where there is none."""
    target, document, stream = FORMATS[name], RstDocument.of(trees), io.StringIO()
    assert isinstance(target, DocumentFormat)
    if document.trees:
        target.write_document(document, stream)
    return stream.getvalue()


# ---------------------------------------------------------------- drawings


def drawing(value: Any, settings: Settings) -> responses.Drawing:
    """The drawing that a body of /v1/draw asks for.

    >>> tree = {"tags": ["PRP", "VBD"], "nodes": [["S", 0, 2]]}
    >>> found = drawing({"tokens": ["She", "slept"], "syntax": tree}, Settings())
    >>> [text.lines for text in found.texts if text.role == "word"]
    [['She'], ['slept']]
    """
    request = check(value, DrawRequest)
    tree: Drawable = _given_tree(request, settings)
    if request.gold is not UNSET:
        with refusing("body.gold"):
            (gold, *_) = read_brackets(Text("body.gold", request.gold), PTB)
            tree = diff(gold, tree)  # type: ignore[type-var]
    found = _drawing(lay_out(tree, request.width, request.view, nested=request.nested))
    found.summary = tree.summary if isinstance(tree, Diff) else ""
    return found


def _given_tree(request: DrawRequest, settings: Settings) -> Tree | DiscourseTree:
    trees = {
        task: tree
        for task, tree in (("syntax", request.syntax), ("discourse", request.discourse))
        if tree is not UNSET
    }
    if len(trees) != 1:
        found = "both" if trees else "neither"
        raise RequestError(
            422, f"expected one of 'syntax' and 'discourse', found {found}", where=BODY
        )
    ((task, given),) = trees.items()
    lists = (given.get(key) for key in ("edus", "nodes"))
    size = len(request.tokens) + sum(len(rows) for rows in lists if isinstance(rows, list))
    if size > NODES * settings.max_tokens:
        raise RequestError(
            413,
            f"expected {NODES * settings.max_tokens} tokens and nodes at most, found {size}",
            where=BODY,
            hint="draw the trees of sentences one by one",
        )
    with refusing():
        record = parse_record(json.dumps({"cleft": 1, "tokens": request.tokens, task: given}), BODY)
    tree = record.syntax or record.discourse
    assert tree is not None
    return tree


def _drawing(layout: Layout) -> responses.Drawing:
    mirrored = any(text.right_to_left for text in layout.texts)
    return _placed(
        responses.Drawing,
        layout,
        right_to_left=mirrored,
        texts=[
            _placed(responses.DrawnText, one, lines=list(one.lines), node=_known(one.node))
            for one in layout.texts
        ],
        lines=[
            _placed(
                responses.DrawnLine,
                one,
                path=path_data(one),
                weight=round(one.weight, 2),
                to=_known(one.to),
            )
            for one in layout.strokes
        ],
        folds=[
            _placed(responses.Fold, one, rail=round(one.right if mirrored else one.left, 1))
            for one in (layout.places if layout.view == "outline" else ())
        ],
        summary="",
    )


def _placed(kind: type[AnyAnswer], source: Any, **others: Any) -> AnyAnswer:
    """An answer with what a part of a layout has, its places rounded, and with others."""
    found = {name: getattr(source, name) for name in kind.__struct_fields__ if name not in others}
    rounded = {
        name: round(value, 1) if isinstance(value, float) else value
        for name, value in found.items()
    }
    return kind(**rounded, **others)


def _known(node: int) -> int | UnsetType:
    return UNSET if node < 0 else node
