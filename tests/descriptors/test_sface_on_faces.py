"""SFace on real faces: strangers are kept apart by `same_person`, and one person is known again."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.descriptors.contract import part_of
from lookalike.descriptors.sface import SFace
from lookalike.ingest.align import align
from lookalike.ingest.detect import Detector

DATA = Path(os.environ.get("LOOKALIKE_DATA", Path(__file__).parents[3] / "shared" / "data")) / "ytf_frames"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no frames at {DATA}: set LOOKALIKE_DATA to the folder of ytf_frames/"
)


def test_same_person_is_sure_and_finds_half_of_a_persons_videos():
    crops, people, videos = [], [], []
    look = Detector()
    for video in sorted(DATA.glob("*/*")):
        for frame in sorted(video.glob("*.jpg"))[:2]:
            picture = np.asarray(Image.open(frame).convert("RGB"))
            middle = np.array([picture.shape[1], picture.shape[0]]) / 2
            found = sorted(
                look.find(picture), key=lambda face: np.linalg.norm(face.landmarks.mean(axis=0) - middle)
            )
            for face in found[:1]:
                crops.append(part_of(align(picture, face.landmarks), SFace.region))
                people.append(video.parent.name)
                videos.append(str(video))
    vectors = SFace().describe_many(crops)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    table, person, video = unit @ unit.T, np.array(people), np.array(videos)
    same = person[:, None] == person
    assert (table[~same] >= SFace.same_person).mean() < 3e-4
    assert (table[same & (video[:, None] != video)] >= SFace.same_person).mean() > 0.45
    assert (table[np.triu(video[:, None] == video, 1)] >= SFace.same_person).mean() > 0.9
