"""The languages in the page of results: runs of recipes called lang-CODE, lang-CODE-… or CODE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from records import MEASURES, NONE, Run, command, number, set_title, sets, widths
from report import table

PREFIX = "lang-"
NAMES = {
    "de": "German",
    "fo": "Faroese",
    "fr": "French",
    "id": "Indonesian",
    "is": "Icelandic",
    "ja": "Japanese",
    "zh": "Chinese",
}
WITHOUT = "network.char_size=0"
"""The setting of a run without characters."""

LANGUAGES = """\
## Languages

One set of hyper-parameters for all `lang-…`, words and characters only: no word vectors, no tags \
given. A recipe called after a language alone fine-tunes a pretrained encoder.
"""
SYNTAX = """\
### Syntax of languages

Labelled recall, precision and F1 by EVALB with SPMRL parameters, over gold tags; *tags* is the \
accuracy of the part-of-speech head.
"""
DISCOURSE = """\
### Discourse of languages

RST Parseval F1 by micro-average, end to end from tokens or over the given EDUs.
"""
CHARACTERS = """\
### With and without characters

The same recipes with `--set network.char_size=0`: greedy scores.
"""
SYNTAX_HEAD = (
    *("language", "set", "greedy LR", "LP", "F1"),
    *("beam LR", "LP", "F1", "beam", "tags", "command"),
)
DISCOURSE_HEAD = ("language", "set", "EDUs", "search", *MEASURES, "command")
CHARACTERS_HEAD = (
    *("language", "set", "F1 without", "F1 with", "gain"),
    *("tags without", "tags with", "gain"),
)


def is_language(run: Run) -> bool:
    """Whether a run is of a recipe for a language."""
    name = str(run["recipe"]["name"])
    return name.startswith(PREFIX) or name in NAMES


def language_blocks(runs: Sequence[Run]) -> list[str]:
    """The section of the languages, as blocks of Markdown; none without runs."""
    if not runs:
        return []
    whole = [run for run in runs if _changes(run) != [WITHOUT]]
    plain = [run for run in runs if not _changes(run)]
    bare = [run for run in runs if _changes(run) == [WITHOUT]]
    parts = (
        (SYNTAX, SYNTAX_HEAD, [row for run in whole for row in _syntax_rows(run)]),
        (DISCOURSE, DISCOURSE_HEAD, [row for run in whole for row in _discourse_rows(run)]),
        (CHARACTERS, CHARACTERS_HEAD, list(_character_rows(plain, bare))),
    )
    return [LANGUAGES, *(f"{text}\n{table(head, rows)}" for text, head, rows in parts if rows)]


def _changes(run: Run) -> list[str]:
    """What `--set` changed in a run, the seed aside."""
    settings = run["recipe"].get("settings", ())
    return [text.replace(" ", "") for text in settings if not text.startswith("seed")]


def _language(run: Run) -> str:
    code = str(run["recipe"]["name"]).removeprefix(PREFIX).partition("-")[0]
    encoder = Path(str(run["recipe"].get("network", {}).get("transformer", ""))).name
    over = [f"over {encoder}"] if encoder else []
    changes = [text.rpartition(".")[2] for text in _changes(run)]
    return " ".join([NAMES.get(code, code), *over, *changes])


def _tested(run: Run, task: str) -> list[Mapping[str, Any]]:
    """The test sets of a task; of a run that is not over, its dev set."""
    found = sets(run, task)
    return [one for one in found if one["part"] == "test"] or found


def _three(scores: Mapping[str, Any]) -> list[str]:
    return [number(scores.get(key)) for key in ("recall", "precision", "f1")]


def _syntax_rows(run: Run) -> Iterator[list[str]]:
    for one in _tested(run, "syntax"):
        greedy, beam, width = widths(one)
        yield [
            _language(run),
            set_title(one),
            *_three(greedy),
            *_three(beam),
            width if beam else NONE,
            number(one["tagging"]),
            f"`{command(run)}`",
        ]


def _discourse_rows(run: Run) -> Iterator[list[str]]:
    for one in _tested(run, "discourse"):
        for width, scores in sorted(one["beams"].items(), key=lambda item: int(item[0])):
            yield [
                _language(run),
                set_title(one),
                "given" if one["given_edus"] else "found",
                f"beam {width}" if int(width) > 1 else "greedy",
                *[number(scores.get(measure)) for measure in MEASURES],
                f"`{command(run)}`",
            ]


def _character_rows(whole: Sequence[Run], bare: Sequence[Run]) -> Iterator[list[str]]:
    """A row for each set that a run with characters and one without were both scored on."""
    for run in whole:
        for other in bare:
            if _alike(run) != _alike(other):
                continue
            without = {set_title(one): one for one in _tested(other, "syntax")}
            for one in _tested(run, "syntax"):
                if set_title(one) in without:
                    yield _compared(run, without[set_title(one)], one)


def _alike(run: Run) -> tuple[Any, ...]:
    """What two runs must share if a difference is to be that of the characters."""
    recipe = run["recipe"]
    network = {k: v for k, v in recipe.get("network", {}).items() if k != "char_size"}
    return recipe["name"], run["seed"], recipe.get("training"), network


def _compared(run: Run, without: Mapping[str, Any], one: Mapping[str, Any]) -> list[str]:
    f1 = [widths(each)[0].get("f1") for each in (without, one)]
    tags = [each["tagging"] for each in (without, one)]
    return [_language(run), set_title(one), *_gain(*f1), *_gain(*tags)]


def _gain(without: float | None, found: float | None) -> list[str]:
    both = without is not None and found is not None
    gain = f"{found - without:+.2f}" if both else NONE  # type: ignore[operator]
    return [number(without), number(found), gain]
