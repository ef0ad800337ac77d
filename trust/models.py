"""Models: ONNX files that were tampered with, which a gallery must refuse though it knows where they lie."""

from __future__ import annotations

import pickle
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import onnx
from onnx import helper

from tests.cli_process import IDS, Ready, faces, write_npz
from tests.descriptors.models import graph, textured

Tamper = Callable[[bytes, Path], bytes]


class _Trap:
    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return subprocess.call, (["touch", str(self.canary)],)


def _flipped(seed: int) -> Tamper:
    def change(data: bytes, canary: Path) -> bytes:
        made = bytearray(data)
        chance = random.Random(seed)
        for _ in range(1 + seed % 3):
            made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
        return bytes(made)

    return change


def _elsewhere(place: str) -> Tamper:
    """Weights that are said to lie in another file."""

    def change(data: bytes, canary: Path) -> bytes:
        made = onnx.ModelProto.FromString(data)
        tensor = made.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=place.format(canary=canary))
        return bytes(made.SerializeToString())

    return change


def _custom(data: bytes, canary: Path) -> bytes:
    made = graph(nodes=(helper.make_node("Touch", ["x"], ["y"], domain="trap.ops", path=str(canary)),))
    made.opset_import.append(helper.make_opsetid("trap.ops", 1))
    return bytes(made.SerializeToString())


def _note(data: bytes, canary: Path) -> bytes:
    made = onnx.ModelProto.FromString(data)
    made.metadata_props.add(key="session.custom_ops_library", value=str(canary))
    return bytes(made.SerializeToString())


TAMPERED: Final[dict[str, Tamper]] = {
    "a bit is flipped": _flipped(0),
    "weights in another file": _elsewhere("{canary}"),
    "an operator of somebody else": _custom,
    "a pickle": lambda data, canary: pickle.dumps(_Trap(canary)),
    "another model": lambda data, canary: bytes(textured().SerializeToString()),
    **{f"bits are flipped, {seed}": _flipped(seed) for seed in range(1, 8)},
    "a byte more": lambda data, canary: data + b"\0",
    "a byte less": lambda data, canary: data[:-1],
    "cut in half": lambda data, canary: data[: len(data) // 2],
    "nothing": lambda data, canary: b"",
    "zeros": lambda data, canary: bytes(len(data)),
    "twice": lambda data, canary: data * 2,
    "weights up the tree": _elsewhere("../../../../etc/passwd"),
    "a library in its notes": _note,
}


class Models:
    """A gallery that is described by a model, and the model's file.

    Parameters
    ----------
    folder : Path
    ready : Ready
        Runs commands in copies of itself.
    """

    def __init__(self, folder: Path, ready: Ready) -> None:
        self.folder, self.ready = folder, ready
        self.file, self.gallery = folder / "m.onnx", folder / "g"
        self.whole = bytes(graph().SerializeToString())
        self.file.write_bytes(self.whole)
        self.first = write_npz(folder / "a.npz", images=faces().reshape(-1, 30, 25))
        self.second = write_npz(
            folder / "b.npz", [f"new {one}" for one in IDS], images=faces(1).reshape(-1, 30, 25)
        )
        self.words = ("--descriptor", f"onnx:model={self.file}")
        ready.works("add", self.gallery, self.first, *self.words, cwd=folder)
        self.content = self.gallery.read_bytes()

    def spring(self, name: str) -> str | None:
        """Tamper with the file, then add pictures to a gallery that knows it, and to a new one."""
        canary = self.folder / "canary-was-created"
        self.file.write_bytes(TAMPERED[name](self.whole, canary))
        self.gallery.write_bytes(self.content)
        ended = self.ready.run("add", self.gallery, self.second, cwd=self.folder)
        fresh = self.ready.run("add", self.folder / "new", self.first, *self.words, cwd=self.folder)
        held = self.gallery.read_bytes()
        for left in self.folder.glob("new*"):
            left.unlink()
        if canary.exists():
            return "the canary was created"
        for one in (ended, fresh):
            if "Traceback" in one.err or one.code < 0:
                return f"it died ({one.code}): {one.err[-300:]}"
        if ended.code == 0 or len(ended.err.strip().splitlines()) != 1 or held != self.content:
            return f"it was not refused in a sentence ({ended.code}): {ended.err[-300:]}"
        return None
