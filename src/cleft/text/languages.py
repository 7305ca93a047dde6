"""The languages whose text can be read, and what differs between them.

English has rules in full. Others that put spaces between words share generic
rules and bring a short list of abbreviations (`languages.toml`). The words of languages without
spaces are found by packages (`segmenters`) or have to be given.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any, Literal

from cleft.errors import UsageError

Hyphens = Literal["split", "keep"]
"""Whether a hyphen or a slash inside a word is a token of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What the rules must know of a language; words in lower case, without their final period.

    `titles` are abbreviations that something follows and that never end a
    sentence, `abbreviations` those that may; `numbered` ones are abbreviations
    only before a number, `ambiguous` ones are also words, so that at the end of
    a sentence the period stands alone. `starters` are words that begin a
    sentence far more often than they continue one. With `ordinals` a number and a
    period make an ordinal, which ends no sentence before lower case nor, with
    `capital_nouns`, before a noun.

    What treebanks part: `elisions` are beginnings of words that an apostrophe
    joins to the next one, `prefixes` those that a hyphen does (and all that
    end in `prefix_end`), `pronouns` whether French ones follow a verb,
    `suffix` an ending that is a word; `whole` keeps a word from it. With
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
    suffix: str = ""
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


TABLES: dict[str, Any] = tomllib.loads(
    files(__package__).joinpath("languages.toml").read_text(encoding="utf-8")
)
"""The lists of words; comments there say what those of English are for."""

LISTS = {each.name for each in fields(Language) if each.type == "frozenset[str]"}
RULES: dict[str, dict[str, Any]] = {
    code: {key: _words(value) if key in LISTS else value for key, value in table.items()}
    for code, table in TABLES["rules"].items()
}
OTHER = RULES.pop("other")
"""The generic rules."""
LANGUAGES = {code: Language(code=code, **rules) for code, rules in RULES.items()}
"""The languages with lists of their own, by code; other codes get the generic rules."""

_ENGLISH: dict[str, str] = TABLES["english"]
ELIDED, CLIPPED, UNITS = (_ENGLISH[key] for key in ("elided", "clipped", "units"))
REPORTING, CAPTIONS, PREFIXES, SUFFIXES, INTERJECTIONS = (
    _words(_ENGLISH[key])
    for key in ("reporting", "captions", "prefixes", "suffixes", "interjections")
)
CONTRACTIONS = {each.replace("|", ""): each.split("|") for each in _words(_ENGLISH["contractions"])}
"""Words written as one that are several, and their parts."""

WITHOUT_SPACES = {
    "zh": "Chinese", "ja": "Japanese", "th": "Thai", "lo": "Lao", "km": "Khmer",
    "my": "Burmese", "bo": "Tibetan", "yue": "Cantonese",
}  # fmt: skip
"""Languages whose words no space parts."""
SEGMENTED = frozenset(["ja", "zh"])
"""Those whose words a package finds (`segmenters`)."""


def has_spaces(code: str) -> bool:
    """Whether a language parts its words by spaces.

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
    if base in WITHOUT_SPACES and base not in SEGMENTED:
        raise UsageError(
            f"{WITHOUT_SPACES[base]} puts no spaces between words, so its text cannot be"
            " tokenized here",
            where=f"language {code!r}",
            hint="give tokens: parse_tokens in Python; on the command line --input tokens, "
            "one sentence a line, its tokens apart by spaces",
        )
    return LANGUAGES.get(base) or Language(code=base, **OTHER)


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
