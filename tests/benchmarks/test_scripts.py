"""The scripts of benchmarks/ as a whole: they can be imported, and their examples are true."""

import doctest
import sys
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="some of the scripts train or load checkpoints")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(path.stem for path in BENCHMARKS.glob("*.py"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_can_be_imported_and_its_examples_give_what_they_say(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])  # some look for modules in peers/
    module = import_module(name)
    assert module.__file__ == str(BENCHMARKS / f"{name}.py")
    assert doctest.testmod(module).failed == 0
