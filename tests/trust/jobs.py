"""Small jobs for the process under the shim; in a file of their own, so that a fork loads nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from lookalike.gallery import connection


def write_twice(folder: str) -> None:
    try:
        with open(Path(folder) / "file", "wb", buffering=0) as file:
            for text in (b"one", b"two!!"):
                while text:
                    text = text[file.write(text) :]
    except OSError as reason:
        os._exit(reason.errno or 1)


def create(path: str) -> None:
    connection.create(Path(path))
