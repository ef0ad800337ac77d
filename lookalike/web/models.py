"""Models: what the page shows and what it is asked, in plain values; the JSON of the interface is these."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

# Lengths that no honest request comes near; a longer text is refused before anything is done with it.
Key = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$", description="Which set; opaque, stays the same.")]
Text = Annotated[str, Field(max_length=1024)]
Name = Annotated[str, Field(max_length=200, description="What a person is called.")]
Number = Annotated[int, Field(ge=0, le=2**53)]
Vectors = Annotated[
    list[Annotated[list[float], Field(min_length=2, max_length=65_536)]],
    Field(min_length=1, max_length=2000, description="Descriptors, a row for each face."),
]
Day = Annotated[str, Field(pattern=r"^(\d{4}-\d\d-\d\d)?$")]
Verdict = Literal["same", "different", "unsure"]


class View(BaseModel):
    """Something that is shown."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Ask(View):
    """Something that is asked for; a field that is not known is a mistake of whoever asks."""


class FaceView(View):
    """One face of a set: its number there, the address of its picture, when it is seen."""

    face: int
    picture: str | None = None
    time: float | None = None
    timecode: str | None = None
    weaknesses: tuple[str, ...] = ()


class PersonName(View):
    """A person, by number and name."""

    number: int
    name: str


class SetView(View):
    """One set: what it is called, where it is from, its files, a strip of its faces, whom it shows.

    How faces were seen (time, weaknesses) is told where a set is asked for alone, not in lists of sets.
    """

    key: str
    id: str
    title: str
    origin: str = ""
    files: list[str] = []
    captured: list[str | None] = Field(
        default=[],
        description="When each of the files was taken, as it says itself; null if it does not say.",
    )
    kind: Literal["film", "photo", "album", "set"] = "set"
    start: float | None = None
    end: float | None = None
    when: str = ""
    faces: int
    good: int | None = None
    added: str = ""
    person: PersonName | None = None
    strip: list[FaceView] = []
    film: str | None = None


class FilmFace(View):
    """Somebody at a moment of a video: which set it is, where, in pixels from the left and the top."""

    number: int = Field(description="From 1 on the left.")
    key: str
    title: str
    person: PersonName | None = None
    box: tuple[float, float, float, float] = Field(description="Left, top, width and height.")


class FilmTrack(View):
    """Somebody in a stretch of a video; from look to look a box moves evenly, and none is behind the last."""

    key: str
    title: str
    person: PersonName | None = None
    asked: bool = Field(description="Whether this is the person who was asked for.")
    looks: list[tuple[float, float, float, float, float]] = Field(
        description="Seconds, then left, top, width and height in pixels; in the stretch and one around."
    )


class FilmMoment(View):
    """Who is seen at a time of a video, in seconds, and who is until another time."""

    at: float
    faces: list[FilmFace]
    until: float
    tracks: list[FilmTrack]


class PhotoFace(FilmFace):
    """Somebody in a photo."""

    asked: bool = Field(description="Whether this is the person who was asked for.")


class PhotoView(View):
    """A photo with everybody in it; boxes are in pixels of the original, the right way up.

    `face` is the face of the set that the photo shows, `photos` are those faces of the set that have a photo.
    """

    set: SetView
    face: int
    photos: list[int]
    file: str
    captured: str | None
    picture: str
    width: int
    height: int
    faces: list[PhotoFace]


class MethodView(View):
    """A re-ranker that can be chosen, in words; whether it asks proxies, whose number can be chosen."""

    name: str
    words: str
    proxies: bool = False


class GalleryView(View):
    """The whole collection; `ready` if it can be searched at once, `newer` sets are not searched yet."""

    name: str
    sets: int
    faces: int
    people: int
    named: int
    descriptor: str | None
    version: str
    ready: bool
    newer: int
    similarities: list[str]
    rerankers: list[MethodView]
    finding: str = ""


class SetPage(View):
    """Some of the sets that a filter lets through."""

    total: int
    offset: int
    limit: int
    sets: list[SetView]


class SetsAsk(Ask):
    """Which sets to list; a text is looked for in names, files and people."""

    text: Text = ""
    source: Text = Field(default="", description="A part of where sets are from.")
    since: Day = Field(default="", description="Added on this day or later.")
    until: str = Field(
        default="", pattern=r"^(\d{4}-\d\d-\d\d)?$", description="Added on this day or before."
    )
    quality: Literal["any", "good"] = "any"
    named: Literal["any", "named", "unnamed"] = "any"
    person: Number | None = None
    sort: Literal["id", "added", "faces", "person"] = "id"
    offset: Number = 0
    limit: int = Field(default=50, ge=1, le=200)


# Questions, answers, and the evidence for them.


class SetAsk(Ask):
    """A set to add: what it is called, and what describes its faces, by the descriptor of the collection."""

    id: Text
    vectors: Vectors
    origin: Text = Field(default="", description="Where it came from, for people to read.")


