from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lookalike.kernels import neighbours
from lookalike.kernels.neighbours import best_first, places

# Few different values, so that ties are the rule.
scores = hnp.arrays(
    np.float64, st.shared(st.integers(1, 40), key="n"), elements=st.sampled_from([0.0, 0.5, 1.0])
)


def test_worked() -> None:
    first, then = np.array([0.5, 1.0, 0.5, 0.5]), np.array([0.1, 0.0, 0.9, 0.1])
    assert best_first(first, then).tolist() == [1, 2, 0, 3]
    assert best_first(first, then, 2).tolist() == [1, 2]
    assert places(first, then, np.array([3, 1])).tolist() == [3, 0]


@given(scores, scores, st.integers(1, 50))
def test_the_best_are_the_first_of_all(first: np.ndarray, then: np.ndarray, top: int) -> None:
    everybody = sorted(range(len(first)), key=lambda i: (-first[i], -then[i], i))
    assert best_first(first, then).tolist() == everybody
    assert best_first(first, then, top).tolist() == everybody[:top]


@pytest.mark.parametrize("share", [0, 1], ids=["sorted", "counted"])
@given(scores, scores)
def test_places_are_those_of_the_order(share: int, first: np.ndarray, then: np.ndarray) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "SHARE", share)
        ordered = best_first(first, then)
        assert places(first, then, ordered).tolist() == list(range(len(first)))
