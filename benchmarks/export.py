"""Our ONNX graphs of a transformer beside those of `torch.onnx.export`, in full and in 8 bits.

    python benchmarks/export.py ~/cleft-runs/pretrained/minilm [--depth 3] [--turns 30]

Both are made of one encoder, with the same mixture of layers. Ours look pieces up outside of
the graph, so the table counts among their bytes. PyTorch's 8 bits are those of
`onnxruntime.quantization.quantize_dynamic`, ours those of `cleft export --int8`, calibrated on the
sentences below. *difference* is the largest one from PyTorch, in standard deviations of what
PyTorch gives; *time* is that of one run on one thread, the best of the turns.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import torch
from torch import Tensor, nn

from cleft.nn.checkpoint import build_network
from cleft.nn.config import NetworkConfig
from cleft.nn.export.encoder_graphs import piece_vectors, transformer_graph, watched
from cleft.nn.export.int8 import calibrate
from cleft.nn.features import Vocabulary, Windows
from cleft.nn.network import Encoder
from cleft.nn.scorer import TorchScorer
from cleft.nn.transformer import Transformer
from cleft.runtime.directory import Table, shrink

SENTENCES = [
    "The old heron waited at the edge of the pond until nobody came any more .",
    "Although it rained , she went out to look for the letter that he had lost .",
    "Prices rose by 3.5 % in May , and the bank said that it would not act before the autumn .",
    "So what ?",
]

Numbers = np.ndarray[Any, np.dtype[Any]]

# As the runtime does, before the library is imported: its import leaves a file in the home.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


class Graph(NamedTuple):
    """A graph with what it is run on; `beside` are the bytes that it needs besides itself."""

    name: str
    data: bytes
    inputs: dict[str, Numbers]
    beside: int = 0


class Mixed(nn.Module):
    """The same function as our graph, for PyTorch to export."""

    def __init__(self, transformer: Transformer) -> None:
        super().__init__()
        self.transformer = transformer

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The mixture of layers at every place, (windows · width, size)."""
        mixed: Tensor = self.transformer.mix(self.transformer._read(ids, mask))
        return mixed.reshape(-1, self.transformer.size)


def ours(scorer: TorchScorer, transformer: Transformer, windows: Windows) -> Iterator[Graph]:
    """The graphs of `cleft export`, with the table of pieces in full and in 8 bits."""
    model = transformer.model
    lengths = windows.mask.sum(1).numpy().astype(np.int32)
    table = piece_vectors(model)
    values, scales = shrink(table)
    seen = calibrate(scorer, model, watched(model), [line.split() for line in SENTENCES])
    full, small = table[windows.ids.numpy()], Table(values, scales)[windows.ids.numpy()]
    graph = transformer_graph(transformer)
    yield Graph("cleft", graph, {"pieces": full, "lengths": lengths}, table.nbytes)
    graph = transformer_graph(transformer, seen)
    beside = values.nbytes + scales.nbytes
    yield Graph("cleft, 8 bits", graph, {"pieces": small, "lengths": lengths}, beside)


def theirs(transformer: Transformer, windows: Windows) -> Iterator[Graph]:
    """The graphs of `torch.onnx.export` and of `quantize_dynamic`."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    inputs = {"ids": windows.ids.numpy(), "mask": windows.mask.numpy().astype(np.int64)}
    axes = {name: {0: "windows", 1: "width"} for name in inputs}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        full, small = Path(folder, "full.onnx"), Path(folder, "small.onnx")
        torch.onnx.export(
            Mixed(transformer),
            tuple(torch.from_numpy(value) for value in inputs.values()),
            full,
            input_names=list(inputs),
            output_names=["vectors"],
            dynamic_axes=axes,
            dynamo=False,
        )
        yield Graph("torch.onnx.export", full.read_bytes(), inputs)
        quantize_dynamic(full, small, weight_type=QuantType.QInt8)
        yield Graph("quantize_dynamic", small.read_bytes(), inputs)


def row(graph: Graph, expected: Numbers, real: Numbers, turns: int) -> str:
    """A line of the table."""
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.log_severity_level = 3
    session = onnxruntime.InferenceSession(graph.data, settings, ["CPUExecutionProvider"])
    (found,) = session.run(["vectors"], graph.inputs)
    difference = np.abs(found - expected)[real].max() / expected[real].std()
    nodes = len(onnx.load_from_string(graph.data).graph.node)
    size = (len(graph.data) + graph.beside) / 1e6
    spent = min(_timed(lambda: session.run(["vectors"], graph.inputs)) for _ in range(turns))
    return f"| {graph.name} | {size:.1f} | {nodes} | {difference:.1e} | {1000 * spent:.1f} |"


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("transformer", help="the directory of a pretrained encoder")
    parser.add_argument("--depth", type=int, default=3, help="its first layers")
    parser.add_argument("--turns", type=int, default=30, help="runs, of which the fastest counts")
    args = parser.parse_args()
    logging.disable(logging.WARNING)  # of the quantiser, to pre-process the graph
    torch.set_num_threads(1)
    config = NetworkConfig(
        encoder="transformer",
        transformer=args.transformer,
        transformer_depth=args.depth,
        transformer_layers=args.depth + 1,
        encoder_layers=0,
    )
    words = [line.split() for line in SENTENCES]
    vocabulary = Vocabulary.build(words, min_count=1, labels={"syntax": ["S", "NP"]})
    network, featurise = build_network(config, vocabulary)
    scorer = TorchScorer(network.eval(), vocabulary, featurise)
    assert isinstance(network.encoder, Encoder)
    context = network.encoder.context
    windows = featurise(words).windows
    assert context is not None
    assert windows is not None
    transformer = context.transformer
    assert isinstance(transformer, Transformer)
    with torch.no_grad():
        expected = Mixed(transformer)(windows.ids, windows.mask).numpy()
    real = windows.mask.numpy().astype(bool).ravel()
    print("| graph | MB | nodes | difference | time, ms |")
    print("| --- | --- | --- | --- | --- |")
    for graph in (*ours(scorer, transformer, windows), *theirs(transformer, windows)):
        print(row(graph, expected, real, args.turns), flush=True)


if __name__ == "__main__":
    main()
