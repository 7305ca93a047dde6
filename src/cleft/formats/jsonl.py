"""JSON Lines: cleft's own lossless format for both tasks; one sentence a line.

A line of this format has the key `cleft` with the format's version, `tokens`, and
`syntax`, `discourse` or both; docs/formats.md has the schema. It is flat, so
that a deep tree needs no deep JSON. A document is a line whose trees are over all
its tokens, with its `sentences` beside them. A line without the key `cleft` but
with `splits`, as discourse corpora come, is read too.
"""

from __future__ import annotations

import itertools
import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TextIO

from cleft import files
from cleft.discourse import DiscourseTree, Edu
from cleft.errors import CleftError, FormatError, InputError, Place, TreeFormatError
from cleft.formats.json_values import (
    add_evidence,
    as_list,
    as_object,
    as_row,
    as_span,
    as_strings,
    dump_json,
    load_json,
    nest,
    read_evidence,
)
from cleft.formats.rst import text_tokens
from cleft.sentence import TreesByTask
from cleft.span import Span, Split
from cleft.tasks import DISCOURSE, Derivation, split_relation, task_names
from cleft.tree import Tree

__all__ = [
    "VERSION", "Record", "discourse_data", "format_record", "parse_record", "read_jsonl",
    "record_data", "record_of", "syntax_data", "tree_data", "write_jsonl",
]  # fmt: skip

VERSION = 1
OWN_KEYS = ("cleft", "tokens", "error")
CORPUS_KEYS = ("tokens", "edus", "splits", "splits_fine", "tree", "sents", "forest")

Relations = Literal["coarse", "fine"]
"""Which relation names to take where a corpus gives both."""


@dataclass(frozen=True, slots=True, init=False)
class Record(TreesByTask):
    """One line: a sentence with its trees by task, or with the error that stands in their place.

    `fields` holds whatever else the line has (a document's name, the raw text)
    and is written back as it is. `left_out` names what was not read.

    >>> record = Record(syntax=Tree.from_brackets("(NP (DT the) (NN cat))"))
    >>> record.tokens, record.task
    (('the', 'cat'), 'syntax')
    """

    tokens: tuple[str, ...]
    trees: Mapping[str, Tree | DiscourseTree]
    error: str | None
    fields: Mapping[str, Any]
    left_out: str

    def __init__(
        self,
        *,
        tokens: tuple[str, ...] = (),
        trees: Mapping[str, Tree | DiscourseTree] | None = None,
        syntax: Tree | None = None,
        discourse: DiscourseTree | None = None,
        error: str | None = None,
        fields: Mapping[str, Any] | None = None,
        left_out: str = "",
    ) -> None:
        """Make a record; `syntax` and `discourse` are trees of these tasks."""
        named = {"syntax": syntax, "discourse": discourse, **(trees or {})}
        known = {task: tree for task, tree in named.items() if tree is not None}
        put = object.__setattr__
        # Else the words of the first tree that has them.
        put(self, "tokens", tokens or next(filter(None, map(_words_of, known.values())), ()))
        put(self, "trees", known)
        put(self, "error", error)
        put(self, "fields", {} if fields is None else fields)
        put(self, "left_out", left_out)

    @property
    def sentence_ends(self) -> tuple[int, ...]:
        """Where the sentences of a document end, in its tokens; none for a sentence."""
        rows = self.fields.get("sentences")
        if rows is None:
            return ()
        counts = [_sentence_size(row) for row in as_list(rows, "sentences")]
        if sum(counts) != len(self.tokens):
            raise FormatError(
                f"{len(self.tokens)} tokens, but the sentences have {sum(counts)}",
                hint="give every token to one sentence",
            )
        return tuple(itertools.accumulate(counts))

    @property
    def task(self) -> str | None:
        """The task of the only tree, `both` where there are several, or None without a tree."""
        if len(self.trees) > 1:
            return "both"
        return next(iter(self.trees), None)

    @property
    def tree(self) -> Tree | DiscourseTree | None:
        """The tree; the syntactic one where there are several."""
        return next(iter(self.trees.values()), None)


