"""Speed of cleft and of its peers, taken in turns in one run.

    python benchmarks/speed.py --model lstm=DIR [--model NAME=DIR ...] [--torch NAME=CHECKPOINT]
                               [--quick] [--only SECTION] [--resume] [--budget MINUTES]

Each section goes to the output as soon as it is there, so a run that was cut
short is taken up again with `--resume`. A section that has used its minutes
ends after the round it is in and says so. What a parser cannot do is a result.

    accuracy    F1 on wsj-sample test, gold tags given
    start       process start to first tree, and `import cleft` alone
    scan        throughput by batch, threads and jobs; one at a time by threads
    batched     everyone at its best setting of the scan, in turns; ratios to the baseline
    single      the same, one sentence at a time
    lengths     milliseconds a sentence, and tokens a second, by length
    discourse   100 sentences of gum test, process start to last tree
    stream      `Parser.stream` over many lines by jobs, starting its workers included
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sections import SECTIONS, Setting
from turns import HERE, baseline, contestants, places, run

OUTPUT = HERE / "results" / "speed.json"


def pairs(values: list[str]) -> dict[str, Path]:
    """NAME=PATH arguments."""
    found = {}
    for value in values:
        name, separator, path = value.partition("=")
        if not (name and separator and path):
            sys.exit(f"expected NAME=PATH, found {value!r}")
        found[name] = Path(path).expanduser().resolve()
    return found


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names: dict[str, Any] = {"metavar": "NAME=PATH", "action": "append", "default": []}
    parser.add_argument("--model", help="an exported model; may repeat", **names)
    parser.add_argument("--torch", help="a model's checkpoint; may repeat", **names)
    parser.add_argument("--peer-model", help="instead of the peer's installed one", **names)
    parser.add_argument("--peers", nargs="*", default=places.PEERS, help="those to measure")
    parser.add_argument("--only", action="append", choices=list(SECTIONS), default=[])
    parser.add_argument("--resume", action="store_true", help="keep sections that are there")
    parser.add_argument("--quick", action="store_true", help="a handful of sentences: does it run?")
    parser.add_argument("--budget", type=float, default=4.0, help="minutes a section")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    return parser.parse_args()


def save(path: Path, results: dict[str, Any]) -> None:
    """Write whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)


def model_facts(path: Path) -> dict[str, Any]:
    """What tells one model from another."""
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    keys = ("encoder", "transformer_layers", "encoder_layers", "encoder_hidden", "decoder_hidden")
    facts = {key: config.get("network", {}).get(key) for key in keys}
    size = sum(file.stat().st_size for file in path.iterdir())
    facts |= {"precision": config.get("precision"), "tasks": config.get("tasks")}
    return {**facts, "megabytes": round(size / 1e6, 1)}


def measure(section: Callable[[Setting], Any], setting: Setting) -> dict[str, Any]:
    """A section's result with the machine's load around it; a failure is one too."""
    before, began = run.load_average(), time.time()
    try:
        found = section(setting)
    except Exception as error:  # the other sections must still be measured
        found = {"error": f"{type(error).__name__}: {error}"}
    return {
        "load_average": [before, run.load_average()],
        "when": time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(began)),
        "seconds": round(time.time() - began, 1),
        "results": found,
    }


def main() -> None:
    options = arguments()
    models, checkpoints = pairs(options.model), pairs(options.torch)
    peers = {name: places.model(name) for name in options.peers} | pairs(options.peer_model)
    results: dict[str, Any] = {}
    if (options.resume or options.only) and options.output.exists():
        results = json.loads(options.output.read_text(encoding="utf-8"))
    results |= {
        "machine": run.machine(),
        "quick": options.quick,
        "baseline": baseline(peers),
        "models": {
            **results.get("models", {}),
            **{name: model_facts(path) for name, path in models.items()},
        },
    }
    batches = (1000, 400) if options.quick else (1000, 400, 3000)
    setting = Setting(
        contestants=contestants(models, checkpoints, peers, batches),
        quick=options.quick,
        rounds=1 if options.quick else options.rounds,
        minutes=options.budget,
        done=results.setdefault("sections", {}),
    )
    for name, section in SECTIONS.items():
        wanted = name in options.only if options.only else True
        if not wanted or (options.resume and name in results["sections"]):
            continue
        print(f"{time.strftime('%H:%M:%S')} {name}", file=sys.stderr, flush=True)
        results["sections"][name] = measure(section, setting.begin())
        save(options.output, results)


if __name__ == "__main__":
    main()
