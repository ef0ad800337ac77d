"""Methods: the ways of searching that can be chosen on the page."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Final, NamedTuple

from lookalike import parts
from lookalike.errors import LookalikeError, NotFound
from lookalike.server.models import MethodView

# For people who do not know the formulas, which docs/method.md has; in the order in which they are offered.
WORDS: Final = {
    "auto": "Chooses by itself: as the next one where that helps this collection, else by likeness alone.",
    "adaptive": "Takes off what strangers who look alike explain, and asks other clips of both people too.",
    "learnt": "Learns from this collection when a third clip that looks like both can be believed.",
    "baseline": "By likeness alone: no other clip is asked.",
    "arithmetic_mean": "Through the third clip that looks most like both, on average.",
    "geometric_mean": "Through the third clip that looks most like both; it must look like each.",
    "quadratic_mean": "Through the third clip that looks most like both; much like one is enough.",
    "as_norm": "Likeness measured against the clips that look most like each of the two.",
    "csls": "Takes off how much each of the two looks like everybody.",
    "query_expansion": "Asks with the first answers too.",
    "k_reciprocal": "Two clips belong together if each is near the other, and their neighbours are the same.",
    "cprr": "Clips that have both among their nearest vote for the pair.",
    "rl_sim": "Two clips belong together if their lists of nearest clips are the same.",
    "diffusion": "Follows likeness from clip to clip, as a walk that often starts anew.",
}


class Method(NamedTuple):
    """A way of searching: a set similarity and a second stage, as `lookalike.parts` writes them."""

    similarity: str
    reranker: str


def method_of(similarity: str, reranker: str, proxies: int | None) -> Method:
    """Choose by names alone: options could ask for any amount of work.

    The number of proxies is given to second stages that ask proxies; others have no use for it.

    Raises
    ------
    NotFound
        If there is no part of this name.
    """
    known, chosen = similarities(), {one.name: one for one in methods()}
    if similarity not in known:
        raise NotFound(f"there is no similarity called {similarity!r}: choose one of {', '.join(known)}")
    if reranker not in chosen:
        raise NotFound(f"there is no method called {reranker!r}: choose one of {', '.join(chosen)}")
    if proxies is None or not chosen[reranker].proxies:
        return Method(similarity, reranker)
    return Method(similarity, f"{reranker}:proxies={proxies}")


@cache
def similarities() -> tuple[str, ...]:
    """Names of all set similarities."""
    return tuple(parts.names("similarities"))


@cache
def methods() -> tuple[MethodView, ...]:
    """All second stages that work here: first those in plain words, then others as their authors tell."""
    found = {}
    for name in parts.names("rerankers"):
        try:
            cls = parts.part_class("rerankers", name)
        except LookalikeError:  # of another package, and broken
            continue
        words = WORDS.get(name) or (inspect.getdoc(cls) or name).partition("\n\n")[0].replace("\n", " ")
        asks = "proxies" in inspect.signature(cls).parameters
        found[name] = MethodView(name=name, words=words, proxies=asks)
    return (
        *(found[name] for name in WORDS if name in found),
        *(found[name] for name in found.keys() - WORDS.keys()),
    )
