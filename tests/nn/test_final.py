"""Scores of finished runs: once, on dev and test, by the model that was best on dev."""

import json
from pathlib import Path

import pytest
import torch

from cleft.errors import InputError, RecipeError
from cleft.nn.checkpoint import load_model
from cleft.nn.train import evaluate as final
from cleft.nn.train.evaluate import Outcome, evaluate
from cleft.nn.train.recipe import Recipe, parse_recipe
from cleft.nn.train.recipe_file import read_recipe
from cleft.nn.train.trainer import train
from cleft.tasks import SYNTAX
from tests.nn.conftest import ROOT, invented

QUICK = ["training.epochs=2", "training.dev_every=1"]


@pytest.fixture(autouse=True)
def _at_root_on_one_thread(monkeypatch):
    monkeypatch.chdir(ROOT)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def tiny(task: str, *settings: str) -> Recipe:
    return read_recipe(f"recipes/tiny-{task}.toml", [*QUICK, *settings])


def record(directory: Path) -> dict:
    return json.loads((directory / "run.json").read_text())


def test_a_finished_run_is_scored_on_dev_and_test_with_every_beam(tmp_path):
    train(tiny("joint", "training.epochs=6"), tmp_path)
    run = record(tmp_path)
    found = run["final"]
    assert found["model"] == {key: run["best"][key] for key in ("epoch", "step")}
    rows = [(row["task"], row["part"], row["name"], row["given_edus"]) for row in found["sets"]]
    assert rows == [
        ("syntax", "dev", "data", False),
        ("syntax", "test", "invented", False),
        ("discourse", "dev", "data", False),
        ("discourse", "dev", "data", True),
        ("discourse", "test", "invented", False),
        ("discourse", "test", "invented", True),
    ]
    assert [row["sentences"] for row in found["sets"]] == [5, 4, 5, 5, 4, 4]
    assert {len(value) for value in found["data"].values()} == {64}
    assert "tests/data/invented-test.mrg" in found["data"]
    assert "tests/data/invented-test.mrg" not in run["data"]
    for row in found["sets"]:
        assert list(row["beams"]) == ["1", "20"]
        assert row["beams"]["1"]["cost"] == 1
        assert row["beams"]["20"]["cost"] >= 1
        assert row["beams"]["20"]["below_greedy"] == 0
        assert ("counts" in row["beams"]["1"]) == (row["part"] == "test")
    # The counts of the sentences make the score.
    greedy = found["sets"][1]["beams"]["1"]
    rows = [list(map(int, each.split("/"))) for each in greedy["counts"].split()]
    matched, gold, predicted = map(sum, zip(*rows, strict=True))
    assert len(rows) == 4
    assert greedy["f1"] == pytest.approx(200 * matched / (gold + predicted), abs=1e-4)
    assert found["sets"][0]["tagging"] > 0
    assert found["sets"][2]["tagging"] is None
    assert all(row["beams"]["1"]["segmentation"] == 100 for row in found["sets"][3::2])
    # What dev said in training is what it says in the end.
    assert found["sets"][0]["beams"]["1"]["f1"] == pytest.approx(
        run["best"]["dev"]["syntax"]["f1"], abs=1e-4
    )
    scorer = load_model(tmp_path / "best")
    scores = evaluate(scorer, "discourse", invented("discourse", "test"), metric="parseval")
    assert found["sets"][4]["beams"]["1"]["relation"] == pytest.approx(scores["relation"], abs=1e-4)


def test_scores_are_also_given_by_genre_where_the_data_name_it(tmp_path):
    test = tmp_path / "test.jsonl"
    lines = (ROOT / "tests/data/invented-test.jsonl").read_text().splitlines()
    genres = ["vlog", "bio", "vlog"]
    named = [
        line.replace("{", f'{{"genre": "{genre}", ', 1)
        for line, genre in zip(lines, genres, strict=False)
    ]
    test.write_text("\n".join([*named, lines[3]]) + "\n")
    train(tiny("discourse", f'data.discourse.test="{test}"'), tmp_path / "run")
    end_to_end = record(tmp_path / "run")["final"]["sets"][2]
    assert {genre: found["sentences"] for genre, found in end_to_end["genres"].items()} == {
        "bio": 1,
        "vlog": 2,
    }
    assert set(end_to_end["genres"]["bio"]) > {"span", "relation", "segmentation"}


def test_test_files_are_read_only_when_the_run_is_over(tmp_path, monkeypatch):
    seen = []
    from cleft.nn.train import data

    read = data._read_file

    def reading(task, path, config):
        seen.append((Path(path).name, (tmp_path / "run.json").exists()))
        return read(task, path, config)

    monkeypatch.setattr(data, "_read_file", reading)
    train(tiny("syntax"), tmp_path)
    assert seen == [
        ("invented-train.mrg", False),
        ("invented-dev.mrg", False),
        ("invented-dev.mrg", True),
        ("invented-test.mrg", True),
    ]


