"""What a caller gives to be parsed: texts, lists of tokens, sentences that were read from a file.

Everything becomes `Given` values, one a sentence and in order. What cannot be
parsed keeps its place: its result has the error from the start.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any

from cleft.discourse import Edu
from cleft.errors import CleftError, ConstraintError, InputError, UsageError
from cleft.search import Constraints, Parse
from cleft.search.assemble import Leaf
from cleft.sentence import Sentence
from cleft.span import Span
from cleft.text import Hyphens, Source, Token, has_spaces, sources_of_text, tokenize

__all__ = [
    "LONGEST_SENTENCE",
    "LONGEST_TOKEN",
    "Given",
    "Reading",
    "check_many",
    "finished",
    "given_tokens",
    "leaf_maker",
]

LONGEST_TOKEN = 10_000
LONGEST_SENTENCE = 20_000
"""The most characters of a token, and tokens of a sentence, that are parsed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One sentence to be parsed: its result without trees, and what is demanded of them.

    `where` is how messages call it. `located` says whether its offsets are
    those of a source text, which its EDUs then have too.
    """

    result: Sentence
    where: str
    located: bool = False
    constraints: Constraints | None = None
    tags: Sequence[str] | None = None

    def __len__(self) -> int:
        """How much work it is: its tokens."""
        return len(self.result.tokens)


# ---------------------------------------------------------------- lists of tokens


def given_tokens(
    sentences: Iterable[Sequence[str]],
    constraints: Iterable[Constraints | None] | None = None,
    tags: Iterable[Sequence[str] | None] | None = None,
) -> list[Given]:
    """Lists of tokens, each with what is given along with it."""
    check_many(sentences, "sentences, each a list of tokens", "use parse for a text")
    rows = list(sentences)
    bounds = _one_each(constraints, "constraints", len(rows))
    names = _one_each(tags, "lists of tags", len(rows))
    return [
        _of_tokens(row, number, bound, parts)
        for number, (row, bound, parts) in enumerate(zip(rows, bounds, names, strict=True))
    ]


def check_many(values: object, what: str, hint: str) -> None:
    """Fail unless values can be gone through; a text and a dictionary are one thing each."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise UsageError(f"expected {what}, found {type(values).__name__}", hint=hint)


def _one_each(values: Iterable[Any] | None, what: str, count: int) -> list[Any]:
    if values is None:
        return [None] * count
    hint = "give one a sentence, None where there is none"
    check_many(values, f"a list of {what}", hint)
    found = list(values)
    if len(found) != count:
        raise UsageError(f"{len(found)} {what} for {count} sentences", hint=hint)
    return found


def _of_tokens(
    tokens: Any,
    number: int,
    constraints: Constraints | None = None,
    tags: Sequence[str] | None = None,
) -> Given:
    where = f"sentence {number + 1}"
    error = _fault(tokens, where) or _extra_fault(constraints, tags, where)
    if error is not None:
        shown = tokens if isinstance(tokens, str) else ""
        return Given(result=Sentence(text=shown, error=error, source=number), where=where)
    ends = list(accumulate(map(len, tokens), _after_space))
    starts = [0, *[end + 1 for end in ends]]
    places = tuple(map(_token, zip(tokens, starts, ends, strict=False)))
    result = Sentence(text=" ".join(tokens), tokens=places, source=number)
    return Given(result=result, where=where, constraints=constraints, tags=tags)


_token = partial(tuple.__new__, Token)  # there are many of them: no call in between


def _after_space(end: int, length: int) -> int:
    return end + 1 + length


def _fault(tokens: Any, where: str) -> InputError | None:
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Sequence):
        kind = type(tokens).__name__
        hint = "a sentence is a list of str"
        return InputError(f"expected a list of tokens, found {kind}", where=where, hint=hint)
    if set(map(type, tokens)) - {str} or not all(tokens):
        for place, token in enumerate(tokens, 1):
            if not isinstance(token, str) or not token:
                found = f"found {token!r}"
                hint = "a token is a str that is not empty; tags are given apart"
                return InputError(
                    f"expected a word as token {place}, {found}", where=where, hint=hint
                )
    return _size_fault(tokens, where)


def _extra_fault(constraints: Any, tags: Any, where: str) -> CleftError | None:
    """Why what came along with a sentence cannot be used, if it cannot."""
    if constraints is not None and not isinstance(constraints, Constraints):
        return ConstraintError(
            f"expected Constraints or None, found {type(constraints).__name__}",
            where=where,
            hint="as in Constraints(edus=(5, 8, 11))",
        )
    if tags is None:
        return None
    hint = "give one tag for each token"
    if isinstance(tags, str) or not isinstance(tags, Sequence):
        kind = type(tags).__name__
        return InputError(f"expected a list of tags, found {kind}", where=where, hint=hint)
    for place, tag in enumerate(tags, 1):
        if not isinstance(tag, str):
            return InputError(
                f"expected a tag as number {place}, found {tag!r}", where=where, hint=hint
            )
    return None


