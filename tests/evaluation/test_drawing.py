from __future__ import annotations

import csv
import io
import math
import subprocess
import sys
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from PIL import Image

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import (
    LIBRARIES,
    MOST_STEPS,
    Figure,
    around_mean,
    cdf,
    check_libraries,
    checked,
    contents,
    line,
    outline,
    png,
    printable,
    short,
    svg,
    table_text,
    wilson,
)
from tests.evaluation.drawings import EVIL, SVG, drawn, every_figure


def simple(title: str = "A title", text: str = "words") -> Figure:
    def draw(canvas: Any) -> None:
        axes = canvas.subplots()
        axes.plot([0, 1], [1, 0], label=text)
        axes.set_title(text)

    return Figure("simple", title, "A caption.", {"x": [0, 1], "y": [1.0, 0.0]}, draw)


def test_a_figure_is_three_files() -> None:
    files = contents(simple())
    assert sorted(files) == ["simple.csv", "simple.png", "simple.svg"]
    assert files["simple.csv"] == b"x,y\n0,1.0\n1,0.0\n"
    with Image.open(io.BytesIO(files["simple.png"])) as picture:
        # 9 by 6.5 cm at 200 dots an inch, on white.
        assert picture.size == (708, 511)
        assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
        assert not set(picture.info) & {"Software", "date"}


@pytest.mark.parametrize("figure", every_figure(), ids=lambda figure: figure.name)
def test_every_figure_keeps_the_contract(figure: Figure) -> None:
    files = drawn()[figure.name]
    assert files[f"{figure.name}.svg"] == svg(figure).encode(), "the same bytes each time"
    root = ElementTree.fromstring(files[f"{figure.name}.svg"])
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title") is not None
    for element in root.iter():
        assert element.tag not in (f"{SVG}script", f"{SVG}text"), "letters are paths"
        for name, value in element.attrib.items():
            if name.endswith("href"):
                assert value.startswith(("#", "data:image/png;base64,"))
    assert len(files[f"{figure.name}.svg"]) < 500_000
    assert len(figure.caption) > 60
    rows = list(csv.reader(io.StringIO(files[f"{figure.name}.csv"].decode())))
    assert rows[0] == list(figure.table)
    assert len({len(row) for row in rows}) == 1
    assert len(rows) > 1


def test_the_only_addresses_are_names_of_namespaces() -> None:
    text = svg(simple())
    for name in ("http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"):
        text = text.replace(f'="{name}"', "")
    assert "http" not in text
    assert "DOCTYPE" not in text


def test_nothing_given_breaks_out_of_the_svg() -> None:
    evil = " ".join(EVIL)
    text = svg(simple(evil, evil))
    root = ElementTree.fromstring(text)
    assert root.findtext(f"{SVG}title") == printable(evil)
    assert "<script" not in text


def test_own_settings_do_not_show_and_are_not_changed() -> None:
    expected = png(simple())
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "savefig.dpi": 30}):
        assert png(simple()) == expected
        assert matplotlib.rcParams["font.size"] == 20


def test_text_is_never_a_formula() -> None:
    table = {"name": ["=1+1", "+1", "-1", "@x", "\tx", "a,b", 'a"b'], "value": [-1.5, 2, 3, 4, 5, 6, 7]}
    rows = list(csv.reader(io.StringIO(table_text(table))))[1:]
    assert [row[0] for row in rows] == ["'=1+1", "'+1", "'-1", "'@x", "'\tx", "a,b", 'a"b']
    assert rows[0][1] == "-1.5"


def test_what_is_not_a_number_is_an_empty_cell() -> None:
    assert table_text({"x": [float("nan"), 0.1, float("inf")]}) == 'x\n""\n0.1\n""\n'


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(BadInput, match="equal length"):
        table_text({"x": [1], "y": [1, 2]})


@pytest.mark.parametrize("name", ["", "../x", "A", "a b", ".hidden"])
def test_bad_names_are_refused(name: str) -> None:
    with pytest.raises(BadInput, match="cannot be called"):
        contents(replace(simple(), name=name))


def test_lines_differ_in_colour_and_dashes() -> None:
    assert len({str(line(number)) for number in range(35)}) == 35


@pytest.mark.parametrize(
    ("given", "shown"),
    [("a", "a"), ("_hidden", " _hidden"), ("x" * 50, "x" * 39 + "…"), ("a\x00b\ud800", "a□b□")],
)
def test_names_as_a_figure_prints_them(given: str, shown: str) -> None:
    assert short(given) == shown


def test_worked_by_hand() -> None:
    points, shares = cdf(np.array([0.5, 0.1, 0.5, 0.9]))
    assert points.tolist() == [0.1, 0.5, 0.9]
    assert shares.tolist() == [0.25, 0.75, 1.0]


def test_outline_goes_from_corner_to_corner() -> None:
    x, y = outline(np.array([0.5]), 0.0, 1.0)
    assert x.tolist() == [0.0, 0.5, 1.0]
    assert y.tolist() == [0.0, 1.0, 1.0]


def test_area_above_the_outline_is_the_mean() -> None:
    values = np.random.default_rng(0).beta(0.7, 2.0, 400)
    x, y = outline(values, 0.0, 1.0)
    assert np.sum(np.diff(x) * (1 - y[:-1])) == pytest.approx(values.mean())


def test_many_values_are_drawn_with_few_steps() -> None:
    values = np.random.default_rng(0).uniform(size=20_000)
    x, y = outline(values, 0.0, 1.0)
    assert len(x) <= MOST_STEPS + 2
    assert np.diff(y).max() <= 2 / MOST_STEPS
    assert np.sum(np.diff(x) * (1 - y[:-1])) == pytest.approx(values.mean(), abs=0.002)


@pytest.mark.parametrize("values", [[], [0.1, float("nan")], [float("inf")]])
def test_nothing_to_draw_is_said(values: list[float]) -> None:
    with pytest.raises(BadInput, match=r"the ANR of x (is empty|holds NaN)"):
        checked(np.array(values), "the ANR of x")


def test_installed_libraries_pass() -> None:
    check_libraries()


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_library_is_named_with_its_cure(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, LIBRARIES[name], None)
    with pytest.raises(BadInput, match=rf"needs {name}.*pip install 'lookalike\[report\]'"):
        check_libraries()


def test_importing_loads_neither() -> None:
    modules = ("report", "drawing", "figures", "learning")
    lines = "; ".join(f"import lookalike.evaluation.{name}" for name in modules)
    check = f"{lines}; import sys; print({{'matplotlib', 'jinja2'}} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_wilson_of_one_in_two() -> None:
    # z² = 3.8415: centre 0.5, half width 1.96 sqrt(0.125 + 3.8415 / 16) / (1 + 1.9207) = 0.4055.
    low, high = wilson(1, 2)
    assert low == pytest.approx(0.0945, abs=1e-4)
    assert high == pytest.approx(0.9055, abs=1e-4)


def test_wilson_at_the_ends() -> None:
    # All of n: from n / (n + z²) to 1.
    assert wilson(10, 10) == (pytest.approx(10 / 13.8415, abs=1e-4), 1.0)
    assert wilson(0, 10) == (0.0, pytest.approx(3.8415 / 13.8415, abs=1e-4))


def test_around_mean() -> None:
    # 0, 2: mean 1, standard deviation sqrt(2), standard error 1.
    assert around_mean(np.array([0, 2])) == (pytest.approx(1 - 1.96, abs=1e-4), pytest.approx(2.96, abs=1e-4))
    assert around_mean(np.array([3, 3, 3])) == (3.0, 3.0)
    assert all(math.isnan(end) for end in around_mean(np.array([3])))
