"""What cleft and its peers do with the same sample of the torture corpus.

    python benchmarks/torture_peers.py [--count 500] [--budget 360] [PEER ...]

Run by cleft's own interpreter; each parser runs in its own environment
(benchmarks/peers), one input at a time, by its own programming interface. All
take tokens, so a text is tokenised by cleft first, as one sentence; bytes are
read with replacement characters. Brackets stay brackets. Writes
benchmarks/results/torture-peers.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks" / "peers")]

from places import PEERS, driver  # noqa: E402
from run import Parser, machine, peer, torture  # noqa: E402

from cleft.text import tokenize  # noqa: E402
from tests.torture.corpus import Case, sample  # noqa: E402

OUTPUT = ROOT / "benchmarks" / "results" / "torture-peers.json"
NAMES = (*PEERS, "cleft")
CALLED = {
    "supar": "supar.Parser.load(model).predict([[(word, tag), …]])",
    "benepar": "benepar.Parser(model).parse_sents([InputSentence(words, tags)])",
    "stanza": "the constituency model as its pipeline calls it, given tags, led along a flat tree",
    "cleft": "cleft.load(model).parse_tokens([words]); a result with an error counts as one",
}


def words(case: Case) -> list[str]:
    """The tokens of a case."""
    if isinstance(case.content, list):
        return case.content
    text = case.content
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return [token.text for token in tokenize(text)]


def parser_of(name: str) -> Parser:
    if name != "cleft":
        return peer(name)
    model = ROOT / "src" / "cleft" / "models" / "en"
    return Parser(name, Path(sys.executable), driver(name), model)


def told(cases: list[Case], results: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts, and what each input that is not well came to."""
    statuses = Counter(one["status"] for one in results)
    failed = [(case, one) for case, one in zip(cases, results, strict=True) if "error" in one]
    raised = [one["error"].partition(":")[0] for _, one in failed if one["status"] == "error"]
    return {
        "tried": len(results) - statuses["not tried"],
        "statuses": dict(statuses.most_common()),
        "exceptions": dict(Counter(raised).most_common()),
        "inputs": {case.name: f"{one['status']}: {one['error']}" for case, one in failed},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parsers", nargs="*", metavar="PEER", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--count", type=int, default=500, help="inputs (default: 500)")
    parser.add_argument("--allowed", type=int, default=20, help="seconds an input (default: 20)")
    parser.add_argument("--budget", type=float, default=360, help="seconds a parser")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    cases = sample(options.count)
    known = json.loads(options.output.read_text()) if options.output.exists() else {}
    found = known.get("parsers", {})
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs.jsonl"
        inputs.write_text("".join(json.dumps(words(case)) + "\n" for case in cases))
        for name in options.parsers or NAMES:
            one = parser_of(name)
            if not one.python.exists() or not one.model.exists():
                found[name] = {"error": f"{name} is not set up; run benchmarks/peers/install.py"}
                continue
            limits = {"allowed": options.allowed, "budget": options.budget}
            results = torture(one, inputs, **limits)
            found[name] = {"called": CALLED[name], **told(cases, results)}
            print(name, found[name]["tried"], found[name]["statuses"], flush=True)
    data = {
        "command": "python benchmarks/torture_peers.py",
        "machine": machine(),
        "inputs": len(cases),
        "seconds_an_input": options.allowed,
        "parsers": found,
    }
    options.output.write_text(json.dumps(data, indent=1, ensure_ascii=True) + "\n")


if __name__ == "__main__":
    main()
