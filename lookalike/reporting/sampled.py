"""What choosing a few faces of each set costs on a gallery, as figures."""

from __future__ import annotations

import numpy as np

from lookalike.collection.gallery import Gallery
from lookalike.evaluation.sampling import relative_energies, selection_errors
from lookalike.faceset import FaceSet
from lookalike.intake.pictures import decode_picture
from lookalike.parameters import SAMPLES
from lookalike.progress import Track, silent
from lookalike.reporting.figure import Figure
from lookalike.reporting.figures.selected import selection_picture
from lookalike.reporting.figures.selection import energies_cdf, selection_error_cdf
from lookalike.reporting.selected import picture_of

# A random part of a large gallery shows the distribution well enough, and fits in memory.
SETS = 200
PAIRS = 1000
MOST_FACES = 1000
SEED = 0


def selection_figures(gallery: Gallery, faces: bool, track: Track = silent) -> tuple[list[Figure], list[str]]:
    """Energies of kernel components, error of the choice, the choice for one set; and remarks on them.

    Parameters
    ----------
    gallery : Gallery
    faces : bool
        Whether pictures of the chosen faces may be shown.
    """
    rng = np.random.default_rng(SEED)
    listed = [one for one in gallery.listing() if 2 < one.faces <= MOST_FACES]
    if not listed:
        return [], ["No set has three faces or more, so there is no variation within sets to show."]
    chosen = sorted(rng.permutation(len(listed))[:SETS])
    sets: list[FaceSet] = list(
        track(
            gallery.sets([listed[place].id for place in chosen]), "looking at the faces of sets", len(chosen)
        )
    )
    notes = [f"Variation within sets is shown for {len(sets)} random sets of three to {MOST_FACES} faces."]
    figures = [energies_cdf(relative_energies(sets))]
    if max(map(len, sets)) > SAMPLES and len(sets) > 1:
        figures.append(selection_error_cdf(selection_errors(sets, rng, PAIRS)))
    else:
        notes.append(
            f"No set has more than {SAMPLES} faces: all faces are used, and no error is made by choosing."
        )
    largest = max(listed, key=lambda one: (one.faces, one.id))
    shown = gallery.get(largest.id, pictures=faces)
    projections, taken, evenly = picture_of(shown.faces, SAMPLES)
    pictures = [decode_picture(shown.pictures[place]) for place in taken] if faces and shown.pictures else []
    figures.append(selection_picture(projections, taken, evenly, shown.id, pictures))
    return figures, notes
