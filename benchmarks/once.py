"""One process that loads a model, parses the token lists of a JSON Lines file, and ends.

    python benchmarks/once.py discourse MODEL_DIR TOKENS.jsonl [--beam 20]
    python benchmarks/once.py stream MODEL_DIR TOKENS.jsonl [--jobs 2]

Prints what it parsed; speed.py times it from outside.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))


def token_lists(path: Path) -> Iterator[list[str]]:
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def main() -> None:
    from measure import peak_memory

    import cleft

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=("discourse", "stream"))
    parser.add_argument("model")
    parser.add_argument("inputs", type=Path)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    task = "discourse" if options.mode == "discourse" else "syntax"
    sentences = tokens = 0
    lines = token_lists(options.inputs)
    model = cleft.load(options.model)
    for result in model.stream(lines, task=task, beam=options.beam, jobs=options.jobs):
        if result.error is not None:
            raise result.error
        sentences += 1
        tokens += len(result.tokens)
    memory = {"memory_mb": peak_memory()}
    print(json.dumps({"sentences": sentences, "tokens": tokens, **memory}))


if __name__ == "__main__":
    main()
