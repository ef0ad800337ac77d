"""App: the server of one gallery, put together, and run at a socket until somebody ends it."""

from __future__ import annotations

import ipaddress
import logging
import secrets
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn
from anyio.to_thread import current_default_thread_limiter, run_sync
from fastapi import FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from lookalike import __version__
from lookalike.engines.contract import Engine
from lookalike.errors import BadInput, Conflict, GalleryUnreadable, LookalikeError, NotFound, StorageFailed
from lookalike.gallery import journal
from lookalike.gallery.gallery import open_gallery
from lookalike.web import api, pages
from lookalike.web.answers import Answering
from lookalike.web.evidence import Evidence
from lookalike.web.films import Films, Photos, Pictures
from lookalike.web.guard import MOST_UPLOAD, NO_KEYS, Guard
from lookalike.web.intake import Intake
from lookalike.web.jobs import Jobs
from lookalike.web.keys import Keys
from lookalike.web.load import MOST_CONNECTIONS, LimitedProtocol, Seldom
from lookalike.web.models import SearchAsk, Told
from lookalike.web.people import Deciding
from lookalike.web.proposals import Proposing
from lookalike.web.search import Searches, method_of
from lookalike.web.sets import Browsing
from lookalike.web.uploads import Uploads
from lookalike.web.wording import sentence

# Where there is such a signal: the terminal was closed.
HANGUP: Final = getattr(signal, "SIGHUP", None)
# Seconds that answers in progress get when the server ends.
GRACE = 2
# Seconds that a connection stays open between two requests. On this machine it is longer than any client
# keeps it, so that none is closed by us at the moment it is used again; strangers must not hold them all.
KEPT_OPEN, KEPT_OPEN_FOR_OTHERS = 600, 5


