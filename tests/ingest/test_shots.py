"""Shots: cuts of drawn films, and what looks like a cut but is none."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from lookalike.demo.drawing import room
from lookalike.errors import BadInput
from lookalike.ingest.shots import CUT, FLASH, FRAME, HEIGHT, LEAST, WIDTH, Cuts, thumbnail
from tests.ingest.drawn_frames import face

pytest.importorskip("cv2")
LATE = round(FLASH / FRAME)  # frames by which a brighter shot may be told late


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


def fired(frames: list[np.ndarray], grain: float = 5, rate: float = 25) -> list[int]:
    """Numbers of the frames that are called the first of a shot, with some grain."""
    cuts, rng = Cuts(), np.random.default_rng(0)
    noisy = [np.clip(f + rng.normal(0, grain, f.shape), 0, 255).astype(np.uint8) for f in frames]
    return [at for at, frame in enumerate(noisy) if cuts.is_cut(thumbnail(frame), at / rate)]


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


@pytest.mark.parametrize("shape", [(544, 1280), (272, 640), (816, 1920), (1038, 1920), (267, 641)])
def test_frames_without_whole_blocks(shape: tuple[int, int]) -> None:
    """Means of small squares come first: nearly the same, and sooner."""
    cv2 = pytest.importorskip("cv2")
    picture = cv2.resize(shot(1, 0), shape[::-1])
    exact = cv2.resize(picture, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA).astype(float)
    apart = np.abs(thumbnail(picture) - exact)
    assert apart.mean() < 0.5
    assert apart.max() <= 10


def test_hard_cuts_are_told_at_their_frame() -> None:
    frames = [shot(1, 0)] * 6 + [shot(2, 1)] * 6 + [shot(3, 2)] * 6 + [shot(1, 0)] * 6
    assert fired(frames) == [6, 12, 18]


def test_every_cut_between_rooms() -> None:
    """Rooms and people differ as those of a world do, no more."""
    frames = [shot(number, number) for number in range(1, 21) for _ in range(LATE + 2)]
    starts = [number * (LATE + 2) for number in range(1, 20)]
    found = fired(frames)
    # At their frame, or later by what a flash may last; nothing else.
    assert all(any(0 <= one - start <= LATE for start in starts) for one in found)
    assert len(found) >= 18


@pytest.mark.parametrize("number", range(1, 6))
def test_the_other_side_of_the_same_room_is_a_cut(number: int) -> None:
    there, back = shot(number, 0, left=60), shot(number, 1, left=140, shift=300)
    assert fired([there] * 5 + [back] * 5 + [there] * 5) == [5, 10]


def dim(frame: np.ndarray) -> np.ndarray:
    """As in a room at night: brighter things stay, and little stands out from the dark."""
    return (frame * 0.25 + 40).astype(np.uint8)


def reverse_shot(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Shot and reverse shot in one dim room: the same wall, somebody else in another place."""
    return dim(shot(number, 0, left=60)), dim(shot(number, 1, left=110, shift=10))


@pytest.mark.parametrize("number", range(1, 6))
def test_a_reverse_shot_in_a_dim_room_is_a_cut(number: int) -> None:
    there, back = reverse_shot(number)
    assert LEAST < Cuts().difference(thumbnail(there), thumbnail(back)) < CUT
    assert fired([there] * 5 + [back] * 5 + [there] * 5, grain=1) == [5, 10]


