"""The results as Markdown tables and plots, put into the pages that quote them.

    python benchmarks/report.py

Reads `results/*.json`. Whatever stands between `<!-- NAME:begin -->` and
`<!-- NAME:end -->` in a page is replaced by the table NAME of `TABLES`; plots
go to `results/*.svg`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import growth
from plots import curves, scatter

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results"
PAGES = (ROOT / "README.md", ROOT / "docs" / "performance.md", ROOT / "docs" / "dependencies.md")
MARKED = re.compile(r"(<!-- (\w+):begin -->\n)(.*?)(<!-- \2:end -->)", re.S)
ABSENT = "*Not measured yet.*\n"
TITLES = {
    "supar": "SuPar 1.1.4 (CRF)",
    "benepar": "benepar 0.2.0, random weights",
    "stanza": "Stanza 1.15.0, random weights",
}
Results = Mapping[str, Any]


def title(name: str) -> str:
    """What a parser is called in the tables."""
    return TITLES.get(name, f"cleft, {name}")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; None is a dash.

    >>> print(table(["parser", "F1"], [["lstm", 84.25], ["benepar", None]]), end="")
    | parser | F1 |
    | --- | --- |
    | lstm | 84.25 |
    | benepar | – |
    """
    lines = [list(head), ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(value: object) -> str:
    return "–" if value is None else str(value)


def number(value: float | None, suffix: str = "") -> str | None:
    """Three digits are enough.

    >>> number(1234.5), number(56.78), number(0.4567), number(3.0, " ×"), number(None)
    ('1,234', '56.8', '0.457', '3.00 ×', None)
    """
    if value is None:
        return None
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:,.{digits}f}{suffix}"


def part(speed: Results, section: str) -> Results:
    """The results of a section, empty where it is not there or failed."""
    found: Results = speed.get("sections", {}).get(section, {}).get("results", {})
    return {} if "error" in found else found


def names(speed: Results, section: str) -> list[str]:
    """The parsers of a section: cleft's greedy ones, beams, torch, then the peers."""
    found = [name for name in part(speed, section) if name in _order(speed)]
    return sorted(found, key=_order(speed).index)


def _order(speed: Results) -> list[str]:
    models = list(speed.get("models", {}))
    mine = [f"{name}{suffix}" for name in models for suffix in ("", ", beam 20", ", PyTorch")]
    return [*mine, *TITLES]


def machine_line(found: Results) -> str:
    """On what it was measured, and how quiet that was."""
    machine = found.get("machine", {})
    loads = [
        load
        for section in found.get("sections", {}).values()
        for load in section.get("load_average", [])
    ]
    loads += [found["load_average_after"]] if "load_average_after" in found else []
    busy = f"; load average {min(loads):.1f} to {max(loads):.1f}" if loads else ""
    quick = " **A quick run: numbers mean nothing.**" if found.get("quick") else ""
    return (
        f"{machine.get('cpu', '?')}, {machine.get('cores', '?')} cores, "
        f"{machine.get('when', '?')}{busy}.{quick}\n"
    )


# ---------------------------------------------------------------- speed.json


def speed_table(speed: Results) -> str:
    """The headline: accuracy, throughput, one at a time, start, memory; ratios to SuPar."""
    scores, batched, single = (part(speed, name) for name in ("accuracy", "batched", "single"))
    start = part(speed, "start")
    rows = []
    for name in names(speed, "batched"):
        many, one = batched.get(name, {}), single.get(name, {})
        rows.append(
            [
                title(name),
                _hundredths(scores.get(name, {}).get("f1")),
                number(many.get("sentences_per_second")),
                _ratio(batched, name),
                number(_ms(one)),
                _ratio(single, name),
                number(start.get(name, {}).get("seconds")),
                number(many.get("memory_mb")),
            ]
        )
    head = [
        "parser", "F1, test", "sentences/s", "× SuPar", "ms, one at a time", "× SuPar",
        "start-up, s", "memory, MB",
    ]  # fmt: skip
    return table(head, rows) + "\n" + machine_line(speed)


