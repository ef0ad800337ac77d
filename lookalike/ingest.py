"""Add: from sources to sets in a gallery."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lookalike import parts
from lookalike.collection.gallery import Gallery
from lookalike.descriptors.contract import Descriptor
from lookalike.errors import BadInput, Conflict, LookalikeError, NotFound
from lookalike.faceset import FaceSet
from lookalike.intake.paths import is_there
from lookalike.intake.pictures import encode_picture
from lookalike.intake.sources import SourceSet, array_names, read_source
from lookalike.progress import Track, silent

DEFAULT_DESCRIPTOR = "lbp"
# Described sets that wait to be added take at most this much memory.
HELD_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Added:
    """What `add` did: ids of sets that are new, and of those that were there already."""

    added: list[str]
    unchanged: list[str]


class Describer:
    """Turns what a source holds into sets of one kind of descriptor, the gallery's if it has one.

    Parameters
    ----------
    held : str or None
        What described the faces of the gallery; None if it is empty.
    descriptor : str, optional
        The user's choice. With an array it says what made its numbers.
    array : str, optional
        Which array of an .npz source to take.
    """

    def __init__(self, held: str | None, descriptor: str | None = None, array: str | None = None) -> None:
        self.held = held
        self.given = descriptor
        self.asked = array is not None
        self.array = array
        if array is None and descriptor is None and held is not None and held.startswith("array:"):
            self.array = held.removeprefix("array:")
        self._part: Descriptor | None = None

    def read(self, path: Path) -> Iterator[SourceSet]:
        """Yield the sets of one source as they lie there."""
        # The array of the gallery is only a guess for the source; what was asked for must be there.
        return read_source(path, self.array if self.asked or self.array in array_names(path) else None)

    def kind(self, found: SourceSet) -> str:
        """Name what describes a set of this source; a gallery keeps one kind."""
        if found.faces is None:
            return parts.spec(self._descriptor())
        if self._given_kind is not None:
            return self._given_kind
        return found.descriptor or f"array:{found.array}"

    def refuse_other_kind(self, found: SourceSet) -> None:
        """Refuse a query that is described otherwise than the gallery, as far as its name tells.

        Raises
        ------
        Conflict
            If it is.
        """
        held = self.held or ""
        if (held.startswith("array:") or _is_part(held)) and self.kind(found) != held:
            raise Conflict(
                f"set {found.id!r} is described by {self.kind(found)}, the gallery by {held}: "
                f"describe both the same way"
            )

    def describe(self, found: SourceSet) -> FaceSet:
        """Describe the faces of a set, unless the source did; pictures are kept as evidence.

        Raises
        ------
        BadInput
            If a face cannot be described.
        """
        faces = found.faces
        if faces is None:
            try:
                faces = self._descriptor().describe_many(found.pictures)
            except BadInput as reason:
                raise BadInput(f"set {found.id!r} cannot be described: {reason}") from reason
        pictures = [encode_picture(picture) for picture in found.pictures]
        return FaceSet(found.id, faces, found.origin, found.sources, pictures)

    @cached_property
    def _given_kind(self) -> str | None:
        """The user's choice: any text may name what made ready-made numbers, a part is written out."""
        if self.given is None or not _is_part(self.given):
            return self.given
        return parts.spec(parts.build("descriptors", self.given))

    def _descriptor(self) -> Descriptor:
        if self._part is None:
            wanted = self.given or self.held or DEFAULT_DESCRIPTOR
            if wanted.startswith("array:"):
                raise Conflict(
                    f"the gallery holds ready-made descriptors ({wanted}) and the source holds pictures: "
                    f"give an .npz file with such an array, or use another gallery"
                )
            self._part = parts.build("descriptors", wanted)
        return self._part


def _is_part(kind: str) -> bool:
    """Whether the name of a kind of descriptor is that of a part, and not somebody's own words."""
    return kind.partition(":")[0] in parts.names("descriptors")


