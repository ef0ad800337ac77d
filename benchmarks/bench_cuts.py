"""Cuts: which of those of edited films are told, beside PySceneDetect, and which sets come of them.

Real films are read where they are there (`benchmarks.cuts_by_eye`); drawn films always. All detectors see the
same frames: ours as gray thumbnails, PySceneDetect's 256 pixels wide, as its own command reduces them. It may
tell shots of two frames, where it would leave out those under 15 by itself.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks import cuts_by_eye
from benchmarks.entries import entry
from lookalike import Gallery, add
from lookalike.demo.footage import draw_footage
from lookalike.ingest.shots import Cuts, thumbnail
from lookalike.ingest.video import open_video


class Look(NamedTuple):
    """A frame: seconds, what our cuts see of it, what PySceneDetect sees of it."""

    time: float
    thumbnail: NDArray[np.float32]
    small: NDArray[np.uint8]


class Film(NamedTuple):
    """A film whose cuts are known."""

    name: str
    cuts: Sequence[float]
    looks: Sequence[Look]


# Tells at which times a new shot starts.
Teller = Callable[[Sequence[Look]], list[float]]
# By detector and film, cuts that were told and missed, and others that were told.
Table = dict[str, dict[str, Counter[str]]]

# Seconds by which a cut may be told early, as times are rounded, or late, as a brighter shot may be a flash.
EARLY, LATE = 0.03, 0.2
WIDTH = 256
SHORTEST = 2
DRAWN = "drawn films"
# Seconds from the last frame of a file to the first of the next that it is joined with.
GAP = 1 / 24
# Films on which a cut too many is counted by the minute.
CALM = ("goldeneye.mp4", "street.mp4", "hamilton.mp4", DRAWN)
ABSENT = (
    f"cuts: no real films at {cuts_by_eye.FILMS}, so only drawn ones are measured: set LOOKALIKE_DATA to the "
    "folder that holds `films`"
)


def run(toy: bool) -> list[dict[str, Any]]:
    real = not toy and cuts_by_eye.is_there()
    if not (toy or real):
        print(ABSENT)
    table: Table = {name: {} for name in tellers()}
    minutes = 0.0
    # One after the other, since the frames of a film take some hundred megabytes.
    for film in chain(drawn_films(*((1, 6.0) if toy else (3, 60.0))), real_films() if real else ()):
        for name, teller in tellers().items():
            counts = compared(film, teller(film.looks))
            table[name][film.name] = table[name].get(film.name, Counter()) + counts
        minutes += film.looks[-1].time / 60 if film.name in CALM else 0.0
    print(as_text(table))
    ours = table["lookalike"]
    extra = sum(counts["false"] for film, counts in ours.items() if film in CALM)
    first = entry(
        "false cuts a minute of calm and drawn films", extra / minutes, 1.0, minutes=minutes, table=table
    )
    return [first, *_told(ours), _mixed()] if real else [first]


def drawn_films(count: int, seconds: float) -> Iterator[Film]:
    """Films of drawn people, some of them with cameras that pan."""
    for seed in range(count):
        drawn = draw_footage(8, seconds, seed=seed, size=(320, 180))
        looks = [
            _look(number / drawn.rate, cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), picture)
            for number, picture in enumerate(drawn.frames())
        ]
        yield Film(DRAWN, drawn.cuts, looks)


def real_films() -> Iterator[Film]:
    """The films whose cuts were listed by eye, the joined shots of one scene last."""
    for name, cuts in cuts_by_eye.CUTS.items():
        yield Film(name, cuts, _looks(cuts_by_eye.FILMS / name))
    looks: list[Look] = []
    joins = []
    for path in cuts_by_eye.scene_files():
        start = looks[-1].time + GAP if looks else 0.0
        joins.append(start)
        looks += [one._replace(time=start + one.time) for one in _looks(path)]
    yield Film(cuts_by_eye.SCENE, joins[1:], looks)


def _looks(path: Path) -> list[Look]:
    with path.open("rb") as stream, open_video(stream, "mov") as video:
        return [_look(frame.time, frame.brightness(), frame.picture()) for frame in video.frames()]


def _look(time: float, luma: Any, picture: NDArray[np.uint8]) -> Look:
    size = WIDTH, max(1, picture.shape[0] * WIDTH // picture.shape[1])
    small: Any = cv2.resize(picture[..., ::-1], size, interpolation=cv2.INTER_LINEAR)
    return Look(time, thumbnail(luma), small)


def tellers() -> dict[str, Teller]:
    """Every detector by name: ours, ours as it was until 0.10, and PySceneDetect's where it is installed."""
    found: dict[str, Teller] = {
        "lookalike": lambda looks: _ours(looks, Cuts()),
        "lookalike, without contrast": lambda looks: _ours(looks, Cuts(least=inf)),
    }
    try:
        from scenedetect import AdaptiveDetector, ContentDetector, HistogramDetector
    except ImportError:
        return found
    for threshold in (27.0, 20.0, 12.0, 8.0):
        found[f"ContentDetector {threshold:g}"] = _theirs(ContentDetector, threshold=threshold)
    for times, least in ((3.0, 15.0), (3.0, 6.0), (2.0, 6.0), (5.0, 4.0)):
        found[f"AdaptiveDetector {times:g}, from {least:g}"] = _theirs(
            AdaptiveDetector, adaptive_threshold=times, min_content_val=least
        )
    found["HistogramDetector 0.2"] = _theirs(HistogramDetector, threshold=0.2)
    return found


