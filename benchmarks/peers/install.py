"""Set up the peers: a virtual environment and a model for each.

    python benchmarks/peers/install.py [--no-models] [supar] [benepar] [stanza]

Needs `prepare.py` to have run. What is there already is left alone. The models
of benepar and Stanza have random weights and take seconds; train.py trains
SuPar's and benepar's.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from places import (
    CACHE,
    CONSTRAINTS,
    DATA,
    PEERS,
    RANDOM,
    REQUIREMENTS,
    driver,
    interpreter,
    model,
)


def environment(peer: str) -> None:
    """A virtual environment with the peer as pip installs it today."""
    python = interpreter(peer)
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # Without the constraints pip would bring gigabytes of GPU libraries.
    command += ["--constraint", str(_constraints(peer)), *REQUIREMENTS[peer]]
    subprocess.run(command, check=True)


def _constraints(peer: str) -> Path:
    """Our constraints, but for what the peer asks for in a version of its own."""
    own = {text.partition("==")[0] for text in REQUIREMENTS[peer]}
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    path = CACHE / peer / "constraints.txt"
    kept = [line for line in lines if line.partition("==")[0] not in own]
    path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    return path


def build(peer: str) -> None:
    if model(peer).exists() or peer not in RANDOM:
        return
    treebank = DATA / RANDOM[peer]
    if not treebank.exists():
        sys.exit(f"{treebank}: expected the cleaned treebank, found no file; run prepare.py first")
    command = [str(interpreter(peer)), str(driver(peer)), "build"]
    command += ["--model", str(model(peer)), "--sentences", str(treebank)]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peers", nargs="*", help="all, if none is named")
    parser.add_argument("--no-models", action="store_true", help="environments only")
    options = parser.parse_args()
    if set(options.peers) - set(PEERS):
        parser.error(f"expected peers of {', '.join(PEERS)}, found {', '.join(options.peers)}")
    for peer in options.peers or PEERS:
        environment(peer)
        if not options.no_models:
            build(peer)
        print(f"{peer}: {interpreter(peer)}")


if __name__ == "__main__":
    main()
