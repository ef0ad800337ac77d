"""A collection of which shards are missing: what is left answers, and says what it does not cover."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, explain, find, index, open_gallery, open_search, remove
from lookalike.collection.sharded import ShardedGallery
from lookalike.errors import BadInput, Conflict, GalleryUnreadable, NotFound
from lookalike.transitivity import reduced as reduced_module
from lookalike.verifying import verify
from tests.cli_process import run
from tests.shards import split_gallery
from tests.small_world import small_world

SETS = small_world(people=24, sets=5, faces=3)[0]
OUTSIDE = FaceSet("outside", SETS[3].faces + 0.1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A collection of three shards, indexed when it was whole; shard 1 is then moved away."""
    with open_gallery(split_gallery(tmp_path, SETS, 3)) as whole:
        for reranker in ("auto", "baseline"):
            open_search(whole, reranker=reranker)
    (tmp_path / "in-3" / "shard-001.gallery").rename(tmp_path / "away.gallery")
    return tmp_path


def files_of(folder: Path) -> dict[str, bytes]:
    """What lies there for good: SQLite's own files come and go."""
    found = [one for one in folder.rglob("*") if one.is_file() and not one.name.endswith(("-shm", "-wal"))]
    return {str(one.relative_to(folder)): one.read_bytes() for one in found}


def part_of(folder: Path) -> ShardedGallery:
    opened = open_gallery(folder / "in-3", partial=True)
    assert isinstance(opened, ShardedGallery)
    return opened


def test_without_being_asked_for_nothing_is_opened_in_part(folder: Path) -> None:
    with pytest.raises(GalleryUnreadable, match=r"lacks shard-001\.gallery"):
        open_gallery(folder / "in-3")


def test_answers_are_those_of_a_collection_of_what_is_left(folder: Path) -> None:
    with part_of(folder) as part:
        assert part.unreachable == (1,)
        left = [part.get(id) for id in part.ids()]
        assert 0 < len(left) < len(SETS)
        for query in (left[2].id, OUTSIDE):
            found, expected = (find(query, gallery, reranker="baseline") for gallery in (part, left))
            assert found.unreachable == len(SETS) - len(left)
            assert [(a.id, a.score) for a in found] == [(a.id, a.score) for a in expected]
            assert f"{found.unreachable} more sets could not be reached" in found.reading
            assert found.to_dict()["unreachable"] == found.unreachable


def test_the_default_second_stage_learns_from_what_is_left(folder: Path) -> None:
    with part_of(folder) as part:
        left = [part.get(id) for id in part.ids()]
        tables, expected = index(part), index(left)
        width = tables.neighbours.sets.shape[1]
        assert 20 < width < expected.neighbours.sets.shape[1]
        np.testing.assert_array_equal(tables.neighbours.sets, expected.neighbours.sets[:, :width])
        np.testing.assert_array_equal(tables.neighbours.scores, expected.neighbours.scores[:, :width])
        found = find(OUTSIDE, part)
        assert found[0].id.split("-")[0] == find(OUTSIDE, left)[0].id.split("-")[0]
        assert explain(OUTSIDE, found[0].id, part).answer.rank == 1


def test_a_list_that_lost_too_much_is_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduced_module, "MADE_AGAIN", 30)
    with part_of(folder) as part:
        left = [part.get(id) for id in part.ids()]
        tables, expected = index(part), index(left)
        width = tables.neighbours.sets.shape[1]
        np.testing.assert_array_equal(tables.neighbours.sets, expected.neighbours.sets[:, :width])
        np.testing.assert_array_equal(tables.neighbours.scores, expected.neighbours.scores[:, :width])


def test_nothing_changes_on_the_disk(folder: Path) -> None:
    with part_of(folder) as part:
        find(OUTSIDE, part)  # what each shard prepares may be kept beside it
        before = files_of(folder / "in-3")
        find(OUTSIDE, part)
        for change in (
            lambda: part.add(OUTSIDE),
            lambda: remove(part, part.ids()[:1]),
            lambda: part.set_hint("model_file", "x"),
        ):
            with pytest.raises(Conflict, match=r"lacks shard-001\.gallery, so nothing in it can be changed"):
                change()
    after = files_of(folder / "in-3")
    assert after.keys() == before.keys()
    assert [name for name in before if before[name] != after[name]] == []


def test_all_is_as_it_was_when_the_shard_is_back(folder: Path) -> None:
    with part_of(folder) as part:
        find(OUTSIDE, part)
    (folder / "away.gallery").rename(folder / "in-3" / "shard-001.gallery")
    assert verify(folder / "in-3") == []
    with open_gallery(folder / "in-3") as again, open_gallery(folder / "one.gallery") as one:
        assert find(OUTSIDE, again).to_dict() == find(OUTSIDE, one).to_dict()


def test_a_set_that_cannot_be_reached_is_not_there(folder: Path) -> None:
    with part_of(folder) as part:
        gone = next(one.id for one in SETS if part.shard_of(one.id) == 1)
        with pytest.raises(NotFound, match="no set"):
            find(gone, part)


def test_second_stages_that_ask_proxies_say_that_they_cannot(folder: Path) -> None:
    with part_of(folder) as part, pytest.raises(BadInput, match=r"learnt.* asks proxies"):
        find(OUTSIDE, part, reranker="learnt")


def test_without_an_index_of_the_whole_there_is_no_answer(folder: Path) -> None:
    with part_of(folder) as part:
        with pytest.raises(NotFound, match=r"no index by max_correlation.* knows the sets that are left"):
            find(OUTSIDE, part, "max_correlation")
        with pytest.raises(NotFound, match="no index by"):
            find(OUTSIDE, part, preparation="within")


def test_shard_0_speaks_for_all(folder: Path) -> None:
    (folder / "in-3" / "shard-000.gallery").rename(folder / "first.gallery")
    with pytest.raises(GalleryUnreadable, match=r"lacks shard-000\.gallery"):
        open_gallery(folder / "in-3", partial=True)


def test_the_command_line_answers_and_says_so(folder: Path) -> None:
    with part_of(folder) as part:
        known = part.ids()[0]
        target = find(known, part)[0].id
    done = run("find", "in-3", known, "--quiet", cwd=folder)
    assert done.code == 0, done.err
    assert "lacks shard-001.gallery: answers do not cover what lies there" in done.err
    assert "more sets could not be reached" in done.out
    done = run("explain", "in-3", known, target, "--json", cwd=folder)
    assert done.code == 0, done.err
    assert "lacks shard-001.gallery" in done.err
    done = run("index", "in-3", cwd=folder)
    assert done.code != 0
    assert "lacks shard-001.gallery" in done.err
