"""Models, checkpoints, vectors, schedules, and what a run says and leaves."""

import io
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from rich.console import Console
from safetensors.numpy import load_file, save_file

from cleft.errors import InputError, OutputError, RecipeError
from cleft.nn.checkpoint import fill, load_checkpoint, load_model, save_checkpoint, save_model
from cleft.nn.config import NetworkConfig
from cleft.nn.features import Vocabulary
from cleft.nn.network import Network
from cleft.nn.train import rundir as progress_module
from cleft.nn.train.objective import Average, learning_rate_factor, make_optimiser
from cleft.nn.train.recipe import TrainingConfig
from cleft.nn.train.rundir import (
    PlainProgress,
    Progress,
    RichProgress,
    RunDirectory,
    make_progress,
    plot_run,
)
from cleft.nn.train.setup import read_vectors, start_from
from cleft.nn.transformer import load_pieces, load_transformer
from tests.nn.conftest import BOTH, SMALL, Bench

# ---------------------------------------------------------------- models


def test_a_saved_model_scores_as_it_did(tmp_path, both):
    both.scramble()
    save_model(tmp_path / "model", both.network, both.vocabulary, {"note": "ü"})
    scorer = load_model(tmp_path / "model")
    one = both.scorer.encode([["the", "heron"]]).encoding.boundaries
    assert torch.equal(one, scorer.encode([["the", "heron"]]).encoding.boundaries)
    assert scorer.vocabulary == both.vocabulary
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert names == {"config.json", "vocabulary.json", "model.safetensors"}


def test_a_frozen_transformer_stays_in_its_own_directory(tmp_path, bert):
    config = NetworkConfig(**{**SMALL, "encoder": "transformer", "transformer": str(bert)})
    bench = Bench(config, load_transformer(str(bert)), load_pieces(str(bert)))
    save_model(tmp_path, bench.network, bench.vocabulary, {})
    scorer = load_model(tmp_path)
    words = [["the", "heron"]]
    one = bench.scorer.encode(words).encoding.boundaries
    assert torch.equal(one, scorer.encode(words).encoding.boundaries)
    saved = load_file(tmp_path / "model.safetensors")
    assert any("transformer.mix" in name for name in saved)
    assert not any("transformer.model" in name for name in saved)


