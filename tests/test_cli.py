"""The command line, command by command, as processes of their own on small data."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike import Gallery, __version__, open_search, registry
from lookalike.gallery.forget import remove
from lookalike.indexing.build import index
from tests.cli_process import (
    FRAMES,
    IDS,
    Ready,
    command,
    environment,
    faces,
    tree,
    vectors,
    works,
    write_npz,
    write_pictures,
)
from tests.small_world import small_world
from tests.waiting import PATIENCE

COMMANDS = (
    "demo",
    "add",
    "describe",
    "index",
    "train",
    "find",
    "explain",
    "serve",
    "evaluate",
    "status",
    "list",
    "remove",
    "export",
    "doctor",
)
MEASURES = ["mean_anr", "anr_below_0.3", "anr_q98", "map", "rank1", "match_in_100"]


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    starter = Ready()
    yield starter
    starter.close()


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder with every kind of source."""
    root = tmp_path_factory.mktemp("sources")
    write_pictures(root / "pics", faces())
    clips = [f"clip{number:02d}" for number in range(len(IDS))]
    people = np.array([int(id[1]) for id in IDS])
    stacked = faces(seed=1).reshape(-1, 30, 25)
    write_npz(root / "images.npz", clips, images=stacked, set_person=people)
    write_npz(root / "vectors.npz", IDS, embeddings=vectors(), set_person=people)
    write_npz(root / "more.npz", ["new0", "new1"], embeddings=vectors(seed=1)[:6])
    write_npz(root / "one.npz", ["asked"], embeddings=vectors(seed=1)[:3])
    write_npz(root / "copies.npz", ["copy0", "copy1"], embeddings=vectors()[:6])
    lines = ["set_id,person", *(f"{id},{id[:2]}" for id in IDS)]
    (root / "labels.csv").write_text("\n".join(lines) + "\n")
    return root


@pytest.fixture(scope="module")
def made(sources: Path, ready: Ready) -> dict[str, Path]:
    """Two galleries, of pictures and of vectors, made by the console script from nothing to trained."""
    for name, source in (("pictures", "pics"), ("vectors", "vectors.npz")):
        runs = works if name == "pictures" else ready.works
        assert runs("add", f"{name}.gallery", source, "--cropped", cwd=sources).out == (
            "12 sets added, 0 were there already\n"
        )
    assert works("index", "pictures.gallery", cwd=sources).out.startswith("12 sets indexed by max_max")
    assert works("train", "pictures.gallery", cwd=sources).out.startswith("auto is ready on 12 sets\n")
    ready.works("train", "vectors.gallery", cwd=sources)
    return {name: sources / f"{name}.gallery" for name in ("pictures", "vectors")}


@pytest.fixture
def copy(tmp_path: Path, made: dict[str, Path]) -> Callable[[str], Path]:
    """Puts a ready gallery into the folder of the test, to be changed there."""

    def put(name: str) -> Path:
        shutil.copy(made[name], tmp_path / "g.gallery")
        shutil.copytree(f"{made[name]}.derived", tmp_path / "g.gallery.derived")
        return tmp_path / "g.gallery"

    return put


def ids_of(found: dict[str, list[dict[str, object]]]) -> list[object]:
    return [answer["id"] for answer in found["answers"]]


# Help.


def test_version_and_help(ready: Ready, tmp_path: Path) -> None:
    assert works("--version", cwd=tmp_path).out == f"lookalike {__version__}\n"
    first = ready.works("--help", cwd=tmp_path).out
    assert "Exit codes" in first
    for name in COMMANDS:
        assert name in first
        helped = ready.works(name, "--help", cwd=tmp_path)
        assert "Usage" in helped.out
        assert helped.err == ""
    assert tree(tmp_path) == {}


# Add.


