"""Which language a text is in, and whether it is a model's: told by script and function words.

A model gives trees for text in any language, and for another than its own they
make no sense. A third of running text is function words, and few of them are
shared between languages, so a short list for each language tells most of them
apart after a sentence. Where a text is too short to tell, nothing is said. The
lists of `languages.toml` were written by hand; docs/text.md has what was measured.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from cleft.text.languages import TABLES

ENOUGH = 0.35
"""A text with this share of function words is in its language, and no other is looked for."""
SHARE = 0.12
"""The share that function words of another language must have; with less of its own, a text is
in some other language if its letters say so."""
LEAST = 3
"""So many different function words of another language are needed to tell it."""
OUTWEIGH = 3
"""So many function words of another language outweigh one of the model's own."""
MANY, STRANGE = 8, 0.15
"""So many words, and this share of them, have letters that the language does not have."""
LONG, NEARLY_NONE = 60, 0.03
"""So many words with less than this share of function words are in some other language."""
LETTERS = 12
"""So many letters of another script are needed; those of East Asia count thrice."""
UNIT = 6
"""What a word with letters that only some languages have tells for each of them; a function word
of one language tells twice as much, one of many a little more than this."""
WINDOW = 400
"""A stream is looked at when so many characters have been read, and then anew."""


class _Profile(NamedTuple):
    """A language in Latin script: its name, its function words, its letters besides a to z."""

    name: str
    words: frozenset[str]
    letters: str


def _profile(name: str, words: str, letters: str = "") -> _Profile:
    # Letters stand alone in any language: as initials, in lists, in formulas.
    kept = (word for word in words.split() if len(word) > 1 or not word.isascii())
    return _Profile(name, frozenset(kept), letters)


PROFILES = {code: _profile(**table) for code, table in TABLES["profiles"].items()}
"""Languages that are told apart by their words, by code."""

_OWNERS: dict[str, list[str]] = {}
for _code, _one in PROFILES.items():
    for _word in _one.words:
        _OWNERS.setdefault(_word, []).append(_code)

LATIN, KANA, HAN = "Latin", "Kana", "Han"
_RANGES = {
    LATIN: "A-Za-z\xaa\xba\xc0-\xd6\xd8-\xf6\xf8-\u024f\u1e00-\u1eff",
    KANA: "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    HAN: "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "Hangul": "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3",
    "Cyrillic": "\u0400-\u052f",
    "Greek": "\u0370-\u03ff\u1f00-\u1fff",
    "Hebrew": "\u0590-\u05ff",
    "Arabic": "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc",
    "Devanagari": "\u0900-\u097f",
    "Thai": "\u0e00-\u0e7f",
    "Armenian": "\u0530-\u058f",
    "Georgian": "\u10a0-\u10ff",
    "Ethiopic": "\u1200-\u139f",
    "Indic": "\u0980-\u0dff",
}
_SCRIPT = re.compile("|".join(f"(?P<{name}>[{chars}]+)" for name, chars in _RANGES.items()))
_DENSE = (KANA, HAN, "Hangul")

WRITTEN: dict[str, dict[str, str]] = TABLES["written"]
"""Languages that are told by their script alone: name and script."""
_SCRIPT_NAMES = {KANA: "Japanese", HAN: "Chinese", "Hangul": "Korean", "Thai": "Thai"}
_WORD = re.compile(r"[^\W\d_]+")
ANOTHER = "another language"


def language_remark(text: str, language: str) -> str | None:
    """What to tell who gives a text to a model of a language, or None where nothing is wrong.

    >>> language_remark("Der Hund schläft nicht, weil es in der Nacht regnet.", "en")
    'the text looks like German, but the model was trained on English: its trees make no sense'
    >>> language_remark("Der Hund", "en") is None  # too short to tell
    True
    """
    found = other_language(text, language)
    if found is None:
        return None
    return (
        f"the text looks like {found}, but the model was trained on "
        f"{_name(_base(language))}: its trees make no sense"
    )


def other_language(text: str, language: str) -> str | None:
    """What a text seems to be written in, where that is another language than it should be.

    None where it may well be in the language, where it is too short to tell, and
    for languages of which nothing is known here.

    >>> other_language("La pluie tombe sur les toits de la ville.", "en")
    'French'
    >>> other_language("The rain falls on the roofs of the town.", "en") is None
    True
    """
    code = _base(language)
    home = LATIN if code in PROFILES else WRITTEN.get(code, {}).get("script")
    if not home:
        return None
    script = LATIN if text.isascii() else _script(text, home)
    if script != LATIN:
        if script == home:
            return None
        return _SCRIPT_NAMES.get(script, f"a language in {script} script")
    words = _WORD.findall(text.lower() if text.isupper() else text)
    if home == LATIN:
        return _other_than(code, words)
    letters = sum(map(len, words))
    return None if letters < LETTERS else _by_words(words) or "a language in Latin script"


