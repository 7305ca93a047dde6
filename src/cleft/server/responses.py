"""Responses: what the API answers, as structs of msgspec; errors among them.

/openapi.json describes these structs. Fields that are UNSET are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from cleft.errors import CleftError
from cleft.formats.json_values import dump_json


def encode(data: Any) -> bytes:
    """A struct or a plain value as JSON in UTF-8.

    Half a surrogate pair, which msgspec does not write, becomes an escape.

    >>> encode({"text": "é"}).decode()
    '{"text": "é"}'
    """
    return dump_json(msgspec.to_builtins(data)).encode()


# ---------------------------------------------------------------- errors

CODES = {
    400: "bad_json", 401: "unauthorised", 403: "forbidden", 404: "not_found",
    405: "method_not_allowed", 408: "slow_body", 413: "too_large",
    415: "unsupported_media_type", 421: "wrong_host", 422: "invalid", 429: "busy",
    431: "head_too_large", 500: "internal", 503: "stopping", 504: "timeout",
}  # fmt: skip
"""The code of each status."""

OTHER_CODES = ("bad_request", "slow_head", "sentence")
"""Codes of 400 and 408 where the head is at fault and not the body; of a sentence's own error."""


class RequestError(CleftError):
    """A request that is answered with an error.

    >>> error = RequestError(422, "expected 1 to 64, found 0", where="body.beam")
    >>> error.status, error.code
    (422, 'invalid')
    """

    def __init__(
        self, status: int, problem: str, *, where: str = "", hint: str = "", code: str = ""
    ) -> None:
        super().__init__(problem, where=where, hint=hint)
        self.status = status
        self.code = code or CODES[status]


@contextmanager
def refusing(where: str | None = None) -> Iterator[None]:
    """Answer an error of ours with 422; `where` is its place in the request, if it has another."""
    try:
        yield
    except RequestError:
        raise
    except CleftError as error:
        place = error.where if where is None else where
        raise RequestError(422, error.problem, where=place, hint=error.hint) from error


class Answer(Struct, forbid_unknown_fields=True):
    """What all parts of an answer are: their keys are those below, and no others."""


class Error(Answer, kw_only=True):
    """What is wrong: where, what was expected and found, what to do."""

    code: Annotated[str, Meta(extra_json_schema={"enum": [*CODES.values(), *OTHER_CODES]})]
    where: str
    message: str
    hint: str

    @classmethod
    def of(cls, error: CleftError) -> Error:
        """An error as the API writes it.

        >>> Error.of(RequestError(404, "there is no such page")).code
        'not_found'
        """
        code = error.code if isinstance(error, RequestError) else "sentence"
        return cls(code=code, where=error.where, message=error.problem, hint=error.hint)


class Failure(Answer, kw_only=True):
    """The answer to a request that failed."""

    error: Error


# ---------------------------------------------------------------- structs

Count = Annotated[int, Meta(ge=0)]
Pair = tuple[Count, Count]
Probability = Annotated[float, Meta(ge=0, le=1.000001)]
Places = Annotated[list[Pair], Meta(description="first and last character of each")]
Edus = Annotated[list[Pair], Meta(description="the tokens of each EDU")]
Relations = Annotated[
    list[tuple[Count, Count, str, list[str]]],
    Meta(description="left, right, nuclearity, relation of each child; in preorder"),
]
Warnings = Annotated[
    list[str],
    Meta(description="what to tell the reader: that the text is not in the model's language"),
]


class Evidence(Answer, kw_only=True):
    """The probabilities that the model gave a node, and the runners-up."""

    label: Probability | UnsetType = UNSET
    split: Probability | UnsetType = UNSET
    labels: list[tuple[str, Probability]] | UnsetType = UNSET
    splits: list[tuple[Count, Probability]] | UnsetType = UNSET
    log_prob: float | UnsetType = UNSET
    split_log_prob: float | UnsetType = UNSET


class Step(Answer, kw_only=True):
    """A decision: the span, where it was split, and how probable that was."""

    span: Pair
    split: Count
    probability: Probability | None
    label: str | None
    alternatives: list[tuple[Count, Probability]] | UnsetType = UNSET
    distribution: list[Probability] | UnsetType = UNSET


class Formats(Answer, kw_only=True):
    """Trees as text in the formats that were asked for and can hold them."""

    brackets: str | UnsetType = UNSET
    jsonl: str | UnsetType = UNSET
    rs3: str | UnsetType = UNSET
    svg: str | UnsetType = UNSET
    forest: str | UnsetType = UNSET
    qtree: str | UnsetType = UNSET


class AnyTree(Answer, kw_only=True):
    """What trees of both tasks have."""

    offsets: Places
    log_prob: float
    split_log_prob: float
    probability: Probability
    steps: list[Step]
    evidence: list[Evidence | None] | UnsetType = UNSET
    formats: Formats | UnsetType = UNSET


class SyntaxTree(AnyTree, kw_only=True):
    """A constituency tree; `others` are the n-best after it, best first."""

    tags: list[str]
    nodes: Annotated[
        list[tuple[str, Count, Count]], Meta(description="label, left, right; in preorder")
    ]
    brackets: str
    tag_evidence: list[Evidence | None] | UnsetType = UNSET
    others: list[SyntaxTree] | UnsetType = UNSET


class DiscourseTree(AnyTree, kw_only=True):
    """A discourse tree; `others` are the n-best after it, best first."""

    edus: Edus
    texts: list[str]
    characters: Places
    nodes: Relations
    others: list[DiscourseTree] | UnsetType = UNSET


class Token(Answer, kw_only=True):
    """A token and its place in the text."""

    text: str
    start: Count
    end: Count


