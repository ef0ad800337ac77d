from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, Search, index, open_search, registry, train
from lookalike.errors import BadInput, NotFound
from lookalike.indexing.fit import check_seed
from lookalike.indexing.store import StoredTables, TableStore
from lookalike.rerankers.learnt import Learnt
from tests.announced import is_trained
from tests.small_world import small_world

UNLEARNT = [name for name in registry.names("rerankers") if not registry.build("rerankers", name).is_learnt]


def world() -> list[FaceSet]:
    return small_world(people=4, sets=2, faces=3)[0]


class Counting(Learnt):
    """Counts how often it is trained; its options are those of the learnt part."""

    times = 0

    def fit(self, *given: Any) -> Counting:
        Counting.times += 1
        return super().fit(*given)


@pytest.fixture(autouse=True)
def _from_zero() -> None:
    Counting.times = 0


@pytest.fixture
def gallery(tmp_path: Path) -> Iterator[Gallery]:
    with filled(tmp_path / "g", world()) as opened:
        yield opened


def filled(path: Path, sets: list[FaceSet]) -> Gallery:
    gallery = Gallery(path, create=True)
    for faceset in sets:
        gallery.add(faceset)
    return gallery


def stored(gallery: Gallery) -> list[StoredTables]:
    """What was learnt and kept."""
    return [one for one in TableStore.beside(gallery.path).stored() if " seed " in one.manifest.kind]


def same(one: Learnt, other: Learnt) -> None:
    assert one.regressor_ is not None
    assert other.regressor_ is not None
    mine, theirs = one.regressor_.to_arrays(), other.regressor_.to_arrays()
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, theirs[name])


def test_stored_once_and_found_again(gallery: Gallery) -> None:
    tables = index(gallery)
    assert not is_trained(gallery, tables, Counting(), 0)
    first = train(tables, Counting(), 0, gallery)
    assert is_trained(gallery, tables, Counting(), 0)
    again = train(tables, Counting(), 0, gallery)
    assert Counting.times == 1
    same(first, again)
    same(again, train(tables, "learnt"))
    [found] = stored(gallery)
    assert found.manifest.kind == f"{registry.spec(Counting())} on {registry.spec(tables.similarity)} seed 0"
    assert found.arrays["landmarks"].shape[1] == 5


def test_found_again_by_another_process(gallery: Gallery) -> None:
    first = train(index(gallery), Counting(), 0, gallery)
    gallery.close()
    with Gallery(gallery.path) as opened:
        same(first, train(index(opened), Counting(), 0, opened))
    assert Counting.times == 1


@pytest.mark.parametrize(
    ("part", "seed", "similarity"),
    [
        (Counting(), 1, "max_max"),
        (Counting(proxies=3), 0, "max_max"),
        (Counting(references=7), 0, "max_max"),
        (Counting(epsilon=0.2), 0, "max_max"),
        (Counting(), 0, "max_max:samples=2"),
        (Counting(), 0, "dffs"),
    ],
)
def test_anything_that_shapes_it_trains_again(
    gallery: Gallery, part: Counting, seed: int, similarity: str
) -> None:
    first = train(index(gallery), Counting(), 0, gallery)
    tables = index(gallery, similarity)
    other = train(tables, part, seed, gallery)
    assert Counting.times == 2
    assert len(stored(gallery)) == 2, "one does not push out the other"
    kind = type(part)
    options = {name: getattr(part, name) for name in ("proxies", "references", "epsilon")}
    same(other, train(tables, kind(**options), seed))
    same(first, train(index(gallery), Counting(), 0, gallery))
    assert Counting.times == 3, "the first is still found"


def test_another_content_of_the_gallery_trains_again(gallery: Gallery) -> None:
    train(index(gallery), Counting(), 0, gallery)
    [old] = stored(gallery)
    extra = FaceSet("zz", small_world(faces=3, seed=1)[0][0].faces)
    gallery.add(extra)
    tables = index(gallery)
    assert not is_trained(gallery, tables, Counting(), 0)
    changed = train(tables, Counting(), 0, gallery)
    assert Counting.times == 2
    same(changed, train(index([*world(), extra]), Counting(), 0))
    [new] = stored(gallery)
    assert new.fingerprint != old.fingerprint
    assert not old.path.exists(), "what no longer fits is not kept"


