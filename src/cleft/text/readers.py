"""Everything a parser can be given, read one sentence at a time.

Raw text, one sentence a line, tokenised lines, given elementary discourse units
(JSON Lines and CoNLL-U are in `annotated`): each reader yields
`SentenceInput` values in the order of its input and holds no more than a sentence
(raw text: a paragraph).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cleft import files
from cleft.errors import FormatError, InputError, UsageError
from cleft.sentence import SentenceInput, checked_tokens
from cleft.span import Constraints, Token
from cleft.text.languages import Hyphens, has_spaces, language_named
from cleft.text.sentences import paragraph_sentences, paragraphs_of_lines
from cleft.text.tokens import tokenize

# ---------------------------------------------------------------- raw text


def read_plain(
    source: str | Path | Iterable[str], language: str = "en", hyphens: Hyphens | None = None
) -> Iterator[SentenceInput]:
    """The sentences of a file of raw text, a paragraph in memory at a time.

    Lines may be given in place of the path of their file.
    """
    rules = language_named(language)
    count = 0
    for number, (offset, paragraph) in enumerate(paragraphs_of_lines(_lines(source))):
        for left, right in paragraph_sentences(paragraph, 0, len(paragraph), rules):
            text = paragraph[left:right]
            tokens = tuple(tokenize(text, language=language, hyphens=hyphens))
            count += 1
            start = offset + left
            yield SentenceInput(
                text=text, tokens=tokens, start=start, number=count, paragraph=number
            )


def _lines(source: str | Path | Iterable[str]) -> Iterable[str]:
    return files.lines(source) if isinstance(source, str | Path) else source


def sentences_of_text(
    text: str, language: str = "en", hyphens: Hyphens | None = None
) -> Iterator[SentenceInput]:
    """The sentences of a text.

    >>> [sentence.words for sentence in sentences_of_text("It rained. We slept.")]
    [('It', 'rained', '.'), ('We', 'slept', '.')]
    """
    return read_plain([text], language, hyphens)


def read_lines(
    source: str | Path | Iterable[str], language: str = "en", hyphens: Hyphens | None = None
) -> Iterator[SentenceInput]:
    """One sentence a line, as raw text; a blank line is a sentence without tokens.

    Lines may be given in place of the path of their file.
    """
    for number, start, line in _numbered(source):
        tokens = tokenize(line, language=language, hyphens=hyphens)
        yield SentenceInput(text=line, tokens=tuple(tokens), start=start, line=number)


# ---------------------------------------------------------------- given tokens

_WORD = re.compile(r"[^ \t\n\r\f\v]+")


def split_words(text: str) -> tuple[Token, ...]:
    r"""The tokens of a tokenised text: white space is that of ASCII, a no-break space is none.

    >>> [token.text for token in split_words("10\xa0000 people")]
    ['10\xa0000', 'people']
    """
    return tuple(Token(one.group(), *one.span()) for one in _WORD.finditer(text))


def read_tokens(source: str | Path | Iterable[str]) -> Iterator[SentenceInput]:
    """One tokenised sentence a line, its tokens apart by spaces or tabs.

    Lines may be given in place of the path of their file.
    """
    for number, start, line in _numbered(source):
        yield SentenceInput(text=line, tokens=split_words(line), start=start, line=number)


def _numbered(source: str | Path | Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Lines without their ends, numbered from 1, with their offsets."""
    start = 0
    for number, line in enumerate(_lines(source), start=1):
        yield number, start, line.rstrip("\r\n")
        start += len(line)


