"""Looking by JSON: the collection, its sets, searches and evidence; pictures and films."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, Response

from lookalike.server.desk import Desk
from lookalike.server.models import (
    EvidenceAsk,
    EvidenceView,
    FilmMoment,
    GalleryView,
    SearchAsk,
    SearchView,
    SetPage,
    SetsAsk,
    SetView,
)

router = APIRouter()


def desk_of(request: Request) -> Desk:
    """The desk of the server that was asked."""
    desk: Desk = request.app.state.desk
    return desk


@router.get("/api/gallery", response_model=GalleryView)
def gallery(request: Request) -> GalleryView:
    """The whole collection in numbers, and what can be chosen."""
    return desk_of(request).answering.gallery_view()


@router.get("/api/sets", response_model=SetPage)
def sets(request: Request, ask: Annotated[SetsAsk, Query()]) -> Response:
    """Some of the sets that a filter lets through."""
    return _json(desk_of(request).browsing.page(ask))


@router.get("/api/sets/{key}", response_model=SetView)
def one_set(request: Request, key: str) -> SetView:
    """One set with all of its faces."""
    return desk_of(request).browsing.view(key, whole=True)


@router.post("/api/searches", response_model=SearchView)
def search(request: Request, ask: SearchAsk) -> Response:
    """Answers to a question, the best first. The first search of a collection may take a while."""
    return _json(desk_of(request).answering.search(ask))


@router.post("/api/searches/evidence", response_model=EvidenceView)
def evidence(request: Request, asked: EvidenceAsk) -> Response:
    """Why a set is an answer to a question."""
    return _json(desk_of(request).explaining.view(asked.ask, asked.target))


@router.get("/pictures/{token}", response_class=Response)
def picture(request: Request, token: str) -> Response:
    """A face, by the opaque name that views give it."""
    content, kind = desk_of(request).picture(token)
    return Response(content, media_type=kind)


@router.get("/api/films/{token}/moment", response_model=FilmMoment)
def film_moment(request: Request, token: str, at: Annotated[float, Query(ge=0, le=1e9)] = 0.0) -> FilmMoment:
    """Who is seen at a time of a film, in seconds, and where."""
    return desk_of(request).films.moment(token, at)


@router.get("/films/{token}", response_class=Response)
def film(request: Request, token: str) -> FileResponse:
    """A film, or a range of it, by the opaque name that views give it."""
    path, kind = desk_of(request).films.find(token)
    return FileResponse(path, media_type=kind)


def _json(view: SearchView | EvidenceView | SetPage) -> Response:
    # Written once: FastAPI would check every strip again.
    return Response(view.model_dump_json(), media_type="application/json")
