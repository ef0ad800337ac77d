from __future__ import annotations

from dataclasses import replace

import pytest

from lookalike import explain, index, train
from lookalike.cli.output import print_evaluation, print_explanation
from lookalike.evaluation.measures import MEASURES, SURENESS
from lookalike.evaluation.protocol import leave_one_out
from lookalike.indexing.fit import calibrate
from lookalike.ranking import Answer
from lookalike.search.explain import Explanation, Influence, Relative, Witness
from tests.small_world import chain_world, small_world

Seen = pytest.CaptureFixture[str]

# Numbers that are all different, so that each can be found in the text.
FIRST = Witness("[red]p1[/red]", (0.111, 0.222, 0.333, 0.444, 0.555), 0.666, 0.777, 11, 12, 13, 14, 15)
SECOND = Witness("p2", (0.121, 0.232, 0.343, 0.454, 0.565), -0.25, 0.0, 21, 22, 23, 24, 25)


def explanation(
    through: str | None = "[red]p1[/red]", witnesses: tuple[Witness, ...] = (FIRST, SECOND)
) -> Explanation:
    answer = Answer(
        rank=3, id="target [b]x[/b]", score=0.7771, baseline=0.1234, baseline_rank=41, through=through
    )
    return Explanation("query [i]", answer, 99, 5, 6, "max_max", "learnt", witnesses)


def test_every_number_is_said(capsys: Seen) -> None:
    print_explanation(explanation())
    said = capsys.readouterr().out
    words, table = said.split("\n\n", 1)
    assert "target [b]x[/b] is answer 3 of 99 for query [i]." in words
    assert "score is 0.777" in words
    assert "0.123 alike (baseline), which is rank 41" in words
    assert "face 5 of the query and face 6 of the target" in words
    assert "What decided is the proxy [red]p1[/red]." in words
    headings, first, second = table.splitlines()[:3]
    assert " ".join(headings.split()) == "proxy s1 s2 s3 s4 s5 regression belief faces rank without"
    assert " ".join(first.split()) == (
        "[red]p1[/red] 0.111 0.222 0.333 0.444 0.555 0.666 0.777 q11-p12 p13-t14 15"
    )
    assert " ".join(second.split()) == "p2 0.121 0.232 0.343 0.454 0.565 -0.250 0.000 q21-p22 p23-t24 25"
    for name in ("s1", "s2", "s3", "s4", "s5"):
        assert name in said.splitlines()[-2], "what the columns mean is said below"


def test_two_probabilities_do_not_contradict_each_other(capsys: Seen) -> None:
    told = explanation()
    sure = replace(told, answer=replace(told.answer, probability=0.5))
    print_explanation(sure)
    assert (
        "As far as this gallery can tell, both are one person with probability 50 %."
        in capsys.readouterr().out
    )
    print_explanation(replace(sure, ranked=replace(told.answer, probability=0.9), among=7, asked="other [b]"))
    said = " ".join(capsys.readouterr().out.split())
    assert "with probability 90 %, with decisions counted" in said
    assert (
        "As far as this gallery can tell without decisions, other [b] and target [b]x[/b] are one person "
        "with probability 50 %." in said
    )


def test_the_baseline_may_decide(capsys: Seen) -> None:
    print_explanation(explanation(through=None))
    assert "What decided is the baseline." in capsys.readouterr().out


def test_all_proxies_may_decide_by_their_mean(capsys: Seen) -> None:
    found = explain("a", "c", chain_world(), reranker="learnt:over=mean")
    assert found.answer.score != found.answer.baseline
    print_explanation(found)
    assert "What decided is the mean of what the proxies say." in capsys.readouterr().out


def test_without_a_regressor_there_is_no_regression(capsys: Seen) -> None:
    print_explanation(explanation("p2", (Witness("p2", FIRST.numbers, None, 0.5, 1, 2, 3, 4, 5),)))
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("p2")]
    assert line.split()[6:8] == ["-", "0.500"]


def test_all_neighbours_together(capsys: Seen) -> None:
    print_explanation(explanation(None, ()))
    assert capsys.readouterr().out.endswith("as a whole; no single proxy decides.\n")


def test_nobody_was_asked(capsys: Seen) -> None:
    asked = explanation(None, ())
    print_explanation(replace(asked, answer=replace(asked.answer, score=asked.answer.baseline)))
    said = capsys.readouterr().out
    assert said.endswith("No proxy was asked.\n")
    assert "s1" not in said


@pytest.mark.parametrize("reranker", ["learnt", "arithmetic_mean", "baseline"])
def test_a_real_explanation(reranker: str, capsys: Seen) -> None:
    found = explain("a", "c", chain_world(), reranker=reranker)
    print_explanation(found)
    said = capsys.readouterr().out
    assert f"c is answer {found.answer.rank} of 4 for a." in said
    lines = [line.split() for line in said.splitlines()]
    for witness in found.witnesses:
        [line] = [line for line in lines if line and line[0] == witness.proxy]
        assert line[1:6] == [f"{number:.3f}" for number in witness.numbers]
    assert len(found.witnesses) == (0 if reranker == "baseline" else 3)


