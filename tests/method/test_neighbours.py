from __future__ import annotations

import numpy as np
import pytest

from lookalike.method.neighbours import index_need, lists_bytes, spread
from lookalike.similarities.max_correlation import MaxCorrelation
from lookalike.similarities.max_max import MaxMax


def test_a_few_sets_of_different_size_stand_for_all() -> None:
    faces = np.arange(100, 0, -1)
    assert sorted(faces[spread(faces)]) == [11, 31, 51, 71, 91]
    assert spread(np.array([7])).tolist() == [0]
    assert spread(np.array([], dtype=np.int64)).tolist() == []


def test_bytes_of_lists() -> None:
    # Number and score, 8 bytes each; two modes of 8 bytes, or of 6 x 1 numbers.
    assert lists_bytes(MaxMax(), 100, 11) == 100 * 11 * 32
    assert lists_bytes(MaxMax(), 5, 11) == 5 * 4 * 32
    assert lists_bytes(MaxMax(), 1, 11) == 0
    assert lists_bytes(MaxMax(), 100, 64) == 100 * (64 * 16 + 11 * 16)  # modes of the first 11
    shape = MaxCorrelation().mode_shape
    assert lists_bytes(MaxCorrelation(), 100, 11) == 100 * 11 * (16 + 16 * int(np.prod(shape)))


@pytest.mark.parametrize("largest", [50, 1000])
def test_what_grows_with_the_faces_goes_on_growing_and_what_is_capped_does_not(largest: int) -> None:
    faces = np.array([*range(10, 50), largest])
    chosen = np.array([0, 20, 39])

    def disk(size_of) -> int:  # type: ignore[no-untyped-def]
        prepared = [{"faces": np.zeros(size_of(count), np.uint8)} for count in faces[chosen]]
        need = index_need(MaxMax(), faces, chosen, prepared, 0)
        return need.disk - 72 * len(faces)

    assert disk(lambda count: 100 * count) == pytest.approx(100 * faces.sum(), abs=1)
    assert disk(lambda count: 1000) == 1000 * len(faces)
