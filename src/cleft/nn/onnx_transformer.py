"""A transformer as an ONNX graph: BERT and its like (MiniLM), and MPNet.

In: the pieces' own vectors (windows, width, size) and the windows' lengths.
Out: the mixed layers, (windows · width, size). What a padded position holds is
of no use, and no real one sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cleft.errors import ModelError
from cleft.nn.calibration import Seen
from cleft.nn.onnx_build import FLOAT, INT32, Array, Graph
from cleft.nn.onnx_int8 import FullMaps, Maps, SmallMaps, even_values
from cleft.nn.transformer import Transformer

__all__ = ["piece_vectors", "supported", "transformer_graph", "watched"]

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
}
"""Where the two kinds keep the parts that they name differently."""

INNER = ("intermediate.dense", "output.dense")
"""A layer's last two linear maps, of which the first is the wide one."""


def supported(model: Any) -> str:
    """The kind of a transformer; a ModelError if it cannot be exported."""
    kind = str(model.config.model_type)
    place = getattr(model.config, "position_embedding_type", None) or "absolute"
    if kind not in NAMES or place != "absolute" or model.config.hidden_act != "gelu":
        raise ModelError(
            f"a transformer of the type {kind!r} (activation {model.config.hidden_act!r}) "
            "cannot be exported",
            hint=f"train on one of the types {', '.join(sorted(NAMES))} with gelu",
        )
    return kind


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
    """The table of the pieces' own vectors."""
    return _Weights(model)("embeddings.word_embeddings.weight")


def _positions(kind: str, weights: _Weights, model: Any) -> Array:
    """What a position adds to a piece's vector, from the first position on."""
    table = weights("embeddings.position_embeddings.weight")
    if kind == "mpnet":  # positions are numbered from beyond the padding's number
        return table[model.embeddings.padding_idx + 1 :]
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
    parts = (NAMES[kind]["query"], NAMES[kind]["output"], *INNER)
    layers = range(model.config.num_hidden_layers)
    return [f"encoder.layer.{number}.{part}" for number in layers for part in parts]


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
    x = _normalise(graph, x, weights, "embeddings.LayerNorm", config.layer_norm_eps)
    bias = ""
    if kind == "mpnet":
        bias = _distance_bias(graph, model, graph.op("Squeeze", width), len(table))
    attend = _attention(graph, shape, lengths, bias, size, config.num_attention_heads)
    maps: Maps = FullMaps(graph, weights.tensors)
    if seen is not None:
        maps = _small(graph, x, weights, seen, kind, config.num_hidden_layers)
    layers = [x]
    for number in range(config.num_hidden_layers):
        layers.append(_layer(graph, layers[-1], kind, weights, number, config, maps, attend))
    graph.output("vectors", _mix(graph, layers, transformer))
    return graph.to_bytes()


def _small(
    graph: Graph, x: str, weights: _Weights, seen: Mapping[str, Seen], kind: str, layers: int
) -> SmallMaps:
    """The maps in 8 bits; changes the weights, but not what they come to."""
    seen = dict(seen)
    for number in range(layers):
        value, output = (f"encoder.layer.{number}.{NAMES[kind][k]}" for k in ("value", "output"))
        seen[output] = even_values(weights.tensors, seen, value, output)
    rows = graph.op("Slice", graph.op("Shape", x), graph.numbers(0), graph.numbers(1))
    return SmallMaps(graph, weights.tensors, seen, rows)


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
    maps: Maps,
    attend: Callable[[Sequence[str]], str],
) -> str:
    """One layer over (rows, size)."""
    names, prefix = NAMES[kind], f"encoder.layer.{number}"
    three = maps.normal(x, [f"{prefix}.{names[part]}" for part in ("query", "key", "value")])
    seen = maps.attended(attend(three), f"{prefix}.{names['output']}")
    x = _skip(graph, x, seen, weights, f"{prefix}.{names['norm']}", config.layer_norm_eps)
    wide, narrow = (f"{prefix}.{part}" for part in INNER)
    (inner,) = maps.normal(x, [wide])
    inner = maps.activated(maps.gelu(inner), narrow)
    return _skip(graph, x, inner, weights, f"{prefix}.output.LayerNorm", config.layer_norm_eps)


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
