from __future__ import annotations

import base64
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import Figure
from lookalike.evaluation.measures import Evaluation, harm
from lookalike.evaluation.statistics import gains
from lookalike.evaluation.verdict import Page, Table, render, verdict
from tests.evaluation.drawings import EVIL, SVG, drawn, every_figure
from tests.evaluation.samples import evaluation
from tests.hostile_names import NAMES, Tags


def said(better: bool, count: int = 10) -> list[str]:
    result = evaluation(better, count)
    found = gains(result, "baseline")
    return verdict(result, found, "baseline", "learnt", harm(result, "learnt", "baseline"))


def test_the_baseline_wins() -> None:
    first, second, method, *rest = said(better=False)
    assert first.startswith("By mAP, nothing beats baseline: 0.2")
    assert first.endswith(". Worse beyond chance: learnt.")
    assert second.startswith("By mean ANR, nothing beats baseline: 0.02")
    assert method.startswith("Against baseline, learnt is worse by mAP (")
    assert rest[0].startswith(
        "Query by query, learnt makes 0 of 10 better, 10 worse and leaves 0 as they are"
    )
    assert rest[1].startswith("It hurts most among queries with: baseline good (highest third)")
    assert rest[-1].startswith("10 queries of 10 people against 201 sets, 3 of them distractors; 10 queries")


def test_a_winner_beyond_chance() -> None:
    first, _, method, *rest = said(better=True)
    assert first.startswith("By mAP, learnt orders best: 1.0000 against 0.2")
    assert "That is better than baseline beyond chance (difference +0.7" in first
    assert "is better by mAP" in method
    assert rest[0].startswith("Query by query, learnt makes 10 of 10 better, 0 worse")
    assert not [sentence for sentence in rest if "hurts" in sentence]


def test_a_winner_by_luck_is_called_so() -> None:
    # Three people cannot convince anybody: 2 of 8 patterns of signs are as good.
    first, _, method, *_, small_print = said(better=True, count=3)
    assert first.startswith("By mAP, learnt comes first: 1.0000 against 0.3")
    assert first.endswith("so nobody is shown to win.")
    assert "not different beyond chance by mAP" in method
    assert small_print.endswith("With 3 people no difference could be shown at all.")


def test_who_does_as_well_is_not_called_lower() -> None:
    result = evaluation()
    same = replace(result, runs={"baseline": result.runs["baseline"], "twin": result.runs["baseline"] * 3})
    found = gains(same, "baseline")
    hurt = harm(same, "twin", "baseline")
    first, second, _, harmless, small_print = verdict(same, found, "baseline", "twin", hurt)
    assert first.endswith("; twin does as well.")
    assert second.endswith("; twin does as well.")
    assert harmless.startswith("Query by query, twin makes 0 of 10 better, 0 worse and leaves 10")
    assert small_print.endswith("corrected for 1 method.")


def test_the_best_may_be_luck_where_another_is_sure() -> None:
    # Steady finds every match one place earlier; wild finds two of twenty first and spoils nothing else.
    base = [np.array([number % 5 + 3]) for number in range(20)]
    steady = [ranks - 1 for ranks in base]
    wild = [np.array([1]) if number < 3 else ranks for number, ranks in enumerate(base)]
    names = [str(number) for number in range(20)]
    runs = {"baseline": [base], "wild": [wild], "steady": [steady]}
    result = Evaluation(names, names, 101, 0, 100, runs)
    first, *_ = verdict(result, gains(result, "baseline"), "baseline", "wild")
    assert first.startswith("By mAP, wild comes first: ")
    assert "Chance alone could have done that" in first
    assert "the best that is beyond chance is steady: " in first


def test_queries_passed_over_are_counted() -> None:
    result = replace(evaluation(), passed_over=1)
    assert "1 query was passed over: the gallery does not show" in verdict(result, {}, "baseline")[-1]


def test_nothing_but_the_baseline() -> None:
    result = evaluation()
    result.runs.pop("learnt")
    [small_print] = verdict(result, {}, "baseline")
    assert small_print.startswith("10 queries of 10 people")


