"""The half of `cleft evaluate` that scores constituency trees."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from cleft.cli.evaluate import as_json
from cleft.cli.evaluate_model import about_model, model_lines
from cleft.errors import UsageError
from cleft.metrics import export, report
from cleft.metrics.breakdown import by_length, label_scores
from cleft.metrics.evalb import SyntaxScores, score_syntax
from cleft.metrics.evalb_layout import evalb_lines, stopped_lines
from cleft.metrics.prm import COLLINS, Parameters, parameters
from cleft.metrics.significance import Comparison, bootstrap, compare, count_rows
from cleft.metrics.sources import Source, pair_up
from cleft.tree import Tree

SAMPLES = 1000
BESIDE_EVALB = ("against", "bootstrap", "by_label", "by_length", "confusion")
Trees = list[Tree | None]


def evaluate_syntax(args: argparse.Namespace, sources: list[Source]) -> tuple[int, Iterator[str]]:
    """The exit code and what to print."""
    setting = _setting(args)
    for name in BESIDE_EVALB if args.evalb else ():
        if getattr(args, name):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"EVALB's layout has no place for {option}", hint="leave --evalb out")
    wanted = sources[0].syntax()
    sides = [_scored(wanted, sources[0], source, setting) for source in sources[1:]]
    gold, predicted, scores = sides[0]
    stopped = stopped_lines(scores)
    if stopped is not None:
        if args.stop:
            print(f"cleft: {_too_many(scores)}: stopped there", file=sys.stderr)
            return 1, iter(stopped if args.evalb else [])
        print(f"cleft: {_too_many(scores)}; scored all the same", file=sys.stderr)
    if args.evalb:
        if _cleaning(args) != "none":
            print(f"cleft: {_about_cleaning(args)}", file=sys.stderr)
        return 0, evalb_lines(scores)
    second = sides[1][2] if args.against else None
    if args.json:
        data = _data(args, gold, predicted, scores, second)
        if second is not None:
            data["against"] |= about_model(sources[2])
        return 0, as_json(data | about_model(sources[1]))
    return 0, chain(_report(args, gold, predicted, scores, second), *map(model_lines, sources[1:]))


def _setting(args: argparse.Namespace) -> Parameters:
    setting = COLLINS if args.prm is None else parameters(args.prm)
    for remark in setting.ignored:
        print(f"cleft: ignored: {remark}", file=sys.stderr)
    return replace(setting, dialect=args.dialect) if args.dialect else setting


def _scored(
    wanted: Trees, gold: Source, source: Source, setting: Parameters
) -> tuple[Trees, Trees, SyntaxScores]:
    one, two = pair_up(wanted, source.syntax(), (gold.name, source.name))
    if gold.clean is not None:
        # EVALB would count a sentence that neither side has a word of as skipped.
        places = [place for place in range(len(one)) if one[place] or two[place]]
        one, two = [one[place] for place in places], [two[place] for place in places]
    return one, two, score_syntax(one, two, setting)


def _cleaning(args: argparse.Namespace) -> str:
    return args.clean or "ptb"


def _about_cleaning(args: argparse.Namespace) -> str:
    return f"all trees cleaned by {_cleaning(args)!r}; --clean none scores them as they stand"


def _too_many(scores: SyntaxScores) -> str:
    count = sum(row.status != 2 for row in scores.problems)
    allowed = scores.parameters.max_error
    return f"{count} sentences whose words differ, more than EVALB's MAX_ERROR {allowed} allows"


def _comparison(args: argparse.Namespace, one: SyntaxScores, two: SyntaxScores) -> Comparison:
    samples = args.bootstrap or SAMPLES
    return compare(count_rows(one), count_rows(two), samples, seed=args.seed)


def _data(
    args: argparse.Namespace,
    gold: Trees,
    predicted: Trees,
    scores: SyntaxScores,
    second: SyntaxScores | None,
) -> dict[str, Any]:
    data = export.syntax_data(scores) | {"clean": _cleaning(args)}
    if args.by_length:
        ranges = by_length(scores)
        data["by_length"] = {name: export.totals_data(total) for name, total in ranges.items()}
    if args.by_label or args.confusion:
        found = label_scores(gold, predicted, scores)
        if args.by_label:
            data["by_label"] = export.label_data(found)
        if args.confusion:
            data["confusion"] = [
                {"gold": one, "predicted": two, "times": times}
                for (one, two), times in found.confusions.items()
            ]
    if args.bootstrap:
        interval = bootstrap(count_rows(scores), args.bootstrap, seed=args.seed)
        data["interval"] = {"f1": export.interval_data(interval)}
    if second is not None:
        data["against"] = {
            **export.syntax_data(second),
            "comparison": {"f1": export.comparison_data(_comparison(args, scores, second))},
        }
    return data


def _report(
    args: argparse.Namespace,
    gold: Trees,
    predicted: Trees,
    scores: SyntaxScores,
    second: SyntaxScores | None,
) -> Iterator[str]:
    yield from report.syntax_report(scores)
    if _cleaning(args) != "none":
        yield ""
        yield _about_cleaning(args)
    if args.by_length:
        yield ""
        yield from report.length_report(by_length(scores))
    if args.by_label or args.confusion:
        found = label_scores(gold, predicted, scores)
        if args.by_label:
            yield ""
            yield from report.label_report(found)
        if args.confusion:
            yield ""
            yield from report.confusion_report(found)
    if args.bootstrap:
        yield ""
        interval = bootstrap(count_rows(scores), args.bootstrap, seed=args.seed)
        yield from report.interval_report({"F1": interval})
    if second is not None:
        yield ""
        found_ = _comparison(args, scores, second)
        yield from report.comparison_report(args.against, {"F1": (scores.f1, second.f1, found_)})
