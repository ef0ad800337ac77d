"""A model file as descriptor: vectors worked by hand, what a gallery remembers, and what is refused."""

from __future__ import annotations

import hashlib
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from lookalike import registry
from lookalike.descriptors import onnx as _model_file
from lookalike.descriptors.contract import part_of
from lookalike.descriptors.onnx import Onnx
from lookalike.errors import BadInput, NotFound
from tests.descriptors.models import MEAN_COLOUR, WEIGHTS, graph, write

COLOUR = (200, 100, 50)


@pytest.fixture
def model(tmp_path):
    return write(tmp_path / "tiny.onnx")


def plain(colour, side=112):
    return np.tile(np.array(colour, dtype=np.uint8), (side, side, 1))


def test_one_colour_by_hand(model):
    # (200 - 127.5) / 127.5, (100 - 127.5) / 127.5 and (50 - 127.5) / 127.5
    red, green, blue = 72.5 / 127.5, -27.5 / 127.5, -77.5 / 127.5
    vector = Onnx(str(model)).describe(plain(COLOUR))
    assert vector.dtype == np.float32
    np.testing.assert_allclose(vector, [red + 2 * green + 4 * blue, red - blue], rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"mean": 0.0, "std": 1.0}, [200 + 2 * 100 + 4 * 50, 200 - 50]),
        ({"mean": 100, "std": 50}, [2 + 2 * 0 + 4 * -1, 2 - -1]),
        ({"mean": 0, "std": 1, "channels": "bgr"}, [50 + 2 * 100 + 4 * 200, 50 - 200]),
    ],
)
def test_mean_std_and_order_of_colours_by_hand(model, options, expected):
    np.testing.assert_allclose(Onnx(str(model), **options).describe(plain(COLOUR)), expected, rtol=1e-5)


def test_a_picture_is_brought_to_the_size_of_the_model(model):
    part = Onnx(str(model), mean=0, std=1)
    np.testing.assert_allclose(part.describe(plain(COLOUR, side=30)), [600, 150], rtol=1e-5)
    np.testing.assert_allclose(part.describe(np.full((50, 40), 10, dtype=np.uint8)), [70, 0], atol=1e-4)


