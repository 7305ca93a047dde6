"""The models of a server: each with its parser, and the queue before it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cleft.errors import UsageError
from cleft.given import Given
from cleft.parser import Parser, load
from cleft.sentence import Sentence
from cleft.server.batching import Batcher, BatchKey

__all__ = ["Engine", "load_engines"]


class Engine:
    """A model that answers many requests at once."""

    def __init__(self, name: str, parser: Parser, capacity: int) -> None:
        self.name = name
        self.parser = parser
        self.batcher = Batcher(self._parse, capacity, name)

    def _parse(self, given: Sequence[Given], key: BatchKey) -> list[Sentence]:
        return self.parser.parse_given(given, task=key.task, options=key.options)

    def describe(self) -> dict[str, Any]:
        """What the model is, for /v1/models."""
        manifest = self.parser.manifest
        about = ("language", "licence", "training_data", "scores")
        return {
            "name": self.name,
            "tasks": list(manifest.tasks),
            **{key: manifest.about.get(key) for key in about},
            "labels": {task: list(names) for task, names in manifest.labels.items()},
            "tags": list(manifest.tags),
            "precision": manifest.precision,
        }


def load_engines(
    models: Iterable[str | Path], *, threads: int = 1, capacity: int = 256
) -> dict[str, Engine]:
    """The models by name, in the order given; the first is the default.

    A model is called what its config.json says, else what its directory is.
    """
    parsers: dict[str, Parser] = {}
    for model in models:
        parser = load(model, threads=threads)
        name = str(parser.manifest.about.get("name") or parser.directory.path.name)
        if name in parsers:
            raise UsageError(
                f"two models are called {name!r}",
                where=str(model),
                hint="give one of them another name when it is exported",
            )
        parser.parse_tokens(
            [["Ready", "?"]]
        )  # the first call is slow: no client should wait for it
        parsers[name] = parser
    return {name: Engine(name, parser, capacity) for name, parser in parsers.items()}
