"""Pictures: files or bytes become arrays, arrays become small encoded pictures."""

from __future__ import annotations

import io
import re
import struct
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from lookalike.errors import BadInput, is_folder, readable, unreadable

Picture = NDArray[np.uint8]

# What Pillow's parsers and decoders answer to damage, and to pictures that would take all memory.
DAMAGE: Final = (
    OSError,
    ValueError,
    SyntaxError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    struct.error,
)
TOO_LARGE: Final = (Image.DecompressionBombError, Image.DecompressionBombWarning)
FORMATS: Final = ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "GIF", "PPM")
# What telephones write; read by a library of its own.
HEIF: Final = "HEIF"
SUFFIXES: Final = frozenset(
    {".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".bmp", ".tif"}
    | {".tiff", ".gif", ".heic", ".heif", ".pgm", ".ppm", ".pnm"}
)
# A photo of a telephone has 12 to 50 million pixels; a file that claims more would fill the memory.
MOST_PIXELS: Final = 64_000_000
# How many bytes `looks_like_picture` wants to see.
START: Final = 16
# Side of the pictures kept in a gallery: large enough for a page, about 8 kB each.
LONGEST: Final = 160
QUALITY: Final = 90
# Pixels that are taken out of an image at a time.
STRIP: Final = 2**18

_MAGIC: Final = re.compile(
    rb"\xff\xd8\xff|\x89PNG\r\n\x1a\n|RIFF....WEBP|BM....\0\0\0\0|II[*+]\0|MM\0[*+]|GIF8[79]a|P[1-6]\s+[0-9#]",
    re.DOTALL,
)
# The brands of still pictures.
_STILL: Final = re.compile(rb"....ftyp(heic|heix|heim|heis|mif1)", re.DOTALL)


def read_picture(path: Path) -> Picture:
    """Read a picture file, turned the right way up: gray (height, width), or RGB (height, width, 3).

    The format is recognised by content, never by name. Transparent parts become black; of several frames
    or pages the first is read. The array is not to be written to. Raises NotFound or BadInput if there is
    no such file, it may not be read, is not a picture, is damaged or too large.
    """
    if is_folder(path):
        raise BadInput(f"{readable(path)!r} is a folder: give a picture file")
    try:
        stream = path.open("rb")
    except OSError as reason:
        raise unreadable(path, reason) from None
    with stream:
        return _decoded(stream, repr(readable(path)))


def decode_picture(given: bytes) -> Picture:
    """The picture that `encode_picture` made into bytes; BadInput if they are not one, or are damaged."""
    return _decoded(io.BytesIO(given), f"a picture of {len(given)} bytes")


def encode_picture(picture: Picture, longest: int = LONGEST) -> bytes:
    """Make a picture, gray or RGB, small enough to keep: JPEG, which keeps gray gray.

    One with a longer side than `longest` is reduced to it; a smaller one keeps its size. Raises BadInput
    if this is no picture, or `longest` is not a positive whole number.
    """
    if isinstance(longest, bool) or not isinstance(longest, int) or longest < 1:
        raise BadInput(f"the longest side of a picture must be a whole number from 1 up, got {longest!r}")
    given = checked(picture)
    image = Image.fromarray(given)
    scale = longest / max(image.size)
    if scale < 1:
        width, height = (max(1, round(side * scale)) for side in image.size)
        image = image.resize((width, height), Image.Resampling.LANCZOS)
    encoded = io.BytesIO()
    # Without subsampling, since colour matters in small pictures.
    image.save(encoded, "JPEG", quality=QUALITY, subsampling=0, optimize=True)
    return encoded.getvalue()


def looks_like_picture(start: bytes) -> bool:
    """Tell from the first `START` bytes of a file whether it is in a format we read."""
    return _MAGIC.match(start) is not None or looks_like_heif(start)


def looks_like_heif(start: bytes) -> bool:
    """Tell from the first bytes of a file whether it is a photo in a container that films use too."""
    return _STILL.match(start) is not None


def _decoded(stream: IO[bytes], owner: str) -> Picture:
    try:
        with open_image(stream, owner) as image:
            # The size is known from the header: nothing was decoded yet.
            if image.width * image.height > MOST_PIXELS:
                raise _too_large(owner)
            # Older versions of Pillow call a PNG of 16 bits "I", which elsewhere has 32.
            sixteen_bits = image.mode.startswith("I;16") or (image.mode, image.format) == ("I", "PNG")
            # A photo of a telephone takes 48 MB here: it is not copied without need.
            ImageOps.exif_transpose(image, in_place=True)
            return _as_array(image, sixteen_bits, owner)
    except BadInput:
        raise
    except TOO_LARGE:
        raise _too_large(owner) from None
    except UnidentifiedImageError:
        raise BadInput(
            f"{owner} is not a picture of a known format: use one of {', '.join(FORMATS)}"
        ) from None
    except MemoryError:
        raise BadInput(f"{owner} does not fit in memory: make it smaller") from None
    except DAMAGE as reason:
        raise BadInput(f"{owner} is a damaged picture ({reason}): replace it or take it away") from None


def open_image(stream: IO[bytes], owner: str) -> Image.Image:
    """Open a photo at its start; nothing is decoded yet. It fails by `DAMAGE`, `TOO_LARGE` or BadInput."""
    formats: tuple[str, ...] = FORMATS
    if looks_like_heif(stream.read(START)):
        try:
            import pillow_heif
        except ImportError:
            raise BadInput(
                f"{owner} is a HEIC photo, and what reads such is not installed: "
                f"pip install 'lookalike[video]'"
            ) from None
        pillow_heif.register_heif_opener(thumbnails=False)
        formats = (HEIF,)
    stream.seek(0)
    return Image.open(stream, formats=formats)


def _as_array(image: Image.Image, sixteen_bits: bool, owner: str) -> Picture:
    # Pillow would clip at 255, so the upper byte is taken.
    if sixteen_bits:
        return (np.asarray(image).astype(np.int64) >> 8).astype(np.uint8)
    if image.mode in ("I", "F"):
        raise BadInput(f"{owner} has 32 bits per pixel, whose range is not known: save it with 8 bits")
    gray = image.mode in ("1", "L", "LA", "La")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        black = Image.new("RGBA", image.size, (0, 0, 0, 255))
        image = Image.alpha_composite(black, image)
    wanted = "L" if gray else "RGB"
    if image.mode != wanted:
        image = image.convert(wanted)
    return _bytes_of(image)


def _bytes_of(image: Image.Image) -> Picture:
    """The pixels of an image, gray or RGB.

    Strips of it stay in the processor's cache on their way: of a photo of 12 million pixels, whole, they take
    70 ms, as long as decoding it, and so 35 ms.
    """
    colours = () if image.mode == "L" else (3,)
    picture = np.empty((image.height, image.width, *colours), dtype=np.uint8)
    rows = max(1, STRIP // image.width)
    for top in range(0, image.height, rows):
        strip = image.crop((0, top, image.width, min(top + rows, image.height)))
        some = np.frombuffer(strip.tobytes(), dtype=np.uint8)
        picture[top : top + rows] = some.reshape(strip.height, image.width, *colours)
    picture.flags.writeable = False
    return picture


def checked(given: Any) -> Picture:
    """Refuse what is not a picture of bytes, gray or RGB; return it in one piece of memory."""
    if not isinstance(given, np.ndarray) or given.dtype != np.uint8:
        kind = given.dtype if isinstance(given, np.ndarray) else type(given).__name__
        raise BadInput(f"a picture must be an array of uint8, got {kind}: scale and convert it")
    if given.ndim not in (2, 3) or (given.ndim == 3 and given.shape[2] != 3) or 0 in given.shape:
        raise BadInput(f"a picture must have shape (height, width) or (height, width, 3), got {given.shape}")
    return np.ascontiguousarray(given)


def _too_large(owner: str) -> BadInput:
    return BadInput(f"{owner} has more than {MOST_PIXELS // 10**6} million pixels: make it smaller")


def read_crop(path: Path, largest: tuple[int, int] | None) -> Picture | None:
    """Read a picture, or None if it is too large for a crop.

    `largest` is the width and height up to which one may be a crop, turned or not; None if every one may
    be. None is also returned for that whose size is not known before it is decoded.
    """
    if largest is not None:
        try:
            with Image.open(path, formats=FORMATS) as image:
                sizes = image.size, image.size[::-1]
        except (*DAMAGE, *TOO_LARGE):
            return None  # whoever reads it will say what is wrong with it
        if not any(width <= largest[0] and height <= largest[1] for width, height in sizes):
            return None
    return read_picture(path)
