"""Plots as SVG by hand: curves and points over axes that may be logarithmic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 460, 70, 260, 44, 56
COLOURS = (
    "#1f6f8b", "#b5541c", "#4a7c2c", "#7a3e8e", "#8a6d00", "#a8324a", "#2f4b9e", "#555555",
)  # fmt: skip
DASHES = ("", "6 4", "2 3")
"""Where there are more curves than colours, the colours come again, dashed."""
LINE = 13
"""How far apart two names must stand, one above the other."""
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One side of a plot: what it says, and how values become places from 0 to 1."""

    title: str
    low: float
    high: float
    log: bool = False

    @classmethod
    def over(cls, title: str, values: Sequence[float], *, log: bool = False) -> Axis:
        """An axis that holds these values.

        >>> Axis.over("ms", [3.0, 40.0], log=True).high
        50.0
        """
        low, high = min(values), max(values)
        if log:
            return cls(title=title, low=_nice(low, up=False), high=_nice(high, up=True), log=True)
        room = (high - low) or abs(high) or 1.0
        return cls(title=title, low=low - 0.08 * room, high=high + 0.08 * room)

    def place(self, value: float) -> float:
        """Where a value stands, 0 at the low end and 1 at the high end."""
        if self.log:
            return log10(value / self.low) / (log10(self.high / self.low) or 1.0)
        return (value - self.low) / ((self.high - self.low) or 1.0)

    def marks(self) -> list[float]:
        """Values to write beside the axis."""
        if not self.log:
            step = _nice((self.high - self.low) / 6, up=True)
            return [step * at for at in range(ceil(self.low / step), floor(self.high / step) + 1)]
        steps = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        every = [digit * 10.0**power for power in steps for digit in (1, 2, 5)]
        return [mark for mark in every if self.low * 0.999 <= mark <= self.high * 1.001]


def _nice(value: float, *, up: bool) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(value))
    marks = [power * digit for digit in (1, 2, 5, 10)]
    if up:
        return min(mark for mark in marks if mark >= value * 0.999)
    return max(mark for mark in marks if mark <= value * 1.001)


