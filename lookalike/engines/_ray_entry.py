"""Entry: start Ray here, or enter a cluster that runs; quietly, and with a sentence if that fails."""

from __future__ import annotations

import atexit
import importlib
import logging
import os
import re
import secrets
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Final

from lookalike import disk
from lookalike.engines._ray_failures import TOKEN
from lookalike.engines._ray_head import Head, knock
from lookalike.errors import BadInput, LookalikeError, NotFound
from lookalike.kernels.threads import thread_count

logger = logging.getLogger(__name__)

# Ray reports how it is used unless it is told not to; nothing here is reported. Nor does it print what was
# raised where nobody asked any more, or repeat for ever what was ended for want of memory, or start a cluster
# by itself where one was left.
SETTINGS: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
    "RAY_task_oom_retries": "3",
    "RAY_ENABLE_AUTO_CONNECT": "0",
}
# Ray would end this whole process a minute after it asked a lost head; whoever watches the head leaves
# before that, and a page that is served stays.
PATIENT: Final = {"RAY_gcs_rpc_server_reconnect_timeout_s": "86400"}
# The address of the cluster that runs on this machine already.
FOUND: Final = "auto"
# So many bytes of what Ray's machinery writes are looked at; how its lines begin, and what one says if the
# token is not the one of the cluster.
MOST_WORDS: Final = 2**20
OF_RAY: Final = re.compile(r"\[\d{4}-\d\d-\d\d |\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,")
WRONG_TOKEN: Final = "InvalidAuthToken"
# Of bytes; names of sockets end at 107, and those of Ray are 68 longer.
LONGEST_PATH: Final = 39


# A process is in one cluster at a time, which all its engines share.
_entering = threading.Lock()
_here: list[Head] = []


def enter(address: str | None, user: object) -> Head:
    """Start Ray on this machine, or connect with a cluster, unless this process is there already.

    Raises
    ------
    BadInput, NotFound
        If Ray is not installed, if there is no such cluster, if it lets nobody in, or if this process is in
        another one.
    """
    with _entering:
        head = next((one for one in _here if not one.is_over), None)
        if head is not None and not _is_meant(head, address):
            if head.users:
                raise _is_elsewhere(head.reached_at)
            head.leave()  # nobody is there any more who could
            head = None
        if head is None:
            head = _new_head(address)
            _here[:] = [head]
        head.users.add(user)
        return head


def leave(head: Head, user: object) -> None:
    """Leave a cluster, unless other engines are still there."""
    with _entering:
        head.users.discard(user)
        if not head.users:
            head.leave()


def _is_meant(head: Head, address: str | None) -> bool:
    """Whether a cluster is the one that is asked for."""
    return address in (head.address, head.reached_at) or (not head.is_ours and address in (None, FOUND))


def _is_elsewhere(where: str) -> BadInput:
    return BadInput(
        f"this process is in the Ray cluster at {where}, and can be in one at a time: close what uses that, "
        "or leave the other address out"
    )


def _new_head(address: str | None) -> Head:
    loaded = sys.modules.get("ray")
    if loaded is not None and loaded.is_initialized():
        where = str(loaded.get_runtime_context().gcs_address)
        if address not in (None, FOUND, where):
            raise _is_elsewhere(where)
        return Head(loaded, where, None)
    if address is None:
        _settle_secret(is_late=loaded is not None)
    elif address != FOUND:
        _check_reachable(str(address))
    # Ray reads its settings when it is loaded.
    for name, value in (SETTINGS | ({} if address is None else PATIENT)).items():
        os.environ.setdefault(name, value)
    ray = _library()
    _keep_stdout()
    about: dict[str, Any] = {"address": address}
    folder = None
    if address is None:
        folder = _own_folder()
        # Told so, Ray does not enter a cluster that somebody else runs here.
        about = {"address": "local", "num_cpus": thread_count(), "include_dashboard": False}
        # Not the folder itself: Ray lets everybody into the one that it is given.
        about |= {} if folder is None else {"_temp_dir": str(folder / "ray")}
    said: list[str] = []
    try:
        with _own_signals(), _words_aside(said), _loopback() if address is None else nullcontext():
            ray.init(**about, log_to_driver=False, logging_level=logging.ERROR)
    except BaseException as reason:
        _shut_down(ray, folder)
        if isinstance(reason, Exception):  # Ray has no family of errors for what can go wrong here
            raise _no_entry(ray, address, reason, said) from reason
        raise
    end = partial(_shut_down, ray, folder)
    if folder is not None:
        atexit.register(end)  # for those who do not close
    return Head(ray, address, end)


