"""SuPar's CRF parser as a trainee: its own model, loss and batches (training.py's loop)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from measure import Sentence
from run_supar import SuPar
from training import Task, Trainee, main

BUCKETS = 32


class SuParTrainee(Trainee):
    """Its `train` needs `transformers.AdamW`, which is gone, and scores test every epoch."""

    encoder = "encoder"

    def __init__(self) -> None:
        self.driver = SuPar()
        self.driver.imports()

    def build(self, task: Task) -> None:
        """A fresh model, with the fields that the training trees ask for."""
        from supar import CRFConstituencyParser

        kind = {"encoder": "bert", "bert": task.encoder} if task.encoder else {"encoder": "lstm"}
        options = {**kind, "embed": None, "mbr": True, "clip": 5.0, "update_steps": 1}
        parser = CRFConstituencyParser.build(
            str(task.output / "unused"),
            build=True,
            train=str(task.train),
            **{"feat": [], **task.settings["sizes"], **options},
        )
        self.driver.parser, self.network = parser, parser.model

    def load(self, path: Path) -> None:
        """What `save` left."""
        self.driver.load(path)
        self.network = self.driver.parser.model

    def save(self, path: Path) -> None:
        """As its own `train` does."""
        self.driver.parser.save(str(path))

    def batches(self, task: Task) -> Sequence[Any]:
        """Its own: sentences of like length."""
        from supar.utils import Dataset

        transform = self.driver.parser.transform
        transform.train()
        data = Dataset(transform, str(task.train))
        data.build(task.settings["batch"], BUCKETS, True)
        data.loader.batch_sampler.epoch = task.epoch
        return list(data.loader)

    def loss(self, batch: Any) -> torch.Tensor:
        """Its own, without the marginals, which training does not use."""
        parser = self.driver.parser
        words, *features, _, charts = batch
        there = words.ne(parser.args.pad_index)[:, 1:]
        there = there if words.dim() < 3 else there.any(-1)
        mask = (there.unsqueeze(1) & there.unsqueeze(2)).triu_(1)
        spans, labels = parser.model(words, features)
        loss, _ = parser.model.loss(spans, labels, charts, mask, False)
        return loss

    def parse(self, sentences: list[Sentence]) -> list[str]:
        """By its documented interface, MBR."""
        return [self.driver.brackets(tree) for tree in self.driver.parse(sentences, 5000)]


if __name__ == "__main__":
    main(SuParTrainee())
