"""What files say of themselves: rates and time codes of films, how photos lie, faces that others marked."""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from lookalike.errors import BadInput, NotFound
from lookalike.ingest.header import (
    DEEPEST,
    MOST_BYTES,
    Header,
    Region,
    as_stored,
    read_header,
    read_headers_apart,
    read_regions,
)
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
