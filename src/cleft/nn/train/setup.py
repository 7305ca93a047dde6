"""What a run needs before its first step: device, data, vocabulary, vectors, network."""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from cleft import files
from cleft.errors import RecipeError
from cleft.nn.checkpoint import build_network, sums_below
from cleft.nn.features import Featuriser, Vocabulary
from cleft.nn.network import Network
from cleft.nn.train.batches import Example, stable_seed
from cleft.nn.train.data import (
    Decisions,
    Sentence,
    derive_sentences,
    is_blank,
    make_examples,
    make_vocabulary,
    read_heads,
    read_sentences,
    with_parts,
)
from cleft.nn.train.recipe import DataConfig, Recipe, TrainingConfig, parse_recipe, set_name
from cleft.nn.train.start import Origin, read_vectors, start_from

if TYPE_CHECKING:
    from lightning_fabric import Fabric

MIXED = {"bf16-mixed": torch.bfloat16, "16-mixed": torch.float16}
"""Precisions that need more of a processor than arithmetic that all have."""

SIZES = (16, 64, 512)
"""Sides of the products to try: which instructions are used depends on them."""


def make_fabric(config: TrainingConfig) -> Fabric:
    """The devices that a recipe asks for, at a precision that has been tried on them."""
    # Not above: the process that tries a precision starts twice as fast without them.
    from lightning_fabric import Fabric
    from lightning_fabric.strategies.ddp import DDPStrategy
    from lightning_fabric.utilities.exceptions import MisconfigurationException

    # A batch of one task leaves the other task's head without gradients.
    strategy: Any = DDPStrategy(find_unused_parameters=True) if config.devices > 1 else "auto"
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*AMP with fp16 is not supported")  # see below
            fabric = Fabric(
                accelerator=config.accelerator,
                devices=config.devices,
                strategy=strategy,
                precision=config.precision,
            )
    except (RuntimeError, ValueError, MisconfigurationException) as error:
        raise RecipeError(
            str(error),
            where="training.accelerator, training.devices",
            hint="use what this machine has",
        ) from error
    if config.precision == "16-mixed" and fabric.device.type == "cpu":
        raise RecipeError(
            "expected another precision on a CPU, found '16-mixed', which needs a GPU",
            where="training.precision",
            hint="use 32-true, or bf16-mixed",
        )
    try_precision(config.precision, fabric.device.type)
    return fabric


def try_precision(precision: str, device: str) -> None:
    """Fail if a mixed precision cannot be used here.

    A process of its own tries it: a CPU may list instructions that its virtual
    machine does not grant, and whatever uses one is ended by the system.
    """
    if precision not in MIXED:
        return
    context = multiprocessing.get_context("spawn")
    reader, writer = context.Pipe(duplex=False)
    child = context.Process(target=_multiply, args=(precision, device, writer))
    child.start()
    writer.close()  # so that the end of the child is the end of what can be read
    try:
        problem = reader.recv()
    except EOFError:
        problem = ""
    child.join()
    if child.exitcode or problem:
        raise RecipeError(
            f"expected a precision that this machine can use, found {precision!r}: the process "
            f"that tried matrix products on the {device} {problem or _end(child.exitcode)}",
            where="training.precision",
            hint="use 32-true; or, if the CPU lists instructions that it is not granted, set "
            "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 or less in the environment",
        )


def _end(code: int | None) -> str:
    """How a process ended that did not say so itself."""
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}; does the program lack 'if __name__ == \"__main__\":'?"


def _multiply(precision: str, device: str, told: Connection[str, None]) -> None:
    """Products of some sizes, there and back; what fails is told."""
    try:
        for size in SIZES:
            layer = torch.nn.Linear(size, size, device=device)
            with torch.autocast(device, MIXED[precision]):
                product = layer(torch.ones(size, size, device=device))
            product.float().sum().backward()
    except Exception as error:  # whatever it is, it is no traceback's business
        told.send(f"failed: {error}")
    else:
        told.send("")


@dataclass(frozen=True, kw_only=True)
class Materials:
    """The data of a run and the network made for it."""

    train: dict[str, list[Example]]
    sources: dict[str, list[str]]  # the set that each example is of
    dev: dict[str, list[Sentence]]
    vocabulary: Vocabulary
    network: Network
    featurise: Featuriser
    hashes: dict[str, str]
    encoder: dict[str, str]  # the sums of the transformer's files, by name
    origin: Origin | None  # the model that the run begins from


