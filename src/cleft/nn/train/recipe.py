"""Recipes: what to train, on what, and how.

A recipe has the tables `[network]` (sizes), `[data.syntax]` and
`[data.discourse]` (files), `[vocabulary]` and `[training]`. Paths are relative
to the current directory; `~` is the home directory. recipe_file.py reads one
from a TOML file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from cleft.errors import RecipeError
from cleft.formats.cleaning import CLEANINGS
from cleft.nn.config import NetworkConfig, convert, from_table
from cleft.tasks import get_task, task_names

SETTINGS = Mapping[str, tuple[str, ...]]
"""Names of variants, each with its `key=value` settings."""


PARTS = ("parts", "edus")
"""What the parts of documents are called, as sets: subtrees over sentences, and over EDUs."""


def _fail(where: str, expected: str, found: object) -> None:
    raise RecipeError(f"expected {expected}, found {found!r}", where=where)


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """The files of one task.

    - `clean`: a cleaning of `cleft.formats.cleaning` (bracketed trees only)
    - `limit`: train on the first so many sentences only; 0 for all
    - `genres`: train and choose on lines of these genres only (JSON Lines only)
    - `portions`: the part of a set, by its name, that one epoch takes; the next takes another.
      Every subtree of a document is learnt from as well: those over its sentences are the set
      `parts`, small ones over its EDUs the set `edus`
    - `repeat`: how often an epoch goes through the data
    - `metric`: how trees are scored: `collins` (if none is named) or `spmrl` for syntax
    - `test`: files that are looked at once, when the run is over, by the name of their set; in a
      recipe also a path or a list, and then a set is called after the directory of its files
    - `heads`: CoNLL-U files whose words teach the encoder what they depend on, and their tags
      (`network.word_heads`; syntax only)
    - `silver`: the sets whose trees were made by a parser; they are called silver in results
    - `confidence`: leave out trees whose record says that the parser that made them was less sure
      than this (JSON Lines with `confidence`, as `recipes/silver.py` writes it); 0 keeps all
    - `alternatives`: learn also from the other choices that the parser that made a tree thought
      possible, by their chances, where its record has them (`recipes/silver.py --alternatives`)
    """

    train: tuple[str, ...]
    dev: tuple[str, ...] = ()
    clean: str = "ptb"
    limit: int = 0
    genres: tuple[str, ...] = ()
    portions: Mapping[str, float] = field(default_factory=dict)
    repeat: int = 1
    metric: str = ""
    test: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    silver: tuple[str, ...] = ()
    confidence: float = 0.0
    alternatives: bool = True
    heads: tuple[str, ...] = ()

    def check(self, task: str) -> None:
        """Fail if a value cannot be meant."""
        where = f"data.{task}"
        if not 0 <= self.confidence < 1:
            _fail(f"{where}.confidence", "at least 0 and less than 1", self.confidence)
        if not self.train:
            _fail(f"{where}.train", "at least one file", self.train)
        if self.clean not in CLEANINGS:
            _fail(f"{where}.clean", f"one of {', '.join(CLEANINGS)}", self.clean)
        if self.limit < 0:
            _fail(f"{where}.limit", "0 or more", self.limit)
        if self.repeat < 1:
            _fail(f"{where}.repeat", "1 or more", self.repeat)
        metrics = get_task(task).metrics
        if self.metric and self.metric not in metrics:
            _fail(f"{where}.metric", " or ".join(metrics), self.metric)
        self._check_sets(where)

    def _check_sets(self, where: str) -> None:
        """Fail if a name is that of no set, or a set is for training and for test."""
        for name, portion in self.portions.items():
            if name not in (*map(set_name, (*self.train, *self.heads)), *PARTS):
                _fail(f"{where}.portions", "names of sets of train", name)
            if not 0 < portion <= 1:
                _fail(f"{where}.portions.{name}", "more than 0 and at most 1", portion)
        every = {*map(set_name, (*self.train, *self.dev)), *self.test}
        for name in self.silver:
            if name not in every:
                _fail(f"{where}.silver", f"names of sets ({', '.join(sorted(every))})", name)
        for path in sum(self.test.values(), ()):
            if path in self.train:
                _fail(f"{where}.test", "files that are not trained on", path)

    def fixed_choices(self) -> dict[str, Any]:
        """What a model depends on: all but the keys for the scores at the end."""
        table = _plain(asdict(self))
        return {key: value for key, value in table.items() if key not in ("test", "silver")}


def set_name(path: str) -> str:
    """What a data set is called if a recipe does not say: the directory that its file is in.

    >>> set_name("../data/wsj-sample/test.mrg")
    'wsj-sample'
    """
    return Path(path).parent.name or Path(path).stem


@dataclass(frozen=True, kw_only=True)
class VocabularyConfig:
    """Which words have a vector: how often they must occur, and vectors to begin with.

    Labels that occur less often than `label_min_count` are not learnt: each costs a matrix.

    `vectors` is a text file (a word and its numbers a line), or .npy or
    .safetensors with the words, one a line, in a .txt file of the same name.
    """

    min_count: int = 2
    label_min_count: int = 1
    vectors: str = ""
    vectors_limit: int = 0

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.min_count < 1:
            _fail("vocabulary.min_count", "1 or more", self.min_count)
        if self.label_min_count < 1:
            _fail("vocabulary.label_min_count", "1 or more", self.label_min_count)
        if self.vectors_limit < 0:
            _fail("vocabulary.vectors_limit", "0 or more", self.vectors_limit)


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How to train; the defaults are the paper's.

    - `schedule`: `exponential` (× `decay` every `decay_steps` steps), `linear` (down to 0 at the
      end) or `constant`, each after `warmup_steps` of rising
    - `cycles`: the epochs are cut into so many equal parts that go through the schedule anew,
      each at half the rates of the one before
    - `encoder_learning_rate`: for a transformer that is fine-tuned
    - `head_weight`: weight of the loss of the heads of words, where the network has them
    - `span_weight`: weight of the loss of span scores over all spans, where the network has them
    - `explore`: wrong spans to learn from for every right one, where the decoder has no history
    - `patience`: stop after so many epochs without a better dev score; 0 never
    - `average`: evaluate a running average of the weights that forgets by this factor; 0 for none
    - `threads`: CPU threads of each process; 0 leaves PyTorch's choice
    - `final_beams`: the widths of beam that the finished model is scored with
    """

    epochs: int = 100
    batch_tokens: int = 5000
    learning_rate: float = 2e-3
    encoder_learning_rate: float = 5e-5
    betas: tuple[float, float] = (0.9, 0.9)
    epsilon: float = 1e-12
    weight_decay: float = 0.0
    clip: float = 5.0
    schedule: Literal["exponential", "linear", "constant"] = "exponential"
    decay: float = 0.75
    decay_steps: int = 5000
    warmup_steps: int = 0
    cycles: int = 1
    label_weight: float = 1.0
    tag_weight: float = 1.0
    edu_weight: float = 1.0
    span_weight: float = 1.0
    head_weight: float = 1.0
    explore: float = 0.0
    average: float = 0.0
    patience: int = 0
    beam: int = 1
    dev_every: int = 1
    checkpoint_minutes: float = 10.0
    accelerator: str = "auto"
    devices: int = 1
    precision: Literal["32-true", "64-true", "bf16-mixed", "16-mixed"] = "32-true"
    threads: int = 0
    final_beams: tuple[int, ...] = (1, 20)

    def __post_init__(self) -> None:
        """Check the numbers."""
        above = {"epochs", "batch_tokens", "learning_rate", "decay_steps", "beam", "dev_every"}
        above |= {"devices", "clip", "decay", "epsilon", "cycles"}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                if not math.isfinite(value) or value < 0:
                    _fail(f"training.{item.name}", "a finite number, 0 or more", value)
                if item.name in above and value == 0:
                    _fail(f"training.{item.name}", "more than 0", value)
        if not all(0 <= beta < 1 for beta in self.betas):
            _fail("training.betas", "two numbers from 0 to below 1", self.betas)
        if 1 not in self.final_beams or min(self.final_beams) < 1:
            _fail("training.final_beams", "widths of 1 or more, 1 among them", self.final_beams)
        if 0 < self.patience < self.dev_every:
            _fail(
                "training.patience", f"0, or at least dev_every = {self.dev_every}", self.patience
            )
        if self.average >= 1:
            _fail("training.average", "less than 1", self.average)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A whole recipe.

    `init` is a training run or a model whose weights the run begins with; settings of the network
    that are not named are that one's. `variants` are named lists of settings; `ablation`
    is the one that is in force. `source` and `settings` say how the recipe was asked for.
    """

    name: str
    network: NetworkConfig
    data: Mapping[str, DataConfig]
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    seed: int = 1
    output: str = ""
    init: str = ""
    ablation: str = ""
    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""
    settings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that network and data speak of the same tasks."""
        if set(self.data) != set(self.network.tasks):
            _fail(
                "data", f"a table for each of the tasks {list(self.network.tasks)}", list(self.data)
            )
        for task, config in self.data.items():
            config.check(task)
        if self.seed < 0:
            _fail("seed", "0 or more", self.seed)
        self._check_network()

    def _check_network(self) -> None:
        """Fail if the network lacks what the rest asks for, or the rest what it asks for."""
        network, explore = self.network, self.training.explore
        heads = [task for task, config in self.data.items() if config.heads]
        for task in heads:
            if get_task(task).tags is None or not network.word_heads:
                needs = "none, unless network.word_heads is above 0 and the task is syntax"
                _fail(f"data.{task}.heads", needs, list(self.data[task].heads))
        if network.word_heads and not heads and not self.init:
            _fail("network.word_heads", "0 without data.syntax.heads", network.word_heads)
        if explore and (network.history or not network.span_scores):
            needs = "0, unless network.history is false and network.span_scores above 0"
            _fail("training.explore", needs, explore)

    def fixed_choices(self) -> dict[str, Any]:
        """What a model depends on besides its training: the same when a run is resumed."""
        return {
            "network": self.network.to_table(),
            "data": {task: config.fixed_choices() for task, config in self.data.items()},
            "vocabulary": asdict(self.vocabulary),
            "seed": self.seed,
            "init": self.init,
        }

    def to_table(self) -> dict[str, Any]:
        """The recipe as plain values, for the record of a run."""
        return {
            "name": self.name,
            "seed": self.seed,
            "output": self.output,
            "init": self.init,
            "network": self.network.to_table(),
            "data": {task: _plain(asdict(config)) for task, config in self.data.items()},
            "vocabulary": asdict(self.vocabulary),
            "training": _plain(asdict(self.training)),
            "ablation": self.ablation,
            "variants": _plain(dict(self.variants)),
            "source": self.source,
            "settings": list(self.settings),
        }


