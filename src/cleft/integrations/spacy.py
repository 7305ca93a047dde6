"""A spaCy component: cleft's trees on the spans of a Doc.

`nlp.add_pipe("cleft")` parses the sentences that the pipeline has found, over
spaCy's own tokens. Results are plain data in `doc.user_data`, one entry a
sentence, so they are kept wherever a Doc is, and move with the sentence into
other Docs; the extensions below read them. The names that users of benepar
know mean the same here:

- `span._.parse_string`, `.labels`, `.constituents`, `.parent`, `.children`,
  and on a token `.labels`, `.parse_string`, `.parent`
- `span._.cleft_syntax`, `.cleft_discourse`: a Tree, a DiscourseTree, or None
- `span._.cleft_probability`: that the span is a constituent of its labels
- `span._.cleft_edus`, `.cleft_error`; and lists of each on a Doc, a sentence an entry
- `doc._.rst`: a Document with one discourse tree over all sentences, if the setting
  `document` asks for it, else None

White space tokens have no part in a tree. docs/spacy.md shows how it is used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span, Token

from cleft.discourse import DiscourseTree
from cleft.document import Document, moved
from cleft.documents import DocumentInput
from cleft.errors import CleftError, FormatError, UsageError
from cleft.formats.jsonl import Record, format_record
from cleft.integrations.spacy_spans import SpanGetters, keep, sentences_of, words_of
from cleft.parser import Parser, load
from cleft.sentence import Sentence, SentenceInput
from cleft.text import Token as Place

__all__ = ["Cleft", "make_cleft"]

SETTINGS = {"model": "en", "task": "both", "beam": 1, "batch_size": 256, "document": False}
RST = "cleft.rst"
"""Where a Doc keeps its document, as a line of JSON."""
BLANK = re.compile(r"\n[^\S\n]*\n")
FILE = "cleft.json"


@Language.factory("cleft", default_config=SETTINGS, requires=["doc.sents"])
def make_cleft(
    nlp: Language, name: str, model: str, task: str, beam: int, batch_size: int, document: bool
) -> Cleft:
    """What `nlp.add_pipe("cleft", config={…})` calls."""
    return Cleft(name, model=model, task=task, beam=beam, batch_size=batch_size, document=document)


class Cleft(Pipe):
    """The component. It is its settings and a parser, which is never written out.

    `model` is a built-in model or a directory, `task` syntax, discourse or both,
    `batch_size` how many sentences are parsed at once. With `document` each Doc
    has one discourse tree over it, too.
    """

    def __init__(
        self,
        name: str = "cleft",
        *,
        model: str = "en",
        task: str = "both",
        beam: int = 1,
        batch_size: int = 256,
        document: bool = False,
    ) -> None:
        self.name = name
        settings = {"model": model, "task": task, "beam": beam, "batch_size": batch_size}
        self._set({**settings, "document": document})

    def _set(self, settings: dict[str, Any]) -> None:
        """Take settings over and load their parser; a wrong one is refused here."""
        if settings["batch_size"] < 1:
            raise UsageError(
                f"batch_size is {settings['batch_size']}, expected 1 or more",
                where=f"the pipe {self.name!r}",
            )
        parser = load(settings["model"])
        # It checks them.
        parser.stream(
            [], task=settings["task"], beam=settings["beam"], document=settings["document"]
        )
        self.settings = settings
        self.parser: Parser = parser

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process loads the model by itself.
        return _rebuild, (self.name, self.settings)

    # ------------------------------------------------------------ parsing

    def __call__(self, doc: Doc) -> Doc:
        """Parse the sentences of one Doc."""
        error_handler = self.get_error_handler()
        try:
            self._annotate([doc], self._inputs(doc))
        except CleftError as error:
            error_handler(self.name, self, [doc], error)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 1000) -> Iterator[Doc]:
        """Parse Docs as they come, in order: many sentences at once, but few Docs in hand."""
        error_handler = self.get_error_handler()
        docs: list[Doc] = []
        inputs: list[SentenceInput] = []
        for doc in stream:
            try:
                inputs += self._inputs(doc)
            except CleftError as error:
                error_handler(self.name, self, [doc], error)
                continue
            docs.append(doc)
            if len(docs) >= batch_size or len(inputs) >= self.settings["batch_size"]:
                yield from self._annotate(docs, inputs)
                docs, inputs = [], []
        yield from self._annotate(docs, inputs)

    def _inputs(self, doc: Doc) -> list[SentenceInput]:
        """The sentences of a Doc, with the tags they have."""
        if not doc.has_annotation("SENT_START"):
            raise UsageError(
                "the Doc has no sentence boundaries",
                where=f"the pipe {self.name!r}",
                hint="add 'sentencizer', 'senter' or 'parser' to the pipeline before it",
            )
        tagged = doc.has_annotation("TAG", require_complete=True)
        return [_input(sentence, tagged=tagged) for sentence in doc.sents]

    def _annotate(self, docs: list[Doc], inputs: list[SentenceInput]) -> list[Doc]:
        settings = self.settings
        options = {"task": settings["task"], "beam": settings["beam"]}
        if settings["document"]:
            waiting = iter(inputs)
            items = [_document_input([next(waiting) for _ in doc.sents], doc) for doc in docs]
            found = list(self.parser.stream(items, **options, document=True))
            for doc, document in zip(docs, found, strict=True):
                doc.user_data[RST] = _in_place(document, doc).to_jsonl()
            every = (one for document in found for one in document.sentences)
            results = iter([moved(one, -one.start) for one in every])
        else:
            results = self.parser.stream(inputs, **options)
        for doc in docs:
            keep(doc, [(sentence, _record(sentence, next(results))) for sentence in doc.sents])
        return docs

    # ------------------------------------------------------------ serialisation

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The settings; the model stays where it is."""
        return json.dumps(self.settings).encode("utf-8")

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Cleft:
        """Take over the settings that `to_bytes` gave."""
        try:
            settings = json.loads(data)
        except ValueError as error:
            raise _no_settings(f"not JSON: {error}") from error
        if not isinstance(settings, dict) or settings.keys() != SETTINGS.keys():
            raise _no_settings(f"found {settings!r}")
        self._set(settings)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the settings into a directory; the model stays where it is."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Cleft:
        """Take over the settings that `to_disk` wrote."""
        return self.from_bytes((Path(path) / FILE).read_bytes())


