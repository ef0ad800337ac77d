"""SetSimilarity: what a baseline must answer so that everything else can stand on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.faceset import Faces


def wanted(
    scores: NDArray[Any],
    floors_a: NDArray[np.float64],
    floors_b: NDArray[np.float64],
    count: int,
    upper: bool,
    margin: float = 0.0,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs that reach the floor of one of their sets and are among its best here, within a margin."""
    return reaching(scores, scores, floors_a, floors_b, count, upper, margin)


def reaching(
    scores: NDArray[Any],
    known: NDArray[Any],
    floors_a: NDArray[np.float64],
    floors_b: NDArray[np.float64],
    count: int,
    upper: bool,
    margin: float = 0.0,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs whose score, or a bound of it, reaches the floors and the ``count`` best of what is known.

    Floors, count and upper are as for `SetSimilarity.match_near`. ``known`` (n_a, n_b) is minus infinity
    where nothing is; scores and floors may be off together by ``margin``.
    """
    scores, known = (_upper_half(array) if upper else array for array in (scores, known))
    # In the upper half a set meets the others in its row and in its column.
    by_a = np.maximum(floors_a, _kth_largest(np.maximum(known, known.T) if upper else known, count, 1))
    by_b = by_a if upper else np.maximum(floors_b, _kth_largest(known, count, 0))
    near = (scores >= by_a[:, None] - margin) | (scores >= by_b - margin)
    # Where a list is still empty everything reaches its floor, but a set is not its own neighbour.
    found_a, found_b = np.nonzero(near & (scores > -np.inf))
    return found_a, found_b


def _upper_half(scores: NDArray[Any]) -> NDArray[Any]:
    return np.where(np.triu(np.ones(scores.shape, dtype=bool), 1), scores, -np.inf)


def _kth_largest(scores: NDArray[Any], count: int, axis: int) -> NDArray[np.float64]:
    """The value that ``count`` entries reach along an axis; minus infinity if there are fewer."""
    size = scores.shape[axis]
    if not 0 < count <= size:
        return np.full(scores.shape[1 - axis], -np.inf if count else np.inf)
    return np.asarray(
        np.partition(scores, size - count, axis=axis).take(size - count, axis=axis), dtype=float
    )


# SetSimilarity: what a baseline must answer so that everything else can stand on it.


Prepared = Mapping[str, NDArray[Any]]
Mode = NDArray[Any]

# Sets that are joined at a time, and by how much there is more room than they fill, at most.
TOGETHER: Final = 1 << 14
GROWTH: Final = 9 / 8
# Of a set with more faces so many, evenly spread, are compared each with each: a table of all of them would
# fill the memory. The longest video of YouTube Faces has 6,070.
MOST_COMPARED: Final = 8_192


class Match(NamedTuple):
    """How alike two sets are, and the mode of appearance of each that made them so."""

    score: float
    mode_a: Mode
    mode_b: Mode


class Matches(NamedTuple):
    """Match of every set of a with every set of b."""

    scores: NDArray[np.float64]  # (n_a, n_b)
    modes_a: NDArray[Any]  # (n_a, n_b, *mode_shape)
    modes_b: NDArray[Any]  # (n_a, n_b, *mode_shape)


class NearMatches(NamedTuple):
    """Matches of some pairs of sets of a and b."""

    sets_a: NDArray[np.int64]  # (pairs,)
    sets_b: NDArray[np.int64]  # (pairs,)
    scores: NDArray[np.float64]  # (pairs,)
    modes_a: NDArray[Any]  # (pairs, *mode_shape)
    modes_b: NDArray[Any]  # (pairs, *mode_shape)


class Products(NamedTuple):
    """Products of all faces of two runs of sets, about."""

    values: NDArray[np.int32]  # (rows_a, rows_b)
    unit: float  # what they are counted in
    off: float  # how far a product in these units is off at most


class Examples(NamedTuple):
    """Training rows of one reference and one of its proxies, in the order s1 to s5."""

    positives: NDArray[np.float64]  # (rows, 5)
    negatives: NDArray[np.float64]  # (rows, 5)


def group(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, Any]:
    """The arrays whose names begin with a prefix, by the rest of their names; single numbers as such."""
    # Plain views of mapped files: looking something up in them is quicker.
    chosen = {name: np.asarray(array) for name, array in arrays.items() if name.startswith(prefix)}
    return {
        name.removeprefix(prefix): array if array.ndim else array.item() for name, array in chosen.items()
    }


class PreparedSets(Sequence[Prepared]):
    """Prepared sets one after the other in a few large arrays, which can be memory-mapped.

    ``arrays`` has each prepared array of all sets, joined along its first axis, and ``starts`` (n + 1,)
    where each set begins in the array of that name, and the end.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], starts: Mapping[str, NDArray[np.int64]]) -> None:
        self.arrays = arrays
        self.starts = dict(starts)
        # Rows that a block has at most, and the blocks, once they are cut (`method.tables.set_blocks`).
        self.blocks: tuple[int, list[slice]] | None = None

    @classmethod
    def join(cls, prepared: Iterable[Prepared]) -> PreparedSets:
        """Join sets that were prepared one by one, which are let go as they come."""
        waiting = iter(prepared)
        piles: dict[str, _Pile] = {}
        while sets := list(islice(waiting, TOGETHER)):
            for name in sets[0]:
                piles.setdefault(name, _Pile()).add([arrays[name] for arrays in sets])
        starts = {name: np.cumsum([0, *pile.lengths], dtype=np.int64) for name, pile in piles.items()}
        return cls({name: pile.whole() for name, pile in piles.items()}, starts)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Name the arrays, and where each set begins in them."""
        arrays = {f"prepared/{name}": array for name, array in self.arrays.items()}
        return arrays | {f"starts/{name}": array for name, array in self.starts.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> PreparedSets:
        """Undo `to_arrays`; arrays of other names are left alone."""
        return cls(group(arrays, "prepared/"), group(arrays, "starts/"))

    def __len__(self) -> int:
        return min((len(starts) - 1 for starts in self.starts.values()), default=0)

    def __getitem__(self, which: Any) -> Any:
        """One prepared set for a number; PreparedSets for a slice or an array of numbers."""
        if isinstance(which, (int, np.integer)):
            number = int(which) + (len(self) if which < 0 else 0)
            if not 0 <= number < len(self):
                raise IndexError(f"there is no set {which} among {len(self)}")
            return {name: array[self._rows(name, number)] for name, array in self.arrays.items()}
        if isinstance(which, slice):
            first, last, step = which.indices(len(self))
            if step != 1:
                return self[np.arange(first, last, step)]
            last = max(first, last)
            ends = {name: starts[first : last + 1] for name, starts in self.starts.items()}
            return PreparedSets(
                {name: array[ends[name][0] : ends[name][-1]] for name, array in self.arrays.items()},
                {name: some - some[0] for name, some in ends.items()},
            )
        chosen = np.asarray(which)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        if not len(chosen):
            return self[0:0]
        chosen = self._counted(chosen)
        return PreparedSets(
            _Gathered(self, chosen), {name: _ends(starts, chosen) for name, starts in self.starts.items()}
        )

    def _counted(self, chosen: NDArray[Any]) -> NDArray[np.int64]:
        """Numbers of sets, those that count from the end turned round."""
        numbers = chosen.astype(np.int64)
        numbers[numbers < 0] += len(self)
        outside = (numbers < 0) | (numbers >= len(self))
        if outside.any():
            raise IndexError(f"there is no set {chosen[outside][0]} among {len(self)}")
        return numbers

    def _rows(self, name: str, number: int) -> slice:
        starts = self.starts[name]
        return slice(int(starts[number]), int(starts[number + 1]))


class _Pile:
    """Arrays that come bit by bit, one after the other in room that grows: they are never there twice."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self._room: NDArray[Any] = np.empty(0)
        self._filled = 0

    def add(self, parts: Sequence[NDArray[Any]]) -> None:
        new = np.concatenate(parts)
        self.lengths.extend(map(len, parts))
        end = self._filled + len(new)
        if not self._filled:
            self._room = new
        elif end > len(self._room) or new.dtype != self._room.dtype:
            # Made longer where it lies, if the system can: nobody else has it yet.
            more = self._room.astype(np.result_type(self._room, new), copy=False)
            more.resize((max(end, int(len(more) * GROWTH)), *more.shape[1:]), refcheck=False)
            self._room = more
        self._room[self._filled : end] = new
        self._filled = end

    def whole(self) -> NDArray[Any]:
        self._room.resize((self._filled, *self._room.shape[1:]), refcheck=False)
        return self._room


