"""Trees of whole documents: how good a model's are, where they lose, and what they cost.

    python benchmarks/documents.py FILE --model en --model en-fast -o RECORD [--cards docs/cards]
    python benchmarks/documents.py FILE --model en --time 100 1000 10000 100000

FILE has gold documents, a line of JSON each. Every model parses them in three ways: with the gold
EDUs; with the gold sentences and tokens; and from the text alone. Beside its trees stand two
baselines over its own trees of sentences, and what is left to gain: each half of a tree is also
scored with the gold one in place of the other half. Original and RST Parseval, over all documents
together and by genre, go into RECORD, of which `results.py --documents` makes the section of
docs/results.md; `--cards` writes a model's own part into its card, and the card into the model.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from itertools import groupby, pairwise
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any, NamedTuple

from card import OPEN, put
from records import NONE, number
from report import table

import cleft
from cleft.convert import over_sentences, restricted, snapped
from cleft.discourse import DiscourseTree, Edu
from cleft.document import Document, grafted
from cleft.formats.jsonl import Record, read_jsonl
from cleft.metrics.parseval import score_discourse
from cleft.models import model_path
from cleft.sentence import Sentence
from cleft.span import Constraints, Span, Token

MEASURES = ("span", "nuclearity", "relation", "full")
GIVEN, TEXT = "given EDUs", "end to end, from text"
WAYS = (GIVEN, "end to end, gold sentences", TEXT)
MODELS = "the model's"
Trees = Sequence[DiscourseTree | None]


class Gold(NamedTuple):
    """A document of a corpus."""

    genre: str
    document: Document
    tree: DiscourseTree

    @classmethod
    def of(cls, record: Record) -> Gold:
        """The document of a record."""
        document = Document.of_record(record)
        assert document.tree is not None
        return cls(document.fields["genre"], document, document.tree)

    @property
    def ends(self) -> list[int]:
        """Where sentences end, in tokens."""
        return [self.document.span_of(k).right for k in range(len(self.document.sentences))]

    def constraints(self) -> list[Constraints]:
        """The gold EDUs of each sentence."""
        ends = sorted({edu.span.right for edu in self.tree.edus} | set(self.ends))
        return [
            Constraints(edus=tuple(end - left for end in ends if left < end <= right))
            for left, right in pairwise([0, *self.ends])
        ]

    def subtrees(self) -> list[DiscourseTree]:
        """What the gold tree says of each sentence."""
        rows: list[list[int]] = [[] for _ in self.document.sentences]
        for place, edu in enumerate(self.tree.edus):
            rows[self.document.sentence_of(edu.span.left)].append(place)
        return [restricted(self.tree, row) for row in rows]


# ---------------------------------------------------------------- trees over sentences


def leaves(count: int) -> list[DiscourseTree]:
    """So many sentences."""
    return [DiscourseTree.leaf(Edu("", Span(k, k + 1))) for k in range(count)]


def chain(trees: Sequence[DiscourseTree], nuclearity: str, relation: str) -> DiscourseTree:
    """Trees one under the other, branching to the right."""
    tree = trees[-1]
    for other in reversed(trees[:-1]):
        tree = DiscourseTree.join([other, tree], nuclearity, relation)
    return tree


def right_branching(document: Document) -> DiscourseTree:
    """Every sentence joined with all that follows.

    >>> [row[:3] for row in right_branching(_three()).splits()]
    [(0, 1, 3), (1, 2, 3)]
    """
    return chain(leaves(len(_filled(document))), "NN", "joint")


def paragraph_wise(document: Document) -> DiscourseTree:
    """Paragraphs joined; in each, all is elaboration of what stands before it.

    >>> [row[:3] + row[3:5] for row in paragraph_wise(_three()).splits()]
    [(0, 2, 3, 'joint', 'NN'), (0, 1, 2, 'elaboration', 'NS')]
    """
    begins = set(document.paragraphs)
    parts: list[list[DiscourseTree]] = [[]]
    for leaf, place in zip(leaves(len(_filled(document))), _filled(document), strict=True):
        if place in begins and parts[-1]:
            parts.append([])
        parts[-1].append(leaf)
    nested = []
    for part in parts:
        tree = part[0]
        for other in part[1:]:
            tree = DiscourseTree.join([tree, other], "NS", "elaboration")
        nested.append(tree)
    return chain(nested, "NN", "joint")


def _filled(document: Document) -> list[int]:
    """The sentences that have tokens, which are those that a tree over them has."""
    return [place for place, each in enumerate(document.sentences) if each.tokens]


def _three() -> Document:
    """An example: three sentences in two paragraphs."""
    one = Sentence(text="a", tokens=(Token("a", 0, 1),))
    return Document.of([one] * 3, chain(leaves(3), "NN", "joint"), paragraphs=(0, 2))


# ---------------------------------------------------------------- scores


def parsed(parser: cleft.Parser, gold: Gold, beam: int, way: str) -> Document:
    """A document as the model parses it."""
    if way == TEXT:
        return parser.parse_document(gold.document.text, task="discourse", beam=beam)
    return parser.parse_document(
        sentences=[list(each.words) for each in gold.document.sentences],
        paragraphs=gold.document.paragraphs,
        constraints=gold.constraints() if way == GIVEN else None,
        task="discourse",
        beam=beam,
    )


def below(document: Document) -> list[DiscourseTree]:
    """The trees of a parsed document's sentences."""
    alone = [Document.of([document.sentences[place]]).tree for place in _filled(document)]
    return [tree for tree in alone if tree is not None]


