"""Bad input at the command line: one sentence, the documented exit code, nothing changed, nothing left."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike import Gallery, open_search, remove
from lookalike.ingest.add import add
from tests.cli_process import (
    FRAMES,
    IDS,
    ROOT_OBEYS,
    SMALL_FILES_ONLY,
    Ended,
    Ready,
    faces,
    tree,
    vectors,
    write_npz,
    write_pictures,
)

USAGE, BAD, MISSING, CONFLICT, UNREADABLE, STORAGE = 2, 3, 4, 5, 6, 7

READ_ONLY = "read-only"
FULL = "full"
# Bytes a file may have on a full disk: enough for the index that SQLite keeps of its journal, for no more.
LIMIT = 40_000


@dataclass(frozen=True)
class Case:
    """A command that must be refused, and how. It runs in a folder that holds only its gallery."""

    command: str
    code: int
    says: str
    # Which gallery lies in the folder as g.gallery; see the fixture `galleries`.
    gallery: str = "vectors"
    disk: str = ""
    also: tuple[bytes, ...] = field(default=())

    def __str__(self) -> str:
        return f"{self.gallery}: {self.command} {self.disk}".replace("../in/", "").strip()


def _faces(path: str, code: int, says: str, options: str = "") -> Iterator[Case]:
    """A file of faces that can be neither added nor asked for."""
    yield Case(f"add g.gallery ../in/{path} {options}", code, says)
    yield Case(f"add new.gallery ../in/{path} --array embeddings", code, says, gallery="none")


def _each_command(gallery: str, code: int, says: str, labels: str = "../in/labels.csv") -> Iterator[Case]:
    """Every command that needs a gallery."""
    for words in (
        "list g.gallery --json",
        "status g.gallery",
        "index g.gallery",
        "train g.gallery",
        "find g.gallery ../in/one.npz",
        "explain g.gallery p0/v0 p0/v1",
        f"evaluate g.gallery --labels {labels}",
        "remove g.gallery p0/v0",
        "export g.gallery out.npz",
        "add g.gallery ../in/more.npz",
    ):
        yield Case(words, code, says, gallery)


CASES = [
    # Faces that describe nothing, or not all of them.
    *_faces("nan.npz", BAD, "face 4 of 'embeddings' has a NaN or infinite number"),
    *_faces("infinite.npz", BAD, "NaN or infinite"),
    *_faces("overflow.npz", BAD, "NaN or infinite"),
    *_faces("zero.npz", BAD, "all numbers equal"),
    *_faces("constant.npz", BAD, "all numbers equal"),
    Case("find g.gallery ../in/nan.npz --set p0/v0", BAD, "NaN or infinite"),
    Case("find g.gallery ../in/zero.npz --set p0/v0", BAD, "all numbers equal"),
    # Files that are not what they should be.
    Case("add g.gallery ../in/empty_set.npz", BAD, "set 'empty' has no faces"),
    Case("add g.gallery ../in/no_faces.npz", BAD, "may not be empty"),
    Case("add g.gallery ../in/truncated.npz", BAD, "not a whole .npz file"),
    Case("add g.gallery ../in/flipped.npz", BAD, "is damaged"),
    Case("add g.gallery ../in/empty.npz", BAD, "is nothing that can be read"),
    Case("add g.gallery ../in/text.npz", BAD, "is nothing that can be read"),
    Case("add g.gallery ../in/objects.npz", BAD, "Python objects in 'embeddings'"),
    Case("add g.gallery ../in/object_names.npz", BAD, "Python objects in 'set_names'"),
    Case("add g.gallery ../in/no_names.npz", BAD, "no array 'set_names'"),
    Case("add g.gallery ../in/no_sets.npz", BAD, "no array 'image_set'"),
    Case("add g.gallery ../in/more.npz --array nothing", BAD, "no array 'nothing'"),
    Case("add g.gallery ../in/more.npz --array image_set", BAD, "no faces in 'image_set'"),
    Case("add g.gallery ../in/outside.npz", BAD, "numbers go from 0 to"),
    Case("add g.gallery ../in/missing.npz", MISSING, "no file or folder '../in/missing.npz'"),
    Case("add g.gallery ../in/more.npz --dry-run", BAD, "'../in/more.npz' holds ready-made faces"),
    Case("add g.gallery ../in/nothing", BAD, "has no picture in it"),
    Case("add g.gallery ''", USAGE, "SOURCE", gallery="pictures"),
    Case("find g.gallery ''", MISSING, "''", gallery="pictures"),
    Case("add g.gallery /dev/null", BAD, "neither a file nor a folder"),
    # Ids.
    Case("add g.gallery ../in/twice.npz", BAD, "two sets called 'p0/v0'"),
    Case("add g.gallery ../in/more.npz ../in/more.npz", CONFLICT, "two sets are called 'm0'"),
    Case("add g.gallery ../in/other_content.npz", CONFLICT, "already has a set 'p0/v0'"),
    Case("add g.gallery ../in/more.npz ../in/other_content.npz", CONFLICT, "already has a set 'p0/v0'"),
    Case("add g.gallery ../in/newline_id.npz", BAD, "control characters"),
    Case("add g.gallery ../in/empty_id.npz", BAD, "non-empty string"),
    Case("add g.gallery ../in/long_id.npz", BAD, "may have 1024 characters"),
    Case("add g.gallery ../in/names/line", BAD, "control characters", gallery="pictures"),
    Case("add g.gallery", BAD, "not valid UTF-8", gallery="pictures", also=(b"../in/names/b\xfftes",)),
    # Another kind of face.
    Case("add g.gallery ../in/short.npz", CONFLICT, "holds faces of 16 numbers"),
    Case("add g.gallery ../in/more.npz --descriptor lbp", CONFLICT, "made by 'array:embeddings'"),
    Case("add g.gallery ../in/one_picture", CONFLICT, "holds ready-made descriptors"),
    Case("add g.gallery ../in/more.npz", CONFLICT, "was made by 'array:embeddings'", gallery="pictures"),
    Case("add g.gallery ../in/one_picture --descriptor lbp:rows=3", CONFLICT, "made by", gallery="pictures"),
    Case(
        "add g.gallery ../in/one_picture ../in/more.npz --cropped",
        CONFLICT,
        "different galleries",
        gallery="none",
    ),
    Case("add g.gallery ../in/one_picture --cropped --descriptor lbp:rows=0", BAD, "rows", gallery="none"),
    Case("add g.gallery ../in/one_picture --descriptor lbp:rows=0", BAD, "rows", gallery="none"),
    Case(
        "add g.gallery ../in/one_picture --cropped --descriptor nope",
        MISSING,
        "choose one of",
        gallery="none",
    ),
    Case("add g.gallery ../in/one_picture --descriptor nope", MISSING, "choose one of", gallery="none"),
    Case("find g.gallery ../in/short.npz --set p0/v0", BAD, "8 numbers"),
    Case("find g.gallery ../in/one_picture", CONFLICT, "holds ready-made descriptors"),
    Case("find g.gallery ../in/one.npz", CONFLICT, "describe both the same way", gallery="pictures"),
    # Pictures.
    Case("add g.gallery ../in/cut_picture", BAD, "is a damaged picture", gallery="pictures"),
    Case("add g.gallery ../in/small_picture", BAD, "at least 6 rows", gallery="pictures"),
    Case("add g.gallery ../in/flat_picture ../in/cut_picture", BAD, "damaged", gallery="pictures"),
    # Questions that cannot be answered.
    Case("find g.gallery nobody", MISSING, "no set 'nobody' among its 12 sets"),
    Case("find g.gallery p0/v0 --set p0/v0", BAD, "leave --set, --face and --at out"),
    Case("find g.gallery ../in/more.npz", BAD, "choose one with --set"),
    Case("find g.gallery ../in/more.npz --set m9", MISSING, "no set called 'm9'"),
    Case("find g.gallery ../in/missing.npz", MISSING, "a file or folder"),
    Case("find g.gallery p0/v0 --top 0", BAD, "top must be"),
    Case("find g.gallery p0/v0 --top -1", BAD, "top must be"),
    Case("find g.gallery p0/v0 --seed -1", BAD, "seed must be"),
    Case("find g.gallery p0/v0 --prepare nope", MISSING, "no preparation called 'nope'"),
    Case("index g.gallery --prepare whitened:dimension=1", BAD, "dimension must be 0"),
    Case("index g.gallery --prepare within:root=2", BAD, "root must be true or false"),
    Case("explain g.gallery p0/v0 p1/v0 -q --prepare within:root=true", BAD, "numbers that are not negative"),
    Case("find g.gallery p0/v0 --picture x.png", BAD, "no pictures to show"),
    Case("find g.gallery p0/v0 --picture /proc/x.png", STORAGE, "cannot be written", gallery="pictures"),
    Case("find g.gallery p0/v0 --picture x.what", STORAGE, "cannot be written", gallery="pictures"),
    Case("explain g.gallery p0/v0 nobody", MISSING, "nobody"),
    Case("explain g.gallery p0/v0 p0/v0", BAD, "the same set"),
    Case("remove g.gallery p0/v0 nobody", MISSING, "no set 'nobody'"),
    Case("export g.gallery ../in/more.npz", BAD, "is there already"),
    Case("export g.gallery out.npz nobody", MISSING, "no set 'nobody'"),
    Case("export g.gallery nowhere/out.npz", STORAGE, "cannot be written"),
    # Parts.
    Case("find g.gallery p0/v0 --reranker learnt:proxies=11", BAD, "from 1 to 10, got 11"),
    Case("find g.gallery p0/v0 --reranker learnt:proxies=0", BAD, "from 1 to 10, got 0"),
    Case("find g.gallery p0/v0 --shortlist --reranker csls", BAD, "csls:neighbours=10 looks at all sets"),
    Case(
        "find g.gallery p0/v0 --shortlist --reranker baseline --similarity dffs",
        BAD,
        "does not compare faces one by one",
    ),
    Case("train g.gallery --reranker learnt:proxies=-1", BAD, "from 1 to 10, got -1"),
    Case("train g.gallery --reranker learnt:proxies=x", BAD, "from 1 to 10, got 'x'"),
    Case("train g.gallery --reranker learnt:epsilon=x", BAD, "epsilon"),
    Case("train g.gallery --reranker learnt:penalty=1e400", BAD, "penalty"),
    Case("train g.gallery --reranker learnt:what=1", BAD, "no option 'what=1'"),
    Case("train g.gallery --reranker nope", MISSING, "choose one of"),
    Case("index g.gallery --similarity nope", MISSING, "choose one of"),
    Case("index g.gallery --similarity max_max:samples=x", BAD, "samples"),
    Case("index g.gallery --similarity dffs:dimension=0", BAD, "dimension must be"),
    Case("evaluate g.gallery --labels ../in/labels.csv --rerankers nope", MISSING, "choose one of"),
    # What a mistake costs: nothing is made for a question that cannot be answered.
    Case("find g.gallery nobody", MISSING, "nobody", gallery="plain"),
    Case("find g.gallery ../in/more.npz", BAD, "choose one with --set", gallery="plain"),
    Case("find g.gallery p0/v0 --top 0", BAD, "top must be", gallery="plain"),
    Case("find g.gallery p0/v0 --seed -1", BAD, "seed must be", gallery="plain"),
    Case("explain g.gallery p0/v0 nobody", MISSING, "nobody", gallery="plain"),
    Case("train g.gallery --reranker learnt:proxies=11", BAD, "from 1 to 10", gallery="plain"),
    Case("evaluate g.gallery --labels ../in/some.csv", BAD, "have no label", gallery="plain"),
    # Labels.
    Case("evaluate g.gallery --labels ../in/missing.csv", MISSING, "no label file"),
    Case("evaluate g.gallery --labels ../in", BAD, "cannot be read"),
    Case("evaluate g.gallery --labels ../in/some.csv", BAD, "have no label, for instance"),
    Case("evaluate g.gallery --labels ../in/too_many.csv", BAD, "sets the gallery does not hold"),
    Case("evaluate g.gallery --labels ../in/strangers.csv", BAD, "no query has a match"),
    Case("evaluate g.gallery --labels ../in/contradiction.csv", BAD, "is labelled twice"),
    Case("evaluate g.gallery --labels ../in/twice.csv", BAD, "is labelled twice, as 'p0': remove one"),
    Case("evaluate g.gallery --labels ../in/one_person.csv", BAD, "show one person, 'she'"),
    Case("evaluate g.gallery --labels ../in/empty.npz", BAD, "set_id,person"),
    Case("evaluate g.gallery --labels ../in/header.csv", BAD, "holds no labels"),
    Case("evaluate g.gallery --labels ../in/no_header.csv", BAD, "set_id,person"),
    Case("evaluate g.gallery --labels ../in/half_line.csv", BAD, "needs a set_id and a person"),
    Case("evaluate g.gallery --labels ../in/binary.csv", BAD, "not a UTF-8 csv file"),
    Case("evaluate g.gallery --labels ../in/truncated.npz", BAD, "not a whole .npz file"),
    Case("evaluate g.gallery --labels ../in/more.npz", BAD, "need set_names and set_person"),
    # Galleries that are none.
    *_each_command("text", UNREADABLE, "is not a gallery"),
    *(Case(f"{c} g.gallery", UNREADABLE, "is empty, not a gallery", "empty file") for c in ("list", "index")),
    Case("add g.gallery ../in/more.npz", UNREADABLE, "is empty, not a gallery", "empty file"),
    Case("list g.gallery", UNREADABLE, "an SQLite file of another program", "other database"),
    Case("add g.gallery ../in/more.npz", UNREADABLE, "an SQLite file of another program", "other database"),
    Case("add g.gallery ../in/more.npz", UNREADABLE, "is a folder, not a gallery", "folder"),
    Case("find g.gallery p0/v0", UNREADABLE, "is a folder, not a gallery", "folder"),
    Case("list g.gallery", UNREADABLE, "is not a gallery", "picture"),
    Case("list g.gallery", UNREADABLE, "written by a newer lookalike", "newer"),
    Case("add g.gallery ../in/more.npz", UNREADABLE, "written by a newer lookalike", "newer"),
    Case("remove g.gallery p0/v0", UNREADABLE, "written by a newer lookalike", "newer"),
    Case("index g.gallery", UNREADABLE, "face 0 of set 'p1/v1' does not fit its checksum", "damaged face"),
    Case("export g.gallery out.npz", UNREADABLE, "face 0 of set 'p1/v1'", "damaged face"),
    Case("list g.gallery", UNREADABLE, "damaged", "damaged lists"),
    Case("add g.gallery ../in/more.npz", UNREADABLE, "damaged", "damaged lists"),
    Case("index g.gallery", UNREADABLE, "damaged", "cut"),
    *(
        Case(c, MISSING, "no gallery at g.gallery", "none")
        for c in ("list g.gallery", "find g.gallery a", "remove g.gallery a", "export g.gallery out.npz")
    ),
    Case("add nowhere/g.gallery ../in/more.npz", MISSING, "nowhere/g.gallery does not exist", "none"),
    # Galleries that hold too little.
    Case("index g.gallery", BAD, "holds no sets", "of 0 sets"),
    Case("train g.gallery", BAD, "holds no sets", "of 0 sets"),
    Case("find g.gallery ../in/one.npz", BAD, "holds no sets", "of 0 sets"),
    Case("evaluate g.gallery --labels ../in/labels.csv", BAD, "holds no sets", "of 0 sets"),
    Case("export g.gallery out.npz", BAD, "nothing to export", "of 0 sets"),
    Case("remove g.gallery p0/v0", MISSING, "no set 'p0/v0'", "of 0 sets"),
    Case("find g.gallery p0/v0", BAD, "only the query itself", "of 1 set"),
    Case("explain g.gallery p0/v0 p0/v0", BAD, "only the query itself", "of 1 set"),
    Case("evaluate g.gallery --labels ../in/label_of_1.csv", BAD, "nothing to measure", "of 1 set"),
    # Disks that refuse.
    Case("add new.gallery ../in/wide.npz", STORAGE, "space", "none", disk=FULL),
    Case("add g.gallery ../in/wide_one.npz", STORAGE, "space", "wide", disk=FULL),
    Case("index g.gallery --quiet", STORAGE, "space", "wide", disk=FULL),
    Case("export g.gallery out.npz", STORAGE, "cannot be written", "wide", disk=FULL),
    Case("find g.gallery p0/v0 --picture x.png", STORAGE, "cannot be written", "pictures", disk=FULL),
    Case("add new.gallery ../in/more.npz", STORAGE, "permission", "none", disk=READ_ONLY),
    Case("add g.gallery ../in/more.npz", STORAGE, "read-only", disk=READ_ONLY),
    Case("remove g.gallery p0/v0", STORAGE, "read-only", disk=READ_ONLY),
    Case("index g.gallery --quiet", STORAGE, "permission", "plain", disk=READ_ONLY),
    Case("export g.gallery out.npz", STORAGE, "cannot be written", disk=READ_ONLY),
    Case("find g.gallery p0/v0 --picture x.png", STORAGE, "cannot be written", "pictures", disk=READ_ONLY),
    # Wrong usage is Click's to say.
    Case("find g.gallery", USAGE, "there is no query"),
    Case("find g.gallery p0/v0 --what", USAGE, "No such option"),
    Case("find g.gallery p0/v0 --top many", USAGE, "valid integer"),
    Case("evaluate g.gallery", USAGE, "Missing option '--labels'"),
    Case("add g.gallery", USAGE, "Missing argument"),
    Case("seek g.gallery", USAGE, "No such command 'seek'"),
]


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of bad input, and of some good."""
    root = tmp_path_factory.mktemp("bad input") / "in"
    root.mkdir()
    _write_arrays(root)
    _write_pictures(root)
    _write_labels(root)
    return root