def _sentence_size(row: object) -> int:
    return len(as_strings(as_object(row, "sentences").get("tokens", []), "tokens"))


def _words_of(tree: Tree | DiscourseTree) -> tuple[str, ...]:
    if isinstance(tree, Tree):
        return tuple(tree.words())
    words: list[str] = []
    for edu in tree.edus:
        parts = text_tokens(edu.text)
        if len(parts) != edu.span.width:
            return ()
        words += parts
    return tuple(words)


# ---------------------------------------------------------------- writing


def write_jsonl(records: Iterable[Record], stream: TextIO) -> None:
    """Write records, one a line."""
    for record in records:
        stream.write(format_record(record) + "\n")


def format_record(record: Record, *, compact: bool = False) -> str:
    """One record on one line.

    In the compact form there are no spaces, a tree has its own probability and
    not those of its nodes, and no offsets are written: tokens stand in `text`
    in order, with nothing but white space between them, so a reader has these
    and the texts of EDUs again.

    >>> print(format_record(Record(syntax=Tree.from_brackets("(NP (NN rain))"))))
    {"cleft": 1, "tokens": ["rain"], "syntax": {"tags": ["NN"], "nodes": [["NP", 0, 1]]}}
    """
    data = {"cleft": VERSION, **record_data(record, compact=compact)}
    return dump_json(data, (",", ":")) if compact else dump_json(data)


def record_data(record: Record, *, compact: bool = False) -> dict[str, Any]:
    """A record as plain data, without the format's version."""
    data: dict[str, Any] = {"tokens": list(record.tokens)}
    for task, tree in record.trees.items():
        data[task] = _compact_data(tree) if compact else tree_data(tree, record.tokens)
    if record.error is not None:
        data["error"] = record.error
    for key, value in record.fields.items():
        data.setdefault(key, value)
    return data


def _compact_data(tree: Tree | DiscourseTree) -> dict[str, Any]:
    data = _shape(tree)
    if tree.log_prob is not None:
        data["log_prob"] = round(tree.log_prob, 4) + 0.0  # no -0.0
    if tree.tree_probability is not None:
        data["probability"] = round(tree.tree_probability, 4)
    return data


def _shape(tree: Tree | DiscourseTree) -> dict[str, Any]:
    """A tree without what is known of its nodes."""
    if isinstance(tree, Tree):
        return _phrases(tree)
    inner = [
        [*span, node.nuclearity, list(node.relations)]
        for span, node in tree.spans()
        if node.children
    ]
    return {"edus": [list(edu.span) for edu in tree.edus], "nodes": inner}


def _phrases(tree: Tree) -> dict[str, Any]:
    """Tags, and phrases in preorder, by one walk: a corpus run does this for every tree."""
    tags: list[str] = []
    nodes: list[list[Any]] = []
    stack: list[Tree | list[Any]] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, list):  # the row of a phrase whose words have all been met
            node.append(len(tags))
        elif node.word is not None:
            tags.append(node.label)
        else:
            nodes.append([node.label, len(tags)])
            stack.append(nodes[-1])
            stack.extend(node.children[::-1])
    return {"tags": tags, "nodes": nodes}


def syntax_data(tree: Tree) -> dict[str, Any]:
    """A tree as a record holds it under `syntax`.

    >>> syntax_data(Tree.from_brackets("(NP (NN rain))"))
    {'tags': ['NN'], 'nodes': [['NP', 0, 1]]}
    """
    data, nodes = _shape(tree), tree.preorder()
    add_evidence(data, [node.evidence for node in nodes if node.word is None])
    add_evidence(data, [node.evidence for node in nodes if node.word is not None], "tag_evidence")
    return data