def _own_folder() -> Path | None:
    """A folder for Ray's files, what it has no room for in memory among them, which nobody else can read.

    None if its path is too long for the sockets that Ray makes in it: then they lie where Ray puts them.
    """
    folder = disk.temporary_folder("lookalike-")
    if len(os.fsencode(folder)) <= LONGEST_PATH:
        return folder
    disk.remove_folder(folder)
    return None


def _shut_down(ray: Any, folder: Path | None) -> None:
    ray.shutdown()
    if folder is not None:
        disk.delete_tree(folder)


def _settle_secret(is_late: bool) -> None:
    """Ray does what it is told by whoever reaches it: other users of this machine could use it."""
    if is_late and "RAY_AUTH_MODE" not in os.environ:
        raise BadInput(
            "Ray was loaded before lookalike could give it a secret, without which whoever reaches this "
            "machine could use it: set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN first, or start Ray and give "
            "its address"
        )
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


def _library() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as reason:
        raise NotFound("the engine ray needs Ray: pip install 'lookalike[cluster]'") from reason


def _no_entry(ray: Any, address: str | None, reason: Exception, said: list[str]) -> LookalikeError:
    if isinstance(reason, ray.exceptions.AuthenticationError):
        return BadInput(f"Ray wants a token, and none is known here: {TOKEN}")
    if any(WRONG_TOKEN in line for line in said):
        return BadInput(f"the Ray cluster at {address} wants a token, or another one: {TOKEN}")
    told = " ".join(str(reason).split()) or type(reason).__name__
    if told.startswith("Version mismatch"):
        return BadInput(
            f"the Ray cluster at {address} has another version ({told}): install the same on all machines"
        )
    return _no_cluster("here" if address is None else f"at {address}", told)


def _check_reachable(address: str) -> None:
    """Knock first: Ray itself tries for minutes, and says so on the terminal."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdecimal() and int(port) < 2**16):
        raise BadInput(f"an address is HOST:PORT, as `ray start --head` prints it, or auto; got {address!r}")
    try:
        knock(address)
    except OSError as reason:
        raise _no_cluster(f"at {address}", reason.strerror or str(reason)) from reason


def _no_cluster(where: str, reason: str) -> NotFound:
    return NotFound(
        f"no Ray cluster can be had {where} ({reason}): start one with `ray start --head`, "
        "or give the address of one that runs"
    )


def _keep_stdout() -> None:
    """Have Ray log what it would print: what became of its processes goes to stdout, where our data go."""
    worker: Any = importlib.import_module("ray._private.worker")
    if hasattr(worker, "print_to_stdstream"):  # Ray has no option for it
        worker.print_to_stdstream = lambda data, **_: logger.info("%s", "; ".join(data["lines"]))


@contextmanager
def _loopback() -> Iterator[None]:
    """Have Ray use the address at which only this machine reaches itself, as it does on a Mac.

    Otherwise it listens to all who reach this machine, and is lost when the network changes.
    """
    constants: Any = importlib.import_module("ray._private.ray_constants")
    before = getattr(constants, "ENABLE_RAY_CLUSTER", None)  # Ray has no option for it
    constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before


@contextmanager
def _words_aside(said: list[str]) -> Iterator[None]:
    """Collect what Ray's machinery writes to stderr, past Python; what others write there follows after."""
    try:
        aside = disk.nameless_file()
        kept = os.dup(2)
    except OSError:  # there is no stderr, or no room
        yield
        return
    os.dup2(aside, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.lseek(aside, 0, os.SEEK_SET)
        lines = os.read(aside, MOST_WORDS).decode(errors="replace").splitlines()
        os.close(kept)
        os.close(aside)
        said += [line for line in lines if OF_RAY.match(line)]
        if sys.stderr is not None:
            sys.stderr.writelines(f"{line}\n" for line in lines if not OF_RAY.match(line))


@contextmanager
def _own_signals() -> Iterator[None]:
    """Put off what this process does when asked to end: Ray dies of it halfway, or has ways of its own."""
    if threading.current_thread() is not threading.main_thread():  # where no signal arrives
        yield
        return
    asked: list[int] = []
    before = {
        number: signal.signal(number, lambda number, frame: asked.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    except SystemExit:  # how Ray ends when it is asked to
        asked.append(signal.SIGTERM)
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if asked:
            signal.raise_signal(asked[0])
