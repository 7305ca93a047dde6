"""An exported model as a network again, to train it further.

The graphs are read in the order in which they were written: every function here is
the reverse of the one in encoder_graphs.py or head_graphs.py that makes its graph.
Weights of 8 bits come back rounded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from cleft import files
from cleft.errors import ModelError, OutputError, RecipeError
from cleft.nn.checkpoint import build_network, read_object
from cleft.nn.config import NetworkConfig
from cleft.nn.export.encoder_graphs import NAMES
from cleft.nn.export.graph import Array
from cleft.nn.export.head_graphs import SPAN_BIAS
from cleft.nn.export.tokenizer import piece_rules
from cleft.nn.features import Vocabulary
from cleft.nn.heads import SplitHead
from cleft.nn.layers import BiLstm, Lstm, Mlp, Recurrent
from cleft.nn.network import ContextEncoder, Encoder, Network, Tagger
from cleft.nn.transformer import ScalarMix, load_pieces
from cleft.runtime import ModelDirectory
from cleft.runtime.directory import SUMS

MARK = "cleft_model"
"""The key in the configuration of a transformer that says which model it was read from."""

PRODUCTS = ("Gemm", "MatMulIntegerToFloat")


def network_table(directory: ModelDirectory, transformer: str) -> dict[str, Any]:
    """The network of an exported model, its encoder in a directory that `read_back` writes."""
    manifest = directory.manifest
    table = manifest.about.get("network")
    if not isinstance(table, dict):
        raise ModelError(
            f"expected the network as 'network', found {table!r}",
            where=str(directory.path / "config.json"),
            hint="begin from the training run of the model",
        )
    known = {item.name for item in fields(NetworkConfig)}
    old = {"span_scores": 0, "label_none": False}  # models of older releases do not say so
    found = {**old, **{key: value for key, value in table.items() if key in known}}
    found |= {"history": manifest.history, "pointer_range": manifest.pointer_range}
    found["tasks"] = list(manifest.token_tasks)
    if manifest.pieces is not None:
        found |= {"transformer": transformer, "transformer_depth": 0}
    return found


def read_back(directory: ModelDirectory, table: Mapping[str, Any]) -> tuple[Network, Vocabulary]:
    """The network of `network_table`; its transformer's directory is made if it is not there."""
    config, manifest = NetworkConfig.from_table(table), directory.manifest
    if config.span_input == "linear":
        raise _unreadable(directory, "span_input = 'linear', where two maps are written as one")
    names = directory.json("vocabulary.json") if directory.has("vocabulary.json") else {}
    vocabulary = Vocabulary.from_table(
        {
            **Vocabulary().to_table(),
            **names,
            "tags": manifest.tags,
            "labels": {task: manifest.labels[task] for task in manifest.token_tasks},
        }
    )
    if config.transformer:
        _make_transformer(directory, Path(config.transformer).expanduser())
    network, _ = build_network(config, vocabulary)
    try:
        with torch.no_grad():
            _fill(network, directory)
    except (ValueError, RuntimeError, StopIteration, KeyError) as error:
        raise _unreadable(directory, f"other graphs than this version writes: {error}") from error
    return network, vocabulary


def _unreadable(directory: ModelDirectory, what: str) -> ModelError:
    return ModelError(
        f"the weights cannot be read back: the model has {what}",
        where=str(directory.path),
        hint="begin from the training run of the model",
    )


def _fill(network: Network, directory: ModelDirectory) -> None:
    encoder = network.reader
    _read_encoder(encoder, directory)
    for task in network.config.tasks:
        head, path = network.head(task), f"{task}-{{}}.onnx".format
        _read_memory(head, Stored(directory, path("memory")))
        _read_step(head, Stored(directory, path("step")))
        _read_labels(head, Stored(directory, path("labels")))
    if network.tagger is not None:
        _read_tagger(network.tagger, Stored(directory, "tags.onnx"), encoder.size)


