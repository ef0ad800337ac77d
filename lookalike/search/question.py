"""Questions: who is seen in what somebody asks with, described as the gallery is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from lookalike.descriptors.contract import Descriptor
from lookalike.errors import BadInput, Conflict, LookalikeError, NotFound, is_folder, readable
from lookalike.faceset import Box, FaceSet, box_at, timecode
from lookalike.gallery.connection import is_gallery, is_split
from lookalike.gallery.gallery import Gallery, open_gallery
from lookalike.ingest.add import holds_crops
from lookalike.ingest.describe import Describer, as_set, choose_descriptor
from lookalike.ingest.detect import YUNET
from lookalike.ingest.files import MediaPath, find_files
from lookalike.ingest.footage import known_file
from lookalike.ingest.seen import Album, Described, SeenTrack, Settings
from lookalike.ingest.sources import is_footage
from lookalike.ingest.workers import Gathered, Workers, gather, is_grouped, place
from lookalike.progress import Track, silent
from lookalike.search.query import Excerpt, Several

logger = logging.getLogger(__name__)

# How many seconds of a film are looked at on both sides of a time that is asked for.
AROUND = 2.0
# Keeps something at hand, as long as a block runs, that can be called on another thread to stop it.
OnStop = Callable[[Callable[[], None]], AbstractContextManager[object]]


def read_everybody(gallery: Gallery, path: Path, track: Track = silent) -> list[FaceSet]:
    """Read all sets of a photo, video, album or folder of crops, described as the gallery is.

    `path` is anything that `add` takes without more options, but another gallery. A step of `track` is a
    photo, a second of video, or a set of crops.
    """
    if is_footage(path, bool(holds_crops(gallery))):
        part = choose_descriptor(gallery.descriptor, None, gallery.hint("model_file"))
        seen = seen_in(part, path, track=track)
        return [one for one, _ in seen.sets]
    describer, sets = Describer(gallery.descriptor), []
    for found in track(describer.read(path), "describing faces", None):
        describer.refuse_other_kind(found)
        sets.append(describer.describe(found))
    return sets


class Seen:
    """What is seen in files: sets with their tracks, and who was seen side by side.

    `by_file` tells who is seen in each, before photos of one person in one folder are joined; `failed` why a
    file could not be read, by its place.
    """

    def __init__(self, files: Sequence[MediaPath], part: Descriptor) -> None:
        self.files, self.part = files, part
        self.by_file: list[list[FaceSet]] = [[] for _ in files]
        self.failed: dict[int, LookalikeError] = {}
        self.faceless: list[MediaPath] = []
        self.apart: set[tuple[str, str]] = set()
        self._found: dict[str, tuple[FaceSet, SeenTrack]] = {}
        self._albums: dict[str, Album] = {}

    @property
    def sets(self) -> list[tuple[FaceSet, SeenTrack]]:
        """Every set, with what was seen of it last."""
        return list(self._found.values())

    @property
    def reasons(self) -> list[LookalikeError]:
        """Why files could not be read."""
        return list(self.failed.values())

    def look(self, workers: Workers, lengths: Sequence[float]) -> Iterator[None]:
        """Look at all files; yield once for each photo and each second of video."""
        passed = 0
        for number, told in gather(workers, self.files, self.part):
            units = max(1, round(lengths[number]))
            if isinstance(told, float):
                steps = max(0, min(int(told), units) - passed)
            else:
                self._take(number, told)
                steps = units - passed
            passed = passed + steps if isinstance(told, float) else 0
            yield from (None for _ in range(steps))

    def _take(self, number: int, told: Gathered) -> None:
        file = self.files[number]
        if told.reason is not None:
            self.failed[number] = told.reason
        elif not told.tracks:
            self.faceless.append(file)
        grouped = is_grouped(file, self.part)
        album = self._albums.setdefault(file.album, Album(self.part.same_person)) if grouped else None
        ids = {}
        for one, track in _sets(file, told.tracks, album):
            self.by_file[number].append(one)
            there = self._found.get(one.id)
            self._found[one.id] = (one if there is None else joined(one.id, [there[0], one]), track)
            ids[track.number] = one.id
        for track, _ in told.tracks:
            beside = (ids[other] for other in track.together if other in ids)
            self.apart |= {(min(ids[track.number], other), max(ids[track.number], other)) for other in beside}


def seen_in(part: Descriptor, path: Path, at: float | None = None, track: Track = silent) -> Seen:
    """Every set of a photo, video or album, or of a video around a time, with what was seen; one at least."""
    looked_for = find_files(path)
    files = looked_for.media
    if not files and looked_for.failed:
        raise BadInput(looked_for.failed[0][1])
    if not files:
        raise BadInput(f"{readable(path)!r} holds no photo and no video: give one of these")
    settings = Settings() if at is None else Settings(since=max(0.0, at - AROUND), until=at + AROUND)
    seen = look_at(part, files, settings, track)
    if not seen.sets and seen.reasons:
        raise seen.reasons[0]
    for reason in seen.reasons:
        logger.warning("%s", reason)
    if not seen.sets and at is not None and len(files) == 1 and 0 < (length := length_of(path)) < at:
        raise NotFound(f"{path} shows no face at {timecode(at)}: it ends at {timecode(length)}")
    if not seen.sets and at is not None:
        raise NotFound(f"{path} shows no face at {timecode(at)}, nor {AROUND:g} seconds before or after it")
    if not seen.sets:
        raise BadInput(f"no face was found in {readable(path)!r}: give a picture that shows one")
    return seen


def length_of(path: Path) -> float:
    """How many seconds a video says it lasts; 0 if it does not say."""
    with Workers(Settings()) as workers:
        return next(workers.lengths([path]))


def look_at(
    part: Descriptor,
    files: Sequence[MediaPath],
    settings: Settings,
    track: Track = silent,
    on_stop: OnStop = nullcontext,
) -> Seen:
    """Who is seen in photos and videos, if anybody; what could not be read is told beside it.

    A step of `track` is a photo or a second of video. `on_stop` is given what ends the looking at once, with
    an error; it returns a context that lasts as long as that does. Raise BadInput if the model that finds
    faces is missing, or is another one.
    """
    YUNET.read()  # no file is to blame for what is wrong with it
    seen = Seen(files, part)
    with Workers(settings) as workers, on_stop(workers.close):
        # No film takes less than a kilobyte a second, whatever it says.
        said = zip(workers.lengths([file.path for file in files]), files, strict=True)
        lengths = [min(length, file.size / 1000) for length, file in said]
        units = sum(max(1, round(length)) for length in lengths)
        for _ in track(seen.look(workers, lengths), "looking for faces", units):
            pass
    return seen


def _sets(
    file: MediaPath, tracks: Sequence[Described], album: Album | None
) -> Iterator[tuple[FaceSet, SeenTrack]]:
    """The sets of one file, called as `add` would call them."""
    base = file.name if album is None else file.album
    places = range(len(tracks)) if album is None else place(album, tracks)
    for number, (track, faces) in zip(places, tracks, strict=True):
        yield as_set(f"{base}#{number + 1}", track, faces, file.name, readable(file.path)), track


def joined(set_id: str, sets: Sequence[FaceSet]) -> FaceSet:
    """All faces of some sets as one set, which is from where the first of them is."""
    return FaceSet(
        set_id,
        np.concatenate([one.faces for one in sets]),
        sets[0].origin,
        [source for one in sets for source in one.sources],
        [picture for one in sets for picture in one.pictures],
        [sighting for one in sets for sighting in one.sightings],
    )


# Who is not seen at the very time that is asked for may be seen so many seconds from it: that is three looks.
NEAR = 0.5
# So many candidates are named when several could be meant.
NAMED = 5


class Span(Protocol):
    """What is seen in a video from a time to a time, in seconds."""

    @property
    def start(self) -> float | None:
        """When it is seen first."""

    @property
    def end(self) -> float | None:
        """When it is seen last."""


Spanned = TypeVar("Spanned", bound=Span)


@dataclass(frozen=True)
class _Held:
    """A set that may be meant: when it is seen, if in a video, and how it is read."""

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

    A video that the gallery holds is not looked at: the faces that were kept of it are the query, and the
    set that has them is no answer. Raise Several if several people could be meant: then `set_id` says which
    set of the source, `face` which face of a photo or video, counted from 1 on the left, and `at` when it is
    seen in a video, in seconds.
    """
    if is_footage(path, bool(holds_crops(gallery))):
        return _chosen(gallery, path, set_id, face, at)
    if face is not None or at is not None:
        raise BadInput(f"{path} is neither photo nor video, where --face and --at could choose: use --set")
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
    """Read every set of another gallery, or of what `add` takes, as a query described as the gallery is."""
    if is_gallery(path) or is_split(path):
        with open_gallery(path) as other:
            if other.descriptor not in (None, gallery.descriptor):
                raise Conflict(
                    f"the sets of {path} are described by {other.descriptor}, those of {gallery.path} by "
                    f"{gallery.descriptor}: describe both the same way"
                )
            yield from track(other.sets(), "reading queries", len(other))
        return
    yield from read_everybody(gallery, path, track)


def seen_at(held: Sequence[Spanned], at: float) -> list[Spanned]:
    """Those who are seen at a time of a video; if nobody is, those who are seen near it."""
    away = [
        (max(one.start - at, at - one.end, 0.0), one)
        for one in held
        if one.start is not None and one.end is not None
    ]
    there = [one for distance, one in away if not distance]
    return there or [one for distance, one in away if distance <= NEAR]


def _chosen(gallery: Gallery, path: Path, set_id: str | None, face: int | None, at: float | None) -> FaceSet:
    """The one set of a photo, video or album that is meant."""
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
    """The sets that a gallery keeps of a video; none if it does not know this very video."""
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
    """The sets that are seen in a photo, video or album, one at least; of a video around a time, if given."""
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
    """Words about a time that a video does not reach; none if it does, or does not say how long it is."""
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
