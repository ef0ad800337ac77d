"""What would be made next, which is announced and then not begun."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lookalike import Gallery, index, train
from lookalike.method.tables import Tables
from lookalike.preparations.contract import Preparation
from lookalike.progress import Task
from lookalike.rerankers.contract import Reranker
from lookalike.similarities.contract import SetSimilarity


class _Announced(Exception):
    def __init__(self, task: Task) -> None:
        super().__init__(task.words)
        self.task = task


def first_task(work: Callable[..., object], *given: Any, **more: Any) -> Task | None:
    """The first thing that work announces, before which it is stopped; None if it found everything done."""

    def stop(task: Task) -> None:
        raise _Announced(task)

    try:
        work(*given, **more, before=stop)
    except _Announced as announced:
        return announced.task
    return None


def is_indexed(gallery: Gallery, similarity: SetSimilarity, preparation: Preparation | str = "auto") -> bool:
    """Whether `index` would find everything done."""
    return first_task(index, gallery, similarity, preparation=preparation) is None


def is_trained(gallery: Gallery, tables: Tables, reranker: Reranker, seed: int) -> bool:
    """Whether `train` would find everything done."""
    return first_task(train, tables, reranker, seed, gallery) is None
