"""The LSTM of mixed precision against PyTorch's own in double and in single precision."""

import pytest
import torch

from cleft.nn.layers import BiLstm, Lstm, real_positions
from cleft.nn.recurrence import mixed_on_cpu, run_layer


def layer_inputs(both: bool) -> list[torch.Tensor]:
    """Positions, first states, first cells, and the weights of each direction."""
    torch.manual_seed(0)
    ways = 2 if both else 1
    tensors = [torch.randn(2, 5, 3), torch.randn(ways, 2, 4), torch.randn(ways, 2, 4)]
    for _ in range(ways):
        tensors += [torch.randn(16, 3), torch.randn(16, 4), torch.randn(16), torch.zeros(16)]
    return [tensor.double().requires_grad_() for tensor in tensors]


@pytest.mark.parametrize("both", [False, True])
def test_states_cells_and_gradients_are_those_of_torch(both):
    mine, theirs = layer_inputs(both), layer_inputs(both)
    states, cells = run_layer(mine[0], (mine[1], mine[2]), mine[3:], both=both)
    start = (theirs[1], theirs[2])
    expected, _, last = torch.lstm(theirs[0], start, theirs[3:], True, 1, 0.0, True, both, True)
    torch.testing.assert_close(states, expected)
    torch.testing.assert_close(cells, last)
    ask = torch.randn_like(states), torch.randn_like(cells)
    torch.autograd.backward((states, cells), ask)
    torch.autograd.backward((expected, last), ask)
    for number, (ours, reference) in enumerate(zip(mine, theirs, strict=True)):
        if number < 3 or (number - 3) % 4 < 3:  # the second bias is zero and not used
            torch.testing.assert_close(ours.grad, reference.grad)


def mixed() -> torch.autocast:
    return torch.autocast("cpu", torch.bfloat16)


def test_mixed_precision_on_a_cpu_comes_here_and_no_other():
    x = torch.zeros(1, 1, 2)
    assert not mixed_on_cpu(x)
    with mixed():
        assert mixed_on_cpu(x)
        assert not mixed_on_cpu(x.to("meta"))
    with torch.autocast("cpu", torch.float16):
        assert not mixed_on_cpu(x)


def test_an_lstm_learns_the_same_in_mixed_and_in_single_precision():
    torch.manual_seed(0)
    layer = Lstm(24, 32)
    x, start = torch.randn(8, 12, 24), torch.zeros(8, 32)
    ask = torch.randn(8, 12, 32)
    (layer(x, start, start) * ask).sum().backward()
    single = [parameter.grad.clone() for parameter in layer.parameters()]
    layer.zero_grad()
    with mixed():
        states = layer(x, start, start)
    assert states.dtype == torch.bfloat16
    (states * ask).sum().backward()
    for parameter, expected in zip(layer.parameters(), single, strict=True):
        assert parameter.grad.dtype == torch.float32
        assert (parameter.grad - expected).norm() < 0.02 * expected.norm()


def test_padding_changes_nothing_in_mixed_precision():
    torch.manual_seed(0)
    layer = BiLstm(5, 4)
    x = torch.randn(2, 6, 5)
    with mixed():
        states, cells = layer(x, real_positions(torch.tensor([3, 6]), 6))
        alone, last = layer(x[:1, :3], real_positions(torch.tensor([3]), 3))
    torch.testing.assert_close(states[0, :3], alone[0], rtol=0, atol=0.02)
    torch.testing.assert_close(cells[0], last[0], rtol=0, atol=0.02)
    assert not states[0, 3:].any()
