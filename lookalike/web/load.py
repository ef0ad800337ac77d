"""Load: how many connections there may be, how silent, how large bodies, how often repeats are logged.

An upload that is to be kept on the disk is refused before it is read, not after.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive
from uvicorn.protocols.http.h11_impl import H11Protocol

from lookalike import atomic
from lookalike.errors import Conflict, LookalikeError
from lookalike.resources import Need, check, in_words

logger = logging.getLogger(__name__)

# Connections at a time: a browser has six. When there are more, the oldest goes that never showed the cookie.
MOST_CONNECTIONS = 400
# Seconds in which the headers of a request must have come, and each piece of its body.
FOR_HEADERS, FOR_BODY = 15.0, 60.0
# What repeats is logged once in so many seconds.
BETWEEN_LINES = 60.0
# What the guard tells of a request: whether it showed the cookie or a key, and what the key is called.
OWNER, KEY = "lookalike.owner", "lookalike.key"


class LimitedProtocol(H11Protocol):
    """A connection that must say what it wants, and gives way to others unless it is the owner's."""

    most = MOST_CONNECTIONS
    _late: asyncio.TimerHandle | None = None
    _is_owner = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it; if there are too many, another goes."""
        super().connection_made(transport)
        self._began = self.loop.time()
        if len(self.connections) > self.most:
            every = [one for one in self.connections if isinstance(one, LimitedProtocol)]
            others = [one for one in every if not one.is_owners]
            oldest = min(others, key=lambda one: one._began, default=self)
            logger.warning("more than %d connections at once: the oldest of strangers are closed", self.most)
            oldest.transport.abort()
            # The system tells only later that it is gone.
            self.connections.discard(oldest)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read on; a request that has begun must come to the end of its headers."""
        self._wait()
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._end_waiting()

    def on_response_complete(self) -> None:
        """Remember who asked."""
        self._is_owner = self.is_owners
        super().on_response_complete()

    @property
    def is_owners(self) -> bool:
        """Whether a request came with the cookie, which the guard tells."""
        return self._is_owner or bool(self.scope and self.scope.get(OWNER))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._end_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self._late is None and not is_answering:
            self._late = self.loop.call_later(FOR_HEADERS, self.transport.abort)

    def _end_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class Seldom(logging.Filter):
    """Lets each message through once in a while, without its traceback: what repeats would fill the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is to be logged."""
        said, now = str(record.msg)[:80], time.monotonic()
        if now - self._last.get(said, -BETWEEN_LINES) < BETWEEN_LINES:
            return False
        self._last[said] = now
        record.msg, record.args = " ".join(record.getMessage().split())[:300], ()
        record.exc_info, record.exc_text = None, None
        return True


def later(answer: Response, seconds: float) -> Response:
    """The same answer, which says when to come again if that is a matter of time."""
    if seconds > 0:
        answer.headers["Retry-After"] = str(math.ceil(seconds))
    return answer


def limited(request: Request, receive: Receive, most: int) -> Receive:
    """Stop reading a body that is too large, whatever it says of its length, or that does not come."""
    read, is_read = 0, False

    async def receive_limited() -> Message:
        nonlocal read, is_read
        try:
            # Once all of it is read, this waits for whoever asked to leave, however long that takes.
            message = await (receive() if is_read else asyncio.wait_for(receive(), FOR_BODY))
        except TimeoutError:
            raise HTTPException(408, f"Nothing came for {FOR_BODY:.0f} seconds: send it again.") from None
        is_read = not message.get("more_body", False)
        read += len(message.get("body", b""))
        said = request.headers.get("content-length", "")
        if read > most or (said.isdecimal() and int(said[:20]) > most):
            raise HTTPException(413, f"This is too large: at most {most // 2**20} MB can be taken.")
        return message

    return receive_limited


# Uploads that lie on the disk at a time, waiting to be looked through, and how large they are together.
MOST_WAITING: Final = 8
MOST_BYTES: Final = 4 * 2**30


