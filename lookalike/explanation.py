"""Explanation: the evidence for one answer, and what its score is the sum of."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from lookalike.ranking import Answer


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
        What the regressor makes of them, before clipping; None if the second stage has no regressor.
    belief : float
        What the second stage makes of them: the score this proxy alone would give.
    query_face, proxy_face_to_query : int
        The faces through which query and proxy are alike.
    proxy_face_to_target, target_face_to_proxy : int
        The faces through which proxy and target are alike.
    rank_without : int
        Place of the target if this proxy were silent.
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
    """

    kind: str
    moved: float
    others: int
    others_moved: float


@dataclass(frozen=True)
class Line:
    """One term of the sum that a score is, as it is shown.

    Attributes
    ----------
    kind : str
        ``alone``, or that of an `Influence`.
    relative : Relative or None
        Whose it is; None if it is that of the pair alone, or of those others that are not shown.
    others : int
        How many these are.
    moved : float
        The term.
    rounded : float
        The same to three places, so that all lines add up to the score to three places.
    """

    kind: str
    relative: Relative | None
    others: int
    moved: float
    rounded: float


@dataclass(frozen=True)
class Explanation:
    """The evidence for one answer: the answer itself, the faces that met directly, and who had a say.

    ``witnesses`` are of second stages that ask proxies. With `auto` and `adaptive` the score is a sum:
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
