"""Exporting: all or nothing, and nothing that the network is not."""

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import cleft.nn.export.export as exporting
from cleft.cli import main
from cleft.errors import InputError, ModelError, OutputError, UsageError
from cleft.formats.jsonl import Record, format_record
from cleft.nn.checkpoint import save_model
from cleft.nn.export.encoder_graphs import supported
from cleft.nn.export.export import ExportOptions, export, export_scorer
from cleft.nn.export.int8 import dev_sentences, refuse_loss
from cleft.nn.export.tokenizer import piece_rules
from cleft.nn.train.data import Sentence, is_bracketed, read_sentences
from cleft.nn.train.recipe_file import read_recipe
from cleft.parser import load
from cleft.runtime import Manifest, ModelDirectory, write_checksums
from cleft.search import search
from cleft.tasks import DISCOURSE
from cleft.tree import Tree
from tests.runtime.models import model, onnx_scorer, torch_scorer

GOLD = "(S (NP (DT the) (NN heron)) (VP (VB waits)))"


@pytest.fixture
def checkpoint(tmp_path):
    """A model as training writes it."""
    scorer = torch_scorer("lstm")
    best = {"best": {"score": 90.0, "dev": {"syntax": {"f1": 90.0}}}, "recipe": "little"}
    save_model(tmp_path / "run" / "best", scorer.network, scorer.vocabulary, best)
    return tmp_path / "run"


def test_a_checkpoint_is_exported_with_its_scores(checkpoint, tmp_path):
    folder = export(checkpoint, tmp_path / "model")
    manifest = ModelDirectory(folder).manifest
    assert manifest.about["name"] == "little"
    assert manifest.about["scores"] == {"dev": {"syntax": {"f1": 90.0}}}
    assert "scores: dev syntax f1 90.00" in manifest.describe()
    assert [path.name for path in tmp_path.iterdir()] in (["run", "model"], ["model", "run"])


def test_two_exports_are_the_same_bytes(checkpoint, tmp_path):
    one, two = export(checkpoint, tmp_path / "one"), export(checkpoint / "best", tmp_path / "two")
    assert {path.name: path.read_bytes() for path in one.iterdir()} == {
        path.name: path.read_bytes() for path in two.iterdir()
    }


