"""Intake: a film of ten minutes and a hundred photos, from files to sets, against their length and a limit.

The film and the photos are drawn once, which takes longer than looking at them, and kept in
``bench-results/intake``. What is timed is `lookalike.add` in a process of its own, as the command runs it,
with its children. The shares of the stages come from one process that does the same work, one step at a time.
Where the folder ``LOOKALIKE_DATA`` has real films, they are added too, and the faces of a street are counted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.entries import entry
from lookalike import Gallery, registry
from lookalike.demo.footage import draw_footage, write_footage
from lookalike.ingest.align import align, encode_square, judge
from lookalike.ingest.describe import FOOTAGE_DESCRIPTOR, as_set, describe_aligned
from lookalike.ingest.detect import Detector
from lookalike.ingest.seen import SeenTrack, Settings
from lookalike.ingest.shots import Cuts, thumbnail
from lookalike.ingest.tracks import Seen, Track, Tracker, scan
from lookalike.ingest.video import open_video, probe

KEPT = Path("bench-results") / "intake"
PEOPLE = 8
# Of all processes together; 0.9.2 took as much for a real film in 1280 x 720 on this machine's libraries.
MOST_MEMORY = 0.28e9
# So many faces are described to know what one takes; all take as long each.
DESCRIBED = 60

FILMS = Path(os.environ.get("LOOKALIKE_DATA", "there is none")) / "films"
STREET = "street.mp4"

ADD = """
import json, resource, sys, time
from lookalike import add
planned = []
began = time.perf_counter()
done = add(sys.argv[1], sys.argv[2:], tell=lambda plan: planned.append(plan.seconds) or True)
took = time.perf_counter() - began
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
used = sum(one.ru_utime + one.ru_stime for one in used)
print(json.dumps([took, used, len(done.added), len(done.failed), planned[0]]))
"""


def run(toy: bool) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as temporary:
        kept = Path(temporary) if toy else KEPT
        kept.mkdir(parents=True, exist_ok=True)
        seconds, size, count, photo_size = (
            (3.0, (320, 180), 3, (640, 480)) if toy else (600.0, (1280, 720), 100, (4000, 3000))
        )
        film, photos = drawn_film(kept, seconds, size), drawn_photos(kept, count, photo_size)
        entries = [*_film(film, seconds, Path(temporary)), *_photos(photos, count, Path(temporary))]
        if FILMS.is_dir() and not toy:
            entries += [_real_films(Path(temporary)), _street(), _plan_of_a_crowd(Path(temporary))]
        return entries


def drawn_film(folder: Path, seconds: float, size: tuple[int, int]) -> Path:
    """A film in the folder, drawn if it is not there."""
    path = folder / f"film_{PEOPLE}_{seconds:g}_{size[0]}x{size[1]}.mp4"
    if not path.exists():
        drawn = draw_footage(PEOPLE, seconds, size=size)
        unfinished = path.with_name(f"unfinished_{path.name}")
        write_footage(unfinished, drawn.frames(), drawn.rate)
        unfinished.rename(path)
    return path


def drawn_photos(folder: Path, count: int, size: tuple[int, int]) -> Path:
    """A folder of photos in the folder: frames of a film that is as large as photos are."""
    album = folder / f"photos_{count}_{size[0]}x{size[1]}"
    if not album.exists():
        unfinished = album.with_name(f"unfinished_{album.name}")
        unfinished.mkdir(exist_ok=True)
        drawn = draw_footage(PEOPLE, 20.0, size=size)
        for number, frame in enumerate(drawn.frames(len(drawn) // count)):
            if number < count:
                Image.fromarray(frame).save(unfinished / f"{number:03d}.jpg", quality=90)
        unfinished.rename(album)
    return album


def _film(film: Path, seconds: float, folder: Path) -> Iterator[dict[str, Any]]:
    took, used, sets, peak, _ = _added([film], folder / "film.gallery")
    counts, spent = stages(film, folder)
    whole = sum(spent.values())
    figures = {f"share of {stage}": value / whole for stage, value in spent.items()}
    yield entry(
        "taking in a film to its length",
        took / seconds,
        0.15,
        seconds=took,
        sets=sets,
        processor_seconds=used,
        processor_seconds_of_stages=whole,
        **counts,
        **figures,
    )
    yield entry(
        "peak memory of all processes to that of 0.9.2", peak / MOST_MEMORY, 1.0, gigabytes=peak / 1e9
    )
    with Gallery(folder / "film.gallery") as gallery:
        faces = sum(one.faces for one in gallery.listing())
    kept = sum(path.stat().st_size for path in folder.glob("film.gallery*") if path.is_file())
    yield entry(
        "bytes kept of a face to those of its picture and descriptor, 4 kB",
        kept / faces / 4096,
        1.5,
        faces=faces,
        bytes_of_a_second=kept / seconds,
    )


def _photos(photos: Path, count: int, folder: Path) -> Iterator[dict[str, Any]]:
    took, used, sets, peak, _ = _added([photos], folder / "photos.gallery")
    with Gallery(folder / "photos.gallery") as gallery:
        faces = gallery.facts()["faces"]
    kept = sum(path.stat().st_size for path in folder.glob("photos.gallery*") if path.is_file())
    yield entry(
        "taking in a photo to one second",
        took / count,
        0.2,
        processor_seconds=used / count,
        photos=count,
        faces=faces,
        sets=sets,
        gigabytes=peak / 1e9,
        bytes_of_a_photo=kept / count,
    )


def _real_films(folder: Path) -> dict[str, Any]:
    """What real films cost: they show more people than drawn ones, and take longer to decode."""
    films = sorted(FILMS.glob("*.mp4"))
    seconds = sum(map(probe, films))
    took, used, sets, peak, _ = _added(films, folder / "films.gallery")
    return entry(
        "processor time of a second of real film to one second",
        used / seconds,
        0.4,
        films=len(films),
        film_seconds=seconds,
        seconds=took,
        sets=sets,
        gigabytes=peak / 1e9,
    )


def _street() -> dict[str, Any]:
    """How many faces of a crowd in 1920 x 1080 are missed that looking at 1280 pixels finds."""

    def seen(pixels: int) -> list[SeenTrack]:
        told = scan(FILMS / STREET, Settings(most=10**6, frame=pixels))
        return [one for one in told if isinstance(one, SeenTrack)]

    tracks, larger = seen(Settings().frame), seen(1280)
    faces, wanted = (sum(len(one.sightings) for one in some) for some in (tracks, larger))
    return entry(
        "faces that looking at 1280 pixels finds to those found",
        wanted / faces,
        122 / 115,
        faces=faces,
        faces_at_1280=wanted,
        tracks=len(tracks),
        tracks_at_1280=len(larger),
    )


def _plan_of_a_crowd(folder: Path) -> dict[str, Any]:
    """How far the plan of a film of a few seconds, in which many are seen, is from what it took."""
    took, *_, planned = _added([FILMS / STREET], folder / "street.gallery")
    away = max(planned / took, took / planned)
    return entry("plan of a short film in a crowd to what it took", away, 2.0, seconds=took, planned=planned)


def _added(sources: list[Path], gallery: Path) -> tuple[float, float, int, int, float]:
    """Add in a process of its own; return seconds, those of all processors, sets, peak memory, the plan."""
    process = subprocess.Popen(
        [sys.executable, "-c", ADD, str(gallery), *map(str, sources)], stdout=subprocess.PIPE, text=True
    )
    peak = [0]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.5):
            peak[0] = max(peak[0], sum(_memory(pid) for pid in _tree(process.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        said, _ = process.communicate()
    finally:
        over.set()
        watcher.join()
    if process.returncode:
        raise SystemExit(f"adding {sources[0]} failed")
    took, used, sets, failed, planned = (float(word) for word in said.strip("[]\n").split(","))
    if failed:
        raise SystemExit(f"{failed:g} files of {sources[0].parent} could not be read")
    return took, used, int(sets), peak[0], planned


def _tree(pid: int) -> list[int]:
    """A process and all that it started, those in sessions of their own too."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def _memory(pid: int) -> int:
    """Memory of a process; what it shares with others is divided among them."""
    try:
        [line] = [
            line for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() if line[:4] == "Pss:"
        ]
        return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        return 0


