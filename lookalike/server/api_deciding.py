"""Deciding by JSON: judgements and their history, people, and all of it as tables."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse, Response

from lookalike.judging import as_csv, decisions_table, people_table
from lookalike.server.api_looking import desk_of
from lookalike.server.models import (
    History,
    JudgeAsk,
    Judged,
    MergeAsk,
    NameAsk,
    PeopleMade,
    PeopleView,
    PersonMade,
    PersonPage,
    RenameAsk,
    SplitAsk,
    UndoAsk,
    Undone,
)

router = APIRouter(prefix="/api")
Person = Annotated[int, Path(ge=0, le=2**53)]


@router.post("/judgements", response_model=Judged)
def judge(request: Request, ask: JudgeAsk) -> Judged:
    """Say of some sets whether they show the person of another; of all of them, or of none."""
    return desk_of(request).deciding.judge(ask.query, ask.targets, ask.verdict)


@router.post("/judgements/undo", response_model=Undone)
def undo(request: Request, ask: UndoAsk) -> Undone:
    """Take decisions back, all of them or none; the last one unless numbers are given."""
    return Undone(decisions=desk_of(request).deciding.undo(ask.numbers))


@router.get("/judgements", response_model=History)
def history(
    request: Request,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> History:
    """What was decided, the newest first."""
    return desk_of(request).deciding.history(offset, limit)


@router.get("/judgements.csv", response_class=Response)
def decisions_csv(request: Request) -> Response:
    """Every decision, as a table for spreadsheets."""
    return _sheet(as_csv(decisions_table(desk_of(request).gallery)), "decisions.csv")


@router.get("/judgements.json", response_class=JSONResponse)
def decisions_json(request: Request) -> JSONResponse:
    """Every decision, as a list of rows."""
    return JSONResponse(decisions_table(desk_of(request).gallery), headers=_named("decisions.json"))


@router.get("/people.csv", response_class=Response)
def people_csv(request: Request) -> Response:
    """Every set of every person, as a table for spreadsheets."""
    return _sheet(as_csv(people_table(desk_of(request).gallery)), "people.csv")


@router.get("/people.json", response_class=JSONResponse)
def people_json(request: Request) -> JSONResponse:
    """Every set of every person, as a list of rows."""
    return JSONResponse(people_table(desk_of(request).gallery), headers=_named("people.json"))


@router.get("/people", response_model=PeopleView)
def people(request: Request) -> PeopleView:
    """All named people, by name."""
    return desk_of(request).deciding.people()


@router.get("/people/{number}", response_model=PersonPage)
def person(request: Request, number: Person) -> PersonPage:
    """One person with all sets, and when they are seen."""
    return desk_of(request).deciding.person(number)


@router.post("/people", response_model=PersonMade)
def name(request: Request, ask: NameAsk) -> PersonMade:
    """Say who some sets show; whoever is called so already gets these sets too."""
    return desk_of(request).deciding.name(ask)


@router.post("/people/{number}/rename", response_model=PersonMade)
def rename(request: Request, number: Person, ask: RenameAsk) -> PersonMade:
    """Call a person something else."""
    return desk_of(request).deciding.rename(number, ask.name)


@router.post("/people/{number}/merge", response_model=PersonMade)
def merge(request: Request, number: Person, ask: MergeAsk) -> PersonMade:
    """Say that two people are one, who keeps the number and name of the second."""
    return desk_of(request).deciding.merge(number, ask.into)


@router.post("/people/{number}/split", response_model=PeopleMade)
def split(request: Request, number: Person, ask: SplitAsk) -> PeopleMade:
    """Take sets out of a person; with a name they become a person of their own."""
    return desk_of(request).deciding.split(number, ask.sets, ask.name)


def _sheet(text: str, name: str) -> Response:
    # Without the mark in front, spreadsheets take it for an older encoding and garble every accent.
    return Response(text.encode("utf-8-sig"), media_type="text/csv; charset=utf-8", headers=_named(name))


def _named(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
