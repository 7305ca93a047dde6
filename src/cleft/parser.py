"""The parser: a model, and sentences in, trees out.

One result for each sentence, in order, whatever the sentence: what cannot be
parsed has a result that carries its error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from cleft.discourse import DiscourseTree
from cleft.errors import CleftError, InputError, ModelError, UsageError
from cleft.runtime import Manifest, ModelDirectory, OnnxScorer, check
from cleft.runtime.batches import plan, windows
from cleft.search import Constraints, Parse, SearchOptions, search
from cleft.tasks import DISCOURSE, DiscourseTask, SyntaxTask
from cleft.text import Token
from cleft.tree import Tree

__all__ = ["Parser", "Sentence", "load"]

BOTH = "both"
LONGEST_TOKEN = 10_000
LONGEST_SENTENCE = 20_000
"""The most characters of a token, and tokens of a sentence, that are parsed."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sentence:
    """What became of one sentence.

    `parses` holds the trees of each task, best first, with their derivations;
    `syntax` and `discourse` are the best of them. `error` is there where the
    sentence could not be parsed; the rest is then as far as it got.
    """

    text: str
    tokens: tuple[Token, ...] = ()
    syntax: Tree | None = None
    discourse: DiscourseTree | None = None
    error: CleftError | None = None
    parses: Mapping[str, tuple[Parse, ...]] = field(default_factory=dict)


def load(path: str | Path, *, threads: int = 1) -> Parser:
    """The parser of a model's directory, all of its files verified.

    `threads` is how many ONNX Runtime uses for one call. For many sentences,
    `Parser.stream` with `jobs` uses the cores better.
    """
    directory = ModelDirectory(path)
    directory.verify()
    return Parser(directory, threads=threads)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """What the caller gives along with one sentence."""

    tokens: Any
    constraints: Constraints | None = None
    tags: Sequence[str] | None = None


