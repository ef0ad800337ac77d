"""Ranking: a sequence of answers that can be written as plain values."""

from __future__ import annotations

import json
import pickle
import re
import sys
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, find, open_search
from lookalike.errors import BadInput, NotFound
from lookalike.ranking import MOST_SHOWN, Answer, Ranking, percent
from lookalike.search.explain import Explanation, Witness
from tests.hostile_names import FEW, Tags
from tests.test_strips import PICTURE, picture

FIRST = Answer(1, "b", 0.9, 0.4, 7, "p")
SECOND = Answer(2, "a", 0.8, 0.8, 1, None)
RANKING = Ranking("q", (FIRST, SECOND), 12, "max_max:samples=10", "learnt:proxies=10", 12)
WITNESS = Witness("p", (0.8, 0.4, 0.9, 1.0, 0.7), 1.2, 1.0, 3, 1, 2, 0, 9)


def test_a_ranking_is_a_sequence() -> None:
    assert len(RANKING) == 2
    assert RANKING[0] is FIRST
    assert RANKING[-1] is SECOND
    assert RANKING[:1] == (FIRST,)
    assert list(RANKING) == [FIRST, SECOND]
    assert list(reversed(RANKING)) == [SECOND, FIRST]
    assert SECOND in RANKING
    assert RANKING.index(SECOND) == 1
    assert RANKING.ids == ["b", "a"]
    with pytest.raises(IndexError):
        RANKING[2]


def test_an_empty_ranking() -> None:
    empty = Ranking("q", (), 0, "max_max", "baseline", 0)
    assert len(empty) == 0
    assert not empty
    assert empty.ids == []


def test_nothing_can_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        RANKING.total = 3
    with pytest.raises(FrozenInstanceError):
        FIRST.rank = 2
    assert Ranking("q", (FIRST, SECOND), 12, "max_max:samples=10", "learnt:proxies=10", 12) == RANKING


def test_plain_values() -> None:
    plain = json.loads(json.dumps(RANKING.to_dict()))
    said = {
        "query",
        "answers",
        "total",
        "similarity",
        "reranker",
        "sets",
        "worth_reading",
        "confirmed",
        "rejected",
    }
    assert set(plain) == said
    assert plain["query"] == "q"
    assert plain["total"] == 12
    assert plain["answers"][0] == {
        "rank": 1,
        "id": "b",
        "score": 0.9,
        "baseline": 0.4,
        "baseline_rank": 7,
        "through": "p",
        "probability": None,
    }
    assert plain["answers"][1]["through"] is None


def test_an_explanation_in_plain_values() -> None:
    explanation = Explanation("q", FIRST, 12, 0, 4, "max_max", "learnt", (WITNESS,))
    plain = json.loads(json.dumps(explanation.to_dict()))
    assert plain["answer"]["id"] == "b"
    assert plain["witnesses"][0]["numbers"] == [0.8, 0.4, 0.9, 1.0, 0.7]
    assert plain["witnesses"][0]["rank_without"] == 9
    assert Explanation("q", FIRST, 12, 0, 4, "max_max", "baseline").witnesses == ()


@pytest.mark.parametrize(
    ("worth", "said"),
    [
        (None, "There are too few sets for probabilities."),
        (0, "No answer is more likely the same person than not."),
        (1, "Only the first answer is more likely the same person than not."),
        (2, "The first 2 answers are more likely the same person than not."),
        (5, "The first 5 answers are more likely the same person than not; 2 are shown."),
    ],
)
def test_where_a_ranking_stops_being_worth_reading(worth: int | None, said: str) -> None:
    answers = tuple(Answer(rank, str(rank), 0.5, 0.5, rank, None, 0.9) for rank in (1, 2))
    assert Ranking("q", answers, 9, "max_max", "baseline", 9, worth).reading == said


@pytest.mark.parametrize(
    ("probability", "shown"),
    [
        (None, "-"),
        (0.0, "< 1 %"),
        (0.005, "< 1 %"),
        (0.006, "1 %"),
        (0.934, "93 %"),
        (0.994, "99 %"),
        (0.995, "> 99 %"),
        (1.0, "> 99 %"),
    ],
)
def test_a_probability_is_whole_percent(probability: float | None, shown: str) -> None:
    assert percent(probability) == shown
    assert replace(FIRST, probability=probability).sure == shown


# In a notebook.


def gallery_of(path: Path, ids: Sequence[str], pictures: bool = True) -> None:
    """Sets of two faces each, with a picture of its own shade for every set."""
    rng = np.random.default_rng(0)
    with Gallery(path, create=True) as gallery:
        for shade, name in enumerate(ids):
            shown = (picture(shade=shade),) * 2 if pictures else ()
            gallery.add(FaceSet(name, rng.normal(size=(2, 16)), pictures=shown))


def test_a_notebook_shows_the_query_and_its_answers_as_strips(tmp_path: Path) -> None:
    gallery_of(tmp_path / "g", ["a", "b", "c"])
    with Gallery(tmp_path / "g") as gallery:
        ranking = find("b", gallery, reranker="baseline")
    read = Tags(ranking._repr_html_())
    assert len(read.addresses) == 6
    assert read.addresses[0] == read.addresses[1] != read.addresses[2]
    assert re.search(r"queryb1([ac]).*2(?!\1)[ac]", read.text)
    assert "2 of 2 sets, ranked by baseline" in read.text
    assert ranking.reading in read.text


