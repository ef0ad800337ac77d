"""Preparation of a gallery: which one, learnt once, kept, forgotten with the sets it knew."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, explain, find, index, open_search, registry, train
from lookalike.errors import BadInput, NotFound
from lookalike.evaluation.labels import read_labels
from lookalike.evaluation.protocol import leave_one_out
from lookalike.gallery.forget import remove
from lookalike.indexing import transform
from lookalike.indexing.build import index_states
from lookalike.indexing.store import TableStore
from lookalike.indexing.transform import (
    FEWEST_SETS,
    choose,
    kept_preparation,
    preparation_states,
    prepare,
    sample,
)
from lookalike.ingest.add import add
from lookalike.preparations.none import Nothing
from lookalike.preparations.within import Within
from lookalike.similarities.max_max import MaxMax
from tests.announced import first_task, is_indexed
from tests.gallery.test_remove import traces
from tests.indexing.test_build import filled, same_bits
from tests.small_world import small_world

WITHIN = "within:dimension=6"
DATA = Path(os.environ.get("LOOKALIKE_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.fixture
def gallery(tmp_path: Path) -> Iterator[Gallery]:
    with filled(tmp_path / "g", small_world()[0]) as gallery:
        yield gallery


def counts(sets: int, seed: int = 0) -> list[FaceSet]:
    """Sets of numbers that are not negative, as counts are."""
    rng = np.random.default_rng(seed)
    return [FaceSet(f"set-{n:04d}", rng.gamma(2.0, size=(3, 8))) for n in range(sets)]


def learnt_on(gallery: Gallery, name: str = WITHIN) -> str:
    known = kept_preparation(gallery, registry.build("preparations", name))
    assert known is not None
    return known.part.fingerprint()


# Which one.


@pytest.mark.parametrize(
    ("descriptor", "sets", "expected"),
    [
        ("lbp:rows=6,columns=5,radius=2,points=8", FEWEST_SETS, "within:root=True,dimension=0"),
        ("lbp", FEWEST_SETS - 1, "none"),
        ("array:embeddings", FEWEST_SETS, "none"),
        ("somebody's own words", FEWEST_SETS, "none"),
    ],
)
def test_the_default_suits_the_descriptor(tmp_path: Path, descriptor: str, sets: int, expected: str) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        for faceset in counts(sets):
            gallery.add(faceset, descriptor)
        assert registry.spec(choose(gallery)) == expected
        tables = index(gallery)
        assert registry.spec(tables.preparation) == expected
        assert registry.spec(index(gallery, preparation="none").preparation) == "none"
        assert index(gallery, preparation="none").sets.arrays["faces"].shape[1] == 8


def test_sets_in_memory_are_left_alone_unless_asked() -> None:
    sets = counts(FEWEST_SETS)
    assert isinstance(index(sets).preparation, Nothing)
    assert (
        registry.spec(index(sets, preparation=Within(True, 3)).preparation) == "within:root=True,dimension=3"
    )
    assert index(sets, preparation=Within(True, 3)).sets.arrays["faces"].shape[1] == 3


def test_a_default_that_cannot_be_had_leaves_faces_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody called negative numbers lbp."""
    with Gallery(tmp_path / "g", create=True) as gallery:
        for number, faceset in enumerate(counts(FEWEST_SETS)):
            gallery.add(FaceSet(faceset.id, faceset.faces - number % 2), "lbp")
        assert registry.spec(index(gallery).preparation) == "none"
        assert "are left as they are: root=true needs numbers that are not negative" in caplog.text
        with pytest.raises(BadInput, match="root=true needs numbers that are not negative"):
            index(gallery, preparation="within:root=true")


def test_mistakes(gallery: Gallery) -> None:
    with pytest.raises(
        NotFound, match="there is no preparation called 'pca': choose one of none, whitened, within"
    ):
        index(gallery, preparation="pca")
    with pytest.raises(BadInput, match="dimension must be 0"):
        index(gallery, preparation="whitened:dimension=1")
    with pytest.raises(BadInput, match="a preparation is a name or a Preparation, got MaxMax"):
        index(gallery, preparation=MaxMax())  # type: ignore[arg-type]
    assert not Path(f"{gallery.path}.derived").exists()


