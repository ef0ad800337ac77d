"""A collection in several files says to every question what one file with the same sets says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, judging, open_gallery
from lookalike.collection.barred import of_person
from lookalike.collection.leaving import Gone
from lookalike.errors import LookalikeError
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