def discourse_data(tree: DiscourseTree, tokens: Sequence[str]) -> dict[str, Any]:
    """A tree over these tokens as a record holds it under `discourse`.

    >>> discourse_data(DiscourseTree.leaf(Edu("It rained", Span(0, 2))), ["It", "rained"])
    {'edus': [[0, 2]], 'nodes': []}
    """
    data, edus = _shape(tree), tree.edus
    if any(edu.text != " ".join(tokens[slice(*edu.span)]) for edu in edus):
        data["texts"] = [edu.text for edu in edus]
    if any(edu.start is not None for edu in edus):
        data["characters"] = [[edu.start, edu.end] for edu in edus]
    add_evidence(data, [node.evidence for node in tree.preorder() if node.children])
    add_evidence(data, [leaf.evidence for leaf in tree.preorder() if leaf.edu], "edu_evidence")
    return data


# ---------------------------------------------------------------- reading


def read_jsonl(path: files.Readable, relations: Relations = "coarse") -> Iterator[Record]:
    """The records of a file, one at a time; blank lines are passed over.

    `relations` says which names to take from a corpus that gives both.
    """
    name = files.source_name(path)
    empty = True
    for number, line in enumerate(files.lines(path), start=1):
        if line.strip():
            empty = False
            yield parse_record(line, Place(name, number), relations)
    if empty:
        raise InputError("expected at least one line of JSON, found none", where=name)


def parse_record(line: str, where: str | Place = "line", relations: Relations = "coarse") -> Record:
    """One record from one line.

    >>> parse_record('{"tokens": ["a", "b"], "edus": [[0, 2]], "splits": []}').discourse
    <DiscourseTree: 1 EDUs, no relation>
    """
    try:
        data = load_json(line.rstrip("\r\n"))  # an error at the end is told on this line
    except ValueError as error:
        column = getattr(error, "colno", None)
        place = Place(where.name, where.line, column) if isinstance(where, Place) else where
        reason = getattr(error, "msg", str(error))
        raise FormatError(f"not JSON: {reason}", where=place, hint="one object a line") from error
    except RecursionError as error:
        raise FormatError("JSON nested too deeply", where=where) from error
    if not isinstance(data, dict):
        raise FormatError(
            f"expected a JSON object, found {type(data).__name__}", where=where, hint="use {…}"
        )
    try:
        return _own_record(data) if "cleft" in data else _corpus_record(data, relations)
    except CleftError as error:
        raise TreeFormatError(error.problem, where=where, hint=error.hint) from error
    except RecursionError as error:
        raise FormatError("JSON nested too deeply", where=where) from error


def _own_record(data: dict[str, Any]) -> Record:
    version = data["cleft"]
    if version != VERSION:
        raise FormatError(
            f"expected format version {VERSION}, found {reprlib.repr(version)}",
            hint="it was written by another release of cleft; convert it there or update",
        )
    return record_of(data)


def record_of(data: dict[str, Any]) -> Record:
    """The record that `record_data` made data of."""
    tokens = as_strings(data.get("tokens", []), "tokens")
    places = _places(data, tokens)
    error = data.get("error")
    if error is not None and not isinstance(error, str):
        raise FormatError(f"'error': expected a string, found {reprlib.repr(error)}")
    return Record(
        tokens=tokens,
        trees={
            task: _read_tree({**as_object(data[task], task), **places}, tokens)
            for task in task_names()
            if data.get(task) is not None
        },
        error=error,
        fields={k: value for k, value in data.items() if k not in (*OWN_KEYS, *task_names())},
    )


def _places(data: dict[str, Any], tokens: tuple[str, ...]) -> dict[str, Any]:
    """What a compact line leaves out: the text, and where its tokens stand in it."""
    text, start = data.get("text"), data.get("start")
    if "offsets" in data or not isinstance(text, str) or type(start) is not int or not tokens:
        return {}
    from cleft.text.readers import align

    try:
        found = [(token.start, token.end) for token in align(text, tokens)]
    except FormatError:  # a line of somebody else, whose tokens are no slices of its text
        return {}
    data["offsets"] = [[left + start, right + start] for left, right in found]
    return {"text": text, "start": start, "places": found}


def tree_data(tree: Tree | DiscourseTree, tokens: Sequence[str]) -> dict[str, Any]:
    """A tree as the plain data of a line."""
    return syntax_data(tree) if isinstance(tree, Tree) else discourse_data(tree, tokens)


