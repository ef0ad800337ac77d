"""A file with everything found in it: kept wholly or not at all, forgotten with its last set."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lookalike.errors import BadInput, Conflict, NotFound
from lookalike.faceset import FaceSet, Sighting
from lookalike.gallery.gallery import Gallery
from tests.gallery.samples import QUICK, a_file, a_set, sightings

FULL = {"sources": ["1", "2", "3"], "pictures": [b"1", b"22", b""]}


def test_a_set_grows(gallery: Gallery) -> None:
    first = a_set("a", 1, origin="album", **FULL, sightings=sightings(3, 50.0))
    more = a_set("a", 2, origin="elsewhere", **FULL, sightings=sightings(3, 10.0))
    assert gallery.keep_file(a_file("1"), [first])
    (listed,) = gallery.listing()
    assert gallery.keep_file(a_file("2"), [a_set("b")], [more])
    grown = gallery.get("a", pictures=True)
    np.testing.assert_array_equal(grown.faces, np.concatenate([first.faces, more.faces]))
    assert (grown.origin, grown.sources) == ("album", ("1", "2", "3") * 2)
    assert grown.pictures == (b"1", b"22", b"") * 2
    assert grown.sightings == (*first.sightings, *more.sightings)
    assert gallery.contents()["a"] == grown.content_hash()
    expected = listed._replace(faces=6, pictures=6, start=10.0, end=51.0, good=6)
    assert next(gallery.listing()) == expected


@pytest.mark.parametrize("name", ["sources", "pictures", "sightings"])
def test_a_set_grows_only_by_faces_of_which_as_much_is_known(gallery: Gallery, name: str) -> None:
    known = {**FULL, "sightings": sightings()}
    less = {key: value for key, value in known.items() if key != name}
    gallery.keep_file(a_file("1"), [a_set("more", **known), a_set("less", **less)])
    with pytest.raises(Conflict, match=f"'more' of .* has {name}, the faces to be appended have none"):
        gallery.keep_file(a_file("2"), [a_set("new")], [a_set("more", 1, **less)])
    with pytest.raises(Conflict, match=f"'less' of .* has no {name}, the faces to be appended have {name}"):
        gallery.keep_file(a_file("2"), [a_set("new")], [a_set("less", 1, **known)])
    assert gallery.ids() == ["less", "more"]
    assert len(gallery.files()) == 1


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"new": [a_set("b"), a_set("a", 1)]}, Conflict, "already has a set 'a', with 3 faces"),
        ({"new": [a_set("b"), a_set("b")]}, Conflict, "two sets are called 'b'"),
        ({"new": [a_set("b")], "grown": [a_set("b")]}, Conflict, "two sets are called 'b'"),
        ({"new": [a_set("b")], "grown": [a_set("c")]}, NotFound, "no set 'c'"),
        ({"new": [a_set("b"), a_set("c", dimension=5)]}, Conflict, "those of set 'c' have 5"),
        ({"new": [], "grown": [a_set("a", dimension=5)]}, Conflict, "those of set 'a' have 5"),
        ({"new": [a_set("b")], "descriptor": "lbp"}, Conflict, "was made by 'lbp'"),
        ({"new": [], "grown": [a_set("a", 1)], "descriptor": "lbp"}, Conflict, "was made by 'lbp'"),
        ({"new": [a_set("b")], "descriptor": ""}, BadInput, "say what made the faces"),
        ({"new": [a_set("b"), "c"]}, BadInput, "only a FaceSet can be added, got str"),
        ({"new": [], "file": "a.mp4"}, BadInput, "only a MediaFile can be kept, got str"),
    ],
)
def test_refusals_leave_nothing(gallery: Gallery, given: dict, error: type, says: str) -> None:
    gallery.keep_file(a_file("1"), [a_set("a")])
    before = gallery.fingerprint()
    with pytest.raises(error, match=says):
        gallery.keep_file(**{"file": a_file("2"), **given})
    assert (gallery.fingerprint(), len(gallery.files())) == (before, 1)


def test_the_same_set_of_another_file_belongs_to_both(gallery: Gallery) -> None:
    """As a film that was encoded again may give the very same faces."""
    for name in ("1", "2"):
        assert gallery.keep_file(a_file(name), [a_set("a")])
    assert gallery.ids() == ["a"]
    gallery.remove(["a"])
    assert gallery.files() == []


def test_a_file_goes_with_its_last_set(gallery: Gallery) -> None:
    gallery.add(a_set("alone"))
    gallery.keep_file(a_file("empty"), [])
    gallery.keep_file(a_file("film"), [a_set("a"), a_set("b")])
    gallery.keep_file(a_file("photo"), [], [a_set("b", 1)])
    kept = lambda: [Path(file.path).name for file in gallery.files()]  # noqa: E731
    gallery.remove(["a", "alone"])
    assert (gallery.ids(), kept()) == (["b"], ["empty", "film", "photo"])
    gallery.remove(["b"])
    assert kept() == ["empty"]
    # What was forgotten may come again.
    assert gallery.keep_file(a_file("film"), [a_set("a")])


# Any history, against a few dictionaries.


@dataclass
class Remembered:
    """What a gallery should know of a set."""

    vectors: dict[str, np.ndarray]
    seen: list[Sighting]
    pictures: list[bytes]
    files: set[str] = field(default_factory=set)


DIMENSIONS = {"one": 3, "two": 5}


class AnyHistory(RuleBasedStateMachine):
    """Keep, grow, remove, describe, use, close, in any order: the gallery knows what it was told."""

    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=QUICK)
        self.gallery = Gallery(Path(self.folder.name) / "g", create=True)
        self.sets: dict[str, Remembered] = {}
        self.files: set[str] = set()
        self.apart: set[tuple[str, str]] = set()
        self.current, self.made = "one", 0

    def teardown(self) -> None:
        if hasattr(self, "gallery"):
            self.gallery.close()
            self.folder.cleanup()

    def _faces(self, name: str, count: int) -> FaceSet:
        self.made += 1
        rng = np.random.default_rng(self.made)
        pictures = [rng.bytes(self.made % 5) for _ in range(count)]
        faces = rng.normal(size=(count, DIMENSIONS[self.current]))
        return FaceSet(name, faces, pictures=pictures, sightings=sightings(count, float(self.made)))

    @rule(data=st.data(), new=st.integers(0, 3), is_known=st.booleans(), count=st.integers(1, 4))
    def keep(self, data: st.DataObject, new: int, is_known: bool, count: int) -> None:
        name = data.draw(st.sampled_from(sorted(self.files))) if is_known and self.files else f"f{self.made}"
        fresh = [self._faces(f"s{self.made}", count) for _ in range(new)]
        known = (
            st.lists(st.sampled_from(sorted(self.sets)), unique=True, max_size=2)
            if self.sets
            else st.just([])
        )
        grown = [self._faces(each, count) for each in data.draw(known)]
        ids = sorted({*self.sets, *(each.id for each in fresh)})
        pairs = [(ids[-1], ids[0])] if len(ids) > 1 else []
        kept = self.gallery.keep_file(a_file(name, self.made), fresh, grown, pairs, self.current)
        assert kept == (name not in self.files)
        if not kept:
            return
        self.files.add(name)
        for each in fresh:
            self.sets[each.id] = Remembered(
                {self.current: each.faces}, [*each.sightings], [*each.pictures], {name}
            )
        for each in grown:
            there = self.sets[each.id]
            there.vectors = {self.current: np.concatenate([there.vectors[self.current], each.faces])}
            there.seen += each.sightings
            there.pictures += each.pictures
            there.files.add(name)
        self.apart |= {tuple(sorted(pair)) for pair in pairs}

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if not self.sets:
            return
        gone = data.draw(st.lists(st.sampled_from(sorted(self.sets)), unique=True, min_size=1, max_size=3))
        self.gallery.remove(gone)
        touched = set().union(*(self.sets.pop(name).files for name in gone))
        self.files -= touched - set().union(*(each.files for each in self.sets.values()))
        self.apart = {pair for pair in self.apart if not set(pair) & set(gone)}

    @rule(most=st.integers(1, 3))
    def describe(self, most: int) -> None:
        other = "two" if self.current == "one" else "one"
        batch = []
        for name in self.gallery.undescribed(other)[:most]:
            self.made += 1
            shape = len(self.sets[name].seen), DIMENSIONS[other]
            vectors = np.random.default_rng(self.made).normal(size=shape).astype(np.float32)
            batch.append((name, vectors))
            self.sets[name].vectors[other] = vectors
        self.gallery.describe(other, batch)

    @rule()
    def use(self) -> None:
        other = "two" if self.current == "one" else "one"
        if self.sets and all(other in each.vectors for each in self.sets.values()):
            self.gallery.use(other)
            self.current = other
        else:
            with pytest.raises((Conflict, NotFound)):
                self.gallery.use(other)

    @rule()
    def change_models(self) -> None:
        """Rarely done by chance: everything must be described first."""
        self.describe(most=len(self.sets))
        self.use()

    @rule()
    def reopen(self) -> None:
        self.gallery.close()
        self.gallery = Gallery(self.gallery.path)

    @invariant()
    def knows_what_it_was_told(self) -> None:
        if not hasattr(self, "gallery"):
            return
        assert self.gallery.ids() == sorted(self.sets)
        listed = {each.id: each for each in self.gallery.listing()}
        for name, told in self.sets.items():
            found = self.gallery.get(name, pictures=True)
            np.testing.assert_array_equal(found.faces, told.vectors[self.current])
            assert (list(found.sightings), list(found.pictures)) == (told.seen, told.pictures)
            times = [one.time for one in told.seen]
            assert (listed[name].start, listed[name].end) == (min(times), max(times))
            assert self.gallery.contents()[name] == found.content_hash()
        assert {Path(file.path).name for file in self.gallery.files()} == self.files
        assert self.gallery.apart() == sorted(self.apart)
        other = "two" if self.current == "one" else "one"
        missing = sorted(name for name, told in self.sets.items() if other not in told.vectors)
        assert self.gallery.undescribed(other) == missing
        ask = self.gallery._opened.connection.execute
        assert ask("PRAGMA foreign_key_check").fetchall() == []
        faces = sum(len(told.seen) for told in self.sets.values())
        assert ask("SELECT count(*) FROM sightings").fetchone() == (faces,)


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