def _number(value: float) -> str:
    """A number beside an axis.

    >>> _number(10000.0), _number(0.5), _number(84.00000001)
    ('10,000', '0.5', '84')
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def curves(
    title: str, lines: Mapping[str, Points], *, x: str, y: str, log: bool = True
) -> str:  # fmt: skip
    """Named curves; those without points are left out.

    >>> curves("speed", {"lstm": [(10, 1.0), (20, 1.5)]}, x="tokens", y="ms").count("<polyline")
    1
    """
    shown = {name: points for name, points in lines.items() if points}
    axes = _axes(shown, x, y, log=log)
    parts = _frame(title, *axes)
    for number, (name, points) in enumerate(shown.items()):
        colour, pen = _pen(number)
        spots = [_spot(point, *axes) for point in points]
        text = " ".join(f"{left:.1f},{top:.1f}" for left, top in spots)
        parts.append(f'<polyline points="{text}" fill="none" stroke-width="1.8" {pen}/>')
        parts += [_dot(spot, colour) for spot in spots]
        parts += _legend(number, name, pen)
    return _whole(parts)


def scatter(title: str, points: Mapping[str, tuple[float, float]], *, x: str, y: str) -> str:
    """Named points, x logarithmic.

    >>> scatter("two", {"a": (10.0, 80.0), "b": (90.0, 85.0)}, x="t/s", y="F1").count("<circle")
    2
    """
    each = {name: [point] for name, point in points.items()}
    everything = list(points.values())
    axes = (
        Axis.over(x, [point[0] for point in everything], log=True),
        Axis.over(y, [point[1] for point in everything]),
    )
    parts = _frame(title, *axes)
    spots = {name: _spot(point, *axes) for name, (point,) in each.items()}
    heights = _apart({name: top for name, (_, top) in spots.items()})
    for number, (name, (left, top)) in enumerate(spots.items()):
        colour, height = COLOURS[number % len(COLOURS)], heights[name]
        names = WIDTH - RIGHT + 14
        parts.append(_dot((left, top), colour))
        parts.append(
            f'<path d="M{left + 5:.1f} {top:.1f}L{names - 4} {height:.1f}" fill="none" '
            f'stroke="{colour}" stroke-opacity="0.35"/>'
            f'<text x="{names}" y="{height + 4:.1f}" '
            f'fill="{colour}" font-size="11">{escape(name)}</text>'
        )
    return _whole(parts)


def _apart(heights: Mapping[str, float]) -> dict[str, float]:
    """Heights in the same order, none nearer to the next than a line of text.

    >>> _apart({"a": 50.0, "b": 52.0})
    {'a': 50.0, 'b': 63.0}
    """
    placed: dict[str, float] = {}
    last = -1e9
    for name in sorted(heights, key=heights.__getitem__):
        last = placed[name] = max(heights[name], last + LINE)
    return placed


def _axes(lines: Mapping[str, Points], x: str, y: str, *, log: bool) -> tuple[Axis, Axis]:
    everything = [point for points in lines.values() for point in points]
    return (
        Axis.over(x, [point[0] for point in everything], log=log),
        Axis.over(y, [point[1] for point in everything], log=log),
    )


def _spot(point: tuple[float, float], x: Axis, y: Axis) -> tuple[float, float]:
    inner = WIDTH - LEFT - RIGHT
    return (
        LEFT + inner * x.place(point[0]),
        TOP + (HEIGHT - TOP - BOTTOM) * (1 - y.place(point[1])),
    )


def _dot(spot: tuple[float, float], colour: str) -> str:
    return f'<circle cx="{spot[0]:.1f}" cy="{spot[1]:.1f}" r="3.2" fill="{colour}"/>'


def _pen(number: int) -> tuple[str, str]:
    """The colour of a curve, and how its line is drawn: no two curves alike.

    >>> _pen(0)[0] == _pen(8)[0], _pen(0) == _pen(8)
    (True, False)
    """
    colour = COLOURS[number % len(COLOURS)]
    dash = DASHES[number // len(COLOURS) % len(DASHES)]
    return colour, f'stroke="{colour}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _legend(number: int, name: str, pen: str) -> list[str]:
    left, top = WIDTH - RIGHT + 14, TOP + 10 + 20 * number
    return [
        f'<path d="M{left} {top}h24" stroke-width="2.5" {pen}/>',
        f'<text x="{left + 30}" y="{top + 4}" fill="#222222">{escape(name)}</text>',
    ]


def _frame(title: str, x: Axis, y: Axis) -> list[str]:
    parts = [
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="24" font-size="15" fill="#222222">{escape(title)}</text>',
    ]
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for mark in y.marks():
        top = TOP + (bottom - TOP) * (1 - y.place(mark))
        parts.append(
            f'<path d="M{LEFT} {top:.1f}H{right}" stroke="#e2e2e2"/>'
            f'<text x="{LEFT - 8}" y="{top + 4:.1f}" text-anchor="end" fill="#555555">'
            f"{_number(mark)}</text>"
        )
    for mark in x.marks():
        left = LEFT + (right - LEFT) * x.place(mark)
        parts.append(
            f'<path d="M{left:.1f} {TOP}V{bottom}" stroke="#f0f0f0"/>'
            f'<text x="{left:.1f}" y="{bottom + 18}" text-anchor="middle" fill="#555555">'
            f"{_number(mark)}</text>"
        )
    middle = (TOP + bottom) / 2
    parts.append(
        f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 14}" text-anchor="middle" fill="#222222">'
        f"{escape(x.title)}</text>"
        f'<text transform="translate(18 {middle}) rotate(-90)" text-anchor="middle" '
        f'fill="#222222">{escape(y.title)}</text>'
    )
    return parts


def _whole(parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" font-size="12" role="img">'
    )
    return "\n".join([head, *parts, "</svg>", ""])