def align(text: str, words: Iterable[str]) -> tuple[Token, ...]:
    """Words as tokens of the text that they were made from; only white space lies between them.

    >>> align("can't  stop", ["ca", "n't", "stop"])[2]
    Token(text='stop', start=7, end=11)
    """
    tokens = []
    end = 0
    for number, word in enumerate(words, start=1):
        start = text.find(word, end) if word else -1
        if start < 0 or (start > end and not text[end:start].isspace()):
            seen = text[end:].lstrip()[:20]
            raise FormatError(
                f"token {number} is {word!r} but the text goes on with {seen!r}",
                hint="leave the text out, or give the tokens as they stand in it",
            )
        end = start + len(word)
        tokens.append(Token(word, start, end))
    if text[end:].strip():
        raise FormatError(
            f"the tokens end before the text, which goes on with {text[end:].strip()[:20]!r}",
            hint="leave the text out, or give all tokens",
        )
    return tuple(tokens)


# ---------------------------------------------------------------- given EDUs


def edus_of_lines(
    lines: Iterable[str],
    language: str = "en",
    hyphens: Hyphens | None = None,
    *,
    tokenised: bool = False,
) -> Iterator[SentenceInput]:
    r"""The sentences of lines that are EDUs; blank lines part them, as `cleft segment` writes.

    With `tokenised`, white space separates the tokens.

    >>> [sentence] = edus_of_lines(["Although it rained,\n", "she played.\n"])
    >>> sentence.words[:5], sentence.constraints.edus
    (('Although', 'it', 'rained', ',', 'she'), (4, 7))
    """
    held: list[str] = []
    start = first = number = 0
    for number, line in enumerate(lines, 1):
        if line.strip():
            first = first if held else number
            held.append(line)
        elif held:
            yield _edu_sentence(held, start, first, language, hyphens, tokenised)
            start += sum(map(len, held)) + len(line)
            held = []
        else:
            start += len(line)
    if held:
        yield _edu_sentence(held, start, first, language, hyphens, tokenised)


def _edu_sentence(
    lines: list[str], start: int, line: int, language: str, hyphens: Hyphens | None, tokenised: bool
) -> SentenceInput:
    text = "".join(lines).rstrip("\r\n")
    if tokenised:
        tokens = split_words(text)
    else:
        # As one sentence: only its last period ends it. A line's end is always a token's.
        tokens = tuple(tokenize(text, language=language, hyphens=hyphens))
    ends, right, count = [], 0, 0
    for each in lines:
        right += len(each)
        while count < len(tokens) and tokens[count].start < right:
            count += 1
        ends.append(count)
    return SentenceInput(
        text=text, tokens=tokens, constraints=Constraints(edus=tuple(ends)), start=start, line=line
    )


# ---------------------------------------------------------------- items of any kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How texts become sentences and tokens: a language, and what becomes of hyphens.

    A language without spaces is known, so that tokens can be given; only a
    text in it is refused.
    """

    language: str = "en"
    hyphens: Hyphens | None = None

    def __post_init__(self) -> None:
        if has_spaces(self.language):
            tokenize("", language=self.language, hyphens=self.hyphens)  # it says what is wrong

    def sentences(self, items: Iterable[Any]) -> Iterator[SentenceInput]:
        """The sentences of all items, in order; every item has at least one."""
        for number, item in enumerate(items):
            if isinstance(item, str):
                yield from self._text(item, number)
            elif isinstance(item, SentenceInput):
                yield item.checked(number)
            else:
                yield checked_tokens(item, number)

    def _text(self, text: str, number: int) -> Iterator[SentenceInput]:
        """The sentences of one text among others, which a refusal of it must not stop."""
        name = f"text {number + 1}"
        try:
            yield from self.text(text, number, name=f"{name} ")
        except UsageError as error:
            yield SentenceInput(text=text, source=number, where=name, error=error)

    def text(self, text: str, number: int = 0, name: str = "") -> Iterator[SentenceInput]:
        """The sentences of one text, or one result that says that there are none."""
        count = 0
        for sentence in sentences_of_text(text, self.language, self.hyphens):
            count += 1
            yield sentence.checked(number, f"{name}sentence {count}")
        if not count:
            where = f"{name}".strip()
            error = InputError(
                "there is no sentence: the text is empty or white space",
                where=where,
                hint="give some words",
            )
            yield SentenceInput(text=text, source=number, where=where, error=error)
