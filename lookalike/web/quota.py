"""Quota: how much may wait to be looked through, so that uploads cannot fill the disk.

A body that is to be kept on the disk is refused before it is read, not after.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

from lookalike import atomic
from lookalike.errors import Conflict, LookalikeError
from lookalike.resources import Need, check, in_words

# Uploads that lie on the disk at a time, waiting to be looked through, and how large they are together.
MOST_WAITING: Final = 8
MOST_BYTES: Final = 4 * 2**30


class Quota:
    """Counts what lies on the disk.

    Parameters
    ----------
    waiting, size : int
        How many uploads, of how many bytes together.
    """

    def __init__(self, waiting: int = MOST_WAITING, size: int = MOST_BYTES) -> None:
        self.waiting, self.size = waiting, size
        self._lock = threading.Lock()
        self._taken: dict[str, int] = {}
        self._unread: set[str] = set()

    @contextmanager
    def reading(self, key: str, size: int, folder: Path) -> Iterator[None]:
        """Make room for an upload before it is read; it is given back after the block, unless it was taken.

        Parameters
        ----------
        key : str
            What the upload will be called.
        size : int
            How many bytes it says it has; 0 if it does not say.
        folder : Path
            Where it will lie.

        Raises
        ------
        Conflict
            If too much waits already.
        StorageFailed
            If the disk of the folder is too full.
        """
        self._hold(key, size, folder)
        try:
            yield
        finally:
            with self._lock:
                if key in self._unread:
                    self._give_back(key)

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
            self._give_back(key)

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

    def _give_back(self, key: str) -> None:
        self._taken.pop(key, None)
        self._unread.discard(key)


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
