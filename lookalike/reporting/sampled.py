"""What choosing a few faces of each set costs on a gallery, as figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.collection.gallery import Gallery
from lookalike.collection.queries import SetFacts
from lookalike.evaluation.sampling import relative_energies, selection_errors
from lookalike.faceset import FaceSet
from lookalike.intake.pictures import decode_picture
from lookalike.kernels.exact import plain_unit_rows
from lookalike.kernels.selection import projections, select
from lookalike.progress import Track, silent
from lookalike.reporting.figure import Figure
from lookalike.reporting.figures.selected import selection_picture
from lookalike.reporting.figures.selection import energies_cdf, selection_error_cdf
from lookalike.similarities.contract import SetSimilarity

# A random part of a large gallery shows the distribution well enough, and fits in memory.
SETS = 200
PAIRS = 1000
MOST_FACES = 1000
MOST_NUMBERS = 60_000_000  # of all chosen faces: half a gigabyte in double precision
SEED = 0


def selection_figures(
    gallery: Gallery, similarity: SetSimilarity, faces: bool, track: Track = silent
) -> tuple[list[Figure], list[str]]:
    """Energies of kernel components, error of the choice, the choice for one set; and remarks on them.

    Parameters
    ----------
    gallery : Gallery
    similarity : SetSimilarity
        The baseline; if it does not choose faces, there is no choice to show.
    faces : bool
        Whether pictures of the chosen faces may be shown.
    """
    rng = np.random.default_rng(SEED)
    listed = [one for one in gallery.listing() if 2 < one.faces <= MOST_FACES]
    if not listed:
        return [], ["No set has three faces or more, so there is no variation within sets to show."]
    sets = _some(gallery, listed, rng, track)
    notes = [f"Variation within sets is shown for {len(sets)} random sets of three to {MOST_FACES} faces."]
    figures = [energies_cdf(relative_energies(sets))]
    samples = getattr(similarity, "samples", 0)
    if not samples:
        return figures, [*notes, "This set similarity uses all faces of a set: none are chosen."]
    if max(map(len, sets)) <= samples or len(sets) < 2:
        notes.append(f"No set has more than {samples} faces: all are used, and no error is made by choosing.")
    else:
        preimage = getattr(similarity, "preimage", "nearest")
        figures.append(selection_error_cdf(selection_errors(sets, rng, PAIRS, samples, preimage)))
    largest = max(listed, key=lambda one: (one.faces, one.id))
    shown = gallery.get(largest.id, pictures=faces)
    projections, taken, evenly = picture_of(shown.faces, samples)
    pictures = [decode_picture(shown.pictures[place]) for place in taken] if faces and shown.pictures else []
    figures.append(selection_picture(projections, taken, evenly, shown.id, pictures))
    return figures, notes


def _some(
    gallery: Gallery, listed: Sequence[SetFacts], rng: np.random.Generator, track: Track
) -> list[FaceSet]:
    """Random sets, as many as fit in memory."""
    chosen: list[str] = []
    room = MOST_NUMBERS
    for place in rng.permutation(len(listed))[:SETS]:
        room -= listed[place].faces * (gallery.dimension or 0)
        if room >= 0 or not chosen:
            chosen.append(listed[place].id)
    return list(track(gallery.sets(sorted(chosen)), "looking at the faces of sets", len(chosen)))


def picture_of(
    faceset_faces: NDArray[np.floating[Any]], samples: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Repeat the choice of faces of one set, for a picture of it.

    Parameters
    ----------
    faceset_faces : array (n, d)
        Faces as the set holds them.
    samples : int
        Even steps; 0 keeps all faces. As for the similarities, a set with no more faces keeps all.

    Returns
    -------
    projections : array (n, 2)
        First two kernel principal components; zero where there is no variation.
    chosen : array (m,)
        Faces taken, in the order of the first component.
    evenly : array (samples,)
        The even steps on the first component; empty if all faces are kept.
    """
    unit = plain_unit_rows(faceset_faces)
    places = projections(unit)
    if not 0 < samples < len(unit):
        return places, np.argsort(places[:, 0], kind="stable"), np.empty(0)
    _, chosen = select(unit, samples, "nearest")
    line = places[:, 0]
    # The sign of a component is arbitrary: the first face taken lies on the left.
    if line[chosen[0]] > line[chosen[-1]]:
        places = places * [-1.0, 1.0]
        line = places[:, 0]
    return places, chosen, np.linspace(line.min(), line.max(), samples)
