"""Children look for faces, fail alone, and are replaced; tracks are described on threads as on one."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike.demo.footage import draw_footage, write_footage
from lookalike.descriptors.contract import Descriptor, Picture, Vector
from lookalike.errors import BadInput, LookalikeError
from lookalike.ingest import sandbox
from lookalike.ingest.files import find_files
from lookalike.ingest.seen import SeenFile, SeenTrack, Settings
from lookalike.ingest.workers import Gathered, LookingChild, Workers, gather
from tests import media
from tests.waiting import until


def looked(paths: list[Path], count: int = 1, **how: float) -> dict[int, list[object]]:
    found: dict[int, list[object]] = {number: [] for number in range(len(paths))}
    with Workers(Settings(), count, **how) as workers:  # type: ignore[arg-type]
        for number, told in workers.look(paths):
            found[number].append(told)
    return found


def pids(workers: Workers) -> list[int]:
    return [one._sandbox._process.pid for one in workers._children if one._sandbox is not None]


def test_a_film_and_a_photo(tmp_path: Path) -> None:
    found = looked([media.video(tmp_path), media.photo(tmp_path)], 2)
    [track] = [told for told in found[0] if isinstance(told, SeenTrack)]
    assert len(track.pictures) == len(track.sightings) > 2
    assert track.start == 0.0
    assert isinstance(found[0][-1], SeenFile)
    [face] = [told for told in found[1] if isinstance(told, SeenTrack)]
    assert face.start is None
    assert face.together == frozenset()


def test_the_number_of_children_changes_nothing(tmp_path: Path) -> None:
    paths = [media.video(tmp_path), *(media.photo(tmp_path, suffix) for suffix in (".jpg", ".png", ".heic"))]

    def kept(count: int) -> list[tuple[object, ...]]:
        return [
            (number, told.number, told.sightings, told.pictures)
            for number, tolds in looked(paths, count).items()
            for told in tolds
            if isinstance(told, SeenTrack)
        ]

    assert kept(1) == kept(3)


def test_children_that_are_not_listened_to_wait_and_nothing_is_lost(tmp_path: Path) -> None:
    paths = [media.photo(tmp_path, suffix) for suffix in (".jpg", ".png")]
    going, found = threading.Event(), []
    with Workers(Settings(), 1, going=going) as workers:
        listening = threading.Thread(target=lambda: found.extend(workers.look(paths)))
        listening.start()
        until(lambda: pids(workers))
        assert found == []
        going.set()
        listening.join()
    assert [number for number, told in found if isinstance(told, SeenTrack)] == [0, 1]
    # Whoever closes them does not wait for those who rest.
    with Workers(Settings(), 1, going=threading.Event()) as workers:
        threading.Thread(target=lambda: (until(lambda: pids(workers)), workers.close())).start()
        with pytest.raises(LookalikeError, match="was stopped before its end"):
            list(workers.look(paths))


def test_bad_files_are_refused_and_the_rest_goes_on(tmp_path: Path) -> None:
    bad = [
        media.headless_video(tmp_path),
        media.empty_video(tmp_path),
        media.sound(tmp_path),
        media.huge_video(tmp_path),
        media.bomb(tmp_path),
        media.truncated_photo(tmp_path),
        media.text(tmp_path),
        tmp_path / "missing.jpg",
    ]
    found = looked([*bad, media.photo(tmp_path)])
    for number, path in enumerate(bad):
        assert isinstance(found[number][-1], LookalikeError), path
        assert repr(str(path)) in str(found[number][-1])
        assert "\n" not in str(found[number][-1])
    assert isinstance(found[len(bad)][-1], SeenFile)


def test_a_file_that_crashes_the_child_is_refused_alone(tmp_path: Path) -> None:
    paths = [media.video(tmp_path)]
    paths += [shutil.copy(paths[0], tmp_path / f"{number}.mp4") for number in range(2)]
    ends = []
    with Workers(Settings()) as workers:
        for number, told in workers.look(paths):
            if number == 1 and not ends:
                # As a decoder does that runs wild.
                os.kill(pids(workers)[0], signal.SIGKILL)
            if told is None or isinstance(told, SeenFile | LookalikeError):
                ends.append(told)
    assert isinstance(ends[0], SeenFile)
    assert isinstance(ends[2], SeenFile)


def test_silence_is_not_waited_for(tmp_path: Path) -> None:
    with Workers(Settings(), patience=30.0) as workers:
        film = media.video(tmp_path)
        list(workers.look([film]))
        os.kill(pids(workers)[0], signal.SIGSTOP)
        workers.patience = 0.5
        [(_, reason)] = list(workers.look([film]))
    assert "took longer than 0.5 seconds to answer" in str(reason)


SPEAKS_FOR_EVER = """
import json, sys, time
from lookalike.ingest.sandbox import send
send(sys.stdout.buffer, {"ready": True})
sys.stdin.readline()
while True:
    send(sys.stdout.buffer, {"time": 0.001})
    time.sleep(0.05)
