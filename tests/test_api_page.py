"""docs/api.md is what the docstrings say now, and lists all that is public."""

import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import cleft

pytest.importorskip("spacy", reason="the page also tells of the spaCy component")
pytest.importorskip("nltk", reason="the page also tells of NLTK")

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def make_api():
    spec = importlib.util.spec_from_file_location("make_api", DOCS / "make_api.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(make_api):
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert page == make_api.page(), "run: python docs/make_api.py"


def test_every_public_name_of_the_package_is_listed(make_api):
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    part = page.partition("\n## cleft\n")[2].partition("\n## ")[0]
    listed = re.findall(r"^### (?:class )?`(\w+)`$", part, re.M)
    assert listed == [name for name in cleft.__all__ if name != "__version__"]


def test_signatures_are_readable(make_api):
    page = make_api.page()
    assert "ForwardRef" not in page
    assert not re.search(r"<(factory|function|class|object)", page)
    assert "parse(\n    text: str,\n    *,\n    task: str = 'both'," in page


def test_every_module_that_users_import_from_has_its_place(make_api):
    """Those left out are parts of others: a reader behind rs3, a layout behind a report."""
    parts = {
        "cleft.formats": {"json_values", "rs3_xml"},
        "cleft.metrics": {"bracketing"},
        "cleft.integrations": {"spacy_spans"},
    }
    for package, inner in parts.items():
        module = importlib.import_module(package)
        found = {each.name for each in pkgutil.iter_modules(module.__path__)}
        listed = {
            name.removeprefix(f"{package}.")
            for name in make_api.MODULES
            if name.startswith(f"{package}.")
        }
        assert found - inner == listed
