"""Films and photos that a cluster of two nodes looks at: the gallery of one machine, whatever is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from lookalike import add, open_gallery
from lookalike.demo.footage import draw_footage, write_footage
from lookalike.ingest.sandbox import PROGRAM
from lookalike.progress import Item
from tests import media
from tests.engines.nodes import Nodes
from tests.waiting import PATIENCE, until
from tests.whole_gallery import whole

COMMAND = [sys.executable, "-c", "from lookalike.cli import main; main()"]
FILMS = 8


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Films of a few seconds, photos of an album, and what cannot be read."""
    folder = tmp_path_factory.mktemp("in") / "archive"
    (folder / "album").mkdir(parents=True)
    for number, person in enumerate((0, 0, 1)):
        media.face(240 + 10 * number, person).save(folder / "album" / f"{number}.png")
    drawn = draw_footage(seconds=6, rate=10, size=(320, 180))
    write_footage(folder / "0.mp4", drawn.frames(), drawn.rate)
    for copy in range(1, FILMS):
        # Bytes behind the end of an mp4 make it another file and the same film.
        (folder / f"{copy}.mp4").write_bytes((folder / "0.mp4").read_bytes() + b"\0\0\0\x08free" * copy)
    media.headless_video(folder)
    return folder


@pytest.fixture(scope="module")
def alone(archive: Path) -> Path:
    """What one machine makes of it."""
    add(archive.parent / "alone", [archive], "lbp")
    return archive.parent / "alone"


def test_people_are_told_apart_as_on_one_machine(nodes: Nodes, archive: Path, tmp_path: Path) -> None:
    sources = [archive / "album", media.video(tmp_path)]
    expected = add(tmp_path / "here", sources, media.DRAWN)
    assert expected.added == ["album#1", "album#2", "good.mp4#1"]
    assert add(tmp_path / "there", sources, media.DRAWN, engine=nodes.engine) == expected
    assert whole(tmp_path / "there") == whole(tmp_path / "here")


def test_a_worker_and_a_node_that_are_lost_change_nothing(
    nodes: Nodes, archive: Path, alone: Path, tmp_path: Path
) -> None:
    lost: list[object] = []

    def losing(items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        for number, item in enumerate(items):
            if text == "looking for faces" and number == 6:
                lost.append(_end_a_worker())
            elif text == "looking for faces" and number == 12:
                lost.append(nodes.lose_one())
            yield item

    done = add(tmp_path / "g", [archive], "lbp", track=losing, engine=nodes.engine)
    nodes.replace_it()
    assert len(lost) == 2
    assert [Path(file).name for file, _ in done.failed] == ["headless.mp4"]
    assert whole(tmp_path / "g") == whole(alone)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_ended_run_goes_on(
    nodes: Nodes, archive: Path, alone: Path, tmp_path: Path, number: signal.Signals
) -> None:
    gallery, where = tmp_path / "g", ("--engine", "ray", "--address", nodes.address)
    words = [*COMMAND, "add", str(gallery), str(archive), *where, "--json"]
    with subprocess.Popen([*words, "--descriptor", "lbp"], stderr=subprocess.PIPE, text=True) as process:
        try:
            until(lambda: _kept(gallery) or process.poll() is not None)
            process.send_signal(number)
            _, said = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert "Traceback" not in said
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert "run the same command to go on" in said
    until(lambda: not _looking())  # nobody goes on to look at what nobody waits for
    kept = _kept(gallery)
    assert 0 < kept < FILMS + 3
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=True)
    found = json.loads(done.stdout)
    assert found["known_files"] == kept
    assert found["files"] == FILMS + 3 - kept
    assert whole(gallery) == whole(alone)


def _kept(gallery: Path) -> int:
    """How many files a gallery knows, if it is there."""
    if not gallery.exists():
        return 0
    with open_gallery(gallery) as opened:
        return len(opened.files())


def _end_a_worker() -> int:
    """Kill a process of the cluster while its child looks at a file."""
    until(_looking)
    worker = _looking()[0]
    os.kill(worker, signal.SIGKILL)
    return worker


def _looking() -> list[int]:
    """Processes of our cluster that have a child which looks for faces."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                named = PROGRAM[-1].encode() in (path / "cmdline").read_bytes()
                parents = _parents(int(path.name)) if named else []
            except (OSError, ValueError):
                continue
            if parents and os.getpid() in parents[1:]:
                found.append(parents[0])
    return found


def _parents(process: int) -> list[int]:
    """Process numbers of those who started it, the nearest first."""
    found: list[int] = []
    while process > 1:
        text = Path(f"/proc/{process}/stat").read_text()
        process = int(text.rpartition(")")[2].split()[1])
        found.append(process)
    return found
