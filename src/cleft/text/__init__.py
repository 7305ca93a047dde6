"""Raw text to paragraphs, sentences and tokens, with character offsets both ways."""

from typing import TYPE_CHECKING

from cleft import lazy
from cleft.span import Token
from cleft.text.languages import Hyphens, has_spaces
from cleft.text.readers import (
    Reading,
    align,
    read_lines,
    read_plain,
    read_tokens,
    sentences_of_text,
)
from cleft.text.recognition import LanguageWatch, language_remark, other_language
from cleft.text.sentences import (
    SentenceSpan,
    paragraphs_of_lines,
    split_paragraphs,
    split_sentences,
)
from cleft.text.tokens import penn_forms, tokenize

if TYPE_CHECKING:
    from cleft.text.annotated import read_conllu, read_jsonl_tokens

__all__ = [
    "Hyphens", "LanguageWatch", "Reading", "SentenceSpan", "Token", "align", "has_spaces",
    "language_remark", "other_language", "paragraphs_of_lines", "penn_forms", "read_conllu",
    "read_jsonl_tokens", "read_lines", "read_plain", "read_tokens", "sentences_of_text",
    "split_paragraphs", "split_sentences", "tokenize",
]  # fmt: skip

__getattr__ = lazy(__name__, {"annotated": ("read_conllu", "read_jsonl_tokens")})
