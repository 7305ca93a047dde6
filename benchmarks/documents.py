"""Trees of whole documents: how good a model's are, where they lose, and what they cost.

    python benchmarks/documents.py en ../shared/data/discourse/gum/docs-dev.jsonl
    python benchmarks/documents.py en FILE --beam 20 --genres bio news
    python benchmarks/documents.py en FILE --time 1000 10000 100000

Original Parseval (span, nuclearity, relation, full) over all documents together, with the gold
EDUs and end to end, beside two baselines over the same trees of sentences. Each half of a tree is
also scored with the gold one in place of the other half: what could be gained there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import cleft
from cleft.convert import over_sentences, restricted, snapped
from cleft.discourse import DiscourseTree, Edu
from cleft.document import Document, grafted
from cleft.formats.jsonl import Record, read_jsonl
from cleft.metrics.parseval import score_discourse
from cleft.span import Constraints, Span

MEASURES = ("span", "nuclearity", "relation", "full")


class Gold(NamedTuple):
    """A document of a corpus."""

    genre: str
    sentences: list[list[str]]
    paragraphs: list[int]
    ends: list[int]
    tree: DiscourseTree

    @classmethod
    def of(cls, record: Record) -> Gold:
        """The document of a record."""
        ends, fields = list(record.sentence_ends), record.fields
        rows = [list(record.tokens[left:right]) for left, right in pairwise([0, *ends])]
        assert record.discourse is not None
        return cls(fields["genre"], rows, fields["paragraphs"], ends, record.discourse)

    def constraints(self) -> list[Constraints]:
        """The gold EDUs of each sentence."""
        ends = sorted({edu.span.right for edu in self.tree.edus} | set(self.ends))
        return [
            Constraints(edus=tuple(end - left for end in ends if left < end <= right))
            for left, right in pairwise([0, *self.ends])
        ]

    def subtrees(self) -> list[DiscourseTree]:
        """What the gold tree says of each sentence."""
        rows: list[list[int]] = [[] for _ in self.sentences]
        place = 0
        for number, edu in enumerate(self.tree.edus):
            place += edu.span.left >= self.ends[place]
            rows[place].append(number)
        return [restricted(self.tree, row) for row in rows]


def chain(trees: Sequence[DiscourseTree], nuclearity: str, relation: str) -> DiscourseTree:
    """Trees one under the other, branching to the right."""
    tree = trees[-1]
    for other in reversed(trees[:-1]):
        tree = DiscourseTree.join([other, tree], nuclearity, relation)
    return tree


def right_branching(gold: Gold) -> DiscourseTree:
    """Every sentence joined with all that follows."""
    return chain(leaves(len(gold.sentences)), "NN", "joint")


def paragraph_wise(gold: Gold) -> DiscourseTree:
    """Paragraphs joined; in each, all is elaboration of what stands before it."""
    units = leaves(len(gold.sentences))
    starts = sorted({0, *gold.paragraphs})
    parts = [units[left:right] for left, right in pairwise([*starts, len(units)])]
    return chain([chain(part, "NS", "elaboration") for part in parts], "NN", "joint")


def leaves(count: int) -> list[DiscourseTree]:
    """A leaf for each sentence."""
    return [DiscourseTree.leaf(Edu("", Span(k, k + 1))) for k in range(count)]


def bare(tree: DiscourseTree) -> DiscourseTree:
    """The tree without the text of its EDUs, as the gold trees are."""
    return tree.with_edus(Edu("", edu.span) for edu in tree.edus)


def show(name: str, gold: Sequence[Gold], trees: Sequence[DiscourseTree | None]) -> None:
    """A row of the table."""
    values = score_discourse([each.tree for each in gold], trees, "original").values
    print(f"| {name} | " + " / ".join(f"{values[key]:.1f}" for key in MEASURES) + " |", flush=True)


def score(parser: cleft.Parser, gold: Sequence[Gold], beam: int) -> None:
    """Print the table."""
    print("| | S / N / R / Full |\n| --- | --- |")
    show("gold, every sentence made a subtree", gold, [snapped(g.tree, g.ends) for g in gold])
    for name, given in (("given EDUs", True), ("end to end", False)):
        found = [parsed(parser, each, beam, given) for each in gold]
        below = [[bare(s.discourse) for s in each.sentences if s.discourse] for each in found]
        over = [parsed.parses[0].tree if parsed.parses else leaves(1)[0] for parsed in found]
        makers: list[tuple[str, Callable[[Gold], DiscourseTree]]] = [
            ("right-branching", right_branching),
            ("paragraph-wise", paragraph_wise),
            ("gold over sentences", lambda g: over_sentences(g.tree, g.ends)),
        ]
        for label, make in makers:
            rows = zip(gold, below, strict=True)
            show(f"{name}: {label}", gold, [grafted(make(g), trees) for g, trees in rows])
        if given:
            rows = zip(over, gold, strict=True)
            trees = [grafted(bare(tree), g.subtrees()) for tree, g in rows]
            show(f"{name}: gold below sentences", gold, trees)
        show(f"**{name}**", gold, [each.tree and bare(each.tree) for each in found])


def parsed(parser: cleft.Parser, gold: Gold, beam: int, given: bool) -> Document:
    """A document as the model parses it."""
    return parser.parse_document(
        sentences=gold.sentences,
        paragraphs=gold.paragraphs,
        constraints=gold.constraints() if given else None,
        task="discourse",
        beam=beam,
    )


def spent(work: Callable[[], Any]) -> float:
    """The seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(parser: cleft.Parser, gold: Sequence[Gold], lengths: Sequence[int]) -> None:
    """Print what documents of some lengths cost, beside their sentences alone."""
    print(
        "| tokens | sentences | sentences alone, s | as a document, s |\n| --- | --- | --- | --- |"
    )
    every = [sentence for each in gold for sentence in each.sentences]
    for length in lengths:
        rows, tokens = [], 0
        while tokens < length:
            rows.append(every[len(rows) % len(every)])
            tokens += len(rows[-1])
        alone = spent(lambda rows=rows: parser.parse_tokens(rows))  # type: ignore[misc]
        whole = spent(lambda rows=rows: parser.parse_document(sentences=rows))  # type: ignore[misc]
        print(f"| {tokens} | {len(rows)} | {alone:.2f} | {whole:.2f} |", flush=True)


def main() -> None:
    """Score, or measure."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("model")
    arguments.add_argument("file", help="documents, a line of JSON each")
    arguments.add_argument("--beam", type=int, default=1)
    arguments.add_argument("--genres", nargs="*", default=[])
    arguments.add_argument("--time", nargs="*", type=int, default=[], metavar="TOKENS")
    args = arguments.parse_args()
    gold = [Gold.of(record) for record in read_jsonl(args.file)]
    gold = [each for each in gold if not args.genres or each.genre in args.genres]
    parser = cleft.load(args.model)
    if args.time:
        measure(parser, gold, args.time)
    else:
        score(parser, gold, args.beam)


if __name__ == "__main__":
    main()
