"""Photos and films are found wherever they lie, in the order people expect."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from lookalike.errors import BadInput, NotFound, is_folder, readable, unreadable
from lookalike.ingest.files import START, Media, find_files, holds_media, promises_media, recognise
from tests import media


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Two films and three photos in folders, with what else lies in an archive."""
    top = tmp_path / "archive"
    (top / "2019" / "july").mkdir(parents=True)
    (top / ".hidden").mkdir()
    photo, film = media.photo(tmp_path), media.video(tmp_path)
    for name in ("2019/10.jpg", "2019/9.jpg", "2019/july/a.jpg", ".hidden/b.jpg", ".c.jpg", "Thumbs.db"):
        shutil.copy(photo, top / name)
    shutil.copy(film, top / "film.mp4")
    # A film under a name that says something else.
    shutil.copy(film, top / "2019" / "film.dat")
    (top / "notes.txt").write_text("nothing")
    return top


def test_names_albums_and_order(archive: Path) -> None:
    found = find_files(archive)
    assert [(one.name, one.album, one.media.kind) for one in found.media] == [
        ("film.mp4", "archive", "video"),
        ("2019/9.jpg", "2019", "photo"),
        ("2019/10.jpg", "2019", "photo"),
        ("2019/film.dat", "2019", "video"),
        ("2019/july/a.jpg", "2019/july", "photo"),
    ]
    assert found.failed == []
    assert found.others == {"neither photos nor videos": 1, "hidden or of the system": 2, "hidden folders": 1}
    assert "hidden folders: 1" in found.reasons.split(", ")


def test_whether_there_is_anything_is_known_at_the_first(archive: Path, tmp_path: Path) -> None:
    assert holds_media(archive)
    (tmp_path / "empty" / "deep").mkdir(parents=True)
    assert not holds_media(tmp_path / "empty")
    (tmp_path / "empty" / "deep" / "notes.txt").write_text("nothing")
    assert not holds_media(tmp_path / "empty")
    # What a name promises and its content does not keep is worth telling.
    (tmp_path / "empty" / "deep" / "photo.jpg").write_text("nothing")
    assert holds_media(tmp_path / "empty")
    with pytest.raises(NotFound, match="there is no file or folder"):
        holds_media(tmp_path / "nowhere")


def test_a_file_alone_has_no_album(archive: Path) -> None:
    [one] = find_files(archive / "film.mp4").media
    assert (one.name, one.album) == ("film.mp4", "")
    assert one.size == (archive / "film.mp4").stat().st_size
    assert one.sha256() == sha256((archive / "film.mp4").read_bytes()).hexdigest()


def test_what_promises_too_much_is_listed(archive: Path) -> None:
    media.text(archive)
    (archive / "empty.jpg").touch()
    found = find_files(archive)
    assert len(found.media) == 5
    assert sorted(reason.split(": ")[-2].split("' is ")[1] for _, reason in found.failed) == [
        "empty",
        "neither a photo nor a video, whatever its name says",
    ]


def test_a_film_that_is_almost_all_holes_is_listed(archive: Path) -> None:
    """As an unfinished download: to read what is not there would take hours."""
    before = find_files(archive)
    film = archive / "unfinished.mp4"
    with film.open("wb") as file:
        file.write(before.media[0].path.read_bytes()[:100])
        file.truncate(2**30 + 1)
    found = find_files(archive)
    assert found.media == before.media
    assert [reason for _, reason in found.failed if "hardly there" in reason]
    with film.open("r+b") as file:
        file.truncate(2**29)
    assert len(find_files(archive).media) == len(before.media) + 1


def test_links_do_not_lead_round(archive: Path) -> None:
    (archive / "2019" / "up").symlink_to(archive, target_is_directory=True)
    (archive / "lost.mp4").symlink_to(archive / "nowhere")
    os.mkfifo(archive / "pipe.mp4")
    found = find_files(archive)
    assert len(found.media) == 5
    assert found.others["links to folders"] == 1
    assert [Path(name).name for name, _ in found.failed] == ["lost.mp4", "pipe.mp4"]


