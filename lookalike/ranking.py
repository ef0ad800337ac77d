"""Ranking: the answer to a query, best first, with the reason for every place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, overload

from lookalike.errors import LookalikeError
from lookalike.strips import Strip, table

# A notebook keeps what it shows: a few dozen rows of faces are a megabyte.
MOST_SHOWN: Final = 20


@dataclass(frozen=True)
class Answer:
    """One set of the gallery in its place.

    Attributes
    ----------
    rank : int
        1 is best; on a shortlist, its place there.
    id : str
        The set.
    score : float
        How sure the second stage is that it shows the query's person.
    baseline : float
        How alike the two sets are by themselves.
    baseline_rank : int
        Its place without the second stage, among the same sets.
    through : str or None
        The proxy that made the score; None if no single one did.
    probability : float or None
        How likely it is the query's person, as far as this gallery can tell; never more than for the answer
        before. None where nothing can be said.
    """

    rank: int
    id: str
    score: float
    baseline: float
    baseline_rank: int
    through: str | None
    probability: float | None = None

    @property
    def way(self) -> str:
        """How the score came about, in a word: the proxy, directly, or by the neighbourhood as a whole."""
        return self.through or ("directly" if self.score == self.baseline else "neighbours")

    @property
    def sure(self) -> str:
        """The probability for people; see `percent`."""
        return percent(self.probability)


@dataclass(frozen=True)
class Ranking(Sequence[Answer]):
    """Sets of a gallery in decreasing order of confidence that they match the query.

    Attributes
    ----------
    query : str
        Id of the query set.
    answers : tuple of Answer
        Best first; all sets of the gallery, or the first few.
    total : int
        How many sets were ranked.
    similarity, reranker : str
        The parts that made the order, with their options.
    sets : int
        How many sets there are besides the query: more than were ranked if a shortlist was.
    unreachable : int
        How many more sets the gallery has that could not be reached, and so were not ranked.
    worth_reading : int or None
        How many sets, the first ones, are more likely the query's person than not; there may be more of them
        than answers were asked for. None where nothing can be said.
    pictures : callable, optional
        Gives the pictures of a set by its id, for notebooks; no part of what a ranking says.
    query_pictures : sequence of bytes, optional
        Those of a query from outside; None if the query is a set of the gallery.
    """

    query: str
    answers: tuple[Answer, ...]
    total: int
    similarity: str
    reranker: str
    sets: int
    worth_reading: int | None = None
    unreachable: int = 0
    pictures: Callable[[str], Sequence[bytes]] | None = field(default=None, compare=False, repr=False)
    query_pictures: Sequence[bytes] | None = field(default=None, compare=False, repr=False)

    @overload
    def __getitem__(self, place: int) -> Answer: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Answer, ...]: ...
    def __getitem__(self, place: int | slice) -> Answer | tuple[Answer, ...]:
        return self.answers[place]

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    @property
    def ids(self) -> list[str]:
        """The sets in order."""
        return [answer.id for answer in self.answers]

    @property
    def reading(self) -> str:
        """Where the ranking stops being worth reading, and what it does not cover, in a sentence or two."""
        if not self.unreachable:
            return self._worth()
        return f"{self._worth()} {self.unreachable} more sets could not be reached: nothing is said of them."

    def _worth(self) -> str:
        worth = self.worth_reading
        if worth is None:
            return "How sure an answer is cannot be said of so few sets."
        if not worth:
            return "No answer is more likely the same person than not."
        if worth == 1:
            return "Only the first answer is more likely the same person than not."
        more = f"; {len(self)} are shown" if worth > len(self) else ""
        return f"The first {worth} answers are more likely the same person than not{more}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        plain = asdict(replace(self, pictures=None, query_pictures=None))
        return {name: value for name, value in plain.items() if not name.endswith("pictures")}

    def _repr_html_(self) -> str:
        """The answers as strips of faces, for notebooks: the query first, then the best."""
        headings = ("rank", "sure", "score", "baseline", "through")
        asked = self._pictures(self.query) if self.query_pictures is None else self.query_pictures
        query = Strip(self.query, ("query", *("" for _ in headings[1:])), asked)
        shown = self.answers[:MOST_SHOWN]
        reading = replace(self, answers=shown).reading
        strips = [
            Strip(
                one.id,
                (
                    str(one.rank),
                    one.sure,
                    f"{one.score:.3f}",
                    f"{one.baseline:.3f} (rank {one.baseline_rank})",
                    one.way,
                ),
                self._pictures(one.id),
                # Below it an answer is more likely somebody else.
                line=self.worth_reading is not None and one.rank == self.worth_reading + 1,
            )
            for one in shown
        ]
        title = f"{len(shown)} of {self.total} sets, ranked by {self.reranker.partition(':')[0]}"
        return table(title, headings, [query, *strips], [reading])

    def _pictures(self, set_id: str) -> Sequence[bytes]:
        """The pictures of a set; none where they are gone: a ranking may outlast its gallery."""
        try:
            return self.pictures(set_id) if self.pictures else ()
        except LookalikeError:
            return ()


def percent(probability: float | None) -> str:
    """A probability for people: whole percent, never quite none or all; a dash where nothing can be said."""
    if probability is None:
        return "-"
    if probability <= 0.005:
        return "< 1 %"
    return "> 99 %" if probability >= 0.995 else f"{100 * probability:.0f} %"


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
