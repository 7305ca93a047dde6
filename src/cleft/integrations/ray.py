"""Parsing inside a Ray Data pipeline.

    dataset.map_batches(cleft_ray.Parse, fn_constructor_kwargs={"model": "en"}, concurrency=8)

Each actor loads the model once. Needs `cleft[cluster]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cleft.errors import UsageError
from cleft.formats.json_values import dump_json

if TYPE_CHECKING:
    from cleft.sentence import Sentence

__all__ = ["Parse"]


class Parse:
    """A callable for `map_batches`: rows with a text in, a row for each of its sentences out.

    The column `text` has raw text (`column` may name another); one with lists of
    tokens is parsed as it is. A sentence's row has the columns of the row that it
    is from, `sentence` (its number in the text, from 0) and `start`, `end`,
    `tokens`, `tags`, `syntax` (brackets), `edus`, `discourse` (JSON) and `error`;
    offsets are into the text. Ours win where names are the same. `options` are
    those of `Parser.stream`: `task`, `beam`, `language`.

    >>> parse = Parse(model="en-fast", task="syntax")
    >>> found = parse({"text": ["It rained. She slept."], "page": [7]})
    >>> found["syntax"][1], found["page"]
    ('(S (NP (PRP She)) (VP (VBD slept)) (. .))', [7, 7])
    """

    def __init__(self, model: str = "en", *, column: str = "text", **options: Any) -> None:
        from cleft.parser import load

        self.parser = load(model)
        self.column, self.options = column, options

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Parse a batch: columns in, columns out."""
        if self.column not in batch:
            raise UsageError(
                f"the batch has no column {self.column!r}",
                hint=f"it has {', '.join(batch)}; name one with column=…",
            )
        items = [each if isinstance(each, str) else [*each] for each in batch[self.column]]
        found = [*self.parser.stream(items, **self.options)]
        columns: dict[str, list[Any]] = {
            name: [values[each.source] for each in found] for name, values in batch.items()
        }
        rows = [_row(each) for each in found]
        numbers: dict[int, int] = {}
        for row, each in zip(rows, found, strict=True):
            row["sentence"] = numbers.setdefault(each.source, 0)
            numbers[each.source] += 1
        return {**columns, **{name: [row[name] for row in rows] for name in NAMES}}


NAMES = (
    *("sentence", "start", "end", "sentence_text", "tokens", "tags", "syntax", "syntax_log_prob"),
    *("edus", "discourse", "discourse_log_prob", "error"),
)


def _row(sentence: Sentence) -> dict[str, Any]:
    """A record whose values are all plain, since batches of nested values need not fit together."""
    record = sentence.to_record()
    record["sentence_text"] = record.pop("text")
    for name in ("tokens", "tags", "edus"):
        record[name] = record[name] or []
    if record["discourse"] is not None:
        record["discourse"] = dump_json(record["discourse"])
    return record