def test_add_folders_arrays_and_both(sources: Path, tmp_path: Path, ready: Ready) -> None:
    added = ready.works("add", "g", sources / "pics", "--cropped", "--json", cwd=tmp_path).json
    nothing = {"unchanged": [], "grown": [], "files": 0, "known_files": 0, "failed": []}
    assert added == {"added": IDS, **nothing, "remarks": [], "barred": []}
    both = ready.works("add", "g", sources / "pics", sources / "images.npz", "--json", cwd=tmp_path).json
    assert both["unchanged"] == IDS
    assert both["added"] == [f"clip{number:02d}" for number in range(12)]
    before = tree(tmp_path)
    again = ready.works("add", "g", sources / "images.npz", "--json", cwd=tmp_path).json
    assert (again["added"], len(again["unchanged"])) == ([], 12)
    assert tree(tmp_path) == before
    listed = ready.works("list", "g", "--json", cwd=tmp_path).json["sets"]
    assert [one["id"] for one in listed] == sorted(IDS + both["added"])
    known = {"id", "origin", "faces", "start", "end", "files"}
    assert all(one.keys() == known and one["faces"] == FRAMES for one in listed)
    assert {one["origin"] for one in listed if one["id"] == "p0/v0"} == {str(sources / "pics/p0/v0")}


def test_add_takes_the_array_that_was_chosen(sources: Path, tmp_path: Path, ready: Ready) -> None:
    images = faces().reshape(-1, 30, 25)
    write_npz(tmp_path / "both.npz", embeddings=vectors(), images=images)
    ready.works("add", "v", "both.npz", "--array", "embeddings", cwd=tmp_path)
    facts = ready.works("status", "v", "--json", cwd=tmp_path).json
    assert (facts["dimension"], facts["descriptor"], facts["pictures"]) == (16, "array:embeddings", 36)
    ready.works("add", "p", "both.npz", cwd=tmp_path)
    facts = ready.works("status", "p", "--json", cwd=tmp_path).json
    assert (facts["dimension"], facts["sets"], facts["faces"]) == (1770, 12, 36)
    # What describes the faces is the gallery's to say, once it holds some.
    assert ready.works("add", "v", "both.npz", "--json", cwd=tmp_path).json["added"] == []


def test_add_after_index_compares_only_what_is_new(
    copy: Callable[[str], Path], sources: Path, tmp_path: Path, ready: Ready
) -> None:
    gallery = copy("vectors")
    ready.works("add", gallery, sources / "more.npz", cwd=tmp_path)
    assert not any(
        table["fits"] for table in ready.works("status", gallery, "--json", cwd=tmp_path).json["tables"]
    )
    said = ready.works("find", gallery, "p0/v0", "--json", "--top", "99", cwd=tmp_path)
    assert "indexing" in said.err
    ready.works("add", "fresh", sources / "vectors.npz", sources / "more.npz", cwd=tmp_path)
    fresh = ready.works("find", "fresh", "p0/v0", "--json", "--top", "99", "--quiet", cwd=tmp_path)
    assert fresh.err == ""
    # Both hold the same, though one was filled from another folder.
    found, expected = ([{**one, "origin": ""} for one in each.json["answers"]] for each in (fresh, said))
    assert found == expected
    assert len(found) == 13


# Find.


def test_find_trains_and_indexes_what_is_missing_and_says_so(
    sources: Path, tmp_path: Path, ready: Ready
) -> None:
    ready.works("add", "g", sources / "vectors.npz", "--quiet", cwd=tmp_path)
    first = ready.works("find", "g", "p0/v0", cwd=tmp_path)
    assert "indexing 12 sets" in first.err
    assert "training auto" in first.err
    second = works("find", "g", "p0/v0", cwd=tmp_path)
    assert second.err == ""
    assert second.out == first.out
    assert second.out.split()[:6] == ["rank", "set", "probability", "score", "baseline", "through"]
    assert len(second.out.splitlines()) == 12, "the last line says where to stop reading"


