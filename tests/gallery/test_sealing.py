"""Whatever changes a gallery leaves its seals fitting; what an older format says is sealed as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lookalike import Gallery, verify
from tests.gallery.samples import a_set, edit, write_format_1


def test_every_change_is_sealed(tmp_path: Path) -> None:
    path = tmp_path / "g"
    with Gallery(path, create=True) as gallery:
        assert verify(gallery) == []
        gallery.add(a_set("a"))
        gallery.add(a_set("b", 1))
        assert verify(gallery) == []
        gallery.set_hint("model_file", "x.onnx")
        assert verify(gallery) == []
        rng = np.random.default_rng(1)
        gallery.describe("other", [(one, rng.normal(size=(len(gallery.get(one)), 5))) for one in "ab"])
        gallery.use("other")
        assert gallery.hint("model_file") is None
        assert verify(gallery) == []
        gallery.remove(["a", "b"])
        assert verify(gallery) == []
        gallery.add(a_set("c"), "another")
        assert verify(gallery) == []
    with Gallery(path) as gallery:
        assert verify(gallery) == []


def test_an_older_gallery_is_sealed_by_its_first_change(tmp_path: Path) -> None:
    path = tmp_path / "g"
    write_format_1(path, [a_set("a", origin="film"), a_set("b", 1)])
    edit(path, "UPDATE sets SET origin = 'elsewhere' WHERE id = 'b'")
    assert verify(path) == []  # nobody can tell
    with Gallery(path) as gallery:
        gallery.add(a_set("c", 2))
    assert verify(path) == []
    edit(path, "UPDATE sets SET origin = 'elsewhere' WHERE id = 'a'")
    [found] = verify(path)
    assert "set 'a'" in found.what
    assert found.sets == ("a",)
