"""The record of a run: its directory (lines, summary, curve), and what it prints as it goes."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import cleft
from cleft import files
from cleft.errors import InputError, OutputError, Place
from cleft.nn.checkpoint import read_object, write_json

WIDTH, HEIGHT, MARGIN, GAP = 720, 220, 56, 24
COLOURS = ("#1f6f8b", "#b5541c", "#4a7c2c", "#7a3e8e", "#8a6d00")
Curve = Sequence[tuple[float, float]]


def plot_run(title: str, panels: Mapping[str, Mapping[str, Curve]]) -> str:
    """An SVG with one panel above the other; each has named curves of (step, value).

    >>> svg = plot_run("a run", {"loss": {"train": [(0, 2.0), (1, 1.0)]}})
    >>> svg.startswith("<svg") and "polyline" in svg
    True
    """
    shown = {name: curves for name, curves in panels.items() if any(curves.values())}
    height = MARGIN + len(shown) * (HEIGHT + GAP + MARGIN)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{MARGIN}" y="28" font-size="15" fill="#222222">{escape(title)}</text>',
    ]
    for index, (name, curves) in enumerate(shown.items()):
        parts += _panel(name, curves, MARGIN + index * (HEIGHT + GAP + MARGIN))
    return "\n".join([*parts, "</svg>", ""])


def _thin(curve: Curve, most: int = 400) -> list[tuple[float, float]]:
    """At most so many points, each the mean of its neighbours."""
    size = -(-len(curve) // most) if curve else 1
    groups = [curve[start : start + size] for start in range(0, len(curve), size)]
    return [
        (sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group))
        for group in groups
    ]


def _panel(name: str, curves: Mapping[str, Curve], top: float) -> list[str]:
    thin = {key: _thin(curve) for key, curve in curves.items() if curve}
    ys = [y for curve in thin.values() for _, y in curve]
    low, high = min(ys), max(ys)
    room = (high - low) or 1.0
    last = max(x for curve in curves.values() for x, _ in curve) or 1.0
    inner = WIDTH - 2 * MARGIN
    parts = [f'<text x="{MARGIN}" y="{top + 10}" fill="#222222">{escape(name)}</text>']
    for share in (0.0, 0.5, 1.0):
        y = top + GAP + HEIGHT * (1 - share)
        parts.append(
            f'<path d="M{MARGIN} {y:.1f}H{WIDTH - MARGIN}" stroke="#dddddd"/>'
            f'<text x="{MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555555">'
            f"{low + share * room:.4g}</text>"
        )
    for colour, (key, curve) in zip(COLOURS * len(thin), thin.items(), strict=False):
        points = " ".join(
            f"{MARGIN + inner * x / last:.1f},{top + GAP + HEIGHT * (1 - (y - low) / room):.1f}"
            for x, y in curve
        )
        number = list(thin).index(key)
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
            f'<text x="{MARGIN + 90 + 110 * number}" y="{top + 10}" fill="{colour}">'
            f"{escape(key)}</text>"
        )
    parts.append(
        f'<text x="{WIDTH - MARGIN}" y="{top + GAP + HEIGHT + 16}" text-anchor="end" '
        f'fill="#555555">step {last:g}</text>'
    )
    return parts


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


def from_home(value: Any) -> Any:
    """The same with `~` for the home directory in all paths: records are passed on as they are.

    >>> from_home({"data": ["~/trees.mrg", "trees.mrg"]})
    {'data': ['~/trees.mrg', 'trees.mrg']}
    """
    if isinstance(value, Mapping):
        return {from_home(key): from_home(item) for key, item in value.items()}
    if isinstance(value, list):
        return [from_home(item) for item in value]
    home = f"{os.environ.get('HOME', '~')}/"
    inside = isinstance(value, str) and value.startswith(home)
    return f"~/{value.removeprefix(home)}" if inside else value


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
        # A run that is taken up again knows its final scores by the paths as the recipe has them.
        told = {key: from_home(item) for key, item in summary.items() if key != "final"}
        summary = {**self.final(summary["best"]), **summary, **told}
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


EVERY = 30.0
"""Seconds between plain lines."""


def show_scores(dev: Mapping[str, Mapping[str, float]]) -> str:
    """Dev scores in one line.

    >>> show_scores({"syntax": {"f1": 81.234, "errors": 0.0}})
    'syntax f1 81.23'
    """
    shown = ("f1", "tagging", "span", "nuclearity", "relation")
    return "; ".join(
        f"{task} " + " ".join(f"{name} {scores[name]:.2f}" for name in shown if name in scores)
        for task, scores in dev.items()
    )


class Progress:
    """What a run prints as it goes. This one prints nothing: for all processes but the first."""

    def say(self, text: str) -> None:
        """Print a line of its own."""

    def epoch(self, name: str, steps: int, done: int) -> None:
        """Begin an epoch, some of its steps done already."""

    def step(self, loss: float, tokens: int) -> None:
        """Count a step."""

    def close(self) -> None:
        """End with the run."""


class PlainProgress(Progress):
    """A line every half minute."""

    def __init__(self, stream: Any = None, every: float = EVERY) -> None:
        self.stream = stream or sys.stderr
        self.every = every
        self.label, self.steps, self.done = "", 0, 0
        self.tokens, self.since, self.shown, self.first = 0, 0.0, 0.0, 0

    def say(self, text: str) -> None:
        """A line of its own."""
        # A closed log does not end a run.
        with contextlib.suppress(OSError):
            print(text, file=self.stream, flush=True)

    def epoch(self, name: str, steps: int, done: int) -> None:
        """An epoch begins."""
        self.label, self.steps, self.done = name, steps, done
        self.first, self.tokens = done, 0
        self.since = self.shown = time.monotonic()

    def step(self, loss: float, tokens: int) -> None:
        """A step is done."""
        self.done += 1
        self.tokens += tokens
        now = time.monotonic()
        if now - self.shown < self.every:
            return
        self.shown = now
        spent = now - self.since
        left = spent / (self.done - self.first) * (self.steps - self.done)
        self.say(
            f"{self.label} step {self.done}/{self.steps} loss {loss:.4f} "
            f"{self.tokens / spent:.0f} tokens/s, {left:.0f} s left"
        )


class RichProgress(Progress):
    """A live bar with loss, tokens a second and the time left."""

    def __init__(self, console: Any) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self.bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]:.4f}"),
            TextColumn("{task.fields[speed]:.0f} tokens/s"),
            TimeRemainingColumn(),
            console=console,
        )
        self.bar: Any = None
        self.tokens, self.since = 0, 0.0
        self.bars.start()

    def say(self, text: str) -> None:
        """A line above the bar."""
        self.bars.console.print(text, markup=False, highlight=False)

    def epoch(self, name: str, steps: int, done: int) -> None:
        """A new bar."""
        if self.bar is not None:
            self.bars.remove_task(self.bar)
        self.bar = self.bars.add_task(
            name, total=steps, completed=done, loss=float("nan"), speed=0.0
        )
        self.tokens, self.since = 0, time.monotonic()

    def step(self, loss: float, tokens: int) -> None:
        """Move the bar."""
        self.tokens += tokens
        speed = self.tokens / max(1e-9, time.monotonic() - self.since)
        self.bars.update(self.bar, advance=1, loss=loss, speed=speed)

    def close(self) -> None:
        """Take the bar down."""
        self.bars.stop()


def make_progress(first: bool) -> Progress:
    """The progress of a process: only the first one speaks."""
    if not first:
        return Progress()
    if sys.stderr.isatty():
        from rich.console import Console

        return RichProgress(Console(stderr=True))
    return PlainProgress()
