"""What holds for every descriptor, run on each part that is found."""

import numpy as np
import pytest

from lookalike import registry
from lookalike.descriptors.contract import Descriptor, checked_picture, part_of
from lookalike.errors import BadInput
from tests.descriptors.models import textured, write


@pytest.fixture(params=registry.names("descriptors"))
def part(request, tmp_path):
    # One part cannot do without a file, and says so: see its own tests.
    needs = {"onnx": lambda: f":model={write(tmp_path / 'model.onnx', textured())}"}
    return registry.build("descriptors", request.param + needs.get(request.param, str)())


@pytest.fixture
def pictures():
    return np.random.default_rng(0).integers(0, 256, (4, 96, 80), dtype=np.uint8)


@pytest.fixture
def colours():
    return np.random.default_rng(1).integers(0, 256, (3, 96, 80, 3), dtype=np.uint8)


def test_vector_of_the_promised_kind(part, pictures, colours):
    for picture in (*pictures, *colours):
        vector = part.describe(picture)
        assert vector.dtype == np.float32
        assert vector.shape == (part.dimension,)
        assert np.isfinite(vector).all()
        assert np.ptp(vector) > 0


def test_deterministic(part, pictures):
    again = registry.build("descriptors", registry.spec(part))
    np.testing.assert_array_equal(part.describe(pictures[0]), part.describe(pictures[0]))
    np.testing.assert_array_equal(part.describe(pictures[0]), again.describe(pictures[0]))


@pytest.mark.parametrize("kind", ["pictures", "colours"])
def test_batch_equals_single(part, kind, request):
    given = request.getfixturevalue(kind)
    single = np.stack([part.describe(picture) for picture in given])
    many = part.describe_many(given)
    assert many.dtype == np.float32
    np.testing.assert_allclose(many, single, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(part.describe_many(list(given)), single, rtol=1e-5, atol=1e-6)


def test_no_pictures(part):
    assert part.describe_many([]).shape == (0, part.dimension)


def test_input_untouched(part, pictures, colours):
    for given in (pictures, colours):
        before = given.copy()
        given.setflags(write=False)
        part.describe_many(given)
        np.testing.assert_array_equal(given, before)


def test_strided_picture(part, pictures):
    view = pictures[0].T
    np.testing.assert_array_equal(part.describe(view), part.describe(np.ascontiguousarray(view)))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([[1, 2], [3, 4]], "NumPy array"),
        (np.zeros((64, 64)), "uint8.*float64"),
        (np.zeros((64, 64), dtype=np.uint16), "uint16"),
        (np.zeros(64, dtype=np.uint8), r"shape.*\(64,\)"),
        (np.zeros((64, 64, 4), dtype=np.uint8), r"\(64, 64, 4\)"),
        (np.zeros((2, 64, 64, 3), dtype=np.uint8), "one gray or RGB"),
        (np.zeros((0, 0), dtype=np.uint8), "at least"),
    ],
)
def test_refused_pictures(part, given, sentence):
    with pytest.raises(BadInput, match=sentence):
        part.describe(given)


def test_batch_says_which_picture(part, pictures):
    with pytest.raises(BadInput, match="picture 1 of 2"):
        part.describe_many([pictures[0], pictures[1].astype(np.float32)])


def test_nothing_is_missing(part):
    part.check()


def test_identity_is_a_text_that_makes_the_same_part_again(part):
    identity = part.identity
    assert "\n" not in identity
    again = registry.build("descriptors", identity)
    assert type(again) is type(part)
    assert again.identity == identity == registry.build("descriptors", registry.spec(part)).identity


def test_region_lies_within_the_crop_and_can_be_described(part):
    left, top, right, bottom = part.region
    assert 0 <= left < right <= 1
    assert 0 <= top < bottom <= 1
    crop = np.random.default_rng(2).integers(0, 256, (192, 192, 3), dtype=np.uint8)
    assert part.describe(part_of(crop, part.region)).shape == (part.dimension,)


def test_same_person_is_a_cosine_or_unknown(part):
    assert part.same_person is None or -1 < part.same_person < 1


def test_part_of_a_crop_by_hand():
    crop = np.arange(64, dtype=np.uint8).reshape(8, 8)
    np.testing.assert_array_equal(part_of(crop, (0.25, 0.5, 0.5, 0.75)), [[34, 35], [42, 43]])
    np.testing.assert_array_equal(part_of(crop, (0.0, 0.0, 1.0, 1.0)), crop)
    assert part_of(np.zeros((192, 192, 3), dtype=np.uint8), (0.1, 0.2, 0.9, 0.8)).shape == (116, 154, 3)


def test_two_methods_are_enough():
    class Mean(Descriptor):
        @property
        def dimension(self):
            return 2

        def describe(self, picture):
            picture = checked_picture(picture)
            return np.array([picture.mean(), picture.std()], dtype=np.float32)

    pictures = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    np.testing.assert_allclose(Mean().describe_many(pictures)[:, 0], [5.5, 17.5])
    assert Mean().region == (0, 0, 1, 1)
    assert Mean().same_person is None
    assert Mean().identity == registry.spec(Mean())
    Mean().check()
