"""Engines and clusters to test: Ray takes long to start, so one serves all tests of a module."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import pytest

from lookalike import parts
from lookalike.engines.contract import Engine
from tests.engines.nodes import Nodes, one_node, two_nodes

# Ray asks for these once in a process: clusters of tests and those that the engine starts must agree.
os.environ.setdefault("RAY_AUTH_MODE", "token")
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


@pytest.fixture(scope="module", params=parts.names("engines"))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with parts.build("engines", request.param) as found:
        yield found


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with one_node() as cluster:
        yield cluster.address


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with two_nodes() as found:
        yield found