BUILT_IN = ("en", "en-fast")


def front_table(speed: Results) -> str:
    """The front page: how good and how fast the built-in models are, beside SuPar.

    Where SuPar had weights for its speed alone, its F1 is that of the run with trained ones.
    """
    trained, batched = read(RESULTS, "speed") or {}, part(speed, "batched")
    scores = part(trained, "accuracy")
    start = part(speed, "start")
    beams = [*(f"{name}, beam 20" for name in BUILT_IN), "supar"]
    greedy = [*BUILT_IN, "supar"]
    rows = [
        [
            "newswire, F1",
            *_of_cards("wsj-sample test", 3),
            number(scores.get("supar", {}).get("f1")),
        ],
        ["biomedical abstracts, F1", *_of_cards("genia test", 3), None],
        ["discourse, Span / Nuclearity / Relation", *_of_cards("end to end, all", 3), None],
        *(
            [f"sentences a second, {how}", *(_rate(batched, name) for name in parsers)]
            for how, parsers in (("greedy", greedy), ("beam 20", [*beams[:-1], ""]))
        ),
        ["start to first tree, s", *(number(start.get(n, {}).get("seconds")) for n in greedy)],
    ]
    return table(["", *(f"`{name}`" for name in BUILT_IN), TITLES["supar"]], rows)


def _rate(batched: Results, name: str) -> str | None:
    return number(batched.get(name, {}).get("sentences_per_second"))


def _of_cards(row: str, column: int) -> list[str]:
    """A cell of the scores in each card, without the segmentation of discourse."""
    found = []
    for name in BUILT_IN:
        card = (ROOT / "docs" / "cards" / f"{name}.md").read_text(encoding="utf-8")
        (line,) = re.findall(rf"^\| {row}.*$", card, re.M)
        found.append(" / ".join(line.split(" | ")[column].rstrip(" |").split(" / ")[-3:]))
    return found


