"""Texts in, sentences with trees and exact offsets out; one result at least for each text."""

import json
import subprocess
import sys
from collections import Counter

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import cleft
from cleft.discourse import DiscourseTree
from cleft.errors import InputError, LanguageWarning, ModelError, UsageError
from cleft.models import builtin_models
from cleft.parser import Parser, load
from cleft.search import Constraints
from cleft.search.trees import build_tree
from cleft.sentence import SentenceInput
from cleft.tasks import DISCOURSE
from cleft.text import Token
from tests.runtime.models import model

TEXT = "Rain fell, so she left.\n\nThe old grey heron (naïve) waits.  So?"


@pytest.fixture(scope="session")
def parser() -> Parser:
    return load(model("lstm"))


def assert_offsets(text, sentences):
    assert "".join("".join(s.words) for s in sentences) == "".join(text.split())
    for sentence in sentences:
        assert text[sentence.start : sentence.end] == sentence.text
        assert all(text[t.start : t.end] == t.text for t in sentence.tokens)
        for edu in sentence.edus:
            assert " ".join(text[edu.start : edu.end].split()) == " ".join(edu.text.split())
            assert edu.start == sentence.tokens[edu.span.left].start
            assert edu.end == sentence.tokens[edu.span.right - 1].end


def test_a_text_gives_its_sentences_with_offsets_into_it(parser):
    found = parser.parse(TEXT)
    assert [s.text for s in found] == [
        "Rain fell, so she left.",
        "The old grey heron (naïve) waits.",
        "So?",
    ]
    assert_offsets(TEXT, found)
    assert [s.syntax.words() for s in found] == [list(s.words) for s in found]
    assert all(s.error is None and s.source == 0 for s in found)


# Control characters and joined emoji too; surrogates have no place in most texts but may come.
ODD = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(list(" \n\t.!?()“”’'-—…\u00a0\u2029\u200d👩🔬e\u0301")),
        st.sampled_from(list("abcXYZ .")),
    ),
    max_size=60,
)


@settings(max_examples=40)
@given(text=ODD)
def test_offsets_are_exact_in_any_text(parser, text):
    found = parser.parse(text)
    assert len(found) >= 1
    if text.split():
        assert_offsets(text, found)
        assert all(s.error is None for s in found)
    else:
        assert [type(s.error) for s in found] == [InputError]


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_a_text_without_a_word_has_one_result_with_an_error(parser, text):
    (found,) = parser.parse(text)
    assert isinstance(found.error, InputError)
    assert "there is no sentence" in str(found.error)
    assert (found.text, found.start, found.end, found.tokens) == (text, 0, len(text), ())


def test_what_is_no_text_is_refused(parser):
    with pytest.raises(UsageError, match="expected a text"):
        parser.parse(["a", "list"])
    with pytest.raises(UsageError, match="hyphens"):
        parser.parse("a", hyphens="some")
    with pytest.raises(UsageError):
        parser.parse("a", language="th")
    with pytest.raises(UsageError, match="hyphens"):
        parser.stream(["a"], hyphens="some")


def test_hyphens_are_the_callers_choice(parser):
    assert parser.parse("well-known")[0].words == ("well", "-", "known")
    assert parser.parse("well-known", hyphens="keep")[0].words == ("well-known",)


def test_a_token_that_is_too_long_is_the_error_of_its_sentence(parser):
    good, bad = parser.parse("Rain fell.\n\n" + "x" * 10_001)
    assert good.error is None
    assert str(bad.error).startswith("sentence 2: token 1 has 10001 characters")
    assert bad.start == 12


def test_trees_answer_as_the_readme_calls_them(parser):
    (sentence,) = parser.parse("Rain fell, so she left.", beam=4, n_best=2, alternatives=1)
    tree = sentence.syntax
    assert tree.brackets().startswith("(")
    assert tree.to_nltk().leaves() == list(sentence.words)
    assert tree.log_prob < 0
    assert 0 < tree.probability <= 1
    assert len(sentence.discourse.splits()) == len(sentence.discourse.edus) - 1
    for split in sentence.discourse.splits():
        assert 0 <= split.left < split.split < split.right <= 7
        assert split.relation in ("cause", "joint", "concession")
        assert split.nuclearity in ("NS", "SN", "NN")
        assert 0 <= split.probability <= 1
    for parse in sentence.parses["discourse"]:
        assert all(edu.start is not None for edu in parse.tree.edus)
        assert parse.tree.log_prob == parse.log_prob


