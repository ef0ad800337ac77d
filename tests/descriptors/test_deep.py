"""The network of dlib: people told apart, crooked crops put right, what is said if it is missing."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.demo.films import draw_collection
from lookalike.descriptors import deep
from lookalike.descriptors.contract import part_of
from lookalike.descriptors.deep import Deep
from lookalike.errors import BadInput


@pytest.fixture(scope="module")
def drawn():
    """One face of each of two films of five people."""
    return list(draw_collection(people=5, sets=(2, 2), frames=1, size=150, difficulty=0.3))


@pytest.fixture(scope="module")
def vectors(drawn):
    return Deep().describe_many([one.frames[0] for one in drawn])


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_another_film_of_the_same_person_is_nearest(drawn, vectors):
    faces = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    table = faces @ faces.T
    np.fill_diagonal(table, -1)
    assert [drawn[n].person for n in table.argmax(axis=1)] == [one.person for one in drawn]


@pytest.mark.parametrize("angle", [-15, 15])
def test_a_crooked_crop_is_put_right(drawn, vectors, angle):
    """Without landmarks such a crop is as far away as another film is, 0.97."""
    crooked = np.asarray(Image.fromarray(drawn[0].frames[0]).rotate(angle, Image.Resampling.BILINEAR))
    assert cosine(Deep().describe(crooked), vectors[0]) > 0.995


def test_a_batch_gives_the_same_bits_on_any_thread(drawn, vectors):
    pictures = [one.frames[0] for one in drawn]
    np.testing.assert_array_equal(Deep().describe_many(pictures[3:5]), vectors[3:5])
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(Deep().describe, pictures))
    np.testing.assert_array_equal(found, vectors)


def test_gray_is_described_as_gray_colour(drawn):
    gray = np.asarray(Image.fromarray(drawn[0].frames[0]).convert("L"))
    as_colour = np.repeat(gray[:, :, None], 3, axis=2)
    np.testing.assert_array_equal(Deep().describe(gray), Deep().describe(as_colour))


def test_size_matters_little(drawn, vectors):
    small = np.asarray(Image.fromarray(drawn[0].frames[0]).resize((64, 64), Image.Resampling.BILINEAR))
    assert cosine(Deep().describe(small), vectors[0]) > 0.97


@pytest.mark.parametrize("shape", [(1, 1), (1, 300, 3), (90, 60)])
def test_pictures_without_a_face_have_a_vector_too(shape):
    vector = Deep().describe(np.zeros(shape, dtype=np.uint8))
    assert vector.shape == (128,)
    assert np.isfinite(vector).all()


def test_the_region_is_the_crop_of_dlib():
    picture = np.zeros((192, 192), dtype=np.uint8)
    picture[42:182, 25:165] = 1
    cut = part_of(picture, Deep.region)
    assert cut.shape == (140, 140)
    assert cut.all()


def test_models_are_loaded_once_and_only_when_needed():
    assert deep.models() is deep.models()
    program = (
        "import sys; from lookalike import registry; part = registry.build('descriptors', 'deep'); "
        "print(part.identity, part.dimension, {'dlib', 'face_recognition_models'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "deep 128 set()"


@pytest.fixture
def unloaded():
    deep.models.forget()
    yield
    deep.models.forget()


@pytest.mark.parametrize("missing", [[], ["onnxruntime"], ["onnxruntime", "cv2"]], ids=len)
def test_whoever_computes_the_vectors_are_those_of_dlib(drawn, unloaded, monkeypatch, missing):
    """ONNX Runtime, else OpenCV, else dlib: galleries of all three can be mixed."""
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    pictures = [one.frames[0] for one in drawn]
    dlib = pytest.importorskip("dlib")
    network = dlib.face_recognition_model_v1(str(deep.NETWORK.find()))
    landmarks = dlib.shape_predictor(str(deep.LANDMARKS.find()))
    box = dlib.rectangle(8, 6, 145, 144)
    chips = [dlib.get_face_chip(picture, landmarks(picture, box), 150, 0.25) for picture in pictures]
    reference = np.array([network.compute_face_descriptor(chip) for chip in chips])
    found = Deep().describe_many(pictures)
    np.testing.assert_allclose(found, reference, rtol=0, atol=1e-5)
    # Whoever computes it, it is who is asked for: only dlib gives just the same bits.
    assert np.array_equal(found, reference.astype(np.float32)) == (len(missing) == 2)


def test_without_dlib(unloaded, monkeypatch):
    monkeypatch.setitem(sys.modules, "dlib", None)
    for asked in (Deep().check, lambda: Deep().describe(np.zeros((64, 64), dtype=np.uint8))):
        with pytest.raises(BadInput, match=r"deep needs dlib.*pip install 'lookalike\[deep\]'"):
            asked()
    monkeypatch.undo()
    Deep().check()  # installed meanwhile


@pytest.mark.parametrize("card", Deep.cards, ids=lambda card: card.name)
def test_damaged_models(unloaded, monkeypatch, tmp_path, card):
    """A package of that name found earlier, one of whose files is not what it should be."""
    package = tmp_path / "face_recognition_models"
    (package / "models").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('its code is never run')")
    for one in Deep.cards:
        Path(package, one.path).symlink_to(one.find())
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "face_recognition_models", raising=False)
    Deep().check()
    deep.models.forget()
    Path(package, card.path).unlink()
    Path(package, card.path).write_bytes(b"no model")
    with pytest.raises(BadInput, match=rf"deep needs {card.file} .* cut off.*pip install") as refused:
        Deep().check()
    assert "\n" not in str(refused.value)
