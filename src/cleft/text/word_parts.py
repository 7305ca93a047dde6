"""Words that a text writes as one with their neighbours, by language.

French elides (*l'homme*), puts pronouns behind verbs (*dit-il*) and joins
prefixes (*ex-ministre*); Indonesian writes possessives onto the noun
(*rumahnya*). Treebanks part all of these. English has rules of its own in
`tokens`.
"""

from __future__ import annotations

import re

from cleft.text.languages import Language

__all__ = ["head_ends", "tail_ends"]

_ELIDED = re.compile(r"([^\W\d_]{1,8})['’](?=[^'’])")
_PRONOUN = re.compile(
    r"(?:-t)?-(?:ils?|elles?|on)\Z"
    r"|-(?:je|tu|nous|vous|ce|moi|toi|lui|leur|les?|la|y|en|là)\Z"
)
_LONGEST = len("-t-elles")
"""No more of a word's end is looked at: a word may be very long, and have very many pronouns."""


def head_ends(word: str, language: Language) -> list[int]:
    """Where the tokens at the beginning of a word end: `qu'|aujourd'|hui` gives 3 and 11.

    >>> from cleft.text.languages import FRENCH
    >>> head_ends("l'ex-ministre", FRENCH)
    [2, 5]
    """
    ends: list[int] = []
    begin = 0
    while (head := _ELIDED.match(word, begin)) and head[1].lower() in language.elisions:
        begin = head.end()
        ends.append(begin)
    dash = word.find("-", begin)
    if 0 < dash < len(word) - 1 and _is_prefix(word[begin:dash].lower(), language):
        ends.append(dash + 1)
    return ends


def _is_prefix(head: str, language: Language) -> bool:
    return head in language.prefixes or (
        bool(language.prefix_end) and len(head) > 3 and head.endswith(language.prefix_end)
    )


def tail_ends(word: str, language: Language, begin: int = 0) -> list[int]:
    """Where the stem of a word, which begins at `begin`, ends, and the tokens after it.

    >>> from cleft.text.languages import FRENCH, INDONESIAN
    >>> tail_ends("donne-le-moi", FRENCH), tail_ends("rumahnya", INDONESIAN)
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
    for suffix in language.suffixes:
        stem = len(word) - len(suffix)
        if stem > begin + 1 and word.endswith(suffix) and word[stem - 1].isalpha():
            return [stem, len(word)]
    return ends
