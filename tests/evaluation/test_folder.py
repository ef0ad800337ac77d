from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lookalike import atomic
from lookalike.errors import BadInput, NotFound, StorageFailed
from lookalike.evaluation import report
from lookalike.evaluation.drawing import Figure
from lookalike.evaluation.report import MARK, check_report_folder, write_report
from lookalike.evaluation.verdict import Page


def figure(name: str = "line") -> Figure:
    return Figure(name, "A line", "A caption.", {"x": [1]}, lambda canvas: None)


def page(title: str, *figures: Figure) -> Page:
    return Page(title, ["verdict"], [], [], figures or (figure(),), [], "today")


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_everything_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    check_report_folder(out)
    assert not list(tmp_path.iterdir())
    write_report(out, page("Größe"), {"b": 1, "a": ["é", 0.5]})
    assert set(files(out)) == {
        MARK,
        "report.html",
        "report.json",
        *(f"figures/line.{kind}" for kind in ("svg", "png", "csv")),
    }
    text = (out / "report.json").read_text(encoding="utf-8")
    assert text == '{\n "b": 1,\n "a": [\n  "é",\n  0.5\n ]\n}\n'
    assert "Größe" in (out / "report.html").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_same_report_has_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_report(tmp_path / name, page("same"), {"x": 1})
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_an_earlier_report_is_replaced_whole(tmp_path: Path) -> None:
    write_report(tmp_path / "out", page("old", figure("gone")), {"run": 1})
    (tmp_path / "out" / ".DS_Store").write_bytes(b"left by a file manager")
    check_report_folder(tmp_path / "out")
    write_report(tmp_path / "out", page("new"), {"run": 2})
    assert json.loads((tmp_path / "out" / "report.json").read_text()) == {"run": 2}
    assert not list((tmp_path / "out").rglob("gone*"))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_and_a_link_are_used(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for _ in range(2):
        check_report_folder(tmp_path / "link")
        write_report(tmp_path / "link", page("x"), {})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "report.html").is_file()


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    ("there", "said"),
    [
        (["out"], "is a file, but a report is a folder: choose"),
        (["out/notes.txt"], "not a report, for instance notes.txt: choose a new or empty folder"),
        ([f"out/{MARK}", "out/notes.txt"], "holds notes.txt beside an earlier report.*move it away"),
        ([f"out/{MARK}", "out/figures/mine.pdf"], "holds figures/mine.pdf beside"),
    ],
)
def test_what_is_not_a_report_is_never_touched(
    tmp_path: Path, there: list[str], said: str, write: bool
) -> None:
    for name in there:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("precious")
    before = files(tmp_path)
    with pytest.raises(BadInput, match=said):
        write_report(tmp_path / "out", page("x"), {}) if write else check_report_folder(tmp_path / "out")
    assert files(tmp_path) == before


def test_the_root_of_the_disk_is_refused() -> None:
    with pytest.raises(BadInput, match="not a report"):
        check_report_folder(Path("/"))


def test_missing_parent(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="does not exist: make it first"):
        check_report_folder(tmp_path / "nowhere" / "out")
    with pytest.raises(NotFound):
        write_report(tmp_path / "nowhere" / "out", page("x"), {})


def test_read_only_parent_is_noticed_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **more: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(StorageFailed, match="permission"):
        check_report_folder(tmp_path / "out")


@pytest.mark.parametrize("step", range(8))
def test_a_failing_disk_leaves_the_earlier_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Six files, then two renames: whichever fails, the earlier report is as it was."""
    out = tmp_path / "out"
    write_report(out, page("old"), {"run": 1})
    before = files(tmp_path)
    count = iter(range(100))

    def failing(original: Any) -> Any:
        def run(*given: Any) -> Any:
            if next(count) == step:
                raise OSError(28, "No space left on device")
            return original(*given)

        return run

    monkeypatch.setattr(atomic, "write_new", failing(atomic.write_new))
    monkeypatch.setattr(Path, "rename", failing(Path.rename))
    with pytest.raises(StorageFailed, match="full"):
        write_report(out, page("new"), {"run": 2})
    assert files(tmp_path) == before


def test_a_process_that_died_between_the_renames_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    write_report(out, page("old"), {"run": 1})
    before = files(out)
    out.rename(report._earlier(out))  # what a process leaves that is killed right there
    check_report_folder(out)
    assert files(out) == before
    # Killed while it deletes the earlier one: the rest is in nobody's way.
    report._earlier(out).mkdir()
    (report._earlier(out) / "report.html").write_text("half deleted")
    write_report(out, page("new"), {"run": 2})
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_interrupt_leaves_the_earlier_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    write_report(out, page("old"), {"run": 1})
    before = files(tmp_path)

    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic, "sync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_report(out, page("new"), {"run": 2})
    assert files(tmp_path) == before


def test_bad_records_and_names_are_said_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not finite"):
        write_report(tmp_path / "out", page("x"), {"x": float("nan")})
    with pytest.raises(BadInput, match="two figures are called 'line'"):
        write_report(tmp_path / "out", page("x", figure(), figure()), {})
    assert not list(tmp_path.iterdir())
