from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, index, open_search
from lookalike.errors import BadInput, Conflict, NotFound, StorageFailed
from lookalike.gallery import decisions, deletion
from lookalike.gallery import opened as purge
from lookalike.gallery.forget import barred_list, find_person, forget, unbar
from lookalike.gallery.verify import verify
from lookalike.ingest.add import add
from tests.canaries import FILE, IDS, NAMES, canary, clues, fill, traces
from tests.small_world import small_world

DEEP = "deep"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    fill(folder / "g")
    return folder


@pytest.fixture
def path(filled: Path, tmp_path: Path) -> Path:
    shutil.copytree(filled, tmp_path / "here")
    return tmp_path / "here" / "g"


def test_the_search_for_traces_finds_them(path: Path) -> None:
    """Otherwise that none are left would prove nothing."""
    found = traces(path.parent, clues(path))
    assert found.pop("g") >= {"picture", "mark", "other", "box", "word", "name"}
    assert {Path(one).parts[0] for one in found} == {"g.derived"}
    assert len({Path(one).parts[1] for one in found}) >= 2, "tables of each similarity"


@pytest.mark.parametrize("bar", [False, True])
def test_nothing_is_left_of_a_person(path: Path, bar: bool) -> None:
    looked_for = clues(path)
    with Gallery(path) as gallery:
        receipt = forget(gallery, person="canary  row", bar=bar, receipt=path.parent / "receipt.json")
        assert set(receipt.sets) == set(IDS)
        # While it is open too, and in the receipt.
        assert traces(path.parent, looked_for) == {}
        assert [one.name for one in decisions.judged(gallery).people.values()] == ["Somebody Else"]
    assert traces(path.parent, looked_for) == {}


def test_the_receipt(path: Path) -> None:
    with Gallery(path) as gallery:
        contents = [gallery.contents()[one] for one in IDS]
        receipt = forget(gallery, list(IDS), receipt=path.parent / "receipt.json")
        assert receipt.is_wiped
    rows = {"sets": 2, "faces": 8, "sightings": 8, "vectors": 8, "apart": 1, "files": 1, "set_files": 2}
    # The verdicts, the one that was undone with its undoing, the name, the other name.
    assert dict(receipt.gone.rows) == rows | {"decisions": 5, "decision_sets": 6}
    assert receipt.gone.pictures == 8
    assert list(receipt.gone.contents) == contents
    assert receipt.gone.files == (FILE.content,)
    assert receipt.originals == (FILE.path,)
    assert len(receipt.derived.rewritten) == 2
    assert any("learnt" in kind or "auto" in kind for kind in receipt.derived.deleted)
    written = path.parent / "receipt.json"
    assert json.loads(written.read_text()) == receipt.facts()
    assert written.stat().st_mode & 0o777 == 0o600


def test_history_keeps_counts_and_hashes_only(path: Path) -> None:
    with Gallery(path) as gallery:
        contents = [gallery.contents()[one] for one in IDS]
        receipt = forget(gallery, list(IDS))
        [event] = gallery.events()
    assert (event.number, event.kind, event.made) == (receipt.gone.event, "forget", receipt.made)
    assert event.said["contents"] == contents
    assert event.said["rows"]["sets"] == 2


def test_what_is_left_ranks_as_if_the_person_had_never_been_there(path: Path) -> None:
    others = small_world(people=4, sets=2)[0]
    with Gallery(path) as gallery:
        forget(gallery, person=NAMES[1])
        found = list(open_search(gallery).find_many(gallery.ids()))
    assert found == list(open_search(others).find_many(sorted(one.id for one in others)))


def test_one_of_two_sets_leaves_the_name_and_the_film(path: Path) -> None:
    with Gallery(path) as gallery:
        receipt = forget(gallery, [IDS[0]])
        assert receipt.gone.files_kept == 1
        assert find_person(gallery, NAMES[1]).sets == (IDS[1],)
        assert gallery.files() == [FILE]


def test_refusals_change_nothing(path: Path) -> None:
    taken = path.parent / "taken"
    taken.write_text("mine")
    before = {one: one.read_bytes() for one in path.parent.rglob("*") if one.is_file()}
    with Gallery(path) as gallery:
        for error, given in (
            (NotFound, {"sets": ["nobody"]}),
            (NotFound, {"sets": [IDS[0], "nobody"]}),
            (NotFound, {"person": "Canary"}),
            (BadInput, {}),
            (BadInput, {"sets": [IDS[0]], "person": NAMES[0]}),
            (BadInput, {"sets": IDS[0]}),
            (BadInput, {"sets": [IDS[0]], "receipt": taken}),
            (BadInput, {"sets": [IDS[0]], "bar_alike": True}),
        ):
            with pytest.raises(error):
                forget(gallery, **given)
        with pytest.raises(NotFound, match="did you mean 'Canary Row'"):
            forget(gallery, person="canary rov")
    assert {one: one.read_bytes() for one in path.parent.rglob("*") if one.is_file()} == before