def _plain(table: dict[str, Any]) -> dict[str, Any]:
    """The same with lists for tuples, in tables inside it too."""
    plain: dict[str, Any] = {}
    for key, value in table.items():
        value = _plain(value) if isinstance(value, dict) else value
        plain[key] = list(value) if isinstance(value, tuple) else value
    return plain


def parse_recipe(table: Mapping[str, Any]) -> Recipe:
    """The recipe of a table.

    >>> recipe = parse_recipe({"name": "x", "data": {"syntax": {"train": "train.mrg"}}})
    >>> recipe.data["syntax"].train, recipe.training.batch_tokens
    (('train.mrg',), 5000)
    """
    known = {item.name for item in fields(Recipe)}
    for key in table:
        if key not in known:
            raise RecipeError(
                "no such key", where=key, hint=f"known keys: {', '.join(sorted(known))}"
            )
    data = table.get("data", {})
    if not isinstance(data, Mapping) or not data:
        _fail("data", "a table [data.syntax] or [data.discourse]", data)
    return Recipe(
        name=convert(str, table.get("name", "unnamed"), "name"),
        seed=convert(int, table.get("seed", 1), "seed"),
        output=convert(str, table.get("output", ""), "output"),
        init=convert(str, table.get("init", ""), "init"),
        network=NetworkConfig.from_table(_with_tasks(table.get("network", {}), data)),
        data={task: _data(task, value) for task, value in data.items()},
        vocabulary=from_table(VocabularyConfig, table.get("vocabulary", {}), "vocabulary"),
        training=from_table(TrainingConfig, table.get("training", {}), "training"),
        ablation=convert(str, table.get("ablation", ""), "ablation"),
        variants=convert(SETTINGS, table.get("variants", {}), "variants"),
        source=convert(str, table.get("source", ""), "source"),
        settings=convert(tuple[str, ...], table.get("settings", ()), "settings"),
    )


def _data(task: str, value: Any) -> DataConfig:
    """The data of a task; the metric is the task's first if none is named."""
    if task not in task_names():
        _fail("data", f"tables of the tasks {', '.join(task_names())}", task)
    if isinstance(value, Mapping):
        value = {"metric": get_task(task).metrics[0], **value}
    return from_table(DataConfig, _with_test_named(value), f"data.{task}")


def _with_test_named(data: Any) -> Any:
    """The table of a task's data; test files without a name are called after their directory."""
    if not isinstance(data, Mapping) or isinstance(data.get("test", {}), Mapping):
        return data
    test = data["test"]
    paths = [test] if isinstance(test, str) else test
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str) for path in paths):
        return data
    named: dict[str, list[str]] = {}
    for path in paths:
        named.setdefault(set_name(path), []).append(path)
    return {**data, "test": named}


def _with_tasks(network: Any, data: Mapping[str, Any]) -> Any:
    """The network's table; the tasks, if it does not name them, are those that have data."""
    if not isinstance(network, Mapping):
        return network
    return {"tasks": sorted(data, reverse=True), **network}
