"""A miniature of the YouTube Faces data set: the real layout with all its traps, and drawn numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.io
from numpy.typing import NDArray
from PIL import Image

# Blocks and bins of the three descriptors: 30 * 59 = 1770, 30 * 16 = 480, 35 * 16 = 560.
HISTOGRAMS = {"VID_DESCS_LBP": (30, 59), "VID_DESCS_CSLBP": (30, 16), "VID_DESCS_FPLBP": (35, 16)}
# Numbers of videos have gaps, and 10 comes after 2.
NUMBERS = ((0, 1, 4, 5, 7, 8), (2, 10, 3, 11, 0, 1), (1, 2, 3, 12, 14, 15))
# With six frames, 0.8 to 0.13: ten comes after nine.
FIRST_FRAME = 8
SIZE = (64, 48)


def write_youtube_faces(
    folder: Path, people: int = 12, videos: int = 3, frames: int = 6, distractors: int = 2, seed: int = 0
) -> dict[str, str]:
    """Write a small data set of the layout of YouTube Faces, and return the person of each set.

    Parameters
    ----------
    folder : Path
        The root of the data set; made if it is not there.
    people, videos, frames : int
        How many people with several videos, how many videos of each (at most 6), how many frames.
    distractors : int
        How many people with one video only.
    seed : int
        Descriptors of one person's videos resemble one another, those of another seed do not.
    """
    rng = np.random.default_rng(seed)
    labels: dict[str, str] = {}
    for part in ("frame_images_DB", "aligned_images_DB", "descriptors_DB", "meta_data", "headpose_DB"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "WolfHassnerMaoz_CVPR11.pdf").write_bytes(b"%PDF-1.4\n")
    for index in range(people + distractors):
        subject = f"Person_{chr(65 + index % 26)}{index // 26 or ''}"
        numbers = sorted(NUMBERS[index % len(NUMBERS)][: videos if index < people else 1])
        _write_person(folder, subject, numbers, frames, rng)
        labels |= {f"{subject}/{number}": subject for number in numbers}
    _write_meta(folder / "meta_data" / "meta_and_splits.mat", labels)
    return labels


def cells(texts: Sequence[str], column: bool = False) -> NDArray[np.object_]:
    """Return texts as savemat writes a cell array: a row, or a column."""
    row = np.empty((1, len(texts)), dtype=object)
    row[0] = texts
    return row.T if column else row


def _write_person(
    folder: Path, subject: str, numbers: Sequence[int], frames: int, rng: np.random.Generator
) -> None:
    looks = {key: rng.gamma(0.7, size=shape) + 0.01 for key, shape in HISTOGRAMS.items()}
    rows = []
    (folder / "descriptors_DB" / subject).mkdir(exist_ok=True)
    for number in numbers:
        names = [f"{number}.{FIRST_FRAME + frame}.jpg" for frame in range(frames)]
        for name in names:
            rows.append(f"{subject}\\{number}\\{name},0,30,20,20,24,0.0,1\r\n")
            frame, aligned = f"{subject}/{number}/{name}", f"{subject}/{number}/aligned_detect_{name}"
            _write_picture(folder / "frame_images_DB" / frame, rng)
            _write_picture(folder / "aligned_images_DB" / aligned, rng)
        # Listed by name, as a folder is: 0.10 stands before 0.8.
        order = sorted(range(frames), key=lambda frame: names[frame])
        for variant, noise in (("aligned_video", 0.3), ("video", 0.5)):
            aligned = variant == "aligned_video"
            listed = [
                f"{subject}\\{number}\\aligned_detect_{names[frame]}"
                if aligned
                else f"{subject}/{number}/{names[frame]}"
                for frame in order
            ]
            arrays = {key: _columns(look, frames, noise, rng)[:, order] for key, look in looks.items()}
            file = folder / "descriptors_DB" / subject / f"{variant}_{number}.mat"
            scipy.io.savemat(
                file, {**arrays, "VID_DESCS_FILENAMES": cells(listed)}, do_compression=not aligned
            )
        pose = folder / "headpose_DB" / f"headorient_apirun_{subject}_{number}.mat"
        scipy.io.savemat(pose, {"headpose": rng.normal(size=(3, frames))})
    boxes = folder / "frame_images_DB" / f"{subject}.labeled_faces.txt"
    boxes.write_bytes("".join(rows).encode())


def _columns(
    look: NDArray[np.float64], frames: int, noise: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Histograms of the frames of a video, one column each: the person's look, the scene, the moment."""
    scene = look * np.exp(rng.normal(scale=noise, size=look.shape))
    moments = scene * np.exp(rng.normal(scale=0.2, size=(frames, *look.shape)))
    moments /= moments.sum(axis=2, keepdims=True)
    return moments.reshape(frames, -1).T


def _write_picture(path: Path, rng: np.random.Generator) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    width, height = SIZE
    coarse = rng.integers(0, 256, size=(6, 8, 3), dtype=np.uint8)
    Image.fromarray(coarse.repeat(height // 6, axis=0).repeat(width // 8, axis=1)).save(path, "JPEG")


def _write_meta(path: Path, labels: dict[str, str]) -> None:
    names, persons = list(labels), sorted(set(labels.values()))
    numbers = [persons.index(person) + 1 for person in labels.values()]
    # Triplets (first, second, is same) for each of ten splits; videos are counted from 1.
    pairs = [(i + 1, j + 1, int(numbers[i] == numbers[j])) for i in range(len(names)) for j in range(i)]
    splits = np.array([pairs[split::10][:2] for split in range(10)] if len(pairs) >= 20 else [])
    scipy.io.savemat(
        path,
        {
            "video_names": cells(names, column=True),
            "mat_names": cells(
                [f"{name.split('/')[0]}/aligned_video_{name.split('/')[1]}.mat" for name in names],
                column=True,
            ),
            "video_labels": np.array([numbers], dtype=np.float64),
            "Splits": splits.transpose(1, 2, 0).astype(np.float64) if splits.size else splits,
        },
        do_compression=True,
    )