class SetsAdd(Ask):
    """Sets to add, all of them or none."""

    sets: list[SetAsk] = Field(min_length=1, max_length=1000)
    descriptor: Text | None = Field(
        default=None, description="What made the vectors; what made those of the collection unless given."
    )


class SearchAsk(Ask):
    """A question: a set of the collection, a person of an upload, or vectors; and how to look."""

    set: Key | None = None
    upload: Key | None = None
    vectors: Vectors | None = Field(
        default=None, description="Faces from elsewhere, by the descriptor of the collection."
    )
    person: int | None = Field(default=None, ge=0, le=10_000, description="Which person of the upload.")
    faces: list[Annotated[int, Field(ge=0, le=10**6)]] | None = Field(
        default=None, max_length=2000, description="Which faces of the query count; all unless given."
    )
    reranker: Annotated[str, Field(max_length=200)] = "auto"
    similarity: Annotated[str, Field(max_length=200)] = "max_max"
    proxies: int | None = Field(default=None, ge=1, le=10)
    top: int = Field(default=50, ge=1, le=500)
    decisions: bool = Field(default=True, description="Whether what was decided shapes the answers.")
    together: list[Key] = Field(
        default=[], max_length=1000, description="Sets that ask too, as one person with the first."
    )
    since: Text = Field(default="", description="Only what was taken on this day, month or year, or later.")
    until: Text = Field(default="", description="Only what was taken then or before.")
    file: Text = Field(default="", description="Only videos and photos with these words in their path.")
    quality: Literal["any", "good"] = "any"


class AnswerView(View):
    """One set in its place; `moved` is how many places the re-ranker lifted it."""

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
    filtered_out: int = Field(default=0, description="Answers that date, file or quality left out.")
    moved: int = 0
    baseline: list[BaselineView]
    confirmed: list[SetView]
    rejected: list[SetView]
    reasons: dict[str, str] = Field(
        default={}, description="How it is known whom each confirmed or rejected set shows, by its key."
    )
    version: str
    newer: int
    similarity: str
    reranker: str
    milliseconds: float


class PlaceView(View):
    """Where somebody is seen, with another person or without: the sets that show it, from when to when."""

    file: str
    kind: Literal["video", "photo"]
    start: float | None
    end: float | None
    when: str
    captured: str | None
    sets: list[SetView]
    face: int | None = Field(
        description="Which face of the first set the photo shows, if it is one and known."
    )
    probability: float


class PlacesView(View):
    """The videos and photos in which two people are seen at the same time, or one without the other."""

    query: SetView
    other: SetView
    without: bool
    places: list[PlaceView]


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
    is in it: one of `people` is one appearance in a video, or what seems to be one person on its photos.
    `kept` are in the order of `people`; there are none unless all of them are in the collection. `photos` are
    those that show several faces, up to 20. `together` is whether photos that were dropped together are taken
    for those of one person, the first of `people`; None where there is no choice.
    """

    key: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    people: list[UploadedPerson]
    remark: str = ""
    left_out: list[str] = Field(default=[])
    found: str = ""
    kept: list[str] = Field(default=[])
    photos: list[UploadedPhoto] = Field(default=[])
    together: bool | None = None


class TogetherAsk(Ask):
    """Whether photos that were dropped together show one person."""

    together: bool


class JobAsk(Ask):
    """Long work on the collection."""

    kind: Literal["index", "train"]
    reranker: Annotated[str, Field(max_length=200)] = "auto"
    similarity: Annotated[str, Field(max_length=200)] = "max_max"


class JobView(View):
    """How far some long work is; `result` is what it made: the key of an upload, or words.

    `text` says what it does, `at` what it is doing that to.
    """

    number: int
    kind: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    paused: bool = False
    text: str
    at: str = ""
    done: int = 0
    total: int | None = None
    seconds: float = 0.0
    left: float | None = None
    error: str = ""
    result: str = ""


class JobList(View):
    """All work of this run of the server, the newest first."""

    jobs: list[JobView]


class IntakeAsk(Ask):
    """Whether taking in the folder shall rest; work that has ended is begun again by `false`."""

    paused: bool


class FileTold(View):
    """A file, and what is to be said of it."""

    file: str
    words: str


class IntakeView(View):
    """How far the folder that `lookalike open` was given is taken in.

    `words` say it for people, and `button` what can be done about it; `sets` are new in this run, of `files`
    that were looked at; `known` were looked at in earlier runs. `unread_files` could not be read: `unread`
    has the first 500 with the reason, `remarks` what else is to be said of files.
    """

    folder: str
    gallery: str
    job: JobView
    words: str
    button: str
    sets: int
    files: int
    known: int
    unread_files: int
    unread: list[FileTold]
    remarks: list[FileTold]


class Told(View):
    """Why something was refused, in a sentence."""

    error: str
