"""What `cleft.integrations.spacy` leaves in a Doc, and finds again from its spans.

A sentence's result is kept as spaCy keeps a custom attribute of its span, under
its characters: then `Doc.from_docs` and `span.as_doc(copy_user_data=True)` take
it along. Nothing in it depends on where in the Doc the sentence is. A part of a
Doc gets the results of sentences that are not in it too, at places that mean
nothing there: so the name of the attribute tells of which text it is.

Trees are over the words of a sentence; a Doc also has tokens that are white
space. A constituent is a span of tokens with the labels of a whole unary
chain; every word is one, with no label if it is no phrase by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary
from zlib import crc32

from spacy.tokens import Doc, Span, Token

from cleft.discourse import DiscourseTree
from cleft.errors import InputError, TreeShapeError, UsageError
from cleft.formats.jsonl import Record, parse_record
from cleft.tree import Tree

CUSTOM, NAME = "._.", "cleft_record"
"""How the keys of custom attributes begin in `doc.user_data`, and how the names of ours do."""


@dataclass(frozen=True, slots=True)
class Constituent:
    """A span of a Doc's tokens in a tree: its labels, its topmost node, where its parent is."""

    start: int
    end: int
    labels: tuple[str, ...]
    tree: Tree
    parent: int | None


class ParsedSentence:
    """One sentence's result, made of the data in the Doc when it is asked for."""

    def __init__(self, sentence: Span, data: Mapping[str, Any]) -> None:
        self.start, self.end = sentence.start, sentence.end
        self.tokens = [sentence.start + place for place in data["words"]]
        self._character = sentence.start_char
        self._line = data["record"]

    @cached_property
    def record(self) -> Record:
        """The trees, or the error."""
        return parse_record(self._line)

    @cached_property
    def discourse(self) -> DiscourseTree | None:
        """The discourse tree, its EDUs' characters counted in the Doc."""
        tree = self.record.discourse
        return None if tree is None else tree.moved(0, self._character)

    @cached_property
    def constituents(self) -> list[Constituent]:
        """All constituents in preorder."""
        tree = self.record.syntax
        if tree is None:
            raise InputError(
                self.record.error or "the sentence has no syntactic tree",
                where=f"the sentence at token {self.start}",
                hint="" if self.record.error else "its pipe has the task 'discourse'",
            )
        found: list[Constituent] = []
        open_: list[int] = []
        for span, node in tree.spans():
            start, end = self.tokens[span.left], self.tokens[span.right - 1] + 1
            if found and (found[-1].start, found[-1].end) == (start, end):
                # The only child of the one before: the same unary chain.
                if node.word is None:
                    last = found[-1]
                    labels = (*last.labels, node.label)
                    found[-1] = Constituent(start, end, labels, last.tree, last.parent)
                continue
            while open_ and found[open_[-1]].end <= start:
                open_.pop()
            labels = () if node.word is not None else (node.label,)
            found.append(Constituent(start, end, labels, node, open_[-1] if open_ else None))
            open_.append(len(found) - 1)
        return found

    @cached_property
    def _places(self) -> dict[tuple[int, int], int]:
        return {(one.start, one.end): place for place, one in enumerate(self.constituents)}

    def find(self, span: Span) -> int:
        """The place of a span's constituent."""
        place = self._places.get(_trimmed(span))
        if place is None:
            raise TreeShapeError(
                f"the span {span.text!r} is no constituent",
                where=f"tokens {span.start} to {span.end}",
                hint="start from a sentence or a token",
            )
        return place

    def below(self, place: int) -> Iterator[int]:
        """The places of a constituent and of all in it, in preorder."""
        end = self.constituents[place].end
        for number in range(place, len(self.constituents)):
            if self.constituents[number].start >= end:
                return
            yield number


def words_of(sentence: Span) -> list[Token]:
    """The tokens that are no white space."""
    return [token for token in sentence if not token.is_space]


_seen: WeakKeyDictionary[Doc, tuple[Any, list[ParsedSentence]]] = WeakKeyDictionary()


def keep(doc: Doc, records: Iterable[tuple[Span, str]]) -> None:
    """Put the results of all sentences of a Doc into it; earlier ones are forgotten."""
    kept: dict[Any, Any] = doc.user_data
    for key in [key for key in kept if _is_ours(key)]:
        del kept[key]
    for sentence, record in records:
        kept[CUSTOM, _name(sentence.text), sentence.start_char, sentence.end_char] = {
            "length": len(sentence),
            "words": [token.i - sentence.start for token in words_of(sentence)],
            "record": record,
        }
    _seen.pop(doc, None)


def _name(text: str) -> str:
    return f"{NAME} {crc32(text.encode('utf-8', 'surrogatepass')):08x}"


def _is_ours(key: object) -> bool:
    return isinstance(key, tuple) and key[0] == CUSTOM and str(key[1]).startswith(NAME)


