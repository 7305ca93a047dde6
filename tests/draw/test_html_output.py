"""The page: figures, folding, the reading view, notebooks."""

import base64
import hashlib
import re

from cleft.discourse import DiscourseTree, Edu
from cleft.document import Document
from cleft.draw import Options, Section, diff, html, svg
from cleft.draw.html_output import fragment
from cleft.draw.outline import Passage, passages
from cleft.errors import InputError
from cleft.sentence import Sentence
from cleft.span import Span
from cleft.text import align
from tests.draw.samples import SHORT, discourse_chain, join, leaves, rain, right_branching


def headings(page: str) -> list[tuple[str, str]]:
    """The number and the text of each section."""
    return re.findall(r'<h2><b>(\d+)</b><span dir="auto">(.*?)</span></h2>', page)


def captions(page: str) -> list[str]:
    return re.findall(r"<figcaption><span>(.*?)</span>", page)


def names(passage: Passage) -> list[str]:
    return [tie.name for tie in passage.ties]


def test_each_tree_has_a_figure_under_its_words() -> None:
    page = html([SHORT, rain(), diff(SHORT, SHORT)], Options(title="Goats & rain"))
    assert "<h1>Goats &amp; rain</h1>" in page
    assert headings(page) == [
        ("1", "She fed the old goat ."),
        ("2", "Although it rained, the team that had lost played on."),
        ("3", "She fed the old goat ."),
    ]
    assert captions(page) == ["Syntax", "Discourse", "Syntax, gold and predicted"]


def test_a_sentence_with_several_trees_stands_once_as_its_text_has_it() -> None:
    section = Section(trees=[SHORT, SHORT, rain()], text="She fed the\nold goat <&>.")
    page = html([section, Section(trees=[rain()], text="Rain.")])
    assert headings(page) == [("1", "She fed the old goat &lt;&amp;&gt;."), ("2", "Rain.")]
    assert captions(page) == ["Syntax, 1 of 2", "Syntax, 2 of 2", "Discourse", "Discourse"]
    assert "She fed the old goat ." not in re.sub(r'aria-label="[^"]*"', "", page)


def test_a_sentence_without_a_tree_says_why() -> None:
    page = html(Section(text="So <what>?", note="no tree: it is <empty>"))
    assert headings(page) == [("1", "So &lt;what&gt;?")]
    assert "<p>no tree: it is &lt;empty&gt;</p>" in page
    assert "<figure" not in page


def test_one_edu_has_no_reading_view() -> None:
    (leaf,) = leaves("It rained.")
    assert '<ol class="cleft-reading"' not in html(leaf)


def test_a_page_takes_one_tree_or_many() -> None:
    assert html(SHORT) == html([SHORT]) == html(iter([SHORT]))


def test_the_policy_admits_the_script_of_the_page_and_no_other() -> None:
    page = html(SHORT)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page


def test_phrases_can_be_reached_and_folded_by_key() -> None:
    page = html(SHORT)
    items = re.findall(
        r'role="treeitem" tabindex="(-?\d)" aria-expanded="true" aria-level="(\d)"', page
    )
    assert items == [("0", "1"), ("-1", "2"), ("-1", "2"), ("-1", "3")]
    assert 'aria-label="NP: the old goat" data-node="5" data-end="9"' in page


def test_words_are_never_folded_away() -> None:
    page = html(SHORT)
    words = re.findall(r'<text class="word"[^>]*>', page)
    assert len(words) == 6
    assert not [word for word in words if "data-node" in word]


def test_long_phrases_are_named_by_their_first_words() -> None:
    assert 'aria-label="NP: w1 w2 w3 w4 w5 w6 w7 w8…"' in html(right_branching(12))


def test_the_reading_view_sets_satellites_in_and_dims_them() -> None:
    found = [(p.depth, names(p), p.text) for p in passages(rain())]
    assert found == [
        (1, ["concession"], "Although it rained,"),
        (0, [], "the team"),
        (1, ["elaboration"], "that had lost"),
        (0, ["same-unit"], "played on."),
    ]
    page = html(rain())
    assert '<li class="aside" dir="ltr" style="margin-inline-start:1.6em"><i>concession</i>' in page
    assert "⋯ played on.</li>" in page