"""


def test_a_file_that_speaks_all_the_time_but_does_not_go_on_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "PROGRAM", ("-c", SPEAKS_FOR_EVER))
    with Workers(Settings(), patience=1.0) as workers:
        *times, reason = LookingChild(workers).look(tmp_path / "film.mp4")
    assert set(times) == {0.001}
    assert "took more than 60 seconds for a second of video" in str(reason)


def test_too_little_memory_is_said(tmp_path: Path) -> None:
    [reason] = looked([media.photo(tmp_path)], memory=1)[0]
    assert isinstance(reason, LookalikeError)


def test_unwanted_files_are_not_opened(tmp_path: Path) -> None:
    with Workers(Settings()) as workers:
        told = list(workers.look([tmp_path / "missing", media.photo(tmp_path)], lambda number: number == 1))
    assert told[0] == (0, None)
    assert isinstance(told[-1][1], SeenFile)


def test_lengths(tmp_path: Path) -> None:
    with Workers(Settings()) as workers:
        paths = [media.video(tmp_path), media.photo(tmp_path), media.text(tmp_path)]
        film, *others = workers.lengths(paths)
    assert film == pytest.approx(len(media.frames()) / media.RATE, abs=0.2)
    assert others == [0.0, 0.0]


def test_nothing_is_left_running(tmp_path: Path) -> None:
    with Workers(Settings()) as workers:
        list(workers.look([media.photo(tmp_path)]))
        [pid] = pids(workers)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_code_in_the_current_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    photo = media.photo(tmp_path)
    (tmp_path / "av.py").write_text("open('ran', 'w')\n")
    monkeypatch.chdir(tmp_path)
    assert isinstance(looked([photo])[0][-1], SeenFile)
    assert not (tmp_path / "ran").exists()


def test_whatever_fails_is_told_and_nobody_waits(tmp_path: Path) -> None:
    def failing(number: int) -> bool:
        raise OSError("too many open files")

    with Workers(Settings()) as workers:
        [(_, reason)] = list(workers.look([media.photo(tmp_path)], failing))
    assert "too many open files" in str(reason)


@pytest.mark.parametrize("count", [1, 2])
def test_no_more_files_are_begun_than_there_are_children(tmp_path: Path, count: int) -> None:
    photo, begun = media.photo(tmp_path), []

    def note(number: int) -> bool:
        begun.append(number)
        return True

    with Workers(Settings(), count) as workers:
        for number, told in workers.look([photo] * 5, note):
            if isinstance(told, SeenFile):
                # Whoever takes the answers is still keeping them: a child that ran ahead would have time to.
                time.sleep(0.3)
                assert max(begun) < number + count
    assert sorted(begun) == [0, 1, 2, 3, 4]


class Means(Descriptor):
    """The mean colour of a face; some are refused."""

    def __init__(self, refused: int = -1) -> None:
        self.refused = refused
        self.seen: list[int] = []
        self._counting = threading.Lock()

    @property
    def dimension(self) -> int:
        return 3

    def describe(self, picture: Picture) -> Vector:
        with self._counting:
            self.seen.append(threading.get_ident())
            if len(self.seen) == self.refused:
                raise BadInput("this face cannot be described")
        return picture.mean(axis=(0, 1)).astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    drawn = draw_footage(4, 9.0, size=(320, 180), rate=10.0)
    write_footage(tmp_path / "film.mp4", drawn.frames(), drawn.rate)
    media.photo(tmp_path)
    (tmp_path / "zzz.mp4").write_bytes((tmp_path / "film.mp4").read_bytes()[:3000])
    return tmp_path


def gathered(folder: Path, part: Descriptor) -> list[Gathered]:
    files = find_files(folder).media
    with Workers(Settings(), 1) as workers:
        return [told for _, told in gather(workers, files, part) if isinstance(told, Gathered)]


def told(found: list[Gathered]) -> list[Any]:
    return [[(track.number, track.pictures, faces.tolist()) for track, faces in one.tracks] for one in found]


def test_the_number_of_threads_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKALIKE_THREADS", "1")
    alone, part = gathered(folder, Means()), Means()
    monkeypatch.setenv("LOOKALIKE_THREADS", "3")
    several = gathered(folder, part)
    assert told(alone) == told(several)
    assert [one.reason is None for one in several] == [True, True, False]
    assert len(several[0].tracks) > 2
    assert threading.get_ident() not in part.seen
    # Every face once.
    assert len(part.seen) == sum(len(faces) for one in several for _, faces in one.tracks)


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("refused", [1, 40])
def test_a_face_that_cannot_be_described_refuses_its_file_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, threads: str, refused: int
) -> None:
    monkeypatch.setenv("LOOKALIKE_THREADS", threads)
    film, photo, _ = gathered(folder, Means(refused))
    assert "this face cannot be described" in str(film.reason)
    assert not film.tracks
    assert photo.reason is None
    assert len(photo.tracks) == 1
