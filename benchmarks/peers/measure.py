"""What is measured, the same for every parser; each driver brings a `Driver`.

Runs inside a peer's own environment, so it knows nothing but the standard
library (and no cleft). One process measures one mode and prints JSON Lines:

    start     process start to first tree, time to load
    batched   all sentences, several rounds
    single    sentences one at a time
    lengths   milliseconds a sentence by length; a failure is a result
    serve     one task a line of stdin, so that several parsers can take turns
    predict   the trees, for scoring
    torture   ok, altered, dropped, timeout or error for each input of a JSONL file
    build     make the model the other modes load
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

LEAF = re.compile(r"\(([^\s()]*) ([^\s()]+)\)")
ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
LENGTH_BUDGET = 60.0
FLOOD_TOKENS = 3_000
"""How many tokens the throughput at one length is taken over, at least five sentences."""


@dataclass(frozen=True)
class Sentence:
    """Tokens to parse, with the tags and the tree that some peers need."""

    words: list[str]
    tags: list[str]
    brackets: str = ""


class Driver(ABC):
    """One parser. `parse` is timed, `brackets` is not."""

    name: str
    weights: str
    """What the weights are: trained, or random and so for speed only."""
    batch: int
    """The peer's own default, in `unit`."""
    unit: str = "sentences"

    @abstractmethod
    def imports(self) -> None:
        """Import what `load` and `parse` need, to time it apart."""

    @abstractmethod
    def load(self, model: Path) -> None:
        """Load a model."""

    @abstractmethod
    def parse(self, sentences: list[Sentence], batch: int) -> list[Any]:
        """The peer's own trees, by its own programming interface."""

    @abstractmethod
    def brackets(self, tree: Any) -> str:
        """A tree on one line, as the peer writes it."""

    @abstractmethod
    def build(self, model: Path, treebank: Path) -> None:
        """Make a model for `load`."""


def read_sentences(path: Path) -> list[Sentence]:
    """The sentences of a file with one cleaned tree a line."""
    found = []
    for line in path.read_text(encoding="utf-8").strip().split("\n"):
        leaves = LEAF.findall(line)
        found.append(Sentence([word for _, word in leaves], [tag for tag, _ in leaves], line))
    return found


def peak_memory() -> float:
    """Peak resident memory of this process in MB.

    VmHWM where there is one: ru_maxrss also counts what the parent held when
    it started us.
    """
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        if found:
            return round(int(found[1]) / 1024, 1)
    scale = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale, 1)


def failure(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}"


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@contextmanager
def time_limit(allowed: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"no result after {allowed} seconds")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(allowed)
    try:
        yield
    finally:
        signal.alarm(0)


