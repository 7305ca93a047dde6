"""`cleft corpus` as a process that is killed, with its workers, at moments nobody chose."""

import json
import os
import re
import signal
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cleft.cli import main
from tests.corpus.making import MODEL, contents, records, text
from tests.faults.commands import STARTED, cleft, hidden, started, wait_for
from tests.faults.conftest import ended  # noqa: F401 - a fixture

SIZE = 200 / 2**20
FRENCH = str(Path(__file__).parents[2] / "models" / "fr")
COMMON = ("--model", MODEL, "--task", "syntax", "--shard-size", SIZE, "--workers", 2)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text(text(300))
    return tmp_path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a run writes that nobody disturbs."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "a.txt").write_text(text(300))
    assert cleft("corpus", "a.txt", "-o", "out", *COMMON, cwd=folder).returncode == 0
    return contents(folder / "out")


def begin(out: str = "out", *more: object) -> Any:
    return started("corpus", "a.txt", "-o", out, *COMMON, *more)


def children(process: Any) -> list[int]:
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    names = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in found}
    return [int(pid) for pid, name in names.items() if b"spawn_main" in name]


def finish(process: Any) -> tuple[int, str]:
    _, said = process.communicate(timeout=300)
    STARTED.remove(process)
    return process.returncode, said.decode()


def some(out: Path, count: int = 2) -> Any:
    """Whether so many shards are done and known to be: the journal has their lines."""
    journal = out / "journal.jsonl"
    return lambda: journal.exists() and journal.read_text().count('"shard":') >= count


def test_a_run_tells_what_it_did(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "b.jsonl").write_text('{"text": "It rained."}\nno\n')
    words = ["corpus", "a.txt", "b.jsonl", "-o", "out", *map(str, COMMON)]
    assert main(words) == 1
    said = capsys.readouterr().err.splitlines()
    shards, found = len(contents(here / "out")), len(records(here / "out"))
    assert said[0].startswith(f"cleft: {found} sentences in {shards} of {shards} shards, 1 errors")
    assert said[1].startswith("cleft: the first error: b.jsonl line 2: not JSON")
    assert main(["corpus", "out", "--status"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith(f"complete: {shards} of {shards} shards, {found} sentences")
    assert told[1:] == ["FormatError: 1", f"  {said[1].removeprefix('cleft: the first error: ')}"]
    report = json.loads((here / "out" / "report.json").read_text())
    assert (report["state"], report["errors"]) == ("complete", {"FormatError": 1})
    assert sum(each["shards"] for each in report["workers"].values()) == shards
    assert len(json.dumps(report["workers"])) > 2


def test_a_remark_is_told_once(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.txt").write_text("It rained.\n")
    words = ["corpus", "a.txt", "-o", "out", *map(str, COMMON)]
    assert main(words) == 0
    with open("a.txt", "a") as stream:
        stream.write("More.\n")
    capsys.readouterr()
    assert main(words) == 0
    assert capsys.readouterr().err.count("a.txt has grown by 6 bytes, which are not read") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_same_command_goes_on_after_a_signal(
    number: int, here: Path, whole: dict[str, bytes]
) -> None:
    process = begin()
    out = here / "out"
    wait_for(some(out))
    process.send_signal(signal.SIGSTOP)  # so that it is still there for the next two commands
    assert "another run is writing to it" in cleft("corpus", "a.txt", "-o", "out", *COMMON).stderr
    assert cleft("corpus", "out", "--status").stdout.startswith("running (process ")
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    code, said = finish(process)
    done = contents(out)
    assert code == (-number if number == signal.SIGKILL else 128 + number)
    if number != signal.SIGKILL:
        told = re.search(
            r"; (\d+) of 32 shards are done in out; the same command does the rest", said
        )
        assert told is not None
        assert 0 < int(told[1]) <= len(done)
        assert [path.name for path in hidden(out)] == [".lock"]
        assert json.loads((out / "report.json").read_text())["state"] == "interrupted"
    times = {name: (out / name).stat().st_mtime_ns for name in done}
    run = cleft("corpus", "a.txt", "-o", "out", *COMMON)
    assert run.returncode == 0, run.stderr
    journal = [json.loads(line) for line in (out / "journal.jsonl").read_text().split("\n") if line]
    finished = {line["shard"] for line in journal if "shard" in line}
    assert len(finished) == len(contents(out))
    kept = [name for name, at in times.items() if (out / name).stat().st_mtime_ns == at]
    assert len(kept) >= len(done) - 4  # those whose line was not written yet are done again
    assert contents(out) == whole
    assert [path.name for path in hidden(out)] == [".lock"]


def test_a_worker_that_is_killed_is_replaced(here: Path, whole: dict[str, bytes]) -> None:
    process = begin()
    out = here / "out"
    wait_for(some(out))
    for pid in children(process):
        os.kill(pid, signal.SIGKILL)
    assert finish(process)[0] == 0
    assert contents(out) == whole
    assert len(json.loads((out / "report.json").read_text())["workers"]) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_random_kills_lose_nothing_and_change_nothing(seed: int, here: Path) -> None:
    """Of the driver, of workers, and of both."""
    random, out = Random(seed), here / "out"
    (here / "a.txt").write_text(text(600, seed))
    for _ in range(4):
        process = begin()
        time.sleep(random.uniform(0.5, 8))
        for pid in children(process) if process.poll() is None else []:
            if random.random() < 0.5:
                os.kill(pid, signal.SIGKILL)
        if random.random() < 0.7:
            time.sleep(random.uniform(0, 0.5))
            process.kill()
        finish(process)
    assert finish(begin())[0] == 0
    assert finish(begin("whole"))[0] == 0
    assert contents(out) == contents(here / "whole")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["a.txt"], "the folder of the run is missing; name it with -o OUT"),
        (["a.txt", "-o", "s3://b/out"], "s3://b/out: the output must be a folder"),
        (["a.txt", "-o", "out", "--workers", "0"], "--workers is 0, expected 1 or more"),
        (["a.txt", "-o", "out", "--shard-size", "0"], "--shard-size is 0.0, expected more than 0"),
        (["a.txt", "-o", "out", "--address", "x"], "--address is for --engine ray"),
        (["a.txt", "-o", "out", "--beam", "0"], "beam is 0, expected 1 or more"),
        (["a.txt", "-o", "out", "--model", "no"], "no: expected a model's name or directory"),
        (["b.txt", "-o", "out"], "b.txt: no such file; check the path"),
        (
            ["a.txt", "-o", "out", "--format", "brackets", "--task", "discourse"],
            "--format brackets holds syntax; choose another format",
        ),
        (
            ["a.txt", "-o", "out", "--document", "--task", "syntax"],
            "--document is about discourse trees, and --task asks for syntax",
        ),
        (
            ["a.txt", "-o", "out", "--document", "--input", "tokens", "--model", MODEL],
            "a.txt: --document expects text, or rows with a text, found tokens; name other files",
        ),
        (
            ["a.txt", "-o", "out", "--document", "--model", FRENCH],
            f"{FRENCH}: the model has no head for documents, only for syntax; use a built-in",
        ),
        (["a.txt", "b", "--status"], "--status takes one folder, and no -o"),
        (["a.txt", "--status"], "a.txt: there is no such folder; name the folder that -o named"),
        (["a.txt", "-o", "a.txt"], "a.txt: cannot be written: File exists; name a folder with -o"),
    ],
)
def test_wrong_use_is_told(
    words: list[str], told: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corpus", *words]) == 2
    assert capsys.readouterr().err.startswith(f"cleft: {told}")
    assert not list((here / "out").glob("[!.]*"))
