"""From a folder to its page: ``python -m benchmarks.study_open`` on eleven real films and sixty photos.

`lookalike open` is started on a folder of copies. It is timed until the page shows
somebody, then killed, started again and left to end: what is known is not looked at again, and no file is
taken in twice. ``LOOKALIKE_DATA`` names the folder that holds ``films`` and ``photos``.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks import cuts_by_eye
from benchmarks.served import HEADERS, PATIENCE
from lookalike import Gallery

FILMS, PHOTOS = 11, 60
MOST_SECONDS = 20.0
COMMAND = [sys.executable, "-c", "from lookalike.cli import main; main()", "open"]
# So many files are taken in before it is killed.
BEFORE = 5


def fill(folder: Path) -> None:
    """Copies of the films and photos."""
    films = [cuts_by_eye.FILMS / name for name in cuts_by_eye.CUTS] + cuts_by_eye.scene_files()
    photos = sorted((cuts_by_eye.FILMS.parent / "photos").rglob("*.jpg"))
    for number, path in enumerate([*films[:FILMS], *photos[:PHOTOS]]):
        shutil.copy(path, folder / f"{number:02d}{path.suffix}")


@contextmanager
def opened(folder: Path, gallery: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """The program, and a client that has entered its page."""
    options = ["--gallery", str(gallery), "--no-browser", "--port", "0"]
    process = subprocess.Popen([*COMMAND, str(folder), *options], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        found = re.fullmatch(r"(http://\S+:\d+)(/\S*)\n", process.stdout.readline())
        if found is None:
            sys.exit("study: the page does not open")
        with httpx.Client(base_url=found[1], headers=HEADERS, timeout=PATIENCE) as client:
            client.get(found[2], follow_redirects=True).raise_for_status()
            yield process, client
    finally:
        process.kill()
        process.wait()


def until(holds: Callable[[], bool]) -> None:
    """Wait, and look again and again."""
    while not holds():
        time.sleep(0.2)


def main() -> None:
    if not cuts_by_eye.is_there():
        sys.exit("study: set LOOKALIKE_DATA to the folder of films/ and photos/")
    with tempfile.TemporaryDirectory() as name:
        folder, gallery = Path(name) / "in", Path(name) / "g.gallery"
        folder.mkdir()
        fill(folder)
        began = time.monotonic()
        with opened(folder, gallery) as (process, client):
            ready = time.monotonic() - began
            until(lambda: 'class="card"' in client.get("/").text)
            first = time.monotonic() - began
            until(lambda: _state(client)["files"] >= BEFORE)
            os.kill(process.pid, signal.SIGKILL)
        with opened(folder, gallery) as (_, client):
            until(lambda: _state(client)["job"]["state"] == "done")
            again = _state(client)
        whole = time.monotonic() - began
        with Gallery(gallery) as made:
            files, sets = made.files(), len(made)
        met = "met" if first <= MOST_SECONDS else "not met"
        print(f"{len(list(folder.iterdir()))} files: the page after {ready:.1f} s, somebody on it after")
        print(f"{first:.1f} s (at most {MOST_SECONDS:.0f}: {met}); killed, run again: {again['known']} files")
        print(f"were known, {again['files']} were looked at; {len(files)} files, of which")
        print(f"{len({one.path for one in files})} differ, and {sets} sets in {whole:.0f} s")


def _state(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/intake").json()
    return found


if __name__ == "__main__":
    main()
