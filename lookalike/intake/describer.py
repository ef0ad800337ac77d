"""Describer: what a source holds becomes sets of one kind of descriptor."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from lookalike import parts
from lookalike.descriptors.contract import Descriptor
from lookalike.errors import BadInput, Conflict
from lookalike.faceset import FaceSet
from lookalike.intake.paths import readable
from lookalike.intake.pictures import encode_picture
from lookalike.intake.reading_apart import read_apart
from lookalike.intake.sourceset import SourceSet

DEFAULT_DESCRIPTOR = "lbp"
# For films and photos: what is good enough to find people in everyday pictures.
FOOTAGE_DESCRIPTOR = "sface"


class Describer:
    """Turns what a source holds into sets of one kind of descriptor, the gallery's if it has one.

    Parameters
    ----------
    held : str or None
        What described the faces of the gallery; None if it is empty.
    descriptor : str, optional
        The user's choice. With an array it says what made its numbers.
    array : str, optional
        Which array of a source to take.
    features : path, optional
        The features file of a source that needs one.
    most : int, optional
        Keep at most so many faces of a set.
    """

    def __init__(
        self,
        held: str | None,
        descriptor: str | None = None,
        array: str | None = None,
        features: Path | str | None = None,
        most: int | None = None,
    ) -> None:
        self.features = None if features is None else Path(features)
        self.most = most
        self.held = held
        self.given = descriptor
        self.asked = array is not None
        self.array = array
        if array is None and descriptor is None and held is not None and held.startswith("array:"):
            self.array = held.removeprefix("array:")
        self._part: Descriptor | None = None

    def read(self, path: Path) -> Iterator[SourceSet]:
        """Yield the sets of one source as they lie there; a child process reads them."""
        # The array of the gallery is only a guess for the source; what was asked for must be there.
        guessed = self.array is not None and not self.asked
        return read_apart(path, self.array, self.features, self.most, guessed)

    def kind(self, found: SourceSet) -> str:
        """Name what describes a set of this source; a gallery keeps one kind."""
        if found.faces is None:
            return self._descriptor().identity
        if self._given_kind is not None:
            return self._given_kind
        return found.descriptor or f"array:{found.array}"

    def refuse_other_kind(self, found: SourceSet) -> None:
        """Refuse a query that is described otherwise than the gallery, as far as its name tells.

        Raises
        ------
        Conflict
            If it is.
        """
        held = self.held or ""
        if (held.startswith("array:") or is_part(held)) and self.kind(found) != held:
            raise Conflict(
                f"set {found.id!r} is described by {self.kind(found)}, the gallery by {held}: "
                f"describe both the same way"
            )

    def describe(self, found: SourceSet) -> FaceSet:
        """Describe the faces of a set, unless the source did; pictures are kept as evidence.

        Raises
        ------
        BadInput
            If a face cannot be described.
        """
        faces = found.faces
        if faces is None:
            try:
                faces = self._descriptor().describe_many(found.pictures)
            except BadInput as reason:
                raise BadInput(f"set {found.id!r} cannot be described: {reason}") from reason
        pictures = [encode_picture(picture) for picture in found.pictures]
        return FaceSet(found.id, faces, found.origin, found.sources, pictures)

    @cached_property
    def _given_kind(self) -> str | None:
        """The user's choice: any text may name what made ready-made numbers, a part is written out."""
        if self.given is None or not is_part(self.given):
            return self.given
        identity: str = parts.build("descriptors", self.given).identity
        return identity

    def _descriptor(self) -> Descriptor:
        if self._part is None:
            wanted = self.given or self.held or DEFAULT_DESCRIPTOR
            if wanted.startswith("array:"):
                raise Conflict(
                    f"the gallery holds ready-made descriptors ({wanted}) and the source holds pictures: "
                    f"give a source with such an array, or use another gallery"
                )
            self._part = parts.build("descriptors", wanted)
        return self._part


def choose_descriptor(held: str | None, given: str | None, model_file: str | None = None) -> Descriptor:
    """The descriptor for footage, checked: the one that is given, that of the gallery, or the default.

    Parameters
    ----------
    held : str or None
        What describes the gallery; None if it is empty.
    given : str or None
        What the user asks for.
    model_file : str or None
        Where the file of the gallery's model was last seen, if it has one.

    Raises
    ------
    BadInput, NotFound
        If there is no such, or something it needs is missing.
    Conflict
        If the gallery is described otherwise.
    """
    if held is not None and not is_part(held):
        raise Conflict(
            f"the gallery holds ready-made descriptors ({held}), which cannot be made of photos and films: "
            f"use another gallery"
        )
    if "model=" in (held or "") or not os.path.isabs(model_file or os.sep):
        raise BadInput(f"the gallery names a model file where it never would ({held}): do not trust it")
    there = f"{held},model={model_file}" if held and model_file else held
    part: Descriptor = parts.build("descriptors", given or there or FOOTAGE_DESCRIPTOR)
    part.check()
    if held is not None and part.identity != held:
        raise Conflict(
            f"the gallery is described by {held}, and {part.identity} was asked for: leave --descriptor out, "
            f"or describe the gallery anew (`lookalike describe`)"
        )
    return part


def same_person_of(held: str | None) -> float | None:
    """The cosine from which what describes a gallery takes two faces for one person; None if it cannot tell.

    Nothing of a model is loaded, so it need not be installed.

    Raises
    ------
    LookalikeError
        If the gallery names a part that cannot be.
    """
    if held is None or not is_part(held):
        return None
    least: float | None = parts.build("descriptors", held).same_person
    return least


def successor_of(part: Descriptor, gallery: Path) -> str:
    """A sentence about the descriptor that knows people better than that of a gallery, and how to change."""
    command = f"lookalike describe {shlex.quote(readable(gallery))} --descriptor {part.succeeded_by}"
    return (
        f"{part.succeeded_by}, the default of new galleries, knows people better than {part.identity}, which "
        f"describes this one: `{command}` changes to it, and keeps names and decisions"
    )


def is_part(kind: str) -> bool:
    """Whether the name of a kind of descriptor is that of a part, and not somebody's own words."""
    return kind.partition(":")[0] in parts.names("descriptors")
