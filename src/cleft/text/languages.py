"""The languages whose text can be read, and what differs between them.

English has rules in full. Others that put spaces between words share generic
rules and bring a short list of abbreviations. Languages without spaces need
tokens from elsewhere and say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cleft.errors import UsageError
from cleft.text import english

__all__ = ["LANGUAGES", "Hyphens", "Language", "language_named"]

Hyphens = Literal["split", "keep"]
"""Whether a hyphen or a slash inside a word is a token of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What the rules must know of a language.

    `titles` are abbreviations that never end a sentence, `abbreviations` those
    that may; `elisions` are beginnings of words that an apostrophe joins to
    the next one; with `ordinals` a number and a period make an ordinal, which
    ends no sentence.
    """

    code: str
    titles: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()
    ambiguous: frozenset[str] = frozenset()
    numbered: frozenset[str] = frozenset()
    starters: frozenset[str] = frozenset()
    elisions: frozenset[str] = frozenset()
    ordinals: bool = False
    english_clitics: bool = False
    hyphens: Hyphens = "keep"

    def is_abbreviation(self, word: str) -> bool:
        """Whether a word and a period can be one token."""
        return self.is_title(word) or self.may_end(word)

    def is_title(self, word: str) -> bool:
        """Whether a word is an abbreviation that ends no sentence."""
        return word.lower() in self.titles and not self._is_plain(word)

    def may_end(self, word: str) -> bool:
        """Whether a word is an abbreviation that may end a sentence."""
        return word.lower() in self.abbreviations and not self._is_plain(word)

    def _is_plain(self, word: str) -> bool:
        """Whether a word in lower case is more likely itself: *mass.* is not *Mass.*."""
        return word in self.ambiguous and word not in self.numbered


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = Language(
    code="en",
    titles=english.TITLES,
    abbreviations=english.ABBREVIATIONS,
    ambiguous=english.AMBIGUOUS,
    numbered=english.NUMBERED,
    starters=english.STARTERS,
    english_clitics=True,
    hyphens="split",
)

FRENCH = Language(
    code="fr",
    titles=_words("m mm mme mmes mlle mlles dr drs pr me mgr st ste cf p pp vol no n° art ex fig"),
    abbreviations=_words("etc av bd apr env éd tél janv févr avr juil sept oct nov déc hab"),
    ambiguous=_words("no art ex st me"),
    numbered=_words("no art p pp vol fig"),
    elisions=_words("l d c j m n s t qu jusqu lorsqu puisqu quoiqu"),
)

GERMAN = Language(
    code="de",
    titles=_words(
        """dr prof hr fr frl st ca z.b d.h u.a bzw vgl sog ggf evtl inkl exkl z.t i.d.r v.a s.o s.u
        abs art nr str bd hrsg dipl ing rd tel max min zzgl gem lt"""
    ),
    abbreviations=_words(
        """usw etc uvm jan feb apr jun jul aug sept okt nov dez mio mrd jh jhd chr co
        mo di mi do sa so"""
    ),
    ambiguous=_words("art max min mo di mi do sa so fr"),
    numbered=_words("art nr bd abs"),
    ordinals=True,
)

INDONESIAN = Language(
    code="id",
    titles=_words("dr drs dra ir prof h hj kh k.h moh muh tn ny jl no hlm yth a.n s.d"),
    abbreviations=_words("dll dsb dkk dst tbk inc ltd corp"),
    ambiguous=_words("no"),
    numbered=_words("no hlm"),
    hyphens="split",
)

ICELANDIC = Language(
    code="is",
    titles=_words(
        """t.d þ.e þ.e.a.s m.a s.s u.þ.b m.v o.fl sbr skv dr sr nr hr frú kl bls gr mgr ca
        hæstv fr e.t.v f.kr e.kr sl þ.á.m"""
    ),
    abbreviations=_words("o.s.frv hf ehf ohf sf jr jan feb mar apr jún júl ágú sept okt nóv des"),
    numbered=_words("nr bls gr kl"),
    ordinals=True,
)

FAROESE = Language(
    code="fo",
    titles=_words("t.d t.e t.v.s m.a s.s uml sbr dr nr kl bls hr frú ca v.m"),
    abbreviations=_words("o.s.fr osfr o.a p/f jan feb mar apr jun jul aug sept okt nov des"),
    numbered=_words("nr bls kl"),
    ordinals=True,
)

_COMMON = _words("dr dra prof sr sra srta st sta ing mr mrs ms cf ca nr vs vol pp")
_ENDING = _words("etc inc ltd co corp jr")

LANGUAGES = {one.code: one for one in (ENGLISH, FRENCH, GERMAN, INDONESIAN, ICELANDIC, FAROESE)}
"""The languages with lists of their own, by code; other codes get the generic rules."""

WITHOUT_SPACES = {
    "zh": "Chinese", "ja": "Japanese", "th": "Thai", "lo": "Lao", "km": "Khmer",
    "my": "Burmese", "bo": "Tibetan", "yue": "Cantonese",
}  # fmt: skip
"""Languages whose words no space parts."""


def language_named(code: str) -> Language:
    """The rules for a language code such as `en`, `de` or `fr-CA`.

    >>> language_named("de-AT").ordinals
    True
    """
    base = code.replace("_", "-").partition("-")[0].lower()
    if base in WITHOUT_SPACES:
        raise UsageError(
            f"{WITHOUT_SPACES[base]} puts no spaces between words, so its text cannot be"
            " tokenized here",
            where=f"language {code!r}",
            hint="give tokens instead of text: one sentence a line, tokens apart by spaces",
        )
    if not (base.isascii() and base.isalpha() and len(base) in (2, 3)):
        raise UsageError(
            "expected a language code of two or three letters",
            where=f"language {code!r}",
            hint="for example 'en', 'fr' or 'de'",
        )
    return LANGUAGES.get(base) or Language(code=base, titles=_COMMON, abbreviations=_ENDING)
