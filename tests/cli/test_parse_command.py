"""`cleft parse`: what is read, what is written, in every format; one result for each sentence."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from cleft.cli import main
from cleft.cli.parse import with_progress
from cleft.formats.dis import read_dis
from cleft.formats.jsonl import read_jsonl
from cleft.formats.rs3 import read_rs3
from cleft.parser import load
from tests.runtime.models import model

ROOT = Path(__file__).parents[2]
NOTES = "Rain fell, so she\nleft. The heron waits.\n\nSo (naïve)?\n"


@pytest.fixture(scope="session")
def path() -> str:
    return str(model("lstm"))


@pytest.fixture
def parse(path, capsys, tmp_path, monkeypatch):
    """Run the command in a folder that holds the notes: its exit code, output and messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("notes.txt").write_text(NOTES, encoding="utf-8")

    def run(*arguments):
        code = main(["parse", "--model", path, *map(str, arguments)])
        found = capsys.readouterr()
        return code, found.out, found.err

    return run


def records(text):
    return [json.loads(line) for line in text.splitlines()]


# ---------------------------------------------------------------- what is read


def test_a_text_is_drawn_in_the_terminal(parse):
    code, out, err = parse("Rain fell, so she left.")
    assert (code, err) == (0, "")
    assert out.startswith("1  Rain fell, so she left.\n\n")
    assert "┴" in out
    assert "Rain" in out.split("\n\n")[2]  # where random weights end an EDU is another matter


def test_files_texts_and_standard_input_are_told_apart(parse, monkeypatch, tmp_path):
    parse_all = ("--format", "jsonl", "--task", "syntax")
    code, out, _ = parse("notes.txt", "Two words", "--text", "one", *parse_all)
    assert code == 0
    found = records(out)
    assert [row["text"] for row in found[-2:]] == ["Two words", "one"]
    assert [row["file"] for row in found] == ["notes.txt"] * 3 + ["text"] * 2
    code, _, err = parse("word")
    assert (code, err) == (2, "cleft: word: no such file; for text use --text\n")
    code, _, err = parse("")
    assert (code, err) == (2, "cleft: expected a text or a file, found ''; is a variable empty?\n")
    code, _, err = parse()
    assert code == 2
    assert "nothing to read" in err
    code, out, _ = parse("x" * 5000 + " \0", *parse_all)  # no path is so long
    assert code == 0


def test_every_kind_of_input_is_read(parse, tmp_path):
    Path("a.tok").write_text("She did n't .\n")
    Path("a.jsonl").write_text('{"tokens": ["She", "left"], "tags": ["A", "B"], "doc": 7}\n')
    rows = [(1, "She", "PRP"), (2, "left", "VBD")]
    lines = [f"{n}\t{word}\t_\t_\t{tag}\t_\t_\t_\t_\t_" for n, word, tag in rows]
    Path("a.conllu").write_text("\n".join(lines) + "\n\n")
    with gzip.open("b.txt.gz", "wt") as stream:
        stream.write("She left.")
    form = ("--format", "jsonl")
    (row,) = records(parse("a.tok", "--input", "tokens", *form)[1])
    assert row["tokens"] == ["She", "did", "n't", "."]
    (row,) = records(parse("a.jsonl", *form)[1])
    assert (row["syntax"]["tags"], row["doc"]) == (["A", "B"], 7)
    (row,) = records(parse("a.conllu", *form)[1])
    assert row["syntax"]["tags"] == ["PRP", "VBD"]
    (row,) = records(parse("b.txt.gz", *form)[1])
    assert row["offsets"] == [[0, 3], [4, 8], [8, 9]]
    found = records(parse("--text", "She did n't\nleave it", "--input", "tokens", *form)[1])
    assert [(row["tokens"], row["start"]) for row in found] == [
        (["She", "did", "n't"], 0),
        (["leave", "it"], 12),
    ]
    (row,) = records(parse("--text", "Rain. Fell.", "--input", "lines", *form)[1])
    assert len(row["tokens"]) == 4
    code, _, err = parse("some words", "--input", "conllu")
    assert (code, "cannot be conllu" in err) == (2, True)


