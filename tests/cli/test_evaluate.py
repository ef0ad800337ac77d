"""Evaluate and compare as processes of their own: what they measure, write, and take up again."""

from __future__ import annotations

import base64
import csv
import html.parser
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from lookalike import __version__, registry
from tests.cli_process import Ended, Ready, command, environment, succeeded, tree, works, write_npz
from tests.ingest import youtube_miniature
from tests.ingest.youtube_miniature import write_youtube_faces
from tests.waiting import PATIENCE

MEASURES = ["mean_anr", "anr_below_0.3", "anr_q98", "map", "rank1", "match_in_100"]
SURENESS = ["error", "error_first", "kept", "precision", "found"]
COUNTED = ["queries", "sets", "distractors", "rerankers", "calibration"]
PAPER = ["baseline", "learnt", "arithmetic_mean", "geometric_mean", "quadratic_mean", "auto"]
FIGURES = {
    "anr_cdf",
    "anr_by_proxies",
    "reliability",
    "match_probability",
    "matches_found",
    "training_features",
    "retrieval_features",
    "selection_energies",
    "selection_error",
    "selection_picture",
}
# The miniature: people with three videos, people with one, frames enough for a choice among them.
PEOPLE, STRANGERS, FRAMES = 8, 2, 12
SIMILARITIES = ("max_max", "max_correlation")

# A world of vectors: people with three sets of three faces, and two people with one.
ASKED = [f"p{person}/v0" for person in range(10)]
KEPT = [f"p{person}/v{video}" for person in range(10) for video in (1, 2)]
ALONE = ["p10/v1", "p11/v1"]
EVERYBODY = sorted(ASKED + KEPT + ALONE)


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    starter = Ready()
    yield starter
    starter.close()


def blurred(id: str, dimension: int = 16) -> np.ndarray:
    """Three faces of a set: hard enough that no method orders all of them right."""
    person, video = (int(number) for number in re.findall(r"\d+", id))
    look = np.random.default_rng(person).normal(size=dimension)
    scene = np.random.default_rng([person, video]).normal(size=dimension)
    moments = np.random.default_rng([person, video, 1]).normal(size=(3, dimension))
    return (look + 1.1 * scene + 0.5 * moments).astype(np.float32)


def write_labels(path: Path, ids: list[str], person: Callable[[str], str] = lambda id: id[:-3]) -> Path:
    path.write_text("\n".join(["set_id,person", *(f"{id},{person(id)}" for id in ids)]) + "\n")
    return path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, ready: Ready) -> Path:
    """A folder with the whole world in all.gallery, and cut in two: rest.gallery and asked.npz."""
    root = tmp_path_factory.mktemp("measuring")
    for name, ids in (("all", EVERYBODY), ("rest", sorted(KEPT + ALONE)), ("asked", ASKED)):
        write_npz(root / f"{name}.npz", ids, embeddings=np.concatenate([blurred(id) for id in ids]))
        write_labels(root / f"{name}.csv", ids)
        ready.works("add", f"{name}.gallery", f"{name}.npz", cwd=root)
    return root


