"""Train, find and explain as a person meets them: kin and look-alikes, told by real processes."""

from __future__ import annotations

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
    assert " of 100 sets have kin; of the " in said[1]
    assert said[1].endswith("is subtracted, and kin are pooled.")
    told = ready.works("train", "g.gallery", "--json", cwd=folder).json
    assert told["finding"] == said[1]
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


def test_explain_says_who_was_kin_and_who_a_stranger(folder: Path, ready: Ready) -> None:
    words = ("explain", "g.gallery", "p03/v0", "p03/v2", "--quiet")
    said = ready.works(*words, cwd=folder).out
    for part in ("with kin pooled, rank", "kin of the query", "stranger of the target", "moved the score by"):
        assert part in said
    told = ready.works(*words, "--json", cwd=folder).json
    assert told["rank_before_kin"] >= 1
    relatives = told["relatives"]
    assert {(one["kind"], one["of"]) for one in relatives} == {
        (kind, of) for kind in ("kin", "stranger") for of in ("query", "target")
    }
    for one in relatives:
        assert one["id"] not in ("p03/v0", "p03/v2")
        assert (one["chance"] is None) == (one["kind"] == "stranger")
        assert all(
            one[face] in (0, 1, 2)
            for face in ("query_face", "face_to_query", "face_to_target", "target_face")
        )
    for of in ("query", "target"):
        kin = [one for one in relatives if (one["kind"], one["of"]) == ("kin", of)]
        assert max(kin, key=lambda one: one["chance"])["id"].startswith("p03/")
