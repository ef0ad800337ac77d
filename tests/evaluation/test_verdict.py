from __future__ import annotations

from dataclasses import replace

import numpy as np

from lookalike.evaluation.measures import Evaluation, harm
from lookalike.evaluation.statistics import gains
from lookalike.evaluation.verdict import verdict
from tests.evaluation.samples import evaluation


def said(better: bool, count: int = 10) -> list[str]:
    result = evaluation(better, count)
    found = gains(result, "baseline")
    return verdict(result, found, "baseline", "learnt", harm(result, "learnt", "baseline"))


def test_the_baseline_wins() -> None:
    first, second, method, *rest = said(better=False)
    assert first.startswith("By mAP, nothing beats baseline: 0.2")
    assert first.endswith(". Worse beyond chance: learnt.")
    assert second.startswith("By mean ANR, nothing beats baseline: 0.02")
    assert method.startswith("Against baseline, learnt is worse by mAP (")
    assert rest[0].startswith(
        "Query by query, learnt makes 0 of 10 better, 10 worse and leaves 0 as they are"
    )
    assert rest[1].startswith("It hurts most among queries with: baseline good (highest third)")
    assert rest[-1].startswith("10 queries of 10 people against 201 sets, 3 of them distractors; 10 queries")


def test_a_winner_beyond_chance() -> None:
    first, _, method, *rest = said(better=True)
    assert first.startswith("By mAP, learnt orders best: 1.0000 against 0.2")
    assert "That is better than baseline beyond chance (difference +0.7" in first
    assert "is better by mAP" in method
    assert rest[0].startswith("Query by query, learnt makes 10 of 10 better, 0 worse")
    assert not [sentence for sentence in rest if "hurts" in sentence]


def test_a_winner_by_luck_is_called_so() -> None:
    # Three people cannot convince anybody: 2 of 8 patterns of signs are as good.
    first, _, method, *_, small_print = said(better=True, count=3)
    assert first.startswith("By mAP, learnt comes first: 1.0000 against 0.3")
    assert first.endswith("so nobody is shown to win.")
    assert "not different beyond chance by mAP" in method
    assert small_print.endswith("With 3 people no difference could be shown at all.")


def test_who_does_as_well_is_not_called_lower() -> None:
    result = evaluation()
    same = replace(result, runs={"baseline": result.runs["baseline"], "twin": result.runs["baseline"] * 3})
    found = gains(same, "baseline")
    hurt = harm(same, "twin", "baseline")
    first, second, _, harmless, small_print = verdict(same, found, "baseline", "twin", hurt)
    assert first.endswith("; twin does as well.")
    assert second.endswith("; twin does as well.")
    assert harmless.startswith("Query by query, twin makes 0 of 10 better, 0 worse and leaves 10")
    assert small_print.endswith("corrected for 1 method.")


def test_the_best_may_be_luck_where_another_is_sure() -> None:
    # Steady finds every match one place earlier; wild finds two of twenty first and spoils nothing else.
    base = [np.array([number % 5 + 3]) for number in range(20)]
    steady = [ranks - 1 for ranks in base]
    wild = [np.array([1]) if number < 3 else ranks for number, ranks in enumerate(base)]
    names = [str(number) for number in range(20)]
    runs = {"baseline": [base], "wild": [wild], "steady": [steady]}
    result = Evaluation(names, names, 101, 0, 100, runs)
    first, *_ = verdict(result, gains(result, "baseline"), "baseline", "wild")
    assert first.startswith("By mAP, wild comes first: ")
    assert "Chance alone could have done that" in first
    assert "the best that is beyond chance is steady: " in first


def test_queries_passed_over_are_counted() -> None:
    result = replace(evaluation(), passed_over=1)
    assert "1 query was passed over: the gallery does not show" in verdict(result, {}, "baseline")[-1]


def test_nothing_but_the_baseline() -> None:
    result = evaluation()
    result.runs.pop("learnt")
    [small_print] = verdict(result, {}, "baseline")
    assert small_print.startswith("10 queries of 10 people")
