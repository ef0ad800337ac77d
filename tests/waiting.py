"""Waiting for what other processes do: as long as a busy machine may take, and no longer."""

from __future__ import annotations

import time
from collections.abc import Callable

# Seconds that whatever another process or thread does may take: no test fails because a machine is slow or
# busy, and what comes is seen at once.
PATIENCE = 600.0


def until(holds: Callable[[], object], while_waiting: Callable[[], None] = lambda: None) -> None:
    """Wait until something holds; look meanwhile whether there is still a point in waiting."""
    end = time.monotonic() + PATIENCE
    while not holds():
        while_waiting()
        assert time.monotonic() < end, f"waited {PATIENCE:.0f} s in vain"
        time.sleep(0.05)
