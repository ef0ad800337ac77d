"""The paper's learnt quasi-transitivity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, is_whole
from lookalike.method.metafeatures import metafeatures
from lookalike.method.proxies import proxy_slots
from lookalike.method.regression import (
    Regression,
    Settings,
    TrainingSet,
    draw_examples,
    draw_near_examples,
    draw_references,
    far_from,
    features_asked,
    fit_regression,
)
from lookalike.method.tables import Row, Tables
from lookalike.parameters import EPSILON, GAMMA, PENALTY, PROXIES, REFERENCES
from lookalike.progress import Track, silent
from lookalike.rerankers.contract import Beliefs, Reranker, Scored, check_proxies

OVER = ("max", "mean")
EXAMPLES = {"paper": draw_examples, "near": draw_near_examples}
# A warning says so if more than this share of what retrieval asks is unlike training: then nearly all answers
# are guesses. On the development data the shares lie below 0.2 or above 0.85 (docs/lab/learnt.md), with small
# drawn worlds between; 1 % of the training rows themselves are unlike training, by construction.
MOST_OUTSIDE = 0.85
# Another says so if more than this share of the references teach nothing: their subspaces hold all faces.
MOST_MEMORISED = 0.5


class Learnt(Reranker):
    """Learn when transitivity holds, from the gallery itself, and believe proxies accordingly (section 2.4).

    The defaults are the paper's recipe. The options ``over`` and ``examples`` are ours; docs/lab/learnt.md
    says what each does.

    Parameters
    ----------
    proxies : int
        Proxies of each target, k_p.
    references : int
        Random sets from which training examples are drawn.
    epsilon, penalty, gamma : float
        The paper's values for the regressor.
    over : str
        ``max``: the most convinced proxy decides, or the baseline. ``mean``: the mean over the proxies does.
    examples : str
        ``paper``: faces of one set, and of its proxies. ``near``: whole sets, as retrieval meets them.
    """

    stored_name = "learnt"
    version = 4  # how many references have too few faces to learn from is kept too
    added_options = ("over", "examples")

    def __init__(
        self,
        proxies: int = PROXIES,
        references: int = REFERENCES,
        epsilon: float = EPSILON,
        penalty: float = PENALTY,
        gamma: float = GAMMA,
        over: str = "max",
        examples: str = "paper",
    ) -> None:
        self.proxies = proxies
        self.references = references
        self.epsilon = epsilon
        self.penalty = penalty
        self.gamma = gamma
        self.over = over
        self.examples = examples

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
        references = draw_references(tables, rng, self.references)
        x, y = self._draw(tables, rng, references, track)
        self.regressor_, self.outside_, self.memorised_ = None, None, None
        # Sets of one face have no pairs of faces to learn from; one kind of example alone teaches nothing.
        if len(np.unique(y)) < 2:
            return self
        self.outside_ = far_from(x, features_asked(tables, self.proxies))
        self.memorised_ = self._memorised(tables, references)
        self.regressor_ = fit_regression(x, y, self._settings())
        return self

    def check(self) -> None:
        """Proxies and references in range, values that a regressor can use, options that there are."""
        check_proxies(self.proxies)
        if not is_whole(self.references, 1):
            raise BadInput(f"references must be a whole number of at least 1, got {self.references!r}")
        for name, allowed in (("over", OVER), ("examples", tuple(EXAMPLES))):
            if getattr(self, name) not in allowed:
                given = getattr(self, name)
                raise BadInput(f"{name} must be one of {', '.join(allowed)}, got {given!r}")
        try:
            self._settings().check()
        except ValueError as reason:
            raise BadInput(f"the regressor refuses its parameters: {reason}") from reason

    @property
    def caution(self) -> str:
        """Says so if training examples show little, or if most of what retrieval asks is unlike them."""
        said = []
        share = getattr(self, "memorised_", None)
        if share is not None and share > MOST_MEMORISED:
            said.append(
                f"{share:.0%} of the sets that the regressor learnt from have no more faces than the set "
                f"similarity has dimensions, so their subspaces hold every face and nothing is learnt of how "
                f"people vary: give more faces a set or fewer dimensions, or try examples=near"
            )
        share = getattr(self, "outside_", None)
        if share is not None and share > MOST_OUTSIDE:
            said.append(
                f"{share:.0%} of what this gallery asks of the regressor is unlike its training examples, so "
                f"its answers are guesses there: compare with the baseline, or try examples=near"
            )
        return "; ".join(said)

    def training_rows(self, tables: Tables, rng: np.random.Generator) -> TrainingSet:
        """The rows that `fit` trains on, if the generator is in the same state."""
        return self._draw(tables, rng, draw_references(tables, rng, self.references))

    def regress(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """m_qts of rows of five numbers, as retrieval meets them; not clipped. 0 if nothing was learnt."""
        if not hasattr(self, "regressor_"):
            raise BadInput("this re-ranker was not fitted: use open_search, or train it first")
        if self.regressor_ is None or not len(rows):
            return np.zeros(len(rows))
        return self.regressor_.predict(rows)

    def beliefs(self, row: Row, tables: Tables) -> Beliefs:
        """m_qts(v(query, target | proxy)), clipped to [0, 1], for every proxy."""
        if not hasattr(self, "regressor_"):
            raise BadInput("this re-ranker was not fitted: use open_search, or train it first")
        slots = proxy_slots(tables.neighbours, self.proxies if self.regressor_ else 0, row.member)
        features = metafeatures(row, tables, slots)
        regressions = self.regress(features.reshape(-1, 5)).reshape(features.shape[:2])
        proxies = np.take_along_axis(tables.neighbours.sets, slots, axis=1)
        return Beliefs(proxies, slots, features, np.clip(regressions, 0.0, 1.0), regressions)

    def decide(self, row: Row, proxies: NDArray[np.int64], beliefs: NDArray[np.float64]) -> Scored:
        """The most convinced voice, or the mean of the proxies that speak; the baseline where none does."""
        if self.over == "max":
            return super().decide(row, proxies, beliefs)
        speaks = beliefs > -np.inf
        count = speaks.sum(axis=1)
        total = np.where(speaks, beliefs, 0.0).sum(axis=1)
        mean = np.divide(total, count, out=row.scores[: len(beliefs)].copy(), where=count > 0)
        return Scored(mean, np.full(len(beliefs), -1))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The regressor, and what belongs to it; nothing if there was nothing to learn from."""
        if self.regressor_ is None:
            return {}
        shares = {"outside": self.outside_, "memorised": self.memorised_}
        known = {name: np.array([share]) for name, share in shares.items() if share is not None}
        return {**self.regressor_.to_arrays(), **known}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take over a stored regressor."""
        self.regressor_ = Regression.from_arrays(arrays) if arrays else None
        self.outside_ = _share(arrays["outside"]) if "outside" in arrays else None
        self.memorised_ = _share(arrays["memorised"]) if "memorised" in arrays else None
        if self.regressor_ is not None and self.regressor_.landmarks_.shape[1] != 5:
            raise BadInput("the stored regressor does not take five numbers: train again")
        return self

    def _draw(
        self,
        tables: Tables,
        rng: np.random.Generator,
        references: NDArray[np.int64],
        track: Track = silent,
    ) -> TrainingSet:
        draw = EXAMPLES[self.examples]
        return draw(tables, rng, proxies=self.proxies, track=track, chosen=references)

    def _memorised(self, tables: Tables, references: NDArray[np.int64]) -> float:
        """Share of the references whose faces teach nothing; none if whole sets are learnt from."""
        if self.examples != "paper":
            return 0.0
        chosen = (tables.sets[int(number)] for number in references)
        return float(np.mean([tables.similarity.memorises(faceset) for faceset in chosen]))

    def _settings(self) -> Settings:
        return Settings(self.epsilon, self.penalty, self.gamma)


def _share(stored: NDArray[Any]) -> float:
    if stored.shape != (1,) or not 0 <= stored[0] <= 1:
        raise BadInput(
            "a stored share, of what lies outside training or teaches nothing, is damaged: train again"
        )
    return float(stored[0])
