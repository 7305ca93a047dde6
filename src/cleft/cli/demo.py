"""`cleft demo`: what cleft does, on invented examples."""

from __future__ import annotations

import argparse
from typing import Any

from cleft.discourse import DiscourseTree, Edu
from cleft.span import Span
from cleft.tasks import DISCOURSE, SYNTAX
from cleft.tree import Tree

GOLD = "(S (NP (PRP She)) (VP (VBZ enjoys) (S (VP (VBG playing) (NP (NN tennis))))) (. .))"
PREDICTED = "(S (NP (PRP She)) (VP (VBZ enjoys) (NP (VBG playing) (NN tennis))) (. .))"


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("demo", help="show what cleft does, on a worked example")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Show both trees of an example, their splits, and a scored pair."""
    from cleft.draw import terminal

    gold, predicted, discourse = (
        Tree.from_brackets(GOLD),
        Tree.from_brackets(PREDICTED),
        _discourse(),
    )
    print("A sentence and its syntactic tree:\n")
    print(terminal(gold))
    print("\nThe same tree as splits of spans between boundaries, depth first:")
    print("  " + "  ".join(map(str, SYNTAX.derive(gold).splits)))
    print("\nA discourse tree, and its splits (a split at the right end is an EDU):\n")
    print(terminal(discourse))
    print("\n  " + "  ".join(map(str, DISCOURSE.derive(discourse).splits)))
    print("\nA predicted tree scored against the first (EVALB):\n")
    print(f"  gold       {gold}\n  predicted  {predicted}")
    _score(gold, predicted)
    return 0


def _discourse() -> DiscourseTree:
    texts = ("Although it rained all day ,", "she went out", "to play tennis .")
    leaves, start = [], 0
    for text in texts:
        end = start + len(text.split())
        leaves.append(DiscourseTree.leaf(Edu(text, Span(start, end))))
        start = end
    purpose = DiscourseTree.join(leaves[1:], "NS", "purpose")
    return DiscourseTree.join([leaves[0], purpose], "SN", "concession")


def _score(gold: Tree, predicted: Tree) -> None:
    from cleft.metrics.evalb import score_syntax

    scores = score_syntax([gold], [predicted])
    print(f"  recall {scores.recall:.2f}  precision {scores.precision:.2f}  F1 {scores.f1:.2f}")
