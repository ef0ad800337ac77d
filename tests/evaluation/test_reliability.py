from __future__ import annotations

import json

import numpy as np
import pytest

from lookalike import index, train
from lookalike.evaluation.measures import (
    DEPTH,
    SURENESS,
    Bin,
    Sureness,
    calibration_error,
    joined,
    mean_summary,
    words,
)
from lookalike.evaluation.protocol import leave_one_out
from lookalike.indexing.fit import calibrate
from tests.small_world import small_world

NAN = np.nan


def sureness(worth: tuple[int, int] = (1, 2)) -> Sureness:
    """Two queries of four answers; the matches are at 1 and 3, and at 2."""
    said = np.array([[0.95, 0.55, 0.51, 0.0], [0.95, 0.55, NAN, NAN]])
    return Sureness(said, np.array(worth), [np.array([1, 3]), np.array([2])])


def test_bins_worked_by_hand() -> None:
    # From 0: one answer, wrong. From 0.5: 0.55 wrong, 0.51 right, 0.55 right. From 0.9: right and wrong.
    zero, half, nearly = sureness().bins()
    assert zero == Bin(1, 0.0, 0)
    assert (half.answers, half.right) == (3, 2)
    assert half.said == pytest.approx(1.61 / 3)
    assert (nearly.answers, nearly.said, nearly.right) == (2, pytest.approx(0.95), 1)


def test_measures_worked_by_hand() -> None:
    found = sureness().summary()
    # |0 - 0| + |1.61 - 2| + |1.9 - 1| over six answers; of the first answers |1.9 - 1| over two.
    assert found["error"] == pytest.approx((0.39 + 0.9) / 6)
    assert found["error_first"] == pytest.approx(0.45)
    # One and two answers are kept, one match in each; there are three.
    assert found["kept"] == 1.5
    assert found["precision"] == pytest.approx(2 / 3)
    assert found["found"] == pytest.approx(2 / 3)
    assert list(found) == list(SURENESS)


def test_nothing_worth_reading_has_no_precision() -> None:
    found = sureness((0, 0)).summary()
    assert (found["kept"], found["precision"], found["found"]) == (0.0, None, 0.0)
    assert "read no answer at all" in words("csls", found)


def test_nothing_said() -> None:
    nobody = Sureness(np.full((2, 4), NAN), np.array([-1, -1]), sureness().ranks)
    assert nobody.bins() == []
    assert set(nobody.summary().values()) == {None}
    assert words("csls", nobody.summary()) == "There are too few sets to estimate probabilities for csls."
    assert mean_summary([nobody, sureness()]) == sureness().summary()


def test_the_error_of_exact_probabilities_is_none() -> None:
    assert calibration_error([Bin(4, 0.25, 1), Bin(2, 1.0, 2)]) == 0.0
    assert calibration_error([]) is None


@pytest.mark.parametrize(("error", "warns"), [(0.08, False), (0.0801, True)])
def test_the_text_says_where_it_is_worse(error: float, warns: bool) -> None:
    said = words("learnt", {**sureness().summary(), "error": error})
    assert ("do not rely on them" in said) == warns
    assert "67% of these are right" in said


def test_an_evaluation_measures_what_find_says() -> None:
    sets, labels = small_world(people=10, sets=3)
    tables = index(sets)
    fitted = train(tables, "baseline")
    calibration = calibrate(tables, fitted)
    result = leave_one_out(tables, {"baseline": fitted}, labels, calibrations={"baseline": [calibration]})
    [found] = result.sureness["baseline"]
    assert found.probabilities.shape == (30, DEPTH)
    assert (np.diff(found.probabilities, axis=1) <= 0).all()
    assert (found.worth == (found.probabilities >= 0.5).sum(axis=1)).all(), "nobody has more than 20"
    facts = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert facts["calibration"] == {"baseline": found.summary()}
    twice = joined([result, result]).sureness["baseline"][0]
    assert twice.probabilities.shape == (60, DEPTH)
    assert twice.summary() == pytest.approx(found.summary())
