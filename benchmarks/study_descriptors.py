"""What one descriptor knows beside another, on real faces: ``python -m benchmarks.study_descriptors``.

Both see the same aligned crops of the same detector, as a gallery keeps them. Sets are compared by their best
pair of faces (max-max), leave-one-out. ``--data`` is the folder of the real faces, which are not part of the
project; what is not there is left out. Prints the table of ``docs/reference/footage.md``, the processor
time of a face, and how often pairs of faces reach cosines that may be asked for.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.film_people import DINNER, FLAT
from benchmarks.real_faces import DATA
from lookalike import registry
from lookalike.errors import LookalikeError, NotFound
from lookalike.evaluation.measures import average_precision
from lookalike.evaluation.statistics import Interval, contrasts, intervals
from lookalike.ingest.align import align, encode_square
from lookalike.ingest.describe import describe_aligned
from lookalike.ingest.detect import Detector

# The first is held against the second.
DESCRIPTORS = ("sface", "deep")
# Faces are looked for in photos of so many pixels, and in films, as `add` does; only sure ones are taken.
PHOTO, FILM, SURE = 1280, 640, 0.75
# Crops of faces are enlarged to this side, with this much around them, so that the detector finds them.
ENLARGED, AROUND = 160, 48
# Faces of one film so near in time, in seconds, are one shot: no find.
SHOT = 3.0
RARE = 1e-4
MEASURES = {"map": "mAP", "rank1": "rank-1", "accepted": "one person at 1 false in 10,000"}

Picture = NDArray[np.uint8]
Table = NDArray[np.float64]


@dataclass
class Faces:
    """Faces of one collection: aligned crops, who they show, in which set, where, and when."""

    name: str
    crops: list[bytes] = field(default_factory=list)
    people: list[str] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    films: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def take(self, crop: Picture, person: str, set_id: str, film: str = "", time: float = 0.0) -> None:
        """Keep a face."""
        self.crops.append(encode_square(crop))
        self.people.append(person)
        self.sets.append(set_id)
        self.films.append(film or set_id)
        self.times.append(time)


class Measured(NamedTuple):
    """What was measured of one descriptor: for each measure a value and who it is of; cosines of pairs."""

    values: dict[str, NDArray[np.float64]]
    people: dict[str, list[str]]
    same: NDArray[np.float64]
    strangers: NDArray[np.float64]


def frames(data: Path) -> Faces | None:
    """``ytf_frames``: a set is a video, in colour."""
    found, look = Faces("ytf_frames"), Detector(FILM, sure=0.6)
    for path in sorted((data / "ytf_frames").glob("*/*/*.jpg")):
        _take_middle(found, look, _picture(path), path.parts[-3], "/".join(path.parts[-3:-1]))
    return found if found.crops else None


def actors(data: Path) -> Faces | None:
    """``actors_pictures``: a set is a photo, 64 x 64 in colour."""
    found, look = Faces("actors_pictures"), Detector(FILM, sure=0.6)
    for path in sorted((data / "actors_pictures").glob("*/*")):
        _take_middle(found, look, _enlarged(_picture(path)), path.parts[-2], "/".join(path.parts[-2:]))
    return found if found.crops else None


def crops(data: Path) -> Faces | None:
    """``ytf_dev``: a set is a video, 64 x 64 in gray."""
    if not (data / "ytf_dev.npz").is_file():
        return None
    found, look = Faces("ytf_dev, gray"), Detector(FILM, sure=0.6)
    with np.load(data / "ytf_dev.npz", allow_pickle=False) as held:
        for picture, number in zip(held["images"], held["image_set"], strict=True):
            person = str(held["set_person"][number])
            _take_middle(
                found, look, _enlarged(np.repeat(picture[:, :, None], 3, axis=2)), person, str(number)
            )
    return found


def photos(data: Path) -> Faces | None:
    """``photos/album`` and ``photos/newsroom``: a set is a photo."""
    if not (data / "photos" / "truth.csv").is_file():
        return None
    found, look = Faces("photos"), Detector(PHOTO, sure=SURE)
    with open(data / "photos" / "truth.csv", newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            # Six people of the album are in the newsroom too, there by their first names.
            person = row["person"].partition("_")[0]
            _take_middle(found, look, _picture(data / "photos" / row["file"]), person, row["file"])
    return found


def dinner(data: Path) -> Faces | None:
    """A film of a dinner, dim, of six people: a set is a face at a moment."""
    return _of_films("films, a dinner", data, DINNER)


def flat(data: Path) -> Faces | None:
    """Films of a series, six people in rooms: a set is a face at a moment."""
    return _of_films("films, a series", data, FLAT)


COLLECTIONS: tuple[Callable[[Path], Faces | None], ...] = (frames, actors, dinner, flat, photos, crops)


def _of_films(name: str, data: Path, told: dict[str, dict[float, str]]) -> Faces | None:
    found, look = Faces(name), Detector(FILM, sure=SURE)
    for film, moments in told.items():
        path = data / "films" / film
        for moment, picture in _moments(path, list(moments)) if path.is_file() else ():
            faces = look.find(picture)
            # Where another version of the detector finds others, nobody can say who is who.
            if len(faces) != len(moments[moment]):
                print(f"{film} at {moment} s: {len(faces)} faces instead of {len(moments[moment])}: left out")
                continue
            for number, (face, person) in enumerate(zip(faces, moments[moment], strict=True)):
                if person != ".":
                    crop = align(picture, face.landmarks)
                    found.take(crop, person, f"{film} {moment} {number}", film, moment)
    return found if found.crops else None


def _moments(path: Path, times: list[float]) -> Iterator[tuple[float, Picture]]:
    """The first frame at each time, or behind it."""
    import av

    left = sorted(times, reverse=True)
    with av.open(str(path)) as container:
        start: float | None = None
        for frame in container.decode(video=0):
            start = frame.time if start is None else start
            while left and frame.time - start >= left[-1] - 1e-6:
                yield left.pop(), np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
            if not left:
                return


def _take_middle(found: Faces, look: Detector, picture: Picture, person: str, set_id: str) -> None:
    """Keep the face that is nearest to the middle, if there is any."""
    middle = np.array([picture.shape[1], picture.shape[0]]) / 2
    faces = look.find(picture)
    if faces:
        nearest = min(faces, key=lambda face: float(np.linalg.norm(face.landmarks.mean(axis=0) - middle)))
        found.take(align(picture, nearest.landmarks), person, set_id)


def _picture(path: Path) -> Picture:
    with Image.open(path) as opened:
        return np.asarray(opened.convert("RGB"))


def _enlarged(picture: Picture) -> Picture:
    large = Image.fromarray(picture).resize((ENLARGED, ENLARGED), Image.Resampling.BICUBIC)
    return np.pad(np.asarray(large), ((AROUND, AROUND), (AROUND, AROUND), (0, 0)), "edge")


def measure(faces: Faces, vectors: NDArray[np.float32]) -> Measured:
    """Ask for every set that has a match, and compare all pairs of faces of different sets.

    Parameters
    ----------
    faces : Faces
    vectors : float32 array (n, d)
        What describes them.
    """
    unit = vectors.astype(np.float64) / np.linalg.norm(vectors, axis=1, keepdims=True)
    table = unit @ unit.T
    _, person = np.unique(faces.people, return_inverse=True)
    names, own = np.unique(faces.sets, return_inverse=True)
    _, film = np.unique(faces.films, return_inverse=True)
    times = np.array(faces.times)
    near = (film[:, None] == film) & (np.abs(times[:, None] - times) < SHOT)
    alike = person[:, None] == person
    values: dict[str, list[float]] = {measure: [] for measure in MEASURES}
    people: dict[str, list[str]] = {measure: [] for measure in MEASURES}
    best = np.full((len(names), len(names)), -np.inf)
    np.maximum.at(best, (own[:, None], own), np.where(near, -np.inf, table))
    of_set = np.array([person[np.flatnonzero(own == one)[0]] for one in range(len(names))])
    for query, scores in enumerate(best):
        order = np.flatnonzero(np.isfinite(scores))
        order = order[np.argsort(-scores[order], kind="stable")]
        ranks = np.flatnonzero(of_set[order] == of_set[query]) + 1
        if len(ranks):
            values["map"].append(average_precision(ranks))
            values["rank1"].append(float(ranks[0] == 1))
            for measure in ("map", "rank1"):
                people[measure].append(str(of_set[query]))
    pairs = np.triu(~near, 1)
    same, strangers = table[pairs & alike], np.sort(table[pairs & ~alike])
    least = strangers[-max(1, round(RARE * len(strangers)))]
    for row in range(len(table)):
        own_pairs = table[row, ~near[row] & alike[row]]
        if len(own_pairs):
            values["accepted"].append(float((own_pairs > least).mean()))
            people["accepted"].append(faces.people[row])
    return Measured({name: np.array(one) for name, one in values.items()}, people, same, strangers)


def lines(faces: Faces, found: dict[str, Measured]) -> Iterator[str]:
    """Rows of the table of one collection: each descriptor, and what the first gains over the second."""
    first, second = DESCRIPTORS
    counted = f"{faces.name} | {len(set(faces.people))} | {len(set(faces.sets))}"
    for name in DESCRIPTORS:
        cells = [
            _words(intervals(found[name].values[measure][:, None], found[name].people[measure])[0])
            for measure in MEASURES
        ]
        yield f"| {counted} | `{name}` | {' | '.join(cells)} |"
    cells = []
    for measure in MEASURES:
        gain = found[first].values[measure] - found[second].values[measure]
        [test] = contrasts(gain[:, None], found[first].people[measure])
        chance = "p < 0.0001" if test.p < 0.00005 else f"p = {test.p:.4f}"
        cells.append(f"{_words(test.difference, '+')}, {chance}")
    yield f"| {counted} | difference | {' | '.join(cells)} |"


def threshold_lines(faces: Faces, found: Measured, tried: Iterable[float]) -> Iterator[str]:
    """How many pairs of strangers, and of one person, reach a cosine."""
    exact = np.quantile(found.strangers, 1 - RARE) if len(found.strangers) >= 1 / RARE else None
    for least in tried:
        wrong = (found.strangers >= least).mean() * 10_000
        right = (found.same >= least).mean()
        yield (
            f"| {faces.name} | {len(found.strangers):,} | {'' if exact is None else f'{exact:.3f}'} | "
            f"{least} | {wrong:.1f} | {right:.2f} |"
        )


def _words(found: Interval, sign: str = "") -> str:
    return f"{found.mean:{sign}.3f} ({found.low:{sign}.3f} to {found.high:{sign}.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.study_descriptors", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the real faces")
    parser.add_argument("--cosines", type=float, nargs="*", default=[0.44, 0.47, 0.5, 0.67])
    options = parser.parse_args()
    try:
        rows, thresholds, seconds = _measured(options.data, options.cosines)
    except LookalikeError as reason:
        sys.exit(f"study: {reason}")
    print("| collection | people | sets | descriptor | " + " | ".join(MEASURES.values()) + " |")
    print("|---|---|---|---|" + "---|" * len(MEASURES))
    print("\n".join(rows))
    for name, each in seconds.items():
        print(f"\nProcessor time a face, `{name}`: {1000 * each:.1f} ms")
    print(f"\nPairs of faces of different sets, `{DESCRIPTORS[0]}`:\n")
    print("| collection | pairs of strangers | 1 in 10,000 reach | cosine | in 10,000 | of one person |")
    print("|---|---|---|---|---|---|")
    print("\n".join(thresholds))


def _measured(data: Path, tried: list[float]) -> tuple[list[str], list[str], dict[str, float]]:
    """Rows of both tables, and seconds of processor time that a face takes, of the last collection."""
    rows: list[str] = []
    thresholds: list[str] = []
    seconds: dict[str, float] = {}
    for collection in COLLECTIONS:
        faces = collection(data)
        if faces is None:
            continue
        found: dict[str, Any] = {}
        for name in DESCRIPTORS:
            start = time.process_time()
            vectors = describe_aligned(faces.crops, registry.build("descriptors", name))
            seconds[name] = (time.process_time() - start) / len(faces.crops)
            found[name] = measure(faces, vectors)
        rows += lines(faces, found)
        thresholds += threshold_lines(faces, found[DESCRIPTORS[0]], tried)
    if not rows:
        raise NotFound(f"there are no faces in {data}: give --data")
    return rows, thresholds, seconds


if __name__ == "__main__":
    main()
