"""XMP: faces of photos as sidecars, for programs that keep photo libraries; the photos are never touched."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Final
from xml.sax.saxutils import quoteattr

from lookalike import __version__
from lookalike.errors import BadInput, LookalikeError
from lookalike.exchange.appearances import Appearance, Selection
from lookalike.faceset import Box
from lookalike.gallery.media import MediaFile
from lookalike.ingest.header import (
    AREA,
    DIMENSIONS,
    MICROSOFT,
    OWN,
    RDF,
    REGION,
    REGION_INFO,
    REGIONS,
    SIDECAR,
    TIFF,
    Header,
    as_stored,
    read_headers_apart,
)

SPACES: Final = {
    "rdf": RDF,
    "tiff": TIFF,
    "mwg-rs": REGIONS,
    "stDim": DIMENSIONS,
    "stArea": AREA,
    "MP": MICROSOFT,
    "MPRI": REGION_INFO,
    "MPReg": REGION,
    "lookalike": OWN,
}


def as_xmp(chosen: Selection) -> dict[str, bytes]:
    """A sidecar for each photo, called after it, in folders as the photos lie.

    Raises
    ------
    BadInput
        If nothing of the selection is seen in a photo that can be read.
    """
    seen: dict[MediaFile, list[Appearance]] = {}
    for one in chosen.appearances:
        if one.file is not None and one.file.kind == "photo" and one.sightings:
            seen.setdefault(one.file, []).append(one)
    if not seen:
        raise BadInput("there is nothing to write sidecars for: none of the chosen sets is of a photo")
    elsewhere = len(chosen.appearances) - sum(len(several) for several in seen.values())
    if elsewhere:
        chosen.remarks.append(f"left out, as sidecars are for photos: {elsewhere} in videos or unknown files")
    top = os.path.commonpath([PurePath(file.path).parent for file in seen])
    found: dict[str, bytes] = {}
    headers = read_headers_apart([Path(file.path) for file in seen])
    for (file, several), header in zip(seen.items(), headers, strict=True):
        if isinstance(header, LookalikeError):
            chosen.remarks.append(f"left out: {header}")
        else:
            name = f"{PurePath(os.path.relpath(file.path, top)).as_posix()}{SIDECAR}"
            found[name] = sidecar(file, header, several).encode("utf-8", "backslashreplace")
    if not found:
        raise BadInput(f"no photo of the chosen sets can be read; the first: {chosen.remarks[-len(seen)]}")
    return found


def sidecar(file: MediaFile, header: Header, seen: Sequence[Appearance]) -> str:
    """The packet of one photo: the same faces as MWG and as Microsoft regions, in the picture as stored."""
    width, height = header.size or (0, 0)
    turn = header.orientation or 1
    faces = [(one.person, relative(box.box, header)) for one in seen for box in one.sightings]
    mwg = "".join(
        f'<rdf:li><rdf:Description mwg-rs:Type="Face"{_attribute("mwg-rs:Name", name)}>'
        f'<mwg-rs:Area stArea:x="{x + w / 2:.6f}" stArea:y="{y + h / 2:.6f}"'
        f' stArea:w="{w:.6f}" stArea:h="{h:.6f}" stArea:unit="normalized"/></rdf:Description></rdf:li>\n'
        for name, (x, y, w, h) in faces
    )
    microsoft = "".join(
        f'<rdf:li MPReg:Rectangle="{x:.6f}, {y:.6f}, {w:.6f}, {h:.6f}"'
        f"{_attribute('MPReg:PersonDisplayName', name)}/>\n"
        for name, (x, y, w, h) in faces
    )
    spaces = " ".join(f'xmlns:{prefix}="{uri.strip("{}")}"' for prefix, uri in SPACES.items())
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
        f'<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="lookalike {__version__}">\n'
        f"<rdf:RDF {spaces}>\n"
        f'<rdf:Description rdf:about="" tiff:Orientation="{turn}" lookalike:sha256="{file.content}">\n'
        '<mwg-rs:Regions rdf:parseType="Resource">\n'
        f'<mwg-rs:AppliedToDimensions stDim:w="{width}" stDim:h="{height}" stDim:unit="pixel"/>\n'
        f"<mwg-rs:RegionList><rdf:Bag>\n{mwg}</rdf:Bag></mwg-rs:RegionList>\n"
        "</mwg-rs:Regions>\n"
        '<MP:RegionInfo rdf:parseType="Resource">\n'
        f"<MPRI:Regions><rdf:Bag>\n{microsoft}</rdf:Bag></MPRI:Regions>\n"
        "</MP:RegionInfo>\n"
        "</rdf:Description>\n</rdf:RDF>\n</x:xmpmeta>\n"
        '<?xpacket end="w"?>\n'
    )


def relative(box: Box, header: Header) -> Box:
    """A box in pixels of the upright photo as a share of the photo as it is stored, cut off at its edges."""
    width, height = header.size or (1, 1)
    if (header.orientation or 1) > 4:
        width, height = height, width
    left, top = max(0.0, box[0] / width), max(0.0, box[1] / height)
    right, bottom = min(1.0, (box[0] + box[2]) / width), min(1.0, (box[1] + box[3]) / height)
    return as_stored((left, top, right - left, bottom - top), header.orientation or 1)


def _attribute(name: str, value: str) -> str:
    """An attribute, if there is anything to say; what XML cannot hold is replaced."""
    kept = "".join(letter if letter >= " " and letter not in "\ufffe\uffff" else "\ufffd" for letter in value)
    return f" {name}={quoteattr(kept)}" if value else ""
