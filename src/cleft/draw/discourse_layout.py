"""The layout of a discourse tree in the manner of Mann and Thompson.

A horizontal bar stands over the text of each span. A vertical line goes from
a bar down to the nucleus; a satellite points to its nucleus by an arc that
carries the relation's name; the nuclei of a multinuclear relation hang from a
joint. The two halves of a Same-Unit hang from a dashed bridge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cleft.discourse import SPAN, DiscourseTree
from cleft.draw.characters import is_right_to_left, shown, text_width, visible, wrap
from cleft.draw.layout import (
    SIGNS,
    Command,
    Layout,
    Mark,
    Stroke,
    Text,
    children_of,
    drop,
    edu_numbers,
    elbow,
    evidence_lines,
    is_doubtful,
    line_weight,
)

BODY, NAME, NUMBER = 13.0, 11.0, 11.0  # font sizes
LINE = 17.0
NAME_HEIGHT = 17.0
NARROWEST, WIDEST = 112.0, 200.0  # of an EDU's column
GAP = 22.0
TIER = 23.0  # from one arc to the next
LOWEST = 15.0  # height of the lowest arc
BASE = 22.0
JOINT = 46.0  # room of a multinuclear joint
MARGIN = 22.0
NEAR = 7.0  # from the nucleus line to where an arc lands


def is_same_unit(relation: str) -> bool:
    """Whether a relation only joins the parts of an interrupted unit.

    >>> is_same_unit("Same-Unit"), is_same_unit("sameunit"), is_same_unit("contrast")
    (True, True, False)
    """
    return "".join(filter(str.isalpha, relation)).lower().startswith("sameunit")


def lay_out_discourse(tree: DiscourseTree, marks: Mapping[int, Mark] | None = None) -> Layout:
    """Lay out a discourse tree.

    >>> from cleft.discourse import Edu
    >>> from cleft.span import Span
    >>> leaves = [DiscourseTree.leaf(Edu("It rained,", Span(0, 3))),
    ...           DiscourseTree.leaf(Edu("so we left.", Span(3, 7)))]
    >>> layout = lay_out_discourse(DiscourseTree.join(leaves, "SN", "cause"))
    >>> [text.text for text in layout.texts if text.role == "relation"]
    ['cause']
    """
    return _Diagram(tree, marks or {}).layout()


class _Arc(NamedTuple):
    """A satellite, its nucleus, how many satellites lie between, how many there are in all."""

    child: int
    nucleus: int
    tier: int
    tiers: int


class _Diagram:
    """A discourse tree being laid out. A node is named by its place in preorder."""

    def __init__(self, tree: DiscourseTree, marks: Mapping[int, Mark]) -> None:
        self.marks = marks
        self.nodes = tree.preorder()
        self.children = children_of(self.nodes)
        self.texts: list[Text] = []
        self.strokes: list[Stroke] = []
        count = len(self.nodes)
        self.names = [""] * count  # the relation that ties a node to its parent
        self.roles = ["N"] * count
        self.lines: dict[int, tuple[str, ...]] = {}
        self.widths = [0.0] * count  # of the strip that is a node's own
        self.spans = [(0.0, 0.0)] * count  # the bar, from the strip's left edge
        self.anchors = [0.0] * count  # the nucleus line, from the strip's left edge
        self.offsets = [0.0] * count  # the strip, from the parent's strip
        self.rooms = [0.0] * count  # from the node's bar to its children's
        self.starts: dict[int, int] = {}  # EDU numbers by their first boundary
        for place in range(count - 1, -1, -1):
            self._measure(place)

    def _measure(self, place: int) -> None:
        node = self.nodes[place]
        if node.edu is None:
            rows = zip(self.children[place], node.relations, node.nuclearity, strict=True)
            for child, relation, role in rows:
                self.names[child] = shown(relation, "·")
                self.roles[child] = role
            self._arrange(place)
            return
        text = shown(node.edu.text)
        column = min(max(text_width(text, BODY) / 3.1, NARROWEST), WIDEST)
        lines = self.lines[place] = wrap(text, column, BODY)
        width = max(28.0, *(text_width(line, BODY) for line in lines))
        self.widths[place] = width
        self.spans[place] = (0.0, width)
        self.anchors[place] = width / 2

    def _arrange(self, place: int) -> None:
        """Set the children side by side, and make room for the names above them."""
        arcs = self._arcs_of(place)
        boxes = self._set_side_by_side(place, arcs)
        nuclei = self._nuclei_of(place)
        last = self.children[place][-1]
        anchor = (self._at(nuclei[0]) + self._at(nuclei[-1])) / 2
        right = self.offsets[last] + self.widths[last]
        tiers = max((arc.tiers for arc in arcs), default=0)
        joint = JOINT if len(nuclei) > 1 else 0.0
        self.rooms[place] = joint + (tiers * TIER + BASE if tiers else 0.0)
        if joint:
            half = name_width(self._joint_name(place)) / 2
            boxes.append((anchor - half, anchor + half))
        more = max([0.0, *(-left for left, _ in boxes)])
        for child in self.children[place]:
            self.offsets[child] += more
        self.anchors[place] = anchor + more
        self.spans[place] = (more, more + right)
        self.widths[place] = more + max([right, *(end for _, end in boxes)])

    def _set_side_by_side(self, place: int, arcs: list[_Arc]) -> list[tuple[float, float]]:
        """Place the children; the left and right edges of the names of their arcs."""
        by_child = {arc.child: arc for arc in arcs}
        across, boxes = 0.0, []
        before: list[_Arc] = []
        for child in self.children[place]:
            self.offsets[child] = across
            across += self.widths[child] + GAP
            arc = by_child.get(child)
            if arc is None:
                boxes += [self._name_box(one) for one in before]
                before = []
            elif arc.child < arc.nucleus:
                before.append(arc)
            else:
                boxes.append(self._name_box(arc))
                across = max(across, boxes[-1][1] + GAP)
        return boxes

    def _at(self, child: int) -> float:
        return self.offsets[child] + self.anchors[child]

    def _arcs_of(self, place: int) -> list[_Arc]:
        """The satellites of a node, each with its nucleus: the one before it, else the first."""
        below = self.children[place]
        first = next(at for at, child in enumerate(below) if self.roles[child] == "N")
        arcs = [_Arc(below[at], below[first], first - 1 - at, first) for at in range(first)]
        run: list[int] = []
        nucleus = below[first]
        for child in [*below[first + 1 :], -1]:
            if child >= 0 and self.roles[child] == "S":
                run.append(child)
                continue
            arcs += [_Arc(one, nucleus, tier, len(run)) for tier, one in enumerate(run)]
            run, nucleus = [], child
        return arcs

    def _joint_name(self, place: int) -> str:
        nuclei = self._nuclei_of(place)
        names = dict.fromkeys(self.names[one] for one in nuclei if self.names[one] != SPAN)
        return SIGNS[self._joint_mark(nuclei)] + " / ".join(names) if names else ""

    def _nuclei_of(self, place: int) -> list[int]:
        return [child for child in self.children[place] if self.roles[child] == "N"]

    def _joint_mark(self, nuclei: list[int]) -> Mark:
        return next(filter(None, (self.marks.get(child, "") for child in nuclei)), "")

    def _arc_name(self, child: int) -> str:
        return SIGNS[self.marks.get(child, "")] + self.names[child]

    def _landing(self, arc: _Arc) -> float:
        """Where an arc meets its nucleus: the outer arcs nearer to the line."""
        side = -1 if arc.child < arc.nucleus else 1
        inward = min(5.0, 20.0 / arc.tiers) * (arc.tiers - 1 - arc.tier)
        return self._at(arc.nucleus) + side * (NEAR + inward)

    def _name_box(self, arc: _Arc) -> tuple[float, float]:
        """The edges of a relation's name: over its arc, clear of the nucleus line."""
        width = name_width(self._arc_name(arc.child))
        start, end = self._at(arc.child), self._landing(arc)
        left = (start + end) / 2 - width / 2
        left = min(left, end - 4 - width) if arc.child < arc.nucleus else max(left, end + 4)
        return left, left + width

    def layout(self) -> Layout:
        """The finished drawing."""
        texts = [visible(node.edu.text) for node in self.nodes if node.edu]
        self.starts = {
            edu.span.left: number
            for number, edu in enumerate((node.edu for node in self.nodes if node.edu), start=1)
        }
        height = self._draw()
        layout = Layout(
            width=self.widths[0] + 2 * MARGIN,
            height=height + MARGIN,
            texts=tuple(self.texts),
            strokes=tuple(self.strokes),
            name=f"Discourse tree of: {' '.join(texts)}",
            description=describe(self.nodes),
            first=height,
        )
        return layout.mirrored() if is_right_to_left(texts) else layout

    def _draw(self) -> float:
        lowest, number = 0.0, 0
        todo = [(0, MARGIN, MARGIN)]
        while todo:
            place, left, top = todo.pop()
            start, end = self.spans[place]
            bar: tuple[Command, ...] = (("M", (left + start, top)), ("L", (left + end, top)))
            mark = self.marks.get(place)
            role, weight = (f"bar {mark}-line", 2.2) if mark else ("bar", 1.2)
            self.strokes.append(Stroke(bar, role, weight, place))
            if place in self.lines:
                number += 1
                lowest = max(lowest, self._edu(place, left, top, number))
                continue
            self._nuclei(place, left, top)
            floor = top + self.rooms[place]
            for arc in self._arcs_of(place):
                self._arc(place, arc, left, floor)
            below = reversed(self.children[place])
            todo += [(child, left + self.offsets[child], floor) for child in below]
        return lowest

    def _edu(self, place: int, left: float, top: float, number: int) -> float:
        lines, width = self.lines[place], self.widths[place]
        edu = self.nodes[place].edu
        assert edu is not None
        mark = self.marks.get(place, "")
        sign = f"{SIGNS[mark]}{number}"
        self.texts.append(
            Text(sign, (sign,), left, top + 5, width, 12, NUMBER, "number", node=place, mark=mark)
        )
        text = Text(
            shown(edu.text),
            lines,
            left,
            top + 19,
            width,
            LINE * len(lines),
            BODY,
            "edu",
            "aside" if self.roles[place] == "S" else "",
            "\n".join(evidence_lines(self.nodes[place].evidence, str)[:1]),
            place,
        )
        self.texts.append(text)
        return text.bottom

    def _name(self, place: int, name: str, box: tuple[float, float], tone: str, mark: Mark) -> Text:
        return name_text(self.nodes[place], name, box, self.starts, tone)._replace(
            node=place, mark=mark
        )

    def _weight(self, place: int) -> float:
        evidence = self.nodes[place].evidence
        return line_weight(evidence.split if evidence else None)

    def _nuclei(self, place: int, left: float, top: float) -> None:
        """The nucleus line, or the joint of several nuclei."""
        nuclei = self._nuclei_of(place)
        middle, floor = left + self.anchors[place], top + self.rooms[place]
        weight = self._weight(place)
        if len(nuclei) == 1:
            path: tuple[Command, ...] = (("M", (middle, top)), ("L", (middle, floor)))
            self.strokes.append(Stroke(path, "nucleus", weight, place, to=nuclei[0]))
            return
        name = self._joint_name(place)
        same = is_same_unit(self.nodes[place].relations[0])
        role, tone = ("bridge", "modifier") if same else ("joint", "clause")
        foot = top
        if name:
            foot = top + 7 + NAME_HEIGHT
            stem: tuple[Command, ...] = (("M", (middle, top)), ("L", (middle, top + 7)))
            self.strokes.append(Stroke(stem, role, weight, place, to=nuclei[0]))
            box = (middle - name_width(name) / 2, top + 7)
            self.texts.append(self._name(place, name, box, tone, self._joint_mark(nuclei)))
        bar = foot + 10
        for child in nuclei:
            end = (left + self._at(child), floor)
            shape = elbow if child in (nuclei[0], nuclei[-1]) else drop
            path = shape((middle, foot), end, bar)
            self.strokes.append(Stroke(path, role, weight, place, to=child))

    def _arc(self, place: int, arc: _Arc, left: float, floor: float) -> None:
        """The curved arrow from a satellite to its nucleus, and its name."""
        start, end = left + self._at(arc.child), left + self._landing(arc)
        top = floor - LOWEST - TIER * arc.tier
        curve = _curve(start, end, floor, top)
        self.strokes.append(Stroke(curve, "arc", self._weight(place), place, to=arc.child))
        tip: tuple[Command, ...] = (
            ("M", (end - 3.4, floor - 7.5)),
            ("L", (end + 3.4, floor - 7.5)),
            ("L", (end, floor - 1)),
            ("Z", ()),
        )
        self.strokes.append(Stroke(tip, "tip", 0.0, place, to=arc.child))
        box = (left + self._name_box(arc)[0], top - 2 - NAME_HEIGHT)
        mark = self.marks.get(arc.child, "")
        self.texts.append(self._name(place, self._arc_name(arc.child), box, "noun", mark))


