"""Models of decisions and people: what the page shows and is asked of them, in plain values."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from lookalike.web.models import Ask, FaceView, Key, Name, Number, SetView, Verdict, View

# Most sets that one decision speaks of.
MOST_AT_ONCE = 1000
# Sets that one person may have when a proposal is answered.
MOST_OF_ONE = 20_000


class JudgeAsk(Ask):
    """Say of some sets whether they show the person of another."""

    query: Key
    targets: list[Key] = Field(min_length=1, max_length=MOST_AT_ONCE)
    verdict: Verdict


class UndoAsk(Ask):
    """Take decisions back, all of them or none; the last one unless numbers are given."""

    numbers: list[Number] = Field(default=[], max_length=MOST_AT_ONCE)


class Mentioned(View):
    """A set that a decision speaks of, and what it is called on the page."""

    key: str
    id: str
    title: str


class DecisionView(View):
    """One decision, as a sentence and in its parts; `by` is the name of the key that it was made with."""

    number: int
    made: str
    kind: str
    words: str
    sets: list[Mentioned]
    person: int | None
    name: str
    undone: bool
    by: str = ""


class History(View):
    """Decisions, the newest first."""

    total: int
    offset: int = 0
    limit: int = 50
    decisions: list[DecisionView]


class Judged(View):
    """What stands now of each target; `new` are the numbers of those decisions that were not there before."""

    decisions: list[DecisionView]
    new: list[int]


class Undone(View):
    """What was just taken back, the newest first; nothing if there was nothing."""

    decisions: list[DecisionView]


class PersonView(View):
    """A named person: how many sets, and one face to know them by."""

    number: int
    name: str
    sets: int
    cover: FaceView | None = None


class PeopleView(View):
    """All named people, by name."""

    people: list[PersonView]


class Moment(View):
    """When a person is seen in a video; `key` is the set, `length` how long, in seconds."""

    film: str
    key: str
    start: float
    end: float
    length: float


class PersonPage(View):
    """A person, their sets, and when they are seen."""

    person: PersonView
    sets: list[SetView]
    timeline: list[Moment]


class PersonMade(PersonPage):
    """A person after a decision; `new` are the numbers of the decisions that were not there before."""

    new: list[int]


class PeopleMade(PeopleView):
    """All named people after a decision; `new` as of `PersonMade`."""

    new: list[int]


class IdentityView(View):
    """Somebody: named, known without a name, or proposed; `handle` is the key of the first of their sets.

    `likely` are further sets that are proposed for somebody who is known, `unsure` those that may be theirs.
    """

    handle: str
    name: str | None
    number: int | None
    proposed: bool
    sets: list[str]
    likely: list[str]
    unsure: list[SetView]
    probability: float
    sure: str
    faces: list[FaceView]
    where: str = Field(description="In which files they are seen, and when, for people.")


class PairView(View):
    """Two of whom it is worth to ask whether they are the same, and how likely that is."""

    one: IdentityView
    other: IdentityView
    probability: float
    sure: str


class CensusView(View):
    """Everybody, the largest first; pairs whose answer would join most come first."""

    people: list[IdentityView]
    pairs: list[PairView]


class IdentityPage(View):
    """Somebody without a name: their sets, those that may be theirs, and when they are seen."""

    person: IdentityView
    sets: list[SetView]
    likely: list[SetView]
    timeline: list[Moment]


class GroupAsk(Ask):
    """Answer a proposal: all sets are one person, or not; or `others` are nobody whom the sets show."""

    answer: Literal["yes", "no"]
    sets: list[Key] = Field(min_length=1, max_length=MOST_OF_ONE)
    others: list[Key] = Field(default=[], max_length=MOST_OF_ONE, description="With no: who is parted.")
    name: Name = Field(default="", description="With yes: what the person is called.")


class GroupMade(View):
    """What a proposal was answered by: the numbers of the decisions that were not there before."""

    new: list[int]


class NameAsk(Ask):
    """Give sets a name: that of a person who is there, or of a new one."""

    name: Name
    sets: list[Key] = Field(min_length=1, max_length=MOST_AT_ONCE)
    person: Number | None = None


class RenameAsk(Ask):
    """Call a person something else."""

    name: Name


class MergeAsk(Ask):
    """Say that a person is the same as another, whose name stays."""

    into: Number


class SplitAsk(Ask):
    """Take sets away from a person; they become another one if a name is given."""

    sets: list[Key] = Field(min_length=1, max_length=MOST_AT_ONCE)
    name: Name = ""
