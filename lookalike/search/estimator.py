"""Estimators of scikit-learn: nearest sets, and the paper's epsilon-SVR, with `fit` and `get_params`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lookalike.errors import BadInput, is_whole
from lookalike.faceset import Faces, FaceSet
from lookalike.method.regression import Regression, Settings, fit_regression
from lookalike.parameters import EPSILON, GAMMA, PENALTY
from lookalike.preparations.contract import Preparation
from lookalike.rerankers.contract import Reranker
from lookalike.search.query import open_search
from lookalike.similarities.contract import SetSimilarity


class SetNeighbors(BaseEstimator):  # type: ignore[misc]
    """Nearest sets of vectors, as `sklearn.neighbors.NearestNeighbors` finds nearest vectors.

    Each row is a set of its own, unless `groups` say which rows belong together: the faces of a video, the
    segments of a speaker, the pictures of an animal.

    Parameters
    ----------
    n_neighbors : int
        How many neighbours `kneighbors` returns unless told otherwise.
    similarity, reranker, preparation : part or its name
        As for `lookalike.find`.
    seed : int
        Chooses the sets from which the re-ranker learns.

    Attributes
    ----------
    groups_ : array (n_sets,)
        What the sets are called: the values of `groups` in increasing order, or numbers of rows. Indices
        of neighbours are places in it.
    search_ : Search
        The sets, ready to be asked.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike import SetNeighbors
    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal(size=(4, 16))
    >>> X = np.repeat(people, 6, axis=0) + 0.1 * rng.normal(size=(24, 16))
    >>> groups = np.arange(24) // 3  # eight sets of three rows, two of each person
    >>> nearest = SetNeighbors(n_neighbors=1, reranker="baseline").fit(X, groups=groups)
    >>> distances, indices = nearest.kneighbors()
    >>> indices.ravel().tolist()
    [1, 0, 3, 2, 5, 4, 7, 6]
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        similarity: SetSimilarity | str = "max_max",
        reranker: Reranker | str = "auto",
        preparation: Preparation | str = "none",
        seed: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.similarity = similarity
        self.reranker = reranker
        self.preparation = preparation
        self.seed = seed

    def fit(self, X: ArrayLike, y: object = None, groups: ArrayLike | None = None) -> Self:
        """Take in vectors, and learn what the re-ranker learns without labels.

        Parameters
        ----------
        X : array_like (n, d)
            A row of zeros is at distance 1 of every other, as `cosine_distances` has it.
        y : ignored
        groups : array_like (n,), optional
            The set of each row.

        Raises
        ------
        ValueError
            If these are no vectors, or there are fewer than two sets.
        """
        rows = validate_data(self, X, dtype=np.float64, ensure_min_features=2, ensure_min_samples=2)
        self.groups_, sets = _sets(rows, groups)
        if len(sets) < 2:
            raise ValueError(f"neighbours are found among 2 or more sets, got {len(sets)}: give more groups")
        self.search_ = open_search(
            sets, self.similarity, self.reranker, self.seed, preparation=self.preparation
        )
        return self

    def kneighbors(
        self,
        X: ArrayLike | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
        groups: ArrayLike | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]] | NDArray[np.int64]:
        """The nearest sets of each query, the nearest first.

        Parameters
        ----------
        X : array_like (m, d), optional
            The queries; unless given every set of `fit`, which is then no neighbour of its own.
        n_neighbors : int, optional
        return_distance : bool
        groups : array_like (m,), optional
            Which rows of `X` are one query together; queries come in increasing order of it.

        Returns
        -------
        distances : array (queries, n_neighbors)
            One minus the score: with the re-ranker ``baseline`` and vectors of any length, that of cosines.
        indices : array (queries, n_neighbors)
            Places in `groups_`.
        """
        check_is_fitted(self)
        wanted = self.n_neighbors if n_neighbors is None else n_neighbors
        others = len(self.groups_) - (X is None)
        if not is_whole(wanted, 1) or wanted > others:
            raise ValueError(f"n_neighbors must be a whole number from 1 to {others}, got {wanted!r}")
        if X is None:
            queries: list[Any] = [_name(place) for place in range(len(self.groups_))]
        else:
            queries = _sets(validate_data(self, X, dtype=np.float64, reset=False), groups)[1]
        found = [ranking.answers for ranking in self.search_.find_many(queries, wanted)]
        indices = np.array([[int(one.id) for one in answers] for answers in found])
        if not return_distance:
            return indices
        return np.array([[1 - one.score for one in answers] for answers in found]), indices


