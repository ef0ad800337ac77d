"""ModelCard: a model file that an installed package brings along, and what is known about it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from lookalike.errors import BadInput


@dataclass(frozen=True)
class ModelCard:
    """One model file. The package that holds it is found, and never imported: its code is not needed.

    Parameters
    ----------
    name : str
        What the model is called.
    user : str
        Which part of the program uses it, as a sentence begins: "the descriptor sface".
    package : str
        The package that holds the file, by the name under which Python imports it.
    path : str
        Where in the package the file lies.
    size : int
        Its length in bytes.
    sha256 : str
        SHA-256 of the file, which it must have: another file may be anything.
    install : str
        The command that brings it.
    release : str
        A release that holds the very file, as pip names it, for whoever has the package without it.
    licence, source, training, weak : str
        On which terms it may be used, where it comes from, what it was trained on as far as that is known,
        and for whom it is known to be weak.
    """

    name: str
    user: str
    package: str
    path: str
    size: int
    sha256: str
    install: str
    release: str
    licence: str
    source: str
    training: str
    weak: str

    @property
    def file(self) -> str:
        """Name of the file."""
        return self.path.rpartition("/")[2]

    def find(self) -> Path:
        """Say where the file lies.

        Raises
        ------
        BadInput
            If the package is not installed, or has no such file.
        """
        spec = find_spec(self.package)
        if spec is None:
            raise BadInput(f"{self._needs}, which is not installed: {self.install}")
        for folder in spec.submodule_search_locations or []:
            path = Path(folder) / self.path
            if path.is_file():
                return path
        raise BadInput(
            f"{self._needs}, and the installed one has no {self.path!r}, as if it had moved the file: "
            f"{self._again}"
        )

    def read(self) -> bytes:
        """Read the file, and make sure that it is the one that is meant.

        Raises
        ------
        BadInput
            If it is missing, cannot be read, was cut off or is another one.
        """
        path = self.find()
        try:
            data = path.read_bytes()
        except OSError as reason:
            raise BadInput(f"{self._needs}, and it cannot be read ({reason}): {self._again}") from None
        found = hashlib.sha256(data).hexdigest()
        if found == self.sha256:
            return data
        if len(data) < self.size:
            wrong = f"is cut off: it has {len(data):,} of {self.size:,} bytes"
        else:
            wrong = f"is another one: its SHA-256 starts with {found[:12]}, not {self.sha256[:12]}"
        raise BadInput(f"{self._needs}, and that file {wrong}: {self._again}")

    @property
    def _again(self) -> str:
        """The command that helps where the package is installed, which pip would else leave as it is."""
        return f"pip install --force-reinstall --no-deps {self.release}"

    @property
    def _needs(self) -> str:
        return f"{self.user} needs {self.file} of the package {self.package}"
