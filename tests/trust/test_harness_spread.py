"""The tests of trust at toy size: galleries in slices.

T30, which loses nodes of a cluster, is not run here: tests/engines/test_cluster.py loses one at each stage.
Nor is T31, which waits for minutes until Ray notices that a machine is silent: tests/engines/test_ray_head.py
kills a head, and test_hosts.py tries the hosts that T31 is run on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike import registry
from lookalike.indexing import slices
from lookalike.similarities.contract import Matches
from trust import t29_slices
from trust.tests import every_test

SEED = 20261116
TESTS = every_test()


def test_nothing_fails() -> None:
    """Every similarity once in this process, and the next way, by Ray where that is installed."""
    outcome = TESTS["T29"].run(0.31, SEED)
    assert outcome.failures == []
    assert outcome.cases >= 4 * 84


def test_every_way_is_tried() -> None:
    ways = {t29_slices.way(number) for number in range(32)}
    assert len(ways) == 32
    assert {one.similarity for one in ways} == set(registry.names("similarities"))
    assert {one.engine for one in ways} == set(registry.names("engines"))
    # The four that are always run have all similarities, and all numbers of slices.
    first = [t29_slices.way(number) for number in range(4)]
    assert len({one.similarity for one in first}) == len({one.slices for one in first}) == 4
    assert all(registry.build("engines", one.engine).is_here for one in first)


def test_one_bit_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, matched = registry.names, slices.matched

    def nearly(*given: Any) -> Matches:
        found = matched(*given)
        scores = found.scores.copy()
        scores[0, -1] = np.nextafter(scores[0, -1], -2.0)
        return found._replace(scores=scores)

    monkeypatch.setattr(registry, "names", lambda kind: ["baseline"] if kind == "rerankers" else names(kind))
    ready = t29_slices.prepare(tmp_path, SEED)
    assert t29_slices.case(ready, 1)[0] is None
    monkeypatch.setattr(slices, "matched", nearly)
    wrong = t29_slices.case(ready, 1)[0]
    assert wrong is not None
    assert "answer 0 is …" in wrong
    assert t29_slices.difference([t29_slices.text({"score": -0.0})], ['{"score": 0.0}'])
