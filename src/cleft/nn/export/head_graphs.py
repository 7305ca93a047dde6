"""One task's head as ONNX graphs: memory, step, labels; and the part-of-speech head.

- memory: boundaries in, all that depends on a boundary alone out;
- step: one step of the decoder for all open hypotheses, and the pointer;
- labels: the label scores of chosen spans or splits.

The keys are never copied for a hypothesis: hypotheses come grouped by
sentence, and one product serves all of a sentence's.
"""

from __future__ import annotations

import numpy as np

from cleft.nn.export.graph import BOOL, FLOAT, INT, Array, Graph, array, weights_of
from cleft.nn.heads import BoundaryMarker, SpanLabels, SplitHead, SplitLabels
from cleft.nn.layers import Biaffine, Decoder, Lstm, Mlp, Recurrent
from cleft.nn.network import Tagger

SPAN_BIAS = "span_bias"


def _gates(weight: Array) -> Array:
    """The three gates that are logistic first, the new value last: two activations, not four."""
    enter, forget, value, leave = np.split(weight, 4)
    return np.concatenate([enter, forget, leave, value])


def _mlp(graph: Graph, x: str, mlp: Mlp, *, bound: float | None = None) -> str:
    weight, bias = weights_of(mlp.linear)
    return graph.leaky(graph.linear(x, weight, bias, bound=bound))


# ---------------------------------------------------------------- memory


def memory_graph(head: SplitHead, size: int, *, int8: bool = False) -> bytes:
    """Boundaries (sentences · (n + 1), size) in, the head's memory out.

    `real` (sentences, n + 1) is true at the boundaries of a sentence.
    """
    graph = Graph("memory", int8=int8)
    x = graph.input("boundaries", FLOAT, ["boundaries", size])
    summary = graph.input("summary", FLOAT, ["sentences", head.decoder.start.in_features])
    real = graph.input("real", BOOL, ["sentences", "width"])
    shape = graph.op("Shape", real)
    marks = "" if head.marker is None else _marks(graph, x, real, shape, head.marker)
    seen = marks if head.span.marks else ""
    first, bias = _first_layer(head.decoder)
    left, right = _span_parts(graph, x, seen, head, first, bias)
    start = graph.linear(summary, *weights_of(head.decoder.start))
    if isinstance(head.decoder, Recurrent):
        graph.output("cell", start)
        graph.output("hidden", graph.op("Tanh", start))
    else:
        owner = graph.input("owner", INT, ["boundaries"])
        left = graph.op("Add", left, graph.gather(start, owner))
    graph.output("left_gates", left)
    graph.output("right_gates", right)
    _keys(graph, x, seen, real, head)
    for name, value in zip(("label_left", "label_right"), _label_ends(graph, x, head), strict=True):
        graph.output(name, value)
    if marks:
        graph.output("marks", marks)
    facts = {}
    if head.span_scores is not None:  # no tree depends on it, but further training does
        facts[SPAN_BIAS] = repr(head.span_scores.bias.item())
    return graph.to_bytes(facts)


def _marks(graph: Graph, x: str, real: str, shape: str, marker: BoundaryMarker) -> str:
    """The chance that an EDU ends at a boundary, (sentences, n + 1); 0 beyond the sentence."""
    logits = graph.linear(_mlp(graph, x, marker.mlp), *weights_of(marker.score))
    chances = graph.op("Reshape", graph.op("Sigmoid", logits), shape)
    return graph.op("Mul", chances, graph.op("Cast", real, to=FLOAT))


def _first_layer(decoder: Decoder) -> tuple[Array, Array]:
    """The decoder's first map of a span, and what is added to it in every span."""
    if isinstance(decoder, Recurrent):
        layer = decoder.lstms()[0]
        return _gates(array(layer.weight_in)), _gates(array(layer.bias))
    weight = array(decoder.input.weight)
    return weight, np.zeros(len(weight), np.float32)


