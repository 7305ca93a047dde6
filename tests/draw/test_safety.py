"""Whatever a tree holds, drawings are valid XML and hold it as text only."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.discourse import DiscourseTree, Edu
from cleft.draw import Options, html, svg, terminal
from cleft.draw.characters import visible
from cleft.span import Span
from cleft.tree import Tree
from tests.draw import looking
from tests.draw.samples import HOSTILE, join, leaves

ANYTHING = st.text(st.characters(), max_size=30)


class Elements(HTMLParser):
    """Counts the elements of a page and keeps its attributes' names and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "tspan":  # long text has more lines
            self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


def hostile(text: str) -> list[Tree | DiscourseTree]:
    tree = Tree(text, [Tree(text, word=text), Tree(text, word="b")])
    edus = [DiscourseTree.leaf(Edu(text, Span(0, 1))), DiscourseTree.leaf(Edu("b", Span(1, 2)))]
    return [tree, DiscourseTree.join(edus, "NS", text)]


@given(ANYTHING)
def test_any_text_makes_valid_xml(text: str) -> None:
    for tree in hostile(text):
        looking.parse(svg(tree, Options(title=text)))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_drawn_as_text(text: str) -> None:
    tree, discourse = hostile(text)
    assert looking.of_role(looking.parse(svg(tree)), "tag")[0] == visible(text)
    assert looking.of_role(looking.parse(svg(discourse)), "relation") == [visible(text)]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_adds_no_element_to_a_page(text: str) -> None:
    pages = [Elements(), Elements()]
    for page, label in zip(pages, (text, "x"), strict=True):
        page.feed(html(hostile(label), Options(title=label, view="tree")))
    assert pages[0].tags == pages[1].tags
    assert pages[0].attributes == pages[1].attributes
    assert pages[0].tags.count("script") == 1
    assert not {name for name in pages[0].attributes if name.startswith("on")}


def test_a_page_asks_for_nothing_from_elsewhere() -> None:
    page = html(hostile("x"))
    assert "default-src 'none'" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


@given(ANYTHING)
def test_no_text_steers_a_terminal(text: str) -> None:
    for tree in hostile(text):
        drawn = terminal(tree, 60, colour=False)
        assert not [char for char in drawn if char < " " and char != "\n"]
        assert not set(drawn) & set("\x7f\x9b\u202e\u2066")


def test_drawings_hold_no_ids_and_no_deep_nesting() -> None:
    edus = leaves(*"abcdefgh")
    tree = edus[0]
    for edu in edus[1:]:
        tree = join([tree, edu], "NS", "cause")
    root = looking.parse(svg(tree))
    assert not [one for one in root.iter() if one.get("id")]
    assert max(svg(tree).count("<g"), 1) < 20
    depth = 0
    layer = list(root)
    while layer:
        depth, layer = depth + 1, [child for one in layer for child in one]
    assert depth <= 3
