"""The English models: whole, light, and sensible on sentences anyone can check."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import cleft
from cleft.models import builtin_models, model_path

ROOT = Path(__file__).parents[1]
LARGE = ROOT / "models" / "en-large"
"""In the repository, not in the package."""
TEXT = (
    "Although it rained all day, she went out to play tennis. "
    "The old man said: “I can’t swim (any more).”"
)


@pytest.fixture(scope="module")
def parser():
    return cleft.load()


@pytest.fixture(scope="module")
def large():
    return cleft.load(LARGE)


@pytest.mark.parametrize(
    "model", [*map(model_path, builtin_models()), LARGE], ids=lambda it: it.name
)
def test_every_english_model_passes_its_own_test_and_has_a_card(model):
    assert cleft.load(model).check() > 0
    card = (model / "README.md").read_text(encoding="utf-8")
    for part in ("## Data", "## Scores", "## Calibration", "## Known failures", "## Make it again"):
        assert part in card
    page = ROOT / "docs" / "cards" / f"{model.name}.md"
    assert page.read_text(encoding="utf-8") == card


def test_the_wheel_stays_under_sixty_megabytes():
    size = sum(
        file.stat().st_size for name in builtin_models() for file in model_path(name).iterdir()
    )
    assert 0 < size < 58_000_000


def test_the_large_model_stays_under_95_megabytes_and_has_a_licence(large):
    assert sum(file.stat().st_size for file in LARGE.iterdir()) <= 95_000_000
    about = large.manifest.about
    assert (about["name"], about["language"]) == ("en-large", "en")
    assert about["licence"] == "CC-BY-SA-4.0"


def test_both_trees_come_from_raw_text_with_offsets_and_probabilities(parser):
    first, second = parser.parse(TEXT)
    assert first.syntax.brackets().startswith("(S (SBAR (IN Although) (S (NP (PRP it))")
    assert first.discourse.edus[0].text == "Although it rained all day,"
    for sentence in (first, second):
        assert sentence.error is None
        assert TEXT[sentence.start : sentence.end] == sentence.text
        assert all(TEXT[token.start : token.end] == token.text for token in sentence.tokens)
        assert all(TEXT[edu.start : edu.end] == edu.text for edu in sentence.discourse.edus)
        assert sentence.syntax.log_prob <= 0
        assert all(0 < split.probability <= 1 for split in sentence.discourse.splits())
    assert second.tokens[-1].text == "”"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("Bob ran.", "(S (NP Bob) (VP ran) .)"),
        ("Time flies.", "(S (NP Time) (VP flies) .)"),
        ("Stop!", "(S (VP Stop) !)"),
        (
            "The chef who cooked for us has opened a restaurant.",
            "(S (NP (NP The chef) (SBAR (WHNP who) (S (VP cooked (PP for (NP us)))))) "
            "(VP has (VP opened (NP a restaurant))) .)",
        ),
        (
            "That the earth is round is well known.",
            "(S (SBAR That (S (NP the earth) (VP is (ADJP round)))) "
            "(VP is (ADJP (ADVP well) known)) .)",
        ),
        (
            "Never have I seen such a mess.",
            "(SINV (ADVP Never) have (NP I) (VP seen (NP such a mess)) .)",
        ),
    ],
)
@pytest.mark.parametrize("beam", [1, 20])
def test_everyday_sentences_are_right(parser, text, tree, beam):
    """Sentences that no model learns from (tests/test_everyday.py)."""
    (found,) = parser.parse(text, beam=beam)
    assert re.sub(r"\([^\s()]+ ([^\s()]+)\)", r"\1", found.syntax.brackets()) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (
            "Mary likes tea and Bob coffee.",
            "(S (S (NP Mary) (VP likes (NP tea))) and (S (NP Bob) (NP coffee)) .)",
        ),
        (
            "Stir the soup, add salt and serve it hot.",
            "(S (VP (VP Stir (NP the soup)) , (VP add (NP salt)) and "
            "(VP serve (NP it) (ADJP hot))) .)",
        ),
    ],
)
def test_harder_sentences_are_right_with_the_large_model(large, text, tree):
    (found,) = large.parse(text)
    assert re.sub(r"\([^\s()]+ ([^\s()]+)\)", r"\1", found.syntax.brackets()) == tree


def test_neighbours_do_not_change_a_tree(parser):
    sentences = [["She", "slept", "."], ["Rain", "fell", "on", "the", "roof", "all", "night", "."]]
    together = parser.parse_tokens(sentences * 20)
    for words, found in zip(sentences * 20, together, strict=True):
        (alone,) = parser.parse_tokens([words])
        assert str(alone.syntax) == str(found.syntax)
        assert alone.syntax.log_prob == pytest.approx(found.syntax.log_prob, abs=1e-4)


def test_treebank_and_text_forms_are_parsed_alike(parser):
    text = ["He", "left", "(", "at", "last", ")", ",", "“", "tired", "”", "."]
    penn = ["He", "left", "-LRB-", "at", "last", "-RRB-", ",", "``", "tired", "''", "."]
    one, two = parser.parse_tokens([text, penn])
    assert one.syntax.log_prob == pytest.approx(two.syntax.log_prob, abs=1e-4)


def test_it_parses_without_torch():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import cleft; print(cleft.load().parse('She slept.')[0].syntax)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "(S (NP (PRP She)) (VP (VBD slept)) (. .))\n"
