"""Bad input of evaluate and compare: one sentence, its exit code, no work done before, nothing changed."""

from __future__ import annotations

import csv
import io
import json
import shlex
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from lookalike import Gallery, index
from lookalike.ingest.add import add
from tests.cli_process import (
    FRAMES,
    IDS,
    ROOT_OBEYS,
    Ended,
    Ready,
    faces,
    tree,
    vectors,
    write_npz,
    write_pictures,
)
from tests.ingest.youtube_miniature import cells, write_youtube_faces

USAGE, BAD, MISSING, CONFLICT, STORAGE = 2, 3, 4, 5, 7

READ_ONLY = "read-only"
# Shapes the process of the command: the library cannot be imported, as if it were not installed.
NO_DRAWING = "sys.modules['matplotlib'] = sys.modules['matplotlib.figure'] = None"
NO_PAGES = "sys.modules['jinja2'] = None"
LABELLED = "evaluate g.gallery --labels ../in/labels.csv"
ASKED = "evaluate g.gallery --labels ../in/both.csv --queries"


@dataclass(frozen=True)
class Case:
    """A command that must be refused, and how. It runs in a folder that holds only a gallery.

    The gallery was never indexed: whatever is made before the refusal is a change of the folder.
    """

    command: str
    code: int
    says: str
    # What lies in the folder as g.gallery: see the fixture `galleries`.
    gallery: str = "vectors"
    before: str = ""
    # Why it is not refused as it should be, yet; a mended fault shows itself by failing the test.

    def __str__(self) -> str:
        return f"{self.command} {self.gallery} {self.before}".replace("../in/", "").strip()


def _labels(name: str, says: str, gallery: str = "vectors") -> Case:
    return Case(f"evaluate g.gallery --labels ../in/{name}", BAD, says, gallery)


def _compared(name: str, says: str, code: int = BAD) -> Iterator[Case]:
    """A file that cannot be compared with a report, on either side, for people or programs."""
    yield Case(f"compare ../in/report.json ../in/{name}", code, says, "none")
    yield Case(f"compare ../in/{name} ../in/report.json --json", code, says, "none")


