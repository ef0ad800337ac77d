"""Engines to test: Ray takes long to start, so one serves all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lookalike import parts
from lookalike.engines.contract import Engine


@pytest.fixture(scope="module", params=parts.names("engines"))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with parts.build("engines", request.param) as found:
        yield found