def _read_tree(data: dict[str, Any], tokens: tuple[str, ...]) -> Tree | DiscourseTree:
    """The tree of a line; only discourse trees have EDUs."""
    return _read_discourse(data, tokens) if "edus" in data else _read_syntax(data, tokens)


def _read_syntax(data: dict[str, Any], tokens: tuple[str, ...]) -> Tree:
    tags = as_strings(data.get("tags", []), "tags")
    if len(tags) != len(tokens) or not tokens:
        raise FormatError(f"{len(tokens)} tokens but {len(tags)} tags", hint="give one tag a token")
    rows = as_list(data.get("nodes", []), "nodes")
    evidence = read_evidence(data, "evidence", len(rows))
    tag_evidence = read_evidence(data, "tag_evidence", len(tokens))
    leaves = [
        (Span(index, index + 1), Tree(tag, (), word, found))
        for index, (tag, word, found) in enumerate(zip(tags, tokens, tag_evidence, strict=True))
    ]
    nodes = []
    for row, found in zip(rows, evidence, strict=True):
        label, left, right = as_row(row, 3)
        if not isinstance(label, str):
            raise FormatError(f"'nodes': expected a label, found {reprlib.repr(label)}")
        nodes.append((as_span(left, right), (label, found)))
    return nest(nodes, leaves, lambda data, children: Tree(data[0], children, None, data[1]))


def _read_discourse(data: dict[str, Any], tokens: tuple[str, ...]) -> DiscourseTree:
    rows = as_list(data.get("nodes", []), "nodes")
    evidence = read_evidence(data, "evidence", len(rows))
    edus = _read_edus(data, tokens)
    found = read_evidence(data, "edu_evidence", len(edus))
    leaves = [
        (edu.span, DiscourseTree(edu=edu, evidence=each))
        for edu, each in zip(edus, found, strict=True)
    ]
    nodes = []
    for row, own in zip(rows, evidence, strict=True):
        left, right, nuclearity, relations = as_row(row, 4)
        names = as_strings(relations, "nodes")
        if not isinstance(nuclearity, str):
            raise FormatError(f"'nodes': expected a nuclearity, found {reprlib.repr(nuclearity)}")
        nodes.append((as_span(left, right), (nuclearity, names, own)))
    return nest(
        nodes,
        leaves,
        lambda data, children: DiscourseTree(children, data[0], data[1], None, data[2]),
    )


def _placed(span: Span, data: dict[str, Any]) -> Edu:
    left, right = data["places"][span.left][0], data["places"][span.right - 1][1]
    text = re.sub(r"\s+", " ", data["text"][left:right])
    return Edu(text, span, data["start"] + left, data["start"] + right)


def _read_edus(data: dict[str, Any], tokens: tuple[str, ...]) -> list[Edu]:
    spans = [as_span(*as_row(row, 2)) for row in as_list(data.get("edus", []), "edus")]
    texts, found = data.get("texts"), data.get("places")
    if found and "characters" not in data and texts is None and spans[-1].right <= len(found):
        return [_placed(span, data) for span in spans]
    if texts is None:
        texts = [" ".join(tokens[slice(*span)]) for span in spans]
    places = data.get("characters") or [(None, None)] * len(spans)
    if not len(as_strings(texts, "texts")) == len(as_list(places, "characters")) == len(spans):
        raise FormatError("'edus', 'texts' and 'characters' differ in length")
    edus = []
    for span, text, place in zip(spans, texts, places, strict=True):
        start, end = as_row(place, 2)
        if not all(value is None or isinstance(value, int) for value in (start, end)):
            raise FormatError(f"'characters': expected two numbers, found {reprlib.repr(place)}")
        edus.append(Edu(text, span, start, end))
    if not edus or edus[0].span.left != 0 or (tokens and edus[-1].span.right != len(tokens)):
        raise FormatError("the EDUs don't cover all tokens", hint="begin at 0, end at the last")
    for one, two in itertools.pairwise(edus):
        if one.span.right != two.span.left:
            raise FormatError(f"EDU {list(two.span)} does not start where {list(one.span)} ends")
    return edus


