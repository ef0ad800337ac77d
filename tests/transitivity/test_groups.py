"""Groups: how many sets a person has, told from lists alone."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.transitivity.groups import SMALLEST, group_size
from tests.transitivity.dense import lists_of


def people(sizes: list[int], noise: float, seed: int = 0, dimension: int = 24) -> np.ndarray:
    """Similarities of sets of people who have so many sets each."""
    rng = np.random.default_rng(seed)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    vectors = rng.normal(size=(len(sizes), dimension))[owners]
    vectors += noise * rng.normal(size=vectors.shape)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


@pytest.mark.parametrize(("size", "low", "high"), [(5, 3, 6), (12, 8, 12), (25, 16, 24)])
def test_groups_are_found(size: int, low: int, high: int) -> None:
    lists = lists_of(people([size] * (300 // size), noise=0.4), 64)
    assert low <= group_size(lists.sets) <= high


def test_nobody_repeated_is_no_group() -> None:
    assert group_size(lists_of(people([1] * 200, noise=0.0), 64).sets) == SMALLEST


def test_a_few_copied_many_times_do_not_decide() -> None:
    sizes = [8] * 4 + [1] * 200
    assert group_size(lists_of(people(sizes, noise=0.01), 64).sets) == SMALLEST


@pytest.mark.parametrize("total", [2, 3, 5, 9])
def test_the_smallest_galleries(total: int) -> None:
    assert group_size(lists_of(people([1] * total, noise=0.0), 64).sets) == SMALLEST
