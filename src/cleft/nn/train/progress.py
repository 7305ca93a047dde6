"""What a run says while it goes: a live bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Mapping
from typing import Any, Protocol

__all__ = ["PlainProgress", "Progress", "RichProgress", "SilentProgress", "make_progress"]

EVERY = 30.0
"""Seconds between plain lines."""


class Progress(Protocol):
    """What the trainer tells."""

    def say(self, text: str) -> None:
        """A line of its own."""
        ...

    def epoch(self, name: str, steps: int, done: int) -> None:
        """An epoch begins, some of its steps done already."""
        ...

    def step(self, loss: float, tokens: int) -> None:
        """A step is done."""
        ...

    def close(self) -> None:
        """The run is over."""
        ...


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


class SilentProgress:
    """Says nothing: for all processes but the first, and for tests."""

    def say(self, text: str) -> None:
        """Nothing."""

    def epoch(self, name: str, steps: int, done: int) -> None:
        """Nothing."""

    def step(self, loss: float, tokens: int) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class PlainProgress(SilentProgress):
    """A line every half minute."""

    def __init__(self, stream: Any = None, every: float = EVERY) -> None:
        self.stream = stream or sys.stderr
        self.every = every
        self.label, self.steps, self.done = "", 0, 0
        self.tokens, self.since, self.shown, self.first = 0, 0.0, 0.0, 0

    def say(self, text: str) -> None:
        """A line of its own."""
        # A log that nobody reads any more is no reason to end a run.
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


class RichProgress(SilentProgress):
    """A live bar with loss, tokens a second and the time left."""

    def __init__(self, console: Any) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
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
        return SilentProgress()
    if sys.stderr.isatty():
        from rich.console import Console

        return RichProgress(Console(stderr=True))
    return PlainProgress()
