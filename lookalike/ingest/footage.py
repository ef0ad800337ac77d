"""Footage: the faces of photos and films become sets of a gallery, file by file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from json import dumps
from pathlib import Path
from time import monotonic

from lookalike.descriptors.contract import Descriptor
from lookalike.engines.contract import Engine
from lookalike.errors import BadInput, Conflict, NotFound, is_there, readable
from lookalike.gallery.gallery import Gallery, open_gallery
from lookalike.gallery.media import MediaFile
from lookalike.ingest.describe import WatchedDescriptor, as_set, choose_descriptor, successor_of
from lookalike.ingest.detect import YUNET
from lookalike.ingest.files import MediaPath, find_all
from lookalike.ingest.plan import Plan, counted, make_plan, measure
from lookalike.ingest.remote import gather_elsewhere
from lookalike.ingest.seen import Album, Described, Settings
from lookalike.ingest.workers import Gathered, Workers, gather, is_grouped, place
from lookalike.kernels.threads import thread_count
from lookalike.progress import Forecast, Step, Track, silent
from lookalike.progress import counted as counted_sets
from lookalike.resources import Need, check


@dataclass
class Added:
    """What adding did.

    Sets are new (`added`), ready-made ones that were there already (`unchanged`), or have more faces now
    (`grown`). So many photos and films were looked at, and so many were known. Those that could not be
    read, or only in part, have a sentence each that says why (`failed`, `remarks`). Files and ready-made
    sets that were left out, wholly or in part, since they must not enter, are `barred`; each has a remark
    too.
    """

    added: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    grown: list[str] = field(default_factory=list)
    files: int = 0
    known: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    remarks: list[tuple[str, str]] = field(default_factory=list)
    barred: list[str] = field(default_factory=list)

    def leave_out(self, what: str, sentence: str) -> None:
        """Note that something must not enter."""
        self.barred.append(what)
        self.remarks.append((what, sentence))

    def take(self, other: Added) -> None:
        """Add to this what something else did."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def __str__(self) -> str:
        left_out = f"; {len(self.barred)} blocked and left out" if self.barred else ""
        if not (self.files or self.known or self.failed):
            return (
                f"{counted_sets(len(self.added))} added, {len(self.unchanged)} were there already{left_out}"
            )
        said = f"{counted_sets(len(self.added))} added from {counted(self.files, 'file')}"
        if self.files and not (self.added or self.grown):
            said = f"no face was found in {counted(self.files, 'file')}"
        # An album's set that this run made and then added to is only new.
        grown = len(set(self.grown) - set(self.added))
        said += f", {counted_sets(grown)} {'has' if grown == 1 else 'have'} more faces" if grown else ""
        said += f"; {counted(self.known, 'file')} known already" if self.known else ""
        said += left_out
        return f"{said}; {counted(len(self.failed), 'file')} could not be read" if self.failed else said


def add_footage(
    gallery: Path,
    sources: Sequence[Path],
    descriptor: str | None = None,
    settings: Settings | None = None,
    track: Track = silent,
    tell: Callable[[Plan], bool] = lambda plan: True,
    engine: Engine | None = None,
    *,
    workers: Workers | None = None,
    done: Added | None = None,
    soon: bool = False,
) -> Added:
    """Look for faces in photos and films, and keep every file's faces as soon as it is done.

    A file that cannot be read is listed with its reason, and the rest goes on. Whoever interrupts loses
    at most the files that were being looked at, one for each processor, two for each of an engine: the
    same command goes on from there, and takes only what is new or has other content.

    Parameters are as of `ingest.add.add`; all sources are folders, photos and films. The workers of an
    engine look and describe instead of children of this process; what they find is kept here, and is the
    same. Whoever gives `workers` may stop them; they are closed at the end. `done` is filled while the
    work goes on, and returned. If the first sets are wanted `soon`, what takes least is looked at first,
    and time is not taken to measure the pace; otherwise files come in the order in which people list
    them.

    Raises BadInput, NotFound or Conflict if a source is not there, the gallery is described otherwise, or
    a model is missing or another one.
    """
    settings = settings or Settings()
    found = find_all(sources)
    held: str | None = None
    hint: str | None = None
    known: dict[int, MediaFile] = {}
    if is_there(gallery):
        with open_gallery(gallery) as opened:
            held, hint = opened.descriptor, opened.hint("model_file")
            said = ((number, known_file(opened, file)) for number, file in enumerate(found.media))
            known = {number: file for number, file in said if file is not None}
    undated = [number for number, file in known.items() if file.captured is None]
    part = choose_descriptor(held, descriptor, hint)
    new = [file for number, file in enumerate(found.media) if number not in known]
    away = None if engine is None or engine.is_here else engine
    if new and away is None:
        YUNET.read()  # no file is to blame for what is wrong with it
    with workers or Workers(settings) as workers:
        paths = [file.path for file in new if file.media.kind == "video"]
        films = iter([*workers.lengths(track(paths, "opening videos", len(paths)))])
        # No film takes less than a kilobyte a second: what claims to be longer must not stop the others.
        lengths = [min(next(films), file.size / 1000) if file.media.kind == "video" else 0.0 for file in new]
        if soon:
            # A photo takes as long as a second of film: who waits sees most people soonest in this order.
            order = sorted(range(len(new)), key=lambda number: max(1.0, lengths[number]))
            new, lengths = [new[number] for number in order], [lengths[number] for number in order]
        busy = thread_count() if away is None else away.workers
        others = len(known), found.others.total() + len(found.failed)
        plan = make_plan(new, lengths, *others, busy, left_out_for=found.reasons)
        if away is None and new and not soon:
            pace = measure(new, lengths, part, workers, plan.seconds, track)
            plan = make_plan(new, lengths, *others, busy, pace, found.reasons)
        done = Added() if done is None else done
        done.take(Added(failed=list(found.failed), known=len(known)))
        if not tell(plan):
            return done
        _date(gallery, [(found.media[number], known[number]) for number in undated], workers, track)
        if not new:
            return done
        workers.count = thread_count()
        check("looking for faces", Need(0, plan.bytes), gallery.absolute().parent)
        with open_gallery(gallery, create=True) as opened:
            if part.model_file:
                opened.set_hint("model_file", part.model_file)
            if held is not None and descriptor is None:
                _tell_of_successor(opened, part, done)
            # A photo is a step, and so is a film without a length.
            units = sum(max(1, round(length)) for length in lengths)
            run = _Run(opened, part, settings, done, Forecast(plan.seconds, units))
            for _ in track(run.work(away or workers, new, lengths), "looking for faces", units):
                pass
    return run.done


