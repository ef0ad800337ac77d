"""The whole report of a small experiment: page, record, figures, and no face unless it may."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from lookalike import FaceSet, Gallery, index
from lookalike.errors import BadInput
from lookalike.evaluation import report as module
from lookalike.evaluation.experiment import Experiment
from lookalike.evaluation.measures import Evaluation, Told
from lookalike.evaluation.report import report
from tests.small_world import small_world

METHODS = ["learnt:references=6", "arithmetic_mean", "csls:neighbours=3"]
PAPER = {
    "anr_cdf",
    "anr_by_proxies",
    "match_probability",
    "matches_found",
    "training_features",
    "retrieval_features",
    "selection_energies",
    "selection_error",
    "selection_picture",
}


def picture(colour: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (8, 8), colour).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Experiment, Evaluation]]:
    sets, labels = small_world(people=8, sets=3, faces=14)
    with Gallery(tmp_path_factory.mktemp("report") / "g", create=True) as gallery:
        for one in sets:
            pictures = [picture(10 * place) for place in range(len(one))]
            gallery.add(FaceSet(one.id, one.faces, one.origin, (), pictures), "array:x")
        experiment = Experiment(gallery, index(gallery), labels, METHODS, (0, 1))
        yield experiment, experiment.run(sweep=METHODS[0])


def written(folder: Path, made: tuple[Experiment, Evaluation], **more: Any) -> dict[str, Any]:
    return report(folder, *made, command="lookalike evaluate g", **more)


def test_every_figure_of_the_paper_is_there(tmp_path: Path, made: tuple[Experiment, Evaluation]) -> None:
    kept = written(tmp_path / "r", made)
    files = {file.name for file in (tmp_path / "r" / "figures").iterdir()}
    stems = {name.partition(".")[0] for name in files}
    assert stems >= PAPER
    assert files == {f"{stem}.{kind}" for stem in stems for kind in ("svg", "png", "csv")}
    assert json.loads((tmp_path / "r" / "report.json").read_text()) == kept
    page = (tmp_path / "r" / "report.html").read_text()
    for sentence in kept["verdict"]:
        assert sentence.replace("<", "&lt;").replace(">", "&gt;") in page
    for text in (
        "Where learnt:references=6 helps",
        "mAP: differences to baseline",
        "Seeds",
        "lookalike evaluate g",
    ):
        assert text in page


def test_figures_are_those_of_the_evaluation(tmp_path: Path, made: tuple[Experiment, Evaluation]) -> None:
    kept = written(tmp_path / "r", made)
    with (tmp_path / "r" / "figures" / "anr_cdf.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == METHODS[2]]
    anr = sorted(kept["per_query"]["values"][METHODS[2]]["mean_anr"])
    assert float(rows[-1]["anr"]) == anr[-1]
    assert float(rows[-1]["share_of_queries"]) == 1.0
    assert kept["rerankers"] == made[1].to_dict()["rerankers"]
    assert kept["told_apart"]["training"] > 0.8


def test_a_report_never_counts_the_query(tmp_path: Path, made: tuple[Experiment, Evaluation]) -> None:
    experiment, result = made
    with pytest.raises(BadInput, match="evaluate again without count_query"):
        report(tmp_path / "r", experiment, replace(result, query_counted=True))
    with pytest.raises(BadInput, match="evaluate again without decisions"):
        report(tmp_path / "r", experiment, replace(result, known=Told(0, 0, 0, 0)))
    assert not (tmp_path / "r").exists()


def test_no_face_unless_it_may_be_shown(tmp_path: Path, made: tuple[Experiment, Evaluation]) -> None:
    written(tmp_path / "without", made)
    written(tmp_path / "with", made, faces=True)
    name = "figures/selection_picture.svg"
    without, shown = ((tmp_path / folder / name).read_text() for folder in ("without", "with"))
    assert "<image" not in without
    assert "<image" in shown


def test_a_gallery_of_single_faces_has_no_variation_to_show(tmp_path: Path) -> None:
    sets, labels = small_world(people=4, sets=2, faces=1)
    with Gallery(tmp_path / "g", create=True) as gallery:
        for one in sets:
            gallery.add(one, "array:x")
        experiment = Experiment(gallery, index(gallery), labels, ["learnt"], (0,))
        report(tmp_path / "r", experiment, experiment.run(sweep="learnt"))
    page = (tmp_path / "r" / "report.html").read_text()
    assert "No set has three faces or more" in page
    assert not (tmp_path / "r" / "figures" / "training_features.csv").exists()


def test_the_baseline_alone_can_be_reported(tmp_path: Path, made: tuple[Experiment, Evaluation]) -> None:
    experiment = Experiment(made[0].gallery, made[0].tables, made[0].labels, [], (0,))
    kept = report(tmp_path / "r", experiment, experiment.run())
    counts, sure = kept["verdict"]
    assert counts.startswith("24 queries")
    assert sure.startswith("The probabilities that baseline gives its first 20 answers are off by")
    assert kept["against_baseline"] == {}


def test_many_methods_are_shown_in_several_figures(
    tmp_path: Path, made: tuple[Experiment, Evaluation], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CURVES", 2)
    written(tmp_path / "r", made)
    shown = set()
    for file in (tmp_path / "r" / "figures").glob("anr_cdf*.csv"):
        with file.open() as opened:
            shown |= {row["method"] for row in csv.DictReader(opened)}
    assert shown == {"baseline", *METHODS}


def test_other_protocols_have_no_features_of_the_gallery(
    tmp_path: Path, made: tuple[Experiment, Evaluation]
) -> None:
    whole, _ = made
    split = Experiment(whole.gallery, whole.tables, whole.labels, METHODS[:1], (0,), None, True)
    kept = report(tmp_path / "r", split, split.run(sweep=METHODS[0]))
    split.finish()
    assert "told_apart" not in kept
    assert not (tmp_path / "r" / "figures" / "training_features.csv").exists()


def test_outside_queries_where_nobody_is_twice_in_the_gallery(tmp_path: Path) -> None:
    sets, labels = small_world(people=8, sets=2)
    first = {labels[one.id]: one for one in sets}
    with Gallery(tmp_path / "g", create=True) as gallery:
        for one in first.values():
            gallery.add(one, "array:x")
        queries = [one for one in sets if one.id not in gallery]
        experiment = Experiment(gallery, index(gallery), labels, ["learnt"], (0,), queries)
        kept = report(tmp_path / "r", experiment, experiment.run(sweep="learnt"))
    assert kept["queries"] == 8


def test_the_curves_have_the_shares_of_the_table(tmp_path: Path, made: tuple[Experiment, Evaluation]) -> None:
    kept = written(tmp_path / "r", made)
    with (tmp_path / "r" / "figures" / "anr_cdf.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == METHODS[0]]
    below = max((float(row["share_of_queries"]) for row in rows if float(row["anr"]) < 0.3), default=0.0)
    assert below == pytest.approx(kept["rerankers"][METHODS[0]]["anr_below_0.3"])


def test_a_similarity_of_all_faces_has_no_choice_to_show(
    tmp_path: Path, made: tuple[Experiment, Evaluation]
) -> None:
    gallery, labels = made[0].gallery, made[0].labels
    experiment = Experiment(gallery, index(gallery, "max_correlation"), labels, [], (0,))
    report(tmp_path / "r", experiment, experiment.run())
    assert not (tmp_path / "r" / "figures" / "selection_picture.csv").exists()
    assert "This set similarity uses all faces" in (tmp_path / "r" / "report.html").read_text()
