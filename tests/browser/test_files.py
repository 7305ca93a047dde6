"""The page's files as they lie in the package; no browser is needed."""

import re
from importlib.resources import files

import pytest

from cleft.draw.theme import DARK, FONT, LIGHT

STATIC = files("cleft.server").joinpath("static")
NAMES = sorted(one.name for one in STATIC.iterdir())


def read(name: str) -> str:
    return STATIC.joinpath(name).read_text("utf-8")


def test_colours_are_those_of_the_drawings() -> None:
    found = re.findall(r"--([a-z-]+): light-dark\((#\w{6}), (#\w{6})\);", read("style.css"))
    assert len(found) > 15
    assert {name: (light, dark) for name, light, dark in found} == {
        name: (LIGHT[name], DARK[name]) for name, _, _ in found
    }


def test_every_colour_that_is_used_is_there() -> None:
    sheets = read("style.css") + read("tree.css")
    used = set(re.findall(r"var\(--([a-z-]+)\)", sheets)) - {"share"}
    assert used <= set(re.findall(r"--([a-z-]+):", sheets))


def test_the_font_is_that_of_the_drawings() -> None:
    plain = FONT.replace("'", '"')
    assert f"--font: {plain};" in read("style.css")


@pytest.mark.parametrize("name", NAMES)
def test_files_are_small_and_ask_nobody_else(name: str) -> None:
    text = read(name)
    assert text.count("\n") < 400
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".js")])
def test_no_script_reads_text_as_html_or_code(name: str) -> None:
    banned = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function"
    )
    assert not re.search(banned, read(name))
    for module in re.findall(r'from "\./([a-z]+\.js)"', read(name)):
        assert module in {*NAMES, "fold.js"}  # which lies with the drawings


def test_the_page_has_no_script_or_style_of_its_own() -> None:
    text = read("index.html")
    assert not re.search(r"<style|style=|\son\w+=", text)
    assert re.findall(r"<script[^>]*>(.*?)</script>", text) == [""]
    for name in re.findall(r'(?:src|href)="static/([^"]+)"', text):
        assert name in NAMES
