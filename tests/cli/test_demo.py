from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from lookalike import Gallery, find, open_search
from lookalike.cli import demo
from lookalike.cli.serve import has_screen
from lookalike.demo.films import DrawnSet, draw_collection
from lookalike.errors import BadInput
from lookalike.evaluation.experiment import labels_fingerprint
from lookalike.evaluation.labels import read_labels
from lookalike.indexing.build import index_states
from lookalike.progress import silent

Seen = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight people, few and small pictures of each."""

    def draw(people: int, difficulty: float, seed: int) -> Iterator[DrawnSet]:
        return draw_collection(people, (1, 2), frames=3, size=48, difficulty=difficulty, seed=seed)

    monkeypatch.setattr(demo, "PEOPLE", 8)
    monkeypatch.setattr(demo, "draw_collection", draw)


def content(folder: Path) -> dict[str, bytes | None]:
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}


def test_the_whole_tour(tmp_path: Path, capsys: Seen) -> None:
    folder = tmp_path / "new" / "demo"
    demo.run(folder, 0, silent)
    assert sorted(path.name for path in folder.iterdir()) == [
        ".lookalike-demo",
        "clips",
        "demo.gallery",
        "demo.gallery.derived",
        "labels.csv",
        "ranking.png",
        "report",
    ]
    said = capsys.readouterr().out
    labels = read_labels(folder / "labels.csv")
    with Gallery(folder / "demo.gallery") as gallery:
        assert gallery.ids() == sorted(labels)
        assert gallery.facts()["pictures"] == 3 * len(labels)
        kinds = [str(state["kind"]) for state in index_states(gallery)]
        assert sorted({kind.partition(":")[0] for kind in kinds}) == [
            "auto on max_max",
            "cprr",
            "csls",
            "learnt",
            "max_max",
        ]
        query = said.split("show the person of ")[1].split("?")[0]
        expected = find(query, gallery, top=10)
    kept = json.loads((folder / "report" / "report.json").read_text())
    assert kept["verdict"][0].startswith("By mAP, ")
    assert kept["labels"] == labels_fingerprint(labels)
    assert (folder / "report" / "report.html").exists()
    matches = {id for id, person in labels.items() if person == labels[query] and id != query}
    right = [answer.id for answer in expected if answer.id in matches]
    assert right
    screen = said.split("...\n")[1]
    assert screen.startswith(f"8 people who never existed are on {len(labels)} drawn clips")
    assert f"\nFound     {', '.join(right)}: {len(right)} of {len(matches)} other clips" in screen
    assert "\nWhy       " in screen
    assert len(screen.splitlines()) < 15, "one screen"
    assert b"person-" not in (folder / "demo.gallery").read_bytes(), "the gallery knows nobody by name"
    with Image.open(folder / "ranking.png") as picture:
        assert picture.format == "PNG"
    assert f"\nPicture   {folder / 'ranking.png'}\nReport    {folder / 'report' / 'report.html'} " in said
    assert f"\nPage      {sys.argv[0]} serve {folder / 'demo.gallery'}\n" in said
    assert said.endswith(f"\nYours     {sys.argv[0]} open FOLDER\n")


def test_the_page_opens_only_before_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert not has_screen()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert has_screen()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    assert not has_screen(), "what is read by a program opens nothing"


def test_who_rose_is_told_with_whom_it_rose_through(
    tmp_path: Path, capsys: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "PEOPLE", 30)
    path = demo.run(tmp_path / "demo", 0, silent)
    said = capsys.readouterr().out
    query = said.split("show the person of ")[1].split("?")[0]
    through, both = re.search(r"Through   (\S+), which resembles both (.*)", said).groups()
    shown, plain, rank = re.search(
        r"Compared directly, (\S+) would be answer (\d+)\.\n +It is answer (\d+), because", said
    ).groups()
    assert both == f"{query} and {shown}"
    with Gallery(path) as gallery:
        [answer] = [one for one in find(query, gallery, top=10) if one.id == shown]
        assert (answer.baseline_rank, answer.rank) == (int(plain), int(rank))
        relatives = open_search(gallery).explain(query, shown).relatives
        assert through == max(relatives, key=lambda one: one.moved).id


def test_without_the_libraries_of_a_report_the_tour_goes_on(
    tmp_path: Path, capsys: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    demo.run(tmp_path / "demo", 0, silent)
    said = capsys.readouterr().out
    assert "Report    none: a report needs matplotlib, which cannot be imported: pip install" in said
    assert not (tmp_path / "demo" / "report").exists()
    assert "\nPage      " in said


def test_running_again_replaces_it(tmp_path: Path, capsys: Seen) -> None:
    folder = tmp_path / "demo"
    demo.run(folder, 0, silent)
    first, said = content(folder / "clips"), capsys.readouterr().out
    demo.run(folder, 1, silent)
    assert content(folder / "clips") != first, "another seed draws other people"
    capsys.readouterr()
    demo.run(folder, 0, silent)
    assert content(folder / "clips") == first
    assert capsys.readouterr().out == said, "the same seed tells the same story"


def test_an_interrupted_demo_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "demo"

    def stop(items: object, text: str, total: int | None) -> Iterator[object]:
        if text == "preparing sets":
            raise KeyboardInterrupt
        return silent(items, text, total)  # type: ignore[type-var]

    with pytest.raises(KeyboardInterrupt):
        demo.run(folder, 0, stop)  # type: ignore[arg-type]
    demo.run(folder, 0, silent)
    assert (folder / "ranking.png").exists()


@pytest.mark.parametrize("other", ["photo.jpg", "clips.zip", ".hidden", "Clips"])
def test_a_folder_with_something_else_is_refused_and_untouched(tmp_path: Path, other: str) -> None:
    folder = tmp_path / "demo"
    (folder / "clips").mkdir(parents=True)
    (folder / "labels.csv").write_text("set_id,person\n")
    (folder / other).write_text("mine")
    before = content(tmp_path)
    with pytest.raises(
        BadInput, match="holds something that is not a demo: choose another folder with --out"
    ):
        demo.run(folder, 0, silent)
    assert content(tmp_path) == before


def test_a_file_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("mine")
    with pytest.raises(BadInput, match="not a demo"):
        demo.run(tmp_path / "demo", 0, silent)
    assert (tmp_path / "demo").read_text() == "mine"


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    demo.run(tmp_path, 0, silent)
    assert (tmp_path / "ranking.png").exists()


def test_a_bad_seed(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="seed"):
        demo.run(tmp_path / "demo", -1, silent)
    assert not (tmp_path / "demo").exists()
