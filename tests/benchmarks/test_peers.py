"""Training of the peers: what a run keeps, and that one cut short goes on as if it had not been."""

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the peers learn with PyTorch")
PEERS = Path(__file__).parents[2] / "benchmarks" / "peers"
TREES = "(S (NP (DT the) (NN heron)) (VP (VBZ waits)))\n(S (NP (PRP she)) (VP (VBD slept)))\n"


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(PEERS))
    import training

    return training


def trainee(training: Any) -> Any:
    """A peer that learns a number a word; its batches and dropout are random."""

    class Words(training.Trainee):
        encoder = "0"

        def build(self, task: Any) -> None:
            layers = [torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1)]
            self.network = torch.nn.Sequential(*layers)

        def load(self, path: Path) -> None:
            self.build(None)
            self.network.load_state_dict(torch.load(path, weights_only=True))

        def save(self, path: Path) -> None:
            torch.save(self.network.state_dict(), path)

        def batches(self, task: Any) -> list[Any]:
            numbers = list(range(6))
            random.shuffle(numbers)
            return numbers

        def loss(self, batch: int) -> Any:
            return (self.network(torch.full((1, 4), float(batch))) - 1).square().sum()

        def parse(self, sentences: list[Any]) -> list[str]:
            return [one.brackets for one in sentences]

    return Words()


def epochs(training: Any, folder: Path, numbers: list[int], **settings: Any) -> dict[str, Any]:
    (folder / "dev.mrg").write_text(TREES)
    plan = {"epochs": 3, "rate": 0.1, "betas": [0.9, 0.99], "epsilon": 1e-8, "clip": 1.0}
    plan |= {"schedule": "linear", "warmup": 2, **settings}
    for number in numbers:
        task = training.Task(
            output=folder,
            epoch=number,
            settings=plan,
            encoder=None,
            train=folder / "dev.mrg",
            dev=folder / "dev.mrg",
        )
        training.run_epoch(trainee(training), task)
    return torch.load(folder / f"epoch-{numbers[-1]}" / "model", weights_only=True)


def test_an_epoch_leaves_a_model_trees_and_facts(training: Any, tmp_path: Path) -> None:
    epochs(training, tmp_path, [1])
    folder = tmp_path / "epoch-1"
    assert {path.name for path in folder.iterdir()} == {
        "model",
        "optimizer",
        "dev.mrg",
        "epoch.json",
    }
    assert (folder / "dev.mrg").read_text() == TREES
    facts = json.loads((folder / "epoch.json").read_text())
    assert facts["batches"] == 6
    assert facts["parameters"] == 25


def test_an_epoch_that_is_made_again_is_the_same(training: Any, tmp_path: Path) -> None:
    """As after a run that died: what was half done counts for nothing."""
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second):
        folder.mkdir()
    whole = epochs(training, first, [1, 2, 3])
    epochs(training, second, [1, 2])
    torch.rand(7)
    (second / "epoch-3.part").mkdir()
    (second / "epoch-3.part" / "model").write_text("half of it")
    again = epochs(training, second, [3])
    assert all(torch.equal(whole[name], again[name]) for name in whole)


def test_the_encoder_has_its_own_rate(training: Any) -> None:
    learner = trainee(training)
    learner.build(None)
    settings = {"rate": 0.1, "encoder_rate": 0.01, "betas": [0.9, 0.99], "epsilon": 1e-8}
    groups = training.optimizer(learner, settings).param_groups
    assert [(group["rate"], len(group["params"])) for group in groups] == [(0.01, 2), (0.1, 2)]


def test_rates_of_a_schedule(training: Any) -> None:
    line = {"schedule": "linear", "warmup": 10}
    shares = [training.share(step, 110, line) for step in (0, 9, 60, 109)]
    assert shares == pytest.approx([0.1, 1.0, 0.5, 0.01])
    assert training.share(5000, 6000, {"schedule": "exponential"}) == 0.75


def test_the_best_epoch_is_kept_and_the_last_to_go_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PEERS))
    import train

    record: dict[str, Any] = {"epochs": []}
    for number, f1 in enumerate((80.0, 82.0, 81.0), start=1):
        folder = tmp_path / f"epoch-{number}"
        folder.mkdir()
        for name in ("model", "optimizer", "dev.mrg"):
            (folder / name).write_text(f"{name} {number}")
        record["epochs"].append({"epoch": number, "dev": {"f1": f1}})
        record["best"] = max(record["epochs"], key=lambda one: one["dev"]["f1"])
        train.keep_best(tmp_path, record)
    assert (tmp_path / "model").read_text() == "model 2"
    assert (tmp_path / "dev.mrg").read_text() == "dev.mrg 2"
    assert [path.parent.name for path in sorted(tmp_path.glob("epoch-*/model"))] == ["epoch-3"]


def test_a_run_goes_on_with_other_epochs_only_where_the_rate_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PEERS))
    import train

    def options(name: str, epochs: int) -> argparse.Namespace:
        facts = {"encoder": None, "limit": None, "treebank": "herons", "seed": 1}
        return argparse.Namespace(name=name, epochs=epochs, **facts)

    def began(name: str, status: str) -> None:
        settings = {**train.recipes()[name], "epochs": 5}
        recipe = {"name": name, "peer": settings, "encoder": None, "limit": None}
        record = {"recipe": {**recipe, "treebank": "herons"}, "seed": 1, "status": status}
        (tmp_path / "run.json").write_text(json.dumps(record))

    began("supar", "running")
    assert train.start(options("supar", 3), tmp_path)["recipe"]["peer"]["epochs"] == 3
    for name, status in (("supar", "done"), ("benepar", "running")):
        began(name, status)
        assert train.start(options(name, 5), tmp_path)["status"] == status
        with pytest.raises(SystemExit, match="same settings"):
            train.start(options(name, 3), tmp_path)


def test_models_that_can_be_trained_have_a_peer_and_a_search() -> None:
    sys.path.insert(0, str(PEERS))
    try:
        import places
    finally:
        sys.path.remove(str(PEERS))
    for name, settings in places.recipes().items():
        assert places.peer_of(name) in places.PEERS
        assert places.driver(name).is_file()
        assert (PEERS / f"train_{places.peer_of(name)}.py").is_file()
        assert settings["search"] in ("MBR", "CKY")


def test_greedy_decoding_takes_as_many_steps_as_there_are_splits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PEERS))
    import decode

    monkeypatch.setattr(decode, "LENGTHS", tmp_path)
    (tmp_path / "5.mrg").write_text(
        "(S (NP (DT the) (NN heron)) (VP (VBZ waits) (PP (IN by) (NP (NN water)))))\n"
    )
    model = PEERS.parents[1] / "src" / "cleft" / "models" / "en-fast"
    options = argparse.Namespace(model=model, search="greedy", length=5)
    assert decode.cleft(options)() == {"steps": 4, "splits": 16}
    options.search = "beam 3"
    assert decode.cleft(options)()["steps"] >= 4
    assert decode._chart(3, 1) == {"steps": 2, "splits": 4}


def test_a_decoder_that_failed_or_was_slow_is_not_asked_for_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    import complexity

    assert not complexity.is_beyond({"10": {"ms": 400.0}}, 0.5)
    assert complexity.is_beyond({"10": {"ms": 600.0}}, 0.5)
    assert complexity.is_beyond({"10": {"error": "no memory"}}, 0.5)
