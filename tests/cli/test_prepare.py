"""``--prepare`` and what ``status`` says of it, as processes of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike import Gallery, find
from tests.cli_process import Ready, works, write_npz

WITHIN = "within:dimension=6"
FULL = "within:root=False,dimension=6"


def faces(count: int, seed: int = 0) -> np.ndarray:
    """Faces that are not negative, three a set."""
    rng = np.random.default_rng(seed)
    return (
        np.repeat(rng.gamma(2.0, size=(count, 16)), 3, axis=0) + rng.gamma(0.5, size=(3 * count, 16))
    ).astype(np.float32)


def names(count: int, letter: str = "s") -> list[str]:
    return [f"{letter}{number:03d}" for number in range(count)]


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    process = Ready()
    yield process
    process.close()


@pytest.fixture
def folder(tmp_path: Path, ready: Ready) -> Path:
    """A gallery of 20 sets, and five more sets."""
    write_npz(tmp_path / "some.npz", names(20), embeddings=faces(20))
    write_npz(tmp_path / "more.npz", names(5, "m"), embeddings=faces(5, seed=1))
    ready.works("add", "g.gallery", "some.npz", cwd=tmp_path)
    return tmp_path


def test_a_preparation_from_learning_to_forgetting(folder: Path, ready: Ready) -> None:
    made = works("index", "g.gallery", "--prepare", WITHIN, cwd=folder)
    assert made.err.startswith(f"learning {FULL} from 20 sets; this is kept\nindexing 20 sets by max_max, ")
    assert made.out.endswith(f", prepared by {FULL}\n")
    again = ready.works("index", "g.gallery", "--prepare", WITHIN, "--json", cwd=folder)
    assert again.json["preparation"] == FULL
    assert not again.err, "nothing was left to do"
    assert f"preparation: {FULL}: learnt from 20 sets, 0 are new since\n" in status(folder, ready)

    ready.works("add", "g.gallery", "more.npz", cwd=folder)
    ready.works("index", "g.gallery", "--prepare", WITHIN, cwd=folder)
    assert f"preparation: {FULL}: learnt from 20 sets, 5 are new since\n" in status(folder, ready)
    ready.works("remove", "g.gallery", "m004", cwd=folder)
    assert f"preparation: {FULL}: learnt from 20 sets, 4 are new since\n" in status(folder, ready)

    anew = ready.works("index", "g.gallery", "--prepare", WITHIN, "--prepare-again", cwd=folder)
    assert f"learning {FULL} from 24 sets" in anew.err
    assert f"preparation: {FULL}: learnt from 24 sets, 0 are new since\n" in status(folder, ready)
    ready.works("remove", "g.gallery", "s004", cwd=folder)
    said = status(folder, ready)
    assert FULL not in said
    assert "preparation: none (default)\n" in said


def test_a_stale_preparation_says_how_to_renew_it(folder: Path, ready: Ready) -> None:
    ready.works("index", "g.gallery", "--prepare", WITHIN, cwd=folder)
    write_npz(folder / "many.npz", names(6, "n"), embeddings=faces(6, seed=2))
    ready.works("add", "g.gallery", "many.npz", cwd=folder)
    said = status(folder, ready)
    words = f"index g.gallery --prepare {FULL} --prepare-again"
    assert f"6 are new since: stale, renew it by `lookalike {words}`\n" in said
    told = ready.works("status", "g.gallery", "--json", cwd=folder).json["preparations"]
    assert [one["name"] for one in told] == ["none", FULL]
    assert told[1]["is_stale"]
    assert (told[1]["sets"], told[1]["new_sets"]) == (20, 6)
    ready.works(*words.split(), cwd=folder)
    assert "stale" not in status(folder, ready)


def test_every_command_that_compares_takes_it(folder: Path, ready: Ready) -> None:
    lines = ["set_id,person", *(f"{name},{int(name[1:]) // 2}" for name in names(20))]
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")
    prepared = ("--prepare", WITHIN, "--quiet", "--json")
    found = ready.works("find", "g.gallery", "s000", *prepared, cwd=folder).json
    plain = ready.works("find", "g.gallery", "s000", "--prepare", "none", "--json", "-q", cwd=folder).json
    assert plain == ready.works("find", "g.gallery", "s000", "--json", cwd=folder).json
    assert found != plain
    with Gallery(folder / "g.gallery") as gallery:
        ranking = find("s000", gallery, top=10, preparation=WITHIN)
    for answer in found["answers"]:
        # What the gallery knows of a set is told beside what the ranking says.
        known = {name: answer.pop(name) for name in ("origin", "files", "captured", "start", "end")}
        assert (type(known["origin"]), *list(known.values())[1:]) == (str, [], [], None, None)
    assert json.loads(json.dumps(ranking.to_dict())) == found
    told = ready.works("explain", "g.gallery", "s000", "s001", *prepared, cwd=folder).json
    assert (
        told["answer"]
        in ready.works("find", "g.gallery", "s000", "--top", 19, *prepared, cwd=folder).json["answers"]
    )
    # The same faces from outside are prepared by what is stored.
    plainly = (*prepared, "--reranker", "baseline")
    asked = ready.works("find", "g.gallery", "some.npz", "--set", "s000", *plainly, cwd=folder).json
    assert asked["answers"][0]["id"] == "s000"
    assert asked["answers"][0]["score"] == pytest.approx(1.0, abs=1e-6)
    ready.works("train", "g.gallery", *prepared, cwd=folder)
    measured = ready.works("evaluate", "g.gallery", "--labels", "labels.csv", *prepared, cwd=folder).json
    others = ready.works("evaluate", "g.gallery", "--labels", "labels.csv", "--json", "-q", cwd=folder).json
    assert measured["rerankers"]["baseline"] != others["rerankers"]["baseline"]


def status(folder: Path, ready: Ready) -> str:
    return ready.works("status", "g.gallery", cwd=folder).out
