"""`cleft evaluate`: predicted trees scored against gold ones."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cleft.errors import UsageError
from cleft.files import STREAM
from cleft.formats.cleaning import CLEANINGS
from cleft.formats.registry import FORMATS

if TYPE_CHECKING:
    from cleft.metrics.evalb import SyntaxScores
    from cleft.metrics.evaluate import Evaluation, Settings

MOST_SAMPLES = 100_000
"""The largest number of samples: more take hours and change nothing."""

SAMPLES = 1000
"""How many samples a comparison takes without --bootstrap."""

OPTIONS = {
    "syntax": ("prm", "dialect", "evalb", "stop", "by_label", "by_length", "confusion", "clean"),
    "discourse": ("metric", "edus", "sentences", "gold_edus", "relations", "genres", "by_genre"),
}
"""The options that only one task has."""
NOT_IN_EVALB_LAYOUT = ("against", "bootstrap", "by_label", "by_length", "confusion")
NAMES = {"f1": "F1"}


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
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
    resampling = parser.add_argument_group("how sure the scores are")
    resampling.add_argument(
        "--against",
        metavar="PRED2",
        help="test the difference to another prediction: a file, or a model's name or directory",
    )
    resampling.add_argument(
        "--bootstrap",
        metavar="N",
        type=int,
        help="95 %% intervals from N resampled sets; with --against also the number of "
        f"samples for its test (default there: 1000); at most {MOST_SAMPLES}",
    )
    resampling.add_argument("--seed", type=int, help="for all resampling (default: 0)")


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
    model.add_argument(
        "--sentences",
        choices=["model", "gold"],
        help="of documents: whose sentences and tokens to build on (default: model, from the "
        "text alone; with --edus gold the gold ones, where GOLD has them)",
    )


def run(args: argparse.Namespace) -> int:
    """Score, and print."""
    from cleft.cli.evaluate_sides import places_of_genres, read_sides
    from cleft.metrics.evalb import SyntaxScores
    from cleft.metrics.evaluate import common_task, evaluate

    _check(args)
    gold, *others = sides = read_sides(args)
    task = common_task(args.task, sides, _pipe_hint(args) or "compare like with like")
    _refuse_other_tasks(args, task, sides)
    settings = _settings(args, task)
    genres = gold.genres if args.genres or args.by_genre else []
    places = places_of_genres(args.genres, genres, gold.name)
    found = [evaluate(task, gold, side, settings, places) for side in others]
    scores = found[0].scores
    if isinstance(scores, SyntaxScores):
        code = _compare_with_evalb(args, scores, settings.clean)
        if args.evalb or code:
            return code
    chosen = genres if places is None else [genres[place] for place in places]
    sections = list(_sections(args, found, others, chosen))
    if args.json:
        data = found[0].data() | {section.key: section.data for section in sections}
        print(json.dumps(data | _about(others[0]), ensure_ascii=False, indent=2))
    else:
        lines = _report(found[0], others, sections)
        sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


# ---------------------------------------------------------------- options


def _check(args: argparse.Namespace) -> None:
    if args.bootstrap is not None and not 1 <= args.bootstrap <= MOST_SAMPLES:
        raise UsageError(
            f"--bootstrap {args.bootstrap}", hint=f"give a number from 1 to {MOST_SAMPLES}"
        )
    if args.seed is not None and args.seed < 0:
        raise UsageError(f"--seed {args.seed}", hint="give a number of at least 0")
    if args.seed is not None and args.bootstrap is None and args.against is None:
        raise UsageError("--seed is for resampling", hint="give --bootstrap or --against")
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
    for name in NOT_IN_EVALB_LAYOUT if args.evalb else ():
        if getattr(args, name):
            raise UsageError(
                f"EVALB's layout has no place for {_option(name)}", hint="leave --evalb out"
            )


def _refuse_other_tasks(args: argparse.Namespace, task: str, sides: Sequence[Any]) -> None:
    """Fail on options that are for the other task, or for files of another kind."""
    other = "discourse" if task == "syntax" else "syntax"
    for name in OPTIONS[other]:
        if not getattr(args, name):
            continue
        if all(other in side.tasks for side in sides):
            raise UsageError(
                f"{_option(name)} is for {other}, and {task} is scored", hint=f"add --task {other}"
            )
        raise UsageError(
            f"{_option(name)} is for {other}, but these files hold none of it",
            hint="" if args.format else _pipe_hint(args),
        )
    formats = [getattr(side, "format", "") for side in sides]
    if args.relations and "jsonl" not in formats and args.model is None:
        raise UsageError("--relations is for JSON Lines, and these files give one name")


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _pipe_hint(args: argparse.Namespace) -> str:
    """A pipe has no ending: what comes through it is taken for brackets unless it is named."""
    from cleft.cli.evaluate_sides import PIPE_HINT

    return PIPE_HINT if STREAM in (args.gold, args.predicted, args.against) else ""


def _settings(args: argparse.Namespace, task: str) -> Settings:
    """How to compare; reports lines of a parameter file that have no effect."""
    from cleft.metrics.evaluate import Settings
    from cleft.metrics.prm import COLLINS, parameters

    found = COLLINS if args.prm is None else parameters(args.prm)
    for remark in found.ignored:
        print(f"cleft: ignored: {remark}", file=sys.stderr)
    return Settings(
        clean=args.clean or "ptb",
        parameters=replace(found, dialect=args.dialect) if args.dialect else found,
        metric=args.metric or "rst",
        gold_edus=args.gold_edus or args.edus == "gold",
    )


# ---------------------------------------------------------------- output


def _compare_with_evalb(args: argparse.Namespace, scores: SyntaxScores, clean: str) -> int:
    """With --evalb print EVALB's layout, with --stop stop as EVALB does; returns the exit code."""
    from cleft.metrics.report import evalb_lines, stopped_lines

    stopped = stopped_lines(scores)
    if stopped is not None:
        count = sum(row.status != 2 for row in scores.problems)
        allowed = scores.parameters.max_error
        what = f"{count} sentences whose words differ, more than EVALB's MAX_ERROR {allowed} allows"
        then = ": stopped there" if args.stop else "; scored all the same"
        print(f"cleft: {what}{then}", file=sys.stderr)
    if stopped is not None and args.stop:
        lines: Iterable[str] = stopped if args.evalb else ()
    else:
        lines = evalb_lines(scores) if args.evalb else ()
        if args.evalb and clean != "none":
            print(f"cleft: {_cleaned(clean)}", file=sys.stderr)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 1 if stopped is not None and args.stop else 0


