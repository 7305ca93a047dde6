"""The corpus as documents: a few cases together make one, through Python, the shell and HTTP."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cleft
from cleft import files
from cleft.document import Document
from cleft.formats.json_values import PAIR
from cleft.formats.rs3 import read_rs3, write_rs3
from cleft.formats.rst import RstDocument, as_text
from tests.torture.checks import Tally, cover_faults, error_faults, place_faults
from tests.torture.corpus import Case
from tests.torture.shell import Shell, is_text, raw

if TYPE_CHECKING:
    from tests.server.running import Running

__all__ = ["grouped", "through_api", "through_shell", "through_web"]

Item = str | list[list[str]]
SIZE = 4
"""Cases in a document."""


def grouped(cases: Sequence[Case]) -> list[tuple[str, Item]]:
    """Documents: texts as paragraphs of one, lists of tokens as its sentences."""
    texts = [case for case in cases if isinstance(case.content, str)]
    lists = [case for case in cases if isinstance(case.content, list)]
    found: list[tuple[str, Item]] = []
    for place in range(0, len(texts), SIZE):
        group = texts[place : place + SIZE]
        found.append((group[0].name, "\n\n".join(str(case.content) for case in group)))
    for place in range(0, len(lists), SIZE):
        group = lists[place : place + SIZE]
        found.append((group[0].name, [[*map(str, case.content)] for case in group]))
    return found


# ---------------------------------------------------------------- what must hold


def check_document(tally: Tally, name: str, item: Item, found: Document) -> None:
    """Count and check the result of one document."""
    tally.inputs += 1
    tally.sentences += len(found.sentences)
    if found.error is not None:
        tally.error(type(found.error).__name__)
        tally.fault(name, error_faults(found.error))
    if isinstance(item, str):
        if found.text != item:
            tally.fault(name, ["the text is not the one given"])
        if found.tokens:
            tally.fault(name, cover_faults(item, list(found.sentences)))
    elif len(found.sentences) != len(item):
        tally.fault(name, [f"{len(found.sentences)} results of {len(item)} sentences"])
    tally.fault(name, whole_faults(found))


def whole_faults(found: Document) -> Iterator[str]:
    """The tree has every token once, its EDUs the text of the source, sentences are subtrees."""
    for sentence in found.sentences:
        if sentence.tokens:
            yield from place_faults(found.text, sentence.tokens, sentence.start, sentence.end)
    if (found.tree is None) is not (not found.tokens):
        yield f"{len(found.tokens)} tokens, and the tree is {found.tree!r:.60}"
    if found.tree is None:
        return
    ends = [edu.span.right for edu in found.edus]
    if [edu.span.left for edu in found.edus] != [0, *ends[:-1]] or ends[-1] != len(found.tokens):
        yield "the EDUs are not the tokens"
    spans = {span for span, _ in found.tree.spans()}
    for number, sentence in enumerate(found.sentences):
        if sentence.tokens and found.span_of(number) not in spans:
            yield f"sentence {number} is no subtree"
    for edu in found.edus:
        if " ".join(found.text[edu.start : edu.end].split()) != edu.text:
            yield f"the EDU {edu.text!r:.60} is not the source at its place"
    if found.tree.log_prob is not None and not isfinite(found.tree.log_prob):
        yield f"the log-probability is {found.tree.log_prob}"
    if found.error is None and found.tree.children and found.tree.log_prob is None:
        yield "no log-probability"
    yield from written_faults(found)


def written_faults(found: Document) -> Iterator[str]:
    """JSON Lines and rs3 give it back."""
    assert found.tree is not None
    again = Document.from_jsonl(found.to_jsonl())
    if not PAIR.search(found.text) and (again.tree, again.tokens) != (found.tree, found.tokens):
        yield "JSON Lines read back differently"
    stream = io.StringIO()
    write_rs3(RstDocument.of([as_text(found.tree.debinarise())]), stream)
    (tree,) = read_rs3(files.Text("written.rs3", stream.getvalue())).trees
    if len(tree.edus) != len(found.edus):
        yield "rs3 read back differently"


# ---------------------------------------------------------------- doors


def through_api(cases: Sequence[Case], model: str | Path, *, every: int = 1) -> dict[str, Any]:
    """All documents as a stream; every so many of them alone, which must change nothing."""
    parser = cleft.load(model)
    items = grouped(cases)
    found = list(parser.stream([item for _, item in items], document=True))
    tally, alone = Tally(), Tally()
    if len(found) != len(items):
        tally.fault("the stream", [f"{len(found)} results of {len(items)} documents"])
    for place, ((name, item), document) in enumerate(zip(items, found, strict=False)):
        check_document(tally, name, item, document)
        if place % every == 0:
            given = {"text": item} if isinstance(item, str) else {"sentences": item}
            again = parser.parse_document(**given)  # type: ignore[arg-type]
            check_document(alone, name, item, again)
            if again.tree != document.tree:
                alone.fault(name, ["another tree than in the stream"])
    return {"stream of documents": vars(tally), "documents alone": vars(alone)}


def through_shell(cases: Sequence[Case], model: str | Path, folder: Path) -> dict[str, Any]:
    """A folder of documents to JSON Lines and to rs3: one file each, which can be read."""
    shell = Shell(model, folder)
    source = folder / "documents"
    source.mkdir()
    texts = [(name, item) for name, item in grouped(list(filter(is_text, cases)))]
    for name, item in texts:
        assert isinstance(item, str)
        (source / f"{name}.txt").write_bytes(raw(Case("whole", 0, item)))
    doors = {}
    for form in ("jsonl", "rs3"):
        doors[f"documents to {form}"] = tally = Tally()
        target = folder / f"documents-{form}"
        shell(tally, form, source, "--document", "--format", form, "-o", f"{target}/")
        for name, item in texts:
            path = target / f"{name}.{form}"
            if form == "jsonl":
                text = raw(Case("whole", 0, str(item))).removeprefix(b"\xef\xbb\xbf").decode()
                check_document(tally, name, text, Document.from_jsonl(path.read_text("utf-8")))
            elif path.exists():
                tally.inputs += 1
                tally.sentences += len(read_rs3(path).trees)
    return {name: vars(tally) for name, tally in doors.items()}


def through_web(cases: Sequence[Case], running: Running) -> dict[str, Any]:
    """A request for each document: a tree whose EDUs are the text, or a refusal in words."""
    from tests.torture.web import CODES, refusal_faults  # it needs what a server needs

    tally = Tally()
    for name, item in grouped(cases):
        tally.inputs += 1
        body = {"text": item} if isinstance(item, str) else {"tokens": item}
        answer = running.ask("POST", "/v1/document", body, timeout=3600)
        if answer.status in CODES:
            tally.error(answer.json["error"]["code"])
            tally.fault(name, refusal_faults(answer.json["error"]))
        elif answer.status != 200:
            tally.fault(name, [f"status {answer.status}: {answer.body[:200]!r}"])
        else:
            tally.sentences += len(answer.json["sentences"])
            tally.fault(name, answer_faults(answer.json))
    return {"documents": vars(tally)}


def answer_faults(data: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a document that a server gave."""
    if data["tree"] is None:
        if data["error"] is None:
            yield "neither tree nor error"
        return
    edus = data["tree"]["edus"]
    if [edu[0] for edu in edus] != [0, *(edu[1] for edu in edus[:-1])]:
        yield "the EDUs do not follow each other"
    if edus[-1][1] != len(data["tokens"]):
        yield "the EDUs do not cover the tokens"
    for text, (start, end) in zip(data["tree"]["texts"], data["tree"]["characters"], strict=True):
        if " ".join(data["text"][start:end].split()) != text:
            yield f"the EDU {text!r:.60} is not at its place"
