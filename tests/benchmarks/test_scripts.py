"""The scripts of benchmarks/ as a whole: they can be imported, and pages say what is there."""

import doctest
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="some of the scripts train or load checkpoints")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ROOT = BENCHMARKS.parent
SCRIPTS = sorted(path.stem for path in BENCHMARKS.glob("*.py"))
PAGES = [
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "Makefile"),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("recipes/*.*"),
    *BENCHMARKS.glob("**/*.md"),
]
NAMED = re.compile(r"benchmarks/[\w/-]+\.(?:py|json|toml|svg)\b")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_can_be_imported_and_its_examples_give_what_they_say(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])  # some look for modules in peers/
    module = import_module(name)
    assert module.__file__ == str(BENCHMARKS / f"{name}.py")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("model", ["en", "en-fast"])
def test_the_time_of_a_parse_is_told_by_its_parts(model: str) -> None:
    from shares import shares

    words = [
        ["the", "old", "heron", "waits", "."],
        ["they", "left", "because", "it", "rained", "."],
    ]
    path = ROOT / "src" / "cleft" / "models" / model
    for found in shares(path, words).values():
        parts = found["parts"]
        assert {"search", "trees", "input", "step", "labels"} <= set(parts)
        assert all(one["calls"] for name, one in parts.items() if name != "rest")
        assert sum(one["share"] for one in parts.values()) == pytest.approx(100, abs=1)
        assert parts["labels"]["products_per_row"] > 0


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_readme_says_what_a_script_is_for(name: str) -> None:
    assert f"`{name}.py`" in (BENCHMARKS / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_scripts_and_results_that_a_page_names_are_there(page: Path) -> None:
    for named in NAMED.findall(page.read_text(encoding="utf-8")):
        assert (ROOT / named).is_file(), f"{page.name}: {named}"
