"""Losses over all spans, against plain loops over one tree."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from cleft.nn.config import NetworkConfig
from cleft.nn.train.batches import Example, collate
from cleft.nn.train.data import make_examples
from cleft.nn.train.objective import GoldSpans, Objective, chart_labels, explore_loss
from tests.nn.conftest import BOTH, Bench

SPANS = {**BOTH, "history": False, "span_scores": 6, "pointer_range": "span"}


def made(task: str) -> tuple[Bench, GoldSpans, list[set[tuple[int, int]]]]:
    """A bench, its batch's gold spans, and the same spans found one by one."""
    bench = Bench(NetworkConfig(**SPANS)).scramble()
    examples = bench.examples(task)
    plain = []
    for example in examples:
        spans = set()
        for left, split, right in example.splits.tolist():
            spans |= {(left, right), (left, split)} | ({(split, right)} if split < right else set())
        plain.append(spans)
    batch = collate(examples, bench.featurise)
    return bench, GoldSpans.of(batch, stops=task == "discourse"), plain


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_the_gold_spans_of_a_batch_are_those_of_its_trees(task):
    _, gold, plain = made(task)
    for row, spans in enumerate(plain):
        found = {tuple(pair) for pair in torch.nonzero(gold.member[row]).tolist()}
        assert found == spans


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_the_span_loss_asks_about_every_span_once(task):
    bench, gold, plain = made(task)
    width = gold.member.shape[1]
    logits = torch.randn(gold.member.shape)
    least = 1 if task == "discourse" else 2
    total = 0.0
    for row, example in enumerate(bench.examples(task)):
        for left in range(width):
            for right in range(left + least, len(example.words) + 1):
                target = torch.tensor(float((left, right) in plain[row]))
                total += float(
                    functional.binary_cross_entropy_with_logits(logits[row, left, right], target)
                )
    assert float(gold.loss(logits)) == pytest.approx(total, rel=1e-5)


def right_splits(spans: set[tuple[int, int]], left: int, right: int, stops: bool) -> set[int]:
    """Where a span should be split, one boundary after the other."""
    inside = [s for s in spans if left <= s[0] and s[1] <= right and s != (left, right)]
    ends = {end for span in spans for end in span} if stops else set(range(left, right))
    found = {
        place
        for place in range(left + 1, right)
        if place in ends and not any(a < place < b for a, b in inside)
    }
    return found or {right}


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_every_split_that_divides_no_gold_span_is_right(task):
    bench, gold, plain = made(task)
    for row, example in enumerate(bench.examples(task)):
        length = len(example.words)
        golden = {(left, right): split for left, split, right in example.splits.tolist()}
        for left in range(length):
            for right in range(left + 2, length + 1):
                one = torch.tensor([row]), torch.tensor([left]), torch.tensor([right])
                found = set(torch.nonzero(gold.right_splits(*one)[0]).flatten().tolist())
                assert found == right_splits(plain[row], left, right, task == "discourse")
                if (left, right) in golden:
                    assert found == {golden[left, right]}


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_exploring_teaches_the_pointer_about_wrong_spans(task):
    bench, gold, _ = made(task)
    head = bench.network.head(task)
    batch = collate(bench.examples(task), bench.featurise)
    torch.manual_seed(1)
    bench.network.eval()
    loss = explore_loss(head, head(bench.network.encoder(batch.inputs)), gold, 2.0)
    assert torch.isfinite(loss)
    assert float(loss.detach()) > 0
    loss.backward()
    assert float(head.pointer.state.linear.weight.grad.abs().sum()) > 0


def test_a_chart_of_labels_scores_a_span_as_the_label_head_does():
    bench = Bench(NetworkConfig(**{**SPANS, "label_none": True})).scramble()
    batch = collate(bench.examples("syntax"), bench.featurise)
    labels = bench.network.head("syntax").labels
    with torch.no_grad():
        ends = labels.remember(bench.network.encoder.eval()(batch.inputs).boundaries)
        chart = labels.eval().chart(*ends)
        single = labels(*ends, batch.rows, batch.items)
    left, right = batch.items.T
    torch.testing.assert_close(chart[batch.rows, left, right], single)


def test_spans_outside_the_tree_have_the_label_none():
    bench, gold, _ = made("syntax")
    batch = collate(bench.examples("syntax"), bench.featurise)
    targets = chart_labels(batch, none=99)
    assert torch.equal(targets == 99, gold.inside & ~gold.member & ~_words(gold))
    left, right = batch.items.T
    assert torch.equal(targets[batch.rows, left, right], batch.labels)
    assert (targets[~gold.inside] == -1).all()


def heads_alone(words: tuple[str, ...], heads: list[int]) -> Example:
    none = np.zeros(0, np.int64)
    return Example(
        task="syntax",
        words=words,
        splits=none.reshape(0, 3),
        items=none.reshape(0, 2),
        labels=none,
        tags=np.full(len(words), -1),
        heads=np.array(heads),
        has_tree=False,
    )


