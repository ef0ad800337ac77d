"""Train: time of our regressor on all rows, against libsvm on a few of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVR

from benchmarks.entries import entry
from benchmarks.worlds import seconds, vector_sets
from lookalike import index
from lookalike.method.regression import draw_examples
from lookalike.parameters import EPSILON, GAMMA, PENALTY
from lookalike.search.estimator import QuasiTransitiveRegressor


def run(toy: bool) -> list[dict[str, Any]]:
    tables = index(vector_sets(30 if toy else 400))
    x, y = draw_examples(tables, np.random.default_rng(0))
    some = np.random.default_rng(1).choice(len(x), 300 if toy else 20_000, replace=False)
    rival = SVR(kernel="rbf", epsilon=EPSILON, C=PENALTY, gamma=GAMMA)
    libsvm = seconds(lambda: rival.fit(x[some], y[some]))
    same_rows = QuasiTransitiveRegressor()
    on_some = seconds(lambda: same_rows.fit(x[some], y[some]))
    ours = seconds(lambda: QuasiTransitiveRegressor().fit(x, y))
    difference = np.abs(rival.predict(x[some]) - same_rows.predict(x[some])).max()
    return [
        entry(
            "all rows to libsvm on few", ours / libsvm, 1.0, rows=len(x), seconds=ours, libsvm_seconds=libsvm
        ),
        entry("same rows to libsvm", on_some / libsvm, 1.0, rows=len(some), seconds=on_some),
        entry("largest difference in prediction to what is allowed", float(difference) / 0.02, 1.0),
    ]
