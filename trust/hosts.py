"""Hosts: machines on this machine, each with a network, a name and processes of its own, joined by cables.

They are namespaces of Linux, which take root to make. What they send to each other goes nowhere else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Final

from tests.waiting import PATIENCE

# What hosts are made with: iproute2 and util-linux.
TOOLS: Final = ("ip", "unshare", "nsenter", "setpriv")
# Addresses for examples (RFC 5737), which no other machine has.
NETWORK: Final = "198.51.100"
# A host has memory of its own to share between its processes, and a place of its own for Ray's files.
BOOT: Final = (
    "hostname {name} && mount -t tmpfs tmpfs /dev/shm && mkdir -p /tmp/ray && mount -t tmpfs tmpfs /tmp/ray"
    " && exec sleep infinity"
)


def why_not() -> str:
    """Why no hosts can be made here; empty if they can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "only root can make hosts"
    missing = [name for name in TOOLS if shutil.which(name) is None]
    if missing:
        return f"hosts take {', '.join(missing)}"
    tried = subprocess.run(
        ["unshare", "--mount", "--net", "true"], capture_output=True, text=True, check=False
    )
    return "" if tried.returncode == 0 else f"hosts cannot be made here: {tried.stderr.strip()}"


class Hosts:
    """Some machines, switched on and connected; gone at the end of the block.

    Parameters
    ----------
    count : int
        How many; the first has number 1.
    """

    def __init__(self, count: int) -> None:
        self.numbers = range(1, count + 1)
        self._switch = f"lookalike-{os.getpid()}"
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Hosts:
        try:
            self._connect()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _connect(self) -> None:
        _ip("netns", "add", self._switch)
        _ip("-n", self._switch, "link", "add", "bridge", "type", "bridge")
        _ip("-n", self._switch, "link", "set", "bridge", "up")
        for number in self.numbers:
            here, plug = self._name(number), f"plug{number}"
            _ip("netns", "add", here)
            ends = ("link", "add", "cable", "netns", here, "type", "veth", "peer", "name", plug)
            _ip(*ends, "netns", self._switch)
            _ip("-n", self._switch, "link", "set", plug, "master", "bridge", "up")
            _ip("-n", here, "addr", "add", f"{self.address(number)}/24", "dev", "cable")
            for device in ("lo", "cable"):
                _ip("-n", here, "link", "set", device, "up")
            self.switch_on(number)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in self.numbers:
            self.switch_off(number)
            subprocess.run(["ip", "netns", "del", self._name(number)], check=False, capture_output=True)
        subprocess.run(["ip", "netns", "del", self._switch], check=False, capture_output=True)

    def address(self, number: int) -> str:
        """Where a host is reached."""
        return f"{NETWORK}.{number}"

    def switch_on(self, number: int) -> None:
        """Start a host, on which nothing runs."""
        apart = ("--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc")
        boot = ("sh", "-c", BOOT.format(name=f"host{number}"))
        words = ["ip", "netns", "exec", self._name(number), "unshare", *apart, *boot]
        self._running[number] = subprocess.Popen(words)
        end = time.monotonic() + PATIENCE
        while not (first := self._first(number)) or _command(first) != "sleep":
            if time.monotonic() > end or self._running[number].poll() is not None:
                raise RuntimeError(f"host {number} did not start")
            time.sleep(0.02)

    def switch_off(self, number: int) -> None:
        """End a host and all its processes, at once."""
        if number in self._running:
            running = self._running.pop(number)
            running.kill()
            running.wait()

    def cut(self, number: int) -> None:
        """Pull the cable of a host: whoever waits for it hears nothing, not even that it is gone."""
        _ip("-n", self._switch, "link", "set", f"plug{number}", "down")

    def mend(self, number: int) -> None:
        """Put the cable back."""
        _ip("-n", self._switch, "link", "set", f"plug{number}", "up")

    def words(self, number: int, *command: object) -> list[str]:
        """The words of a command that shall run on a host, and end with whoever runs these."""
        entry = ("nsenter", "-t", str(self._first(number)), "--mount", "--uts", "--net", "--pid")
        return [*entry, "setpriv", "--pdeathsig", "KILL", *map(str, command)]

    def _name(self, number: int) -> str:
        return f"{self._switch}-{number}"

    def _first(self, number: int) -> int:
        """The first process of a host, as this machine counts; 0 if there is none yet."""
        outer = self._running[number].pid
        children = Path(f"/proc/{outer}/task/{outer}/children")
        found = children.read_text().split() if children.exists() else []
        return int(found[0]) if found else 0


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def _command(process: int) -> str:
    return Path(f"/proc/{process}/comm").read_text().strip()
