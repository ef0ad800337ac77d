"""Forget: sets or a person leave a gallery and all that is derived from it, with a receipt that says so."""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from lookalike import atomic
from lookalike.errors import BadInput, GalleryUnreadable, LookalikeError, NotFound, StorageFailed
from lookalike.gallery import blocklist, deletion
from lookalike.gallery.blocklist import Entry
from lookalike.gallery.decisions import judged
from lookalike.gallery.deletion import Copy, Gone
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.opened import WipeDue
from lookalike.gallery.people import Person
from lookalike.gallery.set_rows import several
from lookalike.indexing.build import tables_that_fit, update_index
from lookalike.indexing.store import TableStore
from lookalike.ingest.describe import choose_descriptor
from lookalike.progress import Track, silent

logger = logging.getLogger(__name__)

Taken = TypeVar("Taken")


@dataclass(frozen=True)
class Derived:
    """What became of derived tables, by their kinds."""

    rewritten: tuple[str, ...] = ()  # brought up to date without the removed sets
    deleted: tuple[str, ...] = ()  # made again when they are needed
    looked_at: tuple[str, ...] = ()  # folders of tables that were looked through
    elsewhere: tuple[str, ...] = ()  # folders from when the gallery lay elsewhere, that could not be reached


def remove(gallery: Gallery, ids: Sequence[str], track: Track = silent) -> list[str]:
    """Remove sets everywhere; indexes are brought up to date, what was learnt is learnt again when needed.

    An index of prepared faces is made again when needed too, if the preparation was learnt from such a set.

    Parameters
    ----------
    gallery : Gallery
    ids : sequence of str
        All of them are removed, or, if one is not there, none.
    track : callable
        Shows progress.

    Raises
    ------
    NotFound
        If a set is not there.

    Examples
    --------
    >>> from lookalike import FaceSet, Gallery, remove
    >>> with Gallery("videos.gallery", create=True) as gallery:
    ...     _ = gallery.add(FaceSet("clip-7", [[0.1, 0.9, 0.3], [0.2, 0.8, 0.4]]))
    ...     remove(gallery, ["clip-7"])
    ...     len(gallery)
    ['clip-7']
    0
    """
    return take_out(gallery, lambda: gallery.remove(ids), track)[0]


def take_out(gallery: Gallery, take: Callable[[], Taken], track: Track = silent) -> tuple[Taken, Derived]:
    """Let something remove sets from the gallery, and see to the derived tables.

    Whatever interrupts this, the gallery remembers that tables may know removed sets: they are deleted when
    it is next opened.
    """
    store = TableStore.beside(gallery.path)
    before = store.stored()
    known = list(before)
    # What still fits knows no removed set; the rest is out of date, perhaps since an interrupted removal.
    try:
        taken = take()
        for old in (table for table in before if table.is_index):
            # A part that is not here any more cannot bring its table up to date, nor can a gallery in which
            # other sets are damaged too.
            with suppress(NotFound, BadInput, GalleryUnreadable), _later():
                made = update_index(gallery, old, before, track)
                known += [] if made is None else [made]
    finally:
        # Whatever happened: no table that knows a set which the gallery does not know may stay.
        with _later():
            mark = gallery.derived_mark()
            known = store.stored(known)
            store.erase_others([one.path for one in tables_that_fit(gallery, known)])
            if mark is not None:
                gallery.settle_derived(mark)
    earlier = {one.manifest.kind: one.path for one in before}
    after = {one.manifest.kind: one.path for one in store.stored(known)}
    rewritten = (kind for kind, path in after.items() if kind in earlier and earlier[kind] != path)
    return taken, Derived(
        tuple(rewritten),
        tuple(kind for kind in earlier if kind not in after),
        (str(store.folder),),
        tuple(gallery._opened.tables_elsewhere()),
    )


@contextmanager
def _later() -> Iterator[None]:
    """Trouble with tables is logged: the sets are removed already, and the gallery remembers what is due."""
    try:
        yield
    except (StorageFailed, OSError) as reason:
        logger.warning("tables that knew removed sets are deleted when it is opened next: %s", reason)


NOT_REACHED: Final = (
    "original videos, photos and other sources",
    "exports, reports, contact sheets and receipts that were written elsewhere",
    "copies that other programs made of the gallery",
    "blocks that a file system or a flash disk keeps on its own",
)


