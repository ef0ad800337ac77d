"""Reasons in words: an explanation and an evaluation for people to read."""

from __future__ import annotations

from lookalike.cli.terminal import print_table
from lookalike.evaluation.measures import MEASURES
from lookalike.evaluation.reliability import SURENESS
from lookalike.evaluation.results import Evaluation
from lookalike.ranking import Explanation, percent
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
    if explanation.relatives:
        _print_relatives(explanation)
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


def _print_relatives(explanation: Explanation) -> None:
    """Print who was taken as kin and who as a stranger, in the order of what each did."""
    pooled = any(one.kind == "kin" for one in explanation.relatives)
    kin = f"with kin pooled, rank {explanation.answer.rank}" if pooled else "for kin there are too few sets"
    print(
        f"With what strangers explain subtracted it is rank {explanation.rank_before_kin}; {kin}. "
        "Who did what, most first (of strangers the first few):\n"
    )
    headings = ["set", "taken as", "chance", "moved the score by", "faces"]
    columns = [
        (heading, "right" if heading.startswith(("chance", "moved")) else "left") for heading in headings
    ]
    print_table(
        columns,
        (
            (
                one.id,
                f"{one.kind} of the {one.of}",
                "-" if one.chance is None else percent(one.chance),
                f"{one.moved:+.3f}",
                f"q{one.query_face}-x{one.face_to_query} x{one.face_to_target}-t{one.target_face}",
            )
            for one in sorted(explanation.relatives, key=lambda one: (one.kind, -abs(one.moved), one.id))
        ),
    )
    print("\nfaces: q of the query met x of the set, x of the set met t of the target")


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


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
