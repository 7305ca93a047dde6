"""Step by step equals all at once; padding and order change nothing."""

import pytest
import torch

from cleft.nn.config import NetworkConfig
from cleft.nn.train.batches import collate
from cleft.nn.train.objective import Objective
from tests.nn.conftest import BOTH, Bench

VARIANTS = [
    {},
    {"span_input": "linear"},
    {"decoder_layers": 3},
    {"decoder_layers": 2, "history": False},
    {"span_scores": 6, "label_none": True},
    {"span_scores": 6, "pointer_range": "span", "history": False},
    {"edu_boundaries": "loss"},
    {"edu_boundaries": "none", "span_input": "linear", "tags": False},
    {"char_size": 0},
    {"word_size": 0},
]


def stepwise(bench: Bench, task: str, batch) -> torch.Tensor:
    """Log-probabilities of the gold steps, made one step at a time."""
    head = bench.network.head(task)
    memory = head.remember(bench.network.encoder(batch.inputs))
    rows = torch.arange(len(batch.left))
    state, found = memory.start, []
    for step in range(batch.left.shape[1]):
        spans = torch.stack([batch.left[:, step], batch.right[:, step]], 1)
        log_probs, state = head.step(memory, rows, spans, state)
        found.append(log_probs)
    return torch.stack(found, 1)


@pytest.mark.parametrize("task", ["syntax", "discourse"])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_decoding_step_by_step_equals_the_teacher_forced_pass(task, variant):
    bench = Bench(NetworkConfig(**{**BOTH, **variant})).scramble()
    bench.network.double()
    batch = collate(bench.examples(task), bench.featurise)
    with torch.no_grad():
        encoding = bench.network.encoder(batch.inputs)
        head = bench.network.head(task)
        scores = head.scores(head(encoding), batch.left, batch.right)
        single = stepwise(bench, task, batch)
    known = batch.split >= 0
    torch.testing.assert_close(single[known], scores.log_softmax(-1)[known], rtol=0, atol=1e-12)
    assert bool(torch.isfinite(single[known].gather(1, batch.split[known].unsqueeze(1))).all())


@torch.no_grad()
@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_a_sentence_scores_the_same_alone_and_in_any_batch(task):
    bench = Bench(NetworkConfig(**BOTH)).scramble()
    bench.network.double()
    examples = bench.examples(task)
    alone = [Objective(bench.network).losses(collate([one], bench.featurise)) for one in examples]
    for order in (examples, examples[::-1]):
        together = Objective(bench.network).losses(collate(order, bench.featurise))
        for name, (value, count) in together.items():
            assert count == sum(terms[name][1] for terms in alone)
            expected = sum(float(terms[name][0]) for terms in alone)
            assert float(value) == pytest.approx(expected, rel=1e-10)


def test_without_history_there_is_no_state_to_know_what_came_before():
    config = NetworkConfig(**{**BOTH, "history": False})
    bench = Bench(config).scramble()
    encoding = bench.network.encoder(bench.featurise([["a", "b", "c", "d"]]))
    memory = bench.network.head("syntax").remember(encoding)
    assert all(not part.numel() for part in memory.start)


def test_with_history_a_step_knows_what_came_before():
    bench = Bench(NetworkConfig(**BOTH)).scramble()
    encoding = bench.network.encoder(bench.featurise([["a", "b", "c", "d"]]))
    head = bench.network.head("syntax")
    memory = head.remember(encoding)
    rows, span = torch.tensor([0]), torch.tensor([[1, 3]])
    noise = torch.randn_like(memory.start[0])
    one = head.step(memory, rows, span, memory.start)[0]
    assert not torch.allclose(one, head.step(memory, rows, span, (noise, noise))[0])


def test_the_decoder_starts_from_the_encoders_last_cells():
    bench = Bench(NetworkConfig(**{**BOTH, "decoder_layers": 2}))
    encoding = bench.network.encoder(bench.featurise([["a", "b"]]))
    decoder = bench.network.head("syntax").decoder
    hidden, cell = decoder.starts(encoding.summary)
    torch.testing.assert_close(cell[:, 0], decoder.start(encoding.summary))
    torch.testing.assert_close(hidden[:, 0], cell[:, 0].tanh())
    assert not hidden[:, 1].any()
    assert not cell[:, 1].any()


@torch.no_grad()
def test_the_span_feature_of_edu_marks_counts_the_boundaries_inside():
    bench = Bench(NetworkConfig(**BOTH))
    span = bench.network.head("discourse").span
    marks = torch.tensor([[0.0, 1.0, 1.0, 0.0, 1.0]])
    left, right = span(torch.zeros(1, 5, bench.network.encoder.size), marks)
    inside = {(i, j): float(left[0, i, -1] + right[0, j, -1]) for i, j in [(0, 4), (1, 4), (2, 4)]}
    assert inside == {(0, 4): 2.0, (1, 4): 1.0, (2, 4): 0.0}


def test_an_edu_head_that_the_pointer_sees_changes_its_scores_and_gets_its_gradients():
    bench = Bench(NetworkConfig(**BOTH)).scramble()
    batch = collate(bench.examples("discourse"), bench.featurise)
    marker = bench.network.head("discourse").marker
    value, _ = Objective(bench.network).losses(batch)["split"]
    value.backward()
    assert float(marker.score.weight.grad.abs().sum()) > 0
    blind = Bench(NetworkConfig(**{**BOTH, "edu_boundaries": "loss"})).scramble()
    value, _ = Objective(blind.network).losses(
        collate(blind.examples("discourse"), blind.featurise)
    )["split"]
    value.backward()
    assert blind.network.head("discourse").marker.score.weight.grad is None
