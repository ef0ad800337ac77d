"""Pictures: what is read, how it is turned and scaled, what damage does."""

import contextlib
import io
import os
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies
from PIL import Image

from lookalike.errors import BadInput, NotFound
from lookalike.ingest import pictures
from lookalike.ingest.pictures import STRIP, decode_picture, encode_picture, looks_like_picture, read_picture


def smooth(height: int = 40, width: int = 30, colour: bool = False) -> np.ndarray:
    """A ramp with a different value in each corner: top left dark, bottom right light."""
    ramp = np.add.outer(np.arange(height) * 4, np.arange(width) * 2).astype(np.uint8)
    return np.stack([ramp, ramp // 2, 255 - ramp], axis=2) if colour else ramp


def encoded(image: Image.Image, kind: str, **options) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "GIF", "PPM"])
def test_lossless_formats_whatever_the_name(tmp_path, kind):
    picture = smooth()
    (tmp_path / "x.jpg").write_bytes(encoded(Image.fromarray(picture), kind))
    found = read_picture(tmp_path / "x.jpg")
    assert found.dtype == np.uint8
    # A GIF has a palette, which is read as colour.
    np.testing.assert_array_equal(found if found.ndim == 2 else found[:, :, 0], picture)


@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
def test_lossy_formats_in_colour(tmp_path, kind):
    picture = smooth(colour=True)
    (tmp_path / "x").write_bytes(encoded(Image.fromarray(picture), kind, quality=95))
    found = read_picture(tmp_path / "x")
    assert found.shape == picture.shape
    assert np.abs(found.astype(int) - picture).mean() < 4


def test_every_format_is_recognised_by_its_start():
    for kind in pictures.FORMATS:
        assert looks_like_picture(encoded(Image.fromarray(smooth()), kind)[: pictures.START]), kind
    for other in (
        b"",
        b"PK\x03\x04",
        b"BMW is a car, not a bitmap",
        b"P5",
        b"%PDF-1.7",
        b"RIFF1234WAVEfmt ",
        b"\xff\xd8",
    ):
        assert not looks_like_picture(other[: pictures.START]), other


@pytest.mark.parametrize(
    ("orientation", "turn"),
    [
        (1, lambda a: a),
        (2, np.fliplr),
        (3, lambda a: np.rot90(a, 2)),
        (6, lambda a: np.rot90(a, -1)),
        (8, np.rot90),
    ],
)
def test_orientation_of_the_camera(tmp_path, orientation, turn):
    picture = smooth()
    exif = Image.Exif()
    exif[0x0112] = orientation
    (tmp_path / "x.png").write_bytes(encoded(Image.fromarray(picture), "PNG", exif=exif))
    np.testing.assert_array_equal(read_picture(tmp_path / "x.png"), turn(picture))


def test_sixteen_bits_keep_their_upper_byte(tmp_path):
    deep = smooth().astype(np.uint16) * 256 + 7
    for kind in ("PNG", "TIFF"):
        (tmp_path / "x").write_bytes(encoded(Image.fromarray(deep), kind))
        np.testing.assert_array_equal(read_picture(tmp_path / "x"), smooth())


def test_thirty_two_bits_are_refused(tmp_path):
    Image.fromarray(smooth().astype(np.float32)).save(tmp_path / "x.tif")
    with pytest.raises(BadInput, match=r"x\.tif.*8 bits"):
        read_picture(tmp_path / "x.tif")


def test_transparent_is_black(tmp_path):
    see_through = np.full((4, 4, 4), 200, dtype=np.uint8)
    see_through[:2, :, 3], see_through[2:, :, 3] = 0, 255
    Image.fromarray(see_through).save(tmp_path / "colour.png")
    assert read_picture(tmp_path / "colour.png")[:, 0, 1].tolist() == [0, 0, 200, 200]
    Image.fromarray(see_through[:, :, 2:]).save(tmp_path / "gray.png")
    assert read_picture(tmp_path / "gray.png")[:, 0].tolist() == [0, 0, 200, 200]


@pytest.mark.parametrize("mode", ["1", "P", "CMYK", "YCbCr"])
def test_other_colour_spaces(tmp_path, mode):
    Image.new("RGB", (8, 6), (255, 255, 255)).convert(mode).save(tmp_path / "x.tif")
    found = read_picture(tmp_path / "x.tif")
    assert found.shape[:2] == (6, 8)
    assert found.min() >= 250


@pytest.mark.parametrize("content", [b"", b"no picture", encoded(Image.fromarray(smooth()), "PNG")[:40]])
def test_not_a_picture(tmp_path, content):
    (tmp_path / "x.jpg").write_bytes(content)
    with pytest.raises(BadInput, match=r"x\.jpg"):
        read_picture(tmp_path / "x.jpg")


def test_truncated_picture(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64), dtype=np.uint8)
    for kind in pictures.FORMATS:
        whole = encoded(Image.fromarray(noise), kind)
        (tmp_path / "x").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(BadInput, match="x"):
            read_picture(tmp_path / "x")


