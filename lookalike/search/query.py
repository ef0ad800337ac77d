"""Queries: order all sets by how sure we are that they show the query's person, and say why."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lookalike import registry
from lookalike.engines.contract import Engine
from lookalike.errors import BadInput, is_there, is_whole
from lookalike.faceset import Box, FaceSet
from lookalike.gallery.gallery import Gallery, open_gallery
from lookalike.gallery.set_rows import several
from lookalike.indexing.build import index
from lookalike.indexing.fit import calibrate, check_seed, check_shortlist, open_shortlist, train
from lookalike.indexing.transform import AUTO
from lookalike.kernels.neighbours import best_first, places
from lookalike.method.calibration import Calibration, worth_reading
from lookalike.method.shortlist import Shortlist, Shortlisted, narrowed
from lookalike.method.tables import Near, PartialRow, Row, Tables, rows
from lookalike.preparations.contract import Preparation
from lookalike.progress import Before, Track, silent
from lookalike.ranking import Answer, Decided, Ranking
from lookalike.rerankers.contract import Reranker, Scored, Scoring
from lookalike.search.decided import GIVEN, NOTHING, Known, known_of
from lookalike.similarities.contract import PreparedSets, SetSimilarity

if TYPE_CHECKING:
    from lookalike.search.explain import Explanation

logger = logging.getLogger(__name__)

# Given a set that asks, and those that are said to show the same person and somebody else.
KnownOf = Callable[[str | None, Sequence[str], Sequence[str]], Known]


@dataclass(frozen=True, eq=False)
class Excerpt(FaceSet):
    """Faces that stand for the set of the gallery whose id they have: that set is neither answer nor proxy.

    They may be some of its faces, or all of them where the search does not know the set yet.
    """


class Several(BadInput):
    """Several people could be meant.

    Attributes
    ----------
    path : Path
        The photo or video that shows them.
    at : float or None
        When, in a video.
    boxes : list of boxes
        Where they are, from left to right, as `--face` counts them; none where they are in no one picture.
    """

    def __init__(self, sentence: str, path: Path, at: float | None = None, boxes: Sequence[Box] = ()) -> None:
        super().__init__(sentence)
        self.path, self.at, self.boxes = path, at, list(boxes)


class Search:
    """A gallery ready to be asked: its tables and a fitted re-ranker.

    Parameters
    ----------
    tables : Tables
        As `lookalike.index` returns them.
    reranker : Reranker
        As `lookalike.train` returns it.
    shortlist : Shortlist, optional
        Says whom to rank where comparing a query with all sets would take long. It serves the first 100
        answers: who asks for more is answered from all sets.
    calibration : Calibration, optional
        Says how likely an answer is right; answers carry no probability unless given.
    pictures : callable, optional
        Gives the pictures of a set by its id, for notebooks that show a ranking.
    known : callable, optional
        Tells what the gallery knows of a question, as `search.decided.known_of` does, when it is asked;
        without it nothing is decided.

    Examples
    --------
    >>> from lookalike import open_search
    >>> from lookalike.demo.vectors import vector_world
    >>> sets = [one for one, _ in vector_world(counts={3: 8}, faces=4, dimension=118)]
    >>> search = open_search(sets, reranker="baseline")
    >>> [ranking.ids for ranking in search.find_many(["video-0001", "video-0019"], top=1)]
    [['video-0019'], ['video-0001']]
    """

    def __init__(
        self,
        tables: Tables,
        reranker: Reranker,
        shortlist: Shortlist | None = None,
        calibration: Calibration | None = None,
        pictures: Callable[[str], Sequence[bytes]] | None = None,
        known: KnownOf | None = None,
    ) -> None:
        if not isinstance(reranker, Reranker):
            raise BadInput(
                f"a search needs a fitted reranker, got {reranker!r}: use open_search, or train first"
            )
        self.tables = tables
        self.reranker = reranker
        self.shortlist = shortlist
        self.calibration = calibration
        self.pictures = pictures
        self._known_of = known

    def find(
        self,
        query: str | FaceSet,
        top: int | None = None,
        confirmed: Sequence[str] = (),
        rejected: Sequence[str] = (),
        decisions: bool = True,
    ) -> Ranking:
        """Rank all sets for one query; see `lookalike.find`.

        Parameters
        ----------
        query : str or FaceSet
        top : int, optional
        confirmed, rejected : sequence of str
            Sets that are said, with this question, to show the query's person, and somebody else. They
            change the order of the others (`lookalike.search.feedback`), and are no answers.
        decisions : bool
            Whether what the gallery knows of these sets counts too, at the time of the question
            (`lookalike.search.decided`).
        """
        known = self.known(query, confirmed, rejected, decisions)
        if known.confirmed or known.rejected:
            from lookalike.search.feedback import refine  # which asks searches itself

            return refine(self, query, known.confirmed, known.rejected, top).ranking
        check_top(top)
        [scoring] = self.scorings([query], top)
        return self.ranking(query, scoring, top)

    def find_many(
        self, queries: Sequence[str | FaceSet], top: int | None = None, decisions: bool = True
    ) -> Iterator[Ranking]:
        """Rank all sets for each query in turn; every answer is the one the query gets alone."""
        check_top(top)
        known = [self.known(query, decisions=decisions) for query in queries]
        unknown = [query for query, of in zip(queries, known, strict=True) if of == NOTHING]
        scorings = self.scorings(unknown, top)
        for query, of in zip(queries, known, strict=True):
            yield self.ranking(query, next(scorings), top) if of == NOTHING else self.find(query, top)

    def known(
        self,
        query: str | FaceSet,
        confirmed: Sequence[str] = (),
        rejected: Sequence[str] = (),
        decisions: bool = True,
    ) -> Known:
        """Which sets are known to show the query's person or somebody else, and why; see `find`.

        Raises
        ------
        Conflict
            If sets that ask together are known to be of different people.
        """
        said = [tuple(several(given)) for given in (confirmed, rejected)]
        if self._known_of is None or not decisions:
            same, different = (tuple(Decided(one, GIVEN) for one in given) for given in said)
            return Known(same, different)
        own = name_of(query) if isinstance(query, str | Excerpt) else None
        return self._known_of(own, *said)

    def ranking(self, query: str | FaceSet, scoring: Scoring, top: int | None = None) -> Ranking:
        """Order the sets that were scored for a query; every ranking there is is made here."""
        order = scoring.order(top)
        return Ranking(
            query=name_of(query),
            answers=tuple(self._answers(scoring, order, np.arange(1, len(order) + 1))),
            total=len(scoring.targets),
            similarity=registry.spec(self.tables.similarity),
            reranker=registry.spec(self.reranker),
            sets=scoring.sets,
            worth_reading=worth_reading(scoring.chances),
            pictures=self.pictures,
            query_pictures=None if isinstance(query, str) else query.pictures,
        )

    def explain(
        self,
        query: str | FaceSet,
        target: str,
        confirmed: Sequence[str] = (),
        rejected: Sequence[str] = (),
        decisions: bool = True,
    ) -> Explanation:
        """Return the evidence for one answer, or say why it is none; see `lookalike.explain`.

        Parameters are those of `find`. If decisions count, the evidence is that of whoever is surest of the
        target, the query or a confirmed set, and `ranked` is the place that `find` gives it.
        """
        known = self.known(query, confirmed, rejected, decisions)
        if known == NOTHING:
            return next(self.explain_many(query, [target]))
        if (decided := known.why(target)) is not None:
            verdict = "same" if decided in known.confirmed else "different"
            alone = next(self.explain_many(query, [target]))
            return replace(alone, verdict=verdict, reason=decided.reason)
        from lookalike.search.feedback import refine  # which asks searches itself

        refined = refine(self, query, known.confirmed, known.rejected)
        asked = refined.asked.get(target, name_of(query))  # none of itself, which is refused below
        surest = next(self.explain_many(query if asked == name_of(query) else asked, [target]))
        [ranked] = [one for one in refined.ranking if one.id == target]
        return replace(surest, query=name_of(query), asked=asked, ranked=ranked, among=refined.ranking.total)

    def explain_many(self, query: str | FaceSet, targets: Sequence[str]) -> Iterator[Explanation]:
        """Return the evidence for several answers to one query, which is compared and scored only once."""
        from lookalike.search.explain import Explanation, relations, witnesses

        [row] = self.rows([query])
        numbers = [self.tables.number(target) for target in targets]
        if row.member in numbers:
            raise BadInput(f"query and target are the same set {query!r}: choose another target")
        said = self.reranker.beliefs(row, self.tables)
        scoring = self.scoring(row, self.reranker.score(row, self.tables))
        similarity, prepared = self.tables.similarity, self.prepared(query)
        asked = np.searchsorted(scoring.targets, numbers)
        ranks = 1 + places(scoring.scores, scoring.baseline, asked)
        for answer, number in zip(self._answers(scoring, asked, ranks), numbers, strict=True):
            yield Explanation(
                query=name_of(query),
                answer=answer,
                total=len(scoring.targets),
                query_face=similarity.exemplar(prepared, row.query_modes[number]),
                target_face=similarity.exemplar(self.tables.sets[number], row.set_modes[number]),
                similarity=registry.spec(similarity),
                reranker=registry.spec(self.reranker),
                witnesses=tuple(witnesses(self.tables, self.reranker, prepared, row, number, said)),
                **relations(self.tables, self.reranker, prepared, row, number),
            )

    # What the steps of a question are.

    def rows(self, queries: Sequence[str | FaceSet]) -> Iterator[Row]:
        """Compare each query with every set: the only arithmetic on faces that a query needs."""
        if not queries:
            return iter(())
        members = [self.member(query) for query in queries]
        return rows(self.tables, PreparedSets.join([self.prepared(query) for query in queries]), members)

    def scoring(self, row: Row, scored: Scored) -> Scoring:
        """What the re-ranker made of the row of a query, the query itself left out."""
        everybody = np.arange(len(self.tables))
        others = everybody if row.member is None else np.delete(everybody, row.member)
        whole = Scoring(
            targets=everybody,
            scores=scored.scores,
            baseline=row.scores,
            through=scored.through,
            chances=self._chances(row, scored),
            sets=len(others),
        )
        return whole.of(others)

    def scorings(self, queries: Sequence[str | FaceSet], top: int | None = None) -> Iterator[Scoring]:
        """What is made of the sets for each query: of all, or of a shortlist if it has so many answers."""
        if self.shortlist is None or not self.shortlist.serves(top):
            for row in self.rows(queries):
                yield self.scoring(row, self.reranker.score(row, self.tables))
            return
        for query in queries:
            targets, near = self.shortlisted(self.shortlist, query)
            targets = targets[targets != self.member(query)]
            scoring = None
            if self.reranker.pools and not self.reranker.asks:
                scoring = self._scoring_near(query, targets, near, self.shortlist.sizes.served)
            yield scoring or self.scoring_among(query, targets, near)

    def scoring_among(
        self, query: str | FaceSet, targets: NDArray[np.int64], near: Near | None = None
    ) -> Scoring:
        """What is made of some sets: each has the score it has among all, or nearly so if kin are pooled.

        Parameters are those of `among`.
        """
        small, row, sets = self.among(query, targets, near)
        scored = small.reranker.score(row, small.tables)
        return Scoring(
            targets=targets,
            scores=scored.scores,
            baseline=row.scores[: len(targets)],
            through=np.append(sets, -1)[scored.through],
            chances=self._chances(row, scored),
            sets=len(self.tables) - (self.member(query) is not None),
        )

    def _scoring_near(
        self, query: str | FaceSet, targets: NDArray[np.int64], near: Near, served: int
    ) -> Scoring | None:
        """What is made of a shortlist by what finding it told; None if the re-ranker needs more.

        The query is compared exactly with as many of the best as are answers: the others are ranked, but
        nobody sees them.
        """
        member = self.member(query)
        scored = self.reranker.score_near(targets, near, member)
        if scored is None:
            return None
        # Of whom nothing was told is no nearer than whoever was found.
        everybody = PartialRow(near.sets, near.scores, member)
        baseline = everybody.of(targets, missing=near.scores.min()).scores
        best = np.sort(best_first(scored.scores, baseline, served))
        baseline[best] = self._similarities(query, targets[best])
        return Scoring(
            targets=targets,
            scores=scored.scores,
            baseline=baseline,
            through=scored.through,
            chances=self._chances(PartialRow(targets, baseline, None), scored),
            sets=len(self.tables) - (member is not None),
        )

    def _similarities(self, query: str | FaceSet, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """The query against some other sets."""
        view = narrowed(self.tables, targets, None, 0)
        [row] = rows(view.tables, PreparedSets.join([self.prepared(query)]), [None])
        return row.scores

    def shortlisted(self, shortlist: Shortlist, query: str | FaceSet) -> Shortlisted:
        """The sets to rank, among whom the query itself may be, and whom else it was compared with."""
        return shortlist.of(self.prepared(query), self.reranker.asks > 0 or self.reranker.pools > 0)

    def among(
        self, query: str | FaceSet, targets: NDArray[np.int64], near: Near | None = None
    ) -> tuple[Search, Row, NDArray[np.int64]]:
        """A search for one query and some targets only, which are its first sets; the query's row there.

        The last that is returned are the numbers that its sets have here.

        Parameters
        ----------
        query : str or FaceSet
            Compared with the targets and their proxies.
        targets : array (m,)
            Numbers in increasing order; the query is not among them.
        near : Near, optional
            Whom else it was compared with: everybody unless given, where kin are pooled.
        """
        second = self.reranker
        if near is None and second.pools:
            [all_sets] = self.rows([query])
            near = Near(all_sets.sets, all_sets.scores, all_sets.sets, all_sets.scores)
        view = narrowed(self.tables, targets, self.member(query), second.asks)
        [row] = rows(view.tables, PreparedSets.join([self.prepared(query)]), [view.member])
        small = Search(view.tables, second.among(view.sets, near), None, self.calibration, self.pictures)
        return small, row, view.sets

    def member(self, query: str | FaceSet) -> int | None:
        """The number of the set that asks, which is no answer; None for faces from outside.

        Raises
        ------
        BadInput
            If there is no other set that could be an answer.
        """
        if isinstance(query, Excerpt):
            number = self.tables.numbers.get(query.id)
        else:
            number = self.tables.number(query) if isinstance(query, str) else None
        if number is not None and len(self.tables) == 1:
            raise BadInput("the gallery holds only the query itself: add more sets to search in")
        return number

    def prepared(self, query: str | FaceSet) -> dict[str, NDArray[np.generic]]:
        """The faces of a query as the similarity of the tables wants them.

        Raises
        ------
        BadInput
            If it is neither an id nor faces, or the faces are described otherwise than the gallery.
        """
        tables = self.tables
        if isinstance(query, str):
            return dict(tables.sets[tables.number(query)])
        if not isinstance(query, FaceSet):
            raise BadInput(f"a query is a set id or a FaceSet, got {type(query).__name__}: make a set of it")
        if query.dimension != tables.dimension:
            raise BadInput(
                f"query {query.id!r} is described by {query.dimension} numbers a face, the gallery by "
                f"{tables.dimension}: describe both the same way"
            )
        return dict(tables.similarity.prepare(tables.preparation.apply(query.faces)))

    def _chances(self, row: Row | PartialRow, scored: Scored) -> NDArray[np.float64] | None:
        """How likely each set is the query's person; None if nothing can be said."""
        if self.calibration is None:
            return None
        likeness = row.scores[: len(scored.scores)]
        return self.calibration.of_answers(scored.scores, likeness, scored.grounds, row.member)

    def _answers(
        self, scoring: Scoring, chosen: NDArray[np.int64], ranks: NDArray[np.int64]
    ) -> Iterator[Answer]:
        """The answers that some of the targets are, whose ranks are known."""
        ids, chances = self.tables.ids, scoring.chances
        baseline_ranks = 1 + places(scoring.baseline, scoring.baseline, chosen)
        for place, rank, baseline_rank in zip(chosen, ranks, baseline_ranks, strict=True):
            through = int(scoring.through[place])
            yield Answer(
                rank=int(rank),
                id=ids[scoring.targets[place]],
                score=float(scoring.scores[place]),
                baseline=float(scoring.baseline[place]),
                baseline_rank=int(baseline_rank),
                through=ids[through] if through >= 0 else None,
                probability=None if chances is None else float(chances[place]),
            )


