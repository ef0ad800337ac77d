"""Codes: unit vectors in a sixteenth of their memory, among which the nearest are guessed quickly.

Product quantisation (Jégou, Douze, Schmid, PAMI 2011): two components at a time are replaced by the nearest
of sixteen points, four bits. Products with a query are then sums of looked-up numbers, which faiss does for
a million vectors in milliseconds ("fast scan", André, Kermarrec, Le Scouarnec, VLDB 2015). What comes
out is a guess, good enough to leave out what is far; who needs the truth compares what is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.kernels.threads import blocks, thread_count

POINTS = 16
# Vectors from which the points are learnt, evenly spread; and vectors coded at a time.
SAMPLE = 1 << 16
BLOCK = 1 << 14
# The library adds up numbers of 8 bits in 16 bits, which overflow beyond 257 of them: a spare pair, zero in
# all vectors and as large as needed in a query, makes it scale them down.
SPARE = 2
LARGEST_SUM = 65_000
# Vectors lie in groups of this many, side by side, for the processor's shuffle instruction.
_GROUP = 32


def is_available() -> bool:
    """Whether the library that makes and reads codes is installed."""
    return find_spec("faiss") is not None


class Codes:
    """Coded vectors.

    Parameters
    ----------
    points : array (pairs, 16, 2)
        The points that stand for each two components; the last ones for the spare pair.
    packed : array (bytes,)
        Four bits for each two components of each vector, as `of` packs them.
    count : int
        How many vectors.
    """

    def __init__(self, points: NDArray[np.float32], packed: NDArray[np.uint8], count: int) -> None:
        pairs = len(points)
        index = _empty(2 * pairs)
        if points.shape != (pairs, POINTS, 2) or len(packed) != _packed_bytes(pairs, count):
            raise BadInput("the stored codes do not fit together: they are made again when deleted")
        faiss = _faiss()
        faiss.copy_array_to_vector(np.ascontiguousarray(points, dtype=np.float32).ravel(), index.pq.centroids)
        index.is_trained = True
        index.ntotal, index.ntotal2 = count, -(-count // _GROUP) * _GROUP
        faiss.copy_array_to_AlignedTable(np.ascontiguousarray(packed, dtype=np.uint8), index.codes)
        self._index = index
        self._points = points

    @classmethod
    def of(cls, vectors: NDArray[Any], points: NDArray[np.float32] | None = None) -> Self:
        """Code the vectors (n, d), of any float type, by points that are learnt from them unless given."""
        faiss = _faiss()
        if points is None:
            points = learn_points(vectors[sampled(len(vectors))])
        index = _empty(2 * len(points))
        faiss.copy_array_to_vector(np.ascontiguousarray(points, dtype=np.float32).ravel(), index.pq.centroids)
        index.is_trained = True
        faiss.omp_set_num_threads(thread_count())
        for where in blocks(len(vectors), BLOCK):
            index.add(_padded(vectors[where]))
        return cls(points, faiss.AlignedTable_to_array(index.codes), len(vectors))

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def points(self) -> NDArray[np.float32]:
        """The points that stand for each two components; (pairs, 16, 2)."""
        return self._points

    @property
    def dimension(self) -> int:
        """Length of the vectors, or one more if that is odd."""
        return int(self._index.d) - SPARE

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to make it again, as named arrays."""
        faiss = _faiss()
        return {
            "points": self._points,
            "packed": faiss.AlignedTable_to_array(self._index.codes),
            "count": np.array([len(self)]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Undo `to_arrays`."""
        return cls(arrays["points"], arrays["packed"], int(arrays["count"][0]))

    def nearest(self, queries: NDArray[Any], count: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Numbers and guessed products of the vectors nearest to each query; two arrays (m, count).

        A number of -1 means that there are no more.
        """
        _faiss().omp_set_num_threads(thread_count())
        asked = _padded(queries)
        tables = np.einsum("qpc,pkc->qpk", asked.reshape(len(asked), -1, 2), self._points)
        spans = np.ptp(tables, axis=2)
        # The library gives 8 bits to the largest span, which is now the spare pair's.
        asked[:, -SPARE] = np.maximum(spans.max(axis=1), 255 / LARGEST_SUM * spans.sum(axis=1))
        products, numbers = self._index.search(asked, min(count, len(self)))
        return numbers, products


def sampled(count: int) -> NDArray[np.int64]:
    """Numbers of the vectors, of so many, from which points are learnt."""
    return np.arange(0, count, max(1, count // SAMPLE))


def learn_points(sample: NDArray[Any]) -> NDArray[np.float32]:
    """Learn the points that stand for each two components of vectors like these (n, d)."""
    faiss = _faiss()
    index = _empty(_even(sample.shape[1]) + SPARE)
    faiss.omp_set_num_threads(1)  # many very small problems, on which threads would wait for each other
    # Fewer vectors than points, as only toy galleries have, are repeated.
    index.train(_padded(np.resize(sample, (max(len(sample), POINTS), sample.shape[1]))))
    points: NDArray[np.float32] = faiss.vector_to_array(index.pq.centroids).reshape(-1, POINTS, 2)
    points[-1] = [[0.0, 0.0], *[[1.0, 0.0]] * (POINTS - 1)]
    return points


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as reason:
        raise BadInput(
            "a shortlist needs faiss, which cannot be imported: pip install 'lookalike[ann]'"
        ) from reason
    return faiss


def _empty(dimension: int) -> Any:
    faiss = _faiss()
    index = faiss.IndexPQFastScan(dimension, dimension // 2, 4, faiss.METRIC_INNER_PRODUCT, _GROUP)
    index.pq.cp.min_points_per_centroid = 1  # else it prints a warning about small samples
    return index


def _even(dimension: int) -> int:
    return dimension + dimension % 2


def _packed_bytes(pairs: int, count: int) -> int:
    return -(-count // _GROUP) * _GROUP * _even(pairs) // 2


def _padded(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Single precision, with a zero at the end of vectors of odd length, and the spare pair."""
    wide = np.zeros((len(vectors), _even(vectors.shape[1]) + SPARE), dtype=np.float32)
    wide[:, : vectors.shape[1]] = vectors
    return wide
