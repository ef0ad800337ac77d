from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io

from lookalike.errors import BadInput, NotFound
from lookalike.evaluation import labels as label_files
from lookalike.evaluation.labels import check_labels, join_labels, read_groups, read_labels
from lookalike.ingest.readers.mat import read_mat
from tests.ingest.youtube_miniature import cells, write_youtube_faces


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


def test_same_label_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 3: set 'a' is labelled twice, as 'anna': remove one"):
        read_labels(write(tmp_path, b"set_id,person\na,anna\na,anna\n"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"set_id,person\na,Smith, John\n", "line 2 has more values than columns, from ' John' on"),
        (b"set_id,person,person\na,b,c\n", "has two columns of one name"),
    ],
)
def test_nothing_is_dropped_without_a_word(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_labels(write(tmp_path, content))


def test_files_are_joined_unless_they_contradict() -> None:
    assert join_labels([{"a": "x"}, {"b": "y", "a": "x"}]) == {"a": "x", "b": "y"}
    with pytest.raises(BadInput, match="set 'a' is 'x' in one label file and 'y' in another"):
        join_labels([{"a": "x"}, {"a": "y"}])


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


@pytest.fixture(autouse=True)
def no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of .mat that no stranger made are read here, for speed."""
    monkeypatch.setattr(label_files, "read_mat_apart", read_mat)


@pytest.fixture(scope="module")
def youtube(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    root = tmp_path_factory.mktemp("ytf")
    return root, write_youtube_faces(root, people=2, videos=3, frames=1, distractors=1)


@pytest.mark.parametrize("part", ["", "descriptors_DB", "aligned_images_DB", "frame_images_DB"])
def test_folders_of_youtube_faces(youtube: tuple[Path, dict[str, str]], part: str) -> None:
    root, labels = youtube
    assert labels["Person_B/10"] == "Person_B"
    assert len(labels) == 7
    assert read_labels(root / part) == labels


def test_a_folder_of_youtube_faces_without_videos(tmp_path: Path) -> None:
    (tmp_path / "descriptors_DB").mkdir()
    with pytest.raises(BadInput, match="holds no video"):
        read_labels(tmp_path)


def test_meta_data_of_youtube_faces(youtube: tuple[Path, dict[str, str]]) -> None:
    root, labels = youtube
    read = read_labels(root / "meta_data" / "meta_and_splits.mat")
    assert read == {id: {"Person_A": "1", "Person_B": "2", "Person_C": "3"}[labels[id]] for id in labels}


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"video_labels": [[1.0, 2.0]]}, "has no 'video_names': it has video_labels"),
        ({"video_names": cells(["a"]), "video_labels": [[1.0, 2.0]]}, "1 video_names and 2 video_labels"),
        ({"video_names": cells([]), "video_labels": np.empty((1, 0))}, "0 video_names"),
        ({"video_names": cells(["a"]), "video_labels": cells(["b"])}, "numbers in video_labels"),
        ({"video_names": cells(["a"]), "video_labels": [[1.5]]}, "no whole number"),
        ({"video_names": cells(["a"]), "video_labels": [[np.nan]]}, "no whole number"),
        ({"video_names": cells(["a"]), "video_labels": [[np.inf]]}, "no whole number"),
        ({"video_names": cells(["a/0", "a\\0"]), "video_labels": [[1.0, 2.0]]}, "'a/0' is labelled twice"),
        ({"video_names": cells([" "]), "video_labels": [[1.0]]}, "needs a set_id and a person"),
    ],
)
def test_bad_meta_data(tmp_path: Path, arrays: dict[str, np.ndarray], said: str) -> None:
    path = tmp_path / "meta_and_splits.mat"
    scipy.io.savemat(path, arrays)
    with pytest.raises(BadInput, match=said):
        read_labels(path)


def test_meta_data_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "meta_and_splits.mat"
    path.write_bytes(bytes(300))
    with pytest.raises(BadInput, match="is damaged"):
        read_labels(path)


@pytest.mark.parametrize("header", ["TEMPLATE_ID,SUBJECT_ID,FILENAME", " template_id ,Subject_Id,FILENAME"])
def test_templates_of_ijb(tmp_path: Path, header: str) -> None:
    text = f"\ufeff{header}\r\n1,20,img/1.jpg\r\n 1 , 20,frames/2.png\r\n\r\n02,30,img/3.jpg\r\n"
    assert read_labels(write(tmp_path, text.encode())) == {"1": "20", "02": "30"}


def test_a_template_of_two_people(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 3: set '1' is labelled twice, as '20' and '30'"):
        read_labels(write(tmp_path, b"TEMPLATE_ID,SUBJECT_ID\n1,20\n1,30\n"))


def test_set_id_and_person_come_before_other_columns(tmp_path: Path) -> None:
    text = b"TEMPLATE_ID,SUBJECT_ID,set_id,person\n1,20,a,anna\n"
    assert read_labels(write(tmp_path, text)) == {"a": "anna"}


def test_groups_are_what_a_column_says(tmp_path: Path) -> None:
    path = write(tmp_path, b"set_id,person,age, light\na,anna,30,dim\nb,bert, 7 ,\nc,anna,\n")
    assert read_groups([path], "age") == {"a": "30", "b": "7", "c": ""}
    assert read_groups([path], " light") == {"a": "dim", "b": "", "c": ""}
    arrays = tmp_path / "labels.npz"
    names = np.array(["d", "e"])
    np.savez(arrays, set_names=names, set_person=[1, 2], set_age=[7, 30], set_more=np.eye(2), images=names)
    assert read_groups([arrays], "set_age") == {"d": "7", "e": "30"}
    # One of several files is enough.
    assert read_groups([arrays, path], "age") == {"a": "30", "b": "7", "c": ""}


@pytest.mark.parametrize("column", ["hair", "person", "set_id", ""])
def test_a_column_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path, column: str) -> None:
    path = write(tmp_path, b"set_id,person,age,light\na,anna,30,dim\n")
    with pytest.raises(
        BadInput, match=f"no label file has a column '{column}' .*: give one of 'age', 'light'"
    ):
        read_groups([path], column)
    plain = tmp_path / "plain.csv"
    plain.write_text("set_id,person\na,anna\n")
    with pytest.raises(BadInput, match="they have no other columns"):
        read_groups([plain], column)


def test_a_set_is_in_one_group(tmp_path: Path) -> None:
    path = write(tmp_path, b"TEMPLATE_ID,SUBJECT_ID,SEX,FRAME\n1,7,f,3\n1,7,f,4\n2,8,m,5\n")
    assert read_groups([path], "SEX") == {"1": "f", "2": "m"}
    with pytest.raises(BadInput, match="the column 'FRAME' says '3' and '4' of set '1'"):
        read_groups([path], "FRAME")
    other = tmp_path / "other.csv"
    other.write_text("set_id,person,SEX\n1,7,m\n")
    with pytest.raises(BadInput, match="says 'f' and 'm' of set '1'"):
        read_groups([path, other], "SEX")
