"""Long work by JSON: uploads, jobs, and how far they are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import APIRouter, Path, Request, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from lookalike.server.api_looking import desk_of
from lookalike.server.jobs import Job, Jobs
from lookalike.server.methods import method_of
from lookalike.server.models import JobAsk, JobList, JobView, UploadView
from lookalike.server.weighing import WeighedRoute

router = APIRouter(prefix="/api")
Number = Annotated[int, Path(ge=0, le=2**53)]
# Seconds between two looks at a job, and after which a quiet stream shows that it is alive.
LOOK: Final = 0.1
ALIVE: Final = 10.0


# What is written to the disk while it is read.
weighed = APIRouter(route_class=WeighedRoute)


@weighed.post("/uploads", response_model=JobView, status_code=202)
async def upload(request: Request, files: list[UploadFile]) -> JobView:
    """Look for faces in photos or a clip; the result of the job is the key of the upload.

    What is neither is left out, and the upload says so; if nothing is left, all is refused.
    """
    taken = [(one.filename or "", one.file) for one in files]
    begun = await run_in_threadpool(desk_of(request).uploads.take, taken, request.state.upload)
    # Whoever went away while it was copied cannot stop it any more.
    if await request.is_disconnected():
        begun.cancel()
    return begun.view()


router.include_router(weighed)


@router.get("/uploads/{key}", response_model=UploadView)
def uploaded(request: Request, key: str) -> UploadView:
    """Who is in an upload."""
    return desk_of(request).uploads.view(key)


@router.delete("/uploads/{key}", response_model=UploadView)
def forget(request: Request, key: str) -> UploadView:
    """Forget an upload; nothing of it stays."""
    return desk_of(request).uploads.forget(key)


@router.post("/uploads/{key}/keep", response_model=JobView, status_code=202)
def keep(request: Request, key: str) -> JobView:
    """Add everybody in an upload to the collection; the result of the job is the keys of the new sets."""
    return desk_of(request).uploads.keep(key).view()


@router.post("/uploads/{key}/unkeep", response_model=JobView, status_code=202)
def unkeep(request: Request, key: str) -> JobView:
    """Take out again what the last `keep` added; the result of the job is the keys of the sets removed."""
    return desk_of(request).uploads.unkeep(key).view()


@router.post("/jobs", response_model=JobView, status_code=202)
def begin(request: Request, ask: JobAsk) -> JobView:
    """Begin to index or train, which a search does by itself too."""
    method = method_of(ask.similarity, ask.reranker, None)
    return desk_of(request).searches.start(ask.kind, method).view()


# These wait for nothing: on the loop itself they answer while every thread is busy.


@router.get("/jobs", response_model=JobList)
async def jobs(request: Request) -> JobList:
    """All work of this run of the server, the newest first."""
    return JobList(jobs=desk_of(request).jobs.views())


@router.get("/jobs/{number}", response_model=JobView)
async def job(request: Request, number: Number) -> JobView:
    """How far some work is."""
    return desk_of(request).jobs.view(number)


@router.delete("/jobs/{number}", response_model=JobView)
async def stop(request: Request, number: Number) -> JobView:
    """Ask some work to stop; what it has finished is kept."""
    found = desk_of(request).jobs.get(number)
    found.cancel()
    return found.view()


@router.get("/jobs/{number}/events", response_class=StreamingResponse)
async def events(request: Request, number: Number) -> StreamingResponse:
    """How far some work is, as server-sent events, each a job as JSON; the stream ends with the job."""
    jobs = desk_of(request).jobs
    return StreamingResponse(_events(jobs.get(number), jobs), media_type="text/event-stream")


async def _events(job: Job, jobs: Jobs) -> AsyncIterator[str]:
    told, when = None, 0.0
    while True:
        # Asked before the view is made: the last one told is that of the end.
        over = job.is_over or jobs.closing
        view = job.view()
        # Time alone is no news.
        said = view.model_copy(update={"seconds": 0.0, "left": None})
        now = time.monotonic()
        if said != told:
            told, when = said, now
            yield f"data: {view.model_dump_json()}\n\n"
        elif now - when > ALIVE:
            when = now
            yield ": still at it\n\n"
        if over:
            return
        await asyncio.sleep(LOOK)
