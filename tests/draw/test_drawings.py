"""Every drawing: each word once and in order, nothing overlaps, nothing is cut off."""

import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cleft
from cleft.discourse import DiscourseTree, Edu
from cleft.draw import Options, View, diff, latex, lay_out, svg, terminal
from cleft.evidence import Evidence
from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import PTB
from cleft.formats.jsonl import discourse_data, read_jsonl
from cleft.formats.rs3 import read_rs3
from cleft.span import Span
from cleft.tree import Tree
from tests.draw import looking
from tests.draw.samples import (
    DISCOURSE_TREES,
    SHORT,
    TREES,
    discourse_chain,
    doubtful,
    flat,
    leaves,
    left_branching,
    mixed,
    rain,
    right_branching,
)
from tests.strategies import discourse_trees, trees

VIEWS = ("auto", "tree", "rows", "outline")
WIDEST_WORD = 340  # what the longest words of the samples take with what is around them


@pytest.mark.parametrize("width", [None, 1200, 300])
@pytest.mark.parametrize("tree", TREES)
def test_every_invented_syntax_tree_is_drawn_whole(tree: Tree, width: int | None) -> None:
    looking.check_drawing(tree, width)


@pytest.mark.parametrize("view", ["tree", "outline"])
@pytest.mark.parametrize("tree", DISCOURSE_TREES)
def test_every_invented_discourse_tree_is_drawn_whole(tree: DiscourseTree, view: View) -> None:
    looking.check_drawing(tree, view=view)


@given(trees(), st.sampled_from([None, 300]), st.sampled_from(VIEWS))
@settings(max_examples=200)
def test_any_tree_is_drawn_whole(tree: Tree, width: int | None, view: View) -> None:
    looking.check_drawing(tree, width, view)


@given(discourse_trees(max_edus=12), st.sampled_from([None, 300]), st.sampled_from(VIEWS))
@settings(max_examples=200)
def test_any_discourse_tree_is_drawn_whole(
    tree: DiscourseTree, width: int | None, view: View
) -> None:
    looking.check_drawing(tree, width, view)


@pytest.mark.parametrize("width", [280, 700, 1200])
@pytest.mark.parametrize("tree", [*TREES, *DISCOURSE_TREES])
def test_a_width_is_kept_and_shows_root_and_first_words(
    tree: Tree | DiscourseTree, width: int
) -> None:
    layout = lay_out(tree, width)
    assert layout.width <= max(width, WIDEST_WORD)
    first = next(text for text in layout.texts if text.role in ("word", "edu", "prose"))
    assert first.y < 480


def test_the_narrower_the_more_an_outline() -> None:
    tree = Tree("S", [right_branching(8)] * 3)
    views = [lay_out(tree, width).view for width in (1200, 700, 300)]
    assert views == ["tree", "rows", "outline"]
    assert lay_out(rain(), 1200).view == "tree"
    assert lay_out(rain(), 300).view == "outline"


@pytest.mark.parametrize("width", [300, 1200])
def test_the_first_word_of_a_deep_tree_is_in_sight(width: int) -> None:
    tree = left_branching(90)
    layout = lay_out(tree, width, "outline")
    looking.check_layout(layout)
    looking.check_order(layout, "word")
    first = next(text for text in layout.texts if text.role == "word")
    assert (first.text, first.bottom) == ("w1", layout.first)
    assert first.bottom < 480
    lefts = {text.text: text.x for text in layout.texts if text.role == "word"}
    assert lefts["w3"] >= lefts["w40"] > lefts["w90"]  # as deep as what they belong to
    assert [(one.node, one.end) for one in layout.places] == [
        (0, len(left_branching(90).preorder()))
    ]
    plain = lay_out(left_branching(12), width, "outline")
    assert len({text.y for text in plain.texts if text.role == "label"}) == 11


def test_an_outline_sets_each_phrase_below_the_one_that_holds_it() -> None:
    layout = lay_out(SHORT, 300, "outline")
    labels = {text.node: text for text in layout.texts if text.role == "label"}
    for place, (_, node) in enumerate(SHORT.spans()):
        for child in range(place + 1, place + 2 if node.children else 0):
            if child in labels:
                assert labels[child].x > labels[place].x
    tops = [text.y for text in layout.texts]
    assert tops[0] == min(tops)


