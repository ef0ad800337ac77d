"""Far: whoever asks a cluster from one of its machines, a line for each question and one for each answer."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lookalike import open_gallery, open_search
from lookalike.engines.ray import Ray
from lookalike.errors import LookalikeError
from lookalike.search.query import Search


def main(address: str, path: Path, stage: str) -> None:
    """Answer the ids on stdin; a search that failed is opened anew for the next, as the page does."""
    search: Search | None = None
    said: dict[str, object]
    with Ray(address) as engine, open_gallery(path) as gallery:
        for line in sys.stdin:
            try:
                if search is None:
                    search = open_search(gallery, reranker=stage, engine=engine)
                said = {"answer": search.find(line.strip()).to_dict()}
            except LookalikeError as reason:
                search, said = None, {"error": str(reason)}
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
