"""How drawings look: what a caller may choose, the palettes, and the style rules made of them.

Text has a contrast of at least 4.5 to its ground and lines at least 3 (WCAG
AA); a test computes both. Rules name their colours outright rather than by
CSS variables, so that converters which know no variables draw them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

    >>> Options(theme="dark").width
    1200
    """

    theme: Theme = "auto"
    width: int | None = 1200
    title: str = ""
    view: View = "auto"

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

TONES = ("clause", "noun", "verb", "modifier", "other")
MARKS = ("wrong", "missed", "changed")
CLAUSES = frozenset({"TOP", "ROOT", "VROOT", "FRAG", "CP", "IP", "CS", "SENT", "PRN", "UCP"})


def tone_of(label: str) -> str:
    """The colour family of a phrase label: clause, noun, verb, modifier or other.

    >>> [tone_of(label) for label in ("SBAR", "NP-SBJ", "VP", "PP", "X")]
    ['clause', 'noun', 'verb', 'modifier', 'other']
    """
    head = label.upper()
    if head[:1] == "S" or head.split("-")[0] in CLAUSES:
        return "clause"
    if head[:1] == "N" or head.startswith("WHN"):
        return "noun"
    if head[:1] == "V":
        return "verb"
    if head[:1] in ("A", "P", "Q") or head.startswith("WH"):
        return "modifier"
    return "other"


def _rules(colour: Mapping[str, str], scope: str) -> list[str]:
    rules = [
        f"{scope} .ground{{fill:{colour['ground']}}}",
        f"{scope} .word,{scope} .edu,{scope} .prose,{scope} .heading{{fill:{colour['ink']}}}",
        f"{scope} .tag,{scope} .number,{scope} .crumb,{scope} .note,{scope} .aside"
        f"{{fill:{colour['muted']}}}",
        f"{scope} .branch,{scope} .roof,{scope} .tail,{scope} .bar"
        f"{{stroke:{colour['line']};fill:none}}",
        f"{scope} .nucleus{{stroke:{colour['ink']};fill:none}}",
        f"{scope} .arc{{stroke:{colour['noun']};fill:none}}",
        f"{scope} .tip{{fill:{colour['noun']};stroke:none}}",
        f"{scope} .joint{{stroke:{colour['clause']};fill:none}}",
        f"{scope} .bridge{{stroke:{colour['modifier']};fill:none}}",
    ]
    for name in (*TONES, *MARKS):
        rules.append(f"{scope} .{name}{{fill:{colour[name]}}}")
        rules.append(f"{scope} .{name}-tint{{fill:{colour[name + '-tint']}}}")
    for name in MARKS:
        rules.append(f"{scope} .{name}-tint,{scope} .{name}-line{{stroke:{colour[name]}}}")
    rules.append(f"{scope} .doubt{{stroke:{colour['doubt']}}}")
    return rules


TYPE = [
    f".cleft text{{font-family:{FONT};text-anchor:middle;white-space:pre;"
    "font-weight:400;font-style:normal;letter-spacing:0;text-transform:none}",
    ".cleft .heading,.cleft .note,.cleft .crumb,.cleft .prose{text-anchor:start}",
    ".cleft .label,.cleft .relation,.cleft .heading{font-weight:600}",
    ".cleft .branch,.cleft .roof,.cleft .arc,.cleft .joint,.cleft .nucleus,.cleft .bar"
    "{stroke-linecap:round;stroke-linejoin:round}",
    ".cleft .tail{stroke-dasharray:2 4;stroke-linecap:round}",
    ".cleft .bridge{stroke-linecap:round;stroke-linejoin:round;stroke-dasharray:6 3}",
    ".cleft .doubt{stroke-dasharray:3 2}",
]


def style(theme: Theme) -> str:
    """The style sheet of a drawing in a theme.

    >>> "prefers-color-scheme" in style("auto"), "prefers-color-scheme" in style("dark")
    (True, False)
    """
    if theme != "auto":
        palette = DARK if theme == "dark" else LIGHT
        return "\n".join(TYPE + _rules(palette, f".cleft-{theme}"))
    dark = "\n".join(_rules(DARK, ".cleft-auto"))
    light = "\n".join(TYPE + _rules(LIGHT, ".cleft-auto"))
    return f"{light}\n@media (prefers-color-scheme: dark){{\n{dark}\n}}"


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
