"""A gallery cut into slices: every part answers as it does in one piece, to the last bit."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lookalike import FaceSet, Gallery, Search, find, index, open_search, registry, remove
from lookalike.engines.contract import Engine, Label, Residents, Work
from lookalike.engines.local import Local
from lookalike.errors import BadInput
from lookalike.gallery.verify import verify
from lookalike.indexing.slices import SpreadSets
from lookalike.method.shortlist import Sizes
from lookalike.progress import Track, silent
from lookalike.similarities.contract import PreparedSets
from tests.small_world import small_world

SETS = small_world(people=12, sets=5, faces=3)[0]
MANY = small_world(people=30, sets=5, faces=3)[0]
OUTSIDE = FaceSet("outside", small_world(people=2, seed=9)[0][0].faces)
# Small enough that most sets are left out.
TIGHT = Sizes(guessed=30, kept=20, alone=25, trusted=3, served=10)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One gallery, with nothing derived from it; and copies for 1, 2, 3 and 7 slices."""
    folder = tmp_path_factory.mktemp("made")
    write(folder / "0.gallery", SETS)
    for slices in (1, 2, 3, 7):
        shutil.copy(folder / "0.gallery", folder / f"{slices}.gallery")
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(tmp_path / "one.gallery", SETS)
    return tmp_path / "one.gallery"


def write(path: Path, sets: Sequence[FaceSet]) -> None:
    with Gallery(path, create=True) as gallery:
        for one in sets:
            gallery.add(one)


def agree(folder: Path, slices: int, similarity: str, reranker: str) -> None:
    """Nothing is made twice: each gallery has an index and a re-ranker of its own."""
    with Gallery(folder / "0.gallery") as whole, Gallery(folder / f"{slices}.gallery") as cut:
        expected = open_search(whole, similarity, reranker)
        found = open_search(cut, similarity, reranker, engine=Local(slices))
        assert isinstance(expected.tables.sets, PreparedSets)
        assert len(held(found).places) == slices
        asked, target = whole.ids()[7], whole.ids()[8]
        for query in (asked, OUTSIDE):
            assert found.find(query).to_dict() == expected.find(query).to_dict()
            assert found.explain(query, target).to_dict() == expected.explain(query, target).to_dict()


def held(search: Search) -> SpreadSets:
    assert isinstance(search.tables.sets, SpreadSets)
    return search.tables.sets


@pytest.mark.parametrize("reranker", registry.names("rerankers"))
def test_every_reranker(made: Path, reranker: str) -> None:
    agree(made, 3, "max_max", reranker)


@pytest.mark.parametrize("slices", [1, 2, 7])
@pytest.mark.parametrize("similarity", registry.names("similarities"))
def test_every_similarity_and_number_of_slices(made: Path, similarity: str, slices: int) -> None:
    agree(made, slices, similarity, "adaptive")


def test_the_number_may_change_at_any_time(path: Path) -> None:
    """What is kept is the same whoever made it."""
    with Gallery(path) as gallery:
        said = [find(SETS[0].id, gallery, engine=Local(slices)).to_dict() for slices in (3, 0, 7, 1, 2)]
    assert all(one == said[0] for one in said)
    assert len([one for one in path.parent.glob("one.gallery.derived/max_max*/*") if one.is_dir()]) == 1


