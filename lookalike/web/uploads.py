"""Uploads: photos or a clip dropped onto the page, looked through as `add` would, kept only if asked."""

from __future__ import annotations

import os
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO, Final

from lookalike import atomic
from lookalike.errors import BadInput, Conflict, NotFound, StorageFailed
from lookalike.faceset import FaceSet, checked_faces, unique_ids
from lookalike.gallery.forget import remove
from lookalike.gallery.gallery import Gallery
from lookalike.ingest.files import START, recognise
from lookalike.web.catalogue import key_of
from lookalike.web.films import PHOTO, UPLOAD, Pictures
from lookalike.web.jobs import Job, Jobs
from lookalike.web.load import Quota
from lookalike.web.models import (
    FaceView,
    SetsAdd,
    SetView,
    UploadedFace,
    UploadedPerson,
    UploadedPhoto,
    UploadView,
)
from lookalike.web.sets import face_view, when
from lookalike.web.upload_faces import Photo, Reading, as_one_person, face_by_face, photos_of, see
from lookalike.web.wording import counted, sentence

# Uploads that are remembered, and files that one may have.
KEPT: Final = 20
MOST_FILES: Final = 200
LONGEST_NAME: Final = 100
LONGEST_ORIGIN: Final = 1000
STRIP: Final = 10


