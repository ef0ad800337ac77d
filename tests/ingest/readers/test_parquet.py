"""Parquet files: rows become sets whatever their order, little is in memory, and what is refused."""

import io
import logging
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lookalike.errors import BadInput, NotFound
from lookalike.ingest.readers import parquet
from lookalike.ingest.readers.parquet import column_names, read_parquet
from lookalike.ingest.reading import read_apart
from lookalike.ingest.sandbox import Limits

# Five faces, rows scattered: set b is rows 0, 2 and 4, set a is rows 1 and 3.
FACES = np.array([[0, 1], [10, 11], [20, 21], [30, 31], [40, 41]], dtype=np.float32)
IDS = ["b", "a", "b", "a", "b"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "faces.parquet"


def lists(values=FACES, kind=None):
    kind = kind or pa.list_(pa.float32())
    # Half precision is made of NumPy's numbers only.
    number = np.float16 if pa.types.is_float16(kind.value_type) else lambda value: value
    return pa.array([None if row is None else [*map(number, row)] for row in values], kind)


def save(path, without=(), rows=None, **changes):
    columns = {"set_id": IDS, "embedding": lists()} | changes
    table = pa.table({name: column for name, column in columns.items() if name not in without})
    pq.write_table(table, path, row_group_size=rows)
    return path


def faces_of(found):
    return {one.id: one.faces.tolist() for one in found}


def test_rows_may_be_scattered(path):
    a, b = read_parquet(save(path))
    # a is complete with row 3, b with row 4.
    assert (a.id, b.id) == ("a", "b")
    np.testing.assert_array_equal(a.faces, FACES[[1, 3]])
    np.testing.assert_array_equal(b.faces, FACES[[0, 2, 4]])
    assert a.faces.dtype == np.float32
    assert (a.origin, a.array, a.pictures) == (str(path), "embedding", ())
    assert a.sources == ("faces.parquet#1", "faces.parquet#3")


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.float32()),
        pa.list_(pa.float64()),
        pa.list_(pa.float16()),
        pa.large_list(pa.float32()),
        pa.list_(pa.float32(), 2),
        pa.list_(pa.float64(), 2),
    ],
    ids=str,
)
def test_every_kind_of_list(path, kind):
    found = read_parquet(save(path, embedding=lists(kind=kind)))
    assert faces_of(found) == {"a": FACES[[1, 3]].tolist(), "b": FACES[[0, 2, 4]].tolist()}


@pytest.mark.parametrize(
    "ids",
    [
        pa.array(IDS, pa.large_string()),
        pa.array(IDS).dictionary_encode(),
        pa.array(IDS, pa.string_view()),
    ],
    ids=lambda ids: str(ids.type)[:12],
)
def test_every_kind_of_text(path, ids):
    assert [one.id for one in read_parquet(save(path, set_id=ids))] == ["a", "b"]


def test_whole_numbers_name_sets(path):
    assert [one.id for one in read_parquet(save(path, set_id=pa.array([7, -1, 7, -1, 7])))] == ["-1", "7"]


def test_all_that_is_known_of_where_a_face_came_from(path):
    save(
        path,
        source=pa.array(["s0", "", None, "s3", "s4"]),
        frame=pa.array([1, 2, None, 4, 5]),
        t=pa.array([0.25, 0.5, 0.75, None, 1.0]),
        **{side: pa.array([1.5, 2, 3, 4, None if side == "w" else 5]) for side in "xywh"},
    )
    a, b = read_parquet(path)
    assert a.sources == ("faces.parquet#1 frame 2 0.5 s [2,2,2,2]", "s3 frame 4 [4,4,4,4]")
    assert b.sources == (
        "s0 frame 1 0.25 s [1.5,1.5,1.5,1.5]",
        "faces.parquet#2 0.75 s [3,3,3,3]",
        "s4 frame 5 1 s",
    )


