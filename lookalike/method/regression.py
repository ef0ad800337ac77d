"""Regression: a trained epsilon-SVR as plain arrays, and how it is trained and asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, is_positive, is_whole
from lookalike.kernels.rbf import expansion, feature_map, features, landmarks
from lookalike.kernels.svr import solve
from lookalike.kernels.threads import one_blas_thread
from lookalike.parameters import EPSILON, GAMMA, PENALTY

# Landmarks are sought among this many rows, evenly taken; all rows are then checked against them.
SEARCHED = 8192

Doubles = NDArray[np.float64]


class Settings(NamedTuple):
    """What training minimises, and how closely; `QuasiTransitiveRegressor` says what each means."""

    epsilon: float = EPSILON
    penalty: float = PENALTY
    gamma: float = GAMMA
    rank_tolerance: float = 1e-8
    most_landmarks: int = 1000
    tolerance: float = 1e-7

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        for name in ("penalty", "gamma", "rank_tolerance", "tolerance", "most_landmarks", "epsilon"):
            value = getattr(self, name)
            if not is_positive(value) and not (name == "epsilon" and value == 0):
                bound = "at least" if name == "epsilon" else "greater than"
                raise ValueError(f"{name} must be {bound} 0, got {value!r}: give a usable number")
        if not is_whole(self.most_landmarks, 1):
            raise ValueError(f"most_landmarks must be a whole number, got {self.most_landmarks!r}")


@dataclass(frozen=True)
class Regression:
    """h(x) + b = sum over landmarks of weight times exp(-gamma |x - landmark|²), plus the intercept.

    Attributes
    ----------
    landmarks_ : array (r, d)
    weights_ : array (r,)
    intercept_, gamma : float
    objective_, gap_ : float
        What training reached, and its duality gap.
    steps_ : int
    """

    landmarks_: Doubles
    weights_: Doubles
    intercept_: float
    gamma: float
    objective_: float
    gap_: float
    steps_: int

    def predict(self, rows: Doubles) -> Doubles:
        """Regression for each row, not clipped."""
        return expansion(rows, self.landmarks_, self.weights_, self.gamma) + self.intercept_

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to predict, as plain arrays."""
        return {
            "landmarks": self.landmarks_,
            "weights": self.weights_,
            "intercept": np.array([self.intercept_]),
            "gamma": np.array([self.gamma]),
            "training": np.array([self.objective_, self.gap_, self.steps_], dtype=np.float64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild a trained regression.

        Raises
        ------
        BadInput
            If the arrays are not those of a regression.
        """
        try:
            objective, gap, steps = (float(value) for value in arrays["training"])
            found = cls(
                np.asarray(arrays["landmarks"], dtype=np.float64),
                np.asarray(arrays["weights"], dtype=np.float64),
                float(arrays["intercept"][0]),
                float(arrays["gamma"][0]),
                objective,
                gap,
                int(steps),
            )
            fits = found.weights_.shape == (len(found.landmarks_),)
            fits &= found.landmarks_.ndim == 2 and found.gamma > 0
        except (KeyError, IndexError, ValueError, OverflowError, TypeError) as reason:
            raise BadInput(f"these arrays are not a stored regressor: {reason!r}") from reason
        if not fits or not all(np.isfinite(array).all() for array in found.to_arrays().values()):
            raise BadInput("these arrays are not a stored regressor: train again")
        return found


@one_blas_thread()
def fit_regression(x: Doubles, y: Doubles, settings: Settings) -> Regression:
    """Train on rows of features and their targets (1 same person, 0 not).

    Raises
    ------
    ValueError
        If a setting is out of range.
    """
    settings.check()
    centres, transform, known = _landmarks(x, settings)
    solution = solve(known, y, settings.epsilon, settings.penalty, settings.tolerance, 200)
    return Regression(
        centres,
        transform @ solution.weights,
        solution.intercept,
        settings.gamma,
        solution.objective,
        solution.gap,
        max(solution.steps, 1),
    )


def _landmarks(x: Doubles, settings: Settings) -> tuple[Doubles, Doubles, Doubles]:
    """Rows that span the kernel of all rows, the map to their span, and all rows in it.

    They are sought among some rows; those that these leave out are added until all rows are explained.
    """
    gamma, most = settings.gamma, settings.most_landmarks
    searched = x[np.unique(np.linspace(0, len(x) - 1, SEARCHED).astype(int))]
    centres = searched[landmarks(searched, gamma, settings.rank_tolerance, most)]
    while True:
        transform = feature_map(centres, gamma)
        known = features(x, centres, gamma, transform)
        left = 1.0 - np.einsum("ij,ij->i", known, known)
        # Ten times the tolerance: the residual itself is only known to within rounding here.
        outside = x[left > max(10 * settings.rank_tolerance, 1e-9)]
        if not len(outside) or len(centres) >= most:
            return centres, transform, known
        joined = np.concatenate([centres, outside[: SEARCHED - len(centres)]])
        chosen = landmarks(joined, gamma, settings.rank_tolerance, most)
        if len(chosen) <= len(centres):
            return centres, transform, known
        centres = joined[chosen]
        del known  # 200 MB, of which two need not stand side by side
