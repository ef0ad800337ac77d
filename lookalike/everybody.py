"""Everybody: who is seen in photos and films, or in crops, with all that a gallery would keep of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np

from lookalike.collection.gallery import Gallery
from lookalike.descriptors.contract import Descriptor
from lookalike.errors import BadInput, LookalikeError, NotFound
from lookalike.faceset import FaceSet
from lookalike.ingest import holds_crops
from lookalike.intake.albums import Album
from lookalike.intake.described import as_set
from lookalike.intake.describer import Describer, choose_descriptor
from lookalike.intake.files import MediaPath, find_files
from lookalike.intake.gathering import Gathered, gather, is_grouped, place
from lookalike.intake.jumps import Described
from lookalike.intake.paths import readable
from lookalike.intake.seen import SeenTrack, Settings
from lookalike.intake.sources import is_footage
from lookalike.intake.workers import Workers
from lookalike.intake.yunet import YUNET
from lookalike.progress import Track, silent
from lookalike.sighting import timecode

logger = logging.getLogger(__name__)

# How many seconds of a film are looked at on both sides of a time that is asked for.
AROUND = 2.0
# Keeps something at hand, as long as a block runs, that can be called on another thread to stop it.
OnStop = Callable[[Callable[[], None]], AbstractContextManager[object]]


def read_everybody(gallery: Gallery, path: Path, track: Track = silent) -> list[FaceSet]:
    """Read all sets of a photo, film, album or folder of crops, described as the gallery is.

    Parameters
    ----------
    gallery : Gallery
    path : Path
        Anything that `add` takes without more options, but another gallery.
    track : callable
        Shows progress: a step is a photo, a second of film, or a set of crops.

    Raises
    ------
    BadInput, NotFound, Conflict
        If it cannot be read, or is described otherwise than the gallery.
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

    Parameters
    ----------
    files : sequence of MediaPath
    part : Descriptor
        What describes the faces.
    """

    def __init__(self, files: Sequence[MediaPath], part: Descriptor) -> None:
        self.files, self.part = files, part
        self.reasons: list[LookalikeError] = []
        self.faceless: list[MediaPath] = []
        self.apart: set[tuple[str, str]] = set()
        self._found: dict[str, tuple[FaceSet, SeenTrack]] = {}
        self._albums: dict[str, Album] = {}

    @property
    def sets(self) -> list[tuple[FaceSet, SeenTrack]]:
        """Every set, with what was seen of it last."""
        return list(self._found.values())

    def look(self, workers: Workers, lengths: Sequence[float]) -> Iterator[None]:
        """Look at all files; yield once for each photo and each second of film."""
        passed = 0
        for number, told in gather(workers, self.files, self.part):
            units = max(1, round(lengths[number]))
            if isinstance(told, float):
                steps = max(0, min(int(told), units) - passed)
            else:
                self._take(self.files[number], told)
                steps = units - passed
            passed = passed + steps if isinstance(told, float) else 0
            yield from (None for _ in range(steps))

    def _take(self, file: MediaPath, told: Gathered) -> None:
        if told.reason is not None:
            self.reasons.append(told.reason)
            if len(self.files) > 1:
                logger.warning("%s", told.reason)
        elif not told.tracks:
            self.faceless.append(file)
        grouped = is_grouped(file, self.part)
        album = self._albums.setdefault(file.album, Album(self.part.same_person)) if grouped else None
        ids = {}
        for one, track in _sets(file, told.tracks, album):
            there = self._found.get(one.id)
            self._found[one.id] = (one if there is None else _joined(there[0], one), track)
            ids[track.number] = one.id
        for track, _ in told.tracks:
            beside = (ids[other] for other in track.together if other in ids)
            self.apart |= {(min(ids[track.number], other), max(ids[track.number], other)) for other in beside}


def seen_in(part: Descriptor, path: Path, at: float | None = None, track: Track = silent) -> Seen:
    """Every set of a photo, film or album, or of the film around a time, with what was seen; at least one."""
    looked_for = find_files(path)
    files = looked_for.media
    if not files and looked_for.failed:
        raise BadInput(looked_for.failed[0][1])
    if not files:
        raise BadInput(f"{readable(path)!r} holds no photo and no film: give one of these")
    settings = Settings() if at is None else Settings(since=max(0.0, at - AROUND), until=at + AROUND)
    seen = look_at(part, files, settings, track)
    if not seen.sets and seen.reasons:
        raise seen.reasons[0]
    if not seen.sets and at is not None and len(files) == 1 and 0 < (length := length_of(path)) < at:
        raise NotFound(f"{path} shows no face at {timecode(at)}: it ends at {timecode(length)}")
    if not seen.sets and at is not None:
        raise NotFound(f"{path} shows no face at {timecode(at)}, nor {AROUND:g} seconds before or after it")
    if not seen.sets:
        raise BadInput(f"no face was found in {readable(path)!r}: give a picture that shows one")
    return seen


def length_of(path: Path) -> float:
    """How many seconds a film says it lasts; 0 if it does not say."""
    with Workers(Settings()) as workers:
        return next(workers.lengths([path]))


def look_at(
    part: Descriptor,
    files: Sequence[MediaPath],
    settings: Settings,
    track: Track = silent,
    on_stop: OnStop = nullcontext,
) -> Seen:
    """Who is seen in photos and films, if anybody; what could not be read is told beside it.

    Parameters
    ----------
    part : Descriptor
        What describes the faces.
    files : sequence of MediaPath
    settings : Settings
        How to look.
    track : callable
        Shows progress: a step is a photo or a second of film.
    on_stop : callable
        Given what ends the looking at once, with an error; returns a context that lasts as long as it does.

    Raises
    ------
    BadInput
        If the model that finds faces is missing, or is another one.
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


def _joined(first: FaceSet, second: FaceSet) -> FaceSet:
    return FaceSet(
        first.id,
        np.concatenate([first.faces, second.faces]),
        first.origin,
        [*first.sources, *second.sources],
        [*first.pictures, *second.pictures],
        [*first.sightings, *second.sightings],
    )