def test_find_by_every_kind_of_query(
    made: dict[str, Path], sources: Path, tmp_path: Path, ready: Ready
) -> None:
    def ask(*words: object) -> dict:
        ended = ready.works("find", *words, "--json", "--top", "3", "--quiet", cwd=tmp_path)
        assert ended.err == ""
        assert len(ended.json["answers"]) == 3
        return ended.json

    member = ask(made["pictures"], "p2/v0")
    assert member["query"] == "p2/v0"
    assert ids_of(member)[0] == "p2/v1"
    assert "p2/v0" not in ids_of(ask(made["pictures"], "p2/v0", "--top", "99"))
    outside = ask(made["pictures"], sources / "pics/p2/v0")
    assert ids_of(outside)[:2] == ["p2/v0", "p2/v1"]
    assert ids_of(ask(made["pictures"], sources / "pics", "--set", "p2/v0")) == ids_of(outside)
    assert ids_of(ask(made["pictures"], sources / "pics/p2/v0/1.png"))[0] == "p2/v0"
    assert ask(made["vectors"], sources / "one.npz")["query"] == "asked"
    # A set asked for under another id finds its copy.
    assert ids_of(ask(made["vectors"], sources / "copies.npz", "--set", "copy1"))[0] == "p0/v1"


def test_find_on_a_shortlist_gives_the_answers_of_all_sets(
    copy: Callable[[str], Path], tmp_path: Path, ready: Ready
) -> None:
    gallery = copy("vectors")
    for query in ("p0/v0", "p1/v0"):
        words = ("find", gallery, query, "--reranker", "learnt", "--json")
        whole = ready.works(*words, "--exhaustive", cwd=tmp_path).json
        ended = ready.works(*words, "--shortlist", cwd=tmp_path)
        short = ended.json
        assert ("coding 12 sets for shortlists" in ended.err) == (query == "p0/v0")
        # A gallery of twelve sets is on its shortlist as a whole.
        assert short == whole
        assert whole["total"] == whole["sets"] == 11


@pytest.mark.parametrize("similarity", registry.names("similarities"))
def test_find_and_evaluate_by_every_part(
    similarity: str, copy: Callable[[str], Path], sources: Path, tmp_path: Path, ready: Ready
) -> None:
    gallery, rerankers = copy("vectors"), registry.names("rerankers")
    asked = ("evaluate", gallery, "--labels", sources / "labels.csv", "--similarity", similarity, "--json")
    measured = ready.works(*asked, "--rerankers", ",".join(rerankers), cwd=tmp_path).json
    assert measured["rerankers"].keys() == set(rerankers)
    for reranker in rerankers if similarity == "max_max" else ["learnt"]:
        found = ready.works(
            "find",
            gallery,
            "p1/v0",
            "--similarity",
            similarity,
            "--reranker",
            reranker,
            "--json",
            cwd=tmp_path,
        ).json
        assert found["similarity"].partition(":")[0] == similarity
        assert found["reranker"].partition(":")[0] == reranker
        assert found["total"] == 11
        assert "p1/v0" not in ids_of(found)
        assert [answer["rank"] for answer in found["answers"]] == list(range(1, 11))
        scores = [answer["score"] for answer in found["answers"]]
        assert scores == sorted(scores, reverse=True)


def test_find_draws_a_picture(made: dict[str, Path], tmp_path: Path, ready: Ready) -> None:
    plain = ready.works("find", made["pictures"], "p0/v0", "--json", cwd=tmp_path).out
    drawn = ready.works("find", made["pictures"], "p0/v0", "--json", "--picture", "x.png", cwd=tmp_path).out
    assert drawn == plain
    with Image.open(tmp_path / "x.png") as picture:
        assert picture.format == "PNG"
        assert picture.width > 500


