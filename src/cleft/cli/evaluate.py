"""`cleft evaluate`: predicted trees scored against gold ones."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from cleft.errors import MetricError, UsageError
from cleft.formats.registry import FORMATS

EPILOG = """\
The task follows from the files: brackets (.mrg .ptb .psd .parse .txt, or an
ending that tells nothing) hold syntax, .rs3 .rs4 .dis .rsd hold discourse,
.jsonl holds either; where both files hold both, syntax is scored unless
--task says otherwise.

syntax
  EVALB's counts. Trees are paired line by line; a blank line, or one such as
  (()), is a missing parse and is skipped. A pair whose words differ is an
  error. Both leave precision and recall, so both are always shown.
  Files with trees over several lines are paired tree by tree.

discourse
  RST Parseval (--metric rst): each split's two children; or original Parseval
  (--metric original): each inner node. Spans are compared over tokens, so the
  EDUs may differ, unless --gold-edus asks for them to be the same.
  Segmentation is over the boundaries inside a sentence.

All percentages run from 0 to 100.

examples:
  cleft evaluate gold.mrg predicted.mrg
  cleft evaluate gold.mrg predicted.mrg --prm COLLINS.prm --evalb
  cleft evaluate gold.mrg predicted.mrg --prm spmrl --by-label --confusion
  cleft evaluate gold.mrg one.mrg --against two.mrg
  cleft evaluate gold.jsonl predicted.jsonl --metric original --json
  cleft evaluate notes.rs3 predicted.rs3 --gold-edus

exit codes: 0 scored; 1 stopped at MAX_ERROR (--stop); 2 wrong use or bad input
"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "evaluate",
        help="score predicted trees against gold ones",
        description="Score predicted trees against gold ones.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("gold", metavar="GOLD", help="the gold trees")
    parser.add_argument(
        "predicted", metavar="PRED", help="the predicted trees; - for standard input"
    )
    parser.add_argument("--task", choices=["syntax", "discourse"], help="what to score")
    parser.add_argument("--format", choices=list(FORMATS), help="the format of all files")
    layout = parser.add_mutually_exclusive_group()
    layout.add_argument("--json", action="store_true", help="one JSON object")
    layout.add_argument("--evalb", action="store_true", help="EVALB's own layout (syntax)")
    _add_syntax(parser)
    _add_discourse(parser)
    sure = parser.add_argument_group("how sure the scores are")
    sure.add_argument(
        "--against", metavar="PRED2", help="test the difference to another prediction"
    )
    sure.add_argument(
        "--bootstrap",
        metavar="N",
        type=int,
        help="95 %% intervals from N resampled sets; with --against also the number of "
        "samples for its test (default there: 1000)",
    )
    sure.add_argument("--seed", type=int, default=0, help="for all resampling (default: 0)")
    parser.set_defaults(run=run)


def _add_syntax(parser: argparse.ArgumentParser) -> None:
    syntax = parser.add_argument_group("syntax")
    syntax.add_argument(
        "--prm",
        metavar="FILE",
        help="a parameter file of EVALB, or one of collins, new, spmrl (default: collins)",
    )
    syntax.add_argument(
        "--dialect",
        choices=["evalb", "spmrl"],
        help="which C program to agree with (default: spmrl if the parameters delete VROOT)",
    )
    syntax.add_argument("--stop", action="store_true", help="give up at MAX_ERROR, as EVALB does")
    syntax.add_argument("--by-label", action="store_true", help="scores by label")
    syntax.add_argument("--by-length", action="store_true", help="scores by sentence length")
    syntax.add_argument("--confusion", action="store_true", help="which labels are confused")


def _add_discourse(parser: argparse.ArgumentParser) -> None:
    discourse = parser.add_argument_group("discourse")
    discourse.add_argument("--metric", choices=["rst", "original"], help="default: rst")
    discourse.add_argument("--gold-edus", action="store_true", help="EDUs must be the gold ones")
    discourse.add_argument(
        "--relations",
        choices=["coarse", "fine"],
        help="relation names to take where JSON Lines give both (default: coarse)",
    )


def run(args: argparse.Namespace) -> int:
    """Score, and print."""
    from cleft.metrics.sources import Source

    names = [args.gold, args.predicted] + ([args.against] if args.against else [])
    if names.count("-") > 1:
        raise UsageError("only one file can be standard input", hint="name the others")
    if args.bootstrap is not None and args.bootstrap < 1:
        raise UsageError(f"--bootstrap {args.bootstrap}", hint="give a number of at least 1")
    if args.seed < 0:
        raise UsageError(f"--seed {args.seed}", hint="give a number of at least 0")
    sources = [Source(name, args.format) for name in names]
    if _task(args.task, sources) == "syntax":
        from cleft.cli.evaluate_syntax import evaluate_syntax

        _refuse(args, "discourse", "metric", "gold_edus", "relations")
        code, lines = evaluate_syntax(args, sources)
    else:
        from cleft.cli.evaluate_discourse import evaluate_discourse

        _refuse(
            args, "syntax", "prm", "dialect", "evalb", "stop", "by_label", "by_length", "confusion"
        )
        code, lines = evaluate_discourse(args, sources)
    write(lines)
    return code


def write(lines: Iterator[str]) -> None:
    """Lines to standard output."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def as_json(data: dict[str, Any]) -> Iterator[str]:
    """One JSON object as lines of text."""
    yield json.dumps(data, ensure_ascii=False, indent=2)


def _task(asked: str | None, sources: list[Any]) -> str:
    """The task that all files have trees of."""
    held = [source.tasks for source in sources]
    common = frozenset({"syntax", "discourse"})
    for tasks in held:
        # A file of nothing but failed parses fits either task.
        common &= tasks or common
    if asked is not None:
        for source, tasks in zip(sources, held, strict=True):
            if tasks and asked not in tasks:
                raise MetricError(
                    f"it has no {asked} trees", where=source.name, hint="leave --task out"
                )
        return asked
    if not common:
        told = ", ".join(
            f"{source.name} holds {' and '.join(sorted(tasks))}"
            for source, tasks in zip(sources, held, strict=True)
        )
        raise MetricError(
            f"the files are of different tasks: {told}", hint="compare like with like"
        )
    return "syntax" if "syntax" in common else "discourse"


def _refuse(args: argparse.Namespace, task: str, *options: str) -> None:
    """Fail on options that only the other task has."""
    for name in options:
        if getattr(args, name):
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{option} is for {task}, but these files hold none of it")
