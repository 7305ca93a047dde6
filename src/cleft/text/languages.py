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

__all__ = ["LANGUAGES", "Hyphens", "Language", "has_spaces", "language_named"]

Hyphens = Literal["split", "keep"]
"""Whether a hyphen or a slash inside a word is a token of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What the rules must know of a language.

    `titles` are abbreviations that never end a sentence, `abbreviations` those
    that may; `starters` are words that begin a sentence far more often than
    they go on. With `ordinals` a number and a period make an ordinal, which
    ends no sentence before lower case nor, with `capital_nouns`, before a noun.

    What treebanks part: `elisions` are beginnings of words that an apostrophe
    joins to the next one, `prefixes` those that a hyphen does (and all that
    end in `prefix_end`), `pronouns` whether French ones follow a verb,
    `suffixes` endings that are words; `whole` keeps a word from it. With
    `measures` *mg/kg* is three tokens and *°C* one, with `percents` *30%* is one.
    """

    code: str
    titles: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()
    ambiguous: frozenset[str] = frozenset()
    numbered: frozenset[str] = frozenset()
    starters: frozenset[str] = frozenset()
    elisions: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    prefix_end: str = ""
    pronouns: bool = False
    suffixes: tuple[str, ...] = ()
    whole: frozenset[str] = frozenset()
    ordinals: bool = False
    capital_nouns: bool = False
    measures: bool = False
    percents: bool = False
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
    starters=_words(
        """le la les l'on un une des du au aux il elle ils elles on je nous vous ce cette ces c'est
        cela ça son sa ses leur leurs mon ma mes notre nos votre vos et mais ou or donc car si
        quand lorsque comme dans en sur sous pour par avec sans après avant depuis selon à
        y qui que quoi où tout tous toute toutes plus puis ainsi enfin alors aussi d'abord
        cependant toutefois aujourd'hui hier demain c'était s'il qu'il l'an j'ai"""
    ),
    elisions=_words("l d c j m n s t qu jusqu lorsqu puisqu quoiqu quelqu aujourd"),
    prefixes=_words("ex anti non"),
    prefix_end="o",
    pronouns=True,
    whole=_words(
        "rendez-vous celui-là celle-là ceux-là celles-là jusque-là par-là oh-la-la garde-à-vous"
    ),
    measures=True,
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
    starters=_words(
        """der die das den dem ein eine einen einem einer es er sie ich wir ihr man dies diese
        dieser dieses auch aber und oder doch denn wenn als wie was wer wo warum da dann so nun
        noch nur schon hier dort in im am an auf aus bei mit nach vor von zu für über unter
        seit bis um nicht kein keine alle viele mein meine sein seine unser ihre"""
    ),
    ordinals=True,
    capital_nouns=True,
)

INDONESIAN = Language(
    code="id",
    titles=_words("dr drs dra ir prof h hj kh k.h moh muh tn ny jl no hlm yth a.n s.d"),
    abbreviations=_words("dll dsb dkk dst tbk inc ltd corp"),
    ambiguous=_words("no"),
    numbered=_words("no hlm"),
    suffixes=("nya",),
    whole=_words(
        """hanya punya tanya bertanya ditanya menanya tertanya misalnya biasanya lainnya
        sebelumnya sesudahnya setelahnya akhirnya sebenarnya sebetulnya sesungguhnya adanya
        antaranya umumnya seharusnya selanjutnya tampaknya sebabnya sebaliknya khususnya rupanya
        soalnya awalnya setidaknya semestinya mestinya agaknya berikutnya anehnya sejatinya
        dulunya banyaknya selebihnya sayangnya akibatnya sepenuhnya nantinya mulanya sebagainya
        kabarnya tentunya layaknya kelihatannya sepertinya seandainya seluruhnya segalanya
        sebaiknya secepatnya pokoknya makanya bukannya pasalnya kiranya
        sekiranya memangnya celakanya nyatanya sedianya umpamanya terbentuknya
        terjadinya munculnya masuknya bocornya jatuhnya meningkatnya terciptanya lahirnya"""
    ),
    hyphens="split",
)

ICELANDIC = Language(
    code="is",
    titles=_words(
        """t.d þ.e þ.e.a.s m.a s.s u.þ.b m.v o.fl sbr skv dr sr nr hr frú kl bls gr mgr ca
        hæstv fr e.t.v f.kr e.kr sl þ.á.m mt st th"""
    ),
    abbreviations=_words(
        """o.s.frv hf ehf ohf sf jr jan feb mar apr jún júl ágú sept okt nóv des kr ma þús inc
        etc"""
    ),
    ambiguous=_words("mar des st"),
    numbered=_words("nr bls gr kl"),
    ordinals=True,
    percents=True,
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


def has_spaces(code: str) -> bool:
    """Whether a language parts its words by spaces, so that its text can be read.

    >>> has_spaces("fr-CA"), has_spaces("ja")
    (True, False)
    """
    return _base(code) not in WITHOUT_SPACES


def language_named(code: str) -> Language:
    """The rules for a language code such as `en`, `de` or `fr-CA`.

    >>> language_named("de-AT").ordinals
    True
    """
    base = _base(code)
    if base in WITHOUT_SPACES:
        raise UsageError(
            f"{WITHOUT_SPACES[base]} puts no spaces between words, so its text cannot be"
            " tokenized here",
            where=f"language {code!r}",
            hint="give tokens: parse_tokens in Python; on the command line --input tokens, "
            "one sentence a line, its tokens apart by spaces",
        )
    return LANGUAGES.get(base) or Language(code=base, titles=_COMMON, abbreviations=_ENDING)


def _base(code: str) -> str:
    """The language of a code, without a country or script."""
    base = code.replace("_", "-").partition("-")[0].lower() if isinstance(code, str) else ""
    if not (base.isascii() and base.isalpha() and len(base) in (2, 3)):
        raise UsageError(
            "expected a language code of two or three letters",
            where=f"language {code!r}",
            hint="for example 'en', 'fr' or 'de'",
        )
    return base