class Stored:
    """The weights of a graph, each kind in the order of the operations that use them."""

    def __init__(self, directory: ModelDirectory, name: str) -> None:
        model = onnx.load_from_string(directory.graph(name))
        graph = model.graph
        self.facts = {fact.key: fact.value for fact in model.metadata_props}
        self.nodes = list(graph.node)
        self.constants = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
        self._maker = {output: node for node in self.nodes for output in node.output}
        self._users: dict[str, list[Any]] = {}
        for node in self.nodes:
            for value in node.input:
                self._users.setdefault(value, []).append(node)
        self._products = [node for node in self.nodes if node.op_type in PRODUCTS]

    def linear(self, source: str = "") -> tuple[Array, Array | None]:
        """Weight (out, in) and bias of the next linear map, or of the next one of an input."""
        node = next(node for node in self._products if source in ("", self._source(node)))
        self._products.remove(node)
        matrix = self.constants[node.input[1]]
        if node.op_type == "Gemm":
            bias = self.constants.get(node.input[2]) if len(node.input) > 2 else None
            return matrix.T, bias
        weight = matrix.T * self.constants[node.input[3]][:, None]
        entered = self._maker[node.input[0]].input[0]  # before it was rounded
        before = self._maker.get(entered)
        if before is not None and before.op_type == "Mul":
            by = self.constants.get(before.input[1])
            weight = weight if by is None or by.ndim != 1 else weight * by
        bias = self.constants.get(node.input[6]) if len(node.input) > 6 else None
        return weight, self._added(node) if bias is None else bias

    def _source(self, node: Any) -> str:
        """The input of the graph that an operation stands on, by its first operands."""
        while node.input[0] in self._maker:
            node = self._maker[node.input[0]]
        return str(node.input[0])

    def _added(self, node: Any) -> Array | None:
        """The bias that stands in an operation of its own, after the scales of rows."""
        for wanted in ("Mul", "Add"):
            users = [user for user in self._users.get(node.output[0], ()) if user.op_type == wanted]
            if not users and wanted == "Mul":
                return None
            node = users[0] if users else None
        return None if node is None else self.constants.get(node.input[1])

    def constants_of(self, kind: str, position: int = 1, ndim: int = 2) -> Iterator[Array]:
        """The constants that operations of a kind have at a place."""
        for node in self.nodes:
            if node.op_type == kind and len(node.input) > position:
                found = self.constants.get(node.input[position])
                if found is not None and found.ndim == ndim and found.dtype == np.float32:
                    yield found

    def of_kind(self, kind: str) -> list[Any]:
        """The operations of a kind."""
        return [node for node in self.nodes if node.op_type == kind]


def _put(target: Tensor, value: Array) -> None:
    """Fill a parameter; another shape is an error, never stretched."""
    if tuple(target.shape) != value.shape:
        raise ValueError(f"expected a weight of {tuple(target.shape)}, found {value.shape}")
    target.copy_(torch.from_numpy(np.array(value, np.float32)))


def _put_linear(target: nn.Module, stored: Stored, source: str = "") -> None:
    weight, bias = stored.linear(source)
    linear = target.linear if isinstance(target, Mlp) else target
    assert isinstance(linear, nn.Linear)
    _put(linear.weight, weight)
    if bias is not None:
        _put(linear.bias, bias)


# ---------------------------------------------------------------- heads


def _gates(weight: Array) -> Array:
    """A step's gates in PyTorch's order."""
    enter, forget, leave, value = np.split(weight, 4)
    return np.concatenate([enter, forget, value, leave])


def _read_memory(head: SplitHead, stored: Stored) -> None:
    columns = stored.constants_of("MatMul")
    _put_linear(head.decoder.start, stored, "summary")  # older releases write it later
    if head.marker is not None:
        _put_linear(head.marker.mlp, stored)
        _put_linear(head.marker.score, stored)
    _put_linear(head.span.left, stored)
    left, _ = stored.linear()
    _put_linear(head.span.right, stored)
    right, bias = stored.linear()
    parts = [left, right]
    if head.span.marks:
        parts.append(next(columns).T)
        next(columns)  # the same, for the other end
    first, decoder = np.concatenate(parts, 1), head.decoder
    if isinstance(decoder, Recurrent):
        assert bias is not None
        _put(decoder.lstms()[0].weight_in, _gates(first))
        _put(decoder.lstms()[0].bias, _gates(bias))
    else:
        _put(decoder.input.weight, first)
    _read_pointer(head, stored, columns)
    _read_label_ends(head, stored)


def _read_pointer(head: SplitHead, stored: Stored, columns: Iterator[Array]) -> None:
    pointer, scores = head.pointer, head.span_scores
    _put_linear(pointer.boundary, stored)
    weight, offset = [stored.linear()[0]], [next(columns)[:, 0]]
    if head.span.marks:
        weight.append(next(columns).T)
        offset += [each for each in stored.constants_of("Mul", ndim=1) if each.shape == (1,)]
    _put(pointer.weight, np.concatenate(weight, 1))
    _put(pointer.offset, np.concatenate(offset))
    if scores is not None:
        _put_linear(scores.left, stored)
        _put_linear(scores.right, stored)
        stored.linear()  # the same, transposed
        _put(scores.weight, stored.linear()[0])
        _put(scores.right_offset, next(columns)[:, 0])
        _put(scores.left_offset, next(columns)[:, 0])
        scores.bias.fill_(float(stored.facts.get(SPAN_BIAS, 0.0)))