class _Gathered(Mapping[str, NDArray[Any]]):
    """The arrays of some sets, each copied when it is first asked for: mostly not all of them are."""

    def __init__(self, sets: PreparedSets, chosen: NDArray[np.int64]) -> None:
        self._sets, self._chosen = sets, chosen
        self._known: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._known:
            starts = self._sets.starts[name]
            ends = _ends(starts, self._chosen)
            rows = np.arange(ends[-1]) + np.repeat(starts[self._chosen] - ends[:-1], np.diff(ends))
            self._known[name] = self._sets.arrays[name][rows]
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sets.arrays)

    def __len__(self) -> int:
        return len(self._sets.arrays)


def _ends(starts: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of some sets begins if they lie one after the other, and the end."""
    return np.concatenate([[0], np.cumsum(starts[chosen + 1] - starts[chosen])]).astype(np.int64)


class SetSimilarity(ABC):
    """A baseline: how alike two sets of faces are, and through which of their modes of appearance.

    A mode is a small array whose meaning belongs to the part (a face number, coordinates in a subspace);
    all modes of a part have the same ``mode_shape`` and ``mode_type``. Larger is more alike, everywhere, and
    a score does not depend on which of the two sets comes first: a directed measure makes itself symmetric.

    Implement `prepare`, `match`, `agreement`, `exemplar` and `examples`; the ``_many`` forms loop over them
    and are overridden only for speed, with the same bits as result.
    """

    # Raise it when the arithmetic changes: tables made by the older one are then made again.
    version: int = 1
    mode_type: type[np.generic] = np.int64
    # Whether the score is the largest product of two faces: see `faces`.
    compares_faces: bool = False

    @property
    def by_means(self) -> bool:
        """Whether neighbours of very many sets may be looked for among the sets of the nearest means."""
        return False

    @property
    def mode_shape(self) -> tuple[int, ...]:
        """Shape of one mode."""
        return ()

    def sizes(self, sets: PreparedSets) -> NDArray[np.int64]:
        """Rows that each set brings to a comparison, which decides how many sets fit a block; (n,)."""
        return np.ones(len(sets), dtype=np.int64)

    def faces(self, sets: PreparedSets) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Unit vectors whose largest product is the score, and where each set begins.

        Override it, with ``compares_faces``, if the score is that: large galleries then have shortlists.
        """
        raise BadInput(f"{type(self).__name__} does not compare faces one by one")

    @abstractmethod
    def prepare(self, faces: Faces) -> Prepared:
        """Turn the faces (n, d) of one set into named arrays, each with at least one axis."""

    @abstractmethod
    def match(self, a: Prepared, b: Prepared) -> Match:
        """Compare two prepared sets."""

    @abstractmethod
    def agreement(self, a: Prepared, mode: Mode, other: Mode) -> float:
        """How alike two modes of the same set are, at most 1."""

    @abstractmethod
    def exemplar(self, a: Prepared, mode: Mode) -> int:
        """Which face of the set, as it was given to `prepare`, shows this mode best."""

    @abstractmethod
    def examples(self, reference: Prepared, proxy: Prepared) -> Examples:
        """Draw training rows from a set and one of its proxies, without any label."""

    def memorises(self, a: Prepared) -> bool:
        """Whether `examples` would hold a set's faces against a model that has learnt them by heart.

        Such a set is equally alike to each of its own faces, so its rows do not show how a person varies.
        """
        return False

    def match_many(self, a: PreparedSets, b: PreparedSets) -> Matches:
        """Compare every set of a with every set of b."""
        shape = (len(a), len(b))
        scores = np.empty(shape)
        modes_a = np.empty(shape + self.mode_shape, dtype=self.mode_type)
        modes_b = np.empty_like(modes_a)
        for i, j in np.ndindex(shape):
            scores[i, j], modes_a[i, j], modes_b[i, j] = self.match(a[i], b[j])
        return Matches(scores, modes_a, modes_b)

    def match_near(
        self,
        a: PreparedSets,
        b: PreparedSets,
        floors_a: NDArray[np.float64],
        floors_b: NDArray[np.float64],
        count: int,
        upper: bool = False,
    ) -> NearMatches:
        """Compare every set of a with every set of b, and return the pairs that may be near neighbours.

        Overridden for speed: a part that tells by less arithmetic which pairs are far need not finish them.
        Who overrides `match_many` of such a part overrides this too, with the same scores.

        Parameters
        ----------
        floors_a, floors_b : arrays (n_a,), (n_b,)
            A pair that scores below both is not wanted.
        count : int
            Nor is a pair that is among the ``count`` best of neither of its sets here. More may be returned.
        upper : bool
            Whether a and b are the same sets, and only pairs with a lower number in a are wanted.
        """
        matches = self.match_many(a, b)
        chosen = wanted(matches.scores, floors_a, floors_b, count, upper)
        return NearMatches(*chosen, *(array[chosen] for array in matches))

    def match_rounded(
        self,
        a: PreparedSets,
        b: PreparedSets,
        floors_a: NDArray[np.float64],
        floors_b: NDArray[np.float64],
        count: int,
        upper: bool,
        products: Products,
    ) -> NearMatches:
        """`match_near` for sets of faces whose products are about known."""
        return self.match_near(a, b, floors_a, floors_b, count, upper)

    def match_pairs(
        self,
        sets: PreparedSets,
        sets_a: NDArray[np.int64],
        sets_b: NDArray[np.int64],
        floors: NDArray[np.float64],
    ) -> NearMatches:
        """Compare pairs of sets, by their numbers; those that stay below their floor may be left out."""
        scores = np.empty(len(sets_a))
        modes_a, modes_b = (np.empty((len(sets_a), *self.mode_shape), self.mode_type) for _ in range(2))
        for place, (a, b) in enumerate(zip(sets_a, sets_b, strict=True)):
            scores[place], modes_a[place], modes_b[place] = self.match(sets[a], sets[b])
        return NearMatches(sets_a, sets_b, scores, modes_a, modes_b)

    def match_as_batch(self, a: Prepared, b: Prepared) -> Match:
        """One comparison by `match_many`: what `match` returns in parts whose quick form is the only one."""
        matches = self.match_many(PreparedSets.join([a]), PreparedSets.join([b]))
        return Match(float(matches.scores[0, 0]), matches.modes_a[0, 0], matches.modes_b[0, 0])

    def agreement_many(
        self, sets: PreparedSets, which: NDArray[np.int64], modes: NDArray[Any], others: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Agreement of ``modes[i]`` with ``others[i]``, both modes of set ``which[i]``; (m,)."""
        return np.array(
            [self.agreement(sets[i], u, v) for i, u, v in zip(which, modes, others, strict=True)], dtype=float
        )


PART = SetSimilarity
