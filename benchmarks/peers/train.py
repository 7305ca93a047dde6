"""Train a peer on a treebank, choose its epoch on dev, look at test once.

    python benchmarks/peers/train.py supar-minilm --encoder ~/cleft-runs/pretrained/minilm
    python benchmarks/peers/train.py benepar --epochs 2 --limit 100 --output short
    python benchmarks/peers/train.py supar --treebank genia

Runs in cleft's own environment, after prepare.py and install.py; the peer
learns in its own (training.py), a process for each epoch. What was done is
kept: the same command goes on after the last whole epoch. recipes.toml has the
settings. With an exponential schedule `--epochs` may differ when a run goes on. All
trees are scored by cleft's EVALB.

The directory, `~/cleft-runs/peers/NAME` unless named (`NAME-TREEBANK` where the
treebank is not wsj-sample), has the best epoch's
`model`, the trees `dev.mrg` and `test.mrg`, and `run.json`, which has the form
of a record of `cleft train`, so that results.py reads it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import run
from measure import read_sentences
from places import HERE, RUNS, TREEBANK, data, interpreter, peer_of, recipes
from score import score

PREDICTING = 3600
"""The most seconds that parsing a set may take."""


def arguments() -> argparse.Namespace:
    names = recipes()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=list(names))
    parser.add_argument("--encoder", type=Path, help="a Hugging Face directory (NAME-minilm)")
    parser.add_argument("--treebank", default=TREEBANK, help="one that prepare.py has cleaned")
    parser.add_argument("--epochs", type=int, help="instead of the recipe's")
    parser.add_argument("--limit", type=int, help="only so many sentences of each set, to try it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="instead of ~/cleft-runs/peers/NAME")
    options = parser.parse_args()
    if ("encoder_rate" in names[options.name]) != (options.encoder is not None):
        parser.error("--encoder is for the models over MiniLM, which need it, and no others")
    return options


def first(source: Path, limit: int | None, folder: Path) -> Path:
    """The file, or a copy of its first lines."""
    if limit is None:
        return source
    target = folder / source.name
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    target.write_text("".join(lines[:limit]), encoding="utf-8")
    return target


def _fixed(recipe: dict[str, Any], done: bool) -> dict[str, Any]:
    """What must be the same when a run goes on.

    The number of epochs may be another one where the rate does not depend on it, until the run
    has looked at test.
    """
    free = recipe["peer"]["schedule"] == "exponential" and not done
    kept = {key: value for key, value in recipe["peer"].items() if key != "epochs" or not free}
    return {**recipe, "peer": kept}


def start(options: argparse.Namespace, output: Path) -> dict[str, Any]:
    """The record of a run that goes on, or of a new one."""
    settings = recipes()[options.name]
    settings |= {"epochs": options.epochs or settings["epochs"]}
    asked = {
        "name": options.name,
        "peer": settings,
        "encoder": options.encoder.name if options.encoder else None,
        "limit": options.limit,
        "treebank": options.treebank,
    }
    path = output / "run.json"
    if path.exists():
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        done = record["status"] == "done"
        before, now = _fixed(record["recipe"], done), _fixed(asked, done)
        if (before, record["seed"]) != (now, options.seed):
            sys.exit(f"{path}: expected a run of the same settings; name another --output")
        return record | {"recipe": asked}
    python = [str(interpreter(options.name)), str(HERE / "environment.py")]
    found = json.loads(subprocess.run(python, capture_output=True, check=True).stdout)
    names = (peer_of(options.name), "torch", "transformers", "nltk")
    versions = {name: found["versions"].get(name) for name in names}
    return {
        "status": "running",
        "recipe": asked,
        "seed": options.seed,
        "versions": versions,
        "best": {},
        "epochs": [],
    }


def save(output: Path, record: dict[str, Any]) -> None:
    part = output / "run.json.part"
    part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    part.replace(output / "run.json")


def one_epoch(
    options: argparse.Namespace, output: Path, record: dict[str, Any], files: dict[str, Path]
) -> None:
    """Train one more epoch, unless it is there, and score it on dev."""
    number = len(record["epochs"]) + 1
    folder = output / f"epoch-{number}"
    if not folder.exists():
        task = {
            "output": str(output),
            "epoch": number,
            "settings": record["recipe"]["peer"],
            "encoder": str(options.encoder.expanduser().resolve()) if options.encoder else None,
            "train": str(files["train"]),
            "dev": str(files["dev"]),
            "seed": options.seed,
        }
        script = HERE / f"train_{peer_of(options.name)}.py"
        command = [str(interpreter(options.name)), str(script), json.dumps(task)]
        subprocess.run(command, check=True, env=run.settings(1))
    facts = json.loads((folder / "epoch.json").read_text(encoding="utf-8"))
    scores = score(folder / "dev.mrg", files["dev"])
    del scores["counts"]
    record["parameters"] = facts.pop("parameters")
    record["epochs"].append({"epoch": number, **facts, "dev": scores})
    for hours, seconds in (("hours", "seconds"), ("processor_hours", "processor_seconds")):
        record[hours] = round(sum(one[seconds] for one in record["epochs"]) / 3600, 4)
    record["best"] = max(record["epochs"], key=lambda one: one["dev"]["f1"])
    keep_best(output, record)
    save(output, record)
    print(f"epoch {number}: loss {facts['loss']}, dev F1 {scores['f1']:.2f}", flush=True)


def keep_best(output: Path, record: dict[str, Any]) -> None:
    """`model` and `dev.mrg` are the best epoch's; of the others only the last one's model stays."""
    last, best = len(record["epochs"]), record["best"]["epoch"]
    if best == last:
        for name in ("model", "dev.mrg"):
            part = output / f"{name}.part"
            shutil.copy(output / f"epoch-{last}" / name, part)
            part.replace(output / name)
    for number in range(1, last):
        for name in ("model", "optimizer"):
            (output / f"epoch-{number}" / name).unlink(missing_ok=True)


def final(options: argparse.Namespace, output: Path, files: dict[str, Path]) -> dict[str, Any]:
    """The chosen model's scores on dev and test."""
    peer = run.peer(options.name)
    parser = run.Parser(peer.name, peer.python, peer.driver, output / "model", peer.batches)
    sets = []
    for part, gold in (("dev", files["dev"]), ("test", files["test"])):
        predicted = output / f"{part}.mrg"
        results = run.call(parser, "predict", PREDICTING, sentences=gold)
        failed = [one for one in results if "error" in one]
        if failed:
            sys.exit(f"{predicted}: {failed[0]['error']}")
        trees = [one["brackets"] for one in results if "brackets" in one]
        predicted.write_text("".join(f"{tree}\n" for tree in trees), encoding="utf-8")
        sentences = read_sentences(gold)
        facts: dict[str, Any] = {"task": "syntax", "part": part, "name": options.treebank}
        facts |= {"silver": False, "metric": "collins", "given_edus": False}
        facts |= {"sentences": len(sentences), "tokens": sum(len(one.words) for one in sentences)}
        sets.append({**facts, "tagging": None, "beams": {"1": score(predicted, gold)}})
    return {"sets": sets}


def main() -> None:
    options = arguments()
    other = "" if options.treebank == TREEBANK else f"-{options.treebank}"
    output = (options.output or RUNS / f"{options.name}{other}").expanduser().resolve()
    output.mkdir(parents=True, exist_ok=True)
    record = start(options, output)
    parts = (("train", "TOP"), ("dev", "none"), ("test", "none"))
    folder = data(options.treebank)
    files = {
        part: first(folder / f"{part}.{root}.mrg", options.limit, output) for part, root in parts
    }
    record["sentences"] = {"syntax": len(read_sentences(files["train"]))}
    while len(record["epochs"]) < record["recipe"]["peer"]["epochs"]:
        one_epoch(options, output, record, files)
    if record["status"] != "done":
        record |= {"final": final(options, output, files), "status": "done"}
        save(output, record)
    scores = record["final"]["sets"][-1]["beams"]["1"]
    print(f"test F1 {scores['f1']:.2f} (P {scores['precision']:.2f}, R {scores['recall']:.2f})")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
