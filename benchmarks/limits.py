"""The machine's limit for products, and where the time of a parse goes beside it.

    python benchmarks/limits.py --model lstm=DIR [--model NAME=DIR ...] [--quick]

GFLOP/s (two operations a product) of single-precision matrix products of the
shapes that the models have, by NumPy and by ONNX Runtime, with 1 and 2
threads; then the share of each part of a parse of wsj-sample dev, one thread,
and the GFLOP/s that each part reaches. Writes `results/limits.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SHAPES = ((384, 1152), (384, 1536), (1536, 384), (256, 1024), (400, 1600), (600, 1200))
"""Inputs and outputs: MiniLM's projections, decoder steps, a BiLSTM layer's input."""
ROWS = (1, 32, 128, 512)


def onnx_product(inputs: int, outputs: int, threads: int) -> Callable[[Any], object]:
    """One `MatMul` with constant weights as a session."""
    import numpy as np

    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # as the runtime does
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    weight = np.random.default_rng(0).standard_normal((inputs, outputs)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", inputs])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", outputs])],
        [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9
    )  # fmt: skip
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return lambda x: session.run(None, {"x": x})


def numpy_product(weight: Any) -> Callable[[Any], object]:
    """The same by NumPy."""
    return lambda x: x @ weight


def gflops(work: Callable[[Any], object], x: Any, outputs: int, *, seconds: float) -> float:
    """The best speed of a product over some repeats: a limit is what can be reached."""
    work(x)
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < until:
        start = time.perf_counter()
        work(x)
        times.append(time.perf_counter() - start)
    return round(2 * int(x.shape[0]) * int(x.shape[1]) * outputs / min(times) / 1e9, 1)


def products(threads: int, *, seconds: float) -> list[dict[str, Any]]:
    """All shapes, in this process; NumPy's threads were set before it began."""
    import numpy as np

    found = []
    rng = np.random.default_rng(1)
    for inputs, outputs in SHAPES:
        weight = rng.standard_normal((inputs, outputs)).astype(np.float32)
        session = onnx_product(inputs, outputs, threads)
        for rows in ROWS:
            x = rng.standard_normal((rows, inputs)).astype(np.float32)
            place = {"threads": threads, "rows": rows, "inputs": inputs, "outputs": outputs}
            speeds = {
                "onnxruntime": gflops(session, x, outputs, seconds=seconds),
                "numpy": gflops(numpy_product(weight), x, outputs, seconds=seconds),
            }
            found.append({**place, **speeds})
    return found


def child(threads: int, *, seconds: float) -> list[dict[str, Any]]:
    """The products in a process of their own, whose libraries have so many threads."""
    count = str(threads)
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    command = [sys.executable, __file__, "--child", count, "--seconds", str(seconds)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **dict.fromkeys(names, count)},
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def dev_words(limit: int | None) -> list[list[str]]:
    """The sentences of wsj-sample dev, as peers/prepare.py cleaned them."""
    from turns import places

    from cleft.formats.brackets import read_brackets

    return [list(tree.words()) for tree in read_brackets(places.DATA / "dev.none.mrg")][:limit]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", metavar="NAME=PATH", action="append", default=[])
    parser.add_argument("--quick", action="store_true", help="a handful of sentences: does it run?")
    parser.add_argument("--seconds", type=float, default=0.25, help="for each product")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    seconds = 0.01 if options.quick else options.seconds
    if options.child:
        print(json.dumps(products(options.child, seconds=seconds)))
        return
    from shares import shares
    from speed import pairs, save
    from turns import HERE, run

    output = options.output or HERE / "results" / "limits.json"
    results: dict[str, Any] = {"machine": run.machine(), "quick": options.quick, "shares": {}}
    results["gemm"] = [one for threads in (1, 2) for one in child(threads, seconds=seconds)]
    save(output, results)
    models = pairs(options.model)
    words = dev_words(6 if options.quick else None) if models else []
    for name, path in models.items():
        results["shares"][name] = shares(path, words)
        save(output, results)
    results["load_average_after"] = run.load_average()
    save(output, results)


if __name__ == "__main__":
    main()
