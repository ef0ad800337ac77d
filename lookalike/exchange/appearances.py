"""Appearances: where the people of some sets are seen, a row for each film and photo; csv, JSON, Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final, NamedTuple

from lookalike import __version__
from lookalike.errors import BadInput
from lookalike.faceset import FaceSet, Sighting, natural_order
from lookalike.gallery.decision_log import Decision
from lookalike.gallery.decisions import Line, as_csv, judged
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.media import MediaFile
from lookalike.gallery.people import Judged, Person
from lookalike.gallery.set_rows import several
from lookalike.ranking import Answer, Ranking


@dataclass(frozen=True)
class Appearance:
    """A set in one video or photo."""

    set_id: str
    person: str  # whom it was said to show; empty if nobody was named
    file: MediaFile | None  # None where no file is known, as of ready-made faces
    # Where its faces are in that file, in order of time; none if that is not known.
    sightings: tuple[Sighting, ...]
    faces: int  # how many it has in that file
    origin: str  # where the set came from
    content: str  # SHA-256 of the set
    answer: Answer | None = None  # its place in a ranking
    # What was decided last about it, or about it and the query of a ranking; empty if nothing was.
    decision: str = ""
    decided: str = ""  # when; alone, if it follows from several decisions

    @property
    def start(self) -> float | None:
        """Seconds at which it is seen first; None in a photo."""
        return self.sightings[0].time if self.sightings else None

    @property
    def end(self) -> float | None:
        """Seconds at which it is seen last."""
        return self.sightings[-1].time if self.sightings else None

    @property
    def best(self) -> Sighting | None:
        """The face that shows most: the largest of those without a weakness, or of all."""
        clear = [one for one in self.sightings if not one.weaknesses]
        return max(clear or self.sightings, key=lambda one: one.box[2] * one.box[3], default=None)

    @property
    def is_film(self) -> bool:
        """Whether it is known when it is seen in a video."""
        return self.file is not None and self.file.kind == "video" and self.start is not None

    @property
    def label(self) -> str:
        """The person, or the set if nobody was named."""
        return self.person or self.set_id

    def row(self) -> Line:
        """Plain values, one for each column of a table."""
        best, file, answer = self.best, self.file, self.answer
        left, top, width, height = (None,) * 4 if best is None else best.box
        return {
            "set": self.set_id,
            "person": self.person or None,
            "rank": None if answer is None else answer.rank,
            "probability": None if answer is None else answer.probability,
            "score": None if answer is None else answer.score,
            "decision": self.decision or None,
            "decided": self.decided or None,
            "file": None if file is None else file.path,
            "kind": None if file is None else file.kind,
            "start": self.start,
            "end": self.end,
            "faces": self.faces,
            "box_time": None if best is None else best.time,
            "box_left": left,
            "box_top": top,
            "box_width": width,
            "box_height": height,
            "origin": self.origin,
            "file_sha256": None if file is None else file.content,
            "set_sha256": self.content,
        }


# Sets whose files are read at once.
AT_ONCE: Final = 1000
# The columns of a table with the kind of their values, in order.
COLUMNS: Mapping[str, type] = {
    **dict.fromkeys(("set", "person"), str),
    "rank": int,
    **dict.fromkeys(("probability", "score"), float),
    **dict.fromkeys(("decision", "decided", "file", "kind"), str),
    **dict.fromkeys(("start", "end"), float),
    "faces": int,
    **dict.fromkeys(("box_time", "box_left", "box_top", "box_width", "box_height"), float),
    **dict.fromkeys(("origin", "file_sha256", "set_sha256"), str),
}


@dataclass(frozen=True)
class Selection:
    """What is exported."""

    gallery: Gallery
    title: str  # whom or what it is about
    appearances: tuple[Appearance, ...]  # in the order of the sets, and of the files of each
    person: Person | None = None  # if it is all about one
    ranking: Ranking | None = None  # if these are its answers
    rate: float | None = None  # frames a second of videos that do not say
    # Time code of the first frame of videos that have none, or none that can be read.
    start: str | None = None
    # About what was left out, or placed otherwise than in the file.
    remarks: list[str] = field(default_factory=list)


class Seen(NamedTuple):
    """Faces of a set in one file, by their places in the set."""

    file: MediaFile | None
    places: tuple[int, ...]


def appearances(
    gallery: Gallery, ids: Sequence[str] | None = None, ranking: Ranking | None = None
) -> Iterator[Appearance]:
    """Where some sets are seen: all, unless some are named; or the answers of a ranking, in its order."""
    if ranking is not None:
        ids = ranking.ids
    wanted = sorted(gallery.ids(), key=natural_order) if ids is None else list(dict.fromkeys(several(ids)))
    answers = {} if ranking is None else {one.id: one for one in ranking}
    known, contents = judged(gallery), gallery.contents()
    log = gallery.decisions() if ranking is None else ()
    latest = {set_id: one for one in log if not one.undone for set_id in one.sets}
    for begin in range(0, len(wanted), AT_ONCE):
        some = wanted[begin : begin + AT_ONCE]
        files = gallery.files_of_sets(some)
        for set_id in some:
            found = gallery.get(set_id)
            person = known.person_of(set_id)
            decision, decided = (
                _decided(latest.get(set_id)) if ranking is None else _verdict(known, ranking, set_id)
            )
            for seen in files_of_faces(found, files.get(set_id, ())):
                sightings = [found.sightings[place] for place in seen.places] if found.sightings else []
                yield Appearance(
                    set_id,
                    "" if person is None else person.name,
                    seen.file,
                    tuple(sorted(sightings, key=lambda one: one.time or 0.0)),
                    len(seen.places),
                    found.origin,
                    contents[set_id],
                    answers.get(set_id),
                    decision,
                    decided,
                )


def files_of_faces(found: FaceSet, files: Sequence[MediaFile]) -> list[Seen]:
    """Which faces of a set are of which of its files, as people order these; first those of no known file.

    A face is known by the name of its file, as it was called below the folder that was added. A set of one
    file is all of it, whatever that file is called by now.
    """
    if len(files) == 1:
        return [Seen(files[0], tuple(range(len(found))))]
    by_name: dict[str, list[tuple[str, MediaFile]]] = {}
    for file in files:
        # Sources are written so, see `ingest.files`.
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in file.path)
        by_name.setdefault(PurePath(shown).name, []).append((PurePath(shown).as_posix(), file))
    places: dict[MediaFile | None, list[int]] = {}
    for place, name in enumerate(found.sources or ("",) * len(found)):
        called = by_name.get(PurePath(name).name, ())
        matching = [file for path, file in called if f"/{path}".endswith(f"/{name}")]
        # Of two photos of one name nobody knows which it is.
        home = matching[0] if len(matching) == 1 else None
        places.setdefault(home, []).append(place)
    ordered = sorted(places, key=lambda file: ([], "") if file is None else natural_order(file.path))
    return [Seen(file, tuple(places[file])) for file in ordered]


def _decided(decision: Decision | None) -> tuple[str, str]:
    return ("", "") if decision is None else (decision.kind, decision.made)


def _verdict(known: Judged, ranking: Ranking, set_id: str) -> tuple[str, str]:
    """What was said of an answer and the query, or follows; and when, if it was said."""
    query = ranking.query
    said = known.verdicts.direct.get((min(query, set_id), max(query, set_id)))
    return _decided(said) if said is not None else (known.verdict(query, set_id) or "", "")


def as_table(chosen: Selection) -> bytes:
    """Comma-separated values for spreadsheets; what would be a formula there gets an apostrophe in front."""
    return as_csv([one.row() for one in chosen.appearances]).encode("utf-8-sig", "backslashreplace")


def as_json(chosen: Selection) -> bytes:
    """One object: what was asked, and a list of rows."""
    ranking = chosen.ranking
    told = {
        "lookalike": __version__,
        "about": chosen.title,
        "descriptor": chosen.gallery.descriptor,
        "gallery_sha256": chosen.gallery.fingerprint(),
        "query": None if ranking is None else ranking.query,
        "similarity": None if ranking is None else ranking.similarity,
        "reranker": None if ranking is None else ranking.reranker,
        "worth_reading": None if ranking is None else ranking.worth_reading,
        "appearances": [one.row() for one in chosen.appearances],
    }
    return (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def as_parquet(chosen: Selection) -> bytes:
    """One row group of typed columns; BadInput if pyarrow is missing."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise BadInput(
            "Parquet is written by pyarrow, which is not installed: pip install 'lookalike[parquet]', "
            "or choose csv or json"
        ) from None
    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    rows = [one.row() for one in chosen.appearances]
    table = pyarrow.Table.from_pylist(rows, schema.with_metadata({"lookalike": __version__}))
    written = io.BytesIO()
    parquet.write_table(table, written)
    return written.getvalue()
