"""Epsilon-SVR with the paper's values, as an estimator of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lookalike.method.regression import Regression, Settings, fit_regression
from lookalike.parameters import EPSILON, GAMMA, PENALTY


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
    regression_ : Regression
        The trained function; what follows is taken from it.
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
        """Rebuild a trained regressor.

        Raises
        ------
        BadInput
            If the arrays are not those of a regressor.
        """
        found = Regression.from_arrays(arrays)
        regressor = cls(gamma=found.gamma)._take(found)
        regressor.n_features_in_ = int(found.landmarks_.shape[1])
        return regressor

    def _take(self, found: Regression) -> Self:
        self.regression_ = found
        self.landmarks_, self.weights_, self.intercept_ = found.landmarks_, found.weights_, found.intercept_
        self.objective_, self.gap_, self.n_iter_ = found.objective_, found.gap_, found.steps_
        return self
