"""What a network begins with: vectors of words, or the weights of a model that is trained already.

A run that begins from a model keeps the model's configuration and vocabulary in its own
directory (`init/`), so that it can be resumed without the model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from cleft import files
from cleft.errors import InputError, ModelError, Place, RecipeError
from cleft.models import builtin_models, model_path
from cleft.nn.checkpoint import (
    Tensors,
    read_object,
    read_tensors,
    refuse_other_encoder,
    saved_tensor,
    trained_folder,
    trained_tensors,
    write_json,
)
from cleft.nn.config import NetworkConfig
from cleft.nn.features import UNKNOWN, Vocabulary
from cleft.nn.network import Network
from cleft.runtime import ModelDirectory
from cleft.runtime.directory import SUMS, map_matrix

Vector = npt.NDArray[np.float32]


def read_vectors(path: str | Path, size: int) -> dict[str, Vector]:
    """Vectors by word in the order of the file; where a word repeats, the first counts.

    Words are lower-cased, as the network reads them.
    """
    file = Path(path).expanduser()
    if file.suffix in (".npy", ".safetensors"):
        return _read_table(file, size)
    found: dict[str, Vector] = {}
    for number, line in enumerate(files.lines(file), start=1):
        word, *values = line.rstrip("\n").rsplit(" ", size)
        if number == 1 and len(line.split()) == 2:
            continue  # a header: how many words, how many numbers
        try:
            vector = np.array(values, dtype=np.float32)
        except ValueError:
            vector = np.zeros(0, dtype=np.float32)
        if len(vector) != size or not word:
            raise InputError(
                f"expected a word and {size} numbers, found {line[:40]!r}",
                where=Place(file, number),
                hint="network.word_size must be the size of the vectors",
            )
        found.setdefault(word.lower(), vector)
    return found


def _read_table(file: Path, size: int) -> dict[str, Vector]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        if file.suffix == ".npy":
            table = map_matrix(file)
        else:
            (table,) = load_file(file).values()
    except (OSError, ValueError, TypeError, KeyError, SafetensorError) as error:
        raise InputError(f"expected one table of vectors: {error}", where=str(file)) from error
    words = [line.rstrip("\n") for line in files.lines(file.with_suffix(".txt"))]
    if table.shape != (len(words), size):
        raise InputError(
            f"expected a table of {len(words)} words × {size}, found {table.shape}",
            where=str(file),
            hint="the .txt file beside it has one word a line; network.word_size is the width",
        )
    found: dict[str, Vector] = {}
    for word, vector in zip(words, table.astype(np.float32), strict=True):
        found.setdefault(word.lower(), vector)
    return found


@torch.no_grad()
def start_from(
    network: Network,
    vocabulary: Vocabulary,
    vectors: dict[str, Vector],
    known: Collection[str] = (),
) -> None:
    """Put vectors of words that are not known into the embedding.

    They are scaled to the deviation of a random one.
    """
    embedding = network.reader.words
    if embedding is None or not vectors:
        return
    scale = float(np.std(np.stack(list(vectors.values())[:50_000]))) or 1.0
    for number, word in enumerate(vocabulary.words):
        if word in vectors and word not in known:
            embedding.weight[number] = torch.from_numpy(vectors[word] / scale)


# ---------------------------------------------------------------- a trained model

WEIGHTS = "model.safetensors"
KEPT = ("config.json", "vocabulary.json")
"""What a run keeps of the model that it began from."""

FREE = {"tasks", "tags", "transformer", "model"} | {
    item.name for item in fields(NetworkConfig) if item.name.endswith("_dropout")
}
"""Settings of a network that may differ from those of the model that it begins from."""

FROZEN = ("transformer_frozen", "embeddings_frozen")
"""Those that may only change from true to false: frozen weights are not kept with a model."""


NOWHERE = "init/transformer of the run"
"""The transformer of a recipe that begins from an exported model and has no output directory."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """A trained model that a run begins from; when the run is resumed, without its weights."""

    folder: Path
    table: Mapping[str, Any]  # its config.json
    config: NetworkConfig
    vocabulary: Vocabulary
    tensors: Tensors
    sums: Mapping[str, str]

    @classmethod
    def find(cls, init: str, transformer: str, begun: Path | None = None) -> Origin:
        """The model of a training run, an exported one, or what a run that has begun keeps of it.

        The transformer of an exported model is written to a directory that the recipe names.
        """
        folder = begun / "init" if begun is not None else _find(init)
        if begun is None and (folder / SUMS).exists():
            return cls._exported(ModelDirectory(folder), transformer)
        table = read_object(folder / "config.json")
        sums = table.get("sums", {})
        if begun is None:
            sums = {name: files.sha256(folder / name) for name in (*KEPT, WEIGHTS)}
        return cls(
            folder=folder,
            table=table,
            config=NetworkConfig.from_table(table.get("network", {})),
            vocabulary=Vocabulary.from_table(read_object(folder / "vocabulary.json")),
            tensors=read_tensors(folder / WEIGHTS) if begun is None else {},
            sums=sums,
        )

    @classmethod
    def _exported(cls, directory: ModelDirectory, transformer: str) -> Origin:
        from cleft.nn.export.readback import network_table, read_back

        if transformer == NOWHERE:
            raise RecipeError("expected a directory for the run, found none", where="output")
        table = network_table(directory, transformer)
        network, vocabulary = read_back(directory, table)
        return cls(
            folder=directory.path,
            table={"network": table, "heads": list(directory.manifest.tasks)},
            config=network.config,
            vocabulary=vocabulary,
            tensors=trained_tensors(network),
            sums={SUMS: files.sha256(directory.path / SUMS)},
        )

    def keep(self, folder: Path) -> None:
        """Write what a resumed run needs of the model."""
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / "vocabulary.json", self.vocabulary.to_table())
        write_json(folder / "config.json", {**self.table, "sums": dict(self.sums)})

    def check(self, config: NetworkConfig) -> None:
        """Fail if a network is another one than the model's."""
        both = [config.task(task) for task in config.tasks if task in self.config.tasks]
        free = set(FREE)
        if not (config.tags and self.config.tags):
            free.add("tag_size")
        if not (config.word_heads and self.config.word_heads):
            free.add("word_heads")
        if not any(task.stops for task in both):
            free |= {"edu_boundaries", "edu_size"}
        for item in fields(config):
            key, old, new = item.name, getattr(self.config, item.name), getattr(config, item.name)
            if old != new and key not in free and not (key in FROZEN and old):
                raise RecipeError(
                    f"expected {old!r}, as in the model that init names, found {new!r}",
                    where=f"network.{key}",
                    hint="leave the key out, or train without init",
                )
        if self.table.get("encoder"):
            below = replace(self.config, transformer=config.transformer, model=config.model)
            refuse_other_encoder(below, self.table["encoder"], self.folder / "config.json")

    @torch.no_grad()
    def fill(self, network: Network, vocabulary: Vocabulary) -> None:
        """Put the model's weights into a network, row by row where a row stands for a name.

        A new word or character begins as the unknown one, and a new label or tag as the mean of
        the others, which is never the best of them: trees do not change by what is not learnt yet.
        """
        before, after = _names(self.config, self.vocabulary), _names(network.config, vocabulary)
        for name, tensor in trained_tensors(network).items():
            found = self.tensors.get(name)
            if found is None and self._is_new(name):
                continue
            if found is None or name not in before:
                where = self.folder / WEIGHTS
                tensor.copy_(saved_tensor(self.tensors, name, tensor, where))
                continue
            numbers = {key: number for number, key in enumerate(before[name])}
            rows = torch.tensor([numbers.get(key, -1) for key in after[name]])
            old, new = found.reshape(len(numbers), -1), tensor.view(len(rows), -1)
            new[:] = old[UNKNOWN] if name.startswith("encoder.") else old.mean(0)
            new[rows >= 0] = old[rows[rows >= 0]]

    def _is_new(self, name: str) -> bool:
        """Whether the model has no such weight, as its configuration says."""
        kind, _, rest = name.partition(".")
        if kind == "heads":
            return rest.partition(".")[0] not in self.config.tasks
        if kind == "tagger":
            return not self.config.tags
        if kind == "word_heads":
            return not self.config.word_heads
        frozen = self.config.transformer_frozen or self.config.embeddings_frozen
        return frozen and name.startswith("encoder.context.transformer.")

    def remarks(self, network: Network, vocabulary: Vocabulary) -> list[str]:
        """What is new to the model and what of it is left out, a line each."""
        config = network.config
        old, new = set(self.table.get("heads", self.config.tasks)), set(config.tasks)
        said = [f"new: the head for {task}" for task in sorted(new - old)]
        said += [f"left out: the head for {task}" for task in sorted(old - new)]
        if config.tags != self.config.tags:
            said.append(f"{'new' if config.tags else 'left out'}: the part-of-speech head")
        before, after = _names(self.config, self.vocabulary), _names(config, vocabulary)
        kinds = {"encoder.words.weight": "words", "encoder.chars.embedding.weight": "characters"}
        kinds |= {f"heads.{task}.labels.pair.weight": f"labels of {task}" for task in config.tasks}
        kinds["tagger.score.weight"] = "tags"
        kept = self.tensors.keys() & trained_tensors(network).keys()
        for name, kind in kinds.items():
            known = set(before[name]) if name in kept else set(after.get(name, ()))
            more = [str(key) for key in after.get(name, ()) if key not in known]
            if more and name.startswith("encoder."):
                said.append(f"new: {len(more)} {kind}, each begins as an unknown one")
            elif more:
                said.append(f"new: {kind} {', '.join(more)}")
        return said


