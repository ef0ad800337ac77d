from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, index, open_search, registry, verify
from lookalike.errors import BadInput, NotFound
from lookalike.gallery.forget import remove
from lookalike.indexing import manifest
from lookalike.indexing.build import index_states
from lookalike.indexing.store import TableStore
from tests.canaries import traces
from tests.full_gallery import planted
from tests.indexing.test_build import same_bits
from tests.small_world import small_world

SIMILARITIES = registry.names("similarities")
# Numbers and words that are nowhere else: what is left of them would be found.
MARK = np.array([1234.5678, -8765.4321, 2468.1357], dtype="<f4")
PICTURE = b"\x89PNG a picture of somebody who wants to be forgotten"
ID = "wants-to-be-forgotten"


def marked(count: int = 4, dimension: int = 12) -> FaceSet:
    faces = np.random.default_rng(77).normal(size=(count, dimension)).astype(np.float32)
    faces[:, :3] = MARK
    return FaceSet(ID, faces, "/films/forgotten.mp4", ["forgotten-frame"] * count, [PICTURE] * count)


def world() -> list[FaceSet]:
    return small_world(people=4, sets=2)[0]


def clues(gallery: Gallery) -> dict[str, bytes]:
    """Everything that only the marked set has, in its own words and as each similarity prepares it."""
    found = {"picture": PICTURE, "mark": MARK.tobytes(), "hash": bytes.fromhex(marked().content_hash())}
    # The words are part of the id, the origin and the sources.
    found |= {"word": b"forgotten", "hash in words": marked().content_hash().encode()}
    for name in SIMILARITIES:
        tables = index(list(gallery.sets()), name)
        for key, array in tables.sets[tables.number(ID)].items():
            rows = array.reshape(len(array), -1) if array.ndim > 1 else array[None]
            if rows.dtype.kind == "f" and rows[0].nbytes >= 16:  # shorter ones are found anywhere
                found |= {f"{name} {key} {n}": row.tobytes() for n, row in enumerate(rows) if row.any()}
    return found


@pytest.fixture
def gallery(tmp_path: Path) -> Iterator[Gallery]:
    """Small sets, and among them the one with marks."""
    with Gallery(tmp_path / "g", create=True) as gallery:
        for faceset in [*world(), marked()]:
            gallery.add(faceset)
        yield gallery


def test_the_search_for_traces_finds_them(gallery: Gallery) -> None:
    """Otherwise that none are left would prove nothing: the file and every kind of table know the set."""
    looked_for = clues(gallery)
    for name in SIMILARITIES:
        index(gallery, name)
    gallery.close()
    found = traces(gallery.path.parent, looked_for)
    assert found.pop("g") >= {"picture", "mark", "word", "hash in words"}
    assert set(looked_for) == {"picture", "mark", "hash in words"} | set.union(*found.values())
    for known in ("word", "hash"):
        assert len({Path(path).parts[1] for path, what in found.items() if known in what}) == len(
            SIMILARITIES
        )


@pytest.mark.parametrize("closed", [True, False])
def test_a_removed_set_is_gone_everywhere(gallery: Gallery, closed: bool) -> None:
    looked_for = clues(gallery)
    for name in SIMILARITIES:
        open_search(gallery, name)
    open_search(gallery, seed=3)
    assert remove(gallery, [ID]) == [ID]
    assert ID not in gallery
    if closed:
        gallery.close()
    assert traces(gallery.path.parent, looked_for) == {}


@pytest.mark.parametrize("name", SIMILARITIES)
def test_the_index_is_the_one_of_what_is_left(gallery: Gallery, name: str) -> None:
    index(gallery, name)
    others = world()
    remove(gallery, [ID, others[3].id])
    [state] = index_states(gallery)
    assert state["fits"], "it was brought up to date, not only deleted"
    same_bits(index(gallery, name), index([*others[:3], *others[4:]], name))


def test_what_was_learnt_is_learnt_again_when_needed(gallery: Gallery) -> None:
    open_search(gallery)
    remove(gallery, [ID])
    assert [state["kind"] for state in index_states(gallery)] == [
        registry.spec(registry.build("similarities", "max_max"))
    ]
    others = world()
    ids = [one.id for one in others]
    assert list(open_search(gallery).find_many(ids)) == list(open_search(others).find_many(ids))