def test_what_differs_little_must_stand_out() -> None:
    """The same two frames: behind a moving camera, or one after the other, they are no cut."""
    there, back = reverse_shot(1)
    moving = [dim(shot(1, 0, left=60, shift=12 * number)) for number in range(20)]
    assert fired([*moving, there, back], grain=1)[-1:] != [21]
    half = ((there.astype(int) + back) // 2).astype(np.uint8)
    assert fired([there] * 8 + [half, back] + [back] * 8, grain=1) == []


def test_a_film_that_has_just_begun_has_nothing_to_stand_out_from() -> None:
    there, back = reverse_shot(1)
    assert fired([there] * 3 + [back] * 3, grain=1) == []
    assert fired([there] * 4 + [back] * 3, grain=1) == [4]


@pytest.mark.parametrize("frames", [25, 50])
@pytest.mark.parametrize("shade", [0, 255])
def test_a_fade_is_no_cut(frames: int, shade: int) -> None:
    """What comes out of the black or white may be told once or twice: nobody was to be seen there."""
    picture = shot(1, 0).astype(float)
    shares = np.linspace(0, 1, frames)
    fade = [(picture * (1 - share) + shade * share).astype(np.uint8) for share in shares]
    found = fired([shot(1, 0)] * 8 + fade + [fade[-1]] * 8 + fade[::-1], grain=1)
    assert len(found) <= 2
    assert all(number >= 8 + frames + 8 for number in found)


def test_a_dissolve_is_hardly_ever_a_cut() -> None:
    one, other = shot(1, 0).astype(float), shot(2, 1).astype(float)
    mixed = [(one * (1 - share) + other * share).astype(np.uint8) for share in np.linspace(0, 1, 20)]
    assert len(fired([shot(1, 0)] * 8 + mixed + [shot(2, 1)] * 8)) <= 1


def test_somebody_who_passes_before_the_camera_is_hardly_ever_a_cut() -> None:
    """A dark head as wide as half of the frame crosses it in a second."""
    frames = [shot(1, 0)] * 8
    for left in range(-160, 320, 20):
        frame = shot(1, 0).copy()
        frame[:, max(0, left) : max(0, left + 160)] = 12
        frames.append(frame)
    assert len(fired(frames + [shot(1, 0)] * 8)) <= 2


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
    assert fired([dark] * 6 + [bright] * 10) == [6 + LATE]


def test_what_is_a_little_brighter_and_stays_is_told_late() -> None:
    """It differs by less than what is a cut by itself, and is not the old picture come back for that."""
    there = patches(0)
    brighter = there + 18
    assert LEAST < Cuts().difference(thumbnail(there), thumbnail(brighter)) < CUT
    assert fired([there] * 6 + [brighter] * 10, grain=1) == [6 + LATE]
    assert fired([there] * 6 + [brighter] * 3 + [there] * 6, grain=1) == []


def test_nothing_is_decided_while_a_flash_may_last() -> None:
    dark = shot(1, 0)
    lit = np.clip(dark * 1.2 + 140, 0, 255).astype(np.uint8)
    cuts = Cuts()
    told = [(cuts.is_cut(thumbnail(frame)), cuts.is_undecided) for frame in [dark, dark, lit, lit, dark]]
    assert told == [(False, False), (False, False), (False, True), (False, True), (False, False)]


@pytest.mark.parametrize("rate", [1, 10, 25, 60, 120])
def test_films_of_any_rate(rate: int) -> None:
    """Flashes are no cuts, however many frames they last; a second apart nobody can say what they were."""
    dark = shot(1, 0)
    assert fired([dark] * 6 + [shot(2, 1)] * 6, rate=rate) == [6]
    lit = np.clip(dark * 1.2 + 140, 0, 255).astype(np.uint8)
    lasts = max(1, round(rate / 10))
    found = fired([dark] * 6 + [lit] * lasts + [dark] * 6, rate=rate)
    assert found == ([] if rate >= 10 else [6, 7])


def test_a_cut_right_after_a_flash() -> None:
    dark = shot(1, 0)
    lit = np.clip(dark * 1.2 + 120, 0, 255).astype(np.uint8)
    found = fired([dark] * 6 + [lit] + [(shot(2, 1) * 0.8).astype(np.uint8)] * 8)
    assert len(found) == 1
    assert 7 <= found[0] <= 6 + LATE


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