# Keeping out.


def test_barred_content_does_not_enter_again(path: Path) -> None:
    with Gallery(path) as gallery:
        [receipt] = [forget(gallery, list(IDS), bar=True)]
        assert receipt.gone.barred == {"file": 1, "set": 2, "face": 8}
        faces = canary(0).faces
        for again in (
            canary(0),
            FaceSet("other name", faces, pictures=[b"\x89PNG another"] * 4),
            FaceSet("a part", faces[1:3]),
            FaceSet("half", np.concatenate([faces[:2], small_world(seed=9)[0][0].faces[:2]])),
        ):
            with pytest.raises(Conflict, match="must not enter"):
                gallery.add(again)
            with pytest.raises(Conflict, match="must not enter"):
                gallery.add_together([again])
        with pytest.raises(Conflict, match="was forgotten and must not enter"):
            gallery.keep_file(FILE, [])
        assert gallery.add(FaceSet("a stranger", small_world(seed=9)[0][0].faces))


def test_add_leaves_barred_sets_out_and_says_so(path: Path) -> None:
    source = path.parent.parent / "some.npz"
    stranger = small_world(seed=9)[0][0]
    given = [canary(0), canary(1), FaceSet("stranger", stranger.faces)]
    np.savez(
        source,
        x=np.concatenate([one.faces for one in given]),
        image_set=np.repeat(np.arange(3), 4),
        set_names=np.array([one.id for one in given]),
    )
    with Gallery(path) as gallery:
        forget(gallery, list(IDS), bar=True)
    done = add(path, [source], descriptor="array")
    assert done.added == ["stranger"]
    assert done.barred == list(IDS)
    assert (
        dict(done.remarks)[IDS[0]] == f"set {IDS[0]!r} was left out: it has faces of a set that was forgotten"
    )
    assert add(path, [source], descriptor="array").unchanged == ["stranger"]


def test_what_is_barred_is_listed_and_let_in_again(path: Path) -> None:
    with Gallery(path) as gallery:
        forget(gallery, [IDS[0]], bar=True)
        forget(gallery, [IDS[1]], bar=True)
        first, second = barred_list(gallery)
        assert (first.number, second.number) == (1, 2)
        assert first.counts == {"file": 1, "set": 1, "face": 4}
        assert unbar(gallery, 1) == first
        assert barred_list(gallery) == [second]
        assert gallery.add(canary(0))
        with pytest.raises(Conflict):
            gallery.add(canary(1))
        with pytest.raises(NotFound, match="blocks nothing under 1"):
            unbar(gallery, 1)


def people(count: int = 3, dimension: int = 512) -> np.ndarray:
    return np.random.default_rng(8).normal(size=(count, dimension))


def seen(centre: np.ndarray, seed: int, count: int = 4) -> np.ndarray:
    return centre + 0.1 * np.random.default_rng(seed).normal(size=(count, len(centre)))


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """A gallery whose descriptor can tell people: whether its model is here does not matter."""
    from lookalike.descriptors.lbp import Lbp

    monkeypatch.setattr(Lbp, "same_person", 0.9)
    kind = Lbp().identity
    with Gallery(tmp_path / "deep", create=True) as gallery:
        for number, centre in enumerate(people(dimension=1770)):
            gallery.add(FaceSet(f"p{number}", seen(centre, number)), kind)
    return tmp_path / "deep", kind


def test_a_barred_person_does_not_enter_again(deep: tuple[Path, str]) -> None:
    path, kind = deep
    one, other, _ = people(dimension=1770)
    with Gallery(path) as gallery:
        receipt = forget(gallery, ["p0"], bar_alike=True)
        assert receipt.gone.barred["person"] == 1
        [bar] = barred_list(gallery)
        assert bar.models == (kind,)
        mean = gallery.barred().entries[0].descriptor
        with pytest.raises(Conflict, match="closely resembles somebody who was forgotten"):
            gallery.add(FaceSet("new", seen(one, 44)), kind)
        assert gallery.add(FaceSet("new", seen(other, 44)), kind)
        assert gallery.barred().strangers_to("another model") == 1
        unbar(gallery, bar.number)
        assert gallery.add(FaceSet("newer", seen(one, 44)), kind)
    assert mean is not None
    assert traces(path.parent, {"mean": mean}) == {}, "what was kept on request is wiped with it"


