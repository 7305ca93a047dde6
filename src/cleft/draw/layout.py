"""A drawing as numbers: text boxes and strokes with their places, before any format.

Both tasks are laid out to a `Layout`; SVG and HTML are written from one, and
tests look at one to see that nothing overlaps and nothing is cut off. All
lengths are pixels, from the top left corner. The probabilities of a
node are in a text that shows on hover, and in the thickness of its lines.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from cleft.discourse import DiscourseTree
from cleft.evidence import Evidence
from cleft.span import Span
from cleft.tree import Tree

Command = tuple[str, tuple[float, ...]]
"""A path command, `M`, `L`, `Q`, `C` or `Z`, with its coordinates."""

Mark = str
"""How a node differs from the other tree: '', `wrong`, `missed` or `changed`."""


SIGNS = {"": "", "wrong": "+ ", "missed": "− ", "changed": "≠ "}
"""Signs before the names of marked nodes, for readers who do not see the colours."""


class Text(NamedTuple):
    """A text in its box: x and y are the box's top left corner.

    `node` is the node that the text belongs to, by its place in preorder.
    `hint` shows on hover. `doubt` means a dashed outline.

    >>> Text("NP", ("NP",), 0, 0, 30, 20, 12, "label").right
    30
    """

    text: str
    lines: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float
    size: float
    role: str
    tone: str = ""
    hint: str = ""
    node: int = -1
    mark: Mark = ""
    doubt: bool = False
    tinted: bool = False
    right_to_left: bool = False

    @property
    def right(self) -> float:
        """The box's right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The box's bottom edge."""
        return self.y + self.height


class Stroke(NamedTuple):
    """A line: its path, what it stands for, its thickness, and what it ties.

    It begins at `node`, and leads down to the child `to` if there is one.
    """

    path: tuple[Command, ...]
    role: str
    weight: float = 1.25
    node: int = -1
    hint: str = ""
    to: int = -1

    def moved(self, factor: float, across: float, down: float) -> Stroke:
        """The stroke with its x coordinates scaled, then moved."""

        def place(numbers: tuple[float, ...]) -> tuple[float, ...]:
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            return tuple(value for x, y in pairs for value in (x * factor + across, y + down))

        return self._replace(path=tuple((letter, place(numbers)) for letter, numbers in self.path))


class Place(NamedTuple):
    """Where a node's subtree stands, for folding it on a page: its label and its words.

    In an outline `y` and `floor` enclose the lines that folding hides, and
    `words` is how many stand there.
    """

    node: int
    end: int
    x: float
    y: float
    left: float
    right: float
    floor: float
    name: str
    words: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A laid-out drawing.

    `name` and `description` are for screen readers; `places` say what can be
    folded; `view` is `tree`, `rows` or `outline`; `first` is how far down the
    first words end.
    """

    width: float
    height: float
    texts: tuple[Text, ...]
    strokes: tuple[Stroke, ...]
    name: str = ""
    description: str = ""
    places: tuple[Place, ...] = ()
    view: str = "tree"
    first: float = 0.0

    def shifted(self, across: float, down: float) -> Layout:
        """The same drawing with every box and stroke moved."""
        return replace(
            self,
            texts=tuple(text._replace(x=text.x + across, y=text.y + down) for text in self.texts),
            strokes=tuple(stroke.moved(1.0, across, down) for stroke in self.strokes),
            places=tuple(
                place._replace(
                    x=place.x + across,
                    y=place.y + down,
                    left=place.left + across,
                    right=place.right + across,
                    floor=place.floor + down,
                )
                for place in self.places
            ),
        )

    def renumbered(self, places: Sequence[int]) -> Layout:
        """The same drawing with each node by another number: the one at its place here."""

        def named(node: int) -> int:
            return places[node] if node >= 0 else node

        return replace(
            self,
            texts=tuple(text._replace(node=named(text.node)) for text in self.texts),
            strokes=tuple(
                one._replace(node=named(one.node), to=named(one.to)) for one in self.strokes
            ),
        )

    def mirrored(self) -> Layout:
        """The same drawing from right to left."""
        wide = self.width
        return replace(
            self,
            texts=tuple(
                text._replace(x=wide - text.right, right_to_left=True) for text in self.texts
            ),
            strokes=tuple(stroke.moved(-1.0, wide, 0.0) for stroke in self.strokes),
            places=tuple(
                place._replace(x=wide - place.x, left=wide - place.right, right=wide - place.left)
                for place in self.places
            ),
        )


