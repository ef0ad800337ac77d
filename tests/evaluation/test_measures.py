from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import index, train
from lookalike.evaluation.measures import (
    DEPTH,
    SURENESS,
    Bin,
    Evaluation,
    Sureness,
    average_normalised_rank,
    average_precision,
    calibration_error,
    found_within,
    harm,
    joined,
    mean_summary,
    summary,
    with_query_counted,
    words,
)
from lookalike.evaluation.protocol import leave_one_out
from lookalike.indexing.fit import calibrate
from tests.evaluation.samples import evaluation
from tests.small_world import small_world


def ranks(*values: int) -> np.ndarray:
    return np.array(values)


def test_anr_worked_by_hand() -> None:
    # n = 10, c = 2: m = 1 + 2 = 3, M = 9 + 10 = 19.
    assert average_normalised_rank(ranks(1, 2), 10) == 0.0
    assert average_normalised_rank(ranks(9, 10), 10) == 1.0
    assert average_normalised_rank(ranks(2, 5), 10) == pytest.approx((7 - 3) / 16)


def test_anr_of_nothing_but_matches_is_perfect() -> None:
    assert average_normalised_rank(ranks(1, 2, 3), 3) == 0.0


def test_average_precision_worked_by_hand() -> None:
    # Precision 1/1 at rank 1, 2/4 at rank 4, 3/6 at rank 6.
    assert average_precision(ranks(4, 1, 6)) == pytest.approx((1 + 0.5 + 0.5) / 3)


def test_how_many_are_found() -> None:
    assert found_within(ranks(1, 3, 9), 5) == 2


def test_summary_names_and_values() -> None:
    found = summary([ranks(1, 2), ranks(9, 10)], 10)
    assert found == {
        "mean_anr": 0.5,
        "anr_below_0.3": 0.5,
        "anr_q98": pytest.approx(0.98),
        "map": pytest.approx((1 + (1 / 9 + 2 / 10) / 2) / 2),
        "rank1": 0.5,
        "match_in_100": 1.0,
    }


def test_the_query_counted_worked_by_hand() -> None:
    # n = 10, c = 2, ranks 2 and 5: the query at 1, the matches at 3 and 6 of 11.
    counted, total = with_query_counted([ranks(2, 5), ranks(10)], 10)
    assert [one.tolist() for one in counted] == [[1, 3, 6], [1, 11]]
    assert total == 11
    # m = 1 + 2 + 3 = 6, M = 9 + 10 + 11 = 30: (10 - 6) / 24 = 1/6, two thirds of (7 - 3) / 16 = 1/4.
    assert average_normalised_rank(counted[0], total) == pytest.approx(1 / 6)
    # The worst that a single match can have: half of 1.
    assert average_normalised_rank(counted[1], total) == pytest.approx(1 / 2)
    # Precision 1/1 at rank 1, 2/3 at rank 3, 3/6 at rank 6; and 1/1, 2/11.
    assert average_precision(counted[0]) == pytest.approx((1 + 2 / 3 + 1 / 2) / 3)
    assert summary(counted, total) == {
        "mean_anr": pytest.approx((1 / 6 + 1 / 2) / 2),
        "anr_below_0.3": 0.5,
        "anr_q98": pytest.approx(1 / 6 + 0.98 * (1 / 2 - 1 / 6)),
        "map": pytest.approx(((1 + 2 / 3 + 1 / 2) / 3 + (1 + 2 / 11) / 2) / 2),
        "rank1": 1.0,
        "match_in_100": 1.0,
    }


@given(st.integers(2, 60), st.data())
def test_an_anr_with_the_query_counted_is_c_of_c_plus_1_of_itself(total: int, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(1, total), min_size=1, max_size=total - 1))
    alone = np.array(sorted(chosen))
    [counted], more = with_query_counted([alone], total)
    share = len(alone) / (len(alone) + 1)
    assert average_normalised_rank(counted, more) == pytest.approx(
        share * average_normalised_rank(alone, total)
    )