def test_damage_to_what_is_barred_is_found(path: Path) -> None:
    from lookalike.errors import GalleryUnreadable

    with Gallery(path) as gallery:
        forget(gallery, [IDS[0]], bar=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE barred SET content = 'x' WHERE number = 2")
    with (
        Gallery(path) as gallery,
        pytest.raises(GalleryUnreadable, match="block list does not fit its checksum"),
    ):
        gallery.add(canary(0))


# Other places.


def test_backups_that_still_hold_it_are_named(path: Path) -> None:
    folder = path.parent
    with Gallery(path) as gallery:
        gallery.add(FaceSet("one more", small_world(seed=3)[0][0].faces))
    shutil.copy(path, folder / "g.format-3")
    (folder / "elsewhere").mkdir()
    shutil.copy(path, folder / "elsewhere" / "backup")
    with Gallery(folder / "innocent", create=True) as other:
        other.add(FaceSet("a", np.eye(3)))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for where in ("elsewhere/backup", "elsewhere/gone"):
            connection.execute(
                "INSERT INTO backups (made, path) VALUES ('2026-11-16T10:00:00+00:00', ?)",
                (str(folder / where),),
            )
    with Gallery(path) as gallery:
        receipt = forget(gallery, list(IDS))
    assert {(Path(one.path).name, one.state) for one in receipt.copies} == {
        ("backup", deletion.HOLDS),
        ("gone", deletion.MISSING),
        ("g.format-3", deletion.HOLDS),
    }


def test_somebody_who_reads_meanwhile(path: Path) -> None:
    """The receipt does not claim what is not done yet; the next who opens the gallery does it."""
    looked_for = clues(path)
    with Gallery(path) as reader:
        stream = reader.sets()
        next(stream)
        with Gallery(path, wait=0.2) as gallery:
            assert not forget(gallery, list(IDS)).is_wiped
        stream.close()
    with Gallery(path) as gallery:
        assert not gallery.facts()["purge_due"]
    assert traces(path.parent, looked_for) == {}


def test_ten_people_are_forgotten_by_one_wipe(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large file; what each leaves behind is none the less gone from rows, journal and tables."""
    monkeypatch.setattr(purge, "AT_ONCE", 0)
    rewritten = []
    wipe = purge.wipe_file
    monkeypatch.setattr(purge, "wipe_file", lambda *given: rewritten.append(1) or wipe(*given))
    looked_for = clues(path)
    for set_id in (*small_ids(), *IDS)[:10]:
        with Gallery(path) as gallery:
            receipt = forget(gallery, [set_id])
            assert not receipt.is_wiped
            assert receipt.wipe_due == gallery.wipe_due()
            assert receipt.facts()["wipe_due"]["is_overwritten"]
    assert rewritten == []
    assert traces(path.parent, looked_for) == {}
    with Gallery(path) as gallery:
        [finding] = verify(gallery)
        assert (finding.kind, finding.is_harmless) == ("wipe", True)
        assert "a wipe is due" in finding.what
        gallery.add(canary(0))
        assert forget(gallery, [IDS[0]], now=True).is_wiped
        assert verify(gallery) == []
    assert rewritten == [1]
    assert traces(path.parent, looked_for) == {}


def small_ids() -> list[str]:
    return [one.id for one in small_world(people=4, sets=2)[0]]


def test_a_wipe_that_was_asked_for_and_refused_is_due(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(purge, "AT_ONCE", 0)

    def full(*_: object) -> bool:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    looked_for = clues(path)
    with Gallery(path) as gallery:
        with monkeypatch.context() as patch:
            patch.setattr(purge, "wipe_file", full)
            receipt = forget(gallery, list(IDS), now=True)
        assert not receipt.is_wiped
        assert "everything was forgotten, but a wipe is still due" in caplog.text
        assert traces(path.parent, looked_for) == {}
        gallery.wipe()
        assert gallery.wipe_due() is None


def test_tables_of_an_interrupted_removal_go_when_the_gallery_is_opened(path: Path) -> None:
    looked_for = clues(path)
    gallery = Gallery(path)
    gallery.forget(IDS)  # and nobody sees to the tables
    assert gallery.facts()["purge_due"]
    assert traces(path.parent, looked_for)
    with gallery._opened.lock:  # nobody is settling it
        gallery._opened.connection.close()  # as a killed process would
    Gallery(path).close()
    assert traces(path.parent, looked_for) == {}
    with Gallery(path) as gallery:
        assert not gallery.facts()["purge_due"]
        index(gallery)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_everything_is_for_its_owner_only(path: Path) -> None:
    before = os.umask(0o022)
    try:
        with Gallery(path) as gallery:
            forget(gallery, [IDS[0]], bar=True, receipt=path.parent / "receipt")
            index(gallery)
            modes = {one: one.stat().st_mode & 0o777 for one in path.parent.rglob("*")}
    finally:
        os.umask(before)
    assert {mode for one, mode in modes.items() if one.is_file()} == {0o600}
    assert {mode for one, mode in modes.items() if one.is_dir()} == {0o700}


class _Refusing(Gallery):
    """A gallery on a disk that fails once the sets are gone."""

    def wipe_due(self):
        raise StorageFailed(f"the disk refused to read {self.path}")


def test_a_disk_that_fails_when_the_sets_are_gone_does_not_hide_that_they_are(path: Path) -> None:
    """T3: the command said that it had failed, and the same command then found no such set."""
    with _Refusing(path) as gallery:
        receipt = forget(gallery, list(IDS))
        assert not receipt.is_wiped
        assert receipt.made
        assert not set(IDS) & set(gallery.ids())
