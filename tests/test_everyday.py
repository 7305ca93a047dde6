"""The invented treebank of everyday English: its form, its words, its constructions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cleft import files
from cleft.formats.brackets import parse_brackets
from cleft.formats.cleaning import PTB, without_repeats
from cleft.text import penn_forms, tokenize
from cleft.tree import Tree

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "recipes" / "everyday"
PARTS = ("train", "more", "dev")
ORDERED = ("train", "dev")

LABELS = (
    "ADJP ADVP CONJP FRAG INTJ NP PP PRN PRT QP RRC S SBAR SBARQ SINV SQ UCP VP "
    "WHADJP WHADVP WHNP WHPP X"
)
TAGS = (
    "CC CD DT EX IN JJ JJR JJS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP TO UH "
    "VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB $ . , : `` '' -LRB- -RRB-"
)

CONSTRUCTIONS = {
    "intransitive": (13, 4, ""),
    "transitive": (10, 4, ""),
    "imperative": (19, 6, "VB"),
    "yes-no": (11, 4, "SQ"),
    "wh-subject": (10, 3, "SBARQ"),
    "wh-object": (8, 4, "SBARQ"),
    "wh-adverb": (9, 4, "WHADVP WHADJP"),
    "wh-preposition": (8, 3, "SBARQ"),
    "tag": (11, 3, "SQ INTJ"),
    "embedded-question": (11, 4, "SBAR"),
    "negative-inversion": (12, 3, "SINV"),
    "locative-inversion": (11, 3, "SINV"),
    "so-neither-nor": (10, 3, "SINV"),
    "quotative-inversion": (12, 3, "SINV"),
    "quotation-before": (6, 2, ""),
    "quotation-middle": (6, 1, "PRN"),
    "quotation-after": (5, 1, "``"),
    "relative-subject": (7, 3, "SBAR"),
    "relative-object": (7, 3, "SBAR"),
    "relative-preposition": (5, 2, "SBAR"),
    "relative-adverb": (4, 1, "WHADVP"),
    "relative-reduced": (9, 3, ""),
    "free-relative": (7, 3, "SBAR"),
    "sentential-subject": (14, 4, ""),
    "extraposition": (8, 3, "SBAR S"),
    "cleft": (7, 2, "SBAR"),
    "existential": (7, 3, "EX"),
    "passive": (10, 3, "VBN"),
    "participial-adjective": (10, 3, "ADJP"),
    "comparative": (14, 3, ""),
    "the-more": (6, 2, "X"),
    "so-too-enough": (7, 2, ""),
    "coordination-words": (10, 1, "CC"),
    "coordination-phrases": (12, 4, "CC CONJP"),
    "ucp": (9, 2, "UCP"),
    "right-node-raising": (4, 1, "CC"),
    "gapping": (6, 2, ""),
    "ellipsis": (8, 3, ""),
    "headline": (13, 4, ""),
    "fragment": (23, 8, ""),
    "interjection": (12, 4, "INTJ"),
    "vocative": (10, 3, ""),
    "parenthetical": (7, 2, "PRN , -LRB-"),
    "appositive": (7, 2, ""),
    "date-time": (8, 3, ""),
    "money-number": (12, 3, "CD QP"),
    "address": (4, 1, "NNP"),
    "phrasal-verb": (12, 3, "PRT"),
    "double-object": (7, 2, ""),
    "small-clause": (14, 3, ""),
    "control-raising": (18, 5, "S"),
    "that-clause": (10, 3, "SBAR"),
    "copular": (10, 2, ""),
    "participial-adjunct": (8, 1, "VBG VBN"),
    "absolute": (6, 2, ""),
    "conditional": (14, 3, "SBAR"),
    "concessive": (6, 2, ""),
    "temporal-causal": (7, 2, "SBAR"),
    "purpose": (5, 1, "SBAR S"),
    "attachment-verb": (6, 3, "PP"),
    "attachment-noun": (7, 2, "PP"),
    "compound": (6, 2, ""),
    "possessive": (8, 2, "POS PRP"),
    "quantifier": (13, 2, ""),
    "postnominal-adjective": (5, 1, "ADJP"),
    "adverb": (12, 3, "ADVP"),
    "contraction": (9, 1, ""),
    "title": (5, 1, ""),
    "list": (5, 1, ":"),
    "filler": (8, 1, "INTJ PRN CC"),
    "longer": (26, 8, ""),
}
"""In the order of the files: trees of train, trees of dev, labels or tags of which each has one.