def test_a_query_from_outside_shows_its_own_faces(tmp_path: Path) -> None:
    gallery_of(tmp_path / "g", ["a", "b", "c"])
    asked = FaceSet("a", np.eye(2, 16) + 0.5, pictures=(picture("JPEG"), picture("WEBP")))
    with Gallery(tmp_path / "g") as gallery:
        search = open_search(gallery, reranker="baseline")
    first, second, *_ = Tags(search.find(asked)._repr_html_()).addresses
    assert first.startswith("data:image/jpeg;")
    assert second.startswith("data:image/webp;")
    # One without pictures is not shown as the set of its name.
    bare = search.find(FaceSet("a", asked.faces))
    assert len(Tags(bare._repr_html_()).addresses) == 6
    assert bare.query_pictures == ()


def test_pictures_that_are_gone_are_left_out(tmp_path: Path) -> None:
    gallery_of(tmp_path / "g", ["a", "b", "c"])
    with Gallery(tmp_path / "g") as gallery:
        ranking = find("b", gallery, reranker="baseline")
        gallery.remove(["c"])
    assert len(Tags(ranking._repr_html_()).addresses) == 4
    (tmp_path / "g").rename(tmp_path / "elsewhere")
    assert not Tags(ranking._repr_html_()).addresses


def test_loose_sets_are_shown_as_a_table() -> None:
    rng = np.random.default_rng(0)
    ranking = find("a", [FaceSet(name, rng.normal(size=(2, 16))) for name in "abc"], reranker="baseline")
    assert ranking.pictures is None
    read = Tags(ranking._repr_html_())
    assert not read.addresses
    assert [tag for tag, _ in read.tags].count("tr") == 4


def test_a_long_ranking_is_cut_in_a_notebook() -> None:
    answers = tuple(Answer(rank, f"set-{rank}", 0.5, 0.5, rank, None, 0.9) for rank in range(1, 31))
    text = Ranking("q", answers, 99, "max_max", "baseline", 99, 25)._repr_html_()
    assert f"{MOST_SHOWN} of 99 sets" in text
    assert f"The first 25 answers are more likely the same person than not; {MOST_SHOWN} are shown." in text
    assert "set-20<" in text
    assert "set-21<" not in text
    worth = Ranking("q", answers, 99, "max_max", "baseline", 99, 3)._repr_html_()
    assert [row for row in worth.split("<tr>") if "double" in row] == [
        row for row in worth.split("<tr>") if "set-4<" in row
    ]


@pytest.mark.parametrize("name", FEW)
def test_a_notebook_shows_a_name_as_a_name(name: str) -> None:
    def shown(name: str) -> Tags:
        answer = Answer(1, name, 0.9, 0.4, 7, name, 0.9)
        ranking = Ranking(name, (answer,), 1, name, name, 1, 1, lambda _: (PICTURE,))
        return Tags(ranking._repr_html_())

    read, plain = shown(name), shown("plain")
    assert read.tags == plain.tags
    assert read.addresses == plain.addresses
    assert read.text.count(name) >= 3


def test_pictures_are_no_part_of_what_a_ranking_says() -> None:
    def refuse(set_id: str) -> Sequence[bytes]:
        raise NotFound(set_id)

    shown = replace(RANKING, pictures=refuse, query_pictures=(b"1",))
    assert shown == RANKING
    assert hash(shown) == hash(RANKING)
    assert repr(shown) == repr(RANKING)
    assert shown.to_dict() == RANKING.to_dict()
    assert shown._repr_html_().count("<tr>") == 4


def test_a_ranking_of_a_gallery_can_be_sent_to_another_process(tmp_path: Path) -> None:
    gallery_of(tmp_path / "g", ["a", "b", "c"])
    with Gallery(tmp_path / "g") as gallery:
        ranking = find("b", gallery, reranker="baseline")
    sent = pickle.loads(pickle.dumps(ranking))
    assert sent == ranking
    assert sent._repr_html_() == ranking._repr_html_()


def test_as_a_table_for_other_libraries() -> None:
    answers = (
        Answer(1, "b", 0.9, 0.8, 2, "p", 0.75),
        Answer(2, "c", 0.5, 0.85, 1, None, None),
    )
    ranking = Ranking("a", answers, 2, "max_max", "auto", 2, 1)
    table = ranking.to_arrow()
    assert table.to_pylist() == list(ranking.to_dict()["answers"])
    assert {str(field.type) for field in table.schema} == {"int64", "string", "double"}
    frame = ranking.to_pandas()
    assert frame.index.tolist() == [1, 2]
    assert frame.loc[1, "id"] == "b"
    assert frame["probability"].isna().tolist() == [False, True]
    empty = Ranking("a", (), 0, "max_max", "auto", 0)
    assert empty.to_arrow().schema == table.schema
    assert list(empty.to_pandas().columns) == list(frame.columns)


@pytest.mark.parametrize(("name", "advice"), [("pyarrow", "lookalike[parquet]"), ("pandas", "pandas")])
def test_a_library_that_is_missing(name: str, advice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    ranking = Ranking("a", (), 0, "max_max", "auto", 0)
    with pytest.raises(BadInput, match=f"needs {name}, .*pip install '{re.escape(advice)}'"):
        ranking.to_arrow() if name == "pyarrow" else ranking.to_pandas()
