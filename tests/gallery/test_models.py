"""Vectors of other models: beside the current ones, exchanged wholly or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import BadInput, Conflict, GalleryUnreadable, NotFound
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.models import Model
from tests.gallery.samples import a_file, a_set, edit, sightings


def vectors(seed: int, count: int = 3, dimension: int = 6) -> np.ndarray:
    return np.random.default_rng(seed + 1000).normal(size=(count, dimension)).astype(np.float32)


def filled(gallery: Gallery) -> None:
    """Sets 'a' and 'b', of which everything is known that a gallery can know."""
    known = {"sources": ["1", "2", "3"], "pictures": [b"1", b"22", b""], "sightings": sightings()}
    sets = [a_set(name, seed, origin="film", **known) for seed, name in enumerate("ab")]
    gallery.keep_file(a_file(), sets, apart=[("a", "b")], descriptor="old")


def told(gallery: Gallery) -> list[tuple[object, ...]]:
    """Everything but the descriptors."""
    sets = [gallery.get(name, pictures=True) for name in gallery.ids()]
    rest = [(one.id, one.origin, one.sources, one.pictures, one.sightings) for one in sets]
    return [*rest, *gallery.listing(), gallery.apart(), gallery.files()]


def test_another_model_is_described_in_batches_and_used(gallery: Gallery) -> None:
    assert gallery.models() == []
    filled(gallery)
    before, contents, print_before = told(gallery), gallery.contents(), gallery.fingerprint()
    old = {one.id: one.faces.tobytes() for one in gallery.sets()}
    assert gallery.models() == [Model("old", 4, True, 6)]
    assert gallery.undescribed("new") == ["a", "b"]
    gallery.describe("new", [("b", vectors(2))])
    assert gallery.models() == [Model("old", 4, True, 6), Model("new", 6, False, 3)]
    assert gallery.undescribed("new") == ["a"]
    with pytest.raises(Conflict, match=r"3 of the 6 faces of .* are not described by 'new': describe them"):
        gallery.use("new")
    gallery.describe("new", iter([("a", vectors(9)), ("b", vectors(1))]))
    gallery.describe("new", [("a", vectors(0))])  # again, and this is the one that counts
    assert (gallery.undescribed("new"), gallery.undescribed("old")) == ([], [])
    assert gallery.fingerprint() == print_before

    gallery.use("new")
    assert (gallery.descriptor, gallery.dimension) == ("new", 6)
    assert gallery.models() == [Model("new", 6, True, 6), Model("old", 4, False, 6)]
    for seed, one in enumerate(gallery.sets()):
        np.testing.assert_array_equal(one.faces, vectors(seed))
        # As if the set had been added with these descriptors.
        assert gallery.contents()[one.id] == gallery.get(one.id, pictures=True).content_hash()
    assert told(gallery) == before
    assert not set(gallery.contents().values()) & set(contents.values())

    gallery.use("new")
    gallery.use("old")
    assert {one.id: one.faces.tobytes() for one in gallery.sets()} == old
    assert (gallery.contents(), gallery.fingerprint(), told(gallery)) == (contents, print_before, before)
    assert gallery.models() == [Model("old", 4, True, 6), Model("new", 6, False, 6)]


def test_new_faces_make_other_models_incomplete(gallery: Gallery) -> None:
    gallery.add(a_set("a"), "old")
    gallery.describe("new", [("a", vectors(0))])
    gallery.add(a_set("b"), "old")
    assert gallery.undescribed("new") == ["b"]
    gallery.describe("new", [("b", vectors(1))])
    gallery.keep_file(a_file(), [], [a_set("a", 5, 2)], descriptor="old")
    assert gallery.models()[1] == Model("new", 6, False, 6)
    assert gallery.undescribed("new") == ["a"]
    with pytest.raises(Conflict, match="2 of the 8 faces"):
        gallery.use("new")
    with pytest.raises(Conflict, match=r"set 'a' of .* has 5 faces, 3 were described: read the set again"):
        gallery.describe("new", [("b", vectors(7)), ("a", vectors(0))])
    gallery.describe("new", [("a", vectors(0, 5))])
    gallery.use("new")
    np.testing.assert_array_equal(gallery.get("b").faces, vectors(1))


def test_refusals_change_nothing(gallery: Gallery) -> None:
    filled(gallery)
    before = gallery.fingerprint(), gallery.models()
    for name, given, error, says in (
        ("old", [("a", vectors(0))], Conflict, "described by 'old' already"),
        ("new", [("a", vectors(0)), ("b", vectors(1, 3, 7))], Conflict, "6 numbers made by 'new', .* have 7"),
        ("new", [("a", vectors(0)), ("c", vectors(1))], NotFound, "no set 'c'"),
        ("new", [("a", vectors(0, 2))], Conflict, "has 3 faces, 2 were described"),
        ("new", [("a", np.ones((3, 6)))], BadInput, "all numbers equal"),
        ("", [("a", vectors(0))], BadInput, "named by printable text"),
    ):
        with pytest.raises(error, match=says):
            gallery.describe(name, given)
    with pytest.raises(NotFound, match="no vectors made by 'new', only by 'old': describe its sets first"):
        gallery.use("new")
    assert (gallery.fingerprint(), gallery.models()) == before


def test_removing_removes_vectors_and_an_empty_gallery_forgets_models(gallery: Gallery) -> None:
    filled(gallery)
    gallery.describe("new", [("a", vectors(0)), ("b", vectors(1))])
    gallery.set_hint("model_file", "/old.onnx")
    gallery.remove(["a"])
    assert [model.faces for model in gallery.models()] == [3, 3]
    gallery.use("new")
    assert gallery.hint("model_file") is None  # it was about the other model
    gallery.set_hint("model_file", "/new.onnx")
    gallery.remove(["b"])
    assert (gallery.models(), gallery.hint("model_file")) == ([], None)
    with pytest.raises(NotFound, match="only by none"):
        gallery.use("old")
    gallery.add(a_set("a", dimension=9), "third")
    gallery.describe("new", [("a", vectors(0, 3, 5))])
    assert gallery.models() == [Model("third", 9, True, 3), Model("new", 5, False, 3)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            "UPDATE vectors SET descriptor = zeroblob(24) WHERE number = 2",
            "face 1 of set 'a' as described by",
        ),
        ("UPDATE vectors SET descriptor = zeroblob(4) WHERE number = 2", "face 1 of set 'a' as described by"),
        ("UPDATE vectors SET descriptor = 'text' WHERE number = 5", "face 1 of set 'b' as described by"),
        (
            "UPDATE vectors SET face = (4 - face) * (1 - 2 * (face > 0)) WHERE number IN (1, 3); "
            "UPDATE vectors SET face = -face WHERE face < 0",
            "face 0 of set 'a' as described by",
        ),
        ("UPDATE models SET name = 'other' WHERE name = 'third'", None),
        ("UPDATE models SET dimension = 7 WHERE name = 'new'", "face 0 of set 'a' as described by"),
        ("UPDATE models SET dimension = 'many' WHERE name = 'new'", "its list of models has 'new' of 'many'"),
        ("UPDATE models SET name = CASE name WHEN 'new' THEN 'x' ELSE 'new' END", "as described by 'new'"),
        ("UPDATE faces SET descriptor = zeroblob(16) WHERE number = 6", "face 2 of set 'b' does not fit"),
        ("UPDATE faces SET picture = x'00' WHERE number = 6", "the pictures of set 'b' do not fit"),
    ],
)
def test_damage_is_found_out_and_not_written_over(path: Path, change: str, says: str | None) -> None:
    with Gallery(path, create=True) as gallery:
        filled(gallery)
        for name in ("new", "third"):
            gallery.describe(name, [("a", vectors(0)), ("b", vectors(1))])
    edit(path, *change.split("; "))
    with Gallery(path) as gallery:
        if says is None:  # damage elsewhere is no reason to refuse
            gallery.use("new")
            return
        with pytest.raises(GalleryUnreadable, match=says):
            gallery.use("new")
        assert gallery.descriptor == "old"
        assert len(gallery.get("a")) == 3