class TaggedToken(Token, kw_only=True):
    """A token with its part of speech."""

    tag: str | None


class Unit(Token, kw_only=True):
    """An elementary discourse unit."""

    span: Pair


class Sentence(Answer, kw_only=True):
    """A sentence, its trees, or why it has none."""

    text: str
    start: Count
    end: Count
    tokens: list[TaggedToken]
    syntax: SyntaxTree | None
    discourse: DiscourseTree | None
    trees: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description="trees of other tasks, in either form, where a model has such"),
    ] = UNSET
    error: Error | None


class SegmentedSentence(Answer, kw_only=True):
    """A sentence and its elementary discourse units."""

    text: str
    start: Count
    end: Count
    tokens: list[Token]
    edus: list[Unit]
    error: Error | None


class ParseAnswer(Answer, kw_only=True):
    """The answer to /v1/parse; `formats` have the best trees of the whole text."""

    model: str
    task: str
    warnings: Warnings
    sentences: list[Sentence]
    formats: Formats | UnsetType = UNSET


class LineAnswer(ParseAnswer, kw_only=True):
    """The answer to a line of a stream."""

    line: Count


class LineFailure(Failure, kw_only=True):
    """The error of a line of a stream, or without a number that of the stream."""

    line: Count | UnsetType = UNSET


class SegmentAnswer(Answer, kw_only=True):
    """The answer to /v1/segment."""

    model: str
    warnings: Warnings
    sentences: list[SegmentedSentence]


class DocumentTree(Answer, kw_only=True):
    """A discourse tree over all tokens of a document."""

    edus: Edus
    texts: list[str]
    characters: Places
    nodes: Relations
    levels: Annotated[
        list[Count],
        Meta(description="how far below the root each EDU is promoted; 0 is most important"),
    ]
    log_prob: float | None
    evidence: list[Evidence | None] | UnsetType = UNSET


class Summary(Answer, kw_only=True):
    """The most important sentences of a document in its order, by number, and the others."""

    sentences: list[Count]
    left_out: list[Count]
    text: str


class DocumentFormats(Answer, kw_only=True):
    """The document as text in the formats that were asked for."""

    jsonl: str | UnsetType = UNSET
    rs3: str | UnsetType = UNSET
    rs4: str | UnsetType = UNSET
    dis: str | UnsetType = UNSET
    svg: str | UnsetType = UNSET
    html: str | UnsetType = UNSET


class DocumentAnswer(Answer, kw_only=True):
    """The answer to /v1/document; sentences are as in the answer to /v1/parse."""

    model: str
    warnings: Warnings
    text: str
    tokens: Annotated[list[str], Meta(description="of all sentences; the tree counts these")]
    sentences: list[Sentence]
    paragraphs: Annotated[list[Count], Meta(description="sentences that begin one")]
    tree: DocumentTree | None
    summary: Summary | UnsetType = UNSET
    formats: DocumentFormats | UnsetType = UNSET
    error: Error | None


class EvaluateAnswer(Struct):
    """The answer to /v1/evaluate: the scores, as `cleft evaluate --json` prints them."""

    task: str


class DrawnText(Answer, kw_only=True):
    """A text in its box: x and y are the box's top left corner.

    `node` is the node that the text belongs to, if to any, by its place in preorder,
    with leaves. `tinted` asks for a coloured ground, `doubt` for a dashed outline.
    """

    lines: list[str]
    x: float
    y: float
    width: float
    height: float
    size: Annotated[float, Meta(description="of the font")]
    role: Annotated[str, Meta(description="word, tag, label, edu or such")]
    tone: Annotated[str, Meta(description="the name of a colour, or empty")]
    node: Count | UnsetType = UNSET
    mark: Annotated[str, Meta(description="wrong, missed, changed, or empty")] = ""
    tinted: bool
    doubt: bool


class DrawnLine(Answer, kw_only=True):
    """A line that hangs from `node`, and leads to the child `to` if to any."""

    path: Annotated[str, Meta(description="the attribute d of a path in SVG")]
    weight: float
    role: Annotated[
        str, Meta(description="branch, bar, nucleus, arc, tip of an arc, joint or bridge")
    ]
    node: Count
    to: Count | UnsetType = UNSET


class Fold(Answer, kw_only=True):
    """A phrase of an outline: folding it hides what stands between two heights.

    A sign for the `words` that are hidden has room at `x`, on the line above `y`;
    what the phrase holds hangs from a line at `rail`.
    """

    node: Count
    x: float
    rail: float
    y: float
    floor: float
    words: Count


class Drawing(Answer, kw_only=True):
    """The answer to /v1/draw: places in pixels from the top left corner."""

    width: float
    height: float
    right_to_left: bool
    view: Annotated[str, Meta(description="tree, rows or outline")]
    texts: list[DrawnText]
    lines: list[DrawnLine]
    folds: Annotated[list[Fold], Meta(description="the phrases of an outline")]
    summary: Annotated[str, Meta(description="how gold and predicted agree, or empty")] = ""


class Model(Answer, kw_only=True):
    """A model of the server."""

    name: str
    tasks: list[str]
    language: str | None
    licence: str | None
    training_data: Any
    scores: Any
    labels: dict[str, list[str]]
    tags: list[str]
    precision: str


class Limits(Answer, kw_only=True):
    """The most that a request may hold and ask for."""

    body: Count
    stream: Count
    line: Count
    tokens: Count
    trace: Count
    beam: Count
    n_best: Count
    alternatives: Count
    seconds: float


class Models(Answer, kw_only=True):
    """The answer to /v1/models."""

    default: str
    models: list[Model]
    limits: Limits


class Health(Answer, kw_only=True):
    """The answer to /healthz."""

    status: Literal["ok"]
    version: str
    models: list[str]
