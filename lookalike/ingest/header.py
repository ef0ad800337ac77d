"""Header: what a film, photo or sidecar says of itself: its clock, its date, faces that others marked.

Of a photo the EXIF field DateTimeOriginal counts, with OffsetTimeOriginal where a camera writes it: without
one the time is that of the camera's clock, wherever that was. Of a film the creation time of the container
counts, which is in UTC, or the one with an offset that telephones write beside it. What cannot be the time of
a recording is unknown: clocks that were never set, dates that have not come yet, and what is no date at all.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import IO, Any, Final
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from PIL import ExifTags, Image

from lookalike.errors import BadInput, LookalikeError, readable, unreadable
from lookalike.faceset import Box
from lookalike.ingest.files import START, recognise
from lookalike.ingest.pictures import DAMAGE, FORMATS, HEIF, TOO_LARGE, looks_like_heif
from lookalike.ingest.reading import PATIENCE, usual_limits
from lookalike.ingest.sandbox import Ended, Sandbox
from lookalike.ingest.video import open_video

SIDECAR: Final = ".xmp"
# Sidecars have kilobytes; one that keeps every brush stroke of a raw photo, a few megabytes.
MOST_BYTES: Final = 2**24
# XMP nests a dozen deep.
DEEPEST: Final = 100
MOST_REGIONS: Final = 10_000
# Longer names are refused where they are used, and nobody has to see all of one.
LONGEST_NAME: Final = 1000
# Share by which the mean rate of a film may differ from the rate of its shortest frames.
STEADY: Final = 0.001

ORIENTATION: Final = 0x0112
RDF: Final = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
REGIONS: Final = "{http://www.metadataworkinggroup.com/schemas/regions/}"
DIMENSIONS: Final = "{http://ns.adobe.com/xap/1.0/sType/Dimensions#}"
AREA: Final = "{http://ns.adobe.com/xmp/sType/Area#}"
TIFF: Final = "{http://ns.adobe.com/tiff/1.0/}"
MICROSOFT: Final = "{http://ns.microsoft.com/photo/1.2/}"
REGION_INFO: Final = "{http://ns.microsoft.com/photo/1.2/t/RegionInfo#}"
REGION: Final = "{http://ns.microsoft.com/photo/1.2/t/Region#}"
OWN: Final = "{urn:lookalike:1.0/}"


@dataclass(frozen=True)
class Region:
    """A face that another program marked.

    Parameters
    ----------
    name : str
        Who it is said to be; empty if nobody is named.
    box : tuple of four floats, or None
        Left, top, width and height, from 0 to 1, in the picture as it is stored: not turned. None if what
        was written is no rectangle.
    """

    name: str
    box: Box | None


@dataclass(frozen=True)
class Header:
    """What a file says of itself; what it does not say is None or empty.

    Parameters
    ----------
    rate : Fraction
        Frames a second of a film; the mean, if it varies.
    is_variable : bool
        Whether the frames of a film come at a varying rate.
    start : str
        The time code of the first frame, as it is written in the film.
    seconds : float
        How long a film says it is.
    size : tuple of two ints
        Width and height of a photo as it is stored.
    orientation : int
        How a photo has to be turned to be seen upright, 1 to 8 as Exif counts.
    applied : tuple of two floats
        Width and height of the picture in which `regions` were marked.
    regions : tuple of Region
    content : str
        SHA-256 of the photo that a sidecar of ours belongs to.
    """

    rate: Fraction | None = None
    is_variable: bool = False
    start: str = ""
    seconds: float = 0.0
    size: tuple[int, int] | None = None
    orientation: int | None = None
    applied: tuple[float, float] | None = None
    regions: tuple[Region, ...] = ()
    content: str = ""

    def message(self) -> tuple[dict[str, Any], list[bytes]]:
        """What is sent by the child that read it."""
        said = asdict(self)
        said["rate"] = None if self.rate is None else [self.rate.numerator, self.rate.denominator]
        return {"header": True}, [json.dumps(said).encode()]

    @classmethod
    def from_part(cls, part: bytes) -> Header:
        """What a child sent; any error means that it is not to be believed."""
        said = json.loads(part)
        rate, size, applied, turn = said["rate"], said["size"], said["applied"], said["orientation"]
        return cls(
            None if rate is None else Fraction(int(rate[0]), int(rate[1])),
            bool(said["is_variable"]),
            str(said["start"]),
            float(said["seconds"]),
            None if size is None else (int(size[0]), int(size[1])),
            None if turn is None else int(turn),
            None if applied is None else (float(applied[0]), float(applied[1])),
            tuple(Region(str(one["name"]), _box(one["box"])) for one in said["regions"]),
            str(said["content"]),
        )


def read_headers_apart(paths: Sequence[Path]) -> Iterator[Header | LookalikeError]:
    """Read what files say of themselves, in a child process.

    Parameters
    ----------
    paths : sequence of paths
        Films, photos and XMP sidecars.

    Yields
    ------
    Header or LookalikeError
        For each path: what it says, or why it cannot be read.
    """
    left = list(paths)
    while left:
        try:
            with Sandbox(usual_limits()) as child:
                while left:
                    yield _asked(child, left[0])
                    left.pop(0)
        except Ended as how:
            # Only that file is refused; another child reads the rest.
            yield BadInput(f"{readable(left.pop(0))!r} {how}")


def _asked(child: Sandbox, path: Path) -> Header | LookalikeError:
    child.ask({"header": str(path)})
    try:
        message = child.answer(PATIENCE)
        if message is None:
            raise Ended
        found = Header.from_part(message.parts[0].tobytes())
        if child.answer(PATIENCE) is not None:
            raise Ended
        return found
    except LookalikeError as reason:
        return reason
    # Whoever took over the child may write anything.
    except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, AttributeError, RecursionError):
        raise Ended from None


# In the child.


def read_header(path: Path) -> Header:
    """Read what a film, a photo or an XMP sidecar says of itself, without decoding a picture.

    Raises
    ------
    NotFound, BadInput
        If it cannot be read, or is none of these.
    """
    try:
        with path.open("rb") as stream:
            media = recognise(stream.read(START))
            stream.seek(0)
            if media is None:
                return _from_sidecar(path, stream)
            return _from_film(stream, media.container) if media.kind == "video" else _from_photo(path, stream)
    except OSError as reason:
        raise unreadable(path, reason) from None
    except BadInput as refused:
        said = str(refused)
        # What opens films says only what is wrong with them.
        raise BadInput(
            said if said.startswith(repr(readable(path))) else f"{readable(path)!r} {said}"
        ) from None


def _from_film(stream: IO[bytes], container: str) -> Header:
    with open_video(stream, container) as video:
        rate, shortest = video.rates
        is_variable = rate is not None and (shortest is None or abs(float(shortest / rate) - 1) > STEADY)
        return Header(rate, is_variable, video.start, video.seconds)


def _from_photo(path: Path, stream: IO[bytes]) -> Header:
    formats: tuple[str, ...] = FORMATS
    if looks_like_heif(stream.read(START)):
        import pillow_heif

        pillow_heif.register_heif_opener(thumbnails=False)
        formats = (HEIF,)
    stream.seek(0)
    try:
        with Image.open(stream, formats=formats) as image:
            turn = image.getexif().get(ORIENTATION, 1)
            written = image.info.get("xmp") or image.info.get("XML:com.adobe.xmp") or b""
            size = image.size
    # Pillow answers damage with any of these.
    except (OSError, ValueError, SyntaxError, TypeError, LookupError, ArithmeticError) as reason:
        raise BadInput(
            f"{readable(path)!r} is a damaged picture ({reason}): replace it or take it away"
        ) from None
    packet = written.encode() if isinstance(written, str) else bytes(written)
    try:
        marked = read_regions(packet) if packet.strip(b"\0 \r\n\t") else Header()
    except BadInput as refused:
        raise BadInput(f"the metadata of {readable(path)!r} {refused}") from None
    turn = turn if isinstance(turn, int) and 1 <= turn <= 8 else 1
    return Header(size=size, orientation=turn, applied=marked.applied, regions=marked.regions)


def _from_sidecar(path: Path, stream: IO[bytes]) -> Header:
    written = stream.read(MOST_BYTES + 1)
    if b"<" not in written[:START]:
        raise BadInput(f"{readable(path)!r} is neither a video, a photo nor an XMP sidecar: leave it out")
    try:
        return read_regions(written)
    except BadInput as refused:
        raise BadInput(f"{readable(path)!r} {refused}") from None


def read_regions(packet: bytes) -> Header:
    """Read the faces that are marked in an XMP packet, as `mwg-rs` or as `MP` regions.

    Where both are written, which name the same faces, the former count.

    Raises
    ------
    BadInput
        If it is no XML, is too long or too deep, or declares entities. Its text follows the name of a file.
    """
    tree = parse_xml(packet)
    applied = _applied(tree)
    found = [
        one
        for each in tree.iter(f"{REGIONS}RegionList")
        for item in _items(each)
        if (one := _mwg_region(item, applied)) is not None
    ]
    if not found:
        lists = tree.iter(f"{REGION_INFO}Regions")
        found = [_mp_region(item) for each in lists for item in _items(each)]
    if len(found) > MOST_REGIONS:
        raise BadInput(f"marks {len(found)} faces, over {MOST_REGIONS}: leave it out")
    turn = _anywhere(tree, f"{TIFF}Orientation")
    return Header(
        orientation=int(turn) if turn in tuple("12345678") else None,
        applied=applied,
        regions=tuple(found),
        content=_anywhere(tree, f"{OWN}sha256")[:64],
    )


def parse_xml(written: bytes) -> Element:
    """Read XML of a stranger: no document type and so no entities, not too long, not too deep.

    Raises
    ------
    BadInput
        If it is not that. Its text follows the name of a file.
    """
    if len(written) > MOST_BYTES:
        raise BadInput(f"has metadata of more than {MOST_BYTES // 2**20} MB: leave it out")
    builder, depth = TreeBuilder(), 0
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise BadInput(f"has metadata nested more than {DEEPEST} deep: leave it out")
        builder.start(_tag(tag), {_tag(name): value for name, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_tag(tag))

    def refuse(*_: object) -> None:
        raise BadInput("has metadata that declares a document type, which XMP never does: leave it out")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(written.rstrip(b"\0 \r\n\t"), True)
    except (expat.ExpatError, ValueError) as reason:
        raise BadInput(f"has metadata that is not XML ({reason}): leave it out") from None
    return builder.close()


def _tag(name: str) -> str:
    return f"{{{name}" if "}" in name else name


def _properties(node: Element) -> dict[str, str | Element]:
    """What is said of something, whichever way RDF has of writing it."""
    found: dict[str, str | Element] = dict(node.attrib)
    for child in node:
        found |= _properties(child) if child.tag == f"{RDF}Description" else {child.tag: child}
    return found


def _text(said: dict[str, str | Element], name: str) -> str:
    value = said.get(name, "")
    return (value if isinstance(value, str) else "".join(value.itertext())).strip()


def _items(node: Element) -> Iterator[dict[str, str | Element]]:
    """The items of a list."""
    return (_properties(item) for bag in node for item in bag if item.tag == f"{RDF}li")


def _anywhere(tree: Element, name: str) -> str:
    """What the first property of this name says, wherever it stands."""
    for node in tree.iter():
        if node.tag == name or name in node.attrib:
            return node.attrib.get(name) or "".join(node.itertext()).strip()
    return ""


def _applied(tree: Element) -> tuple[float, float] | None:
    for node in tree.iter(f"{REGIONS}AppliedToDimensions"):
        said = _properties(node)
        sides = [_number(_text(said, f"{DIMENSIONS}{side}")) for side in "wh"]
        if min(sides) > 0:
            return sides[0], sides[1]
    return None


def _mwg_region(said: dict[str, str | Element], applied: tuple[float, float] | None) -> Region | None:
    """A face, or None for what is marked as something else."""
    if _text(said, f"{REGIONS}Type") not in ("Face", ""):
        return None
    name = _text(said, f"{REGIONS}Name")[:LONGEST_NAME]
    area = said.get(f"{REGIONS}Area")
    written = {} if area is None or isinstance(area, str) else _properties(area)
    x, y, width, height = (_number(_text(written, f"{AREA}{side}")) for side in "xywh")
    if _text(written, f"{AREA}unit") == "pixel" and applied is not None:
        x, width, y, height = x / applied[0], width / applied[0], y / applied[1], height / applied[1]
    return Region(name, _box((x - width / 2, y - height / 2, width, height)))


def _mp_region(said: dict[str, str | Element]) -> Region:
    sides = [_number(side) for side in _text(said, f"{REGION}Rectangle").split(",")]
    return Region(_text(said, f"{REGION}PersonDisplayName")[:LONGEST_NAME], _box(sides))


def _number(text: str) -> float:
    """A number as XMP writes it; not a number for what is none."""
    try:
        return float(text) if len(text) < 40 else math.nan
    except ValueError:
        return math.nan


def _box(sides: Sequence[float] | None) -> Box | None:
    """A rectangle that lies in the picture, at least in part; None for what is none."""
    if sides is None or len(sides) != 4 or not all(math.isfinite(side) for side in sides):
        return None
    left, top, width, height = (float(side) for side in sides)
    lies_in = left < 1 and top < 1 and left + width > 0 and top + height > 0
    return (left, top, width, height) if 0 < width <= 2 and 0 < height <= 2 and lies_in else None


# How a picture lies.


def as_stored(box: Box, orientation: int) -> Box:
    """Where a box of the upright picture lies in the picture as it is stored.

    Parameters
    ----------
    box : tuple of four floats
        Left, top, width and height, from 0 to 1.
    orientation : int
        1 to 8, as Exif counts.
    """
    left, top, width, height = box
    right, bottom = 1 - left - width, 1 - top - height
    if orientation > 4:
        # Width and height change places; each orientation tells from which sides the stored ones count.
        across = top if orientation in (5, 6) else bottom
        down = left if orientation in (5, 8) else right
        return across, down, height, width
    return (
        right if orientation in (2, 3) else left,
        bottom if orientation in (3, 4) else top,
        width,
        height,
    )


# Zero of QuickTime's clock is the first second of 1904: no earlier year is believed, nor that one.
FIRST_YEAR: Final = 1905
# Zero of Unix's clock, and of the file system of memory cards: cameras whose clocks were never set say this.
ZEROS: Final = (datetime(1970, 1, 1), datetime(1980, 1, 1))
# Clocks ahead of ours in other time zones, or a little wrong, still tell the truth.
AHEAD: Final = timedelta(days=1)
# Tags of a film, the surest first.
FILM_TAGS: Final = ("com.apple.quicktime.creationdate", "creation_time")

_EXIF: Final = re.compile(r"(\d{4}):(\d\d):(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.\d+)?", re.ASCII)
_OFFSET: Final = re.compile(r"([+-])(\d\d):?(\d\d)", re.ASCII)


def captured(path: Path) -> str:
    """When a photo or film was taken, as `lookalike.gallery.media.MediaFile.captured` writes it.

    Returns
    -------
    str
        Empty if the file does not say, or says what cannot be.

    Raises
    ------
    NotFound, BadInput
        If there is no such file, or it may not be read.
    """
    try:
        with path.open("rb") as stream:
            start = stream.read(START)
            media = recognise(start)
            stream.seek(0)
            if media is None:
                return ""
            said = _photo(stream, start) if media.kind == "photo" else _film(stream, media.container)
    except OSError as reason:
        raise unreadable(path, reason) from None
    return "" if said is None else said.isoformat(timespec="seconds")


def exif_time(said: object, offset: object = "") -> datetime | None:
    """The time that EXIF writes as ``2019:07:14 12:30:05``, with an offset as ``+02:00`` if it has one.

    Returns
    -------
    datetime or None
        None if it is no time, or cannot be that of a recording.
    """
    found = _EXIF.fullmatch(_words(said))
    zone = _OFFSET.fullmatch(_words(offset))
    if found is None:
        return None
    year, month, day, *clock = found.groups()
    east = "" if zone is None else f"{zone[1]}{zone[2]}:{zone[3]}"
    return believable(f"{year}-{month}-{day}T{':'.join(clock)}{east}")


def film_time(tags: Mapping[str, str]) -> datetime | None:
    """The time in the tags of a film, as ``2019-07-14T10:30:05.000000Z`` or ``2019-07-14T12:30:05+0200``.

    A tag that stands in a file twice comes as both from FFmpeg 9 on, ``;`` between them, before as the last.
    """
    for name in FILM_TAGS:
        for said in reversed(tags.get(name, "").split(";")):
            if (found := believable(_words(said))) is not None:
                return found
    return None


def believable(said: str) -> datetime | None:
    """A time of ISO 8601 to the second, if something can have been recorded then."""
    try:
        time = datetime.fromisoformat(said).replace(microsecond=0)
        # Year 1 in a zone east of Greenwich is before the first: such a time has no moment in UTC.
        moment = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    is_past = time.year >= FIRST_YEAR and moment <= datetime.now(UTC) + AHEAD
    return time if is_past and time.replace(tzinfo=None) not in ZEROS else None


def _photo(stream: IO[bytes], start: bytes) -> datetime | None:
    formats: tuple[str, ...] = FORMATS
    if looks_like_heif(start):
        try:
            import pillow_heif
        except ImportError:
            return None
        pillow_heif.register_heif_opener(thumbnails=False)
        formats = (HEIF,)
    # Whoever decodes the photo says what is wrong with it.
    with suppress(*DAMAGE, *TOO_LARGE), Image.open(stream, formats=formats) as image:
        tags: Mapping[int, Any] = image.getexif().get_ifd(ExifTags.IFD.Exif)
        return exif_time(
            tags.get(ExifTags.Base.DateTimeOriginal), tags.get(ExifTags.Base.OffsetTimeOriginal, "")
        )
    return None


def _film(stream: IO[bytes], container: str) -> datetime | None:
    with suppress(BadInput), open_video(stream, container) as video:
        return film_time(video.tags)
    return None


def _words(said: object) -> str:
    """A tag as text: some come as bytes, with zeros behind them; and many spaces stand for no time."""
    text = said.decode("latin-1") if isinstance(said, bytes) else said if isinstance(said, str) else ""
    return text.strip(" \0")