def _check_read(task: str, config: DataConfig, train: list[Sentence], dev: list[Sentence]) -> None:
    """Fail where the files hold nothing of what the recipe asks for."""
    where = f"data.{task}"
    for genre in config.genres:
        if not any(sentence.genre == genre for sentence in train):
            raise RecipeError(
                f"expected genres of the training files, found {genre!r}, which no sentence has",
                where=f"{where}.genres",
                hint="genres are the key 'genre' of JSON Lines",
            )
    if not train:
        raise RecipeError("expected sentences to train on, found none", where=f"{where}.train")
    if not dev and any(not is_blank(path) for path in config.dev):
        raise RecipeError(
            "expected sentences of the genres to choose by, found none",
            where=f"{where}.dev",
            hint="give a dev file that has them, or none at all",
        )


def _read(task: str, recipe: Recipe) -> tuple[list[Decisions], list[str], list[Sentence]]:
    """What a task is learnt from, the set that each of it is of, and what to choose by."""
    config = recipe.data[task]
    found = read_sentences(task, config.train, config)
    found = found[: config.limit] if config.limit else found
    dev = read_sentences(task, [path for path in config.dev if not is_blank(path)], config)
    _check_read(task, config, found, dev)
    found = with_parts(task, found)
    rows = derive_sentences(task, found, recipe.network)
    sources = [sentence.source for sentence in found]
    for path in config.heads:
        more = read_heads(path, recipe.network)
        rows += more
        sources += [set_name(path)] * len(more)
    return rows, sources, dev


def prepare(recipe: Recipe, begun: Path | None = None) -> Materials:
    """Read the data, make the vocabulary and a network: weights are seeded, or those of `init`.

    `begun` is the directory of a run that is resumed: it has its weights, and what it needs of
    the model that it began from.
    """
    origin = None
    if recipe.init:
        origin = Origin.find(recipe.init, recipe.network.transformer, begun)
    train, sources, dev, hashes = {}, {}, {}, {}
    for task, config in recipe.data.items():
        train[task], sources[task], dev[task] = _read(task, recipe)
        used = (*config.train, *config.dev, *config.heads)
        hashes.update({path: files.sha256(path) for path in used})
    network, vectors = recipe.network, None
    encoder, below = sums_below(network), network.transformer or network.model
    hashes.update({f"{below}/{name}": known for name, known in encoder.items()})
    extra: list[str] = []
    if recipe.vocabulary.vectors:
        seen = {w.lower() for rows in train.values() for row in rows for w in row.words}
        vectors = read_vectors(recipe.vocabulary.vectors, network.word_size)
        extra = [
            w for n, w in enumerate(vectors) if n < recipe.vocabulary.vectors_limit or w in seen
        ]
        hashes[recipe.vocabulary.vectors] = files.sha256(recipe.vocabulary.vectors)
    vocabulary = make_vocabulary(
        train,
        network,
        min_count=recipe.vocabulary.min_count,
        label_min_count=recipe.vocabulary.label_min_count,
        extra=extra,
    )
    if origin is not None:
        origin.check(network)
        vocabulary = origin.vocabulary.extend(vocabulary)
        hashes.update({f"{recipe.init}/{name}": known for name, known in origin.sums.items()})
    torch.manual_seed(stable_seed(recipe.seed, "weights"))
    built, featurise = build_network(network, vocabulary)
    if origin is not None and begun is None:
        origin.fill(built, vocabulary)
    if vectors is not None:
        start_from(built, vocabulary, vectors, set(origin.vocabulary.words) if origin else ())
    return Materials(
        train={task: make_examples(task, rows, vocabulary) for task, rows in train.items()},
        sources=sources,
        dev=dev,
        vocabulary=vocabulary,
        network=built,
        featurise=featurise,
        hashes=hashes,
        encoder=encoder,
        origin=origin,
    )


def check_unchanged(recipe: Recipe, hashes: Mapping[str, str], counters: Mapping[str, Any]) -> None:
    """Fail if the run that a checkpoint is of is not the one that is asked for."""
    before, now = parse_recipe(counters["recipe"]).fixed_choices(), recipe.fixed_choices()
    for key, value in before.items():
        if value != now[key]:
            raise RecipeError(
                f"expected {value!r}, as the run began, found {now[key]!r}",
                where=key,
                hint="resume with the same recipe, or start anew in another --output",
            )
    for path, known in counters.get("data", {}).items():
        if hashes.get(path) != known:
            raise RecipeError(
                "the file has changed since the run began",
                where=path,
                hint="resume with the same data, or start anew in another --output",
            )
    size = recipe.training.batch_tokens
    begun = counters.get("training", {}).get("batch_tokens", size)
    if counters["done"] and begun != size:
        # The batches that were taken already would be others than those left out now.
        raise RecipeError(
            f"expected {begun}, as the epoch began, found {size}",
            where="training.batch_tokens",
            hint="change it when an epoch is over",
        )
