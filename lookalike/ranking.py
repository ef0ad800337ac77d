"""Ranking: the answer to a query, best first, with the reason for every place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, overload


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
    """

    rank: int
    id: str
    score: float
    baseline: float
    baseline_rank: int
    through: str | None

    @property
    def way(self) -> str:
        """How the score came about, in a word: the proxy, directly, or by the neighbourhood as a whole."""
        return self.through or ("directly" if self.score == self.baseline else "neighbours")


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
    """

    query: str
    answers: tuple[Answer, ...]
    total: int
    similarity: str
    reranker: str
    sets: int

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

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return asdict(self)


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
class Explanation:
    """The evidence for one answer: the answer itself, the faces that met directly, and every witness."""

    query: str
    answer: Answer
    total: int
    query_face: int
    target_face: int
    similarity: str
    reranker: str
    witnesses: tuple[Witness, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return asdict(self)
