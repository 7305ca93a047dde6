"""The driver: retries, the search for what ends workers, the journal, the lock."""

import json
import os
from collections import deque
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cleft.corpus import driver
from cleft.corpus.driver import Progress, run, run_shards, status
from cleft.corpus.plan import Plan
from cleft.corpus.shard import Outcome, Task
from cleft.engines import Workers
from cleft.errors import InputError, OutputError, UsageError, WorkerError
from tests.corpus.making import (
    MODEL,
    OUT,
    Idle,
    contents,
    make_deadly,
    options,
    planned,
    records,
    text,
    unable,
)
from tests.faults.commands import as_nobody, locked_folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    OUT.mkdir()
    return tmp_path


def many(count: int) -> Plan:
    """A plan of so many shards."""
    Path("a.txt").write_text("It rained.\n" * count)
    return planned(options(input="lines", shard_size=1 / 2**20), "a.txt")


class Scripted:
    """An engine that works in this process; some tasks end its workers."""

    def __init__(self, dies: Any = lambda task: False, jobs: int = 2) -> None:
        self.jobs, self.dies = jobs, dies
        self.work = Idle(str(OUT))
        self.tasks: deque[tuple[int, Task]] = deque()
        self.seen: list[Task] = []

    @property
    def is_full(self) -> bool:
        return len(self.tasks) >= self.jobs

    def submit(self, task: Task) -> int:
        self.tasks.append((len(self.seen), task))
        self.seen.append(task)
        return len(self.seen) - 1

    def wait(self, seconds: float) -> list[tuple[int, Outcome | None, Exception | None]]:
        ticket, task = self.tasks.popleft()
        found = self.dies(task)
        if isinstance(found, Exception):
            return [(ticket, None, found)]
        if found:
            return [(ticket, None, WorkerError("a worker process ended"))]
        return [(ticket, self.work(task), None)]


def go(plan: Plan, engine: Any) -> Progress:
    return run_shards(plan, OUT, engine, lambda _: None)


# ---------------------------------------------------------------- what ends workers


def test_a_worker_that_dies_once_costs_nothing() -> None:
    plan, died = many(5), []

    def once(task: Task) -> bool:
        died.append(task)
        return len(died) == 1

    progress = go(plan, Scripted(once))
    assert (progress.done, progress.failed, len(contents(OUT))) == (5, {}, 5)


def test_an_item_that_ends_workers_is_found_by_halves() -> None:
    plan = many(3)

    def deadly(task: Task) -> bool:
        skipped = [number for number, _ in task.skip]
        return task.shard.number == 1 and task.first <= 2 < task.last and 2 not in skipped

    engine = Scripted(deadly)
    progress = go(plan, engine)
    assert (progress.done, progress.failed) == (3, {})
    assert engine.seen[-1].skip == ((2, ""),)
    assert not engine.seen[-1].dry


def test_workers_that_die_by_chance_are_no_reason_to_skip() -> None:
    plan, random = many(12), Random(5)
    engine = Scripted(lambda task: random.random() < 0.4)
    progress = go(plan, engine)
    assert progress.done + len(progress.failed) == 12
    whole = [task for task in engine.seen if not task.dry]
    assert all(not task.skip for task in whole)


def test_a_shard_whose_items_are_harmless_is_given_up_and_tried_again_next_time() -> None:
    plan = many(4)
    progress = go(plan, Scripted(lambda task: task.shard.number == 2 and not task.dry))
    assert progress.done == 3
    assert "no single item does that" in progress.failed[2]
    assert json.loads((OUT / "report.json").read_text())["state"] == "incomplete"
    engine = Scripted()
    again = go(plan, engine)
    assert (again.done, again.failed, [task.shard.number for task in engine.seen]) == (4, {}, [2])


def test_a_shard_that_cannot_be_read_by_any_worker_is_given_up() -> None:
    progress = go(many(4), Scripted(lambda task: task.shard.number == 2))
    assert [*progress.failed] == [2]


def test_workers_that_all_die_end_the_run() -> None:
    with pytest.raises(WorkerError, match="11 worker processes ended in a row"):
        go(many(40), Scripted(lambda task: True))


def test_an_error_of_ours_ends_the_run_and_keeps_what_is_done() -> None:
    plan = many(6)
    full = OutputError("cannot be written: No space left on device")
    with pytest.raises(OutputError):
        go(plan, Scripted(lambda task: full if task.shard.number == 4 else None))
    assert json.loads((OUT / "report.json").read_text())["state"] == "interrupted"
    engine = Scripted()
    assert go(plan, engine).done == 6
    assert [task.shard.number for task in engine.seen] == [4]  # 5 was under way, and counts


def test_real_workers_die_at_an_item_and_nothing_else_is_lost() -> None:
    """By SIGKILL and by an exception, in raw text, with processes of their own."""
    lines = text(40).splitlines()
    lines[7] = "\n\nA deadly line.\n\n"
    lines[20] = "\n\nA faulty line.\n\n"
    Path("a.txt").write_text("\n".join(lines))
    chosen = options(shard_size=400 / 2**20)
    plan = planned(chosen, "a.txt")
    args = (str(OUT), plan.root, {name: getattr(chosen, name) for name in chosen.__slots__}, MODEL)
    with Workers(2, make_deadly, *args, ahead=1) as engine:
        progress = go(plan, engine)
    assert (progress.done, progress.failed) == (len(plan), {})
    wrong = [record for record in records(OUT) if "error" in record]
    assert [record["text"] for record in wrong] == ["A deadly line.", "A faulty line."]
    assert wrong[0]["error"].endswith("its worker process ended each time it was parsed")
    assert wrong[1]["error"].endswith("ZeroDivisionError: of the parser")
    safe = Path("a.txt").read_text().replace("deadly", "DEADLY").replace("faulty", "FAULTY")
    Path("b.txt").write_text(safe)
    good = [(record["start"], record["text"]) for record in records(OUT) if "error" not in record]
    run(["b.txt"], Path("other"), chosen, workers=1)
    others = [(record["start"], record["text"]) for record in records(Path("other"))]
    assert good == [one for one in others if "DEADLY" not in one[1] and "FAULTY" not in one[1]]


