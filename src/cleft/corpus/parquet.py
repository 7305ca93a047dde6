"""Parquet: rows to parse, and the table of parsed sentences.

`schema()` is the table that `cleft corpus --format parquet` writes and that
`docs/how-to-corpus.md` documents. Needs pyarrow (`cleft[parquet]`).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

from cleft import files
from cleft.errors import InputError
from cleft.formats.json_values import dump_json

if TYPE_CHECKING:
    from cleft.sentence import Sentence

MAGIC = b"PAR1"
BATCH = 1024
"""Rows that are read at a time."""


def _module(name: str = "pyarrow") -> Any:
    return files.needed(name, "parquet", "Parquet files")


# ---------------------------------------------------------------- reading


def _footer(stream: IO[bytes], path: str) -> bytes:
    """The bytes that describe a file: where its row groups are and how many rows they have."""
    stream.seek(0, 2)
    size = stream.tell()
    stream.seek(max(0, size - 8))
    end = stream.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or length > size - 8:
        raise InputError("expected a Parquet file, found none", where=path)
    stream.seek(size - 8 - length)
    return stream.read(length)


def footer_sum(path: str) -> int:
    """A sum that tells a file from another one; of its footer, so that little is read."""
    with files.open_bytes(path) as stream:
        return zlib.crc32(_footer(stream, path))


def _opened(stream: IO[bytes], path: str) -> Any:
    try:
        return _module("pyarrow.parquet").ParquetFile(stream)
    except _module().ArrowException as error:
        raise InputError(f"cannot be read as Parquet: {error}", where=path) from error


def row_groups(path: str, size: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Runs of row groups of about `size` bytes: their numbers from and to, the first row, 0, a sum.

    A file without rows is one run of none.
    """
    with files.open_bytes(path) as stream:
        total = zlib.crc32(_footer(stream, path))
        known = _opened(stream, path).metadata
    first = weight = count = 0
    row = 1
    for number in range(known.num_row_groups):
        group = known.row_group(number)
        count += group.num_rows
        weight += group.total_byte_size
        if weight >= size or number + 1 == known.num_row_groups:
            yield first, number + 1, row, 0, total
            first, row, weight, count = number + 1, row + count, 0, 0
    if not known.num_row_groups:
        yield 0, 0, 1, 0, total


def rows(path: str, start: int, end: int) -> Iterator[dict[str, Any]]:
    """The rows of some row groups, a batch in memory at a time."""
    with files.open_bytes(path) as stream:
        table = _opened(stream, path)
        try:
            for batch in table.iter_batches(BATCH, row_groups=range(start, end)):
                yield from batch.to_pylist()
        except _module().ArrowException as error:
            raise InputError(f"cannot be read as Parquet: {error}", where=path) from error


# ---------------------------------------------------------------- writing


def schema() -> Any:
    """The Arrow schema of parsed sentences, a row each.

    >>> schema().names[:6]
    ['id', 'file', 'line', 'sentence', 'start', 'end']
    """
    pa = _module()
    text, number, place, share = pa.string(), pa.int32(), pa.int64(), pa.float32()
    span = {"left": number, "right": number}
    split = {"left": number, "split": number, "right": number, "relation": text}
    return pa.schema(
        {
            "id": text,
            "file": text,
            "line": place,
            "sentence": number,
            "start": place,
            "end": place,
            "byte": place,
            "text": text,
            "tokens": pa.list_(text),
            "offsets": pa.list_(pa.struct({"start": place, "end": place})),
            "tags": pa.list_(text),
            "syntax": text,
            "syntax_log_prob": share,
            "syntax_probability": share,
            "nodes": pa.list_(pa.struct({"label": text, **span})),
            "edus": pa.list_(text),
            "discourse": pa.list_(pa.struct({**split, "nuclearity": text, "probability": share})),
            "discourse_log_prob": share,
            "discourse_probability": share,
            "error": text,
            "source": text,
        }
    )


def to_row(sentence: Sentence) -> dict[str, Any]:
    """A sentence that has the `id`, `byte` and `source` of a corpus among its fields, as a row.

    >>> from cleft.sentence import Sentence
    >>> row = to_row(Sentence(text="So", fields={"id": "a.txt:3:1", "byte": 20}))
    >>> row["file"], row["line"], row["source"]
    ('a.txt', 3, None)
    """
    fields, syntax = sentence.fields, sentence.syntax
    file, line, count = str(fields["id"]).rsplit(":", 2)
    source = fields.get("source")
    return {
        **sentence.to_record(),
        "id": fields["id"],
        "file": file,
        "line": int(line),
        "sentence": int(count),
        "byte": fields.get("byte"),
        "offsets": [{"start": token.start, "end": token.end} for token in sentence.tokens],
        "nodes": None
        if syntax is None
        else [
            {"label": node.label, "left": span.left, "right": span.right}
            for span, node in syntax.spans()
            if node.word is None
        ],
        "source": None if source is None else dump_json(source),
    }


class Table:
    """A Parquet file that is written as rows come; what has no UTF-8 in them is replaced."""

    def __init__(self, stream: IO[bytes], compress: str) -> None:
        self._schema = schema()
        self._writer = _module("pyarrow.parquet").ParquetWriter(
            stream, self._schema, compression=compress.upper()
        )

    def write(self, sentences: Iterable[Sentence]) -> None:
        """Add a row group."""
        make, found = _module().Table.from_pylist, [to_row(each) for each in sentences]
        try:
            table = make(found, self._schema)
        except UnicodeEncodeError:  # half a surrogate pair: of an escape in JSON, of a file's name
            table = make(_mended(found), self._schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Write the footer, without which it is no file."""
        self._writer.close()


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_mended(each) for each in value]
    if isinstance(value, dict):
        return {key: _mended(each) for key, each in value.items()}
    return value
