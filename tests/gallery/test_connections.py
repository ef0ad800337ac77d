"""Opening and creating the file: what is not a gallery is refused, what may only be read is read."""

from __future__ import annotations

import gc
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lookalike.errors import BadInput, GalleryUnreadable, NotFound, StorageFailed, from_sqlite
from lookalike.gallery import connection
from lookalike.gallery.connection import _header_of, _hold, _release, is_gallery
from lookalike.gallery.gallery import Gallery
from tests.gallery import children
from tests.gallery.samples import a_set, edit


def test_a_new_gallery_is_private_and_protected(gallery: Gallery, path: Path) -> None:
    gallery.add(a_set())
    assert {each.stat().st_mode & 0o777 for each in path.parent.iterdir()} == {0o600}
    ask = gallery._opened.connection.execute
    asked = ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout", "user_version")
    assert [ask(f"PRAGMA {name}").fetchone()[0] for name in asked] == ["wal", 2, 1, 1, 30000, 6]
    assert ask("PRAGMA application_id").fetchone()[0] == 0x4C4F4F4B


def test_write_ahead_journal_is_restored(path: Path) -> None:
    Gallery(path, create=True).close()
    edit(path, "PRAGMA journal_mode = DELETE")
    with Gallery(path) as gallery:
        assert gallery._opened.connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are listed by Linux only")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_gallery_that_was_dropped_leaves_no_file_open(path: Path) -> None:
    Gallery(path, create=True).close()

    def open_files() -> int:
        """Those that were dropped one after the other leave what the first one left, at most."""
        Gallery(path).ids()
        gc.collect()
        return len(list(Path("/proc/self/fd").iterdir()))

    first = open_files()
    assert [open_files() for _ in range(3)] == [first] * 3


# Opening.


def test_missing(path: Path) -> None:
    with pytest.raises(NotFound, match=r"no gallery at .*x.gallery.*`lookalike add`"):
        Gallery(path)
    assert not path.exists()
    with pytest.raises(NotFound, match=r"folder of .* does not exist: make it first"):
        Gallery(path / "y", create=True)
    with pytest.raises(BadInput, match="NUL"):
        Gallery("a\0b")


def made_by_another_program(path: Path) -> None:
    edit(path, "CREATE TABLE t (x)")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def gallery_without_faces_table(path: Path) -> None:
    Gallery(path, create=True).close()
    edit(path, "DROP TABLE faces")


def gallery_of_format_0(path: Path) -> None:
    Gallery(path, create=True).close()
    edit(path, "PRAGMA user_version = 0")


def truncated(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set(count=200, dimension=100))
    os.truncate(path, 40000)


def header_only(path: Path) -> None:
    Gallery(path, create=True).close()
    os.truncate(path, 50)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (Path.mkdir, "is a folder"),
        (Path.touch, "is empty"),
        (lambda path: path.write_bytes(b"\x89PNG" * 100), "is not a gallery"),
        (pipe, "not an ordinary file"),
        (made_by_another_program, "another program"),
        (gallery_without_faces_table, "damaged or is not a gallery"),
        (gallery_of_format_0, "never existed"),
        (truncated, "damaged"),
        (header_only, "cut short"),
    ],
)
def test_not_a_gallery(path: Path, make, says: str) -> None:
    make(path)
    for create in (False, True):
        with pytest.raises(GalleryUnreadable, match=says):
            Gallery(path, create=create)


def test_a_dangling_link_is_not_followed_when_creating(path: Path) -> None:
    path.symlink_to(path.parent / "gone")
    with pytest.raises(GalleryUnreadable):
        Gallery(path, create=True)
    assert list(path.parent.iterdir()) == [path]


def test_a_newer_format_is_refused_untouched(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set())
    edit(path, "PRAGMA user_version = 7", "PRAGMA wal_checkpoint(TRUNCATE)")
    before = path.read_bytes()
    with pytest.raises(
        GalleryUnreadable, match=r"newer lookalike \(format 7, this one reads up to 6\): upgrade lookalike"
    ):
        Gallery(path, create=True)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_newer_format_still_in_the_journal_is_refused(path: Path) -> None:
    Gallery(path, create=True).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA user_version = 7")
    with pytest.raises(GalleryUnreadable, match="newer"):
        Gallery(path)
    other.close()


def test_a_journal_without_its_gallery_is_not_replayed(path: Path) -> None:
    journal = Path(f"{path}-wal")
    journal.write_bytes(b"old")
    with pytest.raises(StorageFailed, match="left from a gallery that is gone"):
        Gallery(path, create=True)
    assert list(path.parent.iterdir()) == [journal]


