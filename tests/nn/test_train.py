"""Training end to end on invented trees: by heart, resumed, in parallel, interrupted."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from lightning_fabric import Fabric
from lightning_fabric.plugins.precision.amp import MixedPrecision
from safetensors.torch import load_file, save_file

from cleft.cli import main
from cleft.errors import InputError, ModelError, RecipeError
from cleft.nn.checkpoint import load_checkpoint, load_model
from cleft.nn.export.export import export
from cleft.nn.train.evaluate import evaluate, parse_sentences
from cleft.nn.train.recipe import Recipe
from cleft.nn.train.recipe_file import read_recipe
from cleft.nn.train.rundir import RunDirectory, make_progress
from cleft.nn.train.setup import prepare, try_precision
from cleft.nn.train.trainer import Trainer, train
from cleft.search import search
from cleft.tasks import DISCOURSE
from tests.faults.commands import MODULE, UNSAFE, ran, shadow
from tests.nn.conftest import ROOT, invented, write_bert

NO_DROPOUT = [f"network.{part}_dropout=0.0" for part in ("embed", "encoder", "decoder", "mlp")]
NO_DEV = {task: f"data.{task}.dev=[]" for task in ("syntax", "discourse")}


@pytest.fixture(autouse=True)
def _at_root_on_one_thread(monkeypatch):
    """Recipes are relative to the root; a fixed number of threads makes runs equal."""
    monkeypatch.chdir(ROOT)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def tiny(task: str, *settings: str) -> Recipe:
    return read_recipe(f"recipes/tiny-{task}.toml", settings)


def lines(directory: Path, kind: str = "step") -> list[dict]:
    found = [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]
    return [line for line in found if line["kind"] == kind]


BY_HEART = [*NO_DROPOUT, "training.epochs=60", "training.dev_every=60", "training.batch_tokens=150"]


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_twenty_trees_are_learnt_by_heart_and_parsed_back_exactly(task, tmp_path):
    recipe = tiny(task, *BY_HEART, f"data.{task}.limit=20", "training.learning_rate=0.01")
    train(recipe, tmp_path)
    steps = lines(tmp_path)
    assert all(abs(line["loss"]) < 100 for line in steps)
    assert steps[-1]["split"] < 0.02
    assert steps[-1]["label"] < 0.02
    scorer = load_model(tmp_path / "best")
    gold = invented(task)[:20]
    kind = DISCOURSE
    if task == "syntax":
        config = scorer.network.config
        kind = config.task("syntax")
    found = search(scorer, [sentence.words for sentence in gold], kind)
    if task == "syntax":
        assert [result[0].tree for result in found] == [sentence.tree for sentence in gold]
    else:
        shapes = [result[0].derivation for result in found]
        assert shapes == [DISCOURSE.derive(sentence.tree) for sentence in gold]


def test_both_tasks_are_learnt_by_one_encoder(tmp_path):
    recipe = tiny("joint", *NO_DROPOUT, "training.epochs=40", "training.batch_tokens=150")
    summary = train(recipe, tmp_path)
    steps = lines(tmp_path)
    assert {line["task"] for line in steps} == {"syntax", "discourse"}
    first = {task: next(s for s in steps if s["task"] == task)["loss"] for task in NO_DEV}
    last = {task: next(s for s in reversed(steps) if s["task"] == task)["loss"] for task in NO_DEV}
    assert all(last[task] < 0.2 * first[task] for task in NO_DEV)
    assert set(summary["best"]["dev"]) == {"syntax", "discourse"}
    mean = (
        summary["best"]["dev"]["syntax"]["f1"] + summary["best"]["dev"]["discourse"]["relation"]
    ) / 2
    assert summary["best"]["score"] == pytest.approx(mean)
    scorer = load_model(tmp_path / "best")
    dev = invented("syntax", "dev")
    scores = evaluate(scorer, "syntax", dev, metric="collins", beam=3)
    assert scores["f1"] > 20
    assert scores["errors"] == 0
    outcomes, tags = parse_sentences(scorer, DISCOURSE, invented("discourse", "dev"))
    assert len(outcomes[1].parses) == 5
    assert tags == (0, 0)


def test_a_run_leaves_its_record(tmp_path):
    recipe = tiny("syntax", "training.epochs=2", "training.dev_every=1", "training.average=0.9")
    train(recipe, tmp_path)
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["status"] == "done"
    assert run["seed"] == 1
    assert run["recipe"] == json.loads(json.dumps(recipe.to_table()))
    assert set(run["data"]) == {"tests/data/invented-train.mrg", "tests/data/invented-dev.mrg"}
    assert all(len(value) == 64 for value in run["data"].values())
    assert torch.__version__.split("+")[0] == run["versions"]["torch"].split("+")[0]
    assert [line["epoch"] for line in run["epochs"]] == [1, 2]
    assert run["hours"] > 0
    assert (tmp_path / "curve.svg").read_text().startswith("<svg")
    config = json.loads((tmp_path / "best" / "config.json").read_text())
    assert config["network"] == run["recipe"]["network"]
    assert config["best"] == run["best"]


def test_the_heads_of_words_are_learnt_beside_trees_and_left_out_of_the_export(tmp_path):
    path = tmp_path / "words" / "heads.conllu"
    path.parent.mkdir()
    columns = "{}\t{}\t_\t_\t{}\t_\t{}\t_\t_\t_\n"
    said = [(1, "Grey", "JJ", 2), (2, "herons", "NNS", 3), (3, "sing", "VBP", 0)]
    path.write_text("".join(columns.format(*word) for word in said) + "\n")
    recipe = tiny(
        "syntax",
        *BY_HEART,
        *("data.syntax.limit=5", "training.learning_rate=0.01", "network.word_heads=8"),
        f'data.syntax.heads=["{path}"]',
    )
    record = train(recipe, tmp_path / "run")
    assert record["sentences"] == {"syntax": 6}
    assert str(path) in record["data"]
    steps = [line for line in lines(tmp_path / "run") if "head" in line]
    assert steps[0]["head"] > 1
    assert steps[-1]["head"] < 0.05
    assert "JJ" in load_model(tmp_path / "run" / "best").vocabulary.tags
    export(tmp_path / "run", tmp_path / "model")
    for origin in ("run", "model"):  # neither an export nor a new recipe needs to have them
        settings = ("training.epochs=1", f'data.syntax.heads=["{path}"]', "network.word_heads=8")
        for number, chosen in enumerate((settings, settings[:1])):
            begun = read_recipe(
                "recipes/tiny-syntax.toml", chosen, init=str(tmp_path / origin), output=""
            )
            train(begun, tmp_path / f"{origin}-{number}")


def test_a_run_without_dev_keeps_its_last_model(tmp_path):
    empty = tmp_path / "empty.mrg"
    empty.write_text("\n")
    for name, setting in (("none", NO_DEV["syntax"]), ("empty", f'data.syntax.dev="{empty}"')):
        recipe = tiny("syntax", setting, "training.epochs=2", "training.dev_every=1")
        summary = train(recipe, tmp_path / name)
        assert summary["best"] == {
            "epoch": 2,
            "step": summary["best"]["step"],
            "score": 0.0,
            "dev": {},
        }
        tensors, _ = load_checkpoint(tmp_path / name)
        best = load_file(tmp_path / name / "best" / "model.safetensors")
        assert all(torch.equal(tensors[f"model.{key}"], value) for key, value in best.items())


def test_words_start_from_vectors_if_the_recipe_names_some(tmp_path):
    vectors = tmp_path / "vectors.txt"
    rows = {"heron": 1.0, "unseen": 2.0, "beyond": 3.0}
    vectors.write_text("".join(f"{word} {' '.join([str(x)] * 32)}\n" for word, x in rows.items()))
    settings = [f'vocabulary.vectors="{vectors}"', "vocabulary.vectors_limit=2"]
    recipe = tiny("syntax", *settings, "training.epochs=1", NO_DEV["syntax"])
    summary = train(recipe, tmp_path / "run")
    assert str(vectors) in summary["data"]
    words = load_model(tmp_path / "run" / "best").vocabulary.words
    assert "unseen" in words
    assert "beyond" not in words


def test_patience_ends_a_run_that_gets_no_better(tmp_path):
    # With a learning rate of next to nothing every epoch scores the same.
    recipe = tiny(
        "syntax", "training.learning_rate=1e-12", "training.patience=2", "training.dev_every=1"
    )
    summary = train(recipe, tmp_path)
    assert len(lines(tmp_path, "epoch")) < 10
    assert summary["best"]["epoch"] == 1


def test_an_output_directory_with_a_run_is_not_overwritten(tmp_path):
    recipe = tiny("syntax", "training.epochs=1", NO_DEV["syntax"])
    train(recipe, tmp_path)
    with pytest.raises(RecipeError, match=r"a run in the output directory already.*--resume"):
        train(recipe, tmp_path)


def test_a_run_that_stopped_before_its_first_checkpoint_starts_anew(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"kind": "step", "step": 1, "epoch": 1, "loss": 7}\n')
    train(tiny("syntax", "training.epochs=1", NO_DEV["syntax"]), tmp_path, resume=True)
    found = [line["step"] for line in lines(tmp_path)]
    assert found == list(range(1, len(found) + 1))
    assert lines(tmp_path)[0]["loss"] != 7


def test_a_run_is_not_resumed_with_another_network(tmp_path):
    train(tiny("syntax", "training.epochs=1", NO_DEV["syntax"]), tmp_path)
    other = tiny("syntax", "training.epochs=2", NO_DEV["syntax"], "network.word_size=16")
    with pytest.raises(RecipeError, match=r"network: expected .* as the run began"):
        train(other, tmp_path, resume=True)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('data.discourse.genres=["nwes"]', r"discourse.genres: .* found 'nwes', which no sentence"),
        ("data.discourse.dev=poems.jsonl", r"discourse.dev: .* of the genres to choose by"),
    ],
)
def test_genres_that_nothing_has_are_refused(setting, message, tmp_path, monkeypatch):
    line = '{"tokens": ["a", "b"], "edus": [[0, 2]], "splits": [], "genre": "%s"}\n'
    (tmp_path / "news.jsonl").write_text(line % "news")
    (tmp_path / "poems.jsonl").write_text(line % "poem")
    settings = ["data.discourse.train=news.jsonl", 'data.discourse.genres=["news"]', setting]
    recipe = tiny("discourse", "data.discourse.dev=[]", "data.discourse.test=[]", *settings)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecipeError, match=message):
        train(recipe, tmp_path / "run")


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path):
    recipe = tiny("syntax", "training.learning_rate=1e30", NO_DEV["syntax"])
    with pytest.raises(ModelError, match=r"the loss is (nan|inf).*learning_rate"):
        train(recipe, tmp_path)


@pytest.mark.parametrize("average", [0.0, 0.95])
def test_a_run_in_two_parts_is_the_run_in_one(average, tmp_path):
    settings = [f"training.average={average}", "training.dev_every=1"]
    train(tiny("joint", *settings, "training.epochs=3"), tmp_path / "one")
    train(tiny("joint", *settings, "training.epochs=1"), tmp_path / "two")
    train(tiny("joint", *settings, "training.epochs=3"), tmp_path / "two", resume=True)
    assert lines(tmp_path / "one") == lines(tmp_path / "two")
    one, two = (load_checkpoint(tmp_path / name) for name in ("one", "two"))
    assert one[0].keys() == two[0].keys()
    assert all(torch.equal(one[0][key], two[0][key]) for key in one[0])
    assert one[1]["best"] == two[1]["best"]


def test_fine_tuning_resumes_with_its_own_rates(tmp_path):
    bert = write_bert(tmp_path / "bert")
    settings = [
        "network.encoder=transformer",
        f'network.transformer="{bert}"',
        "network.transformer_frozen=false",
        "network.encoder_layers=0",
        "training.schedule=linear",
        "training.warmup_steps=3",
        "training.weight_decay=0.01",
        "training.dev_every=1",
        "training.threads=1",
    ]
    # The linear schedule ends with the last epoch, so both parts must know it.
    train(tiny("discourse", *settings, "training.epochs=2"), tmp_path / "one")
    interrupt_after(5, tiny("discourse", *settings, "training.epochs=2"), tmp_path / "two")
    train(tiny("discourse", *settings, "training.epochs=2"), tmp_path / "two", resume=True)
    assert lines(tmp_path / "one") == lines(tmp_path / "two")
    scorer = load_model(tmp_path / "two" / "best")
    assert len(search(scorer, [["the", "heron", "waited"]], DISCOURSE)[0]) == 1


def interrupt_after(steps: int, recipe: Recipe, output: Path) -> None:
    """Train in this process until a step is done, then interrupt as Ctrl-C would."""
    record = RunDirectory.record

    def recording(self, line):
        record(self, line)
        if line["step"] == steps and line["kind"] == "step":
            os.kill(os.getpid(), signal.SIGINT)

    RunDirectory.record = recording  # type: ignore[method-assign]
    try:
        with pytest.raises(KeyboardInterrupt):
            train(recipe, output)
    finally:
        RunDirectory.record = record  # type: ignore[method-assign]


def test_an_interrupt_saves_a_checkpoint_to_go_on_from(tmp_path):
    settings = ["training.epochs=2", NO_DEV["syntax"]]
    interrupt_after(3, tiny("syntax", *settings), tmp_path)
    assert load_checkpoint(tmp_path)[1]["step"] == 3
    assert json.loads((tmp_path / "run.json").read_text())["status"] == "interrupted"
    with pytest.raises(RecipeError, match=r"batch_tokens: expected \d+, as the epoch began"):
        train(tiny("syntax", *settings, "training.batch_tokens=77"), tmp_path, resume=True)
    changed = tiny("syntax", *settings, "training.learning_rate=0.004")
    record = train(changed, tmp_path, resume=True)
    (earlier,) = record["earlier"]
    assert earlier["until_step"] == 3
    assert earlier["training"]["learning_rate"] != record["recipe"]["training"]["learning_rate"]
    assert [line["step"] for line in lines(tmp_path)] == list(range(1, len(lines(tmp_path)) + 1))


def cleft_train(output: Path, *settings: str, resume: bool = False) -> list[str]:
    command = [sys.executable, "-W", "error", "-m", "cleft", "train", "recipes/tiny-joint.toml"]
    command += ["--output", str(output), *(["--resume"] if resume else [])]
    return command + [part for setting in settings for part in ("--set", setting)]


ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def is_inside_second_epoch(path: Path) -> bool:
    if not path.exists():
        return False
    counters = json.loads(path.read_text())
    return counters["epoch"] == 1 and counters["done"] > 0


def test_a_killed_run_resumes_bit_for_bit(tmp_path):
    # Saving now and then puts some steps after the last checkpoint: those are lost.
    settings = ["training.epochs=4", "training.dev_every=2", "training.checkpoint_minutes=0.0005"]
    settings.append("training.batch_tokens=40")
    process = subprocess.Popen(
        cleft_train(tmp_path / "killed", *settings),
        cwd=ROOT,
        env=ENVIRONMENT,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while not is_inside_second_epoch(tmp_path / "killed" / "checkpoint.json"):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert is_inside_second_epoch(tmp_path / "killed" / "checkpoint.json")
    resumed = cleft_train(tmp_path / "killed", *settings, resume=True)
    subprocess.run(resumed, cwd=ROOT, env=ENVIRONMENT, check=True, capture_output=True)
    train(tiny("joint", *settings), tmp_path / "whole")
    assert lines(tmp_path / "killed") == lines(tmp_path / "whole")
    one, two = (load_checkpoint(tmp_path / name)[0] for name in ("killed", "whole"))
    assert all(torch.equal(one[key], two[key]) for key in two)


def test_two_processes_train_as_one_does(tmp_path):
    settings = [*NO_DROPOUT, *NO_DEV.values(), "training.precision=64-true", "training.epochs=3"]
    # Adam's epsilon must be above the rounding noise of gradients that are truly zero.
    settings += ["training.epsilon=1e-8", "training.accelerator=cpu"]
    train(tiny("joint", *settings), tmp_path / "one")
    # The processes are started in a folder whose Python files they must not run.
    folder = tmp_path / "here"
    folder.mkdir()
    shadow(folder, MODULE)
    for name in ("recipes", "tests"):
        (folder / name).symlink_to(ROOT / name)
    command = cleft_train(tmp_path / "two", *settings, "training.devices=2")
    options = {"cwd": folder, "env": {**UNSAFE, "OMP_NUM_THREADS": "1"}, "timeout": 300}
    subprocess.run(command, check=True, capture_output=True, **options)
    assert ran(folder) == []
    one, counters = load_checkpoint(tmp_path / "one")
    two, _ = load_checkpoint(tmp_path / "two")
    assert counters["step"] >= 20
    weights = [key for key in one if key.startswith("model.")]
    assert one[weights[0]].dtype == torch.float64
    assert max(float((one[key] - two[key]).abs().max()) for key in weights) < 1e-8
    for first, second in zip(lines(tmp_path / "one"), lines(tmp_path / "two"), strict=True):
        assert first["loss"] == pytest.approx(second["loss"], rel=1e-6)
        assert first["tokens"] == second["tokens"]


def granted(precision: str) -> None:
    """Skip a test where the processor cannot do its arithmetic."""
    try:
        try_precision(precision, "cpu")
    except RecipeError as error:
        pytest.skip(str(error))


def test_mixed_precision_trains(tmp_path):
    recipe = tiny("syntax", "training.precision=bf16-mixed", "training.epochs=3", NO_DEV["syntax"])
    try:
        train(recipe, tmp_path)
    except RecipeError as error:
        if error.where != "training.precision":
            raise
        pytest.skip(str(error))
    found = [line["loss"] for line in lines(tmp_path)]
    assert found[-1] < found[0]


BROKEN = {
    "os.kill(os.getpid(), signal.SIGILL)": "cpu was ended by SIGILL",
    "os._exit(3)": "cpu ended with exit code 3",
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_precision_that_kills_its_process_is_refused(what, tmp_path, monkeypatch, capsys):
    # The process that tries it finds a PyTorch that dies, as on a CPU that promises too much.
    (tmp_path / "torch.py").write_text(f"import os, signal\n{what}\n")
    monkeypatch.syspath_prepend(tmp_path)
    run = tmp_path / "run"
    words = ["train", "recipes/tiny-syntax.toml", "--output", str(run)]
    assert main([*words, "--set", "training.precision=bf16-mixed"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("cleft: training.precision: expected a precision that this machine can")
    assert BROKEN[what] in told
    assert "use 32-true" in told
    assert "ONEDNN_MAX_CPU_ISA" in told
    assert not run.exists()


def test_a_precision_that_fails_without_dying_is_refused():
    with pytest.raises(RecipeError, match=r"training.precision: .* on the nowhere failed: .*"):
        try_precision("bf16-mixed", "nowhere")


def test_half_precision_is_refused_on_a_cpu(tmp_path):
    recipe = tiny("syntax", "training.precision=16-mixed", "training.accelerator=cpu")
    with pytest.raises(RecipeError, match=r"training.precision: .*'16-mixed', which needs a GPU"):
        train(recipe, tmp_path / "run")


def trainer(output: Path, epochs: int) -> Trainer:
    """A run in half precision; only a GPU may have one in earnest."""
    settings = ["training.precision=16-mixed", "data.syntax.test=[]", NO_DEV["syntax"]]
    recipe = tiny("syntax", *settings, f"training.epochs={epochs}")
    # So large that the first gradients overflow, and growing soon after.
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24, growth_interval=3)
    half = MixedPrecision("16-mixed", device="cpu", scaler=scaler)
    fabric = Fabric(accelerator="cpu", devices=1, plugins=[half])
    return Trainer(recipe, prepare(recipe), RunDirectory(output), fabric, make_progress(False))


def test_half_precision_resumes_with_the_factor_of_its_gradients(tmp_path):
    granted("16-mixed")
    one = trainer(tmp_path / "one", 2)
    begun = one.fabric.strategy.precision.state_dict()
    one.run()
    trainer(tmp_path / "two", 1).run()
    two = trainer(tmp_path / "two", 2)
    two.restore()
    assert two.fabric.strategy.precision.state_dict()["scale"] != begun["scale"]
    two.run()
    assert lines(tmp_path / "one") == lines(tmp_path / "two")
    ends = [load_checkpoint(tmp_path / name)[1]["scaler"] for name in ("one", "two")]
    assert ends[0] == ends[1]
    written = json.loads((tmp_path / "two" / "checkpoint.json").read_text())
    for damaged in ({"scale": 1.0}, {**ends[0], "scale": "much"}, [1]):
        (tmp_path / "two" / "checkpoint.json").write_text(
            json.dumps({**written, "scaler": damaged})
        )
        with pytest.raises(InputError, match=r"scaler: expected numbers for scale, growth_factor"):
            trainer(tmp_path / "two", 3).restore()


ENCODER = ["network.encoder=transformer", "network.encoder_layers=1", "training.epochs=1"]


@pytest.fixture(scope="module")
def over_bert(tmp_path_factory):
    """Runs over one tiny BERT: frozen, fine-tuned, and fine-tuned but for its embeddings."""
    folder = tmp_path_factory.mktemp("over-bert")
    bert = write_bert(folder / "bert")
    settings = [*ENCODER, f'network.transformer="{bert}"', NO_DEV["syntax"]]
    with contextlib.chdir(ROOT):
        for name, more in OVER_BERT.items():
            train(tiny("syntax", *settings, *more), folder / name)
    return folder


OVER_BERT = {
    "frozen": ["network.transformer_frozen=true"],
    "tuned": ["network.transformer_frozen=false"],
    "embeddings": ["network.transformer_frozen=false", "network.embeddings_frozen=true"],
}


@pytest.fixture
def spoilt(over_bert):
    """The folder of those runs; files of the encoder that a test changes are brought back."""
    bert = over_bert / "bert"
    before = {path: path.read_bytes() for path in bert.iterdir()}
    yield bert
    for path in bert.iterdir():
        path.unlink()
    for path, data in before.items():
        path.write_bytes(data)


def scale_weights(bert: Path) -> None:
    weights = {name: 1.5 * tensor for name, tensor in load_file(bert / "model.safetensors").items()}
    save_file(weights, bert / "model.safetensors", metadata={"format": "pt"})


def swap_pieces(bert: Path) -> None:
    text = (bert / "vocab.txt").read_text()
    (bert / "vocab.txt").write_text(text.replace("rain", "x").replace("\nthe\na\n", "\na\nthe\n"))


def add_tokenizer(bert: Path) -> None:
    (bert / "special_tokens_map.json").write_text('{"unk_token": "the"}')


@pytest.mark.parametrize(
    ("change", "name", "refused"),
    [
        (scale_weights, "model.safetensors was altered", {"frozen", "embeddings"}),
        (swap_pieces, "vocab.txt was altered", set(OVER_BERT)),
        (add_tokenizer, "special_tokens_map.json was added or removed", set(OVER_BERT)),
        (lambda bert: (bert / "vocab.txt").unlink(), "vocab.txt was added", set(OVER_BERT)),
        (lambda bert: None, "", set()),
    ],
)
def test_a_model_is_not_loaded_over_another_encoder(
    change, name, refused, over_bert, spoilt, tmp_path
):
    change(spoilt)
    for kind in OVER_BERT:
        if kind not in refused:
            load_model(over_bert / kind / "best")
            continue
        with pytest.raises(InputError, match=f"trained with another encoder: {name}"):
            load_model(over_bert / kind / "best")
        with pytest.raises(InputError, match=f"trained with another encoder: {name}"):
            export(over_bert / kind, tmp_path / kind)
        assert not (tmp_path / kind).exists()


@pytest.mark.parametrize("change", [scale_weights, swap_pieces])
def test_a_run_is_not_resumed_over_another_encoder(change, over_bert, spoilt):
    change(spoilt)
    settings = [*ENCODER, f'network.transformer="{spoilt}"', NO_DEV["syntax"], *OVER_BERT["tuned"]]
    recipe = tiny("syntax", *settings, "training.epochs=2")
    with pytest.raises(RecipeError, match=r"bert/.*: the file has changed since the run began"):
        train(recipe, over_bert / "tuned", resume=True)


def test_a_transformer_without_weights_is_a_clear_error(tmp_path):
    bert = write_bert(tmp_path / "bert")
    (bert / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"cannot load the transformer.*model\.safetensors"):
        train(tiny("syntax", *ENCODER, f'network.transformer="{bert}"'), tmp_path / "run")
