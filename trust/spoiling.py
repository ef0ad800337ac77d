"""Spoiling: ways to change the bytes of a file, chosen by chance."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final


def flip(data: bytes, chance: random.Random) -> bytes:
    """One bit."""
    made = bytearray(data or b"\0")
    made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
    return bytes(made)


def flip_used(data: bytes, chance: random.Random) -> bytes:
    """One bit where something stands: most of a small database is empty pages."""
    used = (
        [place for place in (chance.randrange(len(data)) for _ in range(60)) if data[place]] if data else []
    )
    if not used:
        return flip(data, chance)
    made = bytearray(data)
    made[used[0]] ^= 1 << chance.randrange(8)
    return bytes(made)


def set_bytes(data: bytes, chance: random.Random) -> bytes:
    """A few bytes here and there, often to values that overflow."""
    made = bytearray(data or b"\0")
    for _ in range(chance.randint(1, 4)):
        made[chance.randrange(len(made))] = chance.choice(
            [0, 1, 0x7F, 0x80, 0xFE, 0xFF, chance.randrange(256)]
        )
    return bytes(made)


def cut(data: bytes, chance: random.Random) -> bytes:
    """The end is missing."""
    return data[: chance.randrange(max(1, len(data)))]


def zero(data: bytes, chance: random.Random) -> bytes:
    """A range of zeros, as a disk leaves it after power was lost."""
    start, length = chance.randrange(max(1, len(data))), chance.choice([1, 8, 64, 512, 4096])
    length = min(length, len(data) - start)
    return data[:start] + bytes(length) + data[start + length :]


def scramble(data: bytes, chance: random.Random) -> bytes:
    """A range of chance."""
    start, length = chance.randrange(max(1, len(data))), chance.choice([2, 16, 512])
    length = min(length, len(data) - start)
    return data[:start] + chance.randbytes(length) + data[start + length :]


def repeat(data: bytes, chance: random.Random) -> bytes:
    """A range stands twice, or moves the rest."""
    start = chance.randrange(max(1, len(data)))
    return data[:start] + data[start : start + chance.choice([1, 4, 100, 4096])] + data[start:]


def drop(data: bytes, chance: random.Random) -> bytes:
    """A range is missing."""
    start = chance.randrange(max(1, len(data)))
    return data[:start] + data[start + chance.choice([1, 4, 100, 4096]) :]


def numbers(data: bytes, chance: random.Random) -> bytes:
    """A number of four bytes becomes very large, or negative: sizes and offsets are such numbers."""
    start = chance.randrange(max(1, len(data) - 3))
    value = chance.choice(
        [b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", bytes(4)]
    )
    return data[:start] + value + data[start + 4 :]


def digits(data: bytes, chance: random.Random) -> bytes:
    """A digit of a text becomes another, or something else."""
    places = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    if not places:
        return flip(data, chance)
    place = chance.choice(places)
    return (
        data[:place]
        + chance.choice([b"9", b"0", b"-", b"e9", b"nan", b".", b"99999999999"])
        + data[place + 1 :]
    )


ON_DISK: Final[Sequence[Callable[[bytes, random.Random], bytes]]] = (
    flip,
    flip_used,
    flip_used,
    set_bytes,
    cut,
    zero,
    scramble,
)
BY_STRANGERS: Final[Sequence[Callable[[bytes, random.Random], bytes]]] = (
    *ON_DISK,
    repeat,
    drop,
    numbers,
    numbers,
    digits,
)


def spoilt(
    data: bytes, chance: random.Random, ways: Sequence[Callable[[bytes, random.Random], bytes]] = ON_DISK
) -> tuple[bytes, str]:
    """The data after some change, and what that was called; never the same data."""
    way = chance.choice(ways)
    for _ in range(20):
        made = way(data, chance)
        if made != data:
            return made, way.__name__
    return flip(data, chance), "flip"
