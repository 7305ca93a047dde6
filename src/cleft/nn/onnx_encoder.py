"""Character and BiLSTM encoders as ONNX graphs.

Everything is time-major, (positions, sentences, size), as ONNX's LSTM is. What
depends on a word alone (characters, embedding) comes in as `vectors`, made
once a word by the runtime; what a transformer says of words as `context`.
"""

from __future__ import annotations

import numpy as np

from cleft.nn.encoders import CharEncoder, Encoder
from cleft.nn.layers import BiLstm, Lstm
from cleft.nn.onnx_build import FLOAT, INT, INT32, Array, Graph, array

__all__ = ["chars_graph", "encoder_graph"]


def _gates(weight: Array) -> Array:
    """From PyTorch's gates (input, forget, cell, output) to ONNX's (input, output, forget, ...)."""
    enter, forget, value, leave = np.split(weight, 4)
    return np.concatenate([enter, leave, forget, value])


def _lstm(graph: Graph, x: str, lengths: str, layer: BiLstm) -> tuple[str, str, str]:
    """One BiLSTM layer: all states (positions, 2, sentences, hidden), last states, last cells."""
    sides: list[Lstm] = [layer.ahead, layer.back]
    blank = np.zeros(4 * layer.ahead.hidden, np.float32)
    weights = np.stack([_gates(array(side.weight_in)) for side in sides])
    states = np.stack([_gates(array(side.weight_state)) for side in sides])
    biases = np.stack([np.concatenate([_gates(array(side.bias)), blank]) for side in sides])
    inputs = [graph.floats(part) for part in (weights, states, biases)]
    found = graph.ops(
        "LSTM",
        x,
        *inputs,
        lengths,
        results=3,
        hidden_size=layer.ahead.hidden,
        direction="bidirectional",
    )
    return found[0], found[1], found[2]


def _side_by_side(graph: Graph, pair: str) -> str:
    """Both directions' (2, sentences, hidden) as (sentences, 2 · hidden)."""
    return graph.op("Reshape", graph.op("Transpose", pair, perm=[1, 0, 2]), graph.numbers(0, -1))


def chars_graph(encoder: CharEncoder) -> bytes:
    """Characters (length, words) and lengths in, vectors of words out."""
    graph = Graph("chars")
    chars = graph.input("chars", INT, ["length", "words"])
    lengths = graph.input("lengths", INT32, ["words"])
    x = graph.gather(graph.floats(array(encoder.embedding.weight)), chars)
    _, last, _ = _lstm(graph, x, lengths, encoder.lstm)
    graph.output("vectors", _side_by_side(graph, last))
    return graph.to_bytes()


def encoder_graph(encoder: Encoder, *, int8: bool = False) -> bytes:
    """Words in, boundaries (sentences · (n + 1), size) and summaries (sentences, size) out."""
    graph = Graph("encoder", int8=int8)
    parts = []
    if encoder.context is not None:
        parts.append(_context(graph, encoder))
    width = encoder.words.embedding_dim if encoder.words is not None else 0
    width += encoder.chars.size if encoder.chars is not None else 0
    if width:
        parts.append(graph.input("vectors", FLOAT, ["positions", "sentences", width]))
    x = parts[0] if len(parts) == 1 else graph.op("Concat", *parts, axis=2)
    summary, half = graph.op("Gather", x, graph.constant(np.int64(0)), axis=0), encoder.size // 2
    if encoder.layers:
        lengths = graph.input("lengths", INT32, ["sentences"])
        ahead, back, summary = _layers(graph, x, lengths, encoder)
    else:
        ahead, back = graph.slice(x, 2, 0, half), graph.slice(x, 2, half)
    # The boundary before token k+1 sees all up to k from the left, the rest from the right.
    both = graph.op("Concat", graph.slice(ahead, 0, 0, -1), graph.slice(back, 0, 1), axis=2)
    boundaries = graph.reshape(graph.op("Transpose", both, perm=[1, 0, 2]), -1, encoder.size)
    graph.output("boundaries", boundaries)
    graph.output("summary", summary)
    return graph.to_bytes()


def _context(graph: Graph, encoder: Encoder) -> str:
    """The transformer's vectors, mapped to their size in the encoder."""
    context = encoder.context
    assert context is not None
    full = context.transformer.size
    x = graph.input("context", FLOAT, ["positions", "sentences", full])
    if context.project is None:
        return x
    shape = graph.op("Shape", x)
    sides = graph.op("Slice", shape, graph.numbers(0), graph.numbers(2))
    target = graph.op("Concat", sides, graph.numbers(context.size), axis=0)
    flat = graph.linear(
        graph.reshape(x, -1, full), array(context.project.weight), array(context.project.bias)
    )
    return graph.op("Reshape", flat, target)


def _layers(graph: Graph, x: str, lengths: str, encoder: Encoder) -> tuple[str, str, str]:
    """All BiLSTM layers: the last one's two directions, and its final cells."""
    layers = [layer for layer in encoder.layers if isinstance(layer, BiLstm)]
    for layer in layers[:-1]:
        states, _, _ = _lstm(graph, x, lengths, layer)
        x = graph.reshape(graph.op("Transpose", states, perm=[0, 2, 1, 3]), 0, 0, -1)
    states, _, cells = _lstm(graph, x, lengths, layers[-1])
    ahead, back = (
        graph.op("Gather", states, graph.constant(np.int64(side)), axis=1) for side in (0, 1)
    )
    return ahead, back, _side_by_side(graph, cells)
