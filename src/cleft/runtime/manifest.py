"""A model's config.json: what the model is, and what the runtime must know of it.

docs/models.md describes the format. A manifest is checked key by key when it
is read, so that whatever uses it afterwards need not.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, TypeVar, get_args, runtime_checkable

from cleft.errors import ModelError
from cleft.evidence import Calibration, TaskCalibration
from cleft.runtime.wordpiece import Unigram, WordPiece
from cleft.search.scorer import Scorer
from cleft.tasks import Task, get_task, task_names
from cleft.tree import Branching, Dummy

FORMAT = 1
"""The version of the model format that this version of cleft writes and reads."""

MOST = 10_000_000
"""No number in config.json is larger: it counts pieces, layers or characters."""

CONFIG = "config.json"

PieceKind = Literal["wordpiece", "unigram"]
PointerRange = Literal["sentence", "span"]

T = TypeVar("T")


def _fail(key: str, expected: str, found: object) -> ModelError:
    shown = reprlib.repr(found)  # what is found may be large, or deep
    shown = shown if len(shown) < 60 else f"{shown[:57]}..."
    return ModelError(
        f"expected {expected} as {key!r}, found {shown}",
        where=CONFIG,
        hint="export the model again",
    )


def _get(table: Mapping[str, Any], key: str, kind: type[T], expected: str) -> T:
    value = table.get(key)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _fail(key, expected, value)
    return value


def _names(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key)
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise _fail(key, "a list of names", value)
    return tuple(value)


@dataclass(frozen=True, kw_only=True)
class PieceRules:
    """How a transformer's tokenizer cuts words, and the marks around a sentence.

    `wordpiece` takes the longest pieces from the left, `unigram` the most probable
    ones, by scores of their own.
    """

    kind: PieceKind = "wordpiece"
    begin: int
    end: int
    pad: int
    unknown: str
    limit: int
    lower: bool
    strip_accents: bool
    clean: bool
    cjk: bool
    prefix: str
    specials: Mapping[str, int]

    def cutter(self, vocabulary: Sequence[str], scores: Iterable[float] = ()) -> WordPiece:
        """What cuts words by these rules; `scores` are those of a unigram model's pieces."""
        if self.kind == "unigram":
            return Unigram(
                vocabulary,
                scores,
                unknown=self.unknown,
                prefix=self.prefix,
                specials=self.specials,
            )
        return WordPiece(
            vocabulary,
            unknown=self.unknown,
            lower=self.lower,
            strip_accents=self.strip_accents,
            clean=self.clean,
            cjk=self.cjk,
            prefix=self.prefix,
            specials=self.specials,
        )

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> PieceRules:
        """The rules as config.json has them."""
        whole = {name: _get(table, name, int, "a number") for name in ("begin", "end", "pad")}
        switches = {
            name: _get(table, name, bool, "true or false")
            for name in ("lower", "strip_accents", "clean", "cjk")
        }
        limit = _get(table, "limit", int, "a number")
        if not 3 <= limit <= MOST or not all(0 <= mark < MOST for mark in whole.values()):
            raise _fail("limit", "3 or more, and marks of 0 or more", limit)
        specials = _get(table, "specials", dict, "pieces with their numbers")
        if not all(type(number) is int and 0 <= number < MOST for number in specials.values()):
            raise _fail("specials", "pieces with their numbers", specials)
        return cls(
            kind=_choice({"kind": "wordpiece", **table}, "kind", get_args(PieceKind)),
            begin=whole["begin"],
            end=whole["end"],
            pad=whole["pad"],
            **switches,
            limit=limit,
            unknown=_get(table, "unknown", str, "a piece"),
            prefix=_get(table, "prefix", str, "a prefix"),
            specials=specials,
        )


SplitRow = tuple[int, int, int, str]


@dataclass(frozen=True, kw_only=True)
class SelfTest:
    """A sentence with what the model made of it when it was exported, by task.

    A tree is in brackets where spans carry the labels, else a list of splits
    (left, split, right, label).
    """

    tokens: tuple[str, ...]
    trees: Mapping[str, str | tuple[SplitRow, ...]]
    log_probs: Mapping[str, float] = field(default_factory=dict)

    def to_table(self) -> dict[str, Any]:
        """The test as config.json has it."""
        return {"tokens": self.tokens, **self.trees, "log_probs": self.log_probs}

    @classmethod
    def from_table(cls, table: Any, tasks: Sequence[str]) -> SelfTest:
        """The test of a model with these tasks, as config.json has it."""
        if not isinstance(table, dict):
            raise _fail("self_test", "a list of objects", table)
        log_probs = _get(table, "log_probs", dict, "numbers by task")
        if not all(type(value) in (int, float) for value in log_probs.values()):
            raise _fail("self_test.log_probs", "numbers by task", log_probs)
        return cls(
            tokens=_names(table, "tokens"),
            trees={task: _tested_tree(table.get(task), task) for task in tasks},
            log_probs=dict(log_probs),
        )