def test_explain_shows_the_evidence(made: dict[str, Path], tmp_path: Path, ready: Ready) -> None:
    paper = ("--reranker", "learnt")
    told = works("explain", made["pictures"], "p0/v0", "p0/v1", *paper, cwd=tmp_path)
    for word in ("p0/v1 is answer 1 of 11", "s1", "s5", "regression", "baseline", "face"):
        assert word in told.out
    facts = ready.works("explain", made["pictures"], "p0/v0", "p0/v1", *paper, "--json", cwd=tmp_path).json
    found = ready.works("find", made["pictures"], "p0/v0", *paper, "--json", cwd=tmp_path).json
    assert facts["answer"] == found["answers"][0]
    assert len(facts["witnesses"]) > 0
    for witness in facts["witnesses"]:
        assert len(witness["numbers"]) == 5
        assert witness["proxy"] not in ("p0/v0", "p0/v1")


# Evaluate.


def test_evaluate_prints_the_documented_names(made: dict[str, Path], sources: Path, ready: Ready) -> None:
    asked = ("evaluate", made["vectors"], "--rerankers", "learnt,arithmetic_mean", "--json", "--labels")
    from_csv = works(*asked, sources / "labels.csv", cwd=sources)
    assert from_csv.json.keys() == {"queries", "sets", "distractors", "rerankers", "calibration"}
    assert [from_csv.json[name] for name in ("queries", "sets", "distractors")] == [12, 12, 0]
    assert list(from_csv.json["rerankers"]) == ["baseline", "learnt", "arithmetic_mean"]
    for measured in from_csv.json["rerankers"].values():
        assert list(measured) == MEASURES
        assert all(0 <= value <= 1 for value in measured.values())
    assert ready.works(*asked, sources / "vectors.npz", cwd=sources).out == from_csv.out
    only = ready.works(
        "evaluate", made["vectors"], "--labels", "labels.csv", "--rerankers", "", "--json", cwd=sources
    )
    assert list(only.json["rerankers"]) == ["baseline"]
    table = ready.works("evaluate", made["vectors"], "--labels", "labels.csv", cwd=sources).out
    assert table.startswith("12 queries, 12 sets, 0 of them distractors\n")


def test_evaluate_takes_options_of_a_reranker(made: dict[str, Path], sources: Path, ready: Ready) -> None:
    names = "learnt:proxies=3,references=50,baseline"
    asked = ("evaluate", made["vectors"], "--labels", "labels.csv", "--rerankers", names, "--json")
    measured = ready.works(*asked, cwd=sources).json["rerankers"]
    assert list(measured) == ["baseline", "learnt:proxies=3,references=50"]


# Status, list, remove, export.


def test_status_says_what_is_there(made: dict[str, Path], tmp_path: Path, ready: Ready) -> None:
    facts = works("status", made["pictures"], "--json", cwd=tmp_path).json
    assert (facts["sets"], facts["faces"], facts["pictures"], facts["dimension"]) == (12, 36, 36, 1770)
    assert "sets: 12" in ready.works("status", made["pictures"], cwd=tmp_path).out