def elbow(
    start: tuple[float, float], end: tuple[float, float], bar: float, radius: float = 9.0
) -> tuple[Command, ...]:
    """A path down to a bar, along it, and down to the end, with round corners.

    >>> [letter for letter, _ in elbow((0, 0), (50, 40), 10)]
    ['M', 'L', 'Q', 'L', 'Q', 'L']
    >>> elbow((5, 0), (5, 40), 10)
    (('M', (5, 0)), ('L', (5, 40)))
    """
    (x, top), (to, bottom) = start, end
    if abs(x - to) < 1.0:
        return (("M", start), ("L", (x, bottom)))
    if abs(x - to) < 2 * radius:
        foot = min(bottom, 2 * bar - top)
        return (("M", start), ("C", (x, bar, to, bar, to, foot)), ("L", (to, bottom)))
    bend = radius if to > x else -radius
    rise, fall = min(radius, bar - top), min(radius, bottom - bar)
    return (
        ("M", start),
        ("L", (x, bar - rise)),
        ("Q", (x, bar, x + bend, bar)),
        ("L", (to - bend, bar)),
        ("Q", (to, bar, to, bar + fall)),
        ("L", (to, bottom)),
    )


def drop(
    start: tuple[float, float], end: tuple[float, float], bar: float, radius: float = 9.0
) -> tuple[Command, ...]:
    """The path of a child between others: straight down from the bar that they share.

    >>> drop((0, 0), (50, 40), 10)
    (('M', (50, 10.0)), ('L', (50, 40)))
    """
    (x, top), (to, _) = start, end
    away = abs(x - to)
    if away < 1.0:
        return (("M", start), ("L", (x, end[1])))
    # Within the round corner of the bar, the line begins on the corner's curve.
    lift = min(radius, bar - top) * max(0.0, 1 - (away / radius) ** 0.5) ** 2
    return (("M", (to, bar - lift)), ("L", end))


def stack(layouts: Iterable[Layout], gap: float, *, name: str, description: str) -> Layout:
    """Drawings one below the other as one drawing."""
    width = height = 0.0
    texts: list[Text] = []
    strokes: list[Stroke] = []
    places: list[Place] = []
    for layout in layouts:
        moved = layout.shifted(0.0, height + gap if height else 0.0)
        height = height + gap + layout.height if height else layout.height
        width = max(width, layout.width)
        texts += moved.texts
        strokes += moved.strokes
        places += moved.places
    return Layout(
        width=width,
        height=height,
        texts=tuple(texts),
        strokes=tuple(strokes),
        name=name,
        description=description,
        places=tuple(places),
    )


def as_drawn(
    tree: DiscourseTree, *, nested: bool = False, apart: Collection[Span] = ()
) -> DiscourseTree:
    """The tree as RST draws it: a binary one with all nuclei of a relation below one node.

    A tree with a node of three children or more is drawn as it is: there, nesting is meant.
    The nuclei inside the spans that are `apart` are not joined with those outside.
    """
    return tree if nested or not tree.is_binary else tree.debinarise(apart)