# What it does.


def test_a_given_part_is_not_changed(gallery: Gallery) -> None:
    part = Within(dimension=6)
    index(gallery, preparation=part)
    index(list(gallery.sets()), preparation=part)
    assert part.to_arrays() == {}


def test_stored_tables_are_those_in_memory(gallery: Gallery) -> None:
    fresh = index(list(gallery.sets()), preparation=WITHIN)
    same_bits(index(gallery, preparation=WITHIN), fresh)
    same_bits(index(gallery, preparation=WITHIN), fresh)  # found again
    assert index(gallery, preparation=WITHIN).preparation.fingerprint() == fresh.preparation.fingerprint()


@pytest.mark.parametrize("similarity", registry.names("similarities"))
def test_a_query_from_outside_is_prepared_as_the_gallery_is(gallery: Gallery, similarity: str) -> None:
    """A copy of a set asked from outside meets every other set exactly as the set itself does."""
    search = open_search(gallery, similarity, "baseline", preparation=WITHIN)
    for id in gallery.ids()[:4]:
        inside, outside = search.find(id), search.find(FaceSet("copy", gallery.get(id).faces))
        scores = {answer.id: answer.score for answer in outside}
        assert scores[id] == max(scores.values())
        assert {answer.id: answer.score for answer in inside} == {x: s for x, s in scores.items() if x != id}


def test_find_and_explain_take_it(gallery: Gallery) -> None:
    query, target = gallery.ids()[:2]
    plain = find(query, gallery, preparation="none")
    assert find(query, gallery) == plain
    prepared = find(query, gallery, preparation=WITHIN)
    assert [a.baseline for a in prepared] != [a.baseline for a in plain]
    told = explain(query, target, gallery, preparation=WITHIN)
    assert told.answer == next(a for a in prepared if a.id == target)


def test_both_kinds_of_tables_live_side_by_side(gallery: Gallery) -> None:
    open_search(gallery)
    open_search(gallery, preparation=WITHIN)
    kinds = [str(state["kind"]) for state in index_states(gallery)]
    assert len(kinds) == 4
    assert sum(kind.endswith("after within:root=False,dimension=6") for kind in kinds) == 2  # index, auto
    assert all(state["fits"] for state in index_states(gallery))
    assert is_indexed(gallery, MaxMax())
    assert is_indexed(gallery, MaxMax(), WITHIN)
    assert not is_indexed(gallery, MaxMax(), "whitened")
    first = first_task(index, gallery, MaxMax(), preparation="whitened")
    assert first is not None
    assert first.what == "preparation"


# How long it is kept.


def test_sets_added_later_do_not_change_it(gallery: Gallery) -> None:
    index(gallery, preparation=WITHIN)
    before = learnt_on(gallery)
    for number, faceset in enumerate(small_world(seed=3)[0][:5]):
        gallery.add(FaceSet(f"late-{number}", faceset.faces))
    tables = index(gallery, preparation=WITHIN)
    assert len(tables) == 23
    assert tables.preparation.fingerprint() == learnt_on(gallery) == before
    known = kept_preparation(gallery, registry.build("preparations", WITHIN))
    assert known is not None
    assert (known.sets, known.faces, known.new) == (18, 72, 5)
    assert known.is_stale(23)
    assert not known.is_stale(25)
    again = prepare(gallery, WITHIN, again=True)
    assert again.fingerprint() == learnt_on(gallery) != before
    assert not is_indexed(gallery, MaxMax(), WITHIN)
    same_bits(index(gallery, preparation=WITHIN), index(list(gallery.sets()), preparation=WITHIN))
    assert [state["fits"] for state in index_states(gallery)] == [True], "the older table is gone"


def test_states(gallery: Gallery) -> None:
    assert preparation_states(gallery) == [{"name": "none", "is_default": True, "is_learnt": False}]
    prepare(gallery, WITHIN)
    assert preparation_states(gallery)[1] == {
        "name": "within:root=False,dimension=6",
        "is_default": False,
        "is_learnt": True,
        "sets": 18,
        "faces": 72,
        "new_sets": 0,
        "is_stale": False,
        "reason": "",
    }


