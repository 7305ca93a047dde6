"""One task's head: span input, decoder, pointer, labels.

Everything that depends on a boundary alone is computed once (`remember`), so
that a step of decoding is one recurrent step and one product. Training runs
all steps of the gold trees at once; both give the same scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from cleft.nn.config import NetworkConfig
from cleft.nn.encoders import Encoding
from cleft.nn.layers import Biaffine, Lstm, Mlp, SharedDropout

__all__ = ["BoundaryMarker", "Memory", "SpanLabels", "SplitHead", "SplitLabels", "at_boundaries"]


def at_boundaries(x: Tensor, positions: Tensor) -> Tensor:
    """The vectors (batch, steps, size) of x (batch, n + 1, size) at positions (batch, steps)."""
    return x.gather(1, positions.unsqueeze(-1).expand(-1, -1, x.shape[-1]))


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What a head knows of a batch before the first step, one row a sentence."""

    left_gates: Tensor  # (batch, n + 1, 4·hidden)
    right_gates: Tensor  # (batch, n + 1, 4·hidden)
    keys: Tensor  # (batch, n + 1, pointer)
    offsets: Tensor  # (batch, n + 1), -inf beyond the sentence
    hidden: Tensor  # (batch, layers, hidden): the start
    cell: Tensor  # (batch, layers, hidden)
    label_left: Tensor  # (batch, n + 1, label)
    label_right: Tensor  # (batch, n + 1, label)


class BoundaryMarker(nn.Module):
    """Whether an EDU ends at a boundary, from the boundary alone."""

    def __init__(self, size: int, config: NetworkConfig) -> None:
        super().__init__()
        self.mlp = Mlp(size, config.edu_size, config.mlp_dropout)
        self.score = nn.Linear(config.edu_size, 1)
        nn.init.orthogonal_(self.score.weight)
        nn.init.zeros_(self.score.bias)

    def forward(self, encoding: Encoding) -> Tensor:
        """Logits (batch, n + 1)."""
        logits: Tensor = self.score(self.mlp(encoding.boundaries)).squeeze(-1)
        return logits


class SpanInput(nn.Module):
    """The decoder's input for a span, as the sum of a part of each end.

    With two MLPs the parts fill different halves of the input. Where a marker
    of EDU boundaries is given, one more feature is the expected number of
    such boundaries inside the span: a difference of running sums.
    """

    def __init__(self, size: int, config: NetworkConfig, marks: bool) -> None:
        super().__init__()
        self.marks = marks
        self.beside = config.span_input == "mlps"
        if self.beside:
            self.left: nn.Module = Mlp(size, config.span_size, config.mlp_dropout)
            self.right: nn.Module = Mlp(size, config.span_size, config.mlp_dropout)
        else:
            self.left = nn.Linear(size, config.span_size, bias=False)
            self.right = nn.Linear(size, config.span_size)
        self.size = config.span_size * (2 if self.beside else 1) + marks

    def forward(self, boundaries: Tensor, marks: Tensor | None) -> tuple[Tensor, Tensor]:
        """The parts (batch, n + 1, size) of left and of right ends."""
        left, right = self.left(boundaries), self.right(boundaries)
        if self.beside:
            blank = torch.zeros_like(left)
            left, right = torch.cat([left, blank], -1), torch.cat([blank, right], -1)
        if marks is not None:
            # Up to and including boundary i on the left, up to j-1 on the right.
            total = marks.cumsum(1)
            left = torch.cat([left, -total.unsqueeze(-1)], -1)
            right = torch.cat([right, (total - marks).unsqueeze(-1)], -1)
        return left, right


class Pointer(nn.Module):
    """Biaffine scores of boundaries for a decoder state."""

    def __init__(self, size: int, config: NetworkConfig, marks: bool) -> None:
        super().__init__()
        width = config.pointer_size
        self.state = Mlp(config.decoder_hidden, width, config.mlp_dropout)
        self.boundary = Mlp(size, width, config.mlp_dropout)
        self.weight = nn.Parameter(torch.zeros(width, width + marks))
        self.offset = nn.Parameter(torch.zeros(width + marks))

    def keys(self, encoding: Encoding, marks: Tensor | None) -> tuple[Tensor, Tensor]:
        """Keys (batch, n + 1, pointer) and offsets (batch, n + 1) of the boundaries."""
        x = self.boundary(encoding.boundaries)
        if marks is not None:
            x = torch.cat([x, marks.unsqueeze(-1)], -1)
        offsets = functional.linear(x, self.offset.unsqueeze(0)).squeeze(-1)
        offsets = offsets.masked_fill(~encoding.mask, float("-inf"))
        return functional.linear(x, self.weight), offsets


