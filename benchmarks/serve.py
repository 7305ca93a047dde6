"""The server under load: many clients at once, every answer checked, beside the library alone.

    python benchmarks/serve.py MODEL [--clients 64] [--seconds 30] [--json FILE]

`cleft serve` runs in a process of its own. Each client has one connection and
asks for one sentence after the other, all different, and compares the tree
that comes back with the one that the library made before. Then the library
alone parses the same sentences in batches for a while. Reported: answers a
second, the share of the library's batched throughput in the same run, wrong,
lost and failed answers (there must be none), and the CPU time of the clients,
which on a small machine is taken from the server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import cleft

TEXT = "the a grey old heron rain fell waited left she they slowly because , when so"
WORDS = TEXT.split()
HEAD = (
    "POST /v1/parse HTTP/1.1\r\nHost: localhost\r\n"
    "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n"
)


def sentences(number: int, seed: int = 7) -> list[list[str]]:
    """Invented sentences of 5 to 35 tokens, no two alike."""
    chooser = random.Random(seed)
    return [
        [f"N{at}", *chooser.choices(WORDS, k=chooser.randint(3, 33)), "."] for at in range(number)
    ]


def start(model: str, log: Path) -> tuple[subprocess.Popen[bytes], int]:
    """The server and its port. It logs to a file: a pipe that nobody reads would stop it."""
    command = [sys.executable, "-m", "cleft", "serve", "--port", "0", "--model", model]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stderr=stream)
    while True:
        said = log.read_text(encoding="utf-8")
        if " at http://" in said and said.endswith("\n"):
            return process, int(said.split("\n")[0].rsplit(":", 1)[1].split("/")[0])
        if process.poll() is not None:
            sys.exit(said)
        time.sleep(0.05)


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    lines = head.split("\r\n")
    sizes = [line for line in lines if line.lower().startswith("content-length:")]
    return int(lines[0].split()[1]), await reader.readexactly(int(sizes[0].split(":")[1]))


async def client(
    port: int, rows: list[list[str]], wanted: list[str], numbers: Any, end: float, task: str
) -> Counter[str]:
    """Ask until the time is over; what came back, counted."""
    found: Counter[str] = Counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.monotonic() < end:
        at = next(numbers) % len(rows)
        body = json.dumps({"tokens": [rows[at]], "task": task}).encode()
        writer.write(HEAD.format(len(body)).encode() + body)
        status, raw = await answer(reader)
        if status != 200:
            found["failed"] += 1
            continue
        (sentence,) = json.loads(raw)["sentences"]
        right = sentence["text"] == " ".join(rows[at]) and shown(sentence, task) == wanted[at]
        found["right" if right else "wrong"] += 1
    writer.close()
    return found


def shown(sentence: dict[str, Any], task: str) -> str:
    """The tree of an answer as a text that can be compared."""
    tree = sentence[task]
    return tree["brackets"] if task == "syntax" else json.dumps([tree["edus"], tree["nodes"]])


def expected(parser: cleft.Parser, rows: list[list[str]], task: str) -> list[str]:
    """The same texts from the library."""
    if task == "syntax":
        return [str(each.syntax) for each in parser.parse_tokens(rows, task=task)]
    from cleft.formats.jsonl import discourse_data

    found = []
    for each in parser.parse_tokens(rows, task=task):
        assert each.discourse is not None
        data = discourse_data(each.discourse, each.words)
        found.append(json.dumps([data["edus"], data["nodes"]]))
    return found


async def load(
    port: int, rows: list[list[str]], wanted: list[str], clients: int, seconds: float, task: str
) -> Counter[str]:
    end = time.monotonic() + seconds
    numbers = count()
    every = [client(port, rows, wanted, numbers, end, task) for _ in range(clients)]
    total: Counter[str] = Counter()
    for found in await asyncio.gather(*every, return_exceptions=True):
        total.update({"lost": 1} if isinstance(found, BaseException) else found)
    return total


def library(parser: cleft.Parser, rows: list[list[str]], task: str, seconds: float) -> float:
    """Sentences a second of the library's batches."""
    begin, done = time.monotonic(), 0
    while time.monotonic() - begin < seconds:
        done += sum(1 for _ in parser.stream(rows, task=task))
    return done / (time.monotonic() - begin)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("model", help="a built-in model or a model's directory")
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--sentences", type=int, default=512)
    options.add_argument("--json", type=Path, metavar="FILE", help="keep the numbers here")
    args = options.parse_args()
    parser = cleft.load(args.model)
    task = parser.manifest.tasks[0]
    rows = sentences(args.sentences)
    wanted = expected(parser, rows, task)
    with tempfile.TemporaryDirectory() as folder:
        process, port = start(args.model, Path(folder) / "log")
        before = time.process_time()
        try:
            found = asyncio.run(load(port, rows, wanted, args.clients, args.seconds, task))
        finally:
            process.terminate()
            process.wait(60)
        spent = time.process_time() - before
    served = found["right"] / args.seconds
    alone = library(parser, rows, task, min(args.seconds, 10.0))
    numbers = {
        "clients": args.clients,
        "seconds": args.seconds,
        "task": task,
        "answers": found["right"],
        **{name: found[name] for name in ("wrong", "failed", "lost")},
        "exit_code": process.returncode,
        "answers_per_second": round(served, 1),
        "library_sentences_per_second": round(alone, 1),
        "share": round(served / alone, 3),
        "clients_cpu_seconds": round(spent, 2),
        "server_cpu_seconds": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, 2),
    }
    print(json.dumps(numbers, indent=2))
    if args.json:
        args.json.write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")
    return int(bool(found["wrong"] or found["failed"] or found["lost"] or process.returncode))


if __name__ == "__main__":
    sys.exit(main())
