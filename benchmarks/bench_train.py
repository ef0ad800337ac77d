"""Train: time of our regressor on all rows, against libsvm on a few of them."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVR

from benchmarks.worlds import seconds, vector_sets
from lookalike import index
from lookalike.parameters import EPSILON, GAMMA, PENALTY
from lookalike.transitivity.examples import draw_examples
from lookalike.transitivity.regressor import QuasiTransitiveRegressor


def run(toy: bool) -> dict[str, float]:
    tables = index(vector_sets(30 if toy else 400))
    x, y = draw_examples(tables, np.random.default_rng(0))
    some = np.random.default_rng(1).choice(len(x), 300 if toy else 4000, replace=False)
    rival = SVR(kernel="rbf", epsilon=EPSILON, C=PENALTY, gamma=GAMMA)
    libsvm = seconds(lambda: rival.fit(x[some], y[some]))
    same_rows = QuasiTransitiveRegressor()
    ours_on_some = seconds(lambda: same_rows.fit(x[some], y[some]))
    ours = seconds(lambda: QuasiTransitiveRegressor().fit(x, y))
    return {
        "rows": len(x),
        "seconds": round(ours, 3),
        "libsvm_rows": len(some),
        "libsvm_seconds": round(libsvm, 3),
        "ratio_to_libsvm_on_its_rows": round(ours_on_some / libsvm, 4),
        "ratio_on_all_rows_to_libsvm_on_few": round(ours / libsvm, 3),
        "largest_difference_in_prediction": float(
            np.abs(rival.predict(x[some]) - same_rows.predict(x[some])).max().round(5)
        ),
    }
