"""The corpus through the spaCy component."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc

from tests.torture.checks import Tally
from tests.torture.corpus import Case

__all__ = ["through_spacy"]


def through_spacy(cases: Sequence[Case], model: str | Path) -> dict[str, Any]:
    """Every case that spaCy itself can make a Doc of."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("cleft", config={"model": str(model)})
    tally = Tally()
    docs: list[tuple[Case, Doc]] = []
    for case in cases:
        doc = _doc(nlp, case)
        if doc is None:
            tally.inputs += 1
            tally.error("refused by spaCy")
        else:
            docs.append((case, doc))
    found = list(nlp.pipe(doc for _, doc in docs))
    if len(found) != len(docs):
        tally.fault("the pipe", [f"{len(found)} Docs of {len(docs)}"])
    for (case, given), doc in zip(docs, found, strict=False):
        tally.inputs += 1
        if doc.text != given.text:
            tally.fault(case.name, ["another Doc in its place"])
        _check(tally, case.name, doc)
    return {"pipe": vars(tally)}


def _doc(nlp: Any, case: Case) -> Doc | None:
    """A Doc, or None where spaCy cannot hold the text at all (half surrogate pairs)."""
    content = case.content
    if isinstance(content, bytes):
        content = content.decode("utf-8", "replace")
    try:
        if isinstance(content, str):
            return nlp.make_doc(content)
        return Doc(nlp.vocab, words=content) if all(content) else None
    except UnicodeEncodeError:
        return None


def _check(tally: Tally, name: str, doc: Doc) -> None:
    tally.sentences += len(list(doc.sents))
    errors = doc._.cleft_error
    for sentence, error in zip(doc.sents, errors, strict=True):
        words = [token for token in sentence if not token.is_space]
        if error is not None:
            tally.error("error")
        elif not words:
            tally.fault(name, ["a sentence without a word has no error"])
        else:
            tree, discourse = sentence._.cleft_syntax, sentence._.cleft_discourse
            if tree.words() != [token.text for token in words]:
                tally.fault(name, ["the leaves are not the tokens"])
            if discourse.span.right != len(words):
                tally.fault(name, ["the EDUs do not cover the tokens"])