def test_both_sides_of_a_comparison_have_one_view() -> None:
    deep, plain = right_branching(16), flat(16)
    assert lay_out(diff(deep, deep), 700).view == "outline"
    assert lay_out(diff(plain, plain), 2400).view == "tree"


@given(trees())
@settings(max_examples=60)
def test_any_comparison_is_drawn_whole(one: Tree) -> None:
    words = one.words()
    other = Tree("S", [Tree(tag, (), word) for tag, word in zip(one.tags(), words, strict=True)])
    looking.check_layout(lay_out(diff(one, other), 400))
    looking.check_svg(svg(diff(other, one), Options(width=None)))


@pytest.mark.shared
def test_sampled_treebank_trees_are_drawn_whole(shared: Path, everything: bool) -> None:
    size, chance = 20 if everything else 8, random.Random(4)
    sampled: list[Tree | DiscourseTree] = []
    for path in sorted(shared.glob("data/syntax/*/*dev*")):
        found = list(read_brackets(path, PTB))
        sampled += chance.sample(found, min(size, len(found)))
    for path in sorted(shared.glob("data/discourse/*/sentences-dev.jsonl")):
        inner = [record.discourse for record in read_jsonl(path)]
        several = [tree for tree in inner if tree is not None and tree.children]
        sampled += chance.sample(several, min(size, len(several)))
    for path in chance.sample(sorted(shared.glob("data/discourse/*/dev/*.rs3")), 6):
        sampled += read_rs3(path).trees
    assert len(sampled) >= 10 * size
    for tree in sampled:
        looking.check_drawing(tree)


@pytest.mark.parametrize("width", [None, 300])
@pytest.mark.parametrize("tree", [*TREES, rain(), mixed(), discourse_chain(12, "SN")])
def test_no_line_runs_through_a_text(tree: Tree | DiscourseTree, width: int | None) -> None:
    assert looking.crossings(lay_out(tree, width)) == []


def test_a_long_sentence_goes_on_in_rows_that_fit_the_width() -> None:
    layout = lay_out(right_branching(120), 600, "rows")
    assert layout.width <= 600
    assert len({text.y for text in layout.texts if text.role == "word"}) > 3
    assert any(text.text.startswith("in ") for text in layout.texts if text.role == "crumb")
    assert any(text.text.endswith(" ›") for text in layout.texts if text.role == "label")


def test_without_a_width_all_words_stand_on_one_line() -> None:
    layout = lay_out(flat(200))
    assert len({text.y for text in layout.texts if text.role == "word"}) == 1


def test_a_right_to_left_sentence_begins_at_the_right() -> None:
    layout = lay_out(Tree.from_brackets("(S (NP (NN ילדה)) (VP (VB קוראת)))"))
    first, second = (text for text in layout.texts if text.role == "word")
    assert first.x > second.x


def test_phrases_stand_above_their_children() -> None:
    layout = lay_out(SHORT)
    tops = {text.node: text.y for text in layout.texts if text.role in ("label", "tag")}
    for place, (_, node) in enumerate(SHORT.spans()):
        if node.children:
            assert tops[place] < tops[place + 1]


def test_the_surer_a_split_the_thicker_its_lines() -> None:
    thick = {stroke.weight for stroke in lay_out(doubtful()).strokes}
    sure = Tree("NP", doubtful().children)
    assert len(thick) == 1
    assert thick != {stroke.weight for stroke in lay_out(sure).strokes}


def test_runners_up_show_on_hover() -> None:
    root = looking.parse(svg(doubtful()))
    hints = [looking.content(one) for one in root.iter(f"{looking.SVG}title")]
    assert (
        "NP\nlabel 55 %, or ADJP 40 %\nsplit 80 %, or before “rain” 15 %, at the end <1 %" in hints
    )
    assert root.find(f".//{looking.SVG}rect[@class='noun-tint doubt']") is not None