def kinds(gold: Gold, found: Document, way: str) -> dict[str, DiscourseTree | None]:
    """The model's tree of a document, and those it is held against."""
    if found.tree is None:
        return {MODELS: None}
    trees = below(found)
    made: dict[str, DiscourseTree | None] = {
        MODELS: found.tree,
        "right-branching over its sentences": grafted(right_branching(found), trees),
        "paragraph-wise over its sentences": grafted(paragraph_wise(found), trees),
    }
    if way != TEXT:
        made["gold over its sentences"] = grafted(over_sentences(gold.tree, gold.ends), trees)
    if way == GIVEN:
        over = over_sentences(found.tree, gold.ends)
        made["its own over gold sentences"] = grafted(over, gold.subtrees())
    return made


def scored(gold: Sequence[Gold], trees: Trees) -> dict[str, Any]:
    """Both kinds of Parseval, and how well EDUs were found: over all ends, and inside sentences."""
    sides = [each.tree for each in gold], trees
    ends = [each.ends for each in gold]
    found = {
        metric: score_discourse(*sides, metric, sentence_ends=ends).values
        for metric in ("original", "rst")
    }
    made: dict[str, Any] = {name: [row[key] for key in MEASURES] for name, row in found.items()}
    return made | {key: found["rst"][key] for key in ("edus", "segmentation")}


def by_genre(gold: Sequence[Gold], trees: Trees) -> dict[str, Any]:
    """The scores of every genre."""
    pairs = sorted(zip(gold, trees, strict=True), key=lambda pair: pair[0].genre)
    found = {}
    for genre, group in groupby(pairs, key=lambda pair: pair[0].genre):
        rows = list(group)
        values = scored([each for each, _ in rows], [tree for _, tree in rows])
        found[genre] = {"documents": len(rows), **values}
    return found


def measured(model: str, gold: Sequence[Gold], beam: int) -> dict[str, Any]:
    """All scores of a model."""
    parser = cleft.load(model)
    ways: dict[str, Any] = {}
    for way in WAYS:
        rows = [kinds(each, parsed(parser, each, beam, way), way) for each in gold]
        trees = {name: [row.get(name) for row in rows] for name in rows[0]}
        whole = {name: scored(gold, found) for name, found in trees.items()}
        ways[way] = {"trees": whole, "genres": by_genre(gold, trees[MODELS])}
        print(f"{model}, {way}: {_four(whole[MODELS]['original'])}", file=sys.stderr, flush=True)
    sums = sha256((model_path(model) / "SHA256SUMS").read_bytes()).hexdigest()
    return {"sums": sums, "ways": ways}


