"""Lessons: a strength learnt from kin of kin, who were not picked by their own similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lookalike.transitivity.kin import Kin
from lookalike.transitivity.strangers import Strangers
from lookalike.transitivity.strengths import Strengths, hubs_of_known, middle_and_spread, weigh
from lookalike.transitivity.tables import Row

Values = NDArray[np.float64]

# Chosen with labels, all of them.
SURE = 0.5  # chance from which somebody counts as kin
PAIRS_FOR_HALF = 300  # kin of kin from which a lesson is trusted as much as the rule
STRANGERS = 20_000  # pairs that stand for everybody else
TOLERANCE, PENALTY = 0.1, 0.01


def learn(strangers: Strangers, means: Values, rows: list[Row], strengths: Strengths, kin: Kin) -> Strengths:
    """Add one more strength: the weighing that tells kin from strangers by a linear regression.

    Parameters
    ----------
    strangers, means, rows, strengths
        As `choose` takes and makes them.
    kin : Kin
        By these strengths.
    """
    # Here, since it takes as long to load as a query takes, and who asks a fitted gallery does not need it.
    from sklearn.svm import LinearSVR

    links = _links(kin)
    kin_of_kin = links @ links
    kin_of_kin.setdiag(0)
    known = strangers.known
    through = np.asarray(kin_of_kin[known.owners, known.sets]).ravel()
    direct = np.asarray(links[known.owners, known.sets]).ravel()
    further = (through > 0) & (direct == 0)
    is_kin = (direct > 0) | further
    if not further.any():
        return strengths
    features = np.stack([known.scores(), means[0] + means[1], means[2]], axis=1)
    far = _far_pairs(strangers, rows)
    examples = np.concatenate([features[is_kin], far])
    weights = np.concatenate([np.where(further, np.minimum(through, 1.0), direct)[is_kin], np.ones(len(far))])
    right = np.concatenate([np.ones(int(is_kin.sum())), np.zeros(len(far))])
    for group in (right == 1, right == 0):  # both kinds count the same together
        weights[group] *= len(right) / (2 * weights[group].sum())
    spread = examples.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    machine = LinearSVR(epsilon=TOLERANCE, C=PENALTY, dual=True, random_state=0, max_iter=10_000)
    machine.fit((examples - examples.mean(axis=0)) / spread, right, sample_weight=weights)
    factors = (machine.coef_ / spread * [1, -1, 1])[None]
    hubs = hubs_of_known(known, weigh(factors, known.scores(), means)[0])[None]
    middles, spreads = middle_and_spread(factors, hubs, strangers, rows)
    count = further.sum() / 2  # each pair is there twice
    trusted = count / (count + PAIRS_FOR_HALF)
    return Strengths(
        np.concatenate([strengths.factors, factors]),
        np.concatenate([strengths.gains * (1 - trusted), trusted / spreads]),
        np.concatenate([strengths.middles, middles]),
        np.concatenate([strengths.hubs, hubs]),
    )


def _links(kin: Kin) -> csr_array:
    """Chances of those who count as kin, in either direction."""
    total, width = kin.sets.shape
    sure = kin.chances > SURE
    rows = np.repeat(np.arange(total), width)[sure.ravel()]
    links = csr_array((kin.chances[sure], (rows, kin.sets[sure])), shape=(total, total))
    return links.maximum(links.T)


def _far_pairs(strangers: Strangers, rows: list[Row]) -> Values:
    """Numbers of pairs evenly spread over some rows; hardly any of them are kin."""
    total = len(strangers.lists)
    step = max(1, len(rows) * total // STRANGERS)
    found = []
    for place, row in enumerate(rows):
        means = strangers.around(row)
        chosen = np.arange(place % step, total, step)
        chosen = chosen[chosen != row.member]
        found.append(np.stack([row.scores[chosen], (means[0] + means[1])[chosen], means[2][chosen]], axis=1))
    return np.concatenate(found)
