"""rs3 files written short, and trees as text, for the tests of rs3 and rs4."""

import io
from pathlib import Path

from cleft.discourse import DiscourseTree
from cleft.formats.rs3 import read_rs3, write_rs3, write_rs4
from cleft.formats.rst import RstDocument, make_edu

RELATIONS = """
    <rel name="cause" type="rst"/><rel name="purpose" type="rst"/>
    <rel name="list" type="multinuc"/><rel name="contrast" type="multinuc"/>
    <rel name="restate" type="rst"/><rel name="restate" type="multinuc"/>
"""


def rs3(body: str, relations: str = RELATIONS, extra: str = "") -> str:
    return (
        f"<rst>\n<header><relations>{relations}</relations>{extra}</header>\n"
        f"<body>\n{body}\n</body>\n</rst>\n"
    )


def read(tmp_path: Path, text: str | bytes) -> RstDocument:
    path = tmp_path / "doc.rs3"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_rs3(path)


def outline(tree: DiscourseTree) -> str:
    """A tree as text: each child with its letter and relation."""
    parts: list[str] = []
    stack: list[DiscourseTree | str] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            parts.append(node)
        elif node.edu is not None:
            parts.append(node.edu.text)
        else:
            stack.append(")")
            for child, letter, name in reversed(
                list(zip(node.children, node.nuclearity, node.relations, strict=True))
            ):
                stack += [child, f" {letter}:{name}="]
            stack.append("(")
    return "".join(parts)


def body(*rows: str) -> str:
    """Units written short: `id parent relname text` are segments, `id type …` groups."""
    lines = []
    for row in rows:
        key, parent, name, *rest = row.split(" ", 3)
        tie = f' parent="{parent}" relname="{name}"' if parent != "-" else ""
        if rest and rest[0] in ("<span>", "<multinuc>", "<constit>"):
            lines.append(f'<group id="{key}" type="{rest[0][1:-1]}"{tie}/>')
        else:
            lines.append(f'<segment id="{key}"{tie}>{" ".join(rest)}</segment>')
    return "\n".join(lines)


def trees(tmp_path: Path, *rows: str) -> list[str]:
    return [outline(tree) for tree in read(tmp_path, rs3(body(*rows))).trees]


def written(document: RstDocument, extended: bool = True) -> tuple[str, list[str]]:
    stream = io.StringIO()
    lost = (write_rs4 if extended else write_rs3)(document, stream)
    return stream.getvalue(), lost


def leaves(texts: str) -> list[DiscourseTree]:
    return [DiscourseTree.leaf(make_edu(text, i)) for i, text in enumerate(texts)]
