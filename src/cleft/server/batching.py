"""The models of a server, each with a queue that batches sentences of many requests.

One thread per model takes what is queued and parses it in one call; what
arrives meanwhile makes the next call. No call is delayed to make it larger.
Requests take turns, so that a long one does not hold up short ones. A request
that is cancelled before its turn is never parsed.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cleft.errors import UsageError
from cleft.models import model_path
from cleft.parser import Parser, load
from cleft.search import SearchOptions
from cleft.sentence import Sentence, SentenceInput
from cleft.server.responses import Model, RequestError
from cleft.text import LanguageWatch

SENTENCES = 192
TOKENS = 2_000
"""The most sentences and tokens in one call."""

SHARE = 24
"""The most sentences that a request puts into a call before the next request's turn."""


class BatchKey(NamedTuple):
    """The options that sentences must share to be parsed in one call."""

    task: str = "both"
    options: SearchOptions = SearchOptions()


Parse = Callable[[Sequence[SentenceInput], BatchKey], list[Sentence]]


@dataclass(slots=True, eq=False)
class PendingRequest:
    """A request in the queue: the sentences still to be parsed, and the results so far."""

    key: BatchKey
    waiting: deque[tuple[int, SentenceInput]]
    count: int
    results: dict[int, Sentence] = field(default_factory=dict)
    done: Future[list[Sentence]] = field(default_factory=Future)

    @property
    def dropped(self) -> bool:
        """Whether it was cancelled or has failed."""
        return self.done.done()

    def put(self, row: int, sentence: Sentence) -> None:
        """Keep the result of one sentence; the last one completes the request."""
        self.results[row] = sentence
        if len(self.results) == self.count and self.done.set_running_or_notify_cancel():
            self.done.set_result([self.results[row] for row in range(self.count)])

    def fail(self, error: Exception) -> None:
        """End the request with an error, unless it has ended."""
        if not self.dropped and self.done.set_running_or_notify_cancel():
            self.done.set_exception(error)


class PendingSentence(NamedTuple):
    """A sentence in a call: its request, and its place there."""

    request: PendingRequest
    number: int
    sentence: SentenceInput


class Batcher:
    """A queue of bounded length in front of one model, and the thread that empties it."""

    def __init__(self, parse: Parse, capacity: int, name: str = "model") -> None:
        self._parse = parse
        self._capacity = capacity
        self._queue: deque[PendingRequest] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=f"cleft-{name}", daemon=True)
        self._thread.start()

    def submit(self, sentences: Sequence[SentenceInput], key: BatchKey) -> Future[list[Sentence]]:
        """Queue the sentences of a request; their results will be in order."""
        request = PendingRequest(key, deque(enumerate(sentences)), len(sentences))
        if not sentences:
            request.done.set_result([])
            return request.done
        with self._changed:
            if self._stopping:
                raise RequestError(503, "the server is stopping", hint="use another server")
            self._forget_dropped()
            if len(self._queue) >= self._capacity:
                raise RequestError(
                    429, "too many requests are waiting", hint="try again in a second"
                )
            self._queue.append(request)
            self._changed.notify()
        return request.done

    @property
    def waiting(self) -> int:
        """The number of requests with sentences that are not yet in a call."""
        with self._changed:
            self._forget_dropped()
            return len(self._queue)

    def stop(self) -> None:
        """Accept nothing more, finish what is queued, and end the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    def _forget_dropped(self) -> None:
        if any(request.dropped for request in self._queue):
            self._queue = deque(request for request in self._queue if not request.dropped)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._stopping)
                self._forget_dropped()
                batch = self._take()
                if not batch and self._stopping:
                    return
            if batch:
                self._call(batch)

    def _take(self) -> list[PendingSentence]:
        """Sentences for one call, all of one key, a share of each request in turn."""
        batch: list[PendingSentence] = []
        others: list[PendingRequest] = []
        room = True
        while self._queue and room:
            request = self._queue.popleft()
            if batch and request.key != batch[0].request.key:
                others.append(request)
                continue
            before = len(batch)
            room = _share(request, batch)
            if request.waiting and len(batch) == before:
                self._queue.appendleft(request)  # it comes first in the next call
            elif request.waiting:
                self._queue.append(request)
        self._queue.extendleft(reversed(others))
        return batch

    def _call(self, batch: list[PendingSentence]) -> None:
        try:
            found = self._parse([row.sentence for row in batch], batch[0].request.key)
        except Exception as error:
            if len(batch) == 1:
                batch[0].request.fail(error)
            else:  # one bad sentence must not fail those of other requests
                for row in batch:
                    self._call([row])
            return
        for row, sentence in zip(batch, found, strict=True):
            row.request.put(row.number, sentence)


def _share(request: PendingRequest, batch: list[PendingSentence]) -> bool:
    """Move a request's share into a batch; false if the batch is full."""
    tokens = sum(len(row.sentence) for row in batch)
    for _ in range(min(SHARE, len(request.waiting))):
        number, sentence = request.waiting[0]
        tokens += len(sentence)
        if batch and (tokens > TOKENS or len(batch) >= SENTENCES):
            return False
        request.waiting.popleft()
        batch.append(PendingSentence(request, number, sentence))
    return True


class ServedModel:
    """A model with its name and its queue."""

    def __init__(self, name: str, parser: Parser, capacity: int) -> None:
        self.name = name
        self.parser = parser
        self.batcher = Batcher(self._parse, capacity, name)

    def _parse(self, inputs: Sequence[SentenceInput], key: BatchKey) -> list[Sentence]:
        return self.parser.parse_inputs(inputs, task=key.task, options=key.options)

    def warnings(self, sentences: Iterable[Sentence]) -> list[str]:
        """The remark that sentences are not in the model's language; none if it names none."""
        watch = LanguageWatch(str(self.parser.manifest.about.get("language") or ""))
        remarks = [*(watch.read(sentence.text) for sentence in sentences), watch.end()]
        return [remark for remark in remarks if remark is not None]

    def describe(self) -> Model:
        """The model in the answer to /v1/models."""
        manifest = self.parser.manifest
        about = ("language", "licence", "training_data", "scores")
        return Model(
            name=self.name,
            tasks=list(manifest.tasks),
            **{key: manifest.about.get(key) for key in about},
            labels={task: list(names) for task, names in manifest.labels.items()},
            tags=list(manifest.tags),
            precision=manifest.precision,
        )


def load_models(
    models: Iterable[str | Path], *, threads: int = 1, capacity: int = 256
) -> dict[str, ServedModel]:
    """The models by name, in the order given; the first is the default.

    A model is called what its config.json says, else what its directory is.
    """
    parsers: dict[str, Parser] = {}
    for model in models:
        parser = load(model, threads=threads)
        name = str(parser.manifest.about.get("name") or model_path(model).name)
        if name in parsers:
            raise UsageError(
                f"two models are called {name!r}",
                where=str(model),
                hint="give one of them another name when it is exported",
            )
        # The first call allocates memory and is slow: no client should wait for it.
        parser.parse_tokens([["Ready", "?"]])
        parsers[name] = parser
    return {name: ServedModel(name, parser, capacity) for name, parser in parsers.items()}
