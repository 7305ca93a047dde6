"""A head over sentences: learnt over a finished model, exported beside its heads, parsed with.

The documents are invented: a title, then paragraphs of a statement and what is said against it
("But …") or of its cause ("So …"). Paragraphs are joined.
"""

import json
import random
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import cleft
from cleft.discourse import DiscourseTree, Edu
from cleft.errors import FormatError, ModelError, RecipeError, TreeShapeError, UsageError
from cleft.nn.checkpoint import load_model
from cleft.nn.config import NetworkConfig
from cleft.nn.export.export import export
from cleft.nn.train.data import parts_of, read_documents
from cleft.nn.train.recipe import parse_recipe
from cleft.nn.train.trainer import train
from cleft.nn.units import UnitFeaturiser
from cleft.runtime.units import MARKS, Unit, sentence_vectors, text_marks
from cleft.search import SearchOptions, search
from cleft.span import Constraints, Span
from cleft.tasks import DOCUMENT

NETWORK = {"encoder": "sentences", "model": "en-fast", "word_size": 24, "encoder_layers": 1}
NETWORK |= {"encoder_hidden": 24, "span_size": 16, "decoder_layers": 1, "decoder_hidden": 24}
NETWORK |= {"pointer_size": 16, "label_size": 12, "pointer_range": "span", "span_scores": 12}
NETWORK |= {"embed_dropout": 0.0, "encoder_dropout": 0.0, "decoder_dropout": 0.0}
NETWORK |= {"mlp_dropout": 0.0, "history": False}
NAMES = ("Ann", "Ben", "Eva", "Tom", "Ida")
DONE = ("slept", "left", "won", "smiled", "waited")


def made(seed: int) -> dict:
    """A document as a corpus has it: one EDU a sentence, two where it begins with "But"."""
    rng = random.Random(seed)
    sents = [{"tokens": ["The", "Day"], "newpar": True}]
    blocks = []
    for _ in range(rng.randint(1, 3)):
        start = len(sents)
        first = rng.choice(NAMES)
        sents.append({"tokens": [first, rng.choice(DONE), "."], "newpar": True})
        if rng.random() < 0.8:
            mark = rng.choice(["But", "So"])
            words = [mark, rng.choice(NAMES), rng.choice(DONE), "."]
            sents.append({"tokens": words, "newpar": False})
            blocks.append((start, len(sents), "adversative_NN" if mark == "But" else "causal_SN"))
        else:
            blocks.append((start, len(sents), ""))
    ends = np.cumsum([len(row["tokens"]) for row in sents]).tolist()
    at = [0, *ends]
    splits = [[0, at[1], ends[-1], "organization_SN"]]
    for number, (left, right, label) in enumerate(blocks):
        if number + 1 < len(blocks):
            splits.append([at[left], at[right], ends[-1], "joint_NN"])
        if label:
            splits.append([at[left], at[left + 1], at[right], label])
    edus = []
    for row, left, right in zip(sents, at, ends, strict=False):
        if row["tokens"][0] == "But":
            splits.append([left, left + 2, right, "attribution_NS"])
            edus += [[left, left + 2], [left + 2, right]]
        else:
            edus.append([left, right])
    return {"genre": "made", "sents": sents, "edus": edus, "splits": splits}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for part, seeds in (("train", range(40)), ("dev", range(100, 110))):
        lines = "".join(json.dumps(made(seed)) + "\n" for seed in seeds)
        (folder / f"{part}.jsonl").write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run(folder) -> Path:
    data = {"document": {part: str(folder / f"{part}.jsonl") for part in ("train", "dev")}}
    training = {"epochs": 8, "dev_every": 4, "batch_tokens": 40, "learning_rate": 0.01}
    training |= {"schedule": "constant", "threads": 1, "betas": [0.9, 0.98], "final_beams": [1]}
    recipe = {"name": "over", "data": data, "network": NETWORK, "training": training}
    found = train(parse_recipe(recipe), folder / "run")
    assert found["best"]["dev"]["document"]["full"] > 90
    return folder / "run"


@pytest.fixture(scope="module")
def model(run, folder) -> Path:
    return export(run, folder / "model")


UNITS = [
    Unit(("The", "Day"), begins=True),
    *(Unit(("Ann", "slept", "."), begins=True), Unit(("But", "Ben", "left", "."))),
    *(Unit(("Eva", "won", "."), begins=True), Unit(("So", "Tom", "smiled", "."))),
]


def test_the_exported_head_says_what_pytorch_says(run, model):
    torch, exported = load_model(run / "best"), cleft.load(model).scorer
    documents = [UNITS, UNITS[:3], UNITS[1:]]
    options = SearchOptions(beam=4, n_best=3)
    ours, theirs = (search(each, documents, DOCUMENT, options) for each in (exported, torch))
    for one, two in zip(ours, theirs, strict=True):
        assert [parse.tree for parse in one] == [parse.tree for parse in two]
        found, expected = ([parse.log_prob for parse in each] for each in (one, two))
        assert np.allclose(found, expected, atol=1e-3)
    assert one[0].tree.relation == "joint"


