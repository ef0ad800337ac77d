"""Shortlist: the few sets that can matter for a query, found without comparing it with all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.faceset import evenly
from lookalike.kernels.codes import Codes
from lookalike.kernels.neighbours import united
from lookalike.method.metafeatures import pairs_of
from lookalike.method.proxies import proxy_slots
from lookalike.method.tables import Guessed, Held, Near, Neighbours, Tables, guess, means_of, whole
from lookalike.similarities.contract import Prepared, PreparedSets

Numbers = NDArray[np.int64]


class Sizes(NamedTuple):
    """How far to look; more finds more and takes longer."""

    looked_at: int = 12288  # sets, about, whose coded means come nearest to that of the query
    guessed: int = 3072  # those whose coded means come nearest to a face of it, with which it is compared
    kept: int = 1000  # those of them whose faces are nearest, which are ranked
    alone: int = 400  # the same where nobody speaks for a set
    trusted: int = 100  # best of these, whose own neighbours are ranked too
    friends: int = 11  # so many of each
    served: int = 100  # answers for which that is enough
    # A query of very many faces is compared by some of them, evenly spread.
    asked: int = 32
    # Sets from all over the gallery that tell how near a query is to those with which it is not compared.
    spread: int = 256


def code_means(tables: Tables) -> Codes:
    """Code the mean face of every set, half a byte a component; seconds for a million sets.

    Raises
    ------
    BadInput
        If the similarity does not compare faces one by one.
    """
    return Codes.of(means_of(*_faces(tables)))


class Shortlisted(NamedTuple):
    """What a shortlist says of a query."""

    targets: Numbers  # (m,): numbers of the sets to rank, in increasing order; the query may be among them
    near: Near


class Shortlist:
    """Says which sets of a gallery are worth ranking for a query.

    Parameters
    ----------
    tables : Tables
    codes : Codes
        As `code_means` makes them.
    sizes : Sizes
    """

    def __init__(self, tables: Tables, codes: Codes, sizes: Sizes | None = None) -> None:
        dimension, count = tables.similarity.faces(tables.sets[:1])[0].shape[1], len(tables)
        if len(codes) != count or codes.dimension != dimension:
            raise BadInput(
                f"there are codes of {len(codes)} sets of {codes.dimension} numbers a face for {count} sets "
                f"of {dimension}: make them again"
            )
        self.tables = tables
        self.codes = codes
        self.sizes = sizes or Sizes()

    def serves(self, top: int | None) -> bool:
        """Whether it has so many answers, and fewer sets to compare than there are; None stands for all."""
        return top is not None and top <= self.sizes.served and self.sizes.guessed < len(self.tables)

    def of(self, query: Prepared, spoken_for: bool) -> Shortlisted:
        """Find the sets to rank, and whom else a query was compared with.

        If others will speak for a set, proxies or kin, more sets stay, and the neighbours of the very nearest
        join: a set that does not resemble the query may resemble one that does.
        """
        sizes, total = self.sizes, len(self.tables)
        some = np.unique(np.linspace(0, total - 1, min(sizes.spread, total)).astype(np.int64))
        found = self._guessed(query, some)
        order = np.lexsort((found.sets, -found.nearest))
        best = found.sets[order[: sizes.kept if spoken_for else sizes.alone]]
        friends = self.tables.neighbours.sets[best[: sizes.trusted], : sizes.friends if spoken_for else 0]
        near = Near(found.sets, found.nearest.astype(np.float64), some, found.others.astype(np.float64))
        return Shortlisted(united(total, best, friends), near)

    def _guessed(self, query: Prepared, some: Numbers) -> Guessed:
        tables, most = self.tables, self.sizes.guessed
        faces, _ = tables.similarity.faces(PreparedSets.join([query]))
        asked = faces[evenly(len(faces), self.sizes.asked)]
        floor = self.codes.floor(asked, self.sizes.looked_at)
        if isinstance(tables.sets, Held):
            return whole(tables.sets).guess(self.codes.grid, asked, most, floor, some)
        return guess(*_faces(tables), self.codes, asked, most, floor, some)


def _faces(tables: Tables) -> tuple[NDArray[Any], Numbers]:
    """All faces, and where each set begins among them."""
    held = tables.sets
    return tables.similarity.faces(whole(held).here if isinstance(held, Held) else held)


class Narrowed(NamedTuple):
    """The tables of some targets."""

    # The targets come first, in their order; then whoever else is asked about, and the query. Only targets
    # have neighbours of their own.
    tables: Tables
    member: int | None  # the query's number in these tables
    sets: Numbers  # (m,): the numbers that all of them have in the gallery


def narrowed(tables: Tables, targets: Numbers, member: int | None, proxies: int) -> Narrowed:
    """The tables of some targets, with everything that re-rankers may ask about them.

    Parameters
    ----------
    tables : Tables
    targets : array (m,)
        Numbers in increasing order. The query is not among them.
    member : int or None
        The query's number if it is in the gallery.
    proxies : int
        How many proxies of each target will be asked.
    """
    # One more than asked, because a query that is a member is passed over.
    columns = proxies + 1 if proxies else 0
    near = Neighbours(
        **{name: array[targets, :columns] for name, array in tables.neighbours._asdict().items()}
    )
    query = np.array([] if member is None else [member], dtype=np.int64)
    asked = united(len(tables), targets, near.sets, query)
    chosen = np.concatenate([targets, np.delete(asked, np.searchsorted(asked, targets))])
    order = np.argsort(chosen, kind="stable")
    near = near._replace(sets=order[np.searchsorted(chosen, near.sets, sorter=order)])
    number = None if member is None else int(order[np.searchsorted(chosen, member, sorter=order)])
    sets: PreparedSets | Held
    if isinstance(tables.sets, Held):
        pairs = pairs_of(near, proxy_slots(near, proxies, number))
        sets = whole(tables.sets).narrowed(chosen, pairs)
    else:
        sets = tables.sets[chosen]
    view = Tables(
        tuple(map(tables.ids.__getitem__, chosen.tolist())),
        tables.dimension,
        tables.similarity,
        sets,
        near,
        preparation=tables.preparation,
    )
    return Narrowed(view, number, chosen)
