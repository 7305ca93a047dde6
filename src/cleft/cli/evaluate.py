"""`cleft evaluate`: predicted trees scored against gold ones."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cleft.errors import MetricError, UsageError
from cleft.files import STREAM
from cleft.formats.cleaning import CLEANINGS, cleaning
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
  All trees are cleaned first (--clean, by default ptb: no traces, no function
  tags, no outer bracket), and the output says so; --clean none scores them as
  they stand, as EVALB itself does.

discourse
  RST Parseval (--metric rst): each split's two children; or original Parseval
  (--metric original): each inner node. Spans are compared over tokens, so the
  EDUs may differ, unless --gold-edus asks for them to be the same.
  Segmentation is over the boundaries inside a sentence.

with a model
  --model parses the words of GOLD and scores the trees as it would a file of
  them. The model's trees get the gold tags, which EVALB tells punctuation by;
  how many of its own tags are right stands below.

All percentages run from 0 to 100.

examples:
  cleft evaluate gold.mrg predicted.mrg
  cleft evaluate gold.mrg predicted.mrg --prm COLLINS.prm --evalb --clean none
  cleft evaluate gold.mrg predicted.mrg --prm spmrl --by-label --confusion
  cleft evaluate gold.mrg one.mrg --against two.mrg
  cleft evaluate gold.jsonl predicted.jsonl --metric original --json
  cleft evaluate notes.rs3 predicted.rs3 --gold-edus
  cleft evaluate --model en gold.mrg --beam 20
  cleft evaluate --model en gold.mrg --against en-fast
  cleft evaluate --model en gold.jsonl --edus gold --by-genre

exit codes: 0 scored; 1 stopped at MAX_ERROR (--stop); 2 wrong use or bad input
"""

MOST_SAMPLES = 100_000
"""The most sets that are resampled: more tell nothing new, and take hours."""

