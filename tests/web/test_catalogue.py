"""The list of sets that the page holds: orders, filters, what it takes in and when it reads all anew."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike import FaceSet, Gallery
from lookalike.errors import NotFound, StorageFailed
from lookalike.gallery import set_rows
from lookalike.gallery.forget import remove
from lookalike.gallery.media import MediaFile
from lookalike.gallery.set_rows import Columns
from lookalike.web import catalogue
from lookalike.web.catalogue import Catalogue, Catalogues, key_of
from tests.waiting import PATIENCE, until
from tests.web.asking import fill


def test_a_catalogue_keeps_up(tmp_path: Path) -> None:
    path = fill(tmp_path / "g.gallery")
    with Gallery(path) as gallery, Gallery(path) as other:
        catalogues = Catalogues(gallery)
        first = catalogues.now()
        catalogues._next = math.inf  # it was looked at a moment ago
        assert catalogues.now() is first
        other.add(_noise("theirs", 1))
        assert catalogues.now() is first
        second = catalogues.now(at_once=True)
        assert second.id(key_of("theirs")) == "theirs"
        assert len(second.ids) == len(first.ids) + 1
        with pytest.raises(NotFound):
            first.id(key_of("theirs"))


def test_what_this_process_did_is_there_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without reading the whole list; a list read from the start says the same."""
    read = catalogue.whole
    with Gallery(fill(tmp_path / "g.gallery")) as gallery:
        catalogues = Catalogues(gallery)
        catalogues.now()
        with monkeypatch.context() as patched:
            patched.setattr(catalogue, "whole", None)
            for change in (
                lambda: gallery.add(_noise("clip-0005", 1)),  # between two others, as people read it last
                lambda: gallery.add_together([_noise("zoë", 2), _noise("Ahmed", 3)]),
                lambda: remove(gallery, ["clip-000", "clip-017", "zoë"]),
                lambda: gallery.keep_file(
                    MediaFile("b" * 64, "/films/b.mp4", 1, 1, "video"), [], [_noise("Ahmed", 4)]
                ),
                lambda: gallery.keep_file(
                    MediaFile("a" * 64, "/films/Ölberg.mp4", 1, 1, "video"), [_noise("clip-000", 5)]
                ),
                lambda: gallery.keep_file(MediaFile("a" * 64, "/films/moved.mp4", 1, 2, "video"), []),
                lambda: remove(gallery, list(gallery.ids())),
                lambda: gallery.add(_noise("alone", 6)),
            ):
                before = catalogues.now()
                change()
                now = catalogues.now()
                assert now is not before
                assert _told(now) == _told(read(gallery))


def _noise(set_id: str, seed: int) -> FaceSet:
    return FaceSet(set_id, np.random.default_rng(seed).normal(size=(1 + seed, 12)), origin=f"of {seed}")


def _told(found: Catalogue) -> object:
    """All that a catalogue says."""
    orders = [[found.names[row] for row in order] for order in (found.natural, found.newest, found.largest)]
    filters = [found.called("clip"), found.from_place("öl"), found.from_place("moved"), found.mostly_clear()]
    keys = {key: found.id(key) for key in found.keys.values()}
    return (
        dict(found.facts),
        dict(found.contents),
        keys,
        orders,
        [one.tolist() for one in filters],
        found.faces,
        found.version,
    )


def test_many_changes_of_this_process_are_read_all_at_once(tmp_path: Path) -> None:
    with Gallery(fill(tmp_path / "g.gallery")) as gallery:
        catalogues = Catalogues(gallery)
        catalogues.now()
        gallery.add_together([_noise(f"new-{number}", 1) for number in range(catalogue.MOST_CHANGED + 1)])
        until(lambda: len(catalogues.now().facts) == 18 + catalogue.MOST_CHANGED + 1)


def test_a_large_list_is_read_aside_and_nobody_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, go, held = fill(tmp_path / "g.gallery"), threading.Event(), threading.Event()
    read = catalogue.whole

    def slow(gallery: Gallery) -> Catalogue:
        found = read(gallery)
        held.set()
        assert go.wait(PATIENCE)
        return found

    with Gallery(path) as gallery, Gallery(path) as other:
        catalogues = Catalogues(gallery)
        first = catalogues.now()
        other.add(_noise("theirs", 1))
        monkeypatch.setattr(catalogue, "whole", slow)
        catalogues._took, catalogues._next = math.inf, 0.0
        assert catalogues.now() is first
        assert held.wait(PATIENCE)
        # What is done here meanwhile is there at once, and stays when the list was read.
        gallery.add(_noise("own", 2))
        remove(gallery, ["clip-003"])
        assert catalogues.now().facts.keys() ^ first.facts.keys() == {"own", "clip-003"}
        go.set()
        until(lambda: "theirs" in catalogues.now().facts)
        assert catalogues.now().facts.keys() ^ first.facts.keys() == {"own", "theirs", "clip-003"}


def test_who_asks_after_a_list_could_not_be_read_aside_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(gallery: Gallery) -> Catalogue:
        raise StorageFailed("the disk is gone")

    path = fill(tmp_path / "g.gallery")
    with Gallery(path) as gallery, Gallery(path) as other:
        catalogues = Catalogues(gallery)
        catalogues.now()
        other.add(_noise("theirs", 1))
        monkeypatch.setattr(catalogue, "whole", torn)
        catalogues._took, catalogues._next = math.inf, 0.0
        catalogues.now()
        assert catalogues._looking.acquire(timeout=PATIENCE)
        catalogues._looking.release()
        with pytest.raises(StorageFailed, match="gone"):
            catalogues.now()


def test_a_catalogue_is_of_one_version_however_fast_others_add(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, looked = fill(tmp_path / "g.gallery"), []
    columns = set_rows.columns

    def meddled(*given: Any) -> Iterator[Columns]:
        for some in columns(*given):
            looked.append(None)
            assert len(looked) < 50, "it looks again and again"
            with Gallery(path) as other:
                other.add(_noise(f"new-{len(looked)}", len(looked)))
            yield some

    monkeypatch.setattr(set_rows, "columns", meddled)
    monkeypatch.setattr(set_rows, "AT_A_TIME", 5)
    with Gallery(path) as gallery:
        catalogues = Catalogues(gallery)
        first = catalogues.now()
        assert (len(looked), len(first.facts), first.facts.keys()) == (4, 18, first.contents.keys())
        second = catalogues.now(at_once=True)
        assert (len(looked), len(second.facts), second.facts.keys()) == (9, 22, second.contents.keys())
        assert second.version != first.version
