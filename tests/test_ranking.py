"""Ranking: a sequence of answers that can be written as plain values."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest

from lookalike.ranking import Answer, Explanation, Ranking, Witness

FIRST = Answer(1, "b", 0.9, 0.4, 7, "p")
SECOND = Answer(2, "a", 0.8, 0.8, 1, None)
RANKING = Ranking("q", (FIRST, SECOND), 12, "max_max:samples=10", "learnt:proxies=10", 12)
WITNESS = Witness("p", (0.8, 0.4, 0.9, 1.0, 0.7), 1.2, 1.0, 3, 1, 2, 0, 9)


def test_a_ranking_is_a_sequence() -> None:
    assert len(RANKING) == 2
    assert RANKING[0] is FIRST
    assert RANKING[-1] is SECOND
    assert RANKING[:1] == (FIRST,)
    assert list(RANKING) == [FIRST, SECOND]
    assert list(reversed(RANKING)) == [SECOND, FIRST]
    assert SECOND in RANKING
    assert RANKING.index(SECOND) == 1
    assert RANKING.ids == ["b", "a"]
    with pytest.raises(IndexError):
        RANKING[2]


def test_an_empty_ranking() -> None:
    empty = Ranking("q", (), 0, "max_max", "baseline", 0)
    assert len(empty) == 0
    assert not empty
    assert empty.ids == []


def test_nothing_can_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        RANKING.total = 3
    with pytest.raises(FrozenInstanceError):
        FIRST.rank = 2
    assert Ranking("q", (FIRST, SECOND), 12, "max_max:samples=10", "learnt:proxies=10", 12) == RANKING


def test_plain_values() -> None:
    plain = json.loads(json.dumps(RANKING.to_dict()))
    assert set(plain) == {"query", "answers", "total", "similarity", "reranker", "sets", "worth_reading"}
    assert plain["query"] == "q"
    assert plain["total"] == 12
    assert plain["answers"][0] == {
        "rank": 1,
        "id": "b",
        "score": 0.9,
        "baseline": 0.4,
        "baseline_rank": 7,
        "through": "p",
        "probability": None,
    }
    assert plain["answers"][1]["through"] is None


def test_an_explanation_in_plain_values() -> None:
    explanation = Explanation("q", FIRST, 12, 0, 4, "max_max", "learnt", (WITNESS,))
    plain = json.loads(json.dumps(explanation.to_dict()))
    assert plain["answer"]["id"] == "b"
    assert plain["witnesses"][0]["numbers"] == [0.8, 0.4, 0.9, 1.0, 0.7]
    assert plain["witnesses"][0]["rank_without"] == 9
    assert Explanation("q", FIRST, 12, 0, 4, "max_max", "baseline").witnesses == ()
