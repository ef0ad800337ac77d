"""Auto: adaptive where the gallery promises that it helps, else the baseline."""

from __future__ import annotations

from lookalike.method.kin import LOOSE, UNSEEN
from lookalike.rerankers._kinship import Kinship

# Where fewer sets have kin, those that seem to have are chance.
LEAST_WITH_KIN = 0.02


class Auto(Kinship):
    """Does what `adaptive` does, unless nobody seems to be there twice: then the order stays as it is."""

    stored_name = "auto"

    @property
    def helps(self) -> bool:
        """Whether a gain is to be expected: groups are seen, or some sets have kin."""
        found = self.findings_
        if found is None:
            return False
        is_grouped = found.closed > UNSEEN or found.lumps > LOOSE
        return is_grouped or self._with_kin() > LEAST_WITH_KIN * self.total_
