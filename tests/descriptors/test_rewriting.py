"""Networks rewritten: the same vectors, and what is not understood stays as it was."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from lookalike.descriptors import _network
from lookalike.descriptors._network import fold_weights, read_graph, without_prelu, write_graph
from lookalike.descriptors.onnx import Onnx
from lookalike.kernels.protobuf import Field, content, read, varints, whole, write
from tests.descriptors.models import graph, textured
from tests.descriptors.models import write as write_model

RNG = np.random.default_rng(0)
KERNEL = RNG.normal(0, 0.1, (8, 3, 3, 3)).astype(np.float32)
SLOPES = RNG.uniform(-0.5, 1.5, (8, 1, 1)).astype(np.float32)
CONV = helper.make_node("Conv", ["x", "kernel"], ["c"], kernel_shape=[3, 3], strides=[2, 2])
POOLED = (("GlobalAveragePool", ["r"], ["p"]), ("Flatten", ["p"], ["y"]))


def activated(slopes=SLOPES, between=(), x="c", as_floats=False):
    """A model of a convolution, a PReLU and a mean."""
    made = graph(nodes=(CONV, *between, ("PRelu", [x, "slopes"], ["r"]), *POOLED))
    made.graph.initializer.append(numpy_helper.from_array(KERNEL, "kernel"))
    if as_floats:
        tensor = helper.make_tensor("slopes", TensorProto.FLOAT, slopes.shape, slopes.ravel().tolist())
        assert not tensor.raw_data
    else:
        tensor = numpy_helper.from_array(slopes, "slopes")
    made.graph.initializer.append(tensor)
    return made


def run(data: bytes, picture: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": picture})[0]


def operators(data: bytes) -> list[str]:
    return [node.op_type for node in onnx.load_from_string(data).graph.node]


@pytest.fixture
def picture():
    return RNG.normal(0, 1, (1, 3, 112, 112)).astype(np.float32)


@pytest.mark.parametrize(
    "made",
    [
        activated(),
        activated(as_floats=True),
        activated(SLOPES[None]),
        activated(SLOPES.clip(max=1)),
        activated(between=[("Add", ["c", "c"], ["d"])], x="d"),
        activated(between=[("Mul", ["c", "slopes"], ["d"])], x="d"),
    ],
    ids=["plain", "floats", "four dimensions", "up to 1", "sum", "scaled"],
)
def test_prelu_is_split_and_gives_the_same(made, picture):
    data = made.SerializeToString()
    rewritten = without_prelu(data)
    assert "PRelu" not in operators(rewritten)
    assert operators(rewritten).count("Conv") == 3
    np.testing.assert_allclose(run(rewritten, picture), run(data, picture), rtol=0, atol=2e-6)


def test_prelu_by_hand():
    """One channel of -2 with a slope of 0.25, one of 4 with any."""
    nodes = (("Conv", ["x", "kernel"], ["c"]), ("PRelu", ["c", "slopes"], ["r"]), *POOLED)
    made = graph(nodes=nodes)
    kernel = np.array([[-2, 0, 0], [4, 0, 0]], dtype=np.float32).reshape(2, 3, 1, 1)
    for name, numbers in (("kernel", kernel), ("slopes", np.float32([0.25, 7]).reshape(2, 1, 1))):
        made.graph.initializer.append(numpy_helper.from_array(numbers, name))
    rewritten = without_prelu(made.SerializeToString())
    np.testing.assert_array_equal(run(rewritten, np.ones((1, 3, 112, 112), np.float32)), [[-0.5, 4]])


@pytest.mark.parametrize(
    "made",
    [
        activated(SLOPES[:1]),  # one slope for all: how many channels there are is not said
        activated(SLOPES.reshape(8)[:1]),
        activated(between=[("Flatten", ["c"], ["d"])], x="d", slopes=np.float32([0.5])),
        activated(between=[("Sqrt", ["c"], ["d"])], x="d"),  # not known to keep its dimensions
        textured(),
    ],
    ids=["shared", "scalar", "flat", "unknown", "none"],
)
def test_what_is_not_certain_stays(made):
    data = made.SerializeToString()
    assert operators(without_prelu(data)) == operators(data)


def test_operators_of_others_stay():
    made = activated()
    made.graph.node[1].domain = "my.ops"
    assert operators(without_prelu(made.SerializeToString())) == operators(made.SerializeToString())


def test_large_files_stay(monkeypatch):
    data = activated().SerializeToString()
    monkeypatch.setattr(_network, "MOST_BYTES", len(data) - 1)
    assert without_prelu(data) is data


def test_models_of_users_are_rewritten_and_known_by_their_own_file(tmp_path, picture, monkeypatch):
    path = write_model(tmp_path / "m.onnx", activated())
    part = Onnx(str(path), mean=0, std=1)
    shown = RNG.integers(0, 256, (112, 112, 3), dtype=np.uint8)
    numbers = shown.transpose(2, 0, 1)[None].astype(np.float32)
    np.testing.assert_allclose(part.describe(shown), run(path.read_bytes(), numbers)[0], rtol=1e-5)
    identity = part.identity
    monkeypatch.setattr("lookalike.descriptors.onnx.without_prelu", lambda data: data)
    assert Onnx(str(path), mean=0, std=1).identity == identity


@given(st.binary(max_size=60), st.integers(0, 400))
def test_no_bytes_upset_the_rewriting(noise, place):
    data = activated().SerializeToString()
    broken = data[:place] + noise + data[place + len(noise) :]
    assert b"" not in (without_prelu(broken), without_prelu(b"PRelu" + noise))


@pytest.mark.parametrize("made", [activated(), textured(), graph()], ids=["prelu", "pool", "matrix"])
def test_a_graph_that_is_read_and_written_says_the_same(made, picture):
    data = made.SerializeToString()
    again = write_graph(read_graph(data))
    np.testing.assert_array_equal(run(again, picture), run(data, picture))
    assert write_graph(read_graph(again)) == again


def test_weights_in_blocks_by_hand():
    """(number - zero) * scale, a scale for each two neighbours; then reshaped."""
    numbers = np.array([[1, 2, 3, 4], [-5, 6, -7, 8]], dtype=np.int8)
    scales = np.array([[0.5, 2], [1, 10]], dtype=np.float32)
    zeros = np.array([[1, 0], [0, 8]], dtype=np.int8)
    weights = {"q": numbers, "s": scales, "z": zeros, "shape": np.array([1, 8], dtype=np.int64)}
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["w"], axis=1, block_size=2),
        helper.make_node("Reshape", ["w", "shape"], ["v"]),
        helper.make_node("Mul", ["x", "v"], ["y"]),
    ]
    made = helper.make_graph(
        nodes,
        "blocks",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8]) for name in ("x", "unused")],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])],
        [numpy_helper.from_array(each, name) for name, each in weights.items()],
    )
    found = read_graph(
        helper.make_model(made, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
    )
    fold_weights(found)
    assert [node.operator for node in found.nodes] == ["Mul"]
    assert list(found.inputs) == ["x"]
    assert list(found.weights) == ["v"]
    np.testing.assert_array_equal(found.weights["v"], [[0, 0.5, 6, 8, -5, 6, -150, 0]])


def test_numbers_on_the_wire_by_hand():
    # Field 1, a number: 300 is 0b10_0101100, seven bits at a time, the lowest first.
    assert write([whole(1, 300)]) == b"\x08\xac\x02"
    assert write([content(2, "ab")]) == b"\x12\x02ab"
    assert list(read(b"\x08\xac\x02\x12\x02ab")) == [Field(1, 0, 300), Field(2, 2, b"ab")]
    assert varints(b"\x01\xac\x02") == [1, 300]
    assert write([whole(1, -1)]) == b"\x08" + b"\xff" * 9 + b"\x01"
    fixed = b"\x0d\x00\x00\x80\x3f\x11" + bytes(8)
    assert write(read(fixed)) == fixed


@pytest.mark.parametrize("data", [b"\x08", b"\x12\x05ab", b"\x0b", b"\x08" + b"\xff" * 11, b"\x0d\x00"])
def test_bytes_that_are_no_message(data):
    with pytest.raises(ValueError, match=r"message|kind"):
        list(read(data))
