"""What a shell does to a gallery: its file alone is moved, copied, overwritten, beside a foreign journal."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import threading
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from lookalike.errors import StorageFailed
from lookalike.faceset import FaceSet
from lookalike.gallery import journal
from lookalike.gallery.backup import backup
from lookalike.gallery.connection import Connection
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.journal import Commit, belongs
from lookalike.gallery.verify import verify
from tests.gallery import children
from tests.gallery.samples import a_set as faceset
from tests.waiting import PATIENCE, until

ADD_AND_STAY = """
gallery = Gallery(sys.argv[1], create=True)
for number in range(int(sys.argv[2])):
    gallery.add(FaceSet(f"{number:03d}", faces(number)))
    print(number, flush=True)
sys.stdin.read()
import time; time.sleep(600)
"""

ADD_ONE_BY_ONE = """
for number in range(25):
    with Gallery(sys.argv[1]) as gallery:
        gallery.add(FaceSet(f"{sys.argv[2]}{number}", faces(number)))
"""


def killed_after(path: Path, count: int) -> None:
    """A gallery whose writer was killed when so many sets were acknowledged."""
    child = children.start(ADD_AND_STAY, path, count)
    for _ in range(count):
        assert child.stdout.readline(), child.stderr.read()
    children.kill(child)


def state(path: Path) -> Commit | None:
    with path.open("rb") as file:
        return journal.in_file(file.fileno())


def test_a_closed_gallery_is_its_file(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as idle, Gallery(tmp_path / "g") as gallery:
        assert len(idle) == 0
        gallery.add(faceset("a"))
    # Somebody else still has it open, and yet:
    with Gallery(shutil.copy(tmp_path / "g", tmp_path / "copy")) as copy:
        assert (copy.ids(), copy.lacks) == (["a"], "")
    assert verify(tmp_path / "copy") == []


READ_AND_STAY = """
with Gallery(sys.argv[1])._opened.stream() as connection:
    connection.execute("SELECT count(*) FROM sets").fetchall()
    print("reading", flush=True)
    import time; time.sleep(600)
"""


def test_closed_by_the_last_one_though_a_reader_died_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, settle = tmp_path / "g", journal.settle
    with Gallery(path, create=True) as gallery:
        gallery.add(faceset("a"))
        child = children.start(READ_AND_STAY, path)
        assert child.stdout.readline(), child.stderr.read()
        gallery.add(faceset("b"))

        def settle_then_kill(connection: Connection, gallery: Path) -> bool:
            monkeypatch.setattr(journal, "settle", settle)
            is_settled = settle(connection, gallery)
            children.kill(child)
            return is_settled

        monkeypatch.setattr(journal, "settle", settle_then_kill)
    assert child.returncode is not None
    assert state(path).is_open is False
    assert journal.size_of(path) is None
    with Gallery(path) as gallery:
        assert (gallery.ids(), gallery.lacks) == (["a", "b"], "")
        gallery.add(faceset("c"))


def test_acknowledged_only_once_no_settled_commit_can_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file said that it was open, then, brought up to a commit that settled it, that it was done."""
    path = tmp_path / "g"
    with Gallery(path, create=True) as gallery:
        monkeypatch.setattr(gallery._opened, "_settle_soon", lambda: None)
        gallery.add(faceset("a"))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            settled = journal.count(other, is_open=False)
            other.execute("COMMIT")
        assert state(path).is_open
        assert state(path).number < settled.number
        gallery.add(faceset("b"))
        assert state(path).is_open
        assert state(path).number > settled.number
        with Gallery(shutil.copy(path, tmp_path / "copy")) as copy:
            assert copy.lacks or copy.ids() == ["a", "b"]


