"""rs3 and rs4, the XML of RSTTool and rstWeb: read and written.

rs4 is rs3 with secondary edges and signals beside the tree; one reader reads
both. What is read and how: docs/formats-rst.md.
"""

from __future__ import annotations

from cleft import files
from cleft.formats.rs3_read import document_from
from cleft.formats.rs3_write import write_rs3, write_rs4
from cleft.formats.rs3_xml import parse
from cleft.formats.rst import RstDocument

__all__ = ["read_rs3", "write_rs3", "write_rs4"]


def read_rs3(path: files.Readable) -> RstDocument:
    """The document of an rs3 or rs4 file."""
    return document_from(parse(files.lines(path), files.source_name(path)))