def test_brackets_in_words_are_escaped_in_brackets_only(parser):
    (sentence,) = parser.parse("She (so) left.")
    assert "(" in sentence.syntax.words()
    assert "-LRB-" in sentence.syntax.brackets()


def test_segments_are_the_edus_of_each_sentence(parser):
    text = "Rain fell,\nso she left. The heron waits."
    found = parser.segment(text)
    assert len(found) == 2
    trees = parser.parse(text, task="discourse")
    assert found == [tuple(sentence.discourse.edus) for sentence in trees]
    assert all("\n" not in edu.text for edus in found for edu in edus)
    assert parser.segment("") == [()]


# ---------------------------------------------------------------- streams


def test_a_stream_of_texts_and_tokens_numbers_its_inputs(parser):
    items = [TEXT, "", ["the", "heron"], "She left.", 7]
    found = list(parser.stream(items))
    assert [s.source for s in found] == [0, 0, 0, 1, 2, 3, 4]
    assert [s.error is None for s in found] == [True] * 3 + [False, True, True, False]
    assert str(found[3].error).startswith("text 2: there is no sentence")
    assert found[5].words == ("She", "left", ".")
    assert found[5].edus[0].start == 0
    assert found[4].edus[0].start is None


def test_one_text_is_no_stream_of_letters(parser):
    with pytest.raises(UsageError, match=r"expected texts or lists of tokens, found str; put it"):
        parser.stream("Rain fell.")


def test_a_long_text_streams_in_windows(parser):
    seen = []

    def texts():
        for number in range(3):
            seen.append(number)
            yield "She left. " * 500

    found = parser.stream(texts(), task="discourse")
    next(found)
    assert seen == [0]
    rest = list(found)
    assert len(rest) == 1499
    assert rest[-1].source == 2
    assert rest[-1].start == 10 * 499


def test_workers_parse_texts_too(parser):
    items = [TEXT, "", ["the", "heron"]] * 3
    found = list(parser.stream(items, jobs=2))
    expected = list(parser.stream(items))
    assert [s.to_record() for s in found] == [s.to_record() for s in expected]


def test_sentence_inputs_bring_offsets_tags_edus_and_fields(parser):
    source = SentenceInput(
        text="Rain fell so she left",
        tokens=tuple(
            Token(word, start, start + len(word))
            for word, start in (("Rain", 0), ("fell", 5), ("so", 10), ("she", 13), ("left", 17))
        ),
        tags=("A", "B", "C", "D", "E"),
        constraints=Constraints(edus=(2, 5)),
        start=100,
        line=7,
        fields={"doc": "x"},
    )
    empty = SentenceInput(text="", line=8)
    found, bad = parser.stream([source, empty])
    assert found.syntax.tags() == list("ABCDE")
    assert [(edu.start, edu.end) for edu in found.edus] == [(100, 109), (110, 121)]
    assert found.fields == {"doc": "x"}
    assert str(bad.error).startswith("line 8: there are no tokens")


# ---------------------------------------------------------------- records and notebooks


def test_a_record_is_a_row_of_plain_values(parser):
    (sentence,) = parser.parse("Rain fell.")
    record = sentence.to_record()
    assert json.loads(json.dumps(record)) == record
    assert record["tokens"] == ["Rain", "fell", "."]
    assert record["syntax"] == sentence.syntax.brackets()
    (failed,) = parser.parse("")
    assert failed.to_record()["syntax"] is None
    assert "no sentence" in failed.to_record()["error"]


def test_records_are_rows_of_a_parquet_file(parser, tmp_path):
    """One type a column, whatever became of the sentences: trees, one EDU, no tree at all."""
    edus = [Constraints(edus=(1, 3)), Constraints(edus=(3,)), None]
    found = parser.parse_tokens([["Rain", "fell", "."]] * 2 + [[]], constraints=edus)
    found += parser.parse_tokens([["Rain", "fell"]], task="syntax")
    rows = [sentence.to_record() for sentence in found]
    (split,) = found[0].discourse.splits()
    assert rows[0]["discourse"][0]["relation"] == split.relation
    assert [row["discourse"] for row in rows[1:]] == [[], None, None]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "trees.parquet")
    table = parquet.read_table(tmp_path / "trees.parquet")
    assert table.to_pylist() == rows
    split = "left: int64, split: int64, right: int64"
    label = "relation: string, nuclearity: string, probability: double"
    assert dict(zip(table.schema.names, map(str, table.schema.types), strict=True)) == {
        **dict.fromkeys(("source", "start", "end"), "int64"),
        **dict.fromkeys(("text", "syntax", "error"), "string"),
        **dict.fromkeys(("tokens", "tags", "edus"), "list<element: string>"),
        **dict.fromkeys(("syntax_log_prob", "discourse_log_prob"), "double"),
        **dict.fromkeys(("syntax_probability", "discourse_probability"), "double"),
        "discourse": f"list<element: struct<{split}, {label}>>",
    }


