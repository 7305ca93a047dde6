"""`Document`, a parsed text: its sentences, and one discourse tree over all of it.

Tokens are counted through the document, characters through its text; both ways
between them, sentences and EDUs are here. Sentences are whole subtrees: a tree
over sentences, each a leaf, is joined with the sentences' own trees.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import CleftError, FormatError, InputError, TreeShapeError, UsageError
from cleft.evidence import Evidence
from cleft.sentence import Sentence
from cleft.span import Span, Token
from cleft.tree import fold

if TYPE_CHECKING:
    from cleft.formats.jsonl import Record
    from cleft.search import Parse

OURS = frozenset({"id", "text", "paragraphs", "sentences", "error", "discourse", "n_best"})
"""Keys of a line that are a document's own; `fields` has the others."""

BREAK = "\n\n"
"""What parts the paragraphs of a text that is made of tokens."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Document:
    """A parsed text: its sentences in order, and one discourse tree over all EDUs.

    The spans of `tree` count the document's tokens, the offsets of its EDUs the
    characters of `text`. `paragraphs` are the numbers of the sentences that
    begin one. `tree` is None where no sentence has a token; `error` is the
    document's, or the first of a sentence that could not be parsed.
    `fields` is whatever else came along. `parses` has the trees over its sentences,
    best first: each sentence is a leaf.

    >>> edu = DiscourseTree.leaf(Edu("It rained", Span(0, 2)))
    >>> words = (Token("It", 0, 2), Token("rained", 3, 9))
    >>> one = Sentence(text="It rained", tokens=words, trees={"discourse": edu})
    >>> over = DiscourseTree.join(
    ...     [DiscourseTree.leaf(Edu("", Span(k, k + 1))) for k in range(2)], "NS", "cause")
    >>> document = Document.of([one, one], over)
    >>> document.text, document.tree.splits()[0][:3]
    ('It rained It rained', (0, 2, 4))
    >>> document.sentence_at(12), document.characters(document.edus[1].span)
    (1, (10, 19))
    """

    text: str
    sentences: tuple[Sentence, ...] = ()
    tree: DiscourseTree | None = None
    paragraphs: tuple[int, ...] = (0,)
    id: str | None = None
    error: CleftError | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    parses: tuple[Parse, ...] = ()

    @classmethod
    def of(
        cls,
        sentences: Iterable[Sentence],
        over: DiscourseTree | None = None,
        *,
        text: str | None = None,
        paragraphs: Sequence[int] = (0,),
        id: str | None = None,  # noqa: A002 - as the field is called
        error: CleftError | None = None,
        fields: Mapping[str, Any] | None = None,
        parses: Iterable[Parse] = (),
    ) -> Document:
        """A document of parsed sentences and the tree over those that have tokens.

        Without a `text`, sentences are of tokens alone: they are put one after
        the other, with a blank line between paragraphs, and get places in that.
        """
        rows = tuple(sentences)
        starts = tuple(sorted({0, *paragraphs}))
        if rows and not 0 <= starts[0] <= starts[-1] < len(rows):
            raise UsageError(
                f"expected paragraphs to begin with sentences 0 to {len(rows) - 1}, "
                f"found {list(paragraphs)}",
                hint="give the numbers of the sentences that begin one",
            )
        if text is None:
            text, rows = _placed(rows, starts)
        first = next((row.error for row in rows if row.error is not None), None)
        return cls(
            text=text,
            sentences=rows,
            tree=join_sentences(over, rows),
            paragraphs=starts,
            id=id,
            error=error or first,
            fields=fields or {},
            parses=tuple(parses),
        )

    # ------------------------------------------------------------ units

    @cached_property
    def edus(self) -> tuple[Edu, ...]:
        """The elementary discourse units; none where there is no tree."""
        return tuple(self.tree.edus) if self.tree is not None else ()

    @cached_property
    def trees(self) -> tuple[DiscourseTree, ...]:
        """All trees over the text that `n_best` asked for, best first; `tree` is the first."""
        others = [join_sentences(parse.tree, self.sentences) for parse in self.parses[1:]]  # type: ignore[arg-type]
        return tuple(tree for tree in (self.tree, *others) if tree is not None)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of all sentences, with their places in the text."""
        return tuple(token for sentence in self.sentences for token in sentence.tokens)

    @property
    def words(self) -> tuple[str, ...]:
        """The tokens without their places."""
        return tuple(token.text for token in self.tokens)

    # ------------------------------------------------------------ offsets

    @cached_property
    def _ends(self) -> list[int]:
        """The boundaries between sentences, in tokens."""
        return list(accumulate((len(one.tokens) for one in self.sentences), initial=0))

    @property
    def flat_trees(self) -> list[DiscourseTree]:
        """The trees as they are drawn and written as rs3: nuclei of one relation below one node.

        Those inside a sentence are not joined with those of the sentences around it. Draw them
        with `nested`, which leaves a tree as it is given.
        """
        apart = [self.span_of(number) for number in range(len(self.sentences))]
        return [tree.debinarise(apart) for tree in self.trees]

    def span_of(self, sentence: int) -> Span:
        """The tokens of the sentence of this number."""
        return Span(self._ends[sentence], self._ends[sentence + 1])

    def sentence_of(self, token: int) -> int:
        """The number of the sentence that a token stands in."""
        if not 0 <= token < len(self.tokens):
            raise UsageError(
                f"expected a token from 0 to {len(self.tokens) - 1}, found {token}",
                hint="count the document's tokens",
            )
        return bisect_right(self._ends, token) - 1

    def characters(self, span: Span) -> tuple[int, int]:
        """Where the tokens of a span begin and end in the text."""
        if not 0 <= span[0] < span[1] <= len(self.tokens):
            raise UsageError(
                f"expected a span of the {len(self.tokens)} tokens, found {tuple(span)}",
                hint="as in Span(0, 3)",
            )
        return self.tokens[span[0]].start, self.tokens[span[1] - 1].end

    def token_at(self, character: int) -> int | None:
        """The number of the token at a character, None between tokens."""
        return _at(self.tokens, character)

    def sentence_at(self, character: int) -> int | None:
        """The number of the sentence at a character, None between sentences."""
        return _at(self.sentences, character)

    def edu_at(self, character: int) -> int | None:
        """The number of the EDU at a character, None between EDUs."""
        return _at([edu for edu in self.edus if edu.start is not None], character)

    # ------------------------------------------------------------ use

    def summary(self, sentences: int = 3, *, keep_order: bool = True) -> Summary:
        """The most important sentences: those whose EDUs are promoted highest in the tree.

        Ties go to the sentence that comes first. With `keep_order` they stand as
        in the text, without it the most important first.
        """
        if isinstance(sentences, bool) or not isinstance(sentences, int) or sentences < 1:
            raise UsageError(f"expected a number of sentences from 1, found {sentences!r}")
        ranked = self.ranking()[:sentences]
        chosen = sorted(ranked) if keep_order else ranked
        return Summary(document=self, numbers=tuple(chosen))

    def ranking(self) -> list[int]:
        """The numbers of the sentences that have EDUs, the most important first."""
        if self.tree is None:
            return []
        best: dict[int, int] = {}
        for edu, level in zip(self.edus, self.tree.salience(), strict=True):
            number = self.sentence_of(edu.span.left)
            best[number] = min(level, best.get(number, level))
        return sorted(best, key=lambda number: (best[number], number))

    # ------------------------------------------------------------ JSON Lines

    def to_jsonl(self) -> str:
        """The document as one line of cleft's JSON Lines (docs/formats.md).

        `discourse` is the tree over all `tokens`; `sentences` has each sentence as
        its own line would have it. `Document.from_jsonl` reads it.

        >>> print(Document(text="").to_jsonl())
        {"cleft": 1, "tokens": [], "text": "", "paragraphs": [0], "sentences": []}
        """
        from cleft.formats.jsonl import Record, format_record, record_data, tree_data

        fields: dict[str, Any] = {
            **({"id": self.id} if self.id is not None else {}),
            "text": self.text,
            "paragraphs": list(self.paragraphs),
            "sentences": [record_data(sentence.record()) for sentence in self.sentences],
        }
        if len(self.trees) > 1:
            fields["n_best"] = {"discourse": [tree_data(each, self.words) for each in self.trees]}
        return format_record(
            Record(
                tokens=self.words,
                discourse=self.tree,
                error=str(self.error) if self.error is not None else None,
                fields={**fields, **{k: v for k, v in self.fields.items() if k not in OURS}},
            )
        )

    @classmethod
    def from_jsonl(cls, line: str, where: str = "line") -> Document:
        """The document of a line that `to_jsonl` wrote, or of one of a corpus of documents."""
        from cleft.formats.jsonl import parse_record

        return cls.of_record(parse_record(line, where))

    @classmethod
    def of_record(cls, record: Record) -> Document:
        """The document of a record of JSON Lines that has `sentences`."""
        from cleft.formats.json_values import as_list, as_object
        from cleft.formats.jsonl import record_of

        rows = as_list(record.fields.get("sentences"), "sentences")
        records = [record_of(as_object(row, "sentences")) for row in rows]
        sentences = tuple(map(Sentence.of_record, records))
        record.sentence_ends  # noqa: B018 - it checks that they are the tokens
        name, text = record.fields.get("id"), record.fields.get("text")
        starts = as_list(record.fields.get("paragraphs", [0]), "paragraphs")
        if not all(type(each) is int and 0 <= each < max(1, len(rows)) for each in starts):
            raise FormatError(f"'paragraphs': expected numbers of sentences, found {starts!r:.40}")
        tree = record.discourse
        if not isinstance(text, str):
            text, sentences = _placed(sentences, starts)
            tokens = [token for sentence in sentences for token in sentence.tokens]
            tree = _located(tree, tokens, text) if tree is not None else None
        return cls(
            text=text,
            sentences=sentences,
            tree=tree,
            paragraphs=tuple(starts),
            id=name if isinstance(name, str) else None,
            error=InputError(record.error) if record.error is not None else None,
            fields={key: value for key, value in record.fields.items() if key not in OURS},
        )

    def _repr_html_(self) -> str:
        """The text with its tree for a notebook, or the error."""
        from cleft.draw.html_output import fragment

        note = f"<p>{escape(str(self.error))}</p>" if self.error is not None else ""
        return fragment(self) + note

    def __repr__(self) -> str:
        name = f" {self.id!r}" if self.id else ""
        counts = f"{len(self.sentences)} sentences, {len(self.edus)} EDUs"
        return f"<Document{name}: {counts}{', with an error' if self.error else ''}>"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summary:
    """Sentences chosen from a document, and those left out; `str` is the text of the chosen.

    >>> str(Summary(document=Document(text=""), numbers=()))
    ''
    """

    document: Document
    numbers: tuple[int, ...]

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The chosen sentences, in the summary's order."""
        return tuple(self.document.sentences[number] for number in self.numbers)

    @property
    def left_out(self) -> tuple[int, ...]:
        """The numbers of the other sentences, in the text's order."""
        chosen = set(self.numbers)
        return tuple(k for k in range(len(self.document.sentences)) if k not in chosen)

    def __str__(self) -> str:
        return " ".join(" ".join(sentence.text.split()) for sentence in self.sentences)


