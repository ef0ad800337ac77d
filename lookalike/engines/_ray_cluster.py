"""A Ray cluster, started here or entered; the process that leads it; and what goes wrong, in a sentence.

Ray waits for a head that is lost, and ends this whole process when it has not heard from it for a minute. So
somebody knocks now and then, and leaves the cluster before that: whoever waits for an answer is told, and a
page that is served stays.
"""

from __future__ import annotations

import atexit
import importlib
import logging
import os
import re
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from weakref import WeakSet

from lookalike import atomic
from lookalike.errors import BadInput, LookalikeError, NotFound, StorageFailed
from lookalike.kernels.threads import thread_count

Said = TypeVar("Said")

GONE: Final = (
    "the Ray cluster does not answer any more, as when its head is lost, the machine of `ray start --head`: "
    "start it again, then repeat"
)
# Seconds between two knocks, until nobody answers one, and until nobody is expected to answer any more.
OFTEN: Final = 3.0
PATIENCE: Final = 5.0
SILENCE: Final = 30.0
# Seconds between two looks whether there still is a cluster, of whoever waits for an answer.
LOOK: Final = 1.0


class Head:
    """The head of the cluster that this process is in.

    `address` is that which was asked for; `end` leaves the cluster, and is None if it was entered by
    somebody else, who will leave it. `users` entered it and have not left; whoever was let go without a word
    is not among them.
    """

    def __init__(self, ray: Any, address: str | None, end: Callable[[], None] | None) -> None:
        self.ray, self.address = ray, address
        self.users: WeakSet[Any] = WeakSet()
        self.reached_at = str(ray.get_runtime_context().gcs_address)
        self._entry, self._end = _entry(ray), end
        self._left = threading.Event()
        self._is_lost = False
        self._watcher = threading.Thread(target=self._watch, name="lookalike-head", daemon=True)
        self._watcher.start()

    @property
    def is_ours(self) -> bool:
        """Whether the cluster was entered by an engine."""
        return self._end is not None

    @property
    def is_over(self) -> bool:
        """Whether a cluster may be entered again: one that is lost takes a while to leave."""
        is_leaving = self._is_lost and self._watcher.is_alive()
        return not self._is_there and not is_leaving

    @property
    def _is_there(self) -> bool:
        """Whether this process is still in that cluster: somebody may have left it, and entered another."""
        is_in_one = not self._left.is_set() and bool(self.ray.is_initialized())
        return is_in_one and _entry(self.ray) == self._entry

    def check(self) -> None:
        """Refuse to ask a cluster that was left."""
        if not self._is_there:
            raise StorageFailed(GONE)

    def check_answers(self) -> None:
        """Wait until the head answers, before what it is needed for: Ray would wait for it to the end."""
        begun = time.monotonic()
        while True:
            self.check()
            try:
                return knock(self.reached_at)
            except OSError as reason:
                if time.monotonic() - begun >= SILENCE:
                    raise StorageFailed(GONE) from reason
            self._left.wait(OFTEN)

    def ask(self, question: Callable[[], Said]) -> Said:
        """What Ray says when it has asked the head; in a thread that is given up if the head is lost."""
        answer: Future[Said] = Future()

        def work() -> None:
            try:
                answer.set_result(question())
            except BaseException as reason:
                answer.set_exception(reason)

        self.check()
        threading.Thread(target=work, name="lookalike-question", daemon=True).start()
        return self.await_answer(answer)

    def await_answer(self, answer: Future[Said]) -> Said:
        """Wait for an answer as long as there is a cluster.

        It is waited for in Python: Ray's own waiting swallows what a signal raises.
        """
        while not wait([answer], LOOK).done:
            self.check()
        return answer.result()

    def leave(self) -> None:
        """Leave the cluster, once; one that is lost is being left already, which is not waited for."""
        if self._is_there:
            self._left.set()
            if self._end is not None:
                self._end()

    def _watch(self) -> None:
        heard = time.monotonic()
        while not self._left.wait(OFTEN):
            with suppress(OSError):
                knock(self.reached_at)
                heard = time.monotonic()
            if not self._is_there:
                return
            if time.monotonic() - heard >= SILENCE:
                self._is_lost = True
                self._left.set()
                with suppress(Exception):  # it is over, whatever Ray says of it
                    if self._end is not None:
                        self._end()


def _entry(ray: Any) -> tuple[str, ...]:
    """What tells one stay in a cluster from the next; nothing if there is none."""
    try:
        about = ray.get_runtime_context()
        return str(about.get_session_name()), str(about.get_job_id())
    except Exception:  # it is being left in another thread
        return ()


