"""Rounded: products of vectors whose components are whole numbers of eight bits, which nothing rounds.

Where ONNX Runtime is installed it multiplies them, several times as fast as single precision; elsewhere the
linear algebra library does, for which sums of such numbers are whole numbers too. So both find the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels import protobuf
from lookalike.kernels.protobuf import content, whole
from lookalike.kernels.threads import blocks
from lookalike.resources import keep_runtime_quiet

Bytes = NDArray[np.int8]
# Whole numbers up to 2^24 are what single precision holds: so are all sums of products of vectors of about
# length 1 whose components are counted in steps of at least this. Rounding makes them longer: by 128 steps at
# most, of the 65,536 components that there can be.
SMALLEST_STEP: Final = 2.0**-11
# Both sides of a product have 8 bits. Older processors add up two products in 16: there the left has 7, and
# everywhere where the result is to be the same on all machines.
LEFT, RIGHT = 63, 127
# Vectors whose largest component is looked for at a time.
LOOKED_AT: Final = 1 << 14
# Of the ONNX format: types of numbers, and the operators that are used.
_UINT8, _INT8, _INT32, _OPSET, _IR = 2, 3, 6, 13, 8


class Rounded(NamedTuple):
    """Vectors of about length 1 in whole numbers of steps, in blocks of which each vector is a column."""

    blocks: list[Bytes]  # (d, k) each
    step: float
    error: float  # the largest length of what rounding took away

    @classmethod
    def of(
        cls, rows: NDArray[Any], largest: int, cuts: Sequence[slice], step: float | None = None
    ) -> Rounded:
        """Round the rows (n, d) of each cut to numbers of at most ``largest``, by a step that fits them."""
        if step is None:
            step = step_of(rows, largest)
        blocks, error = [], 0.0
        for cut in cuts:
            exact = rows[cut].astype(np.float32) / np.float32(step)
            counted = np.clip(np.rint(exact), -largest, largest)
            blocks.append(np.ascontiguousarray(counted.astype(np.int8).T))
            error = max(error, float(np.square(exact - counted).sum(axis=1).max(initial=0.0)))
        return cls(blocks, step, step * float(np.sqrt(error)))

    def rows(self, number: int) -> Bytes:
        """The vectors of a block as rows."""
        return np.ascontiguousarray(self.blocks[number].T)


def step_of(rows: NDArray[Any], largest: int) -> float:
    """The step in which no component counts more than ``largest``."""
    most = max((float(np.abs(rows[cut]).max()) for cut in blocks(len(rows), LOOKED_AT)), default=0.0)
    return max(most / largest, SMALLEST_STEP)


class Left(NamedTuple):
    """Rows that are multiplied with many blocks."""

    rows: NDArray[Any]  # (m, d): of bytes, or of single precision where no runtime is there
    middle: NDArray[np.uint8]  # what was added to their numbers
    runtime: Any  # what multiplies them

    @classmethod
    def of(cls, rows: Bytes, largest: int = LEFT) -> Left:
        """Rows (m, d) of numbers of at most ``largest``, which is `LEFT` or what `largest_left` tells."""
        middle, runtime = np.array(largest + 1, dtype=np.uint8), _runtime()
        if runtime is None:
            return cls(rows.astype(np.float32), middle, None)
        return cls((rows.astype(np.int16) + middle).astype(np.uint8), middle, runtime)

    def products(self, block: Bytes) -> NDArray[np.int32]:
        """Products of every row with every column of a block (d, k); (m, k)."""
        if self.runtime is None:
            return (self.rows @ block.astype(np.float32)).astype(np.int32)
        given = {"a": self.rows, "b": block, "middle": self.middle}
        found: list[NDArray[np.int32]] = self.runtime.run(None, given)
        return found[0]


@cache
def largest_left() -> int:
    """The largest number that rows may have here: `RIGHT`, if this processor adds up such products."""
    rows, block = np.full((1, 64), RIGHT, dtype=np.int8), np.full((64, 1), RIGHT, dtype=np.int8)
    [[found]] = Left.of(rows, RIGHT).products(block)
    return RIGHT if found == 64 * RIGHT**2 else LEFT


def is_quick() -> bool:
    """Whether such products are made more quickly here than others."""
    return _runtime() is not None


@cache
def _runtime() -> Any:
    """What multiplies bytes; None where it is not installed, or cannot."""
    keep_runtime_quiet()
    try:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # Our own threads are busy already.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(_model(), options, providers=["CPUExecutionProvider"])
    except Exception:  # whatever a library of another version says: there is another way
        return None


def _model() -> bytes:
    """An ONNX model of one step: the product of bytes a, less the middle, with bytes b."""
    names = ["a", "b", "middle"]
    step = [*(content(1, name) for name in names), content(2, "c"), content(4, "MatMulInteger")]
    ends = [(11, "a", _UINT8, 2), (11, "b", _INT8, 2), (11, "middle", _UINT8, 0), (12, "c", _INT32, 2)]
    graph = [content(1, protobuf.write(step)), content(2, "products")]
    graph += [content(number, _end(name, kind, axes)) for number, name, kind, axes in ends]
    versions = protobuf.write([content(1, ""), whole(2, _OPSET)])
    return protobuf.write([whole(1, _IR), content(7, protobuf.write(graph)), content(8, versions)])


def _end(name: str, kind: int, axes: int) -> bytes:
    """What goes in or comes out: an array of so many axes, of any lengths."""
    shape = protobuf.write(content(1, protobuf.write([content(2, f"{name}{axis}")])) for axis in range(axes))
    of_type = protobuf.write([content(1, protobuf.write([whole(1, kind), content(2, shape)]))])
    return protobuf.write([content(1, name), content(2, of_type)])