def _span_parts(
    graph: Graph, x: str, marks: str, head: SplitHead, weight: Array, bias: Array
) -> tuple[str, str]:
    """Each end's share of the decoder's first layer; the bias is in the right's."""
    span = head.span
    if span.beside:
        assert isinstance(span.left, Mlp)
        assert isinstance(span.right, Mlp)
        width = span.left.linear.out_features
        left = graph.linear(_mlp(graph, x, span.left), weight[:, :width])
        right = graph.linear(_mlp(graph, x, span.right), weight[:, width : 2 * width], bias)
    else:
        # Two linear maps in a row are one.
        width = weight.shape[1] - bool(marks)
        first, (second, shift) = array(span.left.weight), weights_of(span.right)  # type: ignore[arg-type]
        inner = weight[:, :width]
        left = graph.linear(x, inner @ first)
        right = graph.linear(x, inner @ second, inner @ shift + bias)
    if marks:
        total = graph.op("CumSum", marks, graph.constant(np.int64(1)))
        column = graph.floats(weight[:, -1:].T)
        before = graph.reshape(graph.op("Sub", total, marks), -1, 1)
        left = graph.op("Sub", left, graph.op("MatMul", graph.reshape(total, -1, 1), column))
        right = graph.op("Add", right, graph.op("MatMul", before, column))
    return left, right


def _keys(graph: Graph, x: str, marks: str, real: str, head: SplitHead) -> None:
    """Keys (sentences, pointer + 2·span scores, n + 1) and offsets (sentences, 1, n + 1)."""
    pointer, scores = head.pointer, head.span_scores
    inner = _mlp(graph, x, pointer.boundary)
    weight, offset = array(pointer.weight), array(pointer.offset)
    width = weight.shape[0]
    keys = graph.linear(inner, weight[:, :width])
    offsets = graph.op("MatMul", inner, graph.floats(offset[:width, None]))
    if marks:
        flat = graph.reshape(marks, -1, 1)
        keys = graph.op("Add", keys, graph.op("MatMul", flat, graph.floats(weight[:, width:].T)))
        offsets = graph.op("Add", offsets, graph.op("Mul", flat, graph.floats(offset[width:])))
    if scores is not None:
        left, right = _mlp(graph, x, scores.left), _mlp(graph, x, scores.right)
        pair = array(scores.weight)
        graph.output("left_query", graph.linear(left, pair.T))
        graph.output("right_query", graph.linear(right, pair))
        keys = graph.op("Concat", keys, right, left, axis=1)
        for end, own in ((right, scores.right_offset), (left, scores.left_offset)):
            share = graph.op("MatMul", end, graph.floats(array(own)[:, None]))
            offsets = graph.op("Add", offsets, share)
    size = head.key_size
    sides = graph.op("Concat", graph.op("Shape", real), graph.numbers(size), axis=0)
    keys = graph.op("Transpose", graph.op("Reshape", keys, sides), perm=[0, 2, 1])
    graph.output("keys", keys)
    offsets = graph.op("Reshape", offsets, graph.op("Shape", real))
    offsets = graph.op("Where", real, offsets, graph.floats(-np.inf))
    graph.output("offsets", graph.op("Unsqueeze", offsets, graph.numbers(1)))


def _label_ends(graph: Graph, x: str, head: SplitHead) -> tuple[str, str]:
    labels = head.labels
    if isinstance(labels, SpanLabels):
        return _mlp(graph, x, labels.left), _mlp(graph, x, labels.right)
    assert isinstance(labels, SplitLabels)
    size = labels.left.in_features // 2
    both = np.concatenate([array(labels.left.weight), array(labels.right.weight)])
    bias = np.concatenate([array(labels.left.bias), array(labels.right.bias)])
    return graph.linear(x, both[:, :size]), graph.linear(x, both[:, size:], bias)


# ---------------------------------------------------------------- step


