"""Lists of other tools, and columns by choice: every way in makes the same sets, and says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as arrow
import pyarrow.parquet
import pytest

from lookalike import Gallery, find, from_arrays, people
from lookalike.errors import BadInput
from lookalike.ingest.add import add
from lookalike.ingest.sources import read_source
from tests.small_world import small_world

SETS = sorted(small_world(people=8, sets=3, dimension=24, spread=0.4)[0], key=lambda one: one.id)
# Rows of all sets, mixed.
ORDER = np.random.default_rng(3).permutation(sum(map(len, SETS)))
ROWS = np.vstack([one.faces for one in SETS])[ORDER]
# As a tracker and a diarisation would call them.
IDS = [f"talk/{one}" for one in np.repeat([one.id for one in SETS], len(SETS[0]))[ORDER]]
WORLD = {one.id: one.faces for one in from_arrays(ROWS, IDS)}


def features(folder: Path) -> Path:
    np.save(folder / "rows.npy", ROWS)
    return folder / "rows.npy"


def by_csv(folder: Path) -> tuple[Path, dict[str, Any]]:
    lines = [f'{row},"{id}","at, {row}",Ada' for row, id in enumerate(IDS)]
    (folder / "rows.csv").write_text("\n".join(["number,set_id,source,person", *lines]) + "\n")
    return folder / "rows.csv", {"features": features(folder)}


def by_rttm(folder: Path) -> tuple[Path, dict[str, Any]]:
    lines = [
        f"SPEAKER {id.partition('/')[0]} 1 {row}.25 1.5 <NA> <NA> {id.partition('/')[2]} <NA> <NA>"
        for row, id in enumerate(IDS)
    ]
    text = "\n".join([*lines[:5], "", "SPKR-INFO talk 1 <NA> <NA> <NA> unknown Ada <NA> <NA>", *lines[5:]])
    (folder / "talk.rttm").write_text(text)
    return folder / "talk.rttm", {"features": features(folder)}


def by_coco(folder: Path) -> tuple[Path, dict[str, Any]]:
    images = [{"id": row, "file_name": f"{row}.jpg", "video_id": "talk"} for row in range(len(IDS))]
    told = [
        {
            "id": row,
            "image_id": row,
            "track_id": id.partition("/")[2],
            "bbox": [1, 2.5, 30, 40],
            "category_id": 1,
        }
        for row, id in enumerate(IDS)
    ]
    path = folder / "instances.json"
    path.write_text(json.dumps({"images": images, "annotations": told, "categories": [{"name": "Ada"}]}))
    return path, {"features": features(folder)}


def by_parquet(folder: Path) -> tuple[Path, dict[str, Any]]:
    table = arrow.table({"clip": IDS, "vector": ROWS.tolist(), "other": [[0.0]] * len(IDS), "file": IDS})
    arrow.parquet.write_table(table, folder / "rows.parquet")
    return folder / "rows.parquet", {"columns": {"set_id": "clip", "source": "file"}, "array": "vector"}


def by_npz(folder: Path) -> tuple[Path, dict[str, Any]]:
    np.savez(folder / "rows.npz", clip=np.array(IDS), vector=ROWS, where=np.array(IDS))
    return folder / "rows.npz", {"columns": {"set_id": "clip", "source": "where"}}


WAYS: list[Callable[[Path], tuple[Path, dict[str, Any]]]] = [by_csv, by_rttm, by_coco, by_parquet, by_npz]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_makes_the_same_sets(way: Any, tmp_path: Path) -> None:
    path, options = way(tmp_path)
    found = {one.id: one for one in read_source(path, **options)}
    assert found.keys() == WORLD.keys()
    for id, one in found.items():
        assert one.faces is not None
        assert np.array_equal(one.faces, WORLD[id])
        assert not any("Ada" in source for source in one.sources)
    few = {one.id: one for one in read_source(path, **options, most=2)}
    assert {len(one) for one in few.values()} == {2}


def test_what_is_from_where(tmp_path: Path) -> None:
    first = IDS[0]
    told = {way.__name__: next(one for one in read_source(path, **options) if one.id == first).sources[0]
            for way in WAYS for path, options in [way(tmp_path)]}  # fmt: skip
    assert told == {
        "by_csv": "at, 0",
        "by_rttm": "talk at 0.25 s",
        "by_coco": "0.jpg [1,2.5,30,40]",
        "by_parquet": first,
        "by_npz": first,
    }


def test_out_and_in_again_gives_the_same_people(tmp_path: Path) -> None:
    """By the command's own way, in galleries: from each list, and from the export of the first."""
    from lookalike.gallery.export import export

    proposed, ranked = [], []
    for number, way in enumerate([by_rttm, by_parquet]):
        path, options = way(tmp_path)
        add(tmp_path / f"{number}.gallery", [path], descriptor="voices, version 1", **options)
    with Gallery(tmp_path / "0.gallery") as gallery:
        export(gallery, tmp_path / "out.npz")
    add(tmp_path / "2.gallery", [tmp_path / "out.npz"], array="descriptors")
    for number in range(3):
        with Gallery(tmp_path / f"{number}.gallery") as gallery:
            assert gallery.descriptor == "voices, version 1"
            proposed.append([(one.sets, one.probability) for one in people(gallery)])
            ranked.append(find(IDS[0], gallery, top=5).ids)
    assert proposed[0] == proposed[1] == proposed[2]
    assert len(proposed[0]) > 2
    assert ranked[0] == ranked[1] == ranked[2]


