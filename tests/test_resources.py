"""Room: what is free is told by whoever leaves least, and too little is said before the work."""

from __future__ import annotations

import os
import resource
import shutil
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, index, registry, resources, train
from lookalike.errors import StorageFailed
from lookalike.indexing.store import TableStore
from lookalike.method.neighbours import nearest_lists
from lookalike.resources import Need
from lookalike.similarities.max_max import MaxMax
from tests.announced import first_task
from tests.cli_process import Ready, tree
from tests.small_world import small_world


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 8 GB of free memory without control groups."""
    monkeypatch.setattr(resources, "PROC", tmp_path / "proc")
    monkeypatch.setattr(resources, "CGROUPS", tmp_path / "cgroup")
    write(
        tmp_path / "proc" / "meminfo",
        "MemTotal:  16000000 kB\nMemAvailable:  8000000 kB\nHugePages_Total: 0\n",
    )
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_free_memory_of_the_system(proc: Path) -> None:
    assert resources.free_memory() == 8_192_000_000


def test_memory_of_the_machine_and_of_this_process(proc: Path) -> None:
    assert resources.memory_of_machine() == (16_384_000_000, 8_192_000_000)
    write(proc / "proc" / "self" / "statm", "9 7 5 3 1 1 0\n")
    assert resources.own_memory() == 7 * os.sysconf("SC_PAGE_SIZE")
    write(proc / "proc" / "meminfo", "")
    (proc / "proc" / "self" / "statm").unlink()
    assert (resources.memory_of_machine(), resources.own_memory()) == (None, None)


def test_a_container_leaves_less(proc: Path) -> None:
    write(proc / "proc" / "self" / "cgroup", "0::/outer/inner\n")
    for name, limit, used in (("outer", "3000", "1000"), ("outer/inner", "max", "500")):
        write(proc / "cgroup" / name / "memory.max", f"{limit}\n")
        write(proc / "cgroup" / name / "memory.current", f"{used}\n")
    write(proc / "cgroup" / "outer" / "memory.stat", "anon 600\nactive_file 30\ninactive_file 4\n")
    assert resources.free_memory() == 3000 - 1000 + 34, "files that were read are given back"


def test_a_container_of_the_older_kind_sees_its_own_root_only(proc: Path) -> None:
    write(proc / "proc" / "self" / "cgroup", "4:memory:/docker/abc\n3:cpuset:/\n0::/\n")
    write(proc / "cgroup" / "memory" / "memory.limit_in_bytes", "5000\n")
    write(proc / "cgroup" / "memory" / "memory.usage_in_bytes", "4500\n")
    write(proc / "cgroup" / "memory" / "memory.stat", "inactive_file 1\ntotal_inactive_file 7\n")
    assert resources.free_memory() == 507


def test_nonsense_is_no_limit(proc: Path) -> None:
    write(proc / "proc" / "self" / "cgroup", "0::/a\n")
    write(proc / "cgroup" / "a" / "memory.max", "much\n")
    assert resources.free_memory() == 8_192_000_000
    write(proc / "proc" / "meminfo", "")
    free = resources.free_memory()
    assert free is not None
    assert free > 0, "the pages that the C library counts"


def test_unknown_is_not_refused(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (proc / "proc" / "meminfo").unlink()
    monkeypatch.delattr(os, "sysconf")
    assert resources.free_memory() is None
    monkeypatch.setattr(shutil, "disk_usage", refusing)
    assert resources.free_disk(proc) is None
    resources.check("anything", Need(10**18, 10**18), proc)


def refusing(*_: object) -> None:
    raise OSError


def test_free_memory_here_is_a_number() -> None:
    free = resources.free_memory()
    assert free is None or 0 <= free < 10**14


def test_free_disk_of_what_will_be(tmp_path: Path) -> None:
    free = resources.free_disk(tmp_path / "not" / "yet")
    assert free == pytest.approx(shutil.disk_usage(tmp_path).free, rel=0.1)


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (0, "0 kB"),
        (31_400, "31 kB"),
        (1_500_000, "1.5 MB"),
        (31_400_000, "31 MB"),
        (1_620_000_000, "1.6 GB"),
        (52_000_000_000, "52 GB"),
    ],
)
def test_in_words(size: int, said: str) -> None:
    assert resources.in_words(size) == said
    assert str(Need(size, size)) == f"about {said} of memory, {said} of disk"


# What an index needs.


def filled(path: Path, sets: list[FaceSet]) -> Gallery:
    gallery = Gallery(path, create=True)
    for faceset in sets:
        gallery.add(faceset)
    return gallery


def drawn(count: int, dimension: int) -> list[FaceSet]:
    """Sets of very different size, as films are."""
    rng = np.random.default_rng(3)
    sizes = 2 + rng.geometric(1 / 15, size=count)
    return [FaceSet(f"s{number:04d}", rng.random((size, dimension))) for number, size in enumerate(sizes)]


@pytest.mark.parametrize("name", ["max_max", "max_correlation", "dffs", "max_max:samples=0"])
@pytest.mark.parametrize(("count", "dimension"), [(12, 30), (300, 60)])
def test_what_is_stored_is_what_was_estimated(tmp_path: Path, name: str, count: int, dimension: int) -> None:
    similarity = registry.build("similarities", name)
    with filled(tmp_path / "g", drawn(count, dimension)) as gallery:
        for more in range(2):  # by a few sets, then by the older tables
            announced = first_task(index, gallery, similarity)
            assert announced is not None
            need = announced.need
            assert need is not None
            index(gallery, similarity)
            assert first_task(index, gallery, similarity) is None
            [stored] = TableStore.beside(gallery.path).stored()
            sizes = {name: array.nbytes for name, array in stored.arrays.items()}
            lists = sum(size for name, size in sizes.items() if name.startswith("neighbours/"))
            # The state of unfinished work is kept beside what was kept before.
            stored_at_most = sum(sizes.values()) + 2 * lists
            assert sum(sizes.values()) / 2 < need.disk < 2 * stored_at_most
            assert need.memory > sum(size for name, size in sizes.items() if name.startswith("prepared/"))
            gallery.add(FaceSet(f"more {more}", np.ones((3, dimension)) + np.eye(3, dimension)))


def kept(folder: Path) -> dict[str, str]:
    """Everything but the shared memory of SQLite, which knows who is reading."""
    return {name: held for name, held in tree(folder).items() if not name.endswith("-shm")}


class Told(MaxMax):
    """Tells how many sets were prepared."""

    prepared = 0

    def prepare(self, faces):  # type: ignore[no-untyped-def]
        Told.prepared += 1
        return super().prepare(faces)


@pytest.mark.parametrize("there", ["nothing", "an older index"])
@pytest.mark.parametrize("lacks", ["memory", "disk"])
def test_too_little_room_is_said_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: str, there: str
) -> None:
    sets, _ = small_world(people=30)
    with filled(tmp_path / "g", sets[:-1]) as gallery:
        if there != "nothing":
            index(gallery, Told())
        gallery.add(sets[-1])
        before, Told.prepared = kept(tmp_path), 0
        with monkeypatch.context() as patch:
            patch.setattr(resources, f"free_{lacks}", lambda *_: 3000)
            said = r"indexing 90 sets by .* needs about [0-9.]+ [kM]B .* and 3 kB is free: "
            with pytest.raises(StorageFailed, match=said):
                index(gallery, Told(), pytest.fail)
        assert Told.prepared <= 5, "a few sets tell the size of all"
        assert kept(tmp_path) == before
        index(gallery, Told())


def test_longer_lists_are_refused_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sets, _ = small_world(people=30)
    tables = index(sets)
    monkeypatch.setattr(resources, "free_memory", lambda: 1000)
    with pytest.raises(
        StorageFailed, match=r"comparing 90 sets needs about [0-9.]+ MB of memory and 1 kB is"
    ):
        nearest_lists(tables, 80)
    assert tables.longer == []
    with pytest.raises(StorageFailed, match="comparing 90 sets"):
        train(tables, "diffusion:neighbours=80")
    nearest_lists(tables, 64)  # the index has them


def test_a_limit_of_the_process_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**15, 10**15))
    monkeypatch.setattr(resources, "_system", lambda: iter(()))
    monkeypatch.setattr(resources, "_groups", lambda: iter(()))
    free = resources.free_memory()
    assert free is not None
    assert 10**15 - 10**13 < free < 10**15


# 800 MB more than the process has already; threads reserve much of it without using it.
LITTLE_MEMORY = """
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 800_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell what is used")
def test_a_command_ends_before_it_begins(tmp_path: Path) -> None:
    """40 sets of 1500 faces, whose tables of agreement have 1500 x 1500 numbers each: 0.7 GB, twice."""
    rng = np.random.default_rng(0)
    filled(tmp_path / "g", [FaceSet(str(one), rng.normal(size=(1500, 4))) for one in range(40)]).close()
    before, ready = tree(tmp_path), Ready()
    try:
        words = ("index", "g", "--similarity", "max_max:samples=0")
        ended = ready.run(*words, cwd=tmp_path, before=LITTLE_MEMORY, LOOKALIKE_THREADS="1")
    finally:
        ready.close()
    assert ended.code == 7
    told, refused = ended.err.splitlines()
    assert told.startswith("indexing 40 sets by max_max:samples=0, which is kept: about 1.5 GB of memory, ")
    assert refused.startswith("lookalike: indexing 40 sets by max_max:samples=0")
    assert " needs about 1.5 GB of memory and " in refused
    assert tree(tmp_path) == before