def without_commits(path: Path) -> None:
    """Let a gallery be as earlier versions left it, which did not count commits."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM facts WHERE name = 'commits'")
        connection.execute("VACUUM")  # what was deleted is not to be found in free space
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_the_file_of_an_earlier_version_tells_of_the_first_commit_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "g"
    with Gallery(path, create=True) as gallery:
        gallery.add(faceset("a"))
    without_commits(path)
    assert state(path) is None
    with Gallery(path) as gallery:
        monkeypatch.setattr(gallery._opened, "_settle_soon", lambda: None)
        for number, name in enumerate("bc"):
            gallery.add(faceset(name))
            with Gallery(shutil.copy(path, tmp_path / f"copy{number}")) as copy:
                assert copy.lacks or name in copy
        assert state(path).is_open


def test_a_reader_holds_up_a_commit_to_the_file_of_an_earlier_version_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SECONDS_FOR_READERS", 0.2)
    path = tmp_path / "g"
    with Gallery(path, create=True) as gallery:
        gallery.add(faceset("a"))
    without_commits(path)
    with Gallery(path) as gallery:
        monkeypatch.setattr(gallery._opened, "_settle_soon", lambda: None)
        with gallery._opened.stream() as reader:
            reader.execute("SELECT count(*) FROM sets").fetchall()
            gallery.add(faceset("b"))
            assert gallery._opened.connection.told.kept_at == journal.SAYS_NOTHING
            monkeypatch.setattr(journal, "SECONDS_FOR_READERS", PATIENCE)
            monkeypatch.setattr(journal, "SECONDS_BETWEEN_TRIES", PATIENCE)
            gallery.add(faceset("c"))
        gallery.add(faceset("d"))
        gallery.add(faceset("e"))
        assert state(path).is_open


@pytest.mark.parametrize("where", ["in_file", "in_journal"])
def test_what_is_kept_has_not_failed_though_nothing_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """As where all files that a process may open are taken, or a disk errs for a moment."""
    monkeypatch.setattr(journal, "SECONDS_FOR_READERS", 0.1)
    path, count, read = tmp_path / "g", Connection.count, getattr(journal, where)
    with Gallery(path, create=True) as gallery, Gallery(path) as other:
        gallery.add(faceset("a"))
        other.add(faceset("b"))  # so that the journal is asked, too

        def refused(*_: object) -> None:
            raise OSError(errno.EIO, "Input/output error")

        def count_and_refuse(connection: Connection) -> Commit:
            own = count(connection)
            monkeypatch.setattr(journal, where, refused)
            return own

        monkeypatch.setattr(Connection, "count", count_and_refuse)
        before = gallery._opened._written
        assert gallery.add(faceset("c")) is True
        monkeypatch.setattr(journal, where, read)
        monkeypatch.setattr(Connection, "count", count)
        assert gallery._opened._written > before
        assert gallery.ids() == ["a", "b", "c"]
    assert state(path).is_open is False


def test_only_what_was_kept_is_to_be_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        opened, soon = gallery._opened, []
        monkeypatch.setattr(opened, "_settle_soon", lambda: soon.append(1))
        with pytest.raises(ZeroDivisionError), opened.transaction(writing=True):
            raise ZeroDivisionError
        assert (soon, opened._written) == ([], 0.0)

        def overwritten(*_: object) -> None:
            raise StorageFailed("was overwritten")

        with monkeypatch.context() as patch:
            patch.setattr(journal, "show_open", overwritten)
            with pytest.raises(StorageFailed):
                gallery.add(faceset("a"))
        assert soon == [1]
        assert gallery.ids() == ["a"]


def test_of_a_journal_only_pages_with_facts_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        monkeypatch.setattr(gallery._opened, "_settle_soon", lambda: None)
        for number in range(5):
            gallery.add(faceset(f"{number}", pictures=[b"p" * 50_000] * 3))
        read, last = [], journal._last
        monkeypatch.setattr(journal, "_last", lambda page: read.append(len(page)) or last(page))
        known = journal.in_journal(tmp_path / "g")
        # All but the first, which is in the file.
        assert (len(known), len(read)) == (4, 4)
        assert all(before.mark == after.before for before, after in pairwise(known))
        assert sum(read) < (journal.size_of(tmp_path / "g") or 0) / 10


def test_several_processes_that_close_at_once_leave_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "g"
    Gallery(path, create=True).close()
    several = [children.start(ADD_ONE_BY_ONE, path, name) for name in "abcd"]
    for child in several:
        assert (child.wait(PATIENCE), child.stderr.read()) == (0, "")
        child.stdout.close()
        child.stderr.close()
    assert state(path).is_open is False
    with Gallery(path) as gallery:
        assert len(gallery) == 4 * 25


@pytest.mark.parametrize("commits", [0, 1, 5])
def test_a_file_that_is_overwritten_during_a_commit_is_not_mixed_with_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commits: int
) -> None:
    path, other = tmp_path / "g", tmp_path / "other"
    for one, names in ((path, "abc"), (other, "xy")):
        with Gallery(one, create=True) as gallery:
            for name in names:
                gallery.add(faceset(name))
    there, counted, count = other.read_bytes(), [], Connection.count

    def count_and_overwrite(connection: Connection) -> Commit:
        own = count(connection)
        counted.append(connection)
        if len(counted) == commits + 1:
            path.write_bytes(there)
        return own

    monkeypatch.setattr(Connection, "count", count_and_overwrite)
    gallery = Gallery(path)
    for number in range(commits):
        gallery.add(faceset(f"new{number}"))
    with pytest.raises(StorageFailed, match="was overwritten by another file"):
        gallery.add(faceset("too late"))
    gallery.close()
    assert path.read_bytes() == there


def test_a_long_journal_is_brought_in_before_anybody_is_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "LONG", 500_000)
    path, sizes = tmp_path / "g", []
    with Gallery(path, create=True) as gallery:
        monkeypatch.setattr(gallery._opened, "_settle_soon", lambda: None)
        for number in range(40):
            gallery.add(faceset(f"{number}"))
            sizes.append(journal.size_of(path) or 0)
    # One commit takes ten pages at most.
    assert 500_000 < max(sizes) < 500_000 + 10 * 16_500
    assert sum(after < before for before, after in pairwise(sizes)) >= 2


def test_an_idle_gallery_is_its_file(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        for name in "abc":
            gallery.add(faceset(name))
        until(lambda: not state(tmp_path / "g").is_open and journal.size_of(tmp_path / "g") == 0)
        with Gallery(shutil.copy(tmp_path / "g", tmp_path / "copy")) as copy:
            assert copy.ids() == ["a", "b", "c"]


def test_a_file_without_its_journal_says_so_and_takes_it_back(tmp_path: Path) -> None:
    killed_after(tmp_path / "g", 20)
    (tmp_path / "moved").mkdir()
    moved = (tmp_path / "g").rename(tmp_path / "moved" / "g")
    with Gallery(moved) as gallery:
        assert "lacks its journal" in gallery.lacks
        assert gallery.facts()["lacks"] == gallery.lacks
        with pytest.raises(StorageFailed, match="lacks its journal"):
            gallery.add(faceset("new"))
    [wrong] = [one for one in verify(moved) if not one.is_harmless]
    assert wrong.kind == "journal"
    assert "verify" in wrong.advice
    assert not journal.path_of(moved).exists(), "it was only read"
    journal.path_of(tmp_path / "g").rename(journal.path_of(moved))
    with Gallery(moved) as gallery:
        assert (len(gallery), gallery.lacks) == (20, "")
    assert verify(moved) == []


def test_a_file_without_its_journal_can_be_taken_as_it_is(tmp_path: Path) -> None:
    killed_after(tmp_path / "g", 20)
    journal.path_of(tmp_path / "g").unlink()
    journal.take_as_it_is(tmp_path / "g")
    with Gallery(tmp_path / "g") as gallery:
        assert not gallery.lacks
        gallery.add(faceset("new"))
    assert verify(tmp_path / "g") == []


@pytest.mark.parametrize(
    "which", ["another gallery", "an earlier copy", "a copy that went its own way", "a backup"]
)
def test_a_foreign_journal_is_set_aside(tmp_path: Path, which: str, caplog: pytest.LogCaptureFixture) -> None:
    path, other = tmp_path / "g", tmp_path / "other"
    with Gallery(path, create=True) as gallery:
        gallery.add(faceset("first"))
        backup(gallery, tmp_path / "backup")
    shutil.copy(path, other)
    if which == "a backup":
        other = tmp_path / "backup"
    if which == "another gallery":
        other.unlink()
    if which in ("another gallery", "a copy that went its own way"):
        with Gallery(other, create=True) as gallery:
            gallery.add(faceset("own"))
    if which == "an earlier copy":
        with Gallery(path) as gallery:
            gallery.add(faceset("second"))
    with Gallery(other) as gallery:
        expected = gallery.ids()
    killed_after(path, 20)
    path.unlink()
    shutil.copy(other, path)
    with Gallery(path) as gallery:
        assert (gallery.ids(), gallery.lacks) == (expected, "")
    assert "is not the journal of this file" in caplog.text
    assert [one for one in tmp_path.iterdir() if "of-another-file" in one.name]
    assert verify(path) == []


def test_a_gallery_that_is_overwritten_keeps_nothing_and_harms_nothing(tmp_path: Path) -> None:
    path, other = tmp_path / "g", tmp_path / "other"
    with Gallery(other, create=True) as gallery:
        gallery.add(faceset("other"))
    gallery = Gallery(path, create=True)
    gallery.add(faceset("a"))
    gallery.add(faceset("b"))
    path.write_bytes(other.read_bytes())  # as `cp` does: the same file, other bytes
    for _ in range(2):
        with pytest.raises(StorageFailed, match="was overwritten"):
            gallery.add(faceset("c"))
    with pytest.raises(StorageFailed, match="was overwritten"):
        gallery.ids()
    gallery.close()
    assert path.read_bytes() == other.read_bytes()


def test_what_is_refused_or_known_is_no_commit(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        gallery.add(faceset("a"))
    before = (tmp_path / "g").read_bytes()
    with Gallery(tmp_path / "g") as gallery:
        assert gallery.add(faceset("a")) is False
    assert (tmp_path / "g").read_bytes() == before


def test_commits_are_counted_and_marks_follow_each_other() -> None:
    chain = [Commit("g", 1, "a", "0", True), Commit("g", 2, "b", "a", True), Commit("g", 3, "c", "b", True)]
    assert belongs(chain[0], chain[1:])  # it goes on from the file
    assert belongs(chain[1], chain)  # some of it is in the file already
    assert not belongs(chain[0], chain[2:])  # one is missing between
    assert not belongs(Commit("g", 2, "x", "a", False), chain)  # another second commit
    assert belongs(None, chain)
    assert belongs(chain[0], [])


def test_several_threads_write_and_the_file_is_whole(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:

        def add(number: int) -> None:
            for one in range(10):
                gallery.add(FaceSet(f"{number}-{one}", faceset("x").faces))

        threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        until(lambda: not state(tmp_path / "g").is_open)
    with Gallery(shutil.copy(tmp_path / "g", tmp_path / "copy")) as copied:
        assert len(copied) == 40


INTERRUPTED = """
import gc, os, shutil
from lookalike.gallery import connection, journal
made, copy = Path(sys.argv[1]), Path(sys.argv[2])
ours = {connection.__file__, journal.__file__}

