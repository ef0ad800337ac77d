from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.errors import BadInput
from lookalike.kernels.codes import STEP, Codes
from lookalike.kernels.exact import unit_rows


def some_vectors(count: int, dimension: int, seed: int = 0) -> np.ndarray:
    return unit_rows(np.random.default_rng(seed).normal(size=(count, dimension)))


def decoded(codes: Codes) -> np.ndarray:
    """The vectors that codes stand for."""
    levels = np.stack([codes.packed & 15, codes.packed >> 4], axis=-1).reshape(len(codes), -1)
    return codes.grid[0] + levels[:, : codes.dimension] * codes.grid[1]


def test_codes_by_hand() -> None:
    # Levels of three components, each from -1 on in steps of 0.25; the fourth half byte stays empty.
    grid = np.array([[-1.0, -1.0, -1.0], [0.25, 0.25, 0.25]], dtype=np.float32)
    codes = Codes.of(np.array([[-1.0, 0.0, 0.5], [9.0, -9.0, -0.1]]), grid)
    assert codes.packed.tolist() == [[0 + 16 * 4, 6], [15 + 16 * 0, 4]]
    np.testing.assert_allclose(decoded(codes), [[-1.0, 0.0, 0.5], [2.75, -1.0, 0.0]])
    # Weights are whole numbers in the ratio of the query's components: 32767, -16384 (rounded to even), 0.
    assert codes.products(np.array([1.0, -0.5, 0.0])).tolist() == [-16384 * 4, 32767 * 15]


def test_steps_are_told_from_middle_and_spread() -> None:
    vectors = np.array([[1.0, 5.0], [3.0, 5.0]])
    codes = Codes.of(vectors)
    # Mean 2 and deviation 1: sixteen levels, 7.5 steps to each side. What does not vary stays as it is.
    np.testing.assert_allclose(codes.grid[:, 0], [2 - 7.5 * STEP, STEP], rtol=1e-6)
    np.testing.assert_allclose(decoded(codes)[:, 1], 5.0, rtol=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    count=st.integers(1, 60), dimension=st.integers(1, 40), queries=st.integers(1, 4), most=st.integers(1, 70)
)
def test_guesses_are_products_with_what_codes_stand_for(
    count: int, dimension: int, queries: int, most: int
) -> None:
    codes, asked = Codes.of(some_vectors(count, dimension)), some_vectors(queries, dimension, 1)
    numbers, guesses = codes.nearest(asked, most)
    assert len(numbers) == min(most, count)
    assert (np.diff(numbers) > 0).all()
    true = (decoded(codes).astype(float) @ asked.T.astype(float)).max(axis=1)
    # Guesses are true products times a number, but for the rounding of weights.
    worst = true[numbers].min() if len(numbers) else np.inf
    assert (np.delete(true, numbers) <= worst + 1e-3).all()
    if len(numbers) > 2 and np.ptp(true[numbers]) > 0.01:
        assert np.corrcoef(guesses, true[numbers])[0, 1] > 0.99


def test_the_nearest_are_mostly_among_a_few_times_as_many_guesses() -> None:
    vectors, queries = some_vectors(5000, 64), some_vectors(20, 64, seed=1)
    true = np.argsort(-(queries @ vectors.T), axis=1)[:, :20]
    codes = Codes.of(vectors)
    found = [
        np.isin(near, codes.nearest(query[None], 100)[0]).mean()
        for near, query in zip(true, queries, strict=True)
    ]
    assert np.mean(found) > 0.98


def test_a_floor_leaves_about_as_many_as_wanted_and_the_nearest() -> None:
    codes, queries = Codes.of(some_vectors(20_000, 16)), some_vectors(3, 16, seed=1)
    queries = unit_rows(queries[:1] + 0.2 * queries)
    floor = codes.floor(queries, 2000)
    left, _ = codes.nearest(queries, 20_000, floor)
    assert 1600 < len(left) < 2500
    assert np.isin(codes.nearest(queries, 100)[0], codes.nearest(queries, 100, floor)[0]).mean() > 0.99


def test_stored_codes_guess_the_same_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.kernels.codes.RUN", 1000)
    vectors, queries = some_vectors(3000, 31), some_vectors(7, 31, seed=1)
    made = Codes.of(vectors)
    again = Codes.from_arrays({name: array.copy() for name, array in made.to_arrays().items()})
    assert len(again) == 3000
    floor = made.floor(queries, 500)
    wanted = made.nearest(queries, 100, floor)
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        for one in (made, again, Codes.of(vectors)):
            for found, expected in zip(one.nearest(queries, 100, floor), wanted, strict=True):
                np.testing.assert_array_equal(found, expected)


def test_codes_take_an_eighth_of_the_memory() -> None:
    vectors = some_vectors(3200, 128)
    assert Codes.of(vectors).packed.nbytes * 8 == vectors.nbytes


@pytest.mark.parametrize("kind", ["normal", "uniform", "signs"])
@pytest.mark.parametrize("dimension", [512, 1770, 8192])
def test_long_vectors_do_not_overflow(kind: str, dimension: int) -> None:
    rng = np.random.default_rng(0)
    drawn = rng.uniform(-1, 1, (300, dimension)) if kind == "uniform" else rng.normal(size=(300, dimension))
    vectors = unit_rows(np.sign(drawn) if kind == "signs" else drawn)
    codes = Codes.of(vectors)
    assert [codes.nearest(one[None], 1)[0].tolist() for one in vectors[:50]] == [[n] for n in range(50)]


def test_ties_go_to_the_lower_number() -> None:
    codes = Codes.of(np.repeat(some_vectors(2, 4), 10, axis=0))
    assert codes.nearest(some_vectors(1, 4), 4)[0].tolist() == [0, 1, 2, 3]


def test_halves_are_coded_as_well() -> None:
    vectors = some_vectors(500, 16)
    codes = Codes.of(vectors.astype(np.float16))
    assert codes.nearest(vectors[7:8].astype(np.float16), 1)[0].tolist() == [7]


@pytest.mark.parametrize("name", ["grid", "packed"])
def test_codes_that_do_not_fit_together_are_refused(name: str) -> None:
    arrays = Codes.of(some_vectors(100, 12)).to_arrays()
    arrays[name] = arrays[name][:, 2:]
    with pytest.raises(BadInput, match="do not fit"):
        Codes.from_arrays(arrays)
