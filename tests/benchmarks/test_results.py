"""Tables of results: what they show of runs, and that the page is that of its runs."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from records import find_runs, read_run, read_speeds
from results import main, results_page
from targets import Aims, Target, read_aims

from cleft.errors import InputError

ROOT = Path(__file__).parents[2]


def syntax_set(name: str = "herons", part: str = "test", f1: float = 88.0, **more: Any) -> dict:
    found = {"f1": f1, "complete": 30.0, "cost": 1.0, "below_greedy": 0}
    one = {"task": "syntax", "part": part, "name": name, "silver": False, "metric": "collins"}
    one |= {"given_edus": False, "tagging": 97.126}
    one["beams"] = {"1": found, "20": {**found, "f1": f1 + 0.123, "cost": 1.456}}
    return {**one, **more}


def discourse_set(given_edus: bool) -> dict:
    names = ("segmentation", "span", "nuclearity", "relation", "full")
    scores = {name: 90.0 - number for number, name in enumerate(names)}
    greedy = {**scores, "cost": 1.0, "below_greedy": 0}
    one = {"task": "discourse", "part": "test", "name": "gulls", "silver": False}
    one |= {"metric": "parseval", "given_edus": given_edus, "tagging": None}
    return {**one, "beams": {"1": greedy, "20": {**greedy, "relation": 87.5, "cost": 1.25}}}


def run(name: str = "small", *sets: dict, seed: int = 1, **recipe: Any) -> dict:
    data = {"syntax": {"dev": ["x/herons/dev.mrg"], "metric": "collins"}}
    table = {"name": name, "data": data, "training": {"beam": 1}, **recipe}
    record: dict[str, Any] = {
        "status": "done",
        "recipe": table,
        "seed": seed,
        "sentences": {"syntax": 300},
        "parameters": 2_340_000,
        "hours": 0.1234,
        "best": {"epoch": 7, "dev": {"syntax": {"f1": 85.0, "tagging": 96.0}}},
        "epochs": [{}] * 9,
    }
    return {**record, "final": {"sets": list(sets)}} if sets else record


def rows(page: str, start: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith(f"| {start} ")
    ]


def test_the_page_of_results_is_that_of_the_runs_beside_it(tmp_path, monkeypatch):
    """The committed page, made anew from the committed records by the command that it quotes."""
    page = ROOT / "docs" / "results.md"
    text = page.read_text(encoding="utf-8")
    quoted = re.search(r"`python benchmarks/results\.py (.*?) -o docs/results\.md`", text)
    assert quoted is not None
    monkeypatch.chdir(ROOT)
    main([*shlex.split(quoted[1]), "-o", str(tmp_path / "results.md")])
    assert text == (tmp_path / "results.md").read_text(encoding="utf-8"), f"run: {quoted[0]}"


def test_a_page_without_runs_has_no_tables():
    assert "|" not in results_page([])


def test_syntax_has_greedy_and_beam_tags_and_cost():
    page = results_page([run("small", syntax_set(part="dev", f1=90.0), syntax_set())])
    first, second, about = rows(page, "small")
    assert first == [
        *("small", "1", "herons test", "COLLINS", "88.00", "88.12", "20"),
        *("30.0", "97.13", "1.46", "0"),
    ]
    assert second[2:6] == ["herons dev", "COLLINS", "90.00", "90.12"]
    assert about == [
        *("small", "`cleft train recipes/small.toml`", "1", "7", "9", "0.12", "2.34 M"),
        *("300 syntax", "done"),
    ]


def test_silver_sets_are_called_silver():
    page = results_page([run("small", syntax_set("gum", silver=True))])
    assert rows(page, "small")[0][2] == "gum test (silver)"


def test_discourse_is_shown_end_to_end_and_with_given_edus():
    page = results_page([run("rst", discourse_set(False), discourse_set(True))])
    found = [row[3:] for row in rows(page, "rst")[:-1]]
    scores = ["90.00", "89.00", "88.00", "87.00", "86.00"]
    beam = ["90.00", "89.00", "88.00", "87.50", "86.00"]
    assert found == [
        ["found", "greedy", *scores, "–", "–"],
        ["found", "beam 20", *beam, "1.25", "0"],
        ["given", "greedy", *scores, "–", "–"],
        ["given", "beam 20", *beam, "1.25", "0"],
    ]


def test_genres_are_shown_for_test_end_to_end():
    scores = dict.fromkeys(("segmentation", "span", "nuclearity", "relation", "full"), 75.0)
    sets = [discourse_set(given_edus) for given_edus in (False, True)]
    for one in sets:
        one["genres"] = {"vlog": {**scores, "sentences": 3}, "bio": {**scores, "sentences": 9}}
    page = results_page([run("rst", *sets)])
    found = [row[3:6] for row in rows(page, "rst") if row[3] in ("bio", "vlog")]
    assert found == [["bio", "9", "75.00"], ["vlog", "3", "75.00"]]


def test_a_run_that_is_not_scored_yet_shows_its_dev_score_and_says_so():
    record = run("early")
    record["status"] = "running"
    first, about = rows(results_page([record]), "early")
    assert first[2:] == ["herons dev", "COLLINS", "85.00", *"–––", "96.00", *"––"]
    assert about[-1] == "running, not final"
    record["best"]["dev"] = {}
    assert len(rows(results_page([record]), "early")) == 1


def test_silver_dev_of_a_run_that_is_not_scored_yet_is_called_silver():
    record = run("early")
    record["recipe"]["data"]["syntax"]["silver"] = ["herons"]
    assert rows(results_page([record]), "early")[0][2] == "herons dev (silver)"


def test_the_command_is_the_one_that_was_given_without_absolute_paths():
    given = run("small", source="recipes/other.toml", settings=["seed=2", "training.betas=[0, 1]"])
    assert (
        "`cleft train recipes/other.toml --set seed=2 --set 'training.betas=[0, 1]'`"
        in results_page([given])
    )
    assert "`cleft train recipes/small.toml`" in results_page([run(source="/x/small.toml")])


def ablation(variant: str, seed: int, f1: float) -> dict:
    variants = {"baseline": [], "bare": ["network.history=false"]}
    one = syntax_set(part="dev", f1=f1)
    return run("ablation", one, seed=seed, ablation=variant, variants=variants)


def test_variants_are_grouped_over_seeds_with_mean_and_spread():
    runs = [ablation("bare", 1, 79.0), ablation("bare", 2, 80.0)]
    runs += [ablation("baseline", 1, 80.5), ablation("baseline", 2, 80.9)]
    page = results_page(runs)
    base, bare, *beams = rows(page, "ablation")
    assert base[1:8] == ["baseline", "–", "1, 2", "herons dev", "80.70", "0.40", "–"]
    change = ["`network.history=false`", "1, 2", "herons dev", "79.50", "1.00", "-1.20"]
    assert bare[1:8] == ["bare", *change]
    assert beams[1][1:] == ["baseline", "herons dev", "20", "80.82", "0.40", "1.46", "0"]
    assert len(beams) == 4
    assert "## Runs" not in page
    assert results_page(runs[::-1]) == page


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ((81.5, 81.9), ["+1.00", "wins"]),
        ((79.5, 79.9), ["-1.00", "loses"]),
        ((80.8, 81.3), ["+0.35", "no difference"]),
        ((80.0, 82.2), ["+0.40", "no difference"]),
        ((81.7,), ["+1.00", "–"]),
    ],
)
def test_a_variant_wins_or_loses_by_more_than_the_spread_of_both(scores, verdict):
    runs = [ablation("bare", seed, f1) for seed, f1 in enumerate(scores, start=1)]
    runs += [ablation("baseline", 1, 80.5), ablation("baseline", 2, 80.9)]
    assert rows(results_page(runs), "ablation")[1][7:9] == verdict


def test_variants_of_discourse_are_shown_by_their_relations():
    found = run("ablation", discourse_set(False), discourse_set(True), ablation="baseline")
    first, second, *_ = rows(results_page([found]), "ablation")
    assert [first[4:6], second[4:6]] == [
        ["gulls test", "87.00"],
        ["gulls test (given EDUs)", "87.00"],
    ]


def test_what_was_decided_stands_under_the_ablation():
    page = results_page([ablation("bare", 1, 79.0)], Aims(decisions=("History stays.",)))
    assert page.endswith("### What the ablation decided\n\n- History stays.\n")
    assert "decided" not in results_page([run("small")], Aims(decisions=("History stays.",)))


# ---------------------------------------------------------------- targets


def met(target: Target, *runs: dict) -> list[list[str]]:
    page = results_page(runs, Aims(targets=(target,)))
    section = page.split("## Targets")[1].split("\n## ")[0]
    return [row[2:8] for row in rows(section, target.recipe)]


@pytest.mark.parametrize(
    ("least", "word"),
    [
        (87.0, "yes"),
        (88.0, "yes"),
        (88.1, "by the beam"),
        (88.5, "missed by 0.38"),
    ],
)
def test_a_target_is_met_by_a_search_or_missed(least, word):
    target = Target(recipe="small", set="herons test", least={"f1": least})
    other = run("other", syntax_set())
    found = met(target, run("small", syntax_set(), syntax_set(part="dev", f1=99.0)), other)
    assert found == [["–", "f1", f"{least:g}", "88.00", "88.12", word]]


def test_a_beam_may_miss_what_greedy_reached():
    one = syntax_set()
    one["beams"]["20"]["f1"] = 80.0
    target = Target(recipe="small", set="herons test", least={"f1": 88.0})
    assert met(target, run("small", one))[0][-1] == "by greedy"


def test_what_is_only_reported_is_neither_met_nor_missed():
    target = Target(recipe="small", set="herons test", least={"f1": 0})
    assert met(target, run("small", syntax_set())) == [
        ["–", "f1", "reported", "88.00", "88.12", "–"]
    ]


def test_runs_with_other_settings_have_targets_of_their_own():
    changed = run("small", syntax_set(f1=80.0), settings=["training.epochs=5", "seed=2"])
    least = {"f1": 79.0}
    for name, score in (("small", "88.00"), ("small epochs=5", "80.00")):
        target = Target(recipe=name, set="herons test", least=least)
        assert [row[3] for row in met(target, run("small", syntax_set()), changed)] == [score]


def test_a_target_without_a_finished_run_says_so():
    target = Target(recipe="small", set="herons test", least={"f1": 88})
    assert met(target, run("small")) == [["–", "f1", "88", "–", "–", "no run"]]


def test_discourse_targets_are_held_against_the_right_edus():
    target = Target(
        recipe="rst", set="gulls test", edus="given", least={"span": 89, "relation": 88}
    )
    given = discourse_set(True)
    given["beams"]["1"]["span"] = 91.0
    found = met(target, run("rst", discourse_set(False), given, syntax_set("gulls")))
    assert found == [
        ["given", "span", "89", "91.00", "89.00", "yes"],
        ["given", "relation", "88", "87.00", "87.50", "missed by 0.50"],
    ]


def test_a_recipe_may_be_held_against_another():
    target = Target(
        recipe="joint", set="herons test", least={"f1": 0}, not_below="single", note="Less data."
    )
    single, joint = run("single", syntax_set(f1=88.5)), run("joint", syntax_set(f1=88.0))
    assert met(target, single, joint) == [
        ["–", "f1", "single: 88.50, 88.62", "88.00", "88.12", "missed by 0.50"]
    ]
    assert met(target, joint)[0][2] == "single"
    page = results_page([single, joint], Aims(targets=(target,)))
    assert "### On the misses\n\n- joint, herons test: Less data.\n" in page


def test_aims_are_read_from_a_file_and_anything_else_is_refused(tmp_path):
    path = tmp_path / "targets.toml"
    good = 'decisions = ["One."]\n[[target]]\nrecipe = "a"\nset = "b test"\nleast = { f1 = 1 }\n'
    path.write_text(good)
    aims = read_aims(path)
    assert aims.decisions == ("One.",)
    assert aims.targets == (Target(recipe="a", set="b test", least={"f1": 1}),)
    for text, message in (
        ("=", "expected TOML"),
        ("other = 1", "found other"),
        ("target = 3", "another 'target'"),
        ("decisions = [1]", "list of sentences"),
        (good + "more = 1", "expected the keys"),
        ("target = [1]", "expected the keys"),
        (good.replace('"a"', "1"), "another kind"),
        (good.replace("{ f1 = 1 }", '{ f1 = "x" }'), "expected numbers"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_aims(path)


def test_one_seed_has_no_spread_and_a_variant_without_a_baseline_no_difference():
    row = rows(results_page([ablation("bare", 1, 79.0)]), "ablation")[0]
    assert row[5:8] == ["79.00", "–", "–"]


def test_beam_rows_of_runs_that_are_not_scored_yet_leave_out_what_is_not_known():
    record = ablation("bare", 1, 79.0)
    del record["final"]
    rest = rows(results_page([record]), "ablation")
    assert rest[1] == ["ablation", "bare", "herons dev", "1", "85.00", "–", "–", "–"]


def test_runs_are_found_in_directories_and_anything_else_is_refused(tmp_path):
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(json.dumps(run(name)))
    found = find_runs([tmp_path, tmp_path / "a" / "run.json"])
    assert [path.parent.name for path in found] == ["a", "b", "a"]
    assert read_run(found[0])["recipe"]["name"] == "a"
    (tmp_path / "c").mkdir()
    with pytest.raises(InputError, match=r"no run.json is in it"):
        find_runs([tmp_path / "c"])
    with pytest.raises(InputError, match="no such file"):
        read_run(tmp_path / "none.json")
    for text, message in (("{", "expected JSON"), ("[]", "expected the record of a run")):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(InputError, match=message):
            read_run(tmp_path / "bad.json")


def test_a_directory_without_runs_is_one_clear_line_and_needs_no_pytorch(tmp_path):
    code = "import sys; sys.modules['torch'] = None; import results; results.main(sys.argv[1:])"
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT / "benchmarks", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"results.py: {tmp_path}: no run.json is in it; name the directories of runs"
    ]


# ---------------------------------------------------------------- languages


def french_set(f1: float, tagging: float, part: str = "test") -> dict:
    scores = {"f1": f1, "recall": f1 - 1, "precision": f1 + 1, "cost": 1.0, "below_greedy": 0}
    one = syntax_set("plage", part, metric="spmrl", tagging=tagging)
    return {**one, "beams": {"1": scores, "20": {**scores, "f1": f1 + 0.5}}}


def test_languages_have_recall_precision_and_the_command_in_tables_of_their_own():
    page = results_page(
        [run("lang-fr", french_set(80.0, 94.0), french_set(70.0, 90.0, "dev")), run("small")]
    )
    ((language, *cells),) = rows(page, "French")
    assert language == "French"
    assert cells == [
        *("plage test", "79.00", "81.00", "80.00", "79.00", "81.00", "80.50", "20", "94.00"),
        "`cleft train recipes/lang-fr.toml`",
    ]
    assert len(rows(page, "lang-fr")) == 1, "only among the runs, not among English syntax"
    assert len(rows(page, "small")) == 2
    assert page.index("## Syntax") < page.index("## Languages") < page.index("## Runs")
    assert "With and without characters" not in page


def test_a_recipe_called_after_a_language_stands_beside_the_others_with_its_encoder():
    network = {"transformer": "runs/pretrained/translator"}
    page = results_page(
        [run("fr", french_set(86.0, 97.0), network=network), run("lang-fr", french_set(80.0, 94.0))]
    )
    found = {row[0]: (row[4], row[-1]) for row in rows(page, "French")}
    assert found == {
        "French over translator": ("86.00", "`cleft train recipes/fr.toml`"),
        "French": ("80.00", "`cleft train recipes/lang-fr.toml`"),
    }


def test_a_languages_discourse_is_shown_end_to_end_and_over_given_edus():
    sets = [discourse_set(given_edus) for given_edus in (False, True)]
    page = results_page([run("lang-de-discourse", *sets)])
    assert "## Discourse\n" not in page
    found = rows(page, "German")
    assert [row[2:4] for row in found] == [
        ["found", "greedy"],
        ["found", "beam 20"],
        ["given", "greedy"],
        ["given", "beam 20"],
    ]
    assert found[1][4:] == [
        *("90.00", "89.00", "88.00", "87.50", "86.00"),
        "`cleft train recipes/lang-de-discourse.toml`",
    ]


def test_runs_without_characters_stand_against_those_with_them():
    bare = run("lang-xx", french_set(76.5, 91.0), settings=["network.char_size=0"])
    other = run("lang-xx", french_set(99.0, 99.0), settings=["network.char_size=0"], seed=2)
    odd = run("lang-xx", french_set(50.0, 50.0), settings=["training.epochs=1"])
    older = {"settings": ["network.char_size=0"], "training": {"beam": 1, "epochs": 3}}
    short = run("lang-xx", french_set(60.0, 60.0), **older)
    wide = run(
        "lang-xx",
        french_set(70.0, 70.0),
        settings=["network.char_size=0"],
        network={"word_size": 9},
    )
    page = results_page([run("lang-xx", french_set(80.0, 94.0)), bare, other, odd, short, wide])
    whole, changed, compared = rows(page, "xx")
    assert changed[0] == "xx epochs=1"
    assert whole[4] == "80.00"
    assert compared == ["xx", "plage test", "76.50", "80.00", "+3.50", "91.00", "94.00", "+3.00"]


def test_a_language_with_other_settings_has_rows_too():
    page = results_page([run("lang-fr", french_set(80.0, 94.0), settings=["training.threads=2"])])
    assert rows(page, "French threads=2")[0][4] == "80.00"


def test_what_a_language_was_not_scored_on_is_left_open():
    bare = run("lang-fr", french_set(76.5, 91.0), settings=["network.char_size=0"])
    different = run("lang-is", syntax_set("hús", tagging=None))
    without = run("lang-is", syntax_set("hús"), settings=["network.char_size=0"])
    page = results_page([run("lang-fr"), bare, different, without])
    (dev,) = rows(page, "French")
    assert dev[1:5] == ["herons dev", "–", "–", "85.00"]
    assert rows(page, "Icelandic")[1][-3:] == ["97.13", "–", "–"]


# ---------------------------------------------------------------- beside the paper


def counted(right: int, count: int = 40) -> dict[str, Any]:
    """Scores of sentences with ten brackets each, so many of them right."""
    f1 = 10.0 * right
    text = " ".join([f"{right}/10/10"] * count)
    return {"f1": f1, "recall": f1, "precision": f1, "counts": text}


def our_run(name: str, right: int, **network: Any) -> dict:
    one = {"task": "syntax", "name": "herons", "silver": False, "metric": "collins"}
    one |= {"given_edus": False, "tagging": None}
    scored = [{**one, "part": part, "beams": {"1": counted(right)}} for part in ("dev", "test")]
    data = {"syntax": {"train": ["x/herons/train.mrg"]}}
    network = {"encoder": "lstm", **network}
    return run(name, *scored, data=data, network=network)


def peer_run(name: str, right: int, **more: Any) -> dict:
    found = our_run(name, right)
    recipe = {"name": name, "peer": {"search": "CKY"}, "encoder": None, "limit": None, **more}
    versions = {"supar": "1.1.4", "benepar": "0.2.0"}
    return {**found, "recipe": recipe, "versions": versions, "processor_hours": 2.5}


MINILM = {"encoder": "transformer", "transformer": "~/x/minilm", "transformer_frozen": False}


def test_a_peer_stands_beside_ours_with_the_same_encoder_and_a_test_of_the_difference():
    runs = [our_run("small", 7), our_run("large", 8, **MINILM), our_run("worse", 6, **MINILM)]
    runs += [peer_run("supar", 7), peer_run("benepar-minilm", 7, encoder="minilm")]
    page = results_page(runs)
    (scratch,) = [row for row in rows(page, "from scratch") if "SuPar" in row[1]]
    assert scratch[2:8] == [
        *("CKY", "70.00", "70.00", "70.00", "70.00 – 70.00"),
        "+0.00 ± 0.00, p 1.000 (small)",
    ]
    assert scratch[-1] == "2.5"
    (tuned,) = [row for row in rows(page, "minilm, fine-tuned") if "benepar" in row[1]]
    assert tuned[7].startswith("+10.00 ± ")
    assert tuned[7].endswith("p < 0.001 (large)")
    # The paper's own rows are there, and a peer's run is in no other table.
    assert "| the paper's model | 93.90 | 93.63 | 93.77 | 95.7 | 1127 |" in page
    assert page.count("SuPar, CRF (1.1.4)") == 1


def leave_speeds(path: Path, baseline: str, **speeds: float) -> None:
    """A record of speed.py, in which ratios are not those of the medians."""
    names = {name.replace("__", ", beam ").replace("_", "-"): each for name, each in speeds.items()}
    base = names[baseline] * 0.8
    results: dict = {name: {"sentences_per_second": value} for name, value in names.items()}
    results["ratios"] = {name: {"median": value / base} for name, value in names.items()}
    record = {"baseline": baseline, "sections": {"batched": {"results": results}}}
    path.write_text(json.dumps(record))


def test_speeds_come_from_the_measurement_beside_the_runs(tmp_path):
    peers = [peer_run("supar", 7, treebank=treebank) for treebank in ("wsj-sample", "gulls")]
    ours = [our_run(name, 7) for name in ("small", "later", "other", "none")]
    for number, one in enumerate([*ours, *peers]):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "run.json").write_text(json.dumps(one))
    leave_speeds(tmp_path / "speed-1.json", "supar", small=300.0, small__20=200.0, supar=100.0)
    leave_speeds(tmp_path / "speed-2.json", "supar", later=90.0, supar=60.0)
    leave_speeds(tmp_path / "speed-3.json", "supar-minilm", other=30.0, supar_minilm=15.0)
    main([str(tmp_path), "-o", str(tmp_path / "page.md")])
    found = rows((tmp_path / "page.md").read_text(), "from scratch")
    assert [(row[1], row[8:10]) for row in found] == [
        ("later", ["90 (SuPar 60)", "1.88"]),
        ("none", ["–", "–"]),
        ("other", ["30", "–"]),
        ("small", ["300", "3.75"]),
        ("SuPar, CRF (1.1.4)", ["100", "1.25"]),
        ("SuPar, CRF (1.1.4)", ["–", "–"]),
    ]


def test_only_a_baseline_may_be_in_several_runs_of_speeds(tmp_path):
    leave_speeds(tmp_path / "speed-1.json", "supar", small=300.0, supar=100.0)
    leave_speeds(tmp_path / "speed-2.json", "supar", large=30.0, supar=50.0)
    found = read_speeds([tmp_path])
    assert {name: (one.rate, one.baseline_rate) for name, one in found.items()} == {
        "small": (300.0, 100.0),
        "supar": (100.0, 100.0),
        "large": (30.0, 50.0),
    }
    leave_speeds(tmp_path / "speed-3.json", "supar", large=31.0, supar=50.0)
    with pytest.raises(InputError, match="found 'large' in a second"):
        read_speeds([tmp_path])


def test_a_target_may_be_a_peer():
    runs = [our_run("small", 7), peer_run("supar", 8)]
    target = Target(recipe="small", set="herons test", least={"f1": 0}, not_below="supar")
    aims = Aims(targets=(target,))
    (row,) = [row for row in rows(results_page(runs, aims), "small") if "supar" in row[4]]
    assert row[4] == "supar: 80.00, 80.00"
    assert row[7] == "missed by 10.00"


def test_only_whole_runs_on_one_treebank_stand_beside_the_paper():
    tried = peer_run("supar", 7, limit=100)
    mixed = our_run("mixed", 7)
    mixed["recipe"]["data"]["syntax"]["train"].append("x/gulls/train.mrg")
    assert "## Beside the paper" not in results_page([tried, mixed])
