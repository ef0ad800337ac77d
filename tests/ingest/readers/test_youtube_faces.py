"""YouTube Faces: its real layout in miniature, with all its traps, and what must be refused in words."""

from __future__ import annotations

import logging
import re
import shutil
import tracemalloc

import numpy as np
import pytest
import scipy.io
from PIL import Image

from lookalike.errors import BadInput
from lookalike.faceset import natural_order
from lookalike.ingest.readers.youtube_faces import (
    Box,
    array_names,
    default_videos,
    is_youtube_faces,
    read_boxes,
    read_youtube_faces,
)
from tests.ingest.youtube_miniature import cells, write_youtube_faces

ORDER = ["Person_A/0", "Person_A/1", "Person_A/4", "Person_B/2", "Person_B/3", "Person_B/10", "Person_C/1"]
DESCRIPTORS = [f"VID_DESCS_{name}" for name in ("LBP", "CSLBP", "FPLBP")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A data set that no test changes."""
    root = tmp_path_factory.mktemp("data") / "YouTubeFaces"
    labels = write_youtube_faces(root, people=2, videos=3, frames=6, distractors=1)
    assert sorted(labels, key=natural_order) == ORDER
    return root


@pytest.fixture
def root(whole, tmp_path):
    """A copy to be spoilt, of two people."""
    shutil.copytree(whole, tmp_path / "ytf", ignore=shutil.ignore_patterns("Person_B*"))
    return tmp_path / "ytf"


def change(file, **arrays):
    """Write a file of descriptors anew with other arrays; None takes one away."""
    held = {name: value for name, value in scipy.io.loadmat(file).items() if not name.startswith("__")}
    held |= arrays
    scipy.io.savemat(file, {name: value for name, value in held.items() if value is not None})


def first_file(root, variant="aligned_video"):
    return root / "descriptors_DB" / "Person_A" / f"{variant}_0.mat"


def test_the_miniature_resembles_the_real_layout(whole):
    meta = scipy.io.loadmat(whole / "meta_data" / "meta_and_splits.mat")
    assert [name.item() for name in meta["video_names"][:, 0]] == ORDER
    assert meta["video_labels"].tolist() == [[1, 1, 1, 2, 2, 2, 3]]
    splits = meta["Splits"]
    assert splits.shape[1:] == (3, 10)
    assert splits[:, :2].min() >= 1
    labels = meta["video_labels"][0]
    for first, second, same in splits.transpose(0, 2, 1).reshape(-1, 3).astype(int):
        assert (labels[first - 1] == labels[second - 1]) == bool(same)
    assert (whole / "WolfHassnerMaoz_CVPR11.pdf").exists()
    assert (whole / "headpose_DB" / "headorient_apirun_Person_A_4.mat").exists()


def test_videos_of_a_person_resemble_one_another(whole):
    sets = list(read_youtube_faces(whole))
    means = np.array([found.faces.mean(axis=0) for found in sets])
    assert means.min() >= 0
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    alike = means @ means.T
    for row, found in enumerate(sets[:6]):
        own = [other.id.split("/")[0] == found.id.split("/")[0] for other in sets]
        assert alike[row][own].min() > alike[row][np.logical_not(own)].max()


@pytest.mark.parametrize("part", ["", "descriptors_DB", "aligned_images_DB", "frame_images_DB"])
def test_recognised_by_name_and_by_content(whole, tmp_path, part):
    assert is_youtube_faces(whole / part)
    if part:
        (tmp_path / "renamed").symlink_to(whole / part, target_is_directory=True)
        assert is_youtube_faces(tmp_path / "renamed")
        assert [found.id for found in read_youtube_faces(tmp_path / "renamed")] == ORDER


@pytest.mark.parametrize(
    "part",
    ["meta_data", "headpose_DB", "WolfHassnerMaoz_CVPR11.pdf", "nothing", "descriptors_DB/Person_A", "a\0b"],
)
def test_other_places_are_not_recognised(whole, part):
    assert not is_youtube_faces(whole / part)
    assert array_names(whole / part) == []


def test_photos_are_not_recognised(tmp_path):
    (tmp_path / "anna" / "0").mkdir(parents=True)
    (tmp_path / "anna" / "0" / "0.1.jpg").write_bytes(b"x")
    assert not is_youtube_faces(tmp_path)


def test_what_can_be_asked_for(whole, root):
    described = [f"{variant}/{key}" for variant in ("aligned_video", "video") for key in DESCRIPTORS]
    assert array_names(whole) == [*described, "aligned_images_DB", "frame_images_DB"]
    assert array_names(whole / "descriptors_DB") == described
    assert array_names(whole / "aligned_images_DB") == []
    for file in (root / "descriptors_DB").glob("*/aligned_*"):
        file.unlink()
    change(first_file(root, "video"), VID_DESCS_CSLBP=None)
    assert array_names(root / "descriptors_DB") == ["video/VID_DESCS_LBP", "video/VID_DESCS_FPLBP"]
    first_file(root, "video").write_bytes(b"spoilt")
    assert array_names(root / "descriptors_DB") == []


def test_sets_come_by_subject_and_number_with_frames_in_order(whole):
    sets = list(read_youtube_faces(whole))
    assert [found.id for found in sets] == ORDER
    found = sets[0]
    assert found.sources == tuple(f"Person_A/0/aligned_detect_0.{frame}.jpg" for frame in range(8, 14))
    assert found.faces.dtype == np.float32
    assert found.faces.shape == (6, 1770)
    assert (found.array, found.pictures) == ("aligned_video/VID_DESCS_LBP", ())
    assert found.origin == str(first_file(whole))
    # The file has its columns in the order of names, in which 0.8 comes after 0.13.
    stored = scipy.io.loadmat(first_file(whole))
    assert "0.10.jpg" in stored["VID_DESCS_FILENAMES"][0, 0].item()
    np.testing.assert_array_equal(found.faces[2], stored["VID_DESCS_LBP"][:, 0].astype(np.float32))
    np.testing.assert_array_equal(found.faces[0], stored["VID_DESCS_LBP"][:, 4].astype(np.float32))


@pytest.mark.parametrize(
    ("array", "taken", "variant", "numbers"),
    [
        ("VID_DESCS_CSLBP", "aligned_video/VID_DESCS_CSLBP", "aligned_video", 480),
        ("aligned_video/VID_DESCS_FPLBP", "aligned_video/VID_DESCS_FPLBP", "aligned_video", 560),
        ("video/VID_DESCS_LBP", "video/VID_DESCS_LBP", "video", 1770),
    ],
)
def test_a_descriptor_can_be_chosen(whole, array, taken, variant, numbers):
    found = next(read_youtube_faces(whole / "descriptors_DB", array))
    assert (found.array, found.faces.shape) == (taken, (6, numbers))
    stored = scipy.io.loadmat(first_file(whole, variant))[array.split("/")[-1]]
    np.testing.assert_array_equal(found.faces[0], stored[:, 4].astype(np.float32))


def test_pictures_are_read_if_there_is_nothing_else_or_asked_for(root):
    assert next(read_youtube_faces(root, "frame_images_DB")).sources[0] == "Person_A/0/0.8.jpg"
    assert next(read_youtube_faces(root, "aligned_images_DB")).faces is None
    for file in (root / "descriptors_DB").glob("*/*"):
        file.unlink()
    # A folder that was not filled yet does not hide the others.
    assert next(read_youtube_faces(root)).sources[0] == "Person_A/0/aligned_detect_0.8.jpg"
    shutil.rmtree(root / "aligned_images_DB")
    assert next(read_youtube_faces(root)).sources[0] == "Person_A/0/0.8.jpg"


@pytest.mark.parametrize(
    ("part", "array", "said"),
    [
        (
            "",
            "other/VID_DESCS_LBP",
            "no array 'other/VID_DESCS_LBP': choose aligned_video/VID_DESCS_LBP or video/",
        ),
        ("", "aligned_video/", "no array 'aligned_video/'"),
        ("", "VID_DESCS_HOG", "has no 'VID_DESCS_HOG': it has VID_DESCS_CSLBP, VID_DESCS_FILENAMES"),
        ("", "VID_DESCS_FILENAMES", "has text in 'VID_DESCS_FILENAMES', not descriptors"),
        ("frame_images_DB", "VID_DESCS_LBP", "only pictures in frame_images_DB: leave the array out"),
        ("frame_images_DB", "aligned_images_DB", "only pictures in frame_images_DB"),
        ("meta_data", None, "holds no video of YouTube Faces"),
    ],
)
def test_what_is_not_there(whole, part, array, said):
    with pytest.raises(BadInput, match=re.escape(said)):
        next(read_youtube_faces(whole / part, array))


@pytest.mark.parametrize("most", [0, -1, True, 1.5, "3"])
def test_most_is_a_number_from_one_up(whole, most):
    with pytest.raises(BadInput, match="whole number from 1 up"):
        read_youtube_faces(whole, most=most)


@pytest.mark.parametrize("array", ["aligned_video/VID_DESCS_LBP", "aligned_images_DB", "frame_images_DB"])
def test_at_most_so_many_faces(whole, array):
    every, few = list(read_youtube_faces(whole, array)), list(read_youtube_faces(whole, array, most=3))
    assert [len(found) for found in few] == [3] * len(ORDER)
    for all_, some in zip(every, few, strict=True):
        # Six frames: the first, one in the middle, the last.
        places = [all_.sources.index(source) for source in some.sources]
        assert places in ([0, 2, 5], [0, 3, 5])
        if some.faces is None:
            for place, picture in zip(places, some.pictures, strict=True):
                np.testing.assert_array_equal(picture, all_.pictures[place])
        else:
            np.testing.assert_array_equal(some.faces, all_.faces[places])
    assert [len(found) for found in read_youtube_faces(whole, array, most=100)] == [6] * len(ORDER)


def test_pictures_that_are_not_chosen_are_not_opened(root):
    (root / "aligned_images_DB/Person_A/0/aligned_detect_0.9.jpg").write_bytes(b"spoilt")
    assert len(next(read_youtube_faces(root, "aligned_images_DB", most=2))) == 2
    with pytest.raises(BadInput, match=r"aligned_detect_0\.9\.jpg"):
        next(read_youtube_faces(root, "aligned_images_DB"))


def test_one_video_at_a_time(root):
    """Ten videos of 8 MB each, of which two faces are wanted, never take as much as three."""
    file = first_file(root)
    rng = np.random.default_rng(0)
    change(file, VID_DESCS_LBP=rng.random((1770, 600)), VID_DESCS_FILENAMES=None)
    for number in range(10, 20):
        shutil.copy(file, file.with_name(f"aligned_video_{number}.mat"))
    tracemalloc.start()
    try:
        kept = list(read_youtube_faces(root, most=2))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(kept) >= 11
    assert peak < 3 * 600 * 1770 * 8


def test_without_names_of_frames_columns_are_sources(root):
    change(first_file(root), VID_DESCS_FILENAMES=None)
    found = next(read_youtube_faces(root))
    assert found.sources == tuple(f"aligned_video_0.mat#{column}" for column in range(6))
    stored = scipy.io.loadmat(first_file(root))["VID_DESCS_LBP"]
    np.testing.assert_array_equal(found.faces, stored.T.astype(np.float32))


def test_faces_that_describe_nothing_are_left_out(root, caplog):
    stored = scipy.io.loadmat(first_file(root))["VID_DESCS_LBP"]
    stored[:, 0] = 0
    stored[7, 1] = np.nan
    stored[7, 2] = 1e300
    change(first_file(root), VID_DESCS_LBP=stored)
    found = next(read_youtube_faces(root))
    # Columns 0, 1 and 2 are the frames 10, 11 and 12.
    assert [source.split(".")[-2] for source in found.sources] == ["8", "9", "13"]
    assert np.isfinite(found.faces).all()
    assert "3 frames of a video describe nothing and were left out" in caplog.text
    assert "Person" not in caplog.text
    assert len(next(read_youtube_faces(root, most=3))) == 3
    change(first_file(root), VID_DESCS_LBP=np.ones((1770, 6)))
    with pytest.raises(BadInput, match=r"aligned_video_0\.mat' has no frame that can be used among its 6"):
        next(read_youtube_faces(root))


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        (
            {"VID_DESCS_LBP": np.ones((6, 1770))},
            r"'VID_DESCS_LBP' transposed, shape \(6, 1770\).*one column for",
        ),
        (
            {"VID_DESCS_LBP": np.ones((1769, 6))},
            r"shape \(1769, 6\) in 'VID_DESCS_LBP', which must be \(1770, fr",
        ),
        ({"VID_DESCS_LBP": np.ones((1770, 2, 3))}, r"shape \(1770, 2, 3\)"),
        ({"VID_DESCS_LBP": np.ones((1770, 0))}, "has no frames"),
        ({"VID_DESCS_LBP": None}, "has no 'VID_DESCS_LBP': it has VID_DESCS_CSLBP"),
        ({"VID_DESCS_LBP": {"a": 1}}, "kind 'struct'"),
        ({"VID_DESCS_FILENAMES": cells(["a", "b"])}, "has 2 names in 'VID_DESCS_FILENAMES' for 6 frames"),
        ({"VID_DESCS_FILENAMES": np.ones((1, 6))}, "has numbers in 'VID_DESCS_FILENAMES' for 6 frames"),
        ({"VID_DESCS_FILENAMES": cells(["9" * 5000] * 6)}, "has a name of 5,000 characters"),
    ],
)
def test_wrong_arrays(root, arrays, said):
    change(first_file(root), **arrays)
    with pytest.raises(BadInput, match=said) as caught:
        next(read_youtube_faces(root))
    assert "aligned_video_0.mat" in str(caught.value)


def test_a_square_array_is_taken_as_it_lies(root):
    square = np.random.default_rng(0).random((1770, 1770))
    change(first_file(root), VID_DESCS_LBP=square, VID_DESCS_FILENAMES=None)
    found = next(read_youtube_faces(root, most=2))
    np.testing.assert_array_equal(found.faces, square[:, [0, -1]].T.astype(np.float32))


def test_a_damaged_file_is_named_and_those_before_it_are_read(root):
    file = root / "descriptors_DB/Person_A/aligned_video_1.mat"
    file.write_bytes(file.read_bytes()[:1000])
    sets = read_youtube_faces(root)
    assert next(sets).id == "Person_A/0"
    with pytest.raises(BadInput, match=r"aligned_video_1\.mat' is damaged"):
        next(sets)


def test_videos_of_one_variant_only(root, caplog):
    (root / "descriptors_DB/Person_A/aligned_video_1.mat").unlink()
    assert [found.id for found in read_youtube_faces(root, most=1)] == [
        "Person_A/0",
        "Person_A/4",
        "Person_C/1",
    ]
    assert "1 videos have no aligned_video file and are left out" in caplog.text
    assert "Person" not in caplog.text
    for file in (root / "descriptors_DB").glob("*/aligned_*"):
        file.unlink()
    assert next(read_youtube_faces(root)).array == "video/VID_DESCS_LBP"
    with pytest.raises(BadInput, match="choose video/VID_DESCS_LBP or the like"):
        read_youtube_faces(root, "VID_DESCS_LBP")


def test_what_lies_about_is_passed_over(root, caplog):
    for part in ("descriptors_DB", "aligned_images_DB", "frame_images_DB"):
        (root / part / "Thumbs.db").write_bytes(b"x")
        (root / part / "Nobody").mkdir()
        (root / part / "Person_A" / ".DS_Store").write_bytes(b"x")
        (root / part / "Person_A" / "notes.txt").write_bytes(b"x")
        expected = ["Person_A/0", "Person_A/1", "Person_A/4", "Person_C/1"]
        with caplog.at_level(logging.INFO):
            assert [found.id for found in read_youtube_faces(root / part, most=1)] == expected
        assert [video.id for video in default_videos(root / part)] == expected
    assert "1 files or folders that belong to no video were passed over" in caplog.text


def test_names_that_cannot_be_ids(root):
    (root / "descriptors_DB/Person_A").rename(root / "descriptors_DB/two\nlines")
    with pytest.raises(BadInput, match=r"cannot name sets: .*control characters"):
        read_youtube_faces(root)


def test_frames_are_cut_to_the_box(root):
    """The centre of the box is given: 20 wide and 24 high around (30, 20) is 20..40 by 8..32."""
    pixels = np.zeros((48, 64), dtype=np.uint8)
    pixels[8:32, 20:40] = 255
    for frame in (root / "frame_images_DB/Person_A/0").iterdir():
        Image.fromarray(pixels).save(frame, "PNG")
    found = next(read_youtube_faces(root, "frame_images_DB"))
    assert [picture.shape for picture in found.pictures] == [(24, 20)] * 6
    assert all((picture == 255).all() for picture in found.pictures)


def test_boxes_are_clipped_to_the_frame():
    frame = np.arange(48 * 64, dtype=np.uint16).reshape(48, 64).astype(np.uint8)
    np.testing.assert_array_equal(Box(0, 0, 20, 10).cut(frame), frame[:5, :10])
    np.testing.assert_array_equal(Box(60, 47, 20, 10).cut(frame), frame[42:, 50:])
    np.testing.assert_array_equal(Box(32, 24, 1e9, 1e9).cut(frame), frame)
    for box in (Box(-50, 20, 10, 10), Box(500, 20, 10, 10), Box(20, -1e300, 10, 10), Box(20, 20, 1, 1e-9)):
        assert box.cut(frame).size == 0


def test_frames_and_rows_that_have_no_counterpart(root, caplog):
    boxes = root / "frame_images_DB/Person_A.labeled_faces.txt"
    rows = boxes.read_text().splitlines()
    assert rows[0].startswith("Person_A\\0\\0.8.jpg")
    rows[1] = rows[1].replace(",30,20,20,24,", ",3000,20,20,24,")
    rows.append("Person_A\\0\\0.99.jpg,0,30,20,20,24,0.0,1")
    boxes.write_text("\n".join(rows[1:]))
    with caplog.at_level(logging.INFO):
        sets = list(read_youtube_faces(root, "frame_images_DB"))
    assert sets[0].sources == tuple(f"Person_A/0/0.{frame}.jpg" for frame in range(10, 14))
    assert "2 frames of a video have no box in them and were left out" in caplog.text
    assert not any("Person" in one.getMessage() for one in caplog.records if one.levelno > logging.INFO)
    assert "1 rows are for frames that are not there" in caplog.text


def test_a_video_without_boxes_or_frames(root):
    boxes = root / "frame_images_DB/Person_A.labeled_faces.txt"
    boxes.write_text("Person_A\\1\\1.8.jpg,0,30,20,20,24,0.0,1")
    with pytest.raises(BadInput, match="Person_A/0' has 6 frames, and none with a box in"):
        next(read_youtube_faces(root, "frame_images_DB"))
    boxes.unlink()
    with pytest.raises(BadInput, match=r"there is no '.*Person_A\.labeled_faces\.txt'"):
        read_youtube_faces(root, "frame_images_DB")
    for picture in (root / "aligned_images_DB/Person_A/0").iterdir():
        picture.unlink()
    with pytest.raises(BadInput, match="Person_A/0' has no picture in it"):
        next(read_youtube_faces(root, "aligned_images_DB"))


def test_rows_of_boxes(tmp_path):
    path = tmp_path / "Richard_Gere.labeled_faces.txt"
    path.write_bytes(
        b"\xef\xbb\xbfRichard_Gere\\3\\3.618.jpg,0,262,165,132,130,0.0,1\r\n\r\n"
        b"Richard_Gere/3/3.619.jpg, 0, 262.5, 165, 132, 130\n"
        b"Richard_Gere\\3\\3.618.jpg,0,1,1,1,1,0.0,1\r\n   \r\n"
    )
    assert read_boxes(path) == {
        "3/3.618.jpg": Box(262, 165, 132, 130),
        "3/3.619.jpg": Box(262.5, 165, 132, 130),
    }


@pytest.mark.parametrize(
    "row",
    [
        b"A\\0\\0.1.jpg",
        b"A\\0\\0.1.jpg,0,1,2,3",
        b"A\\0\\0.1.jpg,0,1,2,3,x,0,1",
        b"A\\0\\0.1.jpg,0,1,2,3,nan,0,1",
        b"A\\0\\0.1.jpg,0,inf,2,3,4,0,1",
        b"A\\0\\0.1.jpg,0,1,2,0,4,0,1",
        b"A\\0\\0.1.jpg,0,1,2,3,-4,0,1",
        b"0.1.jpg,0,1,2,3,4,0,1",
    ],
)
def test_rows_that_are_no_boxes(tmp_path, row):
    path = tmp_path / "A.labeled_faces.txt"
    path.write_bytes(b"A\\0\\0.0.jpg,0,1,2,3,4,0,1\n" + row)
    with pytest.raises(BadInput, match=r"A\.labeled_faces\.txt', line 2: .* is no box of a face"):
        read_boxes(path)


def test_boxes_that_are_no_text(tmp_path):
    path = tmp_path / "A.labeled_faces.txt"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="not text in UTF-8"):
        read_boxes(path)