def step_graph(head: SplitHead, *, int8: bool = False) -> bytes:
    """One step for every hypothesis (row).

    `left`, `right` (rows) are the ends of spans as rows of the gates. `slots`
    (sentences, most hypotheses) are the rows of each sentence, any row where
    there are fewer; `places` (rows) say where in `slots` a row stands.
    """
    decoder, size = head.decoder, len(_first_layer(head.decoder)[0])
    graph = Graph("step", int8=int8)
    parts = [graph.input(f"{side}_gates", FLOAT, ["boundaries", size]) for side in SIDES]
    ends = [graph.input(side, INT, ["rows"]) for side in SIDES]
    keys = graph.input("keys", FLOAT, ["sentences", head.key_size, "width"])
    offsets = graph.input("offsets", FLOAT, ["sentences", 1, "width"])
    slots = graph.input("slots", INT, ["sentences", "most"])
    places = graph.input("places", INT, ["rows"])
    x = graph.op("Add", *(graph.gather(*pair) for pair in zip(parts, ends, strict=True)))
    recurrent = isinstance(decoder, Recurrent)
    known = _recurrent(graph, x, decoder) if recurrent else _feedforward(graph, x, decoder)
    # A state of an LSTM is never beyond 1; other layers have no such bound.
    query = _mlp(graph, known, head.pointer.state, bound=1.0 if recurrent else None)
    if head.span_scores is not None:
        width = head.config.span_scores
        more = [graph.input(f"{side}_query", FLOAT, ["boundaries", width]) for side in SIDES]
        more = [graph.gather(*pair) for pair in zip(more, ends, strict=True)]
        query = graph.op("Concat", query, *more, axis=1)
    scores = graph.op("MatMul", graph.gather(query, slots), keys)
    scores = graph.op("Add", scores, offsets)  # (sentences, most, n + 1)
    flat = graph.op("Reshape", scores, _flat_shape(graph, scores))
    chosen = graph.gather(flat, places)
    if head.config.pointer_range == "span":
        chosen = _inside(graph, chosen)
    graph.output("log_probs", graph.op("LogSoftmax", chosen, axis=-1))
    return graph.to_bytes()


def _inside(graph: Graph, scores: str) -> str:
    """The scores (rows, n + 1) with -inf outside each row's span.

    `after` and `before` (rows) are the boundaries that enclose the legal ones.
    """
    ends = [graph.input(name, INT, ["rows"]) for name in ("after", "before")]
    after, before = (graph.op("Unsqueeze", end, graph.numbers(1)) for end in ends)
    last = graph.slice(graph.op("Shape", scores), 0, 1, 2)
    width = graph.op("Squeeze", last, graph.numbers(0))
    zero, one = graph.constant(np.int64(0)), graph.constant(np.int64(1))
    places = graph.op("Range", zero, width, one)
    legal = graph.op("And", graph.op("Greater", places, after), graph.op("Less", places, before))
    return graph.op("Where", legal, scores, graph.floats(-np.inf))


def _feedforward(graph: Graph, x: str, decoder: Decoder) -> str:
    """What a decoder without history knows of spans."""
    x = graph.leaky(x)
    for layer in decoder.layers:
        assert isinstance(layer, Mlp)
        x = _mlp(graph, x, layer)
    return x


def _recurrent(graph: Graph, x: str, decoder: Decoder) -> str:
    """The states of a decoder's last layer after one step."""
    assert isinstance(decoder, Recurrent)
    above = ""
    for number, layer in enumerate(decoder.lstms()):
        if number:
            weight, bias = _gates(array(layer.weight_in)), _gates(array(layer.bias))
            x = graph.linear(above, weight, bias, bound=1.0)
        above = _lstm_step(graph, x, layer, number)
    return above


SIDES = ("left", "right")
ENDS = ("first", "second", "third")


def _flat_shape(graph: Graph, scores: str) -> str:
    last = graph.op("Slice", graph.op("Shape", scores), graph.numbers(2), graph.numbers(3))
    return graph.op("Concat", graph.numbers(-1), last, axis=0)


def _lstm_step(graph: Graph, x: str, layer: Lstm, number: int) -> str:
    """One layer's step; its new state goes out, and is given back."""
    size = layer.hidden
    hidden = graph.input(f"hidden_{number}", FLOAT, ["rows", size])
    cell = graph.input(f"cell_{number}", FLOAT, ["rows", size])
    gates = graph.plus_linear(hidden, _gates(array(layer.weight_state)), x, bound=1.0)
    three, value = graph.ops("Split", gates, graph.numbers(3 * size, size), results=2, axis=1)
    enter, forget, leave = graph.ops(
        "Split", graph.op("Sigmoid", three), graph.numbers(size, size, size), results=3, axis=1
    )
    kept = graph.op("Mul", forget, cell)
    kept = graph.op("Add", kept, graph.op("Mul", enter, graph.op("Tanh", value)))
    state = graph.op("Mul", leave, graph.op("Tanh", kept))
    graph.output(f"new_hidden_{number}", state)
    graph.output(f"new_cell_{number}", kept)
    return state