# ---------------------------------------------------------------- making


def join_sentences(
    over: DiscourseTree | None, sentences: Sequence[Sentence]
) -> DiscourseTree | None:
    """One tree over a document's tokens: `over` has a leaf for each sentence that has tokens.

    A sentence without a discourse tree of its own is one EDU. One sentence needs
    no tree over it.
    """
    trees = [one.discourse or _one_edu(one) for one in sentences if one.tokens]
    if over is None and len(trees) == 1:
        over = DiscourseTree.leaf(Edu("", Span(0, 1)))
    return grafted(over, trees) if over is not None and trees else None


def grafted(over: DiscourseTree, trees: Sequence[DiscourseTree]) -> DiscourseTree:
    """A tree with another one in place of each leaf, tokens counted on through them.

    The log-probability is that of all decisions: of `over` and of the others.

    >>> over = DiscourseTree.join(
    ...     [DiscourseTree.leaf(Edu("", Span(k, k + 1))) for k in range(2)], "NS", "cause")
    >>> parts = [DiscourseTree.leaf(Edu("It rained.", Span(0, 3))),
    ...          DiscourseTree.leaf(Edu("So?", Span(0, 2)))]
    >>> grafted(over, parts).splits()[0][:3]
    (0, 3, 5)
    """
    units = over.edus
    if len(units) != len(trees):
        raise TreeShapeError(f"expected {len(units)} trees, one a leaf, found {len(trees)}")
    spans = [tree.span for tree in trees]
    starts = list(accumulate((span.width for span in spans), initial=0))
    moved = [
        _with_log_probs(tree.moved(start - span.left))
        for tree, start, span in zip(trees, starts, spans, strict=False)
    ]
    # Where the boundaries before each unit, and after the last, are in tokens.
    places = dict(zip([*(edu.span.left for edu in units), over.span.right], starts, strict=True))

    def joined(node: DiscourseTree, children: list[DiscourseTree]) -> DiscourseTree:
        evidence = node.evidence
        if evidence is not None:
            splits = tuple((places[at], share) for at, share in evidence.splits if at in places)
            evidence = replace(evidence, splits=splits)
        return DiscourseTree(children, node.nuclearity, node.relations, None, evidence)

    tree = fold(over, lambda leaf: moved.pop(), joined)
    return _with_log_probs(tree, [over, *trees] if len(trees) > 1 else trees)