@contextmanager
def processor_limit(allowed: int) -> Iterator[None]:
    """The same in seconds of processor time, so that a busy machine is not the parser's fault."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"no result after {allowed} seconds of processor time")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, allowed)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


class Session:
    """One run of a driver: its arguments, and where results go."""

    def __init__(self, driver: Driver, options: argparse.Namespace, emit: Callable[[Any], None]):
        self.driver = driver
        self.options = options
        self.emit = emit
        self.batch: int = options.batch or driver.batch

    def load(self) -> dict[str, float]:
        """Import and load, timed."""
        importing = seconds(self.driver.imports)
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(self.options.threads)
        loading = seconds(lambda: self.driver.load(self.options.model))
        return {"import_seconds": round(importing, 3), "load_seconds": round(loading, 3)}

    def sentences(self) -> list[Sentence]:
        """The sentences that fall to this process."""
        every = read_sentences(self.options.sentences)[: self.options.limit]
        return every[self.options.part :: self.options.parts]

    def parse(self, sentences: list[Sentence]) -> list[Any]:
        """The trees, in batches of the size asked for."""
        return self.driver.parse(sentences, self.batch)

    def start(self) -> None:
        """From the start of the process to the first tree."""
        loading = self.load()
        self.parse(read_sentences(self.options.sentences)[:1])
        total = time.time() - self.options.started
        self.emit(
            {
                "seconds": round(total, 3),
                **loading,
                "memory_mb": peak_memory(),
                "weights": self.driver.weights,
            }
        )

    def batched(self) -> None:
        """All sentences in one call, several times."""
        loading = self.load()
        sentences = self.sentences()
        self.parse(sentences[:8])
        if self.options.wait:
            self.emit({"ready": True})
            sys.stdin.readline()
        began = time.time()
        rounds = [seconds(lambda: self.parse(sentences)) for _ in range(self.options.repeat)]
        self.emit(
            {
                **loading,
                "batch": self.batch,
                "unit": self.driver.unit,
                "sentences": len(sentences),
                "tokens": sum(len(sentence.words) for sentence in sentences),
                "rounds": [round(one, 4) for one in rounds],
                "sentences_per_second": round(len(sentences) / median(rounds), 2),
                "began": began,
                "ended": time.time(),
                "memory_mb": peak_memory(),
            }
        )

    def single(self) -> None:
        """A call for each sentence."""
        self.load()
        sentences = self.sentences()
        for sentence in sentences[:3]:
            self.parse([sentence])
        rounds = [
            [seconds(partial(self.parse, [one])) for one in sentences]
            for _ in range(self.options.repeat)
        ]
        total = median(sum(times) for times in rounds)
        each = [median(times) for times in zip(*rounds, strict=True)]
        self.emit(
            {
                "sentences": len(sentences),
                "rounds": [round(sum(times), 4) for times in rounds],
                "sentences_per_second": round(len(sentences) / total, 2),
                "ms_mean": round(1000 * total / len(sentences), 2),
                "ms_median": round(1000 * median(each), 2),
                "memory_mb": peak_memory(),
            }
        )

    def lengths(self) -> None:
        """One sentence at a time, by length; shortest first, so that the longest can fail."""
        self.load()
        files = sorted(self.options.lengths.glob("*.mrg"), key=lambda file: int(file.stem))
        for file in files:
            self.emit({"length": int(file.stem), **self._one_length(read_sentences(file))})

    def _one_length(self, sentences: list[Sentence]) -> dict[str, Any]:
        times: list[float] = []
        start = time.perf_counter()
        try:
            self.parse(sentences[:1])
            for sentence in sentences * self.options.repeat:
                if times and time.perf_counter() - start > LENGTH_BUDGET:
                    break
                times.append(seconds(partial(self.parse, [sentence])))
        except Exception as error:
            return {"error": failure(error), "memory_mb": peak_memory()}
        return {
            "ms": round(1000 * median(times), 2),
            "runs": len(times),
            "memory_mb": peak_memory(),
        }

    def serve(self) -> None:
        """Load, say so, then answer tasks: a JSON object a line in, a JSON object a line out."""
        loading = self.load()
        sentences = self.sentences()
        self.parse(sentences[:8])
        self.emit({"ready": True, **loading})
        for line in sys.stdin:
            task = json.loads(line)
            self.batch = task.get("batch") or self.options.batch or self.driver.batch
            try:
                with time_limit(int(task.get("allowed", 600))):
                    result = self._task(task, sentences)
            except Exception as error:
                result = {"error": failure(error)}
            self.emit({**result, "memory_mb": peak_memory()})

    def _task(self, task: dict[str, Any], sentences: list[Sentence]) -> dict[str, Any]:
        if task["do"] == "batched":
            return self._once(sentences)
        if task["do"] == "single":
            return self._singly(sentences[: task["count"]])
        given = read_sentences(self.options.lengths / f"{task['length']}.mrg")
        if task["do"] == "flood":
            return self._once(given * max(1, FLOOD_TOKENS // (task["length"] * len(given))))
        return self._one_by_one(given, task["budget"])

    def _once(self, sentences: list[Sentence]) -> dict[str, Any]:
        began = time.time()
        taken = seconds(lambda: self.parse(sentences))
        tokens = sum(len(sentence.words) for sentence in sentences)
        counts = {"sentences": len(sentences), "tokens": tokens}
        return {"seconds": round(taken, 5), **counts, "began": began, "ended": time.time()}

    def _singly(self, sentences: list[Sentence]) -> dict[str, Any]:
        times = [seconds(partial(self.parse, [one])) for one in sentences]
        tokens = sum(len(sentence.words) for sentence in sentences)
        counts = {"sentences": len(sentences), "tokens": tokens}
        return {
            "seconds": round(sum(times), 5),
            "ms_median": round(1000 * median(times), 3),
            **counts,
        }

    def _one_by_one(self, sentences: list[Sentence], budget: float) -> dict[str, Any]:
        """Milliseconds a sentence; the first does not count, unless there is no time for more."""
        times = [seconds(lambda: self.parse(sentences[:1]))]
        start = time.perf_counter()
        for sentence in sentences * self.options.repeat:
            if time.perf_counter() - start + times[-1] > budget:
                break
            times.append(seconds(partial(self.parse, [sentence])))
        counted = times[1:] or times
        return {"ms": round(1000 * median(counted), 3), "runs": len(counted)}

    def predict(self) -> None:
        """The trees as text."""
        self.load()
        for tree in self.parse(self.sentences()):
            self.emit({"brackets": self.driver.brackets(tree)})

    def torture(self) -> None:
        """What becomes of each input, alone."""
        self.load()
        text = self.options.inputs.read_text(encoding="utf-8")
        inputs = [json.loads(line) for line in text.split("\n") if line]
        for index in range(self.options.skip, len(inputs)):
            self.emit({"index": index, **self._one_input(inputs[index])})

    def _one_input(self, given: list[str] | str) -> dict[str, Any]:
        # The peers' own tokenizers have to be downloaded: a string is split at white space.
        words = given.split() if isinstance(given, str) else given
        start = time.perf_counter()
        try:
            with processor_limit(self.options.allowed):
                trees = self.parse([Sentence(words, ["NN"] * len(words))])
                status = self._status(words, trees)
        except TimeoutError as error:
            status = {"status": "timeout", "error": failure(error)}
        except (Exception, SystemExit) as error:
            status = {"status": "error", "error": failure(error)}
        return {**status, "seconds": round(time.perf_counter() - start, 3)}

    def _status(self, words: list[str], trees: list[Any]) -> dict[str, str]:
        if len(trees) != 1:
            return {"status": "dropped", "error": f"{len(trees)} trees for 1 sentence"}
        text = self.driver.brackets(trees[0])
        found = [_unescape(word) for _, word in LEAF.findall(text)]
        if found != [_unescape(word) for word in words]:
            return {"status": "altered", "error": f"{len(words)} tokens in, {len(found)} read back"}
        return {"status": "ok"}

    def build(self) -> None:
        """Make a model from the training file."""
        self.driver.imports()
        self.driver.build(self.options.model, self.options.sentences)
        self.emit({"built": str(self.options.model)})


def _unescape(word: str) -> str:
    for escaped, plain in ESCAPES.items():
        word = word.replace(escaped, plain)
    return word


MODES = ("start", "batched", "single", "lengths", "serve", "predict", "torture", "build")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=MODES)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--sentences", type=Path, help="bracket file, one cleaned tree a line")
    parser.add_argument("--limit", type=int, help="only the first so many sentences")
    parser.add_argument("--part", type=int, default=0, help="of --parts, for several processes")
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--wait", action="store_true", help="for a line on stdin, once loaded")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, help="instead of the parser's own default")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--started", type=float, default=time.time(), help="time.time() of start")
    parser.add_argument(
        "--lengths", type=Path, help="directory of N.mrg with sentences of N tokens"
    )
    parser.add_argument("--inputs", type=Path, help="JSONL of token lists or strings")
    parser.add_argument("--skip", type=int, default=0, help="so many inputs")
    parser.add_argument("--allowed", type=int, default=60, help="seconds for one input")
    return parser.parse_args()


def main(driver: Driver) -> None:
    """Run the mode named on the command line."""
    options = arguments()
    # Peers print as they like: results keep the real stdout, all else goes to stderr.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def emit(result: Any) -> None:
        out.write(json.dumps(result) + "\n")
        out.flush()

    getattr(Session(driver, options, emit), options.mode)()
