"""Footers: they say what the library says where it may be asked, and nothing else than a ValueError."""

import contextlib
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.errors import NotFound
from lookalike.intake.readers import parquet_footer
from lookalike.intake.readers.parquet_footer import RowGroup, read_footer


def whole(rows=7, group=3, **options):
    stream = io.BytesIO()
    vectors = pa.array(np.ones((rows, 4)).tolist())
    table = pa.table({"set_id": ["ä"] * rows, "e": vectors, "e.x": vectors, "b": [True] * rows})
    pq.write_table(table.replace_schema_metadata({"a": "b"}), stream, row_group_size=group, **options)
    return stream.getvalue()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.parquet"


@pytest.mark.parametrize(
    "options", [{}, {"write_page_index": True, "sorting_columns": [pq.SortingColumn(0)]}]
)
def test_rows_and_values(path, options):
    path.write_bytes(whole(**options))
    assert read_footer(path) == [
        RowGroup(rows, {"set_id": rows, "e": 4 * rows, "e.x": 4 * rows, "b": rows}) for rows in (3, 3, 1)
    ]


def test_as_many_row_groups_as_need_a_long_count(path):
    path.write_bytes(whole(rows=40, group=1))
    assert read_footer(path) == [RowGroup(1, {"set_id": 1, "e": 4, "e.x": 4, "b": 1})] * 40
    assert pq.ParquetFile(path).metadata.num_row_groups == 40


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1PAR1", b"PAR1" + bytes(8), b"PAR1\xff\xff\xff\x7fPAR1"]
)
def test_an_end_that_is_missing(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match="its end is missing"):
        read_footer(path)


@pytest.mark.parametrize(
    "footer",
    [
        b"",
        b"\x00",
        b"\x49\xfc\xff\xff\xff\xff\x0f",  # four thousand million row groups
        b"\x49" + b"\x19" * 200,  # lists within lists
        b"\x48\xff\xff\xff\xff\x0f",  # a text of four thousand million bytes
        b"\x46" + b"\xff" * 20,  # a number without an end
        b"\x4b\x00",  # a map
        b"\x48\x01x\x00",  # a text where row groups belong
        b"\x49\x15\x02\x00",  # whole numbers for row groups
    ],
)
def test_absurd_footers(path, footer):
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(ValueError, match="its footer is damaged"):
        read_footer(path)


def test_damage_is_noticed_or_harmless(path):
    good = whole()
    for place in range(0, len(good), 5):
        damaged = bytearray(good)
        damaged[place] ^= 0x55
        path.write_bytes(damaged)
        # Any other error fails the test.
        with contextlib.suppress(ValueError):
            for group in read_footer(path):
                assert isinstance(group.values, dict)


def test_a_footer_that_is_too_long(path, monkeypatch):
    path.write_bytes(whole())
    monkeypatch.setattr(parquet_footer, "MOST_FOOTER", 100)
    with pytest.raises(ValueError, match=r"its footer has [\d,]+ bytes"):
        read_footer(path)


def test_nothing_there(path):
    with pytest.raises(NotFound, match=r"x\.parquet"):
        read_footer(path)