@dataclass
class Upload:
    """What was dropped: what its file is called, the job that looks through it, who is in it.

    Of each of them the files are known in which they are seen, by our own names and, in `names`, by theirs.
    What the gallery needs to keep them is remembered too, the ids that they were kept by, in their order, and
    those that were new, with what these hold. Files of which nothing was taken have a sentence each that says
    why; the remark is about all. Photos that show several faces are remembered small. Photos dropped
    together that agree on one person can be read as `together`, and otherwise.
    """

    key: str
    title: str
    job: Job | None = None
    people: list[FaceSet] = field(default_factory=list)
    photos: list[Photo] = field(default_factory=list)
    files: list[tuple[str, ...]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    descriptor: str = ""
    model_file: str = ""
    apart: list[tuple[int, int]] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    added: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    remark: str = ""
    readings: dict[bool, Reading] = field(default_factory=dict)
    together: bool = False

    def read(self, together: bool) -> None:
        """Take its photos for those of one person, or for whoever they show."""
        reading = self.readings[together]
        places = {one.id: place for place, one in enumerate(reading.people)}
        self.together, self.photos = together, list(reading.photos)
        self.files = [files_of(one) for one in reading.people]
        self.people = [
            renamed(one, f"upload#{1 + number}", self.origin(number), self.names)
            for number, one in enumerate(reading.people)
        ]
        self.apart = [(places[one], places[other]) for one, other in reading.apart]
        self.kept, self.added = [], {}

    def called(self, number: int) -> str:
        """What somebody in it is called: the file, when in a film, and which face if that is not enough."""
        titles = [self._seen_in(place) for place in range(len(self.people))]
        own = titles[number]
        alike = titles.count(own)
        return own if alike == 1 else f"{own}, face {1 + titles[:number].count(own)} of {alike}"

    def origin(self, number: int) -> str:
        """The files in which somebody is seen."""
        return ", ".join(self.names[one] for one in self.files[number])[:LONGEST_ORIGIN]

    @property
    def found(self) -> str:
        """What there is in it, as a sentence: one person may be there more than once."""
        films = [place for place, one in enumerate(self.people) if span(one) != (None, None)]
        photos = [place for place in range(len(self.people)) if place not in films]
        said = [counted(len(films), "appearance")] if films else []
        if photos:
            faces = sum(len(self.people[place]) for place in photos)
            files = {file for place in photos for file in self.files[place]}
            said.append(f"{counted(faces, 'face')} on {counted(len(files), 'photo')}")
        if not said:
            return "Nobody was found in what you gave."
        was = "was" if said[0].startswith("1 ") and len(said) == 1 else "were"
        again = " One person may be among them more than once." if len(self.people) > 1 else ""
        return f"{' and '.join(said)} {was} found in what you gave.{again}"

    def free_id(
        self, number: int, gallery: Gallery, taken: Collection[str], same: Collection[str] = ()
    ) -> str:
        """An id for somebody in it that is not taken, or by another set that is the same, after the file."""
        bases = [self._base(place) for place in range(len(self.people))]
        base, copies = bases[number], 1
        which = 1 + bases[:number].count(base)
        while (found := f"{base}#{which}") in taken or (found in gallery and found not in same):
            copies += 1
            base = f"{bases[number]}~{copies}"
        return found

    def _base(self, number: int) -> str:
        files = self.files[number]
        return self.names[files[0]] if len(files) == 1 else self.title

    def _seen_in(self, number: int) -> str:
        """The file of somebody, or the first of several; and when, if there are others in the film."""
        first, *others = (self.names[one] for one in self.files[number])
        name = f"{first} and {counted(len(others), 'other')}" if others else first
        seen = when(*span(self.people[number]))
        return f"{name}, {seen}" if seen and len(self.people) > 1 else name


class Uploads:
    """Takes in what is dropped onto the page. Files are deleted once they were looked through."""

    def __init__(self, gallery: Gallery, jobs: Jobs, pictures: Pictures) -> None:
        self._gallery, self._jobs, self._pictures = gallery, jobs, pictures
        self._lock = threading.Lock()
        self._held: OrderedDict[str, Upload] = OrderedDict()
        self.quota = Quota()
        # Nobody else may look into it; made when it is needed.
        self._folder: Path | None = None

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._held.clear()
            if self._folder is not None:
                atomic.delete_tree(self._folder)

    def take(self, files: Sequence[tuple[str, IO[bytes]]], key: str | None = None) -> Job:
        """Copy files, each with its name, into a private place and begin to look through them.

        What is neither photo nor film is left out, and told, if others are. The upload goes by the
        key, if there is room for that in the quota already. Raises BadInput if there is none, too
        many, or each is neither photo nor film; Conflict if too many wait; StorageFailed if there is
        no room for them.
        """
        upload = Upload(key or secrets.token_hex(8), "")
        return self._take(upload, files, lambda job: upload.key, held=True)

    def add_files(self, files: Sequence[tuple[str, IO[bytes]]], key: str | None = None) -> Job:
        """Add everybody in some files to the gallery; the job's result is the keys of their sets.

        Who is there already, by the same name and with the same faces, is not added again: whoever
        got no answer may ask again. Nothing else of the files is kept. Raises as `take`.
        """
        upload = Upload(key or secrets.token_hex(8), "")

        def done(job: Job) -> str:
            job.check()
            job.text = " ".join(filter(None, [upload.found, upload.remark, *upload.left_out]))
            return ",".join(keep(self._gallery, upload, again=False))

        return self._take(upload, files, done, held=False)

    def _take(
        self, upload: Upload, files: Sequence[tuple[str, IO[bytes]]], done: Callable[[Job], str], held: bool
    ) -> Job:
        """Begin to look through files; what is done at the end says what the result is."""
        if not 1 <= len(files) <= MOST_FILES:
            raise BadInput(f"drop from 1 to {MOST_FILES} photos, or a clip, got {len(files)} files")
        names, streams, left_out = [], [], []
        for name, stream in ((shown_name(name), stream) for name, stream in files):
            start = stream.read(START)
            stream.seek(0)
            if recognise(start) is None:
                left_out.append(f"{name!r} is neither a photo nor a video that can be read")
            else:
                names.append(name)
                streams.append(stream)
        if not names:
            first = shown_name(files[0][0])
            several = f"none of {len(files)} files ({first!r} first) is a photo or video that can be read"
            raise BadInput(f"{left_out[0] if len(files) == 1 else several}: drop one of these")
        upload.title = names[0] if len(names) == 1 else f"{len(names)} photos"
        upload.left_out = left_out
        size = sum(stream.seek(0, os.SEEK_END) for stream in streams)
        for stream in streams:
            stream.seek(0)
        with self.quota.taking(upload.key, size, atomic.temporary_place()):
            folder = self._copied(upload.key, names, streams)

        def work(job: Job) -> str:
            job.check()
            self._look(upload, folder, names, job)
            return done(job)

        def clean() -> None:
            atomic.delete_tree(folder)
            self.quota.give_back(upload.key)

        with self._lock:
            if held:
                self._held[upload.key] = upload
            forgotten = [self._held.popitem(last=False)[1] for _ in range(len(self._held) - KEPT)]
            upload.job = self._jobs.start("upload", "looking for faces", work, "uploads", clean)
        for one in forgotten:
            if one.job is not None:
                one.job.cancel()
        return upload.job

    def keep(self, key: str) -> Job:
        """Add everybody in an upload to the gallery; the job's result is the keys of their sets.

        Who is kept already is not added again.
        """
        upload = self._done(key)
        return self._begin("add", "keeping in the collection", lambda: keep(self._gallery, upload))

    def unkeep(self, key: str) -> Job:
        """Take out again what the last `keep` of an upload added; the job's result is the keys of these sets.

        Nothing of them stays in the gallery: see `lookalike.gallery.forget`.
        """
        upload = self._done(key)
        return self._begin(
            "remove", "taking it out of the collection", lambda: take_back(self._gallery, upload)
        )

    def add(self, ask: SetsAdd) -> Job:
        """Add sets of vectors to the gallery; the job's result is the keys of these sets.

        What is there already, and the same, is not added again. Raises BadInput or Conflict if these
        are no sets, or nobody knows what made the vectors.
        """
        descriptor = ask.descriptor or self._gallery.descriptor
        if not descriptor:
            raise BadInput("the collection is empty, so nobody knows what made the vectors: give descriptor")
        sets = [
            FaceSet(one.id, checked_faces(one.vectors, f"set {one.id!r}"), one.origin) for one in ask.sets
        ]
        unique_ids(sets)

        def work() -> list[str]:
            self._gallery.add_together(sets, [], descriptor)
            return [key_of(one.id) for one in sets]

        return self._begin("add", "adding sets", work)

    def _begin(self, kind: str, text: str, work: Callable[[], list[str]]) -> Job:
        """Begin work on the gallery that results in keys of sets."""

        def done(job: Job) -> str:
            job.check()
            return ",".join(work())

        return self._jobs.start(kind, text, done, lane="uploads")

    def read(self, key: str, together: bool) -> UploadView:
        """Take the photos of an upload for those of one person, or for whoever they show.

        Raises BadInput if there is no choice: they are no photos, there is one only, or they do not
        agree on one person; Conflict if it is kept.
        """
        upload = self._done(key)
        if together not in upload.readings:
            raise BadInput("these are not photos that agree on one person: choose somebody who is shown")
        if any(upload.kept) and self._is_kept(upload):
            raise Conflict("this is kept in the collection already: decide there who is who")
        with self._lock:
            upload.read(together)
        return self.view(key)

    def forget(self, key: str) -> UploadView:
        """Let an upload go, as it was."""
        view = self.view(key)
        with self._lock:
            upload = self._held.pop(key, None)
        if upload is not None and upload.job is not None:
            upload.job.cancel()
        return view

    def view(self, key: str) -> UploadView:
        """Who is in an upload."""
        upload = self._get(key)
        state = upload.job.state if upload.job is not None else "waiting"
        people = upload.people if state == "done" else []
        reading = upload.readings.get(upload.together)
        return UploadView(
            key=key,
            state=state,
            people=[
                UploadedPerson(person=number, title=upload.called(number), faces=self.faces(key, number))
                for number in range(len(people))
            ],
            remark=(upload.job.error if upload.job is not None else "")
            or " ".join(filter(None, [upload.remark, reading.remark if reading else ""])),
            together=upload.together if len(upload.readings) > 1 and state == "done" else None,
            left_out=upload.left_out,
            found=upload.found if state == "done" else "",
            # By their places, so that it is all of them or none.
            kept=[key_of(one) for one in upload.kept] if self._is_kept(upload) else [],
            photos=[
                self._photo_view(upload, number) for number in range(len(upload.photos) if people else 0)
            ],
        )

    def person(self, key: str, number: int) -> FaceSet:
        """The faces of somebody in an upload; raise NotFound if there is no such person."""
        upload = self._done(key)
        if number >= len(upload.people):
            raise NotFound(f"there is no person {number} in this upload of {len(upload.people)}")
        return upload.people[number]

    def as_set(self, key: str, number: int) -> SetView:
        """Somebody in an upload, shown as a set; the key is that of the upload."""
        upload, one = self._get(key), self.person(key, number)
        start, end = span(one)
        count = min(STRIP, len(one))
        return SetView(
            key=key,
            id=one.id,
            title=upload.called(number),
            origin=upload.origin(number),
            kind="photo" if start is None else "film",
            start=start,
            end=end,
            when=when(start, end),
            faces=len(one),
            good=sum(not seen.weaknesses for seen in one.sightings) if one.sightings else None,
            strip=self.faces(key, number, [place * len(one) // count for place in range(count)]),
        )

    def faces(self, key: str, number: int, places: Sequence[int] | None = None) -> list[FaceView]:
        """Some faces of somebody in an upload, or all."""
        one = self.person(key, number)
        return [
            face_view(
                place,
                f"/pictures/{self._pictures.token(UPLOAD, key, number, place)}" if one.pictures else None,
                one.sightings[place] if one.sightings else None,
            )
            for place in (range(len(one)) if places is None else places)
        ]

    def picture(self, key: str, number: int, face: int) -> bytes:
        """The picture of a face in an upload."""
        pictures = self.person(key, number).pictures
        if face >= len(pictures):
            raise NotFound("this face has no picture")
        return pictures[face]

    def photo(self, key: str, number: int) -> bytes:
        """A photo of an upload that shows several faces, small."""
        return self._done(key).photos[number].content

    def _photo_view(self, upload: Upload, number: int) -> UploadedPhoto:
        photo = upload.photos[number]
        return UploadedPhoto(
            title=upload.names[photo.file],
            picture=f"/pictures/{self._pictures.token(PHOTO, upload.key, face=number)}",
            width=photo.size[0],
            height=photo.size[1],
            faces=[
                UploadedFace(
                    number=place,
                    person=one.person,
                    face=one.face,
                    title=upload.called(one.person),
                    box=one.box,
                )
                for place, one in enumerate(photo.faces, start=1)
            ],
        )

    def _is_kept(self, upload: Upload) -> bool:
        return all(one and one in self._gallery for one in upload.kept)

    def _get(self, key: str) -> Upload:
        with self._lock:
            if key not in self._held:
                raise NotFound("this upload is gone: only the last few are remembered; drop it again")
            return self._held[key]

    def _done(self, key: str) -> Upload:
        upload = self._get(key)
        if upload.job is None or upload.job.state != "done":
            why = upload.job.error if upload.job is not None else ""
            raise BadInput(why or "This upload is still being looked through: wait a moment.")
        return upload

    def _copied(self, key: str, names: Sequence[str], streams: Sequence[IO[bytes]]) -> Path:
        """Where the files lie now, under names of our own."""
        try:
            with self._lock:
                if self._folder is None:
                    self._folder = atomic.temporary_folder()
                folder = self._folder / key
            atomic.make_folder(folder)
            for number, (name, stream) in enumerate(zip(names, streams, strict=True)):
                atomic.copy_new(folder / _stored_name(number, name), stream)
        except OSError as reason:
            if self._folder is not None:
                atomic.delete_tree(self._folder / key)
            raise StorageFailed(f"the upload cannot be looked through: {reason.strerror}") from reason
        return folder

    def _look(self, upload: Upload, folder: Path, names: Sequence[str], job: Job) -> None:
        """See who is in the files, and what is to be kept of them if somebody asks for it."""
        stored = {_stored_name(number, name): name for number, name in enumerate(names)}
        # One file is asked as it is: in a folder it would be an album.
        source = folder / next(iter(stored)) if len(stored) == 1 else folder
        try:
            found = see(self._gallery, source, job)
        except (BadInput, NotFound) as reason:
            raise type(reason)(in_shown_names(str(reason), folder, stored)) from None
        job.check()
        photos = photos_of(folder, found.people, job)
        upload.left_out += [sentence(in_shown_names(words, folder, stored)) for words in found.left_out]
        left_out = len(upload.left_out)
        how_many = f"{counted(left_out, 'file')} {'was' if left_out == 1 else 'were'} left out."
        upload.remark = " ".join(filter(None, [found.remark, how_many if left_out else ""]))
        upload.names = stored
        upload.descriptor, upload.model_file = found.descriptor, found.model_file
        seen = Reading(found.people, found.apart, photos)
        one = as_one_person(seen, found.may_be_same)
        if one is None:
            upload.readings = {False: seen}
        else:
            one = replace(one, remark=in_shown_names(one.remark, folder, stored))
            # Who contradicts what was taken for sure wants every face by itself.
            upload.readings = {True: one, False: seen if len(seen.people) > 1 else face_by_face(seen)}
        upload.read(one is not None)


def shown_name(name: str) -> str:
    """What a file is called on the page: the last part of its name, in printable characters."""
    last = PurePosixPath(name.replace("\\", "/")).name
    plain = "".join(letter if letter.isprintable() else "_" for letter in last).strip(" .")
    plain = plain.encode("utf-8", "replace").decode()
    return plain[-LONGEST_NAME:] or "upload"


def _stored_name(number: int, name: str) -> str:
    """What a file is called on the disk: nothing of its own name but a plain ending."""
    ending = PurePosixPath(name).suffix.lower()
    plain = ending[1:].isalnum() and ending.isascii() and len(ending) < 6
    return f"file{number:04d}{ending if plain else ''}"


def keep(gallery: Gallery, upload: Upload, again: bool = True) -> list[str]:
    """Add everybody in an upload who is not kept already; the keys of all of them.

    The upload remembers the ids, and which of them are new. Who is there by the same name and with the
    same faces from another upload is only added again if asked.
    """
    kept = upload.kept or [""] * len(upload.people)
    ids = [one if one and one in gallery else "" for one in kept]
    there = {} if again else gallery.contents()
    new = []
    for place, person in enumerate(upload.people):
        if not ids[place]:
            content = person.content_hash()
            same = [one for one, known in there.items() if known == content]
            ids[place] = upload.free_id(place, gallery, ids, same)
            if ids[place] not in same:
                new.append(replace(person, id=ids[place]))
    if gallery.descriptor is None and upload.model_file:
        gallery.set_hint("model_file", upload.model_file)
    beside = [(ids[one], ids[other]) for one, other in upload.apart]
    gallery.add_together(new, beside, upload.descriptor)
    upload.kept, upload.added = ids, {one.id: one.content_hash() for one in new}
    return [key_of(one) for one in ids]


def take_back(gallery: Gallery, upload: Upload) -> list[str]:
    """Remove the sets that the last `keep` added; their keys.

    What was removed since is passed over, and so is another set that has got the id of one of them.
    """
    there = gallery.contents()
    ids = [one for one, content in upload.added.items() if there.get(one) == content]
    if ids:
        remove(gallery, ids)
    upload.kept = ["" if one in ids else one for one in upload.kept]
    upload.added = {}
    return [key_of(one) for one in ids]


def span(one: FaceSet) -> tuple[float | None, float | None]:
    """When somebody is first and last seen in a film; None of photos."""
    times = [seen.time for seen in one.sightings if seen.time is not None]
    return (min(times), max(times)) if times else (None, None)


def files_of(one: FaceSet) -> tuple[str, ...]:
    """The files that the faces of a set are from, each once."""
    return tuple(dict.fromkeys(source.partition(" at ")[0] for source in one.sources))


def renamed(one: FaceSet, set_id: str, origin: str, names: dict[str, str]) -> FaceSet:
    """A set under another name, whose faces are from files by their shown names."""
    sources = []
    for source in one.sources:
        own, at, time = source.partition(" at ")
        sources.append(f"{names[own]}{at}{time}")
    return FaceSet(set_id, one.faces, origin, sources, one.pictures, one.sightings)


def in_shown_names(words: str, folder: Path, stored: dict[str, str]) -> str:
    """A sentence without our own names and places, which say nothing to whoever dropped the files."""
    words = words.replace(f"{folder}/", "").replace(str(folder), "the upload")
    return re.sub("|".join(map(re.escape, stored)), lambda own: stored[own[0]], words)
