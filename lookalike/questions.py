"""Questions: faces from outside a gallery that somebody asks with, described as the gallery is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from lookalike.asking import Excerpt, Several
from lookalike.collection.connections import is_gallery, is_split
from lookalike.collection.gallery import Gallery
from lookalike.collection.opening import open_gallery
from lookalike.errors import BadInput, Conflict, NotFound
from lookalike.everybody import length_of, read_everybody, seen_in
from lookalike.faceset import FaceSet
from lookalike.footage import known_file
from lookalike.ingest import holds_crops
from lookalike.intake.describer import Describer, choose_descriptor
from lookalike.intake.files import find_files
from lookalike.intake.paths import is_folder
from lookalike.intake.sources import is_footage
from lookalike.progress import Track, silent
from lookalike.sighting import Box, box_at, timecode

# Who is not seen at the very time that is asked for may be seen so many seconds from it: that is three looks.
NEAR = 0.5
# So many candidates are named when several could be meant.
NAMED = 5


class Span(Protocol):
    """What is seen in a film from a time to a time, in seconds."""

    @property
    def start(self) -> float | None:
        """When it is seen first."""

    @property
    def end(self) -> float | None:
        """When it is seen last."""


Spanned = TypeVar("Spanned", bound=Span)


@dataclass(frozen=True)
class _Held:
    """A set that may be meant: when it is seen, if in a film, and how it is read."""

    id: str
    start: float | None
    end: float | None
    read: Callable[[], FaceSet]


def read_query(
    gallery: Gallery,
    path: Path,
    set_id: str | None = None,
    face: int | None = None,
    at: float | None = None,
) -> FaceSet:
    """Read a query from outside, described as the gallery is.

    A film that the gallery holds is not looked at: the faces that were kept of it are the query, and the set
    that has them is no answer.

    Parameters
    ----------
    gallery : Gallery
    path : Path
        A source as for `add`, except what needs a features file.
    set_id : str, optional
        Which set of the source; needed if it holds several.
    face : int, optional
        Which face of a photo or film, counted from 1 on the left.
    at : float, optional
        When it is seen in a film, in seconds.

    Raises
    ------
    Several
        If several people could be meant.
    BadInput, NotFound, Conflict
        If it cannot be read, or holds no such set.
    """
    if is_footage(path, bool(holds_crops(gallery))):
        return _chosen(gallery, path, set_id, face, at)
    if face is not None or at is not None:
        raise BadInput(f"{path} is neither photo nor film, where --face and --at could choose: use --set")
    describer = Describer(gallery.descriptor)
    if set_id is not None:
        for found in describer.read(path):
            if found.id == set_id:
                describer.refuse_other_kind(found)
                return describer.describe(found)
        raise NotFound(f"{path} holds no set called {set_id!r}: leave --set out to see what it holds")
    sets = describer.read(path)
    first, second = next(sets), next(sets, None)
    if second is not None:
        raise BadInput(f"{path} holds several sets ({first.id!r}, {second.id!r}, ...): choose one with --set")
    describer.refuse_other_kind(first)
    return describer.describe(first)


def read_queries(gallery: Gallery, path: Path, track: Track = silent) -> Iterator[FaceSet]:
    """Read every set of a source as a query from outside, described as the gallery is.

    Parameters
    ----------
    gallery : Gallery
    path : Path
        Another gallery, or anything that `add` takes without more options.
    track : callable
        Shows progress.

    Raises
    ------
    BadInput, NotFound, Conflict
        If it cannot be read, or is described otherwise than the gallery.
    """
    if is_gallery(path) or is_split(path):
        with open_gallery(path) as other:
            if other.descriptor not in (None, gallery.descriptor):
                raise Conflict(
                    f"the sets of {path} are described by {other.descriptor}, those of {gallery.path} by "
                    f"{gallery.descriptor}: describe both the same way"
                )
            yield from track(other.sets(), "reading queries", len(other))
        return
    if is_footage(path, bool(holds_crops(gallery))):
        yield from read_everybody(gallery, path, track)
        return
    describer = Describer(gallery.descriptor)
    for found in track(describer.read(path), "describing faces", None):
        describer.refuse_other_kind(found)
        yield describer.describe(found)


def seen_at(held: Sequence[Spanned], at: float) -> list[Spanned]:
    """Those who are seen at a time of a film; if nobody is, those who are seen near it."""
    away = [
        (max(one.start - at, at - one.end, 0.0), one)
        for one in held
        if one.start is not None and one.end is not None
    ]
    there = [one for distance, one in away if not distance]
    return there or [one for distance, one in away if distance <= NEAR]


def _chosen(gallery: Gallery, path: Path, set_id: str | None, face: int | None, at: float | None) -> FaceSet:
    """The one set of a photo, film or album that is meant."""
    kept = _kept_of_film(gallery, path)
    held = kept or _seen(gallery, path, None if set_id else at)
    is_film, is_album = any(one.start is not None for one in held), path.is_dir()
    meant = [one for one in held if set_id in (None, one.id)]
    if not meant:
        raise NotFound(f"{path} holds no set called {set_id!r}: leave --set out to see what it holds")
    if at is not None and not is_film:
        raise BadInput(f"{path} holds photos, which have no times: leave --at out")
    if face is not None and at is None and (is_film or is_album):
        where = "say when, by --at" if is_film else "give one photo, or choose by --set"
        raise BadInput(f"faces are counted from the left in one picture: {where} ({_named(held)})")
    if at is not None:
        meant = seen_at(meant, at)
        if not meant:
            why = _past_end(path, at) or _near(held, at)
            raise NotFound(f"{path} shows no face at {timecode(at)}: {why}")
    if len(meant) == 1 and face is None:
        return meant[0].read()
    if at is None and (is_film or is_album):
        choices = "--at, --face or --set" if is_film else "--set"
        raise Several(f"{path} shows several people: choose one with {choices} ({_named(meant)})", path)
    # From left to right, where they stand at the time that is asked for.
    placed = [(_box(one, at), one) for one in (each.read() for each in meant)]
    placed.sort(key=lambda one: one[0])
    if face is not None and 1 <= face <= len(placed):
        return placed[face - 1][1]
    when = "" if at is None else f" at {timecode(at)}"
    # What was only looked at around a time has no names that mean anything elsewhere.
    named = "" if at is not None and not kept else f": {_numbered([one for _, one in placed])}"
    there = f"1 to {len(placed)} from the left{named}"
    if face is not None:
        raise NotFound(f"{path} has no face number {face} to choose{when} ({there})")
    raise Several(
        f"{path} shows several people{when}: choose one with --face ({there}); --picture FILE numbers them",
        path,
        at,
        # Films of one folder share a time, but no picture.
        () if is_album else [box for box, _ in placed],
    )


def _kept_of_film(gallery: Gallery, path: Path) -> list[_Held]:
    """The sets that a gallery keeps of a film; none if it does not know this very film."""
    if is_folder(path):
        return []
    found = find_files(path).media
    if not found or found[0].media.kind != "video":
        return []
    file = found[0]
    known = known_file(gallery, file)
    # It may have been moved. To read it all takes a while, and is in vain if none has its length.
    if known is None and any(one.size == file.size for one in gallery.files()):
        known = gallery.file_of(file.sha256())
    if known is None:
        return []
    held = [
        _Held(one.id, one.start, one.end, partial(_kept_set, gallery, one.id))
        for one in gallery.listing(gallery.sets_of(known.content))
    ]
    return sorted(held, key=lambda one: (one.start or 0.0, one.end or 0.0))


def _kept_set(gallery: Gallery, set_id: str) -> FaceSet:
    """A set of the gallery as a question, to which it is itself no answer."""
    one = gallery.get(set_id, pictures=True)
    return Excerpt(one.id, one.faces, one.origin, one.sources, one.pictures, one.sightings)


def _seen(gallery: Gallery, path: Path, at: float | None) -> list[_Held]:
    """The sets that are seen in a photo, film or album, one at least; of a film around a time, if given."""
    part = choose_descriptor(gallery.descriptor, None, gallery.hint("model_file"))
    held = []
    for one, track in seen_in(part, path, at).sets:
        if at is not None and track.start is not None:
            # Numbers of sets need all of a film.
            one = replace(one, id=f"{one.id.rpartition('#')[0]} at {timecode(at)}")
        held.append(_Held(one.id, track.start, track.end, partial(_itself, one)))
    return held


def _itself(one: FaceSet) -> FaceSet:
    return one


def _box(one: FaceSet, at: float | None) -> Box:
    return one.sightings[0].box if at is None else box_at(one.sightings, at)


def _numbered(sets: Sequence[FaceSet]) -> str:
    """Sets by their numbers, in words."""
    shown = [f"{number} is {one.id!r}" for number, one in enumerate(sets[:NAMED], start=1)]
    return ", ".join(shown) + (", ..." if len(sets) > NAMED else "")


def _past_end(path: Path, at: float) -> str:
    """Words about a time that a film does not reach; none if it does, or does not say how long it is."""
    length = 0.0 if is_folder(path) else length_of(path)
    return f"it ends at {timecode(length)}" if 0 < length < at else ""


def _near(held: Sequence[_Held], at: float) -> str:
    """Those who are seen nearest to a time, in words."""
    return _named(sorted(held, key=lambda one: max((one.start or 0.0) - at, at - (one.end or 0.0))))


def _named(held: Sequence[_Held]) -> str:
    """The candidates in words."""
    shown = [
        repr(one.id)
        if one.start is None or one.end is None
        else f"{one.id!r} from {timecode(one.start)} to {timecode(one.end)}"
        for one in held[:NAMED]
    ]
    more = f" and {len(held) - NAMED} more" if len(held) > NAMED else ""
    return f"it holds {', '.join(shown)}{more}"
