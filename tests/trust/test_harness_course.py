"""The course: counts, seeds, the record that an interrupted run goes on from, the page."""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from lookalike.progress import Item
from trust import apart
from trust.__main__ import main
from trust.course import Watch, run_at_once, run_course
from trust.outcome import Failures, Outcome, share_of, tried
from trust.page import as_page, bound
from trust.record import Record
from trust.t07_inconsistencies import NAMES
from trust.tests import Test, every_test


def a_test(name: str, *failures: str) -> tuple[Test, list[float]]:
    module = types.ModuleType("made")
    shares: list[float] = []

    def run(share: float, seed: int, track: object) -> Outcome:
        shares.append(share)
        return Outcome(name, 100, list(failures), 1.5, "a note")

    module.TITLE, module.RELEASE, module.LEFT_OUT, module.run = "does | nothing", 1000, "much", run
    return Test(name, module), shares


def test_tried_counts_and_catches() -> None:
    def attempt(number: int) -> str | None:
        if number == 2:
            raise ValueError("no")
        return "three" if number == 3 else None

    found = tried("T", range(5), attempt)
    assert (found.cases, found.failures) == (5, ["2: ValueError: no", "3: three"])
    both = found + Outcome("T", 2, ["x"], 1.0, "note")
    assert (both.cases, len(both.failures), both.note) == (7, 3, "note")
    assert (share_of(200, 0.05), share_of(10, 0.001)) == (10, 1)