def open_search(
    gallery: Gallery | Iterable[FaceSet],
    similarity: SetSimilarity | str = "max_max",
    reranker: Reranker | str = "auto",
    seed: int = 0,
    track: Track = silent,
    shortlist: bool | None = None,
    preparation: Preparation | str = AUTO,
    engine: Engine | str | None = None,
    before: Before | None = None,
) -> Search:
    """Index, train and calibrate what is missing, and return the gallery ready to be asked many times.

    Parameters are those of `find`, and:

    Parameters
    ----------
    before : callable, optional
        Called with each thing that has to be made (`progress.Task`) before it is: nothing is announced of
        sets in memory. Without it, what is to be minded of a re-ranker (`Reranker.caution`) is logged.

    Examples
    --------
    >>> from lookalike import open_search
    >>> from lookalike.demo.vectors import vector_world
    >>> sets = [one for one, _ in vector_world(counts={3: 8}, faces=4, dimension=118)]
    >>> open_search(sets, reranker="baseline").find("video-0001", top=2).ids
    ['video-0019', 'video-0016']
    """
    check_seed(seed)
    method: Reranker = registry.build("rerankers", reranker)
    method.check()
    check_shortlist(registry.build("similarities", similarity), method, shortlist)
    stored = gallery if isinstance(gallery, Gallery) else None
    tables = index(gallery, similarity, track, preparation, engine, before)
    fitted = train(tables, reranker, seed, stored, track, before)
    if fitted.caution and before is None:
        logger.warning(fitted.caution)
    sure = calibrate(tables, fitted, seed, stored, track)
    found = open_shortlist(tables, fitted, shortlist, stored, before)
    if stored is None:
        return Search(tables, fitted, found, sure)
    path = stored.path.absolute()
    return Search(tables, fitted, found, sure, partial(pictures_of, path), partial(_known_of, stored, path))


