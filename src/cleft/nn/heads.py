"""One task's head: span input, decoder, pointer, labels.

Everything that depends on a boundary alone is computed once (`remember`), so
that a step of decoding is one recurrent step and one product. Training runs
all steps of the gold trees at once; both give the same scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from cleft.nn.config import NetworkConfig
from cleft.nn.layers import Biaffine, Mlp, SharedDropout, State, make_decoder
from cleft.tasks import Task

if TYPE_CHECKING:
    from cleft.nn.network import Encoding


def at_boundaries(x: Tensor, positions: Tensor) -> Tensor:
    """The vectors (batch, steps, size) of x (batch, n + 1, size) at positions (batch, steps)."""
    return x.gather(1, positions.unsqueeze(-1).expand(-1, -1, x.shape[-1]))


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What a head knows of a batch before the first step, one row a sentence."""

    left: Tensor  # (batch, n + 1, decoder): a boundary's share as a span's left end
    right: Tensor  # (batch, n + 1, decoder)
    left_query: Tensor  # (batch, n + 1, span scores)
    right_query: Tensor  # (batch, n + 1, span scores)
    keys: Tensor  # (batch, n + 1, pointer + 2·span scores)
    offsets: Tensor  # (batch, n + 1), -inf beyond the sentence
    start: State
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


