"""Examples in batches: length buckets, a budget of tokens, an order seeded by epoch.

The order of an epoch depends on the seed and the epoch alone, so that a
resumed run sees what an unbroken one would.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cleft.nn.features import Featuriser, Inputs

Numbers = npt.NDArray[np.int64]

NONE: Numbers = np.zeros(0, np.int64)

Others = tuple[Numbers, Numbers, npt.NDArray[np.float64]]
"""Other choices than a tree's: which decision, what else it could be, the chance of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A sentence and the decisions of its gold tree, by number."""

    task: str
    words: tuple[Any, ...]
    splits: Numbers  # (steps, 3): left, split, right
    items: Numbers  # (labelled, 2 or 3)
    labels: Numbers  # (labelled), -1 where the label is unknown
    tags: Numbers | None = None  # (n), -1 where unknown
    edus: Numbers | None = None  # (n + 1): 1 where an EDU ends, -1 at both ends
    heads: Numbers | None = None  # (n): the word that each depends on, from 1; 0 is the root
    has_tree: bool = True  # else it has heads alone
    others: Mapping[str, Others] = field(default_factory=dict)  # by the term of the loss


@dataclass(frozen=True, kw_only=True)
class Alternatives:
    """Other choices of a batch, for one term of the loss; all are (choices)."""

    places: Tensor  # rows of the term's scores, as if these were one table
    choices: Tensor  # columns of them
    chances: Tensor

    def to(self, device: torch.device) -> Alternatives:
        """The same on a device."""
        return Alternatives(**{name: value.to(device) for name, value in vars(self).items()})


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Examples of one task as tensors. A target of -1 does not count."""

    task: str
    inputs: Inputs
    left: Tensor  # (batch, steps)
    right: Tensor  # (batch, steps)
    split: Tensor  # (batch, steps)
    rows: Tensor  # (items)
    items: Tensor  # (items, 2 or 3)
    labels: Tensor  # (items)
    tags: Tensor | None  # (batch, n)
    edus: Tensor | None  # (batch, n + 1)
    heads: Tensor | None  # (batch, n)
    has_tree: Tensor  # (batch), false for a sentence with heads alone, and where nothing counts
    counts: dict[str, int]
    tokens: int
    others: Mapping[str, Alternatives] = field(default_factory=dict)

    def to(self, device: torch.device) -> Batch:
        """The same on a device."""
        if device.type == "cpu":
            return self
        moved = {
            name: value.to(device)
            for name in self.__dataclass_fields__
            if isinstance(value := getattr(self, name), Tensor | Inputs)
        }
        others = {name: found.to(device) for name, found in self.others.items()}
        return Batch(**{**self.__dict__, **moved, "others": others})


def stable_seed(*parts: int | str) -> int:
    """A seed from numbers and names, the same on every machine.

    >>> stable_seed(1, "epoch", 2) == stable_seed(1, "epoch", 2) != stable_seed(1, "epoch", 3)
    True
    """
    text = " ".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:7], "big")


def plan(lengths: Sequence[int], budget: int, seed: int, epoch: int) -> list[Numbers]:
    """Batches of example numbers: like lengths together, at most `budget` tokens each.

    A sentence longer than the budget is a batch by itself.

    >>> [sorted(batch.tolist()) for batch in plan([3, 50, 4, 3], 12, 0, 0)]
    [[1], [0, 2, 3]]
    """
    rng = np.random.default_rng(stable_seed(seed, "order", epoch))
    sizes = np.asarray(lengths, dtype=np.float64)
    # A little noise mixes neighbours, so that batches differ from epoch to epoch.
    noisy = sizes * rng.uniform(0.95, 1.05, len(sizes)) + rng.uniform(-1, 1, len(sizes))
    batches: list[list[int]] = [[]]
    room = budget
    for index in np.argsort(noisy, kind="stable"):
        if batches[-1] and lengths[index] > room:
            batches.append([])
            room = budget
        batches[-1].append(int(index))
        room -= lengths[index]
    order = rng.permutation(len(batches))
    return [np.array(batches[number], dtype=np.int64) for number in order if batches[number]]


def portion(
    sources: Sequence[str], portions: Mapping[str, float], seed: int, epoch: int
) -> Numbers:
    """The examples that an epoch takes: all, but of a set with a portion only that part.

    Epochs go round such a set, so that none of its examples is left out for long.

    >>> sources = ["a", "b", "b", "b", "b"]
    >>> [portion(sources, {"b": 0.5}, 1, epoch).tolist() for epoch in (0, 1, 2)]
    [[0, 2, 3], [0, 1, 4], [0, 2, 3]]
    """
    names = np.array(sources)
    kept = [np.flatnonzero(~np.isin(names, list(portions)))]
    for name, part in portions.items():
        members = np.flatnonzero(names == name)
        count = max(1, round(part * len(members))) if len(members) else 0
        order = np.random.default_rng(stable_seed(seed, name)).permutation(len(members))
        kept.append(members[np.take(order, range(epoch * count, (epoch + 1) * count), mode="wrap")])
    return np.sort(np.concatenate(kept))


def share(batch: Numbers, rank: int, ranks: int) -> tuple[Numbers, bool]:
    """A process's part of a batch, and whether it counts.

    Where there are fewer sentences than processes, some repeat the first one
    and do not count it, so that all take part in the step.

    >>> share(np.array([7, 8, 9]), 1, 2)[0].tolist(), share(np.array([7]), 1, 2)[1]
    ([8], False)
    """
    mine = batch[rank::ranks]
    return (mine, True) if len(mine) else (batch[:1], False)


def _padded(rows: Sequence[Numbers], fill: int, width: int) -> Tensor:
    table = np.full((len(rows), width), fill, dtype=np.int64)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return torch.from_numpy(table)


def collate(examples: Sequence[Example], featurise: Featuriser, *, counts: bool = True) -> Batch:
    """A batch of examples of one task; without `counts` nothing in it counts."""
    inputs = featurise([example.words for example in examples])
    width = inputs.words.shape[1] - 2
    # At least one step, so that a batch of one-word sentences is like any other.
    steps = max(1, *(len(example.splits) for example in examples))
    ends = [example.splits.T for example in examples]
    split = _padded([end[1] for end in ends], -1, steps)
    rows = np.repeat(np.arange(len(examples)), [len(example.items) for example in examples])
    labels = torch.from_numpy(np.concatenate([example.labels for example in examples]))
    tags = [example.tags for example in examples]
    edus = [example.edus for example in examples]
    heads = [NONE if example.heads is None else example.heads for example in examples]
    tag_table = None if any(row is None for row in tags) else _padded(tags, -1, width)  # type: ignore[arg-type]
    edu_table = None if any(row is None for row in edus) else _padded(edus, -1, width + 1)  # type: ignore[arg-type]
    head_table = _padded(heads, -1, width) if any(map(len, heads)) else None
    targets = {"split": split, "label": labels, "tag": tag_table, "edu": edu_table}
    targets["head"] = head_table
    known = {name: table for name, table in targets.items() if table is not None}
    if not counts:
        for table in known.values():
            table.fill_(-1)
    return Batch(
        task=examples[0].task,
        inputs=inputs,
        left=_padded([end[0] for end in ends], 0, steps),
        right=_padded([end[2] for end in ends], 0, steps),
        split=split,
        rows=torch.from_numpy(rows),
        items=torch.from_numpy(np.concatenate([example.items for example in examples])),
        labels=labels,
        tags=tag_table,
        edus=edu_table,
        heads=head_table,
        has_tree=torch.tensor([example.has_tree and counts for example in examples]),
        counts={name: int((table >= 0).sum()) for name, table in known.items()},
        tokens=int(inputs.lengths.sum()) if counts else 0,
        others=_others(examples, steps, width) if counts else {},
    )


def _others(examples: Sequence[Example], steps: int, width: int) -> dict[str, Alternatives]:
    """The other choices of all examples, each where its scores will stand in the batch."""
    many = np.arange(len(examples))
    first = {"split": many * steps, "tag": many * width, "edu": many * (width + 1)}
    first["label"] = np.cumsum([0, *(len(example.items) for example in examples[:-1])])
    found: dict[str, Alternatives] = {}
    for name, starts in first.items():
        parts = [(n, e.others[name]) for n, e in enumerate(examples) if name in e.others]
        if parts:
            places = np.concatenate([starts[number] + part[0] for number, part in parts])
            chances = np.concatenate([part[2] for _, part in parts])
            found[name] = Alternatives(
                places=torch.from_numpy(places),
                choices=torch.from_numpy(np.concatenate([part[1] for _, part in parts])),
                chances=torch.from_numpy(chances).float(),
            )
    return found
