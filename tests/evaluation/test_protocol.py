from __future__ import annotations

import numpy as np
import pytest

from lookalike import FaceSet, Search, index, registry, train
from lookalike.errors import BadInput
from lookalike.evaluation.measures import Told, summary
from lookalike.evaluation.protocol import leave_one_out, outside
from lookalike.indexing.fit import calibrate
from lookalike.ranking import Decided
from lookalike.search.decided import NOTHING, Known
from tests.small_world import small_world

RERANKERS = registry.names("rerankers")


def test_every_set_with_a_match_is_a_query_and_the_rest_are_distractors() -> None:
    sets, labels = small_world(people=4, sets=2)
    rng = np.random.default_rng(9)
    sets.append(FaceSet("lonely", rng.normal(size=(3, sets[0].dimension))))
    labels["lonely"] = "hermit"
    tables = index(sets)
    result = leave_one_out(tables, {"baseline": train(tables, "baseline")}, labels)
    assert result.queries == sorted(set(labels) - {"lonely"})
    assert (result.sets, result.distractors, result.ranked) == (9, 1, 8)
    facts = result.to_dict()
    assert set(facts) == {"queries", "sets", "distractors", "rerankers", "calibration"}
    assert facts["calibration"] == {}, "nobody asked for it"
    assert facts["queries"] == 8


@pytest.mark.parametrize("name", RERANKERS)
def test_ranks_are_those_of_single_searches(name: str) -> None:
    """The batch of the protocol gives each query what it gets alone."""
    sets, labels = small_world()
    tables = index(sets)
    search = Search(tables, train(tables, name))
    result = leave_one_out(tables, {name: search.reranker}, labels)
    for query, ranks in zip(result.queries, result.runs[name][0], strict=True):
        ids = search.find(query).ids
        assert query not in ids
        assert [ids.index(id) + 1 for id in ids if labels[id] == labels[query]] == ranks.tolist()


def test_counting_the_query_changes_the_measures_and_not_the_search() -> None:
    sets, labels = small_world(people=5, sets=3)
    tables = index(sets)
    fitted = {"csls": train(tables, "csls")}
    plain = leave_one_out(tables, fitted, labels)
    counted = leave_one_out(tables, fitted, labels, count_query=True)
    assert (counted.queries, counted.ranked) == (plain.queries, plain.ranked)
    for ours, theirs in zip(counted.runs["csls"][0], plain.runs["csls"][0], strict=True):
        assert ours.tolist() == theirs.tolist()
    left_out = plain.values("csls")["mean_anr"]
    assert left_out.any(), "the world is too easy for this test"
    # Two matches each: two thirds.
    np.testing.assert_allclose(counted.values("csls")["mean_anr"], left_out * 2 / 3)
    assert not plain.query_counted


def test_what_is_known_comes_first_and_last_and_nothing_is_left_out() -> None:
    sets, labels = small_world(people=5, sets=4, spread=1.2)
    tables = index(sets)
    ids, fitted = list(tables.ids), {"auto": train(tables, "auto")}
    plain = leave_one_out(tables, fitted, labels)
    query = ids[0]
    same = [id for id in ids if id != query and labels[id] == labels[query]]
    others = [id for id in ids if labels[id] != labels[query]]
    # One match and one stranger are confirmed; two strangers and one match are rejected.
    first, last = [same[0], others[0]], [others[1], others[2], same[1]]
    said = Known(*(tuple(Decided(id, "said") for id in side) for side in (first, last)))
    found = leave_one_out(tables, fitted, labels, known={query: said, ids[1]: NOTHING})
    assert (plain.known, found.known) == (None, Told(1, 2, 3, 2))
    assert found.to_dict()["decisions"] == {"queries": 1, "confirmed": 2, "rejected": 3, "contradicted": 2}
    assert (found.queries, found.ranked, found.distractors) == (plain.queries, 19, plain.distractors)
    answers = Search(tables, fitted["auto"]).find(query, confirmed=first, rejected=last).ids
    whole = [*first, *answers, *last]
    assert sorted(whole) == sorted(set(ids) - {query})
    for place, asked in enumerate(found.queries):
        ranks = found.runs["auto"][0][place].tolist()
        if asked == query:
            assert ranks == [1 + whole.index(id) for id in whole if labels[id] == labels[query]]
        else:  # nothing is known of it
            assert ranks == plain.runs["auto"][0][place].tolist()
    with pytest.raises(BadInput, match="without decisions"):
        leave_one_out(tables, fitted, labels, sweep="auto", known={})