TREES = """\
( (S
    (NP-SBJ (NN Rain))
    (VP (VBD fell) (NP (-NONE- *T*-1))) (, ,)))
( (NP (-NONE- 0)))
(())
(TOP (NP (NN rain)))
"""
NOT_TEXT = {
    "trees.mrg": (TREES, "trees in brackets; --input brackets parses their words again"),
    "parsed.txt": (f"\n(())\n{TREES}", "trees in brackets"),
    "one.txt": ("(NP\n(DT the) (NN heron))", "trees in brackets"),
    "x.rs3": ("<rst>\n<header/></rst>", "XML; 'cleft draw' and 'cleft convert' read"),
    "x.xml": ("<?xml version='1.0'?>", "XML"),
    "x.dis": ("( Root (span 1 2)\n  ( Nucleus (leaf 1)", "discourse trees"),
    "x.json": ('{\n  "tokens": []}', "JSON; --input jsonl reads JSON Lines with tokens"),
    "y.json": ('["Rain", "fell"]\n', "JSON"),
    "x.tsv": ("1\tRain\train\tNOUN\tNN\t_\t0\troot\t_\t_\n", "a table of words"),
    "y.tsv": ("# sent_id = 1\n1\tRain", "a table of words; --input conllu reads CoNLL-U"),
}


@pytest.mark.parametrize("name", NOT_TEXT)
def test_trees_are_not_read_as_text(parse, monkeypatch, name):
    text, told = NOT_TEXT[name]
    Path(name).write_text(text)
    ways = {name: ["notes.txt", name], "text": [text], "standard input": ["-"]}
    for source, arguments in ways.items():
        if source == "text" and len(text.split()) == 1:
            continue
        with open(name) as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            code, out, err = parse(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"cleft: {source}: expected text, found {told}")
        assert "--input text reads it as text all the same" in err


def test_trees_are_read_as_text_if_that_is_asked_for(parse, path, capsys):
    Path("trees.mrg").write_text(TREES)
    assert main(["segment", "--model", path, "trees.mrg"]) == 2
    assert "expected text, found trees in brackets" in capsys.readouterr().err
    for arguments in (["trees.mrg", "--input", "text"], ["--text", TREES]):
        code, out, _ = parse(*arguments, "--format", "jsonl", "--task", "syntax")
        assert (code, records(out)[0]["tokens"][:3]) == (0, ["(", "(", "S"])


@pytest.mark.parametrize(
    "text",
    [
        "(Reuters) - Rain fell.",
        "(Note (see below) that it rained.)",
        "(a) first (b) second",
        "[1] Rain fell.",
        "[Rain] fell",
        "{sic} Rain",
        "(",
        "1. Rain fell.",
        "# Rain",
        "<Rain> fell",
        "12\tRain",
    ],
)
def test_text_that_begins_oddly_is_still_text(parse, text):
    Path("odd.txt").write_text(f"\n\n{text}\n")
    code, out, err = parse("odd.txt", "--format", "jsonl", "--task", "discourse")
    assert (code, err) == (0, "")
    found = records(out)
    assert "".join(row["text"] for row in found).split() == text.split()
    assert found[0]["start"] == 2


def test_the_words_of_trees_are_parsed_again(parse, path):
    Path("trees.mrg").write_text(TREES)
    brackets = ("--input", "brackets", "--format", "jsonl")
    code, out, err = parse("trees.mrg", *brackets)
    assert (code, err.startswith("cleft: 2 of 4 sentences")) == (1, True)
    assert "trees.mrg: sentence 2: there are no tokens" in err
    found = records(out)
    assert [row["tokens"] for row in found] == [["Rain", "fell", ","], [], [], ["rain"]]
    assert found[0]["text"] == "Rain fell ,"
    kept = records(parse("trees.mrg", *brackets, "--keep-tags")[1])
    assert kept[0]["syntax"]["tags"] == ["NN", "VBD", ","]
    [row] = load(path).parse_tokens([["Rain", "fell", ","]])
    assert found[0]["syntax"]["tags"] == row.syntax.tags()
    raw = records(parse("trees.mrg", *brackets, "--clean", "none")[1])
    assert [len(row["tokens"]) for row in raw] == [4, 1, 0, 1]
    code, out, _ = parse("(NP (NN rain))", "--input", "brackets", "--format", "brackets")
    assert (code, out.count("rain")) == (0, 1)
    Path("more").mkdir()
    Path("more/trees.ptb").write_text(TREES)
    code, _, _ = parse("more", "--input", "brackets", "--format", "brackets", "-o", "out/")
    assert (code, Path("out/trees.mrg").read_text().count("(())")) == (1, 2)


