from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.errors import BadInput
from lookalike.preparations.whitened import Whitened
from tests.preparations.test_contract import faces_of

# Uncorrelated, with variances 4 and 1 around (3, 5).
CROSS = np.array([[3 + 2 * 2**0.5, 5.0], [3 - 2 * 2**0.5, 5.0], [3.0, 5 + 2**0.5], [3.0, 5 - 2**0.5]])


def covariance(part: Whitened, sets: list[np.ndarray]) -> np.ndarray:
    return np.cov(np.concatenate([part.apply(one) for one in sets]).T.astype(float), bias=True)


def test_by_hand() -> None:
    part = Whitened(dimension=2).fit([CROSS[:1], CROSS[1:]])
    # (x - 3) / 2 and (y - 5) / 1.
    np.testing.assert_allclose(part.apply(np.array([[7.0, 4.0]])), [[2.0, -1.0]], rtol=1e-6)
    np.testing.assert_allclose(part.apply(CROSS[:1]), [[2**0.5, 0.0]], atol=1e-6)


def test_the_root_comes_first() -> None:
    plain, rooted = Whitened(dimension=2).fit([CROSS]), Whitened(root=True, dimension=2).fit([CROSS**2])
    np.testing.assert_allclose(rooted.apply(CROSS**2), plain.apply(CROSS), atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0, 2, 5, 50]))
def test_prepared_faces_have_unit_covariance(seed: int, root: bool, dimension: int) -> None:
    sets = faces_of(seed=seed)
    part = Whitened(root, dimension).fit(sets)
    found = covariance(part, sets)
    np.testing.assert_allclose(found, np.eye(len(found)), atol=1e-4)
    assert len(found) == (min(dimension, 12) or len(found))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 50), st.floats(-20, 20))
def test_scale_and_shift_of_all_faces_change_nothing(seed: int, scale: float, shift: float) -> None:
    sets = [one.astype(float) for one in faces_of(seed=seed)]
    one = Whitened(dimension=4).fit(sets).apply(sets[0])
    moved = [scale * faces + shift for faces in sets]
    other = Whitened(dimension=4).fit(moved).apply(moved[0])
    np.testing.assert_allclose(one, other, atol=1e-3)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_the_axes_do_not_matter(seed: int) -> None:
    """Faces in other coordinates have the same products, if all directions are kept."""
    sets = [one.astype(float) for one in faces_of(seed=seed, dimension=6)]
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(6, 6)))[0]
    one = Whitened(dimension=6).fit(sets).apply(sets[0])
    turned = [faces @ turn for faces in sets]
    other = Whitened(dimension=6).fit(turned).apply(turned[0])
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-3)


def test_the_dimension_holds_two_thirds_of_the_variance() -> None:
    # Variances 8, 4, 2, 1, 1: the first two hold 75 %.
    spread = np.diag(np.sqrt([8.0, 4.0, 2.0, 1.0, 1.0])) * 5**0.5
    part = Whitened().fit([np.concatenate([spread, -spread])])
    assert part.apply(spread).shape == (5, 2)


@pytest.mark.parametrize("dimension", [-1, 1, 2.5, True, "many", None])
def test_dimensions_out_of_range(dimension: object) -> None:
    with pytest.raises(BadInput, match=r"dimension must be 0 \(chosen from the data\) or a whole number"):
        Whitened(dimension=dimension).fit(faces_of())  # type: ignore[arg-type]


def test_other_mistakes() -> None:
    with pytest.raises(BadInput, match="root must be true or false, got 'yes'"):
        Whitened(root="yes").check()  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="has learnt nothing yet: fit it first"):
        Whitened().apply(CROSS)
    with pytest.raises(BadInput, match="there are no faces to learn a preparation from"):
        Whitened().fit([])
    with pytest.raises(BadInput, match="have 2 and 12 numbers: describe all of them the same way"):
        Whitened().fit([CROSS, faces_of()[0]])
    with pytest.raises(BadInput, match="was learnt on faces of 2 numbers, got 12"):
        Whitened().fit([CROSS]).apply(faces_of()[0])
    with pytest.raises(BadInput, match="faces of 4097 numbers are too long to be whitened"):
        Whitened().fit([np.arange(2 * 4097.0).reshape(2, 4097)])
    for arrays in ({}, {"mean": np.zeros(3)}, {"mean": np.zeros(3), "table": np.zeros((2, 2))}):
        with pytest.raises(BadInput, match="the stored preparation is not a mean and a table that fit"):
            Whitened().from_arrays(arrays)


def test_a_root_of_negative_numbers_is_refused_in_one_sentence() -> None:
    sentence = r"root=true needs numbers that are not negative, such as counts, got -1.5: write root=false"
    with pytest.raises(BadInput, match=sentence):
        Whitened(root=True).fit([CROSS, np.array([[-1.5, 2.0]])])
    with pytest.raises(BadInput, match=sentence):
        Whitened(root=True).fit([CROSS]).apply(np.array([[-1.5, 2.0]]))


def test_faces_that_hardly_vary_are_left_alone() -> None:
    line = np.array([[1.0, 2.0], [2.0, 3.0], [4.0, 5.0]])
    part = Whitened().fit([line])
    assert part.reason_ == "the 3 faces vary in fewer than two directions: left as they are"
    assert part.apply(line) is line
