"""Conversion of a file of trees to another format of the same task.

`convert` returns a list of messages that says what the target format could not
hold.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cleft import files
from cleft.errors import LossError, UsageError
from cleft.formats.registry import DocumentFormat, Format, format_of, records_of
from cleft.formats.rst import losses

if TYPE_CHECKING:
    from cleft.formats.cleaning import Cleaning
    from cleft.formats.jsonl import Relations

__all__ = ["convert"]


def convert(
    source: str | Path,
    target: str | Path,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    clean: Cleaning | None = None,
    relations: Relations = "fine",
    strict: bool = False,
) -> list[str]:
    """Convert a file, formats by ending unless named; return what was lost.

    With `strict` a loss is an error, and no file is written.
    """
    old, new = format_of(source, source_format), format_of(target, target_format)
    if not new.writes:
        raise UsageError(f"{new.name} can be read but not written", hint="choose another format")
    if not set(old.tasks) & set(new.tasks):
        raise UsageError(
            f"{old.name} holds {_tasks(old)}, {new.name} holds {_tasks(new)}",
            hint="convert between formats of one task",
        )
    if clean is not None and old.name != "brackets":
        raise UsageError(f"cleaning is for brackets, and {source} is {old.name}")
    name = files.source_name(source)
    with files.writing(target) as stream:
        if isinstance(new, DocumentFormat):
            lost = new.write_document(old.document(source, relations), stream)
        elif isinstance(old, DocumentFormat):
            document = old.document(source)
            lost = [*losses(document, "jsonl"), *new.write(records_of(document), stream, name)]
        else:
            records = old.records(source, clean=clean, relations=relations)
            lost = new.write(records, stream, name)
        if strict and lost:
            # Raised inside the block, so that the file does not appear.
            raise LossError("; ".join(lost), where=str(target), hint="convert without --strict")
    return lost


def _tasks(found: Format) -> str:
    return found.tasks[0] if len(found.tasks) == 1 else "both tasks"
