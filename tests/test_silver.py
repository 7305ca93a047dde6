"""Silver trees for another network: the words of files, the trees of a model."""

from __future__ import annotations

import json
import math
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cleft.errors import UsageError

SCRIPT = Path(__file__).parents[1] / "recipes" / "silver.py"
GOLD = """\
( (S (NP-SBJ (DT The) (NN cat)) (VP (VBD slept) (NP (-NONE- *T*-1))) (. .)) )
( (S (NP-SBJ (DT The) (NN cat)) (VP (VBD slept)) (. .)) )
( (X (X The) (X old) (X man) (X read) (X a) (X book) (X .)) )
"""
TEXT = "It rained. She slept, although the old dog barked.\n\nStop!\n"


def make(folder: Path, *files: Path, **options: str) -> dict[str, list[dict[str, object]]]:
    command = [sys.executable, str(SCRIPT), "en-fast", str(folder), *map(str, files)]
    for name, value in options.items():
        command += [f"--{name}", value] if value else [f"--{name}"]
    subprocess.run(command, check=True, capture_output=True)
    return {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in (folder / "parts").iterdir()
    }


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "bank").mkdir()
    (tmp_path / "bank" / "train.mrg").write_text(GOLD)
    (tmp_path / "story.txt").write_text(TEXT)
    return tmp_path / "bank" / "train.mrg", tmp_path / "story.txt"


def test_every_sentence_comes_once_with_the_models_trees(files, tmp_path) -> None:
    found = make(tmp_path / "silver", *files)
    words = {name: {" ".join(row["tokens"]) for row in rows} for name, rows in found.items()}
    assert words == {
        "bank": {"The cat slept .", "The old man read a book ."},
        "story": {"It rained .", "She slept , although the old dog barked .", "Stop !"},
    }
    rows = [row for part in found.values() for row in part]
    assert "X" not in {label for row in rows for label, _, _ in row["syntax"]["nodes"]}
    assert {row["source"] for row in rows} == {"bank", "story"}
    assert {row["genre"] for row in rows} == {"silver"}
    assert all(0 < row["confidence"][task] <= 1 for row in rows for task in row["confidence"])
    assert all(len(row["confidence"]) == 2 for row in rows)


def test_a_model_is_asked_about_short_sentences_alone_each_once() -> None:
    silver = runpy.run_path(str(SCRIPT))
    found = silver["short_ones"](["Stop! Go! Stop! " + "no " * 61, ["Go", "!"], ["a"] * 61], "en")
    words = [each if isinstance(each, list) else list(each.words) for each in found]
    assert words == [["Stop", "!"], ["Go", "!"]]


def test_a_model_with_history_cannot_say_what_else_could_be() -> None:
    silver = runpy.run_path(str(SCRIPT))
    scorer = SimpleNamespace(stateless=lambda task: task == "discourse")
    parser = SimpleNamespace(scorer=scorer, manifest=SimpleNamespace(tasks=("syntax", "discourse")))
    with pytest.raises(UsageError, match="whose splits have no history"):
        silver["with_alternatives"](parser)


def test_a_file_that_is_not_there_is_told_in_a_line(tmp_path) -> None:
    command = [sys.executable, str(SCRIPT), "en-fast", str(tmp_path / "silver"), "none.txt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "silver.py: none.txt: no such file; check the path\n",
    )


def test_a_file_gives_no_more_than_asked_and_a_finished_one_is_passed_over(files, tmp_path) -> None:
    done = tmp_path / "silver" / "parts" / "bank.jsonl"
    done.parent.mkdir(parents=True)
    done.write_text("{}\n")
    found = make(tmp_path / "silver", *files, tokens="1")
    assert found["bank"] == [{}]
    assert len(found["story"]) in (1, 2)  # one paragraph