def test_a_directory_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "kept").touch()
    with pytest.raises(OutputError, match="there is something here already"):
        export_scorer(torch_scorer("lstm"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be made"):
        export_scorer(torch_scorer("lstm"), tmp_path / "file" / "model")


def test_a_failed_export_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(exporting, "write_checksums", fail)
    with pytest.raises(OutputError, match="no space left"):
        export_scorer(torch_scorer("lstm"), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_graphs_that_are_not_the_network_are_refused(tmp_path, monkeypatch):
    real = exporting.step_graph

    def wrong(head, *, int8=False):
        weight = head.pointer.state.linear.weight
        with torch.no_grad():
            weight.neg_()
            data = real(head, int8=int8)
            weight.neg_()
        return data

    monkeypatch.setattr(exporting, "step_graph", wrong)
    with pytest.raises(ModelError, match="the exported model"):
        export_scorer(torch_scorer("lstm"), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_transformer_of_another_type_is_refused():
    class Config:
        model_type, hidden_act = "gpt2", "gelu"

    class Model:
        config = Config

    with pytest.raises(ModelError, match=r"type 'gpt2'.*cannot be exported"):
        supported(Model)


def test_a_tokenizer_of_another_kind_is_refused():
    class Backend:
        def to_str(self):
            return '{"model": {"type": "BPE"}, "normalizer": null, "pre_tokenizer": null}'

    class Tokenizer:
        backend_tokenizer = Backend()

    class Pieces:
        tokenizer = Tokenizer()

    with pytest.raises(ModelError, match="found \\('BPE', None, None, None\\)"):
        piece_rules(Pieces(), [])
    with pytest.raises(ModelError, match="the model has no tokenizer"):
        piece_rules(object(), [])


def test_a_tokenizer_that_cuts_a_word_otherwise_is_refused():
    real = torch_scorer("bert").featurise.pieces

    class Other:
        tokenizer, begin, end, pad, limit = real.tokenizer, 2, 3, 0, 32

        def pieces(self, word):
            return [1, 1, 1]

    with pytest.raises(ModelError, match="the tokenizer cuts 'the' into"):
        piece_rules(Other(), ["the"])


def dev(count=3):
    tree = Tree.from_brackets(GOLD)
    return [Sentence(words=tuple(tree.words()), tree=tree)] * count


def discourse_dev():
    words = ("rain", "fell", ",", "so", "she", "left")
    (found,) = search(onnx_scorer("lstm"), [words], DISCOURSE)
    return [Sentence(words=words, tree=found[0].tree)]


def test_quantisation_that_costs_too_much_is_refused(monkeypatch):
    scores = iter([90.0, 89.79])
    monkeypatch.setattr("cleft.nn.export.int8.dev_score", lambda *_: next(scores))
    with pytest.raises(ModelError, match=r"\(spmrl\) on dev from 90\.00 to 89\.79, by more than 0"):
        refuse_loss(
            None,
            None,
            onnx_scorer("lstm").manifest,
            {"syntax": dev()},
            {"syntax": "spmrl"},
            "model",
        )


def test_quantisation_that_costs_little_is_recorded(tmp_path):
    options = ExportOptions(int8=True, dev={})
    folder = export_scorer(torch_scorer("words"), tmp_path / "model", options)
    assert ModelDirectory(folder).manifest.precision == "int8"
    scorer = onnx_scorer("lstm")
    found = refuse_loss(scorer, scorer, scorer.manifest, {"syntax": dev()}, {}, "model")
    assert found["syntax"]["fp32"] == found["syntax"]["int8"]
    assert found["syntax"]["metric"] == "collins"


def test_quantisation_is_judged_by_the_metric_that_the_model_was_chosen_by(tmp_path, monkeypatch):
    # Random weights: a processor's last digits may decide, and here only the metric counts.
    monkeypatch.setattr("cleft.nn.export.int8.MOST_LOST", 100.0)
    scorer = torch_scorer("lstm")
    gold = tmp_path / "dev.mrg"
    # A phrase of punctuation alone is no phrase to COLLINS.
    gold.write_text("(S (NP (DT the) (NN heron)) (VP (VB waits)) (PRN (. .) (. .)))\n")
    options = ExportOptions(int8=True, dev={"syntax": dev_sentences([f"syntax={gold}"])["syntax"]})
    options = replace(options, dev={**options.dev, "discourse": discourse_dev()})
    found = {}
    for metric in ("collins", "spmrl"):
        about = {"metrics": {"syntax": metric, "discourse": "parseval"}}
        save_model(tmp_path / metric, scorer.network, scorer.vocabulary, about)
        export(tmp_path / metric, tmp_path / f"{metric}-model", options)
        manifest = ModelDirectory(tmp_path / f"{metric}-model").manifest
        found[metric] = manifest.about["quantisation"]["syntax"]
        assert found[metric]["metric"] == metric
    assert found["collins"]["fp32"] != found["spmrl"]["fp32"]
    save_model(tmp_path / "other", scorer.network, scorer.vocabulary, {"metrics": {"syntax": [1]}})
    with pytest.raises(InputError, match=r"metrics: expected a metric by task, found {'syntax': "):
        export(tmp_path / "other", tmp_path / "model", options)


def test_dev_sentences_are_named_by_task(tmp_path):
    (tmp_path / "dev.mrg").write_text(GOLD + "\n" + GOLD)
    assert len(dev_sentences([f"syntax={tmp_path / 'dev.mrg'}"])["syntax"]) == 2


def test_the_command_exports_with_what_it_is_told(checkpoint, tmp_path, capsys):
    card = tmp_path / "card.md"
    card.write_text("# A little model\n")
    told = [
        "export",
        str(checkpoint),
        str(tmp_path / "model"),
        "--licence",
        "MIT",
        "--name",
        "tiny",
    ]
    told += ["--language", "en", "--data", "invented", "--card", str(card)]
    code = main(told)
    assert code == 0
    assert "MB" in capsys.readouterr().out
    manifest = load(tmp_path / "model").manifest
    assert manifest.about["licence"] == "MIT"
    assert manifest.about["training_data"] == ["invented"]
    assert (tmp_path / "model" / "README.md").read_text() == "# A little model\n"


RECIPE = """
[data.syntax]
train = ["{train}", "silver/unread.jsonl"]
[data.discourse]
train = "unread.jsonl"
"""


@pytest.fixture
def recipe(tmp_path):
    """A recipe whose treebank has one tree, many times."""
    (tmp_path / "train.mrg").write_text(f"{GOLD}\n" * 40)
    (tmp_path / "recipe.toml").write_text(RECIPE.format(train=tmp_path / "train.mrg"))
    return tmp_path / "recipe.toml"


def test_an_export_with_a_recipe_is_an_export_that_gets_it_later(checkpoint, recipe, tmp_path):
    one, two, three = (str(tmp_path / name) for name in ("one", "two", "three"))
    assert main(["export", str(checkpoint), one, "--recipe", str(recipe)]) == 0
    assert main(["export", str(checkpoint), two]) == 0
    assert main(["export", two, three, "--recipe", str(recipe)]) == 0
    folders = [{p.name: p.read_bytes() for p in Path(each).iterdir()} for each in (one, three)]
    assert folders[0] == folders[1]
    counts = ModelDirectory(one).counts("syntax")
    assert counts.tags == {"NP": {"DT": 40, "NN": 40}, "VP": {"VB": 40}}
    assert load(one).check() == load(two).check() > 0
    with_counts = load(one).scorer.grammar("syntax")
    assert with_counts is not None
    assert load(two).scorer.grammar("syntax") is None
    assert load(one).scorer.grammar("discourse") is None


def test_counts_leave_out_json_lines_by_their_format_not_by_their_name(checkpoint, tmp_path):
    folder = tmp_path / "from.jsonl"  # brackets, in a folder that is called so
    folder.mkdir()
    (folder / "train.mrg").write_text(f"{GOLD}\n" * 40)
    made = Tree.from_brackets("(S (NP (NN heron)) (VP (VB waits)))")
    (tmp_path / "silver.txt").write_text(f"{format_record(Record(syntax=made))}\n" * 40)
    files = [str(folder / "train.mrg"), str(tmp_path / "silver.txt")]
    assert [is_bracketed("syntax", path) for path in files] == [True, False]
    (tmp_path / "recipe.toml").write_text(f"[data.syntax]\ntrain = {json.dumps(files)}\n")
    recipe = str(tmp_path / "recipe.toml")
    assert main(["export", str(checkpoint), str(tmp_path / "model"), "--recipe", recipe]) == 0
    counts = ModelDirectory(tmp_path / "model").counts("syntax")
    assert counts.tags == {"NP": {"DT": 40, "NN": 40}, "VP": {"VB": 40}}
    config = read_recipe(recipe).data["syntax"]
    assert len(read_sentences("syntax", files, config)) == 80


def test_dev_trees_calibrate_a_model_at_export_or_later(checkpoint, tmp_path):
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    (tmp_path / "dev.mrg").write_text(f"{GOLD}\n" * 40)
    dev = ["--dev", f"syntax={tmp_path / 'dev.mrg'}"]
    assert main(["export", str(checkpoint), str(one), *dev]) == 0
    assert main(["export", str(checkpoint), str(two)]) == 0
    assert main(["export", str(two), str(three), *dev]) == 0
    plain, fitted = load(two), load(one)
    assert plain.manifest.calibration == {}
    assert list(fitted.manifest.calibration) == ["syntax"]
    assert {p.name: p.read_bytes() for p in one.iterdir()} == {
        p.name: p.read_bytes() for p in three.iterdir()
    }
    words = [Tree.from_brackets(GOLD).words()]
    calibrated = fitted.manifest.calibration["syntax"]
    (raw,), (found,) = plain.parse_tokens(words), fitted.parse_tokens(words)
    for before, after in zip(raw.syntax.preorder(), found.syntax.preorder(), strict=True):
        kind = calibrated.leaves if before.word is not None else calibrated.nodes
        assert after.probability == pytest.approx(kind(math.log(before.probability)), abs=1e-6)
        assert (after.label, after.evidence.label) == (before.label, before.evidence.label)
    assert [each.probability for each in raw.discourse.preorder()] == [
        each.probability for each in found.discourse.preorder()
    ]


def test_what_is_fitted_anew_is_the_networks_own(checkpoint, tmp_path):
    (tmp_path / "dev.mrg").write_text(f"{GOLD}\n" * 40)
    dev = ["--dev", f"syntax={tmp_path / 'dev.mrg'}"]
    names = [str(checkpoint), str(tmp_path / "one"), str(tmp_path / "two")]
    for source, target in itertools.pairwise(names):
        assert main(["export", source, target, *dev]) == 0
    assert load(names[1]).manifest == load(names[2]).manifest


def test_a_model_is_not_calibrated_for_a_task_that_it_has_not(tmp_path):
    options = ExportOptions(dev={"document": dev()})
    with pytest.raises(UsageError, match="dev trees of syntax and discourse, found document"):
        export(model("lstm"), tmp_path / "new", options)


@pytest.mark.parametrize(
    "wrong",
    [
        {"poetry": {}},
        {"syntax": []},
        {"syntax": {"words": [1.0, 0.0]}},
        {"syntax": {"nodes": [1.0]}},
        {"syntax": {"nodes": [0.0, 0.0]}},
        {"syntax": {"nodes": [-1.0, 0.0]}},
        {"syntax": {"nodes": [1.0, True]}},
        {"syntax": {"trees": [1.0, 1e300]}},
        [],
    ],
)
def test_a_calibration_that_is_none_is_refused(wrong):
    table = json.loads((model("lstm") / "config.json").read_text())
    with pytest.raises(ModelError, match="'calibration"):
        Manifest.from_table({**table, "calibration": wrong})


def test_an_exported_model_gets_nothing_but_statistics(recipe, tmp_path, capsys):
    folder = str(model("lstm"))
    for told in ([], ["--recipe", str(recipe), "--name", "other"]):
        assert main(["export", folder, str(tmp_path / "new"), *told]) == 2
        assert "an exported model only gets the statistics of a recipe" in capsys.readouterr().err
        assert not (tmp_path / "new").exists()


def test_counts_that_are_none_are_refused(recipe, tmp_path):
    folder = export(model("lstm"), tmp_path / "new", ExportOptions(recipe=read_recipe(recipe)))
    (folder / "syntax-counts.json").write_text('{"labels": {}, "tags": {}, "words": {"NP": 3}}')
    write_checksums(folder)
    with pytest.raises(ModelError, match=r"syntax-counts.json: expected counts by name under 'wor"):
        load(folder)


def test_the_command_wants_dev_trees_for_int8(checkpoint, tmp_path, capsys):
    assert main(["export", str(checkpoint), str(tmp_path / "m"), "--int8"]) == 2
    assert "--int8 needs dev trees" in capsys.readouterr().err
    assert (
        main(["export", str(checkpoint), str(tmp_path / "m"), "--int8", "--dev", "poetry=x"]) == 2
    )
    assert "expected TASK=FILE" in capsys.readouterr().err
    (tmp_path / "dev.mrg").write_text(GOLD)
    told = ["export", str(checkpoint), str(tmp_path / "m"), "--int8"]
    assert main([*told, "--dev", f"syntax={tmp_path / 'dev.mrg'}"]) == 2
    assert "--dev: expected dev trees of syntax and discourse, found syntax;" in (
        capsys.readouterr().err
    )


def test_an_option_that_would_be_passed_over_is_refused(tmp_path, capsys):
    assert main(["export", "run", str(tmp_path / "m"), "--clean", "spmrl"]) == 2
    assert "--clean is for the trees of --dev" in capsys.readouterr().err


def test_int8_models_are_smaller():
    full, small = (
        (model("bert", int8=int8) / "transformer.onnx").stat().st_size for int8 in (False, True)
    )
    assert small < full


def test_two_int8_exports_are_the_same_bytes(tmp_path):
    options = ExportOptions(int8=True, about={"name": "bert", "licence": "CC0-1.0"})
    again = export_scorer(torch_scorer("bert"), tmp_path / "again", options)
    once = model("bert", int8=True)
    assert (again / "SHA256SUMS").read_text() == (once / "SHA256SUMS").read_text()


def test_the_dev_sentences_make_the_scales(tmp_path):
    options = ExportOptions(int8=True, about={"name": "bert"}, dev={"syntax": dev()})
    calm = replace(options, dev={})
    one, two = (
        (export_scorer(torch_scorer("bert"), tmp_path / name, given) / "transformer.onnx")
        for name, given in (("dev", options), ("calm", calm))
    )
    assert one.read_bytes() != two.read_bytes()


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_int8_rows_are_the_same_bits_whatever_is_beside_them(kind):
    sessions = onnx_scorer(kind, int8=True).sessions
    random = np.random.default_rng(0)
    pieces = random.standard_normal((5, 7, 16)).astype(np.float32)
    lengths = np.array([7, 3, 7, 1, 5], np.int32)
    loud = pieces.copy()
    loud[1:] *= 100  # beyond every scale that was fixed
    quiet, beside = (
        sessions.run("transformer", {"pieces": given, "lengths": lengths})["vectors"][:7]
        for given in (pieces, loud)
    )
    np.testing.assert_array_equal(quiet, beside)


def test_discourse_is_compared_by_its_relations():
    scorer = onnx_scorer("lstm")
    scores = refuse_loss(
        scorer, scorer, scorer.manifest, {"discourse": discourse_dev()}, {}, "model"
    )
    assert scores["discourse"]["fp32"] == scores["discourse"]["int8"]
