"""Shots: where a film is cut, told from small gray pictures of its frames as they come.

Two frames differ by what one shows and the other does not show anywhere near: a gray level counts only as
far as it lies outside the range of levels around the same place in the other frame. So moving cameras,
moving people and grain cost little, and other pictures cost much. The sum is divided by the contrast, and
what is black in both, the bars beside a film, does not count.

A large difference is a cut whatever happened before. A smaller one, as between shot and reverse shot in one
dim room, is a cut where it stands out from the frames before it: there neighbours differ by .002 or less,
and the cut by .08 or more. What goes on over several frames, as somebody who passes before the camera, or a
fade, does not stand out. `python -m benchmarks cuts` measures both rules on edited films. A cut too many
costs little, since the parts of a face are joined again (`lookalike.ingest.seen`); a cut too few puts two
people into one set.

Fades and dissolves have no frame where they happen and are missed, as are cuts to another person in the same
place of the same picture; then the faces themselves have to part (`lookalike.ingest.tracks`).
"""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.ingest.detect import opencv

HEIGHT: Final = 36
WIDTH: Final = 64
# Rows and columns around a place where its gray level may be found again: 5 % of the width a frame.
NEAR: Final = (2, 3)
# From this difference on it is a cut; a drawn head that moves by a sixth of its width makes .03. If higher,
# fewer jumps within a shot are called cuts, but faces of different people get into one track, which is worse.
CUT: Final = 0.2
# Shaken cameras: the difference must also be so many times the mean of the last ones.
TIMES: Final = 3.0
LAST: Final = 8
# From this difference on it is a cut if it stands out: if it is so many times what the third largest of the
# last ones is, and so many times the very last. Of 56 cuts in three edited films the least is .085; of 4,100
# differences within the shots of six films one stands out.
LEAST: Final = 0.06
STANDS_OUT: Final = 10.0
SUDDEN: Final = 4.0
# Neighbouring frames of a still scene differ by less, and by how much less says nothing.
STILL: Final = 0.002
# So many of the last differences may be large, cuts and jerks, before the film is too restless to stand out.
SPARED: Final = 2
BLACK: Final = 24.0
NOISE: Final = 8.0  # added to the contrast, so that plain frames do not differ by grain
FEWEST: Final = HEIGHT * WIDTH // 40  # places that are not black: fewer say nothing
# A flash lights nearly every place and is gone after so many seconds, at most: four frames of most films.
FLASH: Final = 0.16
LIT: Final = 16.0
# Seconds between frames whose times nobody tells.
FRAME: Final = 1 / 25