def find(
    query: str | FaceSet,
    gallery: Gallery | Iterable[FaceSet],
    similarity: SetSimilarity | str = "max_max",
    reranker: Reranker | str = "auto",
    top: int | None = None,
    seed: int = 0,
    track: Track = silent,
    shortlist: bool | None = None,
    preparation: Preparation | str = AUTO,
    engine: Engine | str | None = None,
    decisions: bool = True,
) -> Ranking:
    """Order the sets of a gallery by how sure we are that they show the query's person.

    Parameters
    ----------
    query : str or FaceSet
        Id of a gallery set, which is then neither target nor proxy, or faces from outside the gallery.
    gallery : Gallery or iterable of FaceSet
    similarity, reranker : part or its name
        The baseline and the re-ranker.
    top : int, optional
        How many answers to return; all unless given.
    seed : int
        Chooses the sets from which the re-ranker learns.
    track : callable
        Shows progress.
    shortlist : bool, optional
        Whether to compare the query with a shortlist instead of all sets, for at most 100 answers; unless
        given, galleries of 20,000 sets and more have one.
    preparation : Preparation or str
        What is done to faces before they are compared; ``auto`` suits it to the gallery (see `index`).
    engine : Engine or str, optional
        Where sets are compared, if not in this process: a cluster holds them in slices, one a machine.
    decisions : bool
        Whether what is known of the query in a gallery counts: what the user decided, and who was seen side
        by side. Sets that are known to show the query's person ask too; neither they nor those that are known
        to show somebody else are answers, and the ranking names both (`Ranking.confirmed`, `rejected`).

    Examples
    --------
    >>> from lookalike import find
    >>> from lookalike.demo.vectors import vector_world
    >>> sets = [one for one, _ in vector_world(counts={3: 8}, faces=4, dimension=118)]
    >>> find("video-0001", sets, top=2).ids  # a set of these goes by its id
    ['video-0019', 'video-0015']
    """
    search = open_search(gallery, similarity, reranker, seed, track, shortlist, preparation, engine)
    return search.find(query, top, decisions=decisions)


