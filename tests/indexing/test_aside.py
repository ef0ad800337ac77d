"""Tables are finished or absent, through kills, other processes, full disks; litter is told from work."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import StorageFailed
from lookalike.indexing import manifest
from lookalike.indexing.store import TableStore, unfinished
from tests.gallery import children
from tests.gallery.samples import files, some_arrays, wrong
from tests.waiting import PATIENCE

KIND = "max_max:samples=10"


def test_work_of_the_living_is_not_litter(store: TableStore) -> None:
    store.save(KIND, "a", {}, {})
    parent = store.load(KIND, "a").path.parent
    with unfinished(parent) as working:
        store.keep_only(KIND, "a")
        assert working.exists()
    assert not working.exists()


def test_kill_while_saving(store: TableStore) -> None:
    store.save(KIND, "kept", some_arrays(), {})
    child = children.start(
        """
        import os, signal
        from lookalike.indexing import manifest
        manifest.write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        TableStore(sys.argv[1]).save(sys.argv[2], "new", {"x": faces(1)}, {})
        """,
        store.folder,
        KIND,
    )
    child.communicate(timeout=PATIENCE)
    assert child.returncode == -9
    assert store.load(KIND, "new") is None
    assert store.latest(KIND).fingerprint == "kept"
    parent = store.latest(KIND).path.parent
    assert len(list(parent.iterdir())) == 2
    store.keep_only(KIND, "kept")
    assert [each.name for each in parent.iterdir()] == ["kept"]


def test_processes_save_at_once(store: TableStore) -> None:
    code = """
    from tests.gallery.samples import wrong
    store = TableStore(sys.argv[1])
    for number in range(10):
        stored = store.save("kind", f"f{number}", {"x": faces(number), "y": faces(-1 - number + 99)}, {})
        assert wrong(stored) == []
        store.keep_only("other", "none")
    """
    workers = [children.start(code, store.folder) for _ in range(3)]
    for worker in workers:
        _, err = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 0, err
    assert len(files(store.folder)) == 40


SAVE = """
store = TableStore(sys.argv[1])
try:
    store.save("kind", "new", {"small": faces(1), "x": faces(2, 500, 100)}, {})
except LookalikeError as error:
    print(type(error).__name__, "|", error)
"""


def test_disk_full(store: TableStore) -> None:
    full = r"StorageFailed \| the disk holding .*derived is full: free some space"
    assert re.match(full, children.run(SAVE, store.folder, before=children.small_files(20_000)))
    assert not store.folder.exists()
    store.save("kind", "old", {}, {})
    before = files(store.folder)
    assert re.match(full, children.run(SAVE, store.folder, before=children.small_files(20_000)))
    assert files(store.folder) == before
    assert [each.name for each in store.latest("kind").path.parent.iterdir()] == ["old"]
    assert children.run(SAVE, store.folder) == ""
    assert store.latest("kind").fingerprint == "new"


def test_read_only_folder(tmp_path: Path, obeying) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o555)
    said = children.run(SAVE, folder / "x.derived", before=obeying)
    assert re.match(r"StorageFailed \| permission to use .*x.derived was refused \(Permission denied\)", said)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("step", range(1, 6))
def test_every_sync_may_fail(
    store: TableStore, monkeypatch: pytest.MonkeyPatch, code: int, step: int
) -> None:
    """Fail the n-th fsync of a save into an existing store: an error in words, nothing visible changed."""
    store.save("kind", "old", {}, {})
    before = files(store.folder)
    calls = 0
    fsync = os.fsync

    def failing(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls == step:
            raise OSError(code, os.strerror(code))
        fsync(handle)

    arrays = {"x": np.zeros(3), "y": np.ones(3)}
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing)
        # Two arrays, the manifest, their folder: after these four the table is shown.
        if step <= 4:
            with pytest.raises(StorageFailed):
                store.save("kind", "new", arrays, {})
            assert files(store.folder) == before
            assert store.load("kind", "new") is None
        elif step == 5:
            # The table can be seen already, but a power cut could still take it back: that is an error too.
            with pytest.raises(StorageFailed):
                store.save("kind", "new", arrays, {})
    assert wrong(store.save("kind", "new", arrays, {})) == []
    assert manifest.NAME in os.listdir(store.load("kind", "new").path)
