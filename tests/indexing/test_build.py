from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, index, registry
from lookalike.errors import BadInput, Conflict
from lookalike.indexing.build import index_states
from lookalike.indexing.store import TableStore
from lookalike.method.tables import Tables
from lookalike.similarities.contract import SetSimilarity
from lookalike.similarities.max_max import MaxMax
from tests.announced import is_indexed
from tests.small_world import small_world

SIMILARITIES = [*registry.names("similarities"), "max_max:half=true"]


def filled(path: Path, sets: list[FaceSet]) -> Gallery:
    gallery = Gallery(path, create=True)
    for faceset in sets:
        gallery.add(faceset)
    return gallery


def same_bits(one: Tables, other: Tables) -> None:
    assert one.ids == other.ids
    assert one.dimension == other.dimension
    whole, its_whole = one.sets[:], other.sets[:]
    for mine, theirs in ((whole.arrays, its_whole.arrays), (whole.starts, its_whole.starts)):
        assert mine.keys() == theirs.keys()
        for name, array in mine.items():
            np.testing.assert_array_equal(array, theirs[name])
    for array, its in zip(one.neighbours, other.neighbours, strict=True):
        np.testing.assert_array_equal(array, its)


class Counting(MaxMax):
    """Counts how many pairs of sets are compared."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs = 0

    def match_many(self, a, b):  # type: ignore[no-untyped-def]
        self.pairs += len(a) * len(b)
        return super().match_many(a, b)

    def match_near(self, a, b, *wanted):  # type: ignore[no-untyped-def]
        self.pairs += len(a) * len(b)
        return super().match_near(a, b, *wanted)


@pytest.mark.parametrize("name", SIMILARITIES)
def test_stored_index_is_the_one_in_memory(tmp_path: Path, name: str) -> None:
    sets, _ = small_world()
    with filled(tmp_path / "g", sets) as gallery:
        same_bits(index(gallery, name), index(sets, name))
        same_bits(index(gallery, name), index(sets[::-1], name))


@pytest.mark.parametrize("name", SIMILARITIES)
def test_updated_index_equals_a_fresh_one(tmp_path: Path, name: str) -> None:
    sets, _ = small_world(people=8)
    with filled(tmp_path / "g", sets[:15]) as gallery:
        index(gallery, name)
        for faceset in sets[15:]:
            gallery.add(faceset)
        gallery.remove([sets[2].id, sets[16].id])
        now = [one for number, one in enumerate(sets) if number not in (2, 16)]
        same_bits(index(gallery, name), index(now, name))


def test_adding_one_set_compares_it_with_each_set_once(tmp_path: Path) -> None:
    sets, _ = small_world(people=20)
    counting = Counting()
    with filled(tmp_path / "g", sets[:-1]) as gallery:
        index(gallery, counting)
        counting.pairs = 0
        gallery.add(sets[-1])
        index(gallery, counting)
        assert counting.pairs == len(sets) - 1
        index(gallery, counting)  # looks once at a few sets whether what was kept can be
        counting.pairs = 0
        index(gallery, counting)
        assert counting.pairs == 0, "an index that is up to date compares nothing"


def test_interrupted_work_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.method.tables.BLOCK_ROWS", 40)
    sets, _ = small_world(people=20)  # 60 sets of 4 faces: 6 runs of 10 sets, 21 blocks
    counting = Counting()

    def interrupted(items, text, total):  # type: ignore[no-untyped-def]
        for number, item in enumerate(items):
            yield item
            if text == "comparing sets" and number == 12:
                raise KeyboardInterrupt

    with filled(tmp_path / "g", sets) as gallery:
        with pytest.raises(KeyboardInterrupt):
            index(gallery, counting, interrupted)
        assert not is_indexed(gallery, counting)
        counting.pairs = 0
        found = index(gallery, counting)
        # Blocks 0 to 10 are the runs 0 and 1 against all later ones: they are not compared again.
        assert counting.pairs == sum(10 * (60 - 10 * run) for run in range(2, 6))
        same_bits(found, index(sets))
        assert [stored.facts.get("done") for stored in TableStore.beside(gallery.path).stored()] == [None]


def test_work_is_kept_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.method.tables.BLOCK_ROWS", 40)
    monkeypatch.setattr("lookalike.indexing.build.SECONDS_BETWEEN_KEEPING", 0.0)
    sets, _ = small_world(people=20)
    with filled(tmp_path / "g", sets) as gallery:
        same_bits(index(gallery), index(sets))


def test_changed_content_under_a_used_id_is_compared_again(tmp_path: Path) -> None:
    sets, _ = small_world(people=6)
    with filled(tmp_path / "g", sets) as gallery:
        index(gallery)
        gallery.remove([sets[0].id])
        changed = FaceSet(sets[0].id, sets[0].faces[::-1] * 2 + 0.1)
        gallery.add(changed)
        same_bits(index(gallery), index([changed, *sets[1:]]))


def test_old_tables_are_deleted_and_states_are_told(tmp_path: Path) -> None:
    sets, _ = small_world()
    with filled(tmp_path / "g", sets[:-1]) as gallery:
        similarity: SetSimilarity = registry.build("similarities", "max_max")
        assert not is_indexed(gallery, similarity)
        index(gallery, similarity)
        assert is_indexed(gallery, similarity)
        assert index_states(gallery) == [{"kind": registry.spec(similarity), "fits": True}]
        gallery.add(sets[-1])
        assert index_states(gallery) == [{"kind": registry.spec(similarity), "fits": False}]
        index(gallery, similarity)
        [stored] = TableStore.beside(gallery.path).stored()
        assert len(list(stored.path.parent.iterdir())) == 1


def test_damaged_tables_are_made_again(tmp_path: Path) -> None:
    sets, _ = small_world()
    with filled(tmp_path / "g", sets) as gallery:
        index(gallery)
        [stored] = TableStore.beside(gallery.path).stored()
        (stored.path / "0000.npy").write_bytes(b"nonsense")
        same_bits(index(gallery), index(sets))


def test_tables_are_mapped_not_read(tmp_path: Path) -> None:
    sets, _ = small_world()
    with filled(tmp_path / "g", sets) as gallery:
        faces = index(gallery).sets.arrays["faces"]
        assert isinstance(faces.base, mmap.mmap)
        assert not faces.flags.owndata


def test_half_precision_is_half_on_disk(tmp_path: Path) -> None:
    sets, _ = small_world()
    with filled(tmp_path / "g", sets) as gallery:
        sizes = []
        for name in ("max_max", "max_max:half=true"):
            index(gallery, name)
            stored = TableStore.beside(gallery.path).latest(
                registry.spec(registry.build("similarities", name))
            )
            assert stored is not None
            sizes.append(stored.arrays["prepared/faces"].nbytes)
        assert sizes[0] == 2 * sizes[1]


def test_nothing_to_index(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no sets"):
        index([])
    with Gallery(tmp_path / "g", create=True) as gallery, pytest.raises(BadInput, match="holds no sets"):
        index(gallery)


def test_sets_that_do_not_fit_together() -> None:
    sets, _ = small_world()
    with pytest.raises(Conflict, match="two sets are called"):
        index([*sets, sets[0]])
    with pytest.raises(BadInput, match=r"\[3, 12\] numbers"):
        index([*sets, FaceSet("short", [[1.0, 2.0, 3.0]])])


def test_a_set_that_cannot_be_prepared_is_named() -> None:
    sets, _ = small_world()
    with pytest.raises(BadInput, match="set 'still' cannot be compared by max_correlation"):
        index([*sets, FaceSet("still", sets[0].faces[:1])], "max_correlation:centre=True")