@given(st.integers(2, 60), st.data())
def test_anr_is_between_0_and_1_and_falls_when_a_match_rises(total: int, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(1, total), min_size=1, max_size=total))
    value = average_normalised_rank(np.array(sorted(chosen)), total)
    assert 0.0 <= value <= 1.0
    risen = {rank - 1 for rank in chosen if rank > 1 and rank - 1 not in chosen}
    if risen:
        better = (chosen - {min(risen) + 1}) | {min(risen)}
        assert average_normalised_rank(np.array(sorted(better)), total) < value


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


NAN = np.nan


def sureness(worth: tuple[int, int] = (1, 2)) -> Sureness:
    """Two queries of four answers; the matches are at 1 and 3, and at 2."""
    said = np.array([[0.95, 0.55, 0.51, 0.0], [0.95, 0.55, NAN, NAN]])
    return Sureness(said, np.array(worth), [np.array([1, 3]), np.array([2])])


def test_bins_worked_by_hand() -> None:
    # From 0: one answer, wrong. From 0.5: 0.55 wrong, 0.51 right, 0.55 right. From 0.9: right and wrong.
    zero, half, nearly = sureness().bins()
    assert zero == Bin(1, 0.0, 0)
    assert (half.answers, half.right) == (3, 2)
    assert half.said == pytest.approx(1.61 / 3)
    assert (nearly.answers, nearly.said, nearly.right) == (2, pytest.approx(0.95), 1)


def test_measures_worked_by_hand() -> None:
    found = sureness().summary()
    # |0 - 0| + |1.61 - 2| + |1.9 - 1| over six answers; of the first answers |1.9 - 1| over two.
    assert found["error"] == pytest.approx((0.39 + 0.9) / 6)
    assert found["error_first"] == pytest.approx(0.45)
    # One and two answers are kept, one match in each; there are three.
    assert found["kept"] == 1.5
    assert found["precision"] == pytest.approx(2 / 3)
    assert found["found"] == pytest.approx(2 / 3)
    assert list(found) == list(SURENESS)


def test_nothing_worth_reading_has_no_precision() -> None:
    found = sureness((0, 0)).summary()
    assert (found["kept"], found["precision"], found["found"]) == (0.0, None, 0.0)
    assert "read no answer at all" in words("csls", found)


def test_nothing_said() -> None:
    nobody = Sureness(np.full((2, 4), NAN), np.array([-1, -1]), sureness().ranks)
    assert nobody.bins() == []
    assert set(nobody.summary().values()) == {None}
    assert words("csls", nobody.summary()) == "There are too few sets to estimate probabilities for csls."
    assert mean_summary([nobody, sureness()]) == sureness().summary()


def test_the_error_of_exact_probabilities_is_none() -> None:
    assert calibration_error([Bin(4, 0.25, 1), Bin(2, 1.0, 2)]) == 0.0
    assert calibration_error([]) is None


@pytest.mark.parametrize(("error", "warns"), [(0.08, False), (0.0801, True)])
def test_the_text_says_where_it_is_worse(error: float, warns: bool) -> None:
    said = words("learnt", {**sureness().summary(), "error": error})
    assert ("do not rely on them" in said) == warns
    assert "67% of these are right" in said


def test_an_evaluation_measures_what_find_says() -> None:
    sets, labels = small_world(people=10, sets=3)
    tables = index(sets)
    fitted = train(tables, "baseline")
    calibration = calibrate(tables, fitted)
    result = leave_one_out(tables, {"baseline": fitted}, labels, calibrations={"baseline": [calibration]})
    [found] = result.sureness["baseline"]
    assert found.probabilities.shape == (30, DEPTH)
    assert (np.diff(found.probabilities, axis=1) <= 0).all()
    assert (found.worth == (found.probabilities >= 0.5).sum(axis=1)).all(), "nobody has more than 20"
    facts = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert facts["calibration"] == {"baseline": found.summary()}
    twice = joined([result, result]).sureness["baseline"][0]
    assert twice.probabilities.shape == (60, DEPTH)
    assert twice.summary() == pytest.approx(found.summary())


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
