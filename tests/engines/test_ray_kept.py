"""Actors that are kept between searches: by what they opened, as long as somebody may want them."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lookalike import FaceSet, Gallery, open_search
from lookalike.engines._ray_actors import Actor, Kept
from lookalike.engines.contract import Label
from lookalike.engines.ray import Ray
from lookalike.indexing.slices import SpreadSets
from lookalike.search.query import Search
from tests.engines import places
from tests.engines.places import GIVEN
from tests.small_world import small_world
from tests.waiting import until


class Bookkeeping:
    """`Kept` with numbers instead of processes."""

    def __init__(self) -> None:
        self.ended: list[int] = []
        self.started = 0
        self.kept = Kept(self.ended.append)

    def take(self, *keys: str, content: str = "", kind: str = "kind", made: str = "") -> list[Actor]:
        wanted = [
            (key.encode(), Label("whole", key[0], kind, content, made) if content else None) for key in keys
        ]
        return self.kept.take(wanted, self.start)

    def start(self, number: int) -> tuple[int, str]:
        self.started += 1
        return self.started, f"given {self.started}"

    def give_back(self, actors: Sequence[Actor], *waiting: int) -> None:
        self.kept.give_back(list(actors), list(waiting) or [0] * len(actors))


def handles(actors: Sequence[Actor]) -> list[int]:
    return [one.handle for one in actors]


def test_what_was_opened_is_handed_out_again_used_or_not() -> None:
    books = Bookkeeping()
    first = books.take("a", "b")
    assert handles(books.take("b", "c")) == [2, 3]
    books.give_back(first)
    assert handles(books.take("a")) == [1]
    assert books.ended == []


def test_two_of_the_same_that_are_wanted_together_are_two() -> None:
    books = Bookkeeping()
    assert handles(books.take("a", "a")) == [1, 2]
    assert sorted(handles(books.take("a", "a"))) == [1, 2]


def test_as_many_stay_unused_as_were_held_together() -> None:
    books = Bookkeeping()
    for keys in ("ab", "cd", "ef"):
        books.give_back(books.take(*keys))
    assert books.ended == [1, 2, 3, 4]
    assert handles(books.take("e", "f")) == [5, 6]


def test_who_still_has_work_that_nobody_waits_for_is_ended() -> None:
    books = Bookkeeping()
    first, second = books.take("a", "b"), books.take("a", "b")
    books.give_back(first, 1, 0)
    assert books.ended == [], "somebody else uses it"
    books.give_back(second, 1, 0)
    assert books.ended == [1]


def test_who_holds_what_has_changed_is_ended_when_nobody_uses_it() -> None:
    books = Bookkeeping()
    before = books.take("a-old", "b", content="old")
    after = books.take("a-new", content="new")
    assert books.ended == []
    books.give_back(before)
    assert books.ended == [1, 2]
    books.give_back(after)
    assert books.ended == [1, 2]


def test_what_they_were_given_is_kept_with_them() -> None:
    books = Bookkeeping()
    assert [one.given for one in books.take("a", "b")] == ["given 1", "given 2"]


def test_slices_of_another_kind_stay_and_those_of_another_cut_end() -> None:
    books = Bookkeeping()
    books.give_back(books.take("a1", "b1", content="now", made="2"))
    books.give_back(books.take("a2", "b2", content="now", kind="other", made="2"))
    books.kept._most = 9
    books.take("a3", "b3", "c3", content="now", made="3")
    assert books.ended == [1, 2]


def test_who_is_lost_for_good_is_not_handed_out() -> None:
    books = Bookkeeping()
    [lost] = books.take("a")
    books.kept.forget(lost)
    assert handles(books.take("a")) == [2]
    books.give_back([lost])
    assert books.ended == []


def test_who_is_not_used_any_more_ends_when_the_slice_is_opened_otherwise() -> None:
    books = Bookkeeping()
    books.give_back(books.take("a-old", content="old"))
    assert books.ended == []
    books.take("a-new", content="new")
    assert books.ended == [1]


# With processes.


@pytest.fixture(scope="module")
def engine() -> Iterator[Ray]:
    with Ray() as found:
        yield found


def test_the_same_processes_answer_again(engine: Ray) -> None:
    with engine.hold(places.opened, GIVEN) as residents:
        before = residents.ask_all(places.process)
        assert len(set(before)) == 2
    dropped = engine.hold(places.opened, GIVEN)
    assert dropped.ask_all(places.process) == before
    del dropped
    gc.collect()
    with engine.hold(places.opened, GIVEN) as residents:
        assert residents.ask_all(places.process) == before
        with engine.hold(places.opened, GIVEN) as others:
            assert others.ask_all(places.process) == before


def test_all_end_with_the_engine() -> None:
    """Also if Ray itself goes on, since somebody else started it."""
    with Ray() as outer, outer.hold(places.opened, GIVEN[:1]) as theirs:
        with Ray() as inner:
            own = inner.hold(places.opened, GIVEN).ask_all(places.process)
        until(lambda: not any(map(is_there, own)))
        assert theirs.ask_all(places.total, 1.0) == [3.0]


def is_there(process: int) -> bool:
    """Whether a process runs; one that has ended and is not buried yet does not."""
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Gallery(tmp_path / "one.gallery", create=True) as gallery:
        for one in small_world(people=6, sets=4, faces=3)[0]:
            gallery.add(one)
    return tmp_path / "one.gallery"


def held(search: Search) -> SpreadSets:
    assert isinstance(search.tables.sets, SpreadSets)
    return search.tables.sets


def processes(search: Search) -> list[int]:
    return held(search).residents.ask_all(places.process)


def test_slices_of_a_gallery_are_opened_again_when_it_has_changed(path: Path) -> None:
    new = FaceSet("new", small_world(people=2, seed=9)[0][0].faces)
    with Ray(slices=3) as engine, Gallery(path) as gallery:
        first = open_search(gallery, reranker="baseline", engine=engine)
        again = open_search(gallery, reranker="baseline", engine=engine)
        before = processes(first)
        assert processes(again) == before
        gallery.add(new)
        search = open_search(gallery, reranker="baseline", engine=engine)
        after = processes(search)
        assert not set(before) & set(after)
        assert new.id not in first.find(new).ids, "what is held does not change"
        assert (
            search.find(new.id).to_dict() == open_search(gallery, reranker="baseline").find(new.id).to_dict()
        )
        del first, again
        gc.collect()
        until(lambda: not any(map(is_there, before)))
        assert all(map(is_there, after))


def test_a_slice_that_is_lost_after_a_change_answers_as_before(path: Path) -> None:
    with Ray(slices=3) as engine, Gallery(path) as gallery:
        search = open_search(gallery, reranker="baseline", engine=engine)
        query = FaceSet("outside", small_world(people=2, seed=9)[0][0].faces)
        expected = search.find(query).to_dict()
        gallery.add(FaceSet("new", query.faces))
        os.kill(processes(search)[1], signal.SIGKILL)
        assert search.find(query).to_dict() == expected
        assert open_search(gallery, reranker="baseline", engine=engine).find(query).answers[0].id == "new"


def test_a_search_that_is_opened_again_asks_nothing(path: Path) -> None:
    with Ray(slices=3) as engine, Gallery(path) as gallery:
        open_search(gallery, reranker="baseline", engine=engine)
        again = open_search(gallery, reranker="baseline", engine=engine)
        assert held(again).residents.traffic.messages == 0
