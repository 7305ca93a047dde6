"""How drawings look: what a caller may choose, the palettes, and the rules of `style.css`.

Text has a contrast of at least 4.5 to its ground and lines at least 3 (WCAG
AA); a test computes both. Rules name their colours outright rather than by
CSS variables, so that converters which know no variables draw them too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from cleft.errors import UsageError

Theme = Literal["auto", "light", "dark"]
"""Fixed colours, or those that the reader's system prefers."""

View = Literal["auto", "tree", "rows", "outline"]
"""How a tree is set: on one line, in rows, as an outline (a discourse tree: to be read line by
line), or as the width allows."""

SMALLEST = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a tree is drawn as SVG or HTML.

    - `theme`: `light`, `dark`, or `auto` for what the reader's system prefers
    - `width`: pixels that a drawing may take; None keeps every sentence on one line
    - `view`: `tree`; `rows`, into which a wide syntax tree is split; `outline`, which fits any
      width; `auto` takes the first of them that fits
    - `title`: what the drawing is called, for screen readers and pages
    - `nested`: a discourse tree is drawn as it is given, with the pairs that a parser splits a
      relation of several nuclei into, and not with all of them below one node

    >>> Options(theme="dark").width
    1200
    """

    theme: Theme = "auto"
    width: int | None = 1200
    title: str = ""
    view: View = "auto"
    nested: bool = False

    def __post_init__(self) -> None:
        for name, known in (("theme", get_args(Theme)), ("view", get_args(View))):
            if (found := getattr(self, name)) not in known:
                raise UsageError(
                    f"no {name} is called {found!r}", hint=f"use one of {', '.join(known)}"
                )
        if self.width is not None and self.width < SMALLEST:
            raise UsageError(
                f"expected a width of at least {SMALLEST} pixels, found {self.width}",
                hint="give a larger width, or none for one line",
            )


DEFAULT = Options()
"""What is drawn when nothing is chosen."""


# ---------------------------------------------------------------- colours

FONT = (
    "Inter, 'Helvetica Neue', Helvetica, Arial, 'Noto Sans', 'Liberation Sans', "
    "'DejaVu Sans', sans-serif"
)

COLOURS = {  # light, dark
    "page": ("#f4f5f8", "#0b0d12"),
    "rule": ("#dde2ea", "#2b313d"),
    "ground": ("#ffffff", "#11141b"),
    "ink": ("#1c2230", "#e9ebf1"),
    "muted": ("#566073", "#a0aabb"),
    "line": ("#7f8a9e", "#707c91"),
    "clause": ("#4338ca", "#b3befd"),
    "clause-tint": ("#eeeffe", "#24284d"),
    "noun": ("#0b6b64", "#6fe0d0"),
    "noun-tint": ("#e3f4f1", "#12352f"),
    "verb": ("#ab1f3a", "#fda9b6"),
    "verb-tint": ("#fdecef", "#421c26"),
    "modifier": ("#8a5200", "#f3c677"),
    "modifier-tint": ("#fcf2df", "#3a2b10"),
    "other": ("#475569", "#bcc6d5"),
    "other-tint": ("#eff2f6", "#272d39"),
    "wrong": ("#b3261e", "#ffb0a8"),
    "wrong-tint": ("#fde8e6", "#4d1a17"),
    "missed": ("#0550ae", "#9ecbff"),
    "missed-tint": ("#e3effc", "#142f52"),
    "changed": ("#7d5200", "#f5d477"),
    "changed-tint": ("#fff0c7", "#453507"),
    "doubt": ("#b45309", "#f2a65a"),
}

LIGHT: Mapping[str, str] = {name: light for name, (light, _) in COLOURS.items()}
DARK: Mapping[str, str] = {name: dark for name, (_, dark) in COLOURS.items()}


@cache
def resource(name: str) -> str:
    """A file of this package that becomes part of drawings and pages."""
    return files(__package__).joinpath(name).read_text("utf-8").strip()


def _filled(rules: str, **values: str) -> str:
    """The rules of `style.css`, where `@name` stands for a value."""
    return re.sub("@([a-z-]+)", lambda name: values[name[1]], rules)


def style(theme: Theme) -> str:
    """The style sheet of a drawing in a theme.

    >>> "prefers-color-scheme" in style("auto"), "prefers-color-scheme" in style("dark")
    (True, False)
    """
    type_rules, rules = resource("style.css").split("\n\n")
    fonts = _filled(type_rules, font=FONT)
    light, dark = (_filled(rules, scope=f".cleft-{theme}", **each) for each in (LIGHT, DARK))
    if theme != "auto":
        return f"{fonts}\n{dark if theme == 'dark' else light}"
    return f"{fonts}\n{light}\n@media (prefers-color-scheme: dark){{\n{dark}\n}}"


VARIABLES = {
    "page": "page",
    "rule": "rule",
    "ground": "ground",
    "ink": "ink",
    "muted": "muted",
    "tint": "noun-tint",
    "relation": "noun",
    "accent": "clause",
}


def page_colours(theme: Theme) -> str:
    """The palette as variables, for the parts of a page that only browsers see."""

    def rule(colour: Mapping[str, str]) -> str:
        values = ";".join(f"--{name}:{colour[key]}" for name, key in VARIABLES.items())
        return f".cleft-colours-{theme}{{{values}}}"

    if theme != "auto":
        return rule(DARK if theme == "dark" else LIGHT)
    return f"{rule(LIGHT)}\n@media (prefers-color-scheme: dark){{{rule(DARK)}}}"