@pytest.fixture(scope="module")
def youtube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The miniature of YouTube Faces in YTF, with videos of a person that hardly resemble one another."""
    root, plain = tmp_path_factory.mktemp("youtube"), youtube_miniature._columns
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            youtube_miniature,
            "_columns",
            lambda look, frames, noise, rng: plain(look, frames, 8 * noise, rng),
        )
        write_youtube_faces(root / "YTF", PEOPLE, 3, FRAMES, STRANGERS)
    return root


@pytest.fixture(scope="module")
def reported(youtube: Path) -> dict[str, Ended]:
    """The whole way as a newcomer takes it; reports in a folder for each similarity."""
    works("add", "g.gallery", "YTF", cwd=youtube)

    def measure(similarity: str) -> Ended:
        words = ("evaluate", "g.gallery", "--labels", "YTF", "--similarity", similarity)
        return works(*words, "--report", similarity, cwd=youtube)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(SIMILARITIES, pool.map(measure, SIMILARITIES), strict=True))


def read_report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "report.json").read_text())


class Reader(html.parser.HTMLParser):
    """Tags, addresses and the cells of tables of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.tables: list[list[list[str]]] = []
        self._inside = ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.addresses += [
            value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")
        ]
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside in ("td", "th"):
            self.tables[-1][-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def drawings(self) -> list[str]:
        """The pictures of the page as SVG text."""
        start = "data:image/svg+xml;base64,"
        assert all(address.startswith(start) for address in self.addresses), self.addresses
        return [base64.b64decode(address.removeprefix(start)).decode() for address in self.addresses]


# YouTube Faces, from the data set to the report.


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_the_papers_table_is_measured_printed_and_reported(
    similarity: str, youtube: Path, reported: dict[str, Ended]
) -> None:
    kept, ended = read_report(youtube / similarity), reported[similarity]
    assert (kept["queries"], kept["sets"], kept["distractors"]) == (3 * PEOPLE, 3 * PEOPLE + 2, STRANGERS)
    assert (kept["people"], kept["ranked"]) == (PEOPLE, 3 * PEOPLE + 1)
    assert kept["similarity"].partition(":")[0] == similarity
    assert kept["gallery"]["descriptor"] == "array:aligned_video/VID_DESCS_LBP"
    assert kept["gallery"]["dimension"] == 1770
    # Figures that could be wrong: neither perfect nor all the same.
    assert 0.05 < kept["rerankers"]["baseline"]["map"] < 0.95
    assert len({json.dumps(found) for found in kept["rerankers"].values()}) > 2
    rows = [[name, *(f"{kept['rerankers'][name][m]:.4f}" for m in MEASURES)] for name in PAPER]
    printed = ended.out.splitlines()
    assert printed[0] == f"{3 * PEOPLE} queries, {3 * PEOPLE + 2} sets, {STRANGERS} of them distractors"
    assert [line.split() for line in printed[3 : 3 + len(PAPER)]] == rows
    sure = [[name, *(_number(kept["calibration"][name][m]) for m in SURENESS)] for name in PAPER]
    assert [line.split() for line in printed[-len(PAPER) :]] == sure
    [measured] = [table for table in Reader(youtube / similarity / "report.html").tables if rows[0] in table]
    assert measured[1:] == rows
    [probable] = [table for table in Reader(youtube / similarity / "report.html").tables if sure[0] in table]
    assert probable[1:] == sure


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def test_labels_are_the_same_from_the_folders_and_from_the_file(
    youtube: Path, reported: dict[str, Ended], ready: Ready
) -> None:
    meta = youtube / "YTF/meta_data/meta_and_splits.mat"
    for similarity in SIMILARITIES:
        words = ("evaluate", "g.gallery", "--labels", meta, "--similarity", similarity, "--seeds", "3")
        asked = ready.works(*words, "--rerankers", ",".join(PAPER), "--json", "--quiet", cwd=youtube)
        kept = read_report(youtube / similarity)
        assert asked.json == {key: kept[key] for key in COUNTED}
        assert asked.err == ""


def test_every_figure_of_the_paper_can_be_printed_and_checked(
    youtube: Path, reported: dict[str, Ended]
) -> None:
    for similarity in SIMILARITIES:
        assert {path.name for path in (youtube / similarity).iterdir()} == {
            "report.html",
            "report.json",
            "figures",
            ".lookalike-report",
        }
        files = {path.name: path for path in (youtube / similarity / "figures").iterdir()}
        stems = {name.partition(".")[0] for name in files}
        # Canonical correlations use all faces of a set: there is no choice to show.
        unchosen = {"selection_error", "selection_picture"} if similarity == "max_correlation" else set()
        assert stems & FIGURES == FIGURES - unchosen
        assert set(files) == {f"{stem}.{kind}" for stem in stems for kind in ("svg", "png", "csv")}
        for stem in stems:
            with Image.open(files[f"{stem}.png"]) as picture:
                assert picture.format == "PNG"
                assert len(picture.convert("L").getcolors(65536)) > 5
            with files[f"{stem}.csv"].open(newline="") as file:
                lines = list(csv.reader(file))
            assert len(lines) > 1
            assert {len(line) for line in lines} == {len(lines[0])}
    assert (youtube / "max_max/figures/anr_cdf.csv").read_text() != (
        youtube / "max_correlation/figures/anr_cdf.csv"
    ).read_text()


def test_the_record_says_what_made_it(youtube: Path, reported: dict[str, Ended]) -> None:
    first, second = (read_report(youtube / similarity) for similarity in SIMILARITIES)
    assert first["versions"]["lookalike"] == __version__
    assert {"numpy", "scipy", "scikit-learn", "python"} <= first["versions"].keys()
    assert first["seeds"] == [0, 1, 2]
    assert [len(first["by_seed"][name]) for name in PAPER] == [1, 3, 1, 1, 1, 1]
    assert first["parameters"]
    assert first["methods"]["learnt"] == registry.spec(registry.build("rerankers", "learnt"))
    assert first["protocol"] == "leave-one-out"
    assert (
        first["command"] == "lookalike evaluate g.gallery --labels YTF --similarity max_max --report max_max"
    )
    for fingerprint in (first["gallery"]["fingerprint"], first["labels"]):
        assert re.fullmatch("[0-9a-f]{64}", fingerprint)
    assert first["labels"] == second["labels"]
    assert first["gallery"] == second["gallery"]
    asked = first["per_query"]
    assert len(set(asked["id"])) == 3 * PEOPLE
    for name in PAPER[:1]:
        assert np.mean(asked["values"][name]["map"]) == pytest.approx(first["rerankers"][name]["map"])
    # People are numbers: no name of anybody but in the ids of sets.
    assert all(isinstance(person, int) for person in asked["person"])


def test_the_page_needs_nothing_else_and_runs_nothing(youtube: Path, reported: dict[str, Ended]) -> None:
    page = youtube / "max_max" / "report.html"
    read = Reader(page)
    assert not read.tags & {"script", "link", "iframe", "object", "embed", "form", "base", "a"}
    assert read.handlers == []
    drawn = read.drawings()
    assert len(drawn) >= len(FIGURES)
    for text in (page.read_text(), *drawn):
        assert not re.search(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:|//|file:)""", text)
        assert not re.search(r"<script|@import|javascript:|url\((?!#)", text)


def test_the_query_is_counted_only_where_it_is_asked_for(world: Path, ready: Ready) -> None:
    words = ("evaluate", "all.gallery", "--labels", "all.csv", "--rerankers", "csls", "--quiet")
    plain = ready.works(*words, "--json", cwd=world).json
    counted = ready.works(*words, "--json", "--count-query", cwd=world).json
    assert list(plain) == COUNTED
    assert list(counted) == ["query_counted", *COUNTED]
    assert counted["query_counted"] is True
    for name, found in counted["rerankers"].items():
        # All 30 queries have two matches. Two strangers are no queries, though each would match itself.
        assert plain["rerankers"][name]["mean_anr"] > 0
        assert found["mean_anr"] == pytest.approx(plain["rerankers"][name]["mean_anr"] * 2 / 3)
        assert found["map"] > plain["rerankers"][name]["map"]
        assert found["rank1"] == found["match_in_100"] == 1
    for key in ("queries", "sets", "distractors", "calibration"):
        assert counted[key] == plain[key]
    said = ready.works(*words, "--count-query", cwd=world).out.splitlines()
    assert said[2].startswith("The query counts as its own match, found first (--count-query):")
    assert f"{counted['rerankers']['csls']['mean_anr']:.4f}" in "".join(said)
    assert "counts as its own match" not in ready.works(*words, cwd=world).out


def test_runs_that_count_otherwise_are_told_apart(world: Path, ready: Ready, tmp_path: Path) -> None:
    words = ("evaluate", "all.gallery", "--labels", "all.csv", "--rerankers", "", "--json", "--quiet")
    (tmp_path / "plain.json").write_text(ready.works(*words, cwd=world).out)
    (tmp_path / "counted.json").write_text(ready.works(*words, "--count-query", cwd=world).out)
    told = ready.works(
        "compare", tmp_path / "plain.json", tmp_path / "counted.json", "--json", cwd=world
    ).json
    assert told["differences"] == ["query_counted"]
    same = ready.works("compare", tmp_path / "plain.json", tmp_path / "plain.json", "--json", cwd=world).json
    assert same["differences"] == []


def test_decisions_count_where_they_are_asked_for(world: Path, ready: Ready, tmp_path: Path) -> None:
    shutil.copy(world / "all.gallery", tmp_path / "decided.gallery")
    words = ("evaluate", "decided.gallery", "--labels", world / "all.csv", "--rerankers", "csls", "--quiet")
    plain = ready.works(*words, "--json", cwd=tmp_path).json
    nothing = ready.works(*words, "--json", "--decisions", cwd=tmp_path).json
    assert nothing.pop("decisions") == {"queries": 0, "confirmed": 0, "rejected": 0, "contradicted": 0}
    assert nothing == plain
    one, first, second = (f"p0/v{video}" for video in range(3))
    ready.works("judge", "decided.gallery", one, first, "same", cwd=tmp_path)
    ready.works("judge", "decided.gallery", one, "p1/v0", "same", cwd=tmp_path)
    ready.works("judge", "decided.gallery", one, second, "different", cwd=tmp_path)
    assert ready.works(*words, "--json", cwd=tmp_path).json == plain
    told = ready.works(*words, "--json", "--decisions", cwd=tmp_path).json
    assert list(told) == ["decisions", *COUNTED]
    # Three sets hang together, of which two are one person's; all are known not to show the fourth.
    assert told["decisions"] == {"queries": 4, "confirmed": 6, "rejected": 6, "contradicted": 8}
    assert told["rerankers"] != plain["rerankers"]
    said = ready.works(*words, "--decisions", cwd=tmp_path).out
    assert "Decisions count (--decisions): of 4 queries something was known, 6 times a set was ranked" in said
    (tmp_path / "plain.json").write_text(json.dumps(plain))
    (tmp_path / "told.json").write_text(json.dumps(told))
    differ = ready.works("compare", "plain.json", "told.json", "--json", cwd=tmp_path).json["differences"]
    assert differ == ["decisions"]


def test_another_descriptor_of_the_data_set(youtube: Path, reported: dict[str, Ended], ready: Ready) -> None:
    ready.works("add", "other.gallery", "YTF", "--array", "video/VID_DESCS_CSLBP", cwd=youtube)
    facts = ready.works("status", "other.gallery", "--json", cwd=youtube).json
    assert (facts["descriptor"], facts["dimension"]) == ("array:video/VID_DESCS_CSLBP", 480)
    words = ("evaluate", "other.gallery", "--labels", "YTF", "--rerankers", "", "--json", "--quiet")
    measured = ready.works(*words, cwd=youtube).json
    assert [measured[key] for key in ("queries", "sets", "distractors")] == [24, 26, 2]
    assert measured["rerankers"]["baseline"] != read_report(youtube / "max_max")["rerankers"]["baseline"]


def test_no_face_is_in_a_report_unless_it_may(youtube: Path, ready: Ready) -> None:
    ready.works("add", "faces.gallery", "YTF", "--array", "aligned_images_DB", cwd=youtube)
    ready.works("index", "faces.gallery", cwd=youtube)

    def measure(folder: str, *more: str) -> None:
        words = ("evaluate", "faces.gallery", "--labels", "YTF", "--rerankers", "", "--report", folder)
        works(*words, *more, cwd=youtube)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(measure, "without"), pool.submit(measure, "with", "--faces")]:
            done.result()
    shown = {}
    for folder in ("without", "with"):
        drawn = [path.read_text() for path in (youtube / folder / "figures").glob("*.svg")]
        drawn += Reader(youtube / folder / "report.html").drawings()
        shown[folder] = sum(text.count("<image") for text in drawn)
        with Image.open(youtube / folder / "figures" / "selection_picture.png") as picture:
            shown[f"{folder}: height"] = picture.height
    assert shown["without"] == 0
    assert shown["with"] >= 2
    assert shown["without: height"] < shown["with: height"]
    # Nor are the pictures hidden in a file, as they are kept or as text.
    kept = [path.read_bytes() for path in (youtube / "YTF/aligned_images_DB/Person_A").rglob("*.jpg")]
    for path in (youtube / "without").rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            assert not any(one in held or base64.b64encode(one) in held for one in kept), path
            assert path.suffix == ".png" or b"data:image/png" not in held
            assert path.suffix == ".png" or b"data:image/jpeg" not in held


# Protocols.


def evaluate(ready: Ready, world: Path, gallery: str, *words: object) -> dict[str, Any]:
    """Measure in the world, and hold the output to what is documented."""
    ended = ready.works("evaluate", f"{gallery}.gallery", *words, "--json", "--quiet", cwd=world)
    assert ended.err == ""
    assert list(ended.json) == COUNTED
    for measured in ended.json["rerankers"].values():
        assert list(measured) == MEASURES
        assert all(0 <= value <= 1 for value in measured.values())
    return ended.json


def test_queries_of_another_gallery_or_file_are_asked_from_outside(world: Path, ready: Ready) -> None:
    labels = ("--labels", "rest.csv", "--labels", "asked.csv", "--rerankers", "csls")
    from_file = evaluate(ready, world, "rest", *labels, "--queries", "asked.npz")
    assert [from_file[key] for key in ("queries", "sets", "distractors")] == [10, 22, 2]
    assert list(from_file["rerankers"]) == ["baseline", "csls"]
    assert evaluate(ready, world, "rest", *labels, "--queries", "asked.gallery") == from_file
    write_labels(world / "both.csv", EVERYBODY)
    assert (
        evaluate(
            ready, world, "rest", "--labels", "both.csv", "--rerankers", "csls", "--queries", "asked.npz"
        )
        == from_file
    )
    # The same by hand: every query is asked for by itself.
    right, precision = 0, []
    for id in ASKED:
        words = ("find", "rest.gallery", "asked.npz", "--set", id, "--reranker", "baseline", "--top", "99")
        answers = ready.works(*words, "--json", cwd=world).json["answers"]
        assert len(answers) == 22
        ranks = [answer["rank"] for answer in answers if answer["id"][:-3] == id[:-3]]
        right += ranks[0] == 1
        precision.append(np.mean([(place + 1) / rank for place, rank in enumerate(ranks)]))
    assert from_file["rerankers"]["baseline"]["rank1"] == right / 10
    assert from_file["rerankers"]["baseline"]["map"] == pytest.approx(np.mean(precision))
    assert 0.1 < np.mean(precision) < 0.95


def test_queries_in_two_files_are_asked_together(world: Path, ready: Ready) -> None:
    for number, ids in enumerate((ASKED[:4], ASKED[4:])):
        write_npz(world / f"part{number}.npz", ids, embeddings=np.concatenate([blurred(id) for id in ids]))
    labels = ("--labels", "rest.csv", "--labels", "asked.csv", "--rerankers", "")
    together = evaluate(ready, world, "rest", *labels, "--queries", "part0.npz", "--queries", "part1.npz")
    assert together == evaluate(ready, world, "rest", *labels, "--queries", "asked.npz")


def test_a_query_whom_the_gallery_does_not_show_is_passed_over(world: Path, ready: Ready) -> None:
    write_labels(world / "renamed.csv", ASKED, lambda id: "nobody" if id == ASKED[0] else id[:-3])
    labels = ("--labels", "rest.csv", "--labels", "renamed.csv", "--rerankers", "")
    found = evaluate(ready, world, "rest", *labels, "--queries", "asked.npz")
    assert [found[key] for key in ("queries", "sets", "distractors")] == [9, 22, 4]


def test_a_split_takes_one_set_of_everybody_out(world: Path, ready: Ready) -> None:
    words = ("--labels", "all.csv", "--rerankers", "learnt,csls", "--split")
    once = evaluate(ready, world, "all", *words, "--seed", "5")
    assert [once[key] for key in ("queries", "sets", "distractors")] == [10, 22, 2]
    assert evaluate(ready, world, "all", *words, "--seed", "5") == once
    other = evaluate(ready, world, "all", *words, "--seed", "6")
    assert other["rerankers"]["baseline"] != once["rerankers"]["baseline"]
    both = evaluate(ready, world, "all", *words, "--seed", "5", "--seeds", "2")
    assert both["queries"] == 20
    for name in ("baseline", "learnt", "csls"):
        for measure in ("mean_anr", "map", "rank1"):
            mean = np.mean([run["rerankers"][name][measure] for run in (once, other)])
            assert both["rerankers"][name][measure] == pytest.approx(mean)


def test_seeds_are_averaged(world: Path, ready: Ready) -> None:
    words = ("--labels", "all.csv", "--rerankers", "learnt:references=5,proxies=4")
    alone = [evaluate(ready, world, "all", *words, "--seed", seed) for seed in (3, 4)]
    both = evaluate(ready, world, "all", *words, "--seed", 3, "--seeds", 2)
    assert both["queries"] == 30
    assert (
        alone[0]["rerankers"]["learnt:references=5,proxies=4"]
        != (alone[1]["rerankers"]["learnt:references=5,proxies=4"])
    )
    for name, measured in both["rerankers"].items():
        for measure, value in measured.items():
            assert value == pytest.approx(np.mean([run["rerankers"][name][measure] for run in alone]))


def test_all_rerankers_are_all_there_are(world: Path, ready: Ready) -> None:
    found = evaluate(ready, world, "all", "--labels", "all.csv", "--rerankers", "all")["rerankers"]
    assert list(found)[:2] == ["baseline", "auto"]
    assert sorted(found) == registry.names("rerankers")
    words = ("--labels", "all.csv", "--rerankers", "csls:neighbours=3,all")
    named = list(evaluate(ready, world, "all", *words)["rerankers"])
    assert named[:2] == ["baseline", "csls:neighbours=3"]
    assert sorted(named[2:]) == sorted({*registry.names("rerankers")} - {"baseline"})


def test_progress_and_remarks_are_no_results(world: Path, ready: Ready, tmp_path: Path) -> None:
    shutil.copy(world / "all.gallery", tmp_path / "g.gallery")
    words = ("evaluate", "g.gallery", "--labels", world / "all.csv")
    first = works(*words, cwd=tmp_path)
    assert "indexing 32 sets" in first.err
    assert "training auto" in first.err
    lines = first.out.splitlines()
    assert lines[0] == "30 queries, 32 sets, 2 of them distractors"
    assert [line.split()[0] for line in lines[2:] if line] == ["reranker", "baseline", "auto"] * 2
    again = ready.works(*words, cwd=tmp_path)
    assert (again.out, again.err) == (first.out, "")
    shutil.rmtree(tmp_path / "g.gallery.derived")
    quiet = ready.works(*words, "--quiet", cwd=tmp_path)
    assert (quiet.out, quiet.err) == (first.out, "")


def test_a_new_report_replaces_the_earlier_one(world: Path, tmp_path: Path, ready: Ready) -> None:
    words = ("evaluate", world / "all.gallery", "--labels", world / "all.csv", "--seeds", "1")
    (tmp_path / "r").mkdir()
    first = ready.works(*words, "--rerankers", "csls", "--report", "r", cwd=tmp_path)
    assert first.err.endswith("the report is in r/report.html\n")
    assert (tmp_path / "r/figures/differences_map.csv").exists()
    assert list(read_report(tmp_path / "r")["rerankers"]) == ["baseline", "csls"]
    (tmp_path / "r/.DS_Store").write_bytes(b"what a file manager leaves")
    quiet = ready.works(*words, "--rerankers", "", "--report", "r", "--quiet", "--json", cwd=tmp_path)
    assert quiet.err == ""
    assert quiet.json["rerankers"] == read_report(tmp_path / "r")["rerankers"]
    assert list(quiet.json["rerankers"]) == ["baseline"]
    assert not list((tmp_path / "r/figures").glob("differences*"))
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_every_measure_by_a_column_of_the_labels(world: Path, tmp_path: Path, ready: Ready) -> None:
    sizes = {id: "small" if id < "p3" else "large" for id in EVERYBODY}
    rows = ["set_id,person,size", *(f"{id},{id[:-3]},{sizes[id]}" for id in EVERYBODY)]
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n")
    words = ("evaluate", world / "all.gallery", "--labels", "labels.csv", "--rerankers", "csls", "--seeds", 1)
    told = ready.works(*words, "--by", "size", "--report", "r", "--json", "--quiet", cwd=tmp_path).json
    assert list(told) == [*COUNTED, "by"]
    groups = told["by"]["groups"]
    # Ten people have three queries each; p10 and p11 have no match.
    assert {name: (one["queries"], one["people"]) for name, one in groups.items()} == {
        "large": (21, 7),
        "small": (9, 3),
    }
    for method, measures in told["rerankers"].items():
        assert list(groups["small"]["calibration"][method]) == SURENESS
        for measure in ("mean_anr", "map", "rank1"):
            sums = [one["queries"] * one["rerankers"][method][measure] for one in groups.values()]
            assert sum(sums) / 30 == pytest.approx(measures[measure])
    assert read_report(tmp_path / "r")["by"] == told["by"]
    assert "By size" in (tmp_path / "r/report.html").read_text()
    shown = ready.works(*words, "--by", "size", "--quiet", cwd=tmp_path).out.splitlines()
    [small] = [line for line in shown if re.match(r"small +9 +3 +csls ", line)]
    assert f"{groups['small']['rerankers']['csls']['map']:.4f}" in small
    # Without it, nothing else changes.
    plain = ready.works(*words, "--json", "--quiet", cwd=tmp_path).json
    assert plain == {name: value for name, value in told.items() if name != "by"}
    # One query of which it says nothing, and two sets without a label, one of a person with two others.
    del rows[rows.index("p0/v0,p0,small")], rows[rows.index("p10/v1,p10,small")]
    rows[rows.index("p4/v1,p4,large")] = "p4/v1,p4,"
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n")
    told = ready.works(*words, "--by", "size", "--json", "--quiet", cwd=tmp_path).json
    assert (told["queries"], told["distractors"]) == (29, 3)
    assert {name: one["queries"] for name, one in told["by"]["groups"].items()} == {"large": 20, "small": 8}
    assert (told["by"]["left_out"], told["by"]["unlabelled"]) == (1, 2)
    shown = ready.works(*words, "--by", "size", "--quiet", cwd=tmp_path).out.splitlines()
    assert [line.rpartition(": ")[2] for line in shown[-2:]] == ["1.", "2."]
    refused = ready.run(*words, "--quiet", cwd=tmp_path)
    assert (refused.code, "2 of 32 sets have no label" in refused.err) == (3, True)
    refused = ready.run(*words, "--by", "hair", cwd=tmp_path)
    assert (refused.code, refused.out) == (3, "")
    assert "no label file has a column 'hair' beside who is on each set: give one of 'size'" in refused.err


# Compare.


def test_two_reports_are_compared_query_by_query(
    youtube: Path, reported: dict[str, Ended], ready: Ready
) -> None:
    files = [f"{similarity}/report.json" for similarity in SIMILARITIES]
    told = works("compare", *files, cwd=youtube).out
    assert told.startswith("made otherwise: similarity\n")
    assert ready.works("compare", *SIMILARITIES, cwd=youtube).out == told
    kept = [read_report(youtube / similarity) for similarity in SIMILARITIES]
    found = ready.works("compare", *files, "--json", cwd=youtube).json
    assert list(found) == ["differences", "only_first", "only_second", "shared_queries", "methods"]
    assert (found["differences"], found["only_first"], found["only_second"]) == (["similarity"], [], [])
    assert found["shared_queries"] == 3 * PEOPLE
    assert [(line["method"], line["measure"]) for line in found["methods"]] == [
        (name, measure) for name in PAPER for measure in MEASURES
    ]
    for line in found["methods"]:
        name, measure = line["method"], line["measure"]
        assert [line["first"], line["second"]] == [run["rerankers"][name][measure] for run in kept]
        if measure == "anr_q98":  # of all queries together: nothing to pair
            assert line.keys() == {"method", "measure", "first", "second"}
            continue
        assert line["mean"] == pytest.approx(line["second"] - line["first"])
        assert line["low"] <= line["mean"] <= line["high"]
        assert 0 < line["p"] <= line["p_corrected"] <= 1
    changed = [line for line in found["methods"] if line.get("p_corrected", 1) < 0.05]
    last = told.splitlines()[-1]
    if changed:
        assert last.startswith("On 24 shared queries, these changed beyond chance (p < 0.05")
        assert last.rpartition("): ")[2].count(",") == len(changed) - 1
    else:
        assert last == "On 24 shared queries, no measure changed beyond chance."


def test_a_run_compared_with_itself_has_not_changed(
    youtube: Path, reported: dict[str, Ended], ready: Ready
) -> None:
    told = ready.works("compare", "max_max", "max_max", cwd=youtube).out.splitlines()
    assert told[0].split()[0] == "method"
    assert told[-1] == "On 24 shared queries, no measure changed beyond chance."
    assert all("+0.0000" in line for line in told[1:-1])


def test_a_report_is_compared_with_what_was_printed(
    youtube: Path, reported: dict[str, Ended], ready: Ready, tmp_path: Path
) -> None:
    words = ("evaluate", "g.gallery", "--labels", "YTF", "--rerankers", "learnt,csls", "--json", "--quiet")
    printed = ready.works(*words, cwd=youtube)
    (tmp_path / "b.json").write_text(printed.out)
    told = ready.works("compare", youtube / "max_max", "b.json", cwd=tmp_path).out.splitlines()
    assert told[0] == f"only in {youtube / 'max_max'}: arithmetic_mean, geometric_mean, quadratic_mean, auto"
    assert told[1] == "only in b.json: csls"
    assert "no test was made" in told[-1].lower()
    found = ready.works("compare", youtube / "max_max", "b.json", "--json", cwd=tmp_path).json
    assert found["shared_queries"] == 0
    assert [line["second"] for line in found["methods"] if line["method"] == "baseline"] == list(
        printed.json["rerankers"]["baseline"].values()
    )
    assert all("p" not in line for line in found["methods"])


def test_a_change_beyond_chance_is_named(
    youtube: Path, reported: dict[str, Ended], ready: Ready, tmp_path: Path
) -> None:
    better = read_report(youtube / "max_max")
    values = better["per_query"]["values"]["learnt"]
    values["rank1"] = [0.0] * len(values["rank1"])
    (tmp_path / "worse.json").write_text(json.dumps(better))
    values["rank1"] = [1.0] * len(values["rank1"])
    (tmp_path / "better.json").write_text(json.dumps(better))
    told = ready.works("compare", "worse.json", "better.json", cwd=tmp_path).out.splitlines()
    assert told[-1].startswith("On 24 shared queries, these changed beyond chance (p < 0.05")
    assert told[-1].endswith("): learnt rank-1.")


# Interrupted and killed.


class Slow:
    """A re-ranker of another package that takes its time, and notes every query it is asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "asked"
        (folder / "slow-1.dist-info").mkdir(parents=True)
        (folder / "slow-1.dist-info" / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: slow\nVersion: 1\n"
        )
        (folder / "slow-1.dist-info" / "entry_points.txt").write_text(
            "[lookalike.rerankers]\nslow = slow:Slow\n"
        )
        (folder / "slow.py").write_text(
            "import os, time\n"
            "from lookalike.evaluation import experiment\n"
            "from lookalike.rerankers.baseline import Baseline\n\n"
            "experiment.SECONDS_BETWEEN_KEEPING = float(os.environ['SLOW_KEEPS'])\n"
            # It scores as the baseline does: what is learnt from that holds, and no query of ours is asked.
            "calibrate = experiment.calibrate\n"
            "experiment.calibrate = lambda tables, part, *rest: calibrate(tables, Baseline(), *rest)\n\n\n"
            "class Slow(Baseline):\n"
            "    def score(self, row, tables):\n"
            "        with open(os.environ['SLOW_LOG'], 'a') as log:\n"
            "            log.write('.')\n"
            "        time.sleep(float(os.environ['SLOW_SECONDS']))\n"
            "        return super().score(row, tables)\n"
        )

    def asked(self) -> int:
        """How many queries were asked since the last time somebody wanted to know."""
        return self.log.stat().st_size if self.log.exists() else 0

    def forget(self) -> None:
        self.log.unlink()

    def env(self, seconds: float = 0.0, keeps: float = 10.0) -> dict[str, str]:
        return environment(
            PYTHONPATH=os.pathsep.join([str(self.folder), os.environ.get("PYTHONPATH", "")]),
            PYTHONDONTWRITEBYTECODE="1",
            SLOW_LOG=str(self.log),
            SLOW_SECONDS=str(seconds),
            SLOW_KEEPS=str(keeps),
        )


@pytest.fixture
def slow(tmp_path_factory: pytest.TempPathFactory) -> Slow:
    return Slow(tmp_path_factory.mktemp("slow"))


@pytest.fixture
def indexed(world: Path, tmp_path: Path, ready: Ready) -> Path:
    """A folder with g.gallery, indexed, and its labels."""
    ready.works("index", "all.gallery", cwd=world)
    shutil.copy(world / "all.gallery", tmp_path / "g.gallery")
    shutil.copytree(world / "all.gallery.derived", tmp_path / "g.gallery.derived")
    write_labels(tmp_path / "labels.csv", EVERYBODY)
    return tmp_path


EVALUATE = ("evaluate", "g.gallery", "--labels", "labels.csv", "--rerankers", "slow,csls", "--json")


def stopped(number: int, folder: Path, when: Callable[[], bool], env: dict[str, str]) -> tuple[int, str, str]:
    """Start the evaluation, send a signal as soon as `when` says so, and return how it ended."""
    with subprocess.Popen(
        command(*EVALUATE),
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + PATIENCE
        while not when():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def in_a_terminal(words: tuple[object, ...], folder: Path, env: dict[str, str]) -> Ended:
    """Run a command whose stderr is a terminal."""
    ours, theirs = pty.openpty()
    shown: list[bytes] = []

    def read() -> None:
        try:
            while piece := os.read(ours, 4096):
                shown.append(piece)
        except OSError:  # the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    with subprocess.Popen(
        command(*words), cwd=folder, env={**env, "TERM": "xterm"}, stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        os.close(theirs)
        out, _ = process.communicate(timeout=PATIENCE)
    reader.join()
    os.close(ours)
    return succeeded(Ended(process.returncode, out.decode(), b"".join(shown).decode()))


@pytest.fixture(scope="module")
def uninterrupted(world: Path, ready: Ready, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """What the evaluation says if nothing happens to it."""
    slow, folder = Slow(tmp_path_factory.mktemp("slow")), tmp_path_factory.mktemp("whole")
    shutil.copy(world / "all.gallery", folder / "g.gallery")
    write_labels(folder / "labels.csv", EVERYBODY)
    ended = in_a_terminal(EVALUATE, folder, slow.env())
    assert slow.asked() == 30
    assert "going on" not in ended.err
    return ended


def unfinished(folder: Path) -> list[str]:
    # Names only, by a walk that does not mind what vanishes: the process that is watched is at work.
    found = (Path(place, name).relative_to(folder) for place, _, names in os.walk(folder) for name in names)
    return [str(path) for path in found if "unfinished" in str(path) and path.name == "manifest.json"]


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)],
    ids=["SIGINT", "SIGTERM", "SIGKILL"],
)
def test_an_evaluation_that_was_stopped_goes_on(
    number: int, code: int, indexed: Path, slow: Slow, uninterrupted: Ended
) -> None:
    def some_were_asked() -> bool:
        kept = [name for name in unfinished(indexed) if ".writing-" not in name]
        return slow.asked() > 9 and (number != signal.SIGKILL or bool(kept))

    # Whoever is killed says nothing more: what was kept before is all there is.
    keeps = 0.2 if number == signal.SIGKILL else 10.0
    ended, out, err = stopped(number, indexed, some_were_asked, slow.env(0.1, keeps))
    assert (ended, out) == (code, "")
    assert "Traceback" not in err
    if number != signal.SIGKILL:
        assert err.endswith(
            "lookalike: interrupted; what is finished is kept, run the same command to go on\n"
        )
    before = slow.asked()
    assert 9 < before < 30
    # Who is killed while it writes leaves what it wrote aside; the state before that is whole.
    assert [kept for kept in unfinished(indexed) if ".writing-" not in kept]
    slow.forget()
    again = in_a_terminal(EVALUATE, indexed, slow.env())
    [done] = set(re.findall(r"going on after (\d+) queries", again.err))
    assert slow.asked() == 30 - int(done)
    # A few queries are on threads, or wait for the one before them, when the end comes. A kill also loses
    # what was found since the state was last kept.
    assert 0 < int(done) <= before
    assert number == signal.SIGKILL or before - 7 <= int(done)
    assert unfinished(indexed) == []
    assert again.out == uninterrupted.out


def test_a_report_that_cannot_be_written_costs_no_query(indexed: Path, slow: Slow) -> None:
    """The folder was good when the work began; somebody put a file there meanwhile."""
    words = (*EVALUATE, "--report", "r", "--seeds", "1", "--rerankers", "slow")
    with subprocess.Popen(
        command(*words), cwd=indexed, env=slow.env(0.1), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while slow.asked() < 3:
            assert process.poll() is None
            time.sleep(0.01)
        (indexed / "r").mkdir()
        (indexed / "r" / "mine.txt").write_text("not yours")
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, err
    assert b"r holds something that is not a report, for instance mine.txt" in err
    assert (indexed / "r" / "mine.txt").read_text() == "not yours"
    assert slow.asked() == 30
    [kept] = unfinished(indexed)
    assert json.loads((indexed / kept).read_text())["facts"]["done"] == 30


def test_status_and_remove_after_an_interruption(indexed: Path, slow: Slow, ready: Ready) -> None:
    stopped(signal.SIGINT, indexed, lambda: slow.asked() > 5, slow.env(0.1))
    assert len(unfinished(indexed)) == 1
    facts = ready.works("status", "g.gallery", "--json", cwd=indexed).json
    assert facts["sets"] == 32
    ready.works("status", "g.gallery", cwd=indexed)
    ready.works("remove", "g.gallery", "p0/v0", cwd=indexed)
    assert unfinished(indexed) == []
    assert not [name for name in tree(indexed) if "unfinished" in name]
    gone = blurred("p0/v0")
    unit = (gone / np.linalg.norm(gone.astype(np.float64), axis=1, keepdims=True)).astype(np.float32)
    traces = [b"p0/v0", *(row.tobytes() for row in (*gone, *unit))]
    for path in indexed.rglob("*"):
        if path.is_file() and path.name != "labels.csv":
            assert not any(trace in path.read_bytes() for trace in traces), path
    slow.forget()
    write_labels(indexed / "labels.csv", [id for id in EVERYBODY if id != "p0/v0"])
    rest = in_a_terminal(EVALUATE, indexed, slow.env())
    assert (rest.json["queries"], rest.json["sets"]) == (29, 31)
    assert slow.asked() == 29
