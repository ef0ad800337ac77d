"""Sources are read by a child: the same sets, the same refusals, and nothing that a source does harms us."""

from __future__ import annotations

import logging
import os
import select
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.errors import BadInput, LookalikeError, NotFound, StorageFailed
from lookalike.intake import patience, source_child
from lookalike.intake.reading_apart import read_apart, read_crops_apart, usual_limits
from lookalike.intake.source_child import Crashed, SourceChild
from lookalike.intake.sources import read_source
from lookalike.intake.sourceset import SourceSet
from tests.cli_process import faces, vectors, write_npz, write_pictures
from trust.sources import KINDS, WRONG

Started = list["subprocess.Popen[bytes]"]

limited = pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="needs Linux")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """Every child that is started."""
    processes: Started = []
    plain = source_child._started

    def start(limits: source_child.Limits) -> subprocess.Popen[bytes]:
        processes.append(plain(limits))
        return processes[-1]

    monkeypatch.setattr(source_child, "_started", start)
    return processes


@pytest.fixture
def npz(tmp_path: Path) -> Path:
    return write_npz(tmp_path / "x.npz", embeddings=vectors())


def picture(path: Path, size: tuple[int, int] = (25, 30)) -> Path:
    noise = np.random.default_rng(3).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(noise).save(path)
    return path


def plain(found: SourceSet) -> tuple[object, ...]:
    """All that a set holds, in what can be compared."""
    numbers = None if found.faces is None else (found.faces.dtype, found.faces.shape, found.faces.tobytes())
    pixels = [(one.dtype, one.shape, one.tobytes()) for one in found.pictures]
    return found.id, found.origin, found.sources, numbers, pixels, found.array, found.descriptor


def both(path: Path, **how: object) -> tuple[list[object], list[object]]:
    """What is read apart and here, in order; or the one refusal."""

    def told(read: Callable[..., object]) -> list[object]:
        try:
            return [plain(found) for found in read(path, **how)]  # type: ignore[attr-defined]
        except LookalikeError as reason:
            return [type(reason), str(reason)]

    return told(read_apart), told(read_source)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_sets(tmp_path: Path, kind: str) -> None:
    source = KINDS[kind](tmp_path)
    apart, here = both(source.given, features=source.features)
    assert len(here) > 1
    assert isinstance(here[0], tuple)
    assert apart == here


@pytest.mark.parametrize("how", [{}, {"most": 2}, {"most": 1}])
def test_the_same_pictures(tmp_path: Path, how: dict[str, int]) -> None:
    folder = write_pictures(tmp_path / "crops", faces())
    # Gray and in colour, large and small, upright and not, in one set.
    picture(folder / "p0" / "v0" / "colour.png", (70, 41))
    apart, here = both(folder, **how)
    assert len(here) == 12
    assert apart == here


def test_the_same_in_youtube_faces(tmp_path: Path) -> None:
    source = KINDS["youtube"](tmp_path)
    for array in ("pictures", "VID_DESCS_CSLBP", "nothing"):
        apart, here = both(source.given, array=array)
        assert apart == here


def test_one_picture_and_numbers_with_pictures(tmp_path: Path) -> None:
    for path in (
        picture(tmp_path / "one.png"),
        write_npz(tmp_path / "x.npz", embeddings=vectors(), images=faces().reshape(-1, 30, 25)),
    ):
        for array in (None, "embeddings"):
            apart, here = both(path, array=array)
            assert apart == here


@pytest.mark.parametrize("name", WRONG)
def test_the_same_refusals(tmp_path: Path, name: str) -> None:
    source = KINDS["npz"](tmp_path)
    WRONG[name](source.given)
    apart, here = both(source.given)
    assert apart == here


