"""Children look for faces, fail alone, and are replaced."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lookalike.errors import LookalikeError
from lookalike.intake.looking import LookingChild
from lookalike.intake.seen import SeenFile, SeenTrack, Settings
from lookalike.intake.workers import Workers
from tests import media


def looked(paths: list[Path], count: int = 1, **how: float) -> dict[int, list[object]]:
    found: dict[int, list[object]] = {number: [] for number in range(len(paths))}
    with Workers(Settings(), count, **how) as workers:  # type: ignore[arg-type]
        for number, told in workers.look(paths):
            found[number].append(told)
    return found


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
                os.kill(workers.pids()[0], signal.SIGKILL)
            if told is None or isinstance(told, SeenFile | LookalikeError):
                ends.append(told)
    assert isinstance(ends[0], SeenFile)
    assert isinstance(ends[2], SeenFile)


def test_silence_is_not_waited_for(tmp_path: Path) -> None:
    with Workers(Settings(), patience=30.0) as workers:
        film = media.video(tmp_path)
        list(workers.look([film]))
        os.kill(workers.pids()[0], signal.SIGSTOP)
        workers.patience = 0.5
        [(_, reason)] = list(workers.look([film]))
    assert "did not answer for 0.5 seconds" in str(reason)


SPEAKS_FOR_EVER = """
import json, sys, time
sys.stdin.readline()
while True:
    said = json.dumps({"time": 0.001}).encode()
    sys.stdout.buffer.write(len(said).to_bytes(8, "little") + said)
    sys.stdout.buffer.flush()
    time.sleep(0.05)
"""


def test_a_file_that_speaks_all_the_time_but_does_not_go_on_is_not_waited_for(tmp_path: Path) -> None:
    with Workers(Settings(), patience=1.0) as workers:
        child = LookingChild(workers)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        child._process = subprocess.Popen([sys.executable, "-c", SPEAKS_FOR_EVER], **pipes)
        *times, reason = child.look(tmp_path / "film.mp4")
    assert set(times) == {0.001}
    assert "took more than 60 seconds for a second of film" in str(reason)


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
        [pid] = workers.pids()
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
