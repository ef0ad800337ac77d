"""Add: from sources to sets in a gallery."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from lookalike import registry
from lookalike.engines.contract import Engine
from lookalike.errors import BadInput, Conflict, LookalikeError, NotFound, is_there, readable
from lookalike.faceset import FaceSet, check_most
from lookalike.gallery.gallery import Gallery, open_gallery
from lookalike.ingest.describe import DEFAULT_DESCRIPTOR, Describer, is_part
from lookalike.ingest.footage import Added, add_footage, unrecognised
from lookalike.ingest.plan import Plan
from lookalike.ingest.seen import Settings
from lookalike.ingest.sources import is_footage
from lookalike.progress import Track, silent

# More tell nothing new, and their sightings would not fit into one message.
MOST_OF_A_TRACK = 1000
# Described sets that wait to be added take at most this much memory.
HELD_BYTES = 256 * 2**20


def add(
    gallery: Path | str,
    sources: Sequence[Path | str],
    descriptor: str | None = None,
    array: str | None = None,
    track: Track = silent,
    *,
    features: Path | str | None = None,
    most: int | None = None,
    cropped: bool | None = None,
    rate: float = Settings.rate,
    tell: Callable[[Plan], bool] = lambda plan: True,
    dry_run: bool = False,
    engine: Engine | str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Added:
    """Add every set of the sources to a gallery, which is created if there is none.

    Faces are looked for in photos and videos, whose faults are listed while the rest goes on (see
    `ingest.footage.add_footage`). Other sources hold ready-made faces: these are described and checked
    before any of them is added, so bad input changes nothing. Sources too large to be held in memory are
    added in parts, each of them checked first: if a later part is bad, or the work is interrupted, what was
    added stays, and the same command goes on from there.

    Parameters
    ----------
    gallery : path
    sources : sequence of paths
        Photos, videos and folders of them; or ready-made faces: YouTube Faces, .npz and Parquet files,
        lists of templates (IJB) or tracks (MOT), and folders of `cropped` pictures.
    descriptor : str, optional
        Name of the descriptor for pictures; that of the gallery unless given, otherwise ``sface`` for videos
        and ``lbp`` for ready-made crops. For ready-made descriptors it says what made them.
    array : str, optional
        Which array of a source to take; ``images`` of an .npz file, or the only one there is, unless given.
    track : callable
        Shows progress.
    features : path, optional
        The .npy or .npz file that describes the faces of a list, which is then the only source.
    most : int, optional
        Keep at most so many faces of a set, evenly spread, the first and last among them; all unless given,
        and 50 of a track in a video.
    cropped : bool, optional
        Whether pictures are faces cut out already, an innermost folder being a set, instead of photos in
        which faces are to be found; as in the gallery unless given.
    rate : float
        In how many frames of each second of video faces are looked for.
    tell : callable
        Given the plan of what is to be done with videos and photos; if it answers False, nothing is.
    dry_run : bool
        Whether nothing is to be done but to make that plan; only videos and photos have one.
    engine : Engine or str, optional
        Whose workers look for faces in photos and videos and describe them; what is added is the same. They
        must reach the files by the same path. Ready-made faces are read by this process, whatever it is.
    columns : mapping of str to str, optional
        What columns of Parquet files and arrays of .npz files are called, as ``{"set_id": "video"}``.

    Raises
    ------
    BadInput, NotFound, Conflict
        If a source cannot be read, or contradicts the gallery.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike import add
    >>> clips = np.repeat(["clip-1", "clip-2"], 3)
    >>> np.savez("clips.npz", vectors=np.random.default_rng(0).normal(size=(6, 16)), clip=clips)
    >>> done = add("videos.gallery", ["clips.npz"], columns={"set_id": "clip"})
    >>> done.added
    ['clip-1', 'clip-2']
    """
    path = Path(gallery)
    if isinstance(sources, (str, Path)):
        raise BadInput(f"sources must come as a list, got {str(sources)!r}: write [{str(sources)!r}]")
    check_most(most)
    place: Engine | None = None if engine is None else registry.build("engines", engine)
    if features is not None and len(sources) != 1:
        raise BadInput(
            f"the features {str(features)!r} belong to one source, got {len(sources)}: add them one at a time"
        )
    if not path.absolute().parent.is_dir():
        raise NotFound(f"the folder of {path} does not exist: make it first, or choose another place")
    if not is_there(path):
        held = None
    else:
        with open_gallery(path) as opened:
            held = opened.descriptor
            cropped = holds_crops(opened) if cropped is None else cropped
            for one in map(Path, sources) if cropped is None else ():
                if is_footage(one, False) != is_footage(one, True):
                    raise Conflict(
                        f"{path} holds both photos and ready-made crops: say what {readable(one)!r} is, by "
                        f"--photos or --cropped"
                    )
    footage = [Path(one) for one in sources if features is None and is_footage(Path(one), bool(cropped))]
    ready = [Path(one) for one in sources if Path(one) not in footage]
    settings = Settings(rate=checked_rate(rate), most=Settings.most if most is None else most)
    if footage and columns:
        raise BadInput("photos and videos have no columns: leave them out")
    if footage and array is not None:
        raise BadInput(f"photos and videos have no array {array!r}: leave the array out")
    if footage and settings.most > MOST_OF_A_TRACK:
        raise BadInput(f"of a track at most {MOST_OF_A_TRACK} faces are kept, got {most}: give fewer")
    done = Added()
    if dry_run and ready:
        raise BadInput(
            f"only videos and photos can be tried without adding them, and {str(ready[0])!r} holds "
            "ready-made faces: leave it out, or leave --dry-run out"
        )
    if ready:
        _add_ready(path, ready, Describer(held, descriptor, array, features, most, columns), done, track)
    if footage:
        # Whoever gives an engine as an object goes on to use it.
        with nullcontext(place) if place is None or place is engine else place:
            goes_on = lambda plan: tell(plan) and not dry_run  # noqa: E731
            done.take(add_footage(path, footage, descriptor, settings, track, goes_on, place))
    return done


def holds_crops(gallery: Gallery) -> bool | None:
    """Whether the pictures of a gallery came as crops, as those to come will be; None if only some did."""
    crops, files = gallery.has_crops(), bool(gallery.facts()["files"])
    if crops and files:
        return None
    # Numbers of others cannot be made of photos; the reader of crops says so best.
    return crops or (not files and not is_part(gallery.descriptor or DEFAULT_DESCRIPTOR))


def checked_rate(given: object) -> float:
    """Refuse what cannot be a number of frames a second.

    Raises
    ------
    BadInput
        If it is not a number from 0.1 to 60.
    """
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0.1 <= given <= 60:
        raise BadInput(f"the rate must be a number of frames a second from 0.1 to 60, got {given!r}")
    return float(given)


def _add_ready(path: Path, sources: Sequence[Path], describer: Describer, done: Added, track: Track) -> None:
    """Describe and add ready-made sets."""
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
    with open_gallery(path, create=not exists) as gallery:
        held, barred = gallery.contents(), gallery.barred()
        people = barred.strangers_to(kind)
        if people and unrecognised(people, kind) not in dict(done.remarks).values():
            done.remarks.append(("", unrecognised(people, kind)))
        whys = {faceset.id: barred.why(faceset, kind) for faceset, _ in ready if barred}
        for name, why in whys.items():
            if why:
                done.leave_out(name, f"set {name!r} was left out: it {why}")
        ready = [one for one in ready if not whys.get(one[0].id)]
        known = [faceset for faceset, _ in ready if faceset.id in held]
        for faceset in known:
            gallery.add(faceset, kind)  # says whether it is the same set, and changes nothing if it is
            done.unchanged.append(faceset.id)
        new = [faceset for faceset, _ in ready if faceset.id not in held]
        for faceset in track(new, "adding sets", len(new)):
            gallery.add(faceset, kind)
            done.added.append(faceset.id)
