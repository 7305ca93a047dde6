"""Sentences of JSON Lines and of CoNLL-U files: tokens, their places, their parts of speech.

Of CoNLL-U only the columns of words are read (ID, FORM, UPOS, XPOS, MISC). A
multiword token whose words spell it out (*do* + *n't*) gives these words; one whose
words don't (*du* = *de* + *le*) stays one token, since tokens are slices of
the text. Empty nodes are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cleft import files
from cleft.errors import FormatError, InputError, Place
from cleft.formats.json_values import as_list, as_row, as_span, as_strings, load_json
from cleft.sentence import SentenceInput
from cleft.span import Token
from cleft.text.readers import align

# ---------------------------------------------------------------- CoNLL-U

COLUMNS = 10
_ID = re.compile(r"([0-9]{1,9})(?:([-.])([0-9]{1,9}))?")


class _Row(NamedTuple):
    """One line of a word: its first and last number, its form, tag, and whether space follows."""

    first: int
    last: int
    form: str
    upos: str
    xpos: str
    head: str
    space: bool
    line: int


class WordHeads(NamedTuple):
    """The words of a sentence, their tags, and the number of each one's head.

    Words count from 1; 0 is the root, -1 a head that is not given.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] | None
    heads: tuple[int, ...]


def read_conllu(path: str | Path) -> Iterator[SentenceInput]:
    """The sentences of a CoNLL-U file, one at a time.

    `tags` are the XPOS column, or UPOS where it is empty, or None where both
    are. Comments `key = value` become `fields`; others have the value True.
    """
    name = files.source_name(path)
    empty = True
    for number, lines in _blocks(path):
        source = sentence_of_conllu(name, number, lines)
        if source is not None:
            empty = False
            yield source
    if empty:
        raise InputError("expected sentences in CoNLL-U, found none", where=name)


def read_word_heads(path: str | Path) -> Iterator[WordHeads]:
    """The words of the sentences of a CoNLL-U file with their heads, one sentence at a time."""
    name = files.source_name(path)
    for number, lines in _blocks(path):
        every = ((at, line) for at, line in enumerate(lines, number) if not line.startswith("#"))
        rows = [row for at, line in every if (row := _row(line, Place(name, at))) is not None]
        if rows:
            units = _units(rows, name)
            words = tuple(row.form for row in units)
            yield WordHeads(words, _tags(units), tuple(_heads(units, name)))


def _heads(units: list[_Row], name: str) -> Iterator[int]:
    """The place of each unit's head among the units."""
    place = {k: at for at, row in enumerate(units, 1) for k in range(row.first, row.last + 1)}
    place[0] = 0
    for row in units:
        number = int(row.head) if row.head.isdecimal() else None
        if row.head != "_" and number not in place:
            raise FormatError(
                f"expected the number of a word, 0 or _ as the head of {row.form!r}, "
                f"found {row.head!r}",
                where=Place(name, row.line),
            )
        yield -1 if number is None else place[number]


