"""Names that mean harm, of sets, files and people, in every view: they are shown, and do nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from lookalike import FaceSet, Gallery
from lookalike.errors import BadInput
from lookalike.faceset import Sighting
from lookalike.gallery.decisions import judge, name
from tests.hostile_names import FEW, NAMES, OTHERS, Tags
from tests.web.asking import Asker, asker, picture

HARMFUL = [one for one in NAMES if one.strip()]
PLAIN = [f"clip-{number:03d}" for number in range(len(HARMFUL))]


def made(path: Path, names: Sequence[str]) -> Path:
    """Sets of these names from files of these names, every third in a film; a third are people so called."""
    rng = np.random.default_rng(0)
    people = rng.normal(size=(len(names) // 3 + 1, 24))
    with Gallery(path, create=True) as gallery:
        for number, one in enumerate(names):
            faces = people[number // 3] + 0.3 * rng.normal(size=(2, 24))
            seen = [Sighting((1, 1, 90, 90), 0.9, 0.5, 0.5, 0.1, number + face) for face in range(2)]
            shown = [picture(number)] * 2
            film = seen if number % 3 == 0 else ()
            gallery.add(FaceSet(one, faces, f"films/{one}", pictures=shown, sightings=film))
        for number in range(0, len(names) - 3, 6):
            try:
                name(gallery, names[number : number + 2], names[number][:200])
            except BadInput:  # not what anybody is called
                name(gallery, names[number : number + 2], f"person {number}")
        judge(gallery, names[3], [names[4]], "same")
        judge(gallery, names[3], [names[9], names[12]], "different")
    return path


@pytest.fixture(scope="module")
def harmed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    with asker(made(tmp_path_factory.mktemp("names") / "harmful", HARMFUL)) as asked:
        yield asked


@pytest.fixture(scope="module")
def allowed(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, tuple[str, ...]]]:
    """Tags and attributes of all views of a gallery whose names are harmless."""
    with asker(made(tmp_path_factory.mktemp("names") / "plain", PLAIN)) as asked:
        views = [*everything(asked, PLAIN), *(f"/?text={one}&source={one}" for one in (PLAIN[0], "nobody"))]
        return {tag for view in views for tag in shown(asked, view).tags}


def shown(asked: Asker, view: str) -> Tags:
    said = asked("GET", view)
    assert said.status == 200, (view, said)
    return Tags(said.body.decode())


def everything(asked: Asker, names: Sequence[str]) -> Iterator[str]:
    """The address of every view; of some sets, named, decided on and neither."""
    keys: dict[str, str] = {}
    for offset in range(0, len(names), 48):
        yield f"/?offset={offset}"
        keys |= {one["id"]: one["key"] for one in asked.get(f"/api/sets?offset={offset}&limit=48")["sets"]}
    asked.post("/api/searches", {"set": keys[names[0]]})
    yield from ("/people", "/history", "/history?offset=50", "/?sort=person", "/?named=named")
    yield from (f"/people/{one['number']}" for one in asked.get("/api/people")["people"])
    for place in (*range(14), *range(14, len(names), 11)):
        key = keys[names[place]]
        yield f"/sets/{key}"
        if place % 4 == 0:
            first = asked.post("/api/searches", {"set": key})["answers"][0]["set"]["key"]
            yield from (f"/sets/{key}?view=both", f"/sets/{key}/review", f"/sets/{key}/why/{first}")


def test_no_view_takes_a_name_for_more_than_a_name(
    harmed: Asker, allowed: set[tuple[str, tuple[str, ...]]]
) -> None:
    seen = ""
    for view in everything(harmed, HARMFUL):
        read = shown(harmed, view)
        assert set(read.tags) <= allowed, view
        assert all(re.match(r"[#?]|/(?!/)", one) for one in read.addresses), view
        seen += read.text
    # A set from a film is shown by the name of the file, which ends behind the last slash.
    assert not [one for one in HARMFUL if not re.search(r"[/\\]", one) and one.strip() not in seen]


@pytest.mark.parametrize("text", FEW)
def test_what_was_searched_for_is_only_shown(
    text: str, harmed: Asker, allowed: set[tuple[str, tuple[str, ...]]]
) -> None:
    said = harmed("GET", f"/?text={quote(text, safe='')}&source={quote(text, safe='')}")
    assert said.status == 200, said
    read = Tags(said.body.decode())
    assert set(read.tags) <= allowed
    assert "<script>alert" not in said.body.decode()


def test_addresses_with_names_in_them_are_refused_in_words(harmed: Asker) -> None:
    for text in (*FEW, *OTHERS):
        if not text.strip():
            continue
        for view in ("/sets/", "/people/", "/uploads/", "/"):
            said = harmed("GET", view + quote(text, safe=""))
            assert 400 <= said.status < 500, (view, text, said)
            tags = {tag for tag, _ in Tags(said.body.decode()).tags}
            assert not tags & {"iframe", "svg", "form", "base", "style", "math", "comment"}
