"""What must hold of every result, whatever the input was. Each check yields what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite

from cleft.errors import CleftError
from cleft.formats.brackets import format_brackets, parse_brackets
from cleft.formats.json_values import PAIR
from cleft.formats.jsonl import Record, parse_record
from cleft.sentence import Sentence
from cleft.text import Token

__all__ = ["Tally", "check_item", "error_faults", "place_faults", "record_faults"]


@dataclass
class Tally:
    """What became of the inputs at one door."""

    inputs: int = 0
    sentences: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def error(self, name: str) -> None:
        self.errors[name] = self.errors.get(name, 0) + 1

    def fault(self, name: str, found: Iterator[str] | Sequence[str]) -> None:
        self.faults += [f"{name}: {one}" for one in found]


def check_item(tally: Tally, name: str, given: str | list[str], found: list[Sentence]) -> None:
    """Count and check all results of one text or list of tokens."""
    tally.inputs += 1
    tally.sentences += len(found)
    for sentence in found:
        if sentence.error is not None:
            tally.error(type(sentence.error).__name__)
    if isinstance(given, list):
        if len(found) != 1:
            tally.fault(name, [f"{len(found)} results for one list of tokens"])
        elif found[0].error is None and list(found[0].words) != given:
            tally.fault(name, ["the tokens are not those given"])
        text = " ".join(given)
    else:
        text = given
        tally.fault(name, cover_faults(text, found))
    for sentence in found:
        tally.fault(name, sentence_faults(text, sentence))


def cover_faults(text: str, found: list[Sentence]) -> Iterator[str]:
    """The sentences of a text stand in order, and nothing but white space is between them."""
    if not found:
        yield "no result"
    end = 0
    for sentence in found:
        if sentence.start < end:
            yield f"a sentence begins at {sentence.start}, before the end of the last"
        if text[end : sentence.start].strip():
            yield f"lost: {text[end : sentence.start]!r:.60}"
        end = sentence.end
    if text[end:].strip():
        yield f"lost at the end: {text[end:]!r:.60}"


def sentence_faults(text: str, sentence: Sentence) -> Iterator[str]:
    if sentence.error is not None:
        yield from error_faults(sentence.error)
        if sentence.syntax is not None and sentence.discourse is not None:
            yield "an error and all trees"
    elif sentence.syntax is None and sentence.discourse is None:
        yield "neither tree nor error"
    if sentence.tokens:
        yield from place_faults(text, sentence.tokens, sentence.start, sentence.end)
    yield from tree_faults(sentence)
    record = parse_record(sentence.to_jsonl())
    if PAIR.search("".join(token.text for token in sentence.tokens)):
        # JSON cannot hold two halves of a pair side by side: characters, but no place, may differ.
        if [len(word) for word in record.tokens] != [len(token.text) for token in sentence.tokens]:
            yield "JSON Lines read back with other offsets"
    elif record.syntax != sentence.syntax or record.discourse != sentence.discourse:
        yield "JSON Lines read back differently"
    if sentence.syntax is not None:
        back = parse_brackets(format_brackets(sentence.syntax))
        if len(back.words()) != len(sentence.tokens):
            yield "brackets read back differently"


def error_faults(error: CleftError | None) -> Iterator[str]:
    if not isinstance(error, CleftError):
        yield f"expected an error of cleft's, found {type(error).__name__}"
    elif not error.problem or "Traceback" in str(error):
        yield f"an error that says nothing: {error}"


def place_faults(text: str, tokens: Sequence[Token], start: int, end: int) -> Iterator[str]:
    """Every token is the text at its place; in order; only white space lies between them."""
    reached = start
    for token in tokens:
        if text[token.start : token.end] != token.text or not token.text:
            yield f"{token!r:.60} is not {text[token.start : token.end]!r:.60}"
        if token.start < reached or text[reached : token.start].strip():
            yield f"{token!r:.60} follows {text[reached : token.start]!r:.60}"
        reached = token.end
    if reached > end or text[reached:end].strip():
        yield f"the tokens end at {reached}, the sentence at {end}"


def tree_faults(sentence: Sentence) -> Iterator[str]:
    """Each tree has every token once, and a probability that can be one."""
    for tree in (sentence.syntax, sentence.discourse):
        if tree is not None and (tree.log_prob is None or not isfinite(tree.log_prob)):
            yield f"the log-probability is {tree.log_prob}"
        elif tree is not None and tree.log_prob is not None and tree.log_prob > 1e-4:
            yield f"the log-probability is above 0: {tree.log_prob}"
    if sentence.syntax is not None and sentence.syntax.words() != list(sentence.words):
        yield "the leaves of the syntactic tree are not the tokens"
    end = 0
    for edu in sentence.edus:
        if edu.span.left != end or edu.span.right <= edu.span.left:
            yield f"EDU {edu.span} follows one that ends at {end}"
        end = edu.span.right
    if sentence.discourse is not None and end != len(sentence.tokens):
        yield f"the EDUs end at {end} of {len(sentence.tokens)} tokens"


def record_faults(record: Record, text: str | None) -> Iterator[str]:
    """The same of a line that was written and read again."""
    if record.error is None and record.tree is None:
        yield "neither tree nor error"
    if record.syntax is not None and tuple(record.syntax.words()) != record.tokens:
        yield "the leaves of the syntactic tree are not the tokens"
    if record.discourse is not None and record.discourse.span.right != len(record.tokens):
        yield "the discourse tree does not cover the tokens"
    offsets = record.fields.get("offsets", [])
    if len(offsets) != len(record.tokens):
        yield f"{len(offsets)} offsets of {len(record.tokens)} tokens"
    if text is not None:
        for token, (start, end) in zip(record.tokens, offsets, strict=False):
            if text[start:end] != token:
                yield f"{token!r:.60} is not {text[start:end]!r:.60}"
