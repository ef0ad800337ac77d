from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from lookalike.descriptors.lbp import Lbp
from lookalike.intake.watched import WatchedDescriptor
from tests import media


def test_a_watched_descriptor_describes_as_before_and_counts() -> None:
    part, watched = Lbp(), WatchedDescriptor(Lbp())
    assert (watched.identity, watched.dimension) == (part.identity, part.dimension)
    assert (watched.region, watched.same_person) == (part.region, part.same_person)
    picture = np.asarray(media.face(120, 0))
    np.testing.assert_array_equal(watched.describe(picture), part.describe(picture))
    with ThreadPoolExecutor(4) as several:
        for found in several.map(watched.describe_many, [[picture] * 3] * 20):
            np.testing.assert_array_equal(found, part.describe_many([picture] * 3))
    assert watched.faces == 61
