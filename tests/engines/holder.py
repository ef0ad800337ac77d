"""Another process that has the slices of a gallery open, until somebody closes its input."""

from __future__ import annotations

import sys
from pathlib import Path

from lookalike import Gallery, open_search
from lookalike.engines.ray import Ray


def main(path: str, address: str) -> None:
    with Ray(address, slices=2) as engine, Gallery(Path(path)) as gallery:
        search = open_search(gallery, reranker="baseline", engine=engine)
        search.find(gallery.ids()[0], 1)
        print("open", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
