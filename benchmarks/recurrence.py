"""An LSTM layer there and back, by the kernels that training could use.

    python benchmarks/recurrence.py [--rounds 7] [--threads 1]

Prints milliseconds (medians, the kernels in turns) and how many times as fast as
oneDNN in single precision each is. The sizes are those of the paper's decoder and
encoder in batches of some 1,000 tokens.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from cleft.nn.recurrence import run_layer

SIZES = [(1000, 800, 40, 25, False), (800, 800, 16, 60, False), (800, 400, 40, 25, True)]
"""Input, hidden, rows, positions, whether both ways."""

Layer = tuple[Tensor, Tensor, list[Tensor]]
Kernel = Callable[[Layer, bool], Tensor]


def make_layer(size: int, hidden: int, rows: int, positions: int, both: bool) -> Layer:
    ways = 2 if both else 1
    x = torch.randn(rows, positions, size).requires_grad_()
    weights = []
    for _ in range(ways):
        shapes = [(4 * hidden, size), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,)]
        weights += [(0.02 * torch.randn(shape)).requires_grad_() for shape in shapes]
    return x, torch.zeros(ways, rows, hidden), weights


def library(dtype: torch.dtype, onednn: bool) -> Kernel:
    """`torch.lstm` in a precision, on oneDNN's kernels or on PyTorch's own."""

    def run(layer: Layer, both: bool) -> Tensor:
        x, start, weights = (layer[0].to(dtype), layer[1].to(dtype), layer[2])
        given = [weight.to(dtype) for weight in weights]
        switch: Any = torch.backends.mkldnn  # its context manager warns of other switches
        switch.enabled = onednn
        states = torch.lstm(x, (start, start), given, True, 1, 0.0, True, both, True)[0]
        switch.enabled = True
        return states

    return run


def ours(layer: Layer, both: bool) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return run_layer(layer[0], (layer[1], layer[1]), layer[2], both=both)[0]


KERNELS: dict[str, Kernel] = {
    "oneDNN, single": library(torch.float32, True),
    "PyTorch, single": library(torch.float32, False),
    "oneDNN, bf16": library(torch.bfloat16, True),
    "PyTorch, bf16": library(torch.bfloat16, False),
    "cleft, bf16": ours,
}


def seconds(kernel: Kernel, layer: Layer, both: bool) -> float:
    began = time.perf_counter()
    kernel(layer, both).float().sum().backward()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"load {os.getloadavg()[0]:.1f}, threads {options.threads}, rounds {options.rounds}")
    for size, hidden, rows, positions, both in SIZES:
        layer = make_layer(size, hidden, rows, positions, both)
        times: dict[str, list[float]] = {name: [] for name in KERNELS}
        for turn in range(options.rounds + 1):
            for name, kernel in KERNELS.items():
                took = seconds(kernel, layer, both)
                if turn:  # the first one makes the kernels
                    times[name].append(took)
        print(f"{size} to {hidden}{' both ways' if both else ''}, {rows} × {positions}")
        base = statistics.median(times["oneDNN, single"])
        for name, values in times.items():
            middle = statistics.median(values)
            print(f"  {name:16} {1000 * middle:8.1f} ms  {base / middle:5.2f} ×")


if __name__ == "__main__":
    main()
