"""`cleft draw`."""

import sys
from pathlib import Path

import pytest

from cleft.cli import build_parser, main
from cleft.draw import Options, diff, lay_out, png, svg, terminal
from cleft.errors import UsageError
from cleft.tree import Tree

ONE = "(S (NP (PRP She)) (VP (VBD slept)))"
TWO = "(S (X (PRP She)) (VP (VBD slept)))"
RS3 = """<rst><header><relations><rel name="cause" type="rst"/></relations></header><body>
<segment id="1" parent="2" relname="cause">Since it rained,</segment>
<segment id="2">we left.</segment></body></rst>"""


def run(*words: str) -> int:
    args = build_parser("draw").parse_args(["draw", *words])
    code: int = args.run(args)
    return code


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "trees.mrg"
    path.write_text(f"{ONE}\n{TWO}\n")
    return path


def test_trees_are_printed_without_an_output(
    trees: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(trees), "--width", "60") == 0
    drawn = [terminal(Tree.from_brackets(text), 60, False) for text in (ONE, TWO)]
    assert capsys.readouterr().out == "\n\n".join(drawn) + "\n"


def test_one_tree_is_written_as_svg(trees: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.svg"
    assert run(str(trees), "--number", "2", "-o", str(target)) == 0
    assert target.read_text(encoding="utf-8") == svg(Tree.from_brackets(TWO))


@pytest.mark.parametrize("width", ["0", "-80"])
def test_a_width_of_nothing_is_refused_rather_than_passed_over(trees: Path, width: str) -> None:
    with pytest.raises(UsageError, match=f"--width {width}: expected at least 1"):
        run(str(trees), "--width", width)


def test_theme_and_width_are_taken(trees: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.svg"
    run(str(trees), "--number", "1", "-o", str(target), "--theme", "dark", "--width", "500")
    assert "cleft-dark" in target.read_text(encoding="utf-8")


def test_all_trees_are_written_on_one_page(trees: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    run(str(trees), "-o", str(target))
    page = target.read_text(encoding="utf-8")
    assert page.count("<figure") == 2
    assert "<title>trees.mrg</title>" in page


def test_the_trees_of_a_record_stand_under_its_text(tmp_path: Path) -> None:
    path, target = tmp_path / "trees.jsonl", tmp_path / "out.html"
    path.write_text(
        '{"cleft": 1, "tokens": ["Go", "!"], "text": "Go!", '
        '"syntax": {"tags": ["VB", "."], "nodes": [["S", 0, 2]]}, '
        '"discourse": {"edus": [[0, 2]], "texts": ["Go!"], "nodes": []}}\n'
    )
    run(str(path), "-o", str(target))
    page = target.read_text(encoding="utf-8")
    assert page.count("<figure") == 2
    assert page.count("<h2>") == page.count('<h2><b>1</b><span dir="auto">Go!</span></h2>') == 1


def test_discourse_files_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.rs3"
    path.write_text(RS3)
    run(str(path))
    assert "○ cause 1: Since it rained," in capsys.readouterr().out


def test_two_files_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "gold.mrg", tmp_path / "found.mrg"]
    for path, text in zip(paths, (ONE, TWO), strict=True):
        path.write_text(text)
    run("--diff", *map(str, paths), "--width", "60")
    found = diff(Tree.from_brackets(ONE), Tree.from_brackets(TWO))
    assert capsys.readouterr().out == terminal(found, 60, False) + "\n"
    target = tmp_path / "out.svg"
    run("--diff", *map(str, paths), "-o", str(target))
    assert target.read_text(encoding="utf-8") == svg(found)


def test_bracketed_trees_can_be_cleaned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text("( (S (NP-SBJ (PRP She)) (VP (VBD slept))))")
    run(str(path), "--clean", "ptb")
    assert "SBJ" not in capsys.readouterr().out


def test_records_without_a_tree_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trees.jsonl"
    path.write_text('{"cleft": 1, "tokens": [], "error": "the line is empty"}\n')
    assert run(str(path)) == 0
    assert "record 1 has no tree: the line is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.mrg", "b.mrg"], "expected one file, found 2"),
        (["--diff", "a.mrg"], "expected two files, gold and predicted, found 1"),
        (["a.mrg", "--number", "0"], "counted from 1"),
        (["a.mrg", "-o", "tree.gif"], "the ending '.gif' tells no drawing"),
        (["a.mrg", "-o", "t.tex", "--format", "png"], "--format png does not go with the ending"),
        (["a.mrg", "--view", "rows"], "--view is for files"),
        (["a.mrg", "--theme", "dark"], "--theme is for files"),
    ],
)
def test_wrong_use_is_told(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace(".", r"\.")):
        run(*words)


