"""Models and checkpoints on disk: safetensors and JSON, nothing else.

A *model* is a directory with config.json, vocabulary.json and
model.safetensors. A *checkpoint* is model, optimiser and counters in the
middle of a run: checkpoint.json names the safetensors file that belongs to
it, with its sum, and is written last, so a crash at any moment leaves a whole
checkpoint.
"""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from cleft import files
from cleft.errors import InputError, OutputError
from cleft.models import model_path
from cleft.nn.config import NetworkConfig
from cleft.nn.features import Featuriser, Vocabulary
from cleft.nn.network import Network
from cleft.nn.scorer import TorchScorer
from cleft.nn.transformer import encoder_sums, load_pieces, load_transformer
from cleft.nn.units import UnitFeaturiser, frozen_sums
from cleft.runtime import ModelDirectory

Tensors = dict[str, Tensor]

COUNTERS: dict[str, Any] = {
    "epoch": int,
    "done": int,
    "step": int,
    "best": dict,
    "seconds": int | float,
    "recipe": dict,
    "tensors": str,
}
"""What a checkpoint must know, and of which type."""


def write_json(path: Path, value: Any) -> None:
    """Write JSON atomically."""
    with files.writing(path) as stream:
        json.dump(value, stream, ensure_ascii=False, indent=1)
        stream.write("\n")


