"""Worker: what runs in a sandbox; decoders may crash here, or fill the memory, and harm nobody.

Run as a module with one argument, the limits as JSON. A request is a line of JSON: a photo or film to look
at, the header of a file, a source of ready-made faces, a picture that may be a crop, a moment of a film,
arrays of a .mat file. `sandbox` is the other end.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final

from lookalike.errors import LookalikeError
from lookalike.ingest.header import captured, read_header
from lookalike.ingest.pictures import Picture, read_crop
from lookalike.ingest.readers.mat import packed, read_mat
from lookalike.ingest.sandbox import limit_seconds, restrict, send, take_pipes
from lookalike.ingest.seen import SeenTrack, Settings
from lookalike.ingest.sources import array_names, read_source
from lookalike.ingest.sourceset import SourceSet
from lookalike.ingest.video import probe, read_still

# A header and the parts that follow it.
Answers = Iterable[tuple[dict[str, Any], list[Any]]]


class Forwarded(logging.Handler):
    """Hands what is logged to the parent, whose log it is, where answers go."""

    def __init__(self, answers: IO[bytes]) -> None:
        super().__init__()
        self.answers = answers

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record."""
        send(self.answers, {"log": record.getMessage()[:1000], "by": record.name, "level": record.levelno})


def main() -> None:
    """Answer requests until the other end goes away."""
    limits = json.loads(sys.argv[1])
    requests, answers = take_pipes()
    warnings.simplefilter("ignore")
    logger = logging.getLogger("lookalike")
    logger.setLevel(limits["log"])
    logger.propagate = False
    logger.addHandler(Forwarded(answers))
    for name in limits["libraries"]:
        import_module(name)
    restrict(limits["memory"])
    limit_seconds(limits["seconds"])
    send(answers, {"ready": True})
    for line in requests:
        _answer(answers, json.loads(line), limits["seconds"])


def _answer(answers: IO[bytes], request: dict[str, Any], seconds: float | None) -> None:
    try:
        limit_seconds(seconds)
        for header, parts in next(answer for kind, answer in ANSWERS.items() if kind in request)(request):
            send(answers, header, parts)
            limit_seconds(seconds)
        send(answers, {"end": True})
    except BrokenPipeError:
        raise
    except LookalikeError as reason:
        send(answers, {"refused": str(reason)[:100_000], "kind": type(reason).__name__})
    except MemoryError:
        send(answers, {"memory": True})
        # What was left behind when the memory ran out is not worth finding out.
        raise SystemExit from None
    # A damaged file can make a decoder raise anything.
    except Exception as reason:
        send(answers, {"broken": " ".join(f"{type(reason).__name__}: {reason}".split())[:200]})


def _look(request: dict[str, Any]) -> Answers:
    """What a photo or film shows: tracks, how far it was looked at, and last how long it is."""
    import cv2

    from lookalike.ingest.tracks import scan

    # Other frames and files are looked at, and faces described, at the same time: one thread each.
    cv2.setNumThreads(1)
    for found in scan(Path(request["look"]), Settings(**request["settings"]), request["threads"]):
        if isinstance(found, float):
            yield {"time": found}, []
        elif isinstance(found, SeenTrack):
            yield found.header(), list(found.pictures)
        else:
            yield {"seconds": found.seconds, "remark": found.remark, "captured": found.captured}, []


def _source(request: dict[str, Any]) -> Answers:
    """The sets of a source; first a word that it was found to be readable."""
    path, array = Path(request["source"]), request["array"]
    features = None if request["features"] is None else Path(request["features"])
    # An array that was only guessed need not be there.
    if request["guessed"] and array not in array_names(path, features):
        array = None
    found = read_source(path, array, features, request["most"], request["columns"])
    yield {"begun": True}, []
    for one in found:
        yield one.message()


def _crop(request: dict[str, Any]) -> Answers:
    """A picture that may be a crop; none if it is too large."""
    largest = request["largest"]
    picture = read_crop(Path(request["crop"]), None if largest is None else (largest[0], largest[1]))
    yield _pictures(*([] if picture is None else [picture]))


def _pictures(*pictures: Picture) -> tuple[dict[str, Any], list[Any]]:
    return SourceSet("", "", ("",) * len(pictures), pictures=pictures).message()


# By what a request holds.
ANSWERS: Final[dict[str, Callable[[dict[str, Any]], Answers]]] = {
    "look": _look,
    "length": lambda request: [({"seconds": probe(Path(request["length"]))}, [])],
    "captured": lambda request: [({"captured": captured(Path(request["captured"]))}, [])],
    "header": lambda request: [read_header(Path(request["header"])).message()],
    "source": _source,
    "crop": _crop,
    "still": lambda request: [_pictures(read_still(Path(request["still"]), request["time"]))],
    "mat": lambda request: [packed(read_mat(Path(request["mat"]), request["names"]))],
}


if __name__ == "__main__":
    # The parent may go away while it is answered: that is how it ends us, and no error.
    with suppress(BrokenPipeError):
        main()
