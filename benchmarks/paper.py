"""A table like the paper's: our runs beside those of the peers, and what the paper printed.

Made from the records of runs (docs/runs): those of `cleft train`, and those of
peers/train.py, which have the same form. Only runs whose training trees are of
one treebank are held beside each other, on its test set. A run that is not
there has no row; a number that a record does not have is a dash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from records import NONE, Run, Speed, name, number, sets
from report import table

from cleft.metrics.significance import bootstrap, compare

SAMPLES = 10_000
MEASURED = "wsj-sample"
"""The treebank whose sentences speeds are measured with."""
TITLES = {"supar": "SuPar, CRF", "benepar": "benepar, chart"}
HEAD = """\
## Beside the paper

Parsers trained on one treebank alone, on its test set, by our EVALB (COLLINS) over gold tags; \
each was chosen on dev. *95 %*: bootstrap over sentences. *Ours − it*: in a peer's row, the \
difference to ours, that with the same encoder that has the best dev F1, more or less what chance \
makes, and its p-value (approximate randomisation, two-sided). Speeds were taken in turns in one \
run, each parser at its best setting; × is to SuPar with the same encoder, the median of rounds; \
a speed that is of another run than SuPar's own has that of SuPar in its run beside it. *Hours* \
are of training on one thread; the peers' are processor time, ours of a shared machine. \
[peers](../benchmarks/peers/README.md) says how they were trained.
"""
DISCOURSE = """\
Discourse trees of sentences, trained on gum alone: Span, Nuclearity and Relation by RST Parseval.
"""
PRINTED = """\
### What the paper printed

**Other data: nothing here can be held against a row above.** Syntax: Penn Treebank, section 23, \
trained on 39,832 sentences. Discourse: RST-DT. Speeds: machines of its day, some with a GPU, \
those of discourse with loading.
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One search of one run on a test set."""

    run: Run
    encoder: str
    search: str
    scores: Mapping[str, Any]
    dev: float

    @property
    def peer(self) -> str | None:
        """The peer's name, None of our own."""
        return _peer(self.run)

    @property
    def counts(self) -> np.ndarray[Any, np.dtype[np.int64]] | None:
        """The counts of each sentence, if they were kept."""
        text = self.scores.get("counts")
        if text is None:
            return None
        return np.array([each.split("/") for each in text.split()], np.int64)


def is_peer(run: Run) -> bool:
    """Whether a record is one of peers/train.py."""
    return "peer" in run["recipe"]


def _peer(run: Run) -> str | None:
    return str(run["recipe"]["name"]).partition("-")[0] if is_peer(run) else None


def paper_blocks(runs: Sequence[Run], speeds: Mapping[str, Speed] | None = None) -> list[str]:
    """The section of the page; nothing where no run has a row."""
    found = [row for run in runs if "final" in run for row in _rows(run)]
    tables = []
    for treebank in sorted({_treebank(row.run) for row in found}):
        rows = sorted(
            (row for row in found if _treebank(row.run) == treebank),
            key=lambda row: (row.encoder, row.peer is not None, _name(row.run)),
        )
        lines = [_line(row, rows, speeds or {}) for row in rows]
        tables.append(f"### {treebank} test\n\n{table(COLUMNS, lines)}")
    discourse = [line for run in runs if "final" in run for line in _discourse(run)]
    if discourse:
        tables.append(f"### gum test\n\n{DISCOURSE}\n{table(DISCOURSE_COLUMNS, discourse)}")
    return [HEAD, *tables, *printed_blocks()] if tables else []


# ---------------------------------------------------------------- our rows and the peers'


def _treebank(run: Run) -> str:
    """The one treebank that a run was trained on, or nothing."""
    if is_peer(run):
        return str(run["final"]["sets"][0]["name"]) if run["recipe"]["limit"] is None else ""
    data = run["recipe"]["data"]
    names = {Path(path).parent.name for one in data.values() for path in one.get("train", ())}
    return names.pop() if len(names) == 1 else ""