def test_satellites_point_at_nuclei_and_same_units_are_bridged() -> None:
    roles = [stroke.role for stroke in lay_out(rain()).strokes]
    assert roles.count("arc") == roles.count("tip") == 2
    assert roles.count("bridge") == 3
    assert roles.count("nucleus") == 2
    assert roles.count("bar") == 7


@pytest.mark.parametrize("tree", [*TREES, *DISCOURSE_TREES])
def test_every_node_but_the_root_has_a_line_that_leads_to_it(tree: Tree | DiscourseTree) -> None:
    """So that a replay can show a node together with what ties it."""
    nodes = tree.preorder()
    lines = [(stroke.node, stroke.to) for stroke in lay_out(tree).strokes if stroke.to >= 0]
    assert {child for _, child in lines} == set(range(1, len(nodes)))
    for parent, child in lines:
        assert any(nodes[child] is one for one in nodes[parent].children)


def test_an_arc_ends_at_its_nucleus() -> None:
    layout = lay_out(rain())
    arc = next(stroke for stroke in layout.strokes if stroke.role == "arc")
    line = next(stroke for stroke in layout.strokes if stroke.role == "nucleus")
    ends = list(looking.numbers(arc.path))
    spine = next(looking.numbers(line.path))
    assert ends[0][0] < ends[-1][0] < spine[0] < ends[-1][0] + 12


def test_the_runners_up_of_a_relation_show_on_hover() -> None:
    told = Evidence(
        probability=0.55, split=0.9, labels=(("contrast_NN", 0.3),), splits=((3, 0.05), (4, 0.02))
    )
    bare = rain()
    tree = DiscourseTree(bare.children, bare.nuclearity, bare.relations, evidence=told)
    root = looking.parse(svg(tree))
    hints = [looking.content(one) for one in root.iter(f"{looking.SVG}title")]
    assert (
        "concession\nright with 55 %\nlabel, or contrast_NN 30 %\n"
        "split 90 %, or before EDU 2 5 %, after token 4 2 %"
    ) in hints
    assert any(text.doubt for text in lay_out(tree).texts)


def test_how_probable_an_edu_is_shows_on_hover() -> None:
    edu = Edu("so what?", Span(0, 3))
    one = DiscourseTree(edu=edu, evidence=Evidence(probability=0.75, split=0.99))
    root = looking.parse(svg(one))
    hints = [looking.content(each) for each in root.iter(f"{looking.SVG}title")]
    assert "right with 75 %" in hints
    assert "right with" not in svg(DiscourseTree.leaf(edu))


def test_satellites_between_nuclei_belong_to_the_one_before() -> None:
    layout = lay_out(mixed())
    arcs = [list(looking.numbers(s.path)) for s in layout.strokes if s.role == "arc"]
    assert len(arcs) == 2
    assert all(arc[0][0] > arc[-1][0] for arc in arcs)


def test_drawings_are_described_for_screen_readers() -> None:
    root = looking.parse(svg(rain()))
    assert root.get("role") == "img"
    assert "Although it rained," in (root.get("aria-label") or "")
    title, description = root.find(f"{looking.SVG}title"), root.find(f"{looking.SVG}desc")
    assert title is not None
    assert title.text == root.get("aria-label")
    assert description is not None
    assert description.text == (
        "concession: satellite 1, nucleus 2–4. same-unit: nucleus 2–3, nucleus 4. "
        "elaboration: nucleus 2, satellite 3."
    )


def test_a_title_takes_the_place_of_the_description() -> None:
    root = looking.parse(svg(SHORT, Options(title="A <goat>")))
    assert root.get("aria-label") == "A <goat>"


def listed(count: int) -> DiscourseTree:
    """A list as a parser makes it: pairs that branch to the right."""
    edus = leaves(*"abcdefgh"[:count])
    return DiscourseTree.join(edus, "N" * count, "list").binarise()


