"""Processes that read apart, and pictures for them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from PIL import Image

Started = list["subprocess.Popen[bytes]"]


def picture(path: Path, size: tuple[int, int] = (25, 30)) -> Path:
    noise = np.random.default_rng(3).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    return path
