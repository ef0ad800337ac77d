"""Damaged tables are named and made again, a kill leaves the old ones: rankings stay what they were."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import FaceSet, Gallery, Ranking, find, index
from lookalike.indexing.store import StoredTables, TableStore
from tests.gallery import children
from tests.gallery.samples import flip
from tests.indexing.test_build import same_bits
from tests.small_world import small_world

OUTSIDE = FaceSet("outside", small_world(people=2, seed=9)[0][0].faces)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Ranking]]:
    """A gallery, indexed and trained, and what it answers."""
    path = tmp_path_factory.mktemp("made") / "g"
    with Gallery(path, create=True) as gallery:
        for faceset in small_world(people=6, sets=4, faces=3)[0]:
            gallery.add(faceset)
        return path, answers(gallery)


def answers(gallery: Gallery) -> list[Ranking]:
    return [find(query, gallery) for query in ("clip-003", OUTSIDE)]


@pytest.fixture
def copy(made: tuple[Path, list[Ranking]], tmp_path: Path) -> Iterator[Path]:
    """A gallery of one's own with tables that are found good before they are damaged."""
    shutil.copy(made[0], tmp_path / "g")
    shutil.copytree(f"{made[0]}.derived", tmp_path / "g.derived")
    with Gallery(tmp_path / "g") as gallery:
        assert answers(gallery) == made[1]
    return tmp_path / "g"


def derived(path: Path) -> list[Path]:
    return sorted(file for file in Path(f"{path}.derived").rglob("*") if file.is_file())


def named(file: Path) -> str:
    """How a file is told: an array by its name and file."""
    arrays = json.loads((file.parent / "manifest.json").read_bytes())["arrays"]
    return next(
        (f"array {name!r} in {file.name}" for name, each in arrays.items() if each["file"] == file.name),
        file.name,
    )