def test_the_model_below_is_as_it_was_and_the_check_covers_the_head(model):
    before, after = cleft.load("en-fast"), cleft.load(model)
    assert after.check() == before.check()
    assert after.manifest.document_test.trees["document"]
    text = "Although it rained, Ann slept because she was tired."
    assert [s.to_jsonl() for s in after.parse(text)] == [s.to_jsonl() for s in before.parse(text)]
    kept = {name: known for name, known in before.directory.sums.items() if "document" not in name}
    for name in kept.keys() - {"config.json"}:
        assert after.directory.sums[name] == kept[name]


def test_one_document_and_many_give_the_same(model):
    scorer = cleft.load(model).scorer
    together = search(scorer, [UNITS, UNITS[1:]], DOCUMENT)
    alone = [search(scorer, [units], DOCUMENT)[0] for units in (UNITS, UNITS[1:])]
    for (one,), (two,) in zip(together, alone, strict=True):
        assert one.tree == two.tree
        assert np.isclose(one.log_prob, two.log_prob, atol=1e-4)


def test_every_part_of_two_sentences_is_a_document_of_its_own(folder):
    _, document, _ = next(read_documents(folder / "train.jsonl"))
    parts = list(parts_of(document))
    assert parts
    for part, below in parts:
        assert 2 <= len(part) == below.span.right < len(document[0])
        assert DOCUMENT.build(DOCUMENT.derive(below), part).splits() == below.splits()


