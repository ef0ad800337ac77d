"""Api: what the page and other programs ask by JSON; pictures and videos."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import IO, TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, File, Path, Query, Request, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse

from lookalike.errors import NotFound
from lookalike.gallery.decisions import as_csv, decisions_table, people_table
from lookalike.ranking import media_type
from lookalike.web import models, people_models
from lookalike.web.films import FILM, ORIGINAL, PHOTO, UPLOAD
from lookalike.web.jobs import Job, Jobs
from lookalike.web.load import KEY, WeighedRoute
from lookalike.web.search import method_of

if TYPE_CHECKING:
    from lookalike.web.app import Parts
    from lookalike.web.intake import Intake


# Seconds between two looks at a job, and after which a quiet stream shows that it is alive.
LOOK: Final = 0.1
ALIVE: Final = 10.0
Number = Annotated[int, Path(ge=0, le=2**53)]
# Said so that generators of clients make files of them: they know no other words for it.
Files = Annotated[list[UploadFile], File(json_schema_extra={"items": {"type": "string", "format": "binary"}})]
Part = tuple[str, IO[bytes]]

router = APIRouter()
# What is written to the disk while it is read.
weighed = APIRouter(route_class=WeighedRoute)


def parts_of(request: Request) -> Parts:
    """The parts of the server that was asked."""
    parts: Parts = request.app.state.parts
    return parts


def signed(request: Request) -> str:
    """What the key is called that a program showed; empty for the page."""
    return str(request.scope.get(KEY, ""))


# The collection, its sets, searches and evidence.


@router.get("/api/gallery", response_model=models.GalleryView)
def gallery(request: Request) -> models.GalleryView:
    """The whole collection in numbers, and what can be chosen."""
    return parts_of(request).answering.gallery_view()


@router.get("/api/sets", response_model=models.SetPage)
def sets(request: Request, ask: Annotated[models.SetsAsk, Query()]) -> Response:
    """Some of the sets that a filter lets through."""
    return _json(parts_of(request).browsing.page(ask))


@router.post("/api/sets", response_model=models.JobView, status_code=202)
def add_sets(request: Request, ask: models.SetsAdd) -> models.JobView:
    """Add sets of vectors to the collection, all or none; the result of the job is the keys of the sets."""
    return parts_of(request).uploads.add(ask).view()


@router.get("/api/sets/{key}", response_model=models.SetView)
def one_set(request: Request, key: str) -> models.SetView:
    """One set with all of its faces."""
    return parts_of(request).browsing.view(key, whole=True)


@router.post("/api/searches", response_model=models.SearchView)
def search(request: Request, ask: models.SearchAsk) -> Response:
    """Answers to a question, the best first. The first search of a collection may take a while."""
    return _json(parts_of(request).answering.search(ask))


@router.post("/api/searches/evidence", response_model=models.EvidenceView)
def evidence(request: Request, asked: models.EvidenceAsk) -> Response:
    """Why a set is an answer to a question."""
    return _json(parts_of(request).evidence.view(asked.ask, asked.target))


@router.get("/pictures/{token}", response_class=Response)
def picture(request: Request, token: str) -> Response:
    """A face, by the opaque name that views give it."""
    parts = parts_of(request)
    kind, key, person, face = parts.pictures.read(token)
    if kind == FILM:
        raise NotFound("there is no such picture: load the page again")
    if kind == UPLOAD:
        content = parts.uploads.picture(key, person, face)
    elif kind == PHOTO:
        content = parts.uploads.photo(key, face)
    elif kind == ORIGINAL:
        content = parts.photos.picture(key, face)
    else:
        catalogue = parts.browsing.catalogue()
        set_id = catalogue.id(key)
        content = parts.pictures.of_set(set_id, catalogue.contents[set_id], face)
    return Response(content, media_type=media_type(content) or "application/octet-stream")


@router.get("/api/sets/{key}/photos/{face}", response_model=models.PhotoView)
def photo(request: Request, key: str, face: Number, asked: str = "") -> models.PhotoView:
    """The photo that a face of a set is from, with everybody in it."""
    return parts_of(request).photos.view(key, face, asked)


@router.get("/api/sets/{key}/together/{other}", response_model=models.PlacesView)
def places(request: Request, key: str, other: str, without: bool = False) -> models.PlacesView:
    """Where the people of two sets are seen at the same time; or the first without the second."""
    return parts_of(request).answering.places(key, other, without)


@router.get("/api/films/{token}/moment", response_model=models.FilmMoment)
def film_moment(
    request: Request,
    token: str,
    at: Annotated[float, Query(ge=0, le=1e9)] = 0.0,
    ahead: Annotated[float, Query(ge=0, le=60)] = 0.0,
    asked: str = "",
) -> models.FilmMoment:
    """Who is seen at a time of a video, in seconds, and where; and who until some seconds later."""
    return parts_of(request).films.moment(token, at, ahead, asked)


@router.get("/films/{token}", response_class=Response)
def film(request: Request, token: str) -> FileResponse:
    """A video, or a range of it, by the opaque name that views give it."""
    path, kind = parts_of(request).films.find(token)
    return FileResponse(path, media_type=kind)


# Decisions and people, also as tables.


@router.post("/api/judgements", response_model=people_models.Judged)
def judge(request: Request, ask: people_models.JudgeAsk) -> people_models.Judged:
    """Say of some sets whether they show the person of another; of all of them, or of none."""
    return parts_of(request).deciding.judge(ask.query, ask.targets, ask.verdict, signed(request))


@router.post("/api/judgements/undo", response_model=people_models.Undone)
def undo(request: Request, ask: people_models.UndoAsk) -> people_models.Undone:
    """Take decisions back, all of them or none; the last one unless numbers are given."""
    return people_models.Undone(decisions=parts_of(request).deciding.undo(ask.numbers, signed(request)))


@router.get("/api/judgements", response_model=people_models.History)
def history(
    request: Request,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> people_models.History:
    """What was decided, the newest first."""
    return parts_of(request).deciding.history(offset, limit)


@router.get("/api/judgements.csv", response_class=Response)
def decisions_csv(request: Request) -> Response:
    """Every decision, as a table for spreadsheets."""
    return _sheet(as_csv(decisions_table(parts_of(request).gallery)), "decisions.csv")


@router.get("/api/judgements.json", response_class=JSONResponse)
def decisions_json(request: Request) -> JSONResponse:
    """Every decision, as a list of rows."""
    return JSONResponse(decisions_table(parts_of(request).gallery), headers=_named("decisions.json"))


@router.get("/api/people.csv", response_class=Response)
def people_csv(request: Request) -> Response:
    """Every set of every person, as a table for spreadsheets."""
    return _sheet(as_csv(people_table(parts_of(request).gallery)), "people.csv")


@router.get("/api/people.json", response_class=JSONResponse)
def people_json(request: Request) -> JSONResponse:
    """Every set of every person, as a list of rows."""
    return JSONResponse(people_table(parts_of(request).gallery), headers=_named("people.json"))


@router.get("/api/people", response_model=people_models.PeopleView)
def people(request: Request) -> people_models.PeopleView:
    """All named people, by name."""
    return parts_of(request).deciding.people()


@router.get("/api/people/{number}", response_model=people_models.PersonPage)
def person(request: Request, number: Number) -> people_models.PersonPage:
    """One person with all sets, and when they are seen."""
    return parts_of(request).deciding.person(number)


@router.post("/api/people", response_model=people_models.PersonMade)
def name(request: Request, ask: people_models.NameAsk) -> people_models.PersonMade:
    """Say who some sets show; whoever is called so already gets these sets too."""
    return parts_of(request).deciding.name(ask, signed(request))


@router.post("/api/people/{number}/rename", response_model=people_models.PersonMade)
def rename(request: Request, number: Number, ask: people_models.RenameAsk) -> people_models.PersonMade:
    """Call a person something else."""
    return parts_of(request).deciding.rename(number, ask.name, signed(request))


@router.post("/api/people/{number}/merge", response_model=people_models.PersonMade)
def merge(request: Request, number: Number, ask: people_models.MergeAsk) -> people_models.PersonMade:
    """Say that two people are one, who keeps the number and name of the second."""
    return parts_of(request).deciding.merge(number, ask.into, signed(request))


@router.post("/api/people/{number}/split", response_model=people_models.PeopleMade)
def split(request: Request, number: Number, ask: people_models.SplitAsk) -> people_models.PeopleMade:
    """Take sets out of a person; with a name they become a person of their own."""
    return parts_of(request).deciding.split(number, ask.sets, ask.name, signed(request))


@router.get("/api/groups", response_model=people_models.CensusView)
def groups(request: Request) -> people_models.CensusView:
    """Everybody, named, known or proposed; and whom to compare. The first time may take a while."""
    return parts_of(request).proposing.view()


@router.get("/api/groups/{key}", response_model=people_models.IdentityPage)
def group(request: Request, key: str) -> people_models.IdentityPage:
    """Whoever a set shows, named or not: all sets, and when they are seen."""
    return parts_of(request).proposing.of(key)


@router.post("/api/groups", response_model=people_models.GroupMade)
def answer(request: Request, ask: people_models.GroupAsk) -> people_models.GroupMade:
    """Say whether sets that are proposed are one person; it is one decision, and can be undone."""
    return parts_of(request).proposing.answer(ask, signed(request))


# Uploads and jobs.


@weighed.post("/api/uploads", response_model=models.JobView, status_code=202)
async def upload(request: Request, files: Files) -> models.JobView:
    """Look for faces in photos or a clip; the result of the job is the key of the upload.

    What is neither is left out, and the upload says so; if nothing is left, all is refused.
    """
    return await _taken(request, files, parts_of(request).uploads.take)


@weighed.post("/api/files", response_model=models.JobView, status_code=202)
async def add_files(request: Request, files: Files) -> models.JobView:
    """Add everybody in photos or a clip to the collection; the result of the job is the keys of the sets.

    Its text tells what was found, and what was left out. The files themselves are not kept.
    """
    return await _taken(request, files, parts_of(request).uploads.add_files)


async def _taken(
    request: Request, files: Files, take: Callable[[Sequence[Part], str], Job]
) -> models.JobView:
    given = [(one.filename or "", one.file) for one in files]
    begun = await run_in_threadpool(take, given, request.state.upload)
    # Whoever went away while it was copied cannot stop it any more.
    if await request.is_disconnected():
        begun.cancel()
    return begun.view()


router.include_router(weighed)


@router.get("/api/uploads/{key}", response_model=models.UploadView)
def uploaded(request: Request, key: str) -> models.UploadView:
    """Who is in an upload."""
    return parts_of(request).uploads.view(key)


@router.post("/api/uploads/{key}/together", response_model=models.UploadView)
def read_together(request: Request, key: str, ask: models.TogetherAsk) -> models.UploadView:
    """Say whether the photos of an upload show one person, where they may; the numbers of people change."""
    return parts_of(request).uploads.read(key, ask.together)


@router.delete("/api/uploads/{key}", response_model=models.UploadView)
def forget(request: Request, key: str) -> models.UploadView:
    """Forget an upload; nothing of it stays."""
    return parts_of(request).uploads.forget(key)


@router.post("/api/uploads/{key}/keep", response_model=models.JobView, status_code=202)
def keep(request: Request, key: str) -> models.JobView:
    """Add everybody in an upload to the collection; the result of the job is the keys of the new sets."""
    return parts_of(request).uploads.keep(key).view()


@router.post("/api/uploads/{key}/unkeep", response_model=models.JobView, status_code=202)
def unkeep(request: Request, key: str) -> models.JobView:
    """Take out again what the last `keep` added; the result of the job is the keys of the sets removed."""
    return parts_of(request).uploads.unkeep(key).view()


@router.post("/api/jobs", response_model=models.JobView, status_code=202)
def begin(request: Request, ask: models.JobAsk) -> models.JobView:
    """Begin to index or train, which a search does by itself too."""
    method = method_of(ask.similarity, ask.reranker, None)
    return parts_of(request).searches.start(ask.kind, method).view()


# These wait for nothing: on the loop itself they answer while every thread is busy.


@router.get("/api/jobs", response_model=models.JobList)
async def jobs(request: Request) -> models.JobList:
    """All work of this run of the server, the newest first."""
    return models.JobList(jobs=parts_of(request).jobs.views())


@router.get("/api/jobs/{number}", response_model=models.JobView)
async def job(request: Request, number: Number) -> models.JobView:
    """How far some work is."""
    return parts_of(request).jobs.view(number)


@router.delete("/api/jobs/{number}", response_model=models.JobView)
async def stop(request: Request, number: Number) -> models.JobView:
    """Ask some work to stop; what it has finished is kept."""
    found = parts_of(request).jobs.get(number)
    found.cancel()
    return found.view()


@router.get("/api/intake", response_model=models.IntakeView)
async def intake(request: Request) -> models.IntakeView:
    """How far the folder that `lookalike open` was given is taken in."""
    return _intake(request).view()


@router.post("/api/intake", response_model=models.IntakeView)
def hold_intake(request: Request, ask: models.IntakeAsk) -> models.IntakeView:
    """Let that rest, go on, or look for new files if it has ended."""
    taking = _intake(request)
    if ask.paused:
        taking.pause()
    else:
        taking.resume()
    return taking.view()


@router.get("/api/jobs/{number}/events", response_class=StreamingResponse)
async def events(request: Request, number: Number) -> StreamingResponse:
    """How far some work is, as server-sent events, each a job as JSON; the stream ends with the job."""
    jobs = parts_of(request).jobs
    return StreamingResponse(_events(jobs.get(number), jobs), media_type="text/event-stream")


def _intake(request: Request) -> Intake:
    found = parts_of(request).intake
    if found is None:
        raise NotFound("no folder is taken in here: this page was started by `lookalike serve`")
    return found


def _json(view: models.SearchView | models.EvidenceView | models.SetPage) -> Response:
    # Written once: FastAPI would check every strip again.
    return Response(view.model_dump_json(), media_type="application/json")


def _sheet(text: str, name: str) -> Response:
    # Without the mark in front, spreadsheets take it for an older encoding and garble every accent.
    return Response(text.encode("utf-8-sig"), media_type="text/csv; charset=utf-8", headers=_named(name))


def _named(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


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