def test_remove_leaves_no_trace(copy: Callable[[str], Path], tmp_path: Path, ready: Ready) -> None:
    gallery = copy("vectors")
    gone = vectors()[:3]
    assert any(gone[0].tobytes() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert works("remove", gallery, "p0/v0", "--json", cwd=tmp_path).json["removed"] == ["p0/v0"]
    unit = gone / np.linalg.norm(gone.astype(np.float64), axis=1, keepdims=True)
    traces = [b"p0/v0", *(row.tobytes() for row in gone), *(row.astype(np.float32).tobytes() for row in unit)]
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or not any(trace in path.read_bytes() for trace in traces), path
    listed = ready.works("list", gallery, "--json", cwd=tmp_path).json["sets"]
    assert [one["id"] for one in listed] == IDS[1:]
    found = ready.works("find", gallery, "p0/v1", "--top", "99", "--json", cwd=tmp_path).json
    assert len(found["answers"]) == 10
    assert "p0/v0" not in json.dumps(found)
    ready.works("remove", gallery, "p0/v1", "p0/v1", cwd=tmp_path)
    ready.works("remove", gallery, *IDS[2:], cwd=tmp_path)
    assert set(tree(tmp_path)) == {"g.gallery"}


def test_export_can_be_added_again(made: dict[str, Path], tmp_path: Path, ready: Ready) -> None:
    for name in ("vectors", "pictures"):
        gallery = made[name]
        runs = ready.works if name == "vectors" else works
        assert runs("export", gallery, f"{name}.npz", "--json", cwd=tmp_path).json["sets"] == 12
        added = ready.works("add", f"{name}.gallery", f"{name}.npz", "--json", cwd=tmp_path).json
        assert added["added"] == IDS
        asked = ("p3/v0", "--json", "--top", "99", "--quiet")
        original = ready.works("find", gallery, *asked, cwd=tmp_path).json
        assert ready.works("find", f"{name}.gallery", *asked, cwd=tmp_path).json == original
    ready.works("export", made["pictures"], "two.npz", "p0/v0", "p1/v0", "--pictures", "shown", cwd=tmp_path)
    with np.load(tmp_path / "two.npz", allow_pickle=False) as arrays:
        assert arrays["set_names"].tolist() == ["p0/v0", "p1/v0"]
    assert len([path for path in (tmp_path / "shown").rglob("*") if path.is_file()]) == 2 * FRAMES


def test_an_export_is_of_the_kind_of_its_gallery(made: dict[str, Path], tmp_path: Path, ready: Ready) -> None:
    ready.works("export", made["pictures"], "out.npz", "p0/v0", cwd=tmp_path)
    ready.works("add", "new.gallery", "out.npz", cwd=tmp_path)
    new, old = (
        ready.works("status", path, "--json", cwd=tmp_path).json for path in ("new.gallery", made["pictures"])
    )
    assert new["descriptor"] == old["descriptor"]


def test_export_of_a_set_named_twice_is_one_set(made: dict[str, Path], tmp_path: Path, ready: Ready) -> None:
    ready.works("export", made["vectors"], "out.npz", "p0/v0", "p0/v0", cwd=tmp_path)
    assert ready.works("add", "new.gallery", "out.npz", "--json", cwd=tmp_path).json["added"] == ["p0/v0"]


# Output.


def test_the_same_command_says_the_same_on_any_number_of_threads(
    sources: Path, tmp_path: Path, ready: Ready
) -> None:
    said = []
    for threads in ("1", "2"):
        words = ("add", f"g{threads}", sources / "vectors.npz", "--json", "--quiet")
        added = ready.works(*words, cwd=tmp_path, LOOKALIKE_THREADS=threads).out
        words = ("find", f"g{threads}", "p4/v1", "--top", "99", "--json", "--quiet")
        found = ready.works(*words, cwd=tmp_path, LOOKALIKE_THREADS=threads)
        assert found.err == ""
        said.append((added, found.out))
    assert said[0] == said[1]
    arrays = [sorted((tmp_path / f"g{threads}.derived").rglob("*.npy")) for threads in "12"]
    assert [path.read_bytes() for path in arrays[0]] == [path.read_bytes() for path in arrays[1]]


def test_json_is_one_object_and_nothing_else(
    copy: Callable[[str], Path], sources: Path, tmp_path: Path, ready: Ready
) -> None:
    gallery = copy("vectors")
    for words in (
        ("add", gallery, sources / "more.npz"),
        ("index", gallery),
        ("train", gallery),
        ("find", gallery, "new0"),
        ("explain", gallery, "new0", "new1"),
        ("status", gallery),
        ("list", gallery),
        ("export", gallery, "out.npz"),
        ("remove", gallery, "new0", "new1"),
        ("evaluate", gallery, "--labels", sources / "labels.csv"),
    ):
        ended = ready.works(*words, "--json", cwd=tmp_path)
        assert isinstance(ended.json, dict), words
        assert "\x1b" not in ended.out
    # Quiet means that only mistakes are told.
    assert ready.works("index", gallery, "--similarity", "dffs", "--quiet", cwd=tmp_path).err == ""


def test_output_that_nobody_reads_is_no_mistake(made: dict[str, Path], tmp_path: Path) -> None:
    for words in (["list", "--json"], ["list"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            command(words[0], made["vectors"], *words[1:]),
            cwd=tmp_path,
            env=environment(),
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
        os.close(writing)
        assert done.stderr == b""
        assert done.returncode in (0, -signal.SIGPIPE)  # as `head` ends every program before it


def test_output_that_cannot_be_written_is_told(made: dict[str, Path], tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command("list", made["vectors"], "--json"),
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 7
    assert done.stderr.startswith(b"lookalike: ")
    assert done.stderr.count(b"\n") == 1


# Interruption.


def interrupted(words: list[str], folder: Path, when: Callable[[], bool], **env: str) -> tuple[int, str]:
    """Start a command, send SIGINT as soon as `when` says so, and return how it ended."""
    with subprocess.Popen(
        words,
        cwd=folder,
        env=environment(**env),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + PATIENCE
        while not when():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    return process.returncode, err


def test_an_interrupted_add_goes_on(tmp_path: Path, ready: Ready) -> None:
    count = 1200
    rng = np.random.default_rng(0)
    write_npz(
        tmp_path / "many.npz",
        [f"set {number:04d}" for number in range(count)],
        embeddings=rng.normal(size=(count, 8)).astype(np.float32),
        image_set=np.arange(count),
    )

    def some_are_there() -> bool:
        if not (tmp_path / "g").exists():
            return False
        with Gallery(tmp_path / "g") as gallery:
            return len(gallery) > 0

    code, err = interrupted(command("add", "g", "many.npz"), tmp_path, some_are_there)
    assert code == 130
    assert "Traceback" not in err
    assert err.startswith("lookalike: ")
    with Gallery(tmp_path / "g") as gallery:
        kept = len(gallery)
    assert 0 < kept < count
    rest = ready.works("add", "g", "many.npz", "--json", cwd=tmp_path).json
    assert (len(rest["unchanged"]), len(rest["added"])) == (kept, count - kept)
    assert set(tree(tmp_path)) == {"g", "many.npz"}


def test_an_interrupted_index_leaves_nothing_half_done(
    copy: Callable[[str], Path], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, ready: Ready
) -> None:
    gallery, elsewhere = copy("vectors"), tmp_path_factory.mktemp("slow")
    # A similarity that says when it has begun, then takes its time: nobody can be too late to interrupt.
    offered = offer_similarity(
        elsewhere, f"open({str(elsewhere / 'begun')!r}, 'w').close(); __import__('time').sleep(1)"
    )
    before = tree(tmp_path)
    words = command("index", gallery, "--similarity", "theirs")
    code, err = interrupted(words, tmp_path, (elsewhere / "begun").exists, **offered)
    assert code == 130
    assert "Traceback" not in err
    assert err.endswith("run the same command to go on\n")
    assert tree(tmp_path) == before
    ready.works("list", gallery, cwd=tmp_path)


def offer_similarity(folder: Path, code: str = "pass") -> dict[str, str]:
    """Put a package into a folder that offers the similarity `theirs`; return how Python finds it."""
    (folder / "theirs-1.dist-info").mkdir(parents=True)
    (folder / "theirs-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: theirs\nVersion: 1\n"
    )
    (folder / "theirs-1.dist-info" / "entry_points.txt").write_text(
        "[lookalike.similarities]\ntheirs = theirs:Theirs\n"
    )
    (folder / "theirs.py").write_text(
        "from lookalike.similarities.max_max import MaxMax\n\n\n"
        "class Theirs(MaxMax):\n"
        "    def prepare(self, faces):\n"
        f"        {code}\n"
        "        return super().prepare(faces)\n"
    )
    return {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


# Removed means removed, whatever happened meanwhile.


def holders(folder: Path, id: str) -> list[str]:
    """Files below a folder that still name a set."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path.name for path in files if id.encode() in path.read_bytes()]


def test_a_set_removed_while_it_is_indexed_is_in_no_table(
    copy: Callable[[str], Path], tmp_path: Path
) -> None:
    path = copy("vectors")
    shutil.rmtree(f"{path}.derived")

    def meanwhile(items: Iterable[object], text: str, total: int | None) -> Iterator[object]:
        for number, item in enumerate(items):
            if number == 0 and text.startswith("comparing"):
                with Gallery(path) as other:
                    if "p0/v0" in other:
                        remove(other, ["p0/v0"])
            yield item

    with Gallery(path) as gallery:
        index(gallery, "max_max", meanwhile)
    assert holders(tmp_path, "p0/v0") == []


def test_a_link_to_a_gallery_has_no_tables_of_its_own(
    copy: Callable[[str], Path], tmp_path: Path, ready: Ready
) -> None:
    path = copy("vectors")
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(path)
    ready.works("index", link, cwd=tmp_path)
    ready.works("remove", path, "p0/v0", cwd=tmp_path)
    assert holders(tmp_path, "p0/v0") == []


def test_a_part_of_another_package_is_told_removed_and_missed(
    copy: Callable[[str], Path], tmp_path: Path, ready: Ready
) -> None:
    """Its tables are removed too; when the package is gone, nothing else suffers."""
    path, offered = copy("vectors"), offer_similarity(tmp_path / "package")
    works("index", path, "--similarity", "theirs", cwd=tmp_path, **offered)
    tables = works("status", path, "--json", cwd=tmp_path, **offered).json["tables"]
    assert [table["fits"] for table in tables if "heirs" in table["kind"]] == [True]
    ready.works("status", path, cwd=tmp_path)
    ready.works("remove", path, "p0/v0", cwd=tmp_path)
    assert holders(tmp_path, "p0/v0") == []


# Terminals that are not as ours.


def test_names_are_shown_even_where_their_letters_are_not(tmp_path: Path, ready: Ready) -> None:
    write_npz(tmp_path / "a.npz", ["Zoë", "日本"], embeddings=vectors()[:6])
    ready.works("add", "g", "a.npz", cwd=tmp_path)
    works("find", "g", "日本", cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert works("list", "g", "--json", cwd=tmp_path, PYTHONIOENCODING="ascii").json["sets"][0]["id"] == "Zoë"


def test_a_closed_stdout_is_no_surprise(made: dict[str, Path], tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" "$@" >&-', *command("list", made["vectors"])],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        check=False,
    )
    assert b"Traceback" not in done.stderr


def test_finding_a_set_loads_only_what_it_needs(tmp_path: Path) -> None:
    gallery = tmp_path / "g"
    with Gallery(gallery, create=True) as opened:
        for one in small_world(people=20)[0]:
            opened.add(one)
        query = opened.ids()[0]
        open_search(opened)
    dear = {"numba", "scipy", "sklearn", "pandas", "cv2", "onnxruntime", "PIL", "faiss", "av", "ray"}
    # Those of the command line: what understands hard words, what draws tables, what lists packages.
    dear |= {
        "pydantic",
        "rich",
        "importlib.metadata",
        "lookalike.ingest",
        "lookalike.web",
        "lookalike.cli.add",
    }
    loaded = (
        f"import atexit, sys; atexit.register(lambda: print(sorted({dear} & set(sys.modules)), "
        "file=sys.stderr)); from lookalike.cli import main; main()"
    )
    asked = [sys.executable, "-c", loaded, "find", str(gallery), query, "--quiet"]
    ended = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert ended.stderr.strip() == "[]"
