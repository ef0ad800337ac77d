"""The gallery in one process: what goes in comes out, what contradicts is refused in words."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lookalike.errors import BadInput, Conflict, GalleryUnreadable, NotFound, StorageFailed
from lookalike.faceset import FaceSet, Sighting
from lookalike.gallery.gallery import Gallery
from tests.gallery.samples import QUICK, a_file, a_set, edit

# What goes in comes out.

ids = st.text(
    st.characters(exclude_categories=("Cs", "Cc")),
    min_size=1,
    max_size=30,
).filter(lambda text: text.strip())
anything = st.text(max_size=20)


@st.composite
def face_sets(draw: st.DrawFn) -> FaceSet:
    shape = draw(st.tuples(st.integers(1, 4), st.integers(2, 5)))
    number = st.floats(width=32, allow_nan=False, allow_infinity=False)
    faces = draw(hnp.arrays(np.float32, shape, elements=number))
    flat = (faces == faces[:, :1]).all(axis=1)
    faces[flat, 0] = np.where(faces[flat, 1] == 1, 2, 1)
    each = {"min_size": shape[0], "max_size": shape[0]}
    share = st.floats(0, 1)
    seen = st.builds(
        Sighting,
        st.tuples(*[st.floats(-1e4, 1e4)] * 4),
        *[share] * 4,
        st.none() | st.floats(0, 1e5),
    )
    return FaceSet(
        draw(ids),
        faces,
        draw(anything),
        draw(st.just([]) | st.lists(anything, **each)),
        draw(st.just([]) | st.lists(st.binary(max_size=50), **each)),
        draw(st.just([]) | st.lists(seen, **each)),
    )


@settings(max_examples=60, deadline=None)
@given(face_sets())
def test_a_set_comes_back_as_it_was(given: FaceSet) -> None:
    with tempfile.TemporaryDirectory(dir=QUICK) as folder:
        with Gallery(Path(folder) / "g", create=True) as gallery:
            assert gallery.add(given)
        with Gallery(Path(folder) / "g") as gallery:
            found = gallery.get(given.id, pictures=True)
            assert gallery.contents() == {given.id: given.content_hash()}
            (streamed,) = gallery.sets()
            (listed,) = gallery.listing()
            assert gallery.get(given.id).sightings == found.sightings
    assert found.faces.tobytes() == given.faces.tobytes() == streamed.faces.tobytes()
    assert (found.id, found.origin, found.pictures) == (given.id, given.origin, given.pictures)
    assert tuple(found.sources) == tuple(given.sources)
    assert streamed.pictures == streamed.sightings == ()
    assert [one.as_text() for one in found.sightings] == [one.as_text() for one in given.sightings]
    times = [one.time for one in found.sightings if one.time is not None]
    assert (listed.start, listed.end) == ((min(times), max(times)) if times else (None, None))


@settings(max_examples=20, deadline=None)
@given(st.lists(ids, unique=True, max_size=8))
def test_ids_are_sorted_by_code_point(names: list[str]) -> None:
    with (
        tempfile.TemporaryDirectory(dir=QUICK) as folder,
        Gallery(Path(folder) / "g", create=True) as gallery,
    ):
        for seed, name in enumerate(names):
            gallery.add(a_set(name, seed))
        assert gallery.ids() == sorted(names) == list(gallery.contents())
        assert [found.id for found in gallery.sets()] == sorted(names)
        assert [found.id for found in gallery.sets(names)] == names
        assert len(gallery) == len(names)


def test_file_names_that_are_not_unicode_are_kept_readable(gallery: Gallery) -> None:
    gallery.add(a_set(origin="/film/caf\udce9.mp4"))
    assert gallery.get("a").origin == r"/film/caf\udce9.mp4"
    assert "caf\udce9" not in gallery
    with pytest.raises(NotFound):
        gallery.get("caf\udce9")


def test_facts_and_listing(gallery: Gallery, path: Path) -> None:
    assert (gallery.descriptor, gallery.dimension, len(gallery)) == (None, None, 0)
    gallery.add(a_set("b", 1, 2, pictures=[b"1", b"2"]), "lbp:rows=6")
    gallery.add(a_set("a", 2, 3, origin="film"), "lbp:rows=6")
    listed = list(gallery.listing())
    assert [(each.id, each.origin, each.faces, each.pictures) for each in listed] == [
        ("a", "film", 3, 0),
        ("b", "", 2, 2),
    ]
    assert listed[0].added.endswith("+00:00")
    facts = gallery.facts()
    assert facts.pop("created")
    size = facts.pop("bytes")
    assert facts == {
        "format": 6,
        "sets": 2,
        "faces": 5,
        "pictures": 2,
        "files": 0,
        "descriptor": "lbp:rows=6",
        "dimension": 4,
        "purge_due": False,
    }
    gallery.set_hint("model_file", "/models/caf\udce9.onnx")
    assert gallery.hint("model_file") == gallery.facts()["model_file"] == r"/models/caf\udce9.onnx"
    gallery.set_hint("model_file", None)
    assert gallery.hint("model_file") is None
    assert "model_file" not in gallery.facts()
    with pytest.raises(BadInput, match="keeps no hint 'purge': give one of model_file, succ"):
        gallery.set_hint("purge", "x")
    with pytest.raises(BadInput, match="keeps no hint"):
        gallery.hint("purge")
    gallery.close()
    assert path.stat().st_size == size
    assert gallery.path == path


def test_fingerprint_follows_content_only(gallery: Gallery, tmp_path: Path) -> None:
    empty = gallery.fingerprint()
    gallery.add(a_set("a", 1))
    gallery.add(a_set("b", 2))
    with Gallery(tmp_path / "other", create=True) as other:
        other.add(a_set("b", 2, origin="elsewhere"))
        one = other.fingerprint()
        other.add(a_set("a", 1))
        assert other.fingerprint() == gallery.fingerprint() != one != empty
    with Gallery(tmp_path / "third", create=True) as third:
        third.add(a_set("a", 1), "lbp")
        third.add(a_set("b", 2), "lbp")
        assert third.fingerprint() != gallery.fingerprint()
    gallery.remove(["a", "b"])
    assert gallery.fingerprint() == empty


# Adding.


def test_adding_again_changes_nothing(gallery: Gallery) -> None:
    assert gallery.add(a_set(origin="first"))
    before = gallery.fingerprint(), list(gallery.listing())
    assert not gallery.add(a_set(origin="second"))
    assert (gallery.fingerprint(), list(gallery.listing())) == before


def test_other_content_under_the_same_id(gallery: Gallery) -> None:
    gallery.add(a_set("a", 0, count=3))
    with pytest.raises(Conflict, match=r"'a', with 3 faces.* 5 faces .*remove it first or choose another id"):
        gallery.add(a_set("a", 1, count=5))
    assert len(gallery.get("a")) == 3


def test_another_descriptor_or_dimension(gallery: Gallery) -> None:
    gallery.add(a_set("a"), "lbp:rows=6")
    with pytest.raises(Conflict, match=r"made by 'lbp:rows=6', set 'b' was made by 'array'"):
        gallery.add(a_set("b"))
    with pytest.raises(Conflict, match=r"faces of 4 numbers, those of set 'b' have 7"):
        gallery.add(a_set("b", dimension=7), "lbp:rows=6")
    assert gallery.ids() == ["a"]
    gallery.remove(["a"])
    assert gallery.add(a_set("b", dimension=7), "array")
    assert (gallery.descriptor, gallery.dimension) == ("array", 7)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", None, 7])
def test_a_descriptor_must_have_a_name(gallery: Gallery, name: object) -> None:
    with pytest.raises(BadInput, match="say what made the faces"):
        gallery.add(a_set(), name)


def test_a_row_that_rounding_makes_constant_is_refused(gallery: Gallery) -> None:
    given = a_set()
    object.__setattr__(given, "faces", np.float32([[1, 1 + 1e-12]]))
    with pytest.raises(BadInput, match="single precision"):
        gallery.add(given)
    assert gallery.descriptor is None


def test_a_failing_add_leaves_nothing(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> None:
    gallery.add(a_set("a"))
    broken = a_set("b", pictures=[b"1", b"2", b"3"])
    monkeypatch.setattr(FaceSet, "content_hash", lambda self: "hash")
    object.__setattr__(broken, "pictures", (b"1", b"2", object()))
    with pytest.raises(TypeError):
        gallery.add(broken)
    assert gallery.ids() == ["a"]
    assert gallery._opened.connection.execute("SELECT count(*) FROM faces").fetchone() == (3,)


# Removing.


def test_remove_all_or_none(gallery: Gallery) -> None:
    for name in ("anna", "bert", "carl"):
        gallery.add(a_set(name))
    with pytest.raises(NotFound, match=r"no set 'berta' among its 3 sets: did you mean 'bert'\?"):
        gallery.remove(["anna", "berta"])
    assert len(gallery) == 3
    assert gallery.remove(["carl", "anna", "carl"]) == ["carl", "anna"]
    assert gallery.ids() == ["bert"]
    assert gallery.remove([]) == []
    with pytest.raises(NotFound, match="among its 1 set: `lookalike list`"):
        gallery.remove(["zzz"])
    with pytest.raises(BadInput, match="list"):
        gallery.remove("bert")


def test_what_cannot_be_an_id_is_not_there(gallery: Gallery) -> None:
    gallery.add(a_set("5"))
    assert "5" in gallery
    assert 5 not in gallery
    with pytest.raises(NotFound):
        gallery.get(5)
    with pytest.raises(NotFound):
        gallery.remove([5])
    with pytest.raises(NotFound, match="no set '6'"):
        list(gallery.sets(["5", "6"]))


# Using it from several places.


def test_closed(gallery: Gallery) -> None:
    gallery.add(a_set("a"))
    gallery.add(a_set("b"))
    stream = gallery.sets()
    next(stream)
    gallery.close()
    gallery.close()
    for use in (gallery.ids, lambda: next(stream), lambda: next(gallery.sets())):
        with pytest.raises(BadInput, match="was closed: open it again"):
            use()


def test_a_stream_shows_one_version_and_lets_go(gallery: Gallery, path: Path) -> None:
    for name in "abcd":
        gallery.add(a_set(name))
    stream = gallery.sets()
    assert next(stream).id == "a"
    gallery.add(a_set("e"))
    started = time.monotonic()
    gallery.remove(["c"])
    assert time.monotonic() - started < 10  # it does not wait for its own stream
    assert gallery.facts()["purge_due"] is True
    assert [found.id for found in stream] == ["b", "c", "d"]
    abandoned = gallery.sets()
    next(abandoned)
    del abandoned
    assert gallery._opened.streams == 0
    assert gallery.ids() == ["a", "b", "d", "e"]
    gallery.close()
    with Gallery(path) as again:
        assert again.facts()["purge_due"] is False


def test_threads_share_a_gallery(gallery: Gallery) -> None:
    failures: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for number in range(6):
                gallery.add(a_set(f"{thread}-{number}", number))
                assert f"{thread}-{number}" in gallery
                assert all(len(found) == 3 for found in gallery.sets())
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(gallery) == 24


def test_a_gallery_deleted_while_open_takes_nothing_more(gallery: Gallery, path: Path) -> None:
    gallery.add(a_set("a"))
    path.rename(path.parent / "moved")
    for use in (lambda: gallery.add(a_set("b")), gallery.ids, lambda: next(gallery.sets())):
        with pytest.raises(StorageFailed, match="moved, deleted or replaced while open"):
            use()
    (path.parent / "moved").rename(path)
    assert gallery.ids() == ["a"]


def test_contents_and_fingerprint_follow_every_change(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as one, Gallery(tmp_path / "g") as other:
        seen = set()
        for number in range(3):
            (one, other)[number % 2].add(FaceSet(str(number), np.eye(4)[: number + 2]))
            assert one.contents() == other.contents()
            assert list(one.contents()) == [str(n) for n in range(number + 1)]
            assert one.fingerprint() == other.fingerprint()
            seen.add(one.fingerprint())
        other.remove(["1"])
        assert list(one.contents()) == ["0", "2"]
        assert one.fingerprint() == other.fingerprint()
        assert len({*seen, one.fingerprint()}) == 4
        # What is handed out is the caller's own.
        one.contents().clear()
        assert list(one.contents()) == ["0", "2"]


def test_an_unchanged_list_of_sets_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        gallery.add(FaceSet("a", np.eye(3)))
        first = gallery.fingerprint()

        def never(*given: object) -> dict[str, str]:
            raise AssertionError("nothing has changed")

        monkeypatch.setattr("lookalike.gallery.set_rows.contents", never)
        assert gallery.fingerprint() == first
        assert list(gallery.contents()) == ["a"]


# Sets kept apart: each pair once, both ways the same, or damage is named.


def test_pairs(gallery: Gallery) -> None:
    # Ids in another order than the numbers that SQLite gives them.
    for name in "cab":
        gallery.add(a_set(name))
    assert gallery.keep_file(a_file("1"), [a_set("d")], apart=iter([("d", "a"), ("a", "c"), ("c", "a")]))
    assert gallery.keep_file(a_file("2"), [], apart=[("a", "d"), ["b", "c"]])
    assert gallery.apart() == [("a", "c"), ("a", "d"), ("b", "c")]
    assert gallery._opened.connection.execute(
        "SELECT count(*) FROM apart WHERE first < second"
    ).fetchone() == (3,)
    gallery.remove(["c"])
    assert gallery.apart() == [("a", "d")]


@pytest.mark.parametrize("wrong", [["ab"], [("a", "a")], [("a",)], [("a", "b", "c")], [None]])
def test_what_is_no_pair_is_said(gallery: Gallery, wrong: list[object]) -> None:
    with pytest.raises(BadInput, match="a pair of two ids"):
        gallery.keep_file(a_file(), [a_set("a"), a_set("b")], apart=wrong)
    assert len(gallery) == 0


def test_both_must_be_there(gallery: Gallery) -> None:
    with pytest.raises(NotFound, match="no set 'b'"):
        gallery.keep_file(a_file(), [a_set("a")], apart=[("a", "b")])
    assert (len(gallery), gallery.files(), gallery.descriptor) == (0, [], None)


@pytest.mark.parametrize("change", ["second = 3", "second = 9", "checksum = x'00'", "checksum = 'text'"])
def test_damage_is_found_out(path: Path, change: str) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.keep_file(a_file(), [a_set(name) for name in "abc"], apart=[("a", "b")])
    edit(path, f"UPDATE apart SET {change}")
    with Gallery(path) as gallery, pytest.raises(GalleryUnreadable, match="not the pair that was kept apart"):
        gallery.apart()


def test_a_renamed_set_is_found_out(path: Path) -> None:
    with Gallery(path, create=True) as gallery:
        gallery.keep_file(a_file(), [a_set("a"), a_set("b")], apart=[("a", "b")])
    edit(path, "UPDATE sets SET id = CASE id WHEN 'a' THEN x'00' ELSE id END")
    with Gallery(path) as gallery, pytest.raises(GalleryUnreadable, match="not the pair"):
        gallery.apart()
