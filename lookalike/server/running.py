"""Running: the server at a socket, until somebody ends it."""

from __future__ import annotations

import ipaddress
import socket
from types import FrameType

import uvicorn
from fastapi import FastAPI

from lookalike.server.desk import Desk

# Seconds that answers in progress get when the server ends.
GRACE = 2
# Seconds that a connection stays open between two requests. On this machine it is longer than any client
# keeps it, so that none is closed by us at the moment it is used again; strangers must not hold them all.
KEPT_OPEN, KEPT_OPEN_FOR_OTHERS = 600, 5
# Connections at a time: a browser has six, and those beyond are told to come again (503).
MOST_CONNECTIONS = 400


class Server(uvicorn.Server):
    """Tells long work at once that it is to end: streams of events would keep the server waiting.

    Parameters
    ----------
    config : uvicorn.Config
    desk : Desk
        Whose work ends.
    """

    def __init__(self, config: uvicorn.Config, desk: Desk) -> None:
        super().__init__(config)
        self._desk = desk

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end."""
        self._desk.jobs.closing = True
        super().handle_exit(sig, frame)


def run(app: FastAPI, listening: socket.socket) -> None:
    """Serve at a socket until a signal ends it; the signal is raised again when all is put away."""
    here = ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=KEPT_OPEN if here else KEPT_OPEN_FOR_OTHERS,
        limit_concurrency=MOST_CONNECTIONS,
        lifespan="on",
    )
    Server(config, app.state.desk).run(sockets=[listening])