def _read_label_ends(head: SplitHead, stored: Stored) -> None:
    labels = head.labels
    sides = [side for side in (labels.left, labels.right) if isinstance(side, nn.Linear)]
    if not sides:
        _put_linear(labels.left, stored)
        _put_linear(labels.right, stored)
        return
    (first, _), (second, bias) = stored.linear(), stored.linear()
    assert bias is not None
    halves = np.split(np.concatenate([first, second], 1), 2), np.split(bias, 2)
    for side, weight, shift in zip(sides, *halves, strict=True):
        _put(side.weight, weight)
        _put(side.bias, shift)


def _read_step(head: SplitHead, stored: Stored) -> None:
    for number, layer in enumerate(head.decoder.layers):
        if not isinstance(layer, Lstm):
            _put_linear(layer, stored)
            continue
        if number:
            weight, bias = stored.linear()
            assert bias is not None
            _put(layer.weight_in, _gates(weight))
            _put(layer.bias, _gates(bias))
        _put(layer.weight_state, _gates(stored.linear()[0]))
    _put_linear(head.pointer.state, stored)


def _read_labels(head: SplitHead, stored: Stored) -> None:
    pair = head.labels.pair
    mixed, _ = stored.linear()
    width = mixed.shape[1]
    mixed = mixed.reshape(width, pair.outputs, width).transpose(1, 0, 2)
    _put(pair.weight, mixed.reshape(-1, width))
    (left, _), (right, bias) = stored.linear(), stored.linear()
    assert bias is not None
    _put(pair.linear.weight, np.concatenate([left, right], 1))
    _put(pair.linear.bias, bias)


def _read_tagger(tagger: Tagger, stored: Stored, size: int) -> None:
    (before, bias), (after, _) = stored.linear(), stored.linear()
    assert bias is not None
    _put(tagger.mlp.linear.weight, np.concatenate([before, after], 1))
    _put(tagger.mlp.linear.bias, bias)
    _put_linear(tagger.score, stored)


# ---------------------------------------------------------------- encoders


def _rows(directory: ModelDirectory, name: str) -> Array:
    """All vectors of a table."""
    table = directory.table(f"{name}.npy")
    return table[np.arange(len(table))]


def _read_encoder(encoder: Encoder, directory: ModelDirectory) -> None:
    stored = Stored(directory, "encoder.onnx")
    if encoder.words is not None:
        _put(encoder.words.weight, _rows(directory, "words"))
    if encoder.chars is not None:
        chars = Stored(directory, "chars.onnx")
        _put(encoder.chars.embedding.weight, next(chars.constants_of("Gather", 0)))
        _read_lstm(encoder.chars.lstm, chars, chars.of_kind("LSTM")[0])
    if encoder.context is not None:
        _read_context(encoder.context, stored, directory)
    for layer, node in zip(encoder.layers, stored.of_kind("LSTM"), strict=True):
        assert isinstance(layer, BiLstm)
        _read_lstm(layer, stored, node)


def _read_lstm(layer: BiLstm, stored: Stored, node: Any) -> None:
    weights, states, biases = (stored.constants[name] for name in node.input[1:4])
    for number, side in enumerate((layer.ahead, layer.back)):
        for target, value in (
            (side.weight_in, weights[number]),
            (side.weight_state, states[number]),
            (side.bias, biases[number][: 4 * side.hidden]),
        ):
            enter, leave, forget, new = np.split(value, 4)
            _put(target, np.concatenate([enter, forget, new, leave]))


def _read_context(context: ContextEncoder, stored: Stored, directory: ModelDirectory) -> None:
    """All but the transformer itself, which was read from the directory made for it."""
    if context.project is not None:
        _put_linear(context.project, stored)
    if context.casing is not None and context.casing_map is not None:
        table = _rows(directory, "casing")
        # The product of two maps as two of the same rank that share its scale.
        shift = table.mean(0)
        left, scale, right = np.linalg.svd(table - shift, full_matrices=False)
        size = min(len(scale), context.casing.embedding_dim)
        root = np.sqrt(scale[:size])
        context.casing.weight.zero_()[:, :size] = torch.from_numpy(left[:, :size] * root)
        context.casing_map.weight.zero_()[:, :size] = torch.from_numpy(right[:size].T * root)
        _put(context.casing_map.bias, shift)
    _read_mix(context.transformer.mix, Stored(directory, "transformer.onnx"))