def _blocks(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Runs of lines between blank lines, with the number of the first."""
    block: list[str] = []
    number = 0
    for number, line in enumerate(files.lines(path), start=1):
        if line.strip():
            block.append(line.rstrip("\r\n"))
        elif block:
            yield number - len(block), block
            block = []
    if block:
        yield number - len(block) + 1, block


def sentence_of_conllu(name: str, first: int, lines: list[str]) -> SentenceInput | None:
    """The sentence of a run of lines whose first has this number; None where there is no word."""
    fields: dict[str, object] = {}
    rows = []
    for number, line in enumerate(lines, start=first):
        if line.startswith("#"):
            key, found, value = line[1:].partition("=")
            fields[key.strip()] = value.strip() if found else True
        else:
            row = _row(line, Place(name, number))
            if row is not None:
                rows.append(row)
    if not rows:
        return None
    units = _units(rows, name)
    text = fields.pop("text", None)
    if not isinstance(text, str):
        text = "".join(row.form + " " * row.space for row in units).rstrip(" ")
    try:
        tokens = align(text, [row.form for row in units])
    except FormatError as error:
        where = Place(name, first)
        raise FormatError(error.problem, where=where, hint="correct '# text'") from error
    return SentenceInput(text=text, tokens=tokens, tags=_tags(units), line=first, fields=fields)


def _row(line: str, where: Place) -> _Row | None:
    """A line of a word, or None for an empty node."""
    columns = line.split("\t")
    if len(columns) != COLUMNS:
        raise FormatError(
            f"expected {COLUMNS} columns apart by tabs, found {len(columns)}",
            where=where,
            hint="see universaldependencies.org/format.html",
        )
    number = _ID.fullmatch(columns[0])
    if number is None or not columns[1]:
        raise FormatError(
            f"expected a number and a word, found {columns[0]!r} and {columns[1]!r}", where=where
        )
    if number[2] == ".":
        return None
    start = int(number[1])
    space = "SpaceAfter=No" not in columns[9].split("|")
    last = int(number[3] or start)
    form, upos, xpos, head = columns[1], columns[3], columns[4], columns[6]
    return _Row(start, last, form, upos, xpos, head, space, where.line or 0)


def _units(rows: list[_Row], name: str) -> list[_Row]:
    """The rows that become tokens: multiword tokens resolved, numbers checked."""
    units: list[_Row] = []
    position = 0
    expected = 1
    while position < len(rows):
        row = rows[position]
        width = row.last - row.first + 1
        is_range = row.last > row.first
        words = rows[position + 1 : position + 1 + width] if is_range else [row]
        numbers = [word.first for word in words if word.first == word.last]
        # The count comes first: a width is only what the file says.
        if width < 1 or len(numbers) != width or numbers != list(range(expected, expected + width)):
            raise FormatError(
                f"expected word {expected}, found {row.first}"
                + (f"-{row.last} and the words {numbers}" if is_range else ""),
                where=Place(name, row.line),
                hint="number the words of a sentence from 1 without gaps",
            )
        units += _spelled_out(row, words) if is_range else words
        position += len(words) + is_range
        expected += width
    return units


def _spelled_out(whole: _Row, words: list[_Row]) -> list[_Row]:
    """The words of a multiword token where they make it up, else the token itself."""
    if "".join(word.form for word in words) == whole.form:
        inner = [word._replace(space=False) for word in words[:-1]]
        return [*inner, words[-1]._replace(space=whole.space)]
    upos, xpos = ("+".join(getattr(word, name) for word in words) for name in ("upos", "xpos"))
    inside = {str(number) for number in range(whole.first, whole.last + 1)}
    head = next((word.head for word in words if word.head not in inside), "_")
    return [whole._replace(upos=upos, xpos=xpos, head=head)]


def _tags(units: list[_Row]) -> tuple[str, ...] | None:
    for name in ("xpos", "upos"):
        tags = tuple(getattr(row, name) for row in units)
        if any(tag.strip("_+") for tag in tags):
            return tags
    return None


# ---------------------------------------------------------------- JSON Lines


def read_jsonl_tokens(path: str | Path) -> Iterator[SentenceInput]:
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
            where = Place(name, number)
            yield sentence_of_object(json_object(line, where), where)
    if empty:
        raise InputError("expected at least one line of JSON, found none", where=name)


_KNOWN = ("tokens", "text", "space_after", "tags")


EXAMPLE = 'for example {"tokens": ["She", "slept", "."]}'


def json_object(line: str, where: Place) -> dict[str, Any]:
    """The object of a line of JSON; a list is taken for its `tokens`."""
    try:
        data = load_json(line)
    except (ValueError, RecursionError) as error:
        deep = isinstance(error, RecursionError)
        reason = "nested too deeply" if deep else getattr(error, "msg", str(error))
        raise FormatError(f"not JSON: {reason}", where=where, hint="one object a line") from error
    if isinstance(data, dict):
        return data
    if isinstance(data, list):
        return {"tokens": data}
    raise FormatError(
        f'expected an object with "tokens" or a list of strings, found {type(data).__name__}',
        where=where,
        hint=EXAMPLE,
    )


def sentence_of_object(data: dict[str, Any], where: Place) -> SentenceInput:
    """The sentence of an object with `tokens`, as `read_jsonl_tokens` takes it."""
    if "tokens" not in data:
        found = ", ".join(map(repr, data)) or "no key"
        raise FormatError(
            f'expected an object with "tokens" or a list of strings, found {found}',
            where=where,
            hint=EXAMPLE,
        )
    try:
        return _read_object(data, where)
    except FormatError as error:
        raise FormatError(error.problem, where=where, hint=error.hint) from error


def _read_object(data: dict[str, Any], where: Place) -> SentenceInput:
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
    return SentenceInput(
        text=text,
        tokens=tokens,
        tags=tags,
        line=where.line,
        fields={key: value for key, value in data.items() if key not in _KNOWN},
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


def edus_of_fields(sentence: SentenceInput, name: str = "") -> tuple[int, ...]:
    """The ends of the EDUs that a line of JSON gives as `edus`: a list of [left, right].

    `name` is how messages call the file.

    >>> edus_of_fields(SentenceInput(text="a b", fields={"edus": [[0, 1], [1, 2]]}, line=3))
    (1, 2)
    """
    try:
        if "edus" not in sentence.fields:
            raise FormatError("the key 'edus' is missing", hint="give the EDUs as [[left, right]]")
        spans = [as_span(*as_row(row, 2)) for row in as_list(sentence.fields["edus"], "edus")]
        lefts, rights = [span.left for span in spans], [span.right for span in spans]
        if lefts != [0, *rights[:-1]]:
            raise FormatError("the EDUs don't follow each other", hint="begin at 0, leave no gap")
    except FormatError as error:
        where = Place(name, sentence.line) if name else f"line {sentence.line}"
        raise FormatError(error.problem, where=where, hint=error.hint) from error
    return tuple(rights)