def _sets(rows: NDArray[np.float64], groups: ArrayLike | None) -> tuple[NDArray[Any], list[FaceSet]]:
    """What sets are called, and the sets, each by its place there."""
    given = np.arange(len(rows)) if groups is None else np.asarray(groups)
    if given.shape != (len(rows),):
        raise ValueError(f"groups must be one for each of {len(rows)} rows, got shape {given.shape}")
    names, owners = np.unique(given, return_inverse=True)
    order = np.split(np.argsort(owners, kind="stable"), np.cumsum(np.bincount(owners))[:-1])
    # A face whose numbers are all equal is refused; such a vector has a direction like any other. One number
    # more, which is 0, changes no angle; of a vector of zeros it is 1, and makes it a stranger to all others.
    wide: Faces = np.column_stack([rows, ~rows.any(axis=1)])
    try:
        return names, [FaceSet(_name(place), wide[own]) for place, own in enumerate(order)]
    except BadInput as reason:
        raise ValueError(str(reason)) from None


def _name(place: int) -> str:
    """The id of a set by its place; ties between neighbours go to the lower one, as text or number."""
    return f"{place:012d}"


class QuasiTransitiveRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """m_qts: from the five numbers of a query, a proxy and a target to how sure a match is (section 2.4.2).

    Minimises |h|²/2 + C sum_i max(0, |y_i - h(x_i) - b| - epsilon) over the functions h that the kernel
    exp(-gamma |x - x'|²) spans on a few of the rows: so few that training can use every row, so many that
    the optimum is that of all rows. The output is not clipped. What is learnt is `regression_`, a
    `Regression`, and what follows from it: `landmarks_` (r, d), `weights_` (r,), `intercept_`, `objective_`,
    `gap_`, `n_iter_`.

    Parameters
    ----------
    epsilon : float
        Error that costs nothing.
    penalty : float
        Price of an error beyond epsilon, C.
    gamma : float
        Width of the kernel.
    rank_tolerance : float
        Largest part of any row that the landmarks may leave unexplained.
    most_landmarks : int
        Most landmarks to use.
    tolerance : float
        Relative duality gap at which training stops.
    """

    def __init__(
        self,
        epsilon: float = EPSILON,
        penalty: float = PENALTY,
        gamma: float = GAMMA,
        rank_tolerance: float = 1e-8,
        most_landmarks: int = 1000,
        tolerance: float = 1e-7,
    ) -> None:
        self.epsilon = epsilon
        self.penalty = penalty
        self.gamma = gamma
        self.rank_tolerance = rank_tolerance
        self.most_landmarks = most_landmarks
        self.tolerance = tolerance

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows of features and their targets (1 same person, 0 not)."""
        settings = Settings(**self.get_params())
        settings.check()
        x, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        return self._take(fit_regression(x, np.asarray(y, dtype=np.float64), settings))

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Regression for each row, not clipped."""
        check_is_fitted(self)
        return self.regression_.predict(validate_data(self, X, dtype=np.float64, reset=False))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to predict, as plain arrays."""
        check_is_fitted(self)
        return self.regression_.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild a trained regressor."""
        found = Regression.from_arrays(arrays)
        regressor = cls(gamma=found.gamma)._take(found)
        regressor.n_features_in_ = int(found.landmarks_.shape[1])
        return regressor

    def _take(self, found: Regression) -> Self:
        self.regression_ = found
        self.landmarks_, self.weights_, self.intercept_ = found.landmarks_, found.weights_, found.intercept_
        self.objective_, self.gap_, self.n_iter_ = found.objective_, found.gap_, found.steps_
        return self