def _find(init: str) -> Path:
    """The directory of the model that `init` names: of a built-in one, of a run, of another."""
    folder = model_path(init) if init in builtin_models() else trained_folder(init)
    if (folder / WEIGHTS).is_file() or (folder / SUMS).is_file():
        return folder
    if Path(init).expanduser().exists():
        raise RecipeError(
            f"expected a training run or an exported model, found no {WEIGHTS} in {folder}",
            where="init",
            hint="a run has one in best/ when its first epoch has been scored",
        )
    try:
        return model_path(init)
    except ModelError as error:
        raise RecipeError(
            f"expected a training run or a model's name or directory, found no {init}",
            where="init",
            hint=error.hint,
        ) from error


def network_of(init: str, output: str) -> dict[str, Any]:
    """The network of the model that `init` names, but its tasks; a run that has begun knows it."""
    begun = Path(output).expanduser()
    is_begun = bool(output) and (begun / "checkpoint.json").exists()
    folder = begun / "init" if is_begun else _find(init)
    if (folder / SUMS).exists():
        from cleft.nn.export.readback import network_table

        made = str(begun / "init" / "transformer") if output else NOWHERE
        network: Any = network_table(ModelDirectory(folder), made)
    else:
        network = read_object(folder / "config.json").get("network")
    if not isinstance(network, dict):
        raise InputError(f"expected a table, found {network!r}", where=f"{folder}: network")
    return {key: value for key, value in network.items() if key != "tasks"}


def _names(config: NetworkConfig, vocabulary: Vocabulary) -> dict[str, tuple[str | None, ...]]:
    """The weights whose rows stand for names, and the names in the order of the rows."""
    found: dict[str, tuple[str | None, ...]] = {
        "encoder.words.weight": vocabulary.words,
        "encoder.chars.embedding.weight": vocabulary.chars,
        "tagger.score.weight": vocabulary.tags,
        "tagger.score.bias": vocabulary.tags,
    }
    for task in config.tasks:
        names: tuple[str | None, ...] = vocabulary.labels.get(task) or ("",)
        if config.label_none and config.task(task).labels == "spans":
            names = (*names, None)
        for part in ("weight", "linear.weight", "linear.bias"):
            found[f"heads.{task}.labels.pair.{part}"] = names
    return found
