"""The command line: how every run starts and ends."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType


class Interrupted(BaseException):
    """The person, or the system, asked us to stop."""


def main() -> None:
    """Run the command line; every expected failure ends in one sentence and its exit code."""
    try:
        # Before the slow imports: whoever interrupts them shall see a sentence too.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _interrupt)
        # A terminal that is closed; `nohup` asks us to go on.
        if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
            signal.signal(signal.SIGHUP, _interrupt)
        if hasattr(signal, "SIGPIPE"):
            # Whoever read our output may leave early, as `head` does: then we leave too, without a word.
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        _run()
    except Interrupted as interrupted:
        sentence = "interrupted; what is finished is kept, run the same command to go on"
        _end(sentence, 128 + interrupted.args[0])


def _run() -> None:
    import logging

    from lookalike.atomic import sweep_temporary
    from lookalike.errors import LookalikeError

    logging.basicConfig(level=logging.WARNING, format="lookalike: %(message)s")
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            # A terminal that cannot show a letter gets its number instead of a traceback.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sweep_temporary()
    try:
        from lookalike.cli.app import app

        try:
            app()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except LookalikeError as error:
        _end(str(error), error.exit_code)
    except MemoryError:
        _end("there is not enough memory for this: close other programs, or use a smaller gallery", 7)
    except OSError as error:
        # What still waits to be written would fail again when Python ends, with a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        _end(f"the output cannot be written: {error.strerror}", 7)


def _interrupt(signal_number: int, frame: FrameType | None) -> None:
    raise Interrupted(signal_number)


def _end(sentence: str, code: int) -> None:
    """Say what went wrong in one line and leave."""
    if sys.stderr is not None:
        # Nobody reads what is said to a terminal that was closed.
        with suppress(OSError):
            print(f"lookalike: {' '.join(sentence.split())}", file=sys.stderr, flush=True)
    sys.exit(code)
