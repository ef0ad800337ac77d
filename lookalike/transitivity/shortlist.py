"""Shortlist: the few sets that can matter for a query, found without comparing it with all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.kernels.codes import Codes
from lookalike.similarities.contract import Prepared, PreparedSets
from lookalike.transitivity.held import Held
from lookalike.transitivity.tables import Neighbours, Tables

Numbers = NDArray[np.int64]


class Sizes(NamedTuple):
    """How far to look; more finds more and takes longer."""

    guessed: int = 240  # as many faces as so many sets have are guessed nearest to each face of the query
    kept: int = 1000  # sets with the best of these faces, which are ranked
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
        faces, starts = _faces(tables)
        if len(codes) != len(faces) or codes.dimension - faces.shape[1] not in (0, 1):
            raise BadInput(
                f"there are codes of {len(codes)} faces of {codes.dimension} numbers for {len(faces)} faces "
                f"of {faces.shape[1]}: make them again"
            )
        self.tables = tables
        self.codes = codes
        self.sizes = sizes or Sizes()
        self._faces = faces
        self._owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))  # set of each face

    def targets(self, query: Prepared, proxies: bool) -> Numbers:
        """Numbers of the sets to rank, in increasing order; the query itself may be among them.

        If proxies will be asked, more sets stay, and the neighbours of the very nearest join them: a set that
        does not resemble the query may resemble one that does.
        """
        sizes = self.sizes
        near = self._nearest(query)
        if not proxies:
            return np.sort(near[: sizes.alone])
        friends = self.tables.neighbours.sets[near[: sizes.trusted], : sizes.friends]
        return np.union1d(near[: sizes.kept], friends)

    def _nearest(self, query: Prepared) -> Numbers:
        """Sets by their nearest face, of the faces that the codes guess to be near; nearest first."""
        sizes = self.sizes
        asked, _ = self.tables.similarity.faces(PreparedSets.join([query]))
        some = np.unique(np.linspace(0, len(asked) - 1, min(len(asked), sizes.asked)).astype(int))
        count = sizes.guessed * -(-len(self.codes) // len(self.tables))
        guessed = np.unique(self.codes.nearest(asked[some], count)[0])
        guessed = guessed[guessed >= 0]  # -1 where there are no more
        # Faces of a set lie side by side, so do those of it that were guessed.
        sets, first = np.unique(self._owners[guessed], return_index=True)
        # Products of faces are exact in double precision, whatever the order of adding up.
        products = np.take(self._faces, guessed, axis=0).astype(np.float64) @ asked[some].T.astype(np.float64)
        nearest = np.maximum.reduceat(products.max(axis=1), first)
        return sets[np.argsort(-nearest, kind="stable")]


def _faces(tables: Tables) -> tuple[NDArray[Any], NDArray[np.int64]]:
    if isinstance(tables.sets, Held):
        raise BadInput("a shortlist cannot be had of a gallery in several files: compare all sets")
    return tables.similarity.faces(tables.sets)


def narrowed(tables: Tables, targets: Numbers, member: int | None, proxies: int) -> tuple[Tables, int | None]:
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

    Returns
    -------
    tables : Tables
        The targets come first, in their order; then those of their neighbours that are no targets, and the
        query. Only targets have neighbours of their own.
    member : int or None
        The query's number in these tables.
    """
    # One more than asked, because a query that is a member is passed over.
    columns = proxies + 1 if proxies else 0
    near = Neighbours(
        **{name: array[targets, :columns] for name, array in tables.neighbours._asdict().items()}
    )
    others = np.setdiff1d(near.sets, targets)
    if member is not None:
        others = np.union1d(others, [member])
    chosen = np.concatenate([targets, others])
    order = np.argsort(chosen, kind="stable")
    place = order[np.searchsorted(chosen, near.sets, sorter=order)]
    view = Tables(
        tuple(map(tables.ids.__getitem__, chosen.tolist())),
        tables.dimension,
        tables.similarity,
        tables.sets[chosen],
        near._replace(sets=place),
        preparation=tables.preparation,
    )
    return view, None if member is None else int(order[np.searchsorted(chosen, member, sorter=order)])
