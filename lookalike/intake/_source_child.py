"""Child process that reads ready-made faces: parsers may crash here, or fill the memory, and harm nobody.

Run as a module with one argument, the limits as JSON. A request is a line of JSON: a source, pictures that
may be crops, or a moment of a film. `reading_apart` is the other end.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

from lookalike.errors import LookalikeError
from lookalike.intake.crops import read_crop
from lookalike.intake.restricted import limit_seconds, restrict, send, take_pipes
from lookalike.intake.set_messages import packed
from lookalike.intake.sources import array_names, read_source
from lookalike.intake.sourceset import SourceSet
from lookalike.intake.stills import read_still

Message = tuple[dict[str, Any], list[Any]]


class Forwarded(logging.Handler):
    """Hands what is logged to the parent, whose log it is.

    Parameters
    ----------
    answers : binary stream
        Where answers go.
    """

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
    restrict(limits["memory"])
    limit_seconds(limits["seconds"])
    send(answers, {"ready": True})
    for line in requests:
        _answer(answers, json.loads(line), limits["seconds"])


def _answer(answers: IO[bytes], request: dict[str, Any], seconds: float) -> None:
    try:
        limit_seconds(seconds)
        for header, body in next(answer for kind, answer in ANSWERS.items() if kind in request)(request):
            send(answers, header, body)
            limit_seconds(seconds)
        send(answers, {"end": True})
    except BrokenPipeError:
        raise
    except LookalikeError as reason:
        send(answers, _refused(reason))
    except MemoryError:
        send(answers, {"memory": True})
        raise SystemExit from None
    # A damaged file can make a parser raise anything.
    except Exception as reason:
        send(answers, {"broken": " ".join(f"{type(reason).__name__}: {reason}".split())[:200]})


def _source(request: dict[str, Any]) -> Iterator[Message]:
    """The sets of a source; first a word that it was found to be readable."""
    path, array = Path(request["source"]), request["array"]
    features = None if request["features"] is None else Path(request["features"])
    # An array that was only guessed need not be there.
    if request["guessed"] and array not in array_names(path, features):
        array = None
    found = read_source(path, array, features, request["most"])
    yield {"begun": True}, []
    yield from map(packed, found)


def _crops(request: dict[str, Any]) -> Iterator[Message]:
    """Pictures, or why there is none; one message for each file."""
    largest = request["largest"]
    for name in request["crops"]:
        try:
            picture = read_crop(Path(name), None if largest is None else (largest[0], largest[1]))
        except LookalikeError as reason:
            yield _refused(reason), []
            continue
        pictures = () if picture is None else (picture,)
        yield packed(SourceSet("", "", ("",) * len(pictures), pictures=pictures))


def _still(request: dict[str, Any]) -> Iterator[Message]:
    """A photo, or one frame of a film."""
    picture = read_still(Path(request["still"]), request["time"])
    yield packed(SourceSet("", "", ("",), pictures=(picture,)))


# By what a request holds.
ANSWERS: Final = {"source": _source, "crops": _crops, "still": _still}


def _refused(reason: LookalikeError) -> dict[str, Any]:
    return {"refused": str(reason)[:100_000], "kind": type(reason).__name__}


if __name__ == "__main__":
    # The parent may go away while it is answered: that is how it ends us, and no error.
    with contextlib.suppress(BrokenPipeError):
        main()
