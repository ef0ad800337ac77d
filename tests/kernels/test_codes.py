from __future__ import annotations

import sys

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.kernels.codes import Codes
from lookalike.kernels.exact import unit_rows


def some_vectors(count: int, dimension: int, seed: int = 0) -> np.ndarray:
    return unit_rows(np.random.default_rng(seed).normal(size=(count, dimension)))


@pytest.mark.parametrize(("count", "dimension"), [(3, 2), (40, 7), (2000, 59), (3000, 128)])
def test_a_vector_is_nearest_to_itself_and_products_are_nearly_right(count: int, dimension: int) -> None:
    vectors = some_vectors(count, dimension)
    numbers, products = Codes.of(vectors).nearest(vectors[:20], 1)
    assert (numbers[:, 0] == np.arange(len(numbers))).mean() > 0.9
    true = (vectors[: len(numbers)] * vectors[numbers[:, 0]]).sum(axis=1)
    assert np.abs(true - products[:, 0]).max() < 0.25


def test_the_nearest_are_mostly_among_a_few_times_as_many_guesses() -> None:
    vectors, queries = some_vectors(5000, 64), some_vectors(20, 64, seed=1)
    true = np.argsort(-(queries @ vectors.T), axis=1)[:, :20]
    guessed, _ = Codes.of(vectors).nearest(queries, 300)
    found = np.mean([np.isin(a, b).mean() for a, b in zip(true, guessed, strict=True)])
    assert found > 0.98


def test_stored_codes_guess_the_same_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, queries = some_vectors(3000, 31), some_vectors(7, 31, seed=1)
    made = Codes.of(vectors)
    again = Codes.from_arrays({name: array.copy() for name, array in made.to_arrays().items()})
    assert len(again) == 3000
    wanted = made.nearest(queries, 100)
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        for one in (made, again, Codes.of(vectors)):
            for given, expected in zip(one.nearest(queries, 100), wanted, strict=True):
                np.testing.assert_array_equal(given, expected)
    # One query at a time, and several together.
    for place, query in enumerate(queries):
        np.testing.assert_array_equal(made.nearest(query[None], 100)[0][0], wanted[0][place])


def test_codes_take_a_sixteenth_of_the_memory() -> None:
    vectors = some_vectors(3200, 128)
    # A byte more for each vector, for the spare pair.
    assert (Codes.of(vectors).to_arrays()["packed"].nbytes - 3200) * 16 == vectors.nbytes


@pytest.mark.parametrize("kind", ["normal", "uniform", "signs"])
@pytest.mark.parametrize("dimension", [512, 1770, 2048])
def test_long_vectors_do_not_overflow(kind: str, dimension: int) -> None:
    rng = np.random.default_rng(0)
    drawn = rng.uniform(-1, 1, (300, dimension)) if kind == "uniform" else rng.normal(size=(300, dimension))
    vectors = unit_rows(np.sign(drawn) if kind == "signs" else drawn)
    numbers, _ = Codes.of(vectors).nearest(vectors, 1)
    assert numbers[:, 0].tolist() == list(range(300))


def test_halves_are_coded_as_well() -> None:
    vectors = some_vectors(500, 16)
    numbers, _ = Codes.of(vectors.astype(np.float16)).nearest(vectors[:5].astype(np.float16), 1)
    assert numbers[:, 0].tolist() == [0, 1, 2, 3, 4]


def test_there_are_no_more_than_there_are() -> None:
    numbers, _ = Codes.of(some_vectors(5, 8)).nearest(some_vectors(2, 8, 1), 100)
    assert numbers.shape == (2, 5)


@pytest.mark.parametrize("name", ["points", "packed", "count"])
def test_codes_that_do_not_fit_together_are_refused(name: str) -> None:
    arrays = Codes.of(some_vectors(100, 12)).to_arrays()
    arrays[name] = arrays[name][2:] if name != "count" else np.array([200])
    with pytest.raises(BadInput, match="do not fit"):
        Codes.from_arrays(arrays)


def test_without_the_library_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(BadInput, match=r"lookalike\[ann\]"):
        Codes.of(some_vectors(10, 4))
