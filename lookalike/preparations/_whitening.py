"""Whitening: scatter of faces added up set by set, the maps that even it out, faces multiplied by them."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, is_whole
from lookalike.faceset import Faces, checked_faces
from lookalike.kernels.binary_patterns import mirrored_patterns
from lookalike.kernels.threads import one_blas_thread
from lookalike.preparations.contract import LONGEST, Preparation

Matrix = NDArray[np.float64]

# Faces that are multiplied together: large enough for the library, small beside the tables of d x d numbers.
BLOCK_ROWS = 1024
# Directions with less variance than this part of the largest are rounding errors.
TINY = 1e-9


class Scatter(NamedTuple):
    """How faces vary, told from all sets."""

    faces: int
    sets: int
    mean: Matrix  # (d,)
    within: Matrix  # (d, d): mean product of deviations of faces from the mean of their set
    total: Matrix  # (d, d): mean product of deviations of faces from the mean of all


def scatter(sets: Iterable[NDArray[np.floating]]) -> Scatter | None:
    """Add up the scatter of sets (n, d), each read once; None if there are none.

    Memory is that of two tables of d x d numbers and a block of faces, however many sets there are. Blocks
    are filled in the order of the sets and the library is held to one thread, so that the bits of the
    result depend on nothing but the sets.
    """
    with one_blas_thread():
        adding = _Adding()
        for faces in sets:
            adding.add(np.asarray(faces, dtype=np.float64))
        return adding.result()


class _Adding:
    """Tables that grow: deviations from the mean of the set, and means of sets from an origin.

    The origin is the first face. It changes nothing but rounding: columns that are the same in all faces
    come out as exactly zero.
    """

    def __init__(self) -> None:
        self.origin: Matrix | None = None
        self.counts: list[int] = []
        self.waiting: dict[str, list[Matrix]] = {"within": [], "between": []}

    def add(self, faces: Matrix) -> None:
        if self.origin is None:
            d = faces.shape[1]
            self.origin = faces[0].copy()
            self.sum = np.zeros(d)
            self.tables = {name: np.zeros((d, d)) for name in self.waiting}
        moved = faces - self.origin
        mean = moved.mean(axis=0)
        self.counts.append(len(faces))
        self.sum += len(faces) * mean
        # Identical faces vary by nothing, not by the rounding of their mean.
        same = np.ptp(moved, axis=0) == 0
        self._wait("within", np.where(same, 0.0, moved - mean))
        self._wait("between", np.sqrt(len(faces)) * mean[None])

    def result(self) -> Scatter | None:
        if self.origin is None:
            return None
        for name in self.waiting:
            self._multiply(name)
        faces = sum(self.counts)
        mean = self.sum / faces
        within = self.tables["within"] / faces
        total = within + self.tables["between"] / faces - np.outer(mean, mean)
        return Scatter(faces, len(self.counts), self.origin + mean, within, total)

    def _wait(self, name: str, rows: Matrix) -> None:
        self.waiting[name].append(rows)
        if sum(map(len, self.waiting[name])) >= BLOCK_ROWS:
            self._multiply(name)

    def _multiply(self, name: str) -> None:
        if self.waiting[name]:
            rows = np.concatenate(self.waiting[name])
            self.tables[name] += rows.T @ rows
            self.waiting[name] = []


class Directions(NamedTuple):
    """Principal directions of faces, those of most variance first; directions without variance left out."""

    variances: Matrix  # (r,)
    axes: Matrix  # (d, r)


def directions(total: Matrix) -> Directions:
    """Principal directions of a table of scatter (d, d)."""
    with one_blas_thread():
        variances, axes = np.linalg.eigh(total)
    variances, axes = variances[::-1], axes[:, ::-1]
    kept = int(np.count_nonzero(variances > TINY * max(float(variances[0]), 0.0))) if len(variances) else 0
    # A direction may point either way: its largest number is made positive, whatever the library returns.
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return Directions(variances[:kept], (axes * signs)[:, :kept])


def enough(variances: Matrix, share: float) -> int:
    """How many of the directions hold this share of all variance."""
    held = np.cumsum(variances) / variances.sum()
    return min(int(np.searchsorted(held, share)) + 1, len(variances))


def inverse_root(matrix: Matrix, floor: float) -> Matrix:
    """(M + floor I)^(-1/2) of a symmetric matrix without negative variances."""
    with one_blas_thread():
        variances, axes = np.linalg.eigh(matrix)
        root: Matrix = (axes / np.sqrt(np.maximum(variances, 0.0) + floor)) @ axes.T
    return root


# Neighbours on the circle of a local binary pattern, as everybody has them, and the bins of a cell.
POINTS = 8
BINS = POINTS * (POINTS - 1) + 3


class Whitening(Preparation):
    """y = (x - mean) T, or (sqrt(x) - mean) T; a part says how T comes from the scatter of faces.

    Options are those of the part; a `dimension` of 0 chooses it from the data.
    """

    added_options = ("mirror",)
    # Which share of the variance is kept where the dimension is chosen from the data.
    share: float

    def __init__(self, root: bool = False, dimension: int = 0, mirror: str = "") -> None:
        self.root = root
        self.dimension = dimension
        self.mirror = mirror
        self._mean: Matrix | None = None
        self._table: Matrix | None = None

    @property
    def is_learnt(self) -> bool:
        """Mean and table are."""
        return True

    def check(self) -> None:
        """Refuse options that are out of range."""
        if not isinstance(self.root, bool):
            raise BadInput(f"root must be true or false, got {self.root!r}")
        if not is_whole(self.dimension, 0) or self.dimension == 1:
            raise BadInput(
                f"dimension must be 0 (chosen from the data) or a whole number from 2 up, "
                f"got {self.dimension!r}"
            )
        if not isinstance(self.mirror, str) or not re.fullmatch("([1-9][0-9]?x[1-9][0-9]?)?", self.mirror):
            raise BadInput(
                f"mirror must be empty or the rows and columns of cells, as in 6x5, got {self.mirror!r}"
            )

    def fit(self, sets: Iterable[Faces]) -> Self:
        """Learn mean and table; where faces hardly vary, leave them as they are and say why in `reason_`."""
        self.check()
        found = scatter(self._usable(sets))
        if found is None:
            raise BadInput("there are no faces to learn a preparation from: give at least one set")
        known = directions(found.total)
        self.reason_ = ""
        if len(known.variances) < 2:
            self.reason_ = f"the {found.faces} faces vary in fewer than two directions: left as they are"
            self._mean, self._table = np.zeros(0), np.zeros((0, 0))
            return self
        wanted = self.dimension or max(2, enough(known.variances, self.share))
        kept = min(wanted, len(known.variances))
        # Numbers of unit variance over all faces.
        even = known.axes[:, :kept] / np.sqrt(known.variances[:kept])
        self._mean, self._table = found.mean, self._finished(even, found)
        return self

    @abstractmethod
    def _finished(self, even: Matrix, found: Scatter) -> Matrix:
        """The table (d, k), from the one that gives uncorrelated numbers of unit variance."""

    def apply(self, faces: Faces) -> Faces:
        """Root, centre and multiply."""
        if self._mean is None or self._table is None:
            raise BadInput(f"{type(self).__name__} has learnt nothing yet: fit it first")
        if not len(self._mean):
            return faces
        given = checked_faces(faces, "the set")
        if given.shape[1] != len(self._mean):
            raise BadInput(
                f"the preparation was learnt on faces of {len(self._mean)} numbers, got {given.shape[1]}: "
                f"describe both the same way"
            )
        with one_blas_thread():
            return np.asarray((self._rooted(given) - self._mean) @ self._table, dtype=np.float32)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Mean and table."""
        if self._mean is None or self._table is None:
            return {}
        return {"mean": self._mean, "table": self._table}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take over mean and table, if they fit each other."""
        mean, table = arrays.get("mean"), arrays.get("table")
        if mean is None or table is None or mean.ndim != 1 or table.ndim != 2 or len(mean) != len(table):
            raise BadInput("the stored preparation is not a mean and a table that fit: learn it again")
        self._mean, self._table = np.array(mean, dtype=np.float64), np.array(table, dtype=np.float64)
        return self

    def _usable(self, sets: Iterable[Faces]) -> Iterator[Matrix]:
        length = None
        for faces in sets:
            given = checked_faces(faces, "a set")
            length = given.shape[1] if length is None else length
            if given.shape[1] != length:
                raise BadInput(
                    f"faces of different sets have {length} and {given.shape[1]} numbers: describe all of "
                    f"them the same way"
                )
            if length > LONGEST:
                raise BadInput(
                    f"faces of {length} numbers are too long to be whitened, which takes at most {LONGEST}: "
                    f"leave them as they are (`--prepare none`)"
                )
            yield self._rooted(given)

    def _rooted(self, faces: Faces) -> Matrix:
        wide = np.asarray(faces, dtype=np.float64)
        if self.mirror:
            wide = wide + wide[:, self._mirrored(wide.shape[1])]
        if not self.root:
            return wide
        least = float(wide.min())
        if least < 0:
            raise BadInput(
                f"root=true needs numbers that are not negative, such as counts, got {least:.6g}: "
                f"write root=false, or leave the faces as they are (`--prepare none`)"
            )
        return np.sqrt(wide)

    def _mirrored(self, length: int) -> NDArray[np.intp]:
        rows, columns = map(int, self.mirror.split("x"))
        if length != rows * columns * BINS:
            raise BadInput(
                f"mirror={self.mirror} needs {rows * columns * BINS} numbers a face, {BINS} for each cell, "
                f"got {length}: write the grid of the descriptor, or leave mirror out"
            )
        return mirrored_patterns(rows, columns, POINTS)
