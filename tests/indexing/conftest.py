"""What tests of derived tables share with those of galleries."""

from tests.gallery.conftest import gallery, obeying, path, store

__all__ = ["gallery", "obeying", "path", "store"]
