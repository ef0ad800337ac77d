"""What is known of a question: as all decisions say together, with a reason for each set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lookalike import FaceSet, Gallery
from lookalike.errors import Conflict, LookalikeError
from lookalike.faceset import Sighting
from lookalike.gallery.decisions import judge, judged, merge, name, undo
from lookalike.gallery.people import said
from lookalike.ranking import Decided
from lookalike.search.decided import GIVEN, NOTHING, known_of

IDS = [f"set-{number}" for number in range(8)]


def one(set_id: str, *times: float) -> FaceSet:
    seen = [Sighting((0.0, 0.0, 9.0, 9.0), 0.9, 1.0, 1.0, 0.0, time) for time in times]
    return FaceSet(set_id, np.eye(max(2, len(times)), 4)[: max(1, len(times))], "film.mp4", sightings=seen)


@pytest.fixture
def gallery(tmp_path: Path):  # type: ignore[no-untyped-def]
    with Gallery(tmp_path / "g.gallery", create=True) as opened:
        opened.add_together(
            [one("set-0", 1, 2, 3), one("set-1", 3), one("set-2", 9), *(one(each) for each in IDS[3:])],
            [("set-0", "set-1"), ("set-0", "set-2"), ("set-0", "set-3")],
        )
        yield opened


def reasons(known: tuple[Decided, ...]) -> dict[str, str]:
    return {each.id: each.reason for each in known}


def test_every_set_has_its_reason(gallery: Gallery) -> None:
    [decision] = judge(gallery, "set-4", ["set-0"], "different")
    day = decision.decision.made[:10]
    known = known_of(gallery, "set-0")
    assert known.confirmed == ()
    assert reasons(known.rejected) == {
        "set-1": "seen in one frame at 00:00:03.0",
        "set-2": "seen in one frame",
        "set-3": "seen in one picture",
        "set-4": f"you said different on {day}",
    }
    name(gallery, ["set-4", "set-5"], "Ben")
    judge(gallery, "set-0", ["set-6"], "same")
    known = known_of(gallery, "set-0")
    assert reasons(known.confirmed) == {"set-6": f"you said same on {day}"}
    assert reasons(known.rejected)["set-5"] == f"you said different on {day}; named Ben"
    through = known_of(gallery, "set-6")
    assert reasons(through.rejected)["set-1"] == "seen in one frame at 00:00:03.0 (set-0 and set-1)"
    assert known.why("set-6") == Decided("set-6", f"you said same on {day}")
    assert known.why("set-7") is None


def test_nothing_is_known_of_faces_from_outside(gallery: Gallery) -> None:
    assert known_of(gallery, None) == NOTHING
    with_set = known_of(gallery, None, ["set-0"], ["set-7"])
    assert reasons(with_set.confirmed) == {"set-0": GIVEN}
    assert set(reasons(with_set.rejected)) == {"set-1", "set-2", "set-3", "set-7"}
    assert reasons(with_set.rejected)["set-7"] == GIVEN


def test_those_who_ask_together_may_not_be_known_to_be_two(gallery: Gallery) -> None:
    with pytest.raises(Conflict, match=r"'set-1' is known to show somebody else \(seen in one frame at"):
        known_of(gallery, "set-0", ["set-1"])
    with pytest.raises(Conflict, match="'set-0' is known to show somebody else"):
        known_of(gallery, "set-0", (), ["set-0"])


Step = tuple[str, int, int]
steps = st.lists(
    st.tuples(
        st.sampled_from(["same", "different", "unsure", "name", "merge", "undo"]),
        st.integers(0, len(IDS) - 1),
        st.integers(0, len(IDS) - 1),
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_it_is_what_all_decisions_say_together(gallery: Gallery, history: list[Step]) -> None:
    while undo(gallery) is not None:
        pass
    for kind, first, second in history:
        try:
            if kind == "undo":
                undo(gallery)
            elif kind == "name":
                name(gallery, [IDS[first]], f"person {second}")
            elif kind == "merge":
                people = sorted(said(gallery).people)
                if len(people) > 1:
                    merge(gallery, people[first % len(people)], people[second % len(people)])
            else:
                judge(gallery, IDS[first], [IDS[second]], kind)
        except LookalikeError:
            continue
    everything = judged(gallery)
    for each in IDS:
        known = known_of(gallery, each)
        assert list(reasons(known.confirmed)) == everything.confirmed(each)
        assert list(reasons(known.rejected)) == everything.rejected(each)
        assert all((*reasons(known.confirmed).values(), *reasons(known.rejected).values()))
