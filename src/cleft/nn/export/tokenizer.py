"""A Hugging Face tokenizer as rules that the runtime follows by itself, and sentences to test it.

WordPiece tokenizers of BERT's kind and SentencePiece's unigram models can be
exported; what the runtime makes of words is compared with the tokenizer before
a model is written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from cleft.errors import ModelError
from cleft.nn.features import WordPieces
from cleft.runtime.manifest import PieceRules
from cleft.runtime.wordpiece import LONGEST

ODD = ("[MASK]", "naïve", "can't", "U.S.", "don’t", "x²", "日本", "…", "10,000.50", "e-mail", "🙂")


def _backend(pieces: WordPieces | None) -> Any:
    """The tokenizer's own description of itself."""
    tokenizer = getattr(pieces, "tokenizer", None)
    if tokenizer is None:
        raise ModelError("the model has no tokenizer", where="export")
    return json.loads(tokenizer.backend_tokenizer.to_str())


BERT = ("WordPiece", "BertNormalizer", "BertPreTokenizer", LONGEST)
UNIGRAM = ("Unigram", "NFKC", "Metaspace", None)


def _check_kind(table: Any) -> None:
    found = (
        (table["model"] or {}).get("type"),
        (table["normalizer"] or {}).get("type"),
        (table["pre_tokenizer"] or {}).get("type"),
        (table["model"] or {}).get("max_input_chars_per_word"),
    )
    if found not in (BERT, UNIGRAM):
        raise ModelError(
            f"expected a tokenizer of {BERT} or {UNIGRAM}, found {found}",
            where="export",
            hint="use a transformer with BERT's WordPiece tokenizer, such as MiniLM or MPNet",
        )


def piece_vocabulary(pieces: WordPieces | None) -> list[str]:
    """All pieces in the order of their numbers."""
    known = _backend(pieces)["model"]["vocab"]
    if isinstance(known, list):  # a unigram model's, with their scores
        return [piece for piece, _ in known]
    numbers: dict[str, int] = known
    vocabulary = sorted(numbers, key=numbers.__getitem__)
    gap = next((n for n, piece in enumerate(vocabulary) if numbers[piece] != n), None)
    if gap is not None or any("\n" in piece for piece in vocabulary):
        raise ModelError(
            f"the pieces are not numbered from 0 without gaps (at {gap})", where="export"
        )
    return vocabulary


def piece_scores(pieces: WordPieces | None) -> list[float]:
    """The scores of a unigram model's pieces; none of another model."""
    known = _backend(pieces)["model"]["vocab"]
    return [score for _, score in known] if isinstance(known, list) else []


def piece_rules(pieces: WordPieces, words: Sequence[str]) -> PieceRules:
    """The rules of a tokenizer; they must give the same pieces for these words."""
    table = _backend(pieces)
    _check_kind(table)
    rules = PieceRules(
        begin=pieces.begin,
        end=pieces.end,
        pad=pieces.pad,
        limit=pieces.limit,
        specials={token["content"]: token["id"] for token in table["added_tokens"]},
        **(_unigram(table) if table["model"]["type"] == "Unigram" else _wordpiece(table)),
    )
    _compare(pieces, rules, [*words, *ODD])
    return rules


def _wordpiece(table: Any) -> dict[str, Any]:
    normal, model = table["normalizer"], table["model"]
    accents = normal["strip_accents"]
    return {
        "unknown": model["unk_token"],
        "lower": normal["lowercase"],
        "strip_accents": normal["lowercase"] if accents is None else accents,
        "clean": normal["clean_text"],
        "cjk": normal["handle_chinese_chars"],
        "prefix": model["continuing_subword_prefix"],
    }


def _unigram(table: Any) -> dict[str, Any]:
    model, before = table["model"], table["pre_tokenizer"]
    if model.get("byte_fallback") or before["prepend_scheme"] != "always":
        raise ModelError(
            "expected no bytes as pieces, and a mark before every word", where="export"
        )
    return {
        "kind": "unigram",
        "unknown": model["vocab"][model["unk_id"]][0],
        "prefix": before["replacement"],
        **dict.fromkeys(("lower", "strip_accents", "clean", "cjk"), False),
    }


def _compare(pieces: WordPieces, rules: PieceRules, words: Sequence[str]) -> None:
    cut = rules.cutter(piece_vocabulary(pieces), piece_scores(pieces))
    for word in words:
        ours, theirs = cut(word) or [cut.unknown], pieces.pieces(word)
        if ours != theirs:
            raise ModelError(
                f"the tokenizer cuts {word!r} into {theirs}, the runtime into {ours}",
                where="export",
                hint="report this word: the model cannot be exported",
            )


def samples(language: str | None) -> tuple[str, ...]:
    """Sentences of a language, tokens between spaces; English ones where we have none.

    >>> samples("fr")[2], samples(None)[2]
    ('Oui .', 'Rain .')
    """
    table = json.loads(files(__package__).joinpath("samples.json").read_text(encoding="utf-8"))
    return tuple(table.get(language, table["en"]))
