"""Refine: let what the user confirmed and rejected change the order of the answers.

Confirmed sets ask together with the query, and an answer has the mean of what each of them gives it. A set
that is more like a rejected one than like all of them loses a part of the difference. Both rules are the best
of a few on real faces: ``benchmarks/study_feedback.py`` measures them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import parts
from lookalike.asking import check_top, name_of
from lookalike.collection.queries import several
from lookalike.faceset import FaceSet
from lookalike.kernels.order import best_first, places
from lookalike.ranking import Answer, Ranking
from lookalike.retrieval import Search
from lookalike.similarities.contract import PreparedSets
from lookalike.transitivity.calibration import worth_reading
from lookalike.transitivity.tables import compare

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Time grows with these: so many sets ask, the query among them, and so many rejected ones are held against.
MOST_ASKING: Final = 10
MOST_AGAINST: Final = 10
# How much of the likeness to a rejected set beyond that to the query's person is taken off.
PENALTY: Final = 0.25


@dataclass(frozen=True)
class Refined:
    """A ranking that knows decisions.

    Attributes
    ----------
    ranking : Ranking
        Of the sets that nothing was decided about; its total counts these. The baseline of an answer is the
        mean too, its rank is that among the same sets.
    confirmed, rejected : tuple of str
        The sets that were decided on, as given.
    before : dict of str to int
        The place that each answer has without decisions, among the same sets.
    asked : dict of str to str
        The query or the confirmed set to which the answer is most alike: the evidence for the answer is what
        `Search.explain` says of these two.
    baseline : tuple of (str, int)
        The first sets by likeness alone, the mean too, as many as there are answers; each with its rank in
        the ranking.
    """

    ranking: Ranking
    confirmed: tuple[str, ...]
    rejected: tuple[str, ...]
    before: dict[str, int]
    asked: dict[str, str]
    baseline: tuple[tuple[str, int], ...] = ()


def refine(
    search: Search,
    query: str | FaceSet,
    confirmed: Sequence[str],
    rejected: Sequence[str],
    top: int | None = None,
) -> Refined:
    """Rank the sets that nothing was decided about, by all that was.

    Parameters
    ----------
    search : Search
    query : str or FaceSet
        As for `Search.find`.
    confirmed, rejected : sequence of str
        Sets that are known to show the query's person, and known not to. Those that the search does not know
        yet, because they were added later, are passed over.
    top : int, optional
        How many answers to return; all unless given.

    Returns
    -------
    Refined
        Without any decided set, its ranking is what `Search.find` returns.
    """
    check_top(top)
    own = search.member(query)
    friends, strangers = (_numbers(search, given, own) for given in (confirmed, rejected))
    group = [query, *_some_friends(search, query, friends)]
    against = _nearest_strangers(search, group, np.setdiff1d(strangers, friends))
    told = _ask(search, [*group, *against], len(group), _undecided(search, own, friends, strangers), top)
    scores, baseline = told.scores[: len(group)], told.baseline[: len(group)]
    fused, likeness = scores.mean(axis=0), baseline.mean(axis=0)
    if against:
        fused = fused - PENALTY * np.maximum(told.scores[len(group) :].max(axis=0) - fused, 0.0)
    whole = best_first(fused, likeness)
    order, alone = whole[:top], best_first(likeness, likeness, top)
    ids = search.tables.ids
    found = [ids[number] for number in told.targets[order]]
    names, before = [name_of(one) for one in group], 1 + places(scores[0], baseline[0], order)
    ranks = 1 + places(fused, likeness, alone)
    return Refined(
        _ranking(search, query, told, fused, likeness, whole, scores.argmax(axis=0), top),
        tuple(confirmed),
        tuple(rejected),
        dict(zip(found, before.tolist(), strict=True)),
        {id: names[who] for id, who in zip(found, scores.argmax(axis=0)[order], strict=True)},
        tuple((ids[told.targets[place]], int(rank)) for place, rank in zip(alone, ranks, strict=True)),
    )


def nobody(search: Search, query: str | FaceSet) -> Refined:
    """What there is to say of a query that is alone in its gallery, where `refine` and `find` refuse."""
    similarity, reranker = parts.spec(search.tables.similarity), parts.spec(search.reranker)
    return Refined(Ranking(name_of(query), (), 0, similarity, reranker, 0), (), (), {}, {})


# Who is asked.


def _numbers(search: Search, given: Sequence[str], own: int | None) -> Numbers:
    """Numbers of those sets that the search knows, in increasing order, the query left out."""
    known = search.tables.numbers
    return np.array(sorted({known[id] for id in several(given) if id in known} - {own}), dtype=np.int64)


def _undecided(search: Search, own: int | None, *decided: Numbers) -> Numbers:
    asks = [] if own is None else [own]
    return np.setdiff1d(np.arange(len(search.tables)), [*asks, *np.concatenate(decided)])


def _likeness(search: Search, group: Sequence[str | FaceSet], others: Numbers) -> Floats:
    """How alike each of some sets is to the one of a group that it is most alike to."""
    asked = PreparedSets.join([search.prepared(each) for each in group])
    return compare(search.tables.similarity, asked, search.tables.sets[others]).scores.max(axis=0)


def _some_friends(search: Search, query: str | FaceSet, friends: Numbers) -> list[str]:
    """Confirmed sets that ask too: from the most alike to the least, evenly, if there are too many."""
    if len(friends) >= MOST_ASKING:
        by_likeness = friends[np.argsort(-_likeness(search, [query], friends), kind="stable")]
        friends = by_likeness[np.linspace(0, len(friends) - 1, MOST_ASKING - 1).round().astype(int)]
    return [search.tables.ids[number] for number in friends]


def _nearest_strangers(search: Search, group: Sequence[str | FaceSet], strangers: Numbers) -> list[str]:
    """Rejected sets that are held against answers: those most like the group, who mislead most."""
    if len(strangers) > MOST_AGAINST:
        order = np.argsort(-_likeness(search, group, strangers), kind="stable")
        strangers = np.sort(strangers[order[:MOST_AGAINST]])
    return [search.tables.ids[number] for number in strangers]


# What they say.


class _Told(NamedTuple):
    """What several sets make of the same targets."""

    targets: Numbers  # (m,): in increasing order
    scores: Floats  # (sets, m)
    baseline: Floats  # (sets, m)
    through: Numbers  # (sets, m): number of the proxy, or -1
    chances: Floats | None  # (group, m): how likely each shows the person; None if nobody can tell
    sets: int  # how many are undecided; more than targets if there is a shortlist


def _ask(
    search: Search, asking: Sequence[str | FaceSet], group: int, undecided: Numbers, top: int | None
) -> _Told:
    """Let each set score every undecided one, or those that a shortlist of the first few finds."""
    near = _nearest(search, asking, group, top)
    found = _shortlisted(search, near[:group], undecided)
    targets = undecided if found is None else np.intersect1d(found, undecided)
    scores, baseline, through, chances = [], [], [], []
    if found is None:
        for row in search.rows(asking):
            scored = search.reranker.score(row, search.tables)
            scores.append(scored.scores[targets])
            baseline.append(row.scores[targets])
            through.append(scored.through[targets])
            said = search.probabilities(row, scored)
            chances.append(None if said is None else said[targets])
    else:
        for each, own in zip(asking, near, strict=True):
            ranked = np.union1d(found, own)
            ranked = ranked[ranked != search.member(each)]
            among, row, sets = search.among(each, ranked)
            scored = among.reranker.score(row, among.tables)
            chosen = np.append(sets, -1)
            where = np.searchsorted(ranked, targets)
            scores.append(scored.scores[where])
            baseline.append(row.scores[where])
            through.append(chosen[scored.through[where]])
            said = search.probabilities(row, scored)
            chances.append(None if said is None else said[where])
    told = [each for each in chances[:group] if each is not None]
    sure = np.stack(told) if len(told) == group else None
    return _Told(targets, np.stack(scores), np.stack(baseline), np.stack(through), sure, len(undecided))


def _nearest(search: Search, asking: Sequence[str | FaceSet], group: int, top: int | None) -> list[Numbers]:
    """What a shortlist finds for each that asks; nothing at all where all sets are to be ranked.

    Beyond the group it is looked for only where kin are pooled, since these are told from it.
    """
    shortlist = search.shortlist
    if shortlist is None or not shortlist.serves(top):
        return []
    looking = len(asking) if search.reranker.pools else group
    nobody = [np.empty(0, dtype=np.int64)] * (len(asking) - looking)
    return [*(search.shortlisted(shortlist, each) for each in asking[:looking]), *nobody]


def _shortlisted(search: Search, near: Sequence[Numbers], undecided: Numbers) -> Numbers | None:
    """The sets worth ranking for any of a group, decided or not; None where all are to be ranked."""
    if search.shortlist is None or not near:
        return None
    found = np.unique(np.concatenate(near))
    # All nearest faces are those of a few very large sets, or of sets that were decided on.
    return found if np.isin(found, undecided).sum() >= search.shortlist.sizes.served else None


def _ranking(
    search: Search,
    query: str | FaceSet,
    told: _Told,
    scores: Floats,
    baseline: Floats,
    whole: Numbers,
    who: Numbers,
    top: int | None,
) -> Ranking:
    ids, order, chances = search.tables.ids, whole[:top], None
    if told.chances is not None:
        # What each of the group would say alone, on average; never more than of the answer before.
        chances = np.minimum.accumulate(told.chances.mean(axis=0)[whole])
    ranks = 1 + places(baseline, baseline, order)
    answers = []
    for rank, (place, baseline_rank) in enumerate(zip(order, ranks, strict=True), 1):
        through = int(told.through[who[place], place])
        answers.append(
            Answer(
                rank=rank,
                id=ids[told.targets[place]],
                score=float(scores[place]),
                baseline=float(baseline[place]),
                baseline_rank=int(baseline_rank),
                through=ids[through] if through >= 0 else None,
                probability=None if chances is None else float(chances[rank - 1]),
            )
        )
    return Ranking(
        name_of(query),
        tuple(answers),
        len(told.targets),
        parts.spec(search.tables.similarity),
        parts.spec(search.reranker),
        told.sets,
        worth_reading(chances),
        search.pictures,
        None if isinstance(query, str) else query.pictures,
    )