def test_time_comes_before_t_and_half_a_box_is_no_box(path):
    a, _ = read_parquet(save(path, time=[1.0] * 5, t=[2.0] * 5, x=[1] * 5, y=[1] * 5))
    assert a.sources == ("faces.parquet#1 1 s", "faces.parquet#3 1 s")


def test_what_is_not_a_number_is_not_said(path):
    a, _ = read_parquet(save(path, time=pa.array([1.0, np.nan, 1.0, 0.5, 1.0]), frame=[12345678901] * 5))
    assert a.sources == ("faces.parquet#1 frame 12345678901", "faces.parquet#3 frame 12345678901 0.5 s")


def test_places_of_another_type_are_passed_over(path, caplog):
    with caplog.at_level(logging.INFO):
        a, _ = read_parquet(save(path, frame=pa.array([b"jpeg"] * 5), source=pa.array([1] * 5)))
    assert a.sources == ("faces.parquet#1", "faces.parquet#3")
    assert "column 'frame' was passed over, it holds binary" in caplog.text


def test_people_are_not_read(path, monkeypatch):
    """Neither by name nor by accident: only the columns that are needed are ever asked for."""
    asked = []
    plain = pq.ParquetFile.iter_batches

    def spy(self, *args, columns, **options):
        asked.extend(columns)
        return plain(self, *args, columns=columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spy)
    save(path, person=["Dorothea"] * 5, label=lists(), quality=[1.0] * 5)
    assert [one.id for one in read_parquet(path)] == ["a", "b"]
    assert set(asked) == {"set_id", "embedding"}


def test_choosing_a_column(path):
    save(path, face=lists(FACES + 100))
    assert column_names(path) == ["embedding", "face"]
    assert next(read_parquet(path, "face")).faces.tolist() == (FACES + 100)[[1, 3]].tolist()
    with pytest.raises(
        BadInput, match=r"faces\.parquet.*several columns.*choose the array: embedding, face$"
    ):
        read_parquet(path)
    with pytest.raises(BadInput, match=r"no faces in 'nose'.*choose the array: embedding, face$"):
        read_parquet(path, "nose")
    with pytest.raises(BadInput, match="no faces in 'set_id'"):
        read_parquet(path, "set_id")


@pytest.mark.parametrize("name", ["person", "label", "subject_id"])
def test_labels_cannot_be_chosen_as_faces(path, name):
    save(path, **{name: lists()})
    assert column_names(path) == ["embedding"]
    with pytest.raises(BadInput, match=f"no faces in '{name}'"):
        read_parquet(path, name)


def test_a_column_with_a_dot_and_its_namesake(path):
    save(path, without=["embedding"], **{"e": lists(), "e.x": lists(FACES + 1)})
    assert next(read_parquet(path, "e")).faces.tolist() == FACES[[1, 3]].tolist()
    assert next(read_parquet(path, "e.x")).faces.tolist() == (FACES + 1)[[1, 3]].tolist()


def test_most(path):
    long = np.arange(22, dtype=np.float32).reshape(11, 2)
    save(path, set_id=["a"] * 11, embedding=lists(long), rows=2)
    for most, rows in ((3, [0, 5, 10]), (1, [0]), (11, range(11)), (None, range(11))):
        [found] = read_parquet(path, most=most)
        assert found.faces.tolist() == long[list(rows)].tolist()
        assert found.sources == tuple(f"faces.parquet#{row}" for row in rows)


def test_row_groups_and_batches_do_not_matter(path, monkeypatch):
    rng = np.random.default_rng(0)
    ids = [str(number) for number in rng.integers(0, 9, 60)]
    values = rng.normal(size=(60, 3)).astype(np.float32)
    whole = list(read_parquet(save(path, set_id=ids, embedding=lists(values)), most=4))
    save(path, rows=7, set_id=ids, embedding=lists(values, pa.list_(pa.float32(), 3)))
    monkeypatch.setattr(parquet, "BATCH_BYTES", 8 * 3 * 5)
    monkeypatch.setattr(parquet, "ID_ROWS", 4)
    cut = list(read_parquet(path, most=4))
    assert [(one.id, one.sources) for one in cut] == [(one.id, one.sources) for one in whole]
    for one, other in zip(cut, whole, strict=True):
        np.testing.assert_array_equal(one.faces, other.faces)


