"""Sentence splitters and tokenizers on the raw text of GUM, ours among them.

    python benchmarks/text.py [dev|train|test]

Every candidate gets the raw text of a document paragraph by paragraph (a
blank line is a paragraph), so that none is marked down for headings. Scored
are exact spans of characters:

- sentences, white space at their ends left out
- tokens of the gold sentences as GUM has them (`gum`: hyphens and slashes
  between words are tokens), and with these joined again, as in the Penn
  Treebank (`penn`)

Times are ratios to ours in the same run, processor time of one pass. `lose` is
the number of odd strings (control characters, lone surrogates, emoji) of which
a candidate drops or misplaces a character. A candidate that is not installed is
left out: `pip install pysbd blingfire syntok spacy icu4py nltk razdel`, in an
environment of its own. Results go to `results/text-SPLIT.json`.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cleft.text import split_sentences, tokenize

HERE = Path(__file__).parent
GUM = HERE.parents[1] / "shared" / "data" / "discourse" / "gum"

Spans = list[tuple[int, int]]
Splitter = Callable[[str], Iterable[tuple[int, int]]]

ODD = (
    "a\x00b. C d.",
    "He\u200b said\ufeff so. \ud800 Then \udfff left.",
    "👩‍👩‍👧‍👦 came. 👍🏽! 🇫🇷?",
    "e\u0301te\u0301. A\u0308rger.",
    "قال: نعم. ثم ذهب.",
    "a\u00a0b\u2003c. D\u3000e.",
    "\x01\x02. \x7f\x85 X.",
    "x'\"`´’‘“”„«»()[]{}<>…‥–—―.",
    "10.000,00 €... ¿Qué? ¡No!",
    "line one\r\nline two\x0bthree\x0cfour\u2028five.",
)


class Document(NamedTuple):
    """A document's raw text, its paragraphs, and the gold spans."""

    genre: str
    text: str
    paragraphs: Spans
    sentences: Spans
    tokens: Spans
    joined: Spans


# ---------------------------------------------------------------- gold


def documents(split: str) -> Iterator[Document]:
    with (GUM / f"docs-{split}.jsonl").open(encoding="utf-8") as stream:
        for line in stream:
            yield document(json.loads(line))


def document(data: dict[str, Any]) -> Document:
    text = ""
    paragraphs: Spans = []
    sentences: Spans = []
    tokens: Spans = []
    joined: Spans = []
    for sentence in data["sents"]:
        if text:
            text += "\n\n" if sentence["newpar"] else " "
        start = len(text)
        found = token_spans(sentence, start)
        text += sentence["text"]
        sentences.append((start, len(text)))
        tokens += found
        joined += rejoin(found, text)
        if sentence["newpar"] or not paragraphs:
            paragraphs.append((start, len(text)))
        else:
            paragraphs[-1] = (paragraphs[-1][0], len(text))
    return Document(data["genre"], text, paragraphs, sentences, tokens, joined)


def token_spans(sentence: dict[str, Any], start: int) -> Spans:
    spans = []
    for word, space in zip(sentence["tokens"], sentence["space_after"], strict=True):
        spans.append((start, start + len(word)))
        start += len(word) + space
    return spans


def rejoin(spans: Spans, text: str) -> Spans:
    """Put back together what GUM splits at a hyphen or a slash inside a word."""
    result: Spans = []
    glue = False
    for index, (start, end) in enumerate(spans):
        touches = bool(result) and result[-1][1] == start
        inner = (
            text[start:end] in ("-", "/")
            and touches
            and text[start - 1].isalnum()
            and index + 1 < len(spans)
            and spans[index + 1][0] == end
            and text[end].isalnum()
        )
        if (glue or inner) and touches:
            result[-1] = (result[-1][0], end)
        else:
            result.append((start, end))
        glue = inner
    return result


# ---------------------------------------------------------------- candidates


def ours() -> tuple[Splitter, Splitter]:
    return (
        lambda text: ((one.start, one.end) for one in split_sentences(text)),
        lambda text: ((one.start, one.end) for one in tokenize(text)),
    )


def ours_joined() -> tuple[None, Splitter]:
    return None, lambda text: ((one.start, one.end) for one in tokenize(text, hyphens="keep"))


def pysbd() -> tuple[Splitter, None]:
    import pysbd

    segmenter = pysbd.Segmenter(language="en", clean=False, char_span=True)
    return lambda text: ((one.start, one.end) for one in segmenter.segment(text)), None


def blingfire() -> tuple[Splitter, Splitter]:
    import blingfire

    return (
        lambda text: blingfire.text_to_sentences_and_offsets(text)[1] if text.strip() else [],
        lambda text: blingfire.text_to_words_with_offsets(text)[1] if text.strip() else [],
    )


def syntok() -> tuple[Splitter, Splitter]:
    from syntok import segmenter
    from syntok.tokenizer import Tokenizer

    tokenizer = Tokenizer(replace_not_contraction=False)

    def sentences(text: str) -> Iterator[tuple[int, int]]:
        for paragraph in segmenter.analyze(text):
            for found in paragraph:
                yield found[0].offset, found[-1].offset + len(found[-1].value)

    return sentences, lambda text: (
        (one.offset, one.offset + len(one.value)) for one in tokenizer.tokenize(text)
    )


def spacy() -> tuple[Splitter, Splitter]:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    return (
        lambda text: ((one.start_char, one.end_char) for one in nlp(text).sents),
        lambda text: (
            (one.idx, one.idx + len(one)) for one in nlp.tokenizer(text) if not one.is_space
        ),
    )