def test_the_same_words_for_what_is_no_source(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").mkdir()
    for name, content in (("text", b"hello"), ("cut.png", b"\x89PNG\r\n\x1a\n"), ("cut.npz", b"PK\x03\x04")):
        (tmp_path / name).write_bytes(content)
    (tmp_path / os.fsdecode(b"\xff.txt")).write_bytes(b"x")
    paths = [*tmp_path.iterdir(), tmp_path / "missing", Path("\0"), Path("\ud800"), Path("x" * 9999)]
    for path in paths:
        apart, here = both(path)
        assert isinstance(here[0], type)
        assert apart == here


def test_what_can_be_checked_first_is(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="missing"):
        read_apart(tmp_path / "missing")


def test_an_array_that_is_only_guessed(npz: Path) -> None:
    with pytest.raises(BadInput, match="no array 'other'"):
        read_apart(npz, "other")
    assert [one.array for one in read_apart(npz, "other", guessed=True)][:1] == ["embeddings"]


def test_names_that_are_longer_than_a_header(tmp_path: Path) -> None:
    names = [f"{number:0400d}" for number in range(3000)]
    numbers = np.random.default_rng(1).normal(size=(3000, 2))
    owners = np.zeros(3000, dtype=int)
    path = write_npz(tmp_path / "x.npz", ["one"], e=numbers, image_set=owners, image_names=names)
    [found] = read_apart(path)
    assert found.sources == tuple(names)


def test_a_child_reads_a_set_ahead_and_no_more(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / str(number)).mkdir()
        picture(tmp_path / str(number) / "a.png", (300, 300))
    sets = read_apart(tmp_path)
    assert next(sets).id == "0"
    shutil.rmtree(tmp_path / "7")
    with pytest.raises(NotFound, match=r"7/a\.png"):
        list(sets)


def test_a_child_that_dies(npz: Path, started: Started) -> None:
    sets = read_apart(write_npz(npz, embeddings=vectors(dimension=9000)))
    next(sets)
    # As a parser does that runs wild.
    started[0].kill()
    with pytest.raises(BadInput) as caught:
        list(sets)
    assert repr(str(npz)) in str(caught.value)
    assert "ended what reads it (-9)" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("can_wait", [True, False])
def test_a_child_that_hangs(npz: Path, monkeypatch: pytest.MonkeyPatch, can_wait: bool) -> None:
    monkeypatch.setattr(patience, "CAN_WAIT", can_wait and patience.CAN_WAIT)
    # More than a pipe holds.
    write_npz(npz, embeddings=vectors(dimension=9000))
    request = {"source": str(npz), "array": None, "features": None, "most": None, "guessed": False}
    with SourceChild(request, usual_limits()) as child:
        assert child.next() is True
        os.kill(child.pid, signal.SIGSTOP)
        child._limits = replace(child._limits, patience=0.2)
        with pytest.raises(Crashed, match=r"longer than 0\.2 seconds"):
            list(iter(child.next, False))


@limited
def test_a_child_that_takes_the_processor_too_long(npz: Path, started: Started) -> None:
    sets = read_apart(
        write_npz(npz, embeddings=vectors(dimension=9000)), limits=replace(usual_limits(), seconds=7)
    )
    next(sets)
    held = Path(f"/proc/{started[0].pid}/limits").read_text()
    seconds = next(line for line in held.splitlines() if line.startswith("Max cpu time"))
    assert 8 <= int(seconds.split()[3]) <= 20
    # How the system ends it.
    started[0].send_signal(signal.SIGXCPU)
    with pytest.raises(BadInput, match=r"x\.npz.* a processor more than 7 seconds"):
        list(sets)


@limited
def test_what_a_child_may_take(npz: Path, started: Started) -> None:
    sets = read_apart(npz, limits=replace(usual_limits(), memory=2**30))
    held = Path(f"/proc/{started[0].pid}/limits").read_text()
    most = {line[:26].strip(): line[26:].split()[0] for line in held.splitlines()}
    assert most["Max file size"] == most["Max core file size"] == "0"
    assert 2**30 < int(most["Max address space"]) < 2**32
    assert len(list(sets)) == 12


@limited
@pytest.mark.parametrize(("memory", "said"), [(50, "split it"), (150, "more memory than there is")])
def test_memory_is_limited(tmp_path: Path, memory: int, said: str) -> None:
    crops = np.zeros((4, 5000, 5000), dtype=np.uint8)
    np.savez_compressed(tmp_path / "x.npz", images=crops, image_set=np.zeros(4, int), set_names=["a"])
    with pytest.raises(BadInput, match=rf"x\.npz.*{said}"):
        list(read_apart(tmp_path / "x.npz", limits=replace(usual_limits(), memory=memory * 10**6)))


def test_features_are_mapped_whatever_their_size(tmp_path: Path) -> None:
    source = KINDS["mot"](tmp_path)
    size = source.features.stat().st_size
    assert usual_limits(source.features).memory == usual_limits().memory + size


def test_nothing_is_left_behind(npz: Path, started: Started) -> None:
    write_npz(npz, embeddings=vectors(dimension=9000))
    unused = read_apart(npz)
    del unused
    begun = read_apart(npz)
    next(begun)
    del begun
    list(read_apart(npz))
    with pytest.raises(BadInput):
        read_apart(npz, "nothing")
    assert len(started) == 4
    assert all(process.returncode is not None for process in started)


@pytest.mark.parametrize("call", [0, 1, 3])
def test_an_interrupt_ends_the_child(
    npz: Path, started: Started, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    taken, taking = [], source_child.take_header

    def interrupted(child: subprocess.Popen[bytes]) -> dict[str, object]:
        taken.append(1)
        if len(taken) > call:
            raise KeyboardInterrupt
        return taking(child)

    monkeypatch.setattr(source_child, "take_header", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(read_apart(npz))
    assert [process.returncode is not None for process in started] == [True]


DIES = """
import os, sys
from pathlib import Path
from lookalike.intake import patience, source_child
from lookalike.intake.reading_apart import read_apart
plain, started = source_child._started, []
source_child._started = lambda limits: started.append(plain(limits)) or started[0]
sets = read_apart(Path(sys.argv[1]))
print(started[0].pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_a_child_whose_parent_was_killed_ends(npz: Path) -> None:
    write_npz(npz, embeddings=vectors(dimension=9000))
    words = [sys.executable, "-c", DIES, str(npz)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        watched = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    try:
        assert select.select([watched], [], [], 60)[0]
    finally:
        os.close(watched)


@pytest.mark.parametrize("program", ["missing", "fails"])
def test_a_child_that_cannot_be_started(
    npz: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    (tmp_path / "fails").write_text("#!/bin/sh\nexit 5\n")
    (tmp_path / "fails").chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(tmp_path / program))
    said = r"does not start \(it ended with 5\)" if program == "fails" else "cannot be started"
    with pytest.raises(StorageFailed, match=said):
        read_apart(npz)


@pytest.mark.skipif(not patience.CAN_WAIT, reason="pipes cannot be waited for here")
def test_no_thread_is_needed(npz: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(thread: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refused)
    assert len(list(read_apart(npz))) == 12


def test_what_is_logged_comes_here(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = write_pictures(tmp_path / "crops", faces())
    with caplog.at_level(logging.INFO):
        list(read_apart(folder))
    [record] = [one for one in caplog.records if one.name == "lookalike.intake.readers.folders"]
    assert record.getMessage().startswith("a folder of 12 sets")


def test_crops_large_and_damaged_pictures(tmp_path: Path, started: Started) -> None:
    small, large, turned = (
        picture(tmp_path / f"{size[0]}.png", size) for size in ((20, 30), (31, 40), (30, 20))
    )
    cut = tmp_path / "cut.png"
    cut.write_bytes(small.read_bytes()[:900])
    told = list(read_crops_apart([small, large, cut, turned], (20, 30)))
    assert [type(one) for one in told] == [np.ndarray, type(None), BadInput, np.ndarray]
    assert "cut.png" in str(told[2])
    assert len(started) == 1
    assert all(isinstance(one, np.ndarray) for one in read_crops_apart([small, large], None))
    assert list(read_crops_apart([], None)) == []


def test_a_picture_that_ends_the_child_is_refused_alone(tmp_path: Path, started: Started) -> None:
    paths = [picture(tmp_path / f"{number}.png", (300, 300)) for number in range(5)]
    told = read_crops_apart(paths, None)
    first = [next(told)]
    started[0].kill()
    rest = list(told)
    refused = [one for one in rest if isinstance(one, BadInput)]
    assert len(first + rest) == 5
    assert len(refused) == 1
    assert len(started) == 2


ADD = """
import sys, zipfile
import numpy as np
from PIL import Image
def never(*_, **__):
    raise AssertionError("read here")
Image.open = np.load = zipfile.ZipFile.__init__ = never
import lookalike.intake.sources, lookalike.ingest
lookalike.intake.sources.read_source = never
gallery, source, *features = sys.argv[1:]
lookalike.ingest.add(gallery, [source], features=features[0] if features else None, cropped=True)
foreign = ("pyarrow", "scipy.io", "pillow_heif", "PIL.TiffImagePlugin", "PIL.WebPImagePlugin")
print([name for name in foreign if name in sys.modules])
"""


@pytest.mark.parametrize("kind", [*KINDS, "folder"])
def test_nothing_of_a_source_is_decoded_by_who_adds_it(tmp_path: Path, kind: str) -> None:
    if kind == "folder":
        given = [write_pictures(tmp_path / "crops", faces()[:2, :1])]
    else:
        source = KINDS[kind](tmp_path)
        given = [source.given, *filter(None, [source.features])]
    words = [sys.executable, "-c", textwrap.dedent(ADD), str(tmp_path / "g"), *map(str, given)]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert (ended.stdout.strip(), ended.returncode) == ("[]", 0), ended.stderr
