"""Answering: a question becomes a ranking, with everything that was decided taken into account."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lookalike.errors import BadInput, NotFound
from lookalike.faceset import FaceSet, checked_faces
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.people import Judged
from lookalike.ranking import Answer, Decided
from lookalike.search.decided import GIVEN, Known, known_of
from lookalike.search.feedback import Refined, nobody, refine
from lookalike.search.filters import Filter, Place, alone, depth, members, narrowed, together, two_people
from lookalike.search.query import Excerpt, Search
from lookalike.web.catalogue import Catalogue, key_of
from lookalike.web.films import photos_of_faces
from lookalike.web.models import (
    AnswerView,
    BaselineView,
    FaceView,
    GalleryView,
    PlacesView,
    PlaceView,
    SearchAsk,
    SearchView,
    SetView,
)
from lookalike.web.search import Method, Searches, method_of, methods, similarities
from lookalike.web.sets import STRIP, Browsing, when
from lookalike.web.uploads import Uploads
from lookalike.web.wording import changed

# Faces of a proxy beside an answer.
FEW = 3
# How far down the list an answer is looked for before it is explained by the query alone.
DEEP = 500


@dataclass(frozen=True)
class Question:
    """What somebody asks with.

    Parameters
    ----------
    asked : str or FaceSet
        What the search is given: an id, or faces that it does not know.
    set_id : str or None
        The set of the collection that is asked with, or of whose faces some are.
    view : SetView
        The query as it is shown.
    face : callable
        Shows a face by its place among those asked with.
    """

    asked: str | FaceSet
    set_id: str | None
    view: SetView
    face: Callable[[int], FaceView]


@dataclass(frozen=True)
class Found:
    """The answers to a question before they are shown."""

    question: Question
    search: Search
    refined: Refined
    catalogue: Catalogue
    known: Judged
    newer: int
    # Whether the user decided anything about the query: who was seen beside it is no decision.
    is_decided: bool = False
    # Views that were made, by id and faces shown: most sets are both an answer and in the order without the
    # re-ranker.
    shown: dict[tuple[str, int], SetView] = field(default_factory=dict)


class Answering:
    """Answers questions.

    Parameters
    ----------
    gallery : Gallery
    browsing : Browsing
    searches : Searches
    uploads : Uploads
    """

    def __init__(self, gallery: Gallery, browsing: Browsing, searches: Searches, uploads: Uploads) -> None:
        self._gallery, self._browsing = gallery, browsing
        self._searches, self._uploads = searches, uploads

    def gallery_view(self) -> GalleryView:
        """The whole collection in numbers, and what can be chosen."""
        catalogue, known = self._browsing.catalogue(), self._browsing.known()
        held = self._searches.held(_method(SearchAsk()))
        newer, gone = (len(catalogue.facts), 0) if held is None else held.against(catalogue)
        return GalleryView(
            name=self._gallery.path.stem,
            sets=len(catalogue.facts),
            faces=catalogue.faces,
            people=len(known.people),
            named=sum(len(person.sets) for person in known.people.values()),
            descriptor=self._gallery.descriptor,
            version=catalogue.version,
            ready=held is not None and not gone,
            newer=newer,
            similarities=list(similarities()),
            rerankers=list(methods()),
            finding="" if held is None else held.search.reranker.finding,
        )

    def is_ready(self, ask: SearchAsk) -> bool:
        """Whether a question is answered at once; if not, the collection has to be made ready for it first.

        Raises
        ------
        NotFound
            If there is no such method.
        """
        return self._searches.is_ready(_method(ask), self._browsing.catalogue())

    def search(self, ask: SearchAsk) -> SearchView:
        """Answers to a question.

        Raises
        ------
        LookalikeError
            If there is no such set or upload, or nothing to search in.
        """
        began = time.monotonic()
        found, filtered_out = self._narrowed(self.find(ask), ask)
        ranking = found.refined.ranking
        self._show_all(found)
        views = [self.answer(found, answer) for answer in ranking]
        return SearchView(
            query=found.question.view,
            ask=ask,
            total=ranking.total,
            sets=ranking.sets,
            worth_reading=ranking.worth_reading,
            reading=_reading(found),
            answers=views,
            filtered_out=filtered_out,
            moved=len(changed(views)),
            baseline=[
                BaselineView(rank=rank, set=self._show(found, one), learnt_rank=learnt)
                for rank, (one, learnt) in enumerate(found.refined.baseline, start=1)
            ],
            confirmed=[self._show(found, one.id) for one in ranking.confirmed],
            rejected=[self._show(found, one.id) for one in ranking.rejected],
            reasons={key_of(one.id): one.reason for one in (*ranking.confirmed, *ranking.rejected)},
            version=found.search.tables.fingerprint,
            newer=found.newer,
            similarity=ranking.similarity,
            reranker=ranking.reranker,
            milliseconds=round(1000 * (time.monotonic() - began), 1),
        )

    def find(self, ask: SearchAsk, deep: bool = False) -> Found:
        """The answers to a question: as many as it asks for, or as many more as the same ranking serves."""
        new = ask.set is not None and ask.set not in self._browsing.catalogue().ids
        ready, catalogue = self._searches.ready(
            _method(ask), lambda at_once: self._browsing.catalogue(at_once or new)
        )
        known, search = self._browsing.known(), ready.search
        question = self._question(ask, catalogue, known, search)
        together = [catalogue.ids[key] for key in ask.together if key in catalogue.ids]
        if ask.decisions:
            decided = known_of(self._gallery, question.set_id, together, judged=known)
        else:
            decided = Known(tuple(Decided(one, GIVEN) for one in together))
        # What the search does not know yet was decided on all the same.
        confirmed, rejected = (
            tuple(one for one in some if one.id in catalogue.facts)
            for some in (decided.confirmed, decided.rejected)
        )
        if question.set_id is not None and search.tables.numbers.keys() == {question.set_id}:
            alone = nobody(search, question.asked)
            refined = replace(alone, ranking=replace(alone.ranking, confirmed=confirmed, rejected=rejected))
        else:
            with self._searches.turn(search):
                wanted = _filter(ask)
                deepest = ask.top if wanted is None else depth(search, ask.top, wanted)
                deepest = _depth(search, ask.top) if deep else deepest
                refined = refine(search, question.asked, confirmed, rejected, deepest)
        # Whoever asks too without having been confirmed is not shown as confirmed.
        confirmed = tuple(one for one in confirmed if one.reason != GIVEN)
        refined = replace(refined, ranking=replace(refined.ranking, confirmed=confirmed))
        is_decided = bool(confirmed or {one.id for one in rejected} - decided.seen)
        return Found(question, search, refined, catalogue, known, ready.against(catalogue)[0], is_decided)

    def _narrowed(self, found: Found, ask: SearchAsk) -> tuple[Found, int]:
        """The answers that are to be shown, and how many are not."""
        wanted = _filter(ask)
        if wanted is None:
            return found, 0
        ranking, left_out = narrowed(self._gallery, found.refined.ranking, wanted, ask.top)
        refined = replace(found.refined, ranking=ranking, baseline=found.refined.baseline[: ask.top])
        return replace(found, refined=refined), left_out

    def places(self, key: str, other: str, without: bool = False) -> PlacesView:
        """Where the people of two sets are seen together, or the first without the second; keys.

        Raises
        ------
        LookalikeError
            If there is no such set, or both are of one person.
        """
        ready, catalogue = self._searches.ready(_method(SearchAsk()), self._browsing.catalogue)
        known, ids = self._browsing.known(), [catalogue.id(key), catalogue.id(other)]
        with self._searches.turn(ready.search):
            one, two = two_people(*(members(ready.search, each) for each in ids))
        found = (alone if without else together)(self._gallery, one, two)
        there = [place for place in found if set(place.sets) <= catalogue.facts.keys()]
        shown = dict.fromkeys([*ids, *(each for place in there for each in place.sets)])
        views = self._browsing.show_all(catalogue, known, shown, FEW)
        return PlacesView(
            query=views[ids[0]],
            other=views[ids[1]],
            without=without,
            places=[
                PlaceView(
                    file=place.file,
                    kind="video" if place.kind == "video" else "photo",
                    start=place.start,
                    end=place.end,
                    when=when(place.start, place.end),
                    captured=place.captured,
                    sets=[views[each] for each in place.sets],
                    face=self._face(place),
                    probability=place.probability,
                )
                for place in there
            ],
        )

    def _face(self, place: Place) -> int | None:
        """Which face of its first set a photo shows."""
        photos = [one for one in self._gallery.files_of(place.sets[0]) if one.kind == "photo"]
        found = photos_of_faces(self._gallery.get(place.sets[0]).sources, photos) if photos else []
        paths = [None if one is None else one.path for one in found]
        return paths.index(place.file) if place.file in paths else None

    def _show(self, found: Found, set_id: str, strip: int = STRIP) -> SetView:
        if (set_id, strip) not in found.shown:
            view = self._browsing.show(found.catalogue, found.known, set_id, strip)
            found.shown[set_id, strip] = view
        return found.shown[set_id, strip]

    def _show_all(self, found: Found) -> None:
        """Make the views of all sets that a search shows; their files are read from the gallery at once."""
        ranking, there = found.refined.ranking, found.catalogue.facts
        ids = [one.id for one in (*ranking, *ranking.confirmed, *ranking.rejected)]
        ids += [one for one, _ in found.refined.baseline]
        proxies = [one.through for one in ranking if one.through is not None and one.through in there]
        for strip, some in ((STRIP, ids), (FEW, proxies)):
            if some:
                views = self._browsing.show_all(found.catalogue, found.known, dict.fromkeys(some), strip)
                found.shown.update({(set_id, strip): view for set_id, view in views.items()})

    def answer(self, found: Found, answer: Answer) -> AnswerView:
        """One answer as it is shown."""
        catalogue, known, asked = found.catalogue, found.known, found.question.set_id
        through = answer.through if answer.through in catalogue.facts else None
        verdict = None if asked is None else known.verdict(asked, answer.id)
        return AnswerView(
            rank=answer.rank,
            set=self._show(found, answer.id),
            score=answer.score,
            baseline=answer.baseline,
            baseline_rank=answer.baseline_rank,
            moved=answer.baseline_rank - answer.rank,
            through=None if through is None else self._show(found, through, FEW),
            way=answer.way,
            probability=answer.probability,
            sure=answer.sure,
            verdict=verdict,  # type: ignore[arg-type]  # it is one of them, or None
            before=found.refined.before.get(answer.id) if found.is_decided else None,
        )

    def _question(self, ask: SearchAsk, catalogue: Catalogue, known: Judged, search: Search) -> Question:
        if [ask.set, ask.upload, ask.vectors].count(None) != 2:
            raise BadInput("search with one of a set, an upload and vectors, and with nothing else beside it")
        if ask.upload is not None:
            return self._uploaded(ask)
        if ask.vectors is not None:
            return _given(ask.vectors, ask.faces)
        set_id = catalogue.id(ask.set or "")
        view = self._browsing.show(catalogue, known, set_id)
        chosen = None if ask.faces is None else _chosen(ask.faces, view.faces)
        if set_id in search.tables.numbers and chosen is None:
            asked: str | FaceSet = set_id
        else:
            whole = self._gallery.get(set_id)
            faces = whole.faces if chosen is None else whole.faces[np.array(chosen)]
            asked = Excerpt(set_id, faces, whole.origin)

        def face(place: int) -> FaceView:
            number = place if chosen is None else chosen[min(place, len(chosen) - 1)]
            return self._browsing.faces(catalogue, set_id, [number])[0]

        return Question(asked, set_id, view, face)

    def _uploaded(self, ask: SearchAsk) -> Question:
        key = ask.upload or ""
        whole = self._uploads.person(key, ask.person or 0)
        view = self._uploads.as_set(key, ask.person or 0)
        numbers = range(len(whole)) if ask.faces is None else _chosen(ask.faces, len(whole))
        asked = FaceSet(whole.id, whole.faces[np.array(numbers)], whole.origin)

        def face(place: int) -> FaceView:
            return self._uploads.faces(key, ask.person or 0, [numbers[min(place, len(numbers) - 1)]])[0]

        return Question(asked, None, view, face)


def _given(vectors: Sequence[Sequence[float]], faces: Sequence[int] | None) -> Question:
    """A question of vectors, which have no pictures."""
    numbers = list(range(len(vectors))) if faces is None else _chosen(faces, len(vectors))
    asked = FaceSet("vectors", checked_faces([vectors[place] for place in numbers], "the question"))
    view = SetView(key="", id=asked.id, title="vectors from elsewhere", faces=len(numbers))
    return Question(asked, None, view, lambda place: FaceView(face=numbers[min(place, len(numbers) - 1)]))


def _filter(ask: SearchAsk) -> Filter | None:
    """Which answers are wanted; None if all are."""
    if not (ask.since or ask.until or ask.file) and ask.quality == "any":
        return None
    return Filter(ask.since, ask.until, ask.file, ask.quality)


def _method(ask: SearchAsk) -> Method:
    return method_of(ask.similarity, ask.reranker, ask.proxies)


def _depth(search: Search, top: int) -> int:
    """How far down answers can be looked for without another ranking than that of the first few."""
    served = DEEP if search.shortlist is None else search.shortlist.sizes.served
    return max(top, served)


def _reading(found: Found) -> str:
    """Where the answers stop being worth reading, or why there is none, in a sentence."""
    ranking = found.refined.ranking
    if not (ranking.sets or found.newer or ranking.confirmed or ranking.rejected):
        return "There is nobody else in this collection yet."
    return ranking.reading


def _chosen(faces: Sequence[int], count: int) -> list[int]:
    """The faces that count, in order."""
    found = sorted(set(faces))
    if not found:
        raise BadInput("no face is chosen: choose one at least")
    if found[-1] >= count:
        raise NotFound(f"there is no face {found[-1]} in a set of {count}: they are counted from 0")
    return found