@torch.no_grad()
@pytest.mark.parametrize("none", [False, True])
def test_a_sentence_with_heads_alone_teaches_nothing_about_trees(none):
    bench = Bench(NetworkConfig(**SPANS, word_heads=4, label_none=none)).scramble()
    objective = Objective(bench.network)
    trees = bench.examples("syntax")[:3]
    more = heads_alone(("she", "rained", "it"), [2, 0, -1])
    before = objective.losses(collate(trees, bench.featurise))
    after = objective.losses(collate([*trees, more], bench.featurise))
    for name, (loss, count) in before.items():
        assert float(after[name][0]) == pytest.approx(float(loss), rel=1e-5), name
        assert after[name][1] == count, name
    assert "head" not in before
    assert after["head"][1] == 2
    alone = objective.losses(collate([more], bench.featurise))
    assert float(alone["head"][0]) == pytest.approx(float(after["head"][0]), rel=1e-5)
    assert {name for name, (loss, _) in alone.items() if float(loss)} == {"head"}


def test_no_head_is_looked_for_beyond_a_sentence():
    bench = Bench(NetworkConfig(**SPANS, word_heads=4)).scramble()
    assert bench.network.word_heads is not None
    batch = collate(
        [heads_alone(("she",), [0]), heads_alone(("a", "b", "c"), [0, 1, 1])], bench.featurise
    )
    scores = bench.network.word_heads(bench.network.encoder(batch.inputs))
    assert scores.shape == (2, 3, 4)
    assert torch.isfinite(scores[0]).tolist() == [[True, True, False, False]] * 3
    assert torch.isfinite(scores[1]).all()


def _words(gold: GoldSpans) -> torch.Tensor:
    """A span of one token is in the tree also where the sentence is that token."""
    return gold.inside & ~gold.inside.triu(2)


OTHERS = {
    "syntax": {
        "split": [(0, 1, 0.25), (0, 2, 0.1)],
        "label": [(1, "S", 0.3)],
        "tag": [(1, "DT", 0.2)],
    },
    "discourse": {"split": [(0, 1, 0.4)], "edu": [(1, 1, 0.15), (2, 1, 0.35)]},
}
"""Other choices of the last sentence of three, by term: which decision, what else, its chance."""


def shared(scores: torch.Tensor, target: int, others: list[tuple[int, float]]) -> float:
    """The cross-entropy of one decision whose chance is shared with others."""
    logs = torch.log_softmax(scores, -1)
    rest = 1 - sum(chance for _, chance in others)
    return -rest * float(logs[target]) - sum(p * float(logs[other]) for other, p in others)


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_other_choices_take_their_chance_from_a_decision(task):
    bench = Bench(NetworkConfig(**SPANS)).scramble()
    rows = bench.decisions[task][:2]
    long = next(
        row for row in bench.decisions[task] if len(row.splits) > 2 and row.splits[0][1] > 2
    )
    examples = make_examples(task, [*rows, replace(long, others=OTHERS[task])], bench.vocabulary)
    objective = Objective(bench.network)
    with torch.inference_mode():
        found = objective.losses(collate(examples, bench.featurise))
        before = objective.losses(
            collate([*examples[:2], replace(examples[2], others={})], bench.featurise)
        )
        gained = {name: float(found[name][0] - before[name][0]) for name in found}
    for term, rows in OTHERS[task].items():
        scores, targets = decisions(bench, task, examples[2], term)
        names = {"label": bench.vocabulary.labels.get(task, ()), "tag": bench.vocabulary.tags}.get(
            term
        )
        expected = 0.0
        for place in {row[0] for row in rows}:
            others = [
                (c if names is None else names.index(c), p) for at, c, p in rows if at == place
            ]
            expected += shared(scores[place], targets[place], others)
            expected -= shared(scores[place], targets[place], [])
        assert gained.pop(term) == pytest.approx(expected, rel=1e-4)
    assert all(value == pytest.approx(0, abs=1e-5) for value in gained.values())


def decisions(
    bench: Bench, task: str, example: Example, term: str
) -> tuple[torch.Tensor, list[int]]:
    """The scores of the decisions of one sentence, and what is right."""
    network = bench.network
    with torch.inference_mode():
        encoding = network.encoder(bench.featurise([example.words]))
        head = network.head(task)
        if term == "split":
            left, split, right = (torch.tensor(end).unsqueeze(0) for end in example.splits.T)
            return head.scores(head(encoding), left, right)[0], split[0].tolist()
        if term == "tag":
            return network.tagger(encoding.boundaries)[0], example.tags.tolist()
        if term == "edu":
            logits = head(encoding).marks[0]
            return torch.stack([torch.zeros_like(logits), logits], -1), example.edus.tolist()
        ends = head.labels.remember(encoding.boundaries)
        rows = torch.zeros(len(example.items), dtype=torch.long)
        return head.labels(*ends, rows, torch.tensor(example.items)), example.labels.tolist()


def test_a_choice_that_a_network_cannot_make_does_not_count():
    bench = Bench(NetworkConfig(**SPANS)).scramble()
    [example] = make_examples("syntax", bench.decisions["syntax"][:1], bench.vocabulary)
    whole = int(example.splits[0][2])  # syntax has no stops
    others = {"split": (np.array([0]), np.array([whole]), np.array([0.5]))}
    plain, odd = (
        Objective(bench.network).losses(collate([row], bench.featurise))["split"][0]
        for row in (example, replace(example, others=others))
    )
    assert float(plain.detach()) == float(odd.detach())
