"""A table that says what cannot be is made again before anything is searched in it; looked through once."""

from __future__ import annotations

import logging
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike import Gallery, find, index, indexing, soundness
from lookalike.collection import checked
from lookalike.collection.tables import TableStore
from lookalike.errors import StorageFailed
from lookalike.faceset import FaceSet
from lookalike.preparing import prepare
from tests.collection.samples import some_arrays
from trust import held
from trust.planting import IN_LEARNT, IN_TABLE, plant_in_table

KIND = "max_max:samples=10"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("template")
    held.fill(folder / held.NAME)
    with Gallery(folder / held.NAME) as gallery:
        return folder, held.ranked(gallery)


@pytest.fixture
def copy(template: tuple[Path, str], tmp_path: Path) -> Path:
    return shutil.copytree(template[0], tmp_path / "work") / held.NAME


@pytest.mark.parametrize("name", [*IN_TABLE, *IN_LEARNT])
def test_what_contradicts_itself_is_made_again(
    template: tuple[Path, str], copy: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    is_learnt = name in IN_LEARNT
    plant_in_table(copy, (IN_LEARNT if is_learnt else IN_TABLE)[name], random.Random(name), learnt=is_learnt)
    with Gallery(copy) as gallery:
        assert held.ranked(gallery) == template[1]
        caplog.clear()
        assert held.ranked(gallery) == template[1]
        assert not caplog.records  # what is there now is good
    assert not list(copy.parent.rglob(".writing-*"))


def test_it_is_told_in_the_log(copy: Path, caplog: pytest.LogCaptureFixture) -> None:
    plant_in_table(copy, IN_TABLE["a proxy that does not exist"], random.Random(0))
    with Gallery(copy) as gallery:
        find("clip-003", gallery)
    assert "a neighbour is a set that does not exist" in caplog.text


def test_an_old_table_that_contradicts_itself_is_not_carried_over(copy: Path) -> None:
    plant_in_table(copy, IN_TABLE["a proxy that does not exist"], random.Random(0))
    new = FaceSet("new", held.OUTSIDE.faces)
    with Gallery(copy) as gallery:
        gallery.add(new)
        carried = index(gallery)
        TableStore.beside(copy).drop()
        again = index(gallery)
        np.testing.assert_array_equal(carried.neighbours.sets, again.neighbours.sets)
        np.testing.assert_array_equal(carried.neighbours.scores, again.neighbours.scores)


def test_a_preparation_that_is_no_number_is_learnt_again(copy: Path) -> None:
    store = TableStore.beside(copy)
    with Gallery(copy) as gallery:
        learnt = prepare(gallery, "whitened:dimension=3").to_arrays()
        [stored] = [one for one in store.stored() if one.manifest.kind.startswith("preparation")]
        arrays = {name: np.array(array) for name, array in stored.arrays.items()}
        arrays["table"][0, 0] = np.nan
        facts = dict(stored.facts)
        shutil.rmtree(stored.path)
        store.save(stored.manifest.kind, stored.fingerprint, arrays, facts)
        again = prepare(gallery, "whitened:dimension=3").to_arrays()
    for name, array in learnt.items():
        np.testing.assert_array_equal(again[name], array)


def test_an_index_is_looked_through_once(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []

    def counting(*given: object) -> Iterator[str]:
        looked.append(given)
        return soundness.index_faults(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(indexing, "index_faults", counting)
    with Gallery(copy) as gallery:
        TableStore.beside(copy).drop()
        index(gallery)
        assert not looked  # it was just made
        for _ in range(3):
            index(gallery)
        assert len(looked) == 1
        [stored] = TableStore.beside(copy).stored()
        (stored.path / "0001.npy").touch()
        index(gallery)
        assert len(looked) == 2


# The store.


def test_what_somebody_complains_of_is_deleted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = TableStore(tmp_path / "t")
    path = store.save(KIND, "f0", some_arrays(), {}).path
    with caplog.at_level(logging.WARNING):
        assert store.load(KIND, "f0", lambda stored: ["it is blue"]) is None
    assert "it is blue" in caplog.text
    assert not path.exists()
    path = store.save(KIND, "f0", some_arrays(), {}).path
    assert store.latest(KIND, look=lambda stored: stored.arrays["no such array"].any() and []) is None
    assert not path.exists()


def test_what_could_not_be_looked_through_stays(tmp_path: Path) -> None:
    """Too little memory says nothing about a table."""
    store = TableStore(tmp_path / "t")
    path = store.save(KIND, "f0", some_arrays(), {}).path
    for reason in (StorageFailed("no room"), MemoryError()):

        def look(stored: object, reason: BaseException = reason) -> Iterator[str]:
            raise reason

        with pytest.raises(type(reason)):
            store.load(KIND, "f0", look)
    assert store.load(KIND, "f0", lambda stored: []) is not None
    assert path.exists()


def test_a_note_that_is_lost_is_made_again(tmp_path: Path) -> None:
    store, looked = TableStore(tmp_path / "t"), []
    path = store.save(KIND, "f0", some_arrays(), {}).path
    for _ in range(2):
        (path / checked.NAME).unlink()
        for _ in range(3):
            assert store.load(KIND, "f0", lambda stored: looked.append(stored) or []) is not None
    assert len(looked) == 2