@dataclass(frozen=True)
class Receipt:
    """What was forgotten where. Only `sets` and `originals` tell who it was: `as_text` leaves them out."""

    gallery: str  # its path
    made: str  # when, in UTC
    gone: Gone  # what left the gallery: rows by table, content hashes, what was barred
    derived: Derived  # tables that were rewritten or deleted
    is_wiped: bool  # whether the file was written anew, so that nothing of it is left there
    wipe_due: WipeDue | None  # otherwise, what is still to be done; None if the disk would not tell
    copies: tuple[Copy, ...]  # backups and other galleries that hold it still, or may
    sets: tuple[str, ...]  # their ids
    originals: tuple[str, ...]  # where the videos and photos lay; they are not touched

    def facts(self) -> dict[str, Any]:
        """All of it but `sets` and `originals`, as JSON values."""
        return {
            "gallery": self.gallery,
            "made": self.made,
            "event": self.gone.event,
            "sets": len(self.sets),
            "rows": dict(self.gone.rows),
            "pictures": self.gone.pictures,
            "contents": list(self.gone.contents),
            "files": list(self.gone.files),
            "files_kept": self.gone.files_kept,
            "tables_rewritten": list(self.derived.rewritten),
            "tables_deleted": list(self.derived.deleted),
            "tables_looked_at": list(self.derived.looked_at),
            "tables_elsewhere": list(self.derived.elsewhere),
            "wiped": self.is_wiped,
            "wipe_due": None if self.wipe_due is None else asdict(self.wipe_due),
            "barred": dict(self.gone.barred),
            "copies": [asdict(one) for one in self.copies],
            "not_reached": list(NOT_REACHED),
        }

    def as_text(self) -> str:
        """The receipt to be kept: counts and hashes, nothing by which the forgotten are known."""
        return json.dumps(self.facts(), indent=1, ensure_ascii=False) + "\n"


def forget(
    gallery: Gallery,
    sets: Sequence[str] = (),
    person: str | None = None,
    bar: bool = False,
    bar_alike: bool = False,
    receipt: Path | None = None,
    track: Track = silent,
    now: bool = False,
) -> Receipt:
    """Forget sets, or all sets of a person with every name they were given.

    Parameters
    ----------
    gallery : Gallery
    sets : sequence of str
        Ids; all of them are forgotten, or, if one is not there, none.
    person : str, optional
        The name of a person instead.
    bar : bool
        Whether the same content is to stay out: hashes of the files, sets and faces are kept.
    bar_alike : bool
        Whether the person is to stay out, whatever they are seen in. For that the gallery keeps one mean
        descriptor of them for each of its models that can tell people: biometric data, kept on request.
    receipt : Path, optional
        Where the receipt is written; it must not exist.
    track : callable
        Shows progress.
    now : bool
        Whether a large file is wiped at once too; otherwise that waits for an hour, so that forgetting
        several people costs one wipe.

    Raises
    ------
    NotFound
        If a set, the person or the folder for the receipt is not there.
    BadInput
        If nothing is named or the descriptor cannot tell people, or the receipt is there already.

    Examples
    --------
    >>> from lookalike import FaceSet, Gallery, forget
    >>> with Gallery("videos.gallery", create=True) as gallery:
    ...     _ = gallery.add(FaceSet("clip-7", [[0.1, 0.9, 0.3], [0.2, 0.8, 0.4]]))
    ...     receipt = forget(gallery, ["clip-7"])
    ...     len(gallery)
    0
    """
    if receipt is not None and receipt.exists():
        raise BadInput(f"{receipt} is there already: choose another name for the receipt")
    if receipt is not None and not receipt.absolute().parent.is_dir():
        raise NotFound(f"the folder of {receipt} does not exist: make it first, or choose another place")
    several(sets)
    if bool(sets) == (person is not None):
        raise BadInput("name the sets to be forgotten, or one person: one of the two")
    ids = tuple(dict.fromkeys(sets)) if person is None else find_person(gallery, person).sets
    people = _looks(gallery, ids) if bar_alike else []
    known = [one.path for one in gallery.backups()]
    gone, derived = take_out(gallery, lambda: gallery.forget(ids, bar or bar_alike, people), track)
    wiped, due = _wiped(gallery, now)
    copies = deletion.find_copies(gallery.path, known, set(ids), set(gone.contents))
    done = Receipt(
        str(gallery.path), gone.made, gone, derived, wiped, due, tuple(copies), ids, gone.originals
    )
    if receipt is not None:
        _write(receipt, done)
    return done