def stages(film: Path, folder: Path) -> tuple[dict[str, int], dict[str, float]]:
    """Do what adding does, one step after the other; return counts, and processor seconds by stage."""
    import cv2

    cv2.setNumThreads(1)
    spent: defaultdict[str, float] = defaultdict(float)
    counts = dict.fromkeys(("frames_decoded", "frames_looked_at", "faces_seen", "faces_described"), 0)

    @contextmanager
    def timed(stage: str) -> Iterator[None]:
        began = time.process_time()
        try:
            yield
        finally:
            spent[stage] += time.process_time() - began

    def encode(square: Any) -> bytes:
        with timed("encoding crops"):
            return encode_square(square)

    settings = Settings()
    detector, tracker, cuts = (
        Detector(settings.frame, settings.smallest),
        Tracker(settings.most, encode=encode),
        Cuts(),
    )
    step, looked, tracks = 1 / settings.rate, -1, []
    with film.open("rb") as stream, open_video(stream, "mov") as video:
        frames = video.frames()
        while True:
            with timed("decoding"):
                frame = next(frames, None)
            if frame is None:
                break
            counts["frames_decoded"] += 1
            with timed("cuts"):
                is_cut = cuts.is_cut(thumbnail(frame.brightness()))
            if is_cut:
                tracks += tracker.cut(frame.time)
                looked = -1
            if int(frame.time / step + 1e-6) == looked:
                continue
            looked = int(frame.time / step + 1e-6)
            counts["frames_looked_at"] += 1
            with timed("decoding"):
                picture = frame.picture()
            with timed("detection"):
                found = detector.find(picture)
            counts["faces_seen"] += len(found)
            with timed("alignment, quality, tracks"):
                crops = [align(picture, one.landmarks) for one in found]
                seen = [
                    Seen(one, crop, judge(crop, one.landmarks, one.box, one.score, frame.time))
                    for one, crop in zip(found, crops, strict=True)
                ]
                tracks += tracker.see(frame.time, seen)
        tracks += tracker.end()
    # Crops are encoded while faces are joined to tracks.
    spent["alignment, quality, tracks"] -= spent["encoding crops"]
    counts["faces_described"] = sum(len(track.seen) for track in tracks)
    _describe_and_store(tracks, folder, spent, timed, counts["faces_described"])
    return counts, dict(spent)


def _describe_and_store(
    tracks: list[Track], folder: Path, spent: defaultdict[str, float], timed: Any, total: int
) -> None:
    part = registry.build("descriptors", FOOTAGE_DESCRIPTOR)
    part.check()
    pictures = [kept.picture for track in tracks for kept in track.seen][:: max(1, total // DESCRIBED)]
    with timed("describing"):
        describe_aligned(pictures, part)
    spent["describing"] *= total / len(pictures)
    rng = np.random.default_rng(0)
    with timed("storing"), Gallery(folder / "stages.gallery", create=True) as gallery:
        for track in tracks:
            sightings, encoded = zip(*((kept.sighting, kept.picture) for kept in track.seen), strict=True)
            seen = SeenTrack(track.number, sightings, encoded, frozenset(), track.total)
            faces = rng.random((len(encoded), part.dimension), np.float32)
            gallery.add(as_set(f"film#{track.number}", seen, faces, "film", "film"), part.identity)
