"""How a case is tried: what may come out of a target, and how much time it may take.

Time is the processor's: that of the clock depends on what else the machine does.
"""

import time
from typing import Any

from cleft.errors import CleftError
from tests.fuzz.cases import Target


class Tally:
    """What became of the cases of a target."""

    def __init__(self) -> None:
        self.accepted = self.refused = 0
        self.slowest = 0.0

    @property
    def examples(self) -> int:
        return self.accepted + self.refused


def attempt(target: Target, case: Any, tally: Tally) -> None:
    """Try one case: it is taken or refused with an error of cleft's, in good time."""
    began = time.process_time()
    try:
        target.run(case)
        tally.accepted += 1
    except CleftError:
        tally.refused += 1
    took = time.process_time() - began
    tally.slowest = max(tally.slowest, took)
    assert took < target.seconds, f"{took:.1f} s for one case of {target.name}"
