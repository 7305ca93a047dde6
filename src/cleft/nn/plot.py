"""The curve of a run as an SVG: loss by step, dev score by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

__all__ = ["plot_run"]

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