An empty string: no single label tells the construction.
"""

HELD_OUT = (
    "Bob ran.",
    "Time flies.",
    "Stop!",
    "The chef who cooked for us has opened a restaurant.",
    "That the earth is round is well known.",
    "Never have I seen such a mess.",
    "Although it rained, she played tennis.",
)
"""Sentences that models are judged by."""


def lines(part: str) -> list[str]:
    return (FOLDER / f"{part}.mrg").read_text(encoding="utf-8").splitlines()


def trees(part: str) -> list[Tree]:
    return [parse_brackets(line, PTB) for line in lines(part)]


def phrases(tree: Tree) -> Iterator[Tree]:
    if tree.word is None:
        yield tree
        for child in tree.children:
            yield from phrases(child)


NO_SPACE_BEFORE = re.compile(r"[.,:;?!%]|\.\.\.|''|-RRB-|n't|na|'(?:s|ll|d|re|m|ve)?")
NO_SPACE_AFTER = re.compile(r"``|-LRB-|\$")
WRITTEN = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")"}


def plain(words: list[str]) -> str:
    """The text that the words are of."""
    text = ""
    glue = True
    for word in words:
        closes = NO_SPACE_BEFORE.fullmatch(word) is not None
        text += ("" if glue or closes else " ") + WRITTEN.get(word, word)
        glue = NO_SPACE_AFTER.fullmatch(word) is not None
    return text


@pytest.mark.parametrize("part", PARTS)
def test_trees_are_what_a_cleaned_treebank_has(part: str) -> None:
    """No trace, function, index or repeated label: cleaning takes off the outer bracket alone."""
    for line, tree in zip(lines(part), trees(part), strict=True):
        assert line == f"( {tree})"
        assert without_repeats(tree) == tree, line
        assert {node.label for node in phrases(tree)} <= set(LABELS.split()), line
        assert set(tree.tags()) <= set(TAGS.split()), line
        assert 1 <= len(tree.words()) <= 25, line


def test_no_sentence_is_there_twice() -> None:
    texts = [plain(tree.words()).lower() for part in PARTS for tree in trees(part)]
    assert len(set(texts)) == len(texts)


def test_dev_has_no_sentence_of_train_with_other_nouns() -> None:
    def frame(tree: Tree) -> tuple[str, ...]:
        pairs = zip(tree.tags(), tree.words(), strict=True)
        return tuple("NN" if tag.startswith("NN") else word.lower() for tag, word in pairs)

    train, more, dev = (
        {frame(tree) for tree in trees(part) if len(tree.words()) > 2} for part in PARTS
    )
    assert not (train | more) & dev


@pytest.mark.parametrize("part", PARTS)
def test_the_tokenizer_gives_the_same_words(part: str) -> None:
    for tree in trees(part):
        found = [token.text for token in tokenize(plain(tree.words()))]
        assert penn_forms(found) == tree.words()


def test_nothing_that_models_are_shown_or_judged_with_is_in_it() -> None:
    texts = {plain(tree.words()) for part in PARTS for tree in trees(part)}
    assert not texts & set(HELD_OUT)
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests").rglob("*.py")]
    shown = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    assert not [text for text in texts if text.count(" ") > 1 and text in shown]


@pytest.mark.parametrize("column", [0, 1], ids=ORDERED)
def test_the_trees_are_in_the_order_of_their_constructions(column: int) -> None:
    found = iter(trees(ORDERED[column]))
    for name, (*counts, one_of) in CONSTRUCTIONS.items():
        group = list(itertools.islice(found, counts[column]))
        assert len(group) == counts[column], name
        for tree in group if one_of else ():
            labels = {node.label for node in phrases(tree)} | set(tree.tags())
            assert labels & set(one_of.split()), f"{name}: {plain(tree.words())}"
    assert next(found, None) is None


def test_no_sentence_is_one_of_a_treebank(shared: Path) -> None:
    texts = {" ".join(tree.words()).lower() for part in PARTS for tree in trees(part)}
    leaf = re.compile(r"\((?!-NONE-)\S+ ([^()\s]+)\)")
    for path in sorted((shared / "data" / "syntax").glob("*/*.mrg")):
        if path.parent.name in ("wsj-sample", "masc-penn", "gum"):
            found = {" ".join(leaf.findall(line)).lower() for line in files.lines(path)}
            assert not texts & found, path.parent.name
