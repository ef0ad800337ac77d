"""Whom `forget --bar-alike` keeps out, on real faces: each person is barred by all their videos but one.

Prints how many of the videos that were kept back are refused, as they should be, and how many videos of
everybody else, which should not. ``--data`` is the folder of ``ytf_dev.npz``, not part of the project. The
vectors are those of that file, which are dlib's; ``--descriptor`` describes its small gray pictures instead.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.real_faces import DATA
from benchmarks.study_descriptors import crops
from lookalike import registry
from lookalike.descriptors.deep import Deep
from lookalike.gallery.blocklist import Barred, of_person
from lookalike.ingest.describe import describe_aligned

# Any name will do: one model made all of them.
MODEL = "deep"


def main() -> None:
    """Bar and count."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study_barring", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--descriptor", metavar="NAME", help="what describes the pictures")
    options = parser.parse_args()
    with np.load(options.data / "ytf_dev.npz", allow_pickle=False) as arrays:
        faces, owners, people = arrays["embeddings"], arrays["image_set"], arrays["set_person"]
    least: float = Deep.same_person
    if options.descriptor:
        part, found = registry.build("descriptors", options.descriptor), crops(options.data)
        assert found is not None
        faces, owners = describe_aligned(found.crops, part), np.array([int(one) for one in found.sets])
        least = part.same_person
    videos = [faces[owners == number] for number in range(len(people))]
    own, others, other_total = [0, 0], 0, 0
    for number, person in enumerate(people):
        kept = [one for one in np.flatnonzero(people == person) if one != number]
        if not kept:
            continue
        barred = Barred([of_person([videos[one] for one in kept], MODEL, least)])
        own[0] += bool(barred.why_faces(videos[number], MODEL))
        own[1] += 1
        if number == np.flatnonzero(people == person)[0]:  # strangers once a person
            strangers = np.flatnonzero(people != person)
            others += sum(bool(barred.why_faces(videos[one], MODEL)) for one in strangers)
            other_total += len(strangers)
    print(f"their own video refused: {own[0]} of {own[1]} ({own[0] / own[1]:.1%})")
    print(f"videos of others refused: {others} of {other_total} ({others / other_total:.2%})")


if __name__ == "__main__":
    main()