class Parser:
    """A model that parses. It may be shared by threads, and used after a fork."""

    def __init__(self, directory: ModelDirectory, *, threads: int = 1) -> None:
        self.directory = directory
        self.threads = threads
        self.scorer = OnnxScorer(directory, threads)

    @property
    def manifest(self) -> Manifest:
        """What the model is: tasks, labels, licence, scores."""
        return self.scorer.manifest

    def check(self) -> int:
        """Parse the model's own test sentences; how many, or a ModelError if a tree differs."""
        return check(self.scorer)

    def tasks(self, task: str = BOTH) -> list[SyntaxTask | DiscourseTask]:
        """The tasks that a name stands for; `both` is every task that the model has."""
        every: dict[str, SyntaxTask | DiscourseTask] = {
            "syntax": self.manifest.syntax,
            "discourse": DISCOURSE,
        }
        if task == BOTH:
            return [every[name] for name in every if name in self.manifest.tasks]
        if task not in self.manifest.tasks:
            known = " and ".join(self.manifest.tasks)
            raise UsageError(
                f"the model has no task {task!r}", hint=f"it has {known}; 'both' is all it has"
            )
        return [every[task]]

    # ------------------------------------------------------------ parsing

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
        """
        options = SearchOptions(
            beam=beam, n_best=n_best, alternatives=alternatives, trace=trace, margin=margin
        )
        rows = list(sentences)
        given = _together(rows, constraints, tags)
        results = [_result(each.tokens, number) for number, each in enumerate(given, 1)]
        good = [number for number, result in enumerate(results) if result.error is None]
        tasks = self.tasks(task)
        for batch in plan([len(given[number].tokens) for number in good]):
            numbers = [good[place] for place in batch]
            parts = [given[number] for number in numbers]
            for number, found in zip(numbers, self._parse(parts, tasks, options), strict=True):
                results[number] = _finished(results[number], found, number)
        return results

    def _parse(
        self,
        given: list[_Given],
        tasks: Sequence[SyntaxTask | DiscourseTask],
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
        given: list[_Given],
        tasks: Sequence[SyntaxTask | DiscourseTask],
        options: SearchOptions,
    ) -> list[dict[str, list[Parse] | CleftError]]:
        words = [each.tokens for each in given]
        encoded = self.scorer.encode(words)
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
                encoded=encoded,
            )
            for row, result in zip(found, parses, strict=True):
                row[task.name] = result
        return found

    def stream(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        task: str = BOTH,
        beam: int = 1,
        n_best: int = 1,
        alternatives: int = 0,
        trace: bool = False,
        margin: float | None = None,
        jobs: int = 1,
    ) -> Iterator[Sentence]:
        """Parse sentences as they come, in order, with bounded memory.

        Nothing is read before it is needed: a window of sentences at a time.
        With `jobs` above 1, so many worker processes parse windows ahead.
        """
        options: dict[str, Any] = {"task": task, "beam": beam, "n_best": n_best}
        options |= {"alternatives": alternatives, "trace": trace, "margin": margin}
        self.tasks(task)
        SearchOptions(beam=beam, n_best=n_best, alternatives=alternatives, margin=margin)
        if jobs < 1:
            raise UsageError(f"jobs is {jobs}, expected 1 or more")
        if jobs > 1:
            from cleft.runtime.workers import parse_in_workers  # it brings multiprocessing

            path = str(self.directory.path)
            parts = windows(sentences, size=WORKER_WINDOW)
            return parse_in_workers(path, parts, options, jobs=jobs, threads=self.threads)
        return self._stream(sentences, options)

    def _stream(
        self, sentences: Iterable[Sequence[str]], options: dict[str, Any]
    ) -> Iterator[Sentence]:
        for window in windows(sentences):
            yield from self.parse_tokens(window, **options)


WORKER_WINDOW = 256


def _together(
    rows: Sequence[Any],
    constraints: Sequence[Constraints | None] | None,
    tags: Sequence[Sequence[str] | None] | None,
) -> list[_Given]:
    """Each sentence with what is given along with it."""
    for what, values in (("constraints", constraints), ("lists of tags", tags)):
        if values is not None and len(values) != len(rows):
            raise UsageError(
                f"{len(values)} {what} for {len(rows)} sentences",
                hint="give one a sentence, None where there is none",
            )
    none = [None] * len(rows)
    return [
        _Given(tokens=row, constraints=bound, tags=names)
        for row, bound, names in zip(rows, constraints or none, tags or none, strict=True)
    ]


def _result(tokens: Any, number: int) -> Sentence:
    """A result without trees, or with the error that keeps the sentence from being parsed."""
    error = _fault(tokens, f"sentence {number}")
    if error is not None:
        shown = tokens if isinstance(tokens, str) else ""
        return Sentence(text=shown, error=error)
    starts = accumulate((len(token) + 1 for token in tokens), initial=0)
    places = tuple(
        Token(token, start, start + len(token))
        for token, start in zip(tokens, starts, strict=False)
    )
    return Sentence(text=" ".join(tokens), tokens=places)


def _fault(tokens: Any, where: str) -> InputError | None:
    if isinstance(tokens, str) or not isinstance(tokens, Sequence):
        kind = type(tokens).__name__
        return InputError(f"expected a list of tokens, found {kind}", where=where)
    if not tokens:
        return InputError("there are no tokens", where=where, hint="give at least one")
    if len(tokens) > LONGEST_SENTENCE:
        return InputError(
            f"{len(tokens)} tokens, expected {LONGEST_SENTENCE} at most",
            where=where,
            hint="split it into sentences",
        )
    for place, token in enumerate(tokens, 1):
        if not isinstance(token, str) or not token:
            found = f"found {token!r}"
            return InputError(f"expected a word as token {place}, {found}", where=where)
        if len(token) > LONGEST_TOKEN:
            return InputError(
                f"token {place} has {len(token)} characters, expected {LONGEST_TOKEN} at most",
                where=where,
                hint="split it",
            )
    return None


def _for_task(
    constraints: Constraints | None, task: SyntaxTask | DiscourseTask
) -> Constraints | None:
    """What of a constraint speaks of this task's tree."""
    if constraints is None or isinstance(task, DiscourseTask) or constraints.edus is None:
        return constraints
    return Constraints(spans=constraints.spans) if constraints.spans else None


def _finished(
    sentence: Sentence, found: Mapping[str, list[Parse] | CleftError], number: int
) -> Sentence:
    """The sentence with its trees, or with its first error."""
    parses: dict[str, tuple[Parse, ...]] = {}
    error: CleftError | None = None
    for task, result in found.items():
        if isinstance(result, CleftError):
            # A batch has its own numbers: the sentence's is the caller's.
            where = f"sentence {number + 1}"
            error = error or type(result)(result.problem, where=where, hint=result.hint)
        else:
            parses[task] = tuple(result)
    syntax = parses["syntax"][0].tree if "syntax" in parses else None
    discourse = parses["discourse"][0].tree if "discourse" in parses else None
    assert syntax is None or isinstance(syntax, Tree)
    assert discourse is None or isinstance(discourse, DiscourseTree)
    return replace(sentence, syntax=syntax, discourse=discourse, error=error, parses=parses)