class SpanLabels(nn.Module):
    """Labels of spans, from their two ends (syntax)."""

    def __init__(self, size: int, labels: int, config: NetworkConfig) -> None:
        super().__init__()
        self.left = Mlp(size, config.label_size, config.mlp_dropout)
        self.right = Mlp(size, config.label_size, config.mlp_dropout)
        self.pair = Biaffine(config.label_size, labels)

    def remember(self, boundaries: Tensor) -> tuple[Tensor, Tensor]:
        """What the boundaries are as left and as right ends, (batch, n + 1, label) each."""
        return self.left(boundaries), self.right(boundaries)

    def forward(self, left: Tensor, right: Tensor, rows: Tensor, items: Tensor) -> Tensor:
        """Scores (items, labels) of spans (items, 2)."""
        scores: Tensor = self.pair(left[rows, items[:, 0]], right[rows, items[:, 1]])
        return scores


class SplitLabels(nn.Module):
    """Labels of splits, from the two spans they make (discourse).

    The MLP of a pair of boundaries is linear before its activation, so each
    boundary's share is computed once.
    """

    def __init__(self, size: int, labels: int, config: NetworkConfig) -> None:
        super().__init__()
        self.left = nn.Linear(2 * size, config.label_size)
        self.right = nn.Linear(2 * size, config.label_size)
        for linear in (self.left, self.right):
            nn.init.orthogonal_(linear.weight)
            nn.init.zeros_(linear.bias)
        self.dropout = SharedDropout(config.mlp_dropout)
        self.pair = Biaffine(config.label_size, labels)

    def remember(self, boundaries: Tensor) -> tuple[Tensor, Tensor]:
        """What boundaries give as first and as second of a pair, left and right span joined."""
        size = boundaries.shape[-1]
        first = torch.cat([self.left.weight[:, :size], self.right.weight[:, :size]])
        second = torch.cat([self.left.weight[:, size:], self.right.weight[:, size:]])
        bias = torch.cat([self.left.bias, self.right.bias])
        return functional.linear(boundaries, first), functional.linear(boundaries, second, bias)

    def forward(self, first: Tensor, second: Tensor, rows: Tensor, items: Tensor) -> Tensor:
        """Scores (items, labels) of splits (items, 3)."""
        half = first.shape[-1] // 2
        left = first[rows, items[:, 0], :half] + second[rows, items[:, 1], :half]
        right = first[rows, items[:, 1], half:] + second[rows, items[:, 2], half:]
        first_half = self.dropout(functional.leaky_relu(left, 0.1).unsqueeze(1)).squeeze(1)
        second_half = self.dropout(functional.leaky_relu(right, 0.1).unsqueeze(1)).squeeze(1)
        scores: Tensor = self.pair(first_half, second_half)
        return scores


