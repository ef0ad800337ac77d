"""Tiny ONNX models whose vectors can be worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# The vector is (red + 2 green + 4 blue, red - blue) of the mean colour.
WEIGHTS = np.array([[1, 1], [2, 0], [4, -1]], dtype=np.float32)
MEAN_COLOUR = [("GlobalAveragePool", ["x"], ["pooled"]), ("Flatten", ["pooled"], ["colour"])]


def graph(
    nodes: Sequence[tuple[Any, ...] | onnx.NodeProto] = (
        *MEAN_COLOUR,
        ("MatMul", ["colour", "w"], ["y"]),
    ),
    inputs: Sequence[tuple[str, Any]] = (("x", ["n", 3, 112, 112]),),
    outputs: Sequence[tuple[str, Any]] = (("y", None),),
    weights: np.ndarray = WEIGHTS,
    kind: int = TensorProto.FLOAT,
) -> onnx.ModelProto:
    """A model of these nodes, each (operator, inputs, outputs)."""
    made = helper.make_graph(
        [helper.make_node(*node) if isinstance(node, tuple) else node for node in nodes],
        "tiny",
        [helper.make_tensor_value_info(name, kind, shape) for name, shape in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs],
        [numpy_helper.from_array(weights, "w")],
    )
    # Old enough for every ONNX Runtime that we allow.
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def write(path: Path, model: onnx.ModelProto | None = None) -> Path:
    """Write a model, by default the one of `WEIGHTS`."""
    path.write_bytes((graph() if model is None else model).SerializeToString())
    return path


def textured() -> onnx.ModelProto:
    """A model whose vector depends on where what is, as that of a real network does: 64 means of blocks."""
    return graph(
        nodes=(
            helper.make_node("AveragePool", ["x"], ["p"], kernel_shape=[28, 28], strides=[28, 28]),
            ("Flatten", ["p"], ["y"]),
        ),
    )
