"""The scores in a model's card: every set, greedy and beam 20, and how far probabilities are right.

    python benchmarks/card.py MODEL CARD [--beam 20] [--calibration]

MODEL is a name or a directory; CARD is a Markdown file whose parts between the
`scores` and the `calibration` marks are written anew. The card is then copied into the model as
its README.md. Sets that are absent are an error: a card is made beside the data.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from cleft.models import model_path
from cleft.runtime import write_checksums

ROOT = Path(__file__).parents[1]
DATA = Path("../shared/data")
SYNTAX = {
    "wsj-sample test (newswire, never trained on)": "syntax/wsj-sample/test.mrg",
    "masc-penn dev (used for selection)": "syntax/masc-penn/dev.mrg",
    "genia test (biomedical abstracts)": "syntax/genia/test.mrg",
    "gum test (**silver**: trees of another parser)": "syntax/gum/test.mrg",
}
DISCOURSE = "discourse/gum/sentences-test.jsonl"
CALIBRATED = {
    "gum-open dev (silver)": "syntax/gum-open/dev.mrg",
    "masc-penn dev": "syntax/masc-penn/dev.mrg",
    "gum dev": "discourse/gum/sentences-dev.jsonl",
}
OPEN = "academic,bio,court,interview,news,speech,textbook,vlog,voyage"


def evaluate(model: str | Path, file: str, *options: str) -> dict[str, Any]:
    """What `cleft evaluate --model` says of a set."""
    command = [sys.executable, "-m", "cleft", "evaluate", "--model", str(model), str(DATA / file)]
    command += ["--json", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def syntax_table(model: str, beam: int) -> list[str]:
    """F1 and parts of speech on every syntactic set, then F1 by label on newswire."""
    rows = [
        f"| set | sentences | F1 greedy | F1 beam {beam} | complete | parts of speech |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    labels: dict[str, Any] = {}
    for name, file in SYNTAX.items():
        greedy = evaluate(model, file)
        wide = evaluate(model, file, "--beam", str(beam), "--by-label")
        labels = labels or wide["by_label"]
        rows.append(
            f"| {name} | {greedy['sentences']} | {greedy['f1']:.1f} | {wide['f1']:.1f} "
            f"| {wide['complete']:.1f} | {greedy['model']['tagging']:.1f} |"
        )
    rows += ["", f"By label, wsj-sample test, beam {beam}:", "", "| label | gold | F1 |"]
    rows.append("| --- | --- | --- |")
    frequent = sorted(labels.items(), key=lambda item: -item[1]["gold"])[:15]
    rows += [f"| {name} | {row['gold']} | {row['f1']:.1f} |" for name, row in frequent]
    return rows


def _discourse_row(name: str, greedy: dict[str, Any], wide: dict[str, Any]) -> str:
    parts = [_four(greedy), _four(wide)]
    return f"| {name} | {greedy['sentences']} | {' | '.join(parts)} |"


def _four(found: dict[str, Any]) -> str:
    keys = ("segmentation", "span", "nuclearity", "relation")
    return " / ".join(f"{found[key]:.1f}" for key in keys)


def discourse_table(model: str, beam: int) -> list[str]:
    """Segmentation, Span, Nuclearity and Relation on GUM test, by EDUs and by genre."""
    rows = [
        f"| gum test | sentences | greedy | beam {beam} |",
        "| --- | --- | --- | --- |",
    ]
    wide = ("--beam", str(beam))
    for name, options in (
        ("end to end, all 15 genres", ()),
        ("end to end, the 9 genres trained on", ("--genres", OPEN)),
        ("gold EDUs, all 15 genres", ("--edus", "gold")),
        ("gold EDUs, the 9 genres trained on", ("--edus", "gold", "--genres", OPEN)),
    ):
        one = evaluate(model, DISCOURSE, *options)
        rows.append(_discourse_row(name, one, evaluate(model, DISCOURSE, *options, *wide)))
    genres = evaluate(model, DISCOURSE, *wide, "--by-genre")["by_genre"]
    rows += ["", f"By genre, end to end, beam {beam}:", "", "| genre | sentences | scores |"]
    rows.append("| --- | --- | --- |")
    trained = OPEN.split(",")
    for genre, found in sorted(genres.items()):
        mark = "" if genre in trained else " (not trained on)"
        rows.append(f"| {genre}{mark} | {found['sentences']} | {_four(found)} |")
    return rows


def calibration_table(model: str) -> list[str]:
    """How far the probabilities of greedy trees are from the shares that are right."""
    rows = ["| set | of | said | right | expected calibration error |"]
    rows.append("| --- | --- | --- | --- | --- |")
    for name, file in CALIBRATED.items():
        for kind, row in evaluate(model, file, "--calibration")["calibration"].items():
            shares = f"{row['said']:.3f} | {row['right']:.3f} | {row['ece']:.3f}"
            rows.append(f"| {name} | {kind} | {shares} |")
    return rows


def put(lines: list[str], card: Path, model: Path, name: str = "scores") -> None:
    """Write a part of the card anew, by default the scores, and the card into the model."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    before, rest = card.read_text(encoding="utf-8").split(begin)
    made = "\n".join([begin, *lines, end])
    text = f"{before}{made}{rest.split(end)[1]}"
    for path in (card, model / "README.md"):
        path.write_text(text, encoding="utf-8")
    write_checksums(model)


def main() -> None:
    """Evaluate, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("card", type=Path)
    parser.add_argument("--beam", type=int, default=20)
    parser.add_argument("--calibration", action="store_true", help="write that part alone")
    args = parser.parse_args()
    model = model_path(args.model)
    put(calibration_table(args.model), args.card, model, "calibration")
    if not args.calibration:
        put(score_lines(args.model, args.beam), args.card, model)


def score_lines(model: str, beam: int) -> list[str]:
    """All tables of scores."""
    return [
        "Labelled F1 by EVALB with COLLINS parameters, over gold tags; the last column is the",
        "accuracy of the model's own parts of speech.",
        "",
        *syntax_table(model, beam),
        "",
        "Discourse by RST Parseval over coarse relations: segmentation / Span / Nuclearity /",
        "Relation.",
        "",
        *discourse_table(model, beam),
    ]


if __name__ == "__main__":
    main()
