"""Tables: blocks that fit, and rows that do not depend on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import registry
from lookalike.errors import NotFound
from lookalike.method import tables as module
from lookalike.method.tables import BLOCK_ROWS, compare, rows, set_blocks
from tests.method.samples import prepared_sets, random_sets, tables_of


class Sized:
    """As much of a similarity as cutting into blocks asks for."""

    def __init__(self, sizes: list[int]) -> None:
        self.given = sizes

    def sizes(self, sets: object) -> np.ndarray:
        return np.array(self.given, dtype=np.int64)


def cut(sizes: list[int]) -> list[tuple[int, int]]:
    return [(run.start, run.stop) for run in set_blocks(Sized(sizes), range(len(sizes)))]


def test_blocks_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_ROWS", 10)
    assert cut([5, 5, 5]) == [(0, 2), (2, 3)]  # 2 * 5 fit
    assert cut([1, 1, 1, 4]) == [(0, 3), (3, 4)]  # padded, 4 * 4 = 16 would not
    assert cut([4, 1, 1, 1]) == [(0, 2), (2, 4)]
    assert cut([99, 1, 99]) == [(0, 1), (1, 2), (2, 3)]  # too large a set is alone
    assert cut([10]) == [(0, 1)]
    assert cut([]) == []


@given(st.lists(st.one_of(st.integers(1, 60), st.integers(500, 5000)), max_size=200))
@settings(max_examples=50, deadline=None)
def test_blocks_cover_all_sets_and_fit(sizes: list[int]) -> None:
    runs = cut(sizes)
    assert [place for run in runs for place in range(*run)] == list(range(len(sizes)))
    for start, stop in runs:
        assert stop > start
        assert stop - start == 1 or max(sizes[start:stop]) * (stop - start) <= BLOCK_ROWS


def one_by_one(sizes: list[int]) -> list[tuple[int, int]]:
    """The same blocks, each set put into the last one if it still fits."""
    found: list[tuple[int, int]] = []
    start = longest = 0
    for number, size in enumerate(sizes):
        longest = max(longest, size)
        if number > start and longest * (number + 1 - start) > BLOCK_ROWS:
            found.append((start, number))
            start, longest = number, size
    return [*found, (start, len(sizes))] if sizes else []


@given(st.lists(st.one_of(st.integers(0, 3), st.integers(1, 600), st.integers(500, 5000)), max_size=300))
@settings(max_examples=100, deadline=None)
def test_blocks_are_those_found_one_by_one(sizes: list[int]) -> None:
    assert cut(sizes) == one_by_one(sizes)
    assert cut(sizes * 40) == one_by_one(sizes * 40)


@pytest.mark.parametrize("threads", [1, 2, 3])
@given(st.lists(st.integers(0, 60), min_size=1, max_size=300), st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_few_rows_meet_longer_runs_of_equal_work(threads: int, sizes: list[int], rows: int) -> None:
    class Both(Sized):
        def sizes(self, sets: object) -> np.ndarray:
            return np.array([rows]) if sets is None else super().sizes(sets)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_ROWS", 64)
        patch.setenv("LOOKALIKE_THREADS", str(threads))
        blocks = set_blocks(Both(sizes), range(len(sizes)))
        runs = module._runs(Both(sizes), None, range(len(sizes)))
    assert [place for run in runs for place in range(run.start, run.stop)] == list(range(len(sizes)))
    assert len(runs) <= len(blocks)
    if len(runs) < len(blocks):
        work = [sum(sizes[run]) for run in runs]
        # As many products as a block makes with a block, and the set at the cut.
        assert max(work) * rows <= (64 + rows) * (64 + max(sizes))
        assert max(work) <= sum(sizes) / (2 * threads) + max(sizes)


@pytest.mark.parametrize("name", [*registry.names("similarities"), "max_max:half=true"])
def test_compare_equals_match_many(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    part = registry.build("similarities", name)
    queries, sets = prepared_sets(part, random_sets(4, seed=1)), prepared_sets(part, random_sets(15, seed=2))
    whole = part.match_many(queries, sets)
    for block, few in ((2048, 0), (20, 0), (1, 0), (20, 1 << 16)):
        monkeypatch.setattr(module, "BLOCK_ROWS", block)
        monkeypatch.setattr(module, "FEW_PRODUCTS", few)
        for threads in ("1", "2"):
            monkeypatch.setenv("LOOKALIKE_THREADS", threads)
            for found, expected in zip(compare(part, queries, sets), whole, strict=True):
                np.testing.assert_array_equal(found, expected)
    nothing = compare(part, queries, sets[0:0])
    assert nothing.scores.shape == (4, 0)
    assert nothing.modes_a.shape == (4, 0, *part.mode_shape)


@pytest.mark.parametrize("name", registry.names("similarities"))
def test_rows_equal_single_matches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_ROWS", 12)  # several blocks of queries
    monkeypatch.setattr(module, "FEW_PRODUCTS", 0)
    tables = tables_of(random_sets(6), name)
    queries = prepared_sets(tables.similarity, random_sets(5, seed=3))
    members = [None, 2, None, None, 5]
    found = list(rows(tables, queries, members))
    assert [row.member for row in found] == members
    for place, row in enumerate(found):
        for number in range(6):
            match = tables.similarity.match(queries[place], tables.sets[number])
            assert row.scores[number] == match.score
            np.testing.assert_array_equal(row.query_modes[number], match.mode_a)
            np.testing.assert_array_equal(row.set_modes[number], match.mode_b)


def test_sets_are_found_by_id() -> None:
    tables = tables_of(random_sets(3))
    assert len(tables) == 3
    assert tables.number("set 002") == 2
    with pytest.raises(NotFound, match="there is no set called 'nobody' among the 3 indexed"):
        tables.number("nobody")
