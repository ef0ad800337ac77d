"""A collection in several files: every part answers as it does in one file, to the last bit."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from lookalike import FaceSet, Gallery, find, index, open_gallery, open_search, parts, remove
from lookalike.collection.sharded import ShardedGallery
from lookalike.collection.tables import TableStore
from lookalike.engines.contract import Label, Residents, Work
from lookalike.engines.local import Local
from lookalike.errors import BadInput, NotFound, StorageFailed
from lookalike.sharding import split
from lookalike.spreading import hold_shards, open_shard
from lookalike.transitivity.spread import SpreadSets
from lookalike.verifying import verify
from tests.shards import split_gallery
from tests.small_world import small_world

SETS = small_world(people=12, sets=5, faces=3)[0]
OUTSIDE = FaceSet("outside", small_world(people=2, seed=9)[0][0].faces)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One gallery, and the same in 1, 2, 3 and 7 shards."""
    folder = tmp_path_factory.mktemp("made")
    write(folder / "one.gallery", SETS)
    for shards in (1, 2, 3, 7):
        split(folder / "one.gallery", folder / f"in-{shards}", shards)
    return folder


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    return split_gallery(tmp_path, SETS, 3)


def write(path: Path, sets: list[FaceSet]) -> None:
    with Gallery(path, create=True) as gallery:
        for one in sets:
            gallery.add(one)


def agree(whole: Gallery, spread: Gallery, similarity: str, reranker: str) -> None:
    expected, found = (open_search(one, similarity, reranker) for one in (whole, spread))
    asked, target = whole.ids()[7], whole.ids()[8]
    for query in (asked, OUTSIDE):
        assert found.find(query).to_dict() == expected.find(query).to_dict()
        assert found.explain(query, target).to_dict() == expected.explain(query, target).to_dict()


@pytest.mark.parametrize("reranker", parts.names("rerankers"))
def test_every_second_stage(made: Path, reranker: str) -> None:
    with open_gallery(made / "one.gallery") as whole, open_gallery(made / "in-3") as spread:
        agree(whole, spread, "max_max", reranker)


@pytest.mark.parametrize("shards", [1, 2, 7])
@pytest.mark.parametrize("similarity", parts.names("similarities"))
def test_every_similarity_and_number_of_shards(made: Path, similarity: str, shards: int) -> None:
    with open_gallery(made / "one.gallery") as whole, open_gallery(made / f"in-{shards}") as spread:
        agree(whole, spread, similarity, "adaptive")


def test_what_comes_and_goes(collection: Path, tmp_path: Path) -> None:
    new = [FaceSet(f"new-{number}", one.faces + 0.05) for number, one in enumerate(SETS[:4])]
    gone = [SETS[3].id, SETS[9].id]
    left = [one for one in [*SETS, *new] if one.id not in gone]
    write(tmp_path / "two.gallery", left)
    with open_gallery(collection) as spread, open_gallery(tmp_path / "two.gallery") as whole:
        open_search(spread)
        for one in new:
            spread.add(one)
        remove(spread, gone)
        agree(whole, spread, "max_max", "auto")
        assert verify(collection) == []
        # No table of any shard knows who was removed.
        for table in collection.rglob("*.npy"):
            assert gone[0].encode() not in table.read_bytes()


def test_an_index_that_was_damaged_is_found_and_made_again(collection: Path) -> None:
    with open_gallery(collection) as spread:
        before = find(SETS[0].id, spread).to_dict()
        scores = max(collection.glob("derived/max_max*/*/*.npy"), key=lambda path: path.stat().st_size)
        scores.write_bytes(scores.read_bytes()[:-8] + bytes(8))
        assert any(str(scores.parent) in one.where for one in verify(collection))
        assert find(SETS[0].id, spread).to_dict() == before


def test_neighbours_of_somebody_else_are_found(collection: Path) -> None:
    """The checksums fit, but what is written is not what the faces say."""
    with open_gallery(collection) as spread:
        tables = index(spread)
        store = TableStore.beside(collection)
        [stored] = [one for one in store.stored() if "neighbours/scores" in one.arrays]
        wrong = {name: np.array(array) for name, array in stored.arrays.items()}
        wrong["neighbours/scores"] = wrong["neighbours/scores"] * 0.5
        store.drop()
        store.save(stored.manifest.kind, stored.fingerprint, wrong, dict(stored.facts))
        assert any("not as similar to its neighbours" in one.what for one in verify(collection))
        again = index(spread)
        assert again.neighbours.scores.tobytes() == tables.neighbours.scores.tobytes()


