"""Galleries whose films and photos are known to the frame and the pixel; nothing has to be found in them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image

from lookalike import FaceSet, Gallery
from lookalike.faceset import Box, Sighting
from lookalike.gallery.media import MediaFile

SIZE = (160, 96)


def write_film(
    path: Path,
    rate: Fraction,
    frames: int = 40,
    code: str = "",
    times: Sequence[float] | None = None,
) -> Path:
    """A film whose frame n is of brightness 6 n, with a time code if one is given; or at times of its own."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream("libx264", rate=rate)
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        if code:
            stream.metadata["timecode"] = code
        base = 1 / rate if times is None else Fraction(1, 90_000)
        stream.codec_context.time_base = base
        for number in range(frames):
            picture = np.full((SIZE[1], SIZE[0], 3), 6 * number % 256, dtype=np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts = number if times is None else round(times[number] * 90_000)
            frame.time_base = base
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return path


def media(path: Path, kind: str = "video") -> MediaFile:
    """A file as a gallery knows it, whether it is there or not."""
    content = path.read_bytes() if path.exists() else str(path).encode()
    there = path.stat() if path.exists() else None
    size, changed = (0, 0) if there is None else (there.st_size, there.st_mtime_ns)
    return MediaFile(hashlib.sha256(content).hexdigest(), str(path), size, changed, kind)


def seen(box: Box = (10, 10, 50, 60), time: float | None = None) -> Sighting:
    """A good face."""
    return Sighting(box, 0.95, 0.5, 0.5, 0.1, None if time is None else round(time, 3))


def face_set(
    set_id: str, sightings: Sequence[Sighting], sources: Sequence[str] = (), seed: int = 0
) -> FaceSet:
    """A set of as many faces as there are sightings."""
    rng = np.random.default_rng([seed, *set_id.encode()])
    faces = rng.normal(size=(len(sightings), 8))
    return FaceSet(set_id, faces, "somewhere", sources, sightings=sightings)


def film_gallery(path: Path, film: Path, spans: dict[str, tuple[float, float]]) -> Gallery:
    """A gallery of one film, in which each set is seen from one time to another."""
    gallery = Gallery(path, create=True)
    sets = [
        face_set(set_id, [seen(time=time) for time in dict.fromkeys(span)]) for set_id, span in spans.items()
    ]
    gallery.keep_file(media(film), sets, descriptor="array")
    return gallery


def write_photo(path: Path, stored: Box, orientation: int = 1, size: tuple[int, int] = (120, 80)) -> Path:
    """A dark photo with one bright box, which is a face for us, where the pixels of the file have it."""
    pixels = np.zeros((size[1], size[0], 3), dtype=np.uint8)
    left, top, width, height = (round(side) for side in stored)
    pixels[top : top + height, left : left + width] = 255
    image = Image.fromarray(pixels)
    exif = image.getexif()
    exif[0x0112] = orientation
    image.save(path, exif=exif, quality=95)
    return path
