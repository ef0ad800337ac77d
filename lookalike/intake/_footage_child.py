"""Child process that looks for faces: decoders may crash here, or fill the memory, and harm nobody.

Run as a module with one argument, the limits and settings as JSON. A request is a line of JSON with a path.
`workers` is the other end.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import warnings
from pathlib import Path
from typing import IO, Any

from lookalike.errors import LookalikeError
from lookalike.intake.restricted import restrict, send, take_pipes
from lookalike.intake.scan import scan
from lookalike.intake.seen import SeenTrack, Settings
from lookalike.intake.video import probe


def main() -> None:
    """Answer requests until the other end goes away."""
    said = json.loads(sys.argv[1])
    requests, answers = take_pipes()
    warnings.simplefilter("ignore")
    settings = Settings(**said["settings"])
    # Libraries are loaded before the limits hold, which count what is in use by then.
    import av  # noqa: F401
    import cv2

    # Other frames and files are looked at, and faces described, at the same time: one thread each.
    cv2.setNumThreads(1)
    restrict(said["memory"])
    send(answers, {"ready": True})
    for line in requests:
        _answer(answers, json.loads(line), settings)


def _answer(answers: IO[bytes], request: dict[str, Any], settings: Settings) -> None:
    path = Path(os.fsdecode(bytes.fromhex(request["path"])))
    try:
        if request.get("probe"):
            send(answers, {"end": True, "seconds": probe(path)})
            return
        for found in scan(path, settings, request["threads"]):
            if isinstance(found, float):
                send(answers, {"time": found})
            elif isinstance(found, SeenTrack):
                send(answers, found.header(), found.pictures)
            else:
                send(answers, {"end": True, "seconds": found.seconds, "remark": found.remark})
    except LookalikeError as reason:
        send(answers, {"refused": str(reason)})
    except MemoryError:
        send(answers, {"refused": "takes more memory than any film needs: leave it out", "ended": True})
        raise SystemExit from None
    # A damaged file can make a decoder raise anything.
    except Exception as reason:
        words = " ".join(f"{type(reason).__name__}: {reason}".split())[:200]
        send(answers, {"refused": f"cannot be read ({words}): copy it again, or leave it out"})


if __name__ == "__main__":
    # The parent may go away while it is answered: that is how it ends us, and no error.
    with contextlib.suppress(BrokenPipeError):
        main()
