"""Show me everything with this person in it: retrieval of face sets from unlabelled collections."""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookalike.errors import LookalikeError
    from lookalike.evaluation.experiment import evaluate
    from lookalike.faceset import FaceSet, from_arrays
    from lookalike.gallery.checks import Finding
    from lookalike.gallery.forget import forget, remove
    from lookalike.gallery.gallery import Gallery, open_gallery
    from lookalike.gallery.verify import verify
    from lookalike.indexing.build import index
    from lookalike.indexing.fit import train
    from lookalike.indexing.people import Identity, people
    from lookalike.ingest.add import add
    from lookalike.ranking import Answer, Ranking
    from lookalike.search.estimator import SetNeighbors
    from lookalike.search.explain import Explanation, Influence, Relative, Witness
    from lookalike.search.query import Search, explain, find, open_search

__version__ = "0.15.0"

__all__ = [
    "Answer",
    "Explanation",
    "FaceSet",
    "Finding",
    "Gallery",
    "Identity",
    "Influence",
    "LookalikeError",
    "Ranking",
    "Relative",
    "Search",
    "SetNeighbors",
    "Witness",
    "add",
    "evaluate",
    "explain",
    "find",
    "forget",
    "from_arrays",
    "index",
    "open_gallery",
    "open_search",
    "people",
    "remove",
    "train",
    "verify",
]

# Public names are imported when they are first used, so that `lookalike --help` does not wait for SciPy.
_HOMES = {
    "Finding": "gallery.checks",
    "Gallery": "gallery.gallery",
    "open_gallery": "gallery.gallery",
    "LookalikeError": "errors",
    "Explanation": "search.explain",
    "Influence": "search.explain",
    "Relative": "search.explain",
    "Witness": "search.explain",
    "FaceSet": "faceset",
    "from_arrays": "faceset",
    "evaluate": "evaluation.experiment",
    "forget": "gallery.forget",
    "index": "indexing.build",
    "Identity": "indexing.people",
    "people": "indexing.people",
    "add": "ingest.add",
    "Answer": "ranking",
    "Ranking": "ranking",
    "remove": "gallery.forget",
    "Search": "search.query",
    "SetNeighbors": "search.estimator",
    "explain": "search.query",
    "find": "search.query",
    "open_search": "search.query",
    "train": "indexing.fit",
    "verify": "gallery.verify",
}
# Modules that the documentation named once, and where what they held lies now.
_FORMER = {
    "backing": "gallery.backup",
    "describing": "ingest.redescribe",
    "evaluation.contrasts": "evaluation.statistics",
    "exporting": "gallery.export",
    "forgetting": "gallery.forget",
    "judging": "gallery.decisions",
    "preparing": "indexing.transform",
    "questions": "search.question",
    "refining": "search.feedback",
    "removing": "gallery.forget",
    "reporting": "evaluation",
    "reporting.report": "evaluation.report",
    "retrieval": "search.query",
    "showing": "search.picture",
    "upgrading": "gallery.backup",
    "verifying": "gallery.verify",
    "worlds": "demo",
    "worlds.collection": "demo.films",
    "worlds.footage": "demo.footage",
    "worlds.vectors": "demo.vectors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lookalike' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"lookalike.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class _Former:
    """Finds modules under their former names, with a warning.

    It is what `importlib.abc` calls a finder and a loader, which takes long to load itself.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        is_former = package == "lookalike" and name in _FORMER
        return ModuleSpec(fullname, self) if is_former else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make a module, which is replaced at once."""

    def exec_module(self, module: ModuleType) -> None:
        former = module.__name__
        now = f"lookalike.{_FORMER[former.partition('.')[2]]}"
        warnings.warn(f"{former} is {now} now; version 1.0 will not know the old name", DeprecationWarning, 3)
        sys.modules[former] = import_module(now)


sys.meta_path.insert(0, _Former())
