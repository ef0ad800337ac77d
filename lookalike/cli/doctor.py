"""What `lookalike doctor` looks at: which parts work on this machine, and what the others need."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from lookalike import __version__, parts
from lookalike.cli.terminal import print_json, print_table
from lookalike.errors import LookalikeError
from lookalike.room import free_disk, free_memory, in_words


def report(json: bool) -> None:
    """Print what was found."""
    found = findings(Path.cwd())
    if json:
        print_json({"parts": [one._asdict() for one in found]})
        return
    columns = [("part", "left"), ("works", "left"), ("", "left")]
    print_table(columns, ((one.part, "yes" if one.works else "NO", one.detail) for one in found))


class Finding(NamedTuple):
    """One part of the program: whether it works here, what it is, what to do if it does not."""

    part: str
    works: bool
    detail: str


def findings(folder: Path) -> list[Finding]:
    """Try every part, the way it is used.

    Parameters
    ----------
    folder : Path
        The disk of this folder is looked at.
    """
    found = [
        Finding("lookalike", True, f"{__version__} on Python {platform.python_version()}"),
        Finding("processors", True, f"{_processors()} used (LOOKALIKE_THREADS sets how many)"),
        Finding("memory", True, _size(free_memory())),
        Finding("disk", True, f"{_size(free_disk(folder))} in {folder.absolute()}"),
        _tried("films", _films, "footage"),
        _tried("HEIC photos", _heic, "footage"),
        _tried("finding faces", _detector, "footage"),
    ]
    # What reads a file of the user's cannot be tried without it; the library can.
    names = parts.names("descriptors")
    found += [_descriptor(name) for name in names if not parts.part_class("descriptors", name).takes_file]
    found += [
        _tried("descriptor onnx, with a model of yours", lambda: _library("onnxruntime"), "onnx"),
        _tried("Parquet files", lambda: _library("pyarrow"), "parquet"),
        _tried("shortlists of large galleries", lambda: _library("faiss", "faiss-cpu"), "large"),
        _tried("figures of reports", lambda: _library("matplotlib"), "report"),
    ]
    return found


def _tried(part: str, work: Callable[[], str], extra: str) -> Finding:
    try:
        return Finding(part, True, work())
    except ImportError as reason:
        return Finding(part, False, f"{reason}: pip install 'lookalike[{extra}]'")
    except LookalikeError as reason:
        return Finding(part, False, str(reason))


def _films() -> str:
    import av

    wanted = ("h264", "hevc", "mpeg4", "mpeg2video", "vp8", "vp9", "av1", "mjpeg", "prores")
    missing = [name for name in wanted if name not in av.codecs_available]
    said = f"PyAV {av.__version__}, FFmpeg {av.ffmpeg_version_info}"
    return f"{said}, without {', '.join(missing)}" if missing else f"{said}, all usual codecs"


def _heic() -> str:
    return _library("pillow_heif", "pillow-heif")


def _detector() -> str:
    import numpy as np

    from lookalike.intake.detector import Detector

    # A gray picture shows nobody: whoever finds somebody there is broken.
    if Detector().find(np.full((120, 160, 3), 127, dtype=np.uint8)):
        raise LookalikeError("the detector finds faces where there are none: install it again")
    return f"YuNet in {_library('onnxruntime' if _has_onnxruntime() else 'cv2')}{_slower()}"


def _descriptor(name: str) -> Finding:
    part = f"descriptor {name}"
    try:
        made = parts.build("descriptors", name)
        made.check()
    except LookalikeError as reason:
        return Finding(part, False, str(reason))
    return Finding(part, True, f"{made.dimension} numbers a face{_slower() if made.cards else ''}")


def _slower() -> str:
    """What to say of a network where what runs it fastest is missing."""
    return "" if _has_onnxruntime() else ", more slowly than by onnxruntime: pip install onnxruntime"


def _has_onnxruntime() -> bool:
    try:
        importlib.import_module("onnxruntime")
    except ImportError:
        return False
    return True


def _library(module: str, package: str | None = None) -> str:
    importlib.import_module(module)
    try:
        return f"{package or module} {version(package or module)}"
    except PackageNotFoundError:
        return package or module


def _processors() -> int:
    from lookalike.kernels.threads import thread_count

    return thread_count()


def _size(size: int | None) -> str:
    return "nobody can tell" if size is None else f"{in_words(size)} free"
