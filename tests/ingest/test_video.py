"""Films are read frame by frame, the right way up, and lead nowhere."""

from __future__ import annotations

import re
import socket
import threading
from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.ingest.files import START, recognise
from lookalike.ingest.video import open_video, probe
from tests import media


def read(path: Path) -> tuple[list[float], np.ndarray, str]:
    """Times of all frames, the first as a picture, and the remark."""
    found = recognise(path.read_bytes()[:START])
    assert found is not None
    with path.open("rb") as stream, open_video(stream, found.container) as video:
        times, first = [], np.empty(0)
        for frame in video.frames():
            first = first if times else frame.picture()
            times.append(frame.time)
        return times, first, video.remark


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".mov", ".avi", ".webm", ".mts"])
def test_every_container_gives_all_its_frames(tmp_path: Path, suffix: str) -> None:
    times, picture, remark = read(media.video(tmp_path, suffix))
    drawn = media.frames()
    assert len(times) == len(drawn)
    assert times[0] == 0
    assert np.all(np.diff(times) > 0)
    assert remark == ""
    assert picture.shape == drawn[0].shape
    assert np.abs(picture.astype(float) - drawn[0]).mean() < 12


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_turned_films_are_turned_back(tmp_path: Path, degrees: int) -> None:
    _, picture, _ = read(media.rotated_video(tmp_path, degrees))
    drawn = media.frames()[0]
    assert picture.shape == drawn.shape
    assert np.abs(picture.astype(float) - drawn).mean() < 12


def test_brightness_is_that_of_the_picture(tmp_path: Path) -> None:
    path = media.video(tmp_path)
    with path.open("rb") as stream, open_video(stream, "mov") as video:
        frame = next(video.frames())
        gray = frame.picture() @ [0.299, 0.587, 0.114]
        # Films keep brightness from 16 to 235.
        assert np.corrcoef(frame.brightness().ravel(), gray.ravel())[0, 1] > 0.99


def test_times_are_those_of_the_film(tmp_path: Path) -> None:
    times, _, _ = read(media.variable_rate_video(tmp_path))
    assert times == pytest.approx(media.variable_times(), abs=0.02)


def test_one_frame_is_a_film(tmp_path: Path) -> None:
    times, _, remark = read(media.one_frame_video(tmp_path))
    assert times == [0.0]
    assert remark == ""


def test_a_film_that_is_cut_short_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    times, _, remark = read(media.truncated_video(tmp_path))
    assert 0 < len(times) < len(media.frames())
    assert remark


def test_a_film_whose_pictures_are_damaged_says_so(tmp_path: Path) -> None:
    path = media.flipped_video(tmp_path)
    times, _, remark = read(path)
    told = re.fullmatch(r"is damaged \(.*not whole: (\d+) of (\d+)\): what could be read was taken", remark)
    assert told is not None
    assert 0 < int(told[1]) <= int(told[2]) == len(times)
    # Whoever jumps to a part may lack what it builds on.
    with path.open("rb") as stream, open_video(stream, "mov") as video:
        assert list(video.frames(1.0))
        assert "not whole" not in video.remark


def test_lengths_are_told_without_decoding(tmp_path: Path) -> None:
    times, _, _ = read(media.video(tmp_path))
    assert probe(media.video(tmp_path)) == pytest.approx(times[-1], abs=0.2)
    assert probe(media.photo(tmp_path)) == 0.0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (media.headless_video, "cannot be read as a video"),
        (media.head_of_video, "holds nothing that can be read: copy it again"),
        (media.sound, "sound but no pictures"),
        (media.huge_video, "claims frames of"),
    ],
)
def test_what_is_no_film_is_refused(tmp_path: Path, make: object, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        read(make(tmp_path))  # type: ignore[operator]


def test_nothing_that_a_film_names_is_opened(tmp_path: Path) -> None:
    good = media.video(tmp_path)
    linked = media.linked_video(tmp_path, good)
    times, _, _ = read(linked) if recognise(linked.read_bytes()[:START]) else ([], None, "")
    assert times == []


@pytest.mark.parametrize("container", ["mov", "matroska", "avi", "mpegts", "mpeg", "flv", "asf", "ogg"])
def test_a_playlist_is_not_followed_whatever_it_is_taken_for(tmp_path: Path, container: str) -> None:
    asked: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)

        def answer() -> None:
            try:
                asked.append(server.accept())
            except TimeoutError:
                return

        waiting = threading.Thread(target=answer)
        waiting.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/film.mp4"
        for path in (
            media.playlist(tmp_path, address),
            media.concat_script(tmp_path, address),
            media.playlist(tmp_path, media.video(tmp_path).name, "local.m3u8"),
        ):
            with path.open("rb") as stream:
                try:
                    with open_video(stream, container) as video:
                        assert list(video.frames()) == []
                except BadInput:
                    pass
        waiting.join()
    assert asked == []


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".avi", ".webm", ".mts"])
def test_a_part_of_a_film_is_that_part_of_the_whole(tmp_path: Path, suffix: str) -> None:
    path = media.video(tmp_path, suffix)
    found = recognise(path.read_bytes()[:START])
    assert found is not None

    def frames(*between: float) -> list[tuple[float, float]]:
        with path.open("rb") as stream, open_video(stream, found.container) as video:
            read = [(frame.time, float(frame.brightness().mean())) for frame in video.frames(*between)]
            return [one for one in read if one[0] >= (between or (0.0,))[0]]

    wanted = [(time, mean) for time, mean in frames() if 0.95 <= time <= 1.65]
    part = frames(0.95, 1.65)
    assert [time for time, _ in part] == pytest.approx([time for time, _ in wanted], abs=0.002)
    assert [mean for _, mean in part] == pytest.approx([mean for _, mean in wanted], abs=0.01)
    assert frames(100.0) == []


def test_films_joined_by_their_bytes_go_on(tmp_path: Path) -> None:
    """Each part of such a transport stream has a clock of its own."""
    path = media.video(tmp_path, ".mts")
    once, _, _ = read(path)
    path.write_bytes(path.read_bytes() * 2)
    twice, _, _ = read(path)
    assert len(twice) == 2 * len(once)
    assert twice[-1] == pytest.approx(2 * once[-1] + 0.1, abs=0.35)
    assert np.diff(twice).min() > 0.05