@pytest.mark.parametrize("damage", ["truncated", "nonsense", "absent", "manifest", "not finite", "shape"])
def test_damaged_arrays_are_learnt_again(gallery: Gallery, damage: str) -> None:
    tables = index(gallery)
    first = train(tables, Counting(), 0, gallery)
    [kept] = stored(gallery)
    weights = kept.path / kept.manifest.arrays["weights"].file
    if damage == "truncated":
        os.truncate(weights, 20)
    elif damage == "nonsense":
        weights.write_bytes(b"x" * weights.stat().st_size)
    elif damage == "absent":
        weights.unlink()
    elif damage == "manifest":
        (kept.path / "manifest.json").write_text("{}")
    else:
        # A table that is whole by itself, but is no regressor.
        arrays = {name: array.copy() for name, array in kept.arrays.items()}
        arrays["weights"] = arrays["weights"] * np.nan if damage == "not finite" else arrays["weights"][:-1]
        store = TableStore.beside(gallery.path)
        store.drop(kept.manifest.kind)
        store.save(kept.manifest.kind, kept.fingerprint, arrays, kept.facts)
    again = train(tables, Counting(), 0, gallery)
    assert Counting.times == 2
    same(first, again)
    train(tables, Counting(), 0, gallery)
    assert Counting.times == 2, "the repaired one is found"


def test_nothing_is_stored_in_memory_only(gallery: Gallery) -> None:
    train(index(gallery), "learnt")
    assert stored(gallery) == []


@pytest.mark.parametrize("name", UNLEARNT)
def test_nothing_is_stored_for_what_learns_nothing(gallery: Gallery, name: str) -> None:
    tables = index(gallery)
    part = train(tables, name, 0, gallery)
    assert is_trained(gallery, tables, part, 0)
    assert stored(gallery) == []


def test_one_set_teaches_nothing(tmp_path: Path) -> None:
    with filled(tmp_path / "g", world()[:1]) as gallery:
        untrainable(gallery)


def test_two_sets_are_enough_to_learn_from(tmp_path: Path) -> None:
    with filled(tmp_path / "g", world()[:2]) as gallery:
        tables = index(gallery)
        first = train(tables, Counting(), 0, gallery)
        same(first, train(tables, Counting(), 0, gallery))
        assert Counting.times == 1


def test_one_face_a_set_teaches_nothing(tmp_path: Path) -> None:
    with filled(tmp_path / "g", small_world(faces=1)[0]) as gallery:
        untrainable(gallery)


def untrainable(gallery: Gallery) -> None:
    """Without examples there is no regressor, which is remembered, and the baseline decides."""
    tables = index(gallery)
    part = train(tables, Counting(), 0, gallery)
    assert part.regressor_ is None
    assert train(tables, Counting(), 0, gallery).regressor_ is None
    assert Counting.times == 1, "that there is nothing to learn is not found out twice"
    outside = FaceSet("q", gallery.get(gallery.ids()[0]).faces + 0.05)
    plain = Search(tables, train(tables, "baseline")).find(outside)
    assert Search(tables, part).find(outside).answers == plain.answers
    assert all(answer.through is None for answer in plain)


@pytest.mark.parametrize("seed", [-1, 0.0, 1.5, True, None, "0", float("nan")])
def test_bad_seeds(gallery: Gallery, seed: Any) -> None:
    with pytest.raises(BadInput, match="seed must be a whole number of at least 0"):
        check_seed(seed)
    tables = index(gallery)
    for name in ("learnt", *UNLEARNT):
        with pytest.raises(BadInput, match="seed must be a whole number of at least 0"):
            train(tables, name, seed, gallery)
    assert stored(gallery) == []


def test_a_huge_seed_is_a_seed(gallery: Gallery) -> None:
    tables = index(gallery)
    same(train(tables, "learnt", 10**40, gallery), train(tables, "learnt", 10**40, gallery))


@pytest.mark.parametrize(
    ("part", "error", "said"),
    [
        ("learned", NotFound, "no reranker called 'learned'"),
        ("learnt:proxy=3", BadInput, "no option 'proxy=3'"),
        ("learnt:proxies=11", BadInput, "from 1 to 10"),
        ("learnt:references=0", BadInput, "references must be"),
        ("learnt:penalty=0", BadInput, "penalty must be greater than 0"),
        (3, BadInput, "a reranker is a name"),
    ],
)
def test_mistakes_store_nothing(gallery: Gallery, part: Any, error: type[Exception], said: str) -> None:
    tables = index(gallery)
    with pytest.raises(error, match=said):
        train(tables, part, 0, gallery)
    assert stored(gallery) == []


def test_interrupted_training_leaves_nothing_and_can_be_repeated(gallery: Gallery) -> None:
    tables = index(gallery)
    before = sorted(Path(f"{gallery.path}.derived").rglob("*"))

    def stop(items: object, text: str, total: int | None) -> Iterator[Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tables, "learnt", 0, gallery, stop)
    assert sorted(Path(f"{gallery.path}.derived").rglob("*")) == before
    same(train(tables, "learnt", 0, gallery), train(tables, "learnt"))


def test_the_seed_matters_and_is_all_that_matters(gallery: Gallery) -> None:
    """With few references, which sets teach depends on the seed; the same seed gives the same numbers."""
    first, again, other = (open_search(gallery, reranker="learnt:references=3", seed=s) for s in (1, 1, 2))
    same(first.reranker, again.reranker)  # type: ignore[arg-type]
    with pytest.raises(AssertionError):
        same(first.reranker, other.reranker)  # type: ignore[arg-type]
