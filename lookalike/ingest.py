"""Add: from sources to sets in a gallery."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.collection.connections import is_gallery
from lookalike.collection.gallery import Gallery
from lookalike.errors import BadInput, Conflict, LookalikeError, NotFound
from lookalike.faceset import FaceSet
from lookalike.intake.describer import Describer
from lookalike.intake.paths import is_there
from lookalike.intake.sampling import check_most
from lookalike.progress import Track, silent

# Described sets that wait to be added take at most this much memory.
HELD_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Added:
    """What `add` did: ids of sets that are new, and of those that were there already."""

    added: list[str]
    unchanged: list[str]


def add(
    gallery: Path | str,
    sources: Sequence[Path | str],
    descriptor: str | None = None,
    array: str | None = None,
    track: Track = silent,
    *,
    features: Path | str | None = None,
    most: int | None = None,
) -> Added:
    """Add every set of the sources to a gallery, which is created if there is none.

    Sets are described and checked before any of them is added, so bad input changes nothing. Sources too
    large to be held in memory are added in parts, each of them checked first: if a later part is bad, or the
    work is interrupted, what was added stays, and the same command goes on from there.

    Parameters
    ----------
    gallery : path
    sources : sequence of paths
        Folders of pictures (innermost folder = set), YouTube Faces, pictures, .npz and Parquet files,
        lists of templates (IJB) or tracks (MOT).
    descriptor : str, optional
        Name of the descriptor for pictures; that of the gallery, or ``lbp``, unless given. For ready-made
        descriptors it says what made them.
    array : str, optional
        Which array of a source to take; ``images`` of an .npz file, or the only one there is, unless given.
    track : callable
        Shows progress.
    features : path, optional
        The .npy or .npz file that describes the faces of a list, which is then the only source.
    most : int, optional
        Keep at most so many faces of a set, evenly spread, the first and last among them; all unless given.

    Raises
    ------
    BadInput, NotFound, Conflict
        If a source cannot be read, or contradicts the gallery.
    """
    path = Path(gallery)
    if isinstance(sources, (str, Path)):
        raise BadInput(f"sources must come as a list, got {str(sources)!r}: write [{str(sources)!r}]")
    check_most(most)
    if features is not None and len(sources) != 1:
        raise BadInput(
            f"the features {str(features)!r} belong to one source, got {len(sources)}: add them one at a time"
        )
    if not path.absolute().parent.is_dir():
        raise NotFound(f"the folder of {path} does not exist: make it first, or choose another place")
    if not is_there(path):
        held = None
    else:
        with Gallery(path) as opened:
            held = opened.descriptor
    describer = Describer(held, descriptor, array, features, most)
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
        A source as for `add`, except what needs a features file.
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


def read_queries(gallery: Gallery, path: Path) -> Iterator[FaceSet]:
    """Read every set of a source as a query from outside, described as the gallery is.

    Parameters
    ----------
    gallery : Gallery
    path : Path
        Another gallery, or anything that `add` takes without more options.

    Raises
    ------
    BadInput, NotFound, Conflict
        If it cannot be read, or is described otherwise than the gallery.
    """
    if is_gallery(path):
        with Gallery(path) as other:
            if other.descriptor not in (None, gallery.descriptor):
                raise Conflict(
                    f"the sets of {path} are described by {other.descriptor}, those of {gallery.path} by "
                    f"{gallery.descriptor}: describe both the same way"
                )
            yield from other.sets()
        return
    describer = Describer(gallery.descriptor)
    for found in describer.read(path):
        describer.refuse_other_kind(found)
        yield describer.describe(found)


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
