"""Engines and clusters to test: Ray takes long to start, so one serves all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lookalike import registry
from lookalike.engines.contract import Engine
from tests.engines.nodes import Nodes, one_node, settle, two_nodes

settle()


@pytest.fixture(scope="module", params=registry.names("engines"))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with registry.build("engines", request.param) as found:
        yield found


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with one_node() as cluster:
        yield cluster.address


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with two_nodes() as found:
        yield found