def test_nuclei_of_one_relation_hang_from_one_joint() -> None:
    tree = DiscourseTree.join([listed(4), *leaves("so")], "NS", "cause")
    for view, nested, names in (("tree", False, 1), ("tree", True, 3), ("outline", False, 3)):
        layout = lay_out(tree, None, view, nested=nested)  # type: ignore[arg-type]
        assert sum(text.text == "list" for text in layout.texts) == names
    flat_one, pairs = (lay_out(tree, nested=nested) for nested in (False, True))
    assert flat_one.height < pairs.height
    # Nodes keep the numbers that they have in the tree that was given.
    found = {text.text: text.node for text in flat_one.texts if text.role == "edu"}
    nodes = tree.preorder()
    assert {name: nodes[at].edu.text for name, at in found.items()} == {n: n for n in found}  # type: ignore[union-attr]
    joint = [one for one in flat_one.strokes if one.role == "joint"]
    assert {one.node for one in joint} == {1}
    assert sorted({one.to for one in joint}) == [2, 4, 6, 7]
    assert svg(tree, Options(nested=True)) != svg(tree)


def test_a_tree_that_is_not_binary_is_drawn_as_it_is() -> None:
    edus = leaves(*"abcd")
    inner = DiscourseTree.join(edus[2:], "NN", "list")
    tree = DiscourseTree.join([*edus[:2], inner], "NNN", "list")
    assert sum(text.text == "list" for text in lay_out(tree).texts) == 2
    assert lay_out(tree) == lay_out(tree, nested=True)


def test_text_drawings_and_comparisons_join_nuclei_too() -> None:
    tree = listed(3)
    assert [line[:6] for line in terminal(tree, 40, False).splitlines()[1:]] == [
        "├─ ● l", "├─ ● l", "└─ ● l",
    ]  # fmt: skip
    assert terminal(tree, 40, False, nested=True).count("●") == 4
    assert latex(tree, "forest").count("[{list}") == 1
    assert latex(tree, "forest", nested=True).count("[{list}") == 2
    gold = tree.debinarise()  # as annotated
    assert diff(gold, tree).summary == "3 of 3 spans agree"
    assert diff(gold, tree, nested=True).predicted_marks == {2: "wrong"}


FLAT = """
import { flat } from "TREES";
let given = "";
for await (const part of process.stdin) given += part;
const drawn = JSON.parse(given).map(([tree, apart]) => flat(tree, new Set(apart)).nodes);
console.log(JSON.stringify(drawn));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_page_joins_nuclei_as_the_library_does() -> None:
    edus = leaves(*"abcdef")
    join = DiscourseTree.join
    trees = [
        listed(6),
        join([listed(4), *leaves(*"abcde")[4:]], "NS", "cause"),
        join([join(edus[:2], "NN", "list"), join(edus[2:4], "NN", "list")], "NN", "list"),
        join(
            [edus[0], join([edus[1], join(edus[2:4], "NN", "joint")], "NN", "list")], "NN", "list"
        ),
        join([edus[0], join([edus[1], join(edus[2:4], "NN", "list")], "SN", "list")], "NN", "list"),
    ]
    given = [(tree, apart) for tree in trees for apart in ((), (Span(2, 4), Span(1, 6)))]
    page = Path(cleft.__file__).parent / "server" / "static" / "trees.js"
    rows = [
        (discourse_data(tree, "abcdef"), [f"{left},{right}" for left, right in apart])
        for tree, apart in given
    ]
    command = ["node", "--input-type=module", "-e", FLAT.replace("TREES", page.as_uri())]
    made = subprocess.run(
        command, input=json.dumps(rows), capture_output=True, text=True, check=True
    )
    assert json.loads(made.stdout) == [
        discourse_data(tree.debinarise(apart), "abcdef")["nodes"] for tree, apart in given
    ]


@pytest.mark.no_cover
@pytest.mark.parametrize("shape", [right_branching, flat])
def test_drawings_grow_with_the_sentence_and_no_faster(shape: object) -> None:
    sizes = [len(svg(shape(count))) for count in (1000, 4000)]  # type: ignore[operator]
    assert sizes[1] < 4.6 * sizes[0]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "tree", [right_branching(5000), discourse_chain(5000, "NS"), discourse_chain(5000, "NN")]
)
def test_five_thousand_tokens_are_drawn(tree: Tree | DiscourseTree) -> None:
    picture = svg(tree)
    assert len(re.findall(r'class="(?:word|prose)[" ]', picture)) == 5000
