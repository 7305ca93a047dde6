"""A single-file page of trees: no requests, no outside scripts, nothing but text and SVG.

The page's policy admits one script, by its hash, so that no text of a tree
could run even if it were not escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cleft.discourse import DiscourseTree
from cleft.document import Document
from cleft.draw.characters import is_right_to_left, shown
from cleft.draw.compare import Diff, Drawable
from cleft.draw.layout import Layout, Place, Text
from cleft.draw.outline import passages
from cleft.draw.svg_output import lay_out, number, render, safe, stroke_element, text_element
from cleft.draw.theme import DEFAULT, Options, Theme, page_colours, resource, style
from cleft.tree import Tree

DEEPEST = 12  # steps to the right in the reading view
FAINTEST = 3  # the last step of dimming
SMALL = 360  # a drawing that fits any screen
NARROW = 280  # pixels of the outlines for narrow screens
TIES = 3  # names that are shown before one EDU; of more, the innermost


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """All trees of one sentence or document on a page, under its text.

    Without `text` the words of the first tree are the heading: a tree does not
    know where there were spaces. `note` stands below, for a sentence without a tree.
    A `document` is to be read first, and its tree can be unfolded.

    >>> tree = Tree.from_brackets("(S (VP (VB Go)) (. !))")
    >>> Section(trees=[tree]).heading, Section(trees=[tree], text="Go!").heading
    ('Go !', 'Go!')
    """

    trees: Sequence[Drawable] = ()
    text: str = ""
    note: str = ""
    document: Document | None = None

    @property
    def heading(self) -> str:
        """The text on one line; of a document its name, or how it begins."""
        if self.document is not None and self.document.sentences:
            return self.document.id or " ".join(self.document.sentences[0].text.split())
        text = self.text or (_words(self.trees[0]) if self.trees else "")
        return " ".join(text.split())


def html(
    trees: Drawable | Section | Iterable[Drawable | Section], options: Options = DEFAULT
) -> str:
    """A page of one or more trees or comparisons, complete in one file.

    A `Section` holds the trees of one sentence; a tree by itself is a section.
    Syntax trees stand on one line each, can be scrolled, and fold by click or
    key; discourse trees have a reading view below.

    >>> page = html(Tree.from_brackets("(NP (DT the) (NN rain))"))
    >>> page.startswith("<!DOCTYPE html>") and ">rain</text>" in page
    True
    """
    many = [trees] if isinstance(trees, (Tree, DiscourseTree, Diff, Section)) else trees
    sections = [one if isinstance(one, Section) else Section(trees=(one,)) for one in many]
    script, theme = resource("fold.js") + "\n" + resource("page.js"), options.theme
    title = safe(options.title or "Trees")
    body = [_section(one, number, options) for number, one in enumerate(sections, start=1)]
    head = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        '<head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta name="color-scheme" content="{"light dark" if theme == "auto" else theme}">',
        f"<title>{title}</title>",
        f"<style>{page_colours(theme)}\n{style(theme)}\n{resource('page.css')}</style></head>",
        f'<body class="cleft-page cleft-colours-{theme}"><main><h1>{title}</h1>',
    ]
    foot = [f'</main><script type="module">{script}</script></body></html>', ""]
    return "\n".join([*head, *body, *foot])


def fragment(tree: Drawable | Document, options: Options = DEFAULT) -> str:
    """A tree for a notebook, within a width; a discourse tree has a reading view.

    A document is its text, and the tree to unfold.
    """
    theme = options.theme
    if isinstance(tree, Document):
        found = tree.trees if options.nested else tree.flat_trees
        pairs = replace(options, nested=True)
        drawn = _unfolded(fragment(found[0], pairs)) if found else ""
        sheet = f"<style>{page_colours(theme)}\n{resource('page.css')}</style>"
        return f'<div class="cleft-figure cleft-colours-{theme}">{sheet}{prose(tree)}{drawn}</div>'
    layout = lay_out(tree, options.width, options.view, nested=options.nested)
    drawn = render(layout, theme, title=options.title)
    reading = _reading(tree) if isinstance(tree, DiscourseTree) else ""
    sheet = f"<style>{page_colours(theme)}\n{resource('page.css')}</style>"
    return (
        f'<div class="cleft-figure cleft-colours-{theme}">{sheet}'
        f'<div class="cleft-scroll">{drawn}</div>{reading}</div>'
    )


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _section(section: Section, at: int, options: Options) -> str:
    kinds = [_kind(tree) for tree in section.trees]
    figures = []
    for place, (tree, kind) in enumerate(zip(section.trees, kinds, strict=True)):
        count = kinds.count(kind)
        which = f", {kinds[: place + 1].count(kind)} of {count}" if count > 1 else ""
        figures.append(_figure(tree, kind + which, at, options))
    note = f"<p>{safe(section.note)}</p>" if section.note else ""
    drawn = "".join(figures)
    if section.document is not None and section.document.tree is not None:
        drawn = f"{prose(section.document)}{_unfolded(drawn)}"
    return (
        f'<section class="cleft-section"><h2><b>{at}</b>'
        f'<span dir="auto">{safe(section.heading)}</span></h2>{note}{drawn}</section>'
    )


def _kind(tree: Drawable) -> str:
    if isinstance(tree, Diff):
        return f"{_kind(tree.gold)}, gold and predicted"
    return "Syntax" if isinstance(tree, Tree) else "Discourse"


def _figure(tree: Drawable, caption: str, at: int, options: Options) -> str:
    """A tree with its caption; on a narrow screen an outline takes the place of a wide one."""
    wide = lay_out(tree, options.width, options.view, nested=options.nested)
    drawn, buttons, reading = _drawn(tree, wide, options.theme), "", ""
    if isinstance(tree, DiscourseTree):
        reading = _reading(tree)
        narrow = wide.width > SMALL and bool(reading)
    else:
        narrow = wide.width > SMALL and options.view == "auto" and wide.view != "outline"
        if isinstance(tree, Tree) and wide.view != "rows":
            buttons = '<button class="fold">Fold</button><button class="unfold">Unfold</button>'
    parts = [("wide" if narrow else "", drawn)]
    if narrow and not reading:
        buttons += '<button class="switch" aria-pressed="false">Outline</button>'
        parts.append(("narrow", _drawn(tree, lay_out(tree, NARROW, "outline"), options.theme)))
    scrolls = "".join(
        f'<div class="cleft-scroll {kind}" tabindex="0" role="region" '
        f'aria-label="{at}: {caption}{", outline" * (kind == "narrow")}">{part}</div>'
        for kind, part in parts
    )
    return (
        f'<figure class="cleft-figure"><figcaption><span>{caption}</span>{buttons}</figcaption>'
        f"{scrolls}{reading}</figure>"
    )


def _drawn(tree: Drawable, layout: Layout, theme: Theme) -> str:
    if isinstance(tree, Tree) and layout.view != "rows":
        return _foldable(layout, theme)
    return render(layout, theme, styled=False)


def _words(tree: Drawable) -> str:
    if isinstance(tree, Diff):
        return _words(tree.gold)
    words = tree.words() if isinstance(tree, Tree) else [edu.text for edu in tree.edus]
    return " ".join(words)


def _foldable(layout: Layout, theme: Theme) -> str:
    """The SVG of a syntax tree whose labels can be focused and folded."""
    width, height = number(layout.width), number(layout.height)
    places = {place.node: place for place in layout.places}
    levels = _levels(layout.places)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cleft cleft-{theme} {layout.view}" '
        f'role="tree" aria-label="{safe(layout.name)}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">',
        f'<rect class="ground" width="{width}" height="{height}"/>',
    ]
    for stroke in layout.strokes:
        parts.append(stroke_element(stroke, f' data-node="{stroke.node}"'))
    for text in layout.texts:
        parts.append(text_element(text, _handle(text, places, levels)))
    return "\n".join([*parts, "</svg>"])


def _handle(text: Text, places: dict[int, Place], levels: dict[int, int]) -> str:
    """The attributes by which the script finds a text; words stay where they are."""
    if text.role == "word":
        return ""
    place = places.get(text.node)
    if place is None:
        return f' data-node="{text.node}"'
    numbers = {"x": place.x, "y": place.y, "left": place.left, "right": place.right}
    numbers["words"] = place.words
    data = "".join(f' data-{key}="{number(value)}"' for key, value in numbers.items())
    return (
        f' class="node" role="treeitem" tabindex="{-1 if text.node else 0}" aria-expanded="true" '
        f'aria-level="{levels[text.node]}" aria-label="{safe(place.name)}" '
        f'data-node="{place.node}" data-end="{place.end}"{data} data-floor="{number(place.floor)}"'
    )


def _levels(places: Iterable[Place]) -> dict[int, int]:
    levels: dict[int, int] = {}
    open_ends: list[int] = []
    for place in places:
        while open_ends and open_ends[-1] <= place.node:
            open_ends.pop()
        open_ends.append(place.end)
        levels[place.node] = len(open_ends)
    return levels


# ---------------------------------------------------------------- the reading view


def _reading(tree: DiscourseTree) -> str:
    if tree.is_leaf:  # the drawing is all there is to read
        return ""
    items = []
    for passage in passages(tree):
        again = "⋯ " if any(tie.tone == "modifier" for tie in passage.ties) else ""
        named = [tie.name for tie in passage.ties if tie.tone != "modifier"][-TIES:]
        kind = ' class="aside"' if passage.depth else ""
        inset = f"{1.6 * min(passage.depth, DEEPEST):.1f}em"
        ties = "".join(f"<i>{safe(name)}</i>" for name in named)
        direction = "rtl" if is_right_to_left([passage.text]) else "ltr"
        items.append(
            f'<li{kind} dir="{direction}" style="margin-inline-start:{inset}">'
            f"{ties}{again}{safe(passage.text)}</li>"
        )
    return f'<ol class="cleft-reading" aria-label="Reading view">{"".join(items)}</ol>'


def _unfolded(drawn: str) -> str:
    return f'<details class="cleft-tree"><summary>Discourse tree</summary>{drawn}</details>'


def prose(document: Document) -> str:
    """The text of a document in its paragraphs, dimmed the more the less its tree promotes it.

    What ties an EDU to the text before it is shown when it is pointed at.
    """
    if document.tree is None:
        return "".join(f"<p>{safe(shown(part))}</p>" for part in document.text.split("\n\n"))
    begins = {document.span_of(number).left for number in document.paragraphs}
    ranks = {level: rank for rank, level in enumerate(sorted(set(document.tree.salience())))}
    parts: list[str] = []
    end = 0
    rows = zip(document.edus, document.tree.salience(), passages(document.tree), strict=True)
    for edu, level, passage in rows:
        start, stop = document.characters(edu.span)
        if not parts or edu.span.left in begins:
            parts.append('</p><p dir="auto">' if parts else '<p dir="auto">')
        elif start > end:
            parts.append(" ")
        named = (
            f' title="{safe(", ".join(tie.name for tie in passage.ties))}"' if passage.ties else ""
        )
        rank = min(ranks[level], FAINTEST)
        parts.append(f'<span class="level-{rank}"{named}>{safe(passage.text)}</span>')
        end = stop
    return f'<div class="cleft-prose" aria-label="The text">{"".join(parts)}</p></div>'
