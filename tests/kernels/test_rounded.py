"""Rounded: whole numbers are multiplied as whole numbers, with and without a runtime."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.kernels import rounded as module
from lookalike.kernels.rounded import LEFT, RIGHT, Left, Rounded, is_quick, largest_left, step_of


@pytest.mark.parametrize("with_runtime", [True, False])
@pytest.mark.parametrize("dimension", [1, 7, 128, 1770])
def test_products_are_whole(with_runtime: bool, dimension: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if with_runtime:
        assert is_quick(), "this test needs onnxruntime"
    else:
        monkeypatch.setattr(module, "_runtime", lambda: None)
    rng = np.random.default_rng(dimension)
    block = rng.integers(-RIGHT, RIGHT + 1, (dimension, 33)).astype(np.int8)
    for largest in {LEFT, largest_left()}:
        rows = rng.integers(-largest, largest + 1, (9, dimension)).astype(np.int8)
        # Of vectors of about length 1, in the smallest step, sums stay below 2^24: here some lie near to it.
        expected = rows.astype(np.int64) @ block.astype(np.int64)
        found = Left.of(rows, largest).products(block)
        assert found.dtype == np.int32
        assert np.abs(expected).max() < 2**24
        np.testing.assert_array_equal(found, expected)


def test_the_most_that_two_products_add_up_to_is_right() -> None:
    # 16 bits hold two products of 7 and of 8 bits: a processor without better instructions stops there.
    rows, block = np.full((1, 64), LEFT, dtype=np.int8), np.full((64, 1), RIGHT, dtype=np.int8)
    assert Left.of(rows).products(block) == 64 * LEFT * RIGHT
    assert Left.of(-rows).products(-block) == 64 * LEFT * RIGHT


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_the_error_of_rounding_is_known(kind: type[np.floating]) -> None:
    rows = np.random.default_rng(1).normal(size=(200, 20))
    rows = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(kind)
    cuts = [slice(0, 150), slice(150, 200)]
    for largest in (LEFT, RIGHT):
        found = Rounded.of(rows, largest, cuts)
        assert found.step == step_of(rows, largest)
        back = found.step * np.concatenate([found.rows(number) for number in range(2)])
        lost = np.linalg.norm(rows - back, axis=1).max()
        assert lost == pytest.approx(found.error, rel=1e-3)
        assert lost < 0.6 * found.step * np.sqrt(20)
    empty = Rounded.of(rows[:0], LEFT, [])
    assert not empty.blocks
    assert empty.error == 0


@pytest.mark.parametrize("with_runtime", [True, False])
def test_long_vectors_of_equal_components_are_multiplied_exactly(
    with_runtime: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounding up half a step in each of very many components makes a vector longer."""
    if not with_runtime:
        monkeypatch.setattr(module, "_runtime", lambda: None)
    for dimension in (4_227, 16_900, 65_536):
        rows = np.full((2, dimension), dimension**-0.5, dtype=np.float32)
        rows[1, 0] *= 1.01
        numbers = Rounded.of(rows, LEFT, [slice(None)])
        assert numbers.step >= module.SMALLEST_STEP
        whole = numbers.rows(0).astype(np.int64)
        np.testing.assert_array_equal(Left.of(numbers.rows(0)).products(numbers.blocks[0]), whole @ whole.T)
        assert np.abs(whole @ whole.T).max() < 2**24