def _curve(start: float, end: float, floor: float, top: float) -> tuple[Command, ...]:
    """Up from a satellite, along, and down to the nucleus."""
    bend = min(30.0, abs(end - start) / 2) * (1 if end > start else -1)
    rise = min(30.0, floor - top - 1)
    return (
        ("M", (start, floor - 1)),
        ("L", (start, top + rise)),
        ("Q", (start, top, start + bend, top)),
        ("L", (end - bend, top)),
        ("Q", (end, top, end, top + rise)),
        ("L", (end, floor - 6)),
    )


def name_text(
    tree: DiscourseTree, name: str, at: tuple[float, float], starts: Mapping[int, int], tone: str
) -> Text:
    """The name of a tree's relation in its box; `starts` numbers EDUs by their first boundary."""

    def boundary(at: int) -> str:
        number = starts.get(at)
        return f"before EDU {number}" if number else f"after token {at}"

    hint = "\n".join([name, *evidence_lines(tree.evidence, boundary)])
    box = (*at, name_width(name), NAME_HEIGHT)
    doubt = is_doubtful(tree.evidence)
    return Text(name, (name,), *box, NAME, "relation", tone, hint, doubt=doubt, tinted=True)


def name_width(name: str) -> float:
    """The width of the box of a relation's name."""
    return text_width(name, NAME, bold=True) + 10


def describe(nodes: Sequence[DiscourseTree]) -> str:
    """A discourse tree in words: its relations, each with the EDUs that it joins by number."""
    children = children_of(nodes)
    numbers = edu_numbers(children)
    lines = []
    for node, below in zip(nodes, children, strict=True):
        parts = ", ".join(
            f"{'nucleus' if role == 'N' else 'satellite'} {_range(*numbers[child])}"
            for child, role in zip(below, node.nuclearity, strict=True)
        )
        if below:
            lines.append(f"{visible(node.relation)}: {parts}.")
    return " ".join(lines) or "One elementary discourse unit."


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"
