"""The parser: a model, and texts or sentences in, trees out.

One result for each sentence, in order, whatever the sentence: what cannot be
parsed has a result that carries its error.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cleft.discourse import Edu
from cleft.errors import (
    CleftError,
    LanguageWarning,
    ModelError,
    UsageError,
    check_number,
    check_type,
)
from cleft.models import DEFAULT, model_path
from cleft.runtime import Manifest, ModelDirectory, ModelScorer, OnnxScorer
from cleft.runtime.batches import GREEDY_TOKENS, LARGEST, TOKENS, always, plan, windows
from cleft.runtime.scorer import OnnxEncoded
from cleft.search import Constraints, Parse, SearchOptions, search
from cleft.sentence import Sentence, SentenceInput, checked_tokens
from cleft.span import Span
from cleft.tasks import Task
from cleft.text import Hyphens, LanguageWatch, Reading

if TYPE_CHECKING:
    from cleft.document import Document
    from cleft.documents import DocumentInput, Vectors

    Item = str | Sequence[str] | Sequence[Sequence[str]] | SentenceInput | DocumentInput
    """What a stream is made of: texts, lists of tokens, sentences that were read from a file; of
    documents, texts and lists of sentences, or documents that were read from a file."""

BOTH = "both"
ENGLISH = "en"
WORKER_WINDOW = 256

Found = dict[str, list[Parse] | CleftError]
"""The parses of one sentence by task, or why there are none."""


def load(model: str | Path = DEFAULT, *, threads: int = 1) -> Parser:
    """The parser of a built-in model (by name) or of a model's directory, all files verified.

    A name that is also a directory here means the built-in model; write
    `./en` for the directory. `threads` is how many ONNX Runtime uses for one
    call. For many sentences, `Parser.stream` with `jobs` uses the cores better.

    >>> parser = load()
    >>> [sentence] = parser.parse("She slept because it rained.")
    >>> sentence.words
    ('She', 'slept', 'because', 'it', 'rained', '.')
    >>> print(sentence.syntax)  # doctest: +ELLIPSIS
    (S (NP (PRP She)) (VP (VBD slept) (SBAR ...
    """
    check_type(model, str | PathLike, "a model's name or directory")
    directory = ModelDirectory(model_path(model))
    directory.verify()
    return Parser(OnnxScorer(directory, threads), directory=directory, threads=threads)


class Parser:
    """A model that parses. It may be shared by threads, and used after a fork.

    `load` makes one of a model's directory. Any other scorer with a manifest
    will do, such as the one of PyTorch; only worker processes need the directory.

    >>> load("en-fast").manifest.tasks
    ('syntax', 'discourse', 'document')
    """

    def __init__(
        self, scorer: ModelScorer, *, directory: ModelDirectory | None = None, threads: int = 1
    ) -> None:
        check_type(scorer, ModelScorer, "a scorer with a manifest", "use cleft.load")
        self.scorer = scorer
        self.directory = directory
        self.threads = threads

    @property
    def manifest(self) -> Manifest:
        """What the model is: tasks, labels, licence, scores."""
        return self.scorer.manifest

    @property
    def language(self) -> str:
        """The language whose rules read a text: the model's, English where it names none."""
        return str(self.manifest.about.get("language") or ENGLISH)

    def check(self) -> int:
        """Parse the model's own test sentences; how many, or a ModelError if a tree differs."""
        from cleft.runtime.selftest import check

        return check(self.scorer)

    def tasks(self, task: str = BOTH) -> list[Task[Any]]:
        """The tasks that a name stands for; `both` is every task of sentences that there is."""
        names = self.manifest.token_tasks
        if task == BOTH:
            return [self.manifest.task(name) for name in names]
        if task not in names:
            known = " and ".join(names)
            raise UsageError(
                f"the model has no task {task!r}", hint=f"it has {known}; 'both' is all it has"
            )
        return [self.manifest.task(task)]

    # ------------------------------------------------------------ texts

    def parse(
        self,
        text: str,
        *,
        task: str = BOTH,
        beam: int = 1,
        n_best: int = 1,
        alternatives: int = 0,
        trace: bool = False,
        margin: float | None = None,
        joint: bool = True,
        language: str | None = None,
        hyphens: Hyphens | None = None,
    ) -> list[Sentence]:
        """Parse a text: its sentences in order, with offsets into it.

        `text[token.start:token.end]` is a token's source, and the same holds
        for sentences and EDUs. A text without a word has one result, with an
        error; one that looks like another language than the model's gives a
        `LanguageWarning`. `language` (the model's own if none is given) and
        `hyphens` are choices of `cleft.text`; the rest is as in `parse_tokens`.

        >>> text = "It rained. She slept."
        >>> for sentence in load("en-fast").parse(text):
        ...     token = sentence.tokens[1]
        ...     print(text[token.start : token.end], sentence.syntax.tags()[1])
        rained VBD
        slept VBD
        """
        options = SearchOptions(
            beam=beam,
            n_best=n_best,
            alternatives=alternatives,
            trace=trace,
            margin=margin,
            joint=joint,
        )
        hint = "use parse_tokens for lists of tokens, stream for many texts"
        check_type(text, str, "a text (str)", hint)
        reading = Reading(language=language or self.language, hyphens=hyphens)
        inputs = list(self._watched(reading.text(text)))
        return self.parse_inputs(inputs, task=task, options=options)

    def segment(
        self,
        text: str,
        *,
        beam: int = 1,
        language: str | None = None,
        hyphens: Hyphens | None = None,
    ) -> list[tuple[Edu, ...]]:
        """The elementary discourse units of a text, sentence by sentence.

        `text[edu.start:edu.end]` is an EDU's source; its `text` is the same
        with single spaces. A sentence that cannot be parsed has no EDUs;
        `parse` with `task="discourse"` tells why.

        >>> [edus] = load("en-fast").segment("She slept because it rained.")
        >>> [edu.text for edu in edus]
        ['She slept', 'because it rained.']
        """
        found = self.parse(text, task="discourse", beam=beam, language=language, hyphens=hyphens)
        return [sentence.edus for sentence in found]

    # ------------------------------------------------------------ tokens

    def parse_tokens(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        task: str = BOTH,
        beam: int = 1,
        n_best: int = 1,
        constraints: Sequence[Constraints | None] | None = None,
        tags: Sequence[Sequence[str] | None] | None = None,
        alternatives: int = 0,
        trace: bool = False,
        margin: float | None = None,
        joint: bool = True,
    ) -> list[Sentence]:
        """Parse sentences that are lists of tokens; one result each, in order.

        `beam` 1 is greedy. The `n_best` trees of a task differ in structure or labels, the
        best by `log_prob` first; `joint=False` chooses structures first and then each label
        by itself. A constraint's EDUs hold for the discourse tree, its
        spans for every tree asked for. Tags are the caller's, else the model's.

        >>> found = load("en-fast").parse_tokens([["It", "rained", "."], []], beam=5)
        >>> print(found[0].syntax)
        (S (NP (PRP It)) (VP (VBD rained)) (. .))
        >>> print(found[1].syntax, type(found[1].error).__name__)
        None InputError
        """
        options = SearchOptions(
            beam=beam,
            n_best=n_best,
            alternatives=alternatives,
            trace=trace,
            margin=margin,
            joint=joint,
        )
        inputs = list(self._watched(_token_inputs(sentences, constraints, tags)))
        return self.parse_inputs(inputs, task=task, options=options)

    # ------------------------------------------------------------ documents

    def parse_document(
        self,
        text: str | None = None,
        *,
        sentences: Iterable[Sequence[str]] | None = None,
        paragraphs: Sequence[int] = (0,),
        constraints: Sequence[Constraints | None] | None = None,
        spans: Sequence[Span] = (),
        task: str = BOTH,
        beam: int = 1,
        n_best: int = 1,
        alternatives: int = 0,
        trace: bool = False,
        margin: float | None = None,
        joint: bool = True,
        language: str | None = None,
        hyphens: Hyphens | None = None,
    ) -> Document:
        r"""Parse a whole text: its sentences, and one discourse tree over all of it.

        It is given as a text, or as `sentences` of tokens with the `paragraphs`
        (the numbers of the sentences that begin one) and, for each sentence, its
        `constraints`. `spans` of sentences must all be nodes of the tree. The
        rest is as in `parse`; what `n_best`, `alternatives` and `trace` ask for
        is in `Document.parses`.

        >>> document = load("en-fast").parse_document("Rain\n\nIt rained. So she slept.")
        >>> len(document.sentences), document.paragraphs, document.tree.span
        (3, (0, 1), Span(left=0, right=8))
        """
        from cleft.documents import DocumentInput, parse_whole

        options = SearchOptions(
            beam=beam,
            n_best=n_best,
            alternatives=alternatives,
            trace=trace,
            margin=margin,
            joint=joint,
        )
        if (text is None) == (sentences is None):
            raise UsageError(
                "expected a text or sentences, found " + ("neither" if text is None else "both"),
                hint="as in parse_document(text), or parse_document(sentences=[[...], ...])",
            )
        if sentences is not None:
            inputs = list(self._watched(_token_inputs(sentences, constraints, None)))
            whole = DocumentInput(inputs, paragraphs=paragraphs)
        else:
            check_type(text, str, "a text (str)", "use stream for many texts")
            reading = Reading(language=language or self.language, hyphens=hyphens)
            whole = self._read_document(text, reading)
        bound = Constraints(spans=tuple(spans)) if spans else None
        return parse_whole(self, replace(whole, bound=bound), task=task, options=options)

    # ------------------------------------------------------------ streams

    def stream(
        self,
        items: Iterable[Item],
        *,
        document: bool = False,
        task: str = BOTH,
        beam: int = 1,
        n_best: int = 1,
        alternatives: int = 0,
        trace: bool = False,
        margin: float | None = None,
        joint: bool = True,
        jobs: int = 1,
        language: str | None = None,
        hyphens: Hyphens | None = None,
        ready: Callable[[], bool] = always,
    ) -> Iterator[Any]:
        """Parse texts or lists of tokens as they come, in order, with bounded memory.

        A text gives all its sentences, at least one result; a list of tokens, or a
        `SentenceInput`, gives one. `Sentence.source` is the item's number. Nothing is read before
        it is needed: a window of sentences at a time, `jobs` of them ahead in worker processes.
        For a source that rests, `ready` tells whether the next item can be had without waiting:
        if not, what was read so far is parsed at once. With `document`, an item is a text, a
        list of sentences, each a list of tokens, or a `DocumentInput`, and gives one `Document`.

        >>> items = ["It rained. She slept.", ["We", "left", "."]]
        >>> [(found.source, found.words[0]) for found in load("en-fast").stream(items)]
        [(0, 'It'), (0, 'She'), (1, 'We')]
        """
        options = SearchOptions(
            beam=beam,
            n_best=n_best,
            alternatives=alternatives,
            trace=trace,
            margin=margin,
            joint=joint,
        )
        self.tasks(task)
        _check_many(items, "texts or lists of tokens", "put it into a list; parse takes one text")
        jobs = check_number("jobs", jobs, 1)
        check_type(ready, Callable, "a function for `ready`")
        reading = Reading(language=language or self.language, hyphens=hyphens)
        make, parts = _window_parser, self._parts(items, reading, jobs, ready)
        if document:
            from cleft.documents import head_over, whole_parser

            head_over(self)
            make, parts = whole_parser, self._documents(items, reading)
        if jobs == 1:
            work = make(self, task, options)
            return (found for part in parts for found in work(part))
        from cleft.engines import Workers, in_order  # they bring multiprocessing

        path = str(self._model_directory().path.absolute())  # a bare name is a built-in model's
        make = make if document else _window_finder
        workers = Workers(jobs, _worker, make, path, self.threads, task, options)
        if document:
            return (found for part in in_order(workers, parts, ready) for found in part)
        return _put_together(parts, partial(in_order, workers, ready=ready))

    def _parts(
        self, items: Iterable[Any], reading: Reading, jobs: int, ready: Callable[[], bool]
    ) -> Iterator[list[Any]]:
        size = WORKER_WINDOW if jobs > 1 else LARGEST
        return windows(self._watched(reading.sentences(items)), size=size, ready=ready)

    def _documents(self, items: Iterable[Any], reading: Reading) -> Iterator[list[Any]]:
        return ([self._read_document(item, reading, number)] for number, item in enumerate(items))

    def _read_document(self, item: Any, reading: Reading, number: int = 0) -> DocumentInput:
        """The sentences of a text, or of a list of them, with the paragraphs."""
        from cleft.document import paragraph_starts
        from cleft.documents import DocumentInput

        if isinstance(item, DocumentInput):
            rows = enumerate(item.sentences, start=1)
            checked = (
                each
                if each.error is not None
                else each.checked(number, "" if each.line or each.number else f"sentence {count}")
                for count, each in rows
            )
            return replace(item, sentences=list(self._watched(checked)))
        if isinstance(item, str):
            inputs = list(self._watched(reading.text(item, number)))
            starts = paragraph_starts(each.paragraph for each in inputs)
            return DocumentInput(inputs, item, starts)
        return DocumentInput(list(self._watched(_token_inputs(item, None, None))))

    def _model_directory(self) -> ModelDirectory:
        if self.directory is None:
            raise UsageError(
                "worker processes read the model from its directory; this parser has none",
                where="jobs",
                hint="use one job, or export the model and load it",
            )
        return self.directory

    # ------------------------------------------------------------ the work

    def _watched(self, inputs: Iterable[SentenceInput]) -> Iterator[SentenceInput]:
        """The sentences as they come; one warning if they are not in the model's language."""
        watch = LanguageWatch(str(self.manifest.about.get("language") or ""))
        for each in inputs:
            _warn(watch.read(each.text))
            yield each
        _warn(watch.end())

    def parse_inputs(
        self,
        inputs: Sequence[SentenceInput],
        *,
        task: str,
        options: SearchOptions,
        vectors: Vectors | None = None,
    ) -> list[Sentence]:
        """Parse sentences that were checked by `Reading`; those with an error keep it.

        What the encoder says of each goes to `vectors`, where they are asked for.
        """
        return _results(inputs, self._find(inputs, task, options, vectors))

    def _find(
        self,
        inputs: Sequence[SentenceInput],
        task: str,
        options: SearchOptions,
        vectors: Vectors | None = None,
    ) -> list[Found | None]:
        """The parses of each sentence; none of those that have an error from the start."""
        found: dict[int, Found] = {}
        good = [number for number, each in enumerate(inputs) if each.error is None]
        tasks = self.tasks(task)
        exact = options.n_best == 1 and all(self.scorer.stateless(each.name) for each in tasks)
        tokens = GREEDY_TOKENS if exact or options.width == 1 else TOKENS
        for batch in plan([len(inputs[number]) for number in good], tokens):
            numbers = [good[place] for place in batch]
            parts = [inputs[number] for number in numbers]
            parses = self._parse(parts, tasks, options, vectors)
            found.update(zip(numbers, parses, strict=True))
        return [found.get(number) for number in range(len(inputs))]

    def _parse(
        self,
        inputs: list[SentenceInput],
        tasks: Sequence[Task[Any]],
        options: SearchOptions,
        vectors: Vectors | None,
    ) -> list[Found]:
        """The parses of a batch by task. A batch that fails is tried one by one."""
        try:
            return self._parse_batch(inputs, tasks, options, vectors)
        except (ModelError, MemoryError) as error:
            if len(inputs) == 1:
                found = error if isinstance(error, ModelError) else ModelError("out of memory")
                return [{task.name: found for task in tasks}]
        return [self._parse([each], tasks, options, vectors)[0] for each in inputs]

    def _parse_batch(
        self,
        inputs: list[SentenceInput],
        tasks: Sequence[Task[Any]],
        options: SearchOptions,
        vectors: Vectors | None,
    ) -> list[Found]:
        words = [each.words for each in inputs]
        encoded = self.scorer.encode(words)
        if vectors is not None and isinstance(encoded, OnnxEncoded):
            from cleft.runtime.units import sentence_vectors

            rows = sentence_vectors(encoded.boundaries, encoded.lengths)
            vectors.update(zip(words, rows, strict=True))
        found: list[Found] = [{} for _ in inputs]
        for task in tasks:
            bound = [_for_task(each.constraints, task) for each in inputs]
            parses = search(
                self.scorer,
                words,
                task,
                options,
                constraints=bound if any(bound) else None,
                tags=[each.tags for each in inputs],
                leaves=[each.edu if each.located else None for each in inputs],
                encoded=encoded,
            )
            for row, result in zip(found, parses, strict=True):
                row[task.name] = result
        return found


Work = Callable[[Any], list[Any]]


def _window_parser(parser: Parser, task: str, options: SearchOptions) -> Work:
    """What is done with a window of sentences."""
    return lambda window: parser.parse_inputs(window, task=task, options=options)


def _window_finder(parser: Parser, task: str, options: SearchOptions) -> Work:
    """The same in a worker, which gives back the parses alone: its parent has the sentences."""
    return lambda window: parser._find(window, task, options)


def _put_together(
    windows: Iterable[list[SentenceInput]],
    find: Callable[[Iterable[list[SentenceInput]]], Iterable[list[Found | None]]],
) -> Iterator[Sentence]:
    """The sentences of windows, with what is found for each window, in order."""
    waiting: deque[list[SentenceInput]] = deque()

    def kept() -> Iterator[list[SentenceInput]]:
        for window in windows:
            waiting.append(window)
            yield window

    return (each for found in find(kept()) for each in _results(waiting.popleft(), found))


def _results(inputs: Iterable[SentenceInput], found: Iterable[Found | None]) -> list[Sentence]:
    return [each.result(parses) for each, parses in zip(inputs, found, strict=True)]


def _worker(make: Callable[..., Work], path: str, threads: int, *how: Any) -> Work:
    """What a worker process does: the same with a parser of its own."""
    return make(load(path, threads=threads), *how)


def _token_inputs(
    sentences: Iterable[Sequence[str]],
    constraints: Iterable[Constraints | None] | None,
    tags: Iterable[Sequence[str] | None] | None,
) -> Iterator[SentenceInput]:
    """Lists of tokens, each with what is given along with it."""
    _check_many(sentences, "sentences, each a list of tokens", "use parse for a text")
    rows = list(sentences)
    constraints = _one_each(constraints, "constraints", len(rows))
    tags = _one_each(tags, "lists of tags", len(rows))
    return map(checked_tokens, rows, range(len(rows)), constraints, tags)


def _check_many(values: object, what: str, hint: str) -> None:
    """Fail unless values can be gone through; a text and a dictionary are one thing each."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise UsageError(f"expected {what}, found {type(values).__name__}", hint=hint)


def _one_each(values: Iterable[Any] | None, what: str, count: int) -> list[Any]:
    if values is None:
        return [None] * count
    hint = "give one a sentence, None where there is none"
    _check_many(values, f"a list of {what}", hint)
    found = list(values)
    if len(found) != count:
        raise UsageError(f"{len(found)} {what} for {count} sentences", hint=hint)
    return found


def _warn(remark: str | None) -> None:
    if remark is not None:
        warnings.warn(remark, LanguageWarning, stacklevel=4)  # who called the parser


def _for_task(constraints: Constraints | None, task: Task[Any]) -> Constraints | None:
    """What of a constraint speaks of this task's tree: only one with stops has EDUs."""
    if constraints is None or task.stops or constraints.edus is None:
        return constraints
    return Constraints(spans=constraints.spans) if constraints.spans else None
