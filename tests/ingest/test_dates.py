"""When photos and films were taken: read from what they say, never guessed, and nonsense is no date."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import av
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lookalike.errors import NotFound
from lookalike.faceset import is_moment
from lookalike.ingest.header import captured, exif_time, film_time
from tests import media

ORIGINAL, OFFSET, DIGITISED, CHANGED, MAKER = 0x9003, 0x9011, 0x9004, 0x0132, 0x010F


def dated_photo(path: Path, original: str | None, offset: str | None = None, **others: str) -> Path:
    """A photo whose EXIF says these things."""
    exif = Image.Exif()
    exif[MAKER] = "drawn"  # Pillow writes none that says nothing at its top
    inner = exif.get_ifd(0x8769)
    for tag, said in ((ORIGINAL, original), (OFFSET, offset), (DIGITISED, others.get("digitised"))):
        if said is not None:
            inner[tag] = said
    if "changed" in others:
        exif[CHANGED] = others["changed"]
    media.face().save(path, exif=exif)
    return path


def dated_film(path: Path, **tags: str) -> Path:
    """A film of one black frame whose container says these things."""
    options = {"movflags": "use_metadata_tags"} if path.suffix in (".mp4", ".mov") else {}
    with av.open(path, "w", options=options) as container:
        container.metadata.update({name.replace("__", "."): said for name, said in tags.items()})
        stream = container.add_stream("mpeg4" if path.suffix != ".webm" else "libvpx", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for _ in range(3):
            frame = av.VideoFrame(64, 48, "yuv420p")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(
    ("original", "offset", "said"),
    [
        ("2019:07:14 12:30:05", None, "2019-07-14T12:30:05"),
        ("2019:07:14 12:30:05", "+02:00", "2019-07-14T12:30:05+02:00"),
        ("2019:07:14 12:30:05", "-09:30", "2019-07-14T12:30:05-09:30"),
        ("2019:07:14 12:30:05", "   :  ", "2019-07-14T12:30:05"),
        ("2000:02:29 00:00:00", None, "2000-02-29T00:00:00"),
        ("1955:11:05 06:15:00", None, "1955-11-05T06:15:00"),  # a print that was scanned and dated by hand
        ("2001:02:29 00:00:00", None, ""),  # no such day
        ("0000:00:00 00:00:00", None, ""),
        ("    :  :     :  :  ", None, ""),
        ("1904:01:01 00:00:00", None, ""),
        ("1904:06:01 00:00:00", None, ""),
        ("1970:01:01 00:00:00", None, ""),
        ("1980:01:01 00:00:00", None, ""),
        ("2106:02:07 06:28:15", None, ""),
        ("9999:12:31 23:59:59", "-23:59", ""),
        ("0001:01:01 00:00:00", "+14:00", ""),
        ("last summer", None, ""),
        ("", None, ""),
        (None, "+02:00", ""),
    ],
)
def test_a_photo_says_when_it_was_taken(
    tmp_path: Path, original: str | None, offset: str | None, said: str
) -> None:
    assert captured(dated_photo(tmp_path / "photo.jpg", original, offset)) == said


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp"])
def test_every_format_that_holds_exif(tmp_path: Path, suffix: str) -> None:
    path = dated_photo(tmp_path / f"photo{suffix}", "2019:07:14 12:30:05", "+02:00")
    assert captured(path) == "2019-07-14T12:30:05+02:00"


def test_a_photo_of_a_telephone(tmp_path: Path) -> None:
    import pillow_heif

    exif = Image.Exif()
    exif.get_ifd(0x8769)[ORIGINAL] = "2021:12:24 18:00:00"
    pillow_heif.from_pillow(media.face()).save(tmp_path / "a.heic", exif=exif.tobytes())
    assert captured(tmp_path / "a.heic") == "2021-12-24T18:00:00"


def test_no_other_date_is_taken_for_it(tmp_path: Path) -> None:
    """Not when it was changed or scanned, nor its name, nor its time on the disk."""
    path = dated_photo(
        tmp_path / "IMG_20190714_123005.jpg",
        None,
        changed="2019:07:14 12:30:05",
        digitised="2018:01:01 00:00:01",
    )
    os.utime(path, (1_500_000_000, 1_500_000_000))
    assert captured(path) == ""


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ({"creation_time": "2019-07-14T10:30:05.000000Z"}, "2019-07-14T10:30:05+00:00"),
        ({"creation_time": "1904-01-01T00:00:00.000000Z"}, ""),
        ({"creation_time": "1970-01-01T00:00:00.000000Z"}, ""),
        ({"creation_time": "2106-02-07T06:28:15.000000Z"}, ""),
        ({"creation_time": "soon"}, ""),
        (
            {
                "com.apple.quicktime.creationdate": "2019-07-14T12:30:05+0200",
                "creation_time": "2020-01-01T00:00:09Z",
            },
            "2019-07-14T12:30:05+02:00",
        ),
        (
            {"com.apple.quicktime.creationdate": "never", "creation_time": "2020-01-01T00:00:09Z"},
            "2020-01-01T00:00:09+00:00",
        ),
        ({"date": "2011"}, ""),  # a year of publication is no time of recording
        ({}, ""),
    ],
)
def test_tags_of_a_film(tags: dict[str, str], said: str) -> None:
    found = film_time(tags)
    assert ("" if found is None else found.isoformat(timespec="seconds")) == said


@pytest.mark.parametrize("suffix", [".mp4", ".mov", ".mkv"])
def test_a_film_says_when_it_was_taken(tmp_path: Path, suffix: str) -> None:
    path = dated_film(tmp_path / f"film{suffix}", creation_time="2019-07-14T10:30:05.000000Z")
    assert captured(path) == "2019-07-14T10:30:05+00:00"
    assert captured(dated_film(tmp_path / f"silent{suffix}")) == ""


def test_a_date_that_has_not_come_yet_is_none(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    for days, is_told in ((-1, True), (3, False)):
        said = f"{now + timedelta(days=days):%Y:%m:%d %H:%M:%S}"
        assert (exif_time(said) is not None) == is_told


@pytest.mark.parametrize("make", [media.truncated_photo, media.bomb, media.text, media.truncated_video])
def test_what_is_damaged_says_nothing(tmp_path: Path, make) -> None:
    assert captured(make(tmp_path)) == ""


def test_what_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        captured(tmp_path / "gone.jpg")


@given(st.one_of(st.text(), st.binary(), st.none(), st.integers()), st.one_of(st.text(), st.binary()))
def test_whatever_stands_there_is_a_time_or_none(said: object, offset: object) -> None:
    found = exif_time(said, offset)
    assert found is None or is_moment(found.isoformat(timespec="seconds"))


@given(
    st.datetimes(min_value=datetime(1981, 1, 1), max_value=datetime(2026, 1, 1)).map(
        lambda one: one.replace(microsecond=0)
    ),
    st.integers(-14 * 60, 14 * 60),
)
def test_a_time_is_read_as_it_was_written(time: datetime, minutes: int) -> None:
    sign, hours = "+-"[minutes < 0], divmod(abs(minutes), 60)
    found = exif_time(f"{time:%Y:%m:%d %H:%M:%S}\0", f"{sign}{hours[0]:02d}:{hours[1]:02d}")
    assert found is not None
    assert found.replace(tzinfo=None) == time
    assert found.utcoffset() == timedelta(minutes=minutes)
