from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lookalike.evaluation.measures import Evaluation, joined

# Two queries of one person with one match and two matches among 4 ranked sets.
#   method a: ranks 1 and (1, 2): perfect. method b, seed 0: 3 and (2, 4); seed 1: 1 and (1, 4).
RUNS = {
    "a": [[np.array([1]), np.array([1, 2])]],
    "b": [[np.array([3]), np.array([2, 4])], [np.array([1]), np.array([1, 4])]],
}


def some(queries: tuple[str, str] = ("p", "q")) -> Evaluation:
    return Evaluation(list(queries), ["x", "y"], 5, 2, 4, RUNS, {1: RUNS["a"][0]})


def test_measures_are_averaged_over_the_seeds() -> None:
    # ANR of rank 3 of 4: (3 - 1) / (4 - 1) = 2/3; of (2, 4): (6 - 3) / (7 - 3) = 3/4; of (1, 4): 1/2.
    values = some().values("b")
    np.testing.assert_allclose(values["mean_anr"], [(2 / 3 + 0) / 2, (3 / 4 + 1 / 2) / 2])
    np.testing.assert_allclose(values["rank1"], [0.5, 0.5])
    # AP of (2, 4): (1/2 + 2/4) / 2 = 1/2; of (1, 4): (1 + 2/4) / 2 = 3/4.
    np.testing.assert_allclose(values["map"], [(1 / 3 + 1) / 2, (1 / 2 + 3 / 4) / 2])
    assert some().summary("b")["map"] == pytest.approx(values["map"].mean(), abs=1e-12)
    assert [one["rank1"] for one in some().summaries("b")] == [0.0, 1.0]
    assert some().to_dict()["rerankers"]["a"]["mean_anr"] == 0.0  # type: ignore[index]


def test_equal_seeds_keep_every_bit() -> None:
    ranks = [np.array([3]), np.array([7])]
    thrice = Evaluation(["p", "q"], ["x", "y"], 11, 0, 10, {"one": [ranks], "three": [ranks] * 3})
    for measure, values in thrice.values("one").items():
        assert values.tolist() == thrice.values("three")[measure].tolist()
    assert thrice.summary("one") == thrice.summary("three")


def test_distributions_have_every_seed() -> None:
    assert some().of_all_seeds("b", "rank1").tolist() == [0.0, 0.0, 1.0, 1.0]


def test_matches_available_and_found() -> None:
    assert some().available().tolist() == [1, 2]
    assert some().with_one_match() == (1, 1)
    assert some().found_within("b", 2).tolist() == [0, 1]
    assert some().found_within("b", 4).tolist() == [1, 2]


def test_measures_with_the_query_counted() -> None:
    counted = replace(some(), query_counted=True)
    # ANR of b: half of 2/3 and of 0 with one match, two thirds of 3/4 and of 1/2 with two.
    values = counted.values("b")
    np.testing.assert_allclose(values["mean_anr"], [(1 / 3 + 0) / 2, (1 / 2 + 1 / 3) / 2])
    # AP of rank 3, now 1 and 4: (1 + 2/4) / 2; of 1, now 1 and 2: 1. Of (2, 4), now 1, 3 and 5:
    # (1 + 2/3 + 3/5) / 3; of (1, 4), now 1, 2 and 5: (1 + 1 + 3/5) / 3.
    np.testing.assert_allclose(values["map"], [(3 / 4 + 1) / 2, ((34 / 15) / 3 + (13 / 5) / 3) / 2])
    assert values["rank1"].tolist() == [1.0, 1.0]
    assert counted.of_all_seeds("b", "mean_anr") == pytest.approx([1 / 3, 1 / 2, 0, 1 / 3])
    assert [one["mean_anr"] for one in counted.summaries("b")] == pytest.approx([5 / 12, 1 / 6])
    facts = counted.to_dict()
    assert facts["query_counted"] is True
    assert facts["rerankers"]["b"]["mean_anr"] == pytest.approx(7 / 24)  # type: ignore[index]
    # Who is a match, and what was found, is about other sets all the same.
    assert counted.available().tolist() == [1, 2]
    assert counted.with_one_match() == (1, 1)
    assert counted.found_within("b", 2).tolist() == [0, 1]


def test_nothing_is_said_of_counting_where_the_query_is_left_out() -> None:
    assert "query_counted" not in some().to_dict()


def test_splits_are_joined() -> None:
    both = joined([some(), some(("r", "s"))])
    assert both.queries == ["p", "q", "r", "s"]
    assert both.people == ["x", "y", "x", "y"]
    assert [len(run) for run in both.runs["b"]] == [4]
    assert len(both.by_proxies[1]) == 4
    assert both.summary("a") == some().summary("a")