def test_a_failure_is_told_when_it_happens(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []

    def attempt(number: int) -> str | None:
        told.append(capsys.readouterr().err)
        return "wrong" if number == 1 else None

    assert tried("T", range(4), attempt).failures == ["1: wrong"]
    assert told == ["", "", "  T ! 1: wrong\n", ""]
    failures = Failures("T6")
    failures += ["a" * 500, "b"]
    failures.extend(["c"])
    assert failures == ["a" * 500, "b", "c"]
    assert capsys.readouterr().err == f"  T6 ! {'a' * 400}\n  T6 ! b\n  T6 ! c\n"


def test_a_course_is_recorded_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = Record(tmp_path / "trust.json")
    (good, asked), (bad, asked_bad) = a_test("T1"), a_test("T20", "case 3: lost")
    tests = {"T20": bad, "T1": good}
    assert run_course(tests, record, 0.1, 7) == ["T20"]
    assert "seed 7" in capsys.readouterr().out
    assert list(record.read()) == ["T1", "T20"]
    # What failed is run again, what did not is not; unless the share is another.
    run_course(tests, record, 0.1, 7)
    run_course({"T1": good}, record, 0.2, 7)
    assert (asked, asked_bad) == ([0.1, 0.2], [0.1, 0.1])
    page = (tmp_path / "trust.md").read_text()
    assert r"| T1 | does \| nothing | 100 | 0 | 3.00% | 2 |" in page
    assert "- T1: 100 of 1,000: share 0.2" in page
    assert "- T20: case 3: lost" in page


def test_a_test_that_cannot_be_run_does_not_end_the_course(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = Record(tmp_path / "trust.json")
    (broken, _), (good, asked) = a_test("T1"), a_test("T2")

    def refuse(*_: object) -> Outcome:
        raise RuntimeError("no compiler")

    broken.module.run = refuse
    assert run_course({"T1": broken, "T2": good}, record) == ["T1"]
    assert "could not be run: RuntimeError: no compiler" in capsys.readouterr().out
    assert (asked, list(record.read())) == ([1.0], ["T2"])


def test_a_small_run_does_not_take_the_place_of_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test, asked = a_test("T1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("trust.__main__.every_test", lambda: {"T1": test})
    for words in (["--share", "0.1"], ["--share", "0.1", "--record", "mine.json"]):
        monkeypatch.setattr("sys.argv", ["trust", *words])
        assert main() == 0
    assert asked == [0.1, 0.1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.json", "mine.md"]


def test_a_test_stops_when_its_time_is_over() -> None:
    watch = Watch(minutes=0)
    assert list(watch(range(5), "", 5)) == []
    assert watch.is_short
    assert list(Watch()(range(5), "", 5)) == [0, 1, 2, 3, 4]


def test_the_rule_of_three() -> None:
    assert (bound(1000, 0), bound(10_000, 0), bound(10, 1), bound(0, 0)) == ("0.30%", "0.03%", "", "")


def test_the_page_does_not_show_an_earlier_version_as_this_one(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    record = Record(tmp_path / "t" / "trust.json")
    record.keep(a_test("T6")[0], Outcome("T6", 900, [], 1.0, "a note"), 1.0, 7, is_short=False)
    known = record.read()
    page = as_page(known, known["T6"]["version"], ["T6", "T7"])
    assert "| T6 | does" in page
    assert "- T7: never recorded" in page
    later = as_page(known, "99.0", ["T6"])
    assert "| T6 |" not in later
    assert "a note" not in later
    assert f"- T6: last on {known['T6']['version']} ({known['T6']['date']}), 900 cases, 0 failures" in later
    assert "- T6: much" in later


def test_several_at_once_are_all_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trust.json").write_text(json.dumps({"T1": {"seconds": 1.0}, "T2": {"seconds": 5.0}}))
    begun: list[list[str]] = []

    def run(words: list[str], **_: object) -> types.SimpleNamespace:
        begun.append(words[3:])
        code = {"T2": 1, "T3": 2}.get(words[3], 0)
        return types.SimpleNamespace(returncode=code, stdout=f"{words[3]} is told\n")

    monkeypatch.setattr("trust.course.subprocess.run", run)
    record = Record(tmp_path / "trust.json")
    assert run_at_once(["T1", "T2", "T3"], record, 1, ["--seed", "7"]) == ["T2", "T3"]
    # What nobody knows begins, then what took longest.
    assert [words[0] for words in begun] == ["T3", "T2", "T1"]
    assert begun[0][1:] == ["--jobs", "1", "--seed", "7"]
    said = capsys.readouterr().out
    assert all(f"{name} is told" in said for name in ("T1", "T2", "T3"))
    assert "T3   could not be run: it ended with 2" in said


def test_every_test_says_what_it_does() -> None:
    tests = every_test()
    expected = {f"T{number}" for number in (1, *range(6, 24), 28, 29, 30)}
    assert expected <= tests.keys()
    for test in tests.values():
        assert test.title
        assert test.release >= 0


def test_a_child_that_dies_fails_its_case_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dying.py").write_text(
        "import os\n"
        "def prepare(folder, seed):\n    return seed\n"
        "def case(ready, number):\n"
        "    print('no answer')\n"
        "    if number == 1:\n        os.abort()\n"
        "    if number == 2:\n        raise ValueError('wrong')\n"
        "    return None, 'fine'\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    told: list[str] = []

    def track(items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        for item in items:
            yield item
            told.append(capsys.readouterr().err)

    found = apart.run_apart("T", "dying", range(4), 5, track)
    assert [one.startswith(f"  T ! case {number} of seed 5: ") for number, one in enumerate(told)] == [
        False,
        True,
        True,
        False,
    ]
    assert (found.cases, found.note) == (4, "2 fine")
    assert [
        "case 1 of seed 5: ended the process (-6)" in found.failures[0],
        "ValueError" in found.failures[1],
    ] == [
        True,
        True,
    ]


def test_names_are_those_of_the_page() -> None:
    """The page in docs/ is made of the record beside it."""
    record = Path(__file__).parents[2] / "docs" / "lab" / "trust.json"
    if record.exists():
        known = json.loads(record.read_text())
        assert set(known) <= every_test().keys()


def test_there_are_plants_of_every_kind() -> None:
    assert len(NAMES) > 50
    assert "all embeddings are missing" in NAMES
