"""Scores of finished runs: once, on dev and test, by the model that was best on dev."""

import json
from pathlib import Path

import pytest
import torch

from cleft.errors import InputError, RecipeError
from cleft.nn import final
from cleft.nn.ablate import ablate
from cleft.nn.checkpoint import load_model
from cleft.nn.data import make_examples, task_of
from cleft.nn.evaluate import Outcome, evaluate
from cleft.nn.recipe import Recipe, parse_recipe, read_recipe
from cleft.nn.train import train
from cleft.order import breadth_first
from cleft.tasks import SYNTAX, Derivation
from tests.nn.conftest import ROOT, SMALL, Bench, NetworkConfig, invented

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
    from cleft.formats import brackets

    def reading(path, *rest):
        seen.append((Path(path).name, (tmp_path / "run.json").exists()))
        return read_parses(path, *rest)

    read_parses = brackets.read_parses
    monkeypatch.setattr(brackets, "read_parses", reading)
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
        patch.setattr("cleft.nn.train.final_scores", None)  # must not be called again
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
    del counters["recipe"]["network"]["order"]
    path.write_text(json.dumps(counters))
    train(tiny("syntax"), tmp_path, resume=True)
    with pytest.raises(RecipeError, match="network: expected"):
        train(tiny("syntax", "network.order=breadth-first"), tmp_path, resume=True)


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


# ---------------------------------------------------------------- ablation


VARIANTS = 'variants = { baseline = [], level = ["network.order=breadth-first"] }\n'


@pytest.fixture
def varied(tmp_path: Path) -> Path:
    path = tmp_path / "varied.toml"
    text = Path("recipes/tiny-syntax.toml").read_text()
    path.write_text(text.replace("seed = 1\n", f"seed = 1\n{VARIANTS}"))
    return path


def test_all_variants_are_trained_with_all_seeds_and_finished_ones_passed_over(
    varied, tmp_path, monkeypatch
):
    quick = ["training.epochs=1", "training.dev_every=1"]
    said: list[str] = []
    runs = ablate(varied, tmp_path / "runs", seeds=[1, 2], settings=quick, say=said.append)
    names = ["baseline-1", "level-1", "baseline-2", "level-2"]
    assert said == [f"{number}/4 {name}" for number, name in enumerate(names, 1)]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == sorted(names)
    assert [run["seed"] for run in runs] == [1, 1, 2, 2]
    assert [run["recipe"]["ablation"] for run in runs] == ["baseline", "level"] * 2
    orders = [run["recipe"]["network"]["order"] for run in runs]
    assert orders == ["depth-first", "breadth-first"] * 2
    assert runs[1]["recipe"]["settings"][-2:] == ["ablation=level", "seed=1"]
    # One was stopped before its scores: only that one is taken up.
    stopped = tmp_path / "runs" / "level-2" / "run.json"
    stopped.write_text(stopped.read_text().replace('"final"', '"partial"'))
    taken = []
    monkeypatch.setattr(
        "cleft.nn.ablate.train", lambda recipe, output, resume: taken.append(output.name) or {}
    )
    ablate(varied, tmp_path / "runs", seeds=[1, 2], settings=quick, say=said.append)
    assert taken == ["level-2"]
    ablate(varied, tmp_path / "runs", seeds=[3], settings=quick, only=["level"], say=said.append)
    assert taken == ["level-2", "level-3"]
    for setting in ("training.epochs=2", "network.word_size=16", "data.syntax.limit=9"):
        with pytest.raises(RecipeError, match=r"baseline-1: a finished run of another recipe"):
            ablate(varied, tmp_path / "runs", settings=[*quick, setting], say=said.append)


def test_variants_that_are_not_there_are_refused(varied, tmp_path):
    with pytest.raises(RecipeError, match="no variant is called 'x'; variants: baseline, level"):
        ablate(varied, tmp_path, only=["x"])
    with pytest.raises(RecipeError, match="expected a table of variants, found none"):
        ablate("recipes/tiny-syntax.toml", tmp_path)
    with pytest.raises(RecipeError, match=r"ablation: expected one of .* found 'x'"):
        read_recipe(varied, ["ablation=x"])


def test_a_setting_given_goes_over_the_variants(varied):
    recipe = read_recipe(varied, ["ablation=level", "network.order=depth-first"])
    assert recipe.network.order == "depth-first"


# ---------------------------------------------------------------- order


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_breadth_first_examples_differ_in_the_order_of_their_steps_alone(task):
    depth = Bench(NetworkConfig(**SMALL, tasks=(task,)))
    breadth = NetworkConfig(**SMALL, tasks=(task,), order="breadth-first")
    for one, two, sentence in zip(
        depth.examples(task),
        make_examples(task, depth.sentences[task], breadth, depth.vocabulary),
        depth.sentences[task],
        strict=True,
    ):
        assert one.items.tolist() == two.items.tolist()
        assert one.labels.tolist() == two.labels.tolist()
        made: Derivation = task_of(task, breadth).derive(sentence.tree)  # type: ignore[arg-type]
        assert list(map(tuple, two.splits.tolist())) == list(breadth_first(made.splits))


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_trees_are_learnt_breadth_first(task, tmp_path):
    none = [f"network.{part}_dropout=0.0" for part in ("embed", "encoder", "decoder", "mlp")]
    settings = [*none, "network.order=breadth-first", f"data.{task}.limit=12"]
    settings += ["training.epochs=50", "training.dev_every=50", "training.batch_tokens=150"]
    train(tiny(task, *settings, "training.learning_rate=0.01"), tmp_path)
    scores = evaluate(
        load_model(tmp_path / "best"), task, invented(task)[:12], metric="collins", beam=2
    )
    assert min(scores["f1" if task == "syntax" else "full"], 99.9) == 99.9
