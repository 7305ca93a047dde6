"""From the sentences of a document to one tree over it.

The sentences are parsed as always; what the encoder said of them on the way is
what the head for documents reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cleft.discourse import DiscourseTree
from cleft.document import Document
from cleft.errors import CleftError, ModelError
from cleft.runtime import OnnxScorer
from cleft.runtime.units import Unit
from cleft.search import Constraints, SearchOptions, search
from cleft.search.scorer import Floats
from cleft.sentence import Sentence, SentenceInput
from cleft.tasks import Task

if TYPE_CHECKING:
    from cleft.parser import Parser

Vectors = dict[tuple[str, ...], Floats]
"""What an encoder says of sentences, by their words."""


@dataclass(frozen=True)
class DocumentInput:
    """A document to be parsed: its sentences, its text if it has one, where paragraphs begin.

    `bound` is what the tree over its sentences must obey, `id` its name.
    """

    sentences: Sequence[SentenceInput]
    text: str | None = None
    paragraphs: Sequence[int] = (0,)
    bound: Constraints | None = None
    id: str | None = None


def head_over(parser: Parser) -> tuple[OnnxScorer, Task[Any]]:
    """What scores trees over the sentences of a document, and their task."""
    manifest = parser.manifest
    manifest.need_units(str(parser.directory.path) if parser.directory else "")
    if not isinstance(parser.scorer, OnnxScorer):
        raise ModelError("documents need an exported model", hint="use 'cleft export'")
    return parser.scorer, manifest.task(manifest.unit_tasks[0])


def parse_whole(
    parser: Parser, document: DocumentInput, *, task: str, options: SearchOptions
) -> Document:
    """Parse a document's sentences, and put one tree over them."""
    head_over(parser)
    vectors: Vectors = {}
    found = parser.parse_inputs(document.sentences, task=task, options=options, vectors=vectors)
    return with_tree(parser, document, found, vectors, options)


def with_tree(
    parser: Parser,
    document: DocumentInput,
    found: Sequence[Sentence],
    vectors: Vectors,
    options: SearchOptions,
) -> Document:
    """The document of parsed sentences, with one tree over them."""
    scorer, over = head_over(parser)
    begins = set(document.paragraphs)
    given: dict[str, Any] = {"text": document.text, "paragraphs": document.paragraphs}
    given["id"] = document.id
    units = [Unit(each.words, number in begins) for number, each in enumerate(found) if each.tokens]
    if len(units) < 2:
        return Document.of(found, **given)
    size = len(next(iter(vectors.values()), ()))
    blank = np.zeros(size, np.float32)  # of a sentence that could not be encoded
    rows = np.stack([vectors.get(unit.words, blank) for unit in units])
    try:
        encoded = scorer.encode_units([(rows, units)])
        bound = [document.bound]
        (result,) = search(scorer, [units], over, options, constraints=bound, encoded=encoded)
    except ModelError as error:
        result = error
    if isinstance(result, CleftError):
        return Document.of(found, **given, error=result)
    tree = result[0].tree
    assert isinstance(tree, DiscourseTree)
    return Document.of(found, tree, **given, parses=result)


def whole_parser(
    parser: Parser, task: str, options: SearchOptions
) -> Callable[[list[DocumentInput]], list[Document]]:
    """What a stream does with documents."""
    return lambda documents: [
        parse_whole(parser, each, task=task, options=options) for each in documents
    ]
