"""What a run needs before its first step: data, vocabulary, network, optimiser."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from cleft.errors import RecipeError
from cleft.nn.batches import Example, stable_seed
from cleft.nn.checkpoint import build_network
from cleft.nn.data import (
    Sentence,
    file_hash,
    is_blank,
    make_examples,
    make_vocabulary,
    read_sentences,
)
from cleft.nn.features import Featuriser
from cleft.nn.network import Network
from cleft.nn.recipe import DataConfig, Recipe
from cleft.nn.vectors import read_vectors, start_from
from cleft.nn.vocab import Vocabulary

__all__ = ["Materials", "prepare"]


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


def prepare(recipe: Recipe) -> Materials:
    """Read the data, make the vocabulary and a network with seeded weights."""
    sentences, dev, hashes = {}, {}, {}
    for task, config in recipe.data.items():
        found = read_sentences(task, config.train, config)
        sentences[task] = found[: config.limit] if config.limit else found
        dev[task] = read_sentences(
            task, [path for path in config.dev if not is_blank(path)], config
        )
        _check_read(task, config, sentences[task], dev[task])
        hashes.update({path: file_hash(path) for path in (*config.train, *config.dev)})
    network, vectors = recipe.network, None
    if network.transformer:
        weights = f"{network.transformer}/model.safetensors"
        hashes[weights] = file_hash(weights)
    extra: list[str] = []
    if recipe.vocabulary.vectors:
        seen = {w.lower() for rows in sentences.values() for s in rows for w in s.words}
        vectors = read_vectors(recipe.vocabulary.vectors, network.word_size)
        extra = [
            w for n, w in enumerate(vectors) if n < recipe.vocabulary.vectors_limit or w in seen
        ]
        hashes[recipe.vocabulary.vectors] = file_hash(recipe.vocabulary.vectors)
    vocabulary = make_vocabulary(
        sentences,
        network,
        min_count=recipe.vocabulary.min_count,
        label_min_count=recipe.vocabulary.label_min_count,
        extra=extra,
    )
    torch.manual_seed(stable_seed(recipe.seed, "weights"))
    built, featurise = build_network(network, vocabulary)
    if vectors is not None:
        start_from(built, vocabulary, vectors)
    train = {
        task: make_examples(task, rows, network, vocabulary) for task, rows in sentences.items()
    }
    return Materials(
        train=train,
        sources={task: [row.source for row in rows] for task, rows in sentences.items()},
        dev=dev,
        vocabulary=vocabulary,
        network=built,
        featurise=featurise,
        hashes=hashes,
    )