def _with_log_probs(tree: DiscourseTree, parts: Sequence[DiscourseTree] = ()) -> DiscourseTree:
    """The tree, its root given the sums of the parts' log-probabilities, if all have them.

    How probable it is that all of it is right is known of one part alone.
    """
    sums: dict[str, Any] = {}
    for name in ("log_prob", "split_log_prob"):
        values = [getattr(part, name) for part in parts]
        sums[name] = None if None in values or not values else sum(values)
    sums["tree_probability"] = parts[0].tree_probability if len(parts) == 1 else None
    if tree.evidence is not None or any(value is not None for value in sums.values()):
        tree.evidence = replace(tree.evidence or Evidence(), **sums)
    return tree


def paragraph_starts(paragraphs: Iterable[int | None]) -> tuple[int, ...]:
    """The sentences that begin a paragraph, from the number of each one's paragraph.

    >>> paragraph_starts([0, 0, 1, 2, 2])
    (0, 2, 3)
    """
    numbers = list(paragraphs)
    return tuple(k for k, number in enumerate(numbers) if not k or number != numbers[k - 1]) or (0,)


def _one_edu(sentence: Sentence) -> DiscourseTree:
    text = " ".join(sentence.text.split())
    ends = sentence.tokens[0].start, sentence.tokens[-1].end
    return DiscourseTree.leaf(Edu(text, Span(0, len(sentence.tokens)), *ends))