def zero(file: Path) -> None:
    content = bytearray(file.read_bytes())
    # From the end of the header on, which has letters: an array may be all zero.
    start = min(len(content) // 3, 100)
    content[start : start + 40] = bytes(40)
    file.write_bytes(content)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "first byte": lambda file: flip(file, 0),
    "middle": lambda file: flip(file, file.stat().st_size // 2),
    "last byte": lambda file: flip(file, -1),
    "cut": lambda file: os.truncate(file, file.stat().st_size - 2),
    "emptied": lambda file: os.truncate(file, 0),
    "zeroed": zero,
    "deleted": lambda file: file.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_file_may_be_damaged(
    copy: Path, made: tuple[Path, list[Ranking]], damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    names = [str(file.relative_to(copy.parent)) for file in derived(copy)]
    assert len(names) > 20
    for name in names:
        file = copy.parent / name
        said = named(file)
        before = file.read_bytes()
        DAMAGES[damage](file)
        caplog.clear()
        with Gallery(copy) as gallery, caplog.at_level(logging.WARNING):
            assert answers(gallery) == made[1], name
        if file.suffix == ".npy":
            assert [record.message for record in caplog.records] == [
                f"the table in {file.parent} is damaged and is made again: {said} is not as it was saved"
            ]
            assert file.read_bytes() == before
        elif file.name == "manifest.json":
            [record] = caplog.records
            assert "manifest.json is of no use" in record.message
        else:
            assert caplog.text == "", "a note is not missed"
    assert [str(file.relative_to(copy.parent)) for file in derived(copy)] == names


def test_files_may_be_exchanged(
    copy: Path, made: tuple[Path, list[Ranking]], caplog: pytest.LogCaptureFixture
) -> None:
    folders = sorted({file.parent for file in derived(copy)})
    for folder in folders:
        arrays = sorted(folder.glob("*.npy"))
        for one, other in pairwise(arrays):
            same = one.read_bytes() == other.read_bytes()
            one.rename(folder / "between")
            other.rename(one)
            (folder / "between").rename(other)
            caplog.clear()
            with Gallery(copy) as gallery, caplog.at_level(logging.WARNING):
                assert answers(gallery) == made[1]
            assert len(caplog.records) == (not same)
    # The same file of two tables, manifests and notes too.
    for name in ("0000.npy", "manifest.json", "checked.json"):
        one, other = (folder / name for folder in folders[:2])
        contents = one.read_bytes(), other.read_bytes()
        one.write_bytes(contents[1])
        other.write_bytes(contents[0])
        with Gallery(copy) as gallery:
            assert answers(gallery) == made[1]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 999), st.integers(0, 99_999), st.sampled_from([1, 2, 16, 128]))
def test_any_bit_may_flip(
    own: Path, made: tuple[Path, list[Ranking]], number: int, place: int, bit: int
) -> None:
    files = derived(own)
    file = files[number % len(files)]
    flip(file, place % file.stat().st_size, bit)
    with Gallery(own) as gallery:
        assert answers(gallery) == made[1]


@pytest.fixture(scope="module")
def own(made: tuple[Path, list[Ranking]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    shutil.copy(made[0], folder / "g")
    shutil.copytree(f"{made[0]}.derived", folder / "g.derived")
    return folder / "g"


@pytest.mark.parametrize("damage", ["middle", "cut", "deleted"])
def test_damage_is_not_carried_over_when_sets_are_added(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    sets, _ = small_world(people=4)
    for number in count():
        path = tmp_path / f"g{number}"
        with Gallery(path, create=True) as gallery:
            for faceset in sets[:-1]:
                gallery.add(faceset)
            index(gallery)
            [stored] = TableStore.beside(path).stored()
            files = sorted(each for each in stored.path.iterdir() if each.name != "checked.json")
            if number >= len(files):
                return
            said = named(files[number])
            DAMAGES[damage](files[number])
            gallery.add(sets[-1])
            caplog.clear()
            same_bits(index(gallery), index(sets))
            assert said in caplog.text
            assert len(caplog.records) == 1


# Interruptions.

KILLED_AT_EVERY_STEP = """
import os, shutil, signal
from itertools import count
from lookalike import index
from lookalike.similarities.max_max import MaxMax
from lookalike import registry

STEPS = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir")

def die_at(step):
    left = [step]
    def hook(event, given):
        if event in STEPS and ".derived" in str(given[0]):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)

folder, kind = Path(sys.argv[1]), registry.spec(MaxMax())
with Gallery(folder / "g", create=True) as gallery:
    for number in range(9):
        gallery.add(FaceSet(f"s{number}", faces(number)))
    old = index(gallery)
    for number in range(9, 11):
        gallery.add(FaceSet(f"s{number}", faces(number)))
    sets = list(gallery.sets())
fresh = index(sets)
for step in count():
    work = folder / "work"
    shutil.copytree(folder, work, ignore=lambda *_: ["work"])
    child = os.fork()
    if child == 0:
        with Gallery(work / "g") as gallery:
            die_at(step)
            index(gallery)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found = TableStore.beside(work / "g").latest(kind)
    assert found is not None, step
    assert found.facts["similarity"] == kind
    before = len(found.arrays["hashes"])
    assert before in (9, 11), step
    with Gallery(work / "g") as gallery:
        now = index(gallery)
    assert now.ids == fresh.ids
    for mine, its in zip(now.neighbours, fresh.neighbours):
        np.testing.assert_array_equal(mine, its)
    [kept] = TableStore.beside(work / "g").stored()
    assert len(list(kept.path.parent.iterdir())) == 1, (step, list(kept.path.parent.iterdir()))
    print(before)
    shutil.rmtree(work)
    if code == 0:
        break
"""


def test_a_kill_at_any_step_leaves_the_old_index_until_the_new_one_is_complete(tmp_path: Path) -> None:
    sizes = children.run(KILLED_AT_EVERY_STEP, tmp_path).split()
    assert len(sizes) > 40
    # Whether a note is written depends on the clock, so the new one may appear a step earlier or later.
    assert (sizes[0], sizes[-1]) == ("9", "11")
    assert set(sizes) == {"9", "11"}


def test_an_interruption_at_any_moment_leaves_the_old_index(tmp_path: Path) -> None:
    sets, _ = small_world(people=4)
    fresh = index(sets)
    for step in count():
        path = tmp_path / f"g{step}"
        left = [step]

        def interrupting(items, text, total, left=left):  # type: ignore[no-untyped-def]
            for item in items:
                left[0] -= 1
                if left[0] < 0:
                    raise KeyboardInterrupt
                yield item

        with Gallery(path, create=True) as gallery:
            for faceset in sets[:-2]:
                gallery.add(faceset)
            old = index(gallery).fingerprint
            for faceset in sets[-2:]:
                gallery.add(faceset)
            try:
                index(gallery, track=interrupting)
            except KeyboardInterrupt:
                [stored] = TableStore.beside(path).stored()
                assert stored.fingerprint == old
                same_bits(index(gallery), fresh)
            else:
                break
    assert step == 4, "two sets to prepare, two to compare"


def test_a_slow_reader_leaves_the_table_that_somebody_else_made_meanwhile(tmp_path: Path) -> None:
    sets, _ = small_world(people=4)
    path = tmp_path / "g"
    with Gallery(path, create=True) as gallery:
        for faceset in sets[:-1]:
            gallery.add(faceset)
        index(gallery)
    load, meanwhile = TableStore.load, []

    def slowly(self: TableStore, *asked: Any) -> StoredTables | None:
        found = load(self, *asked)
        if not meanwhile:
            meanwhile.append(True)
            with Gallery(path) as other:
                other.add(sets[-1])
                index(other)
        return found

    with pytest.MonkeyPatch.context() as patch, Gallery(path) as gallery:
        patch.setattr(TableStore, "load", slowly)
        assert len(index(gallery)) == len(sets) - 1
    [stored] = TableStore.beside(path).stored()
    assert len(stored.arrays["hashes"]) == len(sets)


def test_a_table_behind_a_link_is_none(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "t")
    saved = store.save("k", "f", {"x": np.arange(3)}, {})
    saved.path.rename(tmp_path / "moved")
    saved.path.symlink_to(tmp_path / "moved")
    assert store.load("k", "f") is None
    assert store._quietly(saved.path, "k") is None