SYNTAX_OPTIONS = ("prm", "dialect", "evalb", "stop", "by_label", "by_length", "confusion", "clean")
DISCOURSE_OPTIONS = ("metric", "edus", "gold_edus", "relations", "genres", "by_genre")
MODEL_OPTIONS = ("beam", "jobs", "edus")


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "evaluate",
        help="score predicted trees against gold ones",
        description="Score predicted trees against gold ones.",
        epilog=EPILOG,
    )
    parser.add_argument("gold", metavar="GOLD", help="the gold trees")
    parser.add_argument(
        "predicted",
        metavar="PRED",
        nargs="?",
        help="the predicted trees; - for standard input; none with --model",
    )
    parser.add_argument("--task", choices=["syntax", "discourse"], help="what to score")
    parser.add_argument("--format", choices=list(FORMATS), help="the format of all files")
    layout = parser.add_mutually_exclusive_group()
    layout.add_argument("--json", action="store_true", help="one JSON object")
    layout.add_argument("--evalb", action="store_true", help="EVALB's own layout (syntax)")
    _add_syntax(parser)
    _add_discourse(parser)
    _add_model(parser)
    sure = parser.add_argument_group("how sure the scores are")
    sure.add_argument(
        "--against",
        metavar="PRED2",
        help="test the difference to another prediction: a file, or a model's name or directory",
    )
    sure.add_argument(
        "--bootstrap",
        metavar="N",
        type=int,
        help="95 %% intervals from N resampled sets; with --against also the number of "
        f"samples for its test (default there: 1000); at most {MOST_SAMPLES}",
    )
    sure.add_argument("--seed", type=int, help="for all resampling (default: 0)")
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
    syntax.add_argument(
        "--clean",
        choices=list(CLEANINGS),
        help="what to take off the trees of all sides (default: ptb); none leaves them as they are",
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
    discourse.add_argument(
        "--genres",
        metavar="A,B",
        help="only sentences of these genres, as the key 'genre' of GOLD's JSON Lines tells them",
    )
    discourse.add_argument("--by-genre", action="store_true", help="scores by genre")


def _add_model(parser: argparse.ArgumentParser) -> None:
    model = parser.add_argument_group("with a model")
    model.add_argument(
        "--model", metavar="MODEL", help="parse GOLD's words with a model: a name or a directory"
    )
    model.add_argument("--beam", type=int, help="width of the beam (default: 1, greedy)")
    model.add_argument("--jobs", type=int, help="processes that parse (default: 1)")
    model.add_argument(
        "--edus", choices=["model", "gold"], help="whose EDUs to build on (default: model)"
    )


def run(args: argparse.Namespace) -> int:
    """Score, and print."""
    if args.bootstrap is not None and not 1 <= args.bootstrap <= MOST_SAMPLES:
        raise UsageError(
            f"--bootstrap {args.bootstrap}", hint=f"give a number from 1 to {MOST_SAMPLES}"
        )
    if args.seed is not None and args.seed < 0:
        raise UsageError(f"--seed {args.seed}", hint="give a number of at least 0")
    if args.seed is not None and args.bootstrap is None and args.against is None:
        raise UsageError("--seed is for resampling", hint="give --bootstrap or --against")
    args.seed = args.seed or 0
    if args.genres is not None:
        args.genres = frozenset(name.strip() for name in args.genres.split(","))
    sources = _sources(args)
    if _task(args.task, sources) == "syntax":
        from cleft.cli.evaluate_syntax import evaluate_syntax

        _refuse(args, sources, "discourse", *DISCOURSE_OPTIONS)
        code, lines = evaluate_syntax(args, sources)
    else:
        from cleft.cli.evaluate_discourse import evaluate_discourse

        _refuse(args, sources, "syntax", *SYNTAX_OPTIONS)
        if args.relations and all(_format(source) not in ("", "jsonl") for source in sources):
            raise UsageError("--relations is for JSON Lines, and these files give one name")
        code, lines = evaluate_discourse(args, sources)
    write(lines)
    return code


def _sources(args: argparse.Namespace) -> list[Any]:
    """The sides to compare, gold first: files, and what models make of the gold one's words."""
    from cleft.metrics.sources import Source

    if [args.gold, args.predicted, args.against].count(STREAM) > 1:
        raise UsageError("only one file can be standard input", hint="name the others")
    if args.model is not None and args.predicted is not None:
        raise UsageError(
            f"both --model {args.model} and the predicted trees {args.predicted}",
            hint="give one of them; --against compares the model with a file",
        )
    if args.model is None and args.predicted is None:
        raise UsageError(
            "there is nothing to compare the gold trees with",
            hint="name a file of predicted trees, or a model with --model",
        )
    against_model = args.against is not None and _is_model(args.against)
    if args.model is None and not against_model:
        for name in MODEL_OPTIONS:
            if getattr(args, name) is not None:
                raise UsageError(f"--{name} is for parsing with a model", hint="give --model")
    clean = cleaning(args.clean or "ptb")
    names = [args.gold, args.predicted, None if against_model else args.against]
    files = [
        name and Source(name, args.format, args.relations or "coarse", clean) for name in names
    ]
    models = [None, args.model, args.against if against_model else None]
    return [
        file or _predictions(model, files[0], args)
        for file, model in zip(files, models, strict=True)
        if file or model
    ]


def _is_model(name: str) -> bool:
    """Whether what is to be compared with is a model: a directory, or the name of one."""
    from cleft.models import builtin_models

    path = Path(name).expanduser()
    return path.is_dir() or (name in builtin_models() and not path.exists())


def _predictions(model: str, gold: Any, args: argparse.Namespace) -> Any:
    from cleft.cli.evaluate_model import Predictions, check_gold

    check_gold(gold)
    args.beam = 1 if args.beam is None else args.beam
    args.jobs = 1 if args.jobs is None else args.jobs
    args.gold_edus = args.gold_edus or args.edus == "gold"
    return Predictions(model, gold, args=args)


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
            f"the files are of different tasks: {told}",
            hint=_about_pipes(sources) or "compare like with like",
        )
    return "syntax" if "syntax" in common else "discourse"


def _format(source: Any) -> str:
    """The format of a file; empty for a model."""
    return source.format.name if hasattr(source, "format") else ""


def _refuse(args: argparse.Namespace, sources: list[Any], task: str, *options: str) -> None:
    """Fail on options that only the other task has."""
    for name in options:
        if getattr(args, name):
            option = "--" + name.replace("_", "-")
            if all(task in source.tasks for source in sources):
                other = "syntax" if task == "discourse" else "discourse"
                raise UsageError(
                    f"{option} is for {task}, and {other} is scored", hint=f"add --task {task}"
                )
            raise UsageError(
                f"{option} is for {task}, but these files hold none of it",
                hint="" if args.format else _about_pipes(sources),
            )


def _about_pipes(sources: list[Any]) -> str:
    """A pipe has no ending: what comes through it is taken for brackets unless it is named."""
    piped = any(getattr(source, "path", None) == STREAM for source in sources)
    return "say with --format what standard input holds, for example jsonl" if piped else ""
