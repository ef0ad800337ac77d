"""Models of searches: questions, answers, and the evidence for them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lookalike.server.models_sets import Ask, FaceView, Key, SetView, Verdict, View


class SearchAsk(Ask):
    """A question: a set of the collection, or a person of an upload; and how to look."""

    set: Key | None = None
    upload: Key | None = None
    person: int | None = Field(default=None, ge=0, le=10_000, description="Which person of the upload.")
    faces: list[Annotated[int, Field(ge=0, le=10**6)]] | None = Field(
        default=None, max_length=2000, description="Which faces of the query count; all unless given."
    )
    reranker: Annotated[str, Field(max_length=200)] = "auto"
    similarity: Annotated[str, Field(max_length=200)] = "max_max"
    proxies: int | None = Field(default=None, ge=1, le=10)
    top: int = Field(default=50, ge=1, le=500)
    decisions: bool = Field(default=True, description="Whether what was decided shapes the answers.")


class AnswerView(View):
    """One set in its place; `moved` is how many places the second stage lifted it."""

    rank: int
    set: SetView
    score: float
    baseline: float
    baseline_rank: int
    moved: int
    through: SetView | None = None
    way: str
    probability: float | None = None
    sure: str
    verdict: Verdict | None = None
    before: int | None = Field(
        default=None,
        description="Its rank among the same sets if nothing had been decided; None if nothing was.",
    )


class BaselineView(View):
    """One set in its place by likeness alone, and the rank that it has among the answers."""

    rank: int
    set: SetView
    learnt_rank: int


class SearchView(View):
    """The answers to a question, and what shaped them; `baseline` is as many by likeness alone.

    `moved` is how many of the answers stand elsewhere than `before` says. Sets that were decided on are no
    answers and are not counted in any place: an answer has not moved because one above it was decided on.
    """

    query: SetView
    ask: SearchAsk
    total: int
    sets: int
    worth_reading: int | None
    reading: str
    answers: list[AnswerView]
    moved: int = 0
    baseline: list[BaselineView]
    confirmed: list[SetView]
    rejected: list[SetView]
    version: str
    newer: int
    similarity: str
    reranker: str
    milliseconds: float


class EvidenceAsk(Ask):
    """Why a set is an answer to a question."""

    ask: SearchAsk
    target: Key


class DirectView(View):
    """The two faces through which query and target are most alike."""

    query_face: FaceView
    target_face: FaceView
    baseline: float


class NumberView(View):
    """One of the five numbers: its name, what it means, and how much it is in words."""

    name: str
    meaning: str
    value: float
    words: str


class ChainView(View):
    """What one proxy says: the faces that met, the five numbers, and the rank without it."""

    proxy: SetView
    query_face: FaceView
    proxy_face_to_query: FaceView
    proxy_face_to_target: FaceView
    target_face: FaceView
    numbers: list[NumberView]
    regression: float | None
    belief: float
    decided: bool
    rank_without: int


class RelativeView(View):
    """A set that had a say as kin, stranger or neighbour of both, and what it added to the score."""

    set: SetView
    kind: Literal["kin", "stranger", "neighbour"]
    of: Literal["query", "target", "both"]
    chance: float | None
    moved: float
    words: str = Field(description="What it was taken for and did to the score, for people.")
    query_face: FaceView
    face_to_query: FaceView
    face_to_target: FaceView
    target_face: FaceView


class TermView(View):
    """One term of the sum that a score is: the two by themselves, or all others of one kind."""

    kind: Literal["alone", "everybody", "stranger", "kin", "neighbour", "mutual"]
    moved: float
    others: int = Field(description="How many of the kind are not among the relatives.")
    others_moved: float
    amount: str = Field(description="What it added, to three places; all terms so add up to the score so.")
    words: str = Field(description="What it is, for people.")
    others_words: str = Field(description="What those did who are not among the relatives; empty if none.")


class EvidenceView(View):
    """Everything that made one answer; `asked` is who made its score: the query, or a confirmed set.

    `score`, `terms`, `relatives`, `rank_alone`, `rank_before_kin`, `rank_before_lists` and every
    `rank_without` are of one ranking: that of `asked` alone, without decisions. The rank of `answer` is that
    of the answers shown. Where there are terms, they add up to the score.
    """

    query: SetView
    asked: SetView
    answer: AnswerView
    direct: DirectView
    chains: list[ChainView]
    score: float
    terms: list[TermView]
    relatives: list[RelativeView]
    rank_alone: int
    rank_before_kin: int | None
    rank_before_lists: int | None
    total: int
    sentences: list[str]