def test_a_sentence_that_is_no_subtree_is_snapped(tmp_path):
    line = {
        "sents": [{"tokens": ["a", "b"], "newpar": True}, {"tokens": ["c"]}],
        "edus": [[0, 1], [1, 2], [2, 3]],
        "splits_fine": [[0, 1, 3, "joint-list_NN"], [1, 2, 3, "causal-cause_NS"]],
    }
    (tmp_path / "one.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    [(_, (units, tree), (edus, finer))] = read_documents(tmp_path / "one.jsonl")
    assert [unit.begins for unit in units] == [True, False]
    assert edus[1] == Unit(("b",), False, ("a", "b"), 1)
    assert [split[:4] for split in finer.splits()] == [(0, 1, 3, "joint"), (1, 2, 3, "causal")]
    assert [tuple(split[:5]) for split in tree.splits()] == [(0, 1, 2, "joint", "NN")]


def test_an_edu_is_read_as_its_sentence_says():
    featurise = UnitFeaturiser(NetworkConfig(tasks=("document",), **NETWORK))
    words = ("Ann", "slept", "because", "Ben", "left")
    whole, part, alone = (
        featurise([[unit]]).vectors[0, 1].numpy()
        for unit in (Unit(words), Unit(words[2:], False, words, 2), Unit(words[2:]))
    )
    third = (len(whole) - len(MARKS)) // 3
    assert (part[third : 2 * third] == whole[third : 2 * third]).all()  # the same last boundary
    assert not np.allclose(part[:third], alone[:third], atol=1e-3)


def test_a_line_that_is_no_document_names_its_place(tmp_path):
    (tmp_path / "one.jsonl").write_text('{"sents": [{"tokens": ["a"]}]}\n', encoding="utf-8")
    with pytest.raises(FormatError, match=r"one\.jsonl line 1"):
        list(read_documents(tmp_path / "one.jsonl"))


def test_documents_need_the_encoder_of_sentences():
    with pytest.raises(RecipeError, match=r"network\.encoder"):
        NetworkConfig(tasks=("document",))
    with pytest.raises(RecipeError, match=r"network\.encoder"):
        NetworkConfig(tasks=("syntax",), encoder="sentences", model="en")
    with pytest.raises(RecipeError, match=r"network\.model"):
        NetworkConfig(tasks=("document",), encoder="sentences")


def test_vectors_are_of_each_sentence_alone():
    rows = np.arange(14, dtype=np.float32).reshape(7, 2)
    found = sentence_vectors(rows, [3, 2])
    assert found[1].tolist() == [8, 9, 12, 13, 10, 11]


def test_marks_do_not_depend_on_what_stands_in_other_paragraphs():
    one = text_marks(UNITS)
    other = text_marks([*UNITS[:3], Unit(("No", "!"), begins=True), Unit(("Why", "?"))])
    assert (one[:3] == other[:3]).all()
    assert not (one[3:] == other[3:]).all()


def test_a_tree_over_sentences_has_no_wider_leaves():
    tree = DOCUMENT.build(DOCUMENT.derive(DiscourseTree.leaf(Edu("a", Span(0, 1)))), [["a"]])
    assert tree.is_leaf
    with pytest.raises(TreeShapeError, match="holds 2 sentences"):
        DOCUMENT.derive(DiscourseTree.leaf(Edu("a", Span(0, 2))))


# ---------------------------------------------------------------- parsing with it


TEXT = "The Day\n\nAnn slept. But Ben left.\n\nEva won. So Tom smiled."


def test_a_text_is_parsed_into_one_tree(model):
    parser = cleft.load(model)
    document = parser.parse_document(TEXT)
    assert document.error is None
    assert document.paragraphs == (0, 1, 3)
    assert [edu.text for edu in document.edus] == [s.text for s in document.sentences]
    assert [split[:5] for split in document.tree.splits()] == [
        (0, 2, 16, "organization", "SN"),
        (2, 9, 16, "joint", "NN"),
        (2, 5, 9, "adversative", "NN"),
        (9, 12, 16, "causal", "SN"),
    ]
    assert all(0 < split.probability <= 1 for split in document.tree.splits())
    assert document.tree.log_prob == pytest.approx(
        document.parses[0].log_prob + sum(s.discourse.log_prob for s in document.sentences)
    )
    tokens = [sentence.words for sentence in document.sentences]
    again = parser.parse_document(sentences=tokens, paragraphs=[0, 1, 3])
    assert again.tree.splits() == document.tree.splits()


def test_sentences_are_encoded_once(model, monkeypatch):
    parser = cleft.load(model)
    calls = []
    encode = parser.scorer.encode
    monkeypatch.setattr(
        parser.scorer, "encode", lambda rows: calls.append(len(rows)) or encode(rows)
    )
    parser.parse_document(TEXT)
    assert calls == [5]


def test_documents_of_a_stream_come_in_order_and_never_mix(model):
    parser = cleft.load(model)
    items = [TEXT, "", [["Ann", "slept", "."], ["But", "Ben", "left", "."]], TEXT[9:34], "Rain"]
    found = list(parser.stream(items, document=True))
    for item, document in zip(items, found, strict=True):
        alone = (
            parser.parse_document(item)
            if isinstance(item, str)
            else parser.parse_document(sentences=item)
        )
        assert document.text == alone.text
        assert document.tree == alone.tree
    assert [len(document.edus) for document in found] == [5, 0, 2, 2, 1]
    assert found[1].tree is None
    assert "no sentence" in str(found[1].error)
    assert found[4].tree.is_leaf
    assert [d.tree for d in parser.stream(items, document=True, jobs=2)] == [d.tree for d in found]


def test_what_is_demanded_of_sentences_and_of_the_tree_over_them_holds(model):
    parser = cleft.load(model)
    rows = [["Ann", "slept", "."], ["But", "Ben", "left", "."], ["So", "Eva", "won", "."]]
    given = [None, Constraints(edus=(1, 4)), None]
    for spans in ([(0, 2)], [(1, 3)]):
        document = parser.parse_document(
            sentences=rows, constraints=given, spans=[Span(*span) for span in spans]
        )
        assert [tuple(edu.span) for edu in document.edus] == [(0, 3), (3, 4), (4, 7), (7, 11)]
        assert {tuple(s[::2]) for s in document.parses[0].derivation.splits} == {(0, 3), *spans}
    wrong = parser.parse_document(sentences=rows, spans=[Span(0, 2), Span(1, 3)])
    assert "cross" in str(wrong.error)
    assert wrong.tree is None


def test_beam_n_best_alternatives_and_trace_are_those_of_sentences(model):
    document = cleft.load(model).parse_document(TEXT, beam=6, n_best=4, alternatives=2, trace=True)
    parses = document.parses
    assert 1 < len(parses) <= 4
    assert [p.log_prob for p in parses] == sorted((p.log_prob for p in parses), reverse=True)
    assert len(parses[0].steps) == len(document.sentences) - 1
    assert parses[0].steps[0].distribution.sum() == pytest.approx(1, abs=1e-4)
    boundary, _ = document.tree.evidence.splits[0]
    assert boundary in {sentence.right for sentence in map(document.span_of, range(5))}


def test_a_model_without_the_head_says_what_to_do():
    parser = cleft.load("models/fr")
    with pytest.raises(ModelError, match=r"no head for documents.*docs/training"):
        parser.parse_document("Il pleut.")
    with pytest.raises(ModelError, match="no head for documents"):
        parser.stream(["Il pleut."], document=True)


def test_a_call_needs_a_text_or_sentences(model):
    parser = cleft.load(model)
    for given in ({}, {"text": "It rained.", "sentences": [["It"]]}):
        with pytest.raises(UsageError, match="expected a text or sentences"):
            parser.parse_document(**given)
    with pytest.raises(UsageError, match="has no task 'document'"):
        parser.parse("It rained.", task="document")


def test_many_sentences_cost_as_much_memory_as_there_are(model):
    scorer = cleft.load(model).scorer
    units = [UNITS[number % 5] for number in range(3000)]
    encoded = scorer.encode([units])
    tracemalloc.start()
    [[parse]] = search(scorer, [units], DOCUMENT, encoded=encoded)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(parse.tree.edus) == 3000
    assert peak < 3000 * 3000  # bytes: a table of all pairs would have four times as many
