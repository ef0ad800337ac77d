"""The paper's learnt quasi-transitivity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.parameters import EPSILON, GAMMA, PENALTY, PROXIES, REFERENCES, is_whole
from lookalike.progress import Track, silent
from lookalike.rerankers.contract import Beliefs, Reranker, check_proxies
from lookalike.transitivity.examples import draw_examples
from lookalike.transitivity.metafeatures import metafeatures
from lookalike.transitivity.proxies import proxy_slots
from lookalike.transitivity.regression import Regression, Settings, fit_regression
from lookalike.transitivity.tables import Row, Tables


class Learnt(Reranker):
    """Learn when transitivity holds, from the gallery itself, and believe proxies accordingly (section 2.4).

    Parameters
    ----------
    proxies : int
        Proxies of each target, k_p.
    references : int
        Random sets from which training examples are drawn.
    epsilon, penalty, gamma : float
        The paper's values for the regressor.
    """

    version = 2  # the optimum is reached by another way, and differs in the sixth digit

    def __init__(
        self,
        proxies: int = PROXIES,
        references: int = REFERENCES,
        epsilon: float = EPSILON,
        penalty: float = PENALTY,
        gamma: float = GAMMA,
    ) -> None:
        self.proxies = proxies
        self.references = references
        self.epsilon = epsilon
        self.penalty = penalty
        self.gamma = gamma

    @property
    def is_learnt(self) -> bool:
        """The regressor is."""
        return True

    @property
    def is_random(self) -> bool:
        """The references are drawn by the seed."""
        return True

    def fit(self, tables: Tables, rng: np.random.Generator, track: Track = silent) -> Self:
        """Draw examples and train the regressor; without examples the baseline is left alone."""
        self.check()
        x, y = draw_examples(tables, rng, self.references, self.proxies, track=track)
        self.regressor_ = None
        # Sets of one face have no pairs of faces to learn from; one kind of example alone teaches nothing.
        if len(np.unique(y)) == 2:
            self.regressor_ = fit_regression(x, y, self._settings())
        return self

    def check(self) -> None:
        """Proxies and references in range, values that a regressor can use."""
        check_proxies(self.proxies)
        if not is_whole(self.references, 1):
            raise BadInput(f"references must be a whole number of at least 1, got {self.references!r}")
        try:
            self._settings().check()
        except ValueError as reason:
            raise BadInput(f"the regressor refuses its parameters: {reason}") from reason

    def beliefs(self, row: Row, tables: Tables) -> Beliefs:
        """m_qts(v(query, target | proxy)), clipped to [0, 1], for every proxy."""
        if not hasattr(self, "regressor_"):
            raise BadInput("this second stage was not fitted: use open_search, or train it first")
        slots = proxy_slots(tables.neighbours, self.proxies if self.regressor_ else 0, row.member)
        features = metafeatures(row, tables, slots)
        regressions = np.zeros(features.shape[:2])
        if self.regressor_ is not None and regressions.size:
            regressions = self.regressor_.predict(features.reshape(-1, 5)).reshape(regressions.shape)
        proxies = np.take_along_axis(tables.neighbours.sets, slots, axis=1)
        return Beliefs(proxies, slots, features, np.clip(regressions, 0.0, 1.0), regressions)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The regressor; nothing if there was nothing to learn from."""
        return {} if self.regressor_ is None else self.regressor_.to_arrays()

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take over a stored regressor."""
        self.regressor_ = Regression.from_arrays(arrays) if arrays else None
        if self.regressor_ is not None and self.regressor_.landmarks_.shape[1] != 5:
            raise BadInput("the stored regressor does not take five numbers: train again")
        return self

    def _settings(self) -> Settings:
        return Settings(self.epsilon, self.penalty, self.gamma)