TAGS = (
    "body caption dd div dl dt figcaption figure footer h1 h2 h3 head header html img li main meta p section "
    "span style table tbody td th thead title tr ul"
)


class Reader(HTMLParser):
    """Every tag with its attributes, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def page(words: str = "words", figures: list[Figure] | None = None) -> Page:
    table = Table(words, words, [words, "map"], [[words, "0.1"], [words, "0.2"]], best={"map": 1})
    return Page(words, [words, words], [(words, words)], [table], figures or [], [words], words)


def pictures() -> dict[str, str]:
    return {name: files[f"{name}.svg"].decode() for name, files in drawn().items()}


def test_figures_are_drawn_unless_given() -> None:
    figure = every_figure()[-1]
    assert render(page(figures=[figure])) == render(page(figures=[figure]), pictures())


def test_nothing_is_loaded_or_run() -> None:
    text = render(page(figures=every_figure()), pictures())
    read = Reader(text)
    assert " ".join(sorted({tag for tag, _ in read.tags})) == TAGS
    for _, attributes in read.tags:
        assert not any(name.startswith("on") or name == "href" for name in attributes)
    assert all((one["src"] or "").startswith("data:image/svg+xml;base64,") for one in read.of("img"))
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in text
    assert "@import" not in text
    policy = {"http-equiv": "Content-Security-Policy"}.items()
    (rule,) = [one["content"] for one in read.of("meta") if policy <= one.items()]
    assert rule == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def test_figures_are_inside_and_described() -> None:
    figures = every_figure()
    read = Reader(render(page(figures=figures), pictures()))
    assert len(read.of("figure")) == len(read.of("figcaption")) == len(figures)
    for figure, image in zip(figures, read.of("img"), strict=True):
        assert figure.title in (image["alt"] or "")
        inside = base64.b64decode((image["src"] or "").partition(",")[2]).decode()
        assert inside == pictures()[figure.name]
        assert ElementTree.fromstring(inside).tag == f"{SVG}svg"
    for figure in figures:
        assert any(figure.caption in text for text in read.text)


@pytest.mark.parametrize("evil", EVIL)
def test_nothing_given_breaks_out(evil: str) -> None:
    plain, read = Reader(render(page())), Reader(render(page(evil)))
    assert [tag for tag, _ in read.tags] == [tag for tag, _ in plain.tags]
    assert [set(attributes) for _, attributes in read.tags] == [set(other) for _, other in plain.tags]
    assert "".join(read.text).count(evil) == "".join(plain.text).count("words") == 13


def test_a_name_is_only_a_name() -> None:
    plain = Tags(render(page()))
    for name in NAMES:
        read = Tags(render(page(name)))
        assert read.tags == plain.tags, name
        assert read.addresses == plain.addresses, name
        assert read.text.count(name) >= plain.text.count("words"), name


def test_tables_can_be_read_aloud() -> None:
    read = Reader(render(page()))
    assert len(read.of("caption")) == 1
    assert [one["scope"] for one in read.of("th")] == ["col", "col", "row", "row"]
    assert [one.get("class") for one in read.of("td")] == [None, "best"]


def test_figures_drawn_already_are_not_drawn_again() -> None:
    def fail(canvas: object) -> None:
        raise AssertionError("drawn twice")

    figure = Figure("a", "t", "c", {"x": [1]}, fail)
    assert "data:image/svg+xml;base64,PHN2Zy8+" in render(page(figures=[figure]), {"a": "<svg/>"})


def test_empty_parts_leave_no_empty_headings() -> None:
    read = Reader(render(Page("t", ["v"], [], [], [], [], "now")))
    assert not read.of("h2")


def test_rows_must_fit_the_columns() -> None:
    with pytest.raises(BadInput, match="has 1 cells, but there are 2 columns"):
        render(Page("t", [], [], [Table("x", "", ["a", "b"], [["1"]])], [], [], ""))