def _ours(looks: Sequence[Look], cuts: Cuts) -> list[float]:
    return [one.time for one in looks if cuts.is_cut(one.thumbnail, one.time)]


def _theirs(detector: Any, **options: Any) -> Teller:
    from scenedetect import FrameTimecode

    def tell(looks: Sequence[Look]) -> list[float]:
        made = detector(min_scene_len=SHORTEST, **options)
        # The rate is only what frames are counted by.
        times = [FrameTimecode(number, 25.0) for number in range(len(looks) + 1)]
        told: list[Any] = []
        for time, look in zip(times[:-1], looks, strict=True):
            told += made.process_frame(time, look.small)
        told += made.post_process(times[-1])
        return [looks[one.frame_num].time for one in told]

    return tell


def compared(film: Film, found: Sequence[float]) -> Counter[str]:
    """Count the cuts of a film, those that were missed, those of dim rooms among them, and what is none."""

    def is_told(cut: float, time: float) -> bool:
        return -EARLY < time - cut < LATE

    missed = [cut for cut in film.cuts if not any(is_told(cut, time) for time in found)]
    false = sum(not any(is_told(cut, time) for cut in film.cuts) for time in found)
    dim = sum(cut in cuts_by_eye.DIM.get(film.name, ()) for cut in missed)
    return Counter(cuts=len(film.cuts), missed=len(missed), false=false, dim=dim)


def as_text(table: Table) -> str:
    """The table as Markdown: of every film the cuts told, and after a plus those that are none."""
    films = list(next(iter(table.values())))
    lines = ["| detector | " + " | ".join(films) + " |", "|---" * (len(films) + 1) + "|"]
    for name, row in table.items():
        cells = [
            f"{one['cuts'] - one['missed']} of {one['cuts']}" + (f" + {one['false']}" if one["false"] else "")
            for one in row.values()
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _told(ours: dict[str, Counter[str]]) -> Iterator[dict[str, Any]]:
    scene = ours[cuts_by_eye.SCENE]
    yield entry("joins of the scene missed", scene["missed"] / scene["cuts"], 0.05, joins=scene["cuts"])
    dim = sum(map(len, cuts_by_eye.DIM.values()))
    missed = sum(ours[film]["dim"] for film in cuts_by_eye.DIM)
    yield entry("cuts in dim rooms missed", missed / dim, 0.05, cuts=dim)


def _mixed() -> dict[str, Any]:
    """Take in the films whose people are listed, and count the sets that show two of them."""
    figures: dict[str, Any] = {}
    sets = mixed = 0
    for film in cuts_by_eye.DIM:
        people = [{*letters} - {""} for letters in seen_people(film)]
        known = [some for some in people if some]
        sets, mixed = sets + len(known), mixed + sum(len(some) > 1 for some in known)
        figures[f"sets of {film}"] = len(people)
        figures[f"mixed sets of {film}"] = sum(len(some) > 1 for some in known)
    return entry("sets that show two people", mixed / sets, 0.02, **figures)


def seen_people(film: str) -> list[list[str]]:
    """Of every set that a film gives, the letters of who its faces are by eye."""
    path = cuts_by_eye.FILMS / film
    with path.open("rb") as stream, open_video(stream, "mov") as video:
        width, height = video.size
    known, cuts = cuts_by_eye.courses(film), cuts_by_eye.CUTS[film]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        gallery = Path(folder) / "film.gallery"
        add(gallery, [path])
        with Gallery(gallery) as opened:
            for one in opened.ids():
                letters = []
                for face in opened.get(one).sightings:
                    left, top, wide, high = face.box
                    across, down = (left + wide / 2) / width * 100, (top + high / 2) / height * 100
                    letters.append(cuts_by_eye.person_at(known, cuts, face.time or 0.0, across, down))
                found.append(letters)
    return found