def test_links_that_lead_out_are_listed_and_not_opened(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever packed a folder does not choose what else of the user's is read."""
    before = find_files(archive)
    outside = tmp_path / "outside" / "private.jpg"
    outside.parent.mkdir()
    shutil.copy(before.media[0].path, outside)
    (archive / "2019" / "one.jpg").symlink_to(outside)
    (archive / "two.mp4").symlink_to(os.path.relpath(outside, archive))
    (archive / "three").symlink_to(outside)
    inside = archive / "again.jpg"
    inside.symlink_to(before.media[0].path)
    opened: list[str] = []
    read = Path.open
    monkeypatch.setattr(Path, "open", lambda path, mode: opened.append(str(path)) or read(path, mode))
    found = find_files(archive)
    assert len(found.media) == len(before.media) + 1
    assert inside in [one.path for one in found.media]
    told = [reason for _, reason in found.failed]
    assert len(told) == 2
    assert all("is a link that leads out of" in reason for reason in told)
    assert found.others == before.others + Counter(["links that lead out"])
    assert str(inside) in opened
    assert not [path for path in opened if path.endswith(("one.jpg", "two.mp4", "three", "private.jpg"))]
    # What is given itself may be a link.
    assert len(find_files(archive / "two.mp4").media) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_an_unreadable_folder_is_listed_as_the_user(archive: Path) -> None:
    (archive / "2019" / "july").chmod(0)
    found = find_files(archive)
    assert len(found.media) == 4
    assert "may not be read" in found.failed[0][1]


def test_an_unreadable_folder_is_listed(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refusing(path: str | os.PathLike[str]) -> object:
        if str(path).endswith("july"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = find_files(archive)
    assert len(found.media) == 4
    [(place, reason)] = found.failed
    assert place.endswith("july")
    assert "may not be read" in reason


def test_strange_names_are_written_out(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    for path in media.under_strange_names(media.photo(folder)):
        assert path.exists()
    names = [one.name for one in find_files(folder).media]
    assert len(names) >= 2
    assert all(name.isprintable() for name in names)
    assert len(set(names)) == len(names)


def test_sources_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file or folder"):
        find_files(tmp_path / "missing")
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(BadInput, match="neither a photo nor a video"):
        find_files(tmp_path / "a.txt")
    assert find_files(tmp_path).media == []


# Files are recognised by what is in them.

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


# Paths in sentences: any path can be written, any refusal of the disk becomes words.


def test_readable_is_always_valid_text():
    assert readable("a/ü.jpg") == "a/ü.jpg"
    assert readable(os.fsdecode(b"a\xff.jpg")) == r"a\xff.jpg"
    assert readable("half \ud800").encode("utf-8") == rb"half \ud800"


@pytest.mark.parametrize(
    ("reason", "kind", "words"),
    [
        (FileNotFoundError(2, "No such file"), NotFound, "no file or folder 'x'"),
        (NotADirectoryError(20, "Not a directory"), NotFound, "check the path"),
        (PermissionError(13, "Permission denied"), BadInput, "permission"),
        (OSError(5, "Input/output error"), BadInput, "Input/output error"),
        (ValueError("embedded null byte"), BadInput, "null byte"),
    ],
)
def test_refusals_of_the_disk(tmp_path, reason, kind, words):
    error = unreadable(tmp_path.relative_to(tmp_path) / "x", reason)
    assert type(error) is kind
    assert words in str(error)


def test_folder_or_file(tmp_path):
    (tmp_path / "file").touch()
    assert is_folder(tmp_path)
    assert not is_folder(tmp_path / "file")


def test_neither_folder_nor_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="neither a file nor a folder"):
        is_folder(tmp_path / "pipe")
    with pytest.raises(NotFound, match="missing"):
        is_folder(tmp_path / "missing")
    for odd in ("a\0b", "half \ud800", "x" * 300):
        with pytest.raises(BadInput):
            is_folder(tmp_path / odd)


def test_link_to_itself(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(BadInput, match="loop"):
        is_folder(tmp_path / "loop")