def test_workers_that_cannot_begin_end_the_run() -> None:
    plan = many(3)
    with Workers(1, unable) as engine, pytest.raises(WorkerError, match="ended in a row"):
        go(plan, engine)


# ---------------------------------------------------------------- the journal


def test_a_journal_that_was_cut_short_costs_a_shard() -> None:
    plan = many(5)
    go(plan, Scripted())
    journal = OUT / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-20])
    engine = Scripted()
    assert go(plan, engine).done == 5
    assert [task.shard.number for task in engine.seen] == [4]
    assert go(plan, Scripted()).sentences == 5


def test_an_output_that_is_gone_is_made_again() -> None:
    plan = many(5)
    before = go(plan, Scripted())
    (OUT / "shard-00002.jsonl").unlink()
    engine = Scripted()
    assert go(plan, engine).sentences == before.sentences == 5
    assert [task.shard.number for task in engine.seen] == [2]
    assert go(plan, Scripted()).sentences == 5


def test_a_report_counts_all_runs() -> None:
    plan = many(5)
    stop = KeyboardInterrupt()

    def tell(progress: Progress) -> None:
        if progress.done == 3:
            raise stop

    with pytest.raises(KeyboardInterrupt):
        run_shards(plan, OUT, Scripted(jobs=1), tell)
    notes = ["3 of 5 shards are done in out", "the same command does the rest"]
    assert stop.__notes__ == notes
    progress, _, holder = status(OUT)
    assert (progress.done, progress.shards, holder) == (3, 5, "")
    go(plan, Scripted())
    report = json.loads((OUT / "report.json").read_text())
    assert (report["state"], report["sentences"], report["tokens"]) == ("complete", 5, 15)
    assert report["workers"]["idle"]["shards"] == 5


# ---------------------------------------------------------------- the folder


def test_a_folder_is_for_one_run_at_a_time() -> None:
    Path("a.txt").write_text("It rained.\n")
    with driver.locked(OUT), pytest.raises(UsageError, match=rf"process {os.getpid()} of "):
        run(["a.txt"], OUT, options())


def test_other_options_are_refused_with_what_differs() -> None:
    Path("a.txt").write_text("It rained.\n")
    run(["a.txt"], OUT, options(), workers=1)
    with pytest.raises(UsageError, match=r"another run: --beam was 1, and is 4; give the same"):
        run(["a.txt"], OUT, options(beam=4))
    Path("a.txt").write_text("It poured.\n")
    with pytest.raises(UsageError, match=r"another run: a\.txt has changed"):
        run(["a.txt"], OUT, options())


def test_a_folder_of_something_else_is_refused() -> None:
    Path("a.txt").write_text("It rained.\n")
    (OUT / "essay.doc").write_text("")
    with pytest.raises(UsageError, match=r"the folder is not empty \(essay\.doc\)"):
        run(["a.txt"], OUT, options())


def test_a_finished_run_has_nothing_to_do() -> None:
    Path("a.txt").write_text("It rained.\n")
    said: list[str] = []
    first = run(["a.txt"], OUT, options(), workers=1)
    before = contents(OUT)
    with open("a.txt", "a") as stream:
        stream.write("More.\n")
    again = run(["a.txt"], OUT, options(), workers=1, say=said.append)
    assert (again.sentences, contents(OUT)) == (first.sentences, before)
    assert said == ["a.txt has grown by 6 bytes, which are not read"]


@pytest.mark.slow
def test_a_hundred_thousand_small_files_are_a_corpus_like_any_other() -> None:
    Path("in").mkdir()
    for number in range(100_000):
        Path(f"in/{number:06d}.txt").write_text("It rained.\n")
    chosen = options(shard_size=300_000 / 2**20)
    progress = run(["in"], OUT, chosen, workers=1)
    assert (progress.shards, progress.sentences, progress.errors) == (3, 100_000, {})
    assert [record["id"] for record in records(OUT)] == [
        f"in/{number:06d}.txt:1:1" for number in range(100_000)
    ]
    assert run(["in"], OUT, chosen, workers=1).sentences == 100_000
    Path("in/050000.txt").write_text("It poured.\n")
    with pytest.raises(UsageError, match=r"another run: in/050000\.txt has changed"):
        run(["in"], OUT, chosen, workers=1)


def test_a_folder_without_the_right_to_write_is_told() -> None:
    with locked_folder("a.txt") as folder:

        def work() -> int:
            try:
                run([str(folder / "a.txt")], folder / "out", options())
            except OutputError as error:
                os.write(2, str(error).encode())
                return 2
            return 0

        code, told = as_nobody(work)
        problem, hint = told.split("; ")
        assert (code, problem) == (2, f"{folder}/out: cannot be written: Permission denied")
        assert hint.startswith("name a folder with -o that is yours to write to")


def test_the_status_of_a_folder_without_a_run_is_told() -> None:
    with pytest.raises(InputError, match="none: there is no such folder; name the folder"):
        status(Path("none"))
    with pytest.raises(InputError, match=r"out: there is no plan\.json"):
        status(OUT)
