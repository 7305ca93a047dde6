"""A spaCy component: cleft's trees on the spans of a Doc.

`nlp.add_pipe("cleft")` parses the sentences that the pipeline has found, over
spaCy's own tokens. Results are plain data in `doc.user_data`, one entry a
sentence, so they are kept wherever a Doc is, and move with the sentence into
other Docs; the extensions below read them. The names that users of benepar
know mean the same here:

- `span._.parse_string`, `.labels`, `.constituents`, `.parent`, `.children`,
  and on a token `.labels`, `.parse_string`, `.parent`
- `span._.cleft_syntax`, `.cleft_discourse`: a Tree, a DiscourseTree, or None
- `span._.cleft_edus`, `.cleft_error`; and lists of each on a Doc, a sentence an entry

White space tokens have no part in a tree. docs/spacy.md shows how it is used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span, Token

from cleft.errors import CleftError, FormatError, UsageError
from cleft.formats.jsonl import Record, format_record
from cleft.integrations.spacy_spans import SpanGetters, keep, sentences_of, words_of
from cleft.parser import Parser, load
from cleft.sentence import Sentence, SentenceInput
from cleft.text import Token as Place

__all__ = ["Cleft", "make_cleft"]

SETTINGS = {"model": "en", "task": "both", "beam": 1, "batch_size": 256}
FILE = "cleft.json"


@Language.factory("cleft", default_config=SETTINGS, requires=["doc.sents"])
def make_cleft(
    nlp: Language, name: str, model: str, task: str, beam: int, batch_size: int
) -> Cleft:
    """What `nlp.add_pipe("cleft", config={…})` calls."""
    return Cleft(name, model=model, task=task, beam=beam, batch_size=batch_size)


class Cleft(Pipe):
    """The component. It is its settings and a parser, which is never written out.

    `model` is a built-in model or a directory, `task` syntax, discourse or both,
    `batch_size` how many sentences are parsed at once.
    """

    def __init__(
        self,
        name: str = "cleft",
        *,
        model: str = "en",
        task: str = "both",
        beam: int = 1,
        batch_size: int = 256,
    ) -> None:
        self.name = name
        self._set({"model": model, "task": task, "beam": beam, "batch_size": batch_size})

    def _set(self, settings: dict[str, Any]) -> None:
        """Take settings over and load their parser; a wrong one is refused here."""
        if settings["batch_size"] < 1:
            raise UsageError(
                f"batch_size is {settings['batch_size']}, expected 1 or more",
                where=f"the pipe {self.name!r}",
            )
        parser = load(settings["model"])
        parser.stream([], task=settings["task"], beam=settings["beam"])  # it checks both
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
        results = self.parser.stream(inputs, task=settings["task"], beam=settings["beam"])
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
    for name in ("cleft_syntax", "cleft_discourse", "cleft_edus", "cleft_error"):
        getter = getattr(SpanGetters, name)
        Span.set_extension(name, getter=getter, force=True)
        Doc.set_extension(name, getter=_of_doc(getter), force=True)


def _of_token(getter: Any) -> Any:
    return lambda token: getter(token.doc[token.i : token.i + 1])


def _of_doc(getter: Any) -> Any:
    return lambda doc: [getter(doc[found.start : found.end]) for found in sentences_of(doc)]


_install()
