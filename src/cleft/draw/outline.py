"""Trees as outlines, for where a tree is too wide: any width will do, and nothing gets smaller.

A phrase stands on a line of its own, set in below the one that holds it, with
the words that it begins with behind it. Where so many phrases begin with
the first word that it would stand far down, their labels share the first line.
Of a discourse tree the outline is a reading view: one EDU after the other,
satellites set in and dimmed, each with the relations that begin with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cleft.discourse import SPAN, DiscourseTree
from cleft.draw.characters import is_right_to_left, shown, text_width, visible, wrap
from cleft.draw.discourse_layout import describe, is_same_unit, name_text, name_width
from cleft.draw.layout import (
    SIGNS,
    Command,
    Layout,
    Mark,
    Place,
    Stroke,
    Text,
    children_of,
    evidence_lines,
    is_doubtful,
    line_weight,
    tone_of,
)
from cleft.draw.syntax_layout import CHIP, LABEL, TAG, WORD, Leaves, syntax_name
from cleft.draw.syntax_rows import Index
from cleft.tree import Tree

MARGIN = 14.0
LINE = 27.0
STEP = 22.0  # from one level to the next, as far as there is room
LEAST = 4.0
SHARE = 0.45  # of the width that may go to the levels
LATEST = 420.0  # how far down the first word may stand below labels with lines of their own
HANG = 20.0  # how far a line that goes on is set in
GAP = 9.0
BODY, BODY_LINE = 14.0, 22.0
NUMBER = 11.0
TIES = 8  # relations that are named before one EDU; of more, the innermost
ROOM = 90.0  # the least room for text after the names of relations


def outline_syntax(
    tree: Tree, width: float | None = None, marks: Mapping[int, Mark] | None = None
) -> Layout:
    """The outline of a constituency tree within a width.

    >>> tree = Tree.from_brackets("(S (NP (DT The) (NN rain)) (VP (VBD fell)))")
    >>> [(text.text, text.y) for text in outline_syntax(tree).texts if text.role == "word"]
    [('The', 44.5), ('rain', 44.5), ('fell', 71.5)]
    """
    return _Outline(tree, width, marks or {}).layout()


class _Outline:
    """An outline being laid out: lines of labels and words. Nodes go by their place in preorder."""

    def __init__(self, tree: Tree, width: float | None, marks: Mapping[int, Mark]) -> None:
        self.index, self.leaves, self.marks = Index(tree), Leaves(tree), marks
        self.description = visible(tree.brackets())
        self.right = width - MARGIN if width is not None else float("inf")
        self.texts: list[Text] = []
        self.line_of: list[int] = []
        self.levels: list[int] = []  # of nodes
        self.crowd = self._late()
        for node in range(len(self.index.nodes)):
            self._assign(node)
        room, deepest = SHARE * (self.right - MARGIN), max(self.levels)
        self.step = min(STEP, max(LEAST, room / max(1, deepest)))
        self.lefts = [MARGIN + min(level * self.step, room) for level in self.levels]
        self.tops: list[float] = []
        self.bottoms: list[float] = []
        self.ends: list[float] = []
        self._set()

    def _late(self) -> int:
        """How many nodes share the first line because the first word would come late; or 0."""
        first = next(at for at, node in enumerate(self.index.nodes) if node.word is not None)
        lines = 1 + sum(len(self.index.children[node]) > 1 for node in range(first))
        return first if lines * LINE > LATEST else 0

    def _assign(self, node: int) -> None:
        """Put a node on the line before it, if it only goes on there, or on a new one."""
        nodes, parents = self.index.nodes, self.index.parents
        parent, before = parents[node], node - 1
        if nodes[node].word is not None:
            beside = nodes[before].word is not None and parents[before] == parent
            joined = node > 0 and (before == parent or beside)
        else:
            joined = node > 0 and before == parent and len(self.index.children[parent]) == 1
        level = self.levels[parent] + (not joined) if node else 0
        self.levels.append(level)
        line = self.line_of[-1] if node else 0
        self.line_of.append(line + (node > 0 and not joined and node > self.crowd))

    def _set(self) -> None:
        """Set labels and words on their lines; what is too long goes on below."""
        across = start = top = MARGIN
        for node, line in enumerate(self.line_of):
            if line == len(self.tops):
                if self.tops:
                    top = self.bottoms[-1]
                across = self.lefts[node]
                start = across
                self.tops.append(top)
                self.bottoms.append(top + LINE)
                self.ends.append(across)
            boxes = self._boxes(node)
            wide = boxes[-1].right
            hang = min(start + HANG, self.right - ROOM)
            if across + wide > self.right and across > hang:
                across, top = hang, self.bottoms[-1]
            self.texts += [box._replace(x=box.x + across, y=box.y + top) for box in boxes]
            high = max(box.bottom for box in boxes)
            self.bottoms[-1] = max(self.bottoms[-1], top + max(LINE, high + 3))
            across += wide + GAP
            self.ends[-1] = across

    def _boxes(self, node: int) -> list[Text]:
        """What a node shows, from the left edge and the top of its line."""
        tree, mark = self.index.nodes[node], self.marks.get(node, "")
        hint = "\n".join([visible(tree.label), *self._evidence(node)])
        if tree.word is None:
            name = SIGNS[mark] + shown(tree.label, "·")
            wide = text_width(name, LABEL, bold=True) + 14
            label = Text(name, (name,), 0.0, 3.5, wide, CHIP, LABEL, "label", tone_of(tree.label))
            doubt = is_doubtful(tree.evidence)
            return [label._replace(hint=hint, node=node, mark=mark, doubt=doubt, tinted=True)]
        at = self.index.spans[node].left
        word, tag = self.leaves.words[at], self.leaves.tags[at]
        tag = SIGNS[mark] + (tag if tag != word or mark else "")  # not a comma twice
        lines = wrap(word, max(ROOM, self.right - MARGIN - 120.0), WORD)
        wide = max(text_width(line, WORD) for line in lines)
        found = [Text(word, lines, 0.0, 3.5, wide, 20.0 * len(lines), WORD, "word", node=node)]
        if tag:
            box = (wide + 4, 6.0, text_width(tag, TAG), 17.0)
            found.append(Text(tag, (tag,), *box, TAG, "tag", hint=hint, node=node, mark=mark))
        return found

    def _evidence(self, node: int) -> list[str]:
        return evidence_lines(self.index.nodes[node].evidence, self.leaves.boundary)

    def layout(self) -> Layout:
        """The finished outline."""
        layout = Layout(
            width=max(text.right for text in self.texts) + MARGIN,
            height=self.bottoms[-1] + MARGIN,
            texts=tuple(self.texts),
            strokes=tuple(self._rails()),
            name=syntax_name(self.leaves.words),
            description=self.description,
            places=tuple(self._places()),
            view="outline",
            first=next(text.bottom for text in self.texts if text.role == "word"),
        )
        return layout.mirrored() if is_right_to_left(self.leaves.words) else layout

    def _rails(self) -> list[Stroke]:
        """A line from each phrase down to the lines of its children."""
        strokes = []
        for node in range(1, len(self.line_of)):
            line, parent = self.line_of[node], self.index.parents[node]
            if line == self.line_of[node - 1]:
                continue
            above, rail = self.line_of[parent], self._rail(parent)
            end, middle = self.lefts[node] - 3, self.tops[line] + 13.5
            bend = min(6.0, end - rail)
            if bend <= 0:
                continue  # so deep that it could not be set in
            shared = self.crowd and not above  # the labels may fill more than one line
            start = self.bottoms[0] - 3 if shared else self.tops[above] + 3.5 + CHIP
            path: tuple[Command, ...] = (
                ("M", (rail, start)),
                ("L", (rail, middle - bend)),
                ("Q", (rail, middle, rail + bend, middle)),
                ("L", (end, middle)),
            )
            told = self.index.nodes[parent].evidence
            weight = line_weight(told.split if told else None)
            strokes.append(Stroke(path, "branch", weight, parent, to=node))
        return strokes

    def _rail(self, node: int) -> float:
        """Where the children of a node hang."""
        return self.lefts[node] + min(10.0, 0.45 * self.step)

    def _places(self) -> list[Place]:
        """What can be folded: from the end of a phrase's line to the end of its last one.

        Of phrases that share the first line only the root, for there is room for one sign.
        """
        found = []
        lines, leaves = self.line_of, self.index.nodes
        self.covered = [0] * len(self.tops)  # the words up to the end of each line
        for node, line in enumerate(lines):
            self.covered[line] = self.index.spans[node].left + (leaves[node].word is not None)
        for node, tree in enumerate(self.index.nodes):
            line, end = self.line_of[node], self.index.ends[node]
            if tree.word is not None or 0 < node <= self.crowd:
                continue
            span = self.index.spans[node]
            words = " ".join(self.leaves.words[span.left : span.left + 8])
            found.append(
                Place(
                    node=node,
                    end=end,
                    x=self.ends[line],
                    y=self.bottoms[line],
                    left=self._rail(node),
                    right=self.ends[line],
                    floor=self.bottoms[self.line_of[end - 1]],
                    name=f"{visible(tree.label)}: {words}" + ("…" if span.width > 8 else ""),
                    words=span.right - self.covered[line],
                )
            )
        return found


# ---------------------------------------------------------------- discourse


class Tie(NamedTuple):
    """A relation that begins with an EDU: its name, its node, its colour, how it differs."""

    name: str
    node: int
    tone: str
    mark: Mark = ""


class Passage(NamedTuple):
    """An EDU, how many satellites it stands inside, and the relations that begin with it."""

    text: str
    node: int
    depth: int
    ties: tuple[Tie, ...]


def passages(tree: DiscourseTree, marks: Mapping[int, Mark] | None = None) -> list[Passage]:
    """The EDUs of a tree in reading order.

    >>> from cleft.discourse import Edu
    >>> from cleft.span import Span
    >>> leaves = [DiscourseTree.leaf(Edu("It rained,", Span(0, 3))),
    ...           DiscourseTree.leaf(Edu("so we left.", Span(3, 7)))]
    >>> found = passages(DiscourseTree.join(leaves, "SN", "cause"))
    >>> [(one.depth, [tie.name for tie in one.ties], one.text) for one in found]
    [(1, ['cause'], 'It rained,'), (0, [], 'so we left.')]
    """
    nodes = tree.preorder()
    depths = [0] * len(nodes)
    ties: list[tuple[Tie, ...]] = [()] * len(nodes)
    for place, below in enumerate(children_of(nodes)):
        rows = zip(below, nodes[place].nuclearity, nodes[place].relations, strict=True)
        for at, (child, role, name) in enumerate(rows):
            depths[child] = depths[place] + (role == "S")
            ties[child] = ties[place] if at == 0 else ()
            if role == "S" or (at > 0 and name != SPAN):
                same = "modifier" if is_same_unit(name) else "clause"
                tone = "noun" if role == "S" else same
                mark = (marks or {}).get(child, "")
                ties[child] = (*ties[child], Tie(visible(name), place, tone, mark))[-TIES:]
    return [
        Passage(shown(node.edu.text), place, depths[place], ties[place])
        for place, node in enumerate(nodes)
        if node.edu is not None
    ]


def outline_discourse(
    tree: DiscourseTree, width: float | None = None, marks: Mapping[int, Mark] | None = None
) -> Layout:
    """The reading view of a discourse tree within a width.

    >>> from cleft.discourse import Edu
    >>> from cleft.span import Span
    >>> leaves = [DiscourseTree.leaf(Edu("It rained,", Span(0, 3))),
    ...           DiscourseTree.leaf(Edu("so we left.", Span(3, 7)))]
    >>> layout = outline_discourse(DiscourseTree.join(leaves, "SN", "cause"), 300)
    >>> [text.text for text in layout.texts]
    ['1', 'cause', 'It rained,', '2', 'so we left.']
    """
    return _Reading(tree, width, marks or {}).layout()


class _Reading:
    """A reading view being laid out."""

    def __init__(self, tree: DiscourseTree, width: float | None, marks: Mapping[int, Mark]) -> None:
        self.nodes, self.marks = tree.preorder(), marks
        self.passages = passages(tree, marks)
        self.starts = {edu.span.left: at for at, edu in enumerate(tree.edus, start=1)}
        self.gutter = MARGIN + text_width(SIGNS["wrong"] * bool(marks) + "00", NUMBER)
        self.gutter = max(self.gutter, MARGIN + text_width(str(len(self.passages)), NUMBER)) + 10
        self.right = (width if width is not None else 720.0) - MARGIN
        deepest = max(one.depth for one in self.passages)
        room = 0.35 * (self.right - self.gutter)
        self.step = min(STEP, max(LEAST, room / max(1, deepest)))
        self.room = room
        self.texts: list[Text] = []
        self.strokes: list[Stroke] = []
        self.top = MARGIN
        self.first = 0.0

    def layout(self) -> Layout:
        """The finished view."""
        for number, passage in enumerate(self.passages, start=1):
            self._passage(passage, number)
            self.first = self.first or self.top
        words = [one.text for one in self.passages]
        layout = Layout(
            width=max(text.right for text in self.texts) + MARGIN,
            height=self.top + MARGIN - 6,
            texts=tuple(self.texts),
            strokes=tuple(self.strokes),
            name=f"Discourse tree of: {' '.join(words)}",
            description=describe(self.nodes),
            view="outline",
            first=self.first,
        )
        return layout.mirrored() if is_right_to_left(words) else layout

    def _passage(self, one: Passage, number: int) -> None:
        top, mark = self.top, self.marks.get(one.node, "")
        bar = self.gutter + min(one.depth * self.step, self.room)
        sign = f"{SIGNS[mark]}{number}"
        wide = text_width(sign, NUMBER)
        box = (self.gutter - 10 - wide, self.top + 3, wide, 16.0)
        self.texts.append(Text(sign, (sign,), *box, NUMBER, "number", node=one.node, mark=mark))
        left = bar + 10
        across = self._ties(one, left)
        lines = self._lines(one.text, across, left)
        if not lines:
            across, self.top = left, self.top + BODY_LINE
            lines = self._lines(one.text, left, left)
        tone = "aside" if one.depth else ""
        for first, text in ((True, lines[:1]), (False, lines[1:])):
            if not text:
                continue
            start = across if first else left
            wide = max(text_width(line, BODY) for line in text)
            box = (start, self.top, wide, BODY_LINE * len(text))
            whole = " ".join(text)
            self.texts.append(Text(whole, text, *box, BODY, "prose", tone, node=one.node))
            self.top += box[3]
        path: tuple[Command, ...] = (("M", (bar, top + 2)), ("L", (bar, self.top - 2)))
        line = f"bar {mark}-line" if mark else "bar" if one.depth else "nucleus"
        self.strokes.append(Stroke(path, line, 2.0, one.node))
        self.top += 6

    def _ties(self, one: Passage, left: float) -> float:
        """Set the names of the relations; where the text may begin after them."""
        across = left
        for tie in one.ties:
            name = SIGNS[tie.mark] + tie.name
            wide = name_width(name)
            if across + wide > self.right and across > left:
                across, self.top = left, self.top + BODY_LINE
            tree, at = self.nodes[tie.node], (across, self.top + 2)
            chip = name_text(tree, name, at, self.starts, tie.tone)
            self.texts.append(chip._replace(node=tie.node, mark=tie.mark))
            across += wide + 7
        return across

    def _lines(self, text: str, across: float, left: float) -> tuple[str, ...]:
        """The lines of a text of which the first begins after the names; none if it cannot."""
        full = max(ROOM, self.right - left)
        if across == left:
            return wrap(text, full, BODY)
        first = wrap(text, self.right - across, BODY)[0] if self.right - across >= ROOM else ""
        if not first or not text.startswith(first):
            return ()
        rest = text[len(first) :].strip()
        return (first, *wrap(rest, full, BODY)) if rest else (first,)
