"""The sections of speed.py: each takes a `Setting` and gives what goes into the JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from turns import (
    HERE,
    Contestant,
    Results,
    Running,
    places,
    rate,
    ratios,
    run,
    with_rates,
)

LENGTHS = (10, 20, 40, 80, 160, 320, 640, 1000, 2000)
FLOODED = (10, 20, 40, 80, 160, 320, 640)
GUM = places.TREEBANKS.parent / "discourse" / "gum" / "sentences-test.jsonl"
OVER = "not measured: the section's time was used up"
SLOW = "not measured: shorter ones took too long"
PATIENCE = 12.0
"""The most seconds that a task of a few sentences may take for the next length to be asked for."""
NEVER = 600.0
REPEATS, BRIEF = 5, 3.0
"""A setting is tried so many times at most, and for so many seconds."""
PROCESSES = ((1, 1), (2, 1), (1, 2))
"""Threads and jobs to compare: threads of one process, or processes of one thread."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Who is measured, how much, and until when."""

    contestants: list[Contestant]
    quick: bool
    rounds: int
    minutes: float
    done: dict[str, Any] = field(default_factory=dict)
    """The sections that are there already."""
    deadline: float = 0.0

    def begin(self) -> Setting:
        """The same, with a section's minutes from now."""
        return replace(self, deadline=time.monotonic() + 60 * self.minutes)

    @property
    def limit(self) -> int | None:
        """How many of the test sentences are parsed."""
        return 6 if self.quick else None

    @property
    def singles(self) -> int:
        """How many are parsed one at a time."""
        return 3 if self.quick else 40

    @property
    def over(self) -> bool:
        """Whether the section's time is used up."""
        return time.monotonic() > self.deadline

    def allowed(self, most: float = NEVER) -> float:
        """The seconds that the next task may take."""
        return max(20.0, min(most, self.deadline + 60 - time.monotonic()))


@contextmanager
def running(who: Contestant, setting: Setting, threads: int, jobs: int) -> Iterator[Running]:
    loaded = Running(who, threads=threads, jobs=jobs, limit=setting.limit)
    try:
        yield loaded
    finally:
        loaded.close()


# ---------------------------------------------------------------- accuracy


def accuracy(setting: Setting) -> Results:
    """F1 on wsj-sample test of everyone whose weights are trained; all see the gold tags."""
    from score import score  # it needs cleft

    results: Results = {}
    os.environ["CLEFT_BENCH_TAGS"] = "1"
    try:
        for who in setting.contestants:
            random = who.kind == "peer" and who.parser.model != places.trained(who.name)
            if who.kind == "torch" or who.missing or random:
                reason = who.missing or "random weights: speed only"
                results[who.name] = {"error": "the same model" if who.kind == "torch" else reason}
                continue
            results[who.name] = _f1(who, setting, score)
    finally:
        del os.environ["CLEFT_BENCH_TAGS"]
    return results


def _f1(who: Contestant, setting: Setting, score: Callable[..., Results]) -> Results:
    options: Results = {"sentences": places.TEST, "limit": setting.limit}
    found = run.call(who.parser, "predict", int(setting.allowed()), **options)
    failed = [one for one in found if "error" in one]
    if failed:
        return failed[0]
    with tempfile.TemporaryDirectory() as folder:
        predicted, gold = Path(folder) / "predicted.mrg", Path(folder) / "gold.mrg"
        predicted.write_text("".join(f"{one['brackets']}\n" for one in found), encoding="utf-8")
        lines = places.TEST.read_text(encoding="utf-8").splitlines(keepends=True)
        gold.write_text("".join(lines[: setting.limit]), encoding="utf-8")
        scores = score(predicted, gold)
        del scores["counts"]
        return scores


# ---------------------------------------------------------------- start


def start(setting: Setting) -> Results:
    """Fresh processes in turns; the first of each, which fills the disk cache, is left out."""
    everyone = [who for who in setting.contestants if who.kind != "beam"]
    runs: dict[str, list[Results]] = {who.name: [] for who in everyone}
    imports: dict[str, list[float]] = {"python": [], "import cleft": []}
    for _ in range(setting.rounds + 1):
        if setting.over and all(len(found) > 1 for found in runs.values()):
            break
        for name, code in (("python", "pass"), ("import cleft", "import cleft")):
            imports[name].append(_seconds([sys.executable, "-c", code]))
        for who in everyone:
            found = run.call(who.parser, "start", int(setting.allowed(120)), sentences=places.TEST)
            runs[who.name].append(run.only(found))
    results: Results = {name: _middle(found[1:]) for name, found in runs.items()}
    for name, times in imports.items():
        results[name] = {"seconds": round(median(times[1:]), 3), "runs": len(times) - 1}
    return results


