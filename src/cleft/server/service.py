"""The work behind the API: questions in, JSON out, the model's work off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from cleft import __version__
from cleft.errors import CleftError
from cleft.sentence import Sentence
from cleft.server.bodies import encode
from cleft.server.downloads import whole_downloads
from cleft.server.engines import Engine
from cleft.server.evaluation import evaluate
from cleft.server.refusals import RequestError
from cleft.server.requests import BODY, Question, decode, parse_question, ready, segment_question
from cleft.server.responses import segmented_data, sentence_data
from cleft.server.settings import ALTERNATIVES, BEAM, N_BEST, Settings

__all__ = ["Service"]

T = TypeVar("T")
Tally = dict[str, Any]
"""What the access log tells of a request: counts, never texts."""

SMALL = 2_000
"""Bytes of a text, or tokens of an answer, that take less time than to go to a thread and back."""
THREADS = 4
PATIENCE = 0.05
"""Seconds after which a full queue is tried again."""


class Service:
    """All that the API can do, whatever brings the requests."""

    def __init__(self, engines: Mapping[str, Engine], settings: Settings) -> None:
        self.engines = engines
        self.names = list(engines)
        self.settings = settings
        self.stopping = False
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="cleft-serve")

    def health(self) -> dict[str, Any]:
        """Whether the server works, and with what."""
        return {"status": "ok", "version": __version__, "models": self.names}

    def models(self) -> dict[str, Any]:
        """The models and the limits."""
        settings = self.settings
        return {
            "default": self.names[0],
            "models": [engine.describe() for engine in self.engines.values()],
            "limits": {
                "body": settings.max_body,
                "stream": settings.max_stream,
                "line": settings.max_line,
                "tokens": settings.max_tokens,
                "trace": settings.max_trace,
                "beam": BEAM,
                "n_best": N_BEST,
                "alternatives": ALTERNATIVES,
                "seconds": settings.seconds,
            },
        }

    async def parse(self, body: bytes, tally: Tally) -> bytes:
        """The answer to a body of /v1/parse."""
        table = await self.run(len(body), decode, body)
        question = parse_question(table, self.names)
        sentences = await self.sentences(question, tally)
        return await self.run(answer_size(question, sentences), self.answer, question, sentences)

    async def segment(self, body: bytes, tally: Tally) -> bytes:
        """The answer to a body of /v1/segment."""
        table = await self.run(len(body), decode, body)
        question = segment_question(table, self.names)
        sentences = await self.sentences(question, tally, where="body.model")
        return await self.run(answer_size(question, sentences), _segmented, question, sentences)

    async def evaluate(self, body: bytes, tally: Tally) -> bytes:
        """The answer to a body of /v1/evaluate."""
        return await self.run(len(body), _evaluated, body)

    async def sentences(
        self,
        question: Question,
        tally: Tally,
        *,
        where: str = "body.task",
        source: str = BODY,
        patient: bool = False,
    ) -> list[Sentence]:
        """The sentences of a question, parsed along with those of others.

        `where` and `source` name the places of the task and of the text in
        messages. If the queue is full, a patient caller waits.
        """
        engine = self.engines[question.model]
        try:
            engine.parser.tasks(question.key.task)
        except CleftError as error:
            raise RequestError(422, error.problem, where=where, hint=error.hint) from error
        size = len(question.text or "") + sum(map(len, question.tokens))
        language = engine.parser.language
        given = await self.run(size, ready, question, self.settings, source, language)
        tally["model"] = question.model
        tally["sentences"] = tally.get("sentences", 0) + len(given)
        tally["tokens"] = tally.get("tokens", 0) + sum(map(len, given))
        while True:
            try:
                future = engine.batcher.submit(given, question.key)
                break
            except RequestError as error:
                if error.status != 429 or not patient:
                    raise
                await asyncio.sleep(PATIENCE)
        # If this is cancelled so is the future, and the batcher passes it over.
        return await asyncio.wrap_future(future)

    def answer(self, question: Question, sentences: Sequence[Sentence], **more: Any) -> bytes:
        """The answer to a question, as JSON."""
        wish = question.wish
        data = {
            **more,
            "model": question.model,
            "task": question.key.task,
            "sentences": [sentence_data(each, wish) for each in sentences],
        }
        if wish.formats:
            data["formats"] = whole_downloads(sentences, wish)
        return encode(data)

    async def run(self, size: int, work: Callable[..., T], *arguments: Any, **more: Any) -> T:
        """Work that may take long, in a thread; what is small is done at once."""
        if size <= SMALL:
            return work(*arguments, **more)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: work(*arguments, **more))

    def stop(self) -> None:
        """Finish what is queued, and end all threads."""
        self.stopping = True
        for engine in self.engines.values():
            engine.batcher.stop()
        self._threads.shutdown()


def answer_size(question: Question, sentences: Sequence[Sentence]) -> int:
    """About how much work an answer is; drawings and traces are never little."""
    if question.wish.formats or question.key.options.trace:
        return SMALL + 1
    return sum(
        len(sentence.tokens) * (1 + sum(len(found) for found in sentence.parses.values()))
        for sentence in sentences
    )


def _segmented(question: Question, sentences: Sequence[Sentence]) -> bytes:
    found = [segmented_data(sentence) for sentence in sentences]
    return encode({"model": question.model, "sentences": found})


def _evaluated(body: bytes) -> bytes:
    return encode(evaluate(decode(body)))
