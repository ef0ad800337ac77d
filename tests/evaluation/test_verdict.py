from __future__ import annotations

from lookalike.evaluation.contrasts import gains
from lookalike.evaluation.harm import harm
from lookalike.evaluation.verdict import verdict
from tests.evaluation.samples import evaluation


def said(better: bool, count: int = 10) -> list[str]:
    result = evaluation(better, count)
    found = gains(result, "baseline")
    return verdict(result, found, "baseline", "learnt", harm(result, "learnt", "baseline"))


def test_the_baseline_wins() -> None:
    first, second, method, *rest = said(better=False)
    assert first.startswith("By mAP, nothing beats baseline here: ")
    assert second.startswith("By mean ANR, nothing beats baseline here: ")
    assert method.startswith("Against baseline, learnt is worse by mAP (")
    assert rest[0].startswith(
        "Query by query, learnt makes 0 of 10 better, 10 worse and leaves 0 as they are"
    )
    assert rest[1].startswith("It hurts most among queries with: baseline good (highest third)")
    assert rest[-1].startswith("10 queries of 10 people against 201 sets, 3 of them distractors; 10 queries")


def test_a_winner_beyond_chance() -> None:
    first, _, method, *rest = said(better=True)
    assert first.startswith("By mAP, learnt orders best: 1.0000 against 0.2")
    assert first.endswith("which is beyond chance.")
    assert "is better by mAP" in method
    assert "No kind of query that we look at is served worse on average." in rest


def test_a_winner_by_luck_is_called_so() -> None:
    # Three people cannot convince anybody: 2 of 8 patterns of signs are as good.
    first, _, method, *_ = said(better=True, count=3)
    assert first.endswith("which chance alone could have done, so nobody is shown to win.")
    assert "not different beyond chance by mAP" in method


def test_nothing_but_the_baseline() -> None:
    result = evaluation()
    result.runs.pop("learnt")
    [small_print] = verdict(result, {}, "baseline")
    assert small_print.startswith("10 queries of 10 people")