def _corpus_record(data: dict[str, Any], relations: Relations) -> Record:
    """A line of a discourse corpus, a sentence or a document: tokens, EDUs and splits."""
    if "sents" in data:
        data = _corpus_document(data, relations)
    key = "splits_fine" if relations == "fine" and "splits_fine" in data else "splits"
    if key not in data:
        raise FormatError(
            "expected the key 'cleft' (our own format) or 'splits' (a discourse corpus), found "
            + (", ".join(map(repr, data)) or "no key"),
            hint="see docs/formats.md",
        )
    tokens = as_strings(data.get("tokens", []), "tokens")
    edus = [as_span(*as_row(row, 2)) for row in as_list(data.get("edus", []), "edus")]
    length = len(tokens) or (edus[-1].right if edus else 0)
    if not length:
        raise FormatError("neither tokens nor EDUs", hint="give 'tokens'")
    words = tokens or ("",) * length
    tree = DISCOURSE.build(_derivation(length, as_list(data[key], key)), words)
    found = [edu.span for edu in tree.edus]
    if edus and edus != found:
        wrong = next((a for a, b in zip(edus, found, strict=False) if a != b), edus[-1])
        raise FormatError(f"EDU {list(wrong)} does not follow from the splits")
    fields = {key: value for key, value in data.items() if key not in CORPUS_KEYS}
    other = "coarse" if key == "splits_fine" else "fine"
    both = "splits" in data and "splits_fine" in data
    left_out = f"{other} relations" if both else ""
    return Record(tokens=tokens, discourse=tree, fields=fields, left_out=left_out)


def _corpus_document(data: dict[str, Any], relations: Relations) -> dict[str, Any]:
    """A line of documents as one of sentences: their tokens together, coarse names beside fine."""
    from cleft.relations import matching_classes

    rows = [as_object(row, "sents") for row in as_list(data["sents"], "sents")]
    parts = [as_strings(row.get("tokens", []), "tokens") for row in rows]
    found = {
        **data,
        "tokens": [token for part in parts for token in part],
        "sentences": [
            {name: row[name] for name in ("id", "tokens", "text") if name in row} for row in rows
        ],
        "paragraphs": [k for k, row in enumerate(rows) if not k or row.get("newpar")],
    }
    if "splits" not in data and "splits_fine" in data and relations == "coarse":
        fine = [as_row(row, 4) for row in as_list(data["splits_fine"], "splits_fine")]
        labels = [split_relation(label if isinstance(label, str) else "") for *_, label in fine]
        classes = matching_classes(name for name, _ in labels)
        found["splits"] = [
            [*row[:3], f"{classes.coarse(name)}_{letters}"]
            for row, (name, letters) in zip(fine, labels, strict=True)
        ]
        del found["splits_fine"]
    return found


def _derivation(length: int, rows: list[Any]) -> Derivation:
    """Splits without stops, in any order, as the decisions of a decoder."""
    known: dict[Span, tuple[int, str]] = {}
    for row in rows:
        left, at, right, label = as_row(row, 4)
        if not isinstance(at, int) or not isinstance(label, str):
            raise FormatError(f"expected [left, split, right, label], found {reprlib.repr(row)}")
        span = as_span(left, right)
        if span in known or not span.left < at < span.right or not label:
            why = "is given twice" if span in known else "is no split of that span with a label"
            raise FormatError(f"{reprlib.repr(row)} {why}")
        known[span] = (at, label)
    splits, labels, stack = [], [], [Span(0, length)]
    while stack:
        span = stack.pop()
        at, label = known.pop(span, (span.right, ""))
        if span.width > 1:
            splits.append(Split(span.left, at, span.right))
        if label and span.left < at < span.right:
            labels.append(label)
            stack.extend(reversed(span.at(at)))
    if known:
        raise FormatError(f"split of {list(next(iter(known)))} is not reached from the whole span")
    return Derivation(length=length, splits=tuple(splits), labels=tuple(labels))
