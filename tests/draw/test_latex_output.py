"""LaTeX: balanced, escaped, and where TeX is there, compiled."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cleft import DiscourseTree, Tree
from cleft.draw import diff, latex
from cleft.draw.latex_output import Package
from cleft.errors import UsageError
from tests.draw.samples import SHORT, rain, right_branching

PACKAGES: list[Package] = ["forest", "qtree"]
ODD = ["50%", "$5", "a_b&c", "{x}", "\\", "~^#", "[x,y=z]", "``", "''", "--", '<b>|"', "été", " "]
STRANGE = Tree("S", [Tree("X#", (), word) for word in ODD])


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("tree", [SHORT, rain(), STRANGE, right_branching(3000)])
def test_brackets_and_braces_close(tree: Tree | DiscourseTree, package: Package) -> None:
    text = re.sub(r"\\[\\{}\[\]$&#_%]", "", latex(tree, package))
    body = text.split("\\begin{document}")[1]
    bare = re.sub(r"\{[^{}]*\}", "", re.sub(r"\{[^{}]*\}", "", body))
    assert body.count("{") == body.count("}")
    assert bare.count("[") == bare.count("]")


def test_the_words_are_there_in_order() -> None:
    for package in PACKAGES:
        text = latex(SHORT, package)
        places = [text.index(f"{{{word}}}") for word in ("The", "old", "goat") if word in text]
        assert places == sorted(places)


def test_satellites_are_told() -> None:
    assert latex(rain(), "forest").count(", satellite") == 2
    assert latex(rain(), "qtree").count("(S)") == 2


def test_another_package_is_refused() -> None:
    with pytest.raises(UsageError, match="no package is called 'tikz'"):
        latex(SHORT, "tikz")  # type: ignore[arg-type]


def test_a_comparison_is_refused() -> None:
    with pytest.raises(UsageError, match="expected trees, found Diff; a comparison: draw both"):
        latex(diff(SHORT, SHORT), "forest")  # type: ignore[arg-type]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_document_compiles(package: Package, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        pytest.skip("TeX is not installed")
    needed = [
        "standalone.cls",
        "lmodern.sty",
        "forest.sty" if package == "forest" else "tikz-qtree.sty",
    ]
    found = subprocess.run(["kpsewhich", *needed], check=False, capture_output=True, text=True)
    if len(found.stdout.splitlines()) < len(needed):
        pytest.skip(f"TeX lacks one of {', '.join(needed)}")
    (tmp_path / "trees.tex").write_text(latex([SHORT, rain(), STRANGE], package), "utf-8")
    run = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "trees.tex"],
        cwd=tmp_path,
        env={**os.environ, "TEXMFVAR": str(tmp_path / "var")},
        check=False,
        capture_output=True,
    )
    assert run.returncode == 0, run.stdout[-2000:]
    assert (tmp_path / "trees.pdf").read_bytes().startswith(b"%PDF")
