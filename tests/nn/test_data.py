"""Vocabularies, features, examples, batches."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cleft.errors import FormatError, InputError
from cleft.nn.config import NetworkConfig
from cleft.nn.features import BEGIN, END, PAD, UNKNOWN, Featuriser, Vocabulary
from cleft.nn.train.batches import collate, plan, portion, share
from cleft.nn.train.data import (
    derive_sentences,
    make_examples,
    make_vocabulary,
    read_sentences,
)
from cleft.nn.train.objective import Objective
from cleft.nn.train.recipe import DataConfig
from cleft.nn.train.recipe_file import read_recipe
from cleft.nn.train.setup import prepare
from cleft.runtime.words import CASINGS, casing
from cleft.tasks import DISCOURSE, Task, get_task
from tests.nn.conftest import BOTH, DATA, PAPER, ROOT, SMALL, Bench, invented


def test_a_vocabulary_keeps_frequent_words_lower_cased_and_characters_cased():
    vocabulary = Vocabulary.build([["Aa", "aa", "b"], ["B", "c"]], min_count=2, extra=["zz"])
    assert vocabulary.words[4:] == ("aa", "b", "zz")
    assert vocabulary.chars[4:] == ("a",)
    assert vocabulary.word_id("AA") == 4
    assert vocabulary.word_id("c") == UNKNOWN
    assert vocabulary.char_ids("aAa", 2) == [4, UNKNOWN]
    assert vocabulary.char_ids("", 20) == [UNKNOWN]


def test_a_vocabulary_survives_json():
    config = NetworkConfig(tags=True)
    rows = derive_sentences("syntax", invented("syntax"), config)
    vocabulary = make_vocabulary({"syntax": rows}, config, min_count=1)
    assert Vocabulary.from_table(vocabulary.to_table()) == vocabulary
    assert "NN" in vocabulary.tags


@pytest.mark.parametrize("table", [{}, {"words": 3, "chars": [], "tags": [], "labels": {}}, []])
def test_a_broken_vocabulary_is_a_clear_error(table):
    with pytest.raises(FormatError, match="vocabulary: expected"):
        Vocabulary.from_table(table)


def test_features_frame_every_sentence_and_pad_the_rest():
    vocabulary = Vocabulary.build([["the", "cat", "sat"]], min_count=1)
    inputs = Featuriser(NetworkConfig(), vocabulary)([["the", "CAT", "sat"], ["?"]])
    ids = [vocabulary.word_id(word) for word in ("the", "cat", "sat")]
    assert inputs.words.tolist() == [[BEGIN, *ids, END], [BEGIN, UNKNOWN, END, PAD, PAD]]
    assert inputs.kinds.tolist() == [[1, 3, 4, 5, 2], [1, 6, 2, 0, 0]]
    assert inputs.chars[3, :3].tolist() == vocabulary.char_ids("the", 20)
    assert [CASINGS[n] for n in inputs.casings[0].tolist()] == [
        "mark",
        "lower",
        "upper",
        "lower",
        "mark",
    ]
    assert inputs.lengths.tolist() == [3, 1]


def test_only_the_first_characters_of_a_word_are_read():
    vocabulary = Vocabulary.build([["abc"]], min_count=1)
    inputs = Featuriser(NetworkConfig(char_limit=4), vocabulary)([["a" * 1000]])
    assert inputs.chars.shape == (4, 4)


@given(st.text(max_size=8))
def test_every_word_has_a_casing(word):
    assert 0 < casing(word) < len(CASINGS)


def test_inputs_move_between_devices(both):
    batch = collate(both.examples("discourse"), both.featurise)
    moved = batch.to(torch.device("meta"))
    assert moved.inputs.words.device.type == "meta"
    assert moved.left.device.type == "meta"
    assert moved.tags is None
    assert batch.to(torch.device("cpu")) is batch


def test_examples_hold_the_decisions_of_their_trees():
    config = NetworkConfig(**BOTH)
    data = {task: invented(task) for task in config.tasks}
    rows = {task: derive_sentences(task, found, config) for task, found in data.items()}
    vocabulary = make_vocabulary(rows, config, min_count=1)
    task = config.task("syntax")
    for sentence, example in zip(
        data["syntax"], make_examples("syntax", rows["syntax"], vocabulary), strict=True
    ):
        derivation = task.derive(sentence.tree)
        assert [tuple(row) for row in example.splits] == list(derivation.splits)
        assert [vocabulary.labels["syntax"][n] for n in example.labels] == list(derivation.labels)
        assert [tuple(row) for row in example.items] == task.labelled(
            derivation.length, derivation.splits
        )
        assert [vocabulary.tags[n] for n in example.tags] == sentence.tree.tags()
    for sentence, example in zip(
        data["discourse"],
        make_examples("discourse", rows["discourse"], vocabulary),
        strict=True,
    ):
        derivation = DISCOURSE.derive(sentence.tree)
        assert [tuple(row) for row in example.splits] == list(derivation.splits)
        inner = {edu.span.right for edu in sentence.tree.edus} - {len(sentence.words)}
        assert set(np.flatnonzero(example.edus == 1).tolist()) == inner
        assert example.edus[0] == example.edus[-1] == -1


def test_genres_and_files_are_read_as_the_recipe_says(tmp_path):
    path = tmp_path / "some.jsonl"
    line = '{"tokens": ["a", "b"], "edus": [[0, 2]], "splits": [], "genre": "%s"}\n'
    path.write_text(line % "news" + line % "poem")
    config = DataConfig(train=("x",), genres=("poem",))
    assert len(read_sentences("discourse", [str(path)], config)) == 1
    assert len(read_sentences("discourse", [str(path), str(path)], DataConfig(train=("x",)))) == 4


def test_trees_that_a_parser_was_not_sure_of_are_left_out(tmp_path):
    path = tmp_path / "silver.jsonl"
    line = '{"tokens": ["%s", "b"], "edus": [[0, 2]], "splits": []%s}\n'
    said = ', "confidence": {"syntax": 0.1, "discourse": %s}'
    path.write_text(line % ("sure", said % 0.75) + line % ("not", said % 0.7) + line % ("gold", ""))

    def read(**options):
        config = DataConfig(train=("x",), **options)
        return [found.words[0] for found in read_sentences("discourse", [str(path)], config)]

    assert read() == ["sure", "not", "gold"]
    assert read(confidence=0.75) == ["sure", "gold"]
    for wrong in ("0.7", '{"discourse": "high"}', '{"discourse": 1.5}'):
        path.write_text(line % ("a", f', "confidence": {wrong}'))
        with pytest.raises(FormatError, match=r"silver.jsonl record 1: expected a number from 0"):
            read(confidence=0.5)


def test_what_else_a_tree_could_be_is_read_and_checked(tmp_path):
    path = tmp_path / "silver.jsonl"
    line = '{"tokens": ["a", "b", "c"], "edus": [[0, 3]], "splits": [], "alternatives": %s}\n'

    def read(said, **options):
        path.write_text(line % said)
        found = read_sentences("discourse", [str(path)], DataConfig(train=("x",), **options))
        return derive_sentences("discourse", found, NetworkConfig(**BOTH))[0].others

    good = '{"discourse": {"split": [[0, 1, 0.25]], "edu": [[2, 1, 0.1]]}, "syntax": {}}'
    assert read(good) == {"split": [(0, 1, 0.25)], "edu": [(2, 1, 0.1)]}
    assert read(good, alternatives=False) == {}
    for wrong in (
        "[]",
        '{"discourse": []}',
        '{"discourse": {"head": []}}',
        '{"discourse": {"split": [[0, 1]]}}',
        '{"discourse": {"split": [[0, 1, 0.5, 2]]}}',
        '{"discourse": {"split": [[0, "1", 0.5]]}}',
        '{"discourse": {"split": [[-1, 1, 0.5]]}}',
        '{"discourse": {"split": [[0, 1, 1.5]]}}',
        '{"discourse": {"label": [[0, 3, 0.5]]}}',
    ):
        with pytest.raises(FormatError, match=r"silver.jsonl record 1: expected lists of \[decisi"):
            read(wrong)
    for odd in ('"split": [[1, 1, 0.5]]', '"split": [[0, 4, 0.5]]', '"edu": [[1, 2, 0.5]]'):
        with pytest.raises(InputError, match=r"expected other choices of the decisions of a tree"):
            read(f'{{"discourse": {{{odd}}}}}')


def test_syntax_is_read_from_json_lines_too_and_a_missing_tree_is_an_error(tmp_path):
    from cleft.formats.jsonl import Record, format_record

    path = tmp_path / "some.jsonl"
    path.write_text(format_record(Record(syntax=invented("syntax")[0].tree)) + "\n")
    config = DataConfig(train=("x",))
    assert read_sentences("syntax", [str(path)], config) == invented("syntax")[:1]
    with pytest.raises(InputError, match=r"some.jsonl: expected a discourse tree .* in record 1;"):
        read_sentences("discourse", [str(path)], config)
    path.write_text('{"edus": [[0, 2]], "splits": []}\n')
    with pytest.raises(InputError, match=r"expected the words .* in record 1; give 'tokens'"):
        read_sentences("discourse", [str(path)], config)


LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=80)


@given(LENGTHS, st.integers(1, 200), st.integers(0, 5), st.integers(0, 5))
def test_a_plan_has_every_example_once_within_the_budget(lengths, budget, seed, epoch):
    batches = plan(lengths, budget, seed, epoch)
    assert Counter(n for batch in batches for n in batch.tolist()) == Counter(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or sum(lengths[n] for n in batch) <= budget
    again = plan(lengths, budget, seed, epoch)
    assert all(np.array_equal(one, two) for one, two in zip(batches, again, strict=True))


def test_plans_differ_from_epoch_to_epoch_and_keep_like_lengths_together():
    lengths = list(np.random.default_rng(0).integers(1, 60, 500))
    one, two = plan(lengths, 300, 1, 0), plan(lengths, 300, 1, 1)
    assert {tuple(batch) for batch in one} != {tuple(batch) for batch in two}
    spread = [max(lengths[n] for n in batch) - min(lengths[n] for n in batch) for batch in one]
    assert np.mean(spread) < 6


@given(st.integers(1, 9), st.integers(1, 5))
def test_shares_of_a_batch_are_the_batch(size, ranks):
    batch = np.arange(size)
    parts = [share(batch, rank, ranks) for rank in range(ranks)]
    assert sorted(n for part, counts in parts if counts for n in part) == list(range(size))
    assert all(len(part) for part, _ in parts)


@pytest.mark.parametrize("choices", [PAPER, {"span_scores": 4}, {"label_none": True}])
def test_a_share_that_does_not_count_adds_nothing(choices):
    network = {key: value for key, value in BOTH.items() if key not in PAPER}
    both = Bench(NetworkConfig(**{**network, **choices}))
    batch = collate(both.examples("syntax")[:2], both.featurise, counts=False)
    assert set(batch.counts.values()) == {0}
    assert batch.tokens == 0
    losses = Objective(both.network).losses(batch)
    assert all(float(value.detach()) == 0 for value, _ in losses.values())
    sum(value for value, _ in losses.values()).backward()
    assert all(p.grad is None or not p.grad.any() for p in both.network.parameters())


def test_the_invented_trees_are_clean():
    for task, part in ((t, p) for t in ("syntax", "discourse") for p in ("train", "dev", "test")):
        assert invented(task, part)
    assert sorted(path.name for path in DATA.glob("invented-*")) == [
        "invented-dev.jsonl",
        "invented-dev.mrg",
        "invented-test.jsonl",
        "invented-test.mrg",
        "invented-train.jsonl",
        "invented-train.mrg",
    ]


def test_rare_labels_are_not_learnt():
    sentences = {"syntax": invented("syntax")}
    config = NetworkConfig(**SMALL)
    counts = Counter(
        label
        for sentence in sentences["syntax"]
        for label in config.task("syntax").derive(sentence.tree).labels
    )
    rows = derive_sentences("syntax", sentences["syntax"], config)
    vocabulary = make_vocabulary({"syntax": rows}, config, min_count=1, label_min_count=5)
    kept = vocabulary.labels["syntax"]
    assert set(kept) == {label for label, count in counts.items() if count >= 5}
    assert len(kept) < len(counts)
    examples = make_examples("syntax", rows, vocabulary)
    assert sum((example.labels < 0).sum() for example in examples) == sum(
        count for count in counts.values() if count < 5
    )


@given(st.integers(1, 40), st.floats(0.01, 1), st.integers(0, 5))
def test_a_portion_goes_round_its_set_and_takes_all_of_the_others(size, part, seed):
    sources = ["small"] * 3 + ["large"] * size
    count = max(1, round(part * size))
    seen: list[int] = []
    for epoch in range(2 * size):
        kept = portion(sources, {"large": part}, seed, epoch).tolist()
        assert kept[:3] == [0, 1, 2]
        assert len(kept) == 3 + count
        assert len(set(kept)) == len(kept)
        seen += kept[3:]
    times = Counter(seen)
    assert set(times) == set(range(3, size + 3))
    assert max(times.values()) - min(times.values()) <= 1


def test_plain_forms_are_read_alike():
    config = NetworkConfig(**SMALL, forms="plain")
    vocabulary = Vocabulary.build([["(", "rain", ")", '"']], min_count=1)
    one, two = (
        Featuriser(config, vocabulary)([sentence])
        for sentence in (["(", "rain", ")", '"'], ["-LRB-", "rain", "-RRB-", "``"])
    )
    assert torch.equal(one.words, two.words)
    given = Featuriser(NetworkConfig(**SMALL), vocabulary)([["-LRB-", "rain", "-RRB-", "``"]])
    assert not torch.equal(one.words, given.words)


def test_every_gold_tree_is_derived_once(monkeypatch):
    monkeypatch.chdir(ROOT)
    derived = Counter[int]()

    def counting(name: str, *binarisation: str) -> Task[Any]:
        task = get_task(name, *binarisation)

        def derive(tree: Any) -> Any:
            derived[id(tree)] += 1
            return task.derive(tree)

        return replace(task, derive=derive)

    monkeypatch.setattr("cleft.nn.config.get_task", counting)
    recipe = read_recipe("recipes/tiny-joint.toml")
    kept = {task: invented(task) for task in recipe.data}
    monkeypatch.setattr("cleft.nn.train.setup.read_sentences", lambda task, *_: kept[task])
    materials = prepare(recipe)
    assert set(derived.values()) == {1}
    assert derived.keys() == {id(row.tree) for rows in kept.values() for row in rows}
    assert {task: len(rows) for task, rows in materials.train.items()} == {
        task: len(rows) for task, rows in kept.items()
    }