def test_numbers_beyond_the_file_are_told(trees: Path) -> None:
    with pytest.raises(UsageError, match="no tree number 3"):
        run(str(trees), "--number", "3")


def test_an_svg_file_holds_one_tree(trees: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.svg"
    with pytest.raises(UsageError, match="found 2; choose one with --number"):
        run(str(trees), "-o", str(target))
    assert not target.exists()


def test_files_of_unequal_length_cannot_be_compared(trees: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.mrg"
    other.write_text(ONE)
    with pytest.raises(UsageError, match=r"has 2 trees, .* has 1"):
        run("--diff", str(trees), str(other))


def test_a_pair_that_cannot_be_compared_is_named_and_does_not_stop_another(trees, tmp_path, capsys):
    other = tmp_path / "other.mrg"
    other.write_text(trees.read_text().replace("She", "He", 1))
    assert main(["draw", "--diff", str(trees), str(other)]) == 2
    assert f"cleft: {trees} and {other}, tree 1: expected two trees" in capsys.readouterr().err
    assert main(["draw", "--diff", str(trees), str(other), "--number", "2"]) == 0


def test_only_brackets_are_cleaned(tmp_path, capsys):
    path = tmp_path / "x.dis"
    path.write_text("( Root (leaf 1) (text _!It rained_!) )\n")
    assert main(["draw", str(path), "--clean", "ptb"]) == 2
    assert "cleaning is for brackets, and this is dis" in capsys.readouterr().err


def test_a_missing_tree_keeps_its_place(tmp_path, capsys):
    error = '{"cleft": 1, "tokens": ["x"], "error": "too long"}\n'
    tree = '{"cleft": 1, "tokens": ["x"], "syntax": {"tags": ["NN"], "nodes": [["%s", 0, 1]]}}\n'
    gold, predicted = tmp_path / "gold.jsonl", tmp_path / "predicted.jsonl"
    gold.write_text(tree % "NP" + tree % "S")
    predicted.write_text(error + tree % "S")
    assert main(["draw", "--diff", str(gold), str(predicted)]) == 0
    captured = capsys.readouterr()
    assert "1 of 1 phrases agree" in captured.out
    assert "record 1 has no tree: too long" in captured.err
    assert main(["draw", str(predicted), "--number", "2"]) == 0
    assert main(["draw", str(predicted), "--number", "1"]) == 2
    assert "no tree number 1: it is missing" in capsys.readouterr().err


@pytest.mark.parametrize(("ending", "magic"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_one_tree_is_written_as_an_image(
    trees: Path, tmp_path: Path, ending: str, magic: bytes
) -> None:
    pytest.importorskip("typst", reason="PNG and PDF need the extra cleft[png]")
    first, second = tmp_path / f"one{ending}", tmp_path / f"two{ending}"
    for target in (first, second):
        assert run(str(trees), "--number", "1", "-o", str(target)) == 0
    assert first.read_bytes().startswith(magic)
    assert first.read_bytes() == second.read_bytes()


def test_an_image_is_twice_as_large_as_its_svg(tmp_path: Path) -> None:
    pytest.importorskip("typst", reason="PNG and PDF need the extra cleft[png]")
    tree = Tree.from_brackets(ONE)
    data = png(tree, Options(width=300))
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    layout = lay_out(tree, 300)
    assert abs(width - 2 * layout.width) <= 2
    assert abs(height - 2 * layout.height) <= 2


def test_an_image_without_its_extra_says_what_to_install(
    trees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(UsageError, match=r"install cleft\[png\]"):
        run(str(trees), "--number", "1", "-o", str(tmp_path / "tree.png"))
    assert not (tmp_path / "tree.png").exists()


def test_all_trees_are_written_as_latex(trees: Path, tmp_path: Path) -> None:
    target = tmp_path / "trees.tex"
    run(str(trees), "-o", str(target))
    assert target.read_text().count(r"\begin{forest}") == 2
    run(str(trees), "-o", str(target), "--format", "qtree")
    assert target.read_text().count(r"\Tree") == 2
    with pytest.raises(UsageError, match="trees, not comparisons"):
        run("--diff", str(trees), str(trees), "-o", str(target))


def test_the_view_is_taken(trees: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.svg"
    run(str(trees), "--number", "1", "-o", str(target), "--view", "outline")
    outline = svg(Tree.from_brackets(ONE), Options(view="outline"))
    assert target.read_text("utf-8") == outline != svg(Tree.from_brackets(ONE))