def test_sorted_rows_are_streamed(path, monkeypatch):
    """With the rows of a set together, sets come out while the rest of the file was not yet unpacked."""
    monkeypatch.setattr(parquet, "BATCH_BYTES", 8 * 2 * 2)
    read = []
    plain = parquet.Rows.faces
    monkeypatch.setattr(parquet.Rows, "faces", lambda rows, *given: read.append(1) or plain(rows, *given))
    save(path, set_id=["a", "a", "b", "b", "c"])
    found = read_parquet(path)
    assert read == []
    assert next(found).id == "a"
    assert len(read) == 1
    assert [one.id for one in found] == ["b", "c"]
    assert len(read) == 3


def test_scattered_rows_that_would_fill_the_memory(path, monkeypatch):
    monkeypatch.setattr(parquet, "MOST_WAITING", 3 * 2 * 4)
    monkeypatch.setattr(parquet, "BATCH_BYTES", 8 * 2)
    assert [one.id for one in read_parquet(save(path, set_id=["a", "a", "a", "b", "b"]))] == ["a", "b"]
    with pytest.raises(
        BadInput, match=r"2 sets that are not complete by row 4.*sort the rows by 'set_id'.*--most"
    ):
        list(
            read_parquet(save(path, set_id=["a", "b", "a", "b", "b", "a"], embedding=lists([*FACES, [1, 2]])))
        )


def test_more_rows_than_any_collection_has(path, monkeypatch):
    monkeypatch.setattr(parquet, "MOST_ROWS", 4)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *_, **__: pytest.fail("unpacked"))
    with pytest.raises(BadInput, match="claims 5 rows, more than 4: split it"):
        read_parquet(save(path))


def test_a_small_file_that_claims_much(path):
    """Many zeros take few bytes, as run lengths."""
    wide = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(70_000, np.float32)), 70_000)
    for vectors in (wide, wide.cast(pa.list_(pa.float32()))):
        save(path, set_id=["a"], embedding=vectors)
        assert path.stat().st_size < 20_000
        with pytest.raises(BadInput, match="has 70000 numbers in row 0 of 'embedding'"):
            list(read_parquet(path))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not limit memory so")
def test_a_small_file_that_fills_the_memory_is_a_sentence(path):
    """256 MB of zeros, which no width refuses: the child may not take so much."""
    most = parquet.MOST_NUMBERS
    zeros = pa.array(np.zeros(1000 * most, np.float32))
    save(path, set_id=["a"] * 1000, embedding=pa.FixedSizeListArray.from_arrays(zeros, most))
    assert path.stat().st_size < 2**20
    with pytest.raises(BadInput, match=r"faces\.parquet'.*(memory|crashed|ended)") as caught:
        list(read_apart(path, limits=Limits(2**27, 60.0)))
    assert "\n" not in str(caught.value)


