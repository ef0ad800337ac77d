"""A collection in several files says to every question what one file with the same sets says."""

from __future__ import annotations

import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, judging, open_gallery
from lookalike.collection.barred import of_person
from lookalike.collection.leaving import Gone
from lookalike.errors import BadInput, LookalikeError
from tests.collection import children
from tests.collection.samples import a_file, a_set, sightings
from tests.shards import answers, empty_collection

SHARDS = (1, 2, 3, 7)


def film(name: str, count: int = 2, seed: int = 0) -> list[FaceSet]:
    return [a_set(f"{name}#{n}", seed + n, sightings=sightings()) for n in range(1, count + 1)]


# One step after the other; those in words are to be refused, with that sentence.
STEPS: list[tuple[str, Callable[[Gallery], object]]] = [
    ("", lambda g: g.set_hint("model_file", "/models/x")),
    ("", lambda g: [g.add(a_set(one, seed, origin="o"), "kind") for seed, one in enumerate("cadbefz")]),
    ("", lambda g: g.add(a_set("a", 1), "kind")),
    ("already has a set 'a'", lambda g: g.add(a_set("a", 99), "kind")),
    ("made by 'kind', set 'n' was made by 'other'", lambda g: g.add(a_set("n"), "other")),
    ("faces of 4 numbers, those of set 'n' have 5", lambda g: g.add(a_set("n", dimension=5), "kind")),
    (
        "",
        lambda g: g.keep_file(
            a_file("1.mp4"), film("1.mp4", 3), apart=[("1.mp4#1", "1.mp4#2")], descriptor="kind"
        ),
    ),
    (
        "",
        lambda g: g.keep_file(
            a_file("2.mp4"), film("2.mp4", 2, 9), apart=[("2.mp4#2", "a")], descriptor="kind"
        ),
    ),
    ("", lambda g: g.keep_file(a_file("nobody.mp4", remark="nobody"), [])),
    ("", lambda g: g.keep_file(a_file("nobody.mp4", size=77), [])),
    ("", lambda g: g.keep_file(a_file("1.mp4", changed=5), film("1 again.mp4"), descriptor="kind")),
    ("", lambda g: g.keep_file(a_file("3.jpg"), [], film("1.mp4", 1, 50), descriptor="kind")),
    ("no set 'x#1' among its 12 sets", lambda g: g.keep_file(a_file("4"), [], film("x"), descriptor="kind")),
    (
        "no set 'y' among its",
        lambda g: g.keep_file(a_file("4"), film("x"), apart=[("x#1", "y")], descriptor="kind"),
    ),
    (
        "",
        lambda g: g.add_together(
            [a_set("t1#1", 31), a_set("t2#1", 32)], [("t1#1", "t2#1"), ("t2#1", "b")], "kind"
        ),
    ),
    ("already has a set 'c'", lambda g: g.add_together([a_set("t3", 33), a_set("c", 88)], [], "kind")),
    (
        "no set 'nobody'",
        lambda g: g.add_together([a_set("t3", 33), a_set("t4", 3)], [("t3", "nobody")], "kind"),
    ),
    ("", lambda g: judging.name(g, ["a", "b"], "Anna")),
    ("", lambda g: judging.judge(g, "a", ["c", "1.mp4#3"], "same")),
    ("seen at the same time", lambda g: judging.judge(g, "1.mp4#1", ["1.mp4#2"], "same")),
    ("", lambda g: judging.judge(g, "z", ["d"], "different")),
    ("", lambda g: judging.undo(g)),
    ("", lambda g: judging.rename(g, 1, "Anne")),
    ("no set 'nobody' among its 14 sets", lambda g: judging.judge(g, "a", ["nobody"], "same")),
    (
        "",
        lambda g: g.describe(
            "second", [(one, np.eye(3, 5) + seed) for seed, one in enumerate(["a", "z", "1.mp4#2"])]
        ),
    ),
    ("5 numbers made by 'second', those given have 6", lambda g: g.describe("second", [("b", np.eye(3, 6))])),
    ("has 3 faces, 2 were described", lambda g: g.describe("second", [("b", np.eye(2, 5))])),
    ("no set 'nobody'", lambda g: g.describe("second", [("nobody", np.eye(2, 5))])),
    ("described by 'kind' already", lambda g: g.describe("kind", [("a", np.eye(3, 5))])),
    ("are not described by 'second'", lambda g: g.use("second")),
    ("no vectors made by 'third'", lambda g: g.use("third")),
    (
        "",
        lambda g: g.describe(
            "second",
            [
                (one, np.random.default_rng(5).normal(size=(len(g.get(one)), 5)))
                for one in g.undescribed("second")
            ],
        ),
    ),
    ("", lambda g: g.use("second")),
    ("", lambda g: g.use("second")),
    ("", lambda g: g.use("kind")),
    ("no set 'nobody'", lambda g: g.remove(["a", "nobody"])),
    ("", lambda g: g.remove(["2.mp4#2", "d"])),
    ("", lambda g: g.forget(["1.mp4#2", "b"], bar=True)),
    ("must not enter", lambda g: g.add(a_set("b again", 3), "kind")),
    (
        "was forgotten and must not enter",
        lambda g: (
            g.remove(["1.mp4#1", "1.mp4#3"]),
            g.keep_file(a_file("1.mp4"), film("1.mp4"), descriptor="kind"),
        ),
    ),
    ("", lambda g: g.forget(["c"], people=[of_person([g.get("c").faces], "kind", 0.9)])),
    ("", lambda g: g.unbar(1)),
    ("", lambda g: g.add(a_set("b again", 3), "kind")),
    ("", lambda g: g.set_hint("model_file", "/models/y")),
    ("", lambda g: g.remove(g.ids())),
    ("", lambda g: g.add(a_set("a", 1, dimension=7), "another")),
]