def test_nuclei_after_the_first_carry_their_relation() -> None:
    tree = join(leaves("a", "b", "c"), "NNN", "list")
    assert [names(p) for p in passages(tree)] == [[], ["list"], ["list"]]


def test_the_reading_view_of_a_deep_tree_stays_on_the_page() -> None:
    page = html(discourse_chain(100, "SN"))
    assert max(map(float, re.findall(r"margin-inline-start:([\d.]+)em", page))) == 19.2
    assert max(len(names) for names in re.findall(r"<li[^>]*>((?:<i>)*)", page)) <= 9
    assert max(len(p.ties) for p in passages(discourse_chain(100, "SN"))) == 8


def test_right_to_left_text_reads_from_the_right() -> None:
    page = html(join(leaves("הילדה קוראת", "so it goes"), "NS", "cause"))
    assert re.findall(r'<li[^>]* dir="(\w+)"', page) == ["rtl", "ltr"]


def test_themes_are_fixed_or_follow_the_reader() -> None:
    assert 'content="light dark"' in html(SHORT)
    dark = html(SHORT, Options(theme="dark"))
    assert 'content="dark"' in dark
    assert "prefers-color-scheme" not in dark


def test_a_wide_tree_has_an_outline_for_narrow_screens() -> None:
    page = html(right_branching(12))
    kinds = re.findall(r'class="cleft-scroll (\w*)"', page)
    widths = re.findall(r'<svg[^>]* role="tree"[^>]* width="([\d.]+)"', page)
    assert kinds == ["wide", "narrow"]
    assert float(widths[1]) <= 280 < float(widths[0])
    assert 'class="switch"' in page
    assert re.findall(r'class="cleft-scroll (\w*)"', html(SHORT)) == [""]


def test_notebooks_take_a_width() -> None:
    narrow = fragment(right_branching(12), Options(width=300))
    assert float(re.findall(r'width="([\d.]+)"', narrow)[0]) <= 300


def test_trees_render_in_notebooks() -> None:
    assert SHORT._repr_svg_() == svg(SHORT)
    assert svg(SHORT) in SHORT._repr_html_()
    assert "cleft-reading" not in SHORT._repr_html_().replace(".cleft-reading", "")
    assert rain()._repr_svg_() == svg(rain())
    assert '<ol class="cleft-reading"' in rain()._repr_html_()
    assert "<script" not in rain()._repr_html_()


def document(*texts: str, paragraphs: tuple[int, ...] = (0,)) -> Document:
    """Sentences of one EDU, each a satellite of the one before it."""
    sentences = []
    for text in texts:
        edu = Edu(text, Span(0, len(text.split())))
        trees = {"discourse": DiscourseTree.leaf(edu)}
        sentences.append(Sentence(text=text, tokens=align(text, text.split()), trees=trees))
    units = [DiscourseTree.leaf(Edu("", Span(k, k + 1))) for k in range(len(texts))]
    over = units[-1]
    for unit in reversed(units[:-1]):
        over = join([unit, over], "NS", "cause")
    return Document.of(sentences, over, paragraphs=paragraphs)


def test_a_document_is_read_first_and_its_tree_unfolds() -> None:
    found = document("It rained.", "So <b>we</b> slept.", "All day.", paragraphs=(0, 2))
    page = html(Section(trees=[found.tree], document=found))  # type: ignore[list-item]
    assert '<h2><b>1</b><span dir="auto">It rained.</span></h2>' in page
    prose, tree = page.split('<details class="cleft-tree">')
    assert prose.endswith(
        '<p dir="auto"><span class="level-0">It rained.</span> '
        '<span class="level-1" title="cause">So &lt;b&gt;we&lt;/b&gt; slept.</span></p>'
        '<p dir="auto"><span class="level-2" title="cause">All day.</span></p></div>'
    )
    assert "<svg" in tree
    assert "<svg" not in prose


def test_a_document_renders_in_notebooks_with_its_error() -> None:
    found = document("It rained.", "We slept.")._repr_html_()
    assert "cleft-prose" in found
    assert "<svg" in found
    empty = Document(text="", error=InputError("there is no <sentence>"))._repr_html_()
    assert "there is no &lt;sentence&gt;" in empty
