"""Forget: sets or a person leave a gallery and all that is derived from it, with a receipt that says so."""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from lookalike import disk
from lookalike.collection import barred, holding
from lookalike.collection.barred import Entry
from lookalike.collection.gallery import Gallery
from lookalike.collection.holding import Copy
from lookalike.collection.judged import Person
from lookalike.collection.leaving import Gone
from lookalike.collection.queries import several
from lookalike.collection.schema import now
from lookalike.errors import BadInput, LookalikeError, NotFound, StorageFailed
from lookalike.intake.describer import choose_descriptor
from lookalike.judging import judged
from lookalike.progress import Track, silent
from lookalike.removing import Derived, take_out

logger = logging.getLogger(__name__)

NOT_REACHED: Final = (
    "original films, photos and other sources",
    "exports, reports, contact sheets and receipts that were written elsewhere",
    "copies that other programs made of the gallery",
    "blocks that a file system or a flash disk keeps on its own",
)


@dataclass(frozen=True)
class Receipt:
    """What was forgotten where. Only `sets` and `originals` tell who it was: `as_text` leaves them out.

    Attributes
    ----------
    gallery : str
        Its path.
    made : str
        When, in UTC.
    gone : Gone
        What left the gallery: rows by table, content hashes, what was barred.
    derived : Derived
        Tables that were rewritten or deleted.
    is_wiped : bool
        Whether the file was rewritten. If somebody was reading it, that is done when it is next opened.
    copies : tuple of Copy
        Backups and other galleries that hold it still, or may.
    sets : tuple of str
        Ids of the sets.
    originals : tuple of str
        Where the films and photos lay; they are not touched.
    """

    gallery: str
    made: str
    gone: Gone
    derived: Derived
    is_wiped: bool
    copies: tuple[Copy, ...]
    sets: tuple[str, ...]
    originals: tuple[str, ...]

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
            "wiped": self.is_wiped,
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

    Raises
    ------
    NotFound
        If a set, the person or the folder for the receipt is not there.
    BadInput
        If nothing is named or the descriptor cannot tell people, or the receipt is there already.
    """
    if receipt is not None and receipt.exists():
        raise BadInput(f"{receipt} is there already: choose another name for the receipt")
    if receipt is not None and not receipt.absolute().parent.is_dir():
        raise NotFound(f"the folder of {receipt} does not exist: make it first, or choose another place")
    several(sets)
    if bool(sets) == (person is not None):
        raise BadInput("name the sets to be forgotten, or one person: one of the two")
    ids = tuple(dict.fromkeys(sets)) if person is None else find_person(gallery, person).sets
    contents = [content for set_id, content in gallery.contents().items() if set_id in ids]
    originals = {one.path: None for set_id in ids for one in gallery.files_of(set_id)}
    people = _looks(gallery, ids) if bar_alike else []
    known = [one.path for one in gallery.backups()]
    gone, derived = take_out(gallery, lambda: gallery.forget(ids, bar or bar_alike, people), track)
    made, wiped = _told(gallery, gone.event)
    copies = holding.copies(gallery.path, known, set(ids), set(contents))
    done = Receipt(str(gallery.path), made, gone, derived, wiped, tuple(copies), ids, tuple(originals))
    if receipt is not None:
        _write(receipt, done)
    return done


def _told(gallery: Gallery, event: int) -> tuple[str, bool]:
    """When something was forgotten, and whether its traces are wiped.

    It is gone by now: a disk that refuses to say so must not look as if it were not. Then the wipe counts as
    due, which whoever opens the gallery next finds out.
    """
    try:
        [found] = [one for one in gallery.events() if one.number == event]
        return found.made, not gallery.facts()["purge_due"]
    except StorageFailed as reason:
        logger.warning("%s cannot be asked whether all traces are wiped: %s", gallery.path, reason)
        return now(), False


def find_person(gallery: Gallery, name: str) -> Person:
    """Who has a name, in capitals or not.

    Raises
    ------
    NotFound
        If nobody has.
    """
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
    """What one forgetting barred.

    Attributes
    ----------
    number : int
        What `unbar` is told.
    made : str
        When, in UTC.
    counts : mapping of str to int
        How many entries there are, by kind.
    models : tuple of str
        By which models the person is recognised; none if only content is barred.
    """

    number: int
    made: str
    counts: Mapping[str, int]
    models: tuple[str, ...]


def barred_list(gallery: Gallery) -> list[Bar]:
    """What must not enter again, by the forgetting that barred it, in order."""
    found: dict[int, list[Entry]] = {}
    for one in gallery.barred().entries:
        found.setdefault(one.event, []).append(one)
    return [_bar(number, entries) for number, entries in found.items()]


def unbar(gallery: Gallery, number: int) -> Bar:
    """Let in again what one forgetting barred; what was kept for it is wiped.

    Raises
    ------
    NotFound
        If it barred nothing.
    """
    for one in barred_list(gallery):
        if one.number == number:
            gallery.unbar(number)
            return one
    raise NotFound(f"{gallery.path} bars nothing under number {number}: `lookalike forget --barred` lists it")


def _bar(number: int, entries: Sequence[Entry]) -> Bar:
    kinds = [one.kind for one in entries]
    counts = {kind: kinds.count(kind) for kind in barred.KINDS if kind in kinds}
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
                    f"{model.name} cannot tell whether two faces are of one person, so nobody can be barred "
                    f"by their looks: leave --bar-alike out, or describe the gallery by a model that can"
                )
            continue
        beside = [] if model.is_current else [gallery.vectors(one, model.name) for one in asked]
        faces = [one.faces for one in gallery.sets(asked)] if model.is_current else beside
        faces = [one for one in faces if len(one)]
        if faces:
            found.append(barred.of_person(faces, model.name, least))
    return found


def _least(gallery: Gallery, model: str, is_current: bool) -> float | None:
    """The cosine from which a model takes two faces for one person; None if it cannot tell or is not here."""
    with suppress(LookalikeError):
        return choose_descriptor(model, None, gallery.hint("model_file") if is_current else None).same_person
    return None


def _write(path: Path, receipt: Receipt) -> None:
    try:
        disk.write(path, receipt.as_text().encode())
    except OSError as reason:
        raise StorageFailed(
            f"the receipt {path} cannot be written ({reason.strerror}), but everything was forgotten: "
            f"`lookalike history` tells of it"
        ) from reason


__all__ = ["Bar", "Receipt", "barred_list", "find_person", "forget", "unbar"]
