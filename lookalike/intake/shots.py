"""Shots: where a film is cut, told from small gray pictures of its frames as they come.

Two frames differ by what one shows and the other does not show anywhere near: a gray level counts only as
far as it lies outside the range of levels around the same place in the other frame. So moving cameras,
moving people and grain cost little, and other pictures cost much. The sum is divided by the contrast, and
what is black in both, the bars beside a film, does not count.

Measured on 75 filmed videos of five frames that lie seconds apart, which is harder than footage, where a
frame is like the one before: the jump from a frame to the next is called a cut in 10 of 100 cases (4 with
wide black bars), the jump into another video is missed in 5 of 1,000 (6 of 100 with wide black bars). Fades
and dissolves have no frame where they happen and are missed, as are cuts to another person in the same place
of the same picture; then the faces themselves have to part (`lookalike.intake.tracks`).
"""

from __future__ import annotations

from collections import deque
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.intake.detector import opencv

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
BLACK: Final = 24.0
NOISE: Final = 8.0  # added to the contrast, so that plain frames do not differ by grain
FEWEST: Final = HEIGHT * WIDTH // 40  # places that are not black: fewer say nothing
# A flash lights nearly every place and is gone after so many frames, at most.
FLASH: Final = 4
LIT: Final = 16.0


def thumbnail(luma: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Reduce a gray frame, or the luma plane of a decoded one, to means of blocks.

    Parameters
    ----------
    luma : uint8 array (height, width)
        Of any size.

    Returns
    -------
    float32 array (36, 64)
        Gray levels from 0 to 255.
    """
    if luma.dtype != np.uint8 or luma.ndim != 2 or 0 in luma.shape:
        raise BadInput(f"a gray frame is an array (height, width) of uint8, got {luma.dtype} {luma.shape}")
    cv2 = opencv()
    return cv2.resize(luma.astype(np.uint8), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA).astype(np.float32)


class Cuts:
    """Tells of every frame of a film, in order, whether a new shot starts with it.

    The answer is about the frame just given, with one exception: a frame that is brighter than the one
    before nearly everywhere may be a flash. Then the answer is no, and if the old picture has not come back
    after `FLASH` frames, the cut is told at that frame, so many frames late.
    """

    def __init__(self) -> None:
        self._cv2 = opencv()
        self._last: NDArray[np.float32] | None = None
        self._unlit: NDArray[np.float32] | None = None  # the frame before what may be a flash
        self._lit = 0
        self._usual: deque[float] = deque(maxlen=LAST)

    def is_cut(self, frame: NDArray[np.float32]) -> bool:
        """Take the next frame's thumbnail; tell whether a new shot starts."""
        if frame.shape != (HEIGHT, WIDTH):
            raise BadInput(f"a thumbnail has shape {(HEIGHT, WIDTH)}, got {frame.shape}: use thumbnail()")
        before, self._last = self._last, frame
        if before is None:
            return False
        if self._unlit is not None:
            return self._is_no_flash(self._unlit, frame)
        difference = self.difference(before, frame)
        usual = sum(self._usual) / LAST  # a cut among the last ones does not hide the next, many jerks do
        self._usual.append(difference)
        if difference < max(CUT, TIMES * usual):
            return False
        if _is_lit(before, frame):
            self._unlit, self._lit = before, 1
            return False
        return True

    def difference(self, one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
        """Measure how much two thumbnails differ, from 0 up; 0.5 is that of any two films."""
        counts = np.maximum(one, other) > BLACK
        if counts.sum() < FEWEST:
            return 0.0
        outside = (self._outside(one, other) + self._outside(other, one)) / 2
        contrast = float(one[counts].std() + other[counts].std()) / 2
        return float(outside[counts].mean()) / (contrast + NOISE)

    def _is_no_flash(self, unlit: NDArray[np.float32], frame: NDArray[np.float32]) -> bool:
        self._lit += 1
        is_back = self.difference(unlit, frame) < CUT
        if not is_back and self._lit <= FLASH and _is_lit(unlit, frame):
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
