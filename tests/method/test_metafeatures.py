"""The five numbers of a chain: A resembles B, B resembles C, A hardly resembles C."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike import registry
from lookalike.method.metafeatures import NUMBERS, metafeatures
from lookalike.method.proxies import proxy_slots
from tests.method.samples import A, B, C, random_sets, row_of, tables_of


def test_chain_by_hand() -> None:
    # Query A, gallery B and C, each the other's only proxy.
    tables = tables_of([B, C])
    found = metafeatures(row_of(tables, A), tables, proxy_slots(tables.neighbours, 10, None))
    # B given C:  s1 = sim(A,C), s2 = sim(A,B), s3 = sim(B,C), s4 = C1.C0 = 0, s5 = B0.B1 = 0.8
    # C given B:  s1 = sim(A,B), s2 = sim(A,C), s3 = sim(B,C), s4 = B0.B1 = 0.8, s5 = C1.C0 = 0
    expected = [[[0.28, 0.8, 0.96, 0.0, 0.8]], [[0.8, 0.28, 0.96, 0.8, 0.0]]]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert len(NUMBERS) == found.shape[2]


def test_a_member_gets_the_same_numbers() -> None:
    tables = tables_of([B, A, C])  # the query stands between the two
    found = metafeatures(row_of(tables, 1), tables, proxy_slots(tables.neighbours, 10, 1))
    assert found.shape == (3, 1, 5)
    np.testing.assert_allclose(found[0], [[0.28, 0.8, 0.96, 0.0, 0.8]], atol=1e-6)
    np.testing.assert_allclose(found[2], [[0.8, 0.28, 0.96, 0.8, 0.0]], atol=1e-6)


@pytest.mark.parametrize("name", registry.names("similarities"))
@pytest.mark.parametrize("member", [None, 4])
def test_tables_equal_direct_comparison(name: str, member: int | None) -> None:
    sets = random_sets(9, seed=11)
    tables = tables_of(sets, name, count=4)
    part = tables.similarity
    query = tables.sets[member] if member is not None else part.prepare(random_sets(1, seed=12)[0])
    row = row_of(tables, member if member is not None else random_sets(1, seed=12)[0])
    slots = proxy_slots(tables.neighbours, 3, member)
    found = metafeatures(row, tables, slots)
    assert found.shape == (9, 3, 5)
    for target in range(9):
        for place, slot in enumerate(slots[target]):
            proxy = int(tables.neighbours.sets[target, slot])
            assert proxy not in (target, member)
            p, t = tables.sets[proxy], tables.sets[target]
            query_proxy, query_target, proxy_target = (
                part.match(query, p),
                part.match(query, t),
                part.match(p, t),
            )
            expected = [
                query_proxy.score,
                query_target.score,
                proxy_target.score,
                part.agreement(p, query_proxy.mode_b, proxy_target.mode_a),
                part.agreement(t, query_target.mode_b, proxy_target.mode_b),
            ]
            np.testing.assert_allclose(found[target, place], expected, atol=1e-9)


def test_nobody_to_ask() -> None:
    tables = tables_of([A])
    assert metafeatures(row_of(tables, B), tables, proxy_slots(tables.neighbours, 10, None)).shape == (
        1,
        0,
        5,
    )
    assert metafeatures(row_of(tables, 0), tables, proxy_slots(tables.neighbours, 10, 0)).shape == (1, 0, 5)
