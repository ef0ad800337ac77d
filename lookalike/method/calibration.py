"""Calibration: how likely an answer is the query's person, learnt from a gallery without a label.

Far down the row of a query nearly everybody is a stranger, and how their number falls with the score there
tells how many strangers to expect further up. Whoever is there beyond these must be kin.
This is a local false discovery rate with an empirical null [1]_:

    P(same person | score) = 1 - strangers expected at this score / answers seen at it

pooled over sets of the gallery that are asked as queries. The scores of a query are measured by its own tail,
so any re-ranker may have made them, on any scale.

References
----------
.. [1] B. Efron, "Large-scale simultaneous hypothesis testing: the choice of a null hypothesis", JASA 99,
   2004.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput

Floats = NDArray[np.float64]

# Of fewer other sets the tail of strangers is too short to say anything.
LEAST: Final = 20
# Kin may take so many first places of a row; the tail ends five times further down, but not before place 40,
# and never beyond a third of the row. A deeper head is chosen if kin are many: see `Calibration.fit`.
HEADS: Final = (3, 6, 12, 24, 48)
TAIL, TAIL_OF_HEAD, SHARE = 40, 5, 3
# A deeper head is taken if with it more than two kin a query are seen, and so many times more than with the
# head that is less deep.
MOST, MORE = 2.0, 1.5
# How much of the bend of the tail is believed beyond its last observed place: 0 is an exponential tail, which
# expects too many strangers, 1 the tail of a normal distribution, which expects too few. Chosen on the
# development configurations, with labels, to be near nothing where nobody repeats.
BEND: Final = 0.25
# From this probability on an answer is more likely right than wrong.
EVEN: Final = 0.5
BINS, GROUPS, SMALLEST_GROUP = 24, 400, 5
FARTHEST: Final = 50.0  # a place in units of the tail, beyond which nothing is told apart
# Expected strangers in all queries together, at which a place beyond everybody seen gets its probability.
RARE: Final = np.array([0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001])
ROUNDS: Final = 20  # of reweighting; the fit is steady after about five


# Nothing is surer than these odds, nor their opposite (logarithms).
SUREST: Final = 7.0
# The similarity from which two faces are one person's, where nobody knows; and how soon one is sure beyond
# it: a third of the way to 1. On YouTube Faces, by `deep`, all pairs so far up were one person's, and 94 in
# 100 of those half as far.
NEVER: Final = 1.0
RISE: Final = 3.0


def expit(odds: Floats | float) -> Floats:
    """Probabilities of logarithms of odds.

    Also in SciPy, as is `logit`, but that takes longer to load than a query.
    """
    with np.errstate(over="ignore"):
        found: Floats = 1 / (1 + np.exp(-odds))
    return found


def logit(probabilities: Floats) -> Floats:
    """Logarithms of the odds that probabilities are; infinite for 0 and 1."""
    with np.errstate(divide="ignore"):
        found: Floats = np.log(probabilities / (1 - probabilities))
    return found


class Grounds(NamedTuple):
    """What probabilities are told from, where scores themselves do not tell them."""

    values: Floats  # (n,): strangers are told by the tail of these
    odds: Floats  # (n,): logarithm of the odds of one person, by other means
    clearly: float  # how far these may be relied on instead; 0 to 1


class Window(NamedTuple):
    """The places of a row that are taken for strangers: from ``head`` (0 is the best) up to ``tail``."""

    head: int
    tail: int


def windows(others: int) -> list[Window]:
    """The windows to choose from in a row of so many sets, the least deep first; none for too few."""
    if others < LEAST:
        return []
    found: list[Window] = []
    for head in HEADS:
        tail = min(max(TAIL, TAIL_OF_HEAD * head), others // SHARE)
        if found and head > tail // SHARE:
            break
        found.append(Window(min(head, tail // SHARE), tail))
    return found


def reach(others: int) -> int:
    """How many best scores of each row `Calibration.fit` needs."""
    return windows(others)[-1].tail + 1 if others >= LEAST else 0


@dataclass(frozen=True, eq=False)
class Calibration:
    """From scores to probabilities; it says nothing (`is_silent`) of galleries that are too small.

    Attributes
    ----------
    window : Window
        Where strangers are looked for.
    places : array (k,)
        Increasing places in units of a query's tail: (score - score at ``tail``) / mean excess of the window.
    chances : array (k,)
        The probability at each, never decreasing; between them it is a straight line.
    same_person : float
        The similarity from which two faces are almost surely one person's by their descriptor; 1 if nobody
        knows.
    """

    window: Window
    places: Floats
    chances: Floats
    same_person: float = NEVER

    @property
    def is_silent(self) -> bool:
        """Whether there was too little to learn from."""
        return not len(self.places)

    @classmethod
    def fit(cls, best: Floats, others: int) -> Calibration:
        """Learn from the best scores of some queries; no label exists here.

        Parameters
        ----------
        best : array (queries, at least `reach`)
            The best scores of each, decreasing, the query itself left out.
        others : int
            How many sets each row had.

        Notes
        -----
        If a person has more sets than the head holds, kin fill the window, are taken for strangers, and
        nobody is found. A deeper window then finds many more, and is chosen.
        """
        fitted = [_fitted(best, window) for window in windows(others)]
        if not fitted:
            return cls(Window(0, 0), np.empty(0), np.empty(0))
        kin = [found for _, found in fitted]
        for place, found in enumerate(kin):
            deeper = max(kin[place + 1 :], default=0.0)
            if deeper <= MOST or MORE * found >= deeper:
                break
        return fitted[place][0]

    def probabilities(self, scores: Floats, member: int | None = None) -> Floats | None:
        """How likely each set is the query's person by the tail of its scores; None if nothing can be said.

        Parameters
        ----------
        scores : array (n,)
            Of all sets that were ranked for one query.
        member : int or None
            The query's own number if it is among them: it is no answer, and gets 0.
        """
        own = [] if member is None or member >= len(scores) else [member]
        others = np.delete(scores, own)
        count = self.window.tail + 1
        if self.is_silent or len(others) < count:
            return None
        best = -np.sort(np.partition(-others, count - 1)[:count])
        places = _places(scores, best[None], self.window)[0]
        found: Floats = np.interp(places, self.places, self.chances, left=0.0)
        found[own] = 0.0
        return found

    def of_answers(
        self, scores: Floats, likeness: Floats, grounds: Grounds | None = None, member: int | None = None
    ) -> Floats | None:
        """How likely each answer to one query is right, on whatever grounds a re-ranker has.

        Where it has odds of its own, these count as far as they may be relied on. Two sets that are more
        alike than two people are by this descriptor are not called strangers. Whoever comes later is never
        surer.

        Parameters
        ----------
        scores : array (n,)
            By which the sets are ranked.
        likeness : array (n,)
            Baseline similarities, which decide between equal scores.
        grounds : Grounds, optional
        member : int or None
            As for `probabilities`.
        """
        found = self.probabilities(scores if grounds is None else grounds.values, member)
        if found is None:
            return None
        if grounds is not None:
            told = np.clip(logit(found), -SUREST, SUREST)
            odds = np.clip(grounds.odds, -SUREST, SUREST)
            found = expit(grounds.clearly * odds + (1 - grounds.clearly) * told)
        if self.same_person < 1:
            beyond = (likeness - self.same_person) / (1 - self.same_person)
            found = np.maximum(found, np.clip(RISE * beyond, 0.0, expit(SUREST)))
        order = np.lexsort((-likeness, -scores))
        if member is not None and member < len(found):
            found[member] = 0.0
            order = order[order != member]
        found[order] = np.minimum.accumulate(found[order])
        return found

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What `fit` learnt, as named arrays."""
        found = {"window": np.array(self.window), "places": self.places, "chances": self.chances}
        return found | {"same_person": np.array(self.same_person)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Calibration:
        """Take over what `fit` learnt earlier.

        Raises
        ------
        BadInput
            If these are not the arrays of a calibration.
        """
        try:
            names = ("window", "places", "chances", "same_person")
            window, places, chances, same = (np.asarray(arrays[name]) for name in names)
        except KeyError as reason:
            raise BadInput(f"the stored calibration lacks {reason}: calibrate again") from reason
        if window.shape != (2,) or places.ndim != 1 or places.shape != chances.shape:
            raise BadInput("the stored calibration does not fit together: calibrate again")
        return cls(Window(int(window[0]), int(window[1])), places, chances, float(same))


def worth_reading(probabilities: Floats | None) -> int | None:
    """How many answers are more likely right than wrong; they come first. None if nothing can be said."""
    return None if probabilities is None else int(np.count_nonzero(probabilities >= EVEN))


def _places(scores: Floats, best: Floats, window: Window) -> Floats:
    """Scores of queries (q, k) in units of their own tails."""
    end = best[:, window.tail, None]
    excess = best[:, window.head : window.tail].mean(axis=1, keepdims=True) - end
    over = np.atleast_2d(scores) - end
    # A tail without any extent: whoever is above it is far above.
    flat = np.where(over > 0, FARTHEST, np.where(over < 0, -FARTHEST, 0.0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        places = np.where(excess > 0, over / excess, flat)
    return np.clip(places, -FARTHEST, FARTHEST)


def _fitted(best: Floats, window: Window) -> tuple[Calibration, float]:
    """A calibration by one window, and how many kin a query it is rather sure of."""
    # Loading it takes longer than a query: only who fits waits for it.
    from scipy.optimize import isotonic_regression

    rows = best[best[:, window.head] > best[:, window.tail]]
    if not len(rows):  # all scores are equal
        return Calibration(window, np.array([0.0]), np.array([0.0])), 0.0
    places = _places(rows[:, : window.tail], rows, window)
    seen = -np.sort(-places[places > 0])
    edge = float(np.median(places[:, window.head]))
    groups = np.arange(0, len(seen), max(SMALLEST_GROUP, -(-len(seen) // GROUPS)))
    sizes = np.diff([*groups, len(seen)]).astype(np.float64)
    # From the middle between two groups to the next; the first reaches further than any stranger.
    bounds = np.r_[FARTHEST, (seen[groups[1:]] + seen[groups[1:] - 1]) / 2, 0.0]
    grid, beyond = _strangers(seen, edge)
    expected = np.diff(np.interp(bounds, grid, beyond))
    share = isotonic_regression(expected / sizes, weights=sizes).x
    chances = 1 - np.clip(share, 0.0, 1.0)
    middles = np.add.reduceat(seen, groups) / sizes
    sure = chances >= EVEN
    kin = float((chances * sizes)[sure].sum()) / len(best)
    # Whoever is further up than everybody seen is kin unless a stranger is to be expected even there.
    far = np.interp(RARE, beyond[::-1], grid[::-1])
    # A tail that is so thick that they are expected as far as we look tells nothing further up.
    above = (far > seen[0]) & (far < FARTHEST)
    places = np.r_[middles[::-1], far[above]]
    return Calibration(window, places, np.r_[chances[::-1], np.maximum(1 - RARE, chances[0])[above]]), kin


def _strangers(seen: Floats, edge: float) -> tuple[Floats, Floats]:
    """How many strangers to expect beyond increasing places, from how many were seen below the edge."""
    steps = np.linspace(0.0, edge, BINS + 1)
    counts = np.histogram(seen, steps)[0].astype(np.float64)
    width, middles = steps[1], (steps[1:] + steps[:-1]) / 2
    level, slope, bend = _log_density(counts, middles, width, 2)
    if bend > 0:  # a tail that thins out ever more slowly is not believed
        level, slope = _log_density(counts, middles, width, 1)
        bend = 0.0
    # Beyond the edge the tail goes on as it left it, and bends less.
    grid = np.linspace(0.0, FARTHEST, 8001)
    inside, outside = np.minimum(grid, edge), np.maximum(grid - edge, 0.0)
    end = slope + 2 * bend * edge
    logs = level + slope * inside + bend * inside**2 + end * outside + BEND * bend * outside**2
    density = np.exp(np.clip(logs, -FARTHEST, FARTHEST))
    pieces = (density[1:] + density[:-1]) / 2 * grid[1]
    return grid, np.r_[np.cumsum(pieces[::-1])[::-1], 0.0]


def _log_density(counts: Floats, middles: Floats, width: float, degree: int) -> list[float]:
    """Poisson regression of counts on powers of the place, by reweighted least squares; lowest first."""
    powers = np.vander(middles, degree + 1, increasing=True)
    roots = np.sqrt(counts + 0.1)
    start = np.log(np.maximum(counts, 0.5) / width)
    found = np.linalg.lstsq(powers * roots[:, None], start * roots)[0]
    for _ in range(ROUNDS):
        means = np.exp(np.clip(powers @ found, -FARTHEST, FARTHEST)) * width
        roots = np.sqrt(means)
        found = found + np.linalg.lstsq(powers * roots[:, None], (counts - means) / roots)[0]
    return [float(value) for value in found]