def test_removing_everything_leaves_nothing(gallery: Gallery) -> None:
    looked_for = clues(gallery)
    for name in SIMILARITIES:
        open_search(gallery, name)
    everything = gallery.ids()
    assert remove(gallery, everything[::-1]) == everything[::-1]
    assert len(gallery) == 0
    assert gallery.descriptor is None
    assert not Path(f"{gallery.path}.derived").exists()
    gallery.close()
    assert traces(gallery.path.parent, looked_for) == {}
    assert b"clip-" not in gallery.path.read_bytes()


def test_a_gallery_that_was_never_indexed(gallery: Gallery) -> None:
    looked_for = clues(gallery)
    remove(gallery, [ID])
    assert not Path(f"{gallery.path}.derived").exists()
    assert traces(gallery.path.parent, looked_for) == {}


def test_an_index_that_did_not_know_the_set_yet(gallery: Gallery) -> None:
    """Sets added after indexing are in no table; what was stale before is up to date afterwards."""
    index(gallery)
    late = FaceSet("late", small_world(seed=4)[0][0].faces)
    gallery.add(late)
    remove(gallery, ["late"])
    same_bits(index(gallery), index([*world(), marked()]))


@pytest.mark.parametrize(
    ("ids", "error"),
    [(["nobody"], NotFound), ([ID, "nobody"], NotFound), (["nobody", ID], NotFound), (ID, BadInput)],
)
def test_an_unknown_id_changes_nothing(gallery: Gallery, ids: list[str], error: type[Exception]) -> None:
    open_search(gallery)
    gallery.close()
    folder = gallery.path.parent
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with Gallery(gallery.path) as opened:
        with pytest.raises(error):
            remove(opened, ids)
        assert ID in opened
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_the_same_id_twice_and_none_at_all(gallery: Gallery) -> None:
    assert remove(gallery, []) == []
    assert remove(gallery, [ID, ID]) == [ID]
    with pytest.raises(NotFound, match="has no set 'wants-to-be-forgotten'"):
        remove(gallery, [ID])


def test_the_id_is_free_again(gallery: Gallery) -> None:
    index(gallery)
    remove(gallery, [ID])
    other = FaceSet(ID, marked().faces[:, ::-1])
    assert gallery.add(other)
    same_bits(index(gallery), index([*world(), other]))


def test_files_that_are_not_ours_stay(gallery: Gallery) -> None:
    index(gallery)
    store = TableStore.beside(gallery.path)
    letter = store.folder / "letter.txt"
    letter.write_text("mine")
    remove(gallery, gallery.ids())
    assert list(store.folder.rglob("*")) == [letter]


@pytest.mark.parametrize("gone", [ID, "late"])
def test_each_manifest_is_read_once(gallery: Gallery, monkeypatch: pytest.MonkeyPatch, gone: str) -> None:
    """Those of all tables that there are, and of each that is written instead."""
    for name in SIMILARITIES:
        index(gallery, name)
    index(gallery, preparation="within:dimension=6")
    open_search(gallery)
    gallery.add(FaceSet("late", small_world(seed=4)[0][0].faces))
    index(gallery, preparation="within:dimension=6")
    before = set(TableStore.beside(gallery.path).folder.glob("*/*/manifest.json"))
    assert len(before) > len(SIMILARITIES) + 1
    reads: Counter[Path] = Counter()
    read = manifest.read

    def counted(folder: Path) -> manifest.Manifest:
        reads[folder] += 1
        return read(folder)

    monkeypatch.setattr(manifest, "read", counted)
    remove(gallery, [gone])
    assert {one.parent for one in before} <= set(reads)
    assert set(reads.values()) == {1}
    monkeypatch.undo()
    kept = [str(one["kind"]) for one in index_states(gallery)]
    assert all(one["fits"] for one in index_states(gallery))
    assert any(" after within" in one for one in kept) == (gone == "late")


def test_damaged_sets_are_removed_one_by_one(tmp_path: Path) -> None:
    """As `verify` advises; that the others are damaged still is no reason to fail after a set is removed."""
    path = tmp_path / "g"
    with Gallery(path, create=True) as gallery:
        for one in world():
            gallery.add(one)
        index(gallery, preparation="none")
        bad = gallery.ids()[:2]
    for set_id in bad:
        planted(path, f"DELETE FROM faces WHERE set_number = (SELECT number FROM sets WHERE id = '{set_id}')")
    for set_id in bad:
        with Gallery(path) as gallery:
            assert remove(gallery, [set_id]) == [set_id]
            assert set_id not in gallery
    assert verify(path) == []
