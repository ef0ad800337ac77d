"""One module writes files: nobody else in the package opens, syncs, renames, links or deletes any."""

from __future__ import annotations

import ast
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from lookalike import atomic
from tests.gallery import children

ROOT = Path(__file__).parents[2] / "lookalike"
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "atomic.py")

OS = {
    *("write", "pwrite", "writev", "sendfile", "copy_file_range", "fsync", "fdatasync", "sync"),
    *(
        "truncate",
        "ftruncate",
        "rename",
        "renames",
        "replace",
        "link",
        "symlink",
        "unlink",
        "remove",
        "mkdir",
        "makedirs",
    ),
    *("rmdir", "removedirs", "mkfifo", "mknod", "chmod", "fchmod", "lchmod", "chown", "fchown", "utime"),
    *("O_CREAT", "O_WRONLY", "O_RDWR", "O_TRUNC", "O_APPEND", "posix_fallocate", "memfd_create"),
}
SHUTIL = {"copy", "copy2", "copyfile", "copyfileobj", "copytree", "move", "rmtree", "make_archive", "chown"}
# Methods that only a path has.
PATH = {
    *("write_text", "write_bytes", "unlink", "mkdir", "rmdir", "touch", "chmod", "lchmod", "symlink_to"),
    *("hardlink_to", "tofile"),
}
# Functions of libraries that write what their first argument names, unless it is an open stream.
SAVING = {
    *("save", "savez", "savez_compressed", "savetxt", "savefig", "imwrite", "imsave", "dump", "open_memmap"),
}
# What gives a stream that may be written to: memory, or a file of `atomic`.
STREAMS = {"io.BytesIO", "BytesIO", "io.StringIO", "atomic.writing", "atomic.new_file"}
# Our own methods of these names, by the name before the dot.
OURS = {"store", "judge", "deciding", "parts_of(request)", "self.store", "self.deciding", "events"}


def findings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of everything that writes, or could."""
    streams = set(_streams(tree))
    nowhere = {id(each) for node in ast.walk(tree) if _is_null(node) for each in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in nowhere:
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((node.lineno, ast.unparse(node)) for _ in _bad_imports(node))
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("os", "shutil"):
            names = OS if ast.unparse(node.value) == "os" else SHUTIL
            if node.attr in names:
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and _writes(node, streams):
            yield node.lineno, ast.unparse(node)


def _is_null(node: ast.AST) -> bool:
    """Whether this opens the null device, or a stream that a process was given."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    first = ast.unparse(node.args[0])
    return (ast.unparse(node.func), first) == ("os.open", "os.devnull") or (
        ast.unparse(node.func) == "os.fdopen" and first.startswith("os.dup(")
    )


def _bad_imports(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Whole modules for temporary files; and single functions, whose calls would not be recognised."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.partition(".")[0] == "tempfile")
        yield from (alias.name for alias in node.names if alias.name in ("os", "shutil") and alias.asname)
    elif node.module == "tempfile":
        yield node.module
    elif node.module in ("os", "shutil"):
        yield from (alias.name for alias in node.names if alias.name in OS | SHUTIL | {"open"})


def _streams(tree: ast.Module) -> Iterator[str]:
    """Names that stand for memory, or for a file that `atomic` gave."""
    for node in ast.walk(tree):
        made: list[tuple[ast.expr, ast.expr | None]] = []
        if isinstance(node, ast.Assign):
            made = [(node.value, node.targets[0])]
        elif isinstance(node, ast.With):
            made = [(item.context_expr, item.optional_vars) for item in node.items]
        for value, name in made:
            called = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
            if isinstance(name, ast.Name) and called in STREAMS:
                yield name.id


def _writes(call: ast.Call, streams: set[str]) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    first = ast.unparse(call.args[0]) if call.args else ""
    if owner == "atomic" or owner in OURS or first in streams:
        return False
    if name in ("open", "fdopen", "ZipFile", "memmap", "load"):
        return _mode_writes(call, name, owner)
    if name == "rename" and owner:
        return not owner.endswith(".deciding")  # a person's, in the page
    # A text's `replace` takes two, a path's one, a date's those that it names.
    if name == "replace" and owner:
        return len(call.args) + sum(given.arg in (None, "target") for given in call.keywords) == 1
    return bool(owner) and (name in PATH or name in SAVING)


def _mode_writes(call: ast.Call, name: str, owner: str) -> bool:
    """Whether a file may be opened for anything but reading; a mode that is not written there counts."""
    # The mode is the first argument of a path's method and the second of a function.
    is_path = name == "open" and owner not in ("", "os", "io", "av", "Image", "gzip", "zipfile")
    place = 0 if is_path else {"memmap": 2}.get(name, 1)
    keyword = {"load": "mmap_mode"}.get(name, "mode")
    given = [one.value for one in call.keywords if one.arg == keyword]
    if name != "load" and len(call.args) > place:
        given.append(call.args[place])
    if name == "open" and owner == "os":
        return False  # its flags are looked for by their names
    texts = [each.value for one in given for each in ast.walk(one) if isinstance(each, ast.Constant)]
    if given and not any(isinstance(text, str) for text in texts):
        return name in ("open", "fdopen") and owner in ("", "os", "io")
    modes = [text for text in texts if isinstance(text, str) and set(text) <= set("rwaxbt+c")]
    return any(set(mode) & set("wax+") for mode in modes)


def test_nobody_else_writes() -> None:
    assert FILES
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in FILES
        for line, text in findings(ast.parse(path.read_text("utf-8")))
    ]
    assert found == [], "write through lookalike/atomic.py instead"


