"""Models of decisions and people, of uploads and jobs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lookalike.server.models_sets import Ask, FaceView, Key, Name, Number, SetView, Verdict, View

# Most sets that one decision speaks of.
MOST_AT_ONCE = 1000


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
    """One decision, as a sentence and in its parts."""

    number: int
    made: str
    kind: str
    words: str
    sets: list[Mentioned]
    person: int | None
    name: str
    undone: bool


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


# People.


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
    """When a person is seen in a film; `key` is the set, `length` how long, in seconds."""

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


# Uploads and jobs.


class UploadedPerson(View):
    """Somebody in an upload: all faces, of which some can be chosen."""

    person: int
    title: str
    faces: list[FaceView]


class UploadedFace(View):
    """A face of a photo: whose, which of theirs, and where, in pixels from the left and the top."""

    number: int = Field(description="From 1 on the left.")
    person: int
    face: int
    title: str
    box: tuple[float, float, float, float] = Field(description="Left, top, width and height.")


class UploadedPhoto(View):
    """A photo that shows several faces, to be shown smaller than it is: boxes are those of the original."""

    title: str
    picture: str
    width: int
    height: int
    faces: list[UploadedFace]


class UploadView(View):
    """What was dropped onto the page: who is in it; `kept` are keys of the sets that it became, if any.

    `left_out` are files of which nothing was taken, each with a sentence that says why. `found` says what
    there is in it: one of `people` is one appearance in a film, or what seems to be one person on its photos.
    `kept` are in the order of `people`; there are none unless all of them are in the collection. `photos` are
    those that show several faces, up to 20.
    """

    key: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    people: list[UploadedPerson]
    remark: str = ""
    left_out: list[str] = Field(default=[])
    found: str = ""
    kept: list[str] = Field(default=[])
    photos: list[UploadedPhoto] = Field(default=[])


class JobAsk(Ask):
    """Long work on the collection."""

    kind: Literal["index", "train"]
    reranker: Annotated[str, Field(max_length=200)] = "auto"
    similarity: Annotated[str, Field(max_length=200)] = "max_max"


class JobView(View):
    """How far some long work is; `result` is what it made: the key of an upload, or words."""

    number: int
    kind: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    text: str
    done: int = 0
    total: int | None = None
    seconds: float = 0.0
    left: float | None = None
    error: str = ""
    result: str = ""


class JobList(View):
    """All work of this run of the server, the newest first."""

    jobs: list[JobView]


class Told(View):
    """Why something was refused, in a sentence."""

    error: str
