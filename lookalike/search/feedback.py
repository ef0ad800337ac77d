"""Feedback: what the user confirmed and rejected changes the order of the answers.

Confirmed sets ask together with the query, and an answer has the mean of what each of them gives it. A set
that is more like a rejected one than like all of them loses a part of the difference. Both rules are the best
of a few on real faces: ``benchmarks/study_feedback.py`` measures them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.faceset import FaceSet
from lookalike.gallery.set_rows import several
from lookalike.kernels.neighbours import best_first, places
from lookalike.method.shortlist import Shortlisted
from lookalike.method.tables import compare
from lookalike.ranking import Decided, Ranking
from lookalike.rerankers.contract import Scoring
from lookalike.search.query import Search, check_top, name_of
from lookalike.similarities.contract import PreparedSets

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

    The `ranking` is of the sets that nothing was decided about; its total counts these. The baseline of an
    answer is the mean too, its rank is that among the same sets. It names those that were decided on, as
    given.
    """

    ranking: Ranking
    before: dict[str, int]  # the place that each answer has without decisions, among the same sets
    # The query or the confirmed set that is surest of each answer, whose evidence is that of the answer.
    asked: dict[str, str]
    # The first sets by likeness alone, the mean too, as many as there are answers; with their ranks.
    baseline: tuple[tuple[str, int], ...] = ()


def refine(
    search: Search,
    query: str | FaceSet,
    confirmed: Sequence[str | Decided],
    rejected: Sequence[str | Decided],
    top: int | None = None,
) -> Refined:
    """Rank the sets that nothing was decided about, by all that was; without any, as `Search.find` does.

    `confirmed` and `rejected` are known to show the query's person, and known not to (`search.decided`).
    Those that the search does not know yet, because they were added later, are passed over.
    """
    check_top(top)
    same, others = (_as_decided(given) for given in (confirmed, rejected))
    told = _told(search, query, same, others, top)
    scoring = told.together
    order = scoring.order(top)
    before = 1 + places(told.alone.scores, told.alone.baseline, order)
    first = best_first(scoring.baseline, scoring.baseline, top)
    ranks = 1 + places(scoring.scores, scoring.baseline, first)
    ids, targets = search.tables.ids, scoring.targets
    return Refined(
        ranking=replace(search.ranking(query, scoring, top), confirmed=same, rejected=others),
        before={ids[targets[place]]: int(rank) for place, rank in zip(order, before, strict=True)},
        asked={ids[targets[place]]: told.names[told.nearest[place]] for place in order},
        baseline=tuple((ids[targets[place]], int(rank)) for place, rank in zip(first, ranks, strict=True)),
    )


def refined_scoring(
    search: Search,
    query: str | FaceSet,
    confirmed: Sequence[str | Decided],
    rejected: Sequence[str | Decided],
) -> Scoring:
    """What `refine` ranks by: of every set that nothing was decided about, by all that was."""
    return _told(search, query, _as_decided(confirmed), _as_decided(rejected), None).together


def nobody(search: Search, query: str | FaceSet) -> Refined:
    """What there is to say of a query that is alone in its gallery, where `refine` and `find` refuse."""
    numbers, values = np.empty(0, dtype=np.int64), np.empty(0)
    empty = Scoring(targets=numbers, scores=values, baseline=values, through=numbers, chances=None, sets=0)
    return Refined(search.ranking(query, empty), {}, {})


# Who is asked.


def _as_decided(given: Sequence[str | Decided]) -> tuple[Decided, ...]:
    return tuple(one if isinstance(one, Decided) else Decided(str(one)) for one in several(given))


def _numbers(search: Search, given: Sequence[Decided], own: int | None) -> Numbers:
    """Numbers of those sets that the search knows, in increasing order, the query left out."""
    known = search.tables.numbers
    return np.array(sorted({known[one.id] for one in given if one.id in known} - {own}), dtype=np.int64)


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

    together: Scoring
    alone: Scoring  # what the query makes of them without the others
    nearest: Numbers  # (m,): which of those who ask is surest of the target
    names: list[str]  # of those who ask