def test_offsets_of_a_file_are_those_of_the_file(parse):
    for row in records(parse("notes.txt", "--format", "jsonl")[1]):
        assert NOTES[row["start"] :].startswith(row["text"])
        assert [NOTES[a:b] for a, b in row["offsets"]] == row["tokens"]
        for start, end in row["discourse"]["characters"]:
            assert NOTES[start:end].strip() == NOTES[start:end]


def test_a_folder_is_its_text_files_and_output_mirrors_it(parse):
    for name in ("in/a.txt", "in/deep/b.txt", "in/.hidden/c.txt", "in/d.dat"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("She left.")
    code, out, err = parse("in", "--format", "brackets", "-o", "out")
    assert (code, out, err) == (0, "", "")
    made = sorted(str(each.relative_to("out")) for each in Path("out").rglob("*.*"))
    assert made == ["a.mrg", "deep/b.mrg"]
    code, _, err = parse("in/.hidden", "in/deep", "--format", "jsonl", "-o", "other/")
    assert code == 0
    Path("empty").mkdir()
    code, _, err = parse("empty")
    assert (code, err.startswith("cleft: empty: the folder has no file that ends in")) == (2, True)


def test_two_inputs_with_one_output_are_refused_before_the_work(parse):
    Path("sub").mkdir()
    Path("sub/notes.txt").write_text("Rain.")
    code, _, err = parse("notes.txt", "sub/notes.txt", "-o", "out/", "--format", "jsonl")
    assert code == 2
    assert "notes.txt and sub/notes.txt would both be written to out/notes.jsonl" in err
    assert not Path("out").exists()


# ---------------------------------------------------------------- formats


def test_brackets_are_one_tree_a_line_and_escaped(parse, path):
    code, out, _ = parse("notes.txt", "--format", "brackets")
    trees = [s.syntax.brackets() for s in load(path).parse(NOTES)]
    assert (code, out.splitlines()) == (0, trees)
    assert "-LRB-" in out


def test_each_of_several_drawn_trees_has_its_number_and_probability(parse):
    _, out, _ = parse("Rain fell so", "--task", "syntax", "--beam", "4", "--n-best", "2")
    told = re.findall(r"^syntax tree (\d) of 2, right with [<\d]+ %$", out, re.MULTILINE)
    assert told == ["1", "2"]
    assert " of 1" not in parse("Rain fell so", "--task", "syntax")[1]


def test_n_best_trees_stand_together(parse):
    code, out, _ = parse("notes.txt", "--format", "brackets", "--beam", "4", "--n-best", "3")
    blocks = out.strip("\n").split("\n\n")
    assert (code, len(blocks)) == (0, 3)
    assert 1 < len(blocks[0].splitlines()) <= 3
    row = records(parse("Rain fell so", "--format", "jsonl", "--n-best", "2")[1])[0]
    assert len(row["n_best"]["syntax"]) == 2


def test_a_sentence_without_a_tree_keeps_its_place(parse):
    Path("lines.txt").write_text("Rain fell.\n\nShe left.\n")
    lines = ("lines.txt", "--input", "lines")
    code, out, err = parse(*lines, "--format", "brackets")
    assert code == 1
    assert out.splitlines()[1] == "(())"
    assert err == (
        "cleft: 1 of 3 sentences could not be parsed; the first: "
        "lines.txt: line 2: there are no tokens; give at least one\n"
    )
    code, out, _ = parse(*lines, "--format", "jsonl")
    assert [("error" in row) for row in records(out)] == [False, True, False]
    code, out, _ = parse(*lines)
    assert (code, "no tree: line 2: there are no tokens" in out) == (1, True)
    code, out, err = parse(*lines, "--format", "dis")
    assert (code, out.count("Root")) == (1, 2)


def test_an_empty_file_has_one_result_with_an_error(parse):
    Path("empty.txt").write_text("\n")
    code, out, err = parse("empty.txt", "notes.txt", "--format", "jsonl")
    assert code == 1
    assert "error" in records(out)[0]
    assert len(records(out)) == 4
    assert "1 of 4 sentences" in err
    code, _, err = parse("empty.txt", "--format", "rs3")
    message = "cleft: empty.txt: no sentence has a tree, and rs3 cannot be empty; the first: "
    assert (code, err.startswith(message)) == (2, True)


def test_an_input_without_a_tree_does_not_end_the_others(parse):
    Path("empty.txt").write_text("\n")
    Path("zoo.txt").write_text("Rain fell.\n")
    for form in ("rs3", "dis", "svg"):
        code, _, err = parse("empty.txt", "notes.txt", "zoo.txt", "--format", form, "-o", form)
        assert (code, "1 of 5 sentences could not be parsed" in err) == (1, True)
        assert {each.stem.split("-")[0] for each in Path(form).iterdir()} == {"notes", "zoo"}
    code, _, _ = parse("empty.txt", "--format", "svg", "-o", "empty.svg")
    assert (code, Path("empty.svg").exists()) == (1, False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["notes.txt", "-o", "."],
        ["notes.txt", "-o", "notes.txt"],
        [".", "-o", "./"],
        ["deep/../notes.txt", "-o", "deep/.."],
        ["more.jsonl", "--format", "jsonl", "-o", "."],
        ["notes.txt", "-o", ""],
    ],
)
def test_an_input_is_never_overwritten(parse, arguments):
    Path("deep").mkdir()
    Path("more.jsonl").write_text('["Rain", "fell"]\n')
    code, _, err = parse(*arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert "overwrite its own input" in err or "empty name" in err
    assert Path("notes.txt").read_text() == NOTES
    assert Path("more.jsonl").read_text() == '["Rain", "fell"]\n'


@pytest.mark.parametrize(("form", "read"), [("dis", read_dis), ("rs3", read_rs3)])
def test_discourse_formats_have_a_tree_a_sentence_and_the_command_says_so(parse, path, form, read):
    code, out, err = parse("notes.txt", "--format", form, "-o", f"notes.{form}")
    assert (code, out) == (0, "")
    assert err.count("\n") == 1
    assert f"{form} has one tree a sentence; --document makes one of each input" in err
    found = read(f"notes.{form}").trees
    trees = [s.discourse for s in load(path).parse(NOTES)]
    assert [[e.text for e in tree.edus] for tree in found] == [
        [e.text for e in tree.edus] for tree in trees
    ]
    assert [tree.relation for tree in found] == [tree.relation for tree in trees]


@pytest.mark.parametrize("form", ["dis", "rs3"])
def test_the_text_of_edus_is_that_of_the_source(parse, form):
    """Tokens would stand apart: year , its."""
    edus = ["Last year,", "its herons weren't there."]
    code, out, err = parse("--text", "\n".join(edus), "--edus", "--format", form)
    assert (code, "not kept" in err) == (0, False)
    texts = re.findall(r"_!(.*?)_!|<segment[^>]*>(.*?)</segment>", out)
    assert [one or two for one, two in texts] == edus


def test_a_page_says_why_a_sentence_has_no_tree(parse):
    Path("lines.txt").write_text("Rain fell.\n\n")
    code, out, _ = parse("lines.txt", "--input", "lines", "--format", "html")
    assert (code, "<p>no tree: line 2: there are no tokens" in out) == (1, True)


def test_characters_that_a_format_cannot_hold_are_told(parse):
    code, _, err = parse("Rain \x01 fell", "--format", "rs3")
    assert (code, "not kept" in err) == (0, True)


def test_a_json_file_reads_back_with_both_trees(parse, path):
    parse("notes.txt", "--format", "jsonl", "-o", "notes.jsonl")
    found = list(read_jsonl("notes.jsonl"))
    expected = load(path).parse(NOTES)
    assert [r.syntax for r in found] == [s.syntax for s in expected]
    assert [r.discourse for r in found] == [s.discourse for s in expected]


def test_pictures_are_a_file_a_sentence(parse):
    code, _, _ = parse("notes.txt", "--format", "svg", "-o", "pictures")
    names = sorted(each.name for each in Path("pictures").iterdir())
    assert (code, names) == (0, [f"notes-000{n}.svg" for n in (1, 2, 3)])
    picture = Path("pictures/notes-0001.svg").read_text()
    assert picture.count("<svg") == 1
    assert picture.count(">Rain") >= 2  # a word of one tree, an EDU of the other
    code, out, _ = parse("Rain fell.", "--format", "svg", "--task", "syntax")
    assert (code, out.startswith("<svg")) == (0, True)
    code, _, err = parse("notes.txt", "--format", "svg", "-o", "x.svg")
    assert (code, "expected one sentence for SVG" in err) == (2, True)
    assert not Path("x.svg").exists()


@pytest.mark.parametrize("form", ["png", "pdf"])
def test_images_are_written_whole(parse, form):
    pytest.importorskip("typst", reason="PNG and PDF need the extra cleft[png]")
    code, _, _ = parse("Rain fell.", "--format", form, "-o", f"x.{form}")
    assert (code, Path(f"x.{form}").read_bytes()[1:4]) == (0, form.upper().encode())


def test_latex_holds_every_tree(parse):
    code, out, _ = parse("notes.txt", "--format", "forest", "--task", "syntax")
    assert (code, out.count(r"\begin{forest}")) == (0, 3)


def test_a_page_has_all_trees(parse):
    code, _, _ = parse("notes.txt", "--format", "html", "-o", "page.html")
    page = Path("page.html").read_text()
    assert (code, page.count("<figure")) == (0, 6)
    headings = re.findall(r"<h2><b>(\d)</b><span[^>]*>(.*?)</span></h2>", page)
    assert headings == [
        ("1", "Rain fell, so she left."),
        ("2", "The heron waits."),
        ("3", "So (naïve)?"),
    ]
    parse("notes.txt", "--format", "html", "-o", "pages/")
    assert Path("pages/notes.html").read_text() == page


def test_given_edus_are_kept(parse):
    Path("edus.txt").write_text("Rain\nfell, so\nshe left.\n\n\nThe heron\nwaits.\n")
    code, out, _ = parse("edus.txt", "--edus", "--format", "jsonl")
    assert code == 0
    assert [row["discourse"]["edus"] for row in records(out)] == [
        [[0, 1], [1, 4], [4, 7]],
        [[0, 2], [2, 4]],
    ]
    assert [row["start"] for row in records(out)] == [0, 26]
    Path("edus.jsonl").write_text('{"tokens": ["a", "b", "c"], "edus": [[0, 1], [1, 3]]}\n')
    (row,) = records(parse("edus.jsonl", "--edus", "--format", "jsonl")[1])
    assert row["discourse"]["edus"] == [[0, 1], [1, 3]]
    (row,) = records(
        parse("--text", "a b\nc d.", "--edus", "--input", "tokens", "--format", "jsonl")[1]
    )
    assert row["discourse"]["edus"] == [[0, 2], [2, 4]]
    for bad in ("{}", '{"edus": [[0, 1], [2, 3]]}', '{"edus": 1}'):
        text = json.dumps({"tokens": ["a", "b", "c"], **json.loads(bad)})
        Path("edus.jsonl").write_text(text)
        code, _, err = parse("edus.jsonl", "--edus")
        assert (code, "line 1" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "brackets", "--task", "discourse"], "--format brackets holds syntax"),
        (["--format", "rs3", "--n-best", "2"], "holds one tree a sentence"),
        (["--edus", "--task", "syntax"], "--edus is about discourse trees"),
        (["--edus", "--input", "lines"], "--edus cannot be read from lines"),
        (["--input", "tokens", "--hyphens", "keep"], "--hyphens is for raw text"),
        (["--input", "brackets", "--language", "en"], "--language is for raw text"),
        (["--keep-tags"], "--keep-tags is for trees in brackets; give --input brackets"),
        (["--clean", "ptb"], "--clean is for trees in brackets"),
        (["--clean", "soap", "--input", "brackets"], "no cleaning is called 'soap'; use one of"),
        (["--input", "brackets", "--keep-tags", "--task", "discourse"], "--keep-tags is about"),
        (["--edus", "--input", "brackets"], "--edus cannot be read from brackets"),
        (["--format", "svg", "-o", "t.png"], "the ending '.png' is not that of svg"),
        (["--format", "jsonl", "-o", "t.svg"], "name a file that ends in .jsonl"),
        (["-o", "t.HTML"], "terminal is written, and the ending '.html'"),
        (["--format", "rs3", "-o", "t.dis"], "'.dis' is not that of rs3"),
        (["-o", "t.rs3"], "name a file that ends in .txt, or add --format rs3"),
        (["--beam", "0"], "beam is 0"),
        (["--jobs", "0"], "jobs is 0"),
        (["--threads", "0"], "threads is 0"),
        (["--language", "th"], "th"),
        (["--format", "jsonl", "-o", "notes.txt/x/"], "cannot be made"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(parse, arguments, message):
    code, out, err = parse("notes.txt", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize(
    ("form", "name"),
    [("html", "a.htm"), ("brackets", "a.ptb"), ("jsonl", "a.json"), ("terminal", "a"),
     ("dis", "a.out")],
)  # fmt: skip
def test_endings_that_say_nothing_else_are_taken(parse, form, name):
    assert parse("notes.txt", "--format", form, "-o", name)[0] == 0
    assert Path(name).is_file()


def test_segment_does_not_overwrite_its_input_either(path, capsys, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text(NOTES)
    assert main(["segment", str(notes), "-o", str(notes), "--model", path]) == 2
    assert "overwrite its own input" in capsys.readouterr().err
    assert notes.read_text() == NOTES


def test_given_edus_need_a_model_with_discourse(parse):
    code, out, err = parse("notes.txt", "--edus", "--model", ROOT / "models" / "fr")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--edus is about discourse trees, and the model has none" in err


@pytest.mark.parametrize("kind", ["text", "lines", "tokens"])
@pytest.mark.parametrize("edus", [False, True])
def test_a_text_is_read_as_a_file_of_it_is(parse, kind, edus):
    if edus and kind == "lines":
        pytest.skip("EDUs are not read from such lines")
    text = "Rain\xa0fell , so\x85she left .\r\nThe heron\u2028waits .\r\n"
    Path("same.txt").write_text(text, encoding="utf-8", newline="")
    options = ["--input", kind, "--format", "jsonl", *(["--edus"] if edus else [])]
    assert parse("same.txt", *options) == parse("--text", text, *options)


def test_sentences_of_a_file_are_counted_from_its_beginning(parse):
    Path("word.txt").write_text("x" * 10_001)
    _, _, err = parse("notes.txt", "word.txt", "--format", "brackets")
    assert "the first: word.txt: sentence 1: token 1 has 10001 characters" in err


def test_a_line_that_cannot_be_parsed_keeps_its_place(parse):
    Path("odd.jsonl").write_text('["Rain"]\n{"tokens": ["a", ""]}\n["fell"]\n')
    code, out, err = parse("odd.jsonl", "--format", "brackets")
    assert (code, [line == "(())" for line in out.splitlines()]) == (1, [False, True, False])
    assert "line 2: expected a word as token 2, found ''" in err


def test_what_another_parse_left_in_a_line_is_not_kept(parse):
    line = {"tokens": ["Rain", "fell"], "error": "old", "n_best": {}, "syntax": "mine", "id": 7}
    Path("old.jsonl").write_text(json.dumps(line))
    code, out, _ = parse("old.jsonl", "--task", "discourse", "--format", "jsonl")
    (found,) = records(out)
    assert code == 0
    assert found.keys() & {"error", "n_best", "syntax", "id"} == {"id"}
    Path("own.jsonl").write_text('{"tokens": ["Rain"], "file": "mine"}\n')
    _, out, _ = parse("own.jsonl", "notes.txt", "--format", "jsonl")
    assert [each["file"] for each in records(out)][:2] == ["mine", "notes.txt"]


def test_given_edus_that_are_wrong_name_their_file(parse):
    Path("e.jsonl").write_text('["Rain"]\n')
    _, _, err = parse("e.jsonl", "--edus")
    assert err.startswith("cleft: e.jsonl line 1: the key 'edus' is missing")


def test_a_model_that_is_not_there_is_named(parse):
    code, _, err = parse("notes.txt", "--model", "absent")
    assert (code, "cleft: absent: expected a model's name or directory" in err) == (2, True)


def test_what_stands_before_bytes_that_are_not_utf_8_is_parsed(parse):
    Path("bad.txt").write_bytes(b"Rain fell.\n\ncaf\xe9\n")
    code, out, err = parse("notes.txt", "bad.txt", "--format", "brackets")
    assert (code, len(out.splitlines())) == (2, 4)
    assert err.startswith("cleft: bad.txt line 3 column 4: expected UTF-8, found byte 0xe9")
    code, _, _ = parse("notes.txt", "bad.txt", "--format", "brackets", "-o", "out")
    assert code == 2
    assert [each.name for each in Path("out").iterdir()] == ["notes.mrg"]


# ---------------------------------------------------------------- streams and signals


# Where tests run in the background, a shell may have told them to ignore interrupts.
MAIN = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from cleft.cli import main; sys.exit(main())"
)


def started(path, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, "parse", "-", "--model", path, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def test_results_come_before_the_input_ends_and_a_closed_pipe_is_quiet(path):
    process = started(path, "--format", "jsonl", "--task", "discourse")
    process.stdin.write(b"She left.\n\n" * 40)
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["tokens"] == ["She", "left", "."]
    process.stdout.close()
    process.stdin.write(b"She left.\n\n" * 80)
    process.stdin.close()
    assert process.wait(60) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_an_interrupt_ends_the_command_and_its_workers_and_tells_what_was_done(path):
    process = started(path, "--format", "jsonl", "--jobs", "2")
    process.stdin.write(b"She left.\n\n" * 600)
    process.stdin.flush()
    before = [process.stdout.readline() for _ in range(3)]
    os.kill(process.pid, signal.SIGINT)
    # communicate() would pass over what readline() has read ahead.
    out, err = process.stdout.read(), process.stderr.read()
    process.wait(60)
    for pipe in (process.stdin, process.stdout, process.stderr):
        with suppress(BrokenPipeError):
            pipe.close()
    lines = len(before) + len(out.splitlines())
    told = re.fullmatch(
        r"cleft: interrupted; (\d+) sentences parsed, all on standard output\n", err.decode()
    )
    assert (process.returncode, bool(told)) == (130, True)
    assert lines - 1 <= int(told[1]) <= lines  # the last may be written and not yet counted


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are listed in /proc")
def test_an_interrupt_while_workers_start_is_told_the_same_way(path):
    process = started(path, "--format", "jsonl", "--jobs", "2", start_new_session=True)
    process.stdin.write(b"She left.\n\n" * 600)
    process.stdin.flush()
    while not (workers := spawned(process.pid)):
        assert process.poll() is None
        time.sleep(0.01)
    for each in (*workers, process.pid):  # a terminal tells them all
        os.kill(each, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"cleft: interrupted; nothing parsed\n")


def spawned(pid):
    """The workers of a process, as soon as they run a program of their own."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(each) for each in children if b"spawn_main" in commands(each)]


def commands(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


def test_a_bar_counts_long_work_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("cleft.cli.parse.PROGRESS_AFTER", -1.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert list(with_progress(iter([1, 2, 3]), visible=True)) == [1, 2, 3]
    assert "3 sentences" in capsys.readouterr().err
    assert list(with_progress(iter([1]), visible=False)) == [1]
    assert capsys.readouterr().err == ""


def test_text_in_another_language_is_told_once_and_parsed(capsys):
    german = "Der Hund schläft nicht, weil es in der Nacht regnet und die Kinder noch singen."
    arguments = ["--model", "en-fast", "--format", "brackets", "--task", "syntax"]
    assert main(["parse", *arguments, german, "--text", german * 8]) == 0
    found = capsys.readouterr()
    assert found.err == (
        "cleft: the text looks like German, but the model was trained on English: "
        "its trees make no sense\n"
    )
    assert found.out.count("Hund") == 9
    assert main(["parse", *arguments, "The dog does not sleep, because it rains."]) == 0
    assert capsys.readouterr().err == ""
