"""Where the peers live: outside the work tree, never in it.

`~/.cache/cleft-bench`, or the directory named by the environment variable
CLEFT_BENCH. Standard library only.
"""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
CACHE = Path(os.environ.get("CLEFT_BENCH") or Path.home() / ".cache" / "cleft-bench")
DATA = CACHE / "data"
LENGTHS = DATA / "length"
TEST = DATA / "test.none.mrg"
TREEBANK = REPO.parent / "shared" / "data" / "syntax" / "wsj-sample"
CONSTRAINTS = REPO / "constraints.txt"

# What a peer is installed from, and the shape of treebank its model is built on.
REQUIREMENTS = {
    "supar": ["torch==2.13.0", "supar==1.1.4", "nltk==3.8.1"],
    "benepar": ["torch==2.13.0", "benepar==0.2.0", "nltk==3.8.1"],
    "stanza": ["torch==2.13.0", "stanza==1.15.0"],
}
TRAINING = {"supar": "train.TOP.mrg", "benepar": "train.TOP.mrg", "stanza": "train.ROOT.mrg"}
PEERS = tuple(REQUIREMENTS)


def interpreter(peer: str) -> Path:
    return CACHE / peer / "venv" / "bin" / "python"


def model(peer: str) -> Path:
    return CACHE / peer / "model"


def driver(peer: str) -> Path:
    return HERE / f"run_{peer}.py"
