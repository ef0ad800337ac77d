"""Tables: appearances as comma-separated values, JSON and Parquet, the same columns in each."""

from __future__ import annotations

import io
import json

from lookalike import __version__
from lookalike.errors import BadInput
from lookalike.exchange.appearances import COLUMNS, Selection
from lookalike.gallery.decisions import as_csv


def as_table(chosen: Selection) -> bytes:
    """Comma-separated values for spreadsheets; what would be a formula there gets an apostrophe in front."""
    return as_csv([one.row() for one in chosen.appearances]).encode("utf-8-sig", "backslashreplace")


def as_json(chosen: Selection) -> bytes:
    """One object: what was asked, and a list of rows."""
    ranking = chosen.ranking
    told = {
        "lookalike": __version__,
        "about": chosen.title,
        "descriptor": chosen.gallery.descriptor,
        "gallery_sha256": chosen.gallery.fingerprint(),
        "query": None if ranking is None else ranking.query,
        "similarity": None if ranking is None else ranking.similarity,
        "reranker": None if ranking is None else ranking.reranker,
        "worth_reading": None if ranking is None else ranking.worth_reading,
        "appearances": [one.row() for one in chosen.appearances],
    }
    return (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def as_parquet(chosen: Selection) -> bytes:
    """One row group of typed columns.

    Raises
    ------
    BadInput
        If pyarrow is missing.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise BadInput(
            "Parquet is written by pyarrow, which is not installed: pip install 'lookalike[parquet]', "
            "or choose csv or json"
        ) from None
    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    rows = [one.row() for one in chosen.appearances]
    table = pyarrow.Table.from_pylist(rows, schema.with_metadata({"lookalike": __version__}))
    written = io.BytesIO()
    parquet.write_table(table, written)
    return written.getvalue()
