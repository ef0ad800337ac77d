"""Split: all of a gallery is in the collection, the gallery stays, and what is half done does not open."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from lookalike import Gallery, find, open_gallery
from lookalike.errors import BadInput, GalleryUnreadable, NotFound, StorageFailed
from lookalike.sharding import split
from tests.collection import children
from tests.collection.samples import a_set, write_format_1
from tests.full_gallery import planted, write_full_gallery
from tests.shards import answers

SHARDS = (1, 2, 3, 7)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "g"
    write_full_gallery(path)
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    shutil.copy(made, tmp_path / "g")
    return tmp_path / "g"


@pytest.mark.parametrize("shards", SHARDS)
def test_everything_is_there(path: Path, tmp_path: Path, shards: int) -> None:
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    done = split(path, tmp_path / "d", shards)
    assert (done.sets, done.shards) == (15, shards)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    with open_gallery(path) as whole, open_gallery(tmp_path / "d") as spread:
        assert answers(spread) == answers(whole)
        assert [one.path for one in spread.backups()] == ["/backups/one", str(path)]
        assert len(spread.shards) == shards
        assert [one.facts()["created"] for one in spread.shards] == [whole.facts()["created"]] * shards
        # Numbers that were used are not used again.
        one, other = whole.ids()[:2]
        numbers = [
            gallery.decide(lambda log, apart: [_unsure(one, other)])[0].number for gallery in (whole, spread)
        ]
        assert numbers[0] == numbers[1]


def _unsure(one: str, other: str):
    from lookalike.decision import draft

    return draft("unsure", (one, other))


@pytest.mark.parametrize("reranker", ["baseline", "learnt:references=3", "adaptive"])
def test_rankings_are_the_same_to_the_last_bit(path: Path, tmp_path: Path, reranker: str) -> None:
    split(path, tmp_path / "d", 3)
    with open_gallery(path) as whole, open_gallery(tmp_path / "d") as spread:
        for query in (whole.ids()[0], "film#1", whole.get(whole.ids()[3])):
            assert find(query, spread, reranker=reranker) == find(query, whole, reranker=reranker)
        assert (tmp_path / "d" / "derived").is_dir()
        assert not list(tmp_path.glob("d.derived"))


def test_a_film_whose_sets_lie_in_two_shards(tmp_path: Path) -> None:
    """Ids of their own may lead anywhere: the film is told by both shards, and is one film."""
    from tests.collection.samples import a_file

    with Gallery(tmp_path / "g", create=True) as gallery:
        gallery.keep_file(a_file(), [a_set(one, seed) for seed, one in enumerate("abcdef")])
    split(tmp_path / "g", tmp_path / "d", 2)
    with open_gallery(tmp_path / "g") as whole, open_gallery(tmp_path / "d") as spread:
        assert all(len(one) for one in spread.shards)
        assert answers(spread) == answers(whole)
        for gallery in (whole, spread):
            gallery.keep_file(a_file(size=99), [])
        assert answers(spread) == answers(whole)
        gone = [gallery.forget(list("ab"), bar=True) for gallery in (whole, spread)]
        assert gone[0] == gone[1]
        gone = [gallery.forget(list("cdef")) for gallery in (whole, spread)]
        assert gone[0] == gone[1]
        assert answers(spread) == answers(whole)


def test_what_is_refused(path: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    write_format_1(tmp_path / "old", [a_set()])
    split(path, tmp_path / "d", 2)
    for source, folder, error, sentence in (
        (path, "full", BadInput, "is not empty (it holds mine.txt)"),
        (path, "file", BadInput, "is a file, and a collection is a folder"),
        (path, "d", BadInput, "is not empty (it holds manifest.json)"),
        (path, "none/d", NotFound, "does not exist: make it first"),
        (tmp_path / "none", "new", NotFound, "there is no gallery"),
        (tmp_path / "old", "new", BadInput, "is of format 1, and only format 5 is split"),
        (tmp_path / "d", "new", BadInput, "is a collection in several files already"),
        (tmp_path / "d" / "shard-001.gallery", "new", BadInput, "is a shard of a collection"),
        (tmp_path / "file", "new", GalleryUnreadable, "is not a gallery"),
    ):
        with pytest.raises(error) as refused:
            split(source, tmp_path / folder, 3)
        assert sentence in str(refused.value)
    with pytest.raises(BadInput, match="1 to 1000 shards, got 1001"):
        split(path, tmp_path / "new", 1001)
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "full" / "mine.txt").read_text() == "mine"


def test_a_damaged_gallery_is_not_split(path: Path, tmp_path: Path) -> None:
    planted(path, "DELETE FROM faces WHERE number = 4", "UPDATE sightings SET face = 9999 WHERE face = 40")
    with pytest.raises(GalleryUnreadable, match="was not split: look at"):
        split(path, tmp_path / "d", 2)
    with pytest.raises(GalleryUnreadable, match="was not finished by `lookalike split`"):
        open_gallery(tmp_path / "d")


@pytest.mark.parametrize("where", ["create", "publish", "sync", "replace"])
@pytest.mark.parametrize("times", [1, 3])
def test_killed_half_way(path: Path, tmp_path: Path, where: str, times: int) -> None:
    code = """
    import os
    from lookalike import disk
    from lookalike.sharding import split
    real, left = getattr(disk, sys.argv[3]), int(sys.argv[4])
    def dying(*given):
        global left
        left -= 1
        if not left:
            os._exit(9)
        return real(*given)
    setattr(disk, sys.argv[3], dying)
    split(sys.argv[1], sys.argv[2], 3)
    """
    folder = tmp_path / "d"
    worker = children.start(code, path, folder, where, times)
    worker.communicate(timeout=600)
    if (where, times) == ("replace", 3):
        assert worker.returncode == 0  # it is called once
        return
    assert worker.returncode == 9
    with pytest.raises((GalleryUnreadable, NotFound)):
        open_gallery(folder).close()
    split(path, folder, 3)
    with open_gallery(path) as whole, open_gallery(folder) as spread:
        assert answers(spread) == answers(whole)
    assert sorted(one.name for one in folder.iterdir()) == [
        "manifest.json",
        *(f"shard-00{place}.gallery" for place in range(3)),
    ]


def test_nobody_adds_meanwhile(path: Path, tmp_path: Path) -> None:
    tried = []

    def track(steps, text, total):
        for one in steps:
            with Gallery(path, wait=0.1) as gallery, pytest.raises(StorageFailed) as refused:
                gallery.add(a_set("late", dimension=6))
            tried.append(str(refused.value))
            yield one

    split(path, tmp_path / "d", 2, track)
    assert len(tried) == 2
    assert "another process is writing" in tried[0]
