"""What a caller gives by mistake is told in our own words: what was expected, and what was found.

A mistake in the call is raised; a mistake in one sentence is the error of that sentence.
"""

from pathlib import Path

import numpy as np
import pytest

from cleft.errors import CleftError, ConstraintError, InputError, UsageError
from cleft.parser import Parser, load
from cleft.search import Constraints, SearchOptions
from cleft.sentence import SentenceInput
from cleft.span import Span
from cleft.tasks import DISCOURSE, SYNTAX
from cleft.text import Token, tokenize
from cleft.tree import Tree
from tests.runtime.models import model

WORDS = ["Rain", "fell", "."]
TOKENS = (Token("Rain", 0, 4), Token("fell", 5, 9))


@pytest.fixture(scope="module")
def parser() -> Parser:
    return load(model("lstm"))


# ---------------------------------------------------------------- constraints


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"edus": (Span(0, 1), Span(1, 3))}, "Span(left=0, right=1)"),
        ({"edus": [[0, 1], [1, 3]]}, "[0, 1]"),
        ({"edus": "13"}, "'13'"),
        ({"edus": 3}, "3"),
        ({"edus": (1.0, 3.0)}, "1.0"),
        ({"edus": (True, 3)}, "True"),
        ({"spans": Span(0, 2)}, "0"),
        ({"spans": ((0, 1, 2),)}, "(0, 1, 2)"),
        ({"spans": ((0, 2, "NP"),)}, "'NP'"),
        ({"spans": None}, "None"),
        ({"spans": ("ab",)}, "'ab'"),
        ({"spans": ((0.0, 2.0),)}, "0.0"),
    ],
    ids=str,
)
def test_constraints_of_another_shape_are_refused_when_they_are_made(given, found):
    with pytest.raises(ConstraintError) as told:
        Constraints(**given)
    assert told.value.where in given
    assert told.value.problem.startswith("expected ")
    assert told.value.problem.endswith(f", found {found}")
    assert "as in " in told.value.hint


def test_boundaries_may_come_in_any_list_of_whole_numbers(parser):
    given = [
        Constraints(edus=np.array([1, 3])),
        Constraints(edus=(edge for edge in (1, 3))),
        Constraints(edus=[1, 3], spans=np.array([[1, 3]])),
    ]
    assert [each.edus for each in given] == [(1, 3)] * 3
    assert given[2].spans == (Span(1, 3),)
    found = parser.parse_tokens([WORDS] * 3, constraints=given)
    assert [[edu.span for edu in each.edus] for each in found] == [[(0, 1), (1, 3)]] * 3


# ---------------------------------------------------------------- calls


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam": "5"}, "beam is '5', expected a whole number, 1 or more"),
        ({"beam": 2.5}, "beam is 2.5, expected a whole number"),
        ({"beam": None}, "beam is None, expected a whole number"),
        ({"beam": True}, "beam is True, expected a whole number"),
        ({"n_best": "2"}, "n_best is '2', expected a whole number"),
        ({"alternatives": 1.5}, "alternatives is 1.5, expected a whole number, 0 or more"),
        ({"margin": "1"}, "margin is '1', expected a number, 0 or more"),
        ({"trace": "no"}, "trace is 'no', expected True or False"),
    ],
    ids=str,
)
def test_search_options_of_another_type_are_refused(parser, options, message):
    with pytest.raises(UsageError, match=message):
        parser.parse_tokens([WORDS], **options)


def test_numbers_of_numpy_are_numbers():
    options = SearchOptions(beam=np.int64(4), margin=np.float32(1), trace=np.bool_(True))
    assert type(options.beam) is int
    with pytest.raises(UsageError, match="prune is 0, expected True or False"):
        SearchOptions(prune=0)


