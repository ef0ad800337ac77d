from __future__ import annotations

import numpy as np
import pytest

from lookalike import FaceSet, Search, index, open_search, registry, train
from lookalike.errors import BadInput
from lookalike.method.metafeatures import metafeatures
from lookalike.method.proxies import proxy_slots
from lookalike.method.shortlist import Shortlist, Sizes, code_means, narrowed
from lookalike.method.tables import Row, Tables, rows
from lookalike.rerankers.contract import Beliefs, Reranker
from tests.small_world import small_world

SIMILARITIES = [
    name for name in registry.names("similarities") if registry.build("similarities", name).compares_faces
]
RERANKERS = [
    name for name in registry.names("rerankers") if not registry.build("rerankers", name).looks_at_all
]
# Small enough that most sets of a small world are left out.
TIGHT = Sizes(looked_at=24, guessed=8, kept=5, alone=8, trusted=1, served=4, asked=3)
# Those that pool tell a query's kin from its 40 nearest: a shortlist has more, and the gallery still more.
POOLING = ["adaptive", "auto"]
ROOMY = Sizes(looked_at=200, guessed=140, kept=100, trusted=2, served=4)


def shortlisted(search: Search, sizes: Sizes = TIGHT) -> Search:
    shortlist = Shortlist(search.tables, code_means(search.tables), sizes)
    return Search(search.tables, search.reranker, shortlist, search.calibration)


def test_parts_that_can_be_served_are_served() -> None:
    assert SIMILARITIES == ["manifold", "max_max"]
    asking = ["arithmetic_mean", "baseline", "geometric_mean", "learnt", "quadratic_mean"]
    assert sorted([*asking, *POOLING]) == RERANKERS


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("reranker", [name for name in RERANKERS if name not in POOLING])
def test_a_set_has_the_same_score_on_the_shortlist_as_among_all(similarity: str, reranker: str) -> None:
    sets, _ = small_world(people=12, sets=4)
    whole = open_search(sets, similarity, reranker)
    short = shortlisted(whole)
    outsiders = [FaceSet(f"out-{n}", one.faces[:2] + 0.1) for n, one in enumerate(sets[:6])]
    shorter = 0
    for query in [*(one.id for one in sets), *outsiders]:
        among_all = {answer.id: answer for answer in whole.find(query)}
        ranking = short.find(query, 4)
        assert len(ranking) == 4
        assert ranking.sets == len(among_all)
        shorter += ranking.total < ranking.sets
        for answer in ranking:
            truth = among_all[answer.id]
            assert (answer.score, answer.baseline, answer.through) == (
                truth.score,
                truth.baseline,
                truth.through,
            )
        # The order on the shortlist is the order among all, with the others left out.
        assert ranking.ids == [id for id in among_all if id in set(ranking.ids)]
    assert shorter > 40


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("reranker", POOLING)
def test_those_that_pool_score_as_among_all_or_nearly_so(similarity: str, reranker: str) -> None:
    sets, _ = small_world(people=60, sets=4, dimension=64)
    whole = open_search(sets, similarity, reranker)
    assert whole.reranker.pools == 5
    short = shortlisted(whole, ROOMY)
    outsiders = [FaceSet(f"out-{n}", one.faces[:2] + 0.1) for n, one in enumerate(sets[:20])]
    found, truth = [], []
    for query in [*(one.id for one in sets[::3]), *outsiders]:
        among_all = {answer.id: answer for answer in whole.find(query)}
        ranking = short.find(query, 4)
        assert ranking.total < len(sets) / 2
        assert all(answer.baseline == among_all[answer.id].baseline for answer in ranking)
        found += [answer.score for answer in ranking]
        truth += [among_all[answer.id].score for answer in ranking]
    # They differ a little where those that have a say were not compared, and are as their levels let expect.
    assert np.mean(np.isclose(found, truth, rtol=2e-2)) > 0.95
    np.testing.assert_allclose(found, truth, rtol=0.1)


@pytest.mark.parametrize("reranker", ["learnt", *POOLING])
def test_a_long_shortlist_is_everybody(reranker: str) -> None:
    sets, _ = small_world(people=20)
    whole = open_search(sets, reranker=reranker)
    for one in sets:
        assert shortlisted(whole, Sizes()).find(one.id, 100) == whole.find(one.id, 100)


def test_whoever_asks_for_more_than_a_shortlist_serves_is_answered_from_all() -> None:
    sets, _ = small_world(people=12, sets=4)
    search = shortlisted(open_search(sets, reranker="learnt"))
    for top in (None, 5):
        assert search.find(sets[0].id, top).total == len(sets) - 1
    assert search.find(sets[0].id, 4).total < len(sets) - 1


def test_nobody_gets_fewer_answers_because_one_set_has_all_the_near_faces() -> None:
    rng = np.random.default_rng(0)
    crowd = FaceSet("crowd", np.ones(8) + 0.01 * rng.normal(size=(50, 8)))
    sets = [crowd, *(FaceSet(f"s{n}", rng.normal(size=(2, 8))) for n in range(20))]
    whole = open_search(sets, "max_max:samples=0", "baseline")
    search = shortlisted(whole, TIGHT._replace(guessed=12))
    query = FaceSet("q", np.ones((1, 8)) + 0.01 * rng.normal(size=(1, 8)))
    assert search.find(query, 4).ids == whole.find(query, 4).ids