def test_other_choices_are_those_that_the_model_thinks_possible(files, tmp_path) -> None:
    pytest.importorskip("torch", reason="training needs the extra cleft[train]")
    import cleft
    from cleft.nn.config import NetworkConfig
    from cleft.nn.train.data import derive_sentences, read_sentences
    from cleft.nn.train.recipe import DataConfig

    make(tmp_path / "silver", *files, alternatives="")
    path = str(tmp_path / "silver" / "trees.jsonl")
    scorer = cleft.load("en-fast").scorer
    manifest = scorer.manifest
    network = NetworkConfig(branching=manifest.branching, dummy=manifest.dummy, tags=True)
    count = 0
    for task in ("syntax", "discourse"):
        found = read_sentences(task, [path], DataConfig(train=(path,)))
        for row in derive_sentences(task, found, network):
            encoded = scorer.encode([row.words])
            for place, choice, chance in row.others.get("split", []):
                left, split, right = row.splits[place]
                logs, _ = scorer.split(
                    encoded,
                    task,
                    np.array([0]),
                    np.array([[left, right]]),
                    scorer.start(encoded, task),
                )
                assert chance == pytest.approx(math.exp(logs[0, choice]), abs=1e-3)
                assert choice != split
                count += 1
            for place, choice, chance in row.others.get("label", []):
                labels = list(scorer.labels(task))
                logs = scorer.label(encoded, task, np.array([0]), row.items[place : place + 1])
                assert chance == pytest.approx(math.exp(logs[0, labels.index(choice)]), abs=1e-3)
                assert choice != row.labels[place]
                count += 1
            for place, choice, chance in row.others.get("tag", []):
                tags = list(scorer.tag_names())
                logs = scorer.tags(encoded)[place]
                assert chance == pytest.approx(math.exp(logs[tags.index(choice)]), abs=1e-3)
    assert count > 3


ROWS = """\
1	The	the	DET	DT	_	{the}	det	_	_
2	old	old	ADJ	JJ	_	3	amod	_	_
3	dog	dog	NOUN	NN	_	4	nsubj	_	_
4	barked	bark	VERB	VBD	_	{barked}	root	_	_
5	.	.	PUNCT	.	_	4	punct	_	_

"""


@pytest.mark.parametrize(
    ("heads", "kept"), [({"the": 3, "barked": 0}, 1), ({"the": 0, "barked": 3}, 0)]
)
def test_a_tree_that_divides_what_depends_on_a_noun_is_left_out(heads, kept, tmp_path) -> None:
    (tmp_path / "web").mkdir()
    path = tmp_path / "web" / "train.conllu"
    path.write_text(ROWS.format(**heads))  # else "old dog barked" would be below the noun
    assert len(make(tmp_path / "silver", path)["web"]) == 1
    assert len(make(tmp_path / "vetoed", path, veto="")["web"]) == kept


def test_tags_of_conllu_stay_as_they_are_there(tmp_path) -> None:
    (tmp_path / "web").mkdir()
    path = tmp_path / "web" / "train.conllu"
    path.write_text(ROWS.format(the=3, barked=0).replace("\tJJ\t", "\tFW\t"))
    (record,) = make(tmp_path / "silver", path, alternatives="")["web"]
    assert record["syntax"]["tags"] == ["DT", "FW", "NN", "VBD", "."]
    assert set(record["alternatives"]) == {"syntax", "discourse"}
    assert "tag" not in record["alternatives"]["syntax"]


def test_a_network_learns_from_silver_trees(files, tmp_path) -> None:
    pytest.importorskip("torch", reason="training needs the extra cleft[train]")
    from cleft.nn.train.data import read_sentences
    from cleft.nn.train.recipe import DataConfig

    make(tmp_path / "silver", *files)
    path = str(tmp_path / "silver" / "trees.jsonl")
    for task in ("syntax", "discourse"):
        config = DataConfig(train=(path,), genres=("silver",))
        assert len(read_sentences(task, [path], config)) == 5