CALLS = {
    "expected a text \\(str\\), found bytes": lambda parser: parser.parse(b"Rain fell."),
    "expected a text \\(str\\), found list": lambda parser: parser.segment(["Rain fell."]),
    "language 5: expected a language code": lambda parser: parser.parse("Rain.", language=5),
    "hyphens: .* found \\['keep'\\]": lambda parser: parser.parse("Rain.", hyphens=["keep"]),
    "expected sentences, each a list of tokens, found str": (
        lambda parser: parser.parse_tokens("Rain fell.")
    ),
    "expected sentences, .*, found NoneType": lambda parser: parser.parse_tokens(None),
    "expected sentences, .*, found dict": lambda parser: parser.parse_tokens({"text": WORDS}),
    "expected a list of constraints, found Constraints; give one a sentence": (
        lambda parser: parser.parse_tokens([WORDS], constraints=Constraints(edus=(3,)))
    ),
    "expected a list of lists of tags, found int": (
        lambda parser: parser.parse_tokens([WORDS], tags=5)
    ),
    "expected texts or lists of tokens, found str; put it into a list": (
        lambda parser: parser.stream("Rain fell.")
    ),
    "expected texts or lists of tokens, found NoneType": lambda parser: parser.stream(None),
    "expected texts or lists of tokens, found dict": lambda parser: parser.stream({"text": "a"}),
    "expected texts or lists of tokens, found SentenceInput": (
        lambda parser: parser.stream(SentenceInput(text="Rain fell."))
    ),
    "jobs is '2', expected a whole number": lambda parser: parser.stream(["Rain."], jobs="2"),
    "jobs is 2.0, expected a whole number": lambda parser: parser.stream(["Rain."], jobs=2.0),
    "expected a function for `ready`, found bool": (
        lambda parser: parser.stream(["Rain."], ready=True)
    ),
    "expected a model's name or directory, found NoneType": lambda _: load(None),
    "threads is '2', expected a whole number": lambda _: load(model("lstm"), threads="2"),
    "threads is 1.5, expected a whole number": lambda _: load(model("lstm"), threads=1.5),
    "expected a scorer with a manifest, found str; use cleft.load": lambda _: Parser("en"),
    "expected a text \\(str\\), found NoneType": lambda _: tokenize(None),
    "expected a language code": lambda _: tokenize("Rain.", language=["en"]),
    "expected brackets \\(str\\), found PosixPath|WindowsPath": (
        lambda _: Tree.from_brackets(Path("trees.mrg"))
    ),
    "expected a Tree, found str; Tree.from_brackets": lambda _: SYNTAX.derive("(S (NN rain))"),
    "expected a DiscourseTree, found Tree": (
        lambda _: DISCOURSE.derive(Tree.from_brackets("(NN rain)"))
    ),
    "expected a span of two whole numbers, found Span\\(left='0'": lambda _: Span("0", "3").width,
    "expected a span .* found Span\\(left=0.0": lambda _: Span(0.0, 3.0).splits(),
    "expected a span .* found 1; as in": lambda _: Span(0, 3).holds(1),
    "expected a span .* found \\(1, 2, 3\\)": lambda _: Span(0, 3).crosses((1, 2, 3)),
}


@pytest.mark.parametrize("message", CALLS)
def test_an_argument_of_another_type_is_told(parser, message):
    with pytest.raises(UsageError, match=message):
        CALLS[message](parser)


# ---------------------------------------------------------------- one sentence among others


@pytest.mark.parametrize(
    ("tokens", "extra", "kind", "message"),
    [
        ("Rain fell.", {}, InputError, "expected a list of tokens, found str; a sentence is a"),
        (b"Rain", {}, InputError, "expected a list of tokens, found bytes"),
        ([b"Rain"], {}, InputError, "expected a word as token 1, found b'Rain'; a token is a str"),
        ([("Rain", "NN")], {}, InputError, "found ('Rain', 'NN'); a token is a str"),
        (WORDS, {"tags": "NN VB ."}, InputError, "expected a list of tags, found str; give one"),
        (WORDS, {"tags": [1, 2, 3]}, InputError, "expected a tag as number 1, found 1"),
        (WORDS, {"tags": ["NN", None, "."]}, InputError, "expected a tag as number 2, found None"),
        (WORDS, {"constraints": {"edus": (3,)}}, ConstraintError, "or None, found dict"),
        (WORDS, {"constraints": (3,)}, ConstraintError, "or None, found tuple"),
    ],
)
def test_a_wrong_sentence_has_its_error_and_the_next_its_trees(
    parser, tokens, extra, kind, message
):
    more = {name: (each for each in (value, None)) for name, value in extra.items()}
    wrong, right = parser.parse_tokens([tokens, WORDS], **more)
    assert type(wrong.error) is kind
    assert str(wrong.error).startswith("sentence 1: expected ")
    assert message in str(wrong.error)
    assert (right.error, right.syntax is None) == (None, False)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"tokens": ("Rain", "fell")}, "expected Token values in a SentenceInput, found str"),
        ({"text": None}, "expected a text and where it starts, found None and 0"),
        ({"tokens": TOKENS, "start": "0"}, "found 'Rain fell' and '0'"),
        ({"tokens": TOKENS, "tags": "ab"}, "expected a list of tags, found str"),
        ({"tokens": TOKENS, "constraints": (2,)}, "expected Constraints or None, found tuple"),
    ],
    ids=str,
)
def test_a_wrong_sentence_input_has_its_error_and_the_next_item_its_trees(parser, source, message):
    wrong, right = parser.stream([SentenceInput(**{"text": "Rain fell", **source}), WORDS])
    assert isinstance(wrong.error, CleftError)
    assert str(wrong.error).startswith("sentence 1: expected ")
    assert message in str(wrong.error)
    assert (right.error, right.syntax is None) == (None, False)
