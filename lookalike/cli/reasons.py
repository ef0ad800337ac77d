"""Reasons in words: an explanation and an evaluation for people to read."""

from __future__ import annotations

from lookalike.cli.terminal import print_table
from lookalike.evaluation.groups import INTERVAL, METHOD, Grouped
from lookalike.evaluation.measures import MEASURES
from lookalike.evaluation.reliability import SURENESS
from lookalike.evaluation.results import Evaluation
from lookalike.explanation import Explanation, Line, agreeing
from lookalike.ranking import percent
from lookalike.transitivity.metafeatures import NUMBERS


def print_explanation(explanation: Explanation) -> None:
    """Print the evidence: the baseline first, then what every proxy says, the most convinced first."""
    answer = explanation.answer
    print(f"{answer.id} is answer {answer.rank} of {explanation.total} for {explanation.query}.")
    print(
        f"Its score is {answer.score:.3f}. By themselves the two are {answer.baseline:.3f} alike (baseline), "
        f"which is rank {answer.baseline_rank}: face {explanation.query_face} of the query and face "
        f"{explanation.target_face} of the target."
    )
    if answer.probability is not None:
        print(f"As far as this gallery can tell, both are one person with probability {answer.sure}.")
    if explanation.alone is not None:
        _print_sum(explanation)
        return
    if not explanation.witnesses:
        alone = "No proxy was asked."
        together = "The score comes from the lists of neighbours of both as a whole; no single proxy decides."
        print(alone if answer.score == answer.baseline else together)
        return
    decided = "the baseline" if answer.through is None else f"the proxy {answer.through}"
    mean = sum(one.belief for one in explanation.witnesses) / len(explanation.witnesses)
    if answer.through is None and answer.score != answer.baseline and abs(answer.score - mean) < 1e-9:
        decided = "the mean of what the proxies say"
    print(f"What decided is {decided}. What each proxy of the target says:\n")
    headings = ["proxy", "s1", "s2", "s3", "s4", "s5", "regression", "belief", "faces", "rank without"]
    columns = [(heading, "left" if heading in ("proxy", "faces") else "right") for heading in headings]
    print_table(
        columns,
        (
            (
                one.proxy,
                *(f"{number:.3f}" for number in one.numbers),
                "-" if one.regression is None else f"{one.regression:.3f}",
                f"{one.belief:.3f}",
                f"q{one.query_face}-p{one.proxy_face_to_query} "
                f"p{one.proxy_face_to_target}-t{one.target_face_to_proxy}",
                one.rank_without,
            )
            for one in explanation.witnesses
        ),
    )
    print("\n" + "; ".join(f"s{place}: {meaning}" for place, meaning in enumerate(NUMBERS, start=1)))
    print("faces: q of the query met p of the proxy, p of the proxy met t of the target")


def _print_sum(explanation: Explanation) -> None:
    """Print what the score is the sum of: the pair alone, and what others added."""
    trust = explanation.trust or 0.0
    before, then = explanation.rank_before_kin, explanation.rank_before_lists
    pooled = any(one.kind == "kin" for one in explanation.influences)
    subtracted = any(one.kind == "stranger" for one in explanation.influences)
    steps = [
        f"{'with strangers subtracted' if subtracted else 'measured against everybody'} it is rank {before}",
        f"with kin pooled rank {then}" if pooled else "for kin there are too few sets",
        f"with lists of neighbours rank {explanation.answer.rank}",
    ]
    words = ", ".join(steps)
    print(f"{words[0].upper()}{words[1:]}.")
    agrees = agreeing(explanation)
    print(f"Lists count {trust:.0%} for this query: {agrees}. What the score is the sum of:\n")
    named = {one.kind for one in explanation.relatives}
    print_table(
        [("what", "left"), ("chance", "right"), ("adds", "right"), ("faces", "left")],
        (
            *(_line(one, named) for one in explanation.lines),
            ("= score", "", f"{explanation.answer.score:.3f}", ""),
        ),
    )
    if explanation.relatives:
        print("\nfaces: q of the query met x of the set, x of the set met t of the target")


def _line(one: Line, named: set[str]) -> tuple[str, str, str, str]:
    """A row of the table; of kinds that are named some are shown one by one."""
    adds = f"{one.rounded:+.3f}"
    if one.relative is None:
        return _together(one, one.kind in named), "", adds, ""
    it = one.relative
    if it.kind == "neighbour":
        what = f"{it.id}, near both"
    elif it.kind == "stranger":
        what = f"{it.id}, a stranger like {'both' if it.of == 'both' else f'the {it.of}'}"
    else:
        what = f"{it.id}, kin of {'both' if it.of == 'both' else f'the {it.of}'}"
        other = {"query": "the target", "target": "the query", "both": "the other's kin"}[it.of]
        what += f", less like {other}" if it.moved < 0 else ""
    faces = f"q{it.query_face}-x{it.face_to_query} x{it.face_to_target}-t{it.target_face}"
    return what, "" if it.chance is None else percent(it.chance), adds, faces


def _together(one: Line, named: bool) -> str:
    """What a line is called that stands for nobody in particular."""
    if one.kind == "alone":
        return "the two by themselves"
    if one.kind == "everybody":
        many = (
            "as many others as any" if not one.rounded else "few others" if one.rounded > 0 else "many others"
        )
        return f"the target is near to {many}"
    if one.kind == "mutual":
        return "the two are near each other" if one.rounded else "the two are not near each other"
    noun, what = {
        "stranger": ("stranger", ""),
        "kin": ("set", " that may be kin"),
        "neighbour": ("set", " near both"),
    }[one.kind]
    return f"{one.others} {'other ' if named else ''}{noun}{'' if one.others == 1 else 's'}{what}, together"


def print_evaluation(result: Evaluation) -> None:
    """Print the counts and one line of measures for each second stage."""
    facts = result.to_dict()
    print(f"{facts['queries']} queries, {facts['sets']} sets, {facts['distractors']} of them distractors")
    queries, people = result.with_one_match()
    print(f"{queries} queries have a single match, of {people} people")
    if result.query_counted:
        print(
            "The query counts as its own match, found first (--count-query): ANR and mAP look better than "
            "they are, rank-1 and match in 100 are 1 whatever is found."
        )
    columns = [("reranker", "left"), *((heading, "right") for heading, _ in MEASURES.values())]
    rerankers: dict[str, dict[str, float]] = facts["rerankers"]  # type: ignore[assignment]
    print_table(
        columns, ((name, *(f"{row[key]:.4f}" for key in MEASURES)) for name, row in rerankers.items())
    )
    sure = result.calibration()
    if not sure:
        return
    print()
    print_table(
        [("reranker", "left"), *((heading, "right") for heading in SURENESS.values())],
        ((name, *(_number(row[key]) for key in SURENESS)) for name, row in sure.items()),
    )


def print_groups(parted: Grouped) -> None:
    """Print every measure by group of queries."""
    for columns, rows in (parted.measures(), parted.sureness()):
        if rows:
            print()
            words = {METHOD: "reranker", INTERVAL: INTERVAL, parted.column: parted.column}
            print_table([(words.get(one, one), "left" if one in words else "right") for one in columns], rows)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
