"""Sentences whose elementary discourse units are given: one EDU a line, a blank line between.

That is the form that `cleft segment` writes, so its output can be corrected by
hand and parsed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cleft.errors import FormatError, Place
from cleft.formats.json_values import as_list, as_row, as_span
from cleft.text.languages import Hyphens
from cleft.text.readers import Source, split_words
from cleft.text.tokens import tokenize

__all__ = ["edus_of_fields", "edus_of_lines"]


def edus_of_lines(
    lines: Iterable[str],
    language: str = "en",
    hyphens: Hyphens | None = None,
    *,
    tokenised: bool = False,
) -> Iterator[Source]:
    r"""The sentences of lines that are EDUs; blank lines part them.

    With `tokenised`, white space separates the tokens.

    >>> [source] = edus_of_lines(["Although it rained,\n", "she played.\n"])
    >>> source.words[:5], source.edus
    (('Although', 'it', 'rained', ',', 'she'), (4, 7))
    """
    held: list[str] = []
    start = first = number = 0
    for number, line in enumerate(lines, 1):
        if line.strip():
            first = first if held else number
            held.append(line)
        elif held:
            yield _sentence(held, start, first, language, hyphens, tokenised)
            start += sum(map(len, held)) + len(line)
            held = []
        else:
            start += len(line)
    if held:
        yield _sentence(held, start, first, language, hyphens, tokenised)


def _sentence(
    lines: list[str],
    start: int,
    line: int,
    language: str,
    hyphens: Hyphens | None,
    tokenised: bool,
) -> Source:
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
    return Source(text=text, tokens=tokens, edus=tuple(ends), start=start, line=line)


def edus_of_fields(source: Source, name: str = "") -> tuple[int, ...]:
    """The ends of the EDUs that a line of JSON gives as `edus`: a list of [left, right].

    `name` is how messages call the file.

    >>> edus_of_fields(Source(text="a b", fields={"edus": [[0, 1], [1, 2]]}, line=3))
    (1, 2)
    """
    try:
        if "edus" not in source.fields:
            raise FormatError("the key 'edus' is missing", hint="give the EDUs as [[left, right]]")
        spans = [as_span(*as_row(row, 2)) for row in as_list(source.fields["edus"], "edus")]
        lefts, rights = [span.left for span in spans], [span.right for span in spans]
        if lefts != [0, *rights[:-1]]:
            raise FormatError("the EDUs don't follow each other", hint="begin at 0, leave no gap")
    except FormatError as error:
        where = Place(name, source.line) if name else f"line {source.line}"
        raise FormatError(error.problem, where=where, hint=error.hint) from error
    return tuple(rights)