def test_an_evaluation_is_a_line_for_each_reranker(capsys: Seen) -> None:
    sets, labels = small_world(people=3, sets=2)
    tables = index(sets)
    names = ("baseline", "arithmetic_mean")
    result = leave_one_out(tables, {name: train(tables, name) for name in names}, labels)
    print_evaluation(result)
    counts, single, headings, *lines = capsys.readouterr().out.splitlines()
    assert counts == "6 queries, 6 sets, 0 of them distractors"
    assert single == "6 queries have a single match, of 3 people"
    assert all(heading in headings for heading, _ in MEASURES.values())
    measured = result.to_dict()["rerankers"]
    for name, line in zip(names, lines, strict=True):
        assert line.split() == [name, *(f"{measured[name][key]:.4f}" for key in MEASURES)]  # type: ignore[index]


def test_how_far_probabilities_may_be_believed_is_a_second_table(capsys: Seen) -> None:
    sets, labels = small_world(people=8, sets=3)
    tables = index(sets)
    fitted = train(tables, "baseline")
    sure = {"baseline": [calibrate(tables, fitted)]}
    result = leave_one_out(tables, {"baseline": fitted}, labels, calibrations=sure)
    print_evaluation(result)
    *_, empty, headings, line = capsys.readouterr().out.splitlines()
    assert empty == ""
    assert all(heading in headings for heading in SURENESS.values())
    measured = result.calibration()["baseline"]
    shown = ["-" if measured[key] is None else f"{measured[key]:.4f}" for key in SURENESS]
    assert line.split() == ["baseline", *shown]


def test_an_explanation_says_how_sure(capsys: Seen) -> None:
    asked = explanation()
    print_explanation(replace(asked, answer=replace(asked.answer, probability=0.934)))
    assert "one person with probability 93 %." in capsys.readouterr().out
    print_explanation(asked)
    assert "probability" not in capsys.readouterr().out


def relative(name: str, kind: str, of: str, chance: float | None, moved: float) -> Relative:
    return Relative(name, kind, of, chance, moved, 1, 2, 3, 4)


def test_a_score_is_printed_as_a_sum(capsys: Seen) -> None:
    relatives = (
        relative("s", "stranger", "both", None, -0.1),
        relative("k", "kin", "query", 0.834, -0.05),
        relative("l", "kin", "target", 0.5, 0.02),
        relative("[b]n[/b]", "neighbour", "both", None, 0.3),
    )
    influences = (
        Influence("everybody", -0.01, 0, -0.01),
        Influence("stranger", -0.13, 1, -0.03),
        Influence("kin", -0.03, 0, 0.0),
        Influence("neighbour", 0.3071, 7, 0.0071),
        Influence("mutual", 0.04, 0, 0.04),
    )
    told = replace(explanation(None, ()), alone=0.6, influences=influences, relatives=relatives, trust=0.5)
    print_explanation(replace(told, rank_before_kin=9, rank_before_lists=8))
    said = capsys.readouterr().out
    assert (
        "With strangers subtracted it is rank 9, with kin pooled rank 8, with lists of neighbours rank 3."
        in (said)
    )
    assert "Lists count 50 % for this query: their neighbours are mostly the same sets." in said
    rows = [" ".join(row.split()) for row in said[said.index("what ") :].splitlines()]
    assert rows[:12] == [
        "what chance adds faces",
        "the two by themselves +0.600",
        "the target is near to many others -0.010",
        "s, a stranger like both -0.100 q1-x2 x3-t4",
        "1 other stranger, together -0.030",
        "k, kin of the query, less like the target 83 % -0.050 q1-x2 x3-t4",
        "l, kin of the target 50 % +0.020 q1-x2 x3-t4",
        "[b]n[/b], near both +0.300 q1-x2 x3-t4",
        "7 other sets near both, together +0.007",
        "the two are near each other +0.040",
        "= score 0.777",
        "",
    ]


def test_kinds_that_were_not_asked_are_not_printed(capsys: Seen) -> None:
    influences = (
        Influence("everybody", 0.0, 0, 0.0),
        Influence("neighbour", 0.0, 0, 0.0),
        Influence("mutual", 0.0, 0, 0.0),
    )
    told = replace(explanation(None, ()), alone=0.7771, influences=influences, trust=0.0)
    print_explanation(replace(told, rank_before_kin=3, rank_before_lists=3))
    said = capsys.readouterr().out
    assert "Measured against everybody it is rank 3, for kin there are too few sets" in said
    assert "Lists count 0 % for this query: their neighbours are other sets." in said
    assert "the target is near to as many others as any" in said
    assert "the two are not near each other" in said
    assert "stranger" not in said
    assert "faces:" not in said