def _placed(
    sentences: Sequence[Sentence], paragraphs: Sequence[int]
) -> tuple[str, tuple[Sentence, ...]]:
    """The text that sentences of tokens make, and they with their places in it."""
    begins = set(paragraphs)
    parts: list[str] = []
    rows: list[Sentence] = []
    position = 0
    for number, sentence in enumerate(sentences):
        if number:
            parts.append(BREAK if number in begins else " ")
            position += len(parts[-1])
        rows.append(moved(sentence, position - sentence.start))
        parts.append(sentence.text)
        position += len(sentence.text)
    return "".join(parts), tuple(rows)


def moved(sentence: Sentence, by: int) -> Sentence:
    """A sentence further on in the text; its EDUs get their places."""
    tokens = tuple(
        [token._replace(start=token.start + by, end=token.end + by) for token in sentence.tokens]
    )
    trees = dict(sentence.trees)
    start = sentence.start + by
    for task, tree in trees.items():
        if isinstance(tree, DiscourseTree):
            placed = tree.edus[0].start is not None
            trees[task] = (
                tree.moved(0, by) if placed else _located(tree, tokens, sentence.text, start)
            )
    return replace(sentence, start=start, tokens=tokens, trees=trees)


def _located(
    tree: DiscourseTree, tokens: Sequence[Token], text: str, start: int = 0
) -> DiscourseTree:
    """The tree with the places of its EDUs, and their source; `text` begins at `start`."""
    edus = []
    for edu in tree.edus:
        ends = tokens[edu.span.left].start, tokens[edu.span.right - 1].end
        source = " ".join(text[ends[0] - start : ends[1] - start].split())
        edus.append(Edu(source, edu.span, *ends))
    return tree.with_edus(edus)


def _at(units: Sequence[Any], character: int) -> int | None:
    """The number of the unit, with start and end, that a character stands in."""
    place = bisect_right(units, character, key=attrgetter("start")) - 1
    return place if place >= 0 and character < units[place].end else None
