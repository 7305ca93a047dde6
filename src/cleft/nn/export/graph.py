"""Building ONNX graphs by hand: small, the same on every run, and no tracing.

A `Graph` collects operations; a weight is quantised where it is used, if the
graph is an int8 one. Quantisation never looks at more than one row of a
product, so a sentence's neighbours in a batch cannot change its result: each
row has a scale of its own, or one that is known beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

Array = npt.NDArray[Any]

STEPS = 63
"""Weights are whole numbers up to this. Two products of an unsigned byte with seven bits fit in
the sixteen bits that AVX2 adds them in; with eight bits they would saturate, silently."""

DAMPING = 0.01
"""What is added to the moments' diagonal, as a share of its mean: few rows were seen."""

BLOCK = 64
"""Columns after which what is left to round is brought up to date all at once."""


def nearest(weight: Array) -> tuple[Array, Array]:
    """The nearest whole numbers (out, in) and the scale of each output.

    >>> whole, scales = nearest(np.array([[0.63, -0.3149]]))
    >>> whole.tolist(), scales.round(3).tolist()
    ([[63, -31]], [0.01])
    """
    scales = _scales(weight)
    return np.round(weight / scales[:, None]).astype(np.int8), scales


def _scales(weight: Array) -> Array:
    return np.maximum(np.abs(weight).max(axis=1), 1e-12) / STEPS  # type: ignore[no-any-return]


def compensated(weight: Array, moments: Array) -> tuple[Array, Array]:
    """Whole numbers (out, in) whose products with inputs of these moments XᵀX are near, and scales.

    A column after the other is rounded, and what its rounding does to the products is taken
    back, as far as inputs go together, by the columns still to come (GPTQ, Frantar et al. 2023).

    >>> together = np.array([[1.0, 1.0], [1.0, 1.0]])
    >>> compensated(np.array([[0.63, 0.004, 0.0]]), np.pad(together, (0, 1)))[0].tolist()
    [[63, 0, 0]]
    >>> compensated(np.array([[0.004, 0.004, 0.63]]), np.pad(together, (0, 1)))[0].tolist()
    [[0, 1, 63]]
    """
    scales = _scales(weight)
    order = np.argsort(-np.diag(moments), kind="stable")  # what weighs most is rounded first
    factor = _factor(moments[np.ix_(order, order)])
    left = (weight / scales[:, None])[:, order].astype(np.float32)
    whole = np.empty_like(left)
    for start in range(0, len(order), BLOCK):
        end = min(start + BLOCK, len(order))
        errors = np.empty((len(left), end - start), np.float32)
        for column in range(start, end):
            whole[:, column] = np.clip(np.round(left[:, column]), -STEPS, STEPS)
            error = (left[:, column] - whole[:, column]) / factor[column, column]
            left[:, column:end] -= np.outer(error, factor[column, column:end])
            errors[:, column - start] = error
        left[:, end:] -= errors @ factor[start:end, end:]
    found = np.empty(left.shape, np.int8)
    found[:, order] = whole
    return found, scales


def _factor(moments: Array) -> Array:
    """The upper Cholesky factor of the moments' inverse."""
    moments = moments.astype(np.float64)
    damping = max(DAMPING * float(np.diag(moments).mean()), 1e-12)
    inverse = np.linalg.inv(moments + damping * np.eye(len(moments)))
    factor: Array = np.linalg.cholesky((inverse + inverse.T) / 2).T.astype(np.float32)
    return factor


FLOAT, INT, INT32, BOOL = (
    TensorProto.FLOAT,
    TensorProto.INT64,
    TensorProto.INT32,
    TensorProto.BOOL,
)

OPSET = 17
IR = 9
MICROSOFT = "com.microsoft"

ROW_STEPS = 127


def array(tensor: Tensor) -> Array:
    """A tensor as NumPy's, single precision."""
    values: Array = tensor.detach().float().cpu().numpy()
    return values


def weights_of(linear: nn.Linear) -> tuple[Array, Array]:
    """The weight and the bias of a linear map."""
    return array(linear.weight), array(linear.bias)


