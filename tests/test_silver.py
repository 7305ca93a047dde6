"""Silver trees for a smaller network: the words of a treebank, the trees of a model."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

from cleft.formats.brackets import read_brackets

SCRIPT = Path(__file__).parents[1] / "recipes" / "silver.py"
GOLD = """\
( (S (NP-SBJ (DT The) (NN cat)) (VP (VBD slept) (NP (-NONE- *T*-1))) (. .)) )
( (S (NP-SBJ (DT The) (NN cat)) (VP (VBD slept)) (. .)) )
( (FRAG (UH Yes) (. .)) )
( (X (X The) (X old) (X man) (X read) (X a) (X book) (X .)) )
"""


def test_words_come_cleaned_once_and_not_too_short(tmp_path: Path) -> None:
    (tmp_path / "gold.mrg").write_text(GOLD)
    found = list(runpy.run_path(str(SCRIPT))["sentences"]([str(tmp_path / "gold.mrg")] * 2))
    assert found == [
        ("The", "cat", "slept", "."),
        ("The", "old", "man", "read", "a", "book", "."),
    ]


def test_the_trees_are_the_model_s(tmp_path: Path) -> None:
    (tmp_path / "gold.mrg").write_text(GOLD)
    command = [sys.executable, str(SCRIPT), "en", str(tmp_path / "gold.mrg")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (tmp_path / "silver.mrg").write_text(done.stdout)
    short, flat = read_brackets(tmp_path / "silver.mrg")
    assert short.words() == ["The", "cat", "slept", "."]
    assert "X" not in {node.label for node in flat.preorder()}