def test_creating_without_hard_links(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set())
    assert list(path.parent.iterdir()) == [path]
    with Gallery(path, create=True) as gallery:
        assert gallery.ids() == ["a"]


@pytest.mark.parametrize("limit", [0, 20_000])
def test_a_full_disk_while_creating_leaves_nothing(path: Path, limit: int) -> None:
    code = """
    try:
        Gallery(sys.argv[1], create=True)
    except LookalikeError as error:
        print(type(error).__name__)
    """
    assert children.run(code, path, before=children.small_files(limit)) == "StorageFailed"
    assert list(path.parent.iterdir()) == []


READ_AND_WRITE = """
with Gallery(sys.argv[1]) as gallery:
    print(gallery.ids(), [each.id for each in gallery.sets()], gallery._opened.connection.frozen is not None)
    try:
        gallery.add(FaceSet("b", faces(2)))
    except LookalikeError as error:
        print(type(error).__name__, "|", error)
"""


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o400, 0o700), (0o600, 0o500), (0o400, 0o500)])
def test_read_only(tmp_path: Path, obeying, file_mode: int, folder_mode: int) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "x.gallery"
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("a"))
    before = path.read_bytes()
    path.chmod(file_mode)
    folder.chmod(folder_mode)
    try:
        said = children.run(READ_AND_WRITE, path, before=obeying)
    finally:
        folder.chmod(0o700)
    read, written = said.splitlines()
    assert read == f"['a'] ['a'] {folder_mode == 0o500}"
    assert re.match(r"StorageFailed \| .*x.gallery can be read but not written.*: copy it", written)
    assert path.read_bytes() == before


def test_permission_refused(tmp_path: Path, obeying) -> None:
    code = """
    for path in sys.argv[1:]:
        try:
            Gallery(path, create=True)
        except LookalikeError as error:
            print(type(error).__name__, "|", error)
    """
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o555)
    secret = tmp_path / "secret.gallery"
    Gallery(secret, create=True).close()
    secret.chmod(0o000)
    lines = children.run(code, folder / "new.gallery", secret, before=obeying).splitlines()
    assert len(lines) == 2
    for line in lines:
        assert re.match(
            r"StorageFailed \| permission to use .*gallery was refused \(Permission denied\)", line
        )
    assert list(folder.iterdir()) == []


def test_an_unread_journal_in_a_read_only_folder(tmp_path: Path, obeying) -> None:
    living = tmp_path / "x.gallery"
    copies = tmp_path / "copies"
    copies.mkdir()
    with Gallery(living, create=True) as gallery:
        gallery.add(a_set("a"))
        for suffix in ("", "-wal"):
            shutil.copy(f"{living}{suffix}", copies)
    code = """
    try:
        Gallery(sys.argv[1])
    except LookalikeError as error:
        print(type(error).__name__, "|", error)
    """
    copies.chmod(0o555)
    said = children.run(code, copies / "x.gallery", before=obeying)
    copies.chmod(0o755)
    assert re.match(r"StorageFailed \| .* has changes in x.gallery-wal .*: copy both files", said)
    with Gallery(copies / "x.gallery") as gallery:
        assert gallery.ids() == ["a"]


def test_a_frozen_gallery_that_changes_is_not_trusted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("a"))
    with Gallery(path) as gallery:
        gallery._opened.connection.frozen = connection._last_change(path)
        assert gallery.ids() == ["a"]
        os.utime(path, ns=(1, 1))
        with pytest.raises(StorageFailed, match="was changed by another process while it was read"):
            gallery.ids()


def test_litter_is_not_obeyed(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.add(a_set("a"))
    for name in (".new-gallery-0000000000000000", ".DS_Store", "x.gallery-journal.old", "x.gallery.lock"):
        (path.parent / name).write_bytes(b"litter")
    with Gallery(path) as gallery:
        assert gallery.ids() == ["a"]
    assert len(list(path.parent.iterdir())) == 5


def test_a_change_that_the_disk_did_not_confirm_may_have_been_kept(tmp_path):
    """T3: `forget` said that it was refused, and when it was repeated the sets were gone."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
    said = str(from_sqlite(error, tmp_path / "g"))
    assert "did not confirm a change" in said
    assert "whether it was kept shows when it is opened again" in said


# Opening a gallery a second time in one process must not drop the locks of the first.


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
    assert _header_of(file, 4) == b"0123"
    first, second = _hold(file), _hold(file)
    os.link(file, tmp_path / "another name")
    assert _header_of(tmp_path / "another name", 4) is None
    _release(first)
    assert _header_of(file, 4) is None
    _release(second)
    assert _header_of(file, 4) == b"0123"


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
