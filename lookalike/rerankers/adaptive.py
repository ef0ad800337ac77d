"""Adaptive: strangers subtracted, kin pooled, lists compared, each as far as the gallery asks for it."""

from __future__ import annotations

from lookalike.rerankers._kinship import Kinship


class Adaptive(Kinship):
    """Weighs a pair against the strangers around it, pools it with kin, and lets lists of neighbours agree.

    A proxy that shows another person in the same light says the same of everybody in that light: what it
    says is subtracted. A proxy that shows the same person is another witness: what it says is added. And two
    sets whose neighbours are the same sets belong together, though they may not look alike. How far each is
    done is told by what is closed in the gallery, where neighbours of neighbours are neighbours. Nothing is
    random and no label is seen; constants were chosen with labels, once.

    Fewer than 20 sets stay in the order of the baseline, and fewer than 30 are not pooled.
    """

    stored_name = "adaptive"
