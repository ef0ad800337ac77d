"""MatFiles: named arrays of MATLAB .mat files, decoded in a child process that may fail."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from logging import getLogger
from pathlib import Path
from types import TracebackType
from typing import Final

from lookalike.errors import BadInput, LookalikeError
from lookalike.intake.children import Ended, take_header, time_limit
from lookalike.intake.paths import is_folder, readable, unreadable
from lookalike.intake.readers.mat_answers import Answer, Values, exchange

logger = getLogger(__name__)

# The longest video of YouTube Faces has 6,070 frames of 1,770 doubles: 82 MiB.
MOST_BYTES: Final = 192 * 2**20
# What decoding may take beyond Python and SciPy: an array twice, unpacked and arranged, and some more.
MOST_MEMORY: Final = 2 * MOST_BYTES + 64 * 2**20
# Such a video takes two seconds, unless its disk is far away.
SECONDS: Final = 60.0
# Python and SciPy start in half a second, on a machine that has nothing else to do.
START_SECONDS: Final = 120.0
CHILD: Final = Path(__file__).with_name("_mat_child.py")


class MatFiles:
    """Reader of .mat files of version 4 to 7; use it in a ``with`` statement, from one thread.

    SciPy's reader is not made for files one does not trust: a damaged file can crash it. So it
    runs in a child process with limits on memory, time and what it may write. One child reads
    many files and is replaced when it dies or does not answer; it is gone when the block ends.
    Answers are JSON and bytes: nothing is unpickled, and sizes are checked before memory is taken.

    Parameters
    ----------
    most_bytes : int
        Most bytes of the arrays asked for at a time.
    most_memory : int
        Address space in bytes that the child may take for a file, where the system can limit it.
    seconds : float
        Longest time for a file.
    """

    def __init__(
        self, most_bytes: int = MOST_BYTES, most_memory: int = MOST_MEMORY, seconds: float = SECONDS
    ) -> None:
        self.most_bytes = most_bytes
        self.most_memory = most_memory
        self.seconds = seconds
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> MatFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def names(self, path: Path) -> dict[str, tuple[int, ...]]:
        """Shape of every variable of a file, by name, in the order of the file.

        Raises
        ------
        NotFound, BadInput
            As for `read`.
        """
        return self._answer(path, None, ()).names

    def read(self, path: Path, names: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Values]:
        """Return variables of a file.

        Parameters
        ----------
        path : Path
            A .mat file.
        names : sequence of str
            Which variables; all must be there.
        optional : sequence of str
            More variables, which are left out of the answer if the file has no such.

        Returns
        -------
        dict of arrays or lists of str, by name
            Numbers as they are stored, in two dimensions or more; text and cells of text as a
            list of str, column by column.

        Raises
        ------
        NotFound
            If there is no such file.
        BadInput
            If it is no whole .mat file, a variable is missing, is neither numbers nor text, or
            takes more memory or time than allowed.
        """
        return self._answer(path, list(names), optional).arrays

    def close(self) -> None:
        """End the child, if there is one."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        # A request may be left in the pipe, whose other end is gone.
        with contextlib.suppress(OSError), child:
            pass
        child.wait()

    def _answer(self, path: Path, needed: list[str] | None, optional: Sequence[str]) -> Answer:
        _check_there(path)
        asked = {"path": os.path.abspath(path), "needed": needed, "optional": list(optional)}
        request = json.dumps(asked).encode() + b"\n"
        while True:
            child, fresh = self._started()
            try:
                with time_limit(child, self.seconds) as late:
                    answer = exchange(child, request, self.most_bytes)
            except Ended:
                self.close()
                if late:
                    raise BadInput(
                        f"{readable(path)!r} took longer than {self.seconds:g} seconds to read: it is "
                        f"damaged or its disk too slow, copy it again or leave it out"
                    ) from None
                if fresh:
                    raise BadInput(
                        f"{readable(path)!r} is damaged, it crashed the reader of .mat files: copy or save "
                        f"it again"
                    ) from None
                # Something else may have ended a child that served before: the file gets another chance.
                logger.info("the reader of .mat files ended and is started again")
                continue
            # Interrupted in the middle of an answer, whose rest must not be taken for the next one.
            except BaseException:
                self.close()
                raise
            if answer.refused:
                raise BadInput(f"{readable(path)!r} {answer.refused}")
            return answer

    def _started(self) -> tuple[subprocess.Popen[bytes], bool]:
        """Return a child that waits for requests, and whether it is new."""
        if self._child is not None:
            if self._child.poll() is None:
                return self._child, False
            self.close()
        limits = {"bytes": self.most_bytes, "memory": self.most_memory, "seconds": self.seconds}
        # One thread: the pools of the others would count as address space.
        alone = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
        self._child = child = subprocess.Popen(
            # -P: the folder of the script is not searched for modules, its names are not meant as such.
            [sys.executable, "-P", str(CHILD), json.dumps(limits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **alone},
            # Ctrl-C in the terminal reaches a whole session; this one is ended by us.
            start_new_session=True,
        )
        try:
            with time_limit(child, START_SECONDS):
                take_header(child)
        except Ended:
            self.close()
            raise LookalikeError(
                f"the reader of .mat files does not start (it ended with {child.returncode}): check that "
                f"'{sys.executable} -c \"import scipy.io\"' works"
            ) from None
        except BaseException:
            self.close()
            raise
        return child, True


def _check_there(path: Path) -> None:
    """Refuse what cannot be opened; the child is not asked for it."""
    if is_folder(path):
        raise BadInput(f"{readable(path)!r} is a folder: give a MATLAB .mat file")
    try:
        with path.open("rb"):
            pass
    except OSError as reason:
        raise unreadable(path, reason) from None
