"""Models of sets: what the page shows and what it is asked, in plain values; the JSON is these."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

# Lengths that no honest request comes near; a longer text is refused before anything is done with it.
Key = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$", description="Which set; opaque, stays the same.")]
Text = Annotated[str, Field(max_length=1024)]
Name = Annotated[str, Field(max_length=200, description="What a person is called.")]
Number = Annotated[int, Field(ge=0, le=2**53)]
Day = Annotated[str, Field(pattern=r"^(\d{4}-\d\d-\d\d)?$")]
Verdict = Literal["same", "different", "unsure"]


class View(BaseModel):
    """Something that is shown."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Ask(BaseModel):
    """Something that is asked for; a field that is not known is a mistake of whoever asks."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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
    """Somebody at a moment of a film: which set it is, where, in pixels from the left and the top."""

    number: int = Field(description="From 1 on the left.")
    key: str
    title: str
    person: PersonName | None = None
    box: tuple[float, float, float, float] = Field(description="Left, top, width and height.")


class FilmMoment(View):
    """Who is seen at a time of a film, in seconds."""

    at: float
    faces: list[FilmFace]


class MethodView(View):
    """A second stage that can be chosen, in words; whether it asks proxies, whose number can be chosen."""

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
