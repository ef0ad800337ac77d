"""Tests are put into tiers: `make test` leaves out what is slow, `make test-slow` runs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.tiers import is_slow, may_be_quick, may_be_slow

# No test fails because a machine is slow.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

HERE = Path(__file__).parent
# What a tier has nothing of is not loaded for it.
WANTED = {"slow": may_be_slow, "not slow": may_be_quick}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    wanted = WANTED.get(config.option.markexpr)
    if wanted is None or not collection_path.match("test_*.py"):
        return None
    return None if wanted(_name(collection_path)) else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_slow(_name(item.path), getattr(item, "originalname", item.name)):
            item.add_marker(pytest.mark.slow)


def _name(path: Path) -> str:
    return path.relative_to(HERE).as_posix()
