"""Penalty: how closely to believe the training examples, chosen on references that were held out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lookalike.transitivity.examples import TrainingSet, draw_near_examples
from lookalike.transitivity.regression import Regression, Settings, fit_regression
from lookalike.transitivity.tables import Tables

# From the paper's price of an error down to one at which hardly anything is learnt.
PENALTIES = (1000.0, 100.0, 10.0, 1.0, 0.1, 0.01)
# One reference in three is held out.
HELD_OUT = 3

Scale = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def choose_penalty(
    tables: Tables,
    rng: np.random.Generator,
    references: NDArray[np.int64],
    proxies: int,
    draw: Callable[[NDArray[np.int64]], TrainingSet],
    settings: Settings,
    scale: Scale,
) -> float:
    """The penalty that errs least on triplets of held-out references, drawn where retrieval meets them.

    No label is used: the triplets are those of `draw_near_examples`, whatever the regressor learns from.

    Parameters
    ----------
    tables : Tables
    rng : Generator
        Draws the triplets that the penalties are tried on.
    references : array
        Numbers of the sets that may be learnt from.
    proxies : int
        Proxies of each target.
    draw : callable
        Gives the training rows of some references.
    settings : Settings
        The rest of what training minimises.
    scale : callable
        What is done to the five numbers before the regressor sees them.

    Returns
    -------
    float
        The largest of `PENALTIES`, the paper's, if there is nothing to try them on.
    """
    held_out = np.arange(len(references)) % HELD_OUT == HELD_OUT - 1
    x, y = draw(references[~held_out])
    tried = draw_near_examples(tables, rng, proxies=proxies, chosen=references[held_out])
    if len(np.unique(y)) < 2 or len(np.unique(tried.y)) < 2:
        return PENALTIES[0]

    def error(penalty: float) -> float:
        regression = fit_regression(scale(x), y, settings._replace(penalty=penalty))
        return balanced_error(regression, TrainingSet(scale(tried.x), tried.y))

    # Of equal ones the smallest: it believes its examples least.
    return min(reversed(PENALTIES), key=error)


def balanced_error(regression: Regression, rows: TrainingSet) -> float:
    """Mean distance of the clipped answers from 1 and from 0; both kinds of rows count the same."""
    wrong = np.abs(np.clip(regression.predict(rows.x), 0.0, 1.0) - rows.y)
    return float(np.mean([wrong[rows.y == kind].mean() for kind in (1.0, 0.0)]))
