"""Whatever is written is for its owner only, whatever the umask: copies, exports, pictures, reports."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lookalike import Gallery, open_search
from lookalike.evaluation.report import write_report
from lookalike.gallery import backup, decisions, export
from lookalike.gallery.backup import upgrade
from lookalike.gallery.forget import forget
from lookalike.search.picture import draw_ranking
from lookalike.web import uploads
from tests import media
from tests.evaluation.test_folder import page
from tests.gallery.test_upgrade import write_format
from tests.web.asking import asker, fill


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


def held(folder: Path) -> dict[str, int]:
    """Everything below a folder that is open to others; there is something."""
    found = list(folder.rglob("*"))
    assert found
    wanted = {one: 0o700 if one.is_dir() else 0o600 for one in found}
    modes = {one: stat.S_IMODE(one.stat().st_mode) for one in found}
    return {str(one): mode for one, mode in modes.items() if mode != wanted[one]}


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    path = tmp_path / "out" / "g"
    path.parent.mkdir(0o700)
    return fill(path)


def _export(gallery: Gallery, folder: Path) -> None:
    export.export(gallery, folder / "sets.npz", pictures=folder / "pictures")


def _export_person(gallery: Gallery, folder: Path) -> None:
    person = decisions.name(gallery, [gallery.ids()[0]], "Ada")
    export.export_person(gallery, folder / "person", person.name)


def _restore(gallery: Gallery, folder: Path) -> None:
    made = backup.backup(gallery, folder / "copy")
    gallery.close()
    backup.restore(made.path, gallery.path, replace=True)


def _forget(gallery: Gallery, folder: Path) -> None:
    forget(gallery, [gallery.ids()[0]])


def _show(gallery: Gallery, folder: Path) -> None:
    draw_ranking(gallery, open_search(gallery), gallery.ids()[1], folder / "sheet.png")


WRITERS: dict[str, Callable[[Gallery, Path], object]] = {
    "backup": lambda gallery, folder: backup.backup(gallery, folder / "copy"),
    "restore": _restore,
    "export": _export,
    "export of a person": _export_person,
    "export for others": lambda gallery, folder: export.export_as(gallery, folder / "x.csv", "csv"),
    "finding sheet": lambda gallery, folder: export.export_as(gallery, folder / "x.html", "html"),
    "forget": _forget,
    "show": _show,
    "report": lambda gallery, folder: write_report(folder / "report", page("x"), {}),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_written_is_its_owners(filled: Path, name: str) -> None:
    with Gallery(filled) as gallery:
        WRITERS[name](gallery, filled.parent)
        assert held(filled.parent) == {}
    assert held(filled.parent) == {}


def test_an_upgrade_and_what_it_keeps(tmp_path: Path) -> None:
    path = tmp_path / "out" / "g"
    path.parent.mkdir(0o700)
    write_format(path, 2)
    path.chmod(0o600)
    upgrade(path)
    assert {one.name for one in path.parent.iterdir()} == {"g", "g.format-2"}
    assert held(path.parent) == {}


def test_an_upload_while_it_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the disk for a moment only, and then for nobody else."""
    seen: list[dict[str, int]] = []
    look = uploads.Uploads._look

    def watched(self: uploads.Uploads, *given: object, **named: object) -> object:
        assert self._folder is not None
        seen.append(held(self._folder))
        return look(self, *given, **named)

    monkeypatch.setattr(uploads.Uploads, "_look", watched)
    with asker(fill(tmp_path / "g.gallery")) as server:
        said = server.upload(("holiday.jpg", media.photo(tmp_path).read_bytes()))
        assert said.status == 202
        server.done(said.json["number"])
    assert seen == [{}]
