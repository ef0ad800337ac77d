"""Films of real faces: frames of videos are joined to films again, added as footage and asked for.

``make results`` runs this where the folder ``ytf_frames`` lies beside the other collections:
``<person>/<video>/*.jpg``, a few frames of each video. Who is on a film is known from its folder, and used
for scoring only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from lookalike import Gallery, index, registry, train
from lookalike.demo.footage import write_footage
from lookalike.evaluation.measures import Evaluation
from lookalike.evaluation.protocol import leave_one_out
from lookalike.evaluation.statistics import gains_of
from lookalike.ingest.add import add
from lookalike.ingest.describe import FOOTAGE_DESCRIPTOR
from lookalike.ingest.redescribe import describe
from lookalike.progress import Track, silent

FOLDER = "ytf_frames"
RATE = 25.0
# Each frame stands for so long: it is looked at twice, and no flash of light lasts so long.
HELD = 0.4
# Constant quality of the films: what the joining loses is not to be seen.
QUALITY = 12
# A film has one main track if this share of its faces, or more, is on it.
MAIN = 0.9
METHODS = ("baseline", "auto")
AIMS = {"one_main_track": 0.95, "map": 0.85, "rank1": 0.9}


class Way(NamedTuple):
    """A way to describe and prepare faces, of tracks that were joined over jumps by a descriptor, or not."""

    descriptor: str
    preparation: str
    joined: bool = True


# The first describes films and photos unless something else is asked for.
DEFAULT, PLAIN = Way(FOOTAGE_DESCRIPTOR, "none"), Way("lbp", "none")
# The preparation that suits lbp is not a default here, since there are fewer sets than it wants.
PREPARED = Way("lbp", registry.part_class("descriptors", "lbp").prepared_by)
WAYS = (DEFAULT, Way("deep", "none"), PLAIN, PREPARED, Way(FOOTAGE_DESCRIPTOR, "none", joined=False))


@dataclass(frozen=True)
class Film:
    """A film that was made: its name in the collection, and who is on it."""

    name: str
    person: str


class Seen(NamedTuple):
    """A track that was found: its set, how many faces were kept of it, its first and last second."""

    id: str
    faces: int
    start: float
    end: float

    @property
    def film(self) -> str:
        """Name of its film in the collection."""
        return self.id.rpartition("#")[0]


def join_frames(frames: Path, folder: Path, people: int | None = None) -> list[Film]:
    """Join the frames of each video to a film.

    Parameters
    ----------
    frames : Path
        Folder of ``<person>/<video>/*.jpg``.
    folder : Path
        Where the films go; made if there is none.
    people : int, optional
        Only the first so many.
    """
    films: list[Film] = []
    for number, person in enumerate(sorted(path for path in frames.iterdir() if path.is_dir())):
        if number == people:
            break
        for video in sorted((path for path in person.iterdir() if path.is_dir()), key=_natural):
            # Names of people stay out of the films: nothing but the scoring may know them.
            film = Film(f"{number:03d}/{len(films):04d}.mp4", str(number))
            path = folder / film.name
            path.parent.mkdir(parents=True, exist_ok=True)
            pictures = _pictures(sorted(video.glob("*.jpg"), key=_natural))
            repeated = (picture for picture in pictures for _ in range(round(HELD * RATE)))
            write_footage(path, repeated, RATE, quality=QUALITY)
            films.append(film)
    return films


def _natural(path: Path) -> list[tuple[int, str]]:
    """Order of names in which 10 comes after 9."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", path.name)]


def _pictures(paths: list[Path]) -> Iterator[NDArray[np.uint8]]:
    """Frames of the size of the first, which is cut to even sides; others are made to fit, edges black."""
    size: tuple[int, int] | None = None
    for path in paths:
        with Image.open(path) as opened:
            picture = opened.convert("RGB")
        size = size or (picture.width // 2 * 2, picture.height // 2 * 2)
        if abs(picture.width - size[0]) < 2 and abs(picture.height - size[1]) < 2:
            yield np.asarray(picture)[: size[1], : size[0]]
        else:
            yield np.asarray(ImageOps.pad(picture, size))


def measure_films(
    frames: Path, folder: Path, track: Track = silent, people: int | None = None
) -> dict[str, Any]:
    """Make the films, add them, and measure what the sets are worth.

    Parameters
    ----------
    frames : Path
        Folder of ``<person>/<video>/*.jpg``.
    folder : Path
        Where films and galleries go.
    track : callable
        Shows progress.
    people : int, optional
        Only the first so many.

    Returns
    -------
    dict
        Of values that JSON can hold, with no names of people.
    """
    films = join_frames(frames, folder / "films", people)
    kept: dict[str, Any] = {"films": len(films), "people": len({film.person for film in films}), "rows": []}
    found: dict[Way, Evaluation] = {}
    for joined, name in ((True, FOOTAGE_DESCRIPTOR), (False, "lbp")):
        # The first tells people apart, and joins what a jump tore; the second cannot.
        path = folder / f"films_{name}.gallery"
        add(path, [folder / "films"], name, track=track)
        with Gallery(path) as gallery:
            seen = [Seen(one.id, one.faces, one.start or 0.0, one.end or 0.0) for one in gallery.listing()]
            kept["joined" if joined else "not_joined"] = count_tracks(films, seen)
            for way in (way for way in WAYS if way.joined == joined):
                found[way] = _asked(gallery, way, label(films, seen), track)
                for method in METHODS:
                    row = {**way._asdict(), "method": method, **found[way].summary(method)}
                    kept["rows"].append(row)
    kept |= {"queries": len(found[DEFAULT].queries), "distractors": found[DEFAULT].distractors, "aims": AIMS}
    values = {way.preparation: found[way].values("baseline") for way in (PLAIN, PREPARED)}
    gained = gains_of(values, PLAIN.preparation, found[PLAIN].people)[PREPARED.preparation]
    kept["prepared"] = {
        measure: {**gain.difference._asdict(), "p": gain.p} for measure, gain in gained.items()
    }
    return kept


def _asked(gallery: Gallery, way: Way, labels: dict[str, str], track: Track) -> Evaluation:
    """Describe the tracks, and ask for every film that has a match."""
    describe(gallery, way.descriptor, track)
    tables = index(gallery, "max_max", track, way.preparation)
    fitted = {name: train(tables, name, 0, gallery, track) for name in METHODS}
    return leave_one_out(tables, fitted, labels, track)


def count_tracks(films: list[Film], seen: list[Seen]) -> dict[str, int]:
    """How many films show one track alone, one that has nearly all of their faces, and one that is not torn.

    Where a film shows two people throughout, it has two tracks, and neither has nearly all faces.
    """
    by_film = [[one for one in seen if one.film == film.name] for film in films]
    last = [max((one.end for one in own), default=0.0) for own in by_film]
    return {
        "tracks": len(seen),
        "faces": sum(one.faces for one in seen),
        "no_track": sum(not own for own in by_film),
        "one_track": sum(len(own) == 1 for own in by_film),
        "one_main_track": sum(
            any(one.faces >= MAIN * sum(other.faces for other in own) for one in own) for own in by_film
        ),
        "whole_track": sum(
            any(one.end - one.start >= MAIN * end for one in own)
            for own, end in zip(by_film, last, strict=True)
        ),
    }


def label(films: list[Film], seen: list[Seen]) -> dict[str, str]:
    """Who is on each set: the person of the film on its longest track, somebody else on every other.

    A person whose track was torn counts as somebody else on the shorter part: that makes the figures worse,
    never better.
    """
    labels = {one.id: f"somebody on {one.id}" for one in seen}
    for film in films:
        own = [one for one in seen if one.film == film.name]
        if own:
            labels[max(own, key=lambda one: (one.faces, -one.start)).id] = film.person
    return labels
