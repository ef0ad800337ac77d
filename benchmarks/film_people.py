"""Who is seen where in the real films of the data folder, told by eye: for scoring only.

A film is looked at in certain moments. The faces that are found there from left to right are a letter each,
by person; a dot is somebody who cannot be told for sure, or nobody. The films are not part of the project.
"""

from __future__ import annotations

from typing import Final

# By film: seconds from its start, and who is there.
DINNER: Final[dict[str, dict[float, str]]] = {
    "asia.mp4": {
        2.0: "gym.", 3.5: "gym.", 5.0: "m", 6.5: "g", 8.0: "m", 9.5: "y", 11.0: "go", 12.5: "f", 14.0: "f",
        15.5: "f", 17.0: "eo", 18.5: "y", 20.0: "eo", 21.5: "g", 23.0: "g", 24.5: "g", 26.0: "g", 27.5: "ym",
        29.0: "ym", 30.5: "eo", 32.0: "eo", 33.5: "f", 36.5: "o", 38.0: "g.m..", 39.5: "o", 41.0: "f",
        42.5: "gym", 44.0: "ym", 45.5: "e", 47.0: "m", 48.5: "y", 50.0: "eo", 51.5: "eo", 53.0: "eo",
        54.5: "eo", 56.0: "eo", 57.5: "y", 60.5: "y", 62.0: "m", 63.5: "y", 65.0: "m", 66.5: "m", 68.0: "m",
        69.5: "y", 71.0: "y", 72.5: "y", 74.0: "m", 75.5: "m", 77.0: "m", 78.5: "y", 80.0: "y", 81.5: "y",
    },
}  # fmt: skip
# The same six people in both.
FLAT: Final[dict[str, dict[float, str]]] = {
    "friends.mp4": {
        0.25: "rajm", 1.0: "rajm", 1.75: "rajm", 2.5: "pra", 3.25: "pra", 4.0: "pra", 4.75: "pr", 5.5: "rjm",
        6.25: "rajm", 7.75: "c", 8.5: "cp", 9.25: "cjp", 10.0: "cp", 10.75: "cjp", 11.5: ".jp", 12.25: "cj",
        13.0: "cj", 13.75: "cj", 14.5: "cj",
    },
    "scene/shot01.mp4": {0.2: ".j"},
    "scene/shot02.mp4": {0.2: "a", 2.2: "a"},
    "scene/shot03.mp4": {0.2: "rp.", 2.2: "p."},
    "scene/shot04.mp4": {0.2: "m"},
    "scene/shot06.mp4": {2.2: "a"},
    "scene/shot08.mp4": {0.2: "c", 2.2: "c"},
    "scene/shot09.mp4": {0.2: "j", 2.2: "j"},
    "scene/shot11.mp4": {0.2: "j"},
    "scene/shot13.mp4": {0.2: "p", 2.2: "p", 4.2: "p"},
    "scene/shot16.mp4": {0.2: ".r", 2.2: "r"},
    "scene/shot18.mp4": {0.2: "m", 2.2: "m"},
    "scene/shot20.mp4": {0.2: "cpj"},
}  # fmt: skip
