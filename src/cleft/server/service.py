"""The work behind the API: requests in, responses out, long work off the event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from msgspec import UNSET

from cleft import __version__
from cleft.document import paragraph_starts
from cleft.documents import DocumentInput, head_over, with_tree
from cleft.errors import UsageError
from cleft.files import Text
from cleft.metrics import evaluate as metrics
from cleft.metrics.prm import SETTINGS
from cleft.search import SearchOptions
from cleft.sentence import Sentence, SentenceInput
from cleft.server.batching import BatchKey, Parsed, ServedModel
from cleft.server.requests import (
    ALTERNATIVES,
    BEAM,
    BODY,
    N_BEST,
    DocumentRequest,
    EvaluateRequest,
    ParseRequest,
    check,
    decode,
    document_request,
    parse_request,
    segment_request,
)
from cleft.server.responses import (
    Health,
    Limits,
    LineAnswer,
    Models,
    ParseAnswer,
    RequestError,
    SegmentAnswer,
    encode,
    refusing,
)
from cleft.server.settings import Settings
from cleft.server.trees import (
    document_answer,
    drawing,
    parsed_sentence,
    segmented_sentence,
    text_formats,
)
from cleft.tasks import DISCOURSE, SYNTAX
from cleft.text import Reading

T = TypeVar("T")
Counts = dict[str, Any]
"""What the log says of a request: numbers, never texts."""

SMALL = 2_000
"""Bytes of a text, or tokens of a response, that are not worth a thread."""
THREADS = 4
RETRY = 0.05
"""Seconds after which a stream tries a full queue again."""


class Service:
    """What the API does, independent of HTTP."""

    def __init__(self, models: Mapping[str, ServedModel], settings: Settings) -> None:
        self.models = models
        self.names = list(models)
        self.settings = settings
        self.stopping = False
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="cleft-serve")

    def health(self) -> Health:
        """The answer to /healthz."""
        return Health(status="ok", version=__version__, models=self.names)

    def describe(self) -> Models:
        """The answer to /v1/models."""
        settings = self.settings
        sizes = ("body", "stream", "line", "tokens", "trace")
        limits = Limits(
            **{name: getattr(settings, f"max_{name}") for name in sizes},
            beam=BEAM,
            n_best=N_BEST,
            alternatives=ALTERNATIVES,
            seconds=settings.seconds,
        )
        models = [model.describe() for model in self.models.values()]
        return Models(default=self.names[0], models=models, limits=limits)

    async def parse(self, body: bytes, counts: Counts) -> bytes:
        """The answer to a body of /v1/parse."""
        request = parse_request(await self.run(len(body), decode, body), self.names)
        sentences = await self.sentences(request, counts)
        return await self.run(response_size(request, sentences), self.answer, request, sentences)

    async def segment(self, body: bytes, counts: Counts) -> bytes:
        """The answer to a body of /v1/segment."""
        request = segment_request(await self.run(len(body), decode, body), self.names)
        sentences = await self.sentences(request, counts, where="body.model")
        model = self.models[str(request.model)]
        return await self.run(response_size(request, sentences), _segmented, model, sentences)

    async def evaluate(self, body: bytes, counts: Counts) -> bytes:
        """The answer to a body of /v1/evaluate."""
        return await self.run(len(body), lambda: encode(evaluate(decode(body))))

    async def draw(self, body: bytes, counts: Counts) -> bytes:
        """The answer to a body of /v1/draw."""
        return await self.run(len(body), lambda: encode(drawing(decode(body), self.settings)))

    async def sentences(
        self,
        request: ParseRequest,
        counts: Counts,
        *,
        where: str = "body.task",
        source: str = BODY,
        waits: bool = False,
    ) -> list[Sentence]:
        """The sentences of a request, parsed in batches with those of others.

        `where` and `source` name the places of the task and of the text in
        messages. If the queue is full, a caller that `waits` does not fail.
        """
        model = self.models[str(request.model)]
        inputs = await self._inputs(request, counts, where, source)
        key = BatchKey(request.task, request.search)
        return [each.sentence for each in await _batched(model, inputs, key, waits=waits)]

    async def document(self, body: bytes, counts: Counts) -> bytes:
        """The answer to a body of /v1/document."""
        whole = document_request(await self.run(len(body), decode, body), self.names)
        model = self.models[str(whole.model)]
        with refusing(f"{BODY}.model"):
            head_over(model.parser)
        names = ("text", "tokens", "task", "beam", "model")
        request = ParseRequest(**{name: getattr(whole, name) for name in names})
        inputs = await self._inputs(request, counts)
        found = await _batched(model, inputs, BatchKey(request.task, request.search, vectors=True))
        return await self.run(SMALL + 1, _document, model, whole, inputs, found)

    async def _inputs(
        self, request: ParseRequest, counts: Counts, where: str = "body.task", source: str = BODY
    ) -> list[SentenceInput]:
        """The sentences of a request, counted."""
        name = str(request.model)
        model = self.models[name]
        with refusing(where):
            model.parser.tasks(request.task)
        size = len(request.text or "") + sum(map(len, request.tokens or ()))
        language = model.parser.language
        inputs = await self.run(size, sentences_of, request, self.settings, source, language)
        counts["model"] = name
        counts["sentences"] = counts.get("sentences", 0) + len(inputs)
        counts["tokens"] = counts.get("tokens", 0) + sum(map(len, inputs))
        return inputs

    def answer(
        self, request: ParseRequest, sentences: Sequence[Sentence], line: int | None = None
    ) -> bytes:
        """The answer to a request to parse, or to a line of a stream, as JSON."""
        fields: dict[str, Any] = {
            "model": request.model,
            "task": request.task,
            "warnings": self.models[str(request.model)].warnings(sentences),
            "sentences": [parsed_sentence(each, request) for each in sentences],
            "formats": text_formats(sentences, request) if request.formats else UNSET,
        }
        if line is None:
            return encode(ParseAnswer(**fields))
        return encode(LineAnswer(**fields, line=line))

    async def run(self, size: int, work: Callable[..., T], *arguments: Any, **more: Any) -> T:
        """Do work in a thread, unless it is small."""
        if size <= SMALL:
            return work(*arguments, **more)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: work(*arguments, **more))

    def stop(self) -> None:
        """Finish what is queued, and end all threads."""
        self.stopping = True
        for model in self.models.values():
            model.batcher.stop()
        self._threads.shutdown()


async def _batched(
    model: ServedModel, inputs: Sequence[SentenceInput], key: BatchKey, *, waits: bool = False
) -> list[Parsed]:
    """The sentences, parsed in batches with those of others."""
    while True:
        try:
            future = model.batcher.submit(inputs, key)
            break
        except RequestError as error:
            if error.status != 429 or not waits:
                raise
            await asyncio.sleep(RETRY)
    # Cancelling this cancels the future, and the batcher skips the request.
    return await asyncio.wrap_future(future)


def _document(
    model: ServedModel,
    request: DocumentRequest,
    inputs: Sequence[SentenceInput],
    found: Sequence[Parsed],
) -> bytes:
    """One tree over parsed sentences, as an answer."""
    vectors = {each.sentence.words: each.vector for each in found if each.vector is not None}
    starts = request.paragraphs or paragraph_starts(each.paragraph for each in inputs)
    sentences = [each.sentence for each in found]
    given_text = request.text is not UNSET
    text = str(request.text) if given_text else "\n".join(each.text for each in sentences)
    given = DocumentInput(inputs, text, starts)
    options = SearchOptions(beam=request.beam)
    document = with_tree(model.parser, given, sentences, vectors, options)
    return encode(document_answer(document, request, model.warnings(sentences)))


def response_size(request: ParseRequest, sentences: Sequence[Sentence]) -> int:
    """About how much work a response is; drawings and traces are never small."""
    if request.formats or request.trace:
        return SMALL + 1
    return sum(
        len(sentence.tokens) * (1 + sum(len(found) for found in sentence.parses.values()))
        for sentence in sentences
    )


def _segmented(model: ServedModel, sentences: Sequence[Sentence]) -> bytes:
    found = [segmented_sentence(sentence) for sentence in sentences]
    warnings = model.warnings(sentences)
    return encode(SegmentAnswer(model=model.name, warnings=warnings, sentences=found))


def sentences_of(
    request: ParseRequest, settings: Settings, where: str = BODY, language: str = "en"
) -> list[SentenceInput]:
    """The sentences of a request, in order; a text is split by the rules of a language."""
    if request.tokens is not UNSET:
        inputs = list(_sentences_of_tokens(request.tokens))
    else:
        assert request.text is not UNSET
        inputs = _sentences_of_text(request.text, where, language)
    total = sum(map(len, inputs))
    if total > settings.max_tokens:
        raise RequestError(
            413,
            f"{total} tokens, expected {settings.max_tokens} at most",
            where=where,
            hint="send fewer at a time, or stream them as JSON Lines",
        )
    if request.trace:
        numbers = request.n_best * sum(len(each) ** 2 for each in inputs)
        if numbers > settings.max_trace:
            raise RequestError(
                413,
                f"the trace would hold {numbers} numbers, expected {settings.max_trace} at most",
                where=where,
                hint="send shorter sentences, ask for fewer trees, or for no trace",
            )
    return inputs


def _sentences_of_text(text: str, where: str, language: str) -> list[SentenceInput]:
    try:
        return list(Reading(language=language).text(text))
    except UsageError as error:  # a language without spaces
        hint = "send tokens instead of text"
        raise RequestError(422, error.problem, where=f"{where}.text", hint=hint) from error


def _sentences_of_tokens(rows: Sequence[Sequence[str]]) -> Iterator[SentenceInput]:
    """Token lists as sentences of a text in which each stands on a line of its own."""
    inputs, start = [], 0
    for row in rows:
        inputs.append(SentenceInput.of_words(row, start=start))
        start += len(inputs[-1].text) + 1
    return Reading().sentences(inputs)


# ---------------------------------------------------------------- scores of given trees

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
    with refusing():
        gold, predicted = (_trees(getattr(request, side), side, request) for side in SIDES)
        task = metrics.common_task(request.task or None, [gold, predicted])
        _check_options(request, task)
        return metrics.evaluate(task, gold, predicted, _settings(request)).data()


def _settings(request: EvaluateRequest) -> metrics.Settings:
    return metrics.Settings(
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


def _trees(trees: str | list[dict[str, Any]], side: str, request: EvaluateRequest) -> metrics.Trees:
    """The trees of a side; a list has the records of JSON Lines."""
    text = trees if isinstance(trees, str) else "\n".join(map(json.dumps, trees))
    try:
        name = request.format or _guessed_format(text)
        return metrics.read_trees(Text(side, text), name, request.relations or "coarse")
    except UnicodeEncodeError as error:
        raise RequestError(
            422, "it holds half a surrogate pair", where=side, hint="send Unicode characters"
        ) from error


def _guessed_format(text: str) -> str:
    """The format of a text, by its first character."""
    return {"{": "jsonl", "<": "rs3"}.get(text.lstrip()[:1], "brackets")
