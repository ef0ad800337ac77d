"""Epsilon-SVR with the paper's values: fit, predict, to and from named arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lookalike.errors import BadInput
from lookalike.kernels.epsilon_svr import solve
from lookalike.kernels.expansion import expansion
from lookalike.kernels.rbf import feature_map, features, landmarks
from lookalike.kernels.threads import one_blas_thread
from lookalike.parameters import EPSILON, GAMMA, PENALTY, is_positive, is_whole

# Landmarks are sought among this many rows, evenly taken; all rows are then checked against them.
SEARCHED = 8192


class QuasiTransitiveRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """m_qts: from the five numbers of a query, a proxy and a target to how sure a match is (section 2.4.2).

    Minimises |h|²/2 + C sum_i max(0, |y_i - h(x_i) - b| - epsilon) over the functions h that the kernel
    exp(-gamma |x - x'|²) spans on a few of the rows: so few that training can use every row, so many that the
    optimum is that of all rows. The output is not clipped.

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

    Attributes
    ----------
    landmarks_ : array (r, d)
    weights_ : array (r,)
    intercept_ : float
    objective_ : float
    gap_ : float
    n_iter_ : int
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

    @one_blas_thread()
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows of features and their targets (1 same person, 0 not)."""
        self.check()
        x, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        centres = self._landmarks(x)
        transform = feature_map(centres, self.gamma)
        solution = solve(
            features(x, centres, self.gamma, transform), y, self.epsilon, self.penalty, self.tolerance, 200
        )
        self.landmarks_ = centres
        self.weights_ = transform @ solution.weights
        self.intercept_ = solution.intercept
        self.objective_, self.gap_, self.n_iter_ = solution.objective, solution.gap, max(solution.steps, 1)
        return self

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        for name in ("penalty", "gamma", "rank_tolerance", "tolerance", "most_landmarks", "epsilon"):
            value = getattr(self, name)
            if not is_positive(value) and not (name == "epsilon" and value == 0):
                bound = "at least" if name == "epsilon" else "greater than"
                raise ValueError(f"{name} must be {bound} 0, got {value!r}: give a usable number")
        if not is_whole(self.most_landmarks, 1):
            raise ValueError(f"most_landmarks must be a whole number, got {self.most_landmarks!r}")

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Regression for each row, not clipped."""
        check_is_fitted(self)
        x = validate_data(self, X, dtype=np.float64, reset=False)
        return expansion(x, self.landmarks_, self.weights_, self.gamma) + self.intercept_

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to predict, as plain arrays."""
        check_is_fitted(self)
        return {
            "landmarks": self.landmarks_,
            "weights": self.weights_,
            "intercept": np.array([self.intercept_]),
            "gamma": np.array([self.gamma]),
            "training": np.array([self.objective_, self.gap_, self.n_iter_], dtype=np.float64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild a trained regressor.

        Raises
        ------
        BadInput
            If the arrays are not those of a regressor.
        """
        try:
            regressor = cls(gamma=float(arrays["gamma"][0]))
            regressor.landmarks_ = np.asarray(arrays["landmarks"], dtype=np.float64)
            regressor.weights_ = np.asarray(arrays["weights"], dtype=np.float64)
            regressor.intercept_ = float(arrays["intercept"][0])
            regressor.objective_, regressor.gap_, steps = (float(v) for v in arrays["training"])
            regressor.n_iter_ = int(steps)
            regressor.n_features_in_ = int(regressor.landmarks_.shape[1])
            fits = regressor.weights_.shape == (len(regressor.landmarks_),)
            fits &= regressor.landmarks_.ndim == 2 and regressor.gamma > 0
        except (KeyError, IndexError, ValueError, OverflowError, TypeError) as reason:
            raise BadInput(f"these arrays are not a stored regressor: {reason!r}") from reason
        if not fits or not all(np.isfinite(array).all() for array in regressor.to_arrays().values()):
            raise BadInput("these arrays are not a stored regressor: train again")
        return regressor

    def _landmarks(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows that span the kernel of all rows; those the first choice left out are added until all fit."""
        some = x[np.unique(np.linspace(0, len(x) - 1, SEARCHED).astype(int))]
        centres = some[landmarks(some, self.gamma, self.rank_tolerance, self.most_landmarks)]
        while len(centres) < min(self.most_landmarks, len(x)):
            transform = feature_map(centres, self.gamma)
            left = 1.0 - np.square(features(x, centres, self.gamma, transform)).sum(axis=1)
            # Ten times the tolerance: the residual itself is only known to within rounding here.
            outside = x[left > max(10 * self.rank_tolerance, 1e-9)]
            if not len(outside):
                break
            joined = np.concatenate([centres, outside[: SEARCHED - len(centres)]])
            chosen = landmarks(joined, self.gamma, self.rank_tolerance, self.most_landmarks)
            if len(chosen) <= len(centres):
                break
            centres = joined[chosen]
        return centres
