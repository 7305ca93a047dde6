"""benepar's chart parser as a trainee: its own model and margin loss (training.py's loop).

PyPI has the model and its loss, and no more: the loop, Adam's settings and the
vocabularies follow `src/main.py` of its repository.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from measure import Sentence, read_sentences
from run_benepar import SIZES, Benepar
from training import Task, Trainee, main

SUBBATCH = 300
"""The most tokens that go through the network at once: like lengths, for its chart is padded.

The loss is the same as with 2,000, its trainer's own, in half the time."""
PARSED = 500


@dataclass(frozen=True)
class Example:
    """A sentence with its tree, as the parser's `encode` wants it."""

    words: list[str]
    space_after: list[bool]
    tree: Any

    def leaves(self) -> list[str]:
        """The words as the treebank has them."""
        return self.tree.leaves()

    def pos(self) -> list[tuple[str, str]]:
        """The same with their tags."""
        return self.tree.pos()


class BeneparTrainee(Trainee):
    """`ChartParser`, which both its trainer and `benepar.Parser` use."""

    encoder = "pretrained_model"

    def __init__(self) -> None:
        self.driver = Benepar()
        self.driver.imports()

    def build(self, task: Task) -> None:
        """A fresh model, with the labels, tags and characters of the training trees."""
        sizes = {**SIZES, "use_chars_lstm": False, **task.settings["sizes"]}
        if task.encoder:
            sizes["pretrained_model"] = task.encoder
        self.network = self.driver.fresh(task.train, sizes)

    def load(self, path: Path) -> None:
        """What `save` left."""
        self.driver.load(path)
        self.network = self.driver.parser._parser

    def save(self, path: Path) -> None:
        """As its own trainer does, without the optimizer."""
        self.driver.store(self.network, path)

    def batches(self, task: Task) -> Sequence[Any]:
        """Sentences in a random order, so many a batch."""
        import nltk

        examples = []
        for one in read_sentences(task.train):
            words, spaces = self.driver.text(one.words)
            examples.append(Example(words, spaces, nltk.Tree.fromstring(one.brackets)))
        random.shuffle(examples)
        size = task.settings["batch"]
        return [examples[start : start + size] for start in range(0, len(examples), size)]

    def loss(self, batch: Any) -> torch.Tensor:
        """Its own, summed over what goes through the network at once."""
        parts = self.network.encode_and_collate_subbatches(batch, SUBBATCH)
        losses = [self.network.compute_loss(part) for _, part in parts]
        return torch.stack(losses).sum()

    def parse(self, sentences: list[Sentence]) -> list[str]:
        """As its trainer parses dev: like lengths together."""
        inputs = [self.driver.input(one) for one in sentences]
        trees = self.network.parse(inputs, subbatch_max_tokens=PARSED)
        return [self.driver.brackets(tree) for tree in trees]


if __name__ == "__main__":
    main(BeneparTrainee())
