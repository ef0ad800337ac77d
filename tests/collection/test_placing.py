"""In which shard a set lies: worked by hand, the same for ever, and even."""

from __future__ import annotations

import hashlib

import pytest

from lookalike.collection.placing import place_of, place_of_file

# The first eight bytes of SHA-256 of these texts, as `printf TEXT | sha256sum` gives them, modulo 7.
WORKED = {
    "abc": 0xBA7816BF8F01CFEA % 7,
    "abc#1": 0xBA7816BF8F01CFEA % 7,
    "abc#2": 0xBA7816BF8F01CFEA % 7,
    "abc#2#1": int.from_bytes(hashlib.sha256(b"abc#2").digest()[:8], "big") % 7,
    "#": int.from_bytes(hashlib.sha256(b"#").digest()[:8], "big") % 7,
    "#5": int.from_bytes(hashlib.sha256(b"#5").digest()[:8], "big") % 7,
    "名": int.from_bytes(hashlib.sha256("名".encode()).digest()[:8], "big") % 7,
}


@pytest.mark.parametrize("set_id", WORKED)
def test_worked_places(set_id: str) -> None:
    assert place_of(set_id, 7) == WORKED[set_id]
    assert place_of(set_id, 1) == 0


def test_sets_of_a_film_or_album_lie_together() -> None:
    for name in ("clip.mp4", "holiday/day 1/clip.mp4", "a#b.mp4", "clip.mp4~2"):
        assert len({place_of(f"{name}#{number}", 1000) for number in range(1, 200)}) == 1


def test_sets_spread_evenly() -> None:
    places = [place_of(f"clip-{number}.mp4#1", 10) for number in range(10_000)]
    assert all(900 < places.count(place) < 1100 for place in range(10))


def test_files_without_sets() -> None:
    content = hashlib.sha256(b"abc").hexdigest()
    assert place_of_file(content, 7) == place_of(content, 7)
