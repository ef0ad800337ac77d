"""Pages: the views for people, rendered from the same models that the JSON interface returns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from fastapi import Path as Number
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import ValidationError

from lookalike.errors import BadInput, NotFound
from lookalike.gallery.people import Judged
from lookalike.web.api import parts_of
from lookalike.web.catalogue import key_of
from lookalike.web.evidence import listed
from lookalike.web.models import FaceView, SearchAsk, SearchView, SetsAsk, SetView
from lookalike.web.people import timeline
from lookalike.web.proposals import USUAL
from lookalike.web.search import method_of
from lookalike.web.wording import FILTERS

STATIC = Path(__file__).parent / "static"
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters.update(FILTERS, listed=listed)
# Sets on one page of the collection, people on one of theirs, and rows on one of the history.
PAGE, PEOPLE, LOG = 48, 96, 50
# What the error page is headed by.
_TITLES = {
    401: "Open the address that was printed",
    403: "Not allowed",
    404: "Not found",
    429: "Too many tries",
}

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
Faces = Annotated[list[int] | None, Query()]
Asked = TypeVar("Asked", SearchAsk, SetsAsk)


def render(name: str, status: int = 200, here: str = "", **values: Any) -> HTMLResponse:
    """One view; everything in it is escaped."""
    return HTMLResponse(_TEMPLATES.get_template(name).render(values, here=here), status)


def error_page(status: int, sentence: str) -> Response:
    """What went wrong, as a page; it needs nothing of the collection."""
    title = _TITLES.get(status, "That did not work")
    words = sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
    return render("message.html", status, title=title, words=words, home=status not in (401, 403, 429))


def _linker(request: Request) -> Callable[..., str]:
    """Addresses of this view with some of what is asked changed; an empty value leaves it out."""

    def link(**changes: object) -> str:
        kept = [(name, value) for name, value in request.query_params.multi_items() if name not in changes]
        new = [(name, str(value)) for name, value in changes.items() if value not in ("", 0, None)]
        query = urlencode(kept + new)
        return f"{request.url.path}?{query}" if query else request.url.path

    return link


@router.get("/")
def collection(request: Request) -> HTMLResponse:
    """The collection: strips of faces, filtered and sorted, page by page."""
    parts = parts_of(request)
    asked = {name: value for name, value in request.query_params.items() if value}
    known = {name: asked[name] for name in asked if name in SetsAsk.model_fields}
    ask = _checked(SetsAsk, {"limit": PAGE, **known})
    filtered = bool(known.keys() - {"sort", "offset", "limit"})
    page = parts.browsing.page(ask)
    return render(
        "collection.html",
        here="/",
        gallery=parts.answering.gallery_view(),
        ask=ask,
        page=page,
        filtered=filtered,
        intake=parts.intake and parts.intake.view(),
        link=_linker(request),
    )


@router.get("/sets/{key}")
def query(request: Request, key: str, face: Faces = None) -> HTMLResponse:
    """A set and its answers."""
    ask = _asked(request, face, set=key)
    return _answered(request, ask, parts_of(request).browsing.view(key, whole=True).strip)


@router.get("/sets/{key}/why/{target}")
def why(request: Request, key: str, target: str, face: Faces = None) -> HTMLResponse:
    """Why a set is an answer for another."""
    return _explained(request, _asked(request, face, set=key), target, f"/sets/{key}")


@router.get("/sets/{key}/review")
def review(request: Request, key: str, face: Faces = None) -> HTMLResponse:
    """The answers as a grid of faces to judge."""
    ask = _asked(request, face, set=key)
    parts_of(request).browsing.view(key)
    if not parts_of(request).answering.is_ready(ask):
        return _wait(request, ask)
    return render(
        "review.html",
        found=parts_of(request).answering.search(ask),
        place=_back(request, f"/sets/{key}"),
        why=lambda target: f"/sets/{key}/why/{target}{_address(request)}",
        borderline=request.query_params.get("order") == "borderline",
        link=_linker(request),
    )


@router.get("/sets/{key}/photos/{face}")
def photo(
    request: Request, key: str, face: Annotated[int, Number(ge=0, le=2**53)], asked: str = ""
) -> HTMLResponse:
    """The photo that a face of a set is from, with everybody in it."""
    return render(
        "photo.html",
        photo=parts_of(request).photos.view(key, face, asked),
        asked=f"?{urlencode({'asked': asked})}" if asked else "",
    )


@router.get("/sets/{key}/together")
def choose_other(request: Request, key: str, other: int, without: bool = False) -> Response:
    """From the form that asks for a set and a named person to where both are seen."""
    person = parts_of(request).browsing.known().people.get(other)
    if person is None or not person.sets:
        raise NotFound("there is no such person: they were merged, or their name was undone")
    chosen = key_of(person.sets[0])
    return RedirectResponse(f"/sets/{quote(key)}/together/{chosen}{'?without=1' if without else ''}", 303)


@router.get("/sets/{key}/together/{other}")
def together(request: Request, key: str, other: str, without: bool = False) -> HTMLResponse:
    """Where the people of two sets are seen at the same time; or the first without the second."""
    ask = _asked(request, None, set=key)
    if not parts_of(request).answering.is_ready(SearchAsk()):
        return _wait(request, ask)
    found = parts_of(request).answering.places(key, other, without)
    return render("together.html", found=found)


@router.get("/people")
def people(request: Request, offset: Annotated[int, Query(ge=0, le=2**53)] = 0) -> HTMLResponse:
    """Everybody: who is proposed first, then who is known, page by page."""
    parts = parts_of(request)
    catalogue = parts.browsing.catalogue()
    ready = not catalogue.facts or parts.proposing.is_ready()
    # Asked once: a page that has proposals already must not load itself anew while somebody answers.
    page = parts.proposing.page(offset, PEOPLE, ready)
    if not ready:
        parts.searches.begin(USUAL)
    return render(
        "people.html",
        here="/people",
        page=page,
        people=parts.deciding.views(page.named),
        link=_linker(request),
        gallery=parts.answering.gallery_view(),
        intake=parts.intake and parts.intake.view(),
        # What waits for the collection asks a search of it.
        waits=not ready,
        ask=SearchAsk(set=next(iter(catalogue.ids), None)).model_dump_json(exclude_defaults=True),
    )


@router.get("/groups/{key}")
def group(request: Request, key: str) -> Response:
    """Somebody without a name: sets, and when they are seen; whoever has a name has a page of their own."""
    parts = parts_of(request)
    if not parts.proposing.is_ready():
        parts.browsing.view(key)
        return _wait(request, SearchAsk(set=key))
    page = parts.proposing.of(key)
    if page.person.number is not None:
        return RedirectResponse(f"/people/{page.person.number}", 303)
    return render("group.html", page=page, line=timeline([*page.sets, *page.likely]))


@router.get("/people/{number}")
def person(request: Request, number: int) -> HTMLResponse:
    """One person: sets, and when they are seen."""
    parts = parts_of(request)
    page = parts.deciding.person(number)
    others = [one for one in parts.deciding.people().people if one.number != number]
    return render("person.html", page=page, others=others, line=timeline(page.sets))


@router.get("/history")
def history(request: Request, offset: Annotated[int, Query(ge=0, le=2**53)] = 0) -> HTMLResponse:
    """What was decided, with a way back from each decision, and at once from those made together."""
    page = parts_of(request).deciding.batches(offset, LOG)
    return render("history.html", here="/history", history=page, link=_linker(request))


@router.get("/uploads/{key}")
def upload(request: Request, key: str) -> Response:
    """Who is in what was dropped onto the page; if that is one person, straight to the answers."""
    view, empty = parts_of(request).uploads.view(key), not len(parts_of(request).gallery)
    is_one = len(view.people) == 1 or (view.together and "all" not in request.query_params)
    if is_one and not empty:
        return RedirectResponse(f"/uploads/{key}/find?person={view.people[0].person}", 303)
    return render("upload.html", upload=view, empty=empty)


@router.get("/uploads/{key}/find")
def find_upload(request: Request, key: str, person: int = 0, face: Faces = None) -> HTMLResponse:
    """The answers for one person of an upload."""
    chosen = [one for one in parts_of(request).uploads.view(key).people if one.person == person]
    if not chosen:
        raise BadInput(f"there is no person {person} in this upload: choose one of those shown")
    return _answered(request, _asked(request, face, upload=key, person=person), chosen[0].faces)


@router.get("/uploads/{key}/why/{target}")
def why_upload(request: Request, key: str, target: str, person: int = 0, face: Faces = None) -> HTMLResponse:
    """Why a set is an answer for one person of an upload."""
    ask = _asked(request, face, upload=key, person=person)
    return _explained(request, ask, target, f"/uploads/{key}/find")


def _answered(request: Request, ask: SearchAsk, faces: list[FaceView]) -> HTMLResponse:
    """The view of a query and its answers."""
    parts = parts_of(request)
    if not parts.answering.is_ready(ask):
        return _wait(request, ask)
    # All faces ticked is the same as none chosen, and known to be so without looking at each.
    if ask.faces is not None and set(ask.faces) >= {one.face for one in faces}:
        ask = ask.model_copy(update={"faces": None})
    found, gallery, usual = parts.answering.search(ask), parts.answering.gallery_view(), SearchAsk()
    place = f"/sets/{ask.set}" if ask.set else f"/uploads/{ask.upload}/find"
    asked = _address(request)
    given = None if ask.upload is None else parts.uploads.view(ask.upload)
    return render(
        "set.html",
        gallery=gallery,
        found=found,
        stored=ask.set is not None,
        faces=faces,
        place=place,
        people=parts.deciding.people().people,
        both=request.query_params.get("view") == "both",
        link=_linker(request),
        why=lambda key: f"{place.removesuffix('/find')}/why/{key}{asked}",
        review=f"{place}/review{asked}",
        kept=[] if given is None else given.kept,
        given=given,
        several=given is not None and len(given.people) > 1,
        line=timeline(_seen(found)),
        filtered=bool(ask.since or ask.until or ask.file or ask.quality != "any"),
        ways_back=ways_back(found, parts.browsing.known()),
        methods=[(one.name, one.name.replace("_", " ")) for one in gallery.rerankers],
        method_words=next((one.words for one in gallery.rerankers if one.name == ask.reranker), ""),
        # What was found in the collection is known of the usual method.
        finding=gallery.finding if ask.reranker == usual.reranker else "",
        likenesses=[(name, name.replace("_", " ")) for name in gallery.similarities],
        proxy_choices=[("", "As usual"), *((count, str(count)) for count in range(1, 11))],
        chosen_method=(ask.reranker, ask.similarity, ask.proxies) != (usual.reranker, usual.similarity, None),
    )


def _seen(found: SearchView) -> list[SetView]:
    """The query, what was confirmed, and the answers that are more likely the same person than not."""
    worth = found.worth_reading or 0
    return [found.query, *found.confirmed, *(one.set for one in found.answers if one.rank <= worth)]


def _explained(request: Request, ask: SearchAsk, target: str, place: str) -> HTMLResponse:
    """The view of the evidence for one answer; `place` is that of all answers."""
    if not parts_of(request).answering.is_ready(ask):
        return _wait(request, ask)
    evidence = parts_of(request).evidence.view(ask, target)
    return render("why.html", evidence=evidence, place=_back(request, place))


def _wait(request: Request, ask: SearchAsk) -> HTMLResponse:
    """The view that waits until this question can be answered; without scripts, nobody else would begin."""
    parts_of(request).searches.begin(method_of(ask.similarity, ask.reranker, ask.proxies))
    return render("preparing.html", ask=ask.model_dump_json(exclude_defaults=True))


def _asked(request: Request, faces: list[int] | None, **of: object) -> SearchAsk:
    """What the address of a view asks for."""
    asked = request.query_params
    values: dict[str, object] = {**of, "faces": faces, "decisions": "plain" not in asked}
    names = {"stage": "reranker", "likeness": "similarity", "k": "proxies", "from": "since", "to": "until"}
    for name in (*names, "top", "file", "quality"):
        if asked.get(name):
            values[names.get(name, name)] = asked[name]
    if "together" in asked and of.get("set"):
        page = parts_of(request).proposing.of(str(of["set"]))
        values["together"] = [one.key for one in (*page.sets, *page.likely)][:1000]
    return _checked(SearchAsk, values)


def _checked(model: type[Asked], values: dict[str, Any]) -> Asked:
    try:
        return model.model_validate(values)
    except ValidationError as reason:
        first = reason.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise BadInput(f"{field!r} in this address is not right: {first['msg'].lower()}") from None


def _address(request: Request) -> str:
    """What was asked of this view, to hand on to another one."""
    return f"?{request.query_params}" if request.query_params else ""


def _back(request: Request, place: str) -> str:
    kept = urlencode([pair for pair in request.query_params.multi_items() if pair[0] != "order"])
    return f"{place}?{kept}" if kept else place


def ways_back(found: SearchView, known: Judged) -> dict[str, list[int]]:
    """The decisions that confirm or reject sets for a query: their numbers, by the key of each set.

    They stand between it and the person of the query, of whom `known` says what is decided. Sets that a
    name holds there, or that were seen side by side with the person, have none.
    """
    own = {found.query.id, *(one.id for one in found.confirmed)}
    ways: dict[str, list[int]] = {}
    for one in found.confirmed:
        pairs = ((min(one.id, other), max(one.id, other)) for other in own - {one.id})
        said = [known.verdicts.direct[pair] for pair in pairs if pair in known.verdicts.direct]
        ways[one.key] = sorted(each.number for each in said if each.kind == "same")
    for one in found.rejected:
        theirs = (one.id, *known.confirmed(one.id))
        against = [known.verdicts.different(each) for each in theirs]
        ways[one.key] = sorted({number for each in against for other, number in each.items() if other in own})
    return {key: numbers for key, numbers in ways.items() if numbers}