def explain(
    query: str | FaceSet,
    target: str,
    gallery: Gallery | Iterable[FaceSet],
    similarity: SetSimilarity | str = "max_max",
    reranker: Reranker | str = "auto",
    seed: int = 0,
    track: Track = silent,
    preparation: Preparation | str = AUTO,
    engine: Engine | str | None = None,
    decisions: bool = True,
) -> Explanation:
    """Return the evidence for one answer: the baseline, and what each proxy of the target says.

    Parameters are those of `find`; target is the id of a gallery set.

    Examples
    --------
    >>> from lookalike import explain
    >>> from lookalike.demo.vectors import vector_world
    >>> sets = [one for one, _ in vector_world(counts={3: 8}, faces=4, dimension=118)]
    >>> evidence = explain("video-0001", "video-0019", sets, reranker="baseline")
    >>> evidence.answer.rank, evidence.total
    (1, 23)
    """
    search = open_search(gallery, similarity, reranker, seed, track, None, preparation, engine)
    return search.explain(query, target, decisions=decisions)


def pictures_of(path: Path, set_id: str) -> Sequence[bytes]:
    """Read the pictures of a set when somebody looks; by then the gallery may have been closed."""
    with open_gallery(path) as gallery:
        return gallery.get(set_id, pictures=True).pictures


def _known_of(
    gallery: Gallery, path: Path, own: str | None, confirmed: Sequence[str], rejected: Sequence[str]
) -> Known:
    """What is decided now: a gallery that was closed is opened for it, and one that is gone knows nothing."""
    if not gallery.is_closed:
        is_known = confirmed or rejected or (own and (gallery.decided() or gallery.apart_of([own])))
        return known_of(gallery, own, confirmed, rejected) if is_known else NOTHING
    if not is_there(path):
        return NOTHING
    with open_gallery(path) as opened:
        return known_of(opened, own, confirmed, rejected)


def name_of(query: str | FaceSet) -> str:
    """What a query is called."""
    return str(query) if isinstance(query, str) else query.id


def check_top(top: object) -> None:
    """Refuse a number of answers that is no whole number of at least 1; None means all."""
    if top is not None and not is_whole(top, 1):
        raise BadInput(f"top must be a whole number of at least 1, got {top!r}")