def test_an_explanation_is_the_one_among_all() -> None:
    sets, _ = small_world(people=12, sets=4)
    whole = open_search(sets, reranker="learnt")
    short = shortlisted(whole)
    target = short.find(sets[3].id, 3)[0].id
    assert short.explain(sets[3].id, target) == whole.explain(sets[3].id, target)


def test_neighbours_of_the_nearest_are_ranked_too() -> None:
    sets, _ = small_world(people=12, sets=4)
    tables = index(sets)
    alone = Shortlist(tables, code_means(tables), TIGHT._replace(trusted=0))
    joined = Shortlist(tables, code_means(tables), TIGHT)
    query = tables.sets[7]
    friends = set(tables.neighbours.sets[7, : TIGHT.friends])  # nobody is nearer to a set than itself
    assert set(joined.of(query, True).targets) == set(alone.of(query, True).targets) | friends


def test_the_nearest_sets_are_on_it() -> None:
    sets, _ = small_world(people=40, sets=5, dimension=32)
    tables = index(sets)
    shortlist = Shortlist(
        tables, code_means(tables), Sizes(looked_at=100, guessed=50, kept=30, alone=50, trusted=0)
    )
    found = [
        np.isin(tables.neighbours.sets[number, :10], shortlist.of(tables.sets[number], True).targets).mean()
        for number in range(len(tables))
    ]
    assert np.mean(found) > 0.98


def test_narrowed_tables_know_just_what_is_asked() -> None:
    sets, _ = small_world()
    tables = index(sets)
    targets = np.array([2, 5, 11])
    view, member, chosen = narrowed(tables, targets, 7, proxies=3)
    assert view.ids[:3] == tuple(tables.ids[number] for number in targets)
    assert len(view) == 3
    assert member is not None
    assert view.ids[member] == tables.ids[7]
    assert len(set(view.ids)) == len(view.ids) == len(view.sets)
    for place, number in enumerate(targets):
        near = [view.ids[local] for local in view.neighbours.sets[place]]
        assert near == [tables.ids[other] for other in tables.neighbours.sets[number, :4]]
    [whole] = rows(tables, tables.sets[7:8], [7])
    [part] = rows(view, tables.sets[7:8], [member])
    assert chosen.tolist() == [tables.numbers[id] for id in view.ids]
    np.testing.assert_array_equal(part.scores, whole.scores[chosen])


def test_codes_of_other_faces_are_refused() -> None:
    tables = index(small_world()[0])
    with pytest.raises(BadInput, match="codes of"):
        Shortlist(tables, code_means(index(small_world(people=3)[0])))


def test_a_similarity_without_faces_has_no_codes() -> None:
    with pytest.raises(BadInput, match="does not compare faces"):
        code_means(index(small_world()[0], "max_correlation"))


def test_a_gallery_of_two_sets() -> None:
    sets, _ = small_world(people=1, sets=2)
    search = shortlisted(Search(index(sets), train(index(sets))), Sizes())
    assert search.find(sets[0].id, 5).ids == [sets[1].id]
    assert search.find(sets[0].id, 5).total == 1


def test_a_query_of_one_face_finds_sets_of_many() -> None:
    rng = np.random.default_rng(0)
    sets = [FaceSet(f"s{n:03d}", rng.normal(size=8) + 0.5 * rng.normal(size=(30, 8))) for n in range(150)]
    whole = open_search(sets, "max_max:samples=0", "baseline")
    short = shortlisted(whole, Sizes(guessed=60, served=20))
    query = FaceSet("q", rng.normal(size=(1, 8)))
    found = set(short.find(query, 20).ids)
    assert len(found & set(whole.find(query, 20).ids)) >= 19


class WeakestLink(Reranker):
    """A re-ranker of somebody else, who does not know of shortlists."""

    with_baseline = False

    def __init__(self, proxies: int = 3) -> None:
        self.proxies = proxies

    def beliefs(self, row: Row, tables: Tables) -> Beliefs:
        slots = proxy_slots(tables.neighbours, self.proxies, row.member)
        features = metafeatures(row, tables, slots)
        proxies = np.take_along_axis(tables.neighbours.sets, slots, axis=1)
        return Beliefs(proxies, slots, features, np.minimum(features[..., 0], features[..., 2]), None)


class Mute(WeakestLink):
    """One that does not say how many proxies it asks."""

    def __init__(self) -> None:
        pass

    def beliefs(self, row: Row, tables: Tables) -> Beliefs:
        return WeakestLink(3).beliefs(row, tables)


def test_a_reranker_of_ones_own_speaks_on_a_shortlist_too() -> None:
    sets, _ = small_world(people=12, sets=4)
    whole = Search(index(sets), WeakestLink())
    short = shortlisted(whole)
    for one in sets:
        among_all = {answer.id: answer for answer in whole.find(one.id)}
        for answer in short.find(one.id, 4):
            assert (answer.score, answer.through) == (
                among_all[answer.id].score,
                among_all[answer.id].through,
            )
    assert not WeakestLink().looks_at_all
    assert Mute().looks_at_all
