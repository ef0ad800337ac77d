"""The tests of trust at toy size: crashes, damage, other processes, what is derived, versions, memory."""

from __future__ import annotations

import pytest

from trust.tests import every_test

SEED = 20261116
TESTS = every_test()


@pytest.mark.parametrize(
    ("name", "share", "least"),
    [
        ("T1", 0.03, 3),
        ("T6", 0.04, 20),
        ("T7", 0.1, 20),
        ("T8", 0.06, 12),
        ("T9", 0.03, 2),
        ("T10", 0.1, 6),
        ("T11", 0.06, 1),
        ("T12", 0.04, 2),
        ("T13", 0.05, 4),
        ("T14", 0.054, 8),
        ("T15", 0.12, 24),
        ("T16", 0.04, 40),
        ("T17", 0.34, 3),
        ("T18", 0.012, 1),
        ("T32", 0.25, 10),
        ("T33", 0.02, 5),
    ],
)
def test_nothing_fails(name: str, share: float, least: int) -> None:
    outcome = TESTS[name].run(share, SEED)
    assert outcome.failures == []
    assert outcome.cases >= least
