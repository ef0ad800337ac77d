"""Video and picture files for tests: good ones, damaged ones, and ones that are not what they seem.

Every function writes into the folder given and returns the path; all faces are drawn.
"""

from __future__ import annotations

import os
import shutil
import struct
import zlib
from functools import lru_cache
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lookalike.demo.drawing import draw_face
from lookalike.demo.footage import draw_footage, write_footage
from lookalike.demo.people import View, draw_person

RATE = 10.0
SECONDS = 2.2
SUFFIXES = (".mp4", ".mkv", ".mov", ".avi", ".webm", ".mts")
HUGE = 16_000
BOMB = 50_000

Frame = NDArray[np.uint8]

# Drawn people are more alike than real ones; this descriptor takes them for different people all the same.
DRAWN = "deep"


@lru_cache(maxsize=1)
def frames() -> tuple[Frame, ...]:
    """The film that the good videos show: one face that moves through one room, 320 x 180."""
    return tuple(draw_footage(seconds=SECONDS, rate=RATE, size=(320, 180)).frames())


def video(folder: Path, suffix: str = ".mp4") -> Path:
    """A good video with one face, in the container that the suffix says."""
    path = folder / f"good{suffix}"
    write_footage(path, frames(), RATE)
    return path


def rotated_video(folder: Path, degrees: int = 90) -> Path:
    """A video whose frames lie turned, and which says that they must be turned back by so much."""
    path = folder / f"rotated_{degrees}.mp4"
    turned = (np.rot90(frame, -(degrees // 90)) for frame in frames())
    write_footage(path, turned, RATE, rotation=degrees)
    return path


def variable_times() -> list[float]:
    """Seconds of the frames of the video with a variable rate: slower and slower."""
    return [round(0.04 * number + 0.004 * number * number, 3) for number in range(len(frames()))]


def variable_rate_video(folder: Path) -> Path:
    """A video whose frames come at `variable_times`."""
    path = folder / "variable.mp4"
    write_footage(path, frames(), RATE, times=variable_times())
    return path


def one_frame_video(folder: Path) -> Path:
    """A video that is over after one frame."""
    path = folder / "one_frame.mp4"
    write_footage(path, frames()[:1], RATE)
    return path


def empty_video(folder: Path) -> Path:
    """A video with a header that promises pictures, and none."""
    path = folder / "empty.mp4"
    with av.open(str(path), "w", options={"movflags": "empty_moov"}) as file:
        stream = file.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuv420p"
        file.start_encoding()
    return path


def truncated_video(folder: Path, share: float = 0.6) -> Path:
    """A video that begins well and is cut off: its index comes first, so that some frames can be read."""
    path = folder / "truncated.mp4"
    write_footage(path, frames(), RATE, options={"movflags": "faststart"})
    return _cut(path, share)


def flipped_video(folder: Path, flips: int = 60) -> Path:
    """A video that is whole but for some bytes of its pictures, as a failing disk leaves it."""
    path = folder / "flipped.mp4"
    write_footage(path, frames(), RATE, options={"movflags": "faststart"})
    data = bytearray(path.read_bytes())
    pictures = data.index(b"mdat") + 4
    # The first picture stays, and so do the words of the encoder before it.
    for place in np.linspace(pictures + (len(data) - pictures) // 3, len(data) - 20, flips).astype(int):
        data[place] ^= 0xFF
    path.write_bytes(data)
    return path


def head_of_video(folder: Path) -> Path:
    """The first bytes of a video: they tell what it would be, and nothing is in it."""
    path = folder / "head.mp4"
    write_footage(path, frames(), RATE, options={"movflags": "faststart"})
    path.write_bytes(path.read_bytes()[:100])
    return path


def headless_video(folder: Path) -> Path:
    """A video that is cut off before its index, which would have come last: nothing can be read."""
    path = folder / "headless.mp4"
    write_footage(path, frames(), RATE)
    return _cut(path, 0.6)


def sound(folder: Path) -> Path:
    """A file of a video's kind that holds a second of sound only."""
    path = folder / "sound.mp4"
    with av.open(str(path), "w") as file:
        stream = file.add_stream("aac", rate=8000, layout="mono")
        tone = np.sin(np.arange(8000) * 0.3).astype(np.float32)[None]
        frame = av.AudioFrame.from_ndarray(tone, format="fltp", layout="mono")
        frame.sample_rate, frame.pts = 8000, 0
        file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return path


def text(folder: Path) -> Path:
    """A text that calls itself a video."""
    path = folder / "text.mp4"
    path.write_text("Not a film, only its description.\n" * 40)
    return path


def huge_video(folder: Path) -> Path:
    """A small file whose header and pictures claim to be `HUGE` pixels wide and high."""
    path = folder / "huge.avi"
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mjpeg", rate=10)
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuvj420p"
        for picture in frames()[:2]:
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode(None))
    data = path.read_bytes()
    data = data.replace(
        struct.pack("<II", 320, 180), struct.pack("<II", HUGE, HUGE)
    )  # of the file, the stream
    data = data.replace(struct.pack(">HH", 180, 320), struct.pack(">HH", HUGE, HUGE))  # of each picture
    path.write_bytes(data)
    return path


def playlist(folder: Path, target: str, name: str = "playlist.m3u8") -> Path:
    """A list of what to play: a player goes and opens the target, a file or an address."""
    path = folder / name
    lines = (
        "#EXTM3U",
        "#EXT-X-VERSION:3",
        "#EXT-X-TARGETDURATION:3",
        "#EXTINF:2.2,",
        target,
        "#EXT-X-ENDLIST",
    )
    path.write_text("\n".join(lines) + "\n")
    return path


def disguised_playlist(folder: Path, target: str) -> Path:
    """A playlist that calls itself a video."""
    return playlist(folder, target, "disguised.mp4")


def concat_script(folder: Path, target: str, name: str = "script.ffconcat") -> Path:
    """A script of FFmpeg's that opens another file; under any name."""
    path = folder / name
    path.write_text(f"ffconcat version 1.0\nfile '{target}'\n")
    return path


def linked_video(folder: Path, target: Path) -> Path:
    """A video whose pictures lie in another file, which its header names (an alias, as QuickTime writes)."""
    path = folder / "linked.mov"
    if target.suffix == path.suffix and target.is_file():
        # An encoder on several threads need not write the same twice, and pictures must lie where they are.
        shutil.copyfile(target, path)
    else:
        write_footage(path, frames(), RATE)
    name = os.fsencode(target)
    alias = bytes(10) + bytes(28) + bytes(12) + bytes(64) + bytes(16) + bytes(4) + bytes(16)
    alias += struct.pack(">HH", 2, len(name)) + name + bytes(len(name) % 2) + struct.pack(">HH", 0xFFFF, 0)
    entry = struct.pack(">I4sI", 12 + len(alias), b"alis", 0) + alias
    path.write_bytes(_with_reference(path.read_bytes(), entry))
    return path


def face(size: int = 160, person: int = 0) -> Image.Image:
    """A drawn face with a room around it: what the photos show."""
    return Image.fromarray(draw_face(draw_person(0, person), View(scale=0.6), size))


def photo(folder: Path, suffix: str = ".jpg") -> Path:
    """A good photo of one face, in the format that the suffix says (jpg, png, webp, tiff, bmp, heic, gif)."""
    path = folder / f"photo{suffix}"
    if suffix == ".heic":
        import pillow_heif

        pillow_heif.from_pillow(face()).save(path)
    else:
        face().save(path)
    return path


def group_photo(folder: Path, people: int) -> Path:
    """A photo of so many different faces, side by side, each as wide as high."""
    path = folder / "group.png"
    side = 280
    whole = Image.new("RGB", (people * side, side))
    for person in range(people):
        whole.paste(face(side, person), (person * side, 0))
    whole.save(path)
    return path


def oriented_photo(folder: Path, orientation: int) -> Path:
    """A JPEG that lies as the EXIF orientation (1 to 8) says: upright after it is followed."""
    flips = Image.Transpose
    undo = {
        2: flips.FLIP_LEFT_RIGHT,
        3: flips.ROTATE_180,
        4: flips.FLIP_TOP_BOTTOM,
        5: flips.TRANSPOSE,
        6: flips.ROTATE_90,
        7: flips.TRANSVERSE,
        8: flips.ROTATE_270,
    }
    path = folder / f"orientation_{orientation}.jpg"
    picture = face()
    exif = Image.Exif()
    exif[0x0112] = orientation
    (picture.transpose(undo[orientation]) if orientation in undo else picture).save(
        path, exif=exif, quality=95
    )
    return path


def animated_gif(folder: Path, count: int = 3) -> Path:
    """A GIF with several pictures."""
    path = folder / "animated.gif"
    first, *rest = (face(person=number) for number in range(count))
    first.save(path, save_all=True, append_images=rest, duration=100)
    return path


def bomb(folder: Path) -> Path:
    """A whole PNG, black, `BOMB` pixels wide and high: 300 kilobytes that would fill 2.5 gigabytes."""
    path = folder / "bomb.png"
    row = 1 + BOMB // 8
    block = zlib.compressobj(9, zlib.DEFLATED, -15)
    # Compressed blocks that end on a byte can be strung together: no need to compress 300 megabytes.
    rows = 200
    body = block.compress(bytes(row * rows)) + block.flush(zlib.Z_FULL_FLUSH)
    check = struct.pack(">HH", row * BOMB % 65521, 1)  # Adler's sum of zeros
    packed = b"\x78\xda" + body * (BOMB // rows) + b"\x03\x00" + check
    header = struct.pack(">IIBBBBB", BOMB, BOMB, 1, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", packed), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks))
    return path


def truncated_photo(folder: Path) -> Path:
    """A JPEG of which the second half is missing."""
    path = folder / "truncated.jpg"
    face().save(path)
    return _cut(path, 0.5)


def under_strange_names(path: Path) -> list[Path]:
    """Copies of a file beside it, under names that make trouble: a line break, bytes that are not UTF-8."""
    suffix = os.fsencode(path.suffix)
    names = (b"two\nlines", b"latin-\xe9", b"-option", b" blank ", "日本 ü".encode(), b"%03d", b"file:colon")
    copies = [path.with_name(os.fsdecode(name + suffix)) for name in names]
    for copy in copies:
        copy.write_bytes(path.read_bytes())
    return copies


def _cut(path: Path, share: float) -> Path:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    return path


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _with_reference(data: bytes, entry: bytes) -> bytes:
    """Exchange the reference of the only track (to itself, 12 bytes) for another; all that hold it grow."""
    made = bytearray(data)
    start, grown = 0, len(entry) - 12
    for kind in (b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref"):
        place = made.index(kind, start) - 4
        (length,) = struct.unpack_from(">I", made, place)
        struct.pack_into(">I", made, place, length + grown)
        start = place + 8
    old = start + 8  # version and flags, number of entries
    made[old : old + 12] = entry
    return bytes(made)