class SplitHead(nn.Module):
    """Splits and labels of one task over an encoder's boundaries."""

    def __init__(
        self, size: int, summary: int, labels: int, config: NetworkConfig, *, splits: bool
    ) -> None:
        super().__init__()
        self.config = config
        hidden = config.decoder_hidden
        marks = splits and config.edu_boundaries == "pointer"
        self.marker = (
            BoundaryMarker(size, config) if splits and config.edu_boundaries != "none" else None
        )
        self.start = nn.Linear(summary, hidden)
        self.span = SpanInput(size, config, marks)
        sizes = [self.span.size] + [hidden] * (config.decoder_layers - 1)
        self.layers = nn.ModuleList(Lstm(n, hidden, config.recurrent_dropout) for n in sizes)
        self.dropout = SharedDropout(config.decoder_dropout)
        self.pointer = Pointer(size, config, marks)
        self.labels = (SplitLabels if splits else SpanLabels)(size, labels, config)

    def decoder(self) -> list[Lstm]:
        """The decoder's layers, first to last."""
        return [layer for layer in self.layers if isinstance(layer, Lstm)]

    def marks(self, encoding: Encoding) -> tuple[Tensor | None, Tensor | None]:
        """The marker's logits (batch, n + 1), and what the rest of the head sees of them."""
        if self.marker is None:
            return None, None
        logits = self.marker(encoding)
        if not self.span.marks:
            return logits, None
        marks = torch.sigmoid(logits) * encoding.mask
        return logits, marks

    def starts(self, summary: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden and cell states (batch, layers, hidden) before the first step."""
        cell = self.start(summary)
        blank = cell.new_zeros(len(cell), len(self.layers) - 1, cell.shape[-1])
        hidden = torch.cat([torch.tanh(cell).unsqueeze(1), blank], 1)
        return hidden, torch.cat([cell.unsqueeze(1), blank], 1)

    def forward(
        self, encoding: Encoding, left: Tensor, right: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Scores (batch, steps, n + 1) of all steps at once, and the marker's logits.

        `left` and `right` (batch, steps) are the ends of the spans in the
        order in which they are split. Boundaries beyond a sentence are -inf.
        """
        logits, marks = self.marks(encoding)
        lefts, rights = self.span(encoding.boundaries, marks)
        x = at_boundaries(lefts, left) + at_boundaries(rights, right)
        states = self._run(x, *self.starts(encoding.summary))
        keys, offsets = self.pointer.keys(encoding, marks)
        query = self.pointer.state(self.dropout(states))
        return torch.bmm(query, keys.transpose(1, 2)) + offsets.unsqueeze(1), logits

    def _run(self, x: Tensor, hidden: Tensor, cell: Tensor) -> Tensor:
        batch, steps, _ = x.shape
        x = self.dropout(x)
        if not self.config.history:
            # Each step is a sequence of its own, from the same start.
            hidden = hidden.repeat_interleave(steps, 0)
            cell = cell.repeat_interleave(steps, 0)
            x = x.reshape(batch * steps, 1, -1)
        for number, layer in enumerate(self.layers):
            if number:
                x = self.dropout(x)
            x = layer(x, hidden[:, number].contiguous(), cell[:, number].contiguous())
        return x.view(batch, steps, -1)

    def remember(self, encoding: Encoding) -> Memory:
        """All that depends on boundaries alone."""
        _, marks = self.marks(encoding)
        left, right = self.span(encoding.boundaries, marks)
        weight = self.decoder()[0].weight_in
        keys, offsets = self.pointer.keys(encoding, marks)
        hidden, cell = self.starts(encoding.summary)
        label_left, label_right = self.labels.remember(encoding.boundaries)
        return Memory(
            left_gates=functional.linear(left, weight),
            right_gates=functional.linear(right, weight),
            keys=keys,
            offsets=offsets,
            hidden=hidden,
            cell=cell,
            label_left=label_left,
            label_right=label_right,
        )

    def step(
        self, memory: Memory, rows: Tensor, spans: Tensor, hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Log-probabilities (rows, n + 1) and the states after one step.

        `rows` says which sentence each hypothesis is of, `spans` (rows, 2)
        what it splits; states are (rows, layers, hidden).
        """
        if not self.config.history:
            hidden, cell = memory.hidden[rows], memory.cell[rows]
        gates = memory.left_gates[rows, spans[:, 0]] + memory.right_gates[rows, spans[:, 1]]
        hiddens: list[Tensor] = []
        cells: list[Tensor] = []
        for number, layer in enumerate(self.decoder()):
            if number:
                gates = functional.linear(hiddens[-1], layer.weight_in)
            above, kept = layer.step(gates, hidden[:, number], cell[:, number])
            hiddens.append(above)
            cells.append(kept)
        query = self.pointer.state(hiddens[-1].unsqueeze(1))
        scores = torch.bmm(query, memory.keys[rows].transpose(1, 2)).squeeze(1)
        log_probs = torch.log_softmax(scores + memory.offsets[rows], -1)
        return log_probs, torch.stack(hiddens, 1), torch.stack(cells, 1)