def _hundredths(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def _ms(single: Results) -> float | None:
    if "seconds" not in single:
        return None
    return 1000 * float(single["seconds"]) / int(single["sentences"])


def _ratio(section: Results, name: str) -> str | None:
    found = section.get("ratios", {}).get(name)
    return number(found["median"]) if found and name != "supar" else None


def settings_table(speed: Results) -> str:
    """Throughput by batch, threads and jobs."""
    rows = []
    for name in names(speed, "scan"):
        for one in part(speed, "scan")[name]["batched"]:
            place = [one["threads"], one["jobs"], one.get("batch")]
            rows.append(
                [title(name), *place, number(one.get("sentences_per_second")), _problem(one)]
            )
    head = ["parser", "threads", "processes", "batch", "sentences/s", "problem"]
    return table(head, rows)


def _problem(one: Results) -> str:
    return str(one.get("error", "")).replace("|", "/")[:80]


def start_table(speed: Results) -> str:
    """From the start of a process to the first tree."""
    found = part(speed, "start")
    order = [name for name in ("python", "import cleft") if name in found]
    rows: list[list[object]] = [
        [name, number(found[name]["seconds"]), None, None, None, None] for name in order
    ]
    peers = [found[name]["seconds"] for name in TITLES if "seconds" in found.get(name, {})]
    keys = ("seconds", "import_seconds", "load_seconds", "memory_mb")
    for name in names(speed, "start"):
        cells = [number(found[name].get(key)) for key in keys]
        share = None
        if peers and "seconds" in found[name] and name not in TITLES:
            share = number(found[name]["seconds"] / min(peers), " ×")
        rows.append([title(name), *cells, share])
    head = ["what", "s", "import, s", "load, s", "memory, MB", "against the fastest peer"]
    return table(head, rows)


def lengths_table(speed: Results) -> str:
    """Milliseconds a token by length, one sentence at a time."""
    return _by_length(
        speed, "single", lambda one, length: one["ms"] / length, "lengths.svg", "single"
    )


def floods_table(speed: Results) -> str:
    """Milliseconds a token by length, many sentences together."""
    return _by_length(
        speed,
        "batched",
        lambda one, _: 1000 / one["tokens_per_second"],
        "lengths-batched.svg",
        "batched",
    )


def _by_length(
    speed: Results, kind: str, value: Callable[[Results, int], float], picture: str, alt: str
) -> str:
    found = part(speed, "lengths")
    order = names(speed, "lengths")
    sizes = sorted({int(size) for name in order for size in found[name][kind]})
    rows = []
    problems: dict[tuple[str, str], list[str]] = {}
    for name in order:
        cells = []
        for size in sizes:
            one = found[name][kind].get(str(size), {})
            bad = "error" in one or not one
            cells.append(None if bad else number(value(one, size)))
            if "error" in one:
                problems.setdefault((title(name), _problem(one)), []).append(f"{size:,}")
        rows.append([title(name), *cells])
    text = table(["ms a token", *(f"{size:,}" for size in sizes)], rows)
    if any(cell for row in rows for cell in row[1:]):
        shown = f"![Milliseconds a token by length, {alt}](../benchmarks/results/{picture})"
        text = f"{shown}\n\n{text}"
    return text + "".join(
        f"\n- {name}, {', '.join(which)} tokens: {what}" for (name, what), which in problems.items()
    )


def discourse_table(speed: Results) -> str:
    """The paper's test."""
    found = part(speed, "discourse")
    keys = ("seconds", "sentences_per_second", "memory_mb")
    rows = [
        [title(name), *(number(found[name].get(key)) for key in keys), _problem(found[name])]
        for name in names(speed, "discourse")
    ]
    return table(["parser", "s", "sentences/s, loading included", "memory, MB", "why not"], rows)


def stream_table(speed: Results) -> str:
    """`Parser.stream` by jobs."""
    rows = [
        [title(name), jobs, one.get("sentences"), number(one.get("sentences_per_second"))]
        for name in names(speed, "stream")
        for jobs, one in part(speed, "stream")[name].items()
    ]
    return table(["model", "jobs", "sentences", "sentences/s, loading included"], rows)


# ---------------------------------------------------------------- the other files


def frontier_table(found: Results) -> str:
    """F1 and speed of every model, precision and search."""
    rows = []
    for name, point in found["points"].items():
        for beam, scores in point["f1"].items():
            rate = point.get("speed", {}).get(beam, {}).get("tokens_per_second")
            model = point.get("model", {})
            f1 = [f"{scores[key]:.2f}" if key in scores else None for key in ("dev", "test")]
            rows.append([name, model.get("precision"), beam, *f1, number(rate)])
    head = ["model", "precision", "search", "F1, dev", "F1, test", "tokens/s, 1 thread"]
    picture = "![F1 and tokens a second](../benchmarks/results/frontier.svg)\n\n"
    return picture + table(head, rows) + "\n" + machine_line(found)


def gemm_table(found: Results) -> str:
    """The machine's limit."""
    counts = sorted({one["rows"] for one in found["gemm"]})
    lines: dict[tuple[str, str, int], dict[int, float]] = {}
    for one in found["gemm"]:
        for library, shown in (("onnxruntime", "ONNX Runtime"), ("numpy", "NumPy")):
            place = (f"{one['inputs']} → {one['outputs']}", shown, one["threads"])
            lines.setdefault(place, {})[one["rows"]] = one[library]
    rows = [
        [*place, *(number(speeds.get(count)) for count in counts)]
        for place, speeds in lines.items()
    ]
    each = [f"{count} row{'s' * (count > 1)}" for count in counts]
    head = ["GFLOP/s", "by", "threads", *each]
    return table(head, rows) + "\n" + machine_line(found)


def shares_table(found: Results) -> str:
    """Where the time goes."""
    rows = []
    for name, searches in found["shares"].items():
        for beam, made in searches.items():
            for what, one in made["parts"].items():
                share, each = f"{one['share']:.1f} %", number(one["us_per_token"])
                rows.append([name, beam, what, share, each, number(one.get("gflops"))])
    return table(["model", "search", "part", "share", "µs a token", "GFLOP/s"], rows)


def sizes_table(found: Results) -> str:
    """Megabytes of site-packages, pip itself aside."""
    able = {name: one for name, one in found.items() if "error" not in one}
    mine = able["cleft"]["total_mb_without_pip"]
    rows: list[list[object]] = [
        [name, one["total_mb_without_pip"], number(one["total_mb_without_pip"] / mine, " ×")]
        for name, one in able.items()
    ]
    text = table(["environment", "MB", "against cleft's"], rows) + "\n"
    for name in ("cleft", "supar"):
        packages = able.get(name, {}).get("packages_mb", {})
        large = [
            f"{key} {size:.0f}" for key, size in packages.items() if size >= 1 and key != "pip"
        ]
        text += f"Of 1 MB or more in {name}'s: {', '.join(large)}.\n\n" if large else ""
    return text


def complexity_table(found: Results) -> str:
    """Exponents of growth with the length of a sentence."""
    head = ["decoder", *growth.QUANTITIES.values(), "longest", "beyond that"]
    plots = "".join(f"![{name}](../benchmarks/results/{name})\n" for name in growth.drawn(found))
    return f"{plots}\n{table(head, growth.exponents(found))}\n{machine_line(found)}"


TABLES: dict[str, tuple[str, Callable[[Results], str]]] = {
    "front": ("speed-built-in", front_table),
    "built_in": ("speed-built-in", speed_table),
    "speed": ("speed", speed_table),
    "settings": ("speed", settings_table),
    "start": ("speed", start_table),
    "lengths": ("speed", lengths_table),
    "floods": ("speed", floods_table),
    "discourse": ("speed", discourse_table),
    "stream": ("speed", stream_table),
    "frontier": ("frontier", frontier_table),
    "gemm": ("limits", gemm_table),
    "shares": ("limits", shares_table),
    "sizes": ("sizes", sizes_table),
    "complexity": ("complexity", complexity_table),
}
"""For each name between markers: the file of results, and what makes the table of it."""


def read(results: Path, name: str) -> Results | None:
    """A file of results, if it is there."""
    path = results / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def filled(text: str, results: Path = RESULTS) -> str:
    """A page with all its tables made anew."""

    def made(match: re.Match[str]) -> str:
        file, make = TABLES[match[2]]
        found = read(results, file)
        body = ABSENT if found is None else make(found)
        return f"{match[1]}{body.rstrip()}\n{match[4]}"

    return MARKED.sub(made, text)


def drawings(results: Path = RESULTS) -> dict[str, str]:
    """The plots by the names of their files."""
    found: dict[str, str] = {}
    speed, frontier = read(results, "speed"), read(results, "frontier")
    if speed is not None and part(speed, "lengths"):
        for file, kind in (("lengths.svg", "single"), ("lengths-batched.svg", "batched")):
            lines = {title(name): _curve(speed, name, kind) for name in names(speed, "lengths")}
            if any(lines.values()):
                how = "one sentence at a time" if kind == "single" else "many together"
                heading = f"Milliseconds a token by length, {how}, 1 thread"
                found[file] = curves(heading, lines, x="tokens", y="ms a token")
    if frontier is not None:
        points = {
            f"{name}, {beam}": (speeds["tokens_per_second"], point["f1"][beam]["dev"])
            for name, point in frontier["points"].items()
            for beam, speeds in point.get("speed", {}).items()
        }
        if points:
            heading = "F1 on wsj-sample dev and speed, 1 thread"
            found["frontier.svg"] = scatter(heading, points, x="tokens/s", y="F1")
    complexity = read(results, "complexity")
    return found | (growth.drawn(complexity) if complexity is not None else {})


def _curve(speed: Results, name: str, kind: str) -> list[tuple[float, float]]:
    points = []
    for size, one in part(speed, "lengths")[name][kind].items():
        if "error" not in one:
            each = one["ms"] / int(size) if kind == "single" else 1000 / one["tokens_per_second"]
            points.append((float(size), each))
    return points


def main() -> None:
    for name, svg in drawings().items():
        (RESULTS / name).write_text(svg, encoding="utf-8")
    for page in PAGES:
        if page.exists():
            page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
