"""App: the server of one gallery, put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Final

from anyio.to_thread import current_default_thread_limiter, run_sync
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from lookalike import __version__
from lookalike.engines.contract import Engine
from lookalike.errors import BadInput, Conflict, GalleryUnreadable, LookalikeError, NotFound, StorageFailed
from lookalike.server import api_deciding, api_jobs, api_looking, pages
from lookalike.server.desk import Desk
from lookalike.server.guard import MOST_UPLOAD, Guard
from lookalike.server.models import Told
from lookalike.server.wording import sentence

STATUS: Final = {
    BadInput: 400,
    NotFound: 404,
    Conflict: 409,
    GalleryUnreadable: 500,
    StorageFailed: 507,
}
# Answers for programs; everything else is for people.
FOR_PROGRAMS: Final = ("/api/", "/pictures/", "/films/", "/static/")
# Some requests wait for the collection to get ready: the others shall not wait for them.
THREADS: Final = 120


def create_app(
    path: Path,
    token: str,
    hosts: Collection[str],
    most_upload: int = MOST_UPLOAD,
    engine: Engine | str = "local",
) -> FastAPI:
    """The page and its JSON for one gallery.

    Parameters
    ----------
    path : Path
        The gallery file, or the folder of a collection.
    token : str
        The secret of the printed address, which lets one browser in, once.
    hosts : collection of str
        Names and ports by which the server is reached, as in ``127.0.0.1:8417``.
    most_upload : int
        Largest upload, in bytes.
    engine : Engine or str
        Where sets are compared.

    Raises
    ------
    NotFound, GalleryUnreadable, StorageFailed
        If the gallery cannot be opened.
    """
    desk = Desk(path, engine)

    @asynccontextmanager
    async def alive(app: FastAPI) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = THREADS
        await run_sync(desk.begin)
        yield
        await run_sync(desk.close)

    app = FastAPI(
        title="lookalike",
        version=__version__,
        summary="Sets, searches with evidence, decisions and people of one gallery.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=alive,
        responses={code: {"model": Told} for code in (400, 401, 403, 404, 409, 422)},
        redirect_slashes=False,
    )
    app.state.desk = desk
    app.state.path = path
    for part in (api_looking, api_deciding, api_jobs):
        app.include_router(part.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=pages.STATIC), name="static")
    app.add_exception_handler(LookalikeError, _in_words)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(HTTPException, _refused)
    app.add_middleware(Guard, token=token, hosts=hosts, say=say, most_upload=most_upload)
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
    told = error.detail
    if told == HTTPStatus(error.status_code).phrase:
        told = "There is nothing at this address." if error.status_code == 404 else f"{told}."
    return say(request, error.status_code, told)
