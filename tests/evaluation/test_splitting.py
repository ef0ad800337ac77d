from __future__ import annotations

import numpy as np
import pytest

from lookalike import FaceSet, Search, index, train
from lookalike.errors import BadInput
from lookalike.evaluation.experiment import split
from lookalike.evaluation.protocol import held_out
from tests.small_world import small_world


def test_one_set_of_everybody_who_has_two_is_taken_out() -> None:
    sets, labels = small_world(people=5, sets=3)
    sets.append(FaceSet("lonely", np.random.default_rng(9).normal(size=(3, sets[0].dimension))))
    labels["lonely"] = "hermit"
    tables = index(sets)
    smaller, queries = split(tables, labels, np.random.default_rng(0))
    assert sorted(labels[id] for id in queries) == sorted(set(labels.values()) - {"hermit"})
    assert set(smaller.ids) | set(queries) == set(labels)
    assert not set(smaller.ids) & set(queries)
    assert "lonely" in smaller.ids
    # The gallery is indexed as if the queries had never been there.
    fresh = index([one for one in sets if one.id in smaller.ids])
    for found, expected in zip(smaller.neighbours, fresh.neighbours, strict=True):
        np.testing.assert_array_equal(found, expected)
    again = split(tables, labels, np.random.default_rng(0))
    assert list(again.queries) == list(queries)
    assert any(list(split(tables, labels, np.random.default_rng(n)).queries) != list(queries) for n in (1, 2))


def test_held_out_queries_get_what_an_outside_query_gets() -> None:
    sets, labels = small_world(people=5, sets=3)
    tables = index(sets)
    smaller, queries = split(tables, labels, np.random.default_rng(1))
    reranker = train(smaller, "learnt")
    result = held_out(smaller, {"learnt": reranker}, queries, labels)
    search = Search(smaller, reranker)
    by_id = {one.id: one for one in sets}
    for id, ranks in zip(result.queries, result.runs["learnt"][0], strict=True):
        ids = search.find(by_id[id]).ids
        assert [ids.index(one) + 1 for one in ids if labels[one] == labels[id]] == ranks.tolist()
    assert result.ranked == len(smaller)
    assert result.distractors == 0


def test_labels_must_fit() -> None:
    sets, labels = small_world(people=3)
    labels.pop(sets[0].id)
    with pytest.raises(BadInput, match="have no label"):
        split(index(sets), labels, np.random.default_rng(0))
