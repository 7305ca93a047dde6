"""Every size and choice of a network, in one frozen value; and how such values are read.

A configuration is written to and read from JSON and TOML as a flat table. It
says nothing of data or optimisation: those are the recipe's.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from cleft.errors import RecipeError
from cleft.tasks import Task, get_task, task_names
from cleft.tree import Branching, Dummy

T = TypeVar("T")
NAMES = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}


def from_table(kind: type[T], table: Mapping[str, Any], where: str) -> T:
    """A dataclass from a table; unknown keys and values of a wrong type are errors.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 1
    >>> from_table(Size, {"width": "two"}, "size")
    Traceback (most recent call last):
    cleft.errors.RecipeError: size.width: expected a whole number, found 'two'
    """
    if not isinstance(table, Mapping):
        raise RecipeError(f"expected a table, found {table!r}", where=where)
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for key in table:
        if key not in known:
            close = difflib.get_close_matches(str(key), known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(known)}"
            raise RecipeError("no such key", where=f"{where}.{key}", hint=hint)
    missing = [
        field.name
        for field in fields(kind)  # type: ignore[arg-type]
        if field.default is MISSING and field.default_factory is MISSING and field.name not in table
    ]
    if missing:
        raise RecipeError("expected a value, found none", where=f"{where}.{missing[0]}")
    hints = get_type_hints(kind)
    return kind(
        **{key: convert(hints[key], value, f"{where}.{key}") for key, value in table.items()}
    )


def convert(hint: Any, value: Any, where: str) -> Any:
    """A plain value as the type says, or an error that names the key."""
    origin = get_origin(hint)
    if origin is Literal:
        if value not in get_args(hint):
            choices = ", ".join(repr(choice) for choice in get_args(hint))
            raise RecipeError(f"expected one of {choices}, found {value!r}", where=where)
        return value
    if origin is tuple:
        return _convert_list(get_args(hint), value, where)
    if origin is Mapping:
        if not isinstance(value, Mapping):
            raise RecipeError(f"expected a table, found {value!r}", where=where)
        inner = get_args(hint)[1]
        return {str(key): convert(inner, item, f"{where}.{key}") for key, item in value.items()}
    if origin in (Union, UnionType):
        return value if value is None else convert(get_args(hint)[0], value, where)
    right = isinstance(value, hint) and isinstance(value, bool) is (hint is bool)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not right:
        raise RecipeError(f"expected {NAMES[hint]}, found {value!r}", where=where)
    return value


def _convert_list(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    # One string stands for a list of one, since most recipes name one file.
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple):
        raise RecipeError(f"expected a list, found {value!r}", where=where)
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(values)
    if len(values) != len(kinds):
        raise RecipeError(f"expected a list of {len(kinds)}, found {value!r}", where=where)
    return tuple(convert(kind, item, where) for kind, item in zip(kinds, values, strict=True))


Forms = Literal["given", "plain"]


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """The sizes and choices of a network; sizes are the paper's, choices those that won on dev.

    - `encoder`: `lstm` (words and characters), `transformer` (a local Hugging Face directory), or
      `sentences` (documents: the vectors that the exported `model` gives their sentences)
    - `encoder_layers`: layers of the BiLSTM; 0 leaves it out (transformer only)
    - `transformer_frozen`: whether the transformer's own weights stay as they are
    - `transformer_depth`: how many of its layers are kept, from the first on; 0 for all
    - `transformer_layers`: how many of its last layers are mixed
    - `embeddings_frozen`: whether a fine-tuned transformer keeps its embeddings of pieces
    - `forms`: whether words are read as `given`, or in `plain` form (`cleft.runtime.words`)
    - `casing_size`: an embedding of a word's casing, for an uncased transformer; 0 for none
    - `span_input`: `mlps` (two MLPs side by side) or `linear` (W₁h_i + W₂h_j)
    - `history`: whether the decoder remembers earlier splits (the paper's does)
    - `span_scores`: the width of a biaffine score of spans that the pointer adds for both halves
      of a split; 0 for none
    - `pointer_range`: whether the pointer's softmax runs over all boundaries of the `sentence`
      (the paper's) or over those at which the `span` may be split
    - `label_none`: whether spans that are no nodes of the tree are learnt as a label of their own
      (tasks whose spans carry the labels)
    - `tags`: whether there is a part-of-speech head
    - `word_heads`: the width of an auxiliary head that learns which word each word depends on,
      from `data.syntax.heads`; it teaches the encoder and is not exported; 0 for none
    - `edu_boundaries`: an auxiliary head that marks EDU boundaries: `none`, `loss`, or
      `pointer`, where the decoder and the pointer also see what it says
    - `branching`, `dummy`: how syntactic trees are made binary

    >>> NetworkConfig(encoder_hidden=200).encoder_layers
    3
    >>> NetworkConfig(decoder_layers=0)
    Traceback (most recent call last):
    cleft.errors.RecipeError: network.decoder_layers: expected 1 or more, found 0
    """

    tasks: tuple[str, ...] = ("syntax",)
    encoder: Literal["lstm", "transformer", "sentences"] = "lstm"
    model: str = ""
    word_size: int = 100
    char_size: int = 50
    char_hidden: int = 50
    char_limit: int = 20
    encoder_layers: int = 3
    encoder_hidden: int = 400
    transformer: str = ""
    transformer_frozen: bool = True
    embeddings_frozen: bool = False
    transformer_depth: int = 0
    transformer_layers: int = 4
    transformer_size: int = 100
    casing_size: int = 0
    forms: Forms = "given"
    span_input: Literal["mlps", "linear"] = "mlps"
    span_size: int = 500
    decoder_layers: int = 3
    decoder_hidden: int = 800
    history: bool = False
    pointer_size: int = 500
    pointer_range: Literal["sentence", "span"] = "span"
    span_scores: int = 0
    label_size: int = 100
    label_none: bool = False
    tags: bool = False
    tag_size: int = 100
    word_heads: int = 0
    edu_boundaries: Literal["none", "loss", "pointer"] = "none"
    edu_size: int = 100
    embed_dropout: float = 0.33
    encoder_dropout: float = 0.33
    decoder_dropout: float = 0.33
    mlp_dropout: float = 0.33
    recurrent_dropout: float = 0.0
    branching: Branching = "left"
    dummy: Dummy = "parent"

    def __post_init__(self) -> None:
        """Check every value; the message names the key."""
        self._check_numbers()
        known = task_names()
        if not self.tasks or set(self.tasks) - set(known) or len(set(self.tasks)) < len(self.tasks):
            self._fail("tasks", f"some of {', '.join(known)}, once each", self.tasks)
        tasks = [self.task(name) for name in self.tasks]
        if (self.encoder == "sentences") != all(task.units == "sentences" for task in tasks):
            self._fail("encoder", "'sentences' for documents, and for nothing else", self.encoder)
        if self.encoder == "sentences" and not (self.model and self.word_size):
            self._fail("model", "the name or the directory of an exported model", self.model)
        if self.encoder == "transformer" and not self.transformer:
            self._fail("transformer", "the path of a Hugging Face directory", self.transformer)
        if self.encoder != "transformer" and not self.encoder_layers:
            self._fail("encoder_layers", f"1 or more for the encoder {self.encoder!r}", 0)
        if self.encoder == "lstm" and self.casing_size:
            self._fail(
                "casing_size", "0 for the encoder 'lstm', which sees casing", self.casing_size
            )
        if self.encoder == "lstm" and not (self.word_size or self.char_size):
            self._fail("word_size", "words or characters, so not both 0", 0)
        if self.char_size and self.encoder == "lstm" and not self.char_hidden:
            self._fail("char_hidden", "1 or more where char_size is not 0", 0)
        if self.edu_boundaries != "none" and not any(task.stops for task in tasks):
            self._fail("edu_boundaries", "'none' without a task that stops", self.edu_boundaries)
        if self.tags and all(task.tags is None for task in tasks):
            self._fail("tags", "false without a task whose trees have tags", True)

    def _check_numbers(self) -> None:
        at_least = {"word_size": 0, "char_size": 0, "char_hidden": 0, "encoder_layers": 0}
        at_least |= {"casing_size": 0, "transformer_depth": 0, "span_scores": 0, "word_heads": 0}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool):
                continue
            least = at_least.get(field.name, 1)
            if isinstance(value, int) and value < least:
                self._fail(field.name, f"{least} or more", value)
            if isinstance(value, float) and not 0 <= value < 1:
                self._fail(field.name, "at least 0 and less than 1", value)

    @staticmethod
    def _fail(key: str, expected: str, found: object) -> None:
        raise RecipeError(f"expected {expected}, found {found!r}", where=f"network.{key}")

    def task(self, name: str) -> Task[Any]:
        """A task with the binarisation that the network is made for."""
        return get_task(name, self.branching, self.dummy)

    @property
    def has_bilstm(self) -> bool:
        """Whether a BiLSTM makes the boundaries."""
        return self.encoder_layers > 0

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str = "network") -> NetworkConfig:
        """A configuration from a table of a recipe or a JSON object."""
        return from_table(cls, table, where)

    def to_table(self) -> dict[str, Any]:
        """The configuration as plain values, for JSON and TOML."""
        return {**asdict(self), "tasks": list(self.tasks)}
