"""Load: how many connections there may be, how silent, how large bodies, how often repeats are logged."""

from __future__ import annotations

import asyncio
import logging
import math
import time

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive
from uvicorn.protocols.http.h11_impl import H11Protocol

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
