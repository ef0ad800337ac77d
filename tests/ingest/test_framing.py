"""How crops are cut, measured on crops whose cut is known."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from lookalike import registry
from lookalike.demo.drawing import draw_face
from lookalike.demo.people import View, draw_person
from lookalike.ingest.align import SIDE, align
from lookalike.ingest.describe import REDUCED, FramedDescriptor, Framing, framing_of
from lookalike.ingest.detect import Detector
from lookalike.ingest.pictures import Picture

REGION = (0.1, 0.2, 0.9, 1.0)
LBP = registry.build("descriptors", "lbp")


def photo(person: int, size: int = 400) -> Picture:
    return draw_face(draw_person(3, person), View(scale=0.6), size)


def square(person: int) -> Picture:
    """The aligned face of a photo."""
    [face] = Detector().find(photo(person))
    return align(photo(person), face.landmarks)


def crop(person: int, size: int = 80) -> Picture:
    """A crop whose place in the aligned square is `REGION`."""
    box = tuple(SIDE * share for share in REGION)
    return np.asarray(Image.fromarray(square(person)).resize((size, size), box=box))


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector(smallest=1.0)


@pytest.fixture(scope="module")
def framing(detector: Detector) -> Framing:
    return framing_of([crop(person) for person in range(8)], detector, LBP.region)


def test_the_cut_of_crops_is_found(framing: Framing) -> None:
    assert framing.region == pytest.approx(REGION, abs=0.06)
    assert framing.size == (80, 80)
    made = framing.cut(square(9)).astype(float)
    apart = np.abs(made - crop(9)).mean()
    assert made.shape == (80, 80, 3)
    assert apart < np.abs(made - crop(10)).mean()
    assert apart < np.abs(made - np.asarray(Image.fromarray(square(9)).resize((80, 80)))).mean()


def test_a_cut_may_reach_beyond_the_square() -> None:
    plain = np.full((SIDE, SIDE, 3), 77, np.uint8)
    wide = Framing((-0.2, -0.1, 1.2, 1.3), (50, 60), (50, 60), None)
    assert (wide.cut(plain) == np.full((60, 50, 3), 77)).all()


def test_crops_that_show_the_detector_no_face_are_cut_as_the_descriptor_wants(detector: Detector) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (6, 40, 32), dtype=np.uint8)
    found = framing_of(list(noise), detector, LBP.region)
    assert (found.region, found.size, found.fills) == (LBP.region, (32, 40), None)
    assert found.is_crop(noise[0], detector)
    assert not found.is_crop(np.zeros((80, 64), np.uint8), detector)


def test_a_crop_is_as_small_as_the_others_and_its_face_is_not_smaller(
    framing: Framing, detector: Detector
) -> None:
    assert framing.is_crop(crop(9), detector)
    assert framing.is_crop(np.zeros((80, 80), np.uint8), detector)
    assert not framing.is_crop(crop(9, 160), detector)
    small = np.asarray(Image.fromarray(photo(9)).resize((80, 80)))
    assert detector.find(small)
    assert not framing.is_crop(small, detector)


def test_crops_that_were_reduced_to_be_kept_were_larger(detector: Detector) -> None:
    kept = framing_of([crop(person, 160) for person in range(3)], detector, LBP.region)
    assert kept.largest == (REDUCED, REDUCED)
    assert kept.is_crop(crop(9, 250), detector)


def test_it_describes_a_cut_as_a_crop(framing: Framing) -> None:
    framed = FramedDescriptor(LBP, framing)
    squares = [square(person) for person in (9, 10)]
    many = framed.describe_many(squares)
    assert (framed.identity, framed.dimension) == (LBP.identity, LBP.dimension)
    for row, one in zip(many, squares, strict=True):
        assert (row == framed.describe(one)).all()
        assert (row == LBP.describe(framing.cut(one))).all()
