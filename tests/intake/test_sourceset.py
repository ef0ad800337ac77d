"""SourceSet: a set is as long as it has sources."""

import dataclasses

import pytest

from lookalike.intake.sourceset import SourceSet


def test_length_and_defaults():
    found = SourceSet(id="a", origin="folder", sources=("1.jpg", "2.jpg"))
    assert len(found) == 2
    assert found.faces is None
    assert found.pictures == ()


def test_frozen():
    found = SourceSet(id="a", origin="folder", sources=())
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.id = "b"
