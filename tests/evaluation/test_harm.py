from __future__ import annotations

import numpy as np
import pytest

from lookalike.evaluation.measures import Evaluation, harm
from tests.evaluation.samples import evaluation


def test_everybody_is_hurt() -> None:
    found = harm(evaluation(), "learnt", "baseline", shown=2)
    assert (found.overall.queries, found.overall.better, found.overall.worse) == (10, 0, 10)
    # Average precision 1/2 to 1/4 is the greatest loss, 1/3 to 1/6 the next.
    assert [query.id for query in found.hardest_hit] == ["clip-0", "clip-1"]
    assert found.hardest_hit[0].before == 0.5
    assert found.hardest_hit[0].after == 0.25
    by_name = {group.name: group for group in found.groups}
    assert by_name["1 match in the gallery"].queries == 10
    assert sum(group.queries for name, group in by_name.items() if name.startswith("baseline")) == 10


def test_nobody_is_hurt() -> None:
    found = harm(evaluation(better=True), "learnt", "baseline")
    assert found.hardest_hit == []
    assert found.overall.after == 1.0
    assert found.overall.better == 10


def test_thirds_of_equal_queries_and_kinds_of_matches() -> None:
    base = [np.array([1]), np.array([1, 2]), np.array([1, 2, 3]), np.array([1, 2, 3, 4])]
    same = Evaluation(list("abcd"), list("abcd"), 9, 0, 8, {"baseline": [base], "m": [base]})
    found = harm(same, "m", "baseline")
    names = {group.name: group.queries for group in found.groups}
    # All equally good: there are no thirds.
    assert names == {
        "1 match in the gallery": 1,
        "2 or 3 matches": 2,
        "4 matches or more": 1,
    }
    assert found.overall.before == pytest.approx(1.0)