def test_why_faces_are_left_alone_is_remembered(tmp_path: Path) -> None:
    with filled(tmp_path / "g", [FaceSet(name, [[1.0, 2.0], [1.0, 2.0]]) for name in "abc"]) as gallery:
        for _ in range(2):
            tables = index(gallery, preparation="whitened")
            assert tables.preparation.reason_.endswith("fewer than two directions: left as they are")
        same_bits(tables, index(gallery, preparation="none"))
        assert preparation_states(gallery)[1]["reason"] == tables.preparation.reason_


def test_removing_a_set_that_it_knew_forgets_it(gallery: Gallery) -> None:
    index(gallery)
    open_search(gallery, preparation=WITHIN)
    gone = gallery.get(gallery.ids()[4])
    clue = {"hash": bytes.fromhex(gone.content_hash()), "id": gone.id.encode()}
    clue |= {name: a.tobytes() for name, a in prepare(gallery, WITHIN).to_arrays().items()}
    assert {"hash", "mean", "table"} <= set.union(*traces(gallery.path.parent, clue).values())
    remove(gallery, [gone.id])
    gallery.close()
    assert traces(gallery.path.parent, clue) == {}
    with Gallery(gallery.path) as opened:
        assert [state["kind"] for state in index_states(opened)] == [registry.spec(MaxMax())]
        same_bits(index(opened, preparation=WITHIN), index(list(opened.sets()), preparation=WITHIN))


def test_removing_a_set_that_it_never_saw_keeps_it(gallery: Gallery) -> None:
    index(gallery, preparation=WITHIN)
    before = learnt_on(gallery)
    gallery.add(FaceSet("late", small_world(seed=4)[0][0].faces))
    index(gallery, preparation=WITHIN)
    remove(gallery, ["late"])
    assert learnt_on(gallery) == before
    assert is_indexed(gallery, MaxMax(), WITHIN), "it was brought up to date"


def test_a_set_removed_behind_its_back(gallery: Gallery) -> None:
    """`Gallery.remove` does not know of tables; they are never used afterwards."""
    index(gallery, preparation=WITHIN)
    gallery.remove(gallery.ids()[:1])
    assert kept_preparation(gallery, registry.build("preparations", WITHIN)) is None
    assert not is_indexed(gallery, MaxMax(), WITHIN)
    same_bits(index(gallery, preparation=WITHIN), index(list(gallery.sets()), preparation=WITHIN))


@pytest.mark.parametrize("stage", ["learning how faces vary", "preparing sets"])
def test_a_set_removed_meanwhile_is_in_nothing(gallery: Gallery, stage: str) -> None:
    gone = gallery.ids()[0]

    def meanwhile(items, text, total):  # type: ignore[no-untyped-def]
        items = list(items)
        if text == stage and gone in gallery:
            with Gallery(gallery.path) as other:
                other.remove([gone])
        return items

    tables = index(gallery, "max_max", meanwhile, WITHIN)
    assert gone not in tables.ids
    same_bits(tables, index(list(gallery.sets()), preparation=WITHIN))
    assert learnt_on(gallery) == tables.preparation.fingerprint()


def test_a_damaged_one_is_learnt_again(gallery: Gallery, caplog: pytest.LogCaptureFixture) -> None:
    tables = index(gallery, preparation=WITHIN)
    [folder] = Path(f"{gallery.path}.derived").glob("preparation*")
    [manifest] = folder.rglob("manifest.json")
    array = manifest.with_name("0001.npy")
    content = bytearray(array.read_bytes())
    content[-3] ^= 4
    array.chmod(0o600)
    array.write_bytes(content)
    again = index(gallery, preparation=WITHIN)
    assert "is damaged and is made again" in caplog.text
    same_bits(again, tables)
    assert again.preparation.fingerprint() == tables.preparation.fingerprint()


