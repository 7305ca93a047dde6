"""Our tokens of other languages against the tokens of their treebanks.

    python benchmarks/text_languages.py [dev|train]

The treebanks have no raw text, so one is made of their (cleaned) tokens by the
rules of `detokenised` below: punctuation goes where the language's typography
puts it, and what the treebank parts from a word is put back on it. What the
rules cannot know, such as how a number was written, is as the treebank has it:
the figures are a close guess, not a measurement on text. A token counts if its
span of characters is a gold one. The sentences are given.

Results go to `results/text-languages-SPLIT.json`; nothing was chosen by a test set.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import SPMRL, spell
from cleft.text import align, tokenize

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "shared" / "data"
SETS = {
    "fr": "syntax/sequoia-fr/{}.mrg",
    "id": "syntax/icon-id/{}.mrg",
    "is": "syntax/greynir-gold/{}.mrg",
    "fo": "syntax/farpahc/{}.mrg",
    "de": "discourse/pcc/sentences-{}.jsonl",
    "ja": "syntax/keyaki-ja/{}.mrg",
    "zh": "discourse/gcdt/sentences-{}.jsonl",
}
UNSPACED = re.compile(r"(?<=[^A-Za-z0-9]) | (?=[^A-Za-z0-9])")
"""Spaces that Chinese and Japanese do not write."""
CLOSING = re.compile(r"[.,;:!?)\]}”»…]+|\.{2,}")
OPENING = re.compile(r"[(\[{„«]")
GLUED_LEFT = {
    "fr": re.compile(r"-(?:t-)?[a-zà]+|°C"),
    "id": re.compile(r"nya|%|[-/]"),
    "de": re.compile("“"),
}
"""What is written onto the word before it."""
GLUED_RIGHT = {
    "fr": re.compile(r".*\w['’]|(?:ex|anti|non|\w+o)-"),
    "id": re.compile(r"[-/$]|US\$"),
}
"""What the word after it is written onto."""
SPACED = {"fr": frozenset(":;!?»")}
"""Marks that have a space before them all the same."""


def detokenised(words: list[str], language: str) -> tuple[str, list[tuple[int, int]]]:
    """A text that the words may have come from, and their places in it.

    >>> detokenised(["Oui", ",", "l'", "ami", "(", "ici", ")", "!"], "fr")[0]
    "Oui, l'ami (ici) !"
    """
    if language in ("ja", "zh"):
        text = UNSPACED.sub("", " ".join(words))
        return text, [(token.start, token.end) for token in align(text, words)]
    left, right = GLUED_LEFT.get(language), GLUED_RIGHT.get(language)
    text = ""
    spans = []
    glue = True
    quoted = False
    for word in words:
        quote = word in ('"', "''")
        closes = (quote and quoted) or (
            CLOSING.fullmatch(word) is not None and word not in SPACED.get(language, ())
        )
        if not (glue or closes or (left and left.fullmatch(word))):
            text += " "
        spans.append((len(text), len(text) + len(word)))
        text += word
        glue = OPENING.fullmatch(word) is not None or (quote and not quoted)
        glue = glue or (right is not None and right.fullmatch(word) is not None)
        quoted ^= quote
    return text, spans


def sentences(language: str, split: str) -> Iterator[list[str]]:
    path = DATA / SETS[language].format(split)
    if path.suffix == ".mrg":
        for tree in read_brackets(path, clean=SPMRL):
            yield list(tree.words())
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        yield list(map(spell, json.loads(line)["tokens"]))


def measure(language: str, split: str) -> tuple[dict[str, float], Counter[str]]:
    """Precision, recall and F1 over all tokens, and what went wrong most often."""
    gold = found = same = 0
    wrong: Counter[str] = Counter()
    for words in sentences(language, split):
        text, spans = detokenised(words, language)
        ours = {(token.start, token.end) for token in tokenize(text, language=language)}
        gold, found, same = gold + len(spans), found + len(ours), same + len(ours & set(spans))
        for start, end in sorted(set(spans) - ours):
            mine = [text[a:b] for a, b in sorted(ours) if a < end and b > start]
            wrong[f"{text[start:end]} <- {' | '.join(mine)}"] += 1
    scores = {
        "tokens": gold,
        "precision": round(100 * same / found, 2),
        "recall": round(100 * same / gold, 2),
        "f1": round(200 * same / (gold + found), 2),
    }
    return scores, wrong


def main(split: str = "dev", shown: str = "0") -> None:
    table = {}
    for language in SETS:
        table[language], wrong = measure(language, split)
        print(language, table[language])
        for what, count in wrong.most_common(int(shown)):
            print(f"  {count:4} {what}")
    target = HERE / "results" / f"text-languages-{split}.json"
    target.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
