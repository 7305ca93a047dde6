"""Corpora for tests, and what becomes of them; light, as worker processes import it."""

import gzip
import json
import os
import signal
from pathlib import Path
from random import Random
from typing import Any

from cleft.corpus.plan import Options, Plan, find_files, make_plan
from cleft.corpus.shard import Outcome, ShardWorker, Task
from cleft.sentence import Sentence, SentenceInput

MODEL = "en-fast"
TEXT = "the old heron waits so rain fell while she left and naïve dogs bark"
WORDS = TEXT.split()
OUT = Path("out")


def planned(chosen: Options, *names: str) -> Plan:
    """The plan of a run over some files into the folder `out`."""
    found = find_files(names, chosen.input, OUT)
    return make_plan(OUT, chosen, {"path": MODEL, "sha256": "0"}, found)


def sentence(random: Random) -> str:
    words = random.choices(WORDS, k=random.randint(2, 7))
    return " ".join(words).capitalize() + "."


def text(count: int, seed: int = 1) -> str:
    """So many sentences: some to a line, some lines to a paragraph."""
    random = Random(seed)
    parts = []
    for _ in range(count):
        parts += [sentence(random), random.choice([" ", "\n", "\n\n", "\r\n\r\n"])]
    return "".join(parts)


def contents(out: Path) -> dict[str, bytes]:
    """The outputs of all shards."""
    return {path.name: path.read_bytes() for path in sorted(out.glob("shard-*"))}


def records(out: Path) -> list[dict[str, Any]]:
    """The records of all shards of JSON Lines."""
    found = []
    for path in sorted(out.glob("shard-*")):
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        found += [json.loads(line) for line in data.decode().splitlines()]
    return found


def options(**values: Any) -> Options:
    return Options(**{"model": MODEL, "compress": "none", "task": "syntax", **values})


# ---------------------------------------------------------------- workers of tests


class Deadly(ShardWorker):
    """A worker that does not survive some words, and fails at others."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        parse = self.parser.parse_inputs

        def parse_or_die(inputs: list[SentenceInput], **rest: Any) -> list[Sentence]:
            for each in inputs:
                if each.error is None and "deadly" in each.text:
                    os.kill(os.getpid(), signal.SIGKILL)
                if each.error is None and "faulty" in each.text:
                    raise ZeroDivisionError("of the parser")
            return parse(inputs, **rest)

        self.parser.parse_inputs = parse_or_die  # type: ignore[method-assign,assignment]


def make_deadly(out: str, root: str, known: dict[str, Any], model: str) -> Deadly:
    return Deadly(out, root, Options(**known), model)


class Idle:
    """A worker that parses nothing: its output is the number of its shard."""

    def __init__(self, out: str) -> None:
        self.out = Path(out)

    def __call__(self, task: Task) -> Outcome:
        if not task.dry:
            (self.out / task.name).write_text(f"{task.shard.number}\n")
        return Outcome(items=4, sentences=1, tokens=3, bytes=2, worker="idle")


def unable(*_: object) -> Idle:
    """A process that dies before it can begin."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError
