"""Where the peers live: outside the work tree, never in it.

Environments and data are in `~/.cache/cleft-bench`, or the directory named by
the environment variable CLEFT_BENCH; trained models and their trees in
`~/cleft-runs/peers`, or CLEFT_PEERS. Standard library only.

A peer may have several models: `supar-minilm` is SuPar over another encoder.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
CACHE = Path(os.environ.get("CLEFT_BENCH") or Path.home() / ".cache" / "cleft-bench")
RUNS = Path(os.environ.get("CLEFT_PEERS") or Path.home() / "cleft-runs" / "peers")
DATA = CACHE / "data"
LENGTHS = DATA / "length"
TEST = DATA / "test.none.mrg"
TREEBANKS = REPO.parent / "shared" / "data" / "syntax"
TREEBANK = "wsj-sample"
"""What is trained on and measured with unless another treebank is named."""
CONSTRAINTS = REPO / "constraints.txt"

# What a peer is installed from.
REQUIREMENTS = {
    "supar": ["torch==2.13.0", "supar==1.1.4", "nltk==3.8.1"],
    "benepar": ["torch==2.13.0", "benepar==0.2.0", "nltk==3.8.1"],
    "stanza": ["torch==2.13.0", "stanza==1.15.0"],
}
# What a model of random weights is built on, for speed alone.
RANDOM = {"benepar": "train.TOP.mrg", "stanza": "train.ROOT.mrg"}
PEERS = tuple(REQUIREMENTS)


def data(treebank: str) -> Path:
    """Where the cleaned trees of a treebank are."""
    return DATA if treebank == TREEBANK else DATA / treebank


def recipes() -> dict[str, dict[str, Any]]:
    """The settings of each model that can be trained."""
    return tomllib.loads((HERE / "recipes.toml").read_text(encoding="utf-8"))


def peer_of(name: str) -> str:
    """The peer whose model this is: `supar` of `supar-minilm`."""
    return name.partition("-")[0]


def interpreter(name: str) -> Path:
    return CACHE / peer_of(name) / "venv" / "bin" / "python"


def trained(name: str) -> Path:
    return RUNS / name / "model"


def model(name: str) -> Path:
    """The trained model if there is one, else that of random weights."""
    return trained(name) if trained(name).exists() else CACHE / name / "model"


def driver(name: str) -> Path:
    return HERE / f"run_{peer_of(name)}.py"
