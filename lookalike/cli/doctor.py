"""What `lookalike doctor` and `lookalike models` tell: which parts work here, which model files there are."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lookalike import __version__, atomic, registry
from lookalike.cli.output import print_json, print_table
from lookalike.errors import LookalikeError
from lookalike.resources import free_disk, free_memory, in_words, keep_runtime_quiet

if TYPE_CHECKING:
    from lookalike.descriptors.contract import ModelCard


OWN: Final = (
    "A model of your own (--descriptor onnx:model=FILE) is known by its SHA-256 alone: ask whoever made it "
    "what it may be used for, what it was trained on, and for whom it is weak."
)


def report_parts(json: bool) -> None:
    """Print which parts work on this machine, and what the others need."""
    found = findings(Path.cwd())
    if json:
        print_json({"parts": [one._asdict() for one in found]})
        return
    columns = [("part", "left"), ("works", "left"), ("", "left")]
    print_table(columns, ((one.part, "yes" if one.works else "no", one.detail) for one in found))
    if not all(one.works for one in found):
        print("What says no is needed only for what its name says; everything else works without it.")


class Finding(NamedTuple):
    """One part of the program: whether it works here, what it is, what to do if it does not."""

    part: str
    works: bool
    detail: str


def findings(folder: Path) -> list[Finding]:
    """Try every part, the way it is used, and look at the disk of a folder."""
    from lookalike.kernels.threads import thread_count

    keep_runtime_quiet()
    found = [
        Finding("lookalike", True, f"{__version__} on Python {platform.python_version()}"),
        Finding("processors", True, f"{thread_count()} used (LOOKALIKE_THREADS sets how many)"),
        Finding("memory", True, _size(free_memory())),
        Finding("disk", True, f"{_size(free_disk(folder))} in {folder.absolute()}"),
        _tried("videos", _films, "video"),
        _tried("HEIC photos", lambda: _library("pillow_heif", "pillow-heif"), "video"),
        _tried("finding faces", _detector, "video"),
    ]
    # What reads a file of the user's cannot be tried without it; the library can.
    names = registry.names("descriptors")
    found += [_descriptor(name) for name in names if not registry.part_class("descriptors", name).takes_file]
    found += [
        _tried("descriptor onnx, with a model of yours", lambda: _library("onnxruntime"), "onnx"),
        _tried("Parquet files", lambda: _library("pyarrow"), "parquet"),
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
    except Exception as reason:  # of a version of a library that nobody had tried yet
        return Finding(
            part, False, f"{type(reason).__name__}: {reason}: install another version of the library"
        )


def _films() -> str:
    import av
    import numpy as np

    from lookalike.demo.footage import write_footage
    from lookalike.ingest.video import open_video

    folder = atomic.temporary_folder()
    try:
        gray = np.full((48, 64, 3), 127, dtype=np.uint8)
        write_footage(folder / "gray.mp4", [gray] * 3)
        with (folder / "gray.mp4").open("rb") as stream, open_video(stream, "mov") as video:
            if sum(1 for _ in video.frames()) != 3:
                raise LookalikeError(
                    "of a video that was just written not all frames can be read: install PyAV again"
                )
    finally:
        atomic.delete_tree(folder)
    wanted = ("h264", "hevc", "mpeg4", "mpeg2video", "vp8", "vp9", "av1", "mjpeg", "prores")
    missing = [name for name in wanted if name not in av.codecs_available]
    said = f"PyAV {av.__version__}, FFmpeg {av.ffmpeg_version_info}"
    return f"{said}, without {', '.join(missing)}" if missing else f"{said}, all usual codecs"


def _detector() -> str:
    import numpy as np

    from lookalike.ingest.detect import Detector

    # A gray picture shows nobody: whoever finds somebody there is broken.
    if Detector().find(np.full((120, 160, 3), 127, dtype=np.uint8)):
        raise LookalikeError("the detector finds faces where there are none: install it again")
    return f"YuNet in {_library('onnxruntime' if _has_onnxruntime() else 'cv2')}{_slower()}"


def _descriptor(name: str) -> Finding:
    part = f"descriptor {name}"
    try:
        made = registry.build("descriptors", name)
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


def _size(size: int | None) -> str:
    return "nobody can tell" if size is None else f"{in_words(size)} free"


# Model files.


def report_models(json: bool) -> None:
    """Print every model file that may be used, and what is known of it."""
    found = list(models())
    if json:
        print_json({"models": found})
        return
    for one in found:
        print(f"{one['name']}: {one['user']}{' (the default)' if one['is_default'] else ''}")
        print(f"  file        {one['file']}, {one['size']:,} bytes, in the package {one['package']}")
        print(f"  SHA-256     {one['sha256']}")
        print(f"  here        {one['problem'] or 'found, and it is the one that is meant'}")
        print(f"  licence     {one['licence']}")
        print(f"  source      {one['source']}")
        print(f"  trained on  {one['training']}")
        print(f"  weak for    {one['weak']}\n")
    print(OWN)


def models() -> Iterator[dict[str, Any]]:
    """Facts of every model, in use or possible; `problem` says why a file cannot be used here, or is None."""
    from lookalike.ingest.describe import FOOTAGE_DESCRIPTOR
    from lookalike.ingest.detect import YUNET

    cards = [("", YUNET)]
    for name in registry.names("descriptors"):
        cards += [(name, card) for card in registry.part_class("descriptors", name).cards]
    for name, card in cards:
        yield {
            **asdict(card),
            "file": card.file,
            "is_default": name in ("", FOOTAGE_DESCRIPTOR),
            "problem": _problem(card),
        }


def _problem(card: ModelCard) -> str | None:
    try:
        card.read()
    except LookalikeError as reason:
        return str(reason)
    return None
