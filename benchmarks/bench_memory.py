"""Memory: the peak of an index, and of taking in a collection of full size, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.entries import entry
from benchmarks.worlds import YOUTUBE_FACES

INDEX = """
from benchmarks.bench_memory import peak
from benchmarks.worlds import prepared
from lookalike.indexing.build import NEIGHBOURS_KEPT
from lookalike.similarities.max_max import MaxMax
from lookalike.method.proxies import find_neighbours
similarity = MaxMax()
sets = prepared(similarity, {count})
find_neighbours(similarity, sets, NEIGHBOURS_KEPT)
print(sum(array.nbytes for array in sets.arrays.values()))
print(peak())
"""

# As many faces as the database has on average, streamed set by set.
INTAKE = """
from benchmarks.bench_memory import peak
import numpy as np
from lookalike import FaceSet, Gallery, index
rng = np.random.default_rng(0)
with Gallery({path!r}, create=True) as gallery:
    for number in range({count}):
        gallery.add(FaceSet(str(number), rng.random((181, 1770), dtype=np.float32)))
    index(gallery)
print(0)
print(peak())
"""


def run(toy: bool) -> list[dict[str, Any]]:
    count = 30 if toy else YOUTUBE_FACES
    prepared, most = _peak(INDEX.format(count=count))
    allowed = 3 * prepared + 500e6
    found = [
        entry("peak of an index to what is allowed", most / allowed, 1.0, sets=count, gigabytes=most / 1e9)
    ]
    # A tenth of the sets with all of their faces: memory must not grow with their number.
    some = 10 if toy else 340
    with tempfile.TemporaryDirectory() as folder:
        _, most = _peak(INTAKE.format(path=str(Path(folder) / "g"), count=some))
    found.append(entry("peak of intake to two gigabytes", most / 2e9, 1.0, sets=some, gigabytes=most / 1e9))
    return found


def peak() -> int:
    """Most memory that this process has used; getrusage would count its parent too."""
    with Path("/proc/self/status").open() as status:
        [line] = [line for line in status if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def _peak(program: str) -> tuple[int, int]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    first, second = done.stdout.split()
    return int(first), int(second)