def test_formats_outside_the_list_are_refused(tmp_path):
    # Pillow could read it, but the fewer decoders meet strangers' files the better.
    Image.fromarray(smooth()).save(tmp_path / "x.tga")
    with pytest.raises(BadInput, match="known format: use one of JPEG"):
        read_picture(tmp_path / "x.tga")


def test_missing_folder_pipe(tmp_path):
    with pytest.raises(NotFound, match="missing"):
        read_picture(tmp_path / "missing.jpg")
    with pytest.raises(BadInput, match="is a folder"):
        read_picture(tmp_path)
    os.mkfifo(tmp_path / "pipe.jpg")
    with pytest.raises(BadInput, match="neither"):
        read_picture(tmp_path / "pipe.jpg")


def test_too_many_pixels_are_refused_before_decoding(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "MOST_PIXELS", 1000)
    (tmp_path / "x.png").write_bytes(encoded(Image.fromarray(smooth()), "PNG"))
    with pytest.raises(BadInput, match=r"x\.png.*pixels"):
        read_picture(tmp_path / "x.png")


@pytest.mark.parametrize("side", [9_000, 12_000, 60_000])
def test_header_that_claims_a_huge_picture(tmp_path, side):
    # Between Pillow's own warning (89 million pixels), its own error (179 million), and far beyond.
    header = bytearray(encoded(Image.fromarray(smooth()), "BMP"))
    header[18:26] = side.to_bytes(4, "little") * 2
    (tmp_path / "x.bmp").write_bytes(header)
    with pytest.raises(BadInput, match="64 million pixels"):
        read_picture(tmp_path / "x.bmp")


def test_gray_and_colour_survive_encoding():
    for picture in (smooth(), smooth(colour=True)):
        again = decode_picture(encode_picture(picture))
        assert again.shape == picture.shape
        assert np.abs(again.astype(int) - picture).mean() < 3


def test_encoded_picture_is_bounded():
    noise = np.random.default_rng(0).integers(0, 256, (1200, 900, 3), dtype=np.uint8)
    small = encode_picture(noise)
    assert len(small) < 64_000
    assert decode_picture(small).shape == (160, 120, 3)
    assert decode_picture(encode_picture(noise, longest=40)).shape == (40, 30, 3)
    assert decode_picture(encode_picture(np.zeros((2, 5000), dtype=np.uint8))).shape == (1, 160)


def test_encoding_leaves_its_input_alone_and_repeats_itself():
    picture = smooth().T
    picture.setflags(write=False)
    assert encode_picture(picture) == encode_picture(picture.copy())


@pytest.mark.parametrize(
    "picture",
    [
        [[1, 2]],
        np.zeros((4, 4)),
        np.zeros(4, np.uint8),
        np.zeros((4, 4, 4), np.uint8),
        np.zeros((0, 4), np.uint8),
    ],
)
def test_what_cannot_be_encoded(picture):
    with pytest.raises(BadInput, match="a picture must"):
        encode_picture(picture)


@pytest.mark.parametrize("longest", [0, -1, 1.5, True, "160"])
def test_refused_longest(longest):
    with pytest.raises(BadInput, match="longest side"):
        encode_picture(smooth(), longest)


@settings(max_examples=40, deadline=None)
@given(numpy_strategies.arrays(np.uint8, numpy_strategies.array_shapes(min_dims=2, max_dims=2, max_side=300)))
def test_any_picture_makes_the_round_trip(picture):
    assert max(decode_picture(encode_picture(picture)).shape) == min(160, max(picture.shape))


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(pictures.FORMATS),
    place=st.floats(0, 1, exclude_max=True),
    values=st.binary(min_size=1, max_size=4),
)
def test_damage_is_read_or_refused_in_words(kind, place, values):
    content = bytearray(encoded(Image.fromarray(smooth(20, 16, colour=True)), kind))
    start = int(place * len(content))
    content[start : start + len(values)] = values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(BadInput):
            assert decode_picture(bytes(content)).dtype == np.uint8


@pytest.mark.parametrize("mode", ["L", "RGB"])
@pytest.mark.parametrize("size", [(1, STRIP + 3), (STRIP + 3, 2), (700, 2 * (STRIP // 700)), (700, 1000)])
def test_pictures_of_several_strips_are_whole(tmp_path, mode, size):
    shape = (size[1], size[0]) if mode == "L" else (size[1], size[0], 3)
    pixels = np.random.default_rng(7).integers(0, 256, shape, dtype=np.uint8)
    if max(size) > 65535:  # no format but this has room for more
        path = tmp_path / "long.ppm"
        path.write_bytes(b"P%d\n%d %d\n255\n" % (5 if mode == "L" else 6, *size) + pixels.tobytes())
    else:
        path = tmp_path / "large.png"
        Image.fromarray(pixels).save(path)
    found = read_picture(path)
    np.testing.assert_array_equal(found, pixels)
    assert not found.flags.writeable
