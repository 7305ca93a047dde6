"""The words of text without spaces, by packages made for the language.

They come with the extras `cleft[ja]` and `cleft[zh]`. Dictionaries cut words
finer than treebanks do, so what a treebank writes as one is put together again;
docs/text.md has how well both agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from cleft.errors import UsageError

Segmenter = Callable[[str], Iterable[str]]
"""From a stretch of text without white space to its words, which make it up."""

_COMPOUND = frozenset(["一般", "サ変接続", "固有名詞", "数", "形容動詞語幹", "接尾"])


def _japanese() -> Segmenter:
    from janome.tokenizer import Tokenizer

    tokenizer = Tokenizer()

    def words(text: str) -> Iterator[str]:
        held, before = "", ["", "", ""]
        for token in tokenizer.tokenize(text):
            kind = token.part_of_speech.split(",")
            if held and not _is_one_word(before, kind, held, token.surface):
                yield held
                held = ""
            held += token.surface
            before = kind
        yield held

    return words


def _is_one_word(first: list[str], second: list[str], held: str, surface: str) -> bool:
    """Whether Keyaki writes two tokens of the dictionary as one, by their parts of speech."""
    if second[:2] == ["名詞", "接尾"]:  # 子供|たち, but not 降り|そう
        noun = first[0] == "名詞" and first[1] != "非自立"
        return (noun or first[0] in ("形容詞", "動詞", "接頭詞")) and second[2] != "助動詞語幹"
    if first[0] == second[0] == "名詞":  # 農民|文学, 二|十
        return first[1] in _COMPOUND and second[1] in _COMPOUND
    if first[0] == second[0] == "記号":  # ……
        return first[1] == "一般" and held[-1] == surface
    verbs = first[:2] == second[:2] == ["動詞", "自立"]  # 飛び|出す
    return first[0] == "接頭詞" or verbs or (first[0] == "助動詞" and surface == "う")


_CHINESE = re.compile(
    r"\d++(?:[.,:]\d++)*+(?:[年月日时時]|(?!\w))"  # dates, and numbers with their points
    r"|[A-Za-z0-9]++(?:[-.@'’&/][A-Za-z0-9]++)++|([—…·.-])\1++"
)


def _chinese() -> Segmenter:
    import rjieba

    def words(text: str) -> Iterator[str]:
        begin = 0
        for whole in _CHINESE.finditer(text):
            yield from rjieba.cut(text[begin : whole.start()])
            yield whole.group()
            begin = whole.end()
        yield from rjieba.cut(text[begin:])

    return words


SEGMENTERS: dict[str, tuple[str, Callable[[], Segmenter]]] = {
    "ja": ("janome", _japanese),
    "zh": ("rjieba", _chinese),
}
"""The package that finds the words of a language, and what makes use of it."""


@cache
def segmenter(language: str) -> Segmenter:
    """What cuts text of a language into words; a UsageError says what to install for it."""
    package, make = SEGMENTERS[language]
    try:
        return make()
    except ImportError as error:
        raise UsageError(
            f"the words of its text are found by the package {package}, which is not installed",
            where=f"language {language!r}",
            hint=f"pip install 'cleft[{language}]', or give tokens: parse_tokens in Python, "
            "--input tokens on the command line",
        ) from error
