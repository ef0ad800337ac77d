"""`lookalike open` as a person runs it: from a folder to its page, ended at any moment, run again."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from lookalike import Gallery, add
from lookalike.cli.serve import _data_folder, _gallery_of
from lookalike.demo.footage import write_footage
from tests import media
from tests.cli_process import ROOT_OBEYS, Ended, Ready, environment, tree
from tests.once import made_once
from tests.waiting import PATIENCE, until
from tests.web.asking import fill

COMMAND = [sys.executable, "-W", "error", "-c", "from lookalike.cli import main; main()", "open"]
OURS = {"X-Lookalike": "1", "Sec-Fetch-Site": "same-origin"}
PHOTOS = 24


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two dozen photos of six people in albums, and a film of forty seconds."""

    def draw(place: Path) -> None:
        for number in range(PHOTOS):
            (place / f"album {number % 6}").mkdir(exist_ok=True)
            media.face(200 + number, number % 6).save(place / f"album {number % 6}" / f"{number}.png")
        # Looked at last, since it takes longest: there is time to end the program before.
        write_footage(place / "long.mp4", media.frames() * 18, media.RATE)

    return made_once(tmp_path_factory, "open", draw)


@pytest.fixture(scope="module")
def expected(drawn: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """How many faces each set has that `add` finds there."""
    path = tmp_path_factory.mktemp("added") / "g.gallery"
    add(path, [drawn])
    return faces(path)


def faces(path: Path) -> dict[str, int]:
    with Gallery(path) as gallery:
        assert gallery.facts()["files"] == len({file.path for file in gallery.files()})
        return {one.id: one.faces for one in gallery.listing()}


@contextmanager
def opened(folder: Path, data: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], Any, list[str]]]:
    """The process, a client that has entered its page, and what it says besides."""
    process = subprocess.Popen(
        [*COMMAND, str(folder), "--no-browser", "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(XDG_DATA_HOME=str(data)),
    )
    assert process.stdout
    assert process.stderr
    said: list[str] = []
    listener = threading.Thread(target=said.extend, args=(process.stderr,), daemon=True)
    listener.start()
    try:
        found = re.fullmatch(r"(http://\S+:\d+)(/\?token=[\w-]{22})\n", process.stdout.readline())
        assert found, said
        with httpx.Client(base_url=found[1], headers=OURS, timeout=PATIENCE) as client:
            assert client.get(found[2], follow_redirects=True).status_code == 200
            yield process, client, said
    finally:
        process.kill()
        process.wait()
        listener.join(PATIENCE)
        process.stdout.close()
        process.stderr.close()


def state(client: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/intake").json()
    return found


def gallery_in(data: Path) -> Path:
    [path] = data.glob("lookalike/*/*.gallery")
    return path


def test_from_a_folder_to_its_people_in_one_command(
    drawn: Path, expected: dict[str, int], tmp_path: Path
) -> None:
    before = tree(drawn)
    with opened(drawn, tmp_path) as (process, client, said):
        until(lambda: state(client)["job"]["state"] == "done")
        assert client.get("/api/gallery").json()["sets"] == len(expected)
        assert client.get("/").text.count('class="card"') == len(expected)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    whole = "".join(said)
    assert "Traceback" not in whole
    assert f"what is found is kept in {gallery_in(tmp_path)}\n" in whole
    assert f"is taken in: {len(expected)} sets added from {PHOTOS + 1} files\n" in whole
    assert "goes on" not in whole
    assert faces(gallery_in(tmp_path)) == expected
    # Nothing was written to the folder; what was found is for its owner alone.
    assert tree(drawn) == before
    assert (tmp_path / "lookalike").stat().st_mode & 0o777 == 0o700
    assert gallery_in(tmp_path).stat().st_mode & 0o777 == 0o600
    assert gallery_in(tmp_path).name == f"{drawn.name}.gallery"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_ended_in_the_middle_and_run_again(
    how: signal.Signals, drawn: Path, expected: dict[str, int], tmp_path: Path
) -> None:
    with opened(drawn, tmp_path) as (process, client, said):
        until(lambda: state(client)["files"] >= 3)
        client.post("/api/intake", json={"paused": True})
        process.send_signal(how)
        assert process.wait(PATIENCE) == (-how if how == signal.SIGKILL else 0)
    if how != signal.SIGKILL:
        assert "not all of the folder is taken in yet; the same command goes on" in "".join(said)
    assert "Traceback" not in "".join(said)
    with Gallery(gallery_in(tmp_path)) as gallery:
        kept = len(gallery.files())
    assert 3 <= kept < PHOTOS + 1
    # By another way to the same folder.
    link = tmp_path / "link"
    link.symlink_to(drawn)
    with opened(link, tmp_path) as (_, client, said):
        until(lambda: state(client)["job"]["state"] == "done")
        ended = state(client)
        assert (ended["known"], ended["files"]) == (kept, PHOTOS + 1 - kept)
    assert faces(gallery_in(tmp_path)) == expected


def test_two_at_once_and_a_gallery_that_is_chosen(drawn: Path, tmp_path: Path, ready: Ready) -> None:
    path = tmp_path / "mine.gallery"
    with opened(drawn, tmp_path / "data", "--gallery", str(path)) as (_, client, _):
        client.post("/api/intake", json={"paused": True})
        second = refused(ready, tmp_path, drawn)
        assert second.code == 5
        assert "another `lookalike open` has" in second.err
        assert client.get("/").status_code == 200
    assert path.exists()
    assert not (tmp_path / "data").exists()


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    process = Ready()
    yield process
    process.close()


def refused(ready: Ready, folder: Path, *words: object, before: str = "") -> Ended:
    """A run that must end in one sentence, and change nothing."""
    found = tree(folder)
    words = (*words, "--no-browser", "--port", "0")
    ended = ready.run("open", *words, cwd=folder, before=before, XDG_DATA_HOME=str(folder / "data"))
    assert ended.out == ""
    assert len(ended.err.splitlines()) == 1, ended.err
    assert tree(folder) == found
    return ended


def test_what_cannot_be_opened(tmp_path: Path, ready: Ready) -> None:
    missing = refused(ready, tmp_path, "nowhere")
    assert (missing.code, "there is no file or folder 'nowhere'" in missing.err) == (4, True)
    film = refused(ready, tmp_path, media.video(tmp_path))
    assert (film.code, "is a file, not a folder" in film.err) == (3, True)
    served = refused(ready, tmp_path, fill(tmp_path / "g.gallery", 2, 2))
    assert (served.code, "`lookalike serve` shows it" in served.err) == (3, True)
    (tmp_path / "empty").mkdir()
    empty = refused(ready, tmp_path, "empty")
    assert (empty.code, "holds no photo and no video" in empty.err) == (3, True)
    (tmp_path / "in").mkdir()
    media.photo(tmp_path / "in")
    mixed = refused(ready, tmp_path, "in", "--gallery", "g.gallery")
    assert (mixed.code, "g.gallery holds ready-made faces" in mixed.err) == (5, True)
    assert refused(ready, tmp_path, "in", "--gallery", "no/such/g.gallery").code == 4
    assert refused(ready, tmp_path, "in", "--gallery", tmp_path / "in" / "photo.jpg").code in (5, 6)
    blind = refused(ready, tmp_path, "in", before="import sys; sys.modules['av'] = None")
    said = "lookalike: finding faces needs 'av', which is not installed: `pip install 'lookalike[video]'`\n"
    assert (blind.code, blind.err) == (3, said)
    (tmp_path / "in").chmod(0)
    closed = refused(ready, tmp_path, "in", before=ROOT_OBEYS)
    (tmp_path / "in").chmod(0o700)
    assert (closed.code, "'in' may not be read: ask its owner" in closed.err) == (3, True)
    (tmp_path / "data").mkdir(mode=0o500)
    unwritable = refused(ready, tmp_path, "in", before=ROOT_OBEYS)
    assert (unwritable.code, "permission to use" in unwritable.err) == (7, True)


def test_a_folder_that_is_away_has_its_gallery_still(
    tmp_path: Path, ready: Ready, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = _gallery_of(tmp_path / "disk")
    path.parent.mkdir(parents=True)
    fill(path, 1, 1)
    away = refused(ready, tmp_path, tmp_path / "disk")
    assert away.code == 4
    assert away.err.endswith(f"`lookalike serve {path}` shows what was found in it\n")


def test_where_the_gallery_of_a_folder_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    first, second = _gallery_of(Path("/a/Holiday 2019")), _gallery_of(Path("/b/Holiday 2019"))
    assert first.parent != second.parent
    assert re.fullmatch(r"Holiday 2019-[0-9a-f]{12}", first.parent.name)
    assert first == _gallery_of(Path("/a/Holiday 2019"))
    for strange in ("/", "/a/..b", "/a/" + "x" * 250, "/a/ü\n/", os.fsdecode(b"/a/\xff"), "/a/... "):
        path = _gallery_of(Path(strange))
        path.parent.mkdir(parents=True)
        fill(path, 1, 1)
        assert path.parent.parent == tmp_path / "lookalike"
    shutil.rmtree(tmp_path / "lookalike")
    for unset in ("", "relative/path"):
        monkeypatch.setenv("XDG_DATA_HOME", unset)
        monkeypatch.setenv("HOME", "/home/ada")
        assert _data_folder() == Path("/home/ada/.local/share/lookalike")
