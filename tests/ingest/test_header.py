"""What files say of themselves: rates and time codes of films, how photos lie, faces that others marked."""

from __future__ import annotations

import io
import os
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

from lookalike.errors import BadInput, NotFound
from lookalike.faceset import is_moment
from lookalike.ingest.header import (
    DEEPEST,
    MOST_BYTES,
    Header,
    Region,
    as_stored,
    captured,
    exif_time,
    film_time,
    read_header,
    read_headers_apart,
    read_regions,
)
from tests import media
from tests.exchange.samples import write_film, write_photo

NTSC = Fraction(30_000, 1001)
SPACES = (
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/" '
    'xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#" '
    'xmlns:stDim="http://ns.adobe.com/xap/1.0/sType/Dimensions#" '
    'xmlns:tiff="http://ns.adobe.com/tiff/1.0/" '
    'xmlns:MP="http://ns.microsoft.com/photo/1.2/" '
    'xmlns:MPRI="http://ns.microsoft.com/photo/1.2/t/RegionInfo#" '
    'xmlns:MPReg="http://ns.microsoft.com/photo/1.2/t/Region#"'
)


def packet(body: str) -> bytes:
    return (
        f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF {SPACES}><rdf:Description rdf:about="">'
        f"{body}</rdf:Description></rdf:RDF></x:xmpmeta>"
    ).encode()


# As digiKam and Lightroom write it, and as Picasa and exiftool do: RDF has several ways to say a thing.
ATTRIBUTES = (
    '<mwg-rs:Regions rdf:parseType="Resource">'
    '<mwg-rs:AppliedToDimensions stDim:w="400" stDim:h="200" stDim:unit="pixel"/>'
    "<mwg-rs:RegionList><rdf:Bag><rdf:li>"
    '<rdf:Description mwg-rs:Name="Ada" mwg-rs:Type="Face">'
    '<mwg-rs:Area stArea:x="0.5" stArea:y="0.25" stArea:w="0.2" stArea:h="0.1" stArea:unit="normalized"/>'
    "</rdf:Description></rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>"
)
ELEMENTS = (
    '<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:AppliedToDimensions rdf:parseType="Resource">'
    "<stDim:w>400</stDim:w><stDim:h>200</stDim:h></mwg-rs:AppliedToDimensions>"
    '<mwg-rs:RegionList><rdf:Seq><rdf:li rdf:parseType="Resource"><mwg-rs:Area rdf:parseType="Resource">'
    "<stArea:x>0.5</stArea:x><stArea:y>0.25</stArea:y><stArea:w>0.2</stArea:w><stArea:h>0.1</stArea:h>"
    "</mwg-rs:Area><mwg-rs:Name>Ada</mwg-rs:Name><mwg-rs:Type>Face</mwg-rs:Type></rdf:li>"
    "</rdf:Seq></mwg-rs:RegionList></mwg-rs:Regions>"
)
PIXELS = (
    ATTRIBUTES.replace('x="0.5"', 'x="200"')
    .replace('y="0.25"', 'y="50"')
    .replace('w="0.2"', 'w="80"')
    .replace('h="0.1"', 'h="20"')
    .replace("normalized", "pixel")
)
MICROSOFT = (
    '<MP:RegionInfo rdf:parseType="Resource"><MPRI:Regions><rdf:Bag>'
    '<rdf:li MPReg:Rectangle="0.4, 0.2, 0.2, 0.1" MPReg:PersonDisplayName="Ada"/>'
    "</rdf:Bag></MPRI:Regions></MP:RegionInfo>"
)


@pytest.mark.parametrize("body", [ATTRIBUTES, ELEMENTS, PIXELS, MICROSOFT, ATTRIBUTES + MICROSOFT])
def test_every_way_to_mark_a_face_is_read_alike(body: str) -> None:
    [found] = read_regions(packet(body)).regions
    assert found.name == "Ada"
    assert found.box == pytest.approx((0.4, 0.2, 0.2, 0.1))


def test_what_is_no_face_and_what_is_no_rectangle() -> None:
    focus = ATTRIBUTES.replace('"Face"', '"Focus"')
    assert read_regions(packet(focus)).regions == ()
    for wrong in ('w="0"', 'w="nan"', 'w="1e999"', 'w="-1"', 'w="wide"', f'w="{"1" * 50}"'):
        body = ATTRIBUTES.replace('stArea:w="0.2"', f"stArea:{wrong}")
        assert read_regions(packet(body)).regions == (Region("Ada", None),), wrong
    assert read_regions(packet(MICROSOFT.replace("0.4, 0.2,", ""))).regions == (Region("Ada", None),)


