"""Shortlist: the few sets that can matter for a query, found without comparing it with all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.kernels.codes import Codes
from lookalike.kernels.topk import united
from lookalike.method.metafeatures import pairs_of
from lookalike.method.proxies import proxy_slots
from lookalike.method.tables import Held, Neighbours, Tables, guess, whole
from lookalike.similarities.contract import Prepared, PreparedSets

Numbers = NDArray[np.int64]


class Sizes(NamedTuple):
    """How far to look; more finds more and takes longer."""

    guessed: int = 2000  # sets whose coded faces come nearest, which are looked at
    kept: int = 1000  # those of them whose faces are nearest, which are ranked
    alone: int = 400  # the same where no proxies are asked
    trusted: int = 100  # best of these, whose own neighbours are ranked too
    friends: int = 11  # so many of each
    served: int = 100  # answers for which that is enough
    # A query of very many faces is looked up by some of them, evenly spread.
    asked: int = 32


def code_faces(tables: Tables) -> Codes:
    """Code the faces of all sets, a sixteenth of their memory; seconds for a million.

    Raises
    ------
    BadInput
        If the similarity does not compare faces one by one, or the library is not installed.
    """
    return Codes.of(_faces(tables)[0])


class Shortlist:
    """Says which sets of a gallery are worth ranking for a query.

    Parameters
    ----------
    tables : Tables
    codes : Codes
        As `code_faces` makes them.
    sizes : Sizes
    """

    def __init__(self, tables: Tables, codes: Codes, sizes: Sizes | None = None) -> None:
        dimension, count = tables.similarity.faces(tables.sets[:1])[0].shape[1], len(_faces(tables)[0])
        if len(codes) != count or codes.dimension - dimension not in (0, 1):
            raise BadInput(
                f"there are codes of {len(codes)} faces of {codes.dimension} numbers for {count} faces "
                f"of {dimension}: make them again"
            )
        self.tables = tables
        self.codes = codes
        self.sizes = sizes or Sizes()

    def serves(self, top: int | None) -> bool:
        """Whether it has so many answers, and the gallery more; None stands for all."""
        return top is not None and top <= self.sizes.served < len(self.tables)

    def targets(self, query: Prepared, proxies: bool, pools: int = 0) -> Numbers:
        """Numbers of the sets to rank, in increasing order; the query itself may be among them.

        If proxies will be asked, more sets stay. If others speak for a set, proxies or ``pools`` of its
        nearest, the neighbours of the very nearest join: a set that does not resemble the query may resemble
        one that does.
        """
        sizes = self.sizes
        near = self._nearest(query)
        kept, joining = (sizes.kept, sizes.friends) if proxies else (sizes.alone, pools)
        friends = self.tables.neighbours.sets[near[: sizes.trusted], :joining]
        return np.union1d(near[:kept], friends)

    def _nearest(self, query: Prepared) -> Numbers:
        """Sets by their nearest face, of those that the codes guess to be near; nearest first."""
        tables, most = self.tables, self.sizes.guessed
        asked, _ = tables.similarity.faces(PreparedSets.join([query]))
        some = np.unique(np.linspace(0, len(asked) - 1, min(len(asked), self.sizes.asked)).astype(int))
        if isinstance(tables.sets, Held):
            found = whole(tables.sets).guess(self.codes.points, asked[some], most)
        else:
            found = guess(*_faces(tables), self.codes, asked[some], most)
        return found.sets[np.lexsort((found.sets, -found.nearest))]


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


def narrowed(
    tables: Tables, targets: Numbers, member: int | None, proxies: int, needs: Numbers | None = None
) -> Narrowed:
    """The tables of some targets, with everything that second stages may ask about them.

    Parameters
    ----------
    tables : Tables
    targets : array (m,)
        Numbers in increasing order. The query is not among them.
    member : int or None
        The query's number if it is in the gallery.
    proxies : int
        How many proxies of each target will be asked.
    needs : array, optional
        Numbers of more sets that the query must be compared with.
    """
    # One more than asked, because a query that is a member is passed over.
    columns = proxies + 1 if proxies else 0
    near = Neighbours(
        **{name: array[targets, :columns] for name, array in tables.neighbours._asdict().items()}
    )
    query = np.array([] if member is None else [member], dtype=np.int64)
    asked = united(len(tables), targets, near.sets, targets[:0] if needs is None else needs, query)
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