def record(path: Path, gold: Sequence[Gold], models: Sequence[str], beam: int) -> dict[str, Any]:
    """What a run found, as JSON holds it."""
    return {
        "command": shlex.join(["python", "benchmarks/documents.py", *sys.argv[1:]]),
        "version": cleft.__version__,
        "set": f"{path.parent.name} {path.stem.rpartition('-')[2]}",
        "documents": len(gold),
        "edus": sum(len(each.tree.edus) for each in gold),
        "beam": beam,
        "gold": scored(gold, [snapped(each.tree, each.ends) for each in gold]),
        "models": {model: measured(model, gold, beam) for model in models},
    }


# ---------------------------------------------------------------- tables


HEAD = ("model", "EDUs and sentences", "tree", "original Parseval", "RST Parseval", "EDUs", "inner")
ELSEWHERE: dict[str, dict[str, tuple[list[float], float | None]]] = {
    "DMRST (another version of GUM)": {
        GIVEN: ([69.9, 54.5, 42.1], None),
        TEXT: ([58.0, 43.9, 34.2], 92.1),
    },
    "UniRST (another version of GUM)": {GIVEN: ([73.6, 60.4, 52.3, 51.2], None)},
    "isanlp_rst (GUM 9.1)": {TEXT: ([67.4, 56.2, 49.6, 48.7], 95.5)},
}
"""What others report of themselves, with large encoders."""
ABOUT = """\
## Documents

One tree over each document of {set} ({documents} documents, {edus:,} EDUs; beam {beam}), by \
`{command}`. *Original* and *RST Parseval*: span / nuclearity / relation / full, micro-averaged, \
coarse relations. *EDUs* is F1 over all their ends, as others report it, *inner* over those inside \
sentences. Baselines stand over the model's own trees of sentences: right-branching joins each \
sentence with all that follows; paragraph-wise makes sentences elaborations within paragraphs, and \
joins those. *Gold over* and *over gold* say what could be gained above and below sentences.
"""


def _four(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.1f}" for value in values)


def _row(name: str, way: str, tree: str, found: Mapping[str, Any]) -> list[str]:
    scores = [_four(found[metric]) for metric in ("original", "rst")]
    ends = [number(found[key], 1) for key in ("edus", "segmentation")]
    return [name, way, tree, *scores, *ends]


def document_blocks(found: Mapping[str, Any], aims: Sequence[Mapping[str, Any]]) -> list[str]:
    """The section of docs/results.md that a record makes."""
    rows = [_row(NONE, GIVEN, "gold, every sentence made a subtree", found["gold"])]
    for way in WAYS:
        for name, model in found["models"].items():
            trees = model["ways"][way]["trees"]
            rows += [_row(name, way, tree, values) for tree, values in trees.items()]
        for name, others in ELSEWHERE.items():
            if way in others:
                scores, ends = others[way]
                rows.append([name, way, "reported", _four(scores), NONE, number(ends, 1), NONE])
    blocks = [f"{ABOUT.format(**found)}\n{table(HEAD, rows)}"]
    if aims:
        head = ("model", "EDUs and sentences", "measure", "target", "reached", "met")
        blocks.append(f"### Aims for documents\n\n{table(head, _aimed(found, aims))}")
        notes = [f"- {aim['way']}: {aim['note']}\n" for aim in aims if aim.get("note")]
        blocks += ["".join(notes)] if notes else []
    for way in (GIVEN, TEXT):
        blocks.append(f"### Documents by genre, {way}\n\n{genre_table(found['models'], way)}")
    return blocks


