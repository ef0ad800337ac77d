"""Layout of a .mat file: is it one, of which version, and is all of it there? Nothing is decoded here."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO, Final

from lookalike.errors import BadInput
from lookalike.intake.paths import is_folder, readable, unreadable

# Version 5 to 7: text, then version and byte order in the last four bytes.
HEADER: Final = 128
VERSION: Final = 0x0100
# The two kinds of element a file of version 5 to 7 is a chain of.
MATRIX, COMPRESSED = 14, 15
# Version 7.3 is HDF5, whose own header may follow 512 bytes of MATLAB's.
HDF5: Final = b"\x89HDF\r\n\x1a\n"
# Version 4: bytes of a number, by the tens digit of the type.
NUMBER_BYTES: Final = (8, 4, 4, 2, 2, 1)
# Names have 63 characters in MATLAB, and a final zero; other writers are allowed a few more.
LONGEST_NAME: Final = 128

ADVICE: Final = "give a file that MATLAB saved with -v7, -v6 or -v4"


def check_layout(path: Path) -> None:
    """Refuse what is no whole .mat file of version 4 to 7.

    The chain of variables is followed by the lengths they claim, without decoding any of them:
    it must end where the file ends. What is inside a variable is not looked at.

    Raises
    ------
    NotFound
        If there is no such file.
    BadInput
        If it is something else, of version 7.3, empty, filled with zeros or cut off.
    """
    if is_folder(path):
        raise BadInput(f"{readable(path)!r} is a folder: give a MATLAB .mat file")
    try:
        with path.open("rb") as file:
            start = file.read(HEADER)
            file.seek(512)
            later = file.read(len(HDF5))
            size = file.seek(0, 2)
            _check_start(path, start, later)
            order = _byte_order_5(start)
            if order:
                _follow_5(path, file, size, order)
            else:
                _follow_4(path, file, size)
    except OSError as reason:
        raise unreadable(path, reason) from None


def _check_start(path: Path, start: bytes, later: bytes) -> None:
    if not start:
        raise BadInput(f"{readable(path)!r} is empty, 0 bytes: copy it again, or {ADVICE}")
    if start.startswith((b"MATLAB 7.3", HDF5)) or later == HDF5:
        raise BadInput(
            f"{readable(path)!r} is a .mat file of version 7.3 (HDF5), and versions 4 to 7 are read: "
            f"open it in MATLAB and save it again with -v7"
        )
    if not any(start):
        raise BadInput(
            f"{readable(path)!r} is filled with zeros where a .mat file has its header, as an interrupted "
            f"copy leaves it: copy it again"
        )
    if len(start) < HEADER and start.startswith(b"MATLAB 5.0"):
        raise BadInput(
            f"{readable(path)!r} is cut off: it has {len(start)} bytes, and its header alone has {HEADER}: "
            f"copy it again"
        )


def _byte_order_5(start: bytes) -> str:
    """Byte order of a file of version 5 to 7, as struct writes it; empty if it is no such file."""
    # A zero in the first four bytes marks version 4.
    if len(start) < HEADER or 0 in start[:4]:
        return ""
    order = {b"IM": "<", b"MI": ">"}.get(start[126:128], "")
    return order if order and struct.unpack(f"{order}H", start[124:126])[0] == VERSION else ""


def _follow_5(path: Path, file: IO[bytes], size: int, order: str) -> None:
    place = HEADER
    while place < size:
        file.seek(place)
        tag = file.read(8)
        if len(tag) < 8:
            raise _cut_off(path, size, place, place + 8)
        kind, length = struct.unpack(f"{order}II", tag)
        if kind not in (MATRIX, COMPRESSED):
            raise BadInput(
                f"{readable(path)!r} is damaged: at byte {place:,} it has an element of type {kind} where a "
                f"variable must begin: copy or save it again"
            )
        end = place + 8 + length
        if end > size:
            raise _cut_off(path, size, place, end)
        place = end
    if place == HEADER:
        raise BadInput(f"{readable(path)!r} has a header and no variable after it: copy or save it again")


def _follow_4(path: Path, file: IO[bytes], size: int) -> None:
    place = 0
    while place < size:
        file.seek(place)
        head = file.read(20)
        end = _end_4(head, place)
        if end is None:
            if place == 0:
                raise BadInput(
                    f"{readable(path)!r} is no .mat file, it starts with {head[:12]!r}: {ADVICE}"
                ) from None
            if len(head) < 20:
                raise _cut_off(path, size, place, place + 20)
            raise BadInput(
                f"{readable(path)!r} is damaged: at byte {place:,} no variable begins: copy or save it again"
            )
        if end > size:
            raise _cut_off(path, size, place, end)
        place = end


def _end_4(head: bytes, place: int) -> int | None:
    """Where a variable of version 4 ends, or None if no such variable begins here."""
    for order, machine in (("<", 0), (">", 1)):
        if len(head) == 20:
            kind, rows, columns, imaginary, name = struct.unpack(f"{order}5i", head)
            thousands, rest = divmod(kind, 1000)
            hundreds, (numbers, form) = rest // 100, divmod(rest % 100, 10)
            plausible = thousands == machine and hundreds == 0 and numbers < 6 and form < 3
            if plausible and min(rows, columns) >= 0 and imaginary in (0, 1) and 0 < name <= LONGEST_NAME:
                values = rows * columns * (1 + imaginary)
                return int(place + 20 + name + values * NUMBER_BYTES[numbers])
    return None


def _cut_off(path: Path, size: int, place: int, end: int) -> BadInput:
    return BadInput(
        f"{readable(path)!r} is cut off: it has {size:,} bytes, and its variable at byte {place:,} goes to "
        f"{end:,}: copy it again"
    )
