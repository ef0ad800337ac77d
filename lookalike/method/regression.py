"""Regression: a trained epsilon-SVR as plain arrays, and examples drawn from an unlabelled gallery."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, is_positive, is_whole
from lookalike.kernels.svr import expansion, feature_map, features, landmarks, solve
from lookalike.kernels.threads import in_order, one_blas_thread
from lookalike.method.metafeatures import metafeatures
from lookalike.method.proxies import proxy_slots
from lookalike.method.shortlist import narrowed
from lookalike.method.tables import Tables, rows
from lookalike.parameters import EPSILON, GAMMA, PENALTY, PROXIES, REFERENCES
from lookalike.progress import Track, silent
from lookalike.similarities.contract import Examples, PreparedSets

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


# So many queries, and so many targets of each, tell the distribution well enough.
QUERIES = 100
TARGETS = 20
# What training showed: this part of its rows, so that a few odd ones do not widen it.
INNER = 0.99


def features_about(
    tables: Tables, query: int, targets: NDArray[np.int64], proxies: int
) -> NDArray[np.float64]:
    """The five numbers of a member of the gallery and some targets, as retrieval meets them; (m, k, 5).

    The query is compared with the targets and their proxies only, so the cost does not grow with the gallery.

    Parameters
    ----------
    tables : Tables
    query : int
        Its number; it is not among the targets.
    targets : array (m,)
        Numbers in increasing order.
    proxies : int
        Proxies of each target.
    """
    small, member, _ = narrowed(tables, targets, query, proxies)
    [row] = rows(small, PreparedSets.join([tables.sets[query]]), [member])
    return metafeatures(row, small, proxy_slots(small.neighbours, proxies, member))


def features_asked(tables: Tables, proxies: int) -> NDArray[np.float64]:
    """What a gallery asks when its own sets are queries, without any label; (rows, 5).

    The sample is the same each time: it depends on the size of the gallery only, not on a seed.
    """
    chance = np.random.default_rng(0)
    found: list[NDArray[np.float64]] = [np.empty((0, 5))]
    for query in np.sort(chance.permutation(len(tables))[:QUERIES]):
        others = np.delete(np.arange(len(tables)), query)
        targets = np.sort(chance.permutation(others)[:TARGETS])
        if len(targets):
            found.append(features_about(tables, int(query), targets, proxies).reshape(-1, 5))
    return np.concatenate(found)


def far_from(training: NDArray[np.float64], met: NDArray[np.float64]) -> float:
    """Share of rows that lie further from the training rows than nearly all of these do themselves.

    Each number alone may be common and the five together never seen, so the distance is that of Mahalanobis:
    from the mean of the training rows, in units of their spread along every direction.
    """
    if len(training) < 2 or not len(met):
        return 0.0
    centre = training.mean(axis=0)
    # A number that never changes in training has no spread; the smallest keeps its distance finite.
    spread = np.cov(training.T) + 1e-9 * np.eye(training.shape[1])
    inverse = np.linalg.inv(spread)

    def distances(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.einsum("ij,jk,ik->i", rows - centre, inverse, rows - centre)

    return float((distances(met) > np.quantile(distances(training), INNER)).mean())


# Training examples drawn from an unlabelled gallery.


# All rows of 200 references, 10 proxies and 10 faces are 360,000; beyond this a seeded part of them is used.
MOST_ROWS = 400_000
# Where triplets are drawn as retrieval meets them: two sets, each among so many nearest of the other, are
# taken for one person, and so many random targets of each reference for somebody else. KIN was chosen of 1
# and 3 by the labels of the development data (docs/lab/learnt.md).
KIN = 3
STRANGERS = 10


class TrainingSet(NamedTuple):
    """Rows of five numbers, and 1 for same person or 0 for another."""

    x: NDArray[np.float64]  # (rows, 5)
    y: NDArray[np.float64]  # (rows,)


def draw_examples(
    tables: Tables,
    rng: np.random.Generator,
    references: int = REFERENCES,
    proxies: int = PROXIES,
    most: int = MOST_ROWS,
    track: Track = silent,
    chosen: NDArray[np.int64] | None = None,
) -> TrainingSet:
    """Draw examples from random reference sets and all of their proxies (sections 2.4.1 and 3.4).

    Positives come from inside the reference, so they are sure; negatives take the proxy for somebody else,
    which is sometimes wrong: the loss of the regressor is chosen for that.

    Parameters
    ----------
    tables : Tables
    rng : Generator
        Chooses the references, and the rows if there are more than ``most``.
    references, proxies : int
        How many sets, and how many proxies of each.
    most : int
        Most rows to return.
    track : callable
        Shows progress.
    chosen : array, optional
        Numbers of the references, if they are drawn already.
    """
    if chosen is None:
        chosen = draw_references(tables, rng, references)
    pairs = [(r, int(p)) for r in chosen for p in tables.neighbours.sets[r, :proxies]]

    def draw(pair: tuple[int, int]) -> Examples:
        return tables.similarity.examples(tables.sets[int(pair[0])], tables.sets[pair[1]])

    x: list[NDArray[np.float64]] = [np.empty((0, 5))]
    y: list[NDArray[np.float64]] = [np.empty(0)]
    # Large sets make very many rows: none may take more than twice its share, so memory stays bounded.
    share = max(1, 2 * most // max(1, len(pairs)))
    for found in track(in_order(draw, pairs), "drawing examples", len(pairs)):
        targets = np.repeat([1.0, 0.0], [len(found.positives), len(found.negatives)])
        rows = _some(TrainingSet(np.concatenate(found), targets), share, rng)
        x.append(rows.x)
        y.append(rows.y)
    return _some(TrainingSet(np.concatenate(x), np.concatenate(y)), most, rng)


def draw_references(tables: Tables, rng: np.random.Generator, references: int) -> NDArray[np.int64]:
    """Numbers of random sets, in increasing order."""
    return np.sort(rng.permutation(len(tables))[:references])


def draw_near_examples(
    tables: Tables,
    rng: np.random.Generator,
    references: int = REFERENCES,
    proxies: int = PROXIES,
    most: int = MOST_ROWS,
    track: Track = silent,
    chosen: NDArray[np.int64] | None = None,
) -> TrainingSet:
    """Draw triplets of whole sets, where retrieval meets them; the parameters are those of `draw_examples`.

    Each reference is asked as a query, left out of its own gallery. Targets that are among its three nearest
    sets, and have it among theirs, count as the same person; a reference without any gives no positive
    example. A few random targets count as somebody else. Both are sometimes wrong.
    """
    if chosen is None:
        chosen = draw_references(tables, rng, references)
    x: list[NDArray[np.float64]] = [np.empty((0, 5))]
    y: list[NDArray[np.float64]] = [np.empty(0)]
    for query in track(map(int, chosen), "drawing examples", len(chosen)):
        kin = mutual_nearest(tables, query)
        others = np.setdiff1d(np.arange(len(tables)), [query, *kin])
        strangers = rng.choice(others, min(STRANGERS, len(others)), replace=False)
        targets = np.sort(np.concatenate([kin, strangers]).astype(np.int64))
        if len(targets):
            features = features_about(tables, query, targets, proxies)
            x.append(features.reshape(-1, 5))
            y.append(np.repeat(np.isin(targets, kin).astype(np.float64), features.shape[1]))
    return _some(TrainingSet(np.concatenate(x), np.concatenate(y)), most, rng)


def mutual_nearest(tables: Tables, number: int) -> list[int]:
    """Sets that are among the `KIN` nearest of this one and have it among theirs."""
    nearest = tables.neighbours.sets[:, :KIN]
    return [int(other) for other in nearest[number] if number in nearest[other]]


def _some(rows: TrainingSet, most: int, rng: np.random.Generator) -> TrainingSet:
    """Keep a random part of the rows, in their order, if there are more than wanted."""
    if len(rows.x) <= most:
        return rows
    kept = np.sort(rng.choice(len(rows.x), most, replace=False))
    return TrainingSet(rows.x[kept], rows.y[kept])
