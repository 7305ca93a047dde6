"""One LSTM layer in mixed precision on a CPU: products in bf16, cells in single precision.

PyTorch has none that is fast: on a CPU with units for bf16 oneDNN's LSTM gains little
from it, since its backward pass gains nothing, and PyTorch's own takes twice as long as
in single precision; `benchmarks/recurrence.py` measures them. Here the products with the
state's matrix are PyTorch's, one a step, and what does not depend on the step before is
one operation over all steps. In double precision this is tested equal to `torch.lstm`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def mixed_on_cpu(x: Tensor) -> bool:
    """Whether an LSTM over x is to run here."""
    mixed = torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") == torch.bfloat16
    return x.device.type == "cpu" and mixed


def run_layer(
    x: Tensor, start: tuple[Tensor, Tensor], weights: list[Tensor], *, both: bool
) -> tuple[Tensor, Tensor]:
    """What `torch.lstm` gives for one layer over x (batch, positions, size): states, last cells.

    `start` is (directions, batch, hidden) twice; `weights` has the four tensors of
    each direction in PyTorch's order, the second bias of which is zero.
    """
    found = [
        _direction(x, start[0][way], start[1][way], weights[4 * way : 4 * way + 3], back=way == 1)
        for way in range(2 if both else 1)
    ]
    return torch.cat([states for states, _ in found], -1), torch.stack([cell for _, cell in found])


def _direction(
    x: Tensor, hidden: Tensor, cell: Tensor, weights: list[Tensor], *, back: bool
) -> tuple[Tensor, Tensor]:
    enter, recur, bias = weights
    gates = functional.linear(x, enter, bias).transpose(0, 1)  # (steps, batch, 4·hidden)
    gates = gates.flip(0) if back else gates.contiguous()
    states, cell = _Recurrence.apply(gates, hidden, cell, recur)  # type: ignore[no-untyped-call]
    return (states.flip(0) if back else states).transpose(0, 1), cell


class _Recurrence(torch.autograd.Function):
    """The steps of an LSTM over the inputs' shares of its gates: input, forget, value, output."""

    @staticmethod
    def forward(
        ctx: Any, entered: Tensor, hidden: Tensor, cell: Tensor, weight: Tensor
    ) -> tuple[Tensor, Tensor]:
        """States (steps, batch, hidden) and the last cells (batch, hidden)."""
        steps, rows, width = entered.shape
        size = width // 4
        precise = torch.promote_types(entered.dtype, torch.float32)
        states = entered.new_empty(steps + 1, rows, size)
        cells = entered.new_empty(steps + 1, rows, size, dtype=precise)
        gates = entered.new_empty(steps, rows, width, dtype=precise)
        curved = entered.new_empty(steps, rows, size, dtype=precise)  # tanh of the new cells
        states[0], cells[0] = hidden, cell
        matrix = weight.to(entered.dtype)
        for step, gate in enumerate(gates):
            gate.copy_(entered[step]).add_(functional.linear(states[step], matrix))
            gate[:, : 2 * size].sigmoid_()
            gate[:, 2 * size : 3 * size].tanh_()
            gate[:, 3 * size :].sigmoid_()
            enter, forget, value, leave = gate.chunk(4, 1)
            torch.addcmul(forget * cells[step], enter, value, out=cells[step + 1])
            torch.tanh(cells[step + 1], out=curved[step])
            states[step + 1] = leave * curved[step]
        ctx.save_for_backward(gates, cells, curved, states, weight)
        return states[1:].clone(), cells[-1].clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        """Gradients of the gates' inputs, of the first state and cell, and of the matrix."""
        gates, cells, curved, states, weight = ctx.saved_tensors
        by_state, by_cell = gradients[0], gradients[1].to(cells.dtype)
        through, shares = _slopes(gates, cells, curved)
        size = curved.shape[-1]
        forget = gates[..., size : 2 * size]
        matrix = weight.to(states.dtype)
        by_gate = torch.empty_like(gates, dtype=states.dtype)
        hidden = torch.zeros_like(by_cell)
        for step in reversed(range(len(gates))):
            hidden = hidden + by_state[step]
            by_cell = torch.addcmul(by_cell, hidden, through[step])
            parts = by_gate[step].view(-1, 4, size)
            parts[:, :3] = shares[step, :, :3] * by_cell.unsqueeze(1)
            parts[:, 3] = shares[step, :, 3] * hidden
            by_cell = by_cell * forget[step]
            hidden = (by_gate[step] @ matrix).to(cells.dtype)
        before = states[:-1].flatten(0, 1)
        by_weight = by_gate.flatten(0, 1).t() @ before
        return by_gate, hidden, by_cell, by_weight.to(weight.dtype)


def _slopes(gates: Tensor, cells: Tensor, curved: Tensor) -> tuple[Tensor, Tensor]:
    """How far a cell goes with its state, and each gate's input with its cell or state.

    (steps, batch, hidden) and (steps, batch, 4, hidden); the output gate's is by the state.
    """
    enter, forget, value, leave = gates.chunk(4, -1)
    shares = [
        value * enter * (1 - enter),
        cells[:-1] * forget * (1 - forget),
        enter * (1 - value * value),
        curved * leave * (1 - leave),
    ]
    return leave * (1 - curved * curved), torch.stack(shares, 2)
