"""The pictures of the documentation are those that the product draws now."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from cleft.draw import Diff, lay_out, svg
from tests.draw import looking

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


@pytest.fixture(scope="module")
def make() -> ModuleType:
    found = importlib.util.spec_from_file_location("pictures", PICTURES / "make.py")
    assert found is not None
    module = importlib.util.module_from_spec(found)
    assert found.loader is not None
    found.loader.exec_module(module)
    return module


def test_the_pictures_of_the_readme_are_current(make: ModuleType) -> None:
    for name, tree in make.examples().items():
        text = (PICTURES / f"{name}.svg").read_text(encoding="utf-8")
        assert text == svg(tree), f"{name}.svg is old; run make pictures"


def test_the_contact_sheet_is_drawn_whole(make: ModuleType) -> None:
    for row in make.sheet():
        for _, tree in row:
            if not isinstance(tree, Diff):
                looking.check_drawing(tree, make.WIDE)
            looking.check_layout(lay_out(tree, make.WIDE))


def test_the_long_sentence_has_sixty_tokens(make: ModuleType) -> None:
    assert len(make.Tree.from_brackets(make.SIXTY).words()) == 60
    assert len(make.twelve().edus) == 12
