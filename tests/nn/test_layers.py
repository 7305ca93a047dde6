"""The small parts against plain PyTorch."""

import pytest
import torch
from torch import nn

from cleft.nn.layers import (
    Biaffine,
    BiLstm,
    Lstm,
    Mlp,
    SharedDropout,
    real_positions,
    token_dropout,
)


def copy_into(layer: Lstm, reference: nn.LSTM, suffix: str = "") -> None:
    with torch.no_grad():
        getattr(reference, f"weight_ih_l0{suffix}").copy_(layer.weight_in)
        getattr(reference, f"weight_hh_l0{suffix}").copy_(layer.weight_state)
        getattr(reference, f"bias_ih_l0{suffix}").copy_(layer.bias)
        getattr(reference, f"bias_hh_l0{suffix}").zero_()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_padded_bilstm_gives_what_each_sentence_alone_gives(dtype):
    torch.manual_seed(0)
    ours = BiLstm(5, 4).to(dtype)
    reference = nn.LSTM(5, 4, batch_first=True, bidirectional=True).to(dtype)
    copy_into(ours.ahead, reference)
    copy_into(ours.back, reference, "_reverse")
    lengths = torch.tensor([1, 7, 3])
    x = torch.randn(3, 7, 5, dtype=dtype)
    states, cells = ours(x, real_positions(lengths, 7))
    for row, length in enumerate(lengths.tolist()):
        expected, (_, last) = reference(x[row : row + 1, :length])
        torch.testing.assert_close(states[row, :length], expected[0])
        torch.testing.assert_close(cells[row], last[:, 0].reshape(-1))
        assert not states[row, length:].any()


def test_gradients_do_not_flow_from_padding():
    torch.manual_seed(0)
    layer = BiLstm(3, 2)
    x = torch.randn(2, 4, 3, requires_grad=True)
    states, cells = layer(x, real_positions(torch.tensor([2, 4]), 4))
    (states.sum() + cells.sum()).backward()
    assert not x.grad[0, 2:].any()
    assert x.grad[0, :2].all()


def test_steps_of_an_lstm_are_its_sequence():
    torch.manual_seed(0)
    layer = Lstm(3, 4).double()
    x = torch.randn(2, 5, 3, dtype=torch.float64)
    hidden = torch.randn(2, 4, dtype=torch.float64)
    cell = torch.randn(2, 4, dtype=torch.float64)
    states = layer(x, hidden, cell)
    for step in range(5):
        hidden, cell = layer.step(x[:, step] @ layer.weight_in.T, hidden, cell)
        torch.testing.assert_close(hidden, states[:, step])


def test_the_onednn_switch_is_put_back():
    before = torch.backends.mkldnn.enabled
    Lstm(2, 2)(torch.zeros(1, 1, 2), torch.zeros(1, 2), torch.zeros(1, 2))
    assert torch.backends.mkldnn.enabled == before


def test_recurrent_dropout_drops_whole_columns_of_the_state_matrix():
    torch.manual_seed(0)
    layer = Lstm(2, 50, recurrent_dropout=0.5).train()
    state = layer.weights()[1]
    gone = (state == 0).all(0)
    assert 10 < int(gone.sum()) < 40
    torch.testing.assert_close(state[:, ~gone], 2 * layer.weight_state[:, ~gone])
    assert torch.equal(layer.eval().weights()[1], layer.weight_state)


def test_shared_dropout_has_one_mask_for_all_positions():
    torch.manual_seed(0)
    x = SharedDropout(0.5).train()(torch.ones(2, 9, 40))
    assert torch.equal(x, x[:, :1].expand(-1, 9, -1))
    assert set(x.unique().tolist()) == {0.0, 2.0}
    assert not torch.equal(x[0], x[1])


def test_token_dropout_drops_whole_vectors_and_scales_the_survivor():
    torch.manual_seed(0)
    words, chars = token_dropout([torch.ones(4, 50, 3), torch.ones(4, 50, 2)], 0.5, True)
    assert torch.equal(words, words[..., :1].expand(-1, -1, 3))
    total = words[..., 0] + chars[..., 0]
    assert set(total.unique().tolist()) == {0.0, 2.0}
    assert set(words.unique().tolist()) == {0.0, 1.0, 2.0}


def test_a_biaffine_scores_as_its_formula_says():
    torch.manual_seed(0)
    pair = Biaffine(4, 3).double()
    for parameter in pair.parameters():
        nn.init.normal_(parameter)
    x, y = torch.randn(2, 6, 4, dtype=torch.float64)
    weight = pair.weight.view(3, 4, 4)  # output, x, y
    expected = torch.einsum("px,oxy,py->po", x, weight, y)
    expected = expected + torch.cat([x, y], -1) @ pair.linear.weight.T + pair.linear.bias
    torch.testing.assert_close(pair(x, y), expected)
    assert pair(x[:0], y[:0]).shape == (0, 3)


def test_weights_start_orthogonal_and_biaffines_at_zero():
    mlp, layer = Mlp(8, 5, 0.0), Lstm(3, 4)
    torch.testing.assert_close(mlp.linear.weight @ mlp.linear.weight.T, torch.eye(5))
    for gate in layer.weight_state.chunk(4):
        torch.testing.assert_close(gate @ gate.T, torch.eye(4))
    assert layer.bias.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 8
    assert not Biaffine(3, 2).weight.any()
