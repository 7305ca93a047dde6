"""`cleft segment`: one EDU a line, sentences apart by a blank line."""

import json
from pathlib import Path

import pytest

from cleft.cli import main
from cleft.parser import load
from tests.runtime.models import model

NOTES = "Rain fell, so she\nleft. The heron waits.\n"


@pytest.fixture
def segment(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text(NOTES)
    path = str(model("lstm"))

    def run(*arguments):
        code = main(["segment", "--model", path, *arguments])
        found = capsys.readouterr()
        return code, found.out, found.err

    return run


def test_edus_are_one_a_line_and_sentences_apart(segment):
    code, out, err = segment("notes.txt")
    assert (code, err) == (0, "")
    expected = load(model("lstm")).segment(NOTES)
    assert [block.splitlines() for block in out.split("\n\n")] == [
        [edu.text for edu in edus] for edus in expected
    ]


def test_json_has_offsets_into_the_file(segment):
    code, out, _ = segment("notes.txt", "--format", "jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert (code, len(rows)) == (0, 2)
    for row in rows:
        assert NOTES[row["start"] : row["end"]] == row["text"]
        for edu in row["edus"]:
            assert NOTES[edu["start"] : edu["end"]].split() == edu["text"].split()


def test_what_segment_writes_can_be_parsed_with_its_edus(segment, capsys):
    assert segment("notes.txt", "-o", "edus.txt")[0] == 0
    text = Path("edus.txt").read_text()
    arguments = ["parse", "edus.txt", "--edus", "--format", "jsonl", "--model", str(model("lstm"))]
    assert main(arguments) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [len(row["discourse"]["edus"]) for row in rows] == [
        len(block.splitlines()) for block in text.split("\n\n")
    ]


def test_a_sentence_that_fails_leaves_its_place(segment):
    Path("lines.txt").write_text("Rain fell.\n\nShe left.\n")
    code, out, err = segment("lines.txt", "--input", "lines")
    assert code == 1
    assert out.split("\n\n\n")[0].startswith("Rain")
    assert "1 of 3 sentences could not be parsed" in err
    code, out, _ = segment("lines.txt", "--input", "lines", "--format", "jsonl")
    assert "there are no tokens" in json.loads(out.splitlines()[1])["error"]


def test_a_missing_file_is_exit_code_2(segment):
    code, out, err = segment("absent.txt")
    assert (code, out) == (2, "")
    assert err == "cleft: absent.txt: no such file; for text use --text\n"


def test_an_ending_that_contradicts_the_format_is_refused(segment):
    code, out, err = segment("notes.txt", "-o", "edus.jsonl")
    assert (code, out) == (2, "")
    assert "text is written, and the ending '.jsonl' is not that of text" in err
    assert not Path("edus.jsonl").exists()
