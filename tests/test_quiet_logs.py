"""Nothing that is logged names a set, a person or a file, however much of the log is asked for."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike import Gallery, find, index, open_search
from lookalike.errors import LookalikeError
from lookalike.gallery import backup, decisions, export
from lookalike.gallery.forget import forget
from lookalike.gallery.verify import repair, verify
from lookalike.indexing.store import TableStore
from lookalike.ingest.add import add
from lookalike.ingest.footage import add_footage
from lookalike.search.question import read_query
from tests import canaries, media
from tests.cli_process import FRAMES, write_npz
from tests.gallery.samples import flip
from tests.ingest.youtube_miniature import write_youtube_faces
from tests.web.asking import asker

CANARY = "canary"  # in ids, names, origins, files; the folder of the gallery is not called so


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG):
        yield caplog
    assert CANARY not in caplog.text.lower()
    assert not any(CANARY in repr(record.args).lower() for record in caplog.records)


def sources(folder: Path) -> list[Path]:
    """Folders, lists and arrays whose names are canaries, each with something to be logged about."""
    folder.mkdir()
    write_youtube_faces(folder / "canary-ytf", people=2, videos=2, frames=3, distractors=0)
    for path in sorted((folder / "canary-ytf").rglob("*")):
        if path.is_dir() and path.name.startswith("Person_"):
            path.rename(path.with_name(f"Canary_{path.name[-1]}"))
    album = folder / "canary-album" / "canary-person"
    album.mkdir(parents=True)
    media.photo(album).rename(album / "canary.jpg")
    (album / "canary-notes.txt").write_text("canary")
    faces = np.random.default_rng(1).normal(size=(4 * FRAMES, 12)).astype(np.float32)
    ids = [f"canary-{number}" for number in range(4)]
    return [
        write_npz(folder / "canary.npz", ids, embeddings=faces, canary=faces[:, 0].astype(str)),
        folder / "canary-album",
        folder / "canary-ytf",
    ]


def test_adding(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    for number, source in enumerate(sources(tmp_path / "canary-sources")):
        add(tmp_path / f"g{number}", [source])
    assert [record for record in log.records if record.name.startswith("lookalike.ingest")]


def test_looking_for_faces(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "canary-films"
    folder.mkdir()
    media.photo(folder).rename(folder / "canary-one.jpg")
    (folder / "canary-bad.jpg").write_bytes(b"\xff\xd8\xff canary")
    done = add_footage(tmp_path / "g", [folder], "lbp")
    assert done.added
    assert done.failed
    with Gallery(tmp_path / "g") as gallery:
        assert len(read_query(gallery, folder / "canary-one.jpg"))


def test_everything_else(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "g"
    canaries.fill(path)
    with Gallery(path) as gallery:
        find(canaries.IDS[0], gallery)
        open_search(gallery)
        decisions.judge(gallery, canaries.IDS[0], [gallery.ids()[-1]], "same")
        decisions.undo(gallery)
        for stored in TableStore.beside(path).stored():
            flip(stored.path / "0000.npy")
        find(canaries.IDS[0], gallery)
        repair(gallery, verify(gallery))
        index(gallery)
    with Gallery(path) as gallery:
        find(canaries.IDS[0], gallery)
        export.export(gallery, tmp_path / "canary-export.npz")
        backup.backup(gallery, tmp_path / "canary-backup")
        with pytest.raises(LookalikeError):
            find("canary-nobody", gallery)
        forget(gallery, [canaries.IDS[0]])
    assert "is damaged and is made again" in log.text


def test_the_server(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "g"
    canaries.fill(path)
    with asker(path) as server:
        keys = {one["id"]: one["key"] for one in server.get("/api/sets?limit=100")["sets"]}
        server("POST", "/api/searches", {"set": keys[canaries.IDS[0]]})
        server("GET", "/api/sets/canary-key")
        server("GET", "/api/people/canary")
        server("POST", "/api/searches", {"set": "canary"})
