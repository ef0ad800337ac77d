"""Models that are loaded once, whoever needs them, and leave nothing behind."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lookalike.descriptors._network import Once, open_session
from lookalike.errors import BadInput
from tests.descriptors.models import graph


def test_several_threads_load_a_model_once() -> None:
    together = threading.Barrier(4)
    loaded: list[object] = []

    def load() -> object:
        loaded.append(object())
        return loaded[-1]

    model = Once(load)

    def ask(_: int) -> object:
        together.wait()
        return model()

    with ThreadPoolExecutor(4) as several:
        assert len(set(several.map(ask, range(4)))) == 1
    assert len(loaded) == 1
    model.forget()
    assert model() is loaded[1]


def test_a_failure_is_not_kept() -> None:
    tried = []

    def load() -> str:
        tried.append(1)
        if len(tried) == 1:
            raise BadInput("it is not installed")
        return "installed meanwhile"

    model = Once(load)
    with pytest.raises(BadInput):
        model()
    assert (model(), model()) == ("installed meanwhile", "installed meanwhile")
    assert len(tried) == 2


def test_the_file_of_a_model_is_not_kept_beside_it() -> None:
    data = graph().SerializeToString()
    before = sys.getrefcount(data)
    session = open_session(data)
    assert sys.getrefcount(data) == before
    assert session.get_outputs()[0].name == "y"
