"""A transformer as an ONNX graph: BERT and its like (MiniLM), and MPNet.

In: the pieces' own vectors (windows, width, size) and the windows' lengths.
Out: the mixed layers, (windows · width, size). What a padded position holds is
of no use, and no real one sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cleft.errors import ModelError
from cleft.nn.onnx_build import FLOAT, INT32, Array, Graph
from cleft.nn.transformer import Transformer

__all__ = ["piece_vectors", "supported", "transformer_graph"]

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


def transformer_graph(transformer: Transformer, *, int8: bool = False) -> bytes:
    """The graph of a trained transformer with its mixture of layers."""
    model = transformer.model
    kind, weights = supported(model), _Weights(model)
    config, size = model.config, transformer.size
    graph = Graph("transformer", int8=int8)
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
    layers = [x]
    for number in range(config.num_hidden_layers):
        layers.append(_layer(graph, layers[-1], kind, weights, number, config, attend))
    graph.output("vectors", _mix(graph, layers, transformer))
    return graph.to_bytes()


def _normalise(graph: Graph, x: str, weights: _Weights, name: str, epsilon: float) -> str:
    scale, shift = weights.linear(name)
    return graph.op(
        "LayerNormalization", x, graph.floats(scale), graph.floats(shift), epsilon=epsilon
    )


def _attention(
    graph: Graph, shape: str, lengths: str, bias: str, size: int, heads: int
) -> Callable[[str], str]:
    """How queries, keys and values side by side, (rows, 3 · size), become (rows, size)."""
    sides = graph.op("Slice", shape, graph.numbers(0), graph.numbers(2))
    full = graph.op("Concat", sides, graph.numbers(3 * size), axis=0)

    def attend(joined: str) -> str:
        joined = graph.op("Reshape", joined, full)
        parts = graph.ops("Split", joined, graph.numbers(size, size, size), results=3, axis=2)
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
    attend: Callable[[str], str],
) -> str:
    """One layer over (rows, size)."""
    names, prefix = NAMES[kind], f"encoder.layer.{number}"
    three = [weights.linear(f"{prefix}.{names[part]}") for part in ("query", "key", "value")]
    joined = graph.linear(
        x, np.concatenate([weight for weight, _ in three]), np.concatenate([b for _, b in three])
    )
    seen = graph.linear(attend(joined), *weights.linear(f"{prefix}.{names['output']}"))
    x = _skip(graph, x, seen, weights, f"{prefix}.{names['norm']}", config)
    inner = graph.linear(x, *weights.linear(f"{prefix}.intermediate.dense"))
    inner = graph.linear(graph.op("Gelu", inner), *weights.linear(f"{prefix}.output.dense"))
    return _skip(graph, x, inner, weights, f"{prefix}.output.LayerNorm", config)


def _skip(graph: Graph, x: str, more: str, weights: _Weights, name: str, config: Any) -> str:
    scale, shift = weights.linear(name)
    return graph.op(
        "SkipLayerNormalization",
        x,
        more,
        graph.floats(scale),
        graph.floats(shift),
        epsilon=config.layer_norm_eps,
    )


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
