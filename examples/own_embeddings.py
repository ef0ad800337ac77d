"""Find a person by embeddings you already have: no gallery file, no pictures, no labels.

Run it with `python examples/own_embeddings.py`. Replace `load` by your own arrays.
"""

from __future__ import annotations

import numpy as np

from lookalike import FaceSet, open_search


def load() -> list[FaceSet]:
    """Stand in for your data: 20 people with 3 videos each, 4 embeddings of 64 numbers a video."""
    rng = np.random.default_rng(7)
    sets = []
    for number in range(60):
        person = np.random.default_rng(number // 3).normal(size=64)
        video = person + 1.2 * rng.normal(size=64)
        sets.append(FaceSet(f"video-{number:02d}", video + 0.5 * rng.normal(size=(4, 64))))
    return sets


def main() -> None:
    # Four faces a video are few for the paper's recipe, which is plain "learnt": it would warn of that.
    search = open_search(load(), similarity="max_max", reranker="learnt:over=mean,examples=near", seed=0)
    ranking = search.find("video-30", top=5)
    print(f"Who else is on {ranking.query}? {ranking.total} videos were ranked.")
    for answer in ranking:
        how = f"through {answer.through}" if answer.through else f"by {answer.way}"
        print(f"{answer.rank}. {answer.id}  {answer.score:.3f}  {how}, baseline rank {answer.baseline_rank}")

    best = ranking[0]
    evidence = search.explain("video-30", best.id)
    print(f"\nWhy {best.id}? By themselves the two are {best.baseline:.3f} alike.")
    for witness in evidence.witnesses[:3]:
        numbers = " ".join(f"{number:.2f}" for number in witness.numbers)
        print(f"proxy {witness.proxy}: s1 to s5 = {numbers}, belief {witness.belief:.3f}")


if __name__ == "__main__":
    main()