def test_sureness_is_about_the_sets_of_which_nothing_is_known() -> None:
    sets, labels = small_world(people=5, sets=4)
    tables = index(sets)
    fitted = train(tables, "auto")
    sure = {"auto": [calibrate(tables, fitted)]}
    query = tables.ids[0]
    same = [id for id in tables.ids if id != query and labels[id] == labels[query]]
    said = Known((Decided(same[0], "said"),), (Decided(same[1], "said"),))
    found = leave_one_out(tables, {"auto": fitted}, labels, calibrations=sure, known={query: said})
    [one] = found.sureness["auto"]
    ids = Search(tables, fitted).find(query, confirmed=same[:1], rejected=same[1:2]).ids
    assert one.ranks[0].tolist() == [ids.index(same[2]) + 1]
    assert np.isfinite(one.probabilities[0]).sum() in (0, len(ids))
    # Of a query of which all is decided there is nothing to be sure of.
    others = [id for id in tables.ids if labels[id] != labels[query]]
    all_said = Known(*(tuple(Decided(id, "said") for id in side) for side in (same, others)))
    found = leave_one_out(tables, {"auto": fitted}, labels, calibrations=sure, known={query: all_said})
    assert found.runs["auto"][0][0].tolist() == [1, 2, 3]
    assert found.sureness["auto"][0].ranks[0].tolist() == []
    assert set(found.calibration()["auto"]) == {"error", "error_first", "kept", "precision", "found"}


def test_perfect_world_has_perfect_measures() -> None:
    sets, labels = small_world(spread=0.01)
    tables = index(sets)
    found = leave_one_out(tables, {"baseline": train(tables, "baseline")}, labels).to_dict()["rerankers"]
    assert found["baseline"]["mean_anr"] == 0.0
    assert found["baseline"]["map"] == found["baseline"]["rank1"] == 1.0


def test_outside_queries_rank_the_whole_gallery() -> None:
    sets, labels = small_world(people=5, sets=3)
    asked = [faceset for faceset in sets if faceset.id in list(labels)[::4]]
    kept = [faceset for faceset in sets if faceset not in asked]
    stranger = FaceSet("stranger", np.random.default_rng(1).normal(size=(2, sets[0].dimension)))
    tables = index(kept)
    inside = {faceset.id: labels[faceset.id] for faceset in kept}
    people = [labels[faceset.id] for faceset in asked] + ["nobody"]
    result = outside(tables, {"learnt": train(tables)}, [*asked, stranger], people, inside)
    assert result.queries == [faceset.id for faceset in asked]
    assert result.ranked == len(kept)
    search = Search(tables, train(tables))
    for query, ranks in zip(asked, result.runs["learnt"][0], strict=True):
        ids = search.find(query).ids
        assert [ids.index(id) + 1 for id in ids if inside[id] == labels[query.id]] == ranks.tolist()
    assert summary(result.runs["learnt"][0], result.ranked)["match_in_100"] == 1.0


def test_nobody_twice_is_said() -> None:
    sets, _ = small_world(people=3, sets=1)
    tables = index(sets)
    with pytest.raises(BadInput, match="nothing to measure"):
        leave_one_out(tables, {"baseline": train(tables, "baseline")}, {one.id: one.id for one in sets})


def test_labels_must_fit() -> None:
    sets, labels = small_world(people=3)
    tables = index(sets)
    labels.pop(sets[0].id)
    with pytest.raises(BadInput, match="have no label"):
        leave_one_out(tables, {"baseline": train(tables, "baseline")}, labels)
