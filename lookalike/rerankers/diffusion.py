"""Diffusion: likeness spreads from the query through mutual neighbours."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array
from scipy.sparse.linalg import cg

from lookalike.errors import BadInput, is_positive
from lookalike.kernels.threads import one_blas_thread
from lookalike.method.neighbours import without_query
from lookalike.method.tables import Lists, Row, Tables, nearest_to
from lookalike.rerankers.contract import ListReranker, check_count

# Residual of the solution, relative to y. The largest alpha leaves a matrix with condition 2,000: well within
# what doubles can do, in about 700 steps at most.
TOLERANCE = 1e-12
MOST_STEPS = 5000
LARGEST_ALPHA = 0.999


logger = logging.getLogger(__name__)


class Diffusion(ListReranker):
    """f with (I - alpha S) f = y, S = D^-1/2 W D^-1/2: what a random walk with restarts gathers [1]_.

    W(i, j) = s(i, j)^power where each is among the other's nearest, else 0; D holds the sums of its rows.
    y(t) = s(q, t)^power for the query's nearest sets, else 0. Negative similarities count as 0. The graph is
    that of the gallery without the query. The system is solved for each query by conjugate gradients, to
    the end: nothing is cut off or computed beforehand as in [2]_. Sets that no path joins with the query's
    neighbours get 0: they come last, in the order of the baseline.

    Parameters
    ----------
    neighbours : int
        Nearest sets of each that the graph may join; 50 in the publications.
    query_neighbours : int
        Sets at which the query enters; 10 in the publications.
    alpha : float
        How far likeness spreads, more than 0 and at most 0.999; 0.99 in the publications.
    power : float
        Of the similarity; 3 in the publications.

    References
    ----------
    .. [1] A. Iscen, G. Tolias, Y. Avrithis, T. Furon, O. Chum, "Efficient diffusion on region manifolds:
       recovering small objects with compact CNN representations", CVPR 2017.
    .. [2] F. Yang, R. Hinami, Y. Matsui, S. Ly, S. Satoh, "Efficient image retrieval via decoupling diffusion
       into online and offline processing", AAAI 2019.
    """

    stored_name = "diffusion"

    def __init__(
        self, neighbours: int = 50, query_neighbours: int = 10, alpha: float = 0.99, power: float = 3
    ) -> None:
        self.neighbours = neighbours
        self.query_neighbours = query_neighbours
        self.alpha = alpha
        self.power = power

    def check(self) -> None:
        """Both numbers of neighbours, alpha and power in range."""
        check_count("neighbours", self.neighbours)
        check_count("query_neighbours", self.query_neighbours)
        if not is_positive(self.alpha) or self.alpha > LARGEST_ALPHA:
            raise BadInput(f"alpha must be greater than 0 and at most {LARGEST_ALPHA}, got {self.alpha!r}")
        if not is_positive(self.power):
            raise BadInput(f"power must be a number greater than 0, got {self.power!r}")

    def reach(self) -> int:
        """One more than wanted: the query is passed over."""
        return self.neighbours + 1

    def rescored(self, row: Row, lists: Lists, tables: Tables) -> NDArray[np.float64]:
        """Solve for one query."""
        entries = nearest_to(row, self.query_neighbours)
        start = np.zeros(len(tables))
        start[entries] = self._affinity(row.scores[entries])
        graph = self._graph(without_query(lists, row.member, self.neighbours))
        system = eye_array(len(tables), format="csr") - self.alpha * graph
        with one_blas_thread():
            found, unfinished = cg(system, start, rtol=TOLERANCE, atol=0.0, maxiter=MOST_STEPS)
        if unfinished:
            logger.warning("diffusion stopped after %d steps: use a smaller alpha", MOST_STEPS)
        # Nothing is negative; what rounding leaves below 0 must not fall behind sets that are not reached.
        return np.maximum(np.asarray(found, dtype=np.float64), 0.0)

    def _affinity(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        raised: NDArray[np.float64] = np.maximum(scores, 0.0) ** self.power
        return raised

    def _graph(self, lists: Lists) -> csr_array:
        """S, symmetric and normalised; (n, n). A member that no list holds has no mutual neighbour in it."""
        total, width = lists.sets.shape
        weights = self._affinity(lists.scores).ravel()
        starts = np.arange(0, total * width + 1, width)
        # A copy of the numbers: a sparse matrix may sort what it is given.
        listed = csr_array((weights, lists.sets.flatten(), starts), shape=(total, total))
        # Both lists hold the same similarity, so the smaller of W(i, j) and W(j, i) is it, or 0.
        mutual = listed.minimum(listed.T.tocsr())
        degrees = mutual.sum(axis=1)
        scale = diags_array(np.where(degrees > 0, degrees, 1.0) ** -0.5)
        return csr_array(scale @ mutual @ scale)