def _write_arrays(root: Path) -> None:
    good = vectors(dimension=16)[:9]
    write_npz(root / "all.npz", embeddings=vectors(dimension=16))
    write_npz(root / "more.npz", ["m0", "m1", "m2"], embeddings=vectors(seed=2)[:9])
    write_npz(root / "one.npz", ["q"], embeddings=vectors(seed=2)[:3])
    wide = vectors(seed=4, dimension=2048)
    write_npz(root / "wide.npz", embeddings=wide)
    write_npz(root / "wide_one.npz", ["q"], embeddings=wide[:3])
    write_npz(root / "other_content.npz", embeddings=vectors(seed=3)[:9])
    write_npz(root / "short.npz", embeddings=good[:, :8])
    for name, value in {"nan": np.nan, "infinite": np.inf, "overflow": 1e300}.items():
        wrong = good.astype(np.float64)
        wrong[4, 3] = value
        write_npz(root / f"{name}.npz", embeddings=wrong)
    for name, value in {"zero": 0.0, "constant": 0.5}.items():
        wrong = good.copy()
        wrong[4] = value
        write_npz(root / f"{name}.npz", embeddings=wrong)
    write_npz(root / "empty_set.npz", ["m0", "m1", "m2", "empty"], embeddings=good)
    write_npz(root / "no_faces.npz", ["m0"], embeddings=good[:0])
    write_npz(root / "objects.npz", embeddings=good.astype(object))
    write_npz(root / "object_names.npz", embeddings=good, set_names=np.array(["a", "b", None], dtype=object))
    write_npz(root / "no_names.npz", embeddings=good, set_names=None)
    write_npz(root / "no_sets.npz", embeddings=good, image_set=None)
    write_npz(root / "outside.npz", embeddings=good, image_set=np.arange(9) // FRAMES + 1)
    write_npz(root / "twice.npz", ["p0/v0", "p0/v1", "p0/v0"], embeddings=good)
    write_npz(root / "newline_id.npz", ["m0", "a\nb", "m2"], embeddings=good)
    write_npz(root / "empty_id.npz", ["m0", "", "m2"], embeddings=good)
    write_npz(root / "long_id.npz", ["m0", "x" * 2000, "m2"], embeddings=good)
    whole = (root / "more.npz").read_bytes()
    (root / "truncated.npz").write_bytes(whole[: len(whole) // 2])
    (root / "flipped.npz").write_bytes(
        whole[:200] + bytes(byte ^ 255 for byte in whole[200:260]) + whole[260:]
    )
    (root / "empty.npz").write_bytes(b"")
    (root / "text.npz").write_text("not arrays")


def _write_pictures(root: Path) -> None:
    good = faces()[0, 0, 0]

    def album(name: str, picture: np.ndarray = good) -> Path:
        (root / name).mkdir(parents=True)
        Image.fromarray(picture).save(root / name / "0.png")
        return root / name / "0.png"

    album("one_picture")
    cut = album("cut_picture")
    cut.write_bytes(cut.read_bytes()[:300])
    album("small_picture", good[:5, :4])
    album("flat_picture", np.full((30, 25), 7, dtype=np.uint8))
    album("names/line/a\nb")
    album(os.fsdecode(b"names/b\xfftes"))
    (root / "nothing").mkdir()
    (root / "nothing" / "readme.txt").write_text("no pictures")
    write_pictures(root / "pics", faces())


def _write_labels(root: Path) -> None:
    lines = [f"{id},{id[:2]}" for id in IDS]

    def write(name: str, *lines: str) -> None:
        (root / name).write_text("\n".join(lines) + "\n")

    write("labels.csv", "set_id,person", *lines)
    write("some.csv", "set_id,person", *lines[:5])
    write("too_many.csv", "set_id,person", *lines, "p9/v9,p9")
    write("strangers.csv", "set_id,person", *(f"{id},{id}" for id in IDS))
    write("twice.csv", "set_id,person", *lines, lines[0])
    write("contradiction.csv", "set_id,person", *lines, "p0/v0,p1")
    write("one_person.csv", "set_id,person", *(f"{id},she" for id in IDS))
    write("header.csv", "set_id,person")
    write("no_header.csv", *lines)
    write("half_line.csv", "set_id,person", *lines, "p0/v0")
    write("label_of_1.csv", "set_id,person", "p0/v0,p0")
    (root / "binary.csv").write_bytes(bytes(range(256)) * 4)
    (root / "windows.csv").write_bytes(
        b"\xef\xbb\xbf" + "\r\n".join(["person,set_id", *(f"{id[:2]},{id}" for id in IDS), ""]).encode()
    )


@pytest.fixture(scope="session")
def galleries(inputs: Path) -> dict[str, Callable[[Path], None]]:
    """By name, what puts a gallery at a path; the ready ones are made once, then copied."""
    made = inputs.parent / "made"
    made.mkdir()
    for name, source, count in (
        ("vectors", "all.npz", None),
        ("plain", "all.npz", None),
        ("wide", "wide.npz", None),
        ("pictures", "pics", None),
        ("of 0 sets", "all.npz", 0),
        ("of 1 set", "all.npz", 1),
        ("of 2 sets", "all.npz", 2),
    ):
        add(made / name, [inputs / source], array=None, cropped=True)
        with Gallery(made / name) as gallery:
            if count is not None:
                remove(gallery, IDS[count:])
            if name in ("vectors", "pictures", "of 1 set"):
                open_search(gallery)

    def copy(name: str) -> Callable[[Path], None]:
        def put(path: Path) -> None:
            shutil.copy(made / name, path)
            if (made / f"{name}.derived").exists():
                shutil.copytree(made / f"{name}.derived", f"{path}.derived")

        return put

    def newer(path: Path) -> None:
        shutil.copy(made / "plain", path)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 99")

    def other(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE songs (name TEXT)")

    def overwritten(start: int, stop: int) -> Callable[[Path], None]:
        whole = (made / "plain").read_bytes()
        return lambda path: _write(path, whole[:start] + b"\xa5" * (stop - start) + whole[stop:])

    face = vectors(dimension=16)[IDS.index("p1/v1") * FRAMES].astype("<f4").tobytes()
    place = (made / "plain").read_bytes().index(face)
    return {
        **{path.name: copy(path.name) for path in made.iterdir() if path.is_file()},
        "none": lambda path: None,
        "text": lambda path: _write(path, b"holidays 2019\n" * 100),
        "empty file": lambda path: _write(path, b""),
        "other database": other,
        "folder": Path.mkdir,
        "picture": lambda path: _write(path, (inputs / "one_picture" / "0.png").read_bytes()),
        "newer": newer,
        "damaged face": overwritten(place, place + len(face)),
        "damaged lists": overwritten(100, 16384),
        "cut": lambda path: _write(path, (made / "plain").read_bytes()[:40000]),
    }


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


@dataclass(frozen=True)
class Refused:
    """How a case ended, and its folder before and after."""

    ended: Ended
    before: dict[str, str]
    after: dict[str, str]


@pytest.fixture(scope="module")
def refusals(
    request: pytest.FixtureRequest, inputs: Path, galleries: dict[str, Callable[[Path], None]]
) -> Iterator[dict[Case, Future[Refused]]]:
    """Every chosen case, started at once: most of the time a process only loads its libraries."""
    called = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    chosen = [given["case"] for given in called if isinstance(given.get("case"), Case)]

    def attempt(number: int, case: Case) -> Refused:
        folder = inputs.parent / f"{number:03d}"
        folder.mkdir()
        galleries[case.gallery](folder / "g.gallery")
        before = kept(folder)
        shape = ""
        if case.disk == READ_ONLY:
            for path in (folder, folder / "g.gallery", folder / "g.gallery.derived"):
                if path.exists():
                    path.chmod(0o555 if path.is_dir() else 0o444)
            shape = ROOT_OBEYS
        elif case.disk == FULL:
            shape = SMALL_FILES_ONLY.format(LIMIT)
        words = [*shlex.split(case.command), *case.also]
        ready = starters[number % len(starters)]
        ended = ready.run(*words, cwd=folder, before=shape)
        return Refused(ended, before, kept(folder))

    starters = [Ready(), Ready()]
    with ThreadPoolExecutor(len(starters)) as pool:
        yield {case: pool.submit(attempt, number, case) for number, case in enumerate(chosen)}
    for starter in starters:
        starter.close()


def kept(folder: Path) -> dict[str, str]:
    """Everything but the notes of when tables were last found good: a copy is read anew, then noted."""
    return {name: held for name, held in tree(folder).items() if not name.endswith("/checked.json")}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_is_refused(case: Case, refusals: dict[Case, Future[Refused]]) -> None:
    refused = refusals[case].result()
    ended = refused.ended
    assert "Traceback" not in ended.err + ended.out
    assert ended.code == case.code, ended
    assert case.says in ended.err
    assert ended.out == ""
    if case.code != USAGE:
        assert ended.err.startswith("lookalike: "), ended.err
        assert ended.err.count("\n") == 1, ended.err
        assert ended.err.endswith("\n")
    assert refused.after == refused.before


def test_cases_are_named_apart() -> None:
    assert len({str(case) for case in CASES}) == len(CASES)


# What looks like a mistake but is none.


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    starter = Ready()
    yield starter
    starter.close()


@pytest.fixture
def put(tmp_path: Path, galleries: dict[str, Callable[[Path], None]]) -> Callable[[str], Path]:
    """Puts a gallery of that name into the folder of the test."""

    def put(name: str) -> Path:
        galleries[name](tmp_path / "g.gallery")
        return tmp_path / "g.gallery"

    return put


def test_sets_of_one_face_can_be_found(tmp_path: Path, ready: Ready) -> None:
    ids = [f"still {number}" for number in range(18)]
    write_npz(tmp_path / "stills.npz", ids, embeddings=vectors()[:18], image_set=np.arange(18))
    ready.works("add", "g.gallery", "stills.npz", cwd=tmp_path)
    for similarity in ("max_max", "max_correlation", "dffs", "manifold"):
        found = ready.works(
            "find", "g.gallery", "still 0", "--json", "--similarity", similarity, cwd=tmp_path
        )
        assert len(found.json["answers"]) == 10
    # The first six stills are of one person.
    shown = {answer["id"] for answer in found.json["answers"][:5]}
    assert shown == set(ids[1:6])


def test_a_gallery_without_a_set_can_be_listed(put: Callable[[str], Path], ready: Ready) -> None:
    gallery = put("of 0 sets")
    assert ready.works("list", gallery, "--json", cwd=gallery.parent).json == {"sets": []}
    assert ready.works("status", gallery, "--json", cwd=gallery.parent).json["sets"] == 0
    ready.works("list", gallery, cwd=gallery.parent)


def test_a_gallery_of_one_set_answers_a_query_from_outside(
    put: Callable[[str], Path], inputs: Path, ready: Ready
) -> None:
    gallery = put("of 1 set")
    for reranker in ("baseline", "learnt", "arithmetic_mean"):
        asked = ("find", gallery, inputs / "one.npz", "--json", "--reranker", reranker)
        assert [answer["id"] for answer in ready.works(*asked, cwd=gallery.parent).json["answers"]] == [
            "p0/v0"
        ]
    ready.works("explain", gallery, inputs / "one.npz", "p0/v0", cwd=gallery.parent)
    ready.works("remove", gallery, "p0/v0", cwd=gallery.parent)
    assert tree(gallery.parent).keys() == {"g.gallery"}


def test_a_gallery_of_two_sets_answers_everything(
    put: Callable[[str], Path], tmp_path: Path, ready: Ready
) -> None:
    gallery = put("of 2 sets")
    (tmp_path / "labels.csv").write_text("set_id,person\np0/v0,a\np0/v1,a\n")
    for reranker in ("baseline", "learnt", "learnt:proxies=10", "quadratic_mean"):
        found = ready.works("find", gallery, "p0/v0", "--json", "--reranker", reranker, cwd=tmp_path).json
        assert [answer["id"] for answer in found["answers"]] == ["p0/v1"]
    ready.works("explain", gallery, "p0/v0", "p0/v1", cwd=tmp_path)
    one_person = ready.run("evaluate", gallery, "--labels", "labels.csv", "--json", cwd=tmp_path)
    assert one_person.code == BAD
    assert "all 2 sets show one person, 'a', so every order is perfect" in one_person.err


@pytest.mark.parametrize("labels", ["windows.csv"])
def test_labels_that_are_unusual_but_whole(
    labels: str, put: Callable[[str], Path], inputs: Path, ready: Ready
) -> None:
    gallery = put("vectors")
    asked = ("evaluate", gallery, "--labels", inputs / labels, "--json", "--rerankers", "baseline")
    measured = ready.works(*asked, cwd=gallery.parent).json
    assert measured["queries"] == 12
    assert list(measured["rerankers"]) == ["baseline"]


def test_a_query_equal_to_a_gallery_set_finds_its_copy_first(
    put: Callable[[str], Path], tmp_path: Path, ready: Ready
) -> None:
    gallery = put("vectors")
    write_npz(tmp_path / "copy.npz", ["under another name"], embeddings=vectors()[9:12])
    found = ready.works("find", gallery, "copy.npz", "--json", cwd=tmp_path).json
    assert found["query"] == "under another name"
    assert found["answers"][0]["id"] == IDS[3]
    assert found["answers"][0]["baseline"] == pytest.approx(1.0)


def test_names_may_hold_spaces_and_any_letter(inputs: Path, tmp_path: Path, ready: Ready) -> None:
    ids = ["with space", "[bold]no markup[/]", "-dash", "é/日本", "😀"]
    write_npz(tmp_path / "a file.npz", ids, embeddings=vectors()[:15])
    ready.works("add", "my gallery", "a file.npz", cwd=tmp_path)
    for id in ids:
        found = ready.works("find", "--json", "my gallery", "--", id, cwd=tmp_path).json
        assert sorted([found["query"], *(answer["id"] for answer in found["answers"])]) == sorted(ids)
    listed = ready.works("list", "my gallery", cwd=tmp_path).out
    assert all(id in listed for id in ids)
    shutil.copytree(inputs / "one_picture", tmp_path / "holiday pictures" / "day 1")
    ready.works("add", "other gallery", "holiday pictures", "--cropped", cwd=tmp_path)
    [only] = ready.works("list", "other gallery", "--json", cwd=tmp_path).json["sets"]
    assert only == {
        "id": "day 1",
        "origin": "holiday pictures/day 1",
        "faces": 1,
        "start": None,
        "end": None,
        "files": [],
    }


def test_a_gallery_that_may_only_be_read_can_be_asked(put: Callable[[str], Path], ready: Ready) -> None:
    gallery = put("vectors")
    gallery.chmod(0o444)
    gallery.parent.chmod(0o555)
    try:
        for words in (("list", "g.gallery"), ("find", "g.gallery", "p0/v0"), ("status", "g.gallery")):
            assert ready.run(*words, cwd=gallery.parent, before=ROOT_OBEYS).code == 0
    finally:
        gallery.parent.chmod(0o755)


def test_a_damaged_table_is_made_again(put: Callable[[str], Path], ready: Ready) -> None:
    gallery = put("vectors")
    asked = ("find", gallery, "p0/v0", "--json")
    right = ready.works(*asked, cwd=gallery.parent).out
    for manifest in gallery.parent.rglob("manifest.json"):
        manifest.write_text("{")
    again = ready.works(*asked, cwd=gallery.parent)
    assert again.out == right
    assert "Traceback" not in again.err
    for array in gallery.parent.rglob("*.npy"):
        array.write_bytes(array.read_bytes()[:-8])
    assert ready.works(*asked, cwd=gallery.parent).out == right


def test_sets_added_before_the_disk_was_full_are_told(
    put: Callable[[str], Path], inputs: Path, ready: Ready
) -> None:
    """Each set is whole or not there; the sentence says what stays."""
    gallery = put("of 1 set")
    write_npz(
        inputs.parent / "many.npz",
        [f"n{i:03d}" for i in range(90)],
        embeddings=np.tile(vectors(5), (8, 1))[:270],
    )
    ended = ready.run(
        "add",
        gallery,
        inputs.parent / "many.npz",
        cwd=gallery.parent,
        before=SMALL_FILES_ONLY.format(200_000),
    )
    assert ended.code == STORAGE, ended
    assert ended.err.count("\n") == 1, ended.err
    with Gallery(gallery) as opened:
        added = len(opened) - 1
        assert all(len(one) == FRAMES for one in opened.sets())
    if added:
        assert f"{added} sets before it were added and stay" in ended.err
        assert "nothing was changed" not in ended.err