def _seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def _middle(runs: list[Results]) -> Results:
    good = [one for one in runs if "error" not in one]
    if not good:
        return runs[-1] if runs else {"error": OVER}
    keys = ("seconds", "import_seconds", "load_seconds", "memory_mb", "load_average")
    middle = {key: round(median(one[key] for one in good), 3) for key in keys}
    return {**middle, "runs": [one["seconds"] for one in good]}


# ---------------------------------------------------------------- throughput


def scan(setting: Setting) -> Results:
    """Each parser by batch (one thread), then its best batch by threads and jobs.

    A model's beam and its torch twin take the setting that is best for its greedy search.
    """
    plain = [who for who in setting.contestants if who.kind in ("cleft", "peer")]
    return {who.name: _scan(who, setting) for who in plain}


def _scan(who: Contestant, setting: Setting) -> Results:
    batched: list[Results] = []
    single: list[Results] = []
    batches = who.parser.batches
    for threads, jobs in PROCESSES:
        if setting.over:
            batched.append({"threads": threads, "jobs": jobs, "error": OVER})
            continue
        with running(who, setting, threads, jobs) as loaded:
            for batch in batches:
                answer = _fastest(loaded, setting, do="batched", batch=batch)
                place = {"threads": threads, "jobs": jobs, "batch": batch}
                batched.append({**place, **with_rates(answer)})
            if jobs == 1:
                answer = loaded.ask(setting.allowed(), do="single", count=setting.singles)
                single.append({"threads": threads, "jobs": 1, **with_rates(answer)})
        best = max(batched, key=rate)
        batches = (best.get("batch") or batches[0],)
    return {"batched": batched, "single": single}


def _fastest(loaded: Running, setting: Setting, **task: object) -> Results:
    """The best of several goes where one is short, and so easily disturbed."""
    answers = [loaded.ask(setting.allowed(), **task)]
    while "error" not in answers[-1] and len(answers) < REPEATS:
        if sum(answer["seconds"] for answer in answers) > BRIEF:
            break
        answers.append(loaded.ask(setting.allowed(), **task))
    return max(answers, key=rate)


def batched(setting: Setting) -> Results:
    """Everyone at its best setting, in turns."""
    return _in_turns(setting, "batched", {"do": "batched"})


def single(setting: Setting) -> Results:
    """The same, one sentence at a time."""
    return _in_turns(setting, "single", {"do": "single", "count": setting.singles})


def _best(setting: Setting, who: Contestant, kind: str) -> Results:
    """The setting to use: the scan's best, or one thread where there was no scan."""
    found = setting.done.get("scan", {}).get("results", {})
    scanned = found.get(who.name, found.get(who.model, {})).get(kind, [])
    best: Results = max(scanned, key=rate, default={})
    return {
        "threads": best.get("threads", 1),
        "jobs": best.get("jobs", 1),
        "batch": best.get("batch"),
    }


def _in_turns(setting: Setting, kind: str, task: Results) -> Results:
    places_ = {who.name: _best(setting, who, kind) for who in setting.contestants}
    answers: dict[str, list[Results]] = {name: [] for name in places_}
    with ExitStack() as stack:
        loaded = [
            stack.enter_context(
                running(who, setting, places_[who.name]["threads"], places_[who.name]["jobs"])
            )
            for who in setting.contestants
        ]
        setting = setting.begin()  # loading does not count
        for number in range(setting.rounds):
            if setting.over and number:
                break
            for each in loaded:
                name = each.contestant.name
                allowed = setting.allowed()
                answers[name].append(
                    each.ask(allowed, batch=places_[name]["batch"], **task)
                )  # fmt: skip
    return {name: {**places_[name], **_rounds(found)} for name, found in answers.items()} | {
        "ratios": ratios(answers)
    }