def _encoder(run: Run) -> str:
    """What a parser reads words with, so that like stands beside like."""
    recipe = run["recipe"]
    if is_peer(run):
        return f"{recipe['encoder']}, fine-tuned" if recipe["encoder"] else "from scratch"
    network = recipe["network"]
    if network["encoder"] == "transformer":
        depth = network.get("transformer_depth")
        layers = f", {depth} layer{'s' * (depth > 1)}" if depth else ""
        kind = "frozen" if network["transformer_frozen"] else "fine-tuned"
        return f"{Path(network['transformer']).name}{layers}, {kind}"
    return "word vectors" if recipe.get("vocabulary", {}).get("vectors") else "from scratch"


def _rows(run: Run) -> Iterator[Row]:
    treebank = _treebank(run)
    scored = {one["part"]: one["beams"] for one in sets(run, "syntax") if one["name"] == treebank}
    for width, scores in sorted(scored.get("test", {}).items(), key=lambda item: int(item[0])):
        own = f"beam {width}" if int(width) > 1 else "greedy"
        search = run["recipe"]["peer"]["search"] if is_peer(run) else own
        dev = scored.get("dev", {}).get(width, {}).get("f1", 0.0)
        yield Row(run=run, encoder=_encoder(run), search=search, scores=scores, dev=dev)


def _name(run: Run) -> str:
    peer = _peer(run)
    return name(run) if peer is None else f"{TITLES[peer]} ({run['versions'][peer]})"


COLUMNS = (
    *("encoder", "parser", "search", "LR", "LP", "F1", "95 %", "ours − it"),
    *("sentences/s", "× SuPar", "parameters", "hours"),
)


def _line(row: Row, rows: Sequence[Row], speeds: Mapping[str, Speed]) -> list[str]:
    peers = [one for one in rows if one.peer == "supar" and one.encoder == row.encoder]
    rate, ratio = _pace(_speed(row, speeds), _speed(peers[0], speeds) if peers else None)
    hours = row.run.get("processor_hours", row.run.get("hours"))
    return [
        row.encoder,
        _name(row.run),
        row.search,
        *(number(row.scores.get(key)) for key in ("recall", "precision", "f1")),
        _interval(row),
        _difference(row, rows),
        rate,
        ratio,
        f"{row.run['parameters'] / 1e6:.1f} M",
        number(hours, 1),
    ]


def _interval(row: Row) -> str:
    if row.counts is None:
        return NONE
    found = bootstrap(row.counts, SAMPLES)
    return f"{found.low:.2f} – {found.high:.2f}"


def _difference(row: Row, rows: Sequence[Row]) -> str:
    """In a peer's row, how much more ours has."""
    ours = [one for one in rows if one.peer is None and one.encoder == row.encoder]
    best = max(ours, key=lambda one: one.dev, default=None)
    if row.peer is None or best is None or row.counts is None or best.counts is None:
        return NONE
    found = compare(row.counts, best.counts, SAMPLES)
    margin = found.interval.high - found.difference
    chance = f"p {found.p_value:.3f}" if found.p_value >= 0.001 else "p < 0.001"
    return f"{found.difference:+.2f} ± {margin:.2f}, {chance} ({_name(best.run)})"


def _speed(row: Row, speeds: Mapping[str, Speed]) -> Speed | None:
    """That of a parser that was measured under the name of its recipe."""
    recipe = row.run["recipe"]
    if any(text.startswith("network.") for text in recipe.get("settings", ())):
        return None
    # A peer's recipe serves several treebanks; speeds are those of the model of wsj-sample.
    if recipe.get("treebank", MEASURED) != MEASURED:
        return None
    suffix = f", {row.search}" if row.search.startswith("beam") else ""
    return speeds.get(f"{recipe['name']}{suffix}")


def _pace(speed: Speed | None, supar: Speed | None) -> tuple[str, str]:
    """Sentences a second, and the ratio to SuPar with the same encoder."""
    if speed is None:
        return NONE, NONE
    if supar is None or speed.baseline != supar.baseline:
        return number(speed.rate, 0), NONE
    same = speed.baseline_rate == supar.rate
    beside = "" if same else f" (SuPar {number(speed.baseline_rate, 0)})"
    return f"{number(speed.rate, 0)}{beside}", number(speed.ratio)


