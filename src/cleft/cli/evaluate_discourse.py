"""The half of `cleft evaluate` that scores discourse trees."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from cleft.cli.evaluate import as_json
from cleft.cli.evaluate_model import about_model, model_lines
from cleft.discourse import DiscourseTree
from cleft.errors import MetricError, UsageError
from cleft.metrics import export, report
from cleft.metrics.parseval import MEASURES, DiscourseScores, score_discourse
from cleft.metrics.significance import Comparison, Interval, bootstrap, compare, count_rows
from cleft.metrics.sources import Source, pair_up

SAMPLES = 1000
Trees = Sequence[DiscourseTree | None]


def evaluate_discourse(
    args: argparse.Namespace, sources: list[Source]
) -> tuple[int, Iterator[str]]:
    """The exit code and what to print."""
    wanted = _known(sources[0])
    genres = sources[0].genres if args.genres or args.by_genre else []
    rows = _rows(args, genres, len(wanted), sources[0].name)
    sides = [_found(wanted, sources[0], source) for source in sources[1:]]
    scores = _scored(args, wanted, sides[0], rows)
    second = _scored(args, wanted, sides[1], rows) if args.against else None
    intervals = _intervals(args, scores) if args.bootstrap else {}
    tests = _tests(args, scores, second) if second else {}
    parts = {
        name: _scored(args, wanted, sides[0], [row for row in rows if genres[row] == name])
        for name in (sorted({genres[row] for row in rows}) if args.by_genre else ())
    }
    if args.json:
        data = export.discourse_data(scores)
        if parts:
            data["by_genre"] = {name: export.discourse_data(part) for name, part in parts.items()}
        if intervals:
            data["interval"] = {
                name: export.interval_data(found) for name, found in intervals.items()
            }
        if second is not None:
            data["against"] = _against(second, tests) | about_model(sources[2])
        return 0, as_json(data | about_model(sources[1]))
    lines = _report(args, scores, second, parts, intervals, tests)
    return 0, chain(lines, *map(model_lines, sources[1:]))


def _known(gold: Source) -> list[DiscourseTree]:
    known = []
    for number, tree in enumerate(gold.discourse(), start=1):
        if tree is None:
            raise MetricError(
                f"sentence {number} has no discourse tree",
                where=gold.name,
                hint="remove it from both files",
            )
        known.append(tree)
    return known


def _rows(args: argparse.Namespace, genres: list[str], count: int, where: str) -> list[int]:
    """The places of the sentences that are scored."""
    if args.genres is None:
        return list(range(count))
    unknown = args.genres - set(genres)
    if unknown:
        raise UsageError(
            f"no sentence is of the genre {', '.join(map(repr, sorted(unknown)))}",
            where=where,
            hint=f"its genres are {', '.join(sorted(set(genres)))}",
        )
    return [row for row, genre in enumerate(genres) if genre in args.genres]


def _found(wanted: Trees, gold: Source, source: Source) -> Trees:
    """One side's trees, in step with the gold ones."""
    return pair_up(wanted, source.discourse(), (gold.name, source.name))[1]


def _scored(
    args: argparse.Namespace,
    wanted: list[DiscourseTree],
    found: Trees,
    rows: list[int],
) -> DiscourseScores:
    return score_discourse(
        [wanted[row] for row in rows],
        [found[row] for row in rows],
        args.metric or "rst",
        args.gold_edus,
    )


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
    parts: dict[str, DiscourseScores],
    intervals: dict[str, Interval],
    tests: dict[str, Comparison],
) -> Iterator[str]:
    yield from report.discourse_report(scores)
    if parts:
        yield ""
        yield from report.genre_report(parts)
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