class SpanScores(nn.Module):
    """How well a span stands as a node of the tree, from its two boundaries.

    score(i, j) = l_i W r_j + u l_i + v r_j + b. The pointer adds the scores of the two
    halves of a split; as products of vectors of a boundary each, they only widen its keys.
    """

    def __init__(self, size: int, config: NetworkConfig) -> None:
        super().__init__()
        width = config.span_scores
        self.left = Mlp(size, width, config.mlp_dropout)
        self.right = Mlp(size, width, config.mlp_dropout)
        self.weight = nn.Parameter(torch.zeros(width, width))
        self.left_offset = nn.Parameter(torch.zeros(width))
        self.right_offset = nn.Parameter(torch.zeros(width))
        self.bias = nn.Parameter(torch.zeros(()))

    def ends(self, boundaries: Tensor) -> tuple[Tensor, Tensor]:
        """The vectors l and r of boundaries, (batch, n + 1, width) each."""
        return self.left(boundaries), self.right(boundaries)

    def queries(self, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        """What a span's ends ask of a boundary between them: l W of the left, W r of the right."""
        return functional.linear(left, self.weight.T), functional.linear(right, self.weight)

    def offsets(self, left: Tensor, right: Tensor) -> Tensor:
        """A boundary's own share as right end of the first half and left end of the second."""
        return right @ self.right_offset + left @ self.left_offset

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Logits (batch, n + 1, n + 1) of all spans, by left and right end."""
        query, _ = self.queries(left, right)
        scores = torch.bmm(query, right.transpose(1, 2))
        scores = scores + (left @ self.left_offset).unsqueeze(2)
        return scores + (right @ self.right_offset).unsqueeze(1) + self.bias


class SpanLabels(nn.Module):
    """Labels of spans, from their two ends (syntax)."""

    def __init__(self, size: int, labels: int, config: NetworkConfig) -> None:
        super().__init__()
        self.left = Mlp(size, config.label_size, config.mlp_dropout)
        self.right = Mlp(size, config.label_size, config.mlp_dropout)
        self.count = labels
        self.none = labels if config.label_none else None  # after all others
        self.pair = Biaffine(config.label_size, labels + config.label_none)

    def remember(self, boundaries: Tensor) -> tuple[Tensor, Tensor]:
        """What the boundaries are as left and as right ends, (batch, n + 1, label) each."""
        return self.left(boundaries), self.right(boundaries)

    def forward(self, left: Tensor, right: Tensor, rows: Tensor, items: Tensor) -> Tensor:
        """Scores (items, labels) of spans (items, 2)."""
        scores: Tensor = self.pair(left[rows, items[:, 0]], right[rows, items[:, 1]])
        return scores

    def chart(self, left: Tensor, right: Tensor) -> Tensor:
        """Scores (batch, n + 1, n + 1, labels) of all spans, by left and right end."""
        return self.pair.chart(left, right)


class SplitLabels(nn.Module):
    """Labels of splits, from the two spans they make (discourse).

    The MLP of a pair of boundaries is linear before its activation, so each
    boundary's share is computed once.
    """

    def __init__(self, size: int, labels: int, config: NetworkConfig) -> None:
        super().__init__()
        self.count = labels
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


@dataclass(frozen=True, kw_only=True)
class Boundaries:
    """What a head makes of the boundaries of a batch, before any span is looked at."""

    left: Tensor  # (batch, n + 1, span input): a boundary's part as a span's left end
    right: Tensor  # (batch, n + 1, span input)
    summary: Tensor  # (batch, size)
    left_query: Tensor  # (batch, n + 1, span scores)
    right_query: Tensor  # (batch, n + 1, span scores)
    keys: Tensor  # (batch, n + 1, pointer + 2·span scores)
    offsets: Tensor  # (batch, n + 1), -inf beyond the sentence
    marks: Tensor | None  # (batch, n + 1): logits of EDU boundaries
    spans: Tensor | None  # (batch, n + 1, n + 1): logits that a span is in the tree


class SplitHead(nn.Module):
    """Splits and labels of one task over an encoder's boundaries."""

    def __init__(
        self, size: int, summary: int, labels: int, config: NetworkConfig, *, task: Task[Any]
    ) -> None:
        super().__init__()
        self.config = config
        self.stops = task.stops
        marks = self.stops and config.edu_boundaries == "pointer"
        self.marker = (
            BoundaryMarker(size, config) if self.stops and config.edu_boundaries != "none" else None
        )
        self.span = SpanInput(size, config, marks)
        self.decoder = make_decoder(self.span.size, summary, config)
        self.pointer = Pointer(size, config, marks)
        self.span_scores = SpanScores(size, config) if config.span_scores else None
        make_labels = SplitLabels if task.labels == "splits" else SpanLabels
        self.labels = make_labels(size, labels, config)

    @property
    def key_size(self) -> int:
        """The size of a boundary's key: the pointer's own, and both ends of span scores."""
        return self.config.pointer_size + 2 * self.config.span_scores

    def marks(self, encoding: Encoding) -> tuple[Tensor | None, Tensor | None]:
        """The marker's logits (batch, n + 1), and what the rest of the head sees of them."""
        if self.marker is None:
            return None, None
        logits = self.marker(encoding)
        if not self.span.marks:
            return logits, None
        marks = torch.sigmoid(logits) * encoding.mask
        return logits, marks

    def forward(self, encoding: Encoding) -> Boundaries:
        """All that depends on boundaries alone."""
        logits, marks = self.marks(encoding)
        left, right = self.span(encoding.boundaries, marks)
        keys, offsets = self.pointer.keys(encoding, marks)
        left_query = right_query = keys[..., :0]
        spans = None
        if self.span_scores is not None:
            ends = self.span_scores.ends(encoding.boundaries)
            left_query, right_query = self.span_scores.queries(*ends)
            keys = torch.cat([keys, ends[1], ends[0]], -1)
            offsets = offsets + self.span_scores.offsets(*ends)
            spans = self.span_scores(*ends)
        return Boundaries(
            left=left,
            right=right,
            summary=encoding.summary,
            left_query=left_query,
            right_query=right_query,
            keys=keys,
            offsets=offsets,
            marks=logits,
            spans=spans,
        )

    def scores(self, known: Boundaries, left: Tensor, right: Tensor) -> Tensor:
        """Scores (batch, steps, n + 1) of all steps at once.

        `left` and `right` (batch, steps) are the ends of the spans in the
        order in which they are split. Boundaries beyond a sentence are -inf.
        """
        x = at_boundaries(known.left, left) + at_boundaries(known.right, right)
        query = self.pointer.state(self.decoder(x, known.summary))
        ends = at_boundaries(known.left_query, left), at_boundaries(known.right_query, right)
        query = torch.cat([query, *ends], -1)
        scores = torch.bmm(query, known.keys.transpose(1, 2)) + known.offsets.unsqueeze(1)
        return self._limit(scores, left, right)

    def _limit(self, scores: Tensor, left: Tensor, right: Tensor) -> Tensor:
        """The scores with -inf outside each span, if that is what the pointer runs over."""
        if self.config.pointer_range == "sentence":
            return scores
        places = torch.arange(scores.shape[-1], device=scores.device)
        legal = (places > left.unsqueeze(-1)) & (places < (right + self.stops).unsqueeze(-1))
        # A padded step spans nothing; it stays finite, and its target does not count.
        return scores.masked_fill(~legal & (left < right).unsqueeze(-1), float("-inf"))

    def remember(self, encoding: Encoding) -> Memory:
        """What a search needs of the boundaries."""
        known: Boundaries = self(encoding)
        left, right = self.decoder.ends(known.left, known.right, known.summary)
        label_left, label_right = self.labels.remember(encoding.boundaries)
        return Memory(
            left=left,
            right=right,
            left_query=known.left_query,
            right_query=known.right_query,
            keys=known.keys,
            offsets=known.offsets,
            start=self.decoder.starts(known.summary),
            label_left=label_left,
            label_right=label_right,
        )

    def step(
        self, memory: Memory, rows: Tensor, spans: Tensor, state: State
    ) -> tuple[Tensor, State]:
        """Log-probabilities (rows, n + 1) and the states after one step.

        `rows` says which sentence each hypothesis is of, `spans` (rows, 2)
        what it splits.
        """
        left, right = spans[:, 0], spans[:, 1]
        known, state = self.decoder.step(memory.left[rows, left] + memory.right[rows, right], state)
        query = self.pointer.state(known.unsqueeze(1)).squeeze(1)
        ends = memory.left_query[rows, left], memory.right_query[rows, right]
        query = torch.cat([query, *ends], -1).unsqueeze(1)
        scores = torch.bmm(query, memory.keys[rows].transpose(1, 2)).squeeze(1)
        scores = self._limit(scores + memory.offsets[rows], left, right)
        return torch.log_softmax(scores, -1), state