def add(
    gallery: Path | str,
    sources: Sequence[Path | str],
    descriptor: str | None = None,
    array: str | None = None,
    track: Track = silent,
) -> Added:
    """Add every set of the sources to a gallery, which is created if there is none.

    Sets are described and checked before any of them is added, so bad input changes nothing. Sources too
    large to be held in memory are added in parts, each of them checked first: if a later part is bad, or the
    work is interrupted, what was added stays, and the same command goes on from there.

    Parameters
    ----------
    gallery : path
    sources : sequence of paths
        Folders of pictures (innermost folder = set), pictures, .npz files.
    descriptor : str, optional
        Name of the descriptor for pictures; that of the gallery, or ``lbp``, unless given. For ready-made
        descriptors it says what made them.
    array : str, optional
        Which array of an .npz source to take; ``images`` unless given.
    track : callable
        Shows progress.

    Raises
    ------
    BadInput, NotFound, Conflict
        If a source cannot be read, or contradicts the gallery.
    """
    path = Path(gallery)
    if isinstance(sources, (str, Path)):
        raise BadInput(f"sources must come as a list, got {str(sources)!r}: write [{str(sources)!r}]")
    if not path.absolute().parent.is_dir():
        raise NotFound(f"the folder of {path} does not exist: make it first, or choose another place")
    if not is_there(path):
        held = None
    else:
        with Gallery(path) as opened:
            held = opened.descriptor
    describer = Describer(held, descriptor, array)
    done = Added([], [])
    ready: list[tuple[FaceSet, str]] = []
    waiting = 0
    try:
        for faceset, kind in track(_described(describer, sources), "describing sets", None):
            ready.append((faceset, kind))
            waiting += faceset.faces.nbytes + sum(map(len, faceset.pictures))
            if waiting > HELD_BYTES:
                _store(path, ready, done, track)
                ready, waiting = [], 0
        _store(path, ready, done, track)
    except LookalikeError as reason:
        if done.added:
            raise type(reason)(f"{reason} ({len(done.added)} sets before it were added and stay)") from reason
        raise
    return done


def read_query(gallery: Gallery, path: Path, set_id: str | None = None) -> FaceSet:
    """Read a query from outside, described as the gallery is.

    Parameters
    ----------
    gallery : Gallery
    path : Path
        A folder, a picture or an .npz file.
    set_id : str, optional
        Which set of the source; needed if it holds several.

    Raises
    ------
    BadInput, NotFound, Conflict
        If it cannot be read, holds several sets, or no such set.
    """
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


def _described(describer: Describer, sources: Iterable[Path | str]) -> Iterator[tuple[FaceSet, str]]:
    """Describe set after set; refuse two sets of one name."""
    seen: dict[str, Path] = {}
    for path in map(Path, sources):
        for found in describer.read(path):
            if found.id in seen:
                raise Conflict(
                    f"two sets are called {found.id!r}, in {seen[found.id]} and {path}: rename one"
                )
            seen[found.id] = path
            yield describer.describe(found), describer.kind(found)


def _store(path: Path, ready: list[tuple[FaceSet, str]], done: Added, track: Track) -> None:
    """Check all of the sets against each other and the gallery, then add them."""
    if not ready:
        return
    (first, kind), exists = ready[0], is_there(path)
    for faceset, its_kind in ready:
        if (its_kind, faceset.dimension) != (kind, first.dimension):
            raise Conflict(
                f"set {first.id!r} is described by {kind} ({first.dimension} numbers), set {faceset.id!r} by "
                f"{its_kind} ({faceset.dimension} numbers): add them to different galleries"
            )
    with Gallery(path, create=not exists) as gallery:
        held = gallery.contents()
        known = [faceset for faceset, _ in ready if faceset.id in held]
        for faceset in known:
            gallery.add(faceset, kind)  # says whether it is the same set, and changes nothing if it is
            done.unchanged.append(faceset.id)
        new = [faceset for faceset, _ in ready if faceset.id not in held]
        for faceset in track(new, "adding sets", len(new)):
            gallery.add(faceset, kind)
            done.added.append(faceset.id)