# ---------------------------------------------------------------- labels and tags


def labels_graph(head: SplitHead, *, int8: bool = False) -> bytes:
    """Log-probabilities (items, labels); the items' boundaries come as rows of the memory."""
    graph = Graph("labels", int8=int8)
    labels = head.labels
    width = labels.pair.linear.in_features // 2
    if isinstance(labels, SplitLabels):
        x, y = _split_sides(graph, width)
        mixed = _mixed(graph, y, labels.pair, width)
        scores = graph.op("MatMul", graph.op("Unsqueeze", x, graph.numbers(1)), mixed)
        scores = graph.reshape(scores, -1, labels.pair.outputs)
    else:
        x, y, scores = _span_scores(graph, labels.pair, width)
    linear, bias = weights_of(labels.pair.linear)
    scores = graph.plus_linear(x, linear[:, :width], scores)
    scores = graph.op("Add", scores, graph.linear(y, linear[:, width:], bias))
    log_probs = graph.op("LogSoftmax", scores, axis=-1)
    if labels.count < labels.pair.outputs:  # the last is that of spans that are no nodes
        log_probs = graph.slice(log_probs, 1, 0, labels.count)
    graph.output("log_probs", log_probs)
    return graph.to_bytes()


def _split_sides(graph: Graph, width: int) -> tuple[str, str]:
    """What is left and right of splits, (items, label) each."""
    left, right = (graph.input(f"label_{side}", FLOAT, ["boundaries", 2 * width]) for side in SIDES)
    first, middle, last = (graph.input(name, INT, ["items"]) for name in ENDS)
    x, y = (
        graph.leaky(
            graph.op(
                "Add",
                graph.slice(graph.gather(left, one), 1, start, start + width),
                graph.slice(graph.gather(right, two), 1, start, start + width),
            )
        )
        for start, one, two in ((0, first, middle), (width, middle, last))
    )
    return x, y


def _span_scores(graph: Graph, pair: Biaffine, width: int) -> tuple[str, str, str]:
    """The ends of spans, (items, label) each, and x W y, (items, labels).

    `ends` are right ends; `slots` (ends, most) are the left ends of the spans
    that end there; `places` (items) say where in `slots` an item stands.
    """
    left, right = (graph.input(f"label_{side}", FLOAT, ["boundaries", width]) for side in SIDES)
    first, second = (graph.input(name, INT, ["items"]) for name in ENDS[:2])
    ends = graph.input("ends", INT, ["ends"])
    slots = graph.input("slots", INT, ["ends", "most"])
    places = graph.input("places", INT, ["items"])
    mixed = _mixed(graph, graph.gather(right, ends), pair, width)
    scores = graph.op("MatMul", graph.gather(left, slots), mixed)  # (ends, most, labels)
    scores = graph.gather(graph.reshape(scores, -1, pair.outputs), places)
    return graph.gather(left, first), graph.gather(right, second), scores


def _mixed(graph: Graph, y: str, pair: Biaffine, width: int) -> str:
    """The product W y, (rows, label, labels): labels last, for the next product runs along them."""
    weight = array(pair.weight).reshape(pair.outputs, width, width).transpose(1, 0, 2)
    mixed = graph.linear(y, weight.reshape(width * pair.outputs, width))
    return graph.reshape(mixed, -1, width, pair.outputs)


def tags_graph(tagger: Tagger, size: int, *, int8: bool = False) -> bytes:
    """Log-probabilities (tokens, tags); `tokens` are rows of the boundaries."""
    graph = Graph("tags", int8=int8)
    x = graph.input("boundaries", FLOAT, ["boundaries", size])
    tokens = graph.input("tokens", INT, ["tokens"])
    weight, bias = weights_of(tagger.mlp.linear)
    # Linear before the activation: each boundary's two shares are computed once.
    before = graph.gather(graph.linear(x, weight[:, :size], bias), tokens)
    after = graph.linear(x, weight[:, size:])
    after = graph.gather(after, graph.op("Add", tokens, graph.constant(np.int64(1))))
    inner = graph.leaky(graph.op("Add", before, after))
    scores = graph.linear(inner, *weights_of(tagger.score))
    graph.output("log_probs", graph.op("LogSoftmax", scores, axis=-1))
    return graph.to_bytes()
