"""What a run leaves behind: metrics.jsonl, run.json, curve.svg, best/, a checkpoint.

metrics.jsonl has a line for every step and every epoch. A resumed run drops
the lines after its checkpoint, since it goes through those steps again.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import cleft
from cleft import files
from cleft.errors import InputError, OutputError, Place
from cleft.nn.checkpoint import read_object, write_json
from cleft.nn.plot import plot_run

__all__ = ["RunDirectory", "versions"]

PACKAGES = ("torch", "numpy", "lightning-fabric", "transformers", "safetensors")


DAMAGED = "remove the line, or start anew in another --output"


def versions() -> dict[str, str]:
    """The versions of everything that can change a number."""
    found = {"cleft": cleft.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {**found, "machine": f"{platform.machine()} {sys.platform}"}


def _metric(text: str, where: Place) -> dict[str, Any]:
    """A line of metrics.jsonl."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected JSON: {error}", where=where, hint=DAMAGED) from error
    known = isinstance(line, dict) and {"kind", "step", "epoch"} <= line.keys()
    if not known or not isinstance(line["step"], int) or not isinstance(line["epoch"], int):
        raise InputError("expected a step or an epoch", where=where, hint=DAMAGED)
    found: dict[str, Any] = line
    return found


class RunDirectory:
    """The directory of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metrics = path / "metrics.jsonl"
        self.run = path / "run.json"

    @property
    def has_run(self) -> bool:
        """Whether a run was started here."""
        return self.metrics.exists() or (self.path / "checkpoint.json").exists()

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is something to resume from."""
        return (self.path / "checkpoint.json").exists()

    def open(self) -> None:
        """Make the directory."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot be made: {error.strerror}", where=str(self.path)) from error

    def rewind(self, step: int, epochs: int) -> None:
        """Forget what was recorded after a step, and of epochs after so many."""
        kept = [
            line
            for line in self.lines()
            if line["step"] <= step and (line["kind"] == "step" or line["epoch"] <= epochs)
        ]
        with files.writing(self.metrics) as stream:
            stream.writelines(json.dumps(line) + "\n" for line in kept)

    def lines(self) -> Iterator[dict[str, Any]]:
        """The lines of metrics.jsonl; a last line cut short by a crash is passed over."""
        if not self.metrics.exists():
            return
        for number, line in enumerate(files.lines(self.metrics), 1):
            if line.endswith("\n"):
                yield _metric(line, Place(self.metrics, number))

    def record(self, line: Mapping[str, Any]) -> None:
        """Append a line to metrics.jsonl."""
        try:
            with open(self.metrics, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(line) + "\n")
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(f"cannot be written: {reason}", where=str(self.metrics)) from error

    def final(self, best: Mapping[str, Any]) -> dict[str, Any]:
        """The final scores in run.json, if they are of this model; else nothing."""
        known = read_object(self.run) if self.run.exists() else {}
        model = known.get("final", {}).get("model")
        same = best and model == {key: best[key] for key in ("epoch", "step")}
        return {"final": known["final"]} if same else {}

    def finish(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """Write run.json and curve.svg; final scores that are there already are kept."""
        lines = list(self.lines())
        summary = {**self.final(summary["best"]), **summary}
        epochs = [line for line in lines if line["kind"] == "epoch"]
        write_json(self.run, {**summary, "epochs": epochs})
        scores: dict[str, list[tuple[float, float]]] = {}
        for line in epochs:
            for task, found in line["dev"].items():
                for name in ("f1", "span", "nuclearity", "relation"):
                    if name in found:
                        scores.setdefault(f"{task} {name}", []).append((line["step"], found[name]))
        loss = [(line["step"], line["loss"]) for line in lines if line["kind"] == "step"]
        panels = {"loss": {"train": loss}, "dev": scores}
        with files.writing(self.path / "curve.svg") as stream:
            stream.write(plot_run(str(summary["recipe"]["name"]), panels))
        return summary