def _aimed(found: Mapping[str, Any], aims: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Each aim beside what the models reached."""
    rows = []
    for aim in aims:
        for name, model in found["models"].items():
            values = model["ways"][aim["way"]]["trees"][MODELS]
            reached = values | dict(zip(MEASURES, values["original"], strict=True))
            for measure, least in aim["least"].items():
                short = round(least - reached[measure], 1)
                met = "yes" if short <= 0 else f"missed by {short:.1f}"
                shown = [f"{least:g}", number(reached[measure], 1)]
                rows.append([name, aim["way"], measure, *shown, met])
    return rows


def genre_table(models: Mapping[str, Any], way: str) -> str:
    """The scores of every genre, a column for each model."""
    genres = next(iter(models.values()))["ways"][way]["genres"]
    rows = []
    for genre, found in genres.items():
        mark = "" if genre in OPEN.split(",") else " (not trained on)"
        cells = [
            _four(model["ways"][way]["genres"][genre]["original"]) for model in models.values()
        ]
        rows.append([f"{genre}{mark}", str(found["documents"]), *cells])
    names = list(models) if len(models) > 1 else ["span / nuclearity / relation / full"]
    return table(["genre", "documents", *names], rows)


def card_lines(found: Mapping[str, Any], name: str) -> list[str]:
    """A model's own part of the record, for its card."""
    models = {name: found["models"][name]}
    rows = [
        _row(name, way, tree, values)[1:]
        for way in WAYS
        for tree, values in models[name]["ways"][way]["trees"].items()
        if "gold" not in tree
    ]
    lines = [
        f"{found['set']}, {found['documents']} documents, beam {found['beam']}, by",
        f"`{found['command']}`. Parseval is span / nuclearity / relation / full; *EDUs* is F1 over",
        "all their ends, *inner* over those inside sentences.",
        "",
        table(HEAD[1:], rows),
    ]
    for way in (GIVEN, TEXT):
        lines += [f"By genre, {way}, original Parseval:", "", genre_table(models, way)]
    return "\n".join(lines).rstrip("\n").split("\n")


# ---------------------------------------------------------------- time


def spent(work: Callable[[], Any]) -> float:
    """The seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(model: str, gold: Sequence[Gold], lengths: Sequence[int], rounds: int) -> None:
    """Print what documents of some lengths cost, beside their sentences alone."""
    parser = cleft.load(model)
    every = [list(each.words) for one in gold for each in one.document.sentences if each.tokens]
    for length in lengths:
        rows: list[list[str]] = []
        tokens = 0
        while tokens < length:
            rows.append(every[len(rows) % len(every)])
            tokens += len(rows[-1])
        times = []
        for _ in range(rounds):
            alone = spent(lambda: parser.parse_tokens(rows, task="both"))  # noqa: B023
            whole = spent(lambda: parser.parse_document(sentences=rows, task="both"))  # noqa: B023
            times.append((alone, whole))
        alone, whole = (min(column) for column in zip(*times, strict=True))
        most = getrusage(RUSAGE_SELF).ru_maxrss // 1024
        cells = [model, f"{tokens:,}", f"{len(rows):,}", f"{alone:.2f}", f"{whole:.2f}"]
        print(f"| {' | '.join([*cells, f'{whole / alone:.2f}', str(most)])} |", flush=True)


def main() -> None:
    """Score, or measure."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--model", action="append", default=[])
    arguments.add_argument("--beam", type=int, default=1)
    arguments.add_argument("--genres", nargs="*", default=[])
    arguments.add_argument("-o", "--output", type=Path, help="where to write the record")
    arguments.add_argument("--cards", type=Path, help="the folder of the cards to write")
    arguments.add_argument("--time", nargs="*", type=int, default=[], metavar="TOKENS")
    arguments.add_argument("--rounds", type=int, default=3, help="of --time; the best counts")
    args = arguments.parse_args()
    gold = [Gold.of(record) for record in read_jsonl(args.file)]
    gold = [each for each in gold if not args.genres or each.genre in args.genres]
    models = args.model or ["en", "en-fast"]
    if args.time:
        head = ("model", "tokens", "sentences", "alone, s", "as a document, s", "ratio", "MB")
        print(table(head, []), end="")
        for model in models:
            measure(model, gold, args.time, args.rounds)
        return
    found = record(args.file, gold, models, args.beam)
    if args.output:
        args.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("\n".join(document_blocks(found, ())))
    for model in models if args.cards else ():
        put(card_lines(found, model), args.cards / f"{model}.md", model_path(model), "documents")


if __name__ == "__main__":
    main()
