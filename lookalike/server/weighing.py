"""Weighing: a body that is to be kept on the disk is refused before it is read, not after."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

from lookalike import disk
from lookalike.errors import LookalikeError
from lookalike.server.api_looking import desk_of


class WeighedRoute(APIRoute):
    """A route whose body has room before its first byte is written, and for every byte that comes.

    The upload is called `request.state.upload`.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Make what answers a request: the body is read in there."""
        handler = super().get_route_handler()

        async def weighed(request: Request) -> Response:
            said = request.headers.get("content-length", "")
            quota, folder = desk_of(request).uploads.quota, disk.temporary_place()
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
