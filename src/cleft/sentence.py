"""A sentence each way: `SentenceInput` is to be parsed, `Sentence` is the result.

Everything that can be parsed becomes `SentenceInput` values, in order. One that
cannot be parsed keeps its place: it has its error from the start, and so has
its result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import CleftError, ConstraintError, FormatError, InputError
from cleft.span import Constraints, Span, Token
from cleft.tasks import task_names
from cleft.tree import Tree

if TYPE_CHECKING:
    from cleft.formats.jsonl import Record
    from cleft.search import Parse

LONGEST_TOKEN = 10_000
LONGEST_SENTENCE = 20_000
"""The most characters of a token, and tokens of a sentence, that are parsed."""

OURS = frozenset({"text", "start", "offsets", "n_best", "error", *task_names()})
"""Keys that this parse writes; `fields` of an input line with such keys are not copied."""

_SPACE = re.compile(r"\s+")
_token = partial(tuple.__new__, Token)  # there are many of them: no call in between


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceInput:
    """One sentence to be parsed: its text and its tokens, which are slices of it.

    `start` is where the text begins in the whole input, in characters; with
    `located`, EDUs have offsets into that input. `line` is the line that it
    begins on, or `number` which of the sentences of its input it is, from 1.
    `tags` are given parts of speech, `fields` is whatever else came along (its
    id, for example) and goes to the result. One without tokens has a result
    too, with an error.

    `Parser.stream` sets the rest: `source` is the number of the item that the
    sentence is of, `where` is how messages name it, and `error` says why it
    cannot be parsed.

    >>> one = SentenceInput.of_words(["It", "rained"], tags=("PRP", "VBD"))
    >>> one.text, one.tokens[1], len(one)
    ('It rained', Token(text='rained', start=3, end=9), 2)
    """

    text: str
    tokens: tuple[Token, ...] = ()
    tags: Sequence[str] | None = None
    constraints: Constraints | None = None
    start: int = 0
    located: bool = True
    line: int | None = None
    number: int | None = None
    paragraph: int | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    source: int = 0
    where: str = ""
    error: CleftError | None = None

    @classmethod
    def of_words(cls, words: Sequence[str], **values: Any) -> SentenceInput:
        """A sentence of words with one space between them."""
        ends = list(accumulate(map(len, words), lambda end, length: end + 1 + length))
        starts = [0, *[end + 1 for end in ends]]
        tokens = tuple(map(_token, zip(words, starts, ends, strict=False)))
        return cls(text=" ".join(words), tokens=tokens, **values)

    def __len__(self) -> int:
        """How much work it is: its tokens."""
        return len(self.tokens)

    @property
    def words(self) -> tuple[str, ...]:
        """The tokens without their places."""
        return tuple([token.text for token in self.tokens])

    def checked(self, source: int, where: str = "") -> SentenceInput:
        """The same as a sentence of an item of this number, with an error if there is a fault."""
        if not where:
            count = self.number or source + 1
            where = f"line {self.line}" if self.line is not None else f"sentence {count}"
        error = self._fault(where) if self.error is None else None
        if error is None:
            return replace(self, source=source, where=where)
        text, start = (self.text, self.start) if not self._is_misplaced else ("", 0)
        return SentenceInput(
            text=text, start=start, source=source, where=where, error=error, fields=self.fields
        )

    @property
    def _is_misplaced(self) -> bool:
        return not isinstance(self.text, str) or not isinstance(self.start, int)

    def _fault(self, where: str) -> CleftError | None:
        if self._is_misplaced:
            found = f"found {self.text!r} and {self.start!r}"
            return InputError(f"expected a text and where it starts, {found}", where=where)
        for kind in set(map(type, self.tokens)) - {Token}:
            return InputError(
                f"expected Token values in a SentenceInput, found {kind.__name__}",
                where=where,
                hint="give a list of str instead, or use SentenceInput.of_words",
            )
        words_fault = _words_fault(self.words, where)
        return words_fault or _extra_fault(self.constraints, self.tags, where)

    def edu(self, span: Span) -> Edu:
        """The EDU over these tokens, with its source as text and its place in the input."""
        left, right = self.tokens[span.left].start, self.tokens[span.right - 1].end
        text = _SPACE.sub(" ", self.text[left:right])
        return Edu(text, span, self.start + left, self.start + right)

    def result(self, found: Mapping[str, list[Parse] | CleftError] | None = None) -> Sentence:
        """What became of it: its trees, or its first error."""
        parses: dict[str, tuple[Parse, ...]] = {}
        error = self.error
        for task, result in (found or {}).items():
            if isinstance(result, CleftError):
                # A batch numbers its sentences; messages name them as the caller does.
                error = error or type(result)(result.problem, where=self.where, hint=result.hint)
            else:
                parses[task] = tuple(result)
        tokens, start = self.tokens, self.start
        if start:
            tokens = tuple(
                [Token(text, left + start, right + start) for text, left, right in tokens]
            )
        return Sentence(
            text=self.text,
            tokens=tokens,
            trees={task: best[0].tree for task, best in parses.items()},
            error=error,
            parses=parses,
            start=start,
            source=self.source,
            fields=self.fields,
        )


def checked_tokens(
    tokens: Any,
    source: int,
    constraints: Constraints | None = None,
    tags: Sequence[str] | None = None,
) -> SentenceInput:
    """A list of tokens as the item of this number, with an error if it is none."""
    where = f"sentence {source + 1}"
    error = _words_fault(tokens, where) or _extra_fault(constraints, tags, where)
    if error is not None:
        text = tokens if isinstance(tokens, str) else ""
        return SentenceInput(text=text, source=source, where=where, error=error)
    return SentenceInput.of_words(
        tokens, tags=tags, constraints=constraints, located=False, source=source, where=where
    )


def _words_fault(tokens: Any, where: str) -> InputError | None:
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


class TreesByTask:
    """Base of what has the (best) tree of each task in `trees`."""

    __slots__ = ()
    trees: Mapping[str, Tree | DiscourseTree]

    @property
    def syntax(self) -> Tree | None:
        """The syntactic tree."""
        tree = self.trees.get("syntax")
        return tree if isinstance(tree, Tree) else None

    @property
    def discourse(self) -> DiscourseTree | None:
        """The discourse tree."""
        tree = self.trees.get("discourse")
        return tree if isinstance(tree, DiscourseTree) else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sentence(TreesByTask):
    """The result of parsing one sentence.

    `text` is its source, which stands from `start` to `end` in the input; the
    tokens' offsets count from the beginning of the input too. `source` is the
    number of that input, from 0. `trees` has the best tree of each task, and
    `parses` all of them, best first, with their derivations. `error` is there
    where the sentence could not be parsed; the rest is then as far as it got.
    `fields` is whatever else came along with it.

    >>> sentence = Sentence(text="So what?", start=10, tokens=(Token("So", 10, 12),))
    >>> sentence.end, sentence.words, sentence.edus
    (18, ('So',), ())
    """

    text: str
    tokens: tuple[Token, ...] = ()
    trees: Mapping[str, Tree | DiscourseTree] = field(default_factory=dict)
    error: CleftError | None = None
    parses: Mapping[str, tuple[Parse, ...]] = field(default_factory=dict)
    start: int = 0
    source: int = 0
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def end(self) -> int:
        """Where the sentence ends in the input."""
        return self.start + len(self.text)

    @property
    def words(self) -> tuple[str, ...]:
        """The tokens without their places."""
        return tuple(token.text for token in self.tokens)

    @property
    def edus(self) -> tuple[Edu, ...]:
        """The elementary discourse units; none where there is no discourse tree."""
        return tuple(self.discourse.edus) if self.discourse is not None else ()

    def to_record(self) -> dict[str, Any]:
        """The sentence as a dictionary of plain values: a row of a data frame.

        `syntax` is in brackets; `discourse` is a list of splits, each a dictionary
        of left, split, right, relation, nuclearity and probability. A key has
        values of one type in all records, or None, so that they can be columns
        of Arrow and Parquet.

        >>> record = Sentence(text="So", tokens=(Token("So", 0, 2),)).to_record()
        >>> record["tokens"], record["syntax"]
        (['So'], None)
        """
        syntax, discourse = self.syntax, self.discourse
        return {
            "source": self.source,
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "tokens": list(self.words),
            "tags": syntax.tags() if syntax is not None else None,
            "syntax": syntax.brackets() if syntax is not None else None,
            "syntax_log_prob": syntax.log_prob if syntax is not None else None,
            "syntax_probability": syntax.tree_probability if syntax is not None else None,
            "edus": [edu.text for edu in self.edus] if discourse is not None else None,
            "discourse": (
                [split._asdict() for split in discourse.splits()] if discourse is not None else None
            ),
            "discourse_log_prob": discourse.log_prob if discourse is not None else None,
            "discourse_probability": discourse.tree_probability if discourse is not None else None,
            "error": str(self.error) if self.error is not None else None,
        }

    def to_jsonl(self, *, compact: bool = False) -> str:
        """The sentence as one line of cleft's JSON Lines (docs/formats.md).

        Beside the trees it has `text`, its `start` in the input and the
        tokens' `offsets`; where there are several trees of a task, `n_best`
        has them all. The compact form, a quarter as long, leaves out offsets,
        n-best trees and the probabilities of single nodes.

        >>> print(Sentence(text="So", tokens=(Token("So", 0, 2),)).to_jsonl())
        {"cleft": 1, "tokens": ["So"], "text": "So", "start": 0, "offsets": [[0, 2]]}
        """
        from cleft.formats.jsonl import format_record

        return format_record(self.record(compact=compact), compact=compact)

    def record(self, *, compact: bool = False) -> Record:
        """The sentence as a record of JSON Lines."""
        from cleft.formats.jsonl import Record

        fields: dict[str, Any] = {"text": self.text, "start": self.start}
        if not compact:
            fields["offsets"] = [[token.start, token.end] for token in self.tokens]
        if not compact and any(len(found) > 1 for found in self.parses.values()):
            fields["n_best"] = self._n_best()
        return Record(
            tokens=self.words,
            trees=self.trees,
            error=str(self.error) if self.error is not None else None,
            fields={**fields, **{k: v for k, v in self.fields.items() if k not in OURS}},
        )

    @classmethod
    def of_record(cls, record: Record) -> Sentence:
        """The sentence of a record; without offsets, its tokens are found in its text.

        >>> from cleft.formats.jsonl import parse_record
        >>> line = '{"cleft": 1, "tokens": ["So", "?"], "text": "So?"}'
        >>> Sentence.of_record(parse_record(line)).tokens[1]
        Token(text='?', start=2, end=3)
        """
        from cleft.formats.json_values import as_list, as_row, as_span
        from cleft.text import align

        fields = {name: value for name, value in record.fields.items() if name not in OURS}
        text = record.fields.get("text") or " ".join(record.tokens)
        start = record.fields.get("start", 0)
        if not isinstance(text, str) or type(start) is not int:
            raise FormatError(
                f"expected a text and where it starts, found {text!r:.40} and {start!r:.20}",
                hint="leave 'text' and 'start' out",
            )
        places = record.fields.get("offsets")
        if places is None:
            places = [
                [left + start, right + start] for _, left, right in align(text, record.tokens)
            ]
        spans = [as_span(*as_row(row, 2)) for row in as_list(places, "offsets")]
        if len(spans) != len(record.tokens):
            raise FormatError(f"{len(record.tokens)} tokens, but {len(spans)} 'offsets'")
        return cls(
            text=text,
            tokens=tuple(
                Token(word, *span) for word, span in zip(record.tokens, spans, strict=True)
            ),
            trees=record.trees,
            error=InputError(record.error) if record.error is not None else None,
            start=start,
            fields=fields,
        )

    def _n_best(self) -> dict[str, list[Any]]:
        """All trees of each task, each as the line has the best."""
        from cleft.formats.jsonl import tree_data

        return {
            task: [tree_data(parse.tree, self.words) for parse in parses]
            for task, parses in self.parses.items()
        }

    def _repr_html_(self) -> str:
        """All trees for a notebook, or the error."""
        from cleft.draw.html_output import fragment

        trees = [fragment(tree) for tree in self.trees.values()]
        if self.error is not None:
            trees.append(f"<p>{escape(str(self.error))}</p>")
        return "\n".join(trees) or f"<p>{escape(self.text)}</p>"