def test_rows_stay_rows(tmp_path):
    """The model looks at the upper half only: a picture that was transposed or turned would not be dark."""
    cut = helper.make_node("Slice", ["x", "from", "to", "along"], ["half"])
    made = graph(nodes=(cut, ("GlobalAveragePool", ["half"], ["p"]), ("Flatten", ["p"], ["y"])))
    for name, number in (("from", 0), ("to", 56), ("along", 2)):
        made.graph.initializer.append(helper.make_tensor(name, TensorProto.INT64, [1], [number]))
    picture = plain((255, 255, 255))
    picture[:56] = 0
    part = Onnx(str(write(tmp_path / "half.onnx", made)), mean=0, std=255)
    np.testing.assert_allclose(part.describe(picture), [0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(part.describe(picture[::-1]), [1, 1, 1], rtol=1e-6)


@pytest.mark.parametrize("shape", [[1, 3, 112, 112], [None, 3, None, None], ["n", "c", "h", "w"]])
def test_fixed_and_open_shapes(tmp_path, shape):
    path = write(tmp_path / "m.onnx", graph(inputs=[("x", shape)]))
    part = Onnx(str(path), mean=0, std=1)
    assert part.dimension == 2
    np.testing.assert_allclose(part.describe_many([plain(COLOUR)] * 3), [[600, 150]] * 3, rtol=1e-5)


def test_size(tmp_path):
    path = write(tmp_path / "m.onnx", graph(inputs=[("x", [1, 3, 160, 160])]))
    assert Onnx(str(path), size=160).dimension == 2
    with pytest.raises(BadInput, match="takes pictures of 160 x 160, not 112 x 112: give size=160"):
        Onnx(str(path)).check()


def test_the_result_does_not_depend_on_threads(model, monkeypatch):
    pictures = np.random.default_rng(0).integers(0, 256, (40, 60, 50, 3), dtype=np.uint8)
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        found.append(Onnx(str(model)).describe_many(pictures))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    single = [Onnx(str(model)).describe(picture) for picture in pictures[:5]]
    np.testing.assert_array_equal(found[0][:5], single)


def test_outputs_are_chosen_by_name(tmp_path):
    # Networks in the wild call an output 683: as text this option looks like a number.
    made = graph(
        nodes=(*MEAN_COLOUR, ("MatMul", ["colour", "w"], ["683"])), outputs=[("colour", None), ("683", None)]
    )
    path = write(tmp_path / "m.onnx", made)
    first, second = (
        registry.build("descriptors", f"onnx:model={path},mean=0,std=1,output={name}") for name in ("", "683")
    )
    np.testing.assert_allclose(first.describe(plain(COLOUR)), COLOUR, rtol=1e-5)
    np.testing.assert_allclose(second.describe(plain(COLOUR)), [600, 150], rtol=1e-5)
    assert first.identity != second.identity
    assert Onnx(str(path), output="colour", mean=0, std=1).identity == first.identity
    assert registry.build("descriptors", second.identity).identity == second.identity
    with pytest.raises(BadInput, match="has no output 'embedding': choose one of colour, 683"):
        Onnx(str(path), output="embedding").check()


def test_the_region_is_the_crop_of_arcface():
    picture = np.zeros((192, 192), dtype=np.uint8)
    picture[8:176, 12:180] = 1
    cut = part_of(picture, Onnx().region)
    assert cut.shape == (168, 168)
    assert cut.all()


# What a gallery remembers.


def test_identity_by_hand(model):
    sha256 = hashlib.sha256(model.read_bytes()).hexdigest()
    expected = f"onnx:sha256={sha256},size=112,mean=127.5,std=128.0,channels=rgb,output="
    assert Onnx(str(model), std=128).identity == expected
    assert registry.build("descriptors", f"onnx:model={model},std=128.0").identity == expected


def test_identity_does_not_say_where_the_file_lies(model, tmp_path):
    other = tmp_path / "elsewhere.onnx"
    other.write_bytes(model.read_bytes())
    assert Onnx(str(model)).identity == Onnx(str(other)).identity
    assert "tiny" not in Onnx(str(model)).identity
    assert Onnx(str(model), same_person=0.5).identity == Onnx(str(model)).identity


def test_identity_depends_on_all_that_shapes_a_vector(model, tmp_path):
    other = write(tmp_path / "other.onnx", graph(inputs=[("x", [None, 3, None, None])], weights=WEIGHTS + 1))
    options = [{}, {"mean": 0}, {"std": 1}, {"channels": "bgr"}]
    found = {Onnx(str(path), **each).identity for path in (model, other) for each in options}
    assert len({*found, Onnx(str(other), size=64).identity}) == 9


def test_a_part_built_from_its_identity_asks_for_the_file(model):
    identity = Onnx(str(model)).identity
    again = registry.build("descriptors", identity)
    assert again.identity == identity
    digits = hashlib.sha256(model.read_bytes()).hexdigest()[:12]
    sentence = f"SHA-256 starts with {digits}: give it as --descriptor onnx:model=FILE"
    for asked in (lambda: again.describe(plain(COLOUR)), lambda: again.dimension, again.check):
        with pytest.raises(BadInput, match=sentence):
            asked()


def test_the_right_file_is_held_to_its_sha256(model, tmp_path):
    sha256 = hashlib.sha256(model.read_bytes()).hexdigest()
    assert Onnx(str(model), sha256=sha256).dimension == 2
    other = write(tmp_path / "other.onnx", graph(weights=WEIGHTS + 1))
    with pytest.raises(BadInput, match=f"another one than asked for.*asked for is {sha256[:12]}"):
        Onnx(str(other), sha256=sha256).check()


def test_same_person_is_for_the_user_to_say():
    assert Onnx().same_person is None
    assert registry.build("descriptors", "onnx:same_person=0.45").same_person == 0.45


# What is refused.


def test_constructor_only_stores():
    assert Onnx(model="missing", size=-1).size == -1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "needs a model file: give it as --descriptor onnx:model=FILE"),
        ({"model": 5}, "option 'model'.*got 5"),
        ({"model": "a,b.onnx"}, "without commas.*rename it"),
        ({"model": "a\nb.onnx"}, "in one line"),
        ({"sha256": "abc"}, "option 'sha256'.*64 digits.*'abc'"),
        ({"sha256": 10**63}, "option 'sha256'"),
        ({"size": 0}, "option 'size'.*1 to 1024.*got 0"),
        ({"size": 112.5}, "option 'size'"),
        ({"size": 10**6}, "option 'size'"),
        ({"mean": "gray"}, "option 'mean'.*'gray'"),
        ({"mean": float("nan")}, "option 'mean'"),
        ({"std": 0}, "option 'std'.*greater than 0, got 0"),
        ({"std": True}, "option 'std'"),
        ({"channels": "RGB"}, "rgb or bgr, got 'RGB'"),
        ({"output": "a,b"}, "option 'output'.*without commas"),
        ({"output": 1.5}, "option 'output'"),
        ({"same_person": 2}, "option 'same_person'.*got 2"),
        ({"same_person": "yes"}, "option 'same_person'"),
    ],
)
def test_refused_options(model, options, sentence):
    part = Onnx(**({"model": str(model), **options} if options else {}))
    for asked in (part.check, lambda: part.describe(plain(COLOUR)), lambda: part.identity):
        with pytest.raises(BadInput, match=sentence):
            asked()


def test_a_comma_in_a_path_is_told():
    with pytest.raises(BadInput, match=r"has no option 'b\.onnx'.*model=\.\.\..*commas separate options"):
        registry.build("descriptors", "onnx:model=a,b.onnx")


def test_missing_file(tmp_path):
    with pytest.raises(NotFound, match=r"no model file '.*none\.onnx': give the path"):
        Onnx(str(tmp_path / "none.onnx")).check()
    with pytest.raises(NotFound, match="no model file"):
        Onnx(str(tmp_path)).check()


