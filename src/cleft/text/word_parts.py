"""Where the tokens inside a word end: clitics, elisions, affixes, hyphens and slashes.

English parts *should|n't*, and *well|-|known* where hyphens are split. French
elides (*l'homme*), puts pronouns behind verbs (*dit-il*) and joins prefixes
(*ex-ministre*); Indonesian writes possessives onto the noun (*rumahnya*).
Treebanks part all of these.
"""

from __future__ import annotations

import itertools
import re

from cleft.text.languages import CONTRACTIONS, INTERJECTIONS, PREFIXES, SUFFIXES, Hyphens, Language

DASH = "[-\u2010\u2011]"
"""A hyphen, as a class of a regular expression."""

_ELIDED = re.compile(r"([^\W\d_]{1,8})['’](?=[^'’])")
_PRONOUN = re.compile(
    rf"(?i:(?:{DASH}t)?{DASH}(?:ils?|elles?|on)|{DASH}(?:je|tu|nous|vous|ce|moi|toi))\Z"
    rf"|{DASH}(?:lui|leur|les?|la|y|en|là|[tm]['’])\Z|(?<={DASH}[tm]['’])en\Z"
)
_LONGEST = len("-t-elles")
"""No more of a word's end is looked at: a word may be very long, and have very many pronouns."""
_CLITIC = re.compile(r"(?i:n['’]t|['’](?:s|m|d|re|ve|ll))\Z")
_CONNECTORS = "'’ʼ·/*&.,-\u2010\u2011"
_HYPHEN = re.compile(DASH)
_DIGIT = re.compile(r"\d")
_WHOLE = frozenset(["s/he", "w/o", "c/o", "n/a", "a/c", "i/o", "b/c", "w/e"])


def word_ends(word: str, language: Language, hyphens: Hyphens) -> list[int]:
    """Where the tokens of a word end: clitics off, elisions off, joints split.

    >>> from cleft.text.languages import language_named
    >>> english = language_named("en")
    >>> word_ends("shouldn't", english, "split"), word_ends("well-known", english, "split")
    ([6, 9], [4, 5, 10])
    """
    if word.isalpha() and len(word) > 9 and not language.suffix:
        return [len(word)]
    if language.english_clitics:
        parts = CONTRACTIONS.get(word.lower().replace("’", "'"))
        if parts:
            return list(itertools.accumulate(map(len, parts)))
        heads, ends = [], _without_clitics(word)
    else:
        heads = head_ends(word, language)
        ends = tail_ends(word, language, heads[-1] if heads else 0)
    begin = heads[-1] if heads else 0
    joints = _joints(word[begin : ends[0]], language, hyphens)
    return [*heads, *(begin + one for one in joints), *ends]


def _without_clitics(word: str) -> list[int]:
    """The end of the stem, and the ends after it: `should|n't|'ve` gives [6, 9, 12]."""
    stop = len(word)
    ends = [stop]
    while found := _CLITIC.search(word[max(0, stop - 3) : stop]):
        stop -= found.end() - found.start()
        if stop == 0 or word[stop - 1] in _CONNECTORS:
            break
        ends.append(stop)
    ends.reverse()
    return ends


def _joints(stem: str, language: Language, hyphens: Hyphens) -> list[int]:
    """The ends of the tokens that hyphens and slashes inside a word part, but for the last one."""
    split = hyphens == "split"
    measures = language.measures and "/" in stem and stem[0].islower()
    if not (split or measures) or stem.lower() in _WHOLE or (measures and _DIGIT.search(stem)):
        return []
    ends: list[int] = []
    begin = 0
    for segment in stem.split("/"):
        if begin:
            ends += (begin - 1, begin)
        if split:
            ends += (begin + one for one in _hyphens(segment, language.english_clitics))
        begin += len(segment) + 1
    return ends


def _hyphens(segment: str, affixes: bool) -> list[int]:
    """The same for hyphens alone; with `affixes`, those of English stay joined."""
    lower = segment.lower()
    if affixes and lower in INTERJECTIONS:
        return []
    ends: list[int] = []
    for hyphen in _HYPHEN.finditer(segment):
        start, end = hyphen.span()
        if affixes and not ends and _is_affix(segment[:start]):
            return []
        rest = len(segment) - end
        suffix = affixes and rest < 8 and lower[end:] in SUFFIXES
        if rest and not suffix:
            ends += (start, end)
    return ends


def _is_affix(head: str) -> bool:
    return head.lower() in PREFIXES and (len(head) == 1 or not head.isupper())


# ---------------------------------------------------------------- affixes by language


def head_ends(word: str, language: Language) -> list[int]:
    """Where the tokens at the beginning of a word end: `qu'|aujourd'hui` gives 3.

    >>> from cleft.text.languages import language_named
    >>> head_ends("l'ex-ministre", language_named("fr"))
    [2, 5]
    """
    ends: list[int] = []
    begin = 0
    while (head := _ELIDED.match(word, begin)) and head[1].lower() in language.elisions:
        begin = head.end()
        ends.append(begin)
    hyphen = _HYPHEN.search(word, begin)
    dash = hyphen.start() if hyphen else -1
    if 0 < dash < len(word) - 1 and _is_prefix(word[begin:dash].lower(), language):
        ends.append(dash + 1)
    return ends


def _is_prefix(head: str, language: Language) -> bool:
    return head in language.prefixes or (
        bool(language.prefix_end) and len(head) > 3 and head.endswith(language.prefix_end)
    )


def tail_ends(word: str, language: Language, begin: int = 0) -> list[int]:
    """Where the stem of a word, which begins at `begin`, ends, and the tokens after it.

    >>> from cleft.text.languages import language_named as named
    >>> tail_ends("donne-le-moi", named("fr")), tail_ends("rumahnya", named("id"))
    ([5, 8, 12], [5, 8])
    """
    ends = [len(word)]
    if word.lower() in language.whole:
        return ends
    if language.pronouns:
        stop = ends[0]
        while tail := _PRONOUN.search(word, max(begin, stop - _LONGEST), stop):
            stop = tail.start()
            if stop <= begin:
                break
            ends.append(stop)
        ends.reverse()
    if language.suffix and word.endswith(language.suffix):
        stem = len(word) - len(language.suffix)
        if stem > begin + 1 and word[stem - 1].isalpha():
            return [stem, len(word)]
    return ends
