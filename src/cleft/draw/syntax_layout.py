"""The layout of a constituency tree: words on one line, phrases above them.

A phrase stands one level above the highest of its children, in the middle
over them; every subtree keeps a strip of its own, so that no line or text of
another can enter it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cleft.draw.characters import is_right_to_left, shown, text_width, visible, wrap
from cleft.draw.layout import (
    SIGNS,
    Layout,
    Mark,
    Place,
    Stroke,
    Text,
    drop,
    elbow,
    evidence_lines,
    is_doubtful,
    line_weight,
    stack,
    strips,
    tone_of,
)
from cleft.draw.syntax_rows import Index, Row, split_rows, whole
from cleft.tree import Tree

WORD, TAG, LABEL, CRUMB = 15.0, 11.0, 12.0, 11.0  # font sizes
LINE = 20.0  # height of a line of words
TAG_HEIGHT = 14.0
CHIP = 20.0  # height of a label
PITCH, TIGHT = 40.0, 30.0  # from one level to the next, and in a tree of many levels
HIGH = 320.0  # of the levels together, before they move closer
GAP = 15.0  # between the strips of two siblings
LONGEST = 260.0  # a wider word is wrapped
MARGIN = 20.0
TAIL = 12.0  # how far a line to the next row extends into the margin
BETWEEN_ROWS = 26.0


def lay_out_syntax(
    tree: Tree, width: float | None = None, marks: Mapping[int, Mark] | None = None
) -> Layout:
    """Lay out a tree; one wider than `width` takes several rows.

    >>> tree = Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept)))")
    >>> [text.text for text in lay_out_syntax(tree).texts if text.role == "word"]
    ['She', 'slept']
    """
    index = Index(tree)
    leaves = Leaves(tree)
    limit = width - 2 * MARGIN if width is not None else None
    if limit is None:
        rows = [whole(index)]
    else:
        rows = split_rows(index, [one + GAP for one in leaves.widths], limit)
    drawn = [_RowLayout(index, row, leaves, marks or {}).layout() for row in rows]
    words, told = leaves.words, visible(tree.brackets())
    layout = stack(drawn, BETWEEN_ROWS, name=syntax_name(words), description=told)
    layout = replace(
        _padded(layout), view="rows" if len(rows) > 1 else "tree", first=drawn[0].height + MARGIN
    )
    return layout.mirrored() if is_right_to_left(words) else layout


def syntax_name(words: list[str]) -> str:
    """What the drawing of a syntax tree is called."""
    return f"Syntax tree of: {' '.join(words)}"


def _padded(layout: Layout) -> Layout:
    wide, high = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN
    return replace(layout.shifted(MARGIN, MARGIN), width=wide, height=high)


class Leaves:
    """The words and tags of a tree with their widths."""

    def __init__(self, tree: Tree) -> None:
        self.words: list[str] = []
        self.tags: list[str] = []
        self.lines: list[tuple[str, ...]] = []
        self.widths: list[float] = []
        for leaf in tree.leaves():
            word, tag = shown(leaf.word or ""), visible(leaf.label)
            lines = wrap(word, LONGEST, WORD)
            widest = max(text_width(line, WORD) for line in lines)
            self.words.append(word)
            self.tags.append(tag)
            self.lines.append(lines)
            self.widths.append(max(widest, text_width(tag, TAG), 8.0))

    def boundary(self, at: int) -> str:
        """A boundary between words, told by the word after it."""
        return f"before “{self.words[at]}”" if 0 <= at < len(self.words) else "at the end"


class _RowLayout:
    """One row of a tree being laid out."""

    def __init__(self, index: Index, row: Row, leaves: Leaves, marks: Mapping[int, Mark]) -> None:
        self.index, self.row, self.leaves, self.marks = index, row, leaves, marks
        self.trees = [index.nodes[node] for node in row.nodes]
        self.captions = [self._caption(place) for place in range(len(row.nodes))]
        self.own = [self._own_width(place) for place in range(len(row.nodes))]
        self.levels, self.lefts, self.widths = strips(
            row.children, self.own, GAP, lambda width: width / 2
        )
        self.anchors = self._anchors()
        self.crumb = "in " + " › ".join(map(visible, row.crumbs)) if row.crumbs else ""
        self.top = 22.0 if self.crumb else 0.0
        self.pitch = max(TIGHT, min(PITCH, HIGH / max(1, self.levels[0])))
        self.tags_at = self.top + self.levels[0] * self.pitch
        has_tags = any(leaves.tags[row.span.left : row.span.right])
        self.words_at = self.tags_at + (TAG_HEIGHT + 1 if has_tags else 0.0)

    def _caption(self, place: int) -> str:
        node, tree = self.row.nodes[place], self.trees[place]
        if tree.word is not None:
            return ""
        before = "… " if node in self.row.skipped else ""
        before += "‹ " if node in self.row.open_left else ""
        after = " ›" if node in self.row.open_right else ""
        return f"{SIGNS[self.marks.get(node, '')]}{before}{shown(tree.label, '·')}{after}"

    def _own_width(self, place: int) -> float:
        node = self.row.nodes[place]
        if self.trees[place].word is not None:
            position = self.index.spans[node].left
            tag = SIGNS[self.marks.get(node, "")] + self.leaves.tags[position]
            return max(self.leaves.widths[position], text_width(tag, TAG))
        return text_width(self.captions[place], LABEL, bold=True) + 14

    def _anchors(self) -> list[float]:
        """The middle of each node's own text."""
        anchors = [0.0] * len(self.trees)
        for place in range(len(anchors) - 1, -1, -1):
            below, half = self.row.children[place], self.own[place] / 2
            left, right = self.lefts[place], self.lefts[place] + self.widths[place]
            if below:
                middle = (anchors[below[0]] + anchors[below[-1]]) / 2
                anchors[place] = min(max(middle, left + half), right - half)
            else:
                anchors[place] = (left + right) / 2
        return anchors

    def layout(self) -> Layout:
        """The finished row."""
        texts: list[Text] = []
        strokes: list[Stroke] = []
        places: list[Place] = []
        for place, tree in enumerate(self.trees):
            if tree.word is not None:
                texts += self._leaf(place)
            else:
                texts.append(self._label(place))
                strokes += self._branches(place)
                places.append(self._place(place))
        if self.crumb:
            texts.append(self._crumbs())
        lines = self.leaves.lines[self.row.span.left : self.row.span.right]
        return Layout(
            width=max([self.widths[0], *[text.right for text in texts if text.role == "crumb"]]),
            height=self.words_at + LINE * max(map(len, lines)),
            texts=tuple(texts),
            strokes=tuple(strokes),
            places=tuple(places),
        )

    def _leaf(self, place: int) -> list[Text]:
        node = self.row.nodes[place]
        position = self.index.spans[node].left
        word, tag = self.leaves.words[position], self.leaves.tags[position]
        lines, width = self.leaves.lines[position], self.own[place]
        left = self.anchors[place] - width / 2
        texts = []
        if tag:
            hint = "\n".join([tag, *self._evidence(place)])
            mark = self.marks.get(node, "")
            tag = SIGNS[mark] + tag
            box = (left, self.tags_at, width, TAG_HEIGHT)
            texts.append(Text(tag, (tag,), *box, TAG, "tag", "", hint, node, mark))
        height = LINE * len(lines)
        texts.append(Text(word, lines, left, self.words_at, width, height, WORD, "word", node=node))
        return texts

    def _level_top(self, level: int) -> float:
        return self.top + (self.levels[0] - level) * self.pitch

    def _label(self, place: int) -> Text:
        node, tree, own = self.row.nodes[place], self.trees[place], self.own[place]
        return Text(
            self.captions[place],
            (self.captions[place],),
            self.anchors[place] - own / 2,
            self._level_top(self.levels[place]),
            own,
            CHIP,
            LABEL,
            "label",
            tone_of(tree.label),
            "\n".join([visible(tree.label), *self._evidence(place)]),
            node,
            self.marks.get(node, ""),
            doubt=is_doubtful(tree.evidence),
            tinted=True,
        )

    def _evidence(self, place: int) -> list[str]:
        return evidence_lines(self.trees[place].evidence, self.leaves.boundary)

    def _branches(self, place: int) -> list[Stroke]:
        node, tree = self.row.nodes[place], self.trees[place]
        weight = line_weight(tree.evidence.split if tree.evidence else None)
        foot = self._level_top(self.levels[place]) + CHIP
        bar = foot + (self.pitch - CHIP) / 2
        start = (self.anchors[place], foot)
        strokes = []
        below = self.row.children[place]
        for child in below:
            head = self._level_top(self.levels[child])
            word = self.index.spans[self.row.nodes[child]].left
            if not self.levels[child] and not self.leaves.tags[word]:
                head = self.words_at
            end = (self.anchors[child], head)
            path = (elbow if child in (below[0], below[-1]) else drop)(start, end, bar)
            strokes.append(Stroke(path, "branch", weight, node, to=self.row.nodes[child]))
        return strokes + self._tails(place, bar)

    def _tails(self, place: int, bar: float) -> list[Stroke]:
        """Dashed lines to the row's edge, from a node that continues in another row."""
        node, below = self.row.nodes[place], self.row.children[place]
        ends = []
        if node in self.row.open_left:
            ends.append((self.anchors[below[0]] - 6, -TAIL))
        if node in self.row.open_right:
            ends.append((self.anchors[below[-1]] + 6, self.widths[0] + TAIL))
        return [
            Stroke((("M", (start, bar)), ("L", (end, bar))), "tail", 1.3, node)
            for start, end in ends
        ]

    def _place(self, place: int) -> Place:
        node = self.row.nodes[place]
        span = self.index.spans[node]
        words = self.leaves.words[span.left : min(span.right, span.left + 8)]
        left = self.lefts[place] + max(0.0, self.widths[place] - self._strip(place)) / 2
        return Place(
            node=node,
            end=self.index.ends[node],
            x=self.anchors[place],
            y=self._level_top(self.levels[place]) + CHIP,
            left=left,
            right=left + self._strip(place),
            floor=self.words_at,
            name=f"{visible(self.trees[place].label)}: {' '.join(words)}"
            + ("…" if span.width > len(words) else ""),
        )

    def _strip(self, place: int) -> float:
        below = self.row.children[place]
        return self.lefts[below[-1]] + self.widths[below[-1]] - self.lefts[below[0]]

    def _crumbs(self) -> Text:
        width = text_width(self.crumb, CRUMB)
        return Text(self.crumb, (self.crumb,), 0.0, 0.0, width, 15.0, CRUMB, "crumb")
