"""Find: order all sets by how sure we are that they show the query's person, and say why."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike import asking, parts
from lookalike.asking import check_top, name_of
from lookalike.calibrating import calibrate
from lookalike.collection.gallery import Gallery
from lookalike.collection.opening import open_gallery
from lookalike.engines.contract import Engine
from lookalike.errors import BadInput
from lookalike.explaining import relations, without, witnesses
from lookalike.explanation import Explanation
from lookalike.faceset import FaceSet
from lookalike.indexing import index
from lookalike.kernels.order import best_first, places
from lookalike.preparations.contract import Preparation
from lookalike.preparing import AUTO
from lookalike.progress import Track, silent
from lookalike.ranking import Answer, Ranking
from lookalike.rerankers.contract import Reranker, Scored
from lookalike.shortlisting import open_shortlist
from lookalike.similarities.contract import PreparedSets, SetSimilarity
from lookalike.training import train
from lookalike.transitivity.calibration import Calibration, worth_reading
from lookalike.transitivity.shortlist import Shortlist, narrowed
from lookalike.transitivity.tables import Row, Tables, rows

logger = logging.getLogger(__name__)


class Search:
    """A gallery ready to be asked: its tables and a fitted second stage.

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
    """

    def __init__(
        self,
        tables: Tables,
        reranker: Reranker,
        shortlist: Shortlist | None = None,
        calibration: Calibration | None = None,
        pictures: Callable[[str], Sequence[bytes]] | None = None,
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

    def find(self, query: str | FaceSet, top: int | None = None) -> Ranking:
        """Rank all sets for one query; see `lookalike.find`."""
        [ranking] = self.find_many([query], top)
        return ranking

    def find_many(self, queries: Sequence[str | FaceSet], top: int | None = None) -> Iterator[Ranking]:
        """Rank all sets for each query in turn; every answer is the one the query gets alone."""
        check_top(top)
        if self.shortlist is not None and self.shortlist.serves(top):
            yield from (self._find_among(self.shortlist, query, top) for query in queries)
            return
        for query, row in zip(queries, self.rows(queries), strict=True):
            yield self._ranking(query, row, top)

    def explain(self, query: str | FaceSet, target: str) -> Explanation:
        """Return the evidence for one answer; see `lookalike.explain`."""
        [explanation] = self.explain_many(query, [target])
        return explanation

    def explain_many(self, query: str | FaceSet, targets: Sequence[str]) -> Iterator[Explanation]:
        """Return the evidence for several answers to one query, which is compared and scored only once."""
        [row] = self.rows([query])
        numbers = [self.tables.number(target) for target in targets]
        if row.member in numbers:
            raise BadInput(f"query and target are the same set {query!r}: choose another target")
        said = self.reranker.beliefs(row, self.tables)
        scored = self.reranker.score(row, self.tables)
        similarity, prepared = self.tables.similarity, self.prepared(query)
        asked = np.array(numbers)
        ranks = 1 + places(without(row.member, scored.scores), row.scores, asked)
        answers = self._answers(row, scored, self.probabilities(row, scored), asked, ranks)
        for answer, number in zip(answers, numbers, strict=True):
            yield Explanation(
                query=name_of(query),
                answer=answer,
                total=self._others(row),
                query_face=similarity.exemplar(prepared, row.query_modes[number]),
                target_face=similarity.exemplar(self.tables.sets[number], row.set_modes[number]),
                similarity=parts.spec(similarity),
                reranker=parts.spec(self.reranker),
                witnesses=tuple(witnesses(self.tables, self.reranker, prepared, row, number, said)),
                **relations(self.tables, self.reranker, prepared, row, number),
            )

    def rows(self, queries: Sequence[str | FaceSet]) -> Iterator[Row]:
        """Compare each query with every set: the only arithmetic on faces that a query needs."""
        if not queries:
            return iter(())
        members = [self.member(query) for query in queries]
        return rows(self.tables, PreparedSets.join([self.prepared(query) for query in queries]), members)

    def order(self, row: Row, scores: NDArray[np.float64], top: int | None = None) -> NDArray[np.int64]:
        """Numbers of the best sets; ties go to the baseline, then to the id. The query is left out."""
        # Sets are numbered in the order of their ids.
        order = best_first(scores, row.scores[: len(scores)], None if top is None else top + 1)
        return (order if row.member is None else order[order != row.member])[:top]

    def _find_among(self, shortlist: Shortlist, query: str | FaceSet, top: int | None) -> Ranking:
        """Rank the shortlist: a set has the score that it has among all, or nearly so if kin are pooled."""
        member = self.member(query)
        targets = self.shortlisted(shortlist, query)
        search, row, _ = self.among(query, targets[targets != member])
        return replace(search._ranking(query, row, top), sets=len(self.tables) - (member is not None))

    def shortlisted(self, shortlist: Shortlist, query: str | FaceSet) -> NDArray[np.int64]:
        """Numbers of the sets to rank, in increasing order; the query itself may be among them."""
        return shortlist.targets(self.prepared(query), self.reranker.asks > 0, self.reranker.pools)

    def among(
        self, query: str | FaceSet, targets: NDArray[np.int64]
    ) -> tuple[Search, Row, NDArray[np.int64]]:
        """A search for one query and some targets only, which are its first sets; the query's row there.

        The last that is returned are the numbers that its sets have here.

        Parameters
        ----------
        query : str or FaceSet
            Compared with the targets and with whomever the second stage needs to score them.
        targets : array (m,)
            Numbers in increasing order; the query is not among them.
        """
        second = self.reranker
        view = narrowed(self.tables, targets, self.member(query), second.asks, second.needs(targets))
        [row] = rows(view.tables, PreparedSets.join([self.prepared(query)]), [view.member])
        small = Search(view.tables, second.among(view.sets), None, self.calibration, self.pictures)
        return small, row, view.sets

    def probabilities(self, row: Row, scored: Scored) -> NDArray[np.float64] | None:
        """How likely each set is the query's person; None if nothing can be said."""
        if self.calibration is None:
            return None
        likeness = row.scores[: len(scored.scores)]
        return self.calibration.of_answers(scored.scores, likeness, scored.grounds, row.member)

    def member(self, query: str | FaceSet) -> int | None:
        """The number of the set that asks, which is no answer; None for faces from outside."""
        return asking.member(self.tables, query)

    def prepared(self, query: str | FaceSet) -> dict[str, NDArray[np.generic]]:
        """The faces of a query as they are compared."""
        return asking.prepared(self.tables, query)

    def _ranking(self, query: str | FaceSet, row: Row, top: int | None) -> Ranking:
        scored = self.reranker.score(row, self.tables)
        order = self.order(row, scored.scores, top)
        chances = self.probabilities(row, scored)
        answers = self._answers(row, scored, chances, order, np.arange(1, len(order) + 1))
        similarity, reranker = parts.spec(self.tables.similarity), parts.spec(self.reranker)
        total = self._others(row)
        worth = worth_reading(chances)
        own = None if isinstance(query, str) else query.pictures
        about = (total, similarity, reranker, total, worth, self.pictures, own)
        return Ranking(name_of(query), tuple(answers), *about)

    def _answers(
        self,
        row: Row,
        scored: Scored,
        chances: NDArray[np.float64] | None,
        numbers: NDArray[np.int64],
        ranks: NDArray[np.int64],
    ) -> Iterator[Answer]:
        """The answers that some sets of known rank are."""
        ids, baseline = self.tables.ids, row.scores[: len(self.tables)]
        baseline_ranks = 1 + places(without(row.member, baseline), baseline, numbers)
        for number, rank, baseline_rank in zip(numbers, ranks, baseline_ranks, strict=True):
            yield Answer(
                rank=int(rank),
                id=ids[number],
                score=float(scored.scores[number]),
                baseline=float(baseline[number]),
                baseline_rank=int(baseline_rank),
                through=ids[scored.through[number]] if scored.through[number] >= 0 else None,
                probability=None if chances is None else float(chances[number]),
            )

    def _others(self, row: Row) -> int:
        """How many sets a query is ranked against: a narrowed table does not count the query anyway."""
        return len(self.tables) - (row.member is not None and row.member < len(self.tables))


