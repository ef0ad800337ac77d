"""Everything that is not as it was written is found, named and, where it is derived, mended."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lookalike import Gallery, Ranking, find, index, train, verify
from lookalike.errors import GalleryUnreadable, NotFound
from lookalike.gallery import schema
from lookalike.gallery.verify import repair
from lookalike.indexing import manifest
from lookalike.indexing.store import StoredTables, TableStore
from lookalike.ranking import Decided
from tests.full_gallery import copied, planted, write_full_gallery
from tests.gallery.samples import flip

QUERY = "film#1"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "g.gallery"
    write_full_gallery(path)
    with Gallery(path) as gallery:
        answers(gallery)
    return path


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    return copied(made, tmp_path)


def answers(gallery: Gallery) -> list[Ranking]:
    """All that is ranked and left out; why it is left out tells times and files, which no order needs."""
    index(gallery, "max_max", preparation="whitened:dimension=3")
    found = find(QUERY, gallery), find(QUERY, gallery, reranker="learnt")
    return [
        replace(each, rejected=tuple(Decided(left_out.id) for left_out in each.rejected)) for each in found
    ]


def test_a_sound_gallery(made: Path) -> None:
    assert verify(made) == []
    with Gallery(made) as gallery:
        assert verify(gallery) == []


def test_progress_is_shown(made: Path) -> None:
    said = []

    def track(items, text, total):
        items = list(items)
        said.append((text, len(items) == total > 0))
        return iter(items)

    verify(made, track)
    assert said == [("checking the file", True), ("checking sets", True), ("checking derived tables", True)]


def test_what_is_no_gallery_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no gallery"):
        verify(tmp_path / "none")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(GalleryUnreadable, match="is not a gallery"):
        verify(tmp_path / "text")


# What is not derived: what is planted, and a word of what is told about it.
PLANTED = {
    "a face is lost": ("DELETE FROM faces WHERE number = 2", "faces"),
    "all faces are lost": ("DELETE FROM faces", "faces"),
    "all faces of a set are lost": ("DELETE FROM faces WHERE set_number = 3", "faces"),
    "a set is lost, not its faces": ("DELETE FROM sets WHERE number = 2", "a face of no set"),
    "all sets are lost": ("DELETE FROM sets", "holds no set"),
    "a face is doubled": (
        "INSERT INTO faces SELECT NULL, set_number, position + 9, checksum, descriptor, source, picture"
        " FROM faces WHERE number = 1",
        "faces",
    ),
    "a face changed its set": ("UPDATE faces SET set_number = 4, position = 3 WHERE number = 1", "faces"),
    "faces changed places": (
        "UPDATE faces SET position = CASE position WHEN 0 THEN 10 ELSE position END WHERE set_number = 1",
        "faces",
    ),
    "a descriptor is of zeros": ("UPDATE faces SET descriptor = zeroblob(24) WHERE number = 5", "checksum"),
    "a descriptor is short": ("UPDATE faces SET descriptor = zeroblob(20) WHERE number = 5", "bytes"),
    "a descriptor is text": ("UPDATE faces SET descriptor = 'x' WHERE number = 5", "no bytes"),
    "descriptors are exchanged": (
        "UPDATE faces SET descriptor = (SELECT descriptor FROM faces WHERE number = 9) WHERE number = 1",
        "checksum",
    ),
    "a checksum changed": ("UPDATE faces SET checksum = zeroblob(32) WHERE number = 7", "checksum"),
    "a source changed": ("UPDATE faces SET source = 'frame 7' WHERE number = 5", "checksum"),
    "a picture changed": ("UPDATE faces SET picture = x'00' WHERE number = 4", "pictures"),
    "a picture is lost": ("UPDATE faces SET picture = NULL WHERE number = 5", "cannot be read back"),
    "a set says other pictures": ("UPDATE sets SET pictures = 0 WHERE number = 2", "pictures"),
    "a set says more faces": ("UPDATE sets SET faces = 4 WHERE number = 2", "faces"),
    "a set says no faces": ("UPDATE sets SET faces = 0 WHERE number = 2", "faces"),
    "a content hash changed": (
        f"UPDATE sets SET content = '{'0' * 64}' WHERE number = 2",
        "do not fit its content hash",
    ),
    "a content hash is none": ("UPDATE sets SET content = 'x' WHERE number = 1", "does not tell"),
    "an id changed": ("UPDATE sets SET id = 'somebody else' WHERE number = 2", "checksum"),
    "an id is none": ("UPDATE sets SET id = char(7) WHERE number = 2", "has no name"),
    "the dimension changed": ("UPDATE facts SET value = '7' WHERE name = 'dimension'", "bytes"),
    "the dimension is none": ("UPDATE facts SET value = 'six' WHERE name = 'dimension'", "numbers"),
    "the dimension is lost": ("DELETE FROM facts WHERE name = 'dimension'", "does not say what made"),
    "the descriptor is lost": ("DELETE FROM facts WHERE name = 'descriptor'", "does not say what made"),
    "the descriptor is a model beside": (
        "UPDATE facts SET value = 'other' WHERE name = 'descriptor'",
        "models",
    ),
    "a sighting is lost": (
        "DELETE FROM sightings WHERE face = (SELECT max(face) FROM sightings)",
        "sightings",
    ),
    "a sighting changed": (
        "UPDATE sightings SET said = replace(said, '0.9', '0.8')"
        " WHERE face = (SELECT max(face) FROM sightings)",
        "sightings",
    ),
    "a sighting of no face": ("INSERT INTO sightings VALUES (9999, '{}')", "a sighting of no face"),
    "a time changed": ("UPDATE sets SET end_seconds = 99 WHERE sighted IS NOT NULL", "sightings"),
    "a count of good faces": ("UPDATE sets SET good = 2 WHERE sighted IS NOT NULL", "good faces"),
    "good faces of nobody knows": ("UPDATE sets SET good = 0 WHERE number = 1", "good faces"),
    "a file changed its path": ("UPDATE files SET path = '/x' WHERE number = 1", "checksum"),
    "a file changed its content": (f"UPDATE files SET content = '{'1' * 64}' WHERE number = 1", "checksum"),
    "a file is no file": ("UPDATE files SET kind = 'song' WHERE number = 1", "entry that is none"),
    "a file is lost, not its sets": ("DELETE FROM files WHERE number = 1", "a file of no set"),
    "a pair points elsewhere": ("UPDATE apart SET first = 'film#2' WHERE second = 'film#1'", "kept apart"),
    "a pair of nobody": (
        "INSERT INTO apart VALUES ('p', 'q', zeroblob(32))",
        "not the pair that was kept apart",
    ),
    "a model is lost, not its vectors": ("DELETE FROM models", "a vector of no face or no model"),
    "a model changed its name": ("UPDATE models SET name = 'another'", "checksum"),
    "a model changed its dimension": ("UPDATE models SET dimension = 6", "checksum"),
    "a model of no numbers": ("UPDATE models SET dimension = 0", "models"),
    "a vector changed": ("UPDATE vectors SET descriptor = zeroblob(20) WHERE number = 4", "checksum"),
    "a vector is lost": ("DELETE FROM vectors WHERE number = 1", "checksum"),
    "a decision changed": ("UPDATE decisions SET name = 'Eve' WHERE number = 1", "checksum"),
    "a decision is lost, not its sets": ("DELETE FROM decisions WHERE number = 2", "a set of no decision"),
    "a decision lost its sets": ("DELETE FROM decision_sets WHERE decision = 2", "checksum"),
    "an event is none": ("UPDATE events SET said = '{'", "history"),
    "an event has no time": ("UPDATE events SET made = 'once'", "history"),
    "a backup is none": ("UPDATE backups SET path = ''", "backups"),
    "what is barred is none": (
        "INSERT INTO barred (event, made, kind, content, checksum) VALUES (1, 'x', 'file', 'x', x'')",
        "block list",
    ),
    "a stranger's trigger": (
        "CREATE TRIGGER t AFTER INSERT ON sets BEGIN DELETE FROM faces; END",
        "trigger t does not belong",
    ),
    "another descriptor": (
        "UPDATE facts SET value = 'lbp:rows=6' WHERE name = 'descriptor'",
        "its descriptor",
    ),
    "another day": (
        "UPDATE facts SET value = '2001-01-01' WHERE name = 'created'",
        "does not fit its checksum",
    ),
    "one fact more": ("INSERT INTO facts VALUES ('model_file', '/tmp/x.onnx')", "does not fit its checksum"),
    "facts without a seal": ("DELETE FROM facts WHERE name = 'seal'", "does not fit its checksum"),
    "another origin": (
        "UPDATE sets SET origin = 'elsewhere' WHERE number = 2",
        "the origin or the time of set",
    ),
    "another time": (
        "UPDATE sets SET added = '2001-01-01' WHERE number = 2",
        "the origin or the time of set",
    ),
    "a set without a seal": ("UPDATE sets SET seal = NULL WHERE number = 2", "the origin or the time of set"),
    "an index is lost": ("DROP INDEX files_by_path", "files_by_path is missing"),
    "a column more": ("ALTER TABLE sets ADD COLUMN person TEXT", "table sets differs"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found(copy: Path, name: str) -> None:
    statement, told = PLANTED[name]
    planted(copy, statement)
    found = verify(copy)
    assert [one for one in found if one.kind == "gallery" and told in one.what], [str(one) for one in found]
    assert all(one.where == str(copy) for one in found if one.kind == "gallery")
    assert all("backup" in one.advice for one in found if one.kind == "gallery")


@pytest.mark.parametrize("name", PLANTED)
def test_no_search_is_misled(made: Path, copy: Path, name: str) -> None:
    """What is wrong is refused, or the answers are those that they were."""
    with Gallery(made) as gallery:
        before = answers(gallery)
    planted(copy, PLANTED[name][0])
    try:
        with Gallery(copy) as gallery:
            after = answers(gallery)
    except GalleryUnreadable:
        return
    assert after == before


def test_an_open_gallery_is_looked_at_again_when_others_have_written(copy: Path) -> None:
    with Gallery(copy) as gallery:
        answers(gallery)
        planted(copy, "DELETE FROM faces WHERE number = (SELECT max(number) FROM faces)")
        with pytest.raises(GalleryUnreadable, match="of its"):
            answers(gallery)


def test_a_set_that_is_damaged_is_named_and_can_be_removed(copy: Path) -> None:
    planted(copy, "UPDATE faces SET descriptor = zeroblob(24) WHERE set_number = 2")
    [one] = verify(copy)
    assert "remove this set" in one.advice
    with Gallery(copy) as gallery:
        gallery.remove(one.sets)
    assert [each for each in verify(copy) if not each.is_derived] == []


def test_pages_that_are_overwritten_are_told(copy: Path) -> None:
    content = bytearray(copy.read_bytes())
    rng, told = random.Random(5), 0
    for page in range(1, len(content) // schema.PAGE_SIZE):
        damaged = bytearray(content)
        start = page * schema.PAGE_SIZE + rng.randrange(8)
        damaged[start : start + 64] = rng.randbytes(64)
        copy.write_bytes(damaged)
        try:
            told += bool(verify(copy))
        except GalleryUnreadable:
            told += 1
    assert told > 0.9 * (len(content) // schema.PAGE_SIZE - 1)


# What is derived.


def tables(path: Path) -> list[StoredTables]:
    return TableStore.beside(path).stored()


def an_index(path: Path) -> StoredTables:
    return next(
        one for one in tables(path) if "similarity" in one.facts and one.facts["preparation"] == "none"
    )


def rewritten(stored: StoredTables, name: str, array: np.ndarray) -> None:
    """Another array in place of one, and a manifest that fits it: only what it says is wrong."""
    entry = stored.manifest.arrays[name]
    (stored.path / entry.file).unlink()
    number = int(entry.file.removesuffix(".npy"))
    described = manifest.Manifest(
        stored.manifest.kind,
        stored.fingerprint,
        stored.manifest.saved,
        dict(stored.facts),
        {**stored.manifest.arrays, name: manifest.write_array(stored.path, number, array)},
    )
    (stored.path / manifest.NAME).unlink()
    manifest.write(stored.path, described)


def test_every_damaged_array_is_found_and_mended(copy: Path) -> None:
    with Gallery(copy) as gallery:
        before = answers(gallery)
        for stored in tables(copy):
            for name, entry in stored.manifest.arrays.items():
                flip(stored.path / entry.file)
                found = verify(gallery)
                assert [(one.where, one.kind) for one in found] == [(str(stored.path), "derived")]
                assert f"array {name!r} in {entry.file}" in found[0].what
                flip(stored.path / entry.file)
        assert verify(gallery) == []
        for stored in tables(copy):
            flip(stored.path / manifest.NAME, 40)
        assert len({one.where for one in verify(gallery)}) == len(tables(copy)) + len(verify(gallery))
        done = repair(gallery, verify(gallery))
        assert not done.left
        assert verify(gallery) == []
        assert answers(gallery) == before


def test_an_index_that_knows_a_removed_set(copy: Path) -> None:
    with Gallery(copy) as gallery:
        gallery.remove([QUERY])
        found = verify(gallery)
        assert found
        assert {one.what for one in found} == {"it knows 1 sets that the gallery does not hold (any more)"}
        repair(gallery, found)
        assert verify(gallery) == []


def test_an_index_of_fewer_sets_is_only_old(copy: Path) -> None:
    from tests.gallery.samples import a_set

    with Gallery(copy) as gallery:
        gallery.add(a_set("new", dimension=6))
        assert verify(gallery) == []


def test_litter_is_told_and_does_no_harm(copy: Path) -> None:
    store = TableStore.beside(copy).folder
    kind = next(each for each in store.iterdir())
    litter = [
        copy.parent / ".new-gallery-0123456789abcdef",
        store / ".DS_Store",
        store / "folder",
        kind / ".writing-0123456789abcdef",
        kind / "empty file",
        next(kind.iterdir()) / "note.txt",
    ]
    for each in litter:
        each.mkdir() if "." not in each.name[1:] and "file" not in each.name else each.write_text("x")
    found = verify(copy)
    assert {one.kind for one in found} == {"litter"}
    assert {one.where for one in found} == {str(each) for each in litter}
    assert all(one.is_harmless for one in found)


def test_a_reranker_is_made_again(copy: Path) -> None:
    with Gallery(copy) as gallery:
        tables_ = index(gallery)
        train(tables_, "learnt", 7, gallery)
        [stored] = [one for one in tables(copy) if one.manifest.kind.endswith("seed 7")]
        flip(stored.path / "0000.npy")
        done = repair(gallery, verify(gallery))
        assert done.rebuilt == (stored.manifest.kind,)
        assert verify(gallery) == []


def test_a_damaged_gallery_is_not_made_sound_by_a_repair(copy: Path) -> None:
    planted(copy, "UPDATE faces SET descriptor = zeroblob(24) WHERE set_number = 2")
    stored = an_index(copy)
    flip(stored.path / "0000.npy")
    with Gallery(copy) as gallery:
        found = verify(gallery)
        done = repair(gallery, found)
        assert done.deleted == (stored.manifest.kind,)
        assert done.rebuilt == ()
        assert [one.kind for one in done.left] == ["gallery"]
    assert json.dumps([str(one) for one in done.left])
