"""T22: nothing named or packed inside data is ever run, and the package has no way to do so."""

from __future__ import annotations

import ast
import io
import pickle
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import numpy as np
import scipy.io

from lookalike.indexing.store import TableStore
from lookalike.progress import Track, silent
from tests.cli_process import IDS, Ready, vectors, write_npz
from tests.ingest.youtube_miniature import write_youtube_faces
from trust.apart import ROOT
from trust.models import TAMPERED, Models
from trust.outcome import Outcome, share_of, tried

TITLE: Final = (
    "no code from data: booby-trapped files never create their canary, tampered models are refused; "
    "the syntax tree has no way to run them"
)
TOUCHED: Final = "canary-was-created"
# Names that run what they are given, or import what is named.
FORBIDDEN_MODULES: Final = frozenset(
    ["pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml", "code"]
)
FORBIDDEN_CALLS: Final = frozenset(
    ["eval", "exec", "compile", "__import__", "os.system", "os.popen", "torch.load"]
)


class Trap:
    """Pickled, it creates the canary when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return subprocess.call, (["touch", str(self.canary)],)


def _pickled(canary: Path, protocol: int = 2) -> bytes:
    return pickle.dumps(Trap(canary), protocol)


def _objects(canary: Path) -> np.ndarray:
    made = np.empty((36, 16), dtype=object)
    made[:] = 0.5
    made[0, 0] = Trap(canary)
    return made


def _saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def _zip(path: Path, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), data)


# Each writes into a folder and returns the words of a command; the gallery g is there.


def _bytes(name: str, make: Callable[[Path], bytes]) -> Callable[[Path, Path], list[Any]]:
    def write(folder: Path, canary: Path) -> list[Any]:
        (folder / name).write_bytes(make(canary))
        return ["add", folder / "new", folder / name]

    return write


def _array(key: str) -> Callable[[Path, Path], list[Any]]:
    def write(folder: Path, canary: Path) -> list[Any]:
        given: dict[str, Any] = {
            "embeddings": vectors(),
            key: _objects(canary) if key != "set_names" else _objects(canary)[:12, 0],
        }
        if key == "image_set":
            given[key] = _objects(canary)[:, 0]
        write_npz(folder / "x.npz", **given)
        return ["add", folder / "new", folder / "x.npz"]

    return write


def _features(folder: Path, canary: Path) -> list[Any]:
    (folder / "f.npy").write_bytes(_saved(_objects(canary)))
    (folder / "l.csv").write_text("TEMPLATE_ID,SUBJECT_ID,FILENAME\n1,1,a.png\n")
    return ["add", folder / "new", folder / "l.csv", "--features", folder / "f.npy"]


def _mat(folder: Path, canary: Path) -> list[Any]:
    write_youtube_faces(folder / "ytf", people=1, videos=1, frames=2, distractors=0)
    for path in (folder / "ytf" / "descriptors_DB").rglob("*.mat"):
        scipy.io.savemat(
            path, {"VID_DESCS_FPLBP": np.array([[f"!touch {canary}"]], dtype=object), "f": {"a": 1}}
        )
    return ["add", folder / "new", folder / "ytf"]


def _fact(name: str, value: str) -> Callable[[Path, Path], list[Any]]:
    """A gallery that names something to be imported or opened."""

    def write(folder: Path, canary: Path) -> list[Any]:
        with closing(sqlite3.connect(folder / "g", isolation_level=None)) as connection:
            connection.execute(
                "INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value.format(canary=canary))
            )
        write_npz(folder / "p.npz", images=np.zeros((36, 30, 25), np.uint8))
        return ["add", folder / "g", folder / "p.npz"]

    return write


def _table(change: Callable[[Path, Path], None]) -> Callable[[Path, Path], list[Any]]:
    """A derived table that names or holds a trap; then a search."""

    def write(folder: Path, canary: Path) -> list[Any]:
        for stored in TableStore.beside(folder / "g").stored():
            change(stored.path, canary)
        return ["find", folder / "g", IDS[0]]

    return write


def _object_table(table: Path, canary: Path) -> None:
    for path in table.glob("*.npy"):
        path.write_bytes(_saved(_objects(canary)))


def _pickled_table(table: Path, canary: Path) -> None:
    for path in table.glob("*.npy"):
        path.write_bytes(_pickled(canary))


def _manifest(old: str, new: str) -> Callable[[Path, Path], None]:
    def change(table: Path, canary: Path) -> None:
        text = (table / "manifest.json").read_text()
        (table / "manifest.json").write_text(text.replace(old, new.format(canary=canary)))

    return change


def _words(*words: str) -> Callable[[Path, Path], list[Any]]:
    def write(folder: Path, canary: Path) -> list[Any]:
        (folder / "trap.py").write_text(f"open({str(canary)!r}, 'w')")
        (folder / "trap.onnx").write_bytes(_pickled(canary))
        return [word.format(g=folder / "g", canary=canary, folder=folder) for word in words]

    return write


def _named(name: str) -> Callable[[Path, Path], list[Any]]:
    """A file or set whose name is a command."""

    def write(folder: Path, canary: Path) -> list[Any]:
        called = name.format(canary=canary.name)
        write_npz(folder / "x.npz", [called, *IDS[1:]], embeddings=vectors())
        return ["add", folder / "new", folder / "x.npz"]

    return write


def _torch(canary: Path) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("archive/data.pkl", _pickled(canary))
        archive.writestr("archive/version", b"3")
    return stream.getvalue()


TRAPS: Final[dict[str, Callable[[Path, Path], list[Any]]]] = {
    "an array of objects": _array("embeddings"),
    "a table that holds objects": _table(_object_table),
    "a manifest that names a module": _table(_manifest("max_max", "os.system:touch {canary}")),
    "a gallery whose model is a module": _fact("descriptor", "trust.t22_code:Trap"),
    "pictures of objects": _array("images"),
    "set numbers of objects": _array("image_set"),
    "names of objects": _array("set_names"),
    "people of objects": _array("persons"),
    "features of objects": _features,
    "a pickle": _bytes("x.pkl", _pickled),
    "a pickle called npz": _bytes("x.npz", _pickled),
    "a pickle called npy": _bytes("x.npy", _pickled),
    "a pickle of protocol 0": _bytes("x.jpg", lambda canary: _pickled(canary, 0)),
    "a pickle called mp4": _bytes("x.mp4", _pickled),
    "a torch file": _bytes("x.pt", _torch),
    "a torch file called npz": _bytes("x.npz", _torch),
    "a joblib file": _bytes("x.joblib", lambda canary: _pickled(canary, 4)),
    "a skops file": _bytes("x.skops", lambda canary: b"PK\x05\x06" + bytes(18) + _pickled(canary)),
    "yaml": _bytes("x.yaml", lambda canary: b"!!python/object/apply:os.system ['touch %s']" % bytes(canary)),
    "yaml called csv": _bytes(
        "x.csv", lambda canary: b"!!python/object/apply:os.system ['touch %s']" % bytes(canary)
    ),
    "a mat file with handles": _mat,
    "a script called jpeg": _bytes("x.jpg", lambda canary: b"#!/bin/sh\ntouch %s\n" % bytes(canary)),
    "eps that writes": _bytes("x.eps", lambda canary: b"%%!PS\n(%s) (w) file closefile\n" % bytes(canary)),
    "a table that is a pickle": _table(_pickled_table),
    "a manifest that leads out": _table(_manifest('"0000.npy"', '"../../../trap.npy"')),
    "a manifest that names a part": _table(_manifest('"kind"', '"plugin": "trap", "kind"')),
    "a gallery whose model is a file": _fact("model_file", "{canary}.onnx"),
    "a gallery with a trap as model": _fact("descriptor", "onnx:model={canary}"),
    "a similarity that is a module": _words("find", "{g}", IDS[0], "--similarity", "trap"),
    "a similarity with code": _words(
        "find", "{g}", IDS[0], "--similarity", "max_max:samples=open('{canary}','w')"
    ),
    "a second stage that is a path": _words("find", "{g}", IDS[0], "--reranker", "{folder}/trap.py"),
    "a model that is a pickle": _words("describe", "{g}", "--descriptor", "onnx:{folder}/trap.onnx"),
    "a set called like a command": _named("$(touch {canary})"),
    "a set called like a template": _named("{{{{().__class__.__mro__}}}}"),
}
RELEASE: Final = len(TRAPS) + len(TAMPERED) + 1


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Every trap, every model that was tampered with, then the syntax tree."""
    ready = Ready()
    with tempfile.TemporaryDirectory() as folder:
        traps = Traps(Path(folder), ready)
        names = list(TRAPS)[: share_of(len(TRAPS), share, 4)]
        found = tried("T22", names, traps.spring, track, total=len(names))
        (Path(folder) / "models").mkdir()
        models = Models(Path(folder) / "models", ready)
        changes = list(TAMPERED)[: share_of(len(TAMPERED), share, 4)]
        found += tried("T22", changes, models.spring, track, total=len(changes))
    ready.close()
    return found + tried(
        "T22", ["the syntax tree"], lambda _: "; ".join(forbidden(ROOT / "lookalike")) or None
    )


