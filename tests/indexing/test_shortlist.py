from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike import Gallery, find, index, open_search, registry, remove, train
from lookalike.errors import BadInput, StorageFailed
from lookalike.indexing.fit import LARGE, open_shortlist
from lookalike.indexing.store import TableStore
from tests.small_world import small_world


@pytest.fixture
def gallery(tmp_path: Path) -> Gallery:
    made = Gallery(tmp_path / "g", create=True)
    for one in small_world()[0]:
        made.add(one)
    return made


def kinds(gallery: Gallery) -> list[str]:
    return [one.manifest.kind for one in TableStore.beside(gallery.path).stored()]


def test_small_galleries_are_compared_as_a_whole() -> None:
    sets, _ = small_world()
    assert len(sets) < LARGE
    assert open_search(sets, reranker="learnt").shortlist is None
    assert open_search(sets, reranker="learnt", shortlist=True).shortlist is not None


def test_large_galleries_have_a_shortlist_where_it_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    sets, _ = small_world()
    monkeypatch.setattr("lookalike.indexing.fit.LARGE", len(sets))
    assert open_search(sets, reranker="learnt").shortlist is not None
    assert open_search(sets, reranker="learnt", shortlist=False).shortlist is None
    assert open_search(sets, reranker="csls").shortlist is None
    assert open_search(sets, "max_correlation", "learnt").shortlist is None


def test_rerankers_that_pool_have_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    sets, _ = small_world(people=60, sets=4, dimension=64)
    monkeypatch.setattr("lookalike.indexing.fit.LARGE", len(sets))
    search = open_search(sets, reranker="auto")
    assert search.reranker.pools == 5
    assert search.shortlist is not None


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"reranker": "csls"}, "csls.* looks at all sets"),
        ({"similarity": "max_correlation"}, "max_correlation.* does not compare faces"),
    ],
)
def test_a_shortlist_that_cannot_be_had_is_refused(options: dict[str, str], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        find("clip-000", small_world()[0], shortlist=True, top=5, **{"reranker": "learnt", **options})


def test_codes_are_kept_beside_the_gallery_and_made_again_when_it_changes(gallery: Gallery) -> None:
    wanted = "shortlist on " + registry.spec(registry.build("similarities", "max_max"))
    first = open_search(gallery, reranker="learnt", shortlist=True).find("clip-000", 5)
    assert wanted in kinds(gallery)

    def never(tables: object) -> None:
        raise AssertionError("codes that fit are not made again")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lookalike.indexing.fit.code_means", never)
        assert open_search(gallery, reranker="learnt", shortlist=True).find("clip-000", 5) == first
    remove(gallery, ["clip-001"])
    assert wanted not in kinds(gallery)
    assert "clip-001" not in open_search(gallery, reranker="learnt", shortlist=True).find("clip-000", 100).ids
    assert wanted in kinds(gallery)


def test_damaged_codes_are_made_again(gallery: Gallery) -> None:
    first = open_search(gallery, reranker="learnt", shortlist=True).find("clip-000", 5)
    [stored] = [one for one in TableStore.beside(gallery.path).stored() if "packed" in one.arrays]
    for file in stored.path.glob("*.npy"):
        file.write_bytes(file.read_bytes()[:-1])
    assert open_search(gallery, reranker="learnt", shortlist=True).find("clip-000", 5) == first


def test_tables_that_the_gallery_has_outgrown_are_coded_but_not_kept(gallery: Gallery) -> None:
    tables = index(gallery)
    reranker = train(tables, "baseline", gallery=gallery)
    gallery.add(type(small_world()[0][0])("one-more", np.eye(12)[:2]))
    before = kinds(gallery)
    assert open_shortlist(tables, reranker, True, gallery) is not None
    assert kinds(gallery) == before


def test_a_gallery_that_may_only_be_read_has_a_shortlist(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    search = open_search(gallery, reranker="learnt")

    def refused(*given: object) -> None:
        raise StorageFailed("read-only")

    monkeypatch.setattr(TableStore, "save", refused)
    assert open_shortlist(search.tables, search.reranker, True, gallery) is not None
    assert "not kept: read-only" in caplog.text
