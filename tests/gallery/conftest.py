"""What the tests of the collection share."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lookalike.gallery.gallery import Gallery
from lookalike.indexing.store import TableStore
from tests.gallery import children
from tests.gallery.samples import QUICK


@pytest.fixture
def path() -> Iterator[Path]:
    """Where a gallery may be made, alone in its folder."""
    with tempfile.TemporaryDirectory(dir=QUICK) as folder:
        yield Path(folder) / "x.gallery"


@pytest.fixture
def gallery(path: Path) -> Iterator[Gallery]:
    with Gallery(path, create=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def obeying(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], None]:
    """What to run before a child so that it obeys permission bits, even as root."""
    if not children.permissions_can_be_obeyed(tmp_path_factory.mktemp("probe")):
        pytest.skip("this user ignores permission bits, and the capability to do so cannot be dropped")
    return children.obey_permissions


@pytest.fixture
def store(path: Path) -> TableStore:
    return TableStore.beside(path)
