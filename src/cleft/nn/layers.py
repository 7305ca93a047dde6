"""The parts of the network: dropout, LSTM layers, MLPs, biaffines, decoders.

Plain tensor operations, so that what is trained can be exported as it is. A
decoder turns the ends of a span into the pointer's question. `Recurrent` is the
paper's: an LSTM over the spans in the order in which they are split.
`Feedforward` sees one span at a time, so that a whole level can be asked at once.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from cleft.nn.config import NetworkConfig
from cleft.nn.recurrence import mixed_on_cpu, run_layer

CLOSED = 1e4
"""What shuts or opens an LSTM gate for good: its logistic is exactly 0 or 1."""


class SharedDropout(nn.Module):
    """Dropout with one mask for all positions of a sequence."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """Drop features of x (batch, positions, size)."""
        if not self.training or not self.rate:
            return x
        mask = x.new_empty(x.shape[0], 1, x.shape[2]).bernoulli_(1 - self.rate)
        return x * (mask / (1 - self.rate))


def token_dropout(parts: list[Tensor], rate: float, training: bool) -> list[Tensor]:
    """Drop whole vectors of tokens; the parts of a token that survive are scaled up.

    Each part is (batch, positions, size). A token may lose all its parts.
    """
    if not training or not rate:
        return parts
    shape = (*parts[0].shape[:2], len(parts))
    mask = parts[0].new_empty(shape).bernoulli_(1 - rate)
    mask = mask * (len(parts) / mask.sum(-1, keepdim=True).clamp(min=1))
    return [part * mask[..., index : index + 1] for index, part in enumerate(parts)]


def _run(
    x: Tensor, start: tuple[Tensor, Tensor], weights: list[Tensor], *, both: bool
) -> tuple[Tensor, Tensor]:
    """One LSTM layer over (batch, positions, size), one way or both: its states, its last cells."""
    if mixed_on_cpu(x):
        return run_layer(x, start, weights, both=both)
    # Where oneDNN has no LSTM for a precision, PyTorch raises an error instead of using its own.
    single = x.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    switch: Any = torch.backends.mkldnn
    before = switch.enabled
    switch.enabled = before and single
    try:
        states, _, cells = torch.lstm(x, start, weights, True, 1, 0.0, False, both, True)
    finally:
        switch.enabled = before
    return states, cells


class Lstm(nn.Module):
    """One LSTM layer in one direction: a whole sequence at once, or step by step.

    Gates are in PyTorch's order: input, forget, cell, output.
    """

    def __init__(self, size: int, hidden: int, recurrent_dropout: float = 0.0) -> None:
        super().__init__()
        self.hidden = hidden
        self.recurrent_dropout = recurrent_dropout
        self.weight_in = nn.Parameter(torch.empty(4 * hidden, size))
        self.weight_state = nn.Parameter(torch.empty(4 * hidden, hidden))
        self.bias = nn.Parameter(torch.zeros(4 * hidden))
        # Gate by gate, and forgetting little: a stack of layers orthogonal as a
        # whole starts with boundaries near zero and loses its first epochs.
        for weight in (self.weight_in, self.weight_state):
            for gate in weight.detach().chunk(4):
                nn.init.orthogonal_(gate)
        nn.init.ones_(self.bias.detach()[hidden : 2 * hidden])

    def weights(self) -> list[Tensor]:
        """The weights as the fused kernel wants them, recurrent dropout applied.

        One mask serves the batch: dropping a feature of the state is then
        dropping a column of the matrix, and the fused kernel can be used.
        """
        state: Tensor = self.weight_state
        if self.training and self.recurrent_dropout:
            keep = 1 - self.recurrent_dropout
            state = state * (state.new_empty(1, self.hidden).bernoulli_(keep) / keep)
        return [self.weight_in, state, self.bias, torch.zeros_like(self.bias)]

    def forward(self, x: Tensor, hidden: Tensor, cell: Tensor) -> Tensor:
        """All states of sequences x (batch, positions, size) from (batch, hidden) starts."""
        start = (hidden.unsqueeze(0), cell.unsqueeze(0))
        return _run(x, start, self.weights(), both=False)[0]

    def step(self, gates: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """One step; `gates` (rows, 4·hidden) are the input's products without the bias."""
        gates = gates + functional.linear(hidden, self.weight_state, self.bias)
        enter, forget, value, leave = gates.chunk(4, dim=-1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(value)
        return torch.sigmoid(leave) * torch.tanh(cell), cell


class BiLstm(nn.Module):
    """One LSTM layer in both directions over padded sequences, as if there were no padding.

    An extra input feature marks padding and shuts the gates there: the state
    passes through unchanged, so the backward direction starts clean at the
    last token and the final cells are those at the real ends. That costs one
    column and needs no packing, which would not export.
    """

    def __init__(self, size: int, hidden: int, recurrent_dropout: float = 0.0) -> None:
        super().__init__()
        self.ahead = Lstm(size, hidden, recurrent_dropout)
        self.back = Lstm(size, hidden, recurrent_dropout)
        shut = torch.zeros(4, hidden, 1)
        shut[0], shut[1], shut[3] = -CLOSED, CLOSED, -CLOSED
        self.register_buffer("shut", shut.view(4 * hidden, 1), persistent=False)
        self.shut: Tensor

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """States (batch, positions, 2·hidden) and final cells (batch, 2·hidden).

        `mask` (batch, positions) is true at real positions; x must be finite elsewhere.
        """
        weights = []
        for layer in (self.ahead, self.back):
            first, *others = layer.weights()
            weights += [torch.cat([first, self.shut.to(first.dtype)], dim=1), *others]
        padding = (~mask).unsqueeze(-1).to(x.dtype)
        start = x.new_zeros(2, x.shape[0], self.ahead.hidden)
        output, cells = _run(torch.cat([x, padding], dim=-1), (start, start), weights, both=True)
        return output, torch.cat([cells[0], cells[1]], dim=-1)


class Mlp(nn.Module):
    """A linear map, LeakyReLU, and dropout shared over positions."""

    def __init__(self, size: int, output: int, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(size, output)
        self.dropout = SharedDropout(dropout)
        nn.init.orthogonal_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map x (batch, positions, size)."""
        mapped: Tensor = self.dropout(functional.leaky_relu(self.linear(x), 0.1))
        return mapped


class Biaffine(nn.Module):
    """Scores of pairs for each of some outputs: x W y + x u + y v + b."""

    def __init__(self, size: int, outputs: int) -> None:
        super().__init__()
        self.outputs = outputs
        # Kept as a matrix: one product serves all outputs.
        self.weight = nn.Parameter(torch.zeros(outputs * size, size))
        self.linear = nn.Linear(2 * size, outputs)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Scores (pairs, outputs) of x and y (pairs, size)."""
        mixed = functional.linear(y, self.weight).view(len(y), self.outputs, x.shape[-1])
        scores = torch.bmm(mixed, x.unsqueeze(-1)).squeeze(-1)
        straight: Tensor = self.linear(torch.cat([x, y], dim=-1))
        return scores + straight

    def chart(self, x: Tensor, y: Tensor) -> Tensor:
        """Scores (batch, m, n, outputs) of all pairs of x (batch, m, …) and y (batch, n, …)."""
        batch, count, size = y.shape
        mixed = functional.linear(y, self.weight).view(batch, count * self.outputs, size)
        scores = torch.bmm(x, mixed.transpose(1, 2)).view(batch, -1, count, self.outputs)
        one, two = self.linear.weight[:, :size], self.linear.weight[:, size:]
        scores = scores + functional.linear(x, one).unsqueeze(2)
        return scores + functional.linear(y, two, self.linear.bias).unsqueeze(1)


def real_positions(lengths: Tensor, width: int) -> Tensor:
    """A mask (batch, width), true at the first `length` positions.

    >>> real_positions(torch.tensor([1, 3]), 3).int().tolist()
    [[1, 0, 0], [1, 1, 1]]
    """
    return torch.arange(width, device=lengths.device) < lengths.unsqueeze(1)


State = tuple[Tensor, Tensor]
"""Hidden and cell states, (rows, layers, hidden) each; without history they have no layers."""


class Recurrent(nn.Module):
    """An LSTM over the spans of a tree in the order in which they are split."""

    def __init__(self, size: int, summary: int, config: NetworkConfig) -> None:
        super().__init__()
        hidden = config.decoder_hidden
        self.start = nn.Linear(summary, hidden)
        sizes = [size] + [hidden] * (config.decoder_layers - 1)
        self.layers = nn.ModuleList(Lstm(n, hidden, config.recurrent_dropout) for n in sizes)
        self.dropout = SharedDropout(config.decoder_dropout)

    def lstms(self) -> list[Lstm]:
        """The layers, first to last."""
        return [layer for layer in self.layers if isinstance(layer, Lstm)]

    def starts(self, summary: Tensor) -> State:
        """The states before the first step, one row a sentence."""
        cell = self.start(summary)
        blank = cell.new_zeros(len(cell), len(self.layers) - 1, cell.shape[-1])
        hidden = torch.cat([torch.tanh(cell).unsqueeze(1), blank], 1)
        return hidden, torch.cat([cell.unsqueeze(1), blank], 1)

    def forward(self, x: Tensor, summary: Tensor) -> Tensor:
        """The states (batch, steps, hidden) after each of the steps x (batch, steps, size)."""
        hidden, cell = self.starts(summary)
        for number, layer in enumerate(self.layers):
            x = layer(self.dropout(x), hidden[:, number].contiguous(), cell[:, number].contiguous())
        dropped: Tensor = self.dropout(x)
        return dropped

    def ends(self, left: Tensor, right: Tensor, summary: Tensor) -> tuple[Tensor, Tensor]:
        """What boundaries (batch, n + 1, size) give to the first layer as left and right ends."""
        weight = self.lstms()[0].weight_in
        return functional.linear(left, weight), functional.linear(right, weight)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """One step of rows x (rows, 4·hidden), which is the sum of a span's two ends."""
        hidden, cell = state
        hiddens: list[Tensor] = []
        cells: list[Tensor] = []
        for number, layer in enumerate(self.lstms()):
            if number:
                x = functional.linear(hiddens[-1], layer.weight_in)
            above, kept = layer.step(x, hidden[:, number], cell[:, number])
            hiddens.append(above)
            cells.append(kept)
        return hiddens[-1], (torch.stack(hiddens, 1), torch.stack(cells, 1))


class Feedforward(nn.Module):
    """Layers that see one span and the summary of its sentence, and no other span."""

    def __init__(self, size: int, summary: int, config: NetworkConfig) -> None:
        super().__init__()
        hidden = config.decoder_hidden
        self.start = nn.Linear(summary, hidden)
        self.input = nn.Linear(size, hidden, bias=False)
        more = config.decoder_layers - 1
        self.layers = nn.ModuleList(
            Mlp(hidden, hidden, config.decoder_dropout) for _ in range(more)
        )
        self.dropout = SharedDropout(config.decoder_dropout)

    def starts(self, summary: Tensor) -> State:
        """There is nothing to remember."""
        blank = summary.new_zeros(len(summary), 0, 0)
        return blank, blank

    def forward(self, x: Tensor, summary: Tensor) -> Tensor:
        """What is known of spans x (batch, steps, size), (batch, steps, hidden)."""
        first = self.input(self.dropout(x)) + self.start(summary).unsqueeze(1)
        return self._rest(first)

    def _rest(self, first: Tensor) -> Tensor:
        x: Tensor = self.dropout(functional.leaky_relu(first, 0.1))
        for layer in self.layers:
            x = layer(x)
        return x

    def ends(self, left: Tensor, right: Tensor, summary: Tensor) -> tuple[Tensor, Tensor]:
        """What boundaries give to the first layer; the sentence's share is in the left's."""
        return self.input(left) + self.start(summary).unsqueeze(1), self.input(right)

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """What is known of spans whose two ends have the sum x (rows, hidden)."""
        return self._rest(x.unsqueeze(1)).squeeze(1), state


Decoder = Recurrent | Feedforward


def make_decoder(size: int, summary: int, config: NetworkConfig) -> Decoder:
    """The decoder of a configuration, for span inputs and summaries of these sizes."""
    return (Recurrent if config.history else Feedforward)(size, summary, config)