def edu_numbers(children: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The numbers of the first and the last EDU of each node of a preorder."""
    count = sum(not below for below in children)
    numbers = [(0, 0)] * len(children)
    for place in range(len(children) - 1, -1, -1):
        below = children[place]
        if below:
            numbers[place] = (numbers[below[0]][0], numbers[below[-1]][1])
        else:
            numbers[place] = (count, count)
            count -= 1
    return numbers


def children_of(nodes: Sequence[Tree | DiscourseTree]) -> list[list[int]]:
    """The children of each node of a preorder, by their places in it."""
    children: list[list[int]] = [[] for _ in nodes]
    open_nodes: list[int] = []
    for place, node in enumerate(nodes):
        while open_nodes and len(children[open_nodes[-1]]) == len(nodes[open_nodes[-1]].children):
            open_nodes.pop()
        if open_nodes:
            children[open_nodes[-1]].append(place)
        if node.children:
            open_nodes.append(place)
    return children


Number = TypeVar("Number", int, float)


def strips(
    children: Sequence[Sequence[int]],
    own: Sequence[Number],
    gap: Number,
    half: Callable[[Number], Number],
) -> tuple[list[int], list[Number], list[Number]]:
    """The level above the leaves, left edge and width of each node's strip of a syntax tree.

    A strip holds the node's `own` text and the strips of its children side by
    side, so that no line or text of another subtree can enter it.
    """
    levels, inner, widths = [0] * len(own), list(own), list(own)
    for place in range(len(own) - 1, -1, -1):
        if below := children[place]:
            levels[place] = 1 + max(levels[child] for child in below)
            inner[place] = sum(widths[child] for child in below) + gap * (len(below) - 1)
            widths[place] = max(own[place], inner[place])
    lefts = [gap * 0 for _ in own]
    for place, below in enumerate(children):
        left = lefts[place] + half(widths[place] - inner[place])
        for child in below:
            lefts[child] = left
            left += widths[child] + gap
    return levels, lefts, widths


CLAUSES = frozenset({"TOP", "ROOT", "VROOT", "FRAG", "CP", "IP", "CS", "SENT", "PRN", "UCP"})


def tone_of(label: str) -> str:
    """The colour family of a phrase label: clause, noun, verb, modifier or other.

    >>> [tone_of(label) for label in ("SBAR", "NP-SBJ", "VP", "PP", "X")]
    ['clause', 'noun', 'verb', 'modifier', 'other']
    """
    head = label.upper()
    if head[:1] == "S" or head.split("-")[0] in CLAUSES:
        return "clause"
    if head[:1] == "N" or head.startswith("WHN"):
        return "noun"
    if head[:1] == "V":
        return "verb"
    if head[:1] in ("A", "P", "Q") or head.startswith("WH"):
        return "modifier"
    return "other"


# ---------------------------------------------------------------- probabilities

THIN, THICK, PLAIN = 0.7, 1.6, 1.25
UNSURE = 0.6
"""A phrase or relation less probable than this is outlined."""


def percent(probability: float) -> str:
    """A probability for people.

    >>> percent(0.925), percent(0.0004)
    ('92 %', '<1 %')
    """
    return "<1 %" if 0 < probability < 0.01 else f"{100 * probability:.0f} %"


def is_doubtful(evidence: Evidence | None) -> bool:
    """Whether it is improbable that a node is right."""
    return evidence is not None and (shown_probability(evidence) or 1.0) < UNSURE


def shown_probability(evidence: Evidence) -> float | None:
    """The probability of a node that pictures show; of trees that know no other, the label's."""
    return evidence.label if evidence.probability is None else evidence.probability


def line_weight(probability: float | None) -> float:
    """How thick the lines of a split are drawn: the surer, the thicker."""
    if probability is None:
        return PLAIN
    return THIN + (THICK - THIN) * min(1.0, max(0.0, probability))


def evidence_lines(evidence: Evidence | None, boundary: Callable[[int], str]) -> list[str]:
    """The probabilities of a node and the runners-up, as lines of text.

    >>> evidence_lines(Evidence(probability=0.7, label=0.9, labels=(("NP", 0.08),)), str)
    ['right with 70 %', 'label 90 %, or NP 8 %']
    """
    if evidence is None:
        return []
    lines = []
    if evidence.probability is not None:
        lines.append(f"right with {percent(evidence.probability)}")
    others = ", ".join(f"{name} {percent(p)}" for name, p in evidence.labels)
    if evidence.label is not None or others:
        lines.append(_line("label", evidence.label, others))
    others = ", ".join(f"{boundary(place)} {percent(p)}" for place, p in evidence.splits)
    if evidence.split is not None or others:
        lines.append(_line("split", evidence.split, others))
    return lines


def _line(what: str, probability: float | None, others: str) -> str:
    known = f" {percent(probability)}" if probability is not None else ""
    return f"{what}{known}" + (f", or {others}" if others else "")
