"""Which decisions names, renames, merges and splits make; who is who then is in test_judging."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, naming
from lookalike.errors import BadInput
from lookalike.judging import Person, undo_all


@pytest.fixture
def gallery(tmp_path: Path) -> Gallery:
    made = Gallery(tmp_path / "g", create=True)
    for number in range(4):
        made.add(FaceSet(f"s{number}", np.eye(4)[number : number + 1]))
    return made


def test_what_is_new_is_what_was_stored(gallery: Gallery) -> None:
    ada, bea = naming.name(gallery, ["s0", "s1"], "Ada"), naming.name(gallery, ["s2"], "Bea")
    assert (ada.person.number, ada.new, bea.new) == (1, [1], [2])
    assert naming.name(gallery, ["s1"], "ada").new == []
    assert naming.rename(gallery, 2, "Bee").new == [3]
    assert naming.rename(gallery, 2, "Bee") == (Person(2, "Bee", ("s2",)), [])
    assert naming.merge(gallery, 2, 1).new == [4]
    assert naming.split(gallery, 1, ["s2"]) == (None, [5])
    cleo, new = naming.split(gallery, 1, ["s1"], "Cleo")
    assert (cleo, new) == (Person(6, "Cleo", ("s1",)), [6])
    assert [one.number for one in gallery.decisions()] == [1, 2, 3, 4, 5, 6]
    assert [one.number for one in undo_all(gallery, [*new, 5])] == [6, 5]


def test_nothing_is_stored_of_a_name_that_nobody_can_see(gallery: Gallery) -> None:
    naming.name(gallery, ["s0", "s1"], "Ada")
    with pytest.raises(BadInput, match="can be seen"):
        naming.name(gallery, ["s2"], "\u200b")
    with pytest.raises(BadInput, match="can be seen"):
        naming.rename(gallery, 1, "\u2800")
    with pytest.raises(BadInput, match="can be seen"):
        naming.split(gallery, 1, ["s1"], "\u3164")
    assert len(gallery.decisions()) == 1