def test_the_home_folder_may_be_written_short(model, monkeypatch):
    monkeypatch.setenv("HOME", str(model.parent))
    assert Onnx("~/tiny.onnx").dimension == 2


@pytest.mark.parametrize(
    "content", [b"not a model at all", bytes(100), None], ids=["text", "zeros", "cut off"]
)
def test_files_that_are_no_models(tmp_path, content):
    path = tmp_path / "bad.onnx"
    path.write_bytes(graph().SerializeToString()[:80] if content is None else content)
    with pytest.raises(BadInput, match=r"^the model '.*bad\.onnx' is not an ONNX file.*: \S[^\n]*$"):
        Onnx(str(path)).check()


def test_empty_file(tmp_path):
    (tmp_path / "bad.onnx").touch()
    with pytest.raises(BadInput, match=r"bad\.onnx' is empty"):
        Onnx(str(tmp_path / "bad.onnx")).check()


def test_too_large_a_file(model, monkeypatch):
    monkeypatch.setattr(_model_file, "MOST_BYTES", 100)
    with pytest.raises(BadInput, match="more than 2 GB"):
        Onnx(str(model)).check()


def foreign() -> onnx.ModelProto:
    made = graph(nodes=(helper.make_node("Wink", ["x"], ["y"], domain="my.ops"),))
    made.opset_import.append(helper.make_opsetid("my.ops", 1))
    return made


FLATTENED = (("Flatten", ["x"], ["y"]),)


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (graph(inputs=[("x", ["n", 3, 112, 112]), ("z", [1])]), "must take one input.*but takes 2"),
        (graph(FLATTENED, [("x", ["n", 3])]), r"as \(batch, 3, height, width\), but takes \['n', 3\]"),
        (graph(FLATTENED, [("x", [1, 112, 112, 3])]), r"as \(batch, 3, height, width\)"),
        (graph(inputs=[("x", [8, 3, 112, 112])]), "one picture at a time, but takes 8"),
        (graph(inputs=[("x", [1, 3, 112, 96])]), "square pictures, but takes 112 x 96"),
        (graph((("Identity", ["x"], ["y"]),)), r"must give floats \(1, dimension\).*\(1, 3, 112, 112\)"),
        (graph(weights=np.ones((5, 2), "f")), "not an ONNX file that|cannot describe a picture of 112 x 112"),
        (foreign(), "not an ONNX file that ONNX Runtime can use: .*my.ops"),
    ],
    ids=["two inputs", "rank", "channels last", "batch", "oblong", "no vector", "mismatch", "custom"],
)
def test_models_of_another_kind(tmp_path, made, sentence):
    path = write(tmp_path / "bad.onnx", made)
    with pytest.raises(BadInput, match=sentence) as refused:
        Onnx(str(path)).check()
    assert "\n" not in str(refused.value)


def test_bytes_are_refused(tmp_path):
    cast = helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT)
    made = graph((cast, ("Flatten", ["f"], ["y"])), kind=TensorProto.UINT8)
    with pytest.raises(BadInput, match=r"must take 32-bit floats, but takes tensor\(uint8\)"):
        Onnx(str(write(tmp_path / "bytes.onnx", made))).check()


def test_weights_in_other_files_are_refused(tmp_path, monkeypatch):
    """The SHA-256 would not cover them."""
    onnx.save(graph(), tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    assert (tmp_path / "w.bin").stat().st_size == WEIGHTS.nbytes
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="keeps weights in other files: save it as one file"):
        Onnx("m.onnx").check()
    # Protobuf allows lengths and tags with more bytes than they need.
    data = (tmp_path / "m.onnx").read_bytes()
    assert b"\x0a\x08location" in data
    for written in (b"\x0a\x88\x00location", b"\x8a\x00\x88\x80\x00location"):
        (tmp_path / "long.onnx").write_bytes(data.replace(b"\x0a\x08location", written))
        with pytest.raises(BadInput, match="other files"):
            Onnx("long.onnx").check()


def test_a_place_in_a_name_is_no_other_file(tmp_path):
    name = "location_of_face"
    made = graph(nodes=(*MEAN_COLOUR[:1], ("Flatten", ["pooled"], [name])), outputs=[(name, None)])
    assert Onnx(str(write(tmp_path / "m.onnx", made))).dimension == 3


def test_numbers_that_are_not_finite_are_refused(tmp_path):
    made = graph(nodes=(*MEAN_COLOUR, ("Log", ["colour"], ["y"])))
    part = Onnx(str(write(tmp_path / "log.onnx", made)), mean=0)
    assert np.isfinite(part.describe(plain(COLOUR))).all()
    with pytest.raises(BadInput, match=r"picture 1 of 2.*no finite numbers"):
        part.describe_many([plain(COLOUR), plain((0, 0, 0))])


def test_without_the_library(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(BadInput, match=r"needs onnxruntime.*pip install 'lookalike\[onnx\]'"):
        Onnx(str(model)).check()
    with pytest.raises(BadInput, match="pip install"):
        registry.build("descriptors", "onnx").check()