def icu4py() -> tuple[Splitter, Splitter]:
    from icu4py.breakers import SentenceBreaker, WordBreaker

    return (
        lambda text: SentenceBreaker(text, "en").segments(),
        lambda text: (
            (start, end)
            for start, end in WordBreaker(text, "en").segments()
            if not text[start:end].isspace()
        ),
    )


def nltk() -> tuple[Splitter, Splitter]:
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    return PunktSentenceTokenizer().span_tokenize, NLTKWordTokenizer().span_tokenize


def razdel() -> tuple[Splitter, Splitter]:
    import razdel

    return (
        lambda text: ((one.start, one.stop) for one in razdel.sentenize(text)),
        lambda text: ((one.start, one.stop) for one in razdel.tokenize(text)),
    )


CANDIDATES: dict[str, Callable[[], tuple[Splitter | None, Splitter | None]]] = {
    "cleft": ours,
    "cleft, hyphens kept": ours_joined,
    "pysbd": pysbd,
    "blingfire": blingfire,
    "syntok": syntok,
    "spacy": spacy,
    "icu4py": icu4py,
    "nltk": nltk,
    "razdel": razdel,
}


# ---------------------------------------------------------------- measuring


def trimmed(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for start, end in spans:
        piece = text[start:end]
        if piece.strip():
            yield start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def apply(splitter: Splitter, text: str, within: Spans) -> Spans:
    found = []
    for start, end in within:
        piece = text[start:end]
        found += [(start + left, start + right) for left, right in trimmed(piece, splitter(piece))]
    return found


def scores(found: list[Spans], gold: list[Spans]) -> dict[str, float]:
    matched = sum(len(set(one) & set(two)) for one, two in zip(found, gold, strict=True))
    proposed, wanted = sum(map(len, found)), sum(map(len, gold))
    return {
        "precision": round(100 * matched / max(proposed, 1), 2),
        "recall": round(100 * matched / wanted, 2),
        "f1": round(200 * matched / (proposed + wanted), 2),
    }


def loses(splitter: Splitter) -> int:
    """How many of the odd strings come back incomplete, out of order, or not at all."""
    return sum(not complete(splitter, text) for text in ODD)


def complete(splitter: Splitter, text: str) -> bool:
    last = 0
    try:
        for start, end in [*splitter(text), (len(text), len(text))]:
            if start < last or text[last:start].strip():
                return False
            last = end
    except Exception:
        return False
    return True


def timed(splitter: Splitter, docs: list[Document], kind: str) -> tuple[list[Spans], float]:
    """One pass over text that is new to the candidate, since some remember words."""
    loses(splitter)  # whatever is made at the first call is made here
    start = time.process_time()
    found = [apply(splitter, one.text, getattr(one, kind)) for one in docs]
    return found, time.process_time() - start


def measure(name: str, docs: list[Document]) -> dict[str, Any]:
    split, tokens = CANDIDATES[name]()
    row: dict[str, Any] = {}
    if split:
        found, seconds = timed(split, docs, "paragraphs")
        row["sentences"] = scores(found, [one.sentences for one in docs])
        row["sentence_seconds"] = seconds
        row["sentences_lose"] = loses(split)
    if tokens:
        found, seconds = timed(tokens, docs, "sentences")
        row["tokens_gum"] = scores(found, [one.tokens for one in docs])
        row["tokens_penn"] = scores(found, [one.joined for one in docs])
        row["token_seconds"] = seconds
        row["tokens_lose"] = loses(tokens)
    if split and tokens:
        found = [apply(tokens, one.text, apply(split, one.text, one.paragraphs)) for one in docs]
        row["tokens_gum_end_to_end"] = scores(found, [one.tokens for one in docs])
    return row


def version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name.partition(",")[0])
    except importlib.metadata.PackageNotFoundError:
        return None


def show(name: str, row: dict[str, Any]) -> None:
    cells = [f"{name:20}"]
    for key in ("sentences", "tokens_gum", "tokens_penn", "tokens_gum_end_to_end"):
        values = row.get(key)
        cells.append(
            f"{values['precision']:6.2f} {values['recall']:6.2f} {values['f1']:6.2f}"
            if values
            else " " * 20
        )
    for key in ("sentence_time_ratio", "token_time_ratio"):
        cells.append(f"{row[key]:6.2f}" if key in row else " " * 6)
    cells.append(f"{row.get('sentences_lose', '-')}/{row.get('tokens_lose', '-')}")
    print(" | ".join(cells))


def main() -> None:
    split = sys.argv[1] if len(sys.argv) > 1 else "dev"
    if not GUM.is_dir():
        raise SystemExit(f"{GUM} is not here: this benchmark needs the real documents")
    docs = list(documents(split))
    rows: dict[str, dict[str, Any]] = {}
    print("name | sentences P R F1 | gum tokens P R F1 | penn tokens P R F1 | end to end | times")
    for name in CANDIDATES:
        try:
            row = measure(name, docs)
        except ImportError:
            continue
        row["version"] = version(name)
        first = rows.get("cleft", row)
        for kind in ("sentence", "token"):
            if f"{kind}_seconds" in row:
                ratio = row[f"{kind}_seconds"] / first[f"{kind}_seconds"]
                row[f"{kind}_time_ratio"] = round(ratio, 3)
        rows[name] = row
        show(name, row)
    results = {
        "split": split,
        "documents": len(docs),
        "sentences": sum(len(one.sentences) for one in docs),
        "tokens": sum(len(one.tokens) for one in docs),
        "characters": sum(len(one.text) for one in docs),
        "odd_strings": len(ODD),
        "python": platform.python_version(),
        "rows": rows,
    }
    target = HERE / "results" / f"text-{split}.json"
    target.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
