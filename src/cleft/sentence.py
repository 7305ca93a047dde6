"""`Sentence`, the result of parsing: tokens with offsets, and trees or an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import CleftError, FormatError, InputError
from cleft.tasks import task_names
from cleft.text import Token
from cleft.tree import Tree

if TYPE_CHECKING:
    from cleft.formats.jsonl import Record
    from cleft.search import Parse

__all__ = ["Sentence"]

OURS = frozenset({"text", "start", "offsets", "n_best", "error", *task_names()})
"""Keys that this parse writes; `fields` of an input line with such keys are not copied."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sentence:
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
    def syntax(self) -> Tree | None:
        """The best syntactic tree."""
        tree = self.trees.get("syntax")
        return tree if isinstance(tree, Tree) else None

    @property
    def discourse(self) -> DiscourseTree | None:
        """The best discourse tree."""
        tree = self.trees.get("discourse")
        return tree if isinstance(tree, DiscourseTree) else None

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
            "edus": [edu.text for edu in self.edus] if discourse is not None else None,
            "discourse": (
                [split._asdict() for split in discourse.splits()] if discourse is not None else None
            ),
            "discourse_log_prob": discourse.log_prob if discourse is not None else None,
            "error": str(self.error) if self.error is not None else None,
        }

    def to_jsonl(self) -> str:
        """The sentence as one line of cleft's JSON Lines (docs/formats.md).

        Beside the trees it has `text`, its `start` in the input and the
        tokens' `offsets`; where there are several trees of a task, `n_best`
        has them all.

        >>> print(Sentence(text="So", tokens=(Token("So", 0, 2),)).to_jsonl())
        {"cleft": 1, "tokens": ["So"], "text": "So", "start": 0, "offsets": [[0, 2]]}
        """
        from cleft.formats.jsonl import format_record

        return format_record(self.record())

    def record(self) -> Record:
        """The sentence as a record of JSON Lines."""
        from cleft.formats.jsonl import Record

        fields: dict[str, Any] = {
            "text": self.text,
            "start": self.start,
            "offsets": [[token.start, token.end] for token in self.tokens],
        }
        if any(len(found) > 1 for found in self.parses.values()):
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
