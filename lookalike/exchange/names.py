"""Names in photos: marks of other programs, read as decisions; and ours, written as XMP sidecars."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Final, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from lookalike import __version__
from lookalike.errors import BadInput, Conflict, LookalikeError, is_folder, leads_out, readable
from lookalike.exchange.appearances import Appearance, Selection, files_of_faces
from lookalike.faceset import Box, FaceSet, natural_order
from lookalike.gallery import decisions
from lookalike.gallery.decision_log import OpenLog
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.media import MediaFile
from lookalike.gallery.people import folded
from lookalike.ingest.files import MediaPath, find_files
from lookalike.ingest.header import (
    AREA,
    DIMENSIONS,
    MICROSOFT,
    OWN,
    RDF,
    REGION,
    REGION_INFO,
    REGIONS,
    SIDECAR,
    TIFF,
    Header,
    Region,
    as_stored,
    read_headers_apart,
)
from lookalike.ingest.seen import best_pairs
from lookalike.progress import Track, silent

# Share of what either covers that a region and a face of ours must both cover. A program that marks the whole
# head draws about three times our area around the same middle, which is a third; of two people side by side
# boxes of any size have less than a tenth in common.
LEAST_OVERLAP: Final = 0.2


class Unmatched(NamedTuple):
    """A name that was not given to anybody: where it stands, whose it is, and why."""

    file: str
    name: str
    reason: str


@dataclass
class NamesRead:
    """What reading names did."""

    # Names that were given, with the sets that got them just now.
    people: dict[str, list[str]] = field(default_factory=dict)
    # Numbers of the decisions, for whoever wants to undo them.
    decided: list[int] = field(default_factory=list)
    files: int = 0  # photos of the gallery whose marks were read
    regions: int = 0  # faces with a name that were marked in them
    known: int = 0  # marked faces whose set had this name already
    unmatched: list[Unmatched] = field(default_factory=list)  # names that could not be given to a set
    # Files that could not be read, each with a sentence that says why.
    failed: list[tuple[str, str]] = field(default_factory=list)


def read_names(
    gallery: Gallery, sources: Sequence[Path], track: Track = silent, dry_run: bool = False
) -> NamesRead:
    """Name people by the faces that other programs marked in photos and in sidecars beside them.

    A marked face gets its name if it covers one of ours, in a photo that the gallery knows. What a sidecar
    marks counts for more than what its photo does. A set whose photos have two names gets none. `sources`
    are photos, sidecars (.xmp), and folders of these; NotFound or BadInput if one is not there, or none
    holds a photo or a sidecar. A `dry_run` matches only, and decides nothing.
    """
    done = NamesRead()
    photos, sidecars = _found(sources, done)
    paths = [*(one.path for one in photos), *sidecars]
    if not (paths or done.failed):
        shown = ", ".join(repr(readable(one)) for one in sources)
        raise BadInput(f"{shown} holds no photo and no sidecar ({SIDECAR}): give a folder that does")
    read = dict(zip(paths, track(read_headers_apart(paths), "reading names", len(paths)), strict=True))
    for path, header in read.items():
        if isinstance(header, LookalikeError):
            done.failed.append((readable(path), str(header)))
    headers = {path: one for path, one in read.items() if isinstance(one, Header)}
    given: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for file, header, shown in _marked(gallery, photos, sidecars, headers, done):
        done.files += 1
        for set_id, name in _matched(gallery, file, header, shown, done):
            given[set_id][name].append(shown)
    _decide(gallery, given, done, dry_run)
    return done


def _found(sources: Sequence[Path], done: NamesRead) -> tuple[list[MediaPath], list[Path]]:
    """Photos and sidecars, each once, in the order in which people expect them."""
    photos: dict[Path, MediaPath] = {}
    sidecars: dict[Path, None] = {}
    for source in sources:
        folder = is_folder(source)
        if not folder and source.suffix.lower() == SIDECAR:
            sidecars[source] = None
            if not (photo := source.with_suffix("")).is_file():
                continue
            source = photo
        found = find_files(source)
        done.failed += found.failed
        photos |= {one.path: one for one in found.media if one.media.kind == "photo"}
        sidecars |= dict.fromkeys(_sidecars_below(source) if folder else _sidecars_of(source))
    return list(photos.values()), list(sidecars)


def _sidecars_below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted((one for one in folders if not one.startswith(".")), key=natural_order)
        for name in sorted(files, key=natural_order):
            path = Path(place, name)
            is_plain = path.is_file() and not leads_out(path, folder)
            if path.suffix.lower() == SIDECAR and not name.startswith(".") and is_plain:
                yield path


def _sidecars_of(photo: Path) -> Iterator[Path]:
    """The sidecars that lie beside a photo: called after it with its suffix, or without."""
    beside = (photo.with_name(f"{photo.name}{SIDECAR}"), photo.with_suffix(SIDECAR))
    return (path for path in dict.fromkeys(beside) if path.is_file())


def _marked(
    gallery: Gallery,
    photos: Sequence[MediaPath],
    sidecars: Iterable[Path],
    headers: dict[Path, Header],
    done: NamesRead,
) -> Iterator[tuple[MediaFile, Header, str]]:
    """Photos that the gallery knows and in which faces are marked, and the path of what marks them."""
    beside: dict[str, list[tuple[Path, Header]]] = defaultdict(list)
    lonely = []
    # A photo by its path, and by its path without the suffix.
    known = {str(one.path): one for one in photos}
    known = {**{str(one.path.with_suffix("")): one for one in photos}, **known}
    for path in sidecars:
        if (header := headers.get(path)) is None or not header.regions:
            continue
        if (photo := known.get(str(path.with_suffix("")))) is not None:
            beside[str(photo.path)].append((path, header))
        else:
            lonely.append((path, header))
    for photo in photos:
        own = headers.get(photo.path)
        marks = [*beside[str(photo.path)], *([] if own is None or not own.regions else [(photo.path, own)])]
        if own is None or not marks:
            continue
        path, header = marks[0]
        file = _known(gallery, photo)
        if file is None:
            _not_known(done, path, header, "the gallery does not know this photo: add it first")
        else:
            placed = replace(header, size=own.size, orientation=own.orientation)
            yield file, placed, readable(path)
    for path, header in lonely:
        file = gallery.file_of(header.content) if header.content else None
        if file is None:
            _not_known(done, path, header, "its photo does not lie beside it: give both, in one folder")
        elif header.applied is None:
            _not_known(done, path, header, "it does not say how large its photo is: give both, in one folder")
        else:
            width, height = header.applied
            yield file, replace(header, size=(round(width), round(height))), readable(path)


def _known(gallery: Gallery, photo: MediaPath) -> MediaFile | None:
    there = readable(os.path.abspath(photo.path))
    return gallery.file_at(there, photo.size, photo.changed) or gallery.file_of(photo.sha256())


def _not_known(done: NamesRead, path: Path, header: Header, reason: str) -> None:
    named = [one.name for one in header.regions if one.name]
    done.regions += len(named)
    done.unmatched += [Unmatched(readable(path), name, reason) for name in named]


def _matched(
    gallery: Gallery, file: MediaFile, header: Header, shown: str, done: NamesRead
) -> Iterator[tuple[str, str]]:
    """Sets and names of the marked faces that cover one of ours; each face of either side once."""
    ours = list(_faces(gallery, file, header))
    marked = [one for one in header.regions if one.name]
    done.regions += len(marked)
    boxes = [_stored(one, header) for one in marked]
    shares = np.array([[_overlap(box, face) for _, face in ours] for box in boxes]).reshape(
        len(boxes), len(ours)
    )
    # A worth of nothing for what is too little, so that it takes nobody's place.
    pairs = dict(best_pairs(np.where(shares >= LEAST_OVERLAP, shares, 0.0))) if shares.size else {}
    for place, region in enumerate(marked):
        other = pairs.get(place)
        if other is not None and shares[place, other] >= LEAST_OVERLAP:
            yield ours[other][0], region.name
        else:
            reason = "no face of ours lies there" if region.box else "what is written there is no rectangle"
            done.unmatched.append(Unmatched(shown, region.name, reason))


def _faces(gallery: Gallery, file: MediaFile, header: Header) -> Iterator[tuple[str, Box]]:
    """The sets that have a face in a photo, and where, in the photo as it is stored."""
    for set_id in gallery.sets_of(file.content):
        found: FaceSet = gallery.get(set_id)
        for seen in files_of_faces(found, gallery.files_of(set_id)):
            if seen.file == file and found.sightings:
                for place in seen.places:
                    yield set_id, relative(found.sightings[place].box, header)


def _stored(region: Region, header: Header) -> Box | None:
    """Where a region lies in the photo as it is stored.

    Some programs mark faces in the picture as it is seen: then the sides that they say are exchanged.
    """
    size, applied, turn = header.size, header.applied, header.orientation or 1
    if region.box is None or size is None or applied is None or turn < 5:
        return region.box
    as_it_is = abs(np.log(applied[0] / applied[1] / (size[0] / size[1])))
    exchanged = abs(np.log(applied[0] / applied[1] * (size[0] / size[1])))
    return as_stored(region.box, turn) if exchanged < as_it_is else region.box


def _overlap(one: Box | None, other: Box) -> float:
    """The share of what either covers that both cover."""
    if one is None:
        return 0.0
    width = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    height = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    common = max(0.0, width) * max(0.0, height)
    return common / (one[2] * one[3] + other[2] * other[3] - common)


def _decide(gallery: Gallery, given: dict[str, dict[str, list[str]]], done: NamesRead, dry_run: bool) -> None:
    """Give each name to its sets, all of them at once; what contradicts is listed."""
    people: dict[str, list[str]] = defaultdict(list)
    files: dict[str, list[str]] = {}
    for set_id, names in given.items():
        spelt = {" ".join(name.split()).casefold(): name for name in names}
        files[set_id] = [shown for several in names.values() for shown in several]
        if len(spelt) > 1:
            told = f"set {set_id!r} has several names ({', '.join(sorted(names))}): split it, or name it"
            for name, several in names.items():
                done.unmatched += [Unmatched(shown, name, told) for shown in several]
        else:
            people[next(iter(spelt.values()))].append(set_id)
    try:
        with gallery.deciding() as log:
            for name, sets in people.items():
                # All at once is one decision to undo; if they contradict, each is asked for by itself.
                if not _named(log, name, sets, done, files):
                    for set_id in sets:
                        _named(log, name, [set_id], done, files, last=True)
            done.decided = [one.number for one in log.new]
            if dry_run:
                raise _Tried
    except _Tried:
        done.decided = []


class _Tried(Exception):
    """Takes back what was decided only to see what would be."""


def _named(
    log: OpenLog,
    name: str,
    sets: Sequence[str],
    done: NamesRead,
    files: dict[str, list[str]],
    last: bool = False,
) -> bool:
    """Give a name to sets, or list why not if this is the last try; whether that is settled."""
    known = folded(log.decisions, log.apart)
    try:
        person = decisions.name(log, sets, name)
    except (BadInput, Conflict) as refused:
        if last:
            done.unmatched += [Unmatched(shown, name, str(refused)) for one in sets for shown in files[one]]
        return last
    new = [one for one in sets if known.person(one) != person.number]
    done.known += sum(len(files[one]) for one in sets if one not in new)
    if new:
        done.people.setdefault(person.name, []).extend(new)
    return True


# Sidecars: faces of photos for programs that keep photo libraries; the photos are never touched.

SPACES: Final = {
    "rdf": RDF,
    "tiff": TIFF,
    "mwg-rs": REGIONS,
    "stDim": DIMENSIONS,
    "stArea": AREA,
    "MP": MICROSOFT,
    "MPRI": REGION_INFO,
    "MPReg": REGION,
    "lookalike": OWN,
}


def as_xmp(chosen: Selection) -> dict[str, bytes]:
    """A sidecar for each photo, called after it, in folders as the photos lie; BadInput if there is none."""
    seen: dict[MediaFile, list[Appearance]] = {}
    for one in chosen.appearances:
        if one.file is not None and one.file.kind == "photo" and one.sightings:
            seen.setdefault(one.file, []).append(one)
    if not seen:
        raise BadInput("there is nothing to write sidecars for: none of the chosen sets is of a photo")
    elsewhere = len(chosen.appearances) - sum(len(several) for several in seen.values())
    if elsewhere:
        chosen.remarks.append(f"left out, as sidecars are for photos: {elsewhere} in videos or unknown files")
    top = os.path.commonpath([PurePath(file.path).parent for file in seen])
    found: dict[str, bytes] = {}
    headers = read_headers_apart([Path(file.path) for file in seen])
    for (file, several), header in zip(seen.items(), headers, strict=True):
        if isinstance(header, LookalikeError):
            chosen.remarks.append(f"left out: {header}")
        else:
            name = f"{PurePath(os.path.relpath(file.path, top)).as_posix()}{SIDECAR}"
            found[name] = sidecar(file, header, several).encode("utf-8", "backslashreplace")
    if not found:
        raise BadInput(f"no photo of the chosen sets can be read; the first: {chosen.remarks[-len(seen)]}")
    return found


def sidecar(file: MediaFile, header: Header, seen: Sequence[Appearance]) -> str:
    """The packet of one photo: the same faces as MWG and as Microsoft regions, in the picture as stored."""
    width, height = header.size or (0, 0)
    turn = header.orientation or 1
    faces = [(one.person, relative(box.box, header)) for one in seen for box in one.sightings]
    mwg = "".join(
        f'<rdf:li><rdf:Description mwg-rs:Type="Face"{_attribute("mwg-rs:Name", name)}>'
        f'<mwg-rs:Area stArea:x="{x + w / 2:.6f}" stArea:y="{y + h / 2:.6f}"'
        f' stArea:w="{w:.6f}" stArea:h="{h:.6f}" stArea:unit="normalized"/></rdf:Description></rdf:li>\n'
        for name, (x, y, w, h) in faces
    )
    microsoft = "".join(
        f'<rdf:li MPReg:Rectangle="{x:.6f}, {y:.6f}, {w:.6f}, {h:.6f}"'
        f"{_attribute('MPReg:PersonDisplayName', name)}/>\n"
        for name, (x, y, w, h) in faces
    )
    spaces = " ".join(f'xmlns:{prefix}="{uri.strip("{}")}"' for prefix, uri in SPACES.items())
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
        f'<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="lookalike {__version__}">\n'
        f"<rdf:RDF {spaces}>\n"
        f'<rdf:Description rdf:about="" tiff:Orientation="{turn}" lookalike:sha256="{file.content}">\n'
        '<mwg-rs:Regions rdf:parseType="Resource">\n'
        f'<mwg-rs:AppliedToDimensions stDim:w="{width}" stDim:h="{height}" stDim:unit="pixel"/>\n'
        f"<mwg-rs:RegionList><rdf:Bag>\n{mwg}</rdf:Bag></mwg-rs:RegionList>\n"
        "</mwg-rs:Regions>\n"
        '<MP:RegionInfo rdf:parseType="Resource">\n'
        f"<MPRI:Regions><rdf:Bag>\n{microsoft}</rdf:Bag></MPRI:Regions>\n"
        "</MP:RegionInfo>\n"
        "</rdf:Description>\n</rdf:RDF>\n</x:xmpmeta>\n"
        '<?xpacket end="w"?>\n'
    )


def relative(box: Box, header: Header) -> Box:
    """A box in pixels of the upright photo as a share of the photo as it is stored, cut off at its edges."""
    width, height = header.size or (1, 1)
    if (header.orientation or 1) > 4:
        width, height = height, width
    left, top = max(0.0, box[0] / width), max(0.0, box[1] / height)
    right, bottom = min(1.0, (box[0] + box[2]) / width), min(1.0, (box[1] + box[3]) / height)
    return as_stored((left, top, right - left, bottom - top), header.orientation or 1)


def _attribute(name: str, value: str) -> str:
    """An attribute, if there is anything to say; what XML cannot hold is replaced."""
    kept = "".join(letter if letter >= " " and letter not in "\ufffe\uffff" else "\ufffd" for letter in value)
    return f" {name}={quoteattr(kept)}" if value else ""