def _size_fault(words: Sequence[str], where: str) -> InputError | None:
    """Why a sentence of these words cannot be parsed, if it cannot."""
    if not words:
        return InputError("there are no tokens", where=where, hint="give at least one")
    if len(words) > LONGEST_SENTENCE:
        return InputError(
            f"{len(words)} tokens, expected {LONGEST_SENTENCE} at most",
            where=where,
            hint="split it into sentences",
        )
    longest = max(map(len, words))
    if longest > LONGEST_TOKEN:
        place = 1 + [len(word) > LONGEST_TOKEN for word in words].index(True)
        return InputError(
            f"token {place} has {len(words[place - 1])} characters, "
            f"expected {LONGEST_TOKEN} at most",
            where=where,
            hint="split it",
        )
    return None


# ---------------------------------------------------------------- texts and sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How texts become sentences and tokens: the choices of `cleft.text`.

    A language without spaces is known, so that tokens can be given; only a
    text in it is refused.
    """

    language: str = "en"
    hyphens: Hyphens | None = None

    def __post_init__(self) -> None:
        if has_spaces(self.language):
            tokenize("", language=self.language, hyphens=self.hyphens)  # it says what is wrong

    def sentences(self, items: Iterable[Any]) -> Iterator[Given]:
        """The sentences of all items, in order; every item has at least one."""
        for number, item in enumerate(items):
            if isinstance(item, str):
                yield from self._text(item, number)
            elif isinstance(item, Source):
                yield _of_source(item, number)
            else:
                yield _of_tokens(item, number)

    def _text(self, text: str, number: int) -> Iterator[Given]:
        """The sentences of one text among others, which a refusal of it must not stop."""
        name = f"text {number + 1}"
        try:
            yield from self.text(text, number, name=f"{name} ")
        except UsageError as error:
            yield Given(result=Sentence(text=text, error=error, source=number), where=name)

    def text(self, text: str, number: int = 0, name: str = "") -> Iterator[Given]:
        """The sentences of one text, or one result that says that there are none."""
        count = 0
        for source in sources_of_text(text, self.language, self.hyphens):
            count += 1
            yield _of_source(source, number, f"{name}sentence {count}")
        if not count:
            where = f"{name}".strip()
            error = InputError(
                "there is no sentence: the text is empty or white space",
                where=where,
                hint="give some words",
            )
            yield Given(result=Sentence(text=text, error=error, source=number), where=where)


def _of_source(source: Source, number: int, where: str = "") -> Given:
    """A sentence that was read; its offsets become those of the whole input."""
    if not where:
        count = source.number or number + 1
        where = f"line {source.line}" if source.line is not None else f"sentence {count}"
    error = _source_fault(source, where)
    if error is not None:
        text, start = (source.text, source.start) if not _wrong_place(source) else ("", 0)
        result = Sentence(text=text, start=start, source=number, error=error, fields=source.fields)
        return Given(result=result, where=where)
    start = source.start
    tokens = source.tokens
    if start:
        tokens = tuple([Token(text, left + start, right + start) for text, left, right in tokens])
    result = Sentence(
        text=source.text, tokens=tokens, start=start, source=number, fields=source.fields
    )
    bound = Constraints(edus=source.edus) if source.edus is not None else None
    return Given(result=result, where=where, located=True, constraints=bound, tags=source.tags)


def _wrong_place(source: Source) -> bool:
    return not isinstance(source.text, str) or not isinstance(source.start, int)


def _source_fault(source: Source, where: str) -> CleftError | None:
    """Why a sentence that was read, or made by hand, cannot be parsed, if it cannot."""
    if _wrong_place(source):
        found = f"found {source.text!r} and {source.start!r}"
        return InputError(f"expected a text and where it starts, {found}", where=where)
    for kind in set(map(type, source.tokens)) - {Token}:
        return InputError(
            f"expected Token values in a Source, found {kind.__name__}",
            where=where,
            hint="give a list of str instead of the Source",
        )
    error = _fault(source.words, where) or _extra_fault(None, source.tags, where)
    if error is None and source.edus is not None:
        try:
            Constraints(edus=source.edus)
        except ConstraintError as wrong:
            return ConstraintError(wrong.problem, where=where, hint=wrong.hint)
    return error


# ---------------------------------------------------------------- results


def finished(given: Given, found: Mapping[str, list[Parse] | CleftError]) -> Sentence:
    """The sentence with its trees, or with its first error."""
    parses: dict[str, tuple[Parse, ...]] = {}
    error: CleftError | None = None
    for task, result in found.items():
        if isinstance(result, CleftError):
            # A batch has its own numbers: the sentence's is the caller's.
            error = error or type(result)(result.problem, where=given.where, hint=result.hint)
        else:
            parses[task] = tuple(result)
    trees = {task: found[0].tree for task, found in parses.items()}
    return replace(given.result, trees=trees, error=error, parses=parses)


_SPACE = re.compile(r"\s+")


def leaf_maker(given: Given) -> Leaf | None:
    """What makes EDUs that have their source as text, and its offsets, where these are known."""
    return partial(_placed, given.result) if given.located else None


def _placed(sentence: Sentence, span: Span) -> Edu:
    start = sentence.tokens[span.left].start
    end = sentence.tokens[span.right - 1].end
    source = sentence.text[start - sentence.start : end - sentence.start]
    return Edu(_SPACE.sub(" ", source), span, start, end)