BOMB = b'<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;&x;">]><a>&y;</a>'
OUTSIDE = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (BOMB, "declares a document type"),
        (OUTSIDE, "declares a document type"),
        (b"<!DOCTYPE a SYSTEM 'http://evil.invalid/a.dtd'><a/>", "declares a document type"),
        (b"<a>" * (DEEPEST + 1), "nested more than 100 deep"),
        (b"<a>" + b" " * MOST_BYTES + b"</a>", "more than 16 MB"),
        (b"<a><b></a>", "is not XML"),
        (b"<a>&undefined;</a>", "is not XML"),
        (b"", "is not XML"),
        (packet("")[:50], "is not XML"),
        (b"<a\xff/>", "is not XML"),
    ],
)
def test_xml_of_strangers_is_refused_in_a_sentence(written: bytes, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        read_regions(written)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_boxes_turn_with_their_picture(orientation: int) -> None:
    """Pillow turns the pixels, we turn the box: both say the same."""
    stored = np.zeros((40, 60), dtype=np.uint8)
    stored[5:15, 10:40] = 255
    image = Image.fromarray(stored)
    exif = image.getexif()
    exif[0x0112] = orientation
    written = io.BytesIO()
    image.save(written, "PNG", exif=exif)
    upright = np.asarray(ImageOps.exif_transpose(Image.open(written)))
    rows, columns = np.nonzero(upright)
    height, width = upright.shape
    left, top = columns.min() / width, rows.min() / height
    box = (left, top, (columns.max() + 1) / width - left, (rows.max() + 1) / height - top)
    assert as_stored(box, orientation) == pytest.approx((10 / 60, 5 / 40, 30 / 60, 10 / 40))


@pytest.mark.parametrize(
    ("rate", "code", "suffix"),
    [
        (Fraction(24_000, 1001), "01:00:00:00", ".mov"),
        (Fraction(25), "10:59:59:24", ".mp4"),
        (NTSC, "00:59:59;20", ".mov"),
        (NTSC, "", ".mkv"),
    ],
)
def test_rate_and_time_code_of_a_film(rate: Fraction, code: str, suffix: str, tmp_path: Path) -> None:
    header = read_header(write_film(tmp_path / f"film{suffix}", rate, 12, code))
    assert (header.rate, header.is_variable, header.start) == (rate, False, code)
    assert header.seconds == pytest.approx(float(12 / rate), abs=0.01)


def test_a_rate_that_varies(tmp_path: Path) -> None:
    times = np.cumsum(np.resize([1 / 30, 1 / 12, 1 / 20], 20)).tolist()
    header = read_header(write_film(tmp_path / "film.mp4", Fraction(30), 20, times=times))
    assert header.is_variable
    assert float(header.rate) == pytest.approx(18, abs=1)


def test_photos_sidecars_and_others_in_a_child(tmp_path: Path) -> None:
    photo = write_photo(tmp_path / "photo.jpg", (10, 20, 30, 40), orientation=6)
    marked = tmp_path / "marked.jpg"
    with Image.open(photo) as image:
        image.save(marked, xmp=packet(ATTRIBUTES), exif=image.getexif())
    sidecar = tmp_path / "photo.jpg.xmp"
    sidecar.write_bytes(packet(f"<tiff:Orientation>8</tiff:Orientation>{MICROSOFT}"))
    bomb, text = tmp_path / "bomb.xmp", tmp_path / "text.xmp"
    bomb.write_bytes(BOMB)
    text.write_text("nothing")
    paths = [photo, marked, bomb, sidecar, text, tmp_path / "missing.jpg"]
    plain, named, refused, beside, other, missing = read_headers_apart(paths)
    assert plain == Header(size=(120, 80), orientation=6)
    assert (named.orientation, named.applied, [one.name for one in named.regions]) == (6, (400, 200), ["Ada"])
    assert isinstance(refused, BadInput)
    assert "bomb.xmp' has metadata that declares a document type" in str(refused)
    assert (beside.orientation, beside.size, beside.regions[0].box) == (8, None, (0.4, 0.2, 0.2, 0.1))
    assert isinstance(other, BadInput)
    assert "neither a video, a photo nor an XMP sidecar" in str(other)
    assert isinstance(missing, NotFound)


def test_more_text_than_a_header_of_a_message_may_have(tmp_path: Path) -> None:
    """Names come behind the header: a thousand long ones are no reason to distrust the child."""
    name = "\U0001f600" * 400
    start, item = ATTRIBUTES[: (place := ATTRIBUTES.index("<rdf:li>"))], ATTRIBUTES[place:]
    item, end = item[: (place := item.index("</rdf:Bag>"))], item[place:]
    body = start + item.replace("Ada", name) * 1000 + end
    (tmp_path / "many.xmp").write_bytes(packet(body))
    [header] = read_headers_apart([tmp_path / "many.xmp"])
    assert isinstance(header, Header)
    assert len(header.regions) == 1000
    assert header.regions[-1].name == name


# When photos and films were taken: read from what they say, never guessed, and nonsense is no date.

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


def test_a_tag_that_a_film_has_twice_is_told_once() -> None:
    twice = "2019-07-14T10:30:05.000000Z;2020-07-14T10:30:05.000000Z"
    said = film_time({"creation_time": twice})
    assert said is not None
    assert said.isoformat() == "2020-07-14T10:30:05+00:00"
    assert film_time({"creation_time": "2019-07-14T10:30:05.000000Z;no date"}) is not None
    assert film_time({"creation_time": ";"}) is None


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
