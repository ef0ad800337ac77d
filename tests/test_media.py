"""The media files made for tests are what they claim, by the word of the libraries that read them."""

from __future__ import annotations

import http.server
import os
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageOps

from tests import media

UNREADABLE = av.error.InvalidDataError


def read(path: Path, **how: object) -> list[av.VideoFrame]:
    with av.open(str(path), **how) as file:  # type: ignore[call-overload]
        return list(file.decode(video=0))


def pixels(frame: av.VideoFrame) -> NDArray[np.float64]:
    return frame.to_ndarray(format="rgb24").astype(np.float64)


@pytest.mark.parametrize("suffix", media.SUFFIXES)
def test_good_videos(tmp_path: Path, suffix: str) -> None:
    frames = read(media.video(tmp_path, suffix))
    assert len(frames) == len(media.frames())
    assert np.abs(pixels(frames[5]) - media.frames()[5]).mean() < 6


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_rotated_video_is_upright_when_turned_as_it_says(tmp_path: Path, degrees: int) -> None:
    frame = read(media.rotated_video(tmp_path, degrees))[0]
    assert frame.rotation % 360 == degrees
    lying, upright = pixels(frame), media.frames()[0]
    assert np.abs(np.rot90(lying, degrees // 90) - upright).mean() < 6
    assert lying.shape != upright.shape or np.abs(lying - upright).mean() > 20


def test_a_variable_rate(tmp_path: Path) -> None:
    times = [frame.time for frame in read(media.variable_rate_video(tmp_path))]
    assert times == pytest.approx(media.variable_times(), abs=0.001)
    assert np.ptp(np.diff(media.variable_times())) > 0.1


def test_one_frame(tmp_path: Path) -> None:
    assert len(read(media.one_frame_video(tmp_path))) == 1


def test_no_frame(tmp_path: Path) -> None:
    path = media.empty_video(tmp_path)
    with av.open(str(path)) as file:
        assert file.streams.video[0].width == 320
    assert read(path) == []


def test_a_truncated_video_gives_some_frames_and_then_fails(tmp_path: Path) -> None:
    read_well: list[av.VideoFrame] = []
    with av.open(str(media.truncated_video(tmp_path))) as file, pytest.raises(UNREADABLE):
        read_well.extend(file.decode(video=0))
    assert 0 < len(read_well) < len(media.frames())


@pytest.mark.parametrize("make", [media.headless_video, media.text])
def test_what_cannot_be_opened(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    with pytest.raises(UNREADABLE):
        av.open(str(make(tmp_path)))


def test_sound_only(tmp_path: Path) -> None:
    with av.open(str(media.sound(tmp_path))) as file:
        assert not file.streams.video
        assert len(file.streams.audio) == 1


def test_a_huge_video_is_a_small_file(tmp_path: Path) -> None:
    path = media.huge_video(tmp_path)
    assert path.stat().st_size < 100_000
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        assert (stream.width, stream.height) == (media.HUGE, media.HUGE)


def test_a_playlist_opens_another_file(tmp_path: Path) -> None:
    media.video(tmp_path, ".ts")
    assert len(read(media.playlist(tmp_path, "good.ts"))) == len(media.frames())


def test_a_disguised_playlist_does_if_it_is_taken_for_one(tmp_path: Path) -> None:
    media.video(tmp_path, ".ts")
    path = media.disguised_playlist(tmp_path, "good.ts")
    assert path.suffix == ".mp4"
    assert len(read(path, format="hls")) == len(media.frames())


def test_a_playlist_calls_an_address(tmp_path: Path, asked: list[str], port: int) -> None:
    path = media.playlist(tmp_path, f"http://127.0.0.1:{port}/film.ts")
    with pytest.raises(av.FFmpegError):
        read(path, options={"protocol_whitelist": "file,http,tcp,crypto,data"}, timeout=5)
    assert "/film.ts" in asked


@pytest.mark.parametrize("name", ["script.ffconcat", "script.mp4"])
def test_a_concat_script_opens_another_file_under_any_name(tmp_path: Path, name: str) -> None:
    media.video(tmp_path)
    assert len(read(media.concat_script(tmp_path, "good.mp4", name))) == len(media.frames())


def test_a_linked_video_shows_the_other_file_to_those_who_follow(tmp_path: Path) -> None:
    target = media.video(tmp_path, ".mov")
    path = media.linked_video(tmp_path, target)
    assert read(path) == []
    follow = {"enable_drefs": "1", "use_absolute_path": "1"}
    assert len(read(path, options=follow)) == len(media.frames())
    target.unlink()
    assert read(path, options=follow) == []


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp", ".tiff", ".bmp", ".gif"])
def test_good_photos(tmp_path: Path, suffix: str) -> None:
    with Image.open(media.photo(tmp_path, suffix)) as picture:
        assert (picture.format or "").lower()[:2] == suffix[1:3]
        assert _difference(picture, media.face()) < 8


def test_a_good_heic(tmp_path: Path) -> None:
    pillow_heif = pytest.importorskip("pillow_heif")
    path = media.photo(tmp_path, ".heic")
    assert path.read_bytes()[4:12] == b"ftypheic"
    assert _difference(pillow_heif.open_heif(path).to_pillow(), media.face()) < 8


@pytest.mark.parametrize("orientation", range(1, 9))
def test_an_oriented_photo_is_upright_when_turned_as_it_says(tmp_path: Path, orientation: int) -> None:
    with Image.open(media.oriented_photo(tmp_path, orientation)) as picture:
        assert picture.getexif()[0x0112] == orientation
        assert _difference(ImageOps.exif_transpose(picture), media.face()) < 3
        assert orientation == 1 or _difference(picture, media.face()) > 5


def test_an_animated_gif(tmp_path: Path) -> None:
    with Image.open(media.animated_gif(tmp_path, 4)) as picture:
        assert getattr(picture, "n_frames", 1) == 4


def test_a_bomb_is_small_and_whole(tmp_path: Path) -> None:
    path = media.bomb(tmp_path)
    assert path.stat().st_size < 400_000
    with pytest.raises(Image.DecompressionBombError):
        Image.open(path)
    # Everything is there, down to the last row and the checksum.
    data = path.read_bytes()
    start = data.index(b"IDAT") + 4
    unpack = zlib.decompressobj()
    length, rest = 0, data[start : data.index(b"IEND") - 8]
    while rest and not unpack.eof:
        length += len(unpack.decompress(rest, 1 << 24))
        rest = unpack.unconsumed_tail
    assert length == media.BOMB * (1 + media.BOMB // 8)
    assert unpack.eof


def test_a_truncated_photo(tmp_path: Path) -> None:
    with Image.open(media.truncated_photo(tmp_path)) as picture, pytest.raises(OSError, match="truncated"):
        picture.load()


def test_strange_names(tmp_path: Path) -> None:
    photo = media.photo(tmp_path)
    copies = media.under_strange_names(photo)
    assert {os.fsencode(path.name) for path in copies} >= {b"two\nlines.jpg", b"latin-\xe9.jpg"}
    assert all(path.read_bytes() == photo.read_bytes() for path in copies)


@pytest.fixture
def asked() -> list[str]:
    """The paths that the server below was asked for."""
    return []


@pytest.fixture
def port(asked: list[str]) -> Iterator[int]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def _difference(one: Image.Image, other: Image.Image) -> float:
    return float(np.abs(np.asarray(one.convert("RGB"), dtype=float) - np.asarray(other, dtype=float)).mean())
