"""Everything a parser can be given, read one sentence at a time.

Raw text, one sentence a line, tokenised lines, JSON Lines with tokens,
CoNLL-U: each reader yields `Source` values in the order of its input and
holds no more than a sentence (raw text: a paragraph).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cleft import files
from cleft.errors import FormatError, InputError, Place
from cleft.formats.shapes import as_list, as_strings, load_json
from cleft.text.languages import Hyphens, language_named
from cleft.text.sentences import paragraph_sentences, paragraphs_of_lines
from cleft.text.tokens import Token, tokenize

__all__ = [
    "Source",
    "align",
    "read_jsonl_tokens",
    "read_lines",
    "read_plain",
    "read_tokens",
    "sources_of_text",
    "split_words",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One sentence as it came: its text and its tokens, which are slices of it.

    `start` is where the text begins in the whole input, in characters, where
    that means something; `line` the line it begins on, or `number` which of the
    sentences of its input it is, from 1. `tags` are given parts
    of speech, `edus` the boundaries at which given EDUs end, `fields` whatever
    else came along. A blank line gives a source without tokens, so that every
    input has its place among the results.
    """

    text: str
    tokens: tuple[Token, ...] = ()
    tags: tuple[str, ...] | None = None
    edus: tuple[int, ...] | None = None
    start: int = 0
    line: int | None = None
    number: int | None = None
    paragraph: int | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """The tokens without their places."""
        return tuple(token.text for token in self.tokens)


# ---------------------------------------------------------------- raw text


def read_plain(
    source: str | Path | Iterable[str], language: str = "en", hyphens: Hyphens | None = None
) -> Iterator[Source]:
    """The sentences of a file of raw text, a paragraph in memory at a time.

    Lines may be given in place of the path of their file.
    """
    lines = files.lines(source) if isinstance(source, str | Path) else source
    return _plain(lines, language, hyphens)


def sources_of_text(
    text: str, language: str = "en", hyphens: Hyphens | None = None
) -> Iterator[Source]:
    """The sentences of a text.

    >>> [source.words for source in sources_of_text("It rained. We slept.")]
    [('It', 'rained', '.'), ('We', 'slept', '.')]
    """
    return _plain([text], language, hyphens)


def _plain(lines: Iterable[str], language: str, hyphens: Hyphens | None) -> Iterator[Source]:
    rules = language_named(language)
    count = 0
    for number, (offset, paragraph) in enumerate(paragraphs_of_lines(lines)):
        for left, right in paragraph_sentences(paragraph, 0, len(paragraph), rules):
            text = paragraph[left:right]
            tokens = tuple(tokenize(text, language=language, hyphens=hyphens))
            count += 1
            start = offset + left
            yield Source(text=text, tokens=tokens, start=start, number=count, paragraph=number)


def read_lines(
    source: str | Path | Iterable[str], language: str = "en", hyphens: Hyphens | None = None
) -> Iterator[Source]:
    """One sentence a line, as raw text; a blank line is a source without tokens.

    Lines may be given in place of the path of their file.
    """
    for number, start, line in _numbered(source):
        tokens = tokenize(line, language=language, hyphens=hyphens)
        yield Source(text=line, tokens=tuple(tokens), start=start, line=number)


# ---------------------------------------------------------------- given tokens

_WORD = re.compile(r"[^ \t\n\r\f\v]+")


def split_words(text: str) -> tuple[Token, ...]:
    r"""The tokens of a tokenised text: white space is that of ASCII, a no-break space is none.

    >>> [token.text for token in split_words("10\xa0000 people")]
    ['10\xa0000', 'people']
    """
    return tuple(Token(one.group(), *one.span()) for one in _WORD.finditer(text))


def read_tokens(source: str | Path | Iterable[str]) -> Iterator[Source]:
    """One tokenised sentence a line, its tokens apart by spaces or tabs.

    Lines may be given in place of the path of their file.
    """
    for number, start, line in _numbered(source):
        yield Source(text=line, tokens=split_words(line), start=start, line=number)


def _numbered(source: str | Path | Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Lines without their ends, numbered from 1, with their offsets."""
    lines = files.lines(source) if isinstance(source, str | Path) else source
    start = 0
    for number, line in enumerate(lines, start=1):
        yield number, start, line.rstrip("\r\n")
        start += len(line)


def read_jsonl_tokens(path: str | Path) -> Iterator[Source]:
    """JSON Lines: a list of strings, or an object with `tokens`.

    An object may have `text`, in which the tokens are looked up, or
    `space_after` (whether a space follows each token), and `tags`; other keys
    become `fields`. Blank lines are passed over.
    """
    name = files.source_name(path)
    empty = True
    for number, line in enumerate(files.lines(path), start=1):
        if line.strip():
            empty = False
            yield _json_source(line, Place(name, number))
    if empty:
        raise InputError("expected at least one line of JSON, found none", where=name)


_OURS = ("tokens", "text", "space_after", "tags")


def _json_source(line: str, where: Place) -> Source:
    try:
        data = load_json(line)
    except (ValueError, RecursionError) as error:
        deep = isinstance(error, RecursionError)
        reason = "nested too deeply" if deep else getattr(error, "msg", str(error))
        raise FormatError(f"not JSON: {reason}", where=where, hint="one object a line") from error
    if isinstance(data, list):
        data = {"tokens": data}
    if not isinstance(data, dict) or "tokens" not in data:
        raise FormatError(
            'expected an object with "tokens" or a list of strings, found '
            + (", ".join(map(repr, data)) if isinstance(data, dict) else type(data).__name__),
            where=where,
            hint='for example {"tokens": ["She", "slept", "."]}',
        )
    try:
        return _given(data, where)
    except FormatError as error:
        raise FormatError(error.problem, where=where, hint=error.hint) from error


def _given(data: dict[str, Any], where: Place) -> Source:
    words = as_strings(data["tokens"], "tokens")
    if "text" in data:
        (text,) = as_strings([data["text"]], "text")
        tokens = align(text, words)
    else:
        spaces = as_list(data.get("space_after", [True] * len(words)), "space_after")
        _same_length(words, spaces, "space_after")
        text, tokens = _joined(words, spaces)
    tags = as_strings(data["tags"], "tags") if data.get("tags") is not None else None
    if tags is not None:
        _same_length(words, tags, "tags")
    return Source(
        text=text,
        tokens=tokens,
        tags=tags,
        line=where.line,
        fields={key: value for key, value in data.items() if key not in _OURS},
    )


def _joined(words: tuple[str, ...], spaces: list[Any]) -> tuple[str, tuple[Token, ...]]:
    """The text that words make up, and their places in it; the last space is left out."""
    text, tokens = "", []
    for word, space in zip(words, spaces, strict=True):
        tokens.append(Token(word, len(text), len(text) + len(word)))
        text += word + " " * bool(space)
    return (text[:-1] if words and spaces[-1] else text), tuple(tokens)


def _same_length(words: tuple[str, ...], others: Iterable[object], name: str) -> None:
    count = len(list(others))
    if count != len(words):
        raise FormatError(f"{len(words)} tokens but {count} in '{name}'", hint="give one a token")


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
