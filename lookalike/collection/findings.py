"""Finding: one thing in a gallery, or beside it, that is not as it was written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

RESTORE: Final = "restore a backup"


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be.

    Parameters
    ----------
    what : str
        What is wrong, in words.
    where : str
        The file or folder.
    kind : str
        ``gallery`` for the only truth there is, ``derived`` for what can be made again from it, ``litter``
        for files that are of no use and do no harm.
    advice : str
        What to do.
    sets : tuple of str
        The sets that are affected, where it is some of them and not the whole gallery.
    """

    what: str
    where: str
    kind: str
    advice: str
    sets: tuple[str, ...] = ()

    @property
    def is_derived(self) -> bool:
        """Whether it can be made again from the gallery."""
        return self.kind == "derived"

    @property
    def is_harmless(self) -> bool:
        """Whether everything works as if it were not there."""
        return self.kind == "litter"

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.what}: {self.advice}"


def of_gallery(path: Path, what: object) -> Finding:
    """A finding about the gallery as a whole: only a backup helps."""
    return Finding(_short(path, what), str(path), "gallery", RESTORE)


def of_set(path: Path, set_id: str, what: object) -> Finding:
    """A finding about one set, without which the rest of the gallery is good."""
    advice = f"{RESTORE}, or remove this set and add it again"
    return Finding(_short(path, what), str(path), "gallery", advice, (set_id,))


def of_table(path: Path, what: object, repair: str) -> Finding:
    """A finding about a derived table."""
    return Finding(str(what), str(path), "derived", repair)


def litter(path: Path, what: str) -> Finding:
    """A finding about a file that nothing reads."""
    return Finding(what, str(path), "litter", "it does no harm: delete it if you do not need it")


def _short(path: Path, what: object) -> str:
    """What the errors of reading say, without the file and the advice, which a finding tells itself."""
    said = str(what).removeprefix(f"{path} is damaged: ").removeprefix(f"{path} ")
    return said.partition(": restore it")[0].partition(": restore a backup")[0]
