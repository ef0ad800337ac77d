"""Shortlist: make or open what finds the few sets worth ranking in a large gallery."""

from __future__ import annotations

import logging

from lookalike import parts
from lookalike.collection.gallery import Gallery
from lookalike.derived import is_kept, kept
from lookalike.errors import BadInput, StorageFailed
from lookalike.kernels.codes import Codes, is_available
from lookalike.preparing import table_kind
from lookalike.rerankers.contract import Reranker
from lookalike.similarities.contract import SetSimilarity
from lookalike.transitivity.shortlist import Shortlist, code_faces
from lookalike.transitivity.tables import Tables

logger = logging.getLogger(__name__)

# Raised whenever the codes, or how they are stored, change.
FORMAT = 2
# From so many sets on, comparing a query with all of them takes longer than people like to wait.
LARGE = 50_000
# The same where kin are pooled, with whose cohorts a query must be compared too: a hundred thousand sets.
HUGE = 1_000_000


def open_shortlist(
    tables: Tables, reranker: Reranker, wanted: bool | None = None, gallery: Gallery | None = None
) -> Shortlist | None:
    """Return a shortlist, or None where all sets are to be compared.

    Parameters
    ----------
    tables : Tables
    reranker : Reranker
    wanted : bool, optional
        Unless given, large galleries have one wherever it can be had.
    gallery : Gallery, optional
        The gallery the tables belong to: codes are kept beside it.

    Raises
    ------
    BadInput
        If it is wanted and cannot be had.
    """
    check_shortlist(tables.similarity, reranker, wanted)
    return Shortlist(tables, _codes(tables, gallery)) if _is_due(tables, reranker, wanted) else None


def will_be_made(tables: Tables, reranker: Reranker, wanted: bool | None, gallery: Gallery) -> bool:
    """Whether `open_shortlist` has to code the faces first, which takes seconds for a million."""
    return _is_due(tables, reranker, wanted) and not is_kept(gallery, tables, _kind(tables), str(FORMAT))


def check_shortlist(similarity: SetSimilarity, reranker: Reranker, wanted: bool | None) -> None:
    """Refuse a shortlist that cannot be had, before any work is done.

    Raises
    ------
    BadInput
        If it is wanted: the sentence says why not.
    """
    # Looking for the library searches the whole path: not at every start.
    reason = _why_not(similarity, reranker) if wanted else None
    if reason is not None:
        raise BadInput(f"a shortlist cannot be had: {reason}; leave it out to compare all sets")


def _is_due(tables: Tables, reranker: Reranker, wanted: bool | None) -> bool:
    if wanted is not None:
        return wanted
    least = HUGE if reranker.pools else LARGE
    return len(tables) >= least and _why_not(tables.similarity, reranker) is None


def _kind(tables: Tables) -> str:
    return f"shortlist on {table_kind(tables.similarity, tables.preparation)}"


def _why_not(similarity: SetSimilarity, reranker: Reranker) -> str | None:
    if reranker.looks_at_all:
        return f"the second stage {parts.spec(reranker)} looks at all sets"
    if not similarity.compares_faces:
        return f"{parts.spec(similarity)} does not compare faces one by one"
    if not is_available():
        return "it needs faiss (pip install 'lookalike[large]')"
    return None


def _codes(tables: Tables, gallery: Gallery | None) -> Codes:
    def make() -> Codes:
        return code_faces(tables)

    try:
        return kept(gallery, tables, _kind(tables), str(FORMAT), make, Codes.to_arrays, Codes.from_arrays)
    except StorageFailed as reason:
        # A gallery that may be read may be asked: making the codes takes seconds.
        logger.warning("the codes of faces are not kept: %s", reason)
        return make()
