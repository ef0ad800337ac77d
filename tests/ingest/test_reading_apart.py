"""Sources are read by a child: the same sets, the same refusals, and crops of which none harms another."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import BadInput, LookalikeError, NotFound
from lookalike.ingest.reading import read_apart, read_crops_apart
from lookalike.ingest.sources import read_source
from lookalike.ingest.sourceset import SourceSet
from tests.cli_process import faces, vectors, write_npz, write_pictures
from tests.ingest.apart import Started, picture
from trust.sources import KINDS, WRONG


def plain(found: SourceSet) -> tuple[object, ...]:
    """All that a set holds, in what can be compared."""
    numbers = None if found.faces is None else (found.faces.dtype, found.faces.shape, found.faces.tobytes())
    pixels = [(one.dtype, one.shape, one.tobytes()) for one in found.pictures]
    return found.id, found.origin, found.sources, numbers, pixels, found.array, found.descriptor


def both(path: Path, **how: object) -> tuple[list[object], list[object]]:
    """What is read apart and here, in order; or the one refusal."""

    def told(read: Callable[..., object]) -> list[object]:
        try:
            return [plain(found) for found in read(path, **how)]  # type: ignore[attr-defined]
        except LookalikeError as reason:
            return [type(reason), str(reason)]

    return told(read_apart), told(read_source)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_sets(tmp_path: Path, kind: str) -> None:
    source = KINDS[kind](tmp_path)
    apart, here = both(source.given, features=source.features)
    assert len(here) > 1
    assert isinstance(here[0], tuple)
    assert apart == here


@pytest.mark.parametrize("how", [{}, {"most": 2}, {"most": 1}])
def test_the_same_pictures(tmp_path: Path, how: dict[str, int]) -> None:
    folder = write_pictures(tmp_path / "crops", faces())
    # Gray and in colour, large and small, upright and not, in one set.
    picture(folder / "p0" / "v0" / "colour.png", (70, 41))
    apart, here = both(folder, **how)
    assert len(here) == 12
    assert apart == here


def test_the_same_in_youtube_faces(tmp_path: Path) -> None:
    source = KINDS["youtube"](tmp_path)
    for array in ("pictures", "VID_DESCS_CSLBP", "nothing"):
        apart, here = both(source.given, array=array)
        assert apart == here


def test_one_picture_and_numbers_with_pictures(tmp_path: Path) -> None:
    for path in (
        picture(tmp_path / "one.png"),
        write_npz(tmp_path / "x.npz", embeddings=vectors(), images=faces().reshape(-1, 30, 25)),
    ):
        for array in (None, "embeddings"):
            apart, here = both(path, array=array)
            assert apart == here


@pytest.mark.parametrize("name", WRONG)
def test_the_same_refusals(tmp_path: Path, name: str) -> None:
    source = KINDS["npz"](tmp_path)
    WRONG[name](source.given)
    apart, here = both(source.given)
    assert apart == here


def test_the_same_words_for_what_is_no_source(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").mkdir()
    for name, content in (("text", b"hello"), ("cut.png", b"\x89PNG\r\n\x1a\n"), ("cut.npz", b"PK\x03\x04")):
        (tmp_path / name).write_bytes(content)
    (tmp_path / os.fsdecode(b"\xff.txt")).write_bytes(b"x")
    paths = [*tmp_path.iterdir(), tmp_path / "missing", Path("\0"), Path("\ud800"), Path("x" * 9999)]
    for path in paths:
        apart, here = both(path)
        assert isinstance(here[0], type)
        assert apart == here


def test_what_can_be_checked_first_is(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="missing"):
        read_apart(tmp_path / "missing")


def test_an_array_that_is_only_guessed(npz: Path) -> None:
    with pytest.raises(BadInput, match="no array 'other'"):
        read_apart(npz, "other")
    assert [one.array for one in read_apart(npz, "other", guessed=True)][:1] == ["embeddings"]


def test_names_that_are_longer_than_a_header(tmp_path: Path) -> None:
    names = [f"{number:0400d}" for number in range(3000)]
    numbers = np.random.default_rng(1).normal(size=(3000, 2))
    owners = np.zeros(3000, dtype=int)
    path = write_npz(tmp_path / "x.npz", ["one"], e=numbers, image_set=owners, image_names=names)
    [found] = read_apart(path)
    assert found.sources == tuple(names)


def test_a_child_reads_a_set_ahead_and_no_more(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / str(number)).mkdir()
        picture(tmp_path / str(number) / "a.png", (300, 300))
    sets = read_apart(tmp_path)
    assert next(sets).id == "0"
    shutil.rmtree(tmp_path / "7")
    with pytest.raises(NotFound, match=r"7/a\.png"):
        list(sets)


def test_what_is_logged_comes_here(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = write_pictures(tmp_path / "crops", faces())
    with caplog.at_level(logging.INFO):
        list(read_apart(folder))
    [record] = [one for one in caplog.records if one.name == "lookalike.ingest.readers.folders"]
    assert record.getMessage().startswith("a folder of 12 sets")


def test_crops_large_and_damaged_pictures(tmp_path: Path, started: Started) -> None:
    small, large, turned = (
        picture(tmp_path / f"{size[0]}.png", size) for size in ((20, 30), (31, 40), (30, 20))
    )
    cut = tmp_path / "cut.png"
    cut.write_bytes(small.read_bytes()[:900])
    told = list(read_crops_apart([small, large, cut, turned], (20, 30)))
    assert [type(one) for one in told] == [np.ndarray, type(None), BadInput, np.ndarray]
    assert "cut.png" in str(told[2])
    assert len(started) == 1
    assert all(isinstance(one, np.ndarray) for one in read_crops_apart([small, large], None))
    assert list(read_crops_apart([], None)) == []


def test_a_picture_that_ends_the_child_is_refused_alone(tmp_path: Path, started: Started) -> None:
    paths = [picture(tmp_path / f"{number}.png", (300, 300)) for number in range(5)]
    told = read_crops_apart(paths, None)
    first = [next(told)]
    started[0].kill()
    rest = list(told)
    refused = [one for one in rest if isinstance(one, BadInput)]
    assert len(first + rest) == 5
    assert len(refused) == 1
    assert len(started) == 2


ADD = """
import sys, zipfile
import numpy as np
from PIL import Image
def never(*_, **__):
    raise AssertionError("read here")
Image.open = np.load = zipfile.ZipFile.__init__ = never
import lookalike.ingest.sources, lookalike.ingest.add
lookalike.ingest.sources.read_source = never
gallery, source, *features = sys.argv[1:]
lookalike.ingest.add.add(gallery, [source], features=features[0] if features else None, cropped=True)
foreign = ("pyarrow", "scipy.io", "pillow_heif", "PIL.TiffImagePlugin", "PIL.WebPImagePlugin")
print([name for name in foreign if name in sys.modules])
"""


@pytest.mark.parametrize("kind", [*KINDS, "folder"])
def test_nothing_of_a_source_is_decoded_by_who_adds_it(tmp_path: Path, kind: str) -> None:
    if kind == "folder":
        given = [write_pictures(tmp_path / "crops", faces()[:2, :1])]
    else:
        source = KINDS[kind](tmp_path)
        given = [source.given, *filter(None, [source.features])]
    words = [sys.executable, "-c", textwrap.dedent(ADD), str(tmp_path / "g"), *map(str, given)]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert (ended.stdout.strip(), ended.returncode) == ("[]", 0), ended.stderr
