"""Failures: whatever goes wrong on a Ray cluster, as one sentence of the one family of errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from lookalike.engines._ray_head import Head
from lookalike.errors import BadInput, LookalikeError, NotFound, StorageFailed

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
    """The answer, or what went wrong.

    Raises
    ------
    LookalikeError
        As it was raised where it happened, or what became of the cluster.
    """
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