def _wiped(gallery: Gallery, now: bool) -> tuple[bool, WipeDue | None]:
    """Whether the traces of what was forgotten are wiped, and what is still due.

    It is gone by now: a disk that refuses to wipe, or to say so, must not look as if it were not. Then the
    wipe counts as due, which whoever opens the gallery next finds out.
    """
    try:
        if now:
            try:
                gallery.wipe()
            except StorageFailed as reason:
                logger.warning("everything was forgotten, but a wipe is still due: %s", reason)
        due = gallery.wipe_due()
    except StorageFailed as reason:
        logger.warning("%s cannot be asked whether all traces are wiped: %s", gallery.path, reason)
        return False, None
    return due is None, due


def find_person(gallery: Gallery, name: str) -> Person:
    """Who has a name, in capitals or not."""
    people = {one.name.casefold(): one for one in judged(gallery).people.values()}
    found = people.get(" ".join(name.split()).casefold())
    if found is None:
        # Half a name is far from a whole one.
        near = difflib.get_close_matches(name.casefold(), people, n=3, cutoff=0.4)
        hint = "name the sets instead"
        if near:
            hint = f"did you mean {' or '.join(repr(people[one].name) for one in near)}?"
        elif not people:
            hint = f"nobody in it has a name, {hint}"
        raise NotFound(f"{gallery.path} knows nobody called {name!r}: {hint}")
    return found


@dataclass(frozen=True)
class Bar:
    """What one forgetting barred."""

    number: int  # what `unbar` is told
    made: str  # when, in UTC
    counts: Mapping[str, int]  # how many entries there are, by kind
    models: tuple[str, ...]  # by which the person is recognised; none if only content is barred


def barred_list(gallery: Gallery) -> list[Bar]:
    """What must not enter again, by the forgetting that barred it, in order."""
    found: dict[int, list[Entry]] = {}
    for one in gallery.barred().entries:
        found.setdefault(one.event, []).append(one)
    return [_bar(number, entries) for number, entries in found.items()]


def unbar(gallery: Gallery, number: int) -> Bar:
    """Let in again what one forgetting barred, and wipe what was kept for it; NotFound if that is nothing."""
    for one in barred_list(gallery):
        if one.number == number:
            gallery.unbar(number)
            return one
    raise NotFound(f"{gallery.path} blocks nothing under {number}: `lookalike forget --blocked` lists it")


def _bar(number: int, entries: Sequence[Entry]) -> Bar:
    kinds = [one.kind for one in entries]
    counts = {kind: kinds.count(kind) for kind in blocklist.KINDS if kind in kinds}
    return Bar(number, entries[0].made, counts, tuple(one.model for one in entries if one.model is not None))


def _looks(gallery: Gallery, ids: Iterable[str]) -> list[Entry]:
    """What a person looks like to each model that can tell people; the current one must."""
    found = []
    asked = list(ids)
    for model in gallery.models():
        least = _least(gallery, model.name, model.is_current)
        if least is None:
            if model.is_current:
                raise BadInput(
                    f"{model.name} cannot tell whether two faces are of one person, so nobody can be blocked "
                    f"by their looks: leave --block-alike out, or describe the gallery by a model that can"
                )
            continue
        beside = [] if model.is_current else [gallery.vectors(one, model.name) for one in asked]
        faces = [one.faces for one in gallery.sets(asked)] if model.is_current else beside
        faces = [one for one in faces if len(one)]
        if faces:
            found.append(blocklist.of_person(faces, model.name, least))
    return found


def _least(gallery: Gallery, model: str, is_current: bool) -> float | None:
    """The cosine from which a model takes two faces for one person; None if it cannot tell or is not here."""
    with suppress(LookalikeError):
        return choose_descriptor(model, None, gallery.hint("model_file") if is_current else None).same_person
    return None


def _write(path: Path, receipt: Receipt) -> None:
    try:
        atomic.write(path, receipt.as_text().encode())
    except OSError as reason:
        raise StorageFailed(
            f"the receipt {path} cannot be written ({reason.strerror}), but everything was forgotten: "
            f"`lookalike history` tells of it"
        ) from reason