def test_a_footer_that_claims_more_than_any_has(path):
    with path.open("wb") as file:
        file.write(b"PAR1")
        file.truncate(2**31)
        file.seek(0, 2)
        file.write((2**28 + 1).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(BadInput, match="its footer claims 268435457 bytes"):
        parquet.Table(path)


def test_the_library_is_optional(path, monkeypatch):
    save(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        BadInput, match=r"faces\.parquet.*library is missing: pip install 'lookalike\[parquet\]'$"
    ):
        read_parquet(path)


@pytest.mark.parametrize(
    ("changes", "without", "said"),
    [
        ({}, ["set_id"], "no column 'set_id': it has embedding"),
        ({}, ["embedding"], "has no column, lists of floats of one length: it has set_id"),
        ({"embedding": pa.array([[1, 2]] * 5)}, [], "has no column, lists of floats"),
        ({"embedding": pa.array([["x"]] * 5)}, [], "has no column, lists of floats"),
        ({"embedding": pa.array([[[1.0, 2.0]]] * 5)}, [], "has no column, lists of floats"),
        ({"embedding": pa.array([1.0] * 5)}, [], "has no column, lists of floats"),
        ({"set_id": pa.array([1.0] * 5)}, [], "has double in 'set_id': names of sets must be text or whole"),
        ({"set_id": pa.array([b"a"] * 5)}, [], "has binary in 'set_id'"),
        ({"set_id": pa.array([True] * 5)}, [], "has bool in 'set_id'"),
        ({"set_id": pa.array([["a"]] * 5)}, [], "has list<.*in 'set_id'"),
        ({"set_id": pa.array(["b", None, "b", "a", "b"])}, [], "nothing in row 1 of 'set_id'"),
        (
            {"set_id": pa.array(["b", "a", "", "a", "b"])},
            [],
            "name in 'set_id' that cannot be used.*non-empty",
        ),
        ({"set_id": pa.array(["b", "a\n", "b", "a", "b"])}, [], "control characters"),
        ({"embedding": lists([FACES[0], None, *FACES[2:]])}, [], "nothing in row 1 of 'embedding'"),
        ({"embedding": lists([None, *FACES[1:]])}, [], "has 0 numbers in row 0 of 'embedding'"),
        (
            {"embedding": lists([*FACES[:3], [1], FACES[4]])},
            [],
            "1 numbers in row 3 of 'embedding', but 2 in row 0",
        ),
        (
            {"embedding": lists([*FACES[:3], [], FACES[4]])},
            [],
            "0 numbers in row 3 of 'embedding', but 2 in row 0",
        ),
        (
            {"embedding": lists([*FACES[:2], [1, None], *FACES[3:]])},
            [],
            "number missing in row 2 of 'embedding'",
        ),
        (
            {"embedding": lists([*FACES[:3], [1, np.nan], FACES[4]])},
            [],
            "face 1 of set 'a' in 'embedding' has a NaN",
        ),
        (
            {"embedding": lists([*FACES[:4], [np.inf, 2]])},
            [],
            "face 2 of set 'b' in 'embedding' has a NaN or inf",
        ),
        (
            {"embedding": lists([*FACES[:4], [1e300, 2]], pa.list_(pa.float64()))},
            [],
            "face 2 of set 'b'.*infinite",
        ),
        (
            {"embedding": lists([[0, 0], *FACES[1:]])},
            [],
            "face 0 of set 'b' in 'embedding' has all numbers equal",
        ),
        ({"embedding": lists([[1]] * 5)}, [], "1 numbers long"),
    ],
)
@pytest.mark.parametrize("rows", [None, 2])
def test_refused(path, changes, without, said, rows):
    save(path, without, rows, **changes)
    with pytest.raises(BadInput, match=said) as caught:
        list(read_parquet(path))
    assert str(caught.value).startswith(repr(str(path)))


@pytest.mark.parametrize("kind", [pa.list_(pa.float32(), 2), pa.list_(pa.float32())], ids=str)
def test_numbers_that_are_missing_in_either_kind_of_list(path, kind):
    with pytest.raises(BadInput, match="nothing in row 4 of 'embedding'"):
        list(read_parquet(save(path, embedding=lists([*FACES[:4], None], kind))))
    with pytest.raises(BadInput, match="number missing in row 4 of 'embedding'"):
        list(read_parquet(save(path, embedding=lists([*FACES[:4], [1, None]], kind))))


def test_two_columns_of_one_name(path):
    table = pa.Table.from_arrays([pa.array(IDS), lists(), lists()], ["set_id", "e", "e"])
    pq.write_table(table, path)
    with pytest.raises(BadInput, match="two columns called 'e': rename one"):
        read_parquet(path)


def test_no_rows(path):
    save(path, set_id=pa.array([], pa.string()), embedding=lists([]))
    with pytest.raises(BadInput, match="has no rows"):
        read_parquet(path)


def test_ids_that_are_not_unicode(path):
    save(path, set_id=pa.array([b"b", b"\xff\xfe", b"b", b"a", b"b"]).view(pa.string()))
    with pytest.raises(BadInput, match=r"is damaged.*decode"):
        read_parquet(path)


def test_changed_while_it_was_read(path):
    found = read_parquet(save(path))
    save(path, set_id=["b", "b", "b", "a", "b"])
    with pytest.raises(BadInput, match="changed while it was read"):
        list(found)
    found = read_parquet(save(path))
    save(path, without=["embedding"])
    with pytest.raises(BadInput, match="no faces in 'embedding'"):
        list(found)
    found = read_parquet(save(path))
    save(path, set_id=pa.array([], pa.string()), embedding=lists([]))
    with pytest.raises(BadInput, match="0 numbers in row 0"):
        list(found)


def test_nothing_there(tmp_path):
    with pytest.raises(NotFound, match="missing"):
        read_parquet(tmp_path / "missing")
    with pytest.raises(BadInput, match="is a folder"):
        read_parquet(tmp_path)


def test_a_name_that_is_not_utf8(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.parquet")
    os.rename(save(tmp_path / "x.parquet"), path)
    assert next(read_parquet(path)).sources[0] == r"caf\xe9.parquet#1"


def whole_file():
    stream = io.BytesIO()
    pq.write_table(pa.table({"set_id": IDS, "embedding": lists()}), stream)
    return stream.getvalue()


def test_cut_short_at_any_length(path):
    whole = whole_file()
    for length in range(0, len(whole), 17):
        path.write_bytes(whole[:length])
        with pytest.raises(BadInput, match=r"is damaged \(.*\): copy or write it again"):
            read_parquet(path)


def test_any_damage_is_noticed_or_harmless(path):
    """It may end the library, and the child in which that runs, but is one sentence here."""
    whole = whole_file()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    noticed = []
    for place in [*range(4, footer, footer // 6), *range(footer, len(whole), (len(whole) - footer) // 14)]:
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        path.write_bytes(damaged)
        try:
            for one in read_apart(path):
                assert one.faces.shape[1] >= 2
        except BadInput as reason:
            noticed.append(str(reason))
    assert len(noticed) > 5
    assert all("faces.parquet" in said and "\n" not in said for said in noticed)


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    owners=st.lists(NAMES, min_size=1, max_size=12),
    rows=st.integers(1, 5),
    fixed=st.booleans(),
    data=st.data(),
)
def test_round_trip(tmp_path_factory, owners, rows, fixed, data):
    numbers = st.floats(-1e3, 1e3, width=32)
    values = data.draw(arrays.arrays(np.float32, (len(owners), 3), elements=numbers))
    # What has all numbers equal is refused: make it differ.
    values[:, 2] = values[:, 0] + np.float32(4096)
    path = tmp_path_factory.mktemp("round") / "x.parquet"
    kind = pa.list_(pa.float32(), 3) if fixed else pa.list_(pa.float32())
    table = pa.table(
        {"set_id": owners, "source": [f"s{row}" for row in range(len(owners))], "e": lists(values, kind)}
    )
    pq.write_table(table, path, row_group_size=rows)
    expected = {id: [row for row, owner in enumerate(owners) if owner == id] for id in owners}
    found = {one.id: one for one in read_parquet(path)}
    assert found.keys() == expected.keys()
    for id, own in expected.items():
        np.testing.assert_array_equal(found[id].faces, values[own])
        assert found[id].sources == tuple(f"s{row}" for row in own)
