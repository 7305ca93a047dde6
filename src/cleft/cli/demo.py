"""`cleft demo`: a paragraph in, both trees of every sentence out, by the built-in model."""

from __future__ import annotations

import argparse
from typing import Any

TEXT = (
    "Although it rained all day, she went out to play tennis. "
    "The committee said that prices would rise, but few people believed it."
)


def add(parser: argparse.ArgumentParser) -> None:
    """There are no arguments."""


def run(args: argparse.Namespace) -> int:
    """Show both trees of each sentence, and their probabilities."""
    import cleft
    from cleft.draw import terminal

    print(f"{TEXT}\n")
    for sentence in cleft.load().parse(TEXT, beam=20, n_best=2):
        assert sentence.syntax is not None
        assert sentence.discourse is not None
        print(f"── {sentence.text}\n")
        print(terminal(sentence.syntax))
        print(f"\n{terminal(sentence.discourse)}\n")
        _print_probabilities(sentence)
    print('Your own text:  cleft parse "…"  or  cleft parse FILE;  cleft parse --help')
    return 0


def _print_probabilities(sentence: Any) -> None:
    """How sure each relation of the discourse tree is, and the syntactic tree; the runner-up."""
    for node in sentence.discourse.preorder():
        if node.children:
            left, right = (f"[{_words(sentence, child)}]" for child in node.children)
            print(f"  {node.relation} {node.probability:.2f}  {left} {right}")
    best, *others = sentence.parses["syntax"]
    print(
        f"  syntactic tree: log p {best.log_prob:.2f}, right with {best.tree.tree_probability:.2f}"
    )
    for other in others:
        print(f"  the next best:  log p {other.log_prob:.2f}  {other.tree}")
    print()


def _words(sentence: Any, node: Any) -> str:
    return " ".join(sentence.words[node.span.left : node.span.right])