def open_search(
    gallery: Gallery | Iterable[FaceSet],
    similarity: SetSimilarity | str = "max_max",
    reranker: Reranker | str = "auto",
    seed: int = 0,
    track: Track = silent,
    shortlist: bool | None = None,
    preparation: Preparation | str = AUTO,
    engine: Engine | str = "local",
) -> Search:
    """Index, train and calibrate what is missing, and return the gallery ready to be asked many times.

    Parameters are those of `find`.
    """
    stored = gallery if isinstance(gallery, Gallery) else None
    tables = index(gallery, similarity, track, preparation, engine)
    fitted = train(tables, reranker, seed, stored, track)
    if fitted.caution:
        logger.warning(fitted.caution)
    sure = calibrate(tables, fitted, seed, stored, track)
    pictures = partial(_pictures, stored.path.absolute()) if stored else None
    return Search(tables, fitted, open_shortlist(tables, fitted, shortlist, stored), sure, pictures)


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
    engine: Engine | str = "local",
) -> Ranking:
    """Order the sets of a gallery by how sure we are that they show the query's person.

    Parameters
    ----------
    query : str or FaceSet
        Id of a gallery set, which is then neither target nor proxy, or faces from outside the gallery.
    gallery : Gallery or iterable of FaceSet
    similarity, reranker : part or its name
        The baseline and the second stage.
    top : int, optional
        How many answers to return; all unless given.
    seed : int
        Chooses the sets from which the second stage learns.
    track : callable
        Shows progress.
    shortlist : bool, optional
        Whether to compare the query with a shortlist instead of all sets, for at most 100 answers; unless
        given, galleries of 50,000 sets and more (a million where kin are pooled) have one if its library is
        installed.
    preparation : Preparation or str
        What is done to faces before they are compared; ``auto`` suits it to the gallery (see `index`).
    engine : Engine or str
        Where sets are compared: one of a cluster holds them in slices, as many as it has machines.
    """
    search = open_search(gallery, similarity, reranker, seed, track, shortlist, preparation, engine)
    return search.find(query, top)


def explain(
    query: str | FaceSet,
    target: str,
    gallery: Gallery | Iterable[FaceSet],
    similarity: SetSimilarity | str = "max_max",
    reranker: Reranker | str = "auto",
    seed: int = 0,
    track: Track = silent,
    preparation: Preparation | str = AUTO,
    engine: Engine | str = "local",
) -> Explanation:
    """Return the evidence for one answer: the baseline, and what each proxy of the target says.

    Parameters are those of `find`; target is the id of a gallery set.
    """
    search = open_search(gallery, similarity, reranker, seed, track, None, preparation, engine)
    return search.explain(query, target)


def _pictures(path: Path, set_id: str) -> Sequence[bytes]:
    """Read the pictures of a set when somebody looks; by then the gallery may have been closed."""
    with open_gallery(path) as gallery:
        return gallery.get(set_id, pictures=True).pictures