class Server(uvicorn.Server):
    """Tells long work at once that it is to end: streams of events would keep the server waiting."""

    def __init__(self, config: uvicorn.Config, jobs: Jobs) -> None:
        super().__init__(config)
        self._jobs = jobs

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; a terminal that is closed asks for it as the system does."""
        self._jobs.closing = True
        super().handle_exit(signal.SIGTERM if sig == HANGUP else sig, frame)


def run(app: FastAPI, listening: socket.socket) -> None:
    """Serve at a socket until a signal ends it; the signal is raised again when all is put away."""
    here = ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback
    with suppress(ImportError):  # Windows has no such limit
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        LimitedProtocol.most = min(MOST_CONNECTIONS, files // 2) if files > 0 else MOST_CONNECTIONS
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=KEPT_OPEN if here else KEPT_OPEN_FOR_OTHERS,
        http=LimitedProtocol,
        lifespan="on",
        # So many are taken at one time, before those that are too many are closed: they need files too.
        backlog=max(1, LimitedProtocol.most // 8),
    )
    server = Server(config, app.state.parts.jobs)
    for name in ("asyncio", "uvicorn.error", "lookalike.web.load"):
        logging.getLogger(name).addFilter(Seldom())
    is_main = threading.current_thread() is threading.main_thread()
    if HANGUP is not None and is_main and signal.getsignal(HANGUP) != signal.SIG_IGN:
        signal.signal(HANGUP, server.handle_exit)
    server.run(sockets=[listening])


STATUS: Final = {BadInput: 400, NotFound: 404, Conflict: 409, GalleryUnreadable: 500, StorageFailed: 507}
# Answers for programs; everything else is for people.
FOR_PROGRAMS: Final = ("/api/", "/pictures/", "/films/", "/static/")
# Some requests wait for the collection to get ready: the others shall not wait for them.
THREADS: Final = 120
KEY: Final = HTTPBearer(scheme_name="key", description="A key of `serve --key-file`.", auto_error=False)
SECONDS_BETWEEN_SETTLING: Final = 2.0


class Parts:
    """The parts of the server of one gallery, each for any thread, and their beginning and end.

    What is wrong with a request is said by a `LookalikeError`, whose text is one sentence for people. The
    folder is taken in while the page is looked at; sentences about that go to the terminal (`tell`).
    """

    def __init__(
        self,
        path: Path,
        engine: Engine | str | None = None,
        folder: Path | None = None,
        tell: Callable[[str], None] = lambda words: None,
    ) -> None:
        self.gallery = open_gallery(path)
        self._closed = threading.Event()
        self.jobs = Jobs(path)
        self.pictures = Pictures(self.gallery, secrets.token_bytes(32))
        self.uploads = Uploads(self.gallery, self.jobs, self.pictures)
        self.browsing = Browsing(self.gallery, self.pictures)
        self.searches = Searches(self.gallery, self.jobs, self.browsing.catalogue, engine)
        self.films = Films(self.gallery, self.browsing, self.pictures)
        self.photos = Photos(self.gallery, self.browsing, self.pictures)
        self.deciding = Deciding(self.gallery, self.browsing)
        self.proposing = Proposing(self.gallery, self.browsing, self.searches)
        self.answering = Answering(self.gallery, self.browsing, self.searches, self.uploads)
        self.evidence = Evidence(self.browsing, self.searches, self.answering)
        self.intake = None if folder is None else Intake(folder, self.gallery, self.jobs, self.searches, tell)

    def begin(self) -> None:
        """Get ready for the usual question while the user still looks around."""
        threading.Thread(target=self._settle, name="settling", daemon=True).start()
        # The list of a large gallery takes seconds to read; requests say what is wrong with it.
        threading.Thread(target=self._look, name="first look", daemon=True).start()
        usual = SearchAsk()
        if len(self.gallery):
            self.searches.begin(method_of(usual.similarity, usual.reranker, None))
        if self.intake:
            self.intake.begin()

    def _settle(self) -> None:
        """Bring into the file what other processes left in the journal because we were reading."""
        while not self._closed.wait(SECONDS_BETWEEN_SETTLING):
            with suppress(LookalikeError):
                if journal.size_of(self.gallery.path):
                    self.gallery.settle()

    def _look(self) -> None:
        with suppress(LookalikeError):
            self.browsing.catalogue()

    def close(self) -> None:
        """End all work and give the gallery back."""
        self._closed.set()
        self.jobs.close()
        self.uploads.close()
        self.gallery.close()


def create_app(
    path: Path,
    token: str,
    hosts: Collection[str],
    most_upload: int = MOST_UPLOAD,
    engine: Engine | str | None = None,
    folder: Path | None = None,
    tell: Callable[[str], None] = lambda words: None,
    keys: Keys = NO_KEYS,
) -> FastAPI:
    """The page and its JSON for one gallery; the other parameters are those of `Parts`.

    The token is the secret of the printed address, which lets one browser in, once. The hosts are names
    and ports by which the server is reached, as in ``127.0.0.1:8417``; the keys are those of programs,
    which need no token.
    """
    parts = Parts(path, engine, folder, tell)

    @asynccontextmanager
    async def alive(app: FastAPI) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = THREADS
        await run_sync(parts.begin)
        yield
        await run_sync(parts.close)

    app = FastAPI(
        title="lookalike",
        version=__version__,
        summary="Sets, searches with evidence, decisions and people of one gallery.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=alive,
        responses={code: {"model": Told} for code in (400, 401, 403, 404, 409, 422, 429)},
        redirect_slashes=False,
        # What generated clients call their functions.
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.parts = parts
    app.state.path = path
    # The guard checks keys; this only describes to generators of clients how one is shown.
    app.include_router(api.router, dependencies=[Security(KEY)])
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=pages.STATIC), name="static")
    app.add_exception_handler(LookalikeError, _in_words)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(HTTPException, _refused)
    app.add_middleware(Guard, token=token, hosts=hosts, say=say, most_upload=most_upload, keys=keys)
    return app


def say(request: Request, status: int, words: str) -> Response:
    """Tell why something is refused: a sentence for programs, a page for people."""
    whole = sentence(words, request.app.state.path)
    if request.scope["path"].startswith(FOR_PROGRAMS):
        return JSONResponse({"error": whole}, status)
    return pages.error_page(status, whole)


def _in_words(request: Request, error: Exception) -> Response:
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
    return say(request, status, str(error))


def _not_understood(request: Request, error: Exception) -> Response:
    """The first thing that is wrong with a request."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    what = repr(where) if where else "the request"
    return say(request, 422, f"{what} is not right: {first['msg'].lower()}"[:300])


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = error.detail
    if words == HTTPStatus(error.status_code).phrase:
        words = "There is nothing at this address." if error.status_code == 404 else f"{words}."
    return say(request, error.status_code, words)
