"""Raw text to paragraphs, sentences and tokens, with character offsets both ways."""

from cleft.text.conllu import read_conllu
from cleft.text.inputs import (
    Source,
    align,
    read_jsonl_tokens,
    read_lines,
    read_plain,
    read_tokens,
    sources_of_text,
)
from cleft.text.languages import Hyphens, has_spaces
from cleft.text.penn import penn_forms
from cleft.text.recognition import LanguageWatch, language_remark, other_language
from cleft.text.sentences import (
    SentenceSpan,
    paragraphs_of_lines,
    split_paragraphs,
    split_sentences,
)
from cleft.text.tokens import Token, tokenize

__all__ = [
    "Hyphens",
    "LanguageWatch",
    "SentenceSpan",
    "Source",
    "Token",
    "align",
    "has_spaces",
    "language_remark",
    "other_language",
    "paragraphs_of_lines",
    "penn_forms",
    "read_conllu",
    "read_jsonl_tokens",
    "read_lines",
    "read_plain",
    "read_tokens",
    "sources_of_text",
    "split_paragraphs",
    "split_sentences",
    "tokenize",
]
