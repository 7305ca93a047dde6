"""How to search, and what to keep of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cleft.errors import UsageError, check_number

__all__ = ["SearchOptions"]

NUMBERS = (
    ("beam", 1, "use 1 for greedy search"),
    ("n_best", 1, "use 1 for the best tree only"),
    ("alternatives", 0, "use 0 for none"),
)
"""Each option that is a whole number, the least that it may be, and a hint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How to search, and what to keep.

    `beam` is the width: 1 is greedy. `n_best` trees are kept at most; if it
    exceeds the beam's width, it is the width. With `prune`, hypotheses that
    cannot beat the greedy tree are dropped: the best tree is then the better
    of the full beam's and greedy's. That holds for the best tree alone, so for
    `n_best` above 1 nothing is dropped, and the greedy tree joins the list. The
    list is sorted by `log_prob`, labels included, while the single best tree is
    that of the best `split_log_prob`: they need not begin alike.
    `margin`, a loss of log-probability, also drops hypotheses that far below
    the best of their sentence at the same step: faster, and no longer exact.
    `alternatives` runner-up labels and boundaries are kept for each node, and
    with `trace` the steps of each tree; both cost one more greedy pass.

    >>> SearchOptions(beam=0)
    Traceback (most recent call last):
        ...
    cleft.errors.UsageError: beam is 0, expected 1 or more; use 1 for greedy search
    """

    beam: int = 1
    n_best: int = 1
    prune: bool = True
    margin: float | None = None
    alternatives: int = 0
    trace: bool = False

    def __post_init__(self) -> None:
        for name, least, hint in NUMBERS:
            number = check_number(name, getattr(self, name), least, hint)
            object.__setattr__(self, name, number)
        if self.margin is not None and not _is_margin(self.margin):
            raise UsageError(
                f"margin is {self.margin!r}, expected a number, 0 or more",
                hint="leave it out to lose nothing",
            )
        for name in ("prune", "trace"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise UsageError(f"{name} is {getattr(self, name)!r}, expected True or False")

    @property
    def width(self) -> int:
        """How many hypotheses of a sentence are kept."""
        return max(self.beam, self.n_best)


def _is_margin(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and bool(value >= 0)
