"""Draw people who never existed, put them into a gallery, find one of them, measure, draw the answer.

Run it with `python examples/drawn_people.py [FOLDER]`; the folder must be new or empty.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lookalike import Gallery, Search, add, index, train
from lookalike.demo.films import draw_collection, write_collection
from lookalike.evaluation.labels import read_labels
from lookalike.evaluation.protocol import leave_one_out
from lookalike.search.picture import draw_ranking


def main(folder: Path) -> None:
    write_collection(folder, draw_collection(people=10, sets=(2, 3), frames=4, size=64, seed=3))
    done = add(folder / "people.gallery", [folder / "clips"], cropped=True)
    print(f"{len(done.added)} films in {folder / 'people.gallery'}")

    with Gallery(folder / "people.gallery") as gallery:
        tables = index(gallery, "max_max")
        rerankers = {name: train(tables, name, gallery=gallery) for name in ("baseline", "learnt")}
        search = Search(tables, rerankers["learnt"])
        query = gallery.ids()[0]
        print(f"Like {query}: {', '.join(search.find(query, top=3).ids)}")
        draw_ranking(gallery, search, query, folder / "ranking.png", top=5)
        print(f"The same as a picture: {folder / 'ranking.png'}")

    # Who is who: used here to count, and known to nothing above.
    result = leave_one_out(tables, rerankers, read_labels(folder / "labels.csv"))
    for name, measures in result.to_dict()["rerankers"].items():
        print(f"{name}: mean ANR {measures['mean_anr']:.3f}, mAP {measures['map']:.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "drawn_people"))