def thumbnail(luma: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Reduce a gray frame (height, width), or the luma plane of a decoded one, to block means (36, 64)."""
    if luma.dtype != np.uint8 or luma.ndim != 2 or 0 in luma.shape:
        raise BadInput(f"a gray frame is an array (height, width) of uint8, got {luma.dtype} {luma.shape}")
    cv2 = opencv()
    rows, columns = luma.shape
    if rows % HEIGHT or columns % WIDTH:
        # Where blocks have no whole number of pixels, as in a film of 1280 x 544, means take five times as
        # long: those of small squares come first, three or more a block, as far as they are whole.
        fits = (one for one in (8, 4, 2) if not (rows % one or columns % one))
        side = next((one for one in fits if min(rows / HEIGHT, columns / WIDTH) >= 3 * one), 1)
        luma = cv2.resize(luma, (columns // side, rows // side), interpolation=cv2.INTER_AREA)
    small: NDArray[np.uint8] = cv2.resize(luma, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
    return small.astype(np.float32)


class Cuts:
    """Tells of every frame of a film, in order, whether a new shot starts with it.

    The answer is about the frame just given, with one exception: a frame that is brighter than the one
    before nearly everywhere may be a flash. Then the answer is no, and `is_undecided` until the old picture
    comes back, or until `FLASH` seconds have passed and the cut is told, so much late. Whoever looks at no
    frame meanwhile sees nothing of the new shot before it is told.

    Parameters
    ----------
    least : float
        Difference from which on what stands out is a cut; infinite if only what is large by itself shall be.
    """

    def __init__(self, least: float = LEAST) -> None:
        self.least = least
        self._cv2 = opencv()
        self._last: NDArray[np.float32] | None = None
        self._unlit: NDArray[np.float32] | None = None  # the frame before what may be a flash
        self._jump = 0.0  # how much what may be a flash differs from it
        self._lit = 0.0  # since when it is seen
        self._usual: deque[float] = deque(maxlen=LAST)
        self._time = -FRAME

    @property
    def is_undecided(self) -> bool:
        """Whether the last frame may be one of a flash, or the first ones of a brighter shot."""
        return self._unlit is not None

    def is_cut(self, frame: NDArray[np.float32], time: float | None = None) -> bool:
        """Take the next frame, a `thumbnail`; tell whether a new shot starts.

        The time is in seconds from the start of the film; 1/25 after the frame before unless given.
        """
        if frame.shape != (HEIGHT, WIDTH):
            raise BadInput(f"a thumbnail has shape {(HEIGHT, WIDTH)}, got {frame.shape}: use thumbnail()")
        earlier = self._time
        self._time = earlier + FRAME if time is None else time
        before, self._last = self._last, frame
        if before is None:
            return False
        if self._unlit is not None:
            return self._is_no_flash(self._unlit, frame)
        difference = self.difference(before, frame)
        is_large = self._is_large(difference)
        self._usual.append(difference)
        # Where frames lie further apart than a flash lasts, nothing is to be waited for.
        if is_large and self._time - earlier < FLASH and _is_lit(before, frame):
            self._unlit, self._jump, self._lit = before, difference, self._time
            return False
        return is_large

    def _is_large(self, difference: float) -> bool:
        """Whether a difference is that of a cut: by itself, or since it stands out from those before."""
        usual = sum(self._usual) / LAST  # a cut among the last ones does not hide the next, many jerks do
        if difference >= max(CUT, TIMES * usual):
            return True
        if len(self._usual) <= SPARED:  # nothing to stand out from
            return False
        restless = sorted(self._usual)[-1 - SPARED]
        return difference >= max(self.least, STANDS_OUT * max(restless, STILL), SUDDEN * self._usual[-1])

    def difference(self, one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
        """Measure how much two thumbnails differ, from 0 up; 0.5 is that of any two films."""
        counts = np.maximum(one, other) > BLACK
        if counts.sum() < FEWEST:
            return 0.0
        outside = (self._outside(one, other) + self._outside(other, one)) / 2
        contrast = float(one[counts].std() + other[counts].std()) / 2
        return float(outside[counts].mean()) / (contrast + NOISE)

    def _is_no_flash(self, unlit: NDArray[np.float32], frame: NDArray[np.float32]) -> bool:
        # What differs little from the old picture may do so by itself, so it must be back by half, too.
        is_back = self.difference(unlit, frame) < min(CUT, self._jump / 2)
        if not is_back and self._time - self._lit < FLASH - 1e-6 and _is_lit(unlit, frame):
            return False
        self._unlit = None
        return not is_back

    def _outside(self, one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
        around = np.ones((2 * NEAR[0] + 1, 2 * NEAR[1] + 1), np.uint8)
        above = one - self._cv2.dilate(other, around)
        below = self._cv2.erode(other, around) - one
        return np.maximum(0, np.maximum(above, below))


def _is_lit(before: NDArray[np.float32], frame: NDArray[np.float32]) -> bool:
    """Whether a frame may be a flash: brighter nearly everywhere, after a frame that showed something."""
    brighter = frame - before
    return bool(before.max() > BLACK and brighter.mean() > LIT and np.mean(brighter > -LIT / 2) > 0.95)