def test_an_annotation_without_a_track_is_a_set_of_one(tmp_path: Path) -> None:
    told = {"images": [{"id": 7, "file_name": "zebra.jpg"}], "annotations": [{"id": 3, "image_id": 7}]}
    (tmp_path / "c.json").write_text(json.dumps(told))
    np.save(tmp_path / "one.npy", ROWS[:1])
    [found] = read_source(tmp_path / "c.json", features=tmp_path / "one.npy")
    assert (found.id, found.sources) == ("zebra.jpg#3", ("zebra.jpg",))


TURN = "SPEAKER talk 1 0.5 1.5 <NA> <NA> spk0 <NA> <NA>\n"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "set_id,set_id\na,b\n", "one column 'set_id'"),
        ("a.csv", "set_id,source\na\n", "too many or too few values in line 2"),
        ("a.csv", 'set_id\n"a\n', "not a csv file"),
        ("a.csv", "set_id\n\n", "lists nothing"),
        ("a.csv", 'set_id,x\n" ",1\n', "a set in line 2 that cannot be used"),
        ("a.csv", 'set_id,x\n"a\nb",1\n', "control characters"),
        ("a.csv", "set_id\n" + "a\n" * 7, "lists 7 faces"),
        ("a.rttm", TURN + "SPEAKER talk 1 0.5\n", "4 values in line 2"),
        ("a.rttm", TURN.replace("0.5", "soon"), "'soon' in line 1, where the start"),
        ("a.rttm", TURN.replace("0.5", "nan"), "'nan' in line 1"),
        ("a.rttm", TURN.replace("0.5", "-1"), "'-1' in line 1"),
        ("a.json", "{", "not JSON"),
        ("a.json", '{"images": []}', "no list 'annotations'"),
        ("a.json", '{"images": [1], "annotations": []}', "no list 'images' of objects"),
        ("a.json", '{"images": [], "annotations": []}', "lists nothing"),
        ("a.json", '{"images": [], "annotations": [{"image_id": 1}]}', "no image of annotation 0"),
        ("a.json", '{"images": [{"id": []}], "annotations": [{"image_id": []}]}', "no image of annotation 0"),
        ("a.json", "[" * 100_000, "nothing that can be read"),
        ("a.json", '{"a":' * 100_000, "not JSON"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=words):
        list(read_source(tmp_path / name, features=features(tmp_path)))


@pytest.mark.parametrize("way", [by_parquet, by_npz])
def test_columns_that_are_not_there_are_refused(way: Any, tmp_path: Path) -> None:
    path, options = way(tmp_path)
    for columns, words in (
        ({"set_id": "nothing"}, "no (column|array) 'nothing'"),
        ({"set_id": "vector"}, "names of sets|one name or whole number"),
        ({"person": "clip"}, "no column 'person' to be chosen: choose from set_id, source"),
    ):
        with pytest.raises(BadInput, match=words):
            list(read_source(path, **{**options, "columns": columns}))
    path, options = by_csv(tmp_path)
    with pytest.raises(BadInput, match="no column 'set_id' to be chosen: leave it out"):
        list(read_source(path, **options, columns={"set_id": "x"}))