def sentences_of(doc: Doc) -> list[ParsedSentence]:
    """The results in a Doc, in order; an error where there are none, or one does not fit it."""
    known = _seen.get(doc)
    # Not the data itself: it may hold the Doc, which would then be kept for good.
    state = (id(doc.user_data), len(doc.user_data), len(doc))
    if known is None or known[0] != state:
        known = _seen[doc] = (state, _read(doc))
    return known[1]


def _read(doc: Doc) -> list[ParsedSentence]:
    kept: dict[Any, Any] = doc.user_data
    rows = sorted((key[2:], key[1], data) for key, data in kept.items() if _is_ours(key))
    if not rows and len(doc):
        raise UsageError(
            "the Doc was not parsed",
            hint='add nlp.add_pipe("cleft") to the pipeline; of a parsed Doc, '
            "as_doc(copy_user_data=True) keeps the trees",
        )
    text, found = doc.text, []
    for (start, end), name, data in rows:
        if start < 0 or _name(text[start:end]) != name:
            continue  # a sentence of a Doc that this is a part of, which is not whole in it
        sentence = doc.char_span(start, end)
        if sentence is None or len(sentence) != data["length"]:
            raise UsageError(
                f"the sentence had {data['length']} tokens when it was parsed, and has others now",
                where=f"the sentence at character {start}",
                hint="parse the Doc again",
            )
        found.append(ParsedSentence(sentence, data))
    return found


def _sentence(span: Span) -> ParsedSentence:
    """The sentence that a span is in."""
    for sentence in sentences_of(span.doc):
        if sentence.start <= span.start and span.end <= sentence.end:
            return sentence
    raise TreeShapeError(
        f"the span {span.text[:40]!r} is not within one sentence that was parsed",
        where=f"tokens {span.start} to {span.end}",
        hint="start from a sentence or a token",
    )


def _trimmed(span: Span) -> tuple[int, int]:
    """Where a span starts and ends without white space at its edges."""
    start, end = span.start, span.end
    while start < end and span.doc[start].is_space:
        start += 1
    while end > start and span.doc[end - 1].is_space:
        end -= 1
    return start, end


class SpanGetters:
    """What the extensions of a span call, each under the extension's name."""

    @staticmethod
    def parse_string(span: Span) -> str:
        """The tree of the span in brackets."""
        sentence = _sentence(span)
        return sentence.constituents[sentence.find(span)].tree.brackets()

    @staticmethod
    def labels(span: Span) -> tuple[str, ...]:
        """The labels of the span, outermost first; none for a word that is no phrase."""
        sentence = _sentence(span)
        return sentence.constituents[sentence.find(span)].labels

    @staticmethod
    def constituents(span: Span) -> Iterator[Span]:
        """The span and all constituents in it, in preorder."""
        sentence = _sentence(span)
        for place in sentence.below(sentence.find(span)):
            yield _span(span.doc, sentence.constituents[place])

    @staticmethod
    def children(span: Span) -> Iterator[Span]:
        """The constituents right below the span."""
        sentence = _sentence(span)
        top = sentence.find(span)
        for place in sentence.below(top):
            if sentence.constituents[place].parent == top:
                yield _span(span.doc, sentence.constituents[place])

    @staticmethod
    def parent(span: Span) -> Span | None:
        """The constituent right above the span; None above a sentence."""
        sentence = _sentence(span)
        above = sentence.constituents[sentence.find(span)].parent
        return None if above is None else _span(span.doc, sentence.constituents[above])

    @staticmethod
    def cleft_syntax(span: Span) -> Tree | None:
        """The constituency tree of the span; None if its sentence has none."""
        sentence = _sentence(span)
        if sentence.record.syntax is None:
            return None
        return sentence.constituents[sentence.find(span)].tree

    @staticmethod
    def cleft_discourse(span: Span) -> DiscourseTree | None:
        """The discourse tree of a sentence, or of a part that is one; None if there is none."""
        sentence = _sentence(span)
        tree = sentence.discourse
        if tree is None:
            return None
        wanted = _trimmed(span)
        for (left, right), node in tree.spans():
            if (sentence.tokens[left], sentence.tokens[right - 1] + 1) == wanted:
                return node
        raise TreeShapeError(
            f"the span {span.text!r} is no part of the discourse tree",
            where=f"tokens {span.start} to {span.end}",
            hint="start from a sentence",
        )

    @staticmethod
    def cleft_edus(span: Span) -> list[Span]:
        """The elementary discourse units of a span as spans; none if there is no tree."""
        sentence, tree = _sentence(span), SpanGetters.cleft_discourse(span)
        if tree is None:
            return []
        places = [(sentence.tokens[left], sentence.tokens[right - 1] + 1)
                  for left, right in (edu.span for edu in tree.edus)]  # fmt: skip
        return [span.doc[start:end] for start, end in places]

    @staticmethod
    def cleft_error(span: Span) -> str | None:
        """Why the sentence of the span has no tree; None if it has."""
        return _sentence(span).record.error


def _span(doc: Doc, constituent: Constituent) -> Span:
    return doc[constituent.start : constituent.end]
