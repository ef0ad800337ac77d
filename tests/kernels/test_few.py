"""Few rows meet many with the bits of the readable twin, in single and in half precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels import screening
from lookalike.kernels.exact import half_rows, lengths_of, unit_rows
from lookalike.kernels.screening import all_matches, best_pairs, error_bound
from tests.kernels.test_screening import some


def some_halves(sizes: list[int], dimension: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    faces, starts = some(sizes, dimension, seed)
    halves = half_rows(faces)
    return halves, starts, lengths_of(halves)


@pytest.mark.parametrize(("few", "by_loop"), [(0, 0), (10_000, 0), (10_000, 10_000)])
@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=9),
    st.lists(st.one_of(st.integers(1, 7), st.integers(30, 90)), min_size=1, max_size=9),
    st.one_of(st.integers(2, 200), st.just(1770)),
    st.integers(0, 99),
)
def test_all_matches_have_the_bits_of_the_readable_twin(
    few: int, by_loop: int, one: list[int], two: list[int], dimension: int, seed: int
) -> None:
    a, b = some(one, dimension, seed), some(two, dimension, seed + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screening, "FEW_ROWS", few)
        patch.setattr(screening, "BY_LOOP", by_loop)
        patch.setattr(screening, "RUN", 5000)  # several runs, some of which are one long set
        for is_worthwhile in (True, False):
            patch.setattr(screening, "is_worthwhile", lambda products: is_worthwhile)  # noqa: B023
            for found, expected in zip(all_matches(*a, *b), best_pairs(*a, *b), strict=True):
                np.testing.assert_array_equal(found, expected)
        halves_a, _, lengths_a = some_halves(one, dimension, seed)
        halves_b, _, lengths_b = some_halves(two, dimension, seed + 1)
        given = (halves_a, a[1], halves_b, b[1], lengths_a, lengths_b)
        for found, expected in zip(all_matches(*given), best_pairs(*given), strict=True):
            np.testing.assert_array_equal(found, expected)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 4), st.integers(1, 40), st.integers(1, 300), st.integers(0, 99))
def test_the_products_of_the_readable_twin(tiles: int, many: int, dimension: int, seed: int) -> None:
    a, _ = some([screening.AT_ONCE * tiles], dimension, seed)
    b, _ = some([many], dimension, seed + 1)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_allclose(screening.multiply(a, b), expected, rtol=0, atol=error_bound(dimension))


def test_runs_end_where_their_rows_do() -> None:
    # Sets of 3, 4, 9, 1, 1 rows in runs of at most 7 rows: the third is longer than that, and alone.
    starts = np.array([0, 3, 7, 16, 17, 18])
    assert list(screening._runs(starts, 7)) == [(0, 2), (2, 3), (3, 5)]


def test_many_rows_meet_as_few_do() -> None:
    a, b = some([11] * 12, 40, 6), some([4] * 50, 40, 7)
    assert len(a[0]) > screening.FEW_ROWS
    whole = all_matches(*a, *b)
    some_rows = all_matches(a[0][:33], a[1][:4], *b)
    for found, expected in zip(some_rows, whole, strict=True):
        np.testing.assert_array_equal(found, expected[:3])


def test_no_sets_have_no_matches() -> None:
    faces, starts = some([3, 4], 30, 2)
    for a, b in [((faces[:0], starts[:1]), (faces, starts)), ((faces, starts), (faces[:0], starts[:1]))]:
        assert all(array.shape == (len(a[1]) - 1, len(b[1]) - 1) for array in all_matches(*a, *b))


def test_a_memory_map_is_as_good(tmp_path) -> None:  # type: ignore[no-untyped-def]
    faces, starts = some([3, 4], 30, 2)
    halves = half_rows(faces)
    for rows, lengths in ((faces, None), (halves, lengths_of(halves))):
        np.save(tmp_path / "faces.npy", rows)
        mapped = np.load(tmp_path / "faces.npy", mmap_mode="r")
        expected = best_pairs(rows, starts, rows, starts, lengths, lengths)
        for found, same in zip(
            all_matches(mapped, starts, mapped, starts, lengths, lengths), expected, strict=True
        ):
            np.testing.assert_array_equal(found, same)


def test_faces_of_which_only_the_length_differs_are_equally_near() -> None:
    """The largest product is not the largest cosine: the longer of two halves must not win by its length."""
    unit = unit_rows(np.array([[0.6, 0.8, *[0.0] * 8]]))
    once = half_rows(unit)
    longer = (once.astype(np.float64) * (1 + 2.0**-10)).astype(np.float16)
    b = np.concatenate([once, longer])
    exact = (once.astype(np.float64) @ b.astype(np.float64).T)[0] / (lengths_of(once)[0] * lengths_of(b))
    starts, apart = np.array([0, 2]), np.array([0, 1])
    scores, _, face = all_matches(once, apart, b, starts, lengths_of(once), lengths_of(b))
    assert scores[0, 0] == 1.0
    assert face[0, 0] == 0
    assert exact[0] == pytest.approx(1.0, abs=1e-15)