class Quota:
    """Counts what lies on the disk: so many uploads wait, of so many bytes together."""

    def __init__(self, waiting: int = MOST_WAITING, size: int = MOST_BYTES) -> None:
        self.waiting, self.size = waiting, size
        self._lock = threading.RLock()
        self._taken: dict[str, int] = {}
        self._unread: set[str] = set()

    @contextmanager
    def reading(self, key: str, size: int, folder: Path) -> Iterator[None]:
        """Make room for an upload before it is read; it is given back after the block, unless it was taken.

        It says that it has so many bytes; 0 if it does not say. Raises Conflict if too much waits
        already, and StorageFailed if the disk of the folder is too full.
        """
        self._hold(key, size, folder)
        try:
            yield
        finally:
            with self._lock:
                if key in self._unread:
                    self.give_back(key)

    def grow(self, key: str, size: int, folder: Path) -> None:
        """Make room for an upload of which so many bytes have come by now; raises as `reading`."""
        if size > self._taken[key]:
            self._hold(key, size, folder)

    @contextmanager
    def taking(self, key: str, size: int, folder: Path) -> Iterator[None]:
        """Make room for an upload that was read, or raise as `reading`; given back if the block fails."""
        self._hold(key, size, folder)
        with self._lock:
            self._unread.discard(key)
        try:
            yield
        except BaseException:
            self.give_back(key)
            raise

    def give_back(self, key: str) -> None:
        """Forget an upload whose files are deleted."""
        with self._lock:
            self._taken.pop(key, None)
            self._unread.discard(key)

    def _hold(self, key: str, size: int, folder: Path) -> None:
        with self._lock:
            others = [held for other, held in self._taken.items() if other != key]
            if len(others) >= self.waiting or (others and sum(others) + size > self.size):
                size_of = in_words(sum(others))
                waiting = f"{len(others)} uploads of {size_of} wait to be looked through: wait until they are"
                if len(others) == 1:
                    waiting = f"an upload of {size_of} waits to be looked through: wait until it is"
                raise Conflict(f"{waiting} done, or stop {'it' if len(others) == 1 else 'one of them'}")
            check("looking through this upload", Need(0, size), folder)
            if key not in self._taken:
                self._unread.add(key)
            self._taken[key] = size


class WeighedRoute(APIRoute):
    """A route whose body has room before its first byte is written, and for every byte that comes.

    The upload is called `request.state.upload`.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Make what answers a request: the body is read in there."""
        handler = super().get_route_handler()

        async def weighed(request: Request) -> Response:
            said = request.headers.get("content-length", "")
            quota: Quota = request.app.state.parts.uploads.quota
            folder = atomic.temporary_place()
            key = request.state.upload = secrets.token_hex(8)
            body = _Body(request.receive)

            async def receive() -> Message:
                message = await body.next()
                try:
                    quota.grow(key, body.came, folder)
                except LookalikeError as reason:
                    body.refused = reason
                    raise
                return message

            try:
                with quota.reading(key, int(said[:20]) if said.isdecimal() else 0, folder):
                    return await handler(Request(request.scope, receive))
            except LookalikeError:
                await body.pass_over()
                raise
            except HTTPException:
                # A body that breaks off is told as one that cannot be understood.
                if body.refused is None:
                    raise
                await body.pass_over()
                raise body.refused from None

        return weighed


class _Body:
    """A body on its way: how much of it came, and whether it has ended."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.came = 0
        self.refused: LookalikeError | None = None
        self._ended = False

    async def next(self) -> Message:
        message = await self._receive()
        self.came += len(message.get("body", b""))
        self._ended = not message.get("more_body", False)
        return message

    async def pass_over(self) -> None:
        """Let the rest go by unkept: a browser that is cut off while it sends shows no answer."""
        while not self._ended:
            await self.next()