def _base(code: str) -> str:
    return code.replace("_", "-").partition("-")[0].lower()


def _name(code: str) -> str:
    return PROFILES[code].name if code in PROFILES else WRITTEN[code]["name"]


def identify(text: str, among: Collection[str] = ()) -> str | None:
    """The code of the language that a text is most likely in; None where nothing tells.

    Of languages that are equally likely, one that is `among` these is taken.

    >>> identify("Le chat dort.", among=["en", "fr"]), identify("犬が走る。"), identify("OK")
    ('fr', 'ja', None)
    """
    scripts = _scripts(text)
    script = scripts.most_common(1)[0][0] if scripts else LATIN
    scores: Counter[str] = Counter()
    if script != LATIN:
        scores.update(code for code, one in WRITTEN.items() if one["script"] == script)
    for word in _WORD.findall(text.lower()) if script == LATIN else ():
        owners = _OWNERS.get(word, ())
        scores.update(dict.fromkeys(owners, UNIT // max(1, len(owners)) + UNIT))
        odd = set(_strange("").findall(word))
        fits = {code for code, one in PROFILES.items() if odd.issubset(one.letters)} if odd else ()
        for code in PROFILES if fits else ():
            scores[code] += UNIT if code in fits else -2 * UNIT
    best = [code for code, score in scores.items() if score == max(scores.values()) > 0]
    best = [code for code in best if code in among] or best
    # The first of those that share a script is the one with most speakers.
    return best[0] if len(best) == 1 or (best and script != LATIN) else None


def _scripts(text: str) -> Counter[str]:
    """How many letters of each script a text has; those of East Asia count thrice."""
    counts: Counter[str] = Counter()
    for found in _SCRIPT.finditer(text):
        name = found.lastgroup
        assert name is not None
        counts[name] += len(found.group()) * (3 if name in _DENSE else 1)
    # Japanese is written in both; Chinese has no Kana.
    if counts[HAN] and counts[KANA] * 10 >= counts[HAN]:
        counts[KANA] += counts.pop(HAN)
    return counts


def _script(text: str, home: str) -> str:
    """The script of a text: `home` where it has too few letters of another to tell."""
    counts = _scripts(text)
    script, count = counts.most_common(1)[0] if counts else (home, 0)
    # A headline in Japanese may well have no Kana.
    least = 5 * LETTERS if (script, home) == (HAN, KANA) else LETTERS
    return script if count >= least and 2 * count >= counts.total() else home


def _by_words(words: Sequence[str]) -> str | None:
    """The language with most function words, if there are enough."""
    counts = Counter(code for word in words for code in _OWNERS.get(word, ()))
    for code, count in counts.most_common(1):
        if count >= SHARE * len(words):
            return PROFILES[code].name
    return None


def _other_than(own: str, words: Sequence[str]) -> str | None:
    """The language that words are in, if it is not their own."""
    home = PROFILES[own]
    lower = [word.lower() for word in words]
    ours = [word for word in lower if word in home.words]
    if len(ours) >= ENOUGH * len(words):
        return None
    # Those of other languages must be in lower case: Los Angeles and Le Mans are names.
    theirs = Counter(
        code for word in words if word not in home.words for code in _OWNERS.get(word, ())
    )
    for code, count in theirs.most_common(1):
        other = PROFILES[code]
        against = sum(word not in other.words for word in ours)
        different = other.words.intersection(words) - home.words
        if len(different) >= LEAST and count >= max(OUTWEIGH * against + LEAST, SHARE * len(words)):
            return other.name
    if len(ours) >= SHARE * len(words):
        return None
    strange = sum(map(bool, map(_strange(home.letters).search, lower)))
    few = len(ours) < NEARLY_NONE * len(words)
    if strange >= max(MANY, STRANGE * len(words)) or (few and len(words) >= LONG):
        return ANOTHER
    return None


def _strange(letters: str) -> re.Pattern[str]:
    return re.compile(f"[^a-z{letters}]")


class LanguageWatch:
    """Looks at sentences as they come, and tells once that they are in another language.

    >>> watch = LanguageWatch("en")
    >>> watch.read("Das ist noch zu wenig."), watch.end() is None
    (None, False)
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self.told = False
        self._held: list[str] = []
        self._size = 0

    def read(self, text: str) -> str | None:
        """Take one more sentence; what is to be told, if that is clear now."""
        if self.told:
            return None
        self._held.append(text)
        self._size += len(text)
        return self.end() if self._size >= WINDOW else None

    def end(self) -> str | None:
        """Judge what has been read since the last judgement."""
        held, self._held, self._size = " ".join(self._held), [], 0
        remark = None if self.told else language_remark(held, self.language)
        self.told = self.told or remark is not None
        return remark