class Graph:
    """An ONNX graph in the making; values are known by their names.

    >>> graph = Graph("double")
    >>> x = graph.input("x", FLOAT, ["rows", 2])
    >>> graph.output("y", graph.op("Add", x, x))
    >>> len(graph.to_bytes()) < 300
    True
    """

    def __init__(self, name: str, *, int8: bool = False) -> None:
        self.name = name
        self.int8 = int8
        self._nodes: list[onnx.NodeProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._tensors: list[onnx.TensorProto] = []
        self._count = 0

    def input(self, name: str, kind: int, shape: Sequence[int | str]) -> str:
        """Declare an input; a named size is free."""
        self._inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def output(self, name: str, value: str) -> None:
        """Give a value out under a name."""
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, FLOAT, None))

    def constant(self, value: Array | np.generic) -> str:
        """A weight, kept once however often it is used."""
        array = np.asarray(value, order="C")  # keeps a single number as it is
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            name = f"c{len(self._constants)}"
            self._constants[key] = name
            self._tensors.append(numpy_helper.from_array(array, name))
        return self._constants[key]

    def numbers(self, *values: int) -> str:
        """A constant list of whole numbers, as shapes and axes are."""
        return self.constant(np.array(values, np.int64))

    def floats(self, value: Array | float) -> str:
        """A constant of single precision."""
        return self.constant(np.asarray(value, np.float32))

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operation with one result."""
        return self.ops(kind, *inputs, results=1, **attributes)[0]

    def ops(self, kind: str, *inputs: str, results: int, **attributes: Any) -> list[str]:
        """Add an operation with several results."""
        names = [f"v{self._count + number}" for number in range(results)]
        self._count += results
        domain = MICROSOFT if kind in CONTRIBUTED else ""
        self._nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names

    # ------------------------------------------------------------ products

    def linear(
        self, x: str, weight: Array, bias: Array | None = None, *, bound: float | None = None
    ) -> str:
        """The product x (rows, in) · weightᵀ (in, out) + bias; no |x| exceeds `bound`."""
        if self.int8:
            return self._int8(x, weight, bound, bias)
        inputs = [x, self.floats(np.ascontiguousarray(weight.T))]
        if bias is not None:
            inputs.append(self.floats(bias))
        return self.op("Gemm", *inputs)

    def plus_linear(self, x: str, weight: Array, rest: str, *, bound: float | None = None) -> str:
        """The product x · weightᵀ + rest (rows, out)."""
        if self.int8:
            return self.op("Add", self._int8(x, weight, bound), rest)
        return self.op("Gemm", x, self.floats(np.ascontiguousarray(weight.T)), rest)

    def _int8(self, x: str, weight: Array, bound: float | None, bias: Array | None = None) -> str:
        whole, scales = nearest(weight)
        matrix, scale = self.constant(np.ascontiguousarray(whole.T)), self.floats(scales)
        zero = self.constant(np.uint8(128))
        if bound is not None:
            step = self.floats(bound / ROW_STEPS)
            rows = self.op("QuantizeLinear", x, step, zero)
            more = [] if bias is None else ["", self.floats(bias)]
            return self.op("MatMulIntegerToFloat", rows, matrix, step, scale, zero, *more)
        peak = self.op("ReduceMax", self.op("Abs", x), axes=[1], keepdims=1)
        steps = self.op("Max", self.op("Mul", peak, self.floats(1 / ROW_STEPS)), self.floats(1e-12))
        rows = self.op("QuantizeLinear", self.op("Div", x, steps), self.floats(1.0), zero)
        one = self.floats(1.0)
        product = self.op("MatMulIntegerToFloat", rows, matrix, one, scale, zero)
        product = self.op("Mul", product, steps)
        return product if bias is None else self.op("Add", product, self.floats(bias))

    def leaky(self, x: str) -> str:
        """LeakyReLU as the network's MLPs have it."""
        return self.op("LeakyRelu", x, alpha=0.1)

    # ------------------------------------------------------------ shapes

    def reshape(self, x: str, *shape: int) -> str:
        """The value in another shape; 0 keeps a size, -1 is what is left."""
        return self.op("Reshape", x, self.numbers(*shape))

    def slice(self, x: str, axis: int, start: int, end: int = np.iinfo(np.int64).max) -> str:
        """Part of the value along an axis."""
        return self.op("Slice", x, self.numbers(start), self.numbers(end), self.numbers(axis))

    def gather(self, x: str, index: str) -> str:
        """Rows of the value."""
        return self.op("Gather", x, index, axis=0)

    def to_bytes(self, facts: Mapping[str, str] | None = None) -> bytes:
        """The graph as an ONNX file, with facts that it does not compute with."""
        graph = helper.make_graph(
            self._nodes, self.name, self._inputs, self._outputs, self._tensors
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)],
            ir_version=IR,
            producer_name="cleft",
        )
        helper.set_model_props(model, dict(facts or {}))
        return bytes(model.SerializeToString(deterministic=True))


CONTRIBUTED = frozenset([
    "Attention", "FastGelu", "FusedMatMul", "Gelu", "QuickGelu", "MatMulIntegerToFloat",
    "MultiHeadAttention",
])  # fmt: skip
"""Operations that ONNX Runtime adds to ONNX's own."""
