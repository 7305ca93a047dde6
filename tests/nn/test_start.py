"""Runs that begin with the weights of another run."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from cleft.cli import main
from cleft.errors import InputError, RecipeError
from cleft.nn.checkpoint import load_checkpoint, load_model
from cleft.nn.export.export import export
from cleft.nn.features import UNKNOWN
from cleft.nn.train.recipe import Recipe
from cleft.nn.train.recipe_file import read_recipe
from cleft.nn.train.setup import prepare
from cleft.nn.train.trainer import train
from tests.nn.conftest import ROOT, write_bert
from tests.nn.test_train import interrupt_after, lines

QUICK = ("training.epochs=1", "training.dev_every=1", "training.final_beams=[1]")
FROZEN = "network.transformer_frozen=true"
NEW = "(S (NP (DT The) (NN zymurgist)) (FOO (VBD ate) (NP (BAR a) (NN quince))) (. .))\n"


def tiny(task: str, init: Path | str, *settings: str, output: Path | str = "") -> Recipe:
    names = {"init": str(init), "output": str(output)}
    return read_recipe(f"recipes/tiny-{task}.toml", [*QUICK, *settings], **names)


@pytest.fixture(autouse=True)
def _at_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> Path:
    """A run with both heads."""
    folder = tmp_path_factory.mktemp("first") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        settings = ("training.epochs=4", "training.dev_every=4", "network.label_none=true")
        train(tiny("joint", "", *settings), folder)
    return folder


def bare(task: str, folder: Path) -> Path:
    """A recipe without [network], which is that of the model it begins from."""
    head, _, rest = Path(f"recipes/tiny-{task}.toml").read_text().partition("[network]")
    path = folder / "bare.toml"
    path.write_text(f"{head}[data{rest.partition('[data')[2]}")
    return path


def dev_of(folder: Path) -> list[dict]:
    return [line["dev"] for line in lines(folder, "epoch")]


def test_a_run_from_a_run_begins_with_its_dev_scores_and_its_network(first, tmp_path, capsys):
    recipe = read_recipe(bare("joint", tmp_path), [*QUICK, f"init={first}"])
    assert recipe.network.label_none
    train(recipe, tmp_path / "run")
    before, after = dev_of(tmp_path / "run")
    assert before == dev_of(first)[-1]
    assert after != before
    said = capsys.readouterr().err
    assert f"begins from {first}/best\n" in said
    assert "new:" not in said
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["recipe"]["init"] == str(first)
    assert len(run["data"][f"{first}/model.safetensors"]) == 64
    assert run["epochs"][0]["epoch"] == 0


def test_a_model_that_gets_no_better_is_kept(first, tmp_path):
    spoil = ("training.learning_rate=5.0", "training.clip=1000.0")
    summary = train(tiny("joint", first, "network.label_none=true", *spoil), tmp_path)
    assert summary["best"]["epoch"] == 0
    known = load_file(first / "best" / "model.safetensors")
    kept = load_file(tmp_path / "best" / "model.safetensors")
    assert all(torch.equal(known[name], tensor) for name, tensor in kept.items())


def test_new_names_get_rows_and_the_old_ones_keep_theirs(first, tmp_path, capsys):
    more = tmp_path / "more.mrg"
    more.write_text(NEW)
    recipe = tiny("syntax", first / "best", f"data.syntax.train={more}", "network.label_none=true")
    built = prepare(recipe)
    old, new = load_model(first / "best"), built.vocabulary
    assert new.labels["syntax"] == (*old.vocabulary.labels["syntax"], "FOO")
    assert new.tags == (*old.vocabulary.tags, "BAR")
    labels = len(old.vocabulary.labels["syntax"])
    before = old.network.head("syntax").labels.pair
    after = built.network.head("syntax").labels.pair
    assert torch.equal(after.linear.bias[:labels], before.linear.bias[:labels])
    assert after.linear.bias[labels].item() == pytest.approx(before.linear.bias.mean().item())
    assert torch.equal(after.linear.bias[-1], before.linear.bias[-1])  # of what is no phrase
    size = after.weight.shape[1]
    assert torch.equal(after.weight[: labels * size], before.weight[: labels * size])
    mean = before.weight.view(-1, size, size).mean(0)
    assert torch.allclose(after.weight[labels * size : -size], mean, atol=1e-6)
    assert torch.equal(after.weight[-size:], before.weight[-size:])
    words, was = built.network.reader.words.weight, old.network.reader.words.weight
    assert torch.equal(words[: len(was)], was)
    assert torch.equal(words[new.word_id("zymurgist")], was[UNKNOWN])
    train(recipe, tmp_path / "run")
    # What is new is never the best before it is learnt.
    assert dev_of(tmp_path / "run")[0]["syntax"] == dev_of(first)[-1]["syntax"]
    said = capsys.readouterr().err
    assert "new: labels of syntax FOO\n" in said
    assert "new: tags BAR\n" in said
    assert "left out: the head for discourse\n" in said
    assert "each begins as an unknown one\n" in said


def test_a_task_that_is_new_gets_a_head(tmp_path, capsys):
    train(tiny("syntax", "", "network.tags=false"), tmp_path / "a")
    train(tiny("joint", tmp_path / "a"), tmp_path / "b")
    said = capsys.readouterr().err
    assert "new: the head for discourse\n" in said
    assert "new: the part-of-speech head\n" in said
    (before, *_), (known, *_) = dev_of(tmp_path / "b"), dev_of(tmp_path / "a")
    assert before["syntax"]["f1"] == known["syntax"]["f1"]


def test_it_resumes_without_the_first_run(first, tmp_path):
    gone = tmp_path / "gone"
    shutil.copytree(first, gone)
    more = ("network.label_none=true", "training.epochs=2")
    train(tiny("joint", gone, *more), tmp_path / "one")
    interrupt_after(3, tiny("joint", gone, *more), tmp_path / "two")
    shutil.rmtree(gone)
    recipe = tiny("joint", gone, *more, output=tmp_path / "two")
    train(recipe, tmp_path / "two", resume=True)
    assert lines(tmp_path / "one") == lines(tmp_path / "two")
    one, two = (load_checkpoint(tmp_path / name)[0] for name in ("one", "two"))
    assert all(torch.equal(one[key], two[key]) for key in one)
    with pytest.raises(RecipeError, match=r"init: expected '.*gone', as the run began, found ''"):
        train(tiny("joint", "", *more, "training.epochs=3"), tmp_path / "two", resume=True)


def test_a_fine_tuned_transformer_is_taken_with_its_frozen_part(tmp_path):
    bert = write_bert(tmp_path / "bert")
    over = (
        "network.encoder=transformer",
        f'network.transformer="{bert}"',
        "network.transformer_frozen=false",
        "network.embeddings_frozen=true",
        "network.encoder_layers=0",
    )
    train(tiny("syntax", "", *over), tmp_path / "a")
    train(tiny("syntax", tmp_path / "a", *over), tmp_path / "b")
    assert dev_of(tmp_path / "b")[0] == dev_of(tmp_path / "a")[-1]
    with pytest.raises(RecipeError, match=r"network.transformer_frozen: expected False"):
        train(tiny("syntax", tmp_path / "a", *over, FROZEN), tmp_path / "c")
    weights = load_file(bert / "model.safetensors")
    save_file({name: tensor + 1 for name, tensor in weights.items()}, bert / "model.safetensors")
    with pytest.raises(InputError, match=r"trained with another encoder: model.safetensors was"):
        train(tiny("syntax", tmp_path / "a", *over), tmp_path / "c")


def test_another_network_is_refused(first, tmp_path):
    with pytest.raises(RecipeError, match=r"network.word_size: expected 32, as in the model .* 16"):
        train(tiny("joint", first, "network.label_none=true", "network.word_size=16"), tmp_path)


def test_a_directory_without_a_model_is_one_clear_line(first, tmp_path, capsys):
    for name in ("nothing", "empty"):
        folder = tmp_path / name
        if name == "empty":
            folder.mkdir()
        command = ["train", "recipes/tiny-syntax.toml", "--from", str(folder)]
        assert main([*command, "-o", str(tmp_path / "run")]) == 2
        error = capsys.readouterr().err
        assert "tiny-syntax.toml: init: expected a training run or" in error
        assert error.count("\n") == 1
    damaged = tmp_path / "damaged"
    shutil.copytree(first, damaged)
    path = damaged / "best" / "model.safetensors"
    weights = load_file(path)
    del weights["encoder.words.weight"]
    save_file(weights, path)
    with pytest.raises(InputError, match=r"expected encoder.words.weight of shape .* nothing"):
        prepare(tiny("joint", damaged, "network.label_none=true"))


def test_an_exported_model_is_trained_further_and_exported_again(tmp_path, capsys):
    bert, kept = write_bert(tmp_path / "bert"), tmp_path / "kept"
    over = (
        "network.encoder=transformer",
        f'network.transformer="{bert}"',
        "network.transformer_frozen=false",
        "network.embeddings_frozen=true",
        "network.encoder_layers=0",
    )
    train(tiny("syntax", "", *over), tmp_path / "a")
    export(tmp_path / "a", kept)
    shutil.rmtree(bert)
    command = [
        "train",
        str(bare("syntax", tmp_path)),
        "--from",
        str(kept),
        "-o",
        str(tmp_path / "b"),
    ]
    command += [word for setting in QUICK for word in ("--set", setting)]
    assert main(command) == 0
    assert f"begins from {kept}\n" in capsys.readouterr().err
    assert dev_of(tmp_path / "b")[0] == dev_of(tmp_path / "a")[-1]
    shutil.rmtree(kept)
    assert main([*command, "--resume", "--set", "training.epochs=2"]) == 0
    assert len(dev_of(tmp_path / "b")) == 3
    export(tmp_path / "b", tmp_path / "again")
    capsys.readouterr()


def test_a_model_is_found_by_its_name(tmp_path):
    path = bare("syntax", tmp_path)
    network = read_recipe(path, init="en-fast", output=str(tmp_path / "run")).network
    assert (network.encoder, network.tasks, network.tags) == ("lstm", ("syntax",), True)
    with pytest.raises(RecipeError, match=r"init: .* found no en-fsat; there are en"):
        read_recipe(path, init="en-fsat", output=str(tmp_path / "run"))
    nowhere = read_recipe(path, init="en")
    with pytest.raises(RecipeError, match=r"output: expected a directory for the run"):
        prepare(nowhere)
