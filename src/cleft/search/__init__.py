"""Search over a Scorer: greedy and beam, both tasks, in NumPy.

`search` parses a batch. Hypotheses split their spans depth-first, left first;
each step scores all of them at once and keeps the best of each sentence
(`advance`). Scores are never renormalised over the legal splits, so the
probabilities of all trees of a sentence sum to at most 1, and a finished tree
is a bound: what has fallen below it can never win.
"""

from cleft.search.assemble import NO_TAG
from cleft.search.beam import Beam, History, advance
from cleft.search.constraints import Masks
from cleft.search.decode import Decoder, Statistics
from cleft.search.options import SearchOptions
from cleft.search.pipeline import search
from cleft.search.results import Parse, Step
from cleft.span import Constraints

__all__ = [
    "NO_TAG",
    "Beam",
    "Constraints",
    "Decoder",
    "History",
    "Masks",
    "Parse",
    "SearchOptions",
    "Statistics",
    "Step",
    "advance",
    "search",
]