DISCOURSE_COLUMNS = ("encoder", "recipe", "EDUs", "search", "Span", "Nuclearity", "Relation")


def _discourse(run: Run) -> Iterator[list[str]]:
    if is_peer(run) or _treebank(run) != "gum":
        return
    for one in sets(run, "discourse"):
        if (one["name"], one["part"]) != ("gum", "test"):
            continue
        for width, scores in sorted(one["beams"].items(), key=lambda item: int(item[0])):
            yield [
                _encoder(run),
                name(run),
                "given" if one["given_edus"] else "found",
                f"beam {width}" if int(width) > 1 else "greedy",
                *(number(scores[key]) for key in ("span", "nuclearity", "relation")),
            ]


# ---------------------------------------------------------------- as the paper has them

# The numbers of digits are the paper's.
SYNTAX_PRINTED = (
    ("Stern et al. 2017, top-down", "93.20", "90.30", "91.80", "", "76"),
    ("Shen et al. 2018, top-down", "92.00", "91.70", "91.80", "", "111"),
    ("Nguyen et al. 2020, top-down", "92.91", "92.75", "92.78", "95.5", "130"),
    ("the paper's model", "93.90", "93.63", "93.77", "95.7", "1127"),
    ("the paper's model, greedy", "", "", "93.40", "", ""),
    ("Gaddy et al. 2018, chart", "91.76", "92.41", "92.08", "", ""),
    ("Kitaev and Klein 2018, chart (benepar)", "93.20", "93.90", "93.55", "", "830"),
    ("Kitaev et al. 2019, chart (benepar)", "", "", "", "95.6", ""),
    ("Wei et al. 2020, chart", "93.3", "94.1", "93.7", "95.8", "220"),
    ("Zhang et al. 2020, CRF chart (SuPar)", "93.84", "93.58", "93.71", "95.7", "924"),
    ("Gómez-Rodríguez and Vilares 2018", "", "", "90.7", "", "780"),
    ("Liu and Zhang 2017", "", "", "91.8", "", ""),
    ("Stern et al. 2017b", "92.57", "92.56", "92.56", "", ""),
    ("Zhou and Zhao 2019", "93.64", "93.92", "93.78", "95.8", "159"),
    ("Petrov and Klein 2007 (Berkeley)", "", "", "", "", "6"),
    ("Zhu et al. 2013 (ZPar)", "", "", "", "", "90"),
)
SYNTAX_HEAD = ("parser", "LR", "LP", "F1", "F1, BERT or the like", "sentences/s")
DISCOURSE_PRINTED = (
    ("given", "human agreement", "95.7", "90.4", "83.0", ""),
    ("given", "Wang et al. 2017", "95.6", "87.8", "77.6", ""),
    ("given", "Lin et al. 2019, single", "96.94", "90.89", "81.28", ""),
    ("given", "Lin et al. 2019, joint", "97.44", "91.34", "81.70", ""),
    ("given", "the paper's model", "97.37", "91.95", "82.10", ""),
    ("found", "Soricut and Marcu 2003", "76.7", "70.2", "58.0", "4.90"),
    ("found", "Joty et al. 2012", "82.4", "76.6", "67.5", ""),
    ("found", "Joty et al. 2015 (CODRA)", "", "", "", "3.05"),
    ("found", "Lin et al. 2019, pipeline", "91.14", "85.80", "76.94", ""),
    ("found", "Lin et al. 2019, joint", "91.75", "86.38", "77.52", ""),
    ("found", "Lin et al. 2019, which is not said", "", "", "", "28.96"),
    ("found", "the paper's model", "92.02", "87.05", "78.82", "59.03 (CPU), 135.85 (GPU)"),
)
DISCOURSE_HEAD = ("EDUs", "parser", "Span", "Nuclearity", "Relation", "sentences/s")


def printed_blocks() -> list[str]:
    """The paper's own rows."""
    return [
        PRINTED,
        table(SYNTAX_HEAD, ([cell or NONE for cell in row] for row in SYNTAX_PRINTED)),
        table(DISCOURSE_HEAD, ([cell or NONE for cell in row] for row in DISCOURSE_PRINTED)),
    ]
