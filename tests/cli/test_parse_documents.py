"""`cleft parse --document`: one tree over each input, in every format; summaries."""

import json
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from cleft.cli import main
from cleft.convert import convert
from cleft.document import Document
from cleft.formats.dis import read_dis
from cleft.formats.jsonl import read_jsonl
from cleft.formats.rs3 import read_rs3

DAY = "The Day\n\nAnn slept,  because it\nrained. But Ben left."
DAY += "\n\nEva (née Tom) won. So Tom smiled.\n"
TEXTS = {"day.txt": DAY, "title.txt": "Rain\n", "empty.txt": " \n"}


@pytest.fixture
def parse(document_model, capsys, tmp_path, monkeypatch):
    """Run the command in a folder that holds the texts: its exit code, output and messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, text in TEXTS.items():
        Path(name).write_text(text, encoding="utf-8")

    def run(*arguments):
        found = ["parse", "--document", "--model", document_model, *map(str, arguments)]
        code = main(found)
        return code, *capsys.readouterr()

    return run


def plain(text: str) -> str:
    return " ".join(text.split())


def test_a_document_is_drawn_in_the_terminal(parse):
    code, out, err = parse("day.txt")
    assert (code, err) == (0, "")
    assert out.startswith("day.txt\n")
    assert "So Tom smiled." in out
    assert out.count("1–") >= 1  # one root


@pytest.mark.parametrize(
    ("form", "read"), [("rs3", read_rs3), ("rs4", read_rs3), ("dis", read_dis)]
)
def test_a_file_of_rst_has_one_root_and_the_source_as_text(parse, form, read):
    code, out, err = parse("day.txt", "--format", form, "-o", f"day.{form}")
    assert (code, out, err) == (0, "", "")
    (tree,) = read(f"day.{form}").trees
    assert " ".join(edu.text for edu in tree.edus) == plain(DAY)
    assert convert(f"day.{form}", "again.jsonl") == []
    (record,) = read_jsonl("again.jsonl")
    assert record.discourse == tree
    (line,) = (Document.from_jsonl(parse("day.txt", "--format", "jsonl")[1]),)
    assert line.tree is not None
    assert [edu.text for edu in line.edus] == [edu.text for edu in tree.edus]
    names = [(each.relation, each.nuclearity) for each in tree.splits()]
    assert names == [(each.relation, each.nuclearity) for each in line.tree.splits()]


def test_rstweb_finds_one_root_in_rs3_that_is_no_segment(parse):
    """Read as its converter does: line by line, with these patterns."""
    text = parse("day.txt", "--format", "rs3")[1]
    segments = [line for line in text.splitlines() if "<segment" in line]
    pattern = r'<segment id="([^"]+)" parent="([^"]+)" relname="([^"]+)">(.*?)</segment>'
    assert segments
    assert all(re.search(pattern, line) for line in segments)
    groups = [line for line in text.splitlines() if "<group" in line]
    assert sum("parent=" not in line for line in groups) == 1


def test_the_one_edu_of_a_title_opens_too(parse):
    for form, read in (("rs3", read_rs3), ("dis", read_dis)):
        code, _, err = parse("title.txt", "--format", form, "-o", f"title.{form}")
        assert (code, err) == (0, "")
        assert [edu.text for edu in read(f"title.{form}").edus] == ["Rain"]


def test_a_line_of_json_has_the_text_and_offsets_into_it(parse):
    code, out, _ = parse("day.txt", "--format", "jsonl")
    document = Document.from_jsonl(out)
    assert (code, document.text, document.id, document.paragraphs) == (0, DAY, "day.txt", (0, 1, 3))
    for edu in document.edus:
        assert plain(DAY[edu.start : edu.end]) == edu.text
    assert all(one.end <= two.start for one, two in pairwise(document.tokens))
    assert [sentence.syntax is not None for sentence in document.sentences] == [True] * 5


def test_pictures_and_pages(parse):
    assert parse("day.txt", "--format", "svg")[1].count("<svg") == 1
    page = parse("day.txt", "title.txt", "--format", "html")[1]
    assert page.count('<section class="cleft-section">') == 2
    assert '<p dir="auto"><span class=' in page
    assert "Eva (née Tom) won." in page


# ---------------------------------------------------------------- summaries


def test_a_summary_names_what_it_left_out(parse):
    code, out, err = parse("day.txt", "--summary", 2)
    assert (code, err) == (0, "")
    name, *chosen, rest = out.splitlines()
    assert name == "day.txt"
    numbers = [int(line.split("  ")[0]) for line in chosen]
    assert numbers == sorted(numbers)
    sentences = ["The Day", "Ann slept, because it rained.", "But Ben left."]
    sentences += ["Eva (née Tom) won.", "So Tom smiled."]
    assert [line.split("  ")[1] for line in chosen] == [sentences[at - 1] for at in numbers]
    assert re.fullmatch(r"left out: sentences [\d–, ]+ of 5", rest)


def test_a_summary_stands_beside_the_tree_in_json(parse):
    found = json.loads(parse("day.txt", "--summary", 2, "--format", "jsonl")[1])
    summary = found["summary"]
    assert sorted(summary["sentences"] + summary["left_out"]) == list(range(5))
    assert found["discourse"]["nodes"]


# ---------------------------------------------------------------- several documents


def test_two_documents_never_mix(parse):
    """Two together are each what it is alone."""
    out = parse("day.txt", "title.txt", "day.txt", "--format", "jsonl")[1].splitlines()
    day, title, again = (json.loads(line) for line in out)
    assert day == again
    assert day == json.loads(parse("day.txt", "--format", "jsonl")[1])
    assert title["tokens"] == ["Rain"]
    assert parse("day.txt", "title.txt", "--format", "rs3", "-o", "trees")[0] == 0
    assert [edu.text for edu in read_rs3("trees/title.rs3").edus] == ["Rain"]
    assert len(read_rs3("trees/day.rs3").trees) == 1


def test_worker_processes_give_the_same(parse):
    alone = parse("day.txt", "title.txt", "--format", "jsonl")[1]
    assert parse("day.txt", "title.txt", "--format", "jsonl", "--jobs", 2)[1] == alone


def test_a_document_without_a_word_is_told_and_the_others_are_written(parse):
    code, out, err = parse("empty.txt", "day.txt", "--format", "jsonl")
    assert code == 1
    empty, day = map(json.loads, out.splitlines())
    assert "there is no sentence" in empty["error"]
    assert day["discourse"]["edus"]
    assert "1 of 2 documents could not be parsed; the first: empty.txt: there is no" in err
    assert parse("empty.txt", "day.txt", "--format", "rs3", "-o", "trees")[0] == 1
    assert [path.name for path in Path("trees").iterdir()] == ["day.rs3"]
    assert "left out" not in parse("empty.txt", "--summary", 1)[1]


# ---------------------------------------------------------------- other inputs


def test_own_edus_and_own_sentences_are_kept(parse):
    edus = "Ann slept\nbecause it rained.\n\nBut Ben left.\n"
    Path("edus.txt").write_text(edus, encoding="utf-8")
    document = Document.from_jsonl(parse("edus.txt", "--edus", "--format", "jsonl")[1])
    assert [edu.text for edu in document.edus] == [line for line in edus.splitlines() if line]
    lines = "Ann slept . Because\nit rained .\n"
    Path("tokens.txt").write_text(lines, encoding="utf-8")
    found = parse("tokens.txt", "--input", "tokens", "--format", "jsonl")[1]
    document = Document.from_jsonl(found)
    assert [sentence.text for sentence in document.sentences] == lines.splitlines()
    assert [document.text[edu.start : edu.end] for edu in document.edus] == [
        edu.text for edu in document.edus
    ]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["day.txt", "--format", "brackets"], "--format brackets holds no document"),
        (["day.txt", "--task", "syntax"], "--document is about discourse trees"),
        (["day.txt", "--n-best", "2", "--format", "svg"], "holds one tree of a document"),
        (["day.txt", "--summary", "0"], "--summary 0"),
        (["day.txt", "--summary", "2", "--format", "svg"], "no place for a summary"),
        (["day.txt", "title.txt", "--format", "rs3"], "holds one document, found 2 inputs"),
        (["empty.txt", "--format", "rs3"], "there is no tree, and rs3 cannot be empty"),
    ],
)
def test_what_does_not_go_together_is_refused(parse, arguments, why):
    code, out, err = parse(*arguments)
    assert (code, out) == (2, "")
    assert why in err


def test_the_best_few_trees_of_a_document_are_written(parse):
    row = json.loads(parse("day.txt", "--n-best", "3", "--format", "jsonl")[1])
    trees = row["n_best"]["discourse"]
    assert trees[0]["nodes"] == row["discourse"]["nodes"]
    assert len({json.dumps(tree["nodes"]) for tree in trees}) == len(trees) == 3
    code, out, err = parse("day.txt", "--n-best", "3")
    assert (code, err) == (0, "")
    assert out.count("So Tom smiled.") == 3


def test_a_summary_needs_a_document(document_model, capsys):
    assert main(["parse", "--model", document_model, "--text", "Rain.", "--summary", "2"]) == 2
    assert "--summary is of a document; add --document" in capsys.readouterr().err


def test_the_page_on_documents_is_true(parse, document_model, capsys):
    page = (Path(__file__).parents[2] / "docs" / "how-to-documents.md").read_text(encoding="utf-8")
    Path("notes.txt").write_text(DAY, encoding="utf-8")
    for folder in ("corpus", "gold"):
        Path(folder).mkdir()
    Path("corpus/one.txt").write_text(DAY, encoding="utf-8")
    assert parse("corpus/one.txt", "--format", "rs3", "-o", "gold/one.rs3")[0] == 0
    commands = re.findall(r"^\$ cleft (.*?)\s{2,}#", page, re.M)
    assert len(commands) == 5
    for command in commands:
        model = [] if command.startswith("evaluate") else ["--model", document_model]
        assert main([*shlex.split(command), *model]) == 0, capsys.readouterr().err
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    exec(code.replace("cleft.load()", f"cleft.load({document_model!r})"), {})
