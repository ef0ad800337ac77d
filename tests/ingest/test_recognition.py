"""Files are recognised by what is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike.ingest.files import START, Media, promises_media, recognise
from tests import media

CONTAINERS = {
    ".mp4": "mov",
    ".mov": "mov",
    ".mkv": "matroska",
    ".webm": "matroska",
    ".avi": "avi",
    ".mts": "mpegts",
}


def start(path: Path) -> bytes:
    return path.read_bytes()[:START]


@pytest.mark.parametrize("suffix", CONTAINERS)
def test_films_under_any_name(tmp_path: Path, suffix: str) -> None:
    film = media.video(tmp_path, suffix)
    assert recognise(start(film)) == Media("video", CONTAINERS[suffix])


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp", ".tiff", ".bmp", ".heic", ".gif"])
def test_photos_under_any_name(tmp_path: Path, suffix: str) -> None:
    assert recognise(start(media.photo(tmp_path, suffix))) == Media("photo")


@pytest.mark.parametrize("packet", [188, 192])
def test_transport_streams_with_and_without_time_codes(packet: int) -> None:
    lead = packet - 188
    one = b"\0" * lead + b"G" + b"\x40" * 187
    assert recognise(one * 6) == Media("video", "mpegts")
    assert recognise(b"G" + b"\x40" * 1000) is None


def test_what_names_other_files_is_neither(tmp_path: Path) -> None:
    film = media.video(tmp_path)
    for made in (
        media.playlist(tmp_path, film.name),
        media.disguised_playlist(tmp_path, film.name),
        media.concat_script(tmp_path, film.name),
        media.text(tmp_path),
    ):
        assert recognise(start(made)) is None


@pytest.mark.parametrize("given", [b"", b"\0", b"RIFF", b"PK\x03\x04", b"%PDF-1.7", b"....ftyq"])
def test_the_rest_is_neither(given: bytes) -> None:
    assert recognise(given) is None


def test_names_that_promise_a_film() -> None:
    assert promises_media(Path("a.MP4"))
    assert promises_media(Path("a.jpeg"))
    assert not promises_media(Path("a.txt"))
