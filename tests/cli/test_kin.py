"""Train, find and explain as a person meets them: kin and look-alikes, told by real processes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cli_process import Ready, write_npz

PEOPLE, SETS = 25, 4


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    starter = Ready()
    yield starter
    starter.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, ready: Ready) -> Path:
    """People in four kinds of light, three faces a set."""
    root = tmp_path_factory.mktemp("kin")
    rng = np.random.default_rng(0)
    people, lights = rng.normal(size=(PEOPLE, 1, 1, 48)), 0.8 * rng.normal(size=(SETS, 1, 48))
    faces = people + lights + 0.8 * rng.normal(size=(PEOPLE, SETS, 1, 48))
    faces = faces + 0.2 * rng.normal(size=(PEOPLE, SETS, 3, 48))
    names = [f"p{person:02d}/v{number}" for person in range(PEOPLE) for number in range(SETS)]
    write_npz(root / "faces.npz", names, embeddings=faces.reshape(-1, 48))
    ready.works("add", "g.gallery", "faces.npz", cwd=root)
    return root


def test_train_says_what_it_found(folder: Path, ready: Ready) -> None:
    said = ready.works("train", "g.gallery", cwd=folder).out.splitlines()
    assert said[0] == "auto is ready on 100 sets"
    assert re.fullmatch(
        r"About 2\d people make up \d+% of this collection; "
        r"100% of what strangers in the same light or style explain is subtracted; "
        r"lists of neighbours count \d\d%, pairs of sets the rest\.",
        said[1],
    )
    told = ready.works("train", "g.gallery", "--json", cwd=folder).json
    assert told["finding"] == "a" + said[1].removeprefix("A")
    assert ready.works("train", "g.gallery", "--reranker", "csls", "--json", cwd=folder).json["finding"] == ""


def test_find_uses_it_without_being_asked(folder: Path, ready: Ready) -> None:
    found = ready.works("find", "g.gallery", "p03/v0", "--json", "--quiet", cwd=folder).json
    assert found["reranker"] == "auto"
    plain = ready.works(
        "find", "g.gallery", "p03/v0", "--reranker", "baseline", "--json", "--quiet", cwd=folder
    ).json
    right = [
        sum(one["id"].startswith("p03/") for one in ranking["answers"][:3]) for ranking in (found, plain)
    ]
    assert right[0] > right[1]
    assert found["answers"][0]["probability"] > 0.5


def test_explain_says_who_had_a_say_and_adds_up(folder: Path, ready: Ready) -> None:
    words = ("explain", "g.gallery", "p03/v0", "p03/v2", "--quiet")
    said = ready.works(*words, cwd=folder).out
    table = said[said.index("what  ") :].splitlines()
    end = next(place for place, line in enumerate(table) if line.startswith("= score"))
    terms = [re.findall(r" ([+-]\d\.\d{3})\b", line) for line in table[1:end]]
    assert all(len(found) == 1 for found in terms)
    score = float(table[end].split()[-1])
    assert sum(float(found[0]) for found in terms) == pytest.approx(score, abs=1e-9)
    assert table[1].startswith("the two by themselves ")
    for part in (
        "Lists count ",
        "with kin pooled rank ",
        ", near both ",
        " sets near both, together ",
        "near each other",
    ):
        assert part in said
    told = ready.works(*words, "--json", cwd=folder).json
    assert told["answer"]["score"] == pytest.approx(score, abs=5.01e-4)
    moved = sum(one["moved"] for one in told["influences"])
    assert told["alone"] + moved == pytest.approx(told["answer"]["score"], abs=1e-9)
    assert 0 <= told["trust"] <= 1
    assert min(told["rank_before_kin"], told["rank_before_lists"]) >= 1
    assert "lines" not in told
    for one in told["influences"]:
        shown = [each for each in told["relatives"] if each["kind"] == one["kind"]]
        added = sum(each["moved"] for each in shown)
        assert added + one["others_moved"] == pytest.approx(one["moved"], abs=1e-9)
    assert {one["kind"] for one in told["relatives"]} <= {"kin", "stranger", "neighbour"}
    for one in told["relatives"]:
        assert one["id"] not in ("p03/v0", "p03/v2")
        assert one["of"] in ("query", "target", "both")
        assert (one["chance"] is None) == (one["kind"] != "kin")
        assert all(
            one[face] in (0, 1, 2)
            for face in ("query_face", "face_to_query", "face_to_target", "target_face")
        )
    near = [one["id"] for one in told["relatives"] if one["kind"] == "neighbour"]
    assert {name[:3] for name in near[:2]} == {"p03"}