def test_broken_models_are_clear_errors(tmp_path, both):
    save_model(tmp_path, both.network, both.vocabulary, {})
    with pytest.raises(
        InputError, match=r"expected encoder.words.weight of shape .* found nothing"
    ):
        fill(both.network, {}, tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"junk")
    with pytest.raises(InputError, match="expected safetensors"):
        load_model(tmp_path)
    (tmp_path / "vocabulary.json").write_text("{")
    with pytest.raises(InputError, match="expected JSON"):
        load_model(tmp_path)
    (tmp_path / "config.json").write_text('{"network": {"encoder": 3}}')
    with pytest.raises(RecipeError, match=r"network\.encoder"):
        load_model(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        load_model(tmp_path / "none")


def counted(step: int) -> dict[str, object]:
    """What a run counts, at a step."""
    return {"epoch": 0, "done": 0, "step": step, "best": {}, "seconds": 0.0, "recipe": {}}


def test_a_checkpoint_replaces_the_one_before_it(tmp_path):
    for step in (1, 2):
        save_checkpoint(tmp_path, {"a": torch.full((2,), float(step))}, counted(step))
    tensors, counters = load_checkpoint(tmp_path)
    assert tensors["a"].tolist() == [2.0, 2.0]
    assert counters["step"] == 2
    assert len(list(tmp_path.glob("*.safetensors"))) == 1


def test_a_crash_while_writing_leaves_the_old_checkpoint_whole(tmp_path, monkeypatch):
    save_checkpoint(tmp_path, {"a": torch.ones(2)}, counted(1))

    def crash(*_):
        raise OSError("disk full")

    monkeypatch.setattr("cleft.nn.checkpoint.save_file", crash)
    with pytest.raises(OutputError, match="disk full"):
        save_checkpoint(tmp_path, {"a": torch.zeros(2)}, counted(2))
    tensors, counters = load_checkpoint(tmp_path)
    assert counters["step"] == 1
    assert tensors["a"].tolist() == [1.0, 1.0]


# ---------------------------------------------------------------- optimisation


def test_schedules_rise_and_fall_as_they_say():
    paper = TrainingConfig()
    assert learning_rate_factor(paper, 0, 1) == 1.0
    assert learning_rate_factor(paper, 10_000, 1) == pytest.approx(0.75**2)
    constant = TrainingConfig(schedule="constant", warmup_steps=4)
    assert [learning_rate_factor(constant, n, 9) for n in (0, 3, 8)] == [0.25, 1.0, 1.0]
    linear = TrainingConfig(schedule="linear")
    assert learning_rate_factor(linear, 99, 10) == 0.0


def test_a_second_cycle_continues_a_finished_run() -> None:
    once = TrainingConfig(schedule="linear", warmup_steps=5)
    twice = replace(once, cycles=2)
    first = [learning_rate_factor(once, step, 40) for step in range(40)]
    whole = [learning_rate_factor(twice, step, 80) for step in range(80)]
    assert whole[:40] == first
    assert whole[40:] == [rate / 2 for rate in first]
    assert learning_rate_factor(twice, 81, 81) == 0.0  # a step that is left over


def test_a_fine_tuned_transformer_has_its_own_learning_rate_and_vectors_do_not_decay(bert):
    table = {
        **SMALL,
        "encoder": "transformer",
        "transformer": str(bert),
        "transformer_frozen": False,
    }
    network = Network(NetworkConfig(**table), Vocabulary(), load_transformer(str(bert)))
    optimiser = make_optimiser(
        network, TrainingConfig(weight_decay=0.1, encoder_learning_rate=1e-5)
    )
    assert isinstance(optimiser, torch.optim.AdamW)
    found = {(group["lr"], group["weight_decay"]) for group in optimiser.param_groups}
    assert found == {(1e-5, 0.1), (1e-5, 0.0), (2e-3, 0.1), (2e-3, 0.0)}
    for group in optimiser.param_groups:
        assert all((p.ndim > 1) is bool(group["weight_decay"]) for p in group["params"])
    inside = {id(p) for p in network.encoder.context.transformer.model.parameters()}
    low = {id(p) for g in optimiser.param_groups if g["lr"] == 1e-5 for p in g["params"]}
    assert low == inside


def test_an_average_follows_the_weights_and_can_stand_in_for_them():
    weight = torch.nn.Parameter(torch.zeros(2))
    average = Average([("w", weight)], 0.5)
    with torch.no_grad():
        weight += 1
    average.update(1000)
    average.swap()
    assert weight.tolist() == [0.5, 0.5]
    average.swap()
    assert weight.tolist() == [1.0, 1.0]


# ---------------------------------------------------------------- vectors


def test_vectors_are_read_from_three_formats(tmp_path):
    table = np.arange(6, dtype=np.float32).reshape(2, 3)
    (tmp_path / "v.txt").write_text("2 3\nThe 0 1 2\nnew york 3 4 5\n")
    np.save(tmp_path / "n.npy", table)
    (tmp_path / "n.txt").write_text("The\nnew york\n")
    save_file({"vectors": table}, tmp_path / "s.safetensors")
    (tmp_path / "s.txt").write_text("The\nnew york\n")
    for name in ("v.txt", "n.npy", "s.safetensors"):
        found = read_vectors(tmp_path / name, 3)
        assert list(found) == ["the", "new york"]
        assert found["new york"].tolist() == [3, 4, 5]


def test_vectors_that_do_not_fit_are_clear_errors(tmp_path):
    (tmp_path / "v.txt").write_text("the 0 1\n")
    with pytest.raises(InputError, match=r"v.txt line 1: expected a word and 3 numbers"):
        read_vectors(tmp_path / "v.txt", 3)
    (tmp_path / "v.txt").write_text("the x y z\n")
    with pytest.raises(InputError, match=r"network\.word_size"):
        read_vectors(tmp_path / "v.txt", 3)
    np.save(tmp_path / "n.npy", np.zeros((2, 2), np.float32))
    (tmp_path / "n.txt").write_text("a\n")
    with pytest.raises(InputError, match=r"expected a table of 1 words × 2, found \(2, 2\)"):
        read_vectors(tmp_path / "n.npy", 2)
    (tmp_path / "n.npy").write_bytes(b"junk")
    with pytest.raises(InputError, match="expected one table of vectors"):
        read_vectors(tmp_path / "n.npy", 2)


def test_the_word_embedding_starts_from_the_vectors():
    bench = Bench(NetworkConfig(**SMALL))
    vector = np.linspace(-1, 1, 10).astype(np.float32)
    start_from(bench.network, bench.vocabulary, {"heron": vector, "unheard": vector})
    row = bench.network.encoder.words.weight[bench.vocabulary.word_id("heron")].detach()
    torch.testing.assert_close(row, torch.from_numpy(vector / vector.std()))
    wordless = Bench(NetworkConfig(**{**SMALL, "word_size": 0}))
    start_from(wordless.network, wordless.vocabulary, {"heron": vector})


# ---------------------------------------------------------------- what a run says and leaves


def test_plain_progress_speaks_in_lines():
    stream = io.StringIO()
    progress = PlainProgress(stream, every=0.0)
    progress.epoch("epoch 1/2", 10, 4)
    progress.step(1.5, 300)
    progress.close()
    assert stream.getvalue().startswith("epoch 1/2 step 5/10 loss 1.5000 ")
    assert "tokens/s" in stream.getvalue()
    quiet = PlainProgress(stream, every=1000)
    quiet.epoch("epoch 1/2", 10, 0)
    before = stream.getvalue()
    quiet.step(1.0, 1)
    assert stream.getvalue() == before


def test_rich_progress_shows_loss_and_speed_in_a_terminal(monkeypatch):
    stream = io.StringIO()
    progress = RichProgress(Console(file=stream, force_terminal=True, width=120))
    for epoch in range(2):
        progress.epoch(f"epoch {epoch + 1}/2", 3, 1)
        progress.step(0.25, 100)
    progress.say("[a line]")
    progress.close()
    shown = stream.getvalue()
    assert "loss 0.2500" in shown
    assert "epoch 2/2" in shown
    assert "[a line]" in shown


def test_only_the_first_process_speaks(monkeypatch):
    assert type(make_progress(False)) is Progress
    assert type(make_progress(True)) is PlainProgress
    silent = Progress()
    silent.say("x")
    silent.epoch("epoch 1/1", 1, 0)
    silent.step(0.0, 0)
    silent.close()

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    shown = make_progress(True)
    assert isinstance(shown, progress_module.RichProgress)
    shown.close()


def test_a_curve_is_valid_xml_whatever_it_shows():
    from xml.etree import ElementTree

    long = [(float(step), 1 / (step + 1)) for step in range(5000)]
    svg = plot_run(
        "a < b & c", {"loss": {"train": long}, "dev": {"f1": [(0, 5.0)], "none": []}, "no": {}}
    )
    tree = ElementTree.fromstring(svg)
    lines = tree.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 2
    assert len(lines[0].get("points").split()) <= 400
    ElementTree.fromstring(plot_run("empty", {}))


def test_a_line_cut_short_by_a_crash_is_passed_over(tmp_path):
    directory = RunDirectory(tmp_path / "run")
    assert list(directory.lines()) == []
    directory.open()
    for step in (1, 2, 3):
        directory.record({"kind": "step", "step": step, "epoch": 1})
    directory.record({"kind": "epoch", "step": 2, "epoch": 1})
    with open(directory.metrics, "a") as stream:
        stream.write('{"kind": "st')
    directory.rewind(2, 1)
    assert [line["step"] for line in directory.lines()] == [1, 2, 2]
    directory.rewind(2, 0)
    assert [line["step"] for line in directory.lines()] == [1, 2]
    assert json.loads(directory.metrics.read_text().splitlines()[-1])["step"] == 2


def test_an_output_directory_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be made"):
        RunDirectory(tmp_path / "file" / "run").open()


def test_both_heads_of_a_saved_joint_model_are_there(tmp_path):
    bench = Bench(NetworkConfig(**BOTH))
    save_model(tmp_path, bench.network, bench.vocabulary, {})
    assert set(load_model(tmp_path).network.heads) == {"syntax", "discourse"}


def test_a_record_does_not_tell_the_name_of_the_home_directory(tmp_path, monkeypatch):
    home, near = f"{tmp_path}/heron", f"{tmp_path}/heronry/y"
    monkeypatch.setenv("HOME", home)
    recipe = {"name": "x", "output": f"{home}/runs/x", "train": [near]}
    directory = RunDirectory(tmp_path)
    directory.finish({"best": {}, "recipe": recipe, "data": {f"{home}/a.mrg": "12"}})
    found = json.loads(directory.run.read_text("utf-8"))
    assert found["recipe"] == {"name": "x", "output": "~/runs/x", "train": [near]}
    assert found["data"] == {"~/a.mrg": "12"}
