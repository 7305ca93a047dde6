"""The scores in the card of a language's model: its test set, greedy and beam 20.

    python benchmarks/card_languages.py MODEL CARD [--beam 20] [--jobs 1]

MODEL is the model's directory, whose name is the language's code; CARD is a
Markdown file whose part between the two `scores` marks is written anew. The
card is then copied into the model as its README.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from cleft.runtime import write_checksums

ROOT = Path(__file__).parents[1]
DATA = Path("../shared/data/syntax")
BEGIN, END = "<!-- scores:begin -->", "<!-- scores:end -->"
SETS = {
    "fr": "sequoia-fr",
    "id": "icon-id",
    "is": "greynir-gold",
    "fo": "farpahc",
    "ja": "keyaki-ja",
}


def evaluate(model: Path, beam: int, jobs: int) -> dict[str, Any]:
    """What `cleft evaluate --model` says of the test set."""
    test = DATA / SETS[model.name] / "test.mrg"
    command = [sys.executable, "-m", "cleft", "evaluate", "--model", str(model), str(test)]
    command += ["--clean", "spmrl", "--prm", "spmrl", "--json", "--by-label"]
    command += ["--beam", str(beam), "--jobs", str(jobs)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def scores(model: Path, beam: int, jobs: int) -> list[str]:
    """The tables, line by line."""
    by_search = {"greedy": evaluate(model, 1, jobs), f"beam {beam}": evaluate(model, beam, jobs)}
    first = by_search["greedy"]
    lines = [
        f"{SETS[model.name]} test, {first['sentences']} sentences: EVALB with SPMRL parameters "
        "over gold tags; the last column is the accuracy of the model's own tags.",
        "",
        "| search | LR | LP | F1 | complete | tags |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, found in by_search.items():
        cells = [found[key] for key in ("recall", "precision", "f1", "complete")]
        cells.append(found["model"]["tagging"])
        lines.append(f"| {name} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
    frequent = sorted(first["by_label"].items(), key=lambda item: -item[1]["gold"])[:8]
    shown = ", ".join(f"{label} {row['f1']:.1f} (of {row['gold']})" for label, row in frequent)
    return [*lines, "", f"By label, greedy F1: {shown}."]


def main() -> None:
    """Write the scores into the card, and the card into the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("card", type=Path)
    parser.add_argument("--beam", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    model = args.model.resolve()
    text = args.card.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    made = "\n".join([BEGIN, *scores(model, args.beam, args.jobs), END])
    args.card.write_text(f"{before}{made}{after}", encoding="utf-8")
    (model / "README.md").write_text(f"{before}{made}{after}", encoding="utf-8")
    write_checksums(model)


if __name__ == "__main__":
    main()
