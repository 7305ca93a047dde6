"""The parser: a model, and texts or sentences in, trees out.

One result for each sentence, in order, whatever the sentence: what cannot be
parsed has a result that carries its error.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from cleft.discourse import Edu
from cleft.errors import (
    CleftError,
    LanguageWarning,
    ModelError,
    UsageError,
    check_number,
    check_type,
)
from cleft.given import (
    LONGEST_SENTENCE,
    LONGEST_TOKEN,
    Given,
    Reading,
    check_many,
    finished,
    given_tokens,
    leaf_maker,
)
from cleft.models import DEFAULT, model_path
from cleft.runtime import Manifest, ModelDirectory, OnnxScorer, check
from cleft.runtime.batches import GREEDY_TOKENS, TOKENS, always, plan, windows
from cleft.search import Constraints, Parse, SearchOptions, search
from cleft.sentence import Sentence
from cleft.tasks import Task
from cleft.text import Hyphens, LanguageWatch, Source

__all__ = ["LONGEST_SENTENCE", "LONGEST_TOKEN", "Parser", "Sentence", "load"]

BOTH = "both"
ENGLISH = "en"
WORKER_WINDOW = 256

Item = str | Sequence[str] | Source
"""What a stream is made of: texts, lists of tokens, sentences that were read from a file."""


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
    return Parser(directory, threads=threads)


class Parser:
    """A model that parses. It may be shared by threads, and used after a fork.

    >>> load("en-fast").manifest.tasks
    ('syntax', 'discourse')
    """

    def __init__(self, directory: ModelDirectory, *, threads: int = 1) -> None:
        check_type(directory, ModelDirectory, "a ModelDirectory", "use cleft.load")
        self.directory = directory
        self.threads = threads
        self.scorer = OnnxScorer(directory, threads)

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
        return check(self.scorer)

    def tasks(self, task: str = BOTH) -> list[Task[Any]]:
        """The tasks that a name stands for; `both` is every task that the model has."""
        if task == BOTH:
            return [self.manifest.task(name) for name in self.manifest.tasks]
        if task not in self.manifest.tasks:
            known = " and ".join(self.manifest.tasks)
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
            beam=beam, n_best=n_best, alternatives=alternatives, trace=trace, margin=margin
        )
        hint = "use parse_tokens for lists of tokens, stream for many texts"
        check_type(text, str, "a text (str)", hint)
        reading = Reading(language=language or self.language, hyphens=hyphens)
        given = list(self._watched(reading.text(text)))
        return self.parse_given(given, task=task, options=options)

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
    ) -> list[Sentence]:
        """Parse sentences that are lists of tokens; one result each, in order.

        `beam` 1 is greedy. A constraint's EDUs hold for the discourse tree, its
        spans for every tree asked for. Tags are the caller's, else the model's.

        >>> found = load("en-fast").parse_tokens([["It", "rained", "."], []], beam=5)
        >>> print(found[0].syntax)
        (S (NP (PRP It)) (VP (VBD rained)) (. .))
        >>> print(found[1].syntax, type(found[1].error).__name__)
        None InputError
        """
        options = SearchOptions(
            beam=beam, n_best=n_best, alternatives=alternatives, trace=trace, margin=margin
        )
        given = list(self._watched(given_tokens(sentences, constraints, tags)))
        return self.parse_given(given, task=task, options=options)

    # ------------------------------------------------------------ streams

    def stream(
        self,
        items: Iterable[Item],
        *,
        task: str = BOTH,
        beam: int = 1,
        n_best: int = 1,
        alternatives: int = 0,
        trace: bool = False,
        margin: float | None = None,
        jobs: int = 1,
        language: str | None = None,
        hyphens: Hyphens | None = None,
        ready: Callable[[], bool] = always,
    ) -> Iterator[Sentence]:
        """Parse texts or lists of tokens as they come, in order, with bounded memory.

        A text gives all its sentences, at least one result; a list of tokens,
        or a `cleft.text.Source`, gives one. `Sentence.source` is the number of
        the item. Nothing is read before it is needed: a window of sentences at
        a time. With `jobs` above 1, so many worker processes parse windows ahead.
        For a source that rests, `ready` tells whether the next item can be had
        without waiting: if not, what was read so far is parsed at once.

        >>> items = ["It rained. She slept.", ["We", "left", "."]]
        >>> [(found.source, found.words[0]) for found in load("en-fast").stream(items)]
        [(0, 'It'), (0, 'She'), (1, 'We')]
        """
        search_options = SearchOptions(
            beam=beam, n_best=n_best, alternatives=alternatives, trace=trace, margin=margin
        )
        options: dict[str, Any] = {"task": task, "options": search_options}
        self.tasks(task)
        check_many(items, "texts or lists of tokens", "put it into a list; parse takes one text")
        jobs = check_number("jobs", jobs, 1)
        check_type(ready, Callable, "a function for `ready`")
        reading = Reading(language=language or self.language, hyphens=hyphens)
        given = self._watched(reading.sentences(items))
        if jobs > 1:
            from cleft.runtime.workers import parse_in_workers  # it brings multiprocessing

            # An absolute path: a bare name would mean a built-in model.
            path = str(self.directory.path.absolute())
            parts = windows(given, size=WORKER_WINDOW, ready=ready)
            return parse_in_workers(
                path, parts, options, jobs=jobs, threads=self.threads, ready=ready
            )
        return (
            sentence
            for window in windows(given, ready=ready)
            for sentence in self.parse_given(window, **options)
        )

    # ------------------------------------------------------------ the work

    def _watched(self, given: Iterable[Given]) -> Iterator[Given]:
        """The sentences as they come; one warning if they are not in the model's language."""
        watch = LanguageWatch(str(self.manifest.about.get("language") or ""))
        for each in given:
            _warn(watch.read(each.result.text))
            yield each
        _warn(watch.end())

    def parse_given(
        self, given: Sequence[Given], *, task: str, options: SearchOptions
    ) -> list[Sentence]:
        """Parse sentences that were made ready; those with an error stay as they are."""
        results = [each.result for each in given]
        good = [number for number, result in enumerate(results) if result.error is None]
        tasks = self.tasks(task)
        tokens = GREEDY_TOKENS if options.width == 1 else TOKENS
        for batch in plan([len(given[number]) for number in good], tokens):
            numbers = [good[place] for place in batch]
            parts = [given[number] for number in numbers]
            for number, found in zip(numbers, self._parse(parts, tasks, options), strict=True):
                results[number] = finished(given[number], found)
        return results

    def _parse(
        self,
        given: list[Given],
        tasks: Sequence[Task[Any]],
        options: SearchOptions,
    ) -> list[dict[str, list[Parse] | CleftError]]:
        """The parses of a batch by task. A batch that fails is tried one by one."""
        try:
            return self._parse_batch(given, tasks, options)
        except (ModelError, MemoryError) as error:
            if len(given) == 1:
                found = error if isinstance(error, ModelError) else ModelError("out of memory")
                return [{task.name: found for task in tasks}]
        return [self._parse([each], tasks, options)[0] for each in given]

    def _parse_batch(
        self,
        given: list[Given],
        tasks: Sequence[Task[Any]],
        options: SearchOptions,
    ) -> list[dict[str, list[Parse] | CleftError]]:
        words = [each.result.words for each in given]
        encoded = self.scorer.encode_all(words)
        found: list[dict[str, list[Parse] | CleftError]] = [{} for _ in given]
        for task in tasks:
            bound = [_for_task(each.constraints, task) for each in given]
            parses = search(
                self.scorer,
                words,
                task,
                options,
                constraints=bound if any(bound) else None,
                tags=[each.tags for each in given],
                leaves=[leaf_maker(each) for each in given],
                encoded=encoded,
            )
            for row, result in zip(found, parses, strict=True):
                row[task.name] = result
        return found


def _warn(remark: str | None) -> None:
    if remark is not None:
        warnings.warn(remark, LanguageWarning, stacklevel=4)  # who called the parser


def _for_task(constraints: Constraints | None, task: Task[Any]) -> Constraints | None:
    """What of a constraint speaks of this task's tree: only one with stops has EDUs."""
    if constraints is None or task.stops or constraints.edus is None:
        return constraints
    return Constraints(spans=constraints.spans) if constraints.spans else None
