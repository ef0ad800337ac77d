"""Explain: the evidence for one answer, what its score is the sum of, and through which faces."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.neighbours import places
from lookalike.method.kin import SURE, Evidence, Group, Sides
from lookalike.method.tables import Row, Tables
from lookalike.ranking import Answer
from lookalike.rerankers.contract import Beliefs, Reranker
from lookalike.similarities.contract import Prepared


@dataclass(frozen=True)
class Witness:
    """What one proxy says about query and target.

    Attributes
    ----------
    proxy : str
        The set that stands between the two.
    numbers : tuple of five floats
        s1 to s5.
    regression : float or None
        What the regressor makes of them, before clipping; None if the re-ranker has no regressor.
    belief : float
        What the re-ranker makes of them: the score this proxy alone would give.
    query_face, proxy_face_to_query : int
        The faces through which query and proxy are alike.
    proxy_face_to_target, target_face_to_proxy : int
        The faces through which proxy and target are alike.
    rank_without : int
        Place of the target if this proxy were silent.

    Examples
    --------
    >>> from lookalike import explain
    >>> from lookalike.demo.vectors import vector_world
    >>> sets = [one for one, _ in vector_world(counts={3: 8}, faces=4, dimension=118)]
    >>> witness = explain("video-0001", "video-0015", sets, reranker="arithmetic_mean").witnesses[0]
    >>> witness.proxy, len(witness.numbers)
    ('video-0019', 5)
    """

    proxy: str
    numbers: tuple[float, float, float, float, float]
    regression: float | None
    belief: float
    query_face: int
    proxy_face_to_query: int
    proxy_face_to_target: int
    target_face_to_proxy: int
    rank_without: int


@dataclass(frozen=True)
class Relative:
    """A set that had a say in an answer, and what it added to the score.

    Attributes
    ----------
    id : str
        The set.
    kind : str
        ``stranger``, who looks like one of the two and is probably neither; ``kin``, which probably shows one
        of the two people; or ``neighbour``, which is found near both. A set may be kin and neighbour.
    of : str
        ``query``, ``target`` or ``both``.
    chance : float or None
        That kin are kin of whom ``of`` says; None of others.
    moved : float
        What it added to the score; negative if it lowered it.
    query_face, face_to_query : int
        The faces through which the query and this set are alike.
    face_to_target, target_face : int
        The faces through which this set and the target are alike.

    Examples
    --------
    >>> from lookalike import Relative
    >>> one = Relative("clip-2", "kin", "query", 0.9, 0.25, 0, 3, 1, 2)
    >>> f"{one.id} is {one.kind} of the {one.of} and added {one.moved}"
    'clip-2 is kin of the query and added 0.25'
    """

    id: str
    kind: str
    of: str
    chance: float | None
    moved: float
    query_face: int
    face_to_query: int
    face_to_target: int
    target_face: int


@dataclass(frozen=True)
class Influence:
    """What all sets of one kind together added to a score.

    Attributes
    ----------
    kind : str
        ``everybody``: how near the target is to all sets, against an ordinary one. ``stranger``, ``kin`` and
        ``neighbour`` as in `Relative`. ``mutual``: how far query and target are in each other's lists.
    moved : float
        What they added; negative if they lowered the score.
    others : int
        How many of them are not among the relatives.
    others_moved : float
        What these added: ``moved`` less what the relatives of this kind did.

    Examples
    --------
    >>> from lookalike import Influence
    >>> kin = Influence("kin", moved=0.25, others=3, others_moved=0.125)
    >>> kin.moved - kin.others_moved  # by the relatives of this kind, who are named
    0.125
    """

    kind: str
    moved: float
    others: int
    others_moved: float


@dataclass(frozen=True)
class Line:
    """One term of the sum that a score is, as it is shown."""

    kind: str  # `alone`, or that of an `Influence`
    # Whose it is; None if it is that of the pair alone, or of those others that are not shown.
    relative: Relative | None
    others: int  # how many these are
    moved: float  # the term
    rounded: float  # the same to three places, so that all lines add up to the score to three places


@dataclass(frozen=True)
class Explanation:
    """The evidence for one answer: the answer itself, the faces that met directly, and who had a say.

    ``witnesses`` are of re-rankers that ask proxies. With `auto` and `adaptive` the score is a sum:
    ``alone`` and what each of the ``influences`` moved.

    Attributes
    ----------
    alone : float or None
        The baseline on the scale of the score: the order by it is that of the baseline. None if the second
        stage does not add up so, or asked nobody.
    influences : tuple of Influence
        In the order in which they come in; kinds that were not asked are left out.
    relatives : tuple of Relative
        The first few of each kind, who did most.
    trust : float or None
        How much lists of neighbours count for this query, from 0 to 1: the most that they could add. What
        pairs say counts for the rest.
    rank_before_kin, rank_before_lists : int or None
        The place of the answer before kin are pooled, and before lists are compared.
    verdict : str or None
        ``same`` or ``different`` where it is known whom the target shows: then it is no answer, and
        ``reason`` says in words how that is known.
    ranked : Answer or None
        The answer in the ranking that knows decisions, and ``among`` how many that ranks; None where nothing
        is decided about the query, and where the target is no answer.
    asked : str
        The set whose evidence this is, where decisions count: the query, or a confirmed set that is surer of
        the target. All else is told of these two alone.

    Examples
    --------
    >>> from lookalike import explain
    >>> from lookalike.demo.vectors import vector_world
    >>> sets = [one for one, _ in vector_world(counts={3: 8}, faces=4, dimension=118)]
    >>> evidence = explain("video-0001", "video-0019", sets, reranker="baseline")
    >>> evidence.answer.rank, evidence.query_face, evidence.target_face
    (1, 3, 2)
    """

    query: str
    answer: Answer
    total: int
    query_face: int
    target_face: int
    similarity: str
    reranker: str
    witnesses: tuple[Witness, ...] = field(default=())
    alone: float | None = None
    influences: tuple[Influence, ...] = field(default=())
    relatives: tuple[Relative, ...] = field(default=())
    trust: float | None = None
    rank_before_kin: int | None = None
    rank_before_lists: int | None = None
    verdict: str | None = None
    reason: str = ""
    ranked: Answer | None = None
    among: int = 0
    asked: str = ""

    @property
    def lines(self) -> list[Line]:
        """The terms of the score, one by one; none if it is no sum."""
        if self.alone is None:
            return []
        terms: list[tuple[str, Relative | None, int, float]] = [("alone", None, 0, self.alone)]
        for one in self.influences:
            terms += [(one.kind, each, 0, each.moved) for each in self.relatives if each.kind == one.kind]
            if one.others or one.kind in ("everybody", "mutual"):
                terms.append((one.kind, None, one.others, one.others_moved))
        # The sum so far is rounded, not the term: otherwise who adds up what is shown misses the score.
        sums = [round(sum(term[3] for term in terms[:end]), 3) for end in range(len(terms) + 1)]
        return [
            Line(*term, rounded=round(after - before, 3) + 0.0)  # no minus before nothing
            for term, before, after in zip(terms, sums, sums[1:], strict=False)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return asdict(self)


def agreeing(explanation: Explanation) -> str:
    """How far two lists of neighbours agree, in words."""
    agreed = sum(one.moved for one in explanation.influences if one.kind in ("neighbour", "mutual"))
    # Two lists that have half in common agree to a third: what both name counts once in what either names.
    share = agreed / explanation.trust if explanation.trust else 0.0
    words = "mostly the same" if share >= 1 / 3 else "in part the same" if share >= 0.05 else "other"
    return f"their neighbours are {words} sets"


# So many of each kind are shown: more than anybody reads.
SHOWN = 6
# Kin who are less likely than this are told together: few of them show one of the two.
LEAST = 0.05
# Scores are shown to three places.
SEEN = 0.001


class Mover(NamedTuple):
    """A set that moved a score, whatever sides it is on."""

    number: int
    of: str
    chance: float | None
    moved: float


def witnesses(
    tables: Tables, reranker: Reranker, prepared: Prepared, row: Row, target: int, said: Beliefs
) -> Iterator[Witness]:
    """What every proxy of the target says, the most convinced first; ``prepared`` is the query."""
    show = tables.similarity.exemplar
    for place in np.argsort(-said.beliefs[target], kind="stable"):
        proxy, slot = int(said.proxies[target, place]), int(said.slots[target, place])
        silenced = said.beliefs.copy()
        silenced[target, place] = -np.inf
        others = without(row.member, reranker.decide(row, said.proxies, silenced).scores)
        regressions = said.regressions
        yield Witness(
            proxy=tables.ids[proxy],
            numbers=tuple(float(s) for s in said.features[target, place]),  # type: ignore[arg-type]
            regression=None if regressions is None else float(regressions[target, place]),
            belief=float(said.beliefs[target, place]),
            query_face=show(prepared, row.query_modes[proxy]),
            proxy_face_to_query=show(tables.sets[proxy], row.set_modes[proxy]),
            proxy_face_to_target=show(tables.sets[proxy], tables.neighbours.their_modes[target, slot]),
            target_face_to_proxy=show(tables.sets[target], tables.neighbours.own_modes[target, slot]),
            rank_without=1 + int(places(others, row.scores, np.array([target]))[0]),
        )


def relations(
    tables: Tables, reranker: Reranker, prepared: Prepared, row: Row, target: int
) -> dict[str, Any]:
    """What a score is the sum of, who had a say in it, the target's place on the way; for `Explanation`.

    Empty if the re-ranker does not tell.
    """
    found = reranker.evidence(row, tables, target)
    if found is None:
        return {}
    influences, relatives = [], []
    for kind, moved, count, movers in _kinds(found):
        shown = sum(one.moved for one in movers)
        influences.append(Influence(kind, moved, count - len(movers), moved - shown))
        relatives += [_relative(tables, prepared, row, target, kind, one) for one in movers]
    return {
        "alone": found.alone,
        "influences": tuple(influences),
        "relatives": tuple(relatives),
        "trust": found.trust,
        "rank_before_kin": _place(row, found.before_kin, target),
        "rank_before_lists": _place(row, found.before_lists, target),
    }


def _kinds(found: Evidence) -> Iterator[tuple[str, float, int, list[Mover]]]:
    """Each kind that was asked: what all moved, how many they are, and those that are shown."""
    yield "everybody", found.everybody, 0, []
    kin = _together(found.kin)
    likely = [one for one in kin if one.chance is not None and one.chance >= LEAST]
    if found.strangers is not None:
        strangers = _together(found.strangers)
        # Nobody is shown as probably the same person and as probably somebody else.
        taken = {one.number for one in likely}
        yield "stranger", _sum(strangers), len(strangers), _most(strangers, taken)
    yield "kin", _sum(kin), len(kin), _most(likely)
    near = found.neighbours
    pairs = zip(near.sets, near.moved, strict=True)
    shared = [Mover(int(number), "both", None, float(moved)) for number, moved in pairs]
    yield "neighbour", _sum(shared), len(shared), _most(shared)
    yield "mutual", found.mutual, 0, []


def _together(sides: Sides) -> list[Mover]:
    """Each set once, though it may be on both sides."""
    ours, theirs = (_by_number(group) for group in sides)
    return [_merged(number, ours.get(number), theirs.get(number)) for number in (ours | theirs)]


def _by_number(group: Group) -> dict[int, tuple[float | None, float]]:
    chances = group.chances if len(group.chances) else [None] * len(group.sets)
    return {
        int(number): (None if chance is None else float(chance), float(moved))
        for number, chance, moved in zip(group.sets, chances, group.moved, strict=True)
    }


def _merged(
    number: int, ours: tuple[float | None, float] | None, theirs: tuple[float | None, float] | None
) -> Mover:
    """One of both sides; kin of both only if it is rather so than not, else of the likelier side."""
    if ours is None or theirs is None:
        [(chance, moved)] = [side for side in (ours, theirs) if side is not None]
        return Mover(number, "query" if theirs is None else "target", chance, moved)
    (one, by_one), (other, by_other) = ours, theirs
    moved = by_one + by_other
    if one is None or other is None or min(one, other) > SURE:
        return Mover(number, "both", None if one is None or other is None else min(one, other), moved)
    return Mover(number, "query" if one >= other else "target", max(one, other), moved)


def _most(movers: list[Mover], taken: Collection[int] = ()) -> list[Mover]:
    """Those who moved the score most, if it can be seen."""
    others = [one for one in movers if one.number not in taken and abs(one.moved) >= SEEN]
    return sorted(others, key=lambda one: -abs(one.moved))[:SHOWN]


def _sum(movers: list[Mover]) -> float:
    return sum(one.moved for one in movers)


def _place(row: Row, values: NDArray[np.float64], target: int) -> int:
    return 1 + int(places(without(row.member, values), row.scores, np.array([target]))[0])


def _relative(tables: Tables, prepared: Prepared, row: Row, target: int, kind: str, mover: Mover) -> Relative:
    number, show = mover.number, tables.similarity.exemplar
    its_set = tables.sets[number]
    with_target = tables.similarity.match(its_set, tables.sets[target])
    return Relative(
        id=tables.ids[number],
        kind=kind,
        of=mover.of,
        chance=mover.chance,
        moved=mover.moved,
        query_face=show(prepared, row.query_modes[number]),
        face_to_query=show(its_set, row.set_modes[number]),
        face_to_target=show(its_set, with_target.mode_a),
        target_face=show(tables.sets[target], with_target.mode_b),
    )


def without(member: int | None, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores with the query behind everybody: it is not ranked."""
    if member is None or member >= len(scores):
        return scores
    others = scores.copy()
    others[member] = -np.inf
    return others
