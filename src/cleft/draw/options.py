"""What a caller may choose about a drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from cleft.errors import UsageError

__all__ = ["DEFAULT", "Options", "Theme"]

Theme = Literal["auto", "light", "dark"]
"""Fixed colours, or those that the reader's system prefers."""

SMALLEST = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a tree is drawn as SVG or HTML.

    - `theme`: `light`, `dark`, or `auto` for what the reader's system prefers
    - `width`: pixels after which a syntax tree goes on in a further row;
      None keeps every sentence on one line
    - `title`: what the drawing is called, for screen readers and pages

    >>> Options(theme="dark").width
    1200
    """

    theme: Theme = "auto"
    width: int | None = 1200
    title: str = ""

    def __post_init__(self) -> None:
        if self.theme not in get_args(Theme):
            raise UsageError(
                f"no theme is called {self.theme!r}",
                hint=f"use one of {', '.join(get_args(Theme))}",
            )
        if self.width is not None and self.width < SMALLEST:
            raise UsageError(
                f"expected a width of at least {SMALLEST} pixels, found {self.width}",
                hint="give a larger width, or none for one line",
            )


DEFAULT = Options()
"""What is drawn when nothing is chosen."""