def test_a_line_of_json_holds_both_trees_and_the_offsets(parser):
    from cleft.formats.jsonl import parse_record

    (sentence,) = parser.parse("  Rain fell.", beam=3, n_best=2)
    line = sentence.to_jsonl()
    record = parse_record(line)
    assert record.syntax == sentence.syntax
    assert record.discourse == sentence.discourse
    data = json.loads(line)
    assert (data["text"], data["start"]) == ("Rain fell.", 2)
    assert data["offsets"] == [[2, 6], [7, 11], [11, 12]]
    assert len(data["n_best"]["syntax"]) == len(sentence.parses["syntax"])
    assert data["n_best"]["syntax"][0]["tags"] == sentence.parses["syntax"][0].tree.tags()


def test_a_notebook_shows_both_trees_and_no_markup_of_the_text(parser):
    (sentence,) = parser.parse("<script>alert(1)</script> left.")
    shown = sentence._repr_html_()
    assert shown.count("<svg") == 2
    assert "<script>" not in shown
    (failed,) = parser.parse(" ")
    assert failed._repr_html_().startswith("<p>there is no sentence")
    assert cleft.Sentence(text="a<b")._repr_html_() == "<p>a&lt;b</p>"


# ---------------------------------------------------------------- models by name


def test_a_model_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(ModelError, match="name or directory, found nothing") as caught:
        load("no-such-model")
    assert all(name in str(caught.value) for name in builtin_models())
    assert "models/ of cleft's repository, as in models/fr" in str(caught.value)


def test_a_model_is_found_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr("cleft.models._folder", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)  # no folder models here
    monkeypatch.delenv("CLEFT_MODELS", raising=False)
    assert builtin_models() == []
    with pytest.raises(ModelError, match="there is no built-in model"):
        load()
    (tmp_path / "en").symlink_to(model("lstm"))
    (tmp_path / "notes").mkdir()
    assert builtin_models() == ["en"]
    assert load().parse("Rain.")[0].syntax is not None
    (found,) = load("en").stream(["Rain."], jobs=2)
    assert found.error is None


def test_names_are_found_without_loading_the_runtime():
    code = (
        "import sys, cleft.models as m; m.builtin_models(); "
        "print([n for n in ('onnxruntime', 'numpy', 'torch') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


# ---------------------------------------------------------------- another language

GERMAN = "Der Hund schläft nicht, weil es in der Nacht regnet und die Kinder noch singen."


@pytest.fixture(scope="module")
def english() -> Parser:
    return load("en-fast")


@pytest.mark.parametrize(
    "parse",
    [
        lambda parser: parser.parse(GERMAN),
        lambda parser: parser.segment(GERMAN),
        lambda parser: parser.parse_tokens([GERMAN.split()] * 9),
        lambda parser: list(parser.stream([GERMAN] * 9, task="syntax")),
        lambda parser: list(parser.stream([GERMAN.split(), SentenceInput(text=GERMAN)])),
    ],
    ids=["parse", "segment", "parse_tokens", "stream", "stream of sentences"],
)
def test_a_text_in_another_language_is_parsed_with_one_warning(english, parse):
    with pytest.warns(LanguageWarning, match="looks like German.* trained on English") as warned:
        assert parse(english)
    assert len(warned) == 1


def test_a_warning_points_to_the_caller(english):
    with pytest.warns(LanguageWarning) as warned:
        english.parse(GERMAN)
    assert warned[0].filename == __file__


def test_text_in_the_language_of_the_model_or_of_one_that_names_none_is_quiet(english, parser):
    english.parse("The dog does not sleep, because it rains in the night.")  # warnings are errors
    parser.parse(GERMAN)


def test_each_tree_is_built_once(parser):
    made = Counter()

    def count(frame, event, _):
        if event == "call":
            made[frame.f_code] += 1

    sys.setprofile(count)
    try:
        found = parser.parse("Rain fell, so she left. The old grey heron waits.")
        assert all(sentence.to_jsonl() for sentence in found)
    finally:
        sys.setprofile(None)
    assert made[build_tree.__code__] == made[DISCOURSE.build.__code__] == len(found) == 2
    nodes = sum(len(sentence.discourse.preorder()) for sentence in found)
    assert made[DiscourseTree.__init__.__code__] == nodes
