"""Encoders as ONNX graphs: characters, BiLSTM, transformer.

Everything is time-major, (positions, sentences, size), as ONNX's LSTM is. What
depends on a word alone (characters, embedding) comes in as `vectors`, made
once a word by the runtime; what a transformer says of words as `context`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cleft.errors import ModelError
from cleft.nn.export.graph import FLOAT, INT, INT32, Array, Graph, array, weights_of
from cleft.nn.export.int8 import Activation, FullMaps, Seen, SmallMaps, even_values
from cleft.nn.layers import BiLstm, Lstm
from cleft.nn.network import CharEncoder, Encoder, SentenceEncoder
from cleft.nn.transformer import Transformer
from cleft.runtime.units import PARTS


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
        layers = [layer for layer in encoder.layers if isinstance(layer, BiLstm)]
        ahead, back, summary = _layers(graph, x, lengths, layers)
    else:
        ahead, back = graph.slice(x, 2, 0, half), graph.slice(x, 2, half)
    # The boundary before token k+1 sees all up to k from the left, the rest from the right.
    both = graph.op("Concat", graph.slice(ahead, 0, 0, -1), graph.slice(back, 0, 1), axis=2)
    boundaries = graph.reshape(graph.op("Transpose", both, perm=[1, 0, 2]), -1, encoder.size)
    graph.output("boundaries", boundaries)
    graph.output("summary", summary)
    return graph.to_bytes()


def sentences_graph(encoder: SentenceEncoder, *, int8: bool = False) -> bytes:
    """One document: its sentences' vectors and marks in, boundaries and its summary out."""
    graph = Graph("sentences", int8=int8)
    size, shown = encoder.map.in_features, encoder.shown
    vectors = graph.input("vectors", FLOAT, ["sentences", size])
    marks = graph.input("marks", FLOAT, ["sentences", shown])
    parts = graph.reshape(vectors, -1, PARTS, size // PARTS)
    even = graph.op("LayerNormalization", parts, graph.floats(np.ones(size // PARTS)), axis=-1)
    mapped = graph.linear(graph.reshape(even, -1, size), *weights_of(encoder.map))
    x = graph.op("Concat", graph.leaky(mapped), marks, axis=1)
    edges = array(encoder.edges)
    x = graph.op("Concat", graph.floats(edges[:1]), x, graph.floats(edges[1:]), axis=0)
    x = graph.op("Unsqueeze", x, graph.numbers(1))  # (n + 2, 1, size)
    ahead, back, summary = _layers(graph, x, "", encoder.lstms())
    blank = graph.floats(np.zeros((1, shown)))
    around = graph.op("Concat", blank, marks, blank, axis=0)
    sides = [
        graph.slice(graph.op("Squeeze", side, graph.numbers(1)), 0, *part)
        for side, part in ((ahead, (0, -1)), (back, (1,)))
    ]
    shares = [graph.slice(around, 0, 0, -1), graph.slice(around, 0, 1)]
    graph.output("boundaries", graph.op("Concat", *sides, *shares, axis=1))
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
    flat = graph.linear(graph.reshape(x, -1, full), *weights_of(context.project))
    return graph.op("Reshape", flat, target)


def _layers(graph: Graph, x: str, lengths: str, layers: Sequence[BiLstm]) -> tuple[str, str, str]:
    """All BiLSTM layers: the last one's two directions, and its final cells.

    Without `lengths` all positions are real.
    """
    for layer in layers[:-1]:
        states, _, _ = _lstm(graph, x, lengths, layer)
        x = graph.reshape(graph.op("Transpose", states, perm=[0, 2, 1, 3]), 0, 0, -1)
    states, _, cells = _lstm(graph, x, lengths, layers[-1])
    ahead, back = (
        graph.op("Gather", states, graph.constant(np.int64(side)), axis=1) for side in (0, 1)
    )
    return ahead, back, _side_by_side(graph, cells)


NAMES = {
    "bert": {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "output": "attention.output.dense",
        "norm": "attention.output.LayerNorm",
    },
    "mpnet": {
        "query": "attention.attn.q",
        "key": "attention.attn.k",
        "value": "attention.attn.v",
        "output": "attention.attn.o",
        "norm": "attention.LayerNorm",
    },
    "distilbert": {
        "layer": "transformer.layer",
        "query": "attention.q_lin",
        "key": "attention.k_lin",
        "value": "attention.v_lin",
        "output": "attention.out_lin",
        "norm": "sa_layer_norm",
        "wide": "ffn.lin1",
        "narrow": "ffn.lin2",
        "last": "output_layer_norm",
    },
    "marian": {
        "layer": "layers",
        "query": "self_attn.q_proj",
        "key": "self_attn.k_proj",
        "value": "self_attn.v_proj",
        "output": "self_attn.out_proj",
        "norm": "self_attn_layer_norm",
        "wide": "fc1",
        "narrow": "fc2",
        "last": "final_layer_norm",
        "pieces": "embed_tokens",
    },
}
"""Where the kinds keep the parts that they name differently."""

for _names in NAMES.values():  # what BERT and MPNet call alike
    _names.setdefault("layer", "encoder.layer")
    _names.setdefault("wide", "intermediate.dense")
    _names.setdefault("narrow", "output.dense")
    _names.setdefault("last", "output.LayerNorm")
    _names.setdefault("pieces", "embeddings.word_embeddings")

ACTIVATIONS: dict[str, Activation] = {"gelu": "gelu", "swish": "silu", "silu": "silu"}
"""What transformers call the activations that are known here."""


def supported(model: Any) -> str:
    """The kind of a transformer; a ModelError if it cannot be exported."""
    kind = str(model.config.model_type)
    place = getattr(model.config, "position_embedding_type", None) or "absolute"
    if kind not in NAMES or place != "absolute" or _activation(model) is None:
        raise ModelError(
            f"a transformer of the type {kind!r} (activation {_activation_name(model)!r}) "
            "cannot be exported",
            hint=f"train on one of the types {', '.join(sorted(NAMES))} with "
            f"{' or '.join(ACTIVATIONS)}",
        )
    return kind


def _activation_name(model: Any) -> str:
    names = ("hidden_act", "activation_function", "activation")  # of BERT, Marian, DistilBERT
    return str(next((getattr(model.config, n) for n in names if hasattr(model.config, n)), None))


def _activation(model: Any) -> Activation | None:
    return ACTIVATIONS.get(_activation_name(model))


class _Weights:
    """A transformer's tensors by name."""

    def __init__(self, model: Any) -> None:
        self.tensors = {
            name: tensor.detach().float().cpu().numpy()
            for name, tensor in model.state_dict().items()
        }

    def __call__(self, name: str) -> Array:
        array: Array = self.tensors[name]
        return array

    def linear(self, name: str) -> tuple[Array, Array]:
        return self(f"{name}.weight"), self(f"{name}.bias")


def piece_vectors(model: Any) -> Array:
    """The table of the pieces' own vectors, as large as they enter the first layer."""
    table = _Weights(model)(f"{NAMES[supported(model)]['pieces']}.weight")
    return np.asarray(table * np.float32(getattr(model, "embed_scale", 1.0)))


def _positions(kind: str, weights: _Weights, model: Any) -> Array:
    """What a position adds to a piece's vector, from the first position on."""
    if kind == "marian":
        return weights("embed_positions.weight")
    table = weights("embeddings.position_embeddings.weight")
    if kind == "mpnet":  # positions are numbered from beyond the padding's number
        return table[model.embeddings.padding_idx + 1 :]
    if kind == "distilbert":  # it has no kinds of segments
        return table
    kinds = weights("embeddings.token_type_embeddings.weight")
    return np.asarray(table + kinds[0])


def _distance_bias(graph: Graph, model: Any, width: str, limit: int) -> str:
    """MPNet's bias for the distance of two positions, (1, heads, width, width)."""
    import torch

    encoder = model.encoder
    distances = torch.arange(1 - limit, limit)
    buckets = encoder.relative_position_bucket(
        distances, num_buckets=model.config.relative_attention_num_buckets
    )
    table = encoder.relative_attention_bias.weight.detach()[buckets].float().cpu().numpy()
    zero, one = graph.constant(np.int64(0)), graph.constant(np.int64(1))
    places = graph.op("Range", zero, width, one)
    apart = graph.op(
        "Sub",
        graph.op("Unsqueeze", places, graph.numbers(0)),
        graph.op("Unsqueeze", places, graph.numbers(1)),
    )
    index = graph.op("Add", apart, graph.constant(np.int64(limit - 1)))
    bias = graph.op("Transpose", graph.gather(graph.floats(table), index), perm=[2, 0, 1])
    return graph.op("Unsqueeze", bias, graph.numbers(0))


def watched(model: Any) -> list[str]:
    """The linear maps whose inputs a graph of 8 bits has to know, by name."""
    kind = supported(model)
    names = NAMES[kind]
    parts = [names[part] for part in ("query", "output", "wide", "narrow")]
    layers = range(model.config.num_hidden_layers)
    return [f"{names['layer']}.{number}.{part}" for number in layers for part in parts]


def transformer_graph(transformer: Transformer, seen: Mapping[str, Seen] | None = None) -> bytes:
    """The graph of a trained transformer with its mixture of layers.

    In 8 bits if it is told what the maps that are `watched` have seen.
    """
    model = transformer.model
    kind, weights = supported(model), _Weights(model)
    config, size = model.config, transformer.size
    graph = Graph("transformer")
    x = graph.input("pieces", FLOAT, ["windows", "width", size])
    lengths = graph.input("lengths", INT32, ["windows"])
    shape = graph.op("Shape", x)
    width = graph.op("Slice", shape, graph.numbers(1), graph.numbers(2))
    table = _positions(kind, weights, model)
    places = graph.op("Slice", graph.floats(table), graph.numbers(0), width, graph.numbers(0))
    x = graph.reshape(graph.op("Add", x, places), -1, size)
    if kind != "marian":
        x = _normalise(graph, x, weights, "embeddings.LayerNorm", _epsilon(kind, config))
    bias = ""
    if kind == "mpnet":
        bias = _distance_bias(graph, model, graph.op("Squeeze", width), len(table))
    attend = _attention(graph, shape, lengths, bias, size, config.num_attention_heads)
    activation = _activation(model) or "gelu"
    maps = FullMaps(graph, weights.tensors, activation)
    if seen is not None:
        maps = _small(graph, x, weights, seen, NAMES[kind], config.num_hidden_layers, activation)
    layers = [x]
    for number in range(config.num_hidden_layers):
        layers.append(_layer(graph, layers[-1], kind, weights, number, config, maps, attend))
    graph.output("vectors", _mix(graph, layers, transformer))
    return graph.to_bytes()


def _small(
    graph: Graph,
    x: str,
    weights: _Weights,
    seen: Mapping[str, Seen],
    names: Mapping[str, str],
    layers: int,
    activation: Activation,
) -> SmallMaps:
    """The maps in 8 bits; changes the weights, but not what they come to."""
    seen = dict(seen)
    for number in range(layers):
        value, output = (f"{names['layer']}.{number}.{names[k]}" for k in ("value", "output"))
        seen[output] = even_values(weights.tensors, seen, value, output)
    rows = graph.op("Slice", graph.op("Shape", x), graph.numbers(0), graph.numbers(1))
    return SmallMaps(graph, weights.tensors, seen, rows, activation)


def _epsilon(kind: str, config: Any) -> float:
    """That of LayerNorm; Marian has PyTorch's own, DistilBERT BERT's, and neither names it."""
    return float(getattr(config, "layer_norm_eps", 1e-12 if kind == "distilbert" else 1e-5))


def _normalise(graph: Graph, x: str, weights: _Weights, name: str, epsilon: float) -> str:
    scale, shift = weights.linear(name)
    return graph.op(
        "LayerNormalization", x, graph.floats(scale), graph.floats(shift), epsilon=epsilon
    )


def _attention(
    graph: Graph, shape: str, lengths: str, bias: str, size: int, heads: int
) -> Callable[[Sequence[str]], str]:
    """How queries, keys and values, (rows, size) each, become (rows, size)."""
    sides = graph.op("Slice", shape, graph.numbers(0), graph.numbers(2))
    full = graph.op("Concat", sides, graph.numbers(size), axis=0)

    def attend(three: Sequence[str]) -> str:
        parts = [graph.op("Reshape", part, full) for part in three]
        inputs = [*parts, "", lengths, *([bias] if bias else [])]
        return graph.reshape(graph.op("MultiHeadAttention", *inputs, num_heads=heads), -1, size)

    return attend


def _layer(
    graph: Graph,
    x: str,
    kind: str,
    weights: _Weights,
    number: int,
    config: Any,
    maps: FullMaps,
    attend: Callable[[Sequence[str]], str],
) -> str:
    """One layer over (rows, size)."""
    names = NAMES[kind]
    prefix = f"{names['layer']}.{number}"
    epsilon = _epsilon(kind, config)
    three = maps.normal(x, [f"{prefix}.{names[part]}" for part in ("query", "key", "value")])
    seen = maps.attended(attend(three), f"{prefix}.{names['output']}")
    x = _skip(graph, x, seen, weights, f"{prefix}.{names['norm']}", epsilon)
    (inner,) = maps.normal(x, [f"{prefix}.{names['wide']}"])
    inner = maps.activated(maps.activation(inner), f"{prefix}.{names['narrow']}")
    return _skip(graph, x, inner, weights, f"{prefix}.{names['last']}", epsilon)


def _skip(graph: Graph, x: str, more: str, weights: _Weights, name: str, epsilon: float) -> str:
    # ONNX Runtime's SkipLayerNormalization does both, and takes six times as long.
    return _normalise(graph, graph.op("Add", x, more), weights, name, epsilon)


def _mix(graph: Graph, layers: list[str], transformer: Transformer) -> str:
    """The scalar mixture of the last layers."""
    import torch

    mix = transformer.mix
    shares = (torch.softmax(mix.weights, 0) * mix.scale).detach().float().cpu().numpy()
    mixed = ""
    for layer, share in zip(layers[-len(shares) :], shares, strict=True):
        part = layer if share == 1 else graph.op("Mul", layer, graph.floats(share))
        mixed = graph.op("Add", mixed, part) if mixed else part
    return mixed