def test_a_run_is_scored_once_and_a_finished_one_without_scores_is_scored_on_resume(
    tmp_path, monkeypatch
):
    train(tiny("syntax"), tmp_path)
    first = record(tmp_path)["final"]
    with monkeypatch.context() as patch:
        patch.setattr("cleft.nn.train.trainer.final_scores", None)  # must not be called again
        train(tiny("syntax"), tmp_path, resume=True)
    assert record(tmp_path)["final"] == first
    run = record(tmp_path)
    del run["final"]
    (tmp_path / "run.json").write_text(json.dumps(run))
    train(tiny("syntax"), tmp_path, resume=True)
    assert record(tmp_path)["final"]["sets"] == first["sets"]


def test_going_on_with_other_test_sets_or_beams_is_allowed_and_scores_anew(tmp_path):
    train(tiny("syntax", "data.syntax.test=[]"), tmp_path)
    assert [row["part"] for row in record(tmp_path)["final"]["sets"]] == ["dev"]
    train(tiny("syntax", "training.final_beams=[1, 3]"), tmp_path, resume=True)
    rows = record(tmp_path)["final"]["sets"]
    assert [row["part"] for row in rows] == ["dev", "test"]
    assert [list(row["beams"]) for row in rows] == [["1", "3"], ["1", "3"]]


def test_a_run_begun_before_a_key_of_the_network_existed_can_be_resumed(tmp_path):
    train(tiny("syntax"), tmp_path)
    path = tmp_path / "checkpoint.json"
    counters = json.loads(path.read_text())
    assert "test" not in counters["recipe"]["data"]["syntax"]
    del counters["recipe"]["network"]["span_scores"]
    path.write_text(json.dumps(counters))
    train(tiny("syntax"), tmp_path, resume=True)
    with pytest.raises(RecipeError, match="network: expected"):
        train(tiny("syntax", "network.span_scores=8"), tmp_path, resume=True)


def test_a_missing_test_file_stops_a_run_before_it_begins(tmp_path):
    recipe = tiny("syntax", "data.syntax.test=no-such.mrg")
    with pytest.raises(InputError, match=r"no-such.mrg: no such file; see data.syntax.test"):
        train(recipe, tmp_path)
    assert not list(tmp_path.iterdir())


def test_trees_less_probable_than_greedys_are_counted(both):
    outcomes, _ = final.parse_sentences(both.scorer, SYNTAX, both.sentences["syntax"][:4])
    greedy = outcomes[1]
    assert final._below(greedy, greedy) == 0
    worse = [None, *greedy.parses[1:]]
    assert final._below(Outcome(parses=worse), greedy) == 1


# ---------------------------------------------------------------- recipes


def test_a_test_set_is_called_after_its_directory_unless_named():
    def sets(test: object) -> object:
        return parse_recipe({"data": {"syntax": {"train": "a", "test": test}}}).data["syntax"].test

    assert sets("x/genia/test.mrg") == {"genia": ("x/genia/test.mrg",)}
    assert sets(["y/one.mrg", "y/two.mrg"]) == {"y": ("y/one.mrg", "y/two.mrg")}
    apart = {"y": ("y/one.mrg", "y/two.mrg"), "z": ("z/one.mrg",)}
    assert sets(["y/one.mrg", "z/one.mrg", "y/two.mrg"]) == apart
    assert sets("test.mrg") == {"test": ("test.mrg",)}
    assert sets({"mine": "x/test.mrg"}) == {"mine": ("x/test.mrg",)}
    assert sets([]) == {}
    with pytest.raises(RecipeError, match=r"data.syntax.test: expected a table, found 3"):
        sets(3)
    with pytest.raises(RecipeError, match=r"data.syntax: expected a table, found 3"):
        parse_recipe({"data": {"syntax": 3}})


@pytest.mark.parametrize("beams", [[20], [1, 0]])
def test_final_beams_have_greedy_among_them(beams):
    with pytest.raises(RecipeError, match=r"training.final_beams: expected widths of 1 or more"):
        parse_recipe({"data": {"syntax": {"train": "a"}}, "training": {"final_beams": beams}})


@pytest.mark.parametrize("path", sorted((ROOT / "recipes").glob("*.toml")), ids=lambda p: p.stem)
def test_syntax_of_gum_is_silver_in_every_recipe_and_no_recipe_trains_on_test(path):
    for task, config in read_recipe(path).data.items():
        files = [*config.train, *config.dev, *(p for paths in config.test.values() for p in paths)]
        assert len(set(files)) == len(files)
        if task == "syntax":
            gum = {Path(file).parent.name for file in files} & {"gum", "gum-open"}
            assert gum <= set(config.silver)


# ---------------------------------------------------------------- all spans


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_trees_are_learnt_from_all_spans(task, tmp_path):
    settings = [f"network.{part}_dropout=0.0" for part in ("embed", "encoder", "decoder", "mlp")]
    settings += ["network.span_scores=16", "network.pointer_range=span", "network.history=false"]
    settings += ["training.explore=1", "training.epochs=40", "training.dev_every=40"]
    settings += [f"data.{task}.limit=12", "training.batch_tokens=150"]
    train(tiny(task, *settings, "training.learning_rate=0.01"), tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    steps = [line for line in lines if line["kind"] == "step"]
    for term in ("span", "explore"):
        assert steps[-1][term] < steps[0][term] / 4
    scores = evaluate(
        load_model(tmp_path / "best"), task, invented(task)[:12], metric="collins", beam=2
    )
    assert min(scores["f1" if task == "syntax" else "full"], 99.9) == 99.9