def test_one_of_an_older_version_is_learnt_again(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> None:
    old = index(gallery, preparation=WITHIN)
    monkeypatch.setattr(Within, "version", 2)
    assert kept_preparation(gallery, registry.build("preparations", WITHIN)) is None
    new = index(gallery, preparation=WITHIN)
    assert new.fingerprint != old.fingerprint
    monkeypatch.setattr(transform, "FORMAT", 99)
    assert kept_preparation(gallery, registry.build("preparations", WITHIN)) is None


def test_arrays_that_cannot_be_used_are_learnt_again(gallery: Gallery) -> None:
    prepare(gallery, WITHIN)
    store = TableStore.beside(gallery.path)
    [stored] = store.stored()
    arrays = {"mean": np.zeros(3), "table": np.zeros((2, 2)), "hashes": np.asarray(stored.arrays["hashes"])}
    store.drop()
    store.save(stored.manifest.kind, "other", arrays, stored.facts)
    assert kept_preparation(gallery, registry.build("preparations", WITHIN)) is None
    assert prepare(gallery, WITHIN).apply(gallery.get(gallery.ids()[0]).faces).shape == (4, 6)


def test_tables_from_before_there_were_preparations_are_found(gallery: Gallery) -> None:
    index(gallery)
    store = TableStore.beside(gallery.path)
    [stored] = store.stored()
    facts = {name: stored.facts[name] for name in ("format", "similarity", "version")}
    arrays = {name: np.array(array) for name, array in stored.arrays.items()}
    store.drop()
    store.save(stored.manifest.kind, stored.fingerprint, arrays, facts)
    assert is_indexed(gallery, MaxMax())
    assert all(state["fits"] for state in index_states(gallery))
    remove(gallery, gallery.ids()[:1])
    assert is_indexed(gallery, MaxMax())


# From how many faces.


def test_which_faces_are_taken() -> None:
    chosen, most = sample([5, 7, 3], 100)
    assert (chosen.tolist(), most) == ([0, 1, 2], 7)
    chosen, most = sample([5, 7, 3], 12)
    assert (chosen.tolist(), most) == ([0, 1, 2], 4)  # 4 + 4 + 3
    chosen, most = sample([9] * 10, 8)
    assert (chosen.tolist(), most) == ([0, 3, 6, 9], 2)


def test_a_large_gallery_is_learnt_from_some_of_its_faces(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transform.sample, "__defaults__", (40,))
    index(gallery, preparation=WITHIN)
    known = kept_preparation(gallery, registry.build("preparations", WITHIN))
    assert known is not None
    assert (known.sets, known.faces, known.new) == (18, 36, 0)
    some = [one.faces[[0, 3]] for one in gallery.sets()]
    assert known.part.fingerprint() == Within(dimension=6).fit(some).fingerprint()


# On real faces.


@pytest.mark.skipif(
    not (DATA / "ytf_dev.npz").exists(), reason=f"no faces at {DATA}: set LOOKALIKE_DATA to their folder"
)
def test_it_helps_on_youtube_faces(tmp_path: Path) -> None:
    faces = DATA / "ytf_dev.npz"
    add(tmp_path / "faces.gallery", [faces])
    with Gallery(tmp_path / "faces.gallery") as gallery:
        found = {}
        for name in ("auto", "within:root=true,dimension=200", "whitened:root=true,dimension=200"):
            tables = index(gallery, preparation=name)
            fitted = {"baseline": train(tables, "baseline")}
            told = leave_one_out(tables, fitted, read_labels(faces)).to_dict()["rerankers"]["baseline"]
            found[name] = [told[measure] for measure in ("mean_anr", "anr_below_0.3", "map", "rank1")]
    # The last two were measured elsewhere, by other code.
    assert found["within:root=true,dimension=200"] == pytest.approx([0.1741, 0.795, 0.2459, 0.306], abs=0.002)
    assert found["whitened:root=true,dimension=200"] == pytest.approx(
        [0.2024, 0.757, 0.2247, 0.294], abs=0.002
    )
    assert found["auto"] == pytest.approx([0.172, 0.802, 0.267, 0.333], abs=0.005)