def _calibration(table: Any, tasks: Sequence[str]) -> dict[str, TaskCalibration]:
    """The calibration of some of the tasks, as config.json has it."""
    if not isinstance(table, dict) or set(table) - set(tasks):
        raise _fail("calibration", f"numbers for some of {', '.join(tasks)}", table)
    return {task: _task_calibration(row, f"calibration.{task}") for task, row in table.items()}


def _task_calibration(row: Any, key: str) -> TaskCalibration:
    kinds = TaskCalibration._fields
    if not isinstance(row, dict) or set(row) - set(kinds):
        raise _fail(key, f"numbers of {', '.join(kinds)}", row)
    for pair in row.values():
        plain = isinstance(pair, list) and [type(each) for each in pair] == [float, float]
        if not plain or not 0 < pair[0] < MOST or not -MOST < pair[1] < MOST:
            raise _fail(key, "a slope above 0 and a shift", pair)
    return TaskCalibration(**{kind: Calibration(*pair) for kind, pair in row.items()})


def _tested_tree(value: Any, task: str) -> str | tuple[SplitRow, ...]:
    key = f"self_test.{task}"
    if get_task(task).labels == "spans":
        if not isinstance(value, str):
            raise _fail(key, "a tree in brackets", value)
        return value
    if not isinstance(value, list):
        raise _fail(key, "a list of splits", value)
    for row in value:
        if not isinstance(row, list) or [type(cell) for cell in row] != [int, int, int, str]:
            raise _fail(key, "splits [left, split, right, label]", row)
    return tuple((left, split, right, label) for left, split, right, label in value)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """All that config.json says.

    `about` is for people: name, language, licence, training data, scores, the
    network's configuration. The rest is for the runtime. The document of
    `document_test` is made of the sentences of `self_test`. `calibration` was fitted on dev
    trees; a task without it gives the probabilities of its network.
    """

    tasks: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]
    tags: tuple[str, ...] = ()
    branching: Branching = "right"
    dummy: Dummy = "one"
    decoder_layers: int = 1
    history: bool = True
    pointer_range: PointerRange = "sentence"
    forms: str = "given"
    char_limit: int = 0
    has_words: bool = False
    has_bilstm: bool = True
    has_casing: bool = False
    pieces: PieceRules | None = None
    precision: str = "fp32"
    calibration: Mapping[str, TaskCalibration] = field(default_factory=dict)
    self_test: tuple[SelfTest, ...] = ()
    document_test: SelfTest | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def task(self, name: str) -> Task[Any]:
        """A task with the binarisation that the model is made for."""
        return get_task(name, self.branching, self.dummy)

    def need(self, task: str) -> None:
        """Fail unless the model has a head for a task."""
        if task not in self.tasks:
            raise ModelError(
                f"the model has no head for {task}",
                hint=f"it has one for {' and '.join(self.tasks)}; choose another model, "
                "or train the head (docs/training.md)",
            )

    def need_units(self, where: str = "") -> None:
        """Fail unless the model has a head for documents."""
        if not self.unit_tasks:
            raise ModelError(
                f"the model has no head for documents, only for {' and '.join(self.tasks)}",
                where=where,
                hint="use a built-in model, or learn the head (docs/training.md)",
            )

    @property
    def token_tasks(self) -> tuple[str, ...]:
        """The tasks whose trees are over the tokens of a sentence."""
        return tuple(name for name in self.tasks if get_task(name).units == "tokens")

    @property
    def unit_tasks(self) -> tuple[str, ...]:
        """The tasks whose trees are over the sentences of a document."""
        return tuple(name for name in self.tasks if name not in self.token_tasks)

    def describe(self) -> str:
        """What the model is, in a few lines for people.

        >>> manifest = Manifest(tasks=("syntax",), labels={"syntax": ("NP",)}, about={"name": "a"})
        >>> print(manifest.describe())
        name: a
        tasks: syntax (1 labels)
        precision: fp32
        """
        lines = [f"{key}: {_show(self.about[key])}" for key in SHOWN if self.about.get(key)]
        tasks = ", ".join(f"{task} ({len(self.labels[task])} labels)" for task in self.tasks)
        lines.append(f"tasks: {tasks}")
        if self.tags:
            lines.append(f"parts of speech: {len(self.tags)}")
        return "\n".join([*lines, f"precision: {self.precision}"])

    def to_table(self) -> dict[str, Any]:
        """The manifest as plain values, for config.json."""
        table = {**asdict(self), "format": FORMAT}
        del table["calibration"]
        if self.calibration:
            table["calibration"] = {k: each._asdict() for k, each in self.calibration.items()}
        table["self_test"] = [test.to_table() for test in self.self_test]
        del table["document_test"]
        if self.document_test is not None:
            table["document_test"] = self.document_test.to_table()
        return {"format": FORMAT, **table.pop("about"), **table}

    @classmethod
    def from_table(cls, table: Any) -> Manifest:
        """The manifest of a parsed config.json; a ModelError names the key that is wrong."""
        if not isinstance(table, dict):
            raise _fail("format", f"an object with the format {FORMAT}", table)
        _check_format(table.get("format"))
        tasks = _names(table, "tasks")
        if not tasks or set(tasks) - set(task_names()) or len(set(tasks)) < len(tasks):
            raise _fail("tasks", f"some of {', '.join(task_names())}", list(tasks))
        labels = _get(table, "labels", dict, "labels by task")
        pieces = table.get("pieces")
        tests = _get(table, "self_test", list, "a list of sentences")
        kinds: dict[str, list[str]] = {"tokens": [], "sentences": []}
        for task in tasks:
            kinds[get_task(task).units].append(task)
        known = set(cls.__dataclass_fields__) | {"format"}
        return cls(
            tasks=tasks,
            labels={task: _names(labels, task) for task in tasks},
            tags=_names(table, "tags"),
            branching=_choice(table, "branching", get_args(Branching)),
            dummy=_choice(table, "dummy", get_args(Dummy)),
            decoder_layers=_positive(table, "decoder_layers", most=100),
            history=_get(table, "history", bool, "true or false"),
            pointer_range=_choice(
                {"pointer_range": "sentence", **table}, "pointer_range", get_args(PointerRange)
            ),
            forms=_choice({"forms": "given", **table}, "forms", ("given", "plain")),
            char_limit=_positive(table, "char_limit", least=0),
            has_words=_get(table, "has_words", bool, "true or false"),
            has_bilstm=_get(table, "has_bilstm", bool, "true or false"),
            has_casing=_get(table, "has_casing", bool, "true or false"),
            pieces=None
            if pieces is None
            else PieceRules.from_table(_get(table, "pieces", dict, "an object")),
            precision=_choice(table, "precision", ("fp32", "int8")),
            calibration=_calibration(table.get("calibration", {}), tasks),
            self_test=tuple(SelfTest.from_table(test, kinds["tokens"]) for test in tests),
            document_test=None
            if table.get("document_test") is None
            else SelfTest.from_table(table["document_test"], kinds["sentences"]),
            about={key: value for key, value in table.items() if key not in known},
        )


@runtime_checkable
class ModelScorer(Scorer, Protocol):
    """A scorer that says what its model is: all that a `Parser` needs."""

    @property
    def manifest(self) -> Manifest:
        """What the model is."""
        ...


DEEPEST = 20
SHOWN = ("name", "language", "licence", "training_data", "scores")


def _show(value: Any, depth: int = 0) -> str:
    if depth > DEEPEST:
        return "…"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_show(part, depth + 1)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(_show(part, depth + 1) for part in value)
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _check_format(found: Any) -> None:
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise _fail("format", f"the number {FORMAT}", found)
    if found > FORMAT:
        raise ModelError(
            f"the model's format is {found}, newer than the {FORMAT} that this cleft reads",
            where=CONFIG,
            hint="install a newer cleft",
        )


def _choice(table: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> Any:
    value = table.get(key)
    if value not in choices:
        raise _fail(key, f"one of {', '.join(choices)}", value)
    return value


def _positive(table: Mapping[str, Any], key: str, least: int = 1, most: int = MOST) -> int:
    value = _get(table, key, int, "a number")
    if not least <= value <= most:
        raise _fail(key, f"{least} or more" if value < least else f"{most} at most", value)
    return value