def _told(
    search: Search, query: str | FaceSet, same: Sequence[Decided], others: Sequence[Decided], top: int | None
) -> _Told:
    """Let the query ask, with whoever else is known to show its person."""
    own = search.member(query)
    friends, strangers = (_numbers(search, given, own) for given in (same, others))
    if len(friends) or len(strangers):
        return _told_together(search, query, friends, strangers, top)
    [alone] = search.scorings([query], top)
    return _Told(alone, alone, np.zeros(len(alone.targets), dtype=np.int64), [name_of(query)])


def _told_together(
    search: Search, query: str | FaceSet, friends: Numbers, strangers: Numbers, top: int | None
) -> _Told:
    """Let the query and confirmed sets ask, and hold rejected ones against the answers."""
    own = search.member(query)
    group = [query, *_some_friends(search, query, friends)]
    against = _nearest_strangers(search, group, np.setdiff1d(strangers, friends))
    said = _ask(search, [*group, *against], len(group), _undecided(search, own, friends, strangers), top)
    asking, alone = said[: len(group)], said[0]
    scores = np.stack([one.scores for one in asking])
    fused, likeness = scores.mean(axis=0), np.stack([one.baseline for one in asking]).mean(axis=0)
    if against:
        theirs = np.stack([one.scores for one in said[len(group) :]])
        fused = fused - PENALTY * np.maximum(theirs.max(axis=0) - fused, 0.0)
    nearest = scores.argmax(axis=0)
    through = np.stack([one.through for one in asking])[nearest, np.arange(len(nearest))]
    told = [one.chances for one in asking if one.chances is not None]
    chances = None
    if len(told) == len(group):
        # What each of the group would say alone, on average; never more than of the answer before.
        chances, whole = np.stack(told).mean(axis=0), best_first(fused, likeness)
        chances[whole] = np.minimum.accumulate(chances[whole])
    together = replace(alone, scores=fused, baseline=likeness, through=through, chances=chances)
    return _Told(together, alone, nearest, [name_of(one) for one in group])


def _ask(
    search: Search, asking: Sequence[str | FaceSet], group: int, undecided: Numbers, top: int | None
) -> list[Scoring]:
    """Let each set score every undecided one, or those that a shortlist of the first few finds."""
    near = _nearest(search, asking, group, top)
    found = _shortlisted(search, [one.targets for one in near[:group] if one is not None], undecided)
    if found is None:
        told = [one.of(undecided) for one in search.scorings(asking)]
    else:
        targets, told = np.intersect1d(found, undecided), []
        for each, own in zip(asking, near, strict=True):
            ranked = found if own is None else np.union1d(found, own.targets)
            ranked, beside = ranked[ranked != search.member(each)], None if own is None else own.near
            told.append(search.scoring_among(each, ranked, beside).of(targets))
    return [replace(one, sets=len(undecided)) for one in told]


def _nearest(
    search: Search, asking: Sequence[str | FaceSet], group: int, top: int | None
) -> list[Shortlisted | None]:
    """What a shortlist finds for each that asks; nothing at all where all sets are to be ranked.

    Beyond the group it is looked for only where kin are pooled, since these are told from it.
    """
    shortlist = search.shortlist
    if shortlist is None or not shortlist.serves(top):
        return []
    looking = len(asking) if search.reranker.pools else group
    nobody = [None] * (len(asking) - looking)
    return [*(search.shortlisted(shortlist, each) for each in asking[:looking]), *nobody]


def _shortlisted(search: Search, near: Sequence[Numbers], undecided: Numbers) -> Numbers | None:
    """The sets worth ranking for any of a group, decided or not; None where all are to be ranked."""
    if search.shortlist is None or not near:
        return None
    found = np.unique(np.concatenate(near))
    # All nearest faces are those of a few very large sets, or of sets that were decided on.
    return found if np.isin(found, undecided).sum() >= search.shortlist.sizes.served else None
