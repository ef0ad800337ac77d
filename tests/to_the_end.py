"""To the end: a forked process does one thing and is gone, without taking the interpreter down first."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn


def run_to_the_end(work: Callable[[], object]) -> NoReturn:
    """Do it, and end with its exit code; taking the interpreter down would take half a second."""
    code: object = 1
    try:
        work()
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)