def read_json(path: Path) -> Any:
    """Read JSON."""
    try:
        return json.loads(files.read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected JSON: {error}", where=str(path)) from error


def read_object(path: Path) -> dict[str, Any]:
    """Read JSON that must be an object."""
    found = read_json(path)
    if not isinstance(found, dict):
        raise InputError(f"expected an object, found {type(found).__name__}", where=str(path))
    return found


def _write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    temporary = path.with_name(f".{path.name}.partial")
    try:
        save_file(
            {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
            temporary,
        )
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # as any new file, not private to its owner
        with open(temporary, "rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(path)
    except (OSError, SafetensorError) as error:  # a full disk is the latter
        temporary.unlink(missing_ok=True)
        raise OutputError(f"cannot be written: {error}", where=str(path)) from error


def read_tensors(path: Path) -> Tensors:
    """The tensors of a safetensors file, by name."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise InputError(
            f"expected safetensors: {error}",
            where=str(path),
            hint="the file is cut short, altered or missing",
        ) from error


def trained_tensors(network: Network) -> Tensors:
    """The weights that training changes; frozen ones stay in the transformer's own directory."""
    return {name: p for name, p in network.named_parameters() if p.requires_grad}


def _is_partly_frozen(config: NetworkConfig) -> bool:
    """Whether a model has weights of its transformer only in that one's own directory."""
    return config.transformer_frozen or config.embeddings_frozen


def refuse_other_encoder(config: NetworkConfig, known: Any, where: Path) -> None:
    """Fail if the files of what is below a network are not those that it was trained with."""
    if not isinstance(known, dict):
        raise InputError(f"expected an object, found {known!r}", where=f"{where}: encoder")
    kept = _is_partly_frozen(config)
    wanted = {name: s for name, s in known.items() if kept or not name.endswith(".safetensors")}
    found = sums_below(config, weights=kept)
    for name in sorted({*wanted, *found}):
        if wanted.get(name) != found.get(name):
            what = "altered" if name in wanted and name in found else "added or removed"
            raise InputError(
                f"the model was trained with another encoder: {name} was {what} since",
                where=str(Path(config.transformer or config.model) / name),
                hint="bring the encoder back as it was, or train again with this one",
            )


def sums_below(config: NetworkConfig, *, weights: bool = True) -> dict[str, str]:
    """The checksums, by name, of the files that a network's encoder stands on."""
    if config.encoder == "sentences":
        return frozen_sums(ModelDirectory(model_path(config.model)))
    return encoder_sums(config.transformer, weights=weights) if config.transformer else {}


def build_network(
    config: NetworkConfig, vocabulary: Vocabulary, *, weights: bool = True
) -> tuple[Network, Featuriser]:
    """A new network and the featuriser of its sentences; the transformer is read from its path."""
    if config.encoder == "sentences":
        units = UnitFeaturiser(config)
        return Network(config, vocabulary, units.size), units
    pieces = model = None
    if config.encoder == "transformer":
        pieces = load_pieces(config.transformer)
        wanted = weights or _is_partly_frozen(config)
        depth = config.transformer_depth
        model = load_transformer(config.transformer, weights=wanted, depth=depth)
    network = Network(config, vocabulary, model)
    return network, Featuriser(config, vocabulary, pieces)


def save_model(
    directory: Path, network: Network, vocabulary: Vocabulary, about: Mapping[str, Any]
) -> None:
    """Write a model; `about` (its scores, its data, the sums of its encoder) is in config.json."""
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / "vocabulary.json", vocabulary.to_table())
    _write_tensors(directory / "model.safetensors", trained_tensors(network))
    write_json(directory / "config.json", {"network": network.config.to_table(), **about})


def trained_folder(source: str | Path) -> Path:
    """The directory of a trained model: what is given, or best/ in the directory of its run."""
    folder = Path(source).expanduser()
    is_run = not (folder / "model.safetensors").exists() and (folder / "best").is_dir()
    return folder / "best" if is_run else folder


def load_model(directory: str | Path) -> TorchScorer:
    """The scorer of a model's directory, ready to search with."""
    folder = Path(directory).expanduser()
    table = read_object(folder / "config.json")
    config = NetworkConfig.from_table(table.get("network", {}))
    if table.get("encoder"):  # models of older releases do not know theirs
        refuse_other_encoder(config, table["encoder"], folder / "config.json")
    vocabulary = Vocabulary.from_table(read_object(folder / "vocabulary.json"))
    network, featurise = build_network(config, vocabulary, weights=False)
    fill(network, read_tensors(folder / "model.safetensors"), folder / "model.safetensors")
    return TorchScorer(network.eval(), vocabulary, featurise)


@torch.no_grad()
def fill(network: Network, tensors: Tensors, where: Path) -> None:
    """Put saved weights into a network; names and shapes must be the same."""
    for name, tensor in trained_tensors(network).items():
        tensor.copy_(saved_tensor(tensors, name, tensor, where))


def saved_tensor(tensors: Tensors, name: str, like: Tensor, where: Path) -> Tensor:
    """A saved tensor by its name, which must have the shape of another."""
    found = tensors.get(name)
    if found is None or found.shape != like.shape:
        shape = "nothing" if found is None else tuple(found.shape)
        raise InputError(
            f"expected {name} of shape {tuple(like.shape)}, found {shape}",
            where=str(where),
            hint="the weights belong to another configuration or vocabulary",
        )
    return found


def save_checkpoint(directory: Path, tensors: Tensors, counters: Mapping[str, Any]) -> None:
    """Write a checkpoint; the one before it is removed when this one is whole."""
    name = f"checkpoint-{counters['step']}.safetensors"
    _write_tensors(directory / name, tensors)
    whole = {**counters, "tensors": name, "sha256": files.sha256(directory / name)}
    write_json(directory / "checkpoint.json", whole)
    for old in directory.glob("checkpoint-*.safetensors"):
        if old.name != name:
            old.unlink()


def load_checkpoint(directory: Path) -> tuple[Tensors, dict[str, Any]]:
    """The tensors and counters of the last checkpoint."""
    path = directory / "checkpoint.json"
    counters = read_object(path)
    for key, kind in COUNTERS.items():
        if not isinstance(counters.get(key), kind):
            raise InputError(
                f"expected {key!r} in it, found {reprlib.repr(counters.get(key))}",
                where=str(path),
                hint="it is no checkpoint, or a damaged one: start anew in another --output",
            )
    name = counters["tensors"]
    if name != f"checkpoint-{counters['step']}.safetensors":  # no other file, here or elsewhere
        raise InputError(f"expected the tensors of step {counters['step']}", where=str(path))
    # Those of older releases have no sum.
    if counters.get("sha256") not in (None, files.sha256(directory / name)):
        raise InputError(
            "not the bytes that were written: the file is cut short or altered",
            where=str(directory / name),
            hint="bring it back from a copy, or start anew in another --output",
        )
    return read_tensors(directory / name), counters
