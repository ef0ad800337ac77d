"""Show me everything with this person in it: retrieval of face sets from unlabelled collections."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookalike.collection.findings import Finding
    from lookalike.collection.gallery import Gallery
    from lookalike.collection.opening import open_gallery
    from lookalike.errors import LookalikeError
    from lookalike.explanation import Explanation, Influence, Relative, Witness
    from lookalike.faceset import FaceSet
    from lookalike.forgetting import forget
    from lookalike.indexing import index
    from lookalike.ingest import add
    from lookalike.ranking import Answer, Ranking
    from lookalike.removing import remove
    from lookalike.retrieval import Search, explain, find, open_search
    from lookalike.training import train
    from lookalike.verifying import verify

__version__ = "0.12.0"

__all__ = [
    "Answer",
    "Explanation",
    "FaceSet",
    "Finding",
    "Gallery",
    "Influence",
    "LookalikeError",
    "Ranking",
    "Relative",
    "Search",
    "Witness",
    "add",
    "explain",
    "find",
    "forget",
    "index",
    "open_gallery",
    "open_search",
    "remove",
    "train",
    "verify",
]

# Public names are imported when they are first used, so that `lookalike --help` does not wait for SciPy.
_HOMES = {
    "Finding": "collection.findings",
    "Gallery": "collection.gallery",
    "open_gallery": "collection.opening",
    "LookalikeError": "errors",
    "Explanation": "explanation",
    "Influence": "explanation",
    "Relative": "explanation",
    "Witness": "explanation",
    "FaceSet": "faceset",
    "forget": "forgetting",
    "index": "indexing",
    "add": "ingest",
    "Answer": "ranking",
    "Ranking": "ranking",
    "remove": "removing",
    "Search": "retrieval",
    "explain": "retrieval",
    "find": "retrieval",
    "open_search": "retrieval",
    "train": "training",
    "verify": "verifying",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lookalike' has no attribute {name!r}")
    return getattr(import_module(f"lookalike.{_HOMES[name]}"), name)
