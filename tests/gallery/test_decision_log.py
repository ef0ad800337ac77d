"""Decisions on disk: stored whole, remembered, checked when read, gone with their sets; and names."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from lookalike.errors import BadInput, Conflict, GalleryUnreadable, NotFound
from lookalike.faceset import Sighting
from lookalike.gallery import decisions, schema
from lookalike.gallery.backup import backup, restore
from lookalike.gallery.decision_log import LONGEST_NAME, Decision, checked_name, draft
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.verify import verify
from tests.gallery import children
from tests.gallery.samples import (
    a_file,
    a_set,
    edit,
    raw,
    sightings,
    write_format_1,
    write_format_2,
    write_format_4,
)
from tests.waiting import PATIENCE

CANARY = "Canary-Quetzalcoatl"


def fill(gallery: Gallery, ids: str = "abcd") -> Gallery:
    for number, id in enumerate(ids):
        gallery.add(a_set(id, number))
    return gallery


def same(*sets: str):
    return lambda log, apart: [draft("same", sets)]


def test_what_was_decided_is_read_back(gallery: Gallery, path: Path) -> None:
    fill(gallery)
    given = [
        draft("same", ("b", "a")),
        draft("name", ("d", "a", "b"), None, "Zoë 名"),
        draft("undo", other=1),
    ]
    made = gallery.decide(lambda log, apart: given)
    assert [one.number for one in made] == [1, 2, 3]
    assert [replace(one, number=0, made="") for one in made] == given
    assert made[0].made.endswith("+00:00")
    expected = [replace(made[0], undone=True), *made[1:]]
    assert gallery.decisions() == expected
    with Gallery(path) as again:
        assert again.decisions() == expected


def refused(gallery: Gallery) -> None:
    """Decide something, and then what cannot be decided."""
    with gallery.deciding("nightly") as log:
        decisions.judge(log, "a", ["b"], "unsure")
        decisions.judge(log, "a", ["nowhere"], "same")


def test_a_decision_knows_the_key_it_was_made_with(gallery: Gallery, path: Path) -> None:
    """Its checksum does not: what was decided before there were keys stays as it is."""
    fill(gallery)
    decisions.judge(gallery, "a", ["b"], "same")
    with gallery.deciding("nightly") as log:
        decisions.judge(log, "a", ["c", "d"], "different")
        assert [one.by for one in log.new] == ["nightly", "nightly"]
    with gallery.deciding("nightly"):
        pass  # decides nothing, so nothing is told of it
    with pytest.raises(NotFound):
        refused(gallery)
    told = [("same", ""), ("different", "nightly"), ("different", "nightly")]
    for opened in (gallery, Gallery(path)):
        assert [(one.kind, one.by) for one in opened.decisions()] == told
        [event] = opened.events()
        assert (event.kind, event.said) == ("decided", {"by": "nightly", "decisions": [2, 3]})
    opened.close()
    edit(path, "DELETE FROM events")
    with Gallery(path) as again:
        assert [one.by for one in again.decisions()] == ["", "", ""]
    assert verify(path) == []


@pytest.mark.parametrize(
    "said",
    [
        "{}",
        "no JSON",
        "[1]",
        '{"by": 7, "decisions": [1]}',
        '{"by": "x", "decisions": 1}',
        '{"by": "x", "decisions": ["1", null]}',
    ],
)
def test_what_says_no_key_is_no_key(said: str, gallery: Gallery, path: Path) -> None:
    fill(gallery).decide(same("a", "b"))
    [made] = {one.made for one in gallery.decisions()}
    gallery.close()
    edit(path, f"INSERT INTO events (made, kind, said) VALUES ('{made}', 'decided', '{said}')")
    with Gallery(path) as again:
        assert [one.by for one in again.decisions()] == [""]


def test_a_number_that_is_given_again_after_a_restore_has_no_key(gallery: Gallery, path: Path) -> None:
    fill(gallery)
    saved = backup(gallery, path.with_name("saved")).path
    with gallery.deciding("nightly") as log:
        decisions.judge(log, "a", ["b"], "same")
    gallery.close()
    restore(saved, path, replace=True)
    with Gallery(path) as again:
        assert [event.kind for event in again.events()] == ["decided", "restore"]
    edit(path, "UPDATE events SET made = '2020-01-01T00:00:00+00:00' WHERE kind = 'decided'")  # long ago
    with Gallery(path) as again:
        decisions.judge(again, "c", ["d"], "same")
        assert [(one.number, one.by) for one in again.decisions()] == [(1, "")]


def test_who_decides_sees_all_that_was_decided(gallery: Gallery, path: Path) -> None:
    fill(gallery).keep_file(a_file(), [a_set("e", 9)], apart=[("e", "a")])
    seen = []

    def look(log: list[Decision], apart: list[tuple[str, str]]) -> list[Decision]:
        seen.append((len(log), apart))
        return [draft("same", ("a", "b"))]

    with Gallery(path) as other:
        for each in (gallery, other, gallery, gallery):
            each.decide(look)
    assert seen == [(number, [("a", "e")]) for number in range(4)]


def test_a_refusal_leaves_nothing(gallery: Gallery) -> None:
    fill(gallery).decide(same("a", "b"))
    before = gallery.decisions()

    def refuse(log: list[Decision], apart: list[tuple[str, str]]) -> list[Decision]:
        raise Conflict("no")

    with pytest.raises(Conflict, match="no"):
        gallery.decide(refuse)
    with pytest.raises(NotFound, match="has no set 'x'"):
        gallery.decide(lambda log, apart: [draft("same", ("a", "c")), draft("same", ("a", "x"))])
    assert gallery.decisions() == before
    assert gallery.decide(same("c", "d"))[0].number == 2


def test_unchanged_answers_are_the_same_objects(gallery: Gallery) -> None:
    fill(gallery).keep_file(a_file(), [a_set("e", 9)], apart=[("e", "a")])
    gallery.decide(same("a", "b"))
    contents = gallery.contents()
    log, apart = gallery.judgements()
    gallery.add(a_set("f", 10))
    assert all(one is other for one, other in zip(gallery.judgements(), (log, apart), strict=True))
    gallery.decide(same("c", "d"))
    assert gallery.judgements()[0] is not log
    assert gallery.judgements()[1] is apart
    assert gallery.contents().keys() == {*contents, "f"}


def test_a_decision_does_not_make_others_read_again(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(gallery).decide(same("a", "b"))
    before = gallery.fingerprint()
    gallery.judgements()
    for name in ("set_rows.contents", "decision_log.everything", "media.pairs_apart"):
        monkeypatch.setattr(f"lookalike.gallery.{name}", lambda *_: pytest.fail("read again"))
    gallery.decide(same("c", "d"))
    assert len(gallery.decisions()) == 2
    assert gallery.fingerprint() == before


def test_a_commit_that_fails_is_not_remembered(gallery: Gallery, path: Path) -> None:
    code = """
    import resource
    from lookalike.gallery.decision_log import draft
    with Gallery(sys.argv[1]) as gallery:
        gallery.judgements()
        many = [draft("name", ("a",), None, "x" * 5000)] * 200
        try:
            gallery.decide(lambda log, apart: many)
        except LookalikeError as error:
            print(type(error).__name__, len(gallery.decisions()))
    """
    fill(gallery)
    gallery.close()
    said = children.run(code, path, before=children.small_files(path.stat().st_size + 50_000))
    assert said == "StorageFailed 0"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE decisions SET name = 'Bea' WHERE number = 2",
        "UPDATE decisions SET kind = 'different' WHERE number = 1",
        "UPDATE decisions SET person = 1 WHERE number = 2",
        "UPDATE decisions SET made = '2020' WHERE number = 1",
        "UPDATE decisions SET checksum = 7 WHERE number = 1",
        "UPDATE decisions SET number = 9 WHERE number = 2",
        "DELETE FROM decision_sets WHERE decision = 1 AND position = 0",
        "UPDATE decision_sets SET set_id = 'd' WHERE decision = 1 AND position = 0",
        "UPDATE decision_sets SET set_id = 'nobody' WHERE decision = 1 AND position = 0",
        "UPDATE decisions SET name = x'ff' WHERE number = 2",
        "DELETE FROM decisions WHERE number = 1",
        "UPDATE sets SET id = 'z' WHERE id = 'a'",
    ],
)
def test_damage_is_noticed(gallery: Gallery, path: Path, statement: str) -> None:
    fill(gallery).decide(same("a", "b"))
    gallery.decide(lambda log, apart: [draft("name", ("a", "c"), None, "Anna")])
    gallery.close()
    edit(path, statement)
    with pytest.raises(GalleryUnreadable, match="damaged"), Gallery(path) as damaged:
        damaged.decisions()


@pytest.mark.parametrize("statement", ["DROP TABLE decisions", "DROP TABLE decision_sets"])
def test_missing_tables_are_noticed(gallery: Gallery, path: Path, statement: str) -> None:
    gallery.close()
    edit(path, statement)
    with pytest.raises(GalleryUnreadable, match="damaged or is not a gallery"):
        Gallery(path)


def test_removal_leaves_no_byte_of_a_name(gallery: Gallery, path: Path) -> None:
    fill(gallery)
    person = decisions.name(gallery, ["a", "b"], CANARY)
    decisions.rename(gallery, person.number, f"{CANARY}-2")
    decisions.name(gallery, ["c"], "Somebody-Else")
    decisions.undo(gallery, decisions.name(gallery, ["d"], f"{CANARY}-3").number)
    decisions.judge(gallery, "a", ["c"], "different")
    gallery.remove(["a"])
    assert CANARY.encode() in raw(path)  # b is still called so
    gallery.remove(["b", "d"])
    gallery.close()
    assert CANARY.encode() not in raw(path)
    with Gallery(path) as again:
        assert [one.name for one in again.decisions()] == ["Somebody-Else"]


def test_numbers_are_not_used_again(gallery: Gallery) -> None:
    fill(gallery)
    first = decisions.name(gallery, ["a"], "Anna").number
    gallery.remove(["a"])
    assert decisions.name(gallery, ["b"], "Bea").number > first


def test_two_processes_decide_at_once(gallery: Gallery, path: Path) -> None:
    """Both name the same ten sets: one makes each person, the other finds them there."""
    code = """
    from lookalike.gallery import decisions as judging
    with Gallery(sys.argv[1]) as gallery:
        for number in range(10):
            judging.name(gallery, [f"s{number}"], f"Person {number}")
            judging.judge(gallery, f"s{number}", [f"{sys.argv[2]}{number}"], "same")
    """
    for number in range(10):
        for kind in "sxy":
            gallery.add(a_set(f"{kind}{number}", 10 * number + ord(kind)))
    workers = [children.start(code, path, kind) for kind in "xy"]
    for worker in workers:
        _, err = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 0, err
    people = decisions.judged(gallery).people.values()
    assert {one.name: one.sets for one in people} == {
        f"Person {number}": (f"s{number}", f"x{number}", f"y{number}") for number in range(10)
    }
    assert [one.number for one in gallery.decisions()] == list(range(1, 31))


def test_threads_decide_at_once(gallery: Gallery) -> None:
    fill(gallery, "abcdefghij")

    def work(query: str) -> None:
        for target in "fghij":
            decisions.judge(gallery, query, [target], "unsure")
            decisions.judged(gallery)

    threads = [threading.Thread(target=work, args=(query,)) for query in "abcde"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log = gallery.decisions()
    assert [one.number for one in log] == list(range(1, 26))
    assert len({one.sets for one in log}) == 25


# Older galleries.


def test_format_1_holds_no_decisions_until_the_first(path: Path) -> None:
    write_format_1(path, [a_set("a", 1), a_set("b", 2)])
    before = path.read_bytes()
    with Gallery(path) as gallery:
        assert (gallery.decisions(), gallery.judgements()) == ([], ((), ()))
        assert decisions.judged(gallery).people == {}
        assert {one.good for one in gallery.listing()} == {None}
    assert path.read_bytes() == before
    with Gallery(path) as gallery:
        decisions.judge(gallery, "a", ["b"], "same")
        assert gallery.facts()["format"] == schema.FORMAT
    with Gallery(path) as gallery:
        assert decisions.judged(gallery).confirmed("a") == ["b"]
        assert {one.good for one in gallery.listing()} == {None}


def weak(one: Sighting) -> Sighting:
    return replace(one, sharpness=0.01)


def test_format_2_keeps_everything_and_learns_how_good_faces_are(path: Path) -> None:
    seen = sightings(3)
    sets = [
        a_set("a", 1, sightings=[weak(seen[0]), seen[1], seen[2]]),
        a_set("b", 2, sightings=[weak(each) for each in seen]),
        a_set("c", 3),
    ]
    write_format_2(path, sets, ("a", "b"))
    before = path.read_bytes()
    with Gallery(path) as gallery:
        assert gallery.facts()["format"] == 2
        assert [one.good for one in gallery.listing()] == [None] * 3
        assert gallery.judgements() == ((), (("a", "b"),))
    assert path.read_bytes() == before
    with Gallery(path) as gallery:
        decisions.judge(gallery, "a", ["c"], "same")
        with pytest.raises(Conflict, match="seen at the same time"):
            decisions.judge(gallery, "b", ["c"], "same")
        assert [one.good for one in gallery.listing()] == [2, 0, None]
        assert gallery.get("a").sightings == sets[0].sightings
        assert gallery._opened.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        gallery.remove(["a"])
        assert gallery.judgements() == ((), ())


def test_format_2_becomes_what_a_new_one_is(path: Path) -> None:
    asked = "SELECT name, sql FROM sqlite_schema ORDER BY name"
    write_format_2(path, [a_set("a", 1), a_set("b", 2)], ("a", "b"))
    with Gallery(path) as gallery, Gallery(path.parent / "new", create=True) as new:
        gallery.add(a_set("c"))
        tables = [each._opened.connection.execute(asked).fetchall() for each in (gallery, new)]
    assert tables[0] == tables[1]


def test_a_damaged_sighting_does_not_stop_the_change(path: Path) -> None:
    write_format_2(path, [a_set("a", 1, sightings=sightings(3)), a_set("b", 2)], ("a", "b"))
    edit(
        path,
        "UPDATE sightings SET said = 'nonsense' WHERE face = 1",
        "UPDATE sightings SET said = 7 WHERE face = 2",
    )
    with Gallery(path) as gallery:
        gallery.add(a_set("c", 3))
        assert [one.good for one in gallery.listing()] == [1, None, None]
        with pytest.raises(GalleryUnreadable, match="sightings of set 'a'"):
            gallery.get("a")


def test_good_faces_grow_with_the_set(gallery: Gallery) -> None:
    seen = sightings(3)
    gallery.keep_file(a_file("1"), [a_set("a", 1, sightings=[weak(seen[0]), *seen[1:]])])
    assert next(gallery.listing()).good == 2
    gallery.keep_file(a_file("2"), [], [a_set("a", 2, sightings=[*seen[:2], weak(seen[2])])])
    assert next(gallery.listing()).good == 4


def test_the_files_of_a_set(gallery: Gallery) -> None:
    gallery.keep_file(a_file("2"), [a_set("a", 1), a_set("b", 2)])
    gallery.keep_file(a_file("1"), [], [a_set("a", 3)])
    assert [[one.path for one in gallery.files_of(id)] for id in "ab"] == [
        ["/films/1", "/films/2"],
        ["/films/2"],
    ]
    with pytest.raises(NotFound, match="no set 'x'"):
        gallery.files_of("x")
    several = gallery.files_of_sets(["b", "x", "a"])
    assert list(several) == ["b", "a"]
    assert several == {"a": gallery.files_of("a"), "b": gallery.files_of("b")}
    with pytest.raises(BadInput, match="as a list"):
        gallery.files_of_sets("ab")


def test_where_the_files_of_all_sets_lie(gallery: Gallery) -> None:
    gallery.keep_file(a_file("10"), [a_set("a", 1), a_set("b", 2)])
    gallery.keep_file(a_file("9"), [], [a_set("a", 3)])
    gallery.add(a_set("c", 4))
    whole = {"a": ["/films/9", "/films/10"], "b": ["/films/10"]}
    assert gallery.paths() == whole
    assert gallery.paths(["c", "a"]) == {"c": [], "a": whole["a"]}
    with pytest.raises(NotFound, match="no set 'x'"):
        gallery.paths(["x"])


def test_the_sets_of_a_file(gallery: Gallery) -> None:
    gallery.keep_file(a_file("2"), [a_set("b", 1), a_set("a", 2)])
    gallery.keep_file(a_file("1"), [a_set("c", 4)], [a_set("a", 3)])
    assert [gallery.sets_of(one.content) for one in gallery.files()] == [["a", "c"], ["a", "b"]]
    assert gallery.sets_of("0" * 64) == gallery.sets_of("\udce9") == []


def test_the_files_of_a_set_follow_every_change(gallery: Gallery) -> None:
    gallery.keep_file(a_file("1"), [a_set("a", 1)])
    assert [one.path for one in gallery.files_of("a")] == ["/films/1"]
    gallery.keep_file(a_file("2"), [], [a_set("a", 2)])
    assert [one.path for one in gallery.files_of("a")] == ["/films/1", "/films/2"]
    with Gallery(gallery.path) as other:
        other.keep_file(a_file("3"), [], [a_set("a", 3)])
    assert [one.path for one in gallery.files_of("a")] == ["/films/1", "/films/2", "/films/3"]
    gallery.files_of("a").clear()
    assert len(gallery.files_of("a")) == 3


def test_format_4_names_rows_and_becomes_one_that_names_ids(path: Path) -> None:
    """Ids in another order than the numbers of their rows."""
    write_format_4(path, [a_set(one, seed) for seed, one in enumerate("cab")], ("b", "c"))
    assert verify(path) == []
    before = path.read_bytes()

    def said(gallery: Gallery) -> list[object]:
        return [gallery.judgements(), gallery.contents(), [one.id for one in gallery.sets()]]

    with Gallery(path) as gallery:
        assert gallery.facts()["format"] == 4
        told = said(gallery)
        assert [(one.kind, one.sets) for one in told[0][0]] == [
            ("different", ("b", "c")),
            ("name", ("b", "c")),
        ]
        assert told[0][1] == (("b", "c"),)
    assert path.read_bytes() == before
    with Gallery(path) as gallery:
        gallery.set_hint("model_file", "x")
        assert gallery.facts()["format"] == schema.FORMAT
        assert said(gallery) == told
    assert verify(path) == []
    with Gallery(path) as gallery:
        gallery.remove(["c"])
        assert gallery.apart() == []
        assert [(one.kind, one.sets) for one in gallery.decisions()] == [("name", ("b",))]


# Names.


@pytest.mark.parametrize(
    ("decision", "makes"),
    [
        (draft("name", ("a",), None, "Anna"), True),
        (draft("name", ("a",), 3, "Anna"), False),
        (draft("split", ("a",), 3, "Anna"), True),
        (draft("split", ("a",), 3), False),
        (draft("rename", (), 3, "Anna"), False),
        (draft("same", ("a", "b")), False),
    ],
)
def test_who_makes_a_person(decision: Decision, makes: bool) -> None:
    assert decision.makes_person is makes


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("  Anna \t Maria ", "Anna Maria"),
        ("A\u030angstro\u0308m", "\u00c5ngstr\u00f6m"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("نیک\u200cنام", "نیک\u200cنام"),
        ("x" * LONGEST_NAME, "x" * LONGEST_NAME),
        ("\u200bx", "\u200bx"),
        ("?", "?"),
        ("7", "7"),
        ("\u0e01\u0e34", "\u0e01\u0e34"),
        ("\U0001f469\u200d\U0001f680", "\U0001f469\u200d\U0001f680"),
        ("1\ufe0f\u20e3", "1\ufe0f\u20e3"),
        ("\ue000", "\ue000"),
    ],
)
def test_names_as_they_are_kept(given: str, kept: str) -> None:
    assert checked_name(given) == kept


@pytest.mark.parametrize(
    "given",
    [
        "",
        " \n ",
        "x" * (LONGEST_NAME + 1),
        "a\x00b",
        "a\x1bb",
        "\ud800",
        "a\u202eb",
        "\u2066a",
        "a\u2069",
        "\u200b",
        "\u200d\u2060",
        "\u00ad",
        "\ufeff",
        "\u00a0\u2003",
        "\u3000",
        "\u0301",
        " \u0489\ufe0f ",
        "\u0903",
        "\u3164",
        "\uffa0\u115f\u1160",
        "\u2800 \u2800",
        "\U000e0041",
        7,
        None,
    ],
)
def test_what_is_no_name(given: object) -> None:
    with pytest.raises(BadInput, match="a name"):
        checked_name(given)


def test_what_cannot_be_seen_is_written_out() -> None:
    with pytest.raises(BadInput, match=r"a letter that can be seen, got '\\u200b\\u0301'"):
        checked_name("\u200b\u0301")
