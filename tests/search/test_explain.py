"""Explain: what is told of a score adds up to it, whatever the gallery."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import FaceSet
from lookalike.ranking import Answer
from lookalike.search.explain import SHOWN, Explanation, Influence, Mover, Relative, _merged, agreeing
from lookalike.search.query import Search, open_search

KINDS = ("everybody", "stranger", "kin", "neighbour", "mutual")


def drawn(seed: int, count: int, people: int, light: float, noise: float) -> list[FaceSet]:
    """Sets of some people in four kinds of light."""
    rng = np.random.default_rng(seed)
    faces = rng.normal(size=(people, 24))[np.arange(count) % people]
    faces = faces + light * rng.normal(size=(4, 24))[rng.integers(4, size=count)]
    faces = faces + noise * rng.normal(size=(count, 24))
    return [
        FaceSet(f"set-{number:03d}", each + 0.2 * rng.normal(size=(2, 24)))
        for number, each in enumerate(faces)
    ]


def check(told: Explanation) -> None:
    assert told.alone is not None
    moved = sum(one.moved for one in told.influences)
    assert told.alone + moved == pytest.approx(told.answer.score, abs=1e-9)
    kinds = [one.kind for one in told.influences]
    assert kinds == [kind for kind in KINDS if kind in kinds]
    for one in told.influences:
        shown = [each for each in told.relatives if each.kind == one.kind]
        assert one.moved == pytest.approx(sum(each.moved for each in shown) + one.others_moved, abs=1e-9)
        assert one.others >= 0
        assert len(shown) <= SHOWN
        assert len({each.id for each in shown}) == len(shown)
        assert not {each.id for each in shown} & {told.query, told.answer.id}
        # Lists can only add, and no more than they count.
        assert one.kind not in ("neighbour", "mutual") or -1e-12 <= one.moved <= (told.trust or 0) + 1e-12
    lines = told.lines
    assert sum(one.moved for one in lines) == pytest.approx(told.answer.score, abs=1e-9)
    assert round(sum(one.rounded for one in lines), 3) == pytest.approx(told.answer.score, abs=5.01e-4)
    for line in lines:
        assert abs(line.rounded - line.moved) < 1e-3 + 1e-9
        assert line.rounded * line.moved >= 0
        assert line.relative is None or abs(line.rounded) >= 1e-3
    kin, strangers = ({one.id for one in told.relatives if one.kind == kind} for kind in ("kin", "stranger"))
    assert not kin & strangers


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    count=st.integers(21, 70),
    share=st.sampled_from([2, 4, 9, 70]),
    light=st.sampled_from([0.0, 0.6, 1.5]),
    noise=st.sampled_from([0.0, 0.5, 1.2]),
    reranker=st.sampled_from(["auto", "adaptive"]),
)
def test_a_score_is_the_sum_of_what_is_told(
    seed: int, count: int, share: int, light: float, noise: float, reranker: str
) -> None:
    *sets, outside = drawn(seed, count, max(1, count // share), light, noise)
    search = open_search(sets, reranker=reranker)
    for query in (sets[0].id, outside):
        ranking = search.find(query)
        places = [0, 1, 2, len(ranking) // 2, len(ranking) - 1]
        told = list(search.explain_many(query, [ranking[place].id for place in places]))
        for place, one in zip(places, told, strict=True):
            assert one.answer == ranking[place]
            if search.reranker.helps:  # type: ignore[attr-defined]
                check(one)
            else:  # where nobody seems to be there twice, auto leaves everything as it is
                assert (one.alone, one.influences, one.relatives, one.lines) == (None, (), (), [])
                assert one.answer.score == one.answer.baseline
        # By what pairs say alone the order is that of the baseline.
        for better, worse in pairwise(sorted(told, key=lambda one: -one.answer.baseline)):
            assert (better.alone or 0.0) >= (worse.alone or 0.0)


def searched(light: float, count: int = 60) -> Search:
    return open_search(drawn(0, count, count // 4, light, 0.6), reranker="adaptive")


def test_kinds_that_were_not_asked_are_left_out() -> None:
    search = searched(1.5)
    assert [one.kind for one in search.explain("set-000", "set-015").influences] == list(KINDS)
    fewer = open_search(drawn(0, 12, 3, 1.5, 0.6), reranker="adaptive").explain("set-000", "set-003")
    assert (fewer.alone, fewer.influences, fewer.relatives, fewer.trust) == (None, (), (), None)
    assert fewer.lines == []
    # Where strangers are no more alike than anybody, nothing is subtracted.
    plain = open_search(drawn(1, 60, 4, 0.0, 0.3), reranker="adaptive")
    assert not plain.reranker.strengths_.subtract  # type: ignore[attr-defined]
    assert [one.kind for one in plain.explain("set-000", "set-004").influences] == [
        kind for kind in KINDS if kind != "stranger"
    ]


def test_places_on_the_way_are_those_of_the_method() -> None:
    search = searched(1.5)
    [row] = search.rows(["set-000"])
    weighed = search.reranker.weighed(row, len(search.tables))  # type: ignore[attr-defined]
    for target in (5, 15, 30):
        told = search.explain("set-000", f"set-{target:03d}")
        assert told.rank_before_kin == 1 + (weighed.values[1:] > weighed.values[target]).sum()
        assert told.rank_before_lists == 1 + (weighed.pooled[1:] > weighed.pooled[target]).sum()
        assert told.trust == weighed.agreed.trust
        near = sum(one.moved for one in told.influences if one.kind in ("neighbour", "mutual"))
        assert near == pytest.approx(weighed.agreed.trust * weighed.agreed.values[target])


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ((0.3, 0.1), None, Mover(7, "query", 0.3, 0.1)),
        (None, (None, -0.1), Mover(7, "target", None, -0.1)),
        ((None, 0.2), (None, -0.1), Mover(7, "both", None, 0.1)),
        ((0.9, 0.2), (0.7, 0.1), Mover(7, "both", 0.7, 0.3)),
        ((0.2, 0.2), (0.7, 0.1), Mover(7, "target", 0.7, 0.3)),
    ],
)
def test_who_is_on_both_sides_is_one(
    ours: tuple[float | None, float] | None, theirs: tuple[float | None, float] | None, expected: Mover
) -> None:
    merged = _merged(7, ours, theirs)
    assert merged[:3] == expected[:3]
    assert merged.moved == pytest.approx(expected.moved)


def test_rounded_lines_add_up_though_rounded_terms_would_not() -> None:
    answer = Answer(1, "b", 1.0014, 0.5, 1, None)
    relative = Relative("c", "neighbour", "both", None, 0.2004, 0, 0, 0, 0)
    influences = (
        Influence("everybody", 0.1004, 0, 0.1004),
        Influence("neighbour", 0.4004, 3, 0.2),
        Influence("mutual", 0.0, 0, 0.0),
    )
    told = Explanation("a", answer, 9, 0, 0, "max_max", "auto", (), 0.5006, influences, (relative,), 0.6)
    assert [one.rounded for one in told.lines] == [0.501, 0.1, 0.2, 0.2, 0.0]
    assert [one.others for one in told.lines] == [0, 0, 0, 3, 0]
    assert agreeing(told) == "their neighbours are mostly the same sets"