def test_the_prepared_faces_of_a_shard_are_kept_and_only_new_ones_made(collection: Path) -> None:
    with open_gallery(collection) as spread:
        part = parts.build("similarities", "max_max")
        nothing = parts.build("preparations", "none")
        path = str(spread.shards[0].path)
        first = open_shard(path, str(collection), part, nothing, "")
        again = open_shard(path, str(collection), part, nothing, "")
        assert len(first.sets) == len(again.sets) == len(spread.shards[0])
        assert first.sets.arrays["faces"].tobytes() == again.sets.arrays["faces"].tobytes()


def test_a_preparation_that_was_learnt_anew_meanwhile_is_told(collection: Path) -> None:
    within = parts.build("preparations", "within")
    with (
        open_gallery(collection) as spread,
        pytest.raises(NotFound, match="was learnt anew meanwhile: ask again"),
    ):
        open_shard(
            str(spread.shards[0].path), str(collection), parts.build("similarities", "max_max"), within, "x"
        )


def test_a_learnt_preparation_is_the_same_in_every_shard(made: Path) -> None:
    with open_gallery(made / "one.gallery") as whole, open_gallery(made / "in-7") as spread:
        expected = open_search(whole, preparation="within").find(SETS[0].id)
        assert open_search(spread, preparation="within").find(SETS[0].id).to_dict() == expected.to_dict()


def test_a_search_goes_on_when_the_collection_is_closed(made: Path) -> None:
    with open_gallery(made / "in-3") as spread:
        search = open_search(spread)
        expected = search.find(SETS[0].id).to_dict()
        assert isinstance(search.tables.sets, SpreadSets)
    assert search.find(SETS[0].id).to_dict() == expected


@pytest.mark.parametrize("with_pictures", [False, True])
def test_a_set_is_asked_about_without_a_message_unless_it_has_changed(
    tmp_path: Path, with_pictures: bool
) -> None:
    """Its faces are read from its file, also where its content is that of pictures too."""
    shown = BytesIO()
    Image.new("RGB", (8, 8)).save(shown, "PNG")
    pictures = [shown.getvalue()] * 3 if with_pictures else []
    sets = [FaceSet(one.id, one.faces, pictures=pictures) for one in SETS[:12]]
    with open_gallery(split_gallery(tmp_path, sets, 3)) as spread:
        held = open_search(spread, reranker="baseline").tables.sets
        assert isinstance(held, SpreadSets)
        before = held.residents.traffic.messages
        held[4]
        assert held.residents.traffic.messages == before
        remove(spread, [list(spread.ids())[4]])
        held[4]
        assert held.residents.traffic.messages == before + 1


def test_shards_that_hold_something_else_are_told(made: Path) -> None:
    """As if a machine of a cluster found another folder at the same path."""
    part, nothing = parts.build("similarities", "max_max"), parts.build("preparations", "none")
    with open_gallery(made / "in-3") as spread:
        assert isinstance(spread, ShardedGallery)
        other = {**spread.contents(), SETS[0].id: "0" * 64}
        with pytest.raises(StorageFailed, match="do not hold what it holds"):
            hold_shards(spread, part, nothing, lambda: (other, "x"), Local())


@pytest.mark.parametrize("what", ["file", "memory"])
def test_one_file_cannot_be_spread(made: Path, what: str) -> None:
    with (
        open_gallery(made / "one.gallery") as whole,
        pytest.raises(BadInput, match="the engine ray:address=None cannot spread"),
    ):
        find(SETS[0].id, whole if what == "file" else SETS, engine="ray")


def test_what_opens_a_shard_is_small_whatever_was_learnt(collection: Path) -> None:
    """It is kept for as long as the shard is open, to open it again."""
    sent: list[object] = []

    class Watched(Local):
        def hold(
            self, opening: Work, given: Sequence[tuple[Any, ...]], labels: Sequence[Label] = ()
        ) -> Residents:
            sent.extend(given)
            return super().hold(opening, given, labels)

    with open_gallery(collection) as spread:
        expected = index(spread, preparation="within").neighbours.scores
        tables = index(spread, preparation="within", engine=Watched())
        assert tables.preparation.to_arrays()
        assert tables.neighbours.scores.tobytes() == expected.tobytes()
    assert len(sent) == 3
    assert max(len(pickle.dumps(one)) for one in sent) < 2000