class Traps:
    """Runs commands on traps.

    Parameters
    ----------
    folder : Path
    ready : Ready
        Runs commands in copies of itself.
    """

    def __init__(self, folder: Path, ready: Ready) -> None:
        self.folder, self.ready = folder, ready
        (folder / "good").mkdir()
        source = write_npz(folder / "good" / "x.npz", embeddings=vectors())
        ready.works("add", folder / "good" / "g", source, cwd=folder)
        ready.works("find", folder / "good" / "g", IDS[0], cwd=folder)

    def spring(self, name: str) -> str | None:
        """Lay one trap, and step on it."""
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(self.folder / "good", work)
        canary = work / TOUCHED
        words = TRAPS[name](work, canary)
        ended = self.ready.run(*words, cwd=work)
        if list(work.rglob(f"{TOUCHED}*")):
            return "the canary was created"
        if "Traceback" in ended.err or ended.code < 0:
            return f"it died ({ended.code}): {ended.err[-300:]}"
        return None


def forbidden(package: Path) -> Iterator[str]:
    """Places of a package that could run what data say."""
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if what := _offence(node):
                yield f"{path.relative_to(package.parent)}:{getattr(node, 'lineno', 0)} {what}"


def _offence(node: ast.AST) -> str:
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        return next((f"imports {name}" for name in names if name.split(".")[0] in FORBIDDEN_MODULES), "")
    if not isinstance(node, ast.Call):
        return ""
    called = ast.unparse(node.func)
    if called in FORBIDDEN_CALLS:
        return f"calls {called}"
    for word in node.keywords:
        given = ast.unparse(word.value)
        if word.arg == "allow_pickle" and given != "False":
            return "allows pickles"
        if word.arg == "shell" and given != "False":
            return "uses a shell"
    if called in ("np.load", "numpy.load") and not any(word.arg == "allow_pickle" for word in node.keywords):
        return "loads arrays without saying that pickles are not allowed"
    return ""