@pytest.fixture
def galleries(path: Path) -> Iterator[list[Gallery]]:
    opened = [Gallery(path, create=True)]
    opened += [open_gallery(empty_collection(path.parent / f"d{number}", number)) for number in SHARDS]
    yield opened
    for one in opened:
        one.close()


def test_every_question_after_every_step(galleries: list[Gallery]) -> None:
    plain, *sharded = galleries
    for number, (refused, step) in enumerate(STEPS):
        told = []
        for one in galleries:
            try:
                done = step(one)
                told.append(str(done) if isinstance(done, Gone) else "")
            except LookalikeError as reason:
                told.append(str(reason).replace(str(one.path), "G"))
        assert refused in told[0], f"step {number}"
        assert refused or not told[0] or told[0].startswith("Gone(")
        expected = answers(plain)
        for one, said in zip(sharded, told[1:], strict=True):
            assert said == told[0], f"step {number} of {len(one.shards)} shards"
            if len(one.shards) != 3 and number % 8 and number != len(STEPS) - 1:
                continue  # to be quick
            found = answers(one)
            for question, answer in expected.items():
                if question == "listing" or question == "snapshot" or question == "some":
                    continue  # times may differ by a second
                assert found[question] == answer, f"{question} after step {number}, {len(one.shards)} shards"
            assert [each._replace(added="") for each in found["listing"]] == [
                each._replace(added="") for each in expected["listing"]
            ]
            for set_id in one.ids():
                assert set_id in one.shards[one.shard_of(set_id)]


def test_two_processes_bring_first_sets_of_two_kinds(path: Path) -> None:
    """Into different shards at once: one kind wins, the other is refused in the usual sentence."""
    code = """
    import time
    from lookalike import open_gallery
    with open_gallery(sys.argv[1]) as gallery:
        time.sleep(max(0, float(sys.argv[3]) - time.time()))
        for number in range(5):
            try:
                gallery.add(FaceSet(f"{sys.argv[2]} {number}", faces(number)), sys.argv[2])
            except LookalikeError as error:
                print(type(error).__name__, "|", error)
    """
    empty_collection(path, 7)
    start = time.time() + 2.5
    workers = [children.start(code, path, kind, start) for kind in ("one", "other")]
    said = [worker.communicate(timeout=600)[0] for worker in workers]
    assert sorted(len(one.splitlines()) for one in said) == [0, 5]
    lost = max(said)
    assert lost.startswith(f"Conflict | {path} holds faces made by ")
    with open_gallery(path) as gallery:
        assert len(gallery) == 5
        assert {one.descriptor for one in gallery.shards} <= {gallery.descriptor, None}


def test_two_processes_keep_the_same_film_under_two_names(path: Path) -> None:
    code = """
    import time
    from lookalike import open_gallery
    from tests.collection.samples import a_file
    with open_gallery(sys.argv[1]) as gallery:
        time.sleep(max(0, float(sys.argv[3]) - time.time()))
        for number in range(8):
            gallery.keep_file(a_file(f"{number}"), [FaceSet(f"{sys.argv[2]}{number}#1", faces(number))])
    """
    empty_collection(path, 5)
    start = time.time() + 2.5
    workers = [
        children.start("sys.path.insert(0, '.')\n" + textwrap.dedent(code), path, one, start) for one in "xy"
    ]
    for worker in workers:
        _, err = worker.communicate(timeout=600)
        assert worker.returncode == 0, err
    with open_gallery(path) as gallery:
        assert gallery.facts()["files"] == len(gallery.files()) == len(gallery) == 8


def test_readers_see_removals_wholly_or_not_at_all(path: Path) -> None:
    """While a thread removes and adds pairs of sets that lie in different shards."""
    empty_collection(path, 5)
    ends = threading.Event()
    pair = ["a", "b"]
    with open_gallery(path) as gallery, open_gallery(path) as other:
        gallery.add(a_set("stays"))

        def change() -> None:
            for _ in range(15):
                gallery.add_together([a_set(one) for one in pair])
                gallery.remove(pair)
            ends.set()

        thread = threading.Thread(target=change)
        thread.start()
        seen = set()
        while not ends.is_set():
            seen.add(tuple(other.ids()))
            assert len([one.id for one in other.sets()]) in (1, 3)
        thread.join()
        assert len({gallery.shard_of(one) for one in pair}) == 2
    assert seen <= {("a", "b", "stays"), ("stays",)}


def test_sets_of_one_file_lie_in_one_shard(path: Path) -> None:
    empty_collection(path, 7)
    with open_gallery(path) as gallery:
        with pytest.raises(BadInput, match="the sets of one file lie in one shard, and 'a' and"):
            gallery.keep_file(a_file(), [a_set(one, seed) for seed, one in enumerate("abcd")])
        assert len(gallery) == 0
        assert gallery.files() == []
