"""Open a gallery for questions, and tell what a person asks with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.cli.terminal import Progresses, counted, say
from lookalike.errors import BadInput, NotFound
from lookalike.sighting import seconds

if TYPE_CHECKING:
    from lookalike import FaceSet, Gallery, Search
    from lookalike.engines.contract import Engine
    from lookalike.rerankers.contract import Reranker
    from lookalike.transitivity.tables import Tables


def open_search_of(
    gallery: Gallery,
    similarity: str,
    reranker: str,
    seed: int,
    quiet: bool,
    shortlist: bool | None = False,
    prepare: str = "auto",
    engine: Engine | str = "local",
) -> Search:
    """Check every parameter, then index and train what is missing, saying first what has to be made."""
    from lookalike import parts
    from lookalike.calibrating import calibrate
    from lookalike.retrieval import Search
    from lookalike.shortlisting import check_shortlist, open_shortlist, will_be_made
    from lookalike.training import check_seed

    check_seed(seed)
    method = parts.build("rerankers", reranker)
    method.check()
    check_shortlist(parts.build("similarities", similarity), method, shortlist)
    tables = open_tables(gallery, similarity, quiet, prepare, engine=engine)
    [fitted] = train_method(gallery, tables, reranker, [seed], quiet)
    if will_be_made(tables, fitted, shortlist, gallery):
        say(f"coding the faces of {counted(len(tables))} for shortlists first; this is kept", quiet)
    sure = calibrate(tables, fitted, seed, gallery, Progresses(quiet))
    return Search(tables, fitted, open_shortlist(tables, fitted, shortlist, gallery), sure)


def open_engine(name: str, address: str | None) -> Engine:
    """The engine that is asked for; to be closed when the work is done."""
    from lookalike import parts

    given = "" if address is None else f"{',' if ':' in name else ':'}address={address}"
    engine: Engine = parts.build("engines", f"{name}{given}")
    return engine


def open_tables(
    gallery: Gallery,
    similarity: str,
    quiet: bool,
    prepare: str = "auto",
    again: bool = False,
    engine: Engine | str = "local",
) -> Tables:
    """Learn and index what is missing, saying first what that takes; learn the preparation again if asked."""
    from lookalike import index, parts, preparing
    from lookalike.indexing import needed

    part, chosen = parts.build("similarities", similarity), preparing.choose(gallery, prepare)
    if again and not chosen.is_learnt:
        say(f"{parts.spec(chosen)} learns nothing: there is nothing to learn again", quiet)
    elif len(gallery) and (again or not preparing.is_ready(gallery, chosen)):
        say(f"learning {parts.spec(chosen)} from {counted(len(gallery))}; this is kept", quiet)
        preparing.prepare(gallery, prepare, Progresses(quiet), again)
    need = None if quiet else needed(gallery, part, prepare)
    if need is not None:
        say(f"indexing {counted(len(gallery))} by {similarity}, which is kept: {need}")
    return index(gallery, part, Progresses(quiet), prepare, engine)


def train_method(
    gallery: Gallery, tables: Tables, reranker: str, seeds: Sequence[int], quiet: bool
) -> list[Reranker]:
    """Train what is missing, saying so first: once for each seed if chance has a part in it."""
    from lookalike import parts, train
    from lookalike.training import is_trained

    fitted = []
    for seed in seeds if parts.build("rerankers", reranker).is_random else seeds[:1]:
        part = parts.build("rerankers", reranker)
        if not is_trained(gallery, tables, part, seed):
            say(f"training {reranker} on {len(tables)} sets first; this is kept", quiet)
        fitted.append(train(tables, part, seed, gallery, Progresses(quiet)))
        if fitted[-1].caution:
            say(f"lookalike: {fitted[-1].caution}", quiet)
    return fitted


def read_asked(
    gallery: Gallery, text: str, set_id: str | None, face: int | None = None, at: str | None = None
) -> str | FaceSet:
    """Tell a set id from a path; an id comes first."""
    from lookalike.intake.paths import is_there

    time = None if at is None else seconds(at)
    if (set_id, face, time) == (None, None, None) and text in gallery:
        return text
    if text and is_there(Path(text)):
        # Here, since what reads films takes longer to load than a set of the gallery takes to be found.
        from lookalike.questions import read_query

        return read_query(gallery, Path(text), set_id, face, time)
    try:
        gallery.get(text)
    except NotFound as reason:
        raise NotFound(f"{reason} (nor is {text!r} a file or folder)") from reason
    raise BadInput(f"{text!r} is a set of the gallery, not a file: leave --set, --face and --at out")
