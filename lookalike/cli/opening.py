"""Open a gallery for questions, and tell what a person asks with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.cli.terminal import Progresses, say
from lookalike.errors import NotFound

if TYPE_CHECKING:
    from lookalike import FaceSet, Gallery, Search


def open_gallery(gallery: Gallery, similarity: str, reranker: str, seed: int, quiet: bool) -> Search:
    """Check every parameter, then index and train what is missing, saying first what has to be made."""
    from lookalike import index as make_index
    from lookalike import parts
    from lookalike import train as fit
    from lookalike.indexing import is_indexed
    from lookalike.retrieval import Search
    from lookalike.training import check_seed, is_trained

    track = Progresses(quiet)
    check_seed(seed)
    second = parts.build("rerankers", reranker)
    second.check()
    first = parts.build("similarities", similarity)
    if len(gallery) and not is_indexed(gallery, first):
        say(f"indexing {len(gallery)} sets by {similarity} first; this is kept", quiet)
    tables = make_index(gallery, first, track)
    if not is_trained(gallery, tables, second, seed):
        say(f"training {reranker} on {len(tables)} sets first; this is kept", quiet)
    return Search(tables, fit(tables, second, seed, gallery, track))


def read_asked(gallery: Gallery, text: str, set_id: str | None) -> str | FaceSet:
    """Tell a set id from a path; an id comes first."""
    from lookalike.ingest import read_query
    from lookalike.intake.paths import is_there

    if set_id is None and text in gallery:
        return text
    if text and is_there(Path(text)):
        return read_query(gallery, Path(text), set_id)
    try:
        gallery.get(text)
    except NotFound as reason:
        raise NotFound(f"{reason} (nor is {text!r} a file or folder)") from reason
    raise NotFound(f"{text!r} is a set of the gallery, not a file: leave --set out")
