"""Find: order all sets by how sure we are that they show the query's person, and say why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lookalike import parts
from lookalike.collection.gallery import Gallery
from lookalike.errors import BadInput
from lookalike.faceset import FaceSet
from lookalike.indexing import index
from lookalike.parameters import is_whole
from lookalike.progress import Track, silent
from lookalike.ranking import Answer, Explanation, Ranking, Witness
from lookalike.rerankers.contract import Beliefs, Reranker, Scored
from lookalike.similarities.contract import PreparedSets, SetSimilarity
from lookalike.training import train
from lookalike.transitivity.tables import Row, Tables, rows


class Search:
    """A gallery ready to be asked: its tables and a fitted second stage.

    Parameters
    ----------
    tables : Tables
        As `lookalike.index` returns them.
    reranker : Reranker
        As `lookalike.train` returns it.
    """

    def __init__(self, tables: Tables, reranker: Reranker) -> None:
        if not isinstance(reranker, Reranker):
            raise BadInput(
                f"a search needs a fitted reranker, got {reranker!r}: use open_search, or train first"
            )
        self.tables = tables
        self.reranker = reranker

    def find(self, query: str | FaceSet, top: int | None = None) -> Ranking:
        """Rank all sets for one query; see `lookalike.find`."""
        [ranking] = self.find_many([query], top)
        return ranking

    def find_many(self, queries: Sequence[str | FaceSet], top: int | None = None) -> Iterator[Ranking]:
        """Rank all sets for each query in turn; every answer is the one the query gets alone."""
        check_top(top)
        for query, row in zip(queries, self.rows(queries), strict=True):
            scored = self.reranker.score(row, self.tables)
            yield self._ranking(_name(query), row, scored, top)

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
        ranking = self._ranking(_name(query), row, scored, None)
        answers = {answer.id: answer for answer in ranking}
        similarity, prepared = self.tables.similarity, self._prepared(query)
        for target, number in zip(targets, numbers, strict=True):
            yield Explanation(
                query=ranking.query,
                answer=answers[target],
                total=ranking.total,
                query_face=similarity.exemplar(prepared, row.query_modes[number]),
                target_face=similarity.exemplar(self.tables.sets[number], row.set_modes[number]),
                similarity=ranking.similarity,
                reranker=ranking.reranker,
                witnesses=tuple(self._witnesses(prepared, row, number, said)),
            )

    def rows(self, queries: Sequence[str | FaceSet]) -> Iterator[Row]:
        """Compare each query with every set: the only arithmetic on faces that a query needs."""
        if not queries:
            return iter(())
        members = [self.tables.number(query) if isinstance(query, str) else None for query in queries]
        if len(self.tables) == 1 and 0 in members:
            raise BadInput("the gallery holds only the query itself: add more sets to search in")
        return rows(self.tables, PreparedSets.join([self._prepared(query) for query in queries]), members)

    def order(self, row: Row, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Numbers of the sets, best first; ties go to the baseline, then to the id. The query is left out."""
        # Sets are numbered in the order of their ids.
        order = np.lexsort((np.arange(len(scores)), -row.scores, -scores))
        return order if row.member is None else order[order != row.member]

    def _prepared(self, query: str | FaceSet) -> dict[str, NDArray[np.generic]]:
        if isinstance(query, str):
            found: dict[str, NDArray[np.generic]] = self.tables.sets[self.tables.number(query)]
            return found
        if not isinstance(query, FaceSet):
            raise BadInput(f"a query is a set id or a FaceSet, got {type(query).__name__}: make a set of it")
        length = self.tables.dimension
        if query.dimension != length:
            raise BadInput(
                f"query {query.id!r} is described by {query.dimension} numbers a face, the gallery by "
                f"{length}: describe both the same way"
            )
        return dict(self.tables.similarity.prepare(query.faces))

    def _ranking(self, query: str, row: Row, scored: Scored, top: int | None) -> Ranking:
        order = self.order(row, scored.scores)
        places = np.empty(len(self.tables), dtype=np.int64)
        baseline_order = self.order(row, row.scores)
        places[baseline_order] = np.arange(1, len(baseline_order) + 1)
        ids = self.tables.ids
        answers = tuple(
            Answer(
                rank=rank,
                id=ids[number],
                score=float(scored.scores[number]),
                baseline=float(row.scores[number]),
                baseline_rank=int(places[number]),
                through=ids[scored.through[number]] if scored.through[number] >= 0 else None,
            )
            for rank, number in enumerate(order[:top], start=1)
        )
        similarity, reranker = parts.spec(self.tables.similarity), parts.spec(self.reranker)
        return Ranking(query, answers, len(order), similarity, reranker)

    def _witnesses(
        self, prepared: dict[str, NDArray[np.generic]], row: Row, target: int, said: Beliefs
    ) -> Iterator[Witness]:
        tables, show = self.tables, self.tables.similarity.exemplar
        for place in np.argsort(-said.beliefs[target], kind="stable"):
            proxy, slot = int(said.proxies[target, place]), int(said.slots[target, place])
            silenced = said.beliefs.copy()
            silenced[target, place] = -np.inf
            without = self.reranker.decide(row, said.proxies, silenced).scores
            regressions = said.regressions
            yield Witness(
                proxy=tables.ids[proxy],
                numbers=tuple(float(s) for s in said.features[target, place]),  # type: ignore[arg-type]
                regression=None if regressions is None else float(regressions[target, place]),
                belief=float(said.beliefs[target, place]),
                query_face=show(prepared, row.query_modes[proxy]),
                proxy_face_to_query=show(tables.sets[proxy], row.set_modes[proxy]),
                proxy_face_to_target=show(tables.sets[proxy], tables.neighbours.their_modes[target, slot]),
                target_face_to_proxy=show(tables.sets[target], tables.neighbours.own_modes[target, slot]),
                rank_without=int(np.flatnonzero(self.order(row, without) == target)[0]) + 1,
            )


def check_top(top: object) -> None:
    """Refuse a number of answers that makes no sense; None means all.

    Raises
    ------
    BadInput
        If it is not a whole number of at least 1.
    """
    if top is not None and not is_whole(top, 1):
        raise BadInput(f"top must be a whole number of at least 1, got {top!r}")


def open_search(
    gallery: Gallery | Iterable[FaceSet],
    similarity: SetSimilarity | str = "max_max",
    reranker: Reranker | str = "learnt",
    seed: int = 0,
    track: Track = silent,
) -> Search:
    """Index and train what is missing, and return the gallery ready to be asked many times."""
    tables = index(gallery, similarity, track)
    return Search(
        tables, train(tables, reranker, seed, gallery if isinstance(gallery, Gallery) else None, track)
    )


def find(
    query: str | FaceSet,
    gallery: Gallery | Iterable[FaceSet],
    similarity: SetSimilarity | str = "max_max",
    reranker: Reranker | str = "learnt",
    top: int | None = None,
    seed: int = 0,
    track: Track = silent,
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
    """
    return open_search(gallery, similarity, reranker, seed, track).find(query, top)


def explain(
    query: str | FaceSet,
    target: str,
    gallery: Gallery | Iterable[FaceSet],
    similarity: SetSimilarity | str = "max_max",
    reranker: Reranker | str = "learnt",
    seed: int = 0,
    track: Track = silent,
) -> Explanation:
    """Return the evidence for one answer: the baseline, and what each proxy of the target says.

    Parameters are those of `find`; target is the id of a gallery set.
    """
    return open_search(gallery, similarity, reranker, seed, track).explain(query, target)


def _name(query: str | FaceSet) -> str:
    return query if isinstance(query, str) else query.id
