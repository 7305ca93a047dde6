"""The ablation in the page of results: variants over seeds, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import Any

from records import NONE, Run, name, number, set_title, sets
from report import table

ABLATION = """\
## Ablation

Dev scores of the finished models by `python benchmarks/ablate.py recipes/ablation.toml`, and for \
discourse (the F1 of relations) `recipes/ablation-discourse.toml`, all of a recipe with the same \
number of epochs: mean over the seeds, and the spread between them (highest less lowest). Any \
beam of a variant without history is exact search. *Against* is the difference to the baseline. \
A variant *wins* or *loses* if that is more than the spread of both; else there is *no \
difference*, and the cheaper of the two stays.
"""
BEAMS = "### Beams of the ablation\n"
DECIDED = "### What the ablation decided\n"

ABLATION_HEAD = (
    *("recipe", "variant", "changes", "seeds", "set", "greedy F1", "spread", "against"),
    *("verdict", "hours a run", "parameters"),
)
BEAM_HEAD = ("recipe", "variant", "set", "beam", "F1", "spread", "cost", "below")
BASELINE = "baseline"
MEASURES = {"syntax": "f1", "discourse": "relation"}

Groups = dict[tuple[str, str, str], list[tuple[Run, Mapping[str, Any]]]]


def _groups(runs: Sequence[Run]) -> Groups:
    """Runs with one scored set each, by recipe, set and variant: the baseline first."""
    found: Groups = {}
    for run in runs:
        for task in MEASURES:
            for one in sets(run, task):
                title = set_title(one) + (" (given EDUs)" if one["given_edus"] else "")
                key = (name(run), title, run["recipe"]["ablation"])
                found.setdefault(key, []).append((run, one))
    order = sorted(found, key=lambda key: (*key[:2], key[2] != BASELINE, key[2]))
    return {key: found[key] for key in order}


def _values(group: list[tuple[Run, Mapping[str, Any]]], beam: str, name: str) -> list[float]:
    return [one["beams"][beam][name] for _, one in group if name in one["beams"].get(beam, {})]


def _scores(group: list[tuple[Run, Mapping[str, Any]]], beam: str) -> list[float]:
    """What counts of a task: the F1 of brackets, or of relations."""
    return _values(group, beam, MEASURES[group[0][1]["task"]]) if group else []


def _mean(values: list[float]) -> float | None:
    return mean(values) if values else None


def _spread(values: list[float]) -> float | None:
    return max(values) - min(values) if len(values) > 1 else None


def _ablation_rows(runs: Sequence[Run]) -> Iterator[list[str]]:
    groups = _groups(runs)
    for (recipe, title, variant), group in groups.items():
        values = _scores(group, "1")
        base = _scores(groups.get((recipe, title, BASELINE), []), "1")
        first = group[0][0]
        changes = first["recipe"].get("variants", {}).get(variant, [])
        yield [
            recipe,
            variant,
            ", ".join(f"`{change}`" for change in changes) or NONE,
            ", ".join(str(run["seed"]) for run, _ in group),
            title,
            number(_mean(values)),
            number(_spread(values)),
            *([NONE, NONE] if variant == BASELINE else _compared(values, base)),
            number(_mean([run["hours"] for run, _ in group])),
            f"{first['parameters'] / 1e6:.2f} M",
        ]


def _compared(values: list[float], base: list[float]) -> list[str]:
    """The difference to the baseline, and what it says beside the spread between seeds."""
    if not values or not base:
        return [NONE, NONE]
    difference = mean(values) - mean(base)
    spreads = [_spread(values), _spread(base)]
    known = [spread for spread in spreads if spread is not None]
    verdict = NONE
    if len(known) == len(spreads):
        verdict = "wins" if difference > 0 else "loses"
        verdict = verdict if abs(difference) > max(known) else "no difference"
    return [f"{difference:+.2f}", verdict]


def _beam_rows(runs: Sequence[Run]) -> Iterator[list[str]]:
    """What a wider beam gives: a row for each width of each variant."""
    for (recipe, title, variant), group in _groups(runs).items():
        for beam in sorted({beam for _, one in group for beam in one["beams"]}, key=int):
            values, costs = _scores(group, beam), _values(group, beam, "cost")
            below = _values(group, beam, "below_greedy")
            yield [
                recipe,
                variant,
                title,
                beam,
                number(_mean(values)),
                number(_spread(values)),
                number(_mean(costs)),
                str(int(sum(below))) if below else NONE,
            ]


def ablation_blocks(variants: Sequence[Run], decisions: Sequence[str]) -> list[str]:
    """The sections of the page, none without variants; `decisions` are sentences to add."""
    if not variants:
        return []
    blocks = [
        f"{ABLATION}\n{table(ABLATION_HEAD, _ablation_rows(variants))}",
        f"{BEAMS}\n{table(BEAM_HEAD, _beam_rows(variants))}",
    ]
    if decisions:
        blocks.append(DECIDED + "\n" + "".join(f"- {text}\n" for text in decisions))
    return blocks