def knock(address: str) -> None:
    """See whether anybody listens at an address; OSError if not."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()


MEMORY: Final = "a machine of the cluster ran out of memory: use more machines"
STORE: Final = (
    "Ray has no room left for what is sent to and fro: give it more, by `ray start --object-store-memory`, "
    "then repeat"
)
DISK: Final = (
    "a machine of the cluster has no disk left for what Ray keeps there: free some space, then repeat"
)
LOST: Final = (
    "a slice was lost and could not be opened elsewhere: check the cluster with `ray status`, then repeat"
)
AGAIN: Final = (
    "a slice was lost again and again while it answered, as when its machine runs out of memory: "
    "use more machines"
)
MODULE: Final = re.compile(r"No module named '([^']+)'")
TOKEN: Final = "set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN as on the machines of the cluster"


def got(head: Head, asked: Any) -> Any:
    """The answer, or what went wrong: as it was raised where it happened, or what became of the cluster."""
    with in_words(head.ray):
        head.check()
        return head.await_answer(asked.future())


@contextmanager
def in_words(ray: Any) -> Iterator[None]:
    """Raise what Ray raises as a sentence."""
    try:
        yield
    except ray.exceptions.RayTaskError as reason:
        raise _of_cause(ray, reason) from (None if isinstance(reason.cause, LookalikeError) else reason)
    except ray.exceptions.RayError as reason:
        raise _of_ray(ray, reason) from reason


def is_lost(ray: Any, reason: BaseException) -> bool:
    """Whether a slice was lost which is being opened elsewhere."""
    return isinstance(reason.__cause__, ray.exceptions.ActorUnavailableError)


def is_work_lost(ray: Any, reason: BaseException) -> bool:
    """Whether whoever did a piece of work was lost with it."""
    known = ray.exceptions
    lost = known.WorkerCrashedError, known.NodeDiedError, known.ObjectLostError
    return isinstance(reason.__cause__, lost)


def is_dead(ray: Any, reason: BaseException) -> bool:
    """Whether a slice was lost for good."""
    return isinstance(reason.__cause__, ray.exceptions.RayActorError) and not is_lost(ray, reason)


def _of_cause(ray: Any, reason: Any) -> LookalikeError:
    """What was raised in a process of the cluster."""
    cause = reason.cause
    if isinstance(cause, LookalikeError):
        return cause
    if isinstance(cause, ray.exceptions.RayError):
        return _of_ray(ray, cause)
    if lacking := _lacking(cause):
        return lacking
    if isinstance(cause, MemoryError):
        return StorageFailed(MEMORY)
    if isinstance(cause, OSError):
        told = f"{cause.strerror or cause}{f': {cause.filename}' if cause.filename else ''}"
        return StorageFailed(f"the disk of a machine of the cluster refused ({told}): mend that, then repeat")
    return LookalikeError(
        f"a process of the cluster stumbled ({type(cause).__name__}: {_first(cause)}): "
        "this is a mistake of lookalike, please report it"
    )


def _of_ray(ray: Any, reason: Exception) -> LookalikeError:
    """What became of the cluster."""
    known = ray.exceptions
    if isinstance(reason, known.OutOfMemoryError):
        return StorageFailed(MEMORY)
    if isinstance(reason, known.ObjectStoreFullError):
        return StorageFailed(STORE)
    if isinstance(reason, known.OutOfDiskError):
        return StorageFailed(DISK)
    if isinstance(reason, known.AuthenticationError):
        return BadInput(f"the cluster wants another token: {TOKEN}")
    if lacking := _lacking(reason):
        return lacking
    if isinstance(reason, known.ActorUnavailableError):
        return StorageFailed(AGAIN)
    if isinstance(reason, known.RayActorError):
        return StorageFailed(LOST)
    return StorageFailed(
        f"the cluster failed ({type(reason).__name__}: {_first(reason)}): "
        "check it with `ray status`, then repeat"
    )


def _lacking(reason: BaseException) -> NotFound | None:
    """What to do if a machine lacks a module; Ray says so in its own words where it is lookalike itself."""
    found = MODULE.search(str(reason))
    if found is None:
        return None
    which = "`lookalike status` shows which it is"
    return NotFound(f"a machine of the cluster lacks {found[1]}: install lookalike there; {which}")


def _first(reason: BaseException) -> str:
    """The first line of what was said; the rest is for those who know the insides."""
    return (str(reason).strip().splitlines() or ["no reason was told"])[0]


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

    Raise BadInput or NotFound if Ray is not installed, if there is no such cluster, if it lets nobody in, or
    if this process is in another one.
    """
    with _entering:
        head = next((known for known in _here if not known.is_over), None)
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
    folder = atomic.temporary_folder()
    if len(os.fsencode(folder)) <= LONGEST_PATH:
        return folder
    atomic.delete_tree(folder)
    return None


def _shut_down(ray: Any, folder: Path | None) -> None:
    ray.shutdown()
    if folder is not None:
        atomic.delete_tree(folder)


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
        raise NotFound("the engine ray needs Ray: pip install 'lookalike[ray]'") from reason


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
        aside = atomic.nameless_file()
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
