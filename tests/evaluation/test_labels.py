from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import BadInput, NotFound
from lookalike.evaluation.labels import check_labels, read_labels


def write(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "labels.csv"
    path.write_bytes(content)
    return path


def test_csv(tmp_path: Path) -> None:
    assert read_labels(write(tmp_path, b"set_id,person\na,anna\nb,bert\n")) == {"a": "anna", "b": "bert"}


def test_csv_with_bom_crlf_quotes_and_more_columns(tmp_path: Path) -> None:
    text = '\ufeffperson,note,set_id\r\nanna,"x, y",a\r\n'
    assert read_labels(write(tmp_path, text.encode())) == {"a": "anna"}


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "labels.npz"
    np.savez(path, set_names=np.array(["a", "b"]), set_person=np.array([3, 4]))
    assert read_labels(path) == {"a": "3", "b": "4"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "must be set_id,person"),
        (b"a,anna\n", "must be set_id,person"),
        (b"set_id,person\n", "holds no labels"),
        (b"set_id,person\na,\n", "needs a set_id and a person"),
        (b"set_id,person\na\n", "needs a set_id and a person"),
        (b"set_id,person\na,anna\na,bert\n", "labelled twice"),
        (b"set_id,person\n\xff\xfe\xfd,x\n", "not a UTF-8 csv"),
    ],
)
def test_bad_csv(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_labels(write(tmp_path, content))


def test_same_label_twice_is_no_harm(tmp_path: Path) -> None:
    assert read_labels(write(tmp_path, b"set_id,person\na,anna\na,anna\n")) == {"a": "anna"}


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no label file"):
        read_labels(tmp_path / "nothing.csv")


def test_folder(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_labels(tmp_path)


@pytest.mark.parametrize(
    "arrays", [{"set_names": np.array(["a"])}, {"set_names": np.array(["a"]), "set_person": [1, 2]}]
)
def test_bad_npz(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    path = tmp_path / "labels.npz"
    np.savez(path, **arrays)
    with pytest.raises(BadInput, match="set_person"):
        read_labels(path)


def test_npz_with_objects_or_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "labels.npz"
    np.savez(path, set_names=np.array(["a"], dtype=object), set_person=np.array([1]))
    with pytest.raises(BadInput, match="objects"):
        read_labels(path)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(BadInput, match="not a whole"):
        read_labels(path)


def test_labels_must_fit_the_gallery() -> None:
    check_labels({"a": "x", "b": "y"}, ["a", "b"])
    with pytest.raises(BadInput, match="1 of 2 sets have no label, for instance 'b'"):
        check_labels({"a": "x"}, ["a", "b"])
    with pytest.raises(BadInput, match="does not hold, for instance 'c'"):
        check_labels({"a": "x", "c": "y"}, ["a"])