CASES = [
    # Labels that do not fit the gallery.
    _labels("some.csv", "7 of 12 sets have no label, for instance 'p1/v1': add them"),
    _labels("too_many.csv", "1 labels are for sets the gallery does not hold, for instance 'p9/v9'"),
    _labels("one_person.csv", "all 12 sets show one person, 'she'"),
    _labels("strangers.csv", "no query has a match in the gallery"),
    Case("evaluate g.gallery --labels ../in/strangers.csv --split", BAD, "no query has a match"),
    Case("evaluate g.gallery --labels ../in/one_person.csv --split", BAD, "show one person, 'she'"),
    Case(f"{LABELLED} --labels ../in/contrary.csv", BAD, "is 'p0' in one label file and 'p1' in another"),
    Case(f"{LABELLED} --labels ../in/missing.csv", MISSING, "no label file ../in/missing.csv"),
    Case(f"{LABELLED} --by age", BAD, "has a column 'age' beside who is on each set: they have no other"),
    # Labels that contradict themselves, or are none.
    _labels("twice.csv", "line 14: set 'p0/v0' is labelled twice, as 'p0': remove one"),
    _labels("contradiction.csv", "line 14: set 'p0/v0' is labelled twice, as 'p0' and 'p1'"),
    _labels("zeros.csv", "needs a set_id and a person"),
    _labels("zero_inside.csv", "1 of 12 sets have no label, for instance 'p0/v0'"),
    _labels("long_field.csv", "field larger than field limit"),
    _labels("open_quote.csv", "line 13: a label needs a set_id and a person"),
    _labels("utf16.csv", "is not a UTF-8 csv file"),
    _labels("other_columns.csv", "starts with 'video,name': its first line must be set_id,person"),
    _labels("escapes.csv", r"'\x1b[31mred'"),
    _labels("claims_more.npz", "'set_names' claims shape (268435456,)"),
    _labels("objects.npz", "Python objects in 'set_names'"),
    _labels("uneven.npz", "has (12,) set_names and (11,) set_person"),
    _labels("cut.npz", "not a whole .npz file"),
    # Labels of YouTube Faces.
    _labels("cut.mat", "has no 'video_labels'", "youtube"),
    _labels("zeros.mat", "is damaged", "youtube"),
    _labels("zero_tail.mat", "is damaged", "youtube"),
    _labels("bomb_labels.mat", "'../in/bomb_labels.mat'", "youtube"),
    _labels("fewer.mat", "has 7 video_names and 6 video_labels", "youtube"),
    _labels("half.mat", "no whole number", "youtube"),
    _labels("not_a_number.mat", "no whole number", "youtube"),
    _labels("words.mat", "must have text in video_names and numbers in video_labels", "youtube"),
    _labels("twice.mat", "set 'Person_A/0' is labelled twice", "youtube"),
    _labels("contradiction.mat", "set 'Person_A/0' is labelled twice, as '65' and '99'", "youtube"),
    _labels("other.mat", "has no 'video_names'", "youtube"),
    _labels("text.mat", "is no .mat file", "youtube"),
    _labels("ytf/descriptors_DB", "12 of 12 sets have no label"),
    _labels("ytf/headpose_DB", "it is a folder, and not of YouTube Faces"),
    # Descriptors of YouTube Faces: a folder for each way in which a file can be wrong.
    *(
        Case(f"add new.gallery '../in/{name}'", BAD, says, "none")
        for name, says in (
            ("ytf cut", "is damaged"),
            ("ytf zeros", "is damaged"),
            ("ytf transposed", "transposed, shape (3, 1770)"),
            ("ytf bomb", "aligned_video_0.mat'"),
        )
    ),
    Case("add new.gallery '../in/ytf nothing'", BAD, "has no frame that can be used among its 3", "none"),
    Case("add g.gallery ../in/ytf --array video/VID_DESCS_CSLBP", CONFLICT, "'Person_A/0'", "youtube"),
    Case("add new.gallery ../in/ytf --array video/WHAT", BAD, "WHAT", "none"),
    # Options.
    Case(f"{LABELLED} --seeds 0", USAGE, "--seeds must be"),
    Case(f"{LABELLED} --seeds -1", USAGE, "--seeds must be"),
    Case(f"{LABELLED} --seeds x", USAGE, "'--seeds'"),
    Case(f"{LABELLED} --seed -1", BAD, "seed must be"),
    Case(f"{LABELLED} --split --queries ../in/asked.npz", USAGE, "give one of them"),
    Case(f"{LABELLED} --faces", USAGE, "give --report DIR too"),
    Case(f"{LABELLED} --count-query --split", USAGE, "--count-query is about sets of the gallery"),
    Case(f"{ASKED} ../in/asked.npz --count-query", USAGE, "--count-query is about sets of the gallery"),
    Case(f"{LABELLED} --count-query --report r", USAGE, "--count-query has no report"),
    Case(f"{LABELLED} --decisions --split", USAGE, "--decisions is about sets of the gallery"),
    Case(f"{ASKED} ../in/asked.npz --decisions", USAGE, "--decisions is about sets of the gallery"),
    Case(f"{LABELLED} --decisions --report r", USAGE, "--decisions has no report"),
    Case(f"{LABELLED} --decisions --suspects", USAGE, "--suspects measures nothing"),
    Case(f"{LABELLED} --rerankers nope", MISSING, "no reranker called 'nope': choose one of"),
    Case(f"{LABELLED} --rerankers learnt,nope", MISSING, "no reranker called 'nope': choose one of"),
    Case(f"{LABELLED} --rerankers all,nope", MISSING, "no reranker called 'nope'"),
    Case(f"{LABELLED} --rerankers learnt:proxies=11", BAD, "from 1 to 10, got 11"),
    Case(f"{LABELLED} --rerankers learnt:what=1", BAD, "no option 'what=1': its options are"),
    Case(f"{LABELLED} --rerankers csls:neighbours=0", BAD, "neighbours must be a whole number"),
    Case(f"{LABELLED} --rerankers learnt:proxies=5,csls:what=1", BAD, "no option 'what=1'"),
    Case(f"{LABELLED} --similarity nope", MISSING, "no similarity called 'nope'"),
    # Queries from outside.
    Case(f"{ASKED} ../in/nothing", BAD, "has no picture in it"),
    Case(f"{ASKED} ../in/text.mat", BAD, "is nothing that can be read"),
    Case(f"{ASKED} ../in/missing.npz", MISSING, "no file or folder '../in/missing.npz'"),
    Case(f"{ASKED} ../in/asked.npz --queries ../in/missing.npz", MISSING, "missing.npz"),
    Case(f"{ASKED} ../in/cut.npz", BAD, "not a whole .npz file"),
    Case(f"{ASKED} ../in/other_kind.npz", CONFLICT, "described by array:other, the gallery by array:embed"),
    Case(f"{ASKED} ../in/pictures.gallery", CONFLICT, "are described by lbp"),
    Case(f"{ASKED} ../in/pics", CONFLICT, "holds ready-made descriptors"),
    Case(f"{ASKED} ../in/short.npz", BAD, "8 numbers a face, the gallery by 16"),
    Case(f"{ASKED} ../in/short.gallery", BAD, "8 numbers a face, the gallery by 16"),
    Case(f"{LABELLED} --queries ../in/asked.npz", BAD, "2 of 14 sets have no label, for instance 'q0'"),
    Case(
        f"{LABELLED} --labels ../in/asked_strangers.csv --queries ../in/asked.npz",
        BAD,
        "no query has a match",
    ),
    Case(f"{ASKED} ../in/inside.npz", BAD, "2 queries are in the gallery, for instance 'p0/v0'"),
    Case(f"{ASKED} ../in/copies.npz", BAD, "2 queries are in the gallery, for instance 'q0'"),
    Case(f"{ASKED} ../in/asked.npz --queries ../in/asked.npz", CONFLICT, "two queries are called 'q0'"),
    Case(f"{LABELLED} --rerankers learnt,learnt:proxies=10", BAD, "are the same method: name it once"),
    # Reports that could not be written in the end.
    Case(f"{LABELLED} --report ../in/labels.csv", BAD, "is a file, but a report is a folder"),
    Case(f"{LABELLED} --report g.gallery", BAD, "is a file, but a report is a folder"),
    Case(f"{LABELLED} --report nowhere/r", MISSING, "the folder of nowhere/r does not exist"),
    Case(f"{LABELLED} --report .", BAD, "holds something that is not a report, for instance g.gallery"),
    Case(f"{LABELLED} --report ../in/report", BAD, "holds mine.txt beside an earlier report"),
    Case(f"{LABELLED} --report ../in/pics", BAD, "holds something that is not a report, for instance p0"),
    Case(f"{LABELLED} --report r", STORAGE, "permission", before=READ_ONLY),
    Case(f"{LABELLED} --report r", BAD, "needs matplotlib", before=NO_DRAWING),
    Case(f"{LABELLED} --report r", BAD, "pip install 'lookalike[report]'", before=NO_PAGES),
    # Records that are none.
    *_compared("missing.json", "no file ../in/missing.json: give the report.json of a report", MISSING),
    *_compared("nothing", "no file ../in/nothing/report.json", MISSING),
    *_compared("text.mat", "is not JSON"),
    *_compared("empty.json", "is not JSON"),
    *_compared("cut.json", "is not JSON"),
    *_compared("deep.json", "is not JSON"),
    *_compared("binary.json", "is not JSON"),
    *_compared("something_else.json", "is not the record of an evaluation"),
    *_compared("list.json", "is not the record of an evaluation"),
    *_compared("number.json", "is not the record of an evaluation"),
    *_compared("no_measure.json", "is not the record of an evaluation"),
    *_compared("not_a_number.json", "is not the record of an evaluation"),
    *_compared("huge.json", "is not the record of an evaluation"),
    *_compared("fewer_queries.json", "is not the record of an evaluation"),
    *_compared("no_people.json", "is not the record of an evaluation"),
    *_compared("lists_for_ids.json", "is not the record of an evaluation"),
    *_compared("lists_for_values.json", "is not the record of an evaluation"),
    *_compared("text_for_values.json", "is not the record of an evaluation"),
    *_compared("no_methods.json", "no method in common"),
    *_compared("others.json", "no method in common"),
    Case("compare ../in/report.json", USAGE, "Missing argument 'B.json'", "none"),
]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of bad input, and of some good."""
    root = tmp_path_factory.mktemp("bad measuring") / "in"
    root.mkdir()
    _write_labels(root)
    _write_arrays(root)
    _write_youtube(root)
    _write_records(root)
    return root


def _write_labels(root: Path) -> None:
    lines = [f"{id},{id[:2]}" for id in IDS]

    def write(name: str, *lines: str, first: str = "set_id,person", end: str = "\n") -> None:
        (root / name).write_bytes("".join(f"{line}{end}" for line in (first, *lines)).encode())

    write("labels.csv", *lines)
    write("both.csv", *lines, "q0,p0", "q1,p1")
    write("asked_strangers.csv", "q0,nobody", "q1,nobody else")
    write("some.csv", *lines[:3], *lines[4:5], lines[6])
    write("too_many.csv", *lines, "p9/v9,p9")
    write("one_person.csv", *(f"{id},she" for id in IDS))
    write("strangers.csv", *(f"{id},{id}" for id in IDS))
    write("contrary.csv", "p0/v0,p1")
    write("twice.csv", *lines, lines[0])
    write("contradiction.csv", *lines, "p0/v0,p1")
    write("zeros.csv", *lines, "\0\0\0\0")
    write("zero_inside.csv", "p0/v0\0,p0", *lines[1:])
    write("long_field.csv", *lines[:-1], f"p5/v1,{'x' * 200_000}")
    write("open_quote.csv", *lines[:-1], '"p5/v1,p5')
    write("other_columns.csv", *lines, first="video,name")
    write("escapes.csv", *lines, "\x1b[31mred,p0")
    (root / "utf16.csv").write_bytes((root / "labels.csv").read_text().encode("utf-16"))
    # What looks like a mistake but is none.
    write("windows.csv", *lines, end="\r\n")
    (root / "bom.csv").write_bytes(b"\xef\xbb\xbf" + (root / "labels.csv").read_bytes())
    write("blank_lines.csv", *lines, "", "")


def _write_arrays(root: Path) -> None:
    write_npz(root / "all.npz", embeddings=vectors())
    write_npz(root / "asked.npz", ["q0", "q1"], embeddings=vectors(seed=3)[:6])
    write_npz(root / "short.npz", ["q0", "q1"], embeddings=vectors(seed=3)[:6, :8])
    write_npz(root / "other_kind.npz", ["q0", "q1"], other=vectors(seed=3)[:6])
    write_npz(root / "inside.npz", IDS[:2], embeddings=vectors()[:6])
    write_npz(root / "copies.npz", ["q0", "q1"], embeddings=vectors()[:6])
    write_pictures(root / "pics", faces())
    (root / "nothing").mkdir()
    add(root / "pictures.gallery", [root / "pics"], cropped=True)
    add(root / "short.gallery", [root / "short.npz"])
    names, people = np.array(IDS), np.array([id[:2] for id in IDS])
    np.savez(root / "objects.npz", set_names=names.astype(object), set_person=people)
    np.savez(root / "uneven.npz", set_names=names, set_person=people[1:])
    whole = (root / "asked.npz").read_bytes()
    (root / "cut.npz").write_bytes(whole[: len(whole) // 2])
    # One GiB, it says; it has four bytes.
    header, number = io.BytesIO(), io.BytesIO()
    claimed = {"descr": "<f4", "fortran_order": False, "shape": (2**28,)}
    np.lib.format.write_array_header_1_0(header, claimed)
    np.save(number, people)
    with zipfile.ZipFile(root / "claims_more.npz", "w") as file:
        file.writestr("set_names.npy", header.getvalue() + b"1234")
        file.writestr("set_person.npy", number.getvalue())


def _write_youtube(root: Path) -> None:
    labels = write_youtube_faces(root / "ytf", people=3, videos=2, frames=3, distractors=1)
    names, people = list(labels), [float(ord(person[-1])) for person in labels.values()]

    def write(name: str, names: list[str] = names, people: Any = people) -> None:
        given = people if isinstance(people, str) else np.array([people])
        scipy.io.savemat(root / name, {"video_names": cells(names, column=True), "video_labels": given})

    whole = (root / "ytf" / "meta_data" / "meta_and_splits.mat").read_bytes()
    (root / "cut.mat").write_bytes(whole[: len(whole) // 2])
    (root / "zeros.mat").write_bytes(bytes(len(whole)))
    (root / "zero_tail.mat").write_bytes(whole[:200] + bytes(len(whole) - 200))
    (root / "text.mat").write_text("holidays 2019\n" * 100)
    _write_bomb(root / "bomb_labels.mat", b"video_labels")
    write("fewer.mat", people=people[:-1])
    write("half.mat", people=[*people[:-1], 1.5])
    write("not_a_number.mat", people=[*people[:-1], float("nan")])
    write("words.mat", people="hello")
    write("twice.mat", [*names, names[0]], [*people, people[0]])
    write("contradiction.mat", [*names, names[0]], [*people, 99.0])
    scipy.io.savemat(root / "other.mat", {"x": np.eye(3)})
    # What looks like a mistake but is none: MATLAB knows no vectors, Windows no slashes.
    scipy.io.savemat(
        root / "transposed.mat", {"video_names": cells(names), "video_labels": np.array(people)[:, None]}
    )
    write("backslashes.mat", [name.replace("/", "\\") for name in names])
    for kind in ("cut", "zeros", "transposed", "bomb", "nothing"):
        place = root / f"ytf {kind}" / "descriptors_DB"
        shutil.copytree(root / "ytf" / "descriptors_DB", place)
        file = place / "Person_A" / "aligned_video_0.mat"
        whole, columns = file.read_bytes(), scipy.io.loadmat(file)["VID_DESCS_LBP"]
        if kind == "cut":
            file.write_bytes(whole[: len(whole) // 2])
        elif kind == "zeros":
            file.write_bytes(bytes(len(whole)))
        elif kind == "bomb":
            _write_bomb(file, b"VID_DESCS_LBP")
        else:
            given = columns.T if kind == "transposed" else np.zeros_like(columns)
            scipy.io.savemat(file, {"VID_DESCS_LBP": given})


def _write_bomb(path: Path, name: bytes, size: int = 2**29) -> None:
    """A file of some hundred kilobytes with a variable of half a gigabyte, all of it there."""
    start = struct.pack("<II", 14, size + 64) + struct.pack("<IIII", 6, 8, 6, 0)
    start += struct.pack("<IIii", 5, 8, 1770, size // 8 // 1770) + struct.pack("<II", 1, len(name))
    start += name.ljust(16, b"\0") + struct.pack("<II", 9, size // 8 // 1770 * 1770 * 8)
    packer = zlib.compressobj(1)
    packed = packer.compress(start)
    for _ in range(size >> 20):
        packed += packer.compress(bytes(2**20))
    packed += packer.flush()
    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    path.write_bytes(header + struct.pack("<II", 15, len(packed)) + packed)


def _write_records(root: Path) -> None:
    measures = ("mean_anr", "anr_below_0.3", "anr_q98", "map", "rank1", "match_in_100")
    found = dict.fromkeys(measures, 0.5)
    values = {measure: [0.25, 0.75] for measure in measures if measure != "anr_q98"}
    names = ("baseline", "learnt")

    def write(name: str, change: Callable[[dict[str, Any]], object] = lambda record: None) -> None:
        record = {
            "rerankers": {name: dict(found) for name in names},
            "per_query": {
                "id": ["a", "b"],
                "person": [0, 1],
                "values": {name: json.loads(json.dumps(values)) for name in names},
            },
        }
        change(record)
        (root / f"{name}.json").write_text(json.dumps(record))

    write("report")
    write("no_measure", lambda record: record["rerankers"]["learnt"].pop("map"))
    write("not_a_number", lambda record: record["rerankers"]["learnt"].update(map=float("nan")))
    write("huge", lambda record: record["rerankers"]["learnt"].update(map=10**400))
    write("fewer_queries", lambda record: record["per_query"]["id"].pop())
    write("no_people", lambda record: record["per_query"].pop("person"))
    write("lists_for_ids", lambda record: record["per_query"].update(id=[["a"], ["b"]]))
    write("lists_for_values", lambda record: record["per_query"]["values"]["learnt"].update(map=[[1], [2]]))
    write("text_for_values", lambda record: record["per_query"]["values"]["learnt"].update(map="xy"))
    write("no_values", lambda record: record["per_query"]["values"]["learnt"].pop("map"))
    write("no_methods", lambda record: (record["rerankers"].clear(), record["per_query"]["values"].clear()))
    write("others", lambda record: record.update(rerankers={"csls": found}) or record.pop("per_query"))
    write(
        "escapes",
        lambda record: (
            record.update(rerankers={"baseline": found, "\x1b[31mred\a": found}) or record.pop("per_query")
        ),
    )
    (root / "cut.json").write_text((root / "report.json").read_text()[:100])
    (root / "something_else.json").write_text('{"sets": []}')
    (root / "list.json").write_text("[1, 2]")
    (root / "number.json").write_text("3")
    (root / "empty.json").write_text("")
    (root / "binary.json").write_bytes(bytes(range(256)))
    (root / "deep.json").write_text("[" * 100_000)
    (root / "report").mkdir()
    shutil.copy(root / "report.json", root / "report" / "report.json")
    (root / "report" / ".lookalike-report").write_text("Made by `lookalike evaluate --report`\n")
    (root / "report" / "mine.txt").write_text("not yours")


@pytest.fixture(scope="module")
def galleries(inputs: Path) -> dict[str, Path | None]:
    """By name, a gallery to copy; no one is indexed but that which says so."""
    made = inputs.parent / "made"
    made.mkdir()
    for name, source in (("vectors", "all.npz"), ("youtube", "ytf"), ("indexed", "all.npz")):
        add(made / name, [inputs / source])
    with Gallery(made / "indexed") as gallery:
        index(gallery)
    return {"none": None, **{path.name: path for path in made.iterdir() if path.is_file()}}


@dataclass(frozen=True)
class Refused:
    """How a case ended, and everything it could have changed before and after."""

    ended: Ended
    before: dict[str, str]
    after: dict[str, str]


@pytest.fixture(scope="module")
def refusals(
    request: pytest.FixtureRequest, inputs: Path, galleries: dict[str, Path | None]
) -> Iterator[dict[Case, Future[Refused]]]:
    """Every chosen case, started at once in two processes that copy themselves."""
    called = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    chosen = [given["case"] for given in called if isinstance(given.get("case"), Case)]

    def attempt(number: int, case: Case) -> Refused:
        folder = inputs.parent / f"{number:03d}"
        folder.mkdir()
        gallery = galleries[case.gallery]
        if gallery is not None:
            shutil.copy(gallery, folder / "g.gallery")
        before, shape = tree(folder), case.before
        if case.before == READ_ONLY:
            folder.chmod(0o555)
            shape = ROOT_OBEYS
        ended = starters[number % 2].run(*shlex.split(case.command), cwd=folder, before=shape)
        folder.chmod(0o755)
        return Refused(ended, before, tree(folder))

    starters = [Ready(), Ready()]
    with ThreadPoolExecutor(len(starters)) as pool:
        yield {case: pool.submit(attempt, number, case) for number, case in enumerate(chosen)}
    for starter in starters:
        starter.close()


@pytest.fixture(scope="module")
def given(inputs: Path, galleries: dict[str, Path | None]) -> dict[str, str]:
    return tree(inputs)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=str(case),
        )
        for case in CASES
    ],
)
def test_is_refused(case: Case, given: dict[str, str], refusals: dict[Case, Future[Refused]]) -> None:
    refused = refusals[case].result()
    ended = refused.ended
    assert "Traceback" not in ended.err + ended.out
    assert ended.code == case.code, ended
    # Click draws a box round what it says, and breaks its lines.
    assert case.says in (" ".join(ended.err.replace("│", " ").split()) if case.code == USAGE else ended.err)
    assert ended.out == ""
    if case.code != USAGE:
        assert ended.err.startswith("lookalike: "), ended.err
        assert ended.err.count("\n") == 1, ended.err
        assert ended.err.endswith("\n")
        assert "\x1b" not in ended.err
    assert refused.after == refused.before


def test_input_is_only_read(
    inputs: Path, given: dict[str, str], refusals: dict[Case, Future[Refused]]
) -> None:
    for future in refusals.values():
        future.result()
    assert tree(inputs) == given


def test_cases_are_named_apart() -> None:
    assert len({str(case) for case in CASES}) == len(CASES)


# What looks like a mistake but is none.


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    starter = Ready()
    yield starter
    starter.close()


def test_labels_that_are_unusual_but_whole(
    inputs: Path, galleries: dict[str, Path | None], ready: Ready, tmp_path: Path
) -> None:
    for gallery, usual, others in (
        ("vectors", "labels.csv", ("windows.csv", "bom.csv", "blank_lines.csv")),
        # The numbers of the miniature's videos have gaps, too.
        ("youtube", "ytf", ("transposed.mat", "backslashes.mat", "ytf/meta_data/meta_and_splits.mat")),
    ):
        shutil.copy(galleries[gallery], tmp_path / gallery)
        words = ("evaluate", gallery, "--rerankers", "", "--json", "--quiet", "--labels")
        right = ready.works(*words, inputs / usual, cwd=tmp_path).json
        assert right["queries"] == {"vectors": 12, "youtube": 6}[gallery]
        for other in others:
            assert ready.works(*words, inputs / other, cwd=tmp_path).json == right, other


def test_no_reranker_is_the_baseline_alone(
    inputs: Path, galleries: dict[str, Path | None], ready: Ready, tmp_path: Path
) -> None:
    shutil.copy(galleries["vectors"], tmp_path / "g.gallery")
    words = ("evaluate", "g.gallery", "--labels", inputs / "labels.csv", "--json", "--quiet", "--rerankers")
    for names in ("", ",", " , ", "baseline"):
        assert list(ready.works(*words, names, cwd=tmp_path).json["rerankers"]) == ["baseline"]


@pytest.mark.parametrize("files", [("report.json", "no_values.json"), ("no_values.json", "report.json")])
def test_a_measure_that_one_run_did_not_record_is_not_tested(
    files: tuple[str, str], inputs: Path, ready: Ready
) -> None:
    found = ready.works("compare", *files, "--json", cwd=inputs).json["methods"]
    untested = [(line["method"], line["measure"]) for line in found if "p" not in line]
    assert untested == [("baseline", "anr_q98"), ("learnt", "anr_q98"), ("learnt", "map")]


# Names that mean harm.


# Mathematics to the one who draws, code to the one who writes the page, and a script to the one who reads it.
HARMFUL = '$\\frac{$ {{ 7*7 }} <script>alert(1)</script><img src=x onerror="alert(2)">'


def test_a_name_is_text_wherever_a_report_shows_it(ready: Ready, tmp_path: Path) -> None:
    ids = [HARMFUL, *IDS[1:]]
    # The set with most faces is shown by its name.
    numbers = np.concatenate([np.arange(len(vectors())) // FRAMES, [0, 0]])
    both = np.concatenate([vectors(), vectors(seed=1)[:2]])
    write_npz(tmp_path / "all.npz", ids, embeddings=both, image_set=numbers)
    with (tmp_path / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [("set_id", "person"), *((id, old[:2]) for id, old in zip(ids, IDS, strict=True))]
        )
    ready.works("add", "g.gallery", "all.npz", cwd=tmp_path)
    words = ("evaluate", "g.gallery", "--labels", "labels.csv", "--rerankers", "", "--report", "r", "--quiet")
    assert ready.works(*words, cwd=tmp_path).err == ""
    for path in (tmp_path / "r").rglob("*"):
        if path.suffix in (".html", ".svg"):
            text = path.read_text()
            assert "<script" not in text, path
            assert "<img src=x" not in text, path
    assert HARMFUL in json.loads((tmp_path / "r" / "report.json").read_text())["per_query"]["id"]


def test_a_name_cannot_steer_the_terminal_through_a_record(ready: Ready, inputs: Path) -> None:
    told = ready.works("compare", "report.json", "escapes.json", cwd=inputs).out
    assert "red" in told
    assert "\x1b" not in told
    assert "\a" not in told


def test_nobody_asks_for_more_seeds_than_can_be_measured(
    inputs: Path, galleries: dict[str, Path | None], ready: Ready, tmp_path: Path
) -> None:
    shutil.copy(galleries["vectors"], tmp_path / "g.gallery")
    words = ("evaluate", "g.gallery", "--labels", inputs / "labels.csv", "--seeds", 10**12)
    # Two seconds of work: whoever counts all seeds is ended by then.
    ended = ready.run(*words, cwd=tmp_path, before="resource.setrlimit(resource.RLIMIT_CPU, (2, 2))")
    assert ended.code in (USAGE, BAD)
    assert "--seeds" in ended.err
