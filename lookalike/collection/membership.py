"""Membership: which files make a collection, in a manifest, and in each file to what it belongs."""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lookalike import disk
from lookalike.collection import placing, queries, sealing
from lookalike.errors import BadInput, GalleryUnreadable

FORMAT: Final = 1
NAME: Final = "manifest.json"
# Stands in a folder that `split` has not finished; whoever repeats it knows that the shards are its own.
UNFINISHED: Final = "unfinished.json"
SHARD: Final = re.compile(r"shard-[0-9]+\.gallery")
IDENTITY: Final = re.compile(r"[0-9a-f]{32}")
# A manifest names at most a thousand short file names.
LONGEST: Final = 2**20


@dataclass(frozen=True)
class Membership:
    """What a collection says of itself.

    Parameters
    ----------
    collection : str
        Its identity: 32 random hexadecimal digits.
    shards : int
        How many files it has.
    rule : str
        How sets are assigned to them.
    """

    collection: str
    shards: int
    rule: str = placing.RULE

    @property
    def files(self) -> list[str]:
        """Names of the files, in order."""
        return [file_name(place) for place in range(self.shards)]

    def of(self, place: int) -> dict[str, str]:
        """The facts by which one shard knows where it belongs."""
        return {"collection": self.collection, "shard": f"{place} of {self.shards} by {self.rule}"}


def new(shards: int) -> Membership:
    """A new collection, unlike any other.

    Raises
    ------
    BadInput
        If it cannot have so many shards.
    """
    if isinstance(shards, bool) or not isinstance(shards, int) or not 1 <= shards <= placing.MOST_SHARDS:
        raise BadInput(
            f"a collection has 1 to {placing.MOST_SHARDS} shards, got {shards!r}: give a number of these"
        )
    return Membership(secrets.token_hex(16), shards)


def file_name(place: int) -> str:
    """What a shard is called."""
    return f"shard-{place:03d}.gallery"


def is_collection(folder: Path) -> bool:
    """Whether a folder holds a collection, finished or not, as far as its names tell."""
    return folder.is_dir() and any((folder / name).exists() for name in (NAME, UNFINISHED))


def shard_files(folder: Path) -> list[Path]:
    """The shards that lie in a folder, whatever its manifest says."""
    return sorted(one for one in folder.iterdir() if SHARD.fullmatch(one.name))


def write(folder: Path, told: Membership, name: str = NAME) -> None:
    """Write a manifest, which is what makes a folder a collection; aside first, then renamed and synced."""
    said = {
        "format": FORMAT,
        "collection": told.collection,
        "shards": told.shards,
        "rule": told.rule,
        "files": told.files,
    }
    disk.write(folder / name, (json.dumps(said, indent=1) + "\n").encode())


def read(folder: Path, partial: bool = False) -> Membership:
    """Read the manifest of a folder, and hold the names in the folder against it.

    Parameters
    ----------
    folder : Path
    partial : bool
        Whether shards may be missing, besides shard 0, which speaks for all, and as long as one is left.

    Raises
    ------
    GalleryUnreadable
        If it is damaged or of a newer version, if a shard is missing, or if there is one too many.
    """
    path = folder / NAME
    if not path.exists():
        if (folder / UNFINISHED).exists():
            raise GalleryUnreadable(
                f"{folder} was not finished by `lookalike split`: repeat that command, or delete the folder"
            )
        raise GalleryUnreadable(f"{folder} is a folder, not a gallery: name the gallery file")
    told = _checked(path)
    names = {one.name for one in folder.iterdir()}
    for name in sorted(names):
        if name != NAME and name.startswith("manifest") and name.endswith(".json"):
            raise GalleryUnreadable(
                f"{folder} holds two manifests, {NAME} and {name}, and a collection has one: "
                f"move the one that does not belong away"
            )
    for name in told.files:
        if name not in names and not (partial and name != file_name(0)):
            raise GalleryUnreadable(
                f"{folder} lacks {name}, one of its {_counted(told.shards)}: "
                f"bring it back, or restore a backup"
            )
    for name in sorted(names - set(told.files)):
        if SHARD.fullmatch(name):
            raise GalleryUnreadable(
                f"{folder} holds {name}, which is not one of its {_counted(told.shards)}: move it away"
            )
    return told


def missing(folder: Path, told: Membership) -> tuple[int, ...]:
    """The places of the shards whose files are not there."""
    return tuple(place for place, name in enumerate(told.files) if not (folder / name).exists())


def _checked(path: Path) -> Membership:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LONGEST:
            raise ValueError("it is no ordinary small file")
        said: Any = json.loads(path.read_bytes())
        if not isinstance(said, dict):
            raise ValueError("it is no JSON object")
        number = said.get("format")
        if isinstance(number, int) and number > FORMAT:
            raise GalleryUnreadable(
                f"{path} was written by a newer lookalike (format {number}, this one reads up to {FORMAT}): "
                f"upgrade lookalike"
            )
        told = Membership(said["collection"], said["shards"], said["rule"])
        new(told.shards)
        if number != FORMAT or not IDENTITY.fullmatch(told.collection) or said["files"] != told.files:
            raise ValueError("it does not tell which files make the collection")
    except (ValueError, KeyError, TypeError, RecursionError, BadInput) as reason:
        raise GalleryUnreadable(f"{path} is damaged ({reason}): restore it from a backup") from reason
    if told.rule != placing.RULE:
        raise GalleryUnreadable(
            f"{path} assigns sets by the rule {told.rule!r}, this lookalike knows {placing.RULE!r} only: "
            f"upgrade lookalike, or restore the manifest from a backup"
        )
    return told


# In each shard; who writes holds the transaction.


def join(connection: sqlite3.Connection, told: Membership, place: int) -> None:
    """Write into a gallery file to which collection it belongs, and where."""
    connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", told.of(place).items())
    sealing.seal(connection)


def check(connection: sqlite3.Connection, path: Path, told: Membership, place: int) -> None:
    """Refuse a file that is not this shard of this collection.

    Raises
    ------
    GalleryUnreadable
        If it belongs nowhere, to another collection, or to another place.
    """
    collection, shard = (queries.fact(connection, name) for name in ("collection", "shard"))
    wanted = told.of(place)
    if collection is None:
        raise GalleryUnreadable(
            f"{path} is a gallery of its own, not a shard of this collection: "
            f"move it away, and bring back shard {place}"
        )
    if collection != told.collection:
        raise GalleryUnreadable(
            f"{path} is a shard of another collection: move it away, and bring back shard {place} of this one"
        )
    if shard != wanted["shard"]:
        raise GalleryUnreadable(
            f"{path} says that it is shard {shard}, and the manifest that it is shard {wanted['shard']}: "
            f"give the shards back their names (shard 0 is {file_name(0)}), or restore a backup"
        )


def check_folder(folder: Path, names: Sequence[str] = ()) -> None:
    """Refuse a folder for a new collection that holds anything but these names.

    Raises
    ------
    BadInput
        If it does, or is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is a file, and a collection is a folder: choose another name")
    left = sorted(one.name for one in folder.iterdir() if one.name not in names) if folder.exists() else []
    if left:
        raise BadInput(f"{folder} is not empty (it holds {left[0]}): choose a new or an empty folder")


def _counted(shards: int) -> str:
    return "1 shard" if shards == 1 else f"{shards} shards"