class Interrupted(BaseException):
    pass

def work(last):
    left = last
    def trace(frame, event, given):
        nonlocal left
        if frame.f_code.co_filename in ours and event == "line":
            left -= 1
            if not left:
                sys.settrace(None)
                raise Interrupted
        return trace
    with Gallery(copy) as gallery:
        gallery.add(FaceSet("more", faces(1)))
        sys.settrace(trace)
    sys.settrace(None)

for last in range(1, 1000):
    for file in copy.parent.glob(f"{copy.name}*"):
        file.unlink()
    shutil.copy(made, copy)
    child = os.fork()
    if not child:
        try:
            work(last)
            code = 0
        except Interrupted:
            code = 1
        gc.collect()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with Gallery(copy) as gallery:
        assert (gallery.lacks, len(gallery)) == ("", 2), last
    if not code:
        break
print(last)
"""


def test_interrupted_at_any_line_of_closing(tmp_path: Path) -> None:
    """SQLite deleted the empty journal of a file that said it had one, which could then only be read."""
    with Gallery(tmp_path / "made", create=True) as gallery:
        gallery.add(faceset("a"))
    assert int(children.run(INTERRUPTED, tmp_path / "made", tmp_path / "copy")) > 50


def test_a_gallery_that_nobody_closed_is_whole(tmp_path: Path) -> None:
    for way in ("del gallery", "sys.exit()", "raise SystemExit"):
        code = f"""
            gallery = Gallery(sys.argv[1], create=True)
            gallery.add(FaceSet("a", faces(1)))
            {way}
        """
        children.run(code, tmp_path / "g")
        with Gallery(tmp_path / "g") as gallery:
            assert (gallery.ids(), gallery.lacks) == (["a"], "")
