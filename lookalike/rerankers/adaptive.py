"""Adaptive: strangers subtracted, kin pooled."""

from __future__ import annotations

from lookalike.errors import BadInput
from lookalike.rerankers._kinship import Kinship


class Adaptive(Kinship):
    """Weighs a pair against the strangers around it, then pools it with the kin of both sides.

    A proxy that shows another person in the same light says the same of everybody in that light: what it
    says is subtracted. A proxy that shows the same person is another witness: what it says is added. How much
    is subtracted is what makes the gallery itself most transitive; who is kin stands out from the strangers
    that a set may expect. Nothing is random and no label is seen; constants were chosen with labels, once.

    Fewer than 20 sets stay in the order of the baseline, and fewer than 50 are not pooled.

    Parameters
    ----------
    learn : bool
        Whether kin of kin teach one more way of weighing, trusted the more, the more of them there are.
    """

    def __init__(self, learn: bool = False) -> None:
        self.learn = learn

    def check(self) -> None:
        """Learn or not."""
        if not isinstance(self.learn, bool):
            raise BadInput(f"learn must be True or False, got {self.learn!r}")
