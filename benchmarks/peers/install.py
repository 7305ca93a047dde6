"""Set up the peers: a virtual environment and a model for each.

    python benchmarks/peers/install.py [--no-models] [supar] [benepar] [stanza]

Needs `prepare.py` to have run. What is there already is left alone. benepar's
and Stanza's models have random weights and take seconds; SuPar's is trained,
about an hour on one core.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from places import CONSTRAINTS, DATA, PEERS, REQUIREMENTS, TRAINING, driver, interpreter, model


def environment(peer: str) -> None:
    """A virtual environment with the peer as pip installs it today."""
    python = interpreter(peer)
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # Without the constraints pip would bring gigabytes of GPU libraries.
    command += ["--constraint", str(CONSTRAINTS), *REQUIREMENTS[peer]]
    subprocess.run(command, check=True)


def build(peer: str) -> None:
    if model(peer).exists():
        return
    treebank = DATA / TRAINING[peer]
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