def _cleaned(clean: str) -> str:
    return f"all trees cleaned by {clean!r}; --clean none scores them as they stand"


class _Section(NamedTuple):
    """What is shown beside the scores: under a key of the JSON object, or as lines."""

    key: str
    data: Any
    lines: Iterable[str]


def _sections(
    args: argparse.Namespace, found: Sequence[Evaluation], sides: Sequence[Any], genres: list[str]
) -> Iterator[_Section]:
    """What the options ask for, in the order in which it is shown."""
    from cleft.metrics import report
    from cleft.metrics.evalb import SyntaxScores

    first = found[0]
    if isinstance(first.scores, SyntaxScores):
        yield from _syntax_sections(args, first, first.scores)
    if args.by_genre:
        parts = {
            name: first.part([place for place, genre in enumerate(genres) if genre == name])
            for name in sorted(set(genres))
        }
        lines = report.genre_report({name: part.scores for name, part in parts.items()})
        yield _Section("by_genre", {name: part.data() for name, part in parts.items()}, lines)
    if args.bootstrap or args.against:
        yield from _resampled_sections(args, found, sides)


def _syntax_sections(
    args: argparse.Namespace, evaluation: Evaluation, scores: SyntaxScores
) -> Iterator[_Section]:
    from cleft.metrics import report
    from cleft.metrics.evalb import by_length, label_scores

    if args.by_length:
        lengths = by_length(scores)
        data = {name: report.totals_data(total) for name, total in lengths.items()}
        yield _Section("by_length", data, report.length_report(lengths))
    if not (args.by_label or args.confusion):
        return
    labels = label_scores(evaluation.gold, evaluation.predicted, scores)
    if args.by_label:
        yield _Section("by_label", report.label_data(labels), report.label_report(labels))
    if args.confusion:
        times = [
            {"gold": one, "predicted": two, "times": times}
            for (one, two), times in labels.confusions.items()
        ]
        yield _Section("confusion", times, report.confusion_report(labels))


def _resampled_sections(
    args: argparse.Namespace, found: Sequence[Evaluation], sides: Sequence[Any]
) -> Iterator[_Section]:
    from cleft.metrics import report
    from cleft.metrics.significance import bootstrap, compare

    seed, counts = args.seed or 0, found[0].counts()
    if args.bootstrap:
        intervals = {n: bootstrap(rows, args.bootstrap, seed=seed) for n, rows in counts.items()}
        data = {name: report.interval_data(interval) for name, interval in intervals.items()}
        named = {NAMES.get(name, name): interval for name, interval in intervals.items()}
        yield _Section("interval", data, report.interval_report(named))
    for other in found[1:]:
        others, samples = other.counts(), args.bootstrap or SAMPLES
        tests = {n: compare(rows, others[n], samples, seed=seed) for n, rows in counts.items()}
        values = {
            NAMES.get(name, name): (found[0].values[name], other.values[name], test)
            for name, test in tests.items()
        }
        comparison = {name: report.comparison_data(test) for name, test in tests.items()}
        data = report.scores_data(other.scores) | {"comparison": comparison} | _about(sides[1])
        yield _Section("against", data, report.comparison_report(args.against, values))


def _about(side: Any) -> dict[str, Any]:
    """What there is to say of a model that made the trees."""
    return {"model": side.about()} if hasattr(side, "about") else {}


def _report(
    evaluation: Evaluation, sides: Sequence[Any], sections: Sequence[_Section]
) -> Iterator[str]:
    from cleft.metrics.report import scores_report

    parts: list[Iterable[str]] = [scores_report(evaluation.scores)]
    if evaluation.task == "syntax" and evaluation.settings.clean != "none":
        parts.append([_cleaned(evaluation.settings.clean)])
    parts += [section.lines for section in sections]
    parts += [side.report() for side in sides if hasattr(side, "report")]
    for number, lines in enumerate(parts):
        if number:
            yield ""
        yield from lines
