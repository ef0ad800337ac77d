"""Reader of .npz files: an array of faces with the set each row belongs to."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from logging import getLogger
from lzma import LZMAError
from math import prod
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from lookalike.errors import BadInput, readable, unreadable
from lookalike.faceset import check_id, checked_faces, evenly
from lookalike.ingest.sourceset import SourceSet, check_pixels, refused_of

# No array of a set of faces is larger; a file that claims more is damaged or means harm.
MOST_BYTES: Final = 8 * 2**30

# Damage, encryption (RuntimeError) and compression that Python cannot undo.
ZIP_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)


class Header(NamedTuple):
    """What an array says of itself."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Archive:
    """An opened .npz file; use it in a ``with`` statement.

    Only the members asked for are opened, nothing is unpickled, and no memory is taken before an array's
    claimed shape was found to agree with the size of its data. Raises NotFound or BadInput if there is no
    such file, or it is not a whole zip file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except OSError as reason:
            raise unreadable(path, reason) from None
        except ZIP_ERRORS as reason:
            raise self.refusal(f"is not a whole .npz file ({reason}): copy or save it again") from None

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()

    def names(self) -> list[str]:
        """Names of the arrays, in the order of the file."""
        return [name.removesuffix(".npy") for name in self._zip.namelist() if name.endswith(".npy")]

    def header(self, name: str) -> Header:
        """Shape and type of an array, which is not read.

        Raises BadInput if the array is missing, is made of Python objects, or its claim cannot be
        true.
        """
        with self._open(name) as member:
            size = self._zip.getinfo(f"{name}.npy").file_size
            header = npy_header(member, size, repr(name), self.refusal)
        if size > MOST_BYTES:
            raise self.refusal(
                f"has {size / 2**30:.0f} GiB in {name!r}, more than {MOST_BYTES >> 30} GiB: split it"
            )
        return header

    def read(self, name: str) -> NDArray[Any]:
        """An array; BadInput as for `header`, or if the data are damaged or do not fit in memory."""
        shape, dtype = self.header(name)
        with self._open(name) as member:
            try:
                array: NDArray[Any] = npy.read_array(member, allow_pickle=False)
            except MemoryError:
                needed = prod(shape) * dtype.itemsize / 2**30
                raise self.refusal(f"needs {needed:.1f} GiB of memory for {name!r}: split it") from None
            except ZIP_ERRORS as reason:
                raise _damaged(repr(name), reason, self.refusal) from None
        return array

    def refusal(self, text: str) -> BadInput:
        """Return an error whose sentence begins with the name of this file."""
        return BadInput(f"{readable(self.path)!r} {text}")

    def _open(self, name: str) -> IO[bytes]:
        try:
            return self._zip.open(f"{name}.npy")
        except KeyError:
            there = ", ".join(self.names()) or "no arrays at all"
            raise self.refusal(f"has no array {name!r}: it has {there}") from None
        except ZIP_ERRORS as reason:
            raise _damaged(repr(name), reason, self.refusal) from None


def npy_header(stream: IO[bytes], size: int, what: str, refusal: Callable[[str], BadInput]) -> Header:
    """Read what an array in the .npy format says of itself, and hold it against its size, header included.

    The stream stands at the start of the array, and afterwards at that of its numbers. A sentence calls
    the array `what`; `refusal` makes an error of one without its subject, if the array is made of Python
    objects, or its claim cannot be true.
    """
    try:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(stream)
        start = stream.tell()
    # The header is text that is parsed: what can go wrong there has no family.
    except Exception as reason:
        raise _damaged(what, reason, refusal) from None
    if dtype.hasobject:
        raise refusal(f"has Python objects in {what}, which are not safe to read: save plain numbers or text")
    if min(shape, default=0) < 0 or dtype.itemsize == 0 or start + prod(shape) * dtype.itemsize != size:
        raise refusal(
            f"is damaged: {what} claims shape {shape} of type {dtype}, which is not the "
            f"{size:,} bytes it has: save it again"
        )
    return Header(shape, dtype)


def _damaged(what: str, reason: Exception, refusal: Callable[[str], BadInput]) -> BadInput:
    text = " ".join(str(reason).split())[:200]
    return refusal(f"is damaged: {what} cannot be read ({text or type(reason).__name__}): save it again")


logger = getLogger(__name__)

PICTURES: Final = "images"
# Who is seen is not read here, by design: people have names only where results are scored.
LABELS: Final = frozenset({"set_person", "person_names"})
STRUCTURE: Final = frozenset({"image_set", "set_names", "image_names"})
# What other arrays may be chosen for: the set of each row, and where it came from.
COLUMNS: Final = ("set_id", "source")


class _Contents(NamedTuple):
    """The arrays of a file, all found to fit together."""

    array: str
    descriptor: str
    origins: list[str]
    set_names: list[str]
    image_set: NDArray[np.int64]
    sources: list[str]
    faces: NDArray[np.float32] | None
    pictures: NDArray[np.uint8] | None


def read_npz(
    path: Path, array: str | None = None, most: int | None = None, columns: Mapping[str, str] | None = None
) -> Iterator[SourceSet]:
    """Find the sets of a file of NumPy arrays, in the order of `set_names`; parameters as of `read_source`.

    The file has `image_set` (N,), the set of each row as a whole number from 0 to S - 1; `set_names`
    (S,), the ids; and the faces: `images`, uint8 (N, height, width) or (N, height, width, 3), or
    descriptors, floats (N, d). `image_names` (N,) says where each face came from; without it, that is
    ``file.npz#row``. By choice of columns ``set_id`` is an array of N names or whole numbers, the set of
    each row, instead of the first two, and ``source`` one of N texts instead of the last. Rows of a set
    may be scattered; their order is kept. The whole file is checked here: if a row is wrong, no set is
    handed out. The compressed array cannot be read in pieces, so it is in memory until the last set was
    handed out.

    Faces are taken from `images` or, without it, from the only array of floats (N, d), unless an array is
    chosen. With descriptors, the pictures of `images` come along if there are such. Raises NotFound or
    BadInput, naming the file, and the array that is missing or wrong.
    """
    with Archive(path) as archive:
        contents = _contents(archive, array, columns or {})
    return _sets(contents, readable(path), most)


def _sets(contents: _Contents, origin: str, most: int | None) -> Iterator[SourceSet]:
    # A stable sort keeps the order of the rows within each set.
    order = np.argsort(contents.image_set, kind="stable")
    ends = np.cumsum(np.bincount(contents.image_set))
    for number, own in enumerate(np.split(order, ends[:-1])):
        rows = own[evenly(len(own), most)]
        yield SourceSet(
            id=contents.set_names[number],
            origin=contents.origins[number] if contents.origins else origin,
            array=contents.array,
            descriptor=contents.descriptor,
            sources=tuple(contents.sources[row] for row in rows),
            faces=None if contents.faces is None else contents.faces[rows],
            pictures=() if contents.pictures is None else tuple(contents.pictures[rows]),
        )


def _contents(archive: Archive, array: str | None, columns: Mapping[str, str]) -> _Contents:
    if "set_id" in columns:
        set_names, image_set = _named_rows(archive, columns["set_id"])
    else:
        set_names = _set_names(archive)
        image_set = _image_set(archive, set_names)
    chosen, header = _choice(archive, array, len(image_set))
    sources = _sources(archive, len(image_set), columns.get("source"))
    if _are_pictures(header, len(image_set)):
        check_pixels(header.shape[1:3], repr(readable(archive.path)))
        return _Contents(chosen, "", [], set_names, image_set, sources, None, archive.read(chosen))
    with refused_of(archive.path, "cannot be used"):
        faces = checked_faces(archive.read(chosen), f"{chosen!r}").astype(np.float32)
    beside = _candidates(archive, len(image_set)).get(PICTURES)
    along = beside is not None and _are_pictures(beside, len(image_set))
    if beside is not None and along:
        check_pixels(beside.shape[1:3], repr(readable(archive.path)))
    pictures = archive.read(PICTURES) if along else None
    made_by, origins = _exported(archive, chosen, len(set_names))
    return _Contents(chosen, made_by, origins, set_names, image_set, sources, faces, pictures)


def _named_rows(archive: Archive, name: str) -> tuple[list[str], NDArray[np.int64]]:
    """The sets that an array names, in the order of their first rows, and the set of each row."""
    header = archive.header(name)
    if header.dtype.kind not in "Uiu" or len(header.shape) != 1 or not header.shape[0]:
        raise archive.refusal(
            f"must have one name or whole number per face in {name!r}, got {_words(header)}"
        )
    rows = [str(one) for one in (_texts(archive, name) if header.dtype.kind == "U" else archive.read(name))]
    places: dict[str, int] = {}
    for row in rows:
        if row not in places:
            with refused_of(archive.path, f"has a name in {name!r} that cannot be used"):
                check_id(row)
            places[row] = len(places)
    return list(places), np.array([places[row] for row in rows], dtype=np.int64)


def _set_names(archive: Archive) -> list[str]:
    header = archive.header("set_names")
    if header.dtype.kind != "U" or len(header.shape) != 1:
        raise archive.refusal(
            f"must have one text per set in 'set_names', got {_words(header)}: save them as str"
        )
    names = _texts(archive, "set_names")
    seen: set[str] = set()
    for name in names:
        with refused_of(archive.path, "has a name in 'set_names' that cannot be used"):
            check_id(name)
        if name in seen:
            raise archive.refusal(f"has two sets called {name!r} in 'set_names': rename one")
        seen.add(name)
    return names


def _image_set(archive: Archive, set_names: list[str]) -> NDArray[np.int64]:
    header = archive.header("image_set")
    if header.dtype.kind not in "iu" or len(header.shape) != 1:
        raise archive.refusal(f"must have one whole number per face in 'image_set', got {_words(header)}")
    image_set = archive.read("image_set")
    if len(image_set) == 0 or not set_names:
        raise archive.refusal("has no faces or no sets: 'image_set' and 'set_names' may not be empty")
    wrong = np.flatnonzero((image_set < 0) | (image_set >= len(set_names)))
    if len(wrong):
        raise archive.refusal(
            f"has {image_set[wrong[0]]} in row {wrong[0]} of 'image_set', but {len(set_names)} sets: "
            f"numbers go from 0 to {len(set_names) - 1}"
        )
    image_set = image_set.astype(np.int64)
    empty = np.flatnonzero(np.bincount(image_set, minlength=len(set_names)) == 0)
    if len(empty):
        more = f" (nor have {len(empty) - 1} others)" if len(empty) > 1 else ""
        raise archive.refusal(f"is incomplete: set {set_names[empty[0]]!r} has no faces{more}: leave it out")
    return image_set


def _choice(archive: Archive, array: str | None, count: int) -> tuple[str, Header]:
    """Return the array of faces with its header, or say which arrays there are to choose from."""
    if array is None and PICTURES in archive.names():
        array = PICTURES
    if array is not None and array not in LABELS | STRUCTURE:
        header = archive.header(array)
        if _are_pictures(header, count) or _are_faces(header, count):
            return array, header
        raise archive.refusal(
            f"has {_words(header)} in {array!r}: for {count} rows of 'image_set' it must be pictures, uint8 "
            f"({count}, height, width) or ({count}, height, width, 3), or descriptors, floats ({count}, d)"
        )
    found = _candidates(archive, count)
    descriptors = [name for name, header in found.items() if _are_faces(header, count)]
    if array is None and len(descriptors) == 1:
        return descriptors[0], found[descriptors[0]]
    asked = "no array 'images'" if array is None else f"no faces in {array!r}"
    advice = f"choose the array: {', '.join(found)}" if found else f"it has {', '.join(archive.names())}"
    raise archive.refusal(f"has {asked}: {advice}")


def _candidates(archive: Archive, count: int) -> dict[str, Header]:
    """Return every array that could be the faces; one that cannot be read is no candidate."""
    found = {}
    for name in archive.names():
        if name in LABELS | STRUCTURE:
            continue
        try:
            header = archive.header(name)
        except BadInput:
            logger.info("an array that cannot be read was passed over")
            continue
        if _are_faces(header, count) or _are_pictures(header, count):
            found[name] = header
    return found


def _sources(archive: Archive, count: int, asked: str | None) -> list[str]:
    name = asked or "image_names"
    if asked or name in archive.names():
        header = archive.header(name)
        if header.dtype.kind == "U" and header.shape == (count,):
            return _texts(archive, name)
        if asked:
            raise archive.refusal(f"must have one text per face in {name!r}, got {_words(header)}")
    return [f"{readable(archive.path.name)}#{row}" for row in range(count)]


def _exported(archive: Archive, chosen: str, count: int) -> tuple[str, list[str]]:
    """What `lookalike export` says of its descriptors: what made them, where each set came from."""
    if chosen != "descriptors" or not {"descriptor", "set_origins"} <= set(archive.names()):
        return "", []
    made_by, origins = archive.header("descriptor"), archive.header("set_origins")
    if (made_by.dtype.kind, made_by.shape) != ("U", ()) or (origins.dtype.kind, origins.shape) != (
        "U",
        (count,),
    ):
        return "", []
    return str(archive.read("descriptor")), _texts(archive, "set_origins")


def _texts(archive: Archive, name: str) -> list[str]:
    try:
        texts: list[str] = archive.read(name).tolist()
        for text in texts:
            text.encode("utf-8")
    # Half a surrogate pair is a ValueError; a number far beyond Unicode is a SystemError in NumPy.
    except (ValueError, SystemError) as reason:
        raise archive.refusal(f"has text in {name!r} that is not Unicode ({reason}): save it again") from None
    return texts


def _are_pictures(header: Header, count: int) -> bool:
    shape = header.shape
    colour = len(shape) == 4 and shape[3] == 3
    return (
        header.dtype == np.uint8 and shape[:1] == (count,) and (len(shape) == 3 or colour) and 0 not in shape
    )


def _are_faces(header: Header, count: int) -> bool:
    return header.dtype.kind == "f" and len(header.shape) == 2 and header.shape[0] == count


def _words(header: Header) -> str:
    return f"an array of type {header.dtype} with shape {header.shape}"
