"""What turns the ends of a span into the pointer's question: with history, or without.

Both see a span as the sum of a part of each end. `Recurrent` is the paper's: an LSTM over
the spans in the order in which they are split. `Feedforward` sees one span at a time, so
the spans of a whole level can be asked about at once.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from cleft.nn.config import NetworkConfig
from cleft.nn.layers import Lstm, Mlp, SharedDropout

__all__ = ["Decoder", "Feedforward", "Recurrent", "State", "make_decoder"]

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
