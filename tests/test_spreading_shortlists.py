"""Shortlists of a collection in several files: those of one file, with codes that each shard keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, Search, open_gallery, open_search, remove
from lookalike.collection.tables import TableStore
from lookalike.errors import StorageFailed
from lookalike.kernels.codes import Codes
from lookalike.transitivity.shortlist import Sizes
from lookalike.verifying import verify
from tests.shards import split_gallery
from tests.small_world import small_world

SETS = small_world(people=30, sets=5, faces=3)[0]
OUTSIDE = FaceSet("outside", SETS[3].faces + 0.1)
# Small enough that most sets are left out.
TIGHT = Sizes(guessed=30, kept=20, alone=25, trusted=3, served=10)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    split_gallery(tmp_path, SETS, 3)
    return tmp_path


def tight(gallery: Gallery, reranker: str) -> Search:
    search = open_search(gallery, reranker=reranker, shortlist=True)
    assert search.shortlist is not None
    search.shortlist.sizes = TIGHT
    return search


def codes_beside(folder: Path) -> list[Path]:
    return sorted((folder / "in-3").glob("shard-*.derived/codes*/*"))


@pytest.mark.parametrize("reranker", ["baseline", "learnt", "adaptive"])
def test_answers_are_those_of_one_file(folder: Path, reranker: str) -> None:
    with open_gallery(folder / "one.gallery") as whole, open_gallery(folder / "in-3") as spread:
        one, other = tight(whole, reranker), tight(spread, reranker)
        for query in (SETS[0].id, SETS[77].id, OUTSIDE):
            found = other.find(query, 10)
            assert found.to_dict() == one.find(query, 10).to_dict()
            assert found.total < found.sets


def test_codes_are_kept_beside_each_shard(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_gallery(folder / "in-3") as spread:
        first = tight(spread, "baseline").find(OUTSIDE, 10)
        kept = codes_beside(folder)
        assert len(kept) == 3

        def never(*given: object) -> Codes:
            raise AssertionError("codes that fit are not made again")

        monkeypatch.setattr("lookalike.spreading.Codes.of", never)
        assert tight(spread, "baseline").find(OUTSIDE, 10) == first
        assert codes_beside(folder) == kept
    assert verify(folder / "in-3") == []


def test_codes_of_a_set_that_left_are_gone(folder: Path) -> None:
    with open_gallery(folder / "in-3") as spread:
        answers = tight(spread, "baseline").find(OUTSIDE, 10).ids
        before = codes_beside(folder)
        remove(spread, answers[:1])
        assert set(codes_beside(folder)) < set(before)
        assert answers[0] not in tight(spread, "baseline").find(OUTSIDE, 10).ids
        # Other faces were there when the points were learnt, so all shards are coded again.
        assert not set(codes_beside(folder)) & set(before)


def test_damaged_codes_are_made_again(folder: Path) -> None:
    with open_gallery(folder / "in-3") as spread:
        first = tight(spread, "baseline").find(OUTSIDE, 10)
        for place in codes_beside(folder):
            for file in place.glob("*.npy"):
                file.write_bytes(file.read_bytes()[:-1])
        assert tight(spread, "baseline").find(OUTSIDE, 10) == first


def test_a_disk_that_refuses_codes_does_not_refuse_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with open_gallery(folder / "in-3") as spread:
        search = tight(spread, "baseline")
        save = TableStore.save

        def refused(store: TableStore, kind: str, *given: object) -> object:
            if kind.startswith("codes"):
                raise StorageFailed("no room")
            return save(store, kind, *given)  # type: ignore[arg-type]

        monkeypatch.setattr(TableStore, "save", refused)
        found = search.find(OUTSIDE, 10)
        assert "not kept: no room" in caplog.text
        assert codes_beside(folder) == []
    with open_gallery(folder / "one.gallery") as whole:
        assert found.to_dict() == tight(whole, "baseline").find(OUTSIDE, 10).to_dict()


def test_a_large_collection_has_a_shortlist_by_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_gallery(folder / "in-3") as spread:
        assert open_search(spread, reranker="learnt").shortlist is None
        monkeypatch.setattr("lookalike.shortlisting.LARGE", len(SETS))
        assert open_search(spread, reranker="learnt").shortlist is not None
        assert np.isin(open_search(spread, reranker="learnt").find(SETS[0].id, 3).ids, spread.ids()).all()