def _rounds(answers: list[Results]) -> Results:
    good = [answer for answer in answers if "error" not in answer]
    if not good:
        return answers[-1] if answers else {"error": OVER}
    middle = sorted(good, key=lambda answer: answer["seconds"])[len(good) // 2]
    found = with_rates({**middle, "seconds": median(answer["seconds"] for answer in good)})
    return {**found, "runs": [answer["seconds"] for answer in good]}


# ---------------------------------------------------------------- lengths


def lengths(setting: Setting) -> Results:
    """One thread. All parsers at one length, then the next: one at a time, then many together."""
    sizes = LENGTHS[:2] if setting.quick else LENGTHS
    budget = 0.5 if setting.quick else 1.5
    found: dict[str, dict[str, dict[str, Results]]] = {
        who.name: {"single": {}, "batched": {}} for who in setting.contestants
    }
    with ExitStack() as stack:
        everyone = [stack.enter_context(running(who, setting, 1, 1)) for who in setting.contestants]
        setting = setting.begin()  # loading does not count
        for kind, task in (("single", "length"), ("batched", "flood")):
            for length in (size for size in sizes if kind == "single" or size in FLOODED):
                for each in everyone:
                    asked = {"do": task, "length": length, "budget": budget}
                    many = kind == "batched"
                    answer = _one_length(each, setting, asked, found[each.contestant.name][kind])
                    answer = with_rates(answer) if many else answer
                    found[each.contestant.name][kind][str(length)] = answer
    return dict(found)


def _one_length(each: Running, setting: Setting, task: Results, before: Results) -> Results:
    if any(map(_was_slow, before.values())):
        return {"error": SLOW}
    if setting.over:
        return {"error": OVER}
    began = time.monotonic()
    answer = each.ask(setting.allowed(30), **task)
    return {**answer, "took": round(time.monotonic() - began, 1)}


def _was_slow(answer: Results) -> bool:
    return "TimeoutError" in str(answer) or answer.get("took", 0.0) > PATIENCE


# ---------------------------------------------------------------- discourse, stream


def discourse(setting: Setting) -> Results:
    """The paper's test: 100 sentences, loading included, each run a new process."""
    results: Results = {
        who.name: {"error": "no discourse parser"}
        for who in setting.contestants
        if who.kind == "peer"
    }
    able = []
    for who in setting.contestants:
        if who.kind not in ("cleft", "beam"):
            continue
        config = json.loads((who.parser.model / "config.json").read_text(encoding="utf-8"))
        if "discourse" in config["tasks"]:
            able.append(who)
        else:
            results[who.name] = {"error": "the model has no discourse head"}
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "gum.jsonl"
        _hundred(inputs, 5 if setting.quick else 100)
        runs: dict[str, list[Results]] = {who.name: [] for who in able}
        for _ in range(setting.rounds + 1):
            for who in able:
                if not (setting.over and len(runs[who.name]) > 1):
                    runs[who.name].append(_once(who, "discourse", inputs))
    return results | {name: _rounds(found[1:]) for name, found in runs.items()}


def _hundred(target: Path, count: int) -> None:
    """Sentences at even distances, so always the same ones."""
    lines = GUM.read_text(encoding="utf-8").splitlines()
    chosen = [lines[number * len(lines) // count] for number in range(count)]
    tokens = [json.dumps(json.loads(line)["tokens"]) for line in chosen]
    target.write_text("\n".join(tokens) + "\n", encoding="utf-8")


def _once(who: Contestant, mode: str, inputs: Path, **options: object) -> Results:
    command = [str(who.parser.python), str(HERE / "once.py"), mode, str(who.parser.model)]
    command += [str(inputs), "--beam", "20" if who.kind == "beam" else "1"]
    command += [part for key, value in options.items() for part in (f"--{key}", str(value))]
    before, began = run.load_average(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=run.settings(1), check=False)
    taken = time.perf_counter() - began
    if done.returncode:
        return {"error": f"exit {done.returncode}: {run.last_words(done.stderr)}"}
    found = run.only(run.parse_lines(done.stdout))
    # Of the whole process, from before it existed to its end.
    return {"seconds": round(taken, 4), "load_average": before, **found}


def stream(setting: Setting) -> Results:
    """Many lines through `Parser.stream`; the time of the whole process."""
    results: Results = {}
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "lines.jsonl"
        from measure import read_sentences

        words = [json.dumps(one.words) for one in read_sentences(places.TEST)[: setting.limit]]
        inputs.write_text("\n".join(words * (1 if setting.quick else 8)) + "\n", encoding="utf-8")
        for who in setting.contestants:
            if who.kind != "cleft":
                continue
            for jobs in (1, 2):
                answer = {"error": OVER}
                if not setting.over:
                    answer = with_rates(_once(who, "stream", inputs, jobs=jobs))
                results.setdefault(who.name, {})[str(jobs)] = answer
    return results


SECTIONS: dict[str, Callable[[Setting], Results]] = {
    "accuracy": accuracy,
    "start": start,
    "scan": scan,
    "batched": batched,
    "single": single,
    "lengths": lengths,
    "discourse": discourse,
    "stream": stream,
}
