"""Auto: adaptive where the gallery promises that it helps, else the baseline."""

from __future__ import annotations

from lookalike.rerankers._kinship import Kinship, too_few

# Where fewer sets have kin, those that seem to have are chance.
LEAST_WITH_KIN = 0.02


class Auto(Kinship):
    """Does what `adaptive` does, unless nobody seems to be there twice: then the order stays as it is."""

    @property
    def helps(self) -> bool:
        """Whether a gain is to be expected."""
        return self.findings_ is not None