WRITING = """
os.open(path, os.O_CREAT | os.O_EXCL)
os.rename(a, b)
os.fsync(file)
open(path, "w")
open(path, mode)
path.open("xb")
path.open(mode="r+b")
path.write_text("x")
path.unlink()
path.mkdir()
path.rename(other)
path.replace(other)
shutil.rmtree(path)
np.savez(path, a=a)
image.save(path)
av.open(str(path), "w")
zipfile.ZipFile(path, "w")
np.memmap(path, float, "w+")
import tempfile
from os import unlink
from shutil import rmtree as delete
array.tofile(path)
"""
READING = """
path.open("rb")
path.open()
open(path)
open(path, "rb")
os.open(path, os.O_RDONLY)
os.open(os.devnull, os.O_RDWR)
os.fdopen(os.dup(1), "wb")
text.replace("a", "b")
date.replace(microsecond=0)
np.load(path, mmap_mode="r")
av.open(stream, "r")
shutil.disk_usage(path)
store.save(kind, arrays)
with atomic.writing(path) as file:
    np.savez(file, a=a)
memory = io.BytesIO()
image.save(memory, "PNG")
"""


def test_the_scan_sees() -> None:
    unseen = [line for line in WRITING.strip().splitlines() if not list(findings(ast.parse(line)))]
    assert unseen == []


def test_the_scan_lets_read() -> None:
    assert list(findings(ast.parse(READING))) == []


def test_everything_is_private(tmp_path: Path) -> None:
    made = atomic.make_folders(tmp_path / "a" / "b")
    atomic.make_folder(tmp_path / "a" / "c")
    atomic.write(tmp_path / "a" / "one", b"1")
    atomic.write_new(tmp_path / "a" / "two", b"2")
    atomic.create(tmp_path / "a" / "three")
    assert made == [tmp_path / "a" / "b", tmp_path / "a"]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"a": 0o700, "b": 0o700, "c": 0o700, "one": 0o600, "two": 0o600, "three": 0o600}


def test_nothing_is_overwritten_unless_asked(tmp_path: Path) -> None:
    atomic.write(tmp_path / "file", b"old")
    with pytest.raises(FileExistsError):
        atomic.write(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    atomic.write(tmp_path / "file", b"new", over=True)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"new"]


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        with atomic.writing(tmp_path / "file") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


WRITE_AND_STAY = """
from lookalike import atomic
with atomic.writing(Path(sys.argv[1])) as file:
    file.write(b"faces")
    file.flush()
    print("written", flush=True)
    import time; time.sleep(600)
"""


def test_what_a_killed_writer_left_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers = [children.start(WRITE_AND_STAY, tmp_path / name) for name in "ab"]
    for one in writers:
        assert one.stdout.readline() == "written\n", one.stderr.read()
    strange = tmp_path / ".writing-notes"
    strange.touch()
    children.kill(writers[0])
    atomic.write(tmp_path / "c", b"1")
    assert len(list(tmp_path.glob(".writing-*"))) == 2, "what is being written stays, and what is not ours"
    children.kill(writers[1])
    monkeypatch.setattr(atomic, "_SWEPT", set())  # as another process
    atomic.write(tmp_path / "d", b"1")
    assert sorted(tmp_path.iterdir()) == [strange, tmp_path / "c", tmp_path / "d"]