def _read_mix(mix: ScalarMix, stored: Stored) -> None:
    layers = {node.output[0] for node in stored.of_kind("LayerNormalization")}
    nodes = [node for node in stored.of_kind("Mul") if node.input[0] in layers]
    shares = [stored.constants.get(node.input[1], np.zeros(1)) for node in nodes]
    found = np.array([float(share) for share in shares if share.ndim == 0] or [1.0], np.float32)
    _put(mix.weights, np.log(found / found.sum()))
    _put(mix.scale, found.sum())


def _make_transformer(directory: ModelDirectory, folder: Path) -> None:
    """Write a Hugging Face directory with the weights and the tokenizer of a model."""
    mark = files.sha256(directory.path / SUMS)
    if (folder / "config.json").exists():
        if read_object(folder / "config.json").get(MARK) == mark:
            return
        raise RecipeError(
            f"expected the encoder that is read from {directory.path}, found another",
            where=str(folder),
            hint="leave network.transformer out of the recipe, or choose another --output",
        )
    from transformers import BertModel

    make: Any = BertModel
    stored = Stored(directory, "transformer.onnx")
    pieces = _rows(directory, "pieces")
    config = _bert(directory, stored, pieces)
    setattr(config, MARK, mark)
    model = make(config)
    with torch.no_grad():
        _read_bert(model, stored, pieces)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with files.partial(folder, folder=True) as partial:
            model.save_pretrained(partial)
            _write_tokenizer(directory, partial)
            partial.replace(folder)
    except OSError as error:
        raise OutputError(f"cannot be written: {error}", where=str(folder)) from error
    rules = directory.manifest.pieces
    if piece_rules(load_pieces(str(folder)), ()) != rules:
        raise _unreadable(directory, "a tokenizer that cannot be made again")


def _bert(directory: ModelDirectory, stored: Stored, pieces: Array) -> Any:
    """The configuration of a model's BERT."""
    from transformers import BertConfig

    attention, norms = stored.of_kind("MultiHeadAttention"), stored.of_kind("LayerNormalization")
    is_bert = len(norms) == 2 * len(attention) + 1 and all(len(a.input) < 6 for a in attention)
    rules = directory.manifest.pieces
    if not is_bert or rules is None or rules.kind != "wordpiece" or rules.prefix != "##":
        raise _unreadable(directory, "a transformer that is no BERT")
    attribute = onnx.helper.get_node_attr_value
    shapes = [stored.constants[node.input[1]].shape for node in stored.of_kind("Gemm")]
    shapes += [stored.constants[n.input[1]].shape for n in stored.of_kind("MatMulIntegerToFloat")]
    return BertConfig(
        vocab_size=len(pieces),
        hidden_size=pieces.shape[1],
        num_hidden_layers=len(attention),
        num_attention_heads=attribute(attention[0], "num_heads"),
        intermediate_size=shapes[4][1],
        max_position_embeddings=len(next(stored.constants_of("Slice", 0))),
        layer_norm_eps=attribute(norms[0], "epsilon"),
        hidden_act="silu" if stored.of_kind("QuickGelu") else "gelu",
        pad_token_id=rules.pad,
    )


def _read_bert(model: Any, stored: Stored, pieces: Array) -> None:
    names = NAMES["bert"]
    _put(model.embeddings.word_embeddings.weight, pieces)
    _put(model.embeddings.position_embeddings.weight, next(stored.constants_of("Slice", 0)))
    model.embeddings.token_type_embeddings.weight.zero_()  # what it adds is in the positions
    for parameter in model.pooler.parameters():
        parameter.zero_()  # of no use here
    norms = ["embeddings.LayerNorm"]
    for number in range(model.config.num_hidden_layers):
        prefix = f"{names['layer']}.{number}"
        for part in ("query", "key", "value", "output", "wide", "narrow"):
            _put_linear(model.get_submodule(f"{prefix}.{names[part]}"), stored)
        norms += [f"{prefix}.{names['norm']}", f"{prefix}.{names['last']}"]
    for name, node in zip(norms, stored.of_kind("LayerNormalization"), strict=True):
        norm = model.get_submodule(name)
        _put(norm.weight, stored.constants[node.input[1]])
        _put(norm.bias, stored.constants[node.input[2]])


def _write_tokenizer(directory: ModelDirectory, folder: Path) -> None:
    rules = directory.manifest.pieces
    assert rules is not None
    lines = "".join(f"{piece}\n" for piece in directory.lines("pieces.txt"))
    (folder / "vocab.txt").write_text(lines, encoding="utf-8", newline="\n")
    table = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": rules.lower,
        "strip_accents": rules.strip_accents,
        "tokenize_chinese_chars": rules.cjk,
        "unk_token": rules.unknown,
    }
    text = json.dumps(table, indent=1) + "\n"
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8", newline="\n")
