"""Within: whitened, then what varies within sets, and so not between people, is held down."""

from __future__ import annotations

import numpy as np

from lookalike.kernels.threads import one_blas_thread
from lookalike.preparations._whitening import Matrix, Scatter, Whitening, inverse_root

# Chosen with labels on the development collections, where it keeps 557, 416 and 258 numbers of 1,770.
SHARE = 0.85
# Part of the mean variance within sets that is added to all of it: few faces a set tell little about it.
FLOOR = 0.1


class Within(Whitening):
    """y = (W + 0.1 (trace W / k) I)^(-1/2) z, z the whitened face, W the pooled covariance within sets [1]_.

    A set shows one person, so whatever varies within it does not tell people apart. No label is needed.

    Parameters
    ----------
    root : bool
        Take the square root of every number first, which suits counts.
    dimension : int
        How many directions are kept; 0 keeps those that hold 85 % of the variance.
    mirror : str
        Add to every face the description of its mirror image first: ``6x5`` for local binary patterns in 6
        rows and 5 columns of cells; empty adds nothing.

    References
    ----------
    .. [1] A. Hatch, S. Kajarekar, A. Stolcke, "Within-class covariance normalization for SVM-based speaker
       recognition", Interspeech 2006; sets take the place of classes.
    """

    stored_name = "within"
    share = SHARE

    def _finished(self, even: Matrix, found: Scatter) -> Matrix:
        with one_blas_thread():
            inside = even.T @ found.within @ even
            level = float(np.trace(inside)) / len(inside)
            if level <= 0:
                self.reason_ = "no set has two different faces: faces are whitened only"
                return even
            table: Matrix = even @ inverse_root(inside, FLOOR * level)
        return table
