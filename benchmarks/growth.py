"""How what a decoder needs grows with the length of a sentence: slopes of log-log curves.

If a quantity is c · nᵏ, its curve over logarithmic axes is a line of slope k.
Fixed costs bend it at the short end, so the slope is fitted from `FROM` tokens on.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from statistics import linear_regression
from typing import Any

from plots import curves

FROM = 80
LEAST = 3
"""A slope needs so many lengths."""
QUANTITIES = {"steps": "steps", "splits": "splits scored", "ms": "ms", "memory_mb": "MB"}
TITLES = {
    "steps": "Steps that follow one another, by length",
    "splits": "Splits that are scored, by length",
    "ms": "Milliseconds of decoding by length, 1 thread",
    "memory_mb": "Megabytes of decoding by length",
}


def points(lengths: Mapping[str, Any], quantity: str) -> list[tuple[float, float]]:
    """What was measured, by length; failures and zeros, which have no logarithm, are left out.

    >>> points({"10": {"ms": 2.0}, "20": {"error": "no"}, "40": {"ms": 0.0}}, "ms")
    [(10.0, 2.0)]
    """
    found = [(float(size), one.get(quantity, 0.0)) for size, one in lengths.items()]
    return [(size, value) for size, value in found if value > 0]


def slope(lengths: Mapping[str, Any], quantity: str, start: int = FROM) -> float | None:
    """The exponent of the growth, None of too few lengths.

    >>> cubes = {str(n): {"ms": 5.0 * n**3} for n in (80, 160, 320, 640)}
    >>> round(slope(cubes, "ms"), 6)
    3.0
    >>> slope(cubes, "memory_mb") is None
    True
    """
    found = [(log(n), log(value)) for n, value in points(lengths, quantity) if n >= start]
    if len(found) < LEAST:
        return None
    return linear_regression(*zip(*found, strict=True)).slope


def exponents(found: Mapping[str, Any]) -> list[list[object]]:
    """A row for each decoder: its slopes, the longest sentence it did, and why no longer one."""
    rows: list[list[object]] = []
    for name, lengths in found["decoders"].items():
        slopes = [slope(lengths, quantity) for quantity in QUANTITIES]
        done = [int(size) for size, one in lengths.items() if "error" not in one]
        failed = next((one["error"] for one in lengths.values() if "error" in one), None)
        texts = [None if value is None else f"{value:.2f}" for value in slopes]
        problem = None if failed is None else failed.replace("|", "/")
        rows.append([name, *texts, max(done, default=None), problem])
    return rows


def drawn(found: Mapping[str, Any]) -> dict[str, str]:
    """The plots by the names of their files."""
    plots = {}
    for quantity, unit in QUANTITIES.items():
        lines = {name: points(lengths, quantity) for name, lengths in found["decoders"].items()}
        if any(lines.values()):
            file = f"complexity-{quantity.partition('_')[0]}.svg"
            plots[file] = curves(TITLES[quantity], lines, x="tokens", y=unit)
    return plots