def _rebuild(name: str, settings: dict[str, Any]) -> Cleft:
    return Cleft(name, **settings)


def _no_settings(found: str) -> FormatError:
    return FormatError(
        f"expected the settings {', '.join(SETTINGS)} of a pipe; {found[:80]}",
        hint="write the pipeline again",
    )


def _input(sentence: Span, *, tagged: bool) -> SentenceInput:
    """A sentence whose offsets count from its own beginning: it may go to another Doc."""
    words = words_of(sentence)
    start = sentence.start_char
    return SentenceInput(
        text=sentence.text,
        tokens=tuple(
            Place(token.text, token.idx - start, token.idx - start + len(token)) for token in words
        ),
        tags=tuple(token.tag_ for token in words) if tagged else None,
    )


def _document_input(inputs: list[SentenceInput], doc: Doc) -> DocumentInput:
    """The sentences of a Doc; a blank line in its text begins a paragraph."""
    starts, end = [0], 0
    for number, sentence in enumerate(doc.sents):
        words = words_of(sentence)
        start = words[0].idx if words else sentence.start_char
        if number and BLANK.search(doc.text, end, start):
            starts.append(number)
        end = words[-1].idx + len(words[-1]) if words else end
    return DocumentInput(inputs, paragraphs=starts)


def _in_place(found: Document, doc: Doc) -> Document:
    """A document whose offsets are those of the Doc's text."""
    rows = [
        moved(each, sentence.start_char - each.start)
        for each, sentence in zip(found.sentences, doc.sents, strict=True)
    ]
    over = found.parses[0].tree if found.parses else None
    assert over is None or isinstance(over, DiscourseTree)
    return Document.of(rows, over, text=doc.text, paragraphs=found.paragraphs, error=found.error)


def _rst(doc: Doc) -> Document | None:
    line = doc.user_data.get(RST)
    found = None if line is None else Document.from_jsonl(line)
    # A Doc made of a part of another brings that one's tree along.
    return found if found is not None and found.text == doc.text else None


def _record(sentence: Span, result: Sentence) -> str:
    """A sentence's result as a line of JSON, which every serialiser knows."""
    record = Record(
        tokens=tuple(token.text for token in words_of(sentence)),
        syntax=result.syntax,
        discourse=result.discourse,
        error=None if result.error is None else _told(result.error),
    )
    return format_record(record)


def _told(error: CleftError) -> str:
    """An error without its place: the span that carries it is the place."""
    return f"{error.problem}; {error.hint}" if error.hint else error.problem


def _install() -> None:
    """Add the extensions; one that another library has under the same name gives way."""
    for name in ("parse_string", "labels", "constituents", "parent", "children"):
        Span.set_extension(name, getter=getattr(SpanGetters, name), force=True)
    for name in ("parse_string", "labels", "parent"):
        getter = getattr(SpanGetters, name)
        Token.set_extension(name, getter=_of_token(getter), force=True)
    Doc.set_extension("rst", getter=_rst, force=True)
    Span.set_extension("cleft_probability", getter=SpanGetters.cleft_probability, force=True)
    for name in ("cleft_syntax", "cleft_discourse", "cleft_edus", "cleft_error"):
        getter = getattr(SpanGetters, name)
        Span.set_extension(name, getter=getter, force=True)
        Doc.set_extension(name, getter=_of_doc(getter), force=True)


def _of_token(getter: Any) -> Any:
    return lambda token: getter(token.doc[token.i : token.i + 1])


def _of_doc(getter: Any) -> Any:
    return lambda doc: [getter(doc[found.start : found.end]) for found in sentences_of(doc)]


_install()