def _date(
    gallery: Path, undated: Sequence[tuple[MediaPath, MediaFile]], workers: Workers, track: Track
) -> None:
    """Ask files that the gallery knew before it kept dates when they were taken; faces are not looked for."""
    if not undated:
        return
    paths = track([file.path for file, _ in undated], "reading dates", len(undated))
    dates = list(workers.captured(paths))
    with open_gallery(gallery) as opened:
        for (_, known), captured in zip(undated, dates, strict=True):
            if captured is not None:
                opened.keep_file(replace(known, captured=captured), ())


def _tell_of_successor(gallery: Gallery, part: Descriptor, done: Added) -> None:
    """Tell once whoever adds to a gallery that another descriptor knows people better than its own."""
    if part.succeeded_by and gallery.hint("successor_told") != part.succeeded_by:
        done.remarks.append(("", successor_of(part, gallery.path)))
        gallery.set_hint("successor_told", part.succeeded_by)


class _Run:
    """One run through files: what was made, and what is needed to make more."""

    def __init__(
        self, gallery: Gallery, part: Descriptor, settings: Settings, done: Added, forecast: Forecast
    ) -> None:
        self.done = done
        self._forecast, self._began, self._steps = forecast, monotonic(), 0
        self._watched = WatchedDescriptor(part)
        self._gallery = gallery
        self._part = part
        self._settings = settings
        self._contents: dict[int, str] = {}
        self._numbers = _numbers(gallery)
        self._albums: dict[str, tuple[Album, list[str]]] = {}
        self._barred = gallery.barred()
        if people := self._barred.strangers_to(part.identity):
            self.done.remarks.append(("", unrecognised(people, part.identity)))

    def work(
        self, who: Workers | Engine, files: Sequence[MediaPath], lengths: Sequence[float]
    ) -> Iterator[Step]:
        """Look at the files and keep what they show; yield once for each second of film and each photo."""

        def content_of(number: int) -> str:
            if number not in self._contents:
                self._contents[number] = files[number].sha256()
            return self._contents[number]

        def is_wanted(number: int) -> bool:
            content = content_of(number)
            return self._gallery.file_of(content) is None and not self._barred.has_file(content)

        gathered: Iterator[tuple[int, float | Gathered]] = (
            gather(who, files, self._watched, is_wanted)
            if isinstance(who, Workers)
            else gather_elsewhere(who, self._settings, files, self._part, is_wanted, content_of)
        )
        passed = 0
        for number, told in gathered:
            if isinstance(told, float):
                for _ in range(passed, min(int(told), round(lengths[number]))):
                    passed += 1
                    yield self._step(files[number])
            else:
                if not isinstance(who, Workers):
                    self._watched.faces += sum(len(faces) for _, faces in told.tracks)
                self._finish(files[number], number, told)
                for _ in range(passed, max(1, round(lengths[number]))):
                    yield self._step(files[number])
                passed = 0

    def _step(self, file: MediaPath) -> Step:
        """One step further: in which file, with how many faces so far, and how long the rest takes."""
        self._steps += 1
        left = self._forecast.left(self._steps, monotonic() - self._began)
        return Step(f"{file.name}, {counted(self._watched.faces, 'face')} so far", left)

    def _finish(self, file: MediaPath, number: int, told: Gathered) -> None:
        """Keep what a file shows, all of it or nothing; a file that cannot be used is listed."""
        shown, content = readable(file.path), self._contents.pop(number, "")
        try:
            if told.reason is not None:
                raise told.reason
            self._keep(file, content, told)
        except (BadInput, NotFound, Conflict) as refused:
            self.done.failed.append((shown, str(refused)))
            # What was decided about its album is not true any more.
            self._albums.pop(file.album, None)
            self._numbers = _numbers(self._gallery)
            return
        if told.remark:
            self.done.remarks.append((shown, f"{shown!r} {told.remark}"))

    def _keep(self, file: MediaPath, content: str, told: Gathered) -> None:
        kept = MediaFile(
            content,
            _place(file),
            file.size,
            file.changed,
            file.media.kind,
            dumps(asdict(self._settings)),
            told.remark,
            told.captured,
        )
        # The same content may lie twice in one folder, or may have been moved since the last run.
        if self._gallery.file_of(content) is not None:
            self._gallery.keep_file(kept, (), descriptor=self._part.identity)
            self.done.known += 1
            return
        shown = readable(file.path)
        if self._barred.has_file(content):
            self.done.leave_out(shown, f"{shown!r} was left out: it was forgotten and must not enter again")
            return
        whys = [self._barred.why_faces(faces, self._part.identity) for _, faces in told.tracks]
        tracks = [track for track, why in zip(told.tracks, whys, strict=True) if not why]
        if any(whys):
            why = next(filter(None, whys))
            left = f"{len(told.tracks) - len(tracks)} of {len(told.tracks)} people"
            self.done.leave_out(shown, f"{left} in {shown!r} were left out: one {why}")
            if not tracks:
                return  # not even its path is kept, which may name the person
        grouped = is_grouped(file, self._part)
        ids = self._in_album(file.album, tracks) if grouped else self._alone(file, tracks)
        origin = readable(file.path)
        sets = [as_set(ids[track.number], track, faces, file.name, origin) for track, faces in tracks]
        apart = {
            (ids[track.number], ids[other]) for track, _ in tracks for other in track.together if other in ids
        }
        there = [one for one in sets if one.id in self._gallery]
        new = [one for one in sets if one.id not in self._gallery]
        self._gallery.keep_file(kept, new, there, apart, self._part.identity)
        self.done.files += 1
        self.done.added += [one.id for one in new]
        self.done.grown += [one.id for one in there if one.id not in self.done.grown]

    def _alone(self, file: MediaPath, tracks: Sequence[Described]) -> dict[int, str]:
        """Ids for a file whose tracks are a set each; another file of the same name keeps its own."""
        base, copies = file.name, 1
        while base in self._numbers:
            copies += 1
            base = f"{file.name}~{copies}"
        self._numbers[base] = list(range(1, len(tracks) + 1))
        return {track.number: f"{base}#{number}" for number, (track, _) in enumerate(tracks, start=1)}

    def _in_album(self, name: str, tracks: Sequence[Described]) -> dict[int, str]:
        """Ids for the faces of a photo: those of the groups of its album that they join or begin."""
        if name not in self._albums:
            album, ids = Album(self._part.same_person), [f"{name}#{n}" for n in self._numbers.get(name, [])]
            for one in ids:
                album.remember(self._gallery.get(one).faces)
            self._albums[name] = album, ids
        album, ids = self._albums[name]
        places = place(album, tracks)
        for _ in range(len(ids), len(album)):
            numbers = self._numbers.setdefault(name, [])
            numbers.append(max(numbers, default=0) + 1)
            ids.append(f"{name}#{numbers[-1]}")
        return {track.number: ids[group] for (track, _), group in zip(tracks, places, strict=True)}


def unrecognised(people: int, model: str) -> str:
    """The remark for people on the block list whom a model does not know."""
    return (
        f"{people} {'person is' if people == 1 else 'people are'} blocked by another model only, and "
        f"{model} cannot recognise them: they may be added"
    )


def _numbers(gallery: Gallery) -> dict[str, list[int]]:
    """Which numbers behind the # of an id are taken, by what comes before it."""
    taken: dict[str, list[int]] = {}
    for one in gallery.ids():
        base, _, number = one.rpartition("#")
        if base and number.isdecimal():
            taken.setdefault(base, []).append(int(number))
    return taken


def known_file(gallery: Gallery, file: MediaPath) -> MediaFile | None:
    """What a gallery knows of a file, as far as its place, size and time tell: it is not read."""
    return gallery.file_at(_place(file), file.size, file.changed)


def _place(file: MediaPath) -> str:
    return readable(os.path.abspath(file.path))
