"""Scan: what a film shows does not depend on how many threads look at it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lookalike.demo.footage import draw_footage, write_footage
from lookalike.errors import BadInput
from lookalike.ingest import tracks as scanning
from lookalike.ingest.seen import SeenFile, SeenTrack, Settings
from lookalike.ingest.tracks import scan
from tests import media

pytest.importorskip("cv2")
STREET = Path(os.environ.get("LOOKALIKE_DATA", "there is none")) / "films" / "street.mp4"


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine seconds with cuts, and with two people in some of the shots."""
    path = tmp_path_factory.mktemp("films") / "film.mp4"
    drawn = draw_footage(4, 9.0, size=(320, 180), rate=10.0)
    write_footage(path, drawn.frames(), drawn.rate)
    return path


def tracks(path: Path, settings: Settings, threads: int) -> list[SeenTrack]:
    return [told for told in scan(path, settings, threads) if isinstance(told, SeenTrack)]


@pytest.mark.parametrize("settings", [Settings(), Settings(rate=10.0, since=1.5, until=5.0)])
def test_the_number_of_threads_changes_nothing(film: Path, settings: Settings) -> None:
    one, several = (tracks(film, settings, threads) for threads in (1, 3))
    assert one == several
    assert len(one) > 2


def test_a_film_ends_with_its_length_however_many_look(film: Path) -> None:
    for threads in (1, 3):
        *_, end = scan(film, Settings(), threads)
        assert isinstance(end, SeenFile)
        assert end.seconds == pytest.approx(9.0)


def test_it_says_how_far_it_is(film: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "OFTEN", -1.0)
    times = [told for told in scan(film, Settings(), 2) if isinstance(told, float)]
    assert times == pytest.approx([number / 10 for number in range(90)], abs=0.01)


def test_a_film_that_breaks_off_is_refused_however_many_look(tmp_path: Path) -> None:
    for threads in (1, 2):
        with pytest.raises(BadInput):
            list(scan(media.empty_video(tmp_path), Settings(), threads))


@pytest.mark.skipif(not STREET.is_file(), reason="no real film")
def test_a_street_holds_as_many_faces_as_looking_at_more_pixels_finds() -> None:
    few, many = (tracks(STREET, Settings(most=10**6, frame=frame), 1) for frame in (Settings().frame, 1280))
    found, wanted = (sum(len(track.sightings) for track in some) for some in (few, many))
    assert found >= 115 / 122 * wanted
    assert len(few) >= len(many)
