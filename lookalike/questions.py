"""Questions: faces from outside a gallery that somebody asks with, described as the gallery is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from lookalike.collection.connections import is_gallery
from lookalike.collection.gallery import Gallery
from lookalike.collection.membership import is_collection
from lookalike.collection.opening import open_gallery
from lookalike.errors import BadInput, Conflict, NotFound
from lookalike.everybody import read_everybody, seen_in
from lookalike.faceset import FaceSet
from lookalike.ingest import holds_crops
from lookalike.intake.describer import Describer, choose_descriptor
from lookalike.intake.seen import SeenTrack
from lookalike.intake.sources import is_footage
from lookalike.progress import Track, silent
from lookalike.sighting import timecode

# How far from the time that is asked for a face may be seen, in seconds: half a second is three looks.
NEAR = 0.5
# So many candidates are named when several could be meant.
NAMED = 5


def read_query(
    gallery: Gallery,
    path: Path,
    set_id: str | None = None,
    face: int | None = None,
    at: float | None = None,
) -> FaceSet:
    """Read a query from outside, described as the gallery is.

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
    BadInput, NotFound, Conflict
        If it cannot be read, holds several sets, or no such set.
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
    if is_gallery(path) or is_collection(path):
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


def _chosen(gallery: Gallery, path: Path, set_id: str | None, face: int | None, at: float | None) -> FaceSet:
    """The one set of a photo, film or album that is meant."""
    # A film is only looked at around the time that is asked for; the numbers of its sets need all of it.
    part = choose_descriptor(gallery.descriptor, None, gallery.hint("model_file"))
    held = seen_in(part, path, None if set_id else at).sets
    meant = [(one, track) for one, track in held if set_id in (None, one.id)]
    if set_id is not None and not meant:
        raise NotFound(f"{path} holds no set called {set_id!r}: leave --set out to see what it holds")
    if at is not None and all(track.start is None for _, track in held):
        raise BadInput(f"{path} holds photos, which have no times: leave --at out")
    if face is not None and at is None and (held[0][1].start is not None or path.is_dir()):
        where = "say when, by --at" if held[0][1].start is not None else "give one photo, or choose by --set"
        raise BadInput(f"faces are counted from the left in one picture: {where} ({_named(held)})")
    if at is not None:
        meant = [(one, track) for one, track in meant if _distance(track, at) <= NEAR]
        if not meant:
            raise NotFound(f"{path} shows no face at {timecode(at)}: {_named(held)}")
    if face is not None:
        # From left to right, where they stand at the time that is asked for.
        meant = sorted(meant, key=lambda one: _left(one[1], at))[face - 1 : face] if face > 0 else []
        if not meant:
            raise NotFound(f"{path} has no face number {face} to choose there: {_named(held)}")
    if len(meant) > 1:
        in_time = at is None and held[0][1].start is not None
        choices = "--face, --at or --set" if in_time else "--face or --set"
        raise BadInput(f"{path} shows several people: choose one with {choices} ({_named(meant)})")
    return meant[0][0]


def _distance(track: SeenTrack, at: float) -> float:
    """How many seconds a track is away from a time; 0 if it is seen then."""
    start, end = track.start, track.end
    if start is None or end is None:
        return math.inf
    return max(start - at, at - end, 0.0)


def _left(track: SeenTrack, at: float | None) -> float:
    near = min(track.sightings, key=lambda one: abs((one.time or 0.0) - (at or 0.0)))
    return near.box[0]


def _named(held: Sequence[tuple[FaceSet, SeenTrack]]) -> str:
    """The candidates in words."""
    shown = [
        repr(one.id)
        if track.start is None or track.end is None
        else f"{one.id!r} from {timecode(track.start)} to {timecode(track.end)}"
        for one, track in held[:NAMED]
    ]
    more = f" and {len(held) - NAMED} more" if len(held) > NAMED else ""
    return f"it holds {', '.join(shown)}{more}"
