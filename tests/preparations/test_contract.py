"""The contract of a preparation, run on every part that is found."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from lookalike import registry
from lookalike.errors import BadInput
from lookalike.preparations.contract import Preparation

NAMES = registry.names("preparations")


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def faces_of(sets: int = 20, faces: int = 4, dimension: int = 12, seed: int = 0) -> list[np.ndarray]:
    """Sets of faces that are not negative, as counts are."""
    rng = np.random.default_rng(seed)
    people = rng.gamma(2.0, size=(sets, 1, dimension))
    return list((people + rng.gamma(0.5, size=(sets, faces, dimension))).astype(np.float32))


def build(name: str, **wanted: object) -> Preparation:
    known = inspect.signature(registry.part_class("preparations", name)).parameters
    return registry.part_class("preparations", name)(**{k: v for k, v in wanted.items() if k in known})


def test_what_we_promise_is_there() -> None:
    assert {"none", "whitened", "within"} <= set(NAMES)


def test_faces_become_faces(name: str) -> None:
    sets = faces_of()
    part = build(name)
    assert part.fit(iter(sets)) is part
    for faces in (*sets[:3], faces_of(seed=9)[0]):
        before = faces.copy()
        found = part.apply(faces)
        np.testing.assert_array_equal(faces, before)
        assert found.ndim == 2
        assert len(found) == len(faces)
        assert found.dtype.kind == "f"
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(part.apply(faces), found)


def test_a_face_is_prepared_alike_in_any_company(name: str) -> None:
    sets = faces_of()
    part = build(name).fit(sets)
    together = part.apply(np.concatenate(sets))
    np.testing.assert_allclose(
        together, np.concatenate([part.apply(one) for one in sets]), rtol=1e-4, atol=1e-5
    )


def test_fitting_is_deterministic(name: str) -> None:
    one, other = (build(name).fit(faces_of()) for _ in range(2))
    assert one.fingerprint() == other.fingerprint()
    assert bool(one.fingerprint()) == one.is_learnt


def test_what_was_learnt_has_a_fingerprint_of_its_own(name: str) -> None:
    part = build(name).fit(faces_of())
    if part.is_learnt:
        assert part.fingerprint() != build(name).fit(faces_of(seed=1)).fingerprint()
        other = build(name, dimension=3)
        if registry.spec(other) != registry.spec(part):
            assert part.fingerprint() != other.fit(faces_of()).fingerprint()


def test_arrays_keep_every_bit(name: str) -> None:
    part = build(name).fit(faces_of())
    arrays = part.to_arrays()
    assert bool(arrays) == part.is_learnt
    assert all(isinstance(array, np.ndarray) and not array.dtype.hasobject for array in arrays.values())
    stored = build(name)
    assert stored.from_arrays(arrays) is stored
    assert stored.fingerprint() == part.fingerprint()
    query = faces_of(seed=5)[0]
    np.testing.assert_array_equal(stored.apply(query), part.apply(query))


@pytest.mark.parametrize(
    "sets",
    [
        faces_of(1),
        faces_of(1, 1),
        faces_of(2, 1),
        faces_of(30, 1),
        faces_of(3, 2, 40),
        [faces_of(1, 1)[0].repeat(3, axis=0)] * 4,
        [faces_of(1, 1, seed=number)[0].repeat(3, axis=0) for number in range(6)],
        [np.concatenate([one, np.full((4, 2), 7.0)], axis=1) for one in faces_of()],
        [np.concatenate([one, np.zeros((4, 2))], axis=1) for one in faces_of()],
    ],
    ids=[
        "one set",
        "one face",
        "two faces",
        "one face each",
        "fewer faces than numbers",
        "one face again and again",
        "nothing varies within sets",
        "constant columns",
        "empty columns",
    ],
)
def test_odd_galleries_work_or_say_why_not(name: str, sets: list[np.ndarray]) -> None:
    part = build(name).fit(sets)
    found = part.apply(sets[0])
    assert np.isfinite(found).all()
    assert len(found) == len(sets[0])
    if part.reason_:
        assert part.reason_.endswith(("left as they are", "whitened only"))
    assert build(name).from_arrays(part.to_arrays()).fingerprint() == part.fingerprint()


def test_unknown_option_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match=f"'{name}' has no option 'colour=3': its options are "):
        registry.build("preparations", f"{name}:colour=3")


class Halved(Preparation):
    """Halves every number."""

    def apply(self, faces):  # type: ignore[no-untyped-def]
        return faces / 2


def test_an_object_that_keeps_the_contract_is_welcome() -> None:
    own = Halved()
    assert registry.build("preparations", own) is own
    assert own.fit(faces_of()) is own
    assert own.apply(np.array([[2.0, 4.0]])).tolist() == [[1.0, 2.0]]
    assert own.to_arrays() == {}
    assert not own.is_learnt
