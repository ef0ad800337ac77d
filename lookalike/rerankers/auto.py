"""Auto: adaptive where the gallery promises that it helps, else the baseline."""

from __future__ import annotations

import numpy as np

from lookalike.rerankers._kinship import Kinship, too_few

# Where fewer sets have kin, those that seem to have are chance.
LEAST_WITH_KIN = 0.02
# Where kin cannot be told, so many triangles for each set must close, and so many standard deviations more
# of them than with nothing subtracted (chosen with labels, in drawn worlds of few people).
LEAST_TRIANGLES = 0.25
CLEARLY = 2.0


class Auto(Kinship):
    """Does what `adaptive` does, unless hardly anybody stands out as kin: then the order stays as it is."""

    @property
    def helps(self) -> bool:
        """Whether a gain is to be expected."""
        if self.strangers_ is None:
            return False
        if self.kin_ is None:
            # Too few sets to find kin. People may have as many sets as a cohort: subtracting these must pay.
            none, most = self.triangles_[0], self.triangles_.max()
            return bool(most > LEAST_TRIANGLES * self.total_ and most - none > CLEARLY * np.sqrt(none + 1))
        return self._with_kin() > LEAST_WITH_KIN * self.total_

    @property
    def finding(self) -> str:
        """What was found, and whether anything is done."""
        if self.helps:
            return super().finding
        if self.kin_ is None:
            return too_few(self.total_)
        few = f"{self._with_kin()} of {self.total_} sets have kin"
        why = "either hardly anybody is here twice, or people fill whole lists"
        return f"nobody stands out ({few}): {why}. The order stays as it is."
