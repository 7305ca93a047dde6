"""The half of `cleft evaluate` that scores discourse trees."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from cleft.cli.evaluate import as_json
from cleft.discourse import DiscourseTree
from cleft.errors import MetricError
from cleft.metrics import export, report
from cleft.metrics.parseval import MEASURES, DiscourseScores, score_discourse
from cleft.metrics.significance import Comparison, Interval, bootstrap, compare, count_rows
from cleft.metrics.sources import Relations, Source, pair_up

SAMPLES = 1000


def evaluate_discourse(
    args: argparse.Namespace, sources: list[Source]
) -> tuple[int, Iterator[str]]:
    """The exit code and what to print."""
    relations: Relations = args.relations or "coarse"
    wanted = sources[0].discourse(relations)
    sides = [_scored(args, wanted, sources[0], source, relations) for source in sources[1:]]
    scores, second = sides[0], sides[1] if args.against else None
    intervals = _intervals(args, scores) if args.bootstrap else {}
    tests = _tests(args, scores, second) if second else {}
    if args.json:
        data = export.discourse_data(scores)
        if intervals:
            data["interval"] = {
                name: export.interval_data(found) for name, found in intervals.items()
            }
        if second is not None:
            data["against"] = _against(second, tests)
        return 0, as_json(data)
    return 0, _report(args, scores, second, intervals, tests)


def _scored(
    args: argparse.Namespace,
    wanted: list[DiscourseTree | None],
    gold: Source,
    source: Source,
    relations: Relations,
) -> DiscourseScores:
    one, two = pair_up(wanted, source.discourse(relations), (gold.name, source.name))
    known = []
    for number, tree in enumerate(one, start=1):
        if tree is None:
            raise MetricError(
                f"sentence {number} has no discourse tree",
                where=gold.name,
                hint="remove it from both files",
            )
        known.append(tree)
    return score_discourse(known, two, args.metric or "rst", args.gold_edus)


def _intervals(args: argparse.Namespace, scores: DiscourseScores) -> dict[str, Interval]:
    return {
        name: bootstrap(count_rows(scores, name), args.bootstrap, seed=args.seed)
        for name in MEASURES
    }


def _tests(
    args: argparse.Namespace, one: DiscourseScores, two: DiscourseScores
) -> dict[str, Comparison]:
    samples = args.bootstrap or SAMPLES
    return {
        name: compare(count_rows(one, name), count_rows(two, name), samples, seed=args.seed)
        for name in MEASURES
    }


def _against(second: DiscourseScores, tests: dict[str, Comparison]) -> dict[str, Any]:
    return {
        **export.discourse_data(second),
        "comparison": {name: export.comparison_data(found) for name, found in tests.items()},
    }


def _report(
    args: argparse.Namespace,
    scores: DiscourseScores,
    second: DiscourseScores | None,
    intervals: dict[str, Interval],
    tests: dict[str, Comparison],
) -> Iterator[str]:
    yield from report.discourse_report(scores)
    if intervals:
        yield ""
        yield from report.interval_report(intervals)
    if second is not None:
        values = {
            name: (getattr(scores, name).f1, getattr(second, name).f1, found)
            for name, found in tests.items()
        }
        yield ""
        yield from report.comparison_report(args.against, values)
