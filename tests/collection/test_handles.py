"""Opening a gallery a second time in one process must not drop the locks of the first."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lookalike import Gallery
from lookalike.collection.connections import is_gallery
from lookalike.collection.handles import header_of, hold, release
from tests.collection.samples import a_set

ANOTHER = "import sys; from lookalike import Gallery; g = Gallery(sys.argv[1]); print(len(g)); g.close()"


def seen_by_another(path: Path) -> int:
    done = subprocess.run([sys.executable, "-c", ANOTHER, str(path)], capture_output=True, check=True)
    return int(done.stdout)


def open_and_close(path: Path) -> None:
    Gallery(path).close()


@pytest.mark.parametrize("look", [open_and_close, is_gallery], ids=["opened again", "only looked at"])
def test_what_is_added_after_another_process_closed_is_not_lost(tmp_path: Path, look) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "g"
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("a"))
        look(path)
        # If our locks were gone, the other process would take itself for the last and delete the journal.
        assert seen_by_another(path) == 1
        assert Path(f"{path}-wal").exists()
        gallery.add(a_set("b", 1))
        assert seen_by_another(path) == 2


def test_a_file_that_is_held_is_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"0123456789")
    assert header_of(file, 4) == b"0123"
    first, second = hold(file), hold(file)
    os.link(file, tmp_path / "another name")
    assert header_of(tmp_path / "another name", 4) is None
    release(first)
    assert header_of(file, 4) is None
    release(second)
    assert header_of(file, 4) == b"0123"


def test_many_threads_that_open_and_look_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "g"
    Gallery(path, create=True).close()

    def work(number: int) -> None:
        for place in range(3):
            with Gallery(path) as gallery:
                assert is_gallery(path)
                gallery.add(a_set(f"{number}-{place}", 10 * number + place))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen_by_another(path) == 12
