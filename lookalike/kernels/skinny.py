"""Skinny: the products of many rows with a few, at the speed at which the many come from memory.

A linear algebra library first copies the larger matrix into an order of its own, which pays if every number
is used some hundred times. For a query of ten faces it takes longer than the multiplications. Here the few
are packed instead; the many are read once, where they lie, while the next are on their way to the cache.
The readable twin is ``few @ many.T``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled

Singles = NDArray[np.float32]

# A tile is 2 of the many by 5 of the few: ten running sums of eight numbers, which the sixteen registers of a
# processor hold with what is being multiplied; a query of the paper's ten faces is two tiles wide.
MANY, FEW, LANES = 2, 5, 8
# Steps of LANES numbers before the next rows are taken: so much of FEW rows (18 kB) stays in the first cache.
STEPS = 112
# Numbers of the many that are worked on at a time, and fetched ahead: twice 256 kB fit the second cache.
AHEAD = 2**16


def packed(few: Singles) -> Singles:
    """Order a few rows (m, d) as a tile reads them: (tiles, steps, FEW, LANES), zeros where nothing is.

    The last numbers of a row that do not fill a step are put at its end, because there the tile reads the
    last LANES numbers of the many; d is at least LANES. The number of steps is even.
    """
    count, dimension = few.shape
    whole, rest = divmod(dimension, LANES)
    tiles, steps = -(-count // FEW), 2 * -(-dimension // (2 * LANES))
    padded = np.zeros((tiles * FEW, dimension), dtype=np.float32)
    padded[:count] = few
    rows = padded.reshape(tiles, FEW, dimension)
    found = _aligned((tiles, steps, FEW, LANES))
    filled = rows[:, :, : whole * LANES].reshape(tiles, FEW, whole, LANES)
    found[:, :whole] = filled.transpose(0, 2, 1, 3)
    if rest:
        found[:, whole, :, LANES - rest :] = rows[:, :, whole * LANES :]
    return found


def _aligned(shape: tuple[int, ...]) -> Singles:
    """Zeros that start where a line of the cache does: a load across two lines takes twice as long."""
    size, line = int(np.prod(shape)), 16
    room = np.zeros(size + line, dtype=np.float32)
    start = -(room.ctypes.data // room.itemsize) % line
    return room[start : start + size].reshape(shape)


@intrinsic  # type: ignore[untyped-decorator]
def _tile(
    typing: Any,
    many: Any,
    row: Any,
    other: Any,
    few: Any,
    tile: Any,
    first: Any,
    last: Any,
    coming: Any,
    ahead: Any,
    pace: Any,
    sums: Any,
    column: Any,
) -> Any:
    """Add the products of two of the many with FEW of the few, over some steps, to their sums.

    ``sums[FEW * tile + j, column]`` is that of ``row``, the next column that of ``other``. Meanwhile the
    numbers of ``coming`` from place ``ahead`` on are fetched into the second cache, ``pace`` a step. Written
    in the compiler's own terms, because it makes no vectors of a loop in which something is fetched.
    """
    whole = types.int64
    signature = types.void(many, whole, whole, few, whole, whole, whole, coming, whole, whole, sums, whole)
    single, vector = ir.FloatType(), ir.VectorType(ir.FloatType(), LANES)
    i32, i64, address = ir.IntType(32), ir.IntType(64), ir.IntType(8).as_pointer()

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        def array(which: int) -> Any:
            return context.make_array(signature.args[which])(context, builder, values[which])

        def function(name: str, result: Any, *given: Any) -> Any:
            return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, given), name)

        def load(start: Any, place: Any) -> Any:
            there = builder.bitcast(builder.gep(start, [place]), vector.as_pointer())
            return builder.load(there, align=4)

        # It is one instruction where the processor has one, and else two; never a call.
        multiply_add = function(f"llvm.fmuladd.v{LANES}f32", vector, vector, vector, vector)
        add_up = function(f"llvm.vector.reduce.fadd.v{LANES}f32", single, single, vector)
        fetch = function("llvm.prefetch.p0", ir.VoidType(), address, i32, i32, i32)

        faces, query, following, out = array(0), array(3), array(7), array(10)
        row, other, tile, first, last, ahead, pace, column = (values[i] for i in (1, 2, 4, 5, 6, 8, 9, 11))
        dimension = cgutils.unpack_tuple(builder, faces.shape)[1]
        steps = cgutils.unpack_tuple(builder, query.shape)[1]
        starts = [builder.gep(faces.data, [builder.mul(number, dimension)]) for number in (row, other)]
        few_start = builder.gep(query.data, [builder.mul(builder.mul(tile, steps), i64(FEW * LANES))])
        totals = [[cgutils.alloca_once(builder, vector) for _ in range(FEW)] for _ in range(MANY)]
        for total in (one for line in totals for one in line):
            builder.store(ir.Constant(vector, [0.0] * LANES), total)
        end = builder.sub(dimension, i64(LANES))

        with cgutils.for_range_slice(builder, first, last, i64(2), i64) as (pair, _):
            for step in (pair, builder.add(pair, i64(1))):
                place = builder.add(ahead, builder.mul(pace, builder.sub(step, first)))
                line = builder.bitcast(builder.gep(following.data, [place]), address)
                builder.call(fetch, [line, i32(0), i32(2), i32(1)])  # to read; second cache; data
                place = builder.mul(step, i64(LANES))
                place = builder.select(builder.icmp_signed("<", place, end), place, end)
                ours = [load(start, place) for start in starts]
                for j in range(FEW):
                    theirs = load(
                        few_start, builder.mul(builder.add(builder.mul(step, i64(FEW)), i64(j)), i64(LANES))
                    )
                    for i in range(MANY):
                        total = builder.load(totals[i][j])
                        builder.store(builder.call(multiply_add, [ours[i], theirs, total]), totals[i][j])

        width = cgutils.unpack_tuple(builder, out.shape)[1]
        for j in range(FEW):
            line = builder.add(builder.mul(tile, i64(FEW)), i64(j))
            for i in range(MANY):
                place = builder.add(builder.mul(line, width), builder.add(column, i64(i)))
                where = builder.gep(out.data, [place])
                total = builder.call(add_up, [single(0.0), builder.load(totals[i][j])], fastmath=("reassoc",))
                builder.store(builder.fadd(total, builder.load(where)), where)
        return context.get_dummy_value()

    return signature, generate


@compiled
def multiply(
    many: Singles, start: int, stop: int, few: Singles, products: Singles, coming: NDArray[Any], shift: int
) -> None:
    """Products of rows start to stop of the many with the few, put into the first columns of an array.

    Parameters
    ----------
    many : array (n, d)
        Their rows lie one after the other; d is at least LANES.
    few : array
        The few, packed.
    products : array (FEW * tiles, at least stop - start, and one more if that is odd)
        The results; its other columns may be written to.
    coming : array (any, d)
        What is fetched meanwhile, because it is wanted next: the many, or what they are made from.
    shift : int
        Row 0 of the many is this row of ``coming``.
    """
    dimension = many.shape[1]
    tiles, steps = few.shape[:2]
    group = rows_at_a_time(dimension)
    # Numbers to fetch in a step, so that all of the next group is there when this one is done.
    pace = -(-MANY * LANES // tiles)
    # A step of a tile fetches at most this far: further than that, and it would be beyond the end.
    furthest = max(coming.size - pace * STEPS - 1, 0)
    products[:, : stop - start + 1] = 0.0
    for first_row in range(start, stop, group):
        last_row = min(first_row + group, stop)
        ahead = (shift + first_row + group) * dimension
        for first in range(0, steps, STEPS):
            last = min(first + STEPS, steps)
            for tile in range(tiles):
                for row in range(first_row, last_row, MANY):
                    other = min(row + 1, last_row - 1)
                    _tile(
                        many,
                        row,
                        other,
                        few,
                        tile,
                        first,
                        last,
                        coming,
                        min(ahead, furthest),
                        pace,
                        products,
                        row - start,
                    )
                    ahead += pace * (last - first)


@compiled
def rows_at_a_time(dimension: int) -> int:
    """How many of the many are worked on at a time: an even number."""
    return max(AHEAD // dimension // MANY, 1) * MANY
