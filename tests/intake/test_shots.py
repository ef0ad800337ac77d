"""Shots: cuts of drawn films, and what looks like a cut but is none."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.intake.shots import FLASH, HEIGHT, WIDTH, Cuts, thumbnail
from lookalike.worlds.rooms import room
from tests.intake.drawn_frames import face

pytest.importorskip("cv2")


@functools.cache
def wide_room(number: int) -> np.ndarray:
    """A room, 640 wide, with things in it."""
    drawn = np.asarray(room(number, 1.0, 320))
    return np.hstack([drawn, drawn[:, ::-1]])


def shot(number: int, person: int, left: int = 120, shift: int = 0) -> np.ndarray:
    """A frame of 180 x 320: a person before a room that the camera sees from `shift` on."""
    made = wide_room(number)[60:240, shift : shift + 320].copy()
    drawn = face(person, size=120)
    made[40:160, left : left + 120] = drawn
    return made.mean(axis=2).astype(np.uint8)


def fired(frames: list[np.ndarray], seed: int | None = 0) -> list[int]:
    """Numbers of the frames that are called the first of a shot, with some grain."""
    cuts, rng = Cuts(), np.random.default_rng(seed)
    noisy = [np.clip(f + rng.normal(0, 5, f.shape), 0, 255).astype(np.uint8) for f in frames]
    return [number for number, frame in enumerate(noisy) if cuts.is_cut(thumbnail(frame))]


def test_a_thumbnail_is_made_of_means() -> None:
    ramp = np.arange(HEIGHT * WIDTH).reshape(HEIGHT, WIDTH) % 251
    found = thumbnail(ramp.astype(np.uint8).repeat(10, axis=0).repeat(10, axis=1))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, ramp)
    checks = np.indices((360, 640)).sum(axis=0) % 2 * 200
    assert np.abs(thumbnail(checks.astype(np.uint8)) - 100).max() <= 1


@pytest.mark.parametrize("shape", [(1, 1), (7, 900), (36, 64), (1080, 1920)])
def test_frames_of_any_size(shape: tuple[int, int]) -> None:
    np.testing.assert_array_equal(thumbnail(np.full(shape, 77, np.uint8)), np.full((36, 64), 77))


def test_hard_cuts_are_told_at_their_frame() -> None:
    frames = [shot(1, 0)] * 6 + [shot(2, 1)] * 6 + [shot(3, 2)] * 6 + [shot(1, 0)] * 6
    assert fired(frames) == [6, 12, 18]


def test_every_cut_between_rooms() -> None:
    """Rooms and people differ as those of a world do, no more."""
    frames = [shot(number, number) for number in range(1, 21) for _ in range(FLASH + 2)]
    starts = [number * (FLASH + 2) for number in range(1, 20)]
    found = fired(frames)
    # At their frame, or later by what a flash may last; nothing else.
    assert all(any(0 <= one - start <= FLASH for start in starts) for one in found)
    assert len(found) >= 18


@pytest.mark.parametrize("number", range(1, 6))
def test_the_other_side_of_the_same_room_is_a_cut(number: int) -> None:
    there, back = shot(number, 0, left=60), shot(number, 1, left=140, shift=300)
    assert fired([there] * 5 + [back] * 5 + [there] * 5) == [5, 10]


def test_one_shot_is_no_cut() -> None:
    assert fired([shot(1, 0)] * 30) == []


def test_a_pan_is_no_cut() -> None:
    assert fired([shot(1, 0, left=100, shift=4 * number) for number in range(70)]) == []


def patches(left: int, top: int = 100) -> np.ndarray:
    """What a camera sees of a wall of patches, each an eighth of the frame wide: every edge moves with it."""
    wall = np.random.default_rng(5).integers(30, 226, (12, 30), dtype=np.uint8)
    return wall.repeat(40, axis=0).repeat(40, axis=1)[top : top + 180, left : left + 320]


def test_a_fast_pan_over_many_edges_is_no_cut() -> None:
    assert fired([patches(14 * number) for number in range(60)]) == []
    assert fired([patches(0)] * 5 + [patches(600)] * 5) == [5]


def test_a_shaken_camera_is_hardly_ever_a_cut() -> None:
    """Jerks by a tenth of the frame: the first may be taken for cuts, those that follow are usual."""
    rng = np.random.default_rng(6)
    jerks = [patches(300 + int(x), 100 + int(y)) for x, y in rng.integers(-32, 33, (60, 2))]
    assert len(fired(jerks)) <= 3


def test_a_person_who_moves_is_no_cut() -> None:
    assert fired([shot(1, 0, left=6 * number) for number in range(30)]) == []


def test_a_person_who_comes_and_goes_is_no_cut() -> None:
    empty = wide_room(1)[60:240, :320].mean(axis=2).astype(np.uint8)
    small = empty.copy()
    small[120:176, 30:86] = face(4, size=56).mean(axis=2)
    assert fired([empty] * 5 + [small] * 5 + [empty] * 5) == []


@pytest.mark.parametrize("frames", [1, 2, 3])
@pytest.mark.parametrize("strength", [60, 140])
def test_a_flash_is_no_cut(frames: int, strength: int) -> None:
    dark = shot(1, 0)
    lit = np.clip(dark * 1.2 + strength, 0, 255).astype(np.uint8)
    assert fired([dark] * 6 + [lit] * frames + [dark] * 6 + [lit] * frames + [dark] * 6) == []


def test_a_brighter_scene_is_a_cut_but_told_late() -> None:
    bright = np.clip(shot(2, 1) * 0.3 + 170, 0, 255).astype(np.uint8)
    dark = (shot(1, 0) * 0.5).astype(np.uint8)
    assert fired([dark] * 6 + [bright] * 10) == [6 + FLASH]


def test_a_cut_right_after_a_flash() -> None:
    dark = shot(1, 0)
    lit = np.clip(dark * 1.2 + 120, 0, 255).astype(np.uint8)
    found = fired([dark] * 6 + [lit] + [(shot(2, 1) * 0.8).astype(np.uint8)] * 8)
    assert len(found) == 1
    assert 7 <= found[0] <= 6 + FLASH


def test_from_and_to_black() -> None:
    black = np.zeros((180, 320), np.uint8)
    found = fired([shot(1, 0)] * 5 + [black] * 5 + [shot(2, 1)] * 5)
    assert found == [5, 10]


def test_bars_do_not_hide_a_cut() -> None:
    def barred(frame: np.ndarray) -> np.ndarray:
        frame = frame.copy()
        frame[:, :80] = frame[:, -80:] = 0
        return frame

    assert fired([barred(shot(1, 0))] * 5 + [barred(shot(2, 1))] * 5) == [5]


def test_grain_in_the_dark_is_no_cut() -> None:
    assert fired([np.full((180, 320), shade, np.uint8) for shade in (0, 3, 0, 9, 5, 12, 12, 7)]) == []


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(BadInput, match="gray frame"):
        thumbnail(np.zeros((9, 9, 3), np.uint8))
    with pytest.raises(BadInput, match="gray frame"):
        thumbnail(np.zeros((9, 9), np.float32))  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="thumbnail"):
        Cuts().is_cut(np.zeros((9, 9), np.float32))