def test_an_index_that_was_interrupted_goes_on_in_other_slices(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lookalike.method.tables.BLOCK_ROWS", 16)

    def interrupted(items: Any, text: str, total: int | None) -> Any:
        for number, item in enumerate(items):
            if text == "comparing sets" and number == 3:
                raise KeyboardInterrupt
            yield item

    steps: list[int | None] = []

    def counting(items: Any, text: str, total: int | None) -> Any:
        if text == "comparing sets":
            steps.append(total)
        return items

    with Gallery(path) as gallery:
        with pytest.raises(KeyboardInterrupt):
            index(gallery, track=interrupted, engine=Local(3))
        found = index(gallery, track=counting, engine=Local(2))
        whole = index(list(gallery.sets()), preparation=found.preparation, track=counting)
        for one, other in zip(whole.neighbours, found.neighbours, strict=True):
            assert one.tobytes() == other.tobytes()
        fresh = index(list(gallery.sets()), track=counting, engine=Local(2))
        assert len(fresh) == len(found)
    assert steps[0] is not None
    assert steps[2] is not None
    assert 0 < steps[0] < steps[2]


def test_what_comes_and_goes(path: Path, tmp_path: Path) -> None:
    new = [FaceSet(f"new-{number}", one.faces + 0.05) for number, one in enumerate(SETS[:4])]
    gone = [SETS[3].id, SETS[9].id]
    write(tmp_path / "two.gallery", [one for one in [*SETS, *new] if one.id not in gone])
    engine = Local(3)
    with Gallery(path) as cut, Gallery(tmp_path / "two.gallery") as whole:
        before = open_search(cut, engine=engine)
        for one in new:
            cut.add(one)
        remove(cut, gone)
        expected = open_search(whole).find(OUTSIDE).to_dict()
        assert open_search(cut, engine=engine).find(OUTSIDE).to_dict() == expected
        # What was held before does not change: it answers about the sets that it was made of.
        assert set(gone) <= set(before.find(OUTSIDE).ids)
        assert verify(path) == []


def test_sets_in_memory_are_cut_too() -> None:
    expected = find(SETS[0].id, SETS)
    assert find(SETS[0].id, SETS, engine=Local(3)).to_dict() == expected.to_dict()


def test_there_are_no_more_slices_than_sets() -> None:
    search = open_search(SETS[:3], reranker="baseline", engine=Local(7))
    assert len(held(search).places) == 3


def test_a_learnt_preparation(made: Path) -> None:
    with Gallery(made / "0.gallery") as whole, Gallery(made / "7.gallery") as cut:
        expected = open_search(whole, preparation="within").find(SETS[0].id)
        found = open_search(cut, preparation="within", engine=Local(7)).find(SETS[0].id)
    assert found.to_dict() == expected.to_dict()


def test_a_search_goes_on_when_the_gallery_is_closed_and_gone(path: Path) -> None:
    with Gallery(path) as gallery:
        search = open_search(gallery, engine=Local(3))
        expected = search.find(SETS[0].id).to_dict()
    path.unlink()
    assert search.find(SETS[0].id).to_dict() == expected


def test_a_slice_is_given_arrays_and_no_path(path: Path) -> None:
    """No machine needs the file of the gallery, and none is given more than its share."""
    given: list[tuple[Any, ...]] = []

    class Watched(Local):
        def hold(
            self, opening: Work, each: Sequence[tuple[Any, ...]], labels: Sequence[Label] = ()
        ) -> Residents:
            given.extend(each)
            assert all(str(path.parent) not in str(one) for one in labels)
            return super().hold(opening, each, labels)

    with Gallery(path) as gallery:
        whole = open_search(gallery, reranker="baseline", engine=Watched(3)).tables.sets
    sets = [sets for _, sets in given]
    assert sum(map(len, sets[:3])) == len(whole)
    for one in sets:
        assert all(type(array).__name__ == "ndarray" and array.base is None for array in one.arrays.values())


@pytest.mark.parametrize("reranker", ["baseline", "learnt", "adaptive"])
def test_shortlists(tmp_path: Path, reranker: str) -> None:
    said = []
    for slices in (0, 3):
        write(tmp_path / f"{slices}.gallery", MANY)
        with Gallery(tmp_path / f"{slices}.gallery") as gallery:
            search = tight(gallery, reranker, Local(slices))
            said.append([search.find(query, 10).to_dict() for query in (MANY[0].id, MANY[77].id, OUTSIDE)])
    assert said[0] == said[1]
    assert all(one["total"] < one["sets"] for one in said[0])


def tight(gallery: Gallery, reranker: str, engine: Engine, track: Track = silent) -> Search:
    search = open_search(gallery, reranker=reranker, shortlist=True, engine=engine, track=track)
    assert search.shortlist is not None
    search.shortlist.sizes = TIGHT
    return search


@pytest.mark.parametrize("shortlist", [False, True])
def test_a_query_takes_two_rounds(tmp_path: Path, shortlist: bool) -> None:
    write(tmp_path / "one.gallery", MANY)
    with Gallery(tmp_path / "one.gallery") as gallery:
        search = open_search(gallery, reranker="learnt", shortlist=shortlist, engine=Local(3))
        for query in (MANY[0].id, OUTSIDE):
            before = held(search).residents.traffic.rounds
            search.find(query, 10)
            assert held(search).residents.traffic.rounds - before <= 2


@pytest.mark.parametrize("slices", [-1, 1001, 2.5, "two", True])
def test_what_is_no_number_of_slices(slices: object) -> None:
    with pytest.raises(BadInput, match="slices must be a whole number from 0 to 1000"):
        Local(slices)  # type: ignore[arg-type]
