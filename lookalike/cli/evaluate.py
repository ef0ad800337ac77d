"""Commands that measure: evaluate, compare."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.output import (
    Address,
    Engine,
    GalleryPath,
    Json,
    Prepare,
    Progresses,
    Quiet,
    Seed,
    Similarity,
    open_engine,
    plain,
    print_json,
    print_table,
    say,
    say_caution,
)
from lookalike.ranking import percent

# What is measured unless something is asked for: what `find` does; in a report, all of the paper's beside it.
PLAIN = "auto"
REPORTED = "learnt,arithmetic_mean,geometric_mean,quadratic_mean,auto"
EVERYTHING = "all"
# More seeds than these tell nothing new, and each of them is trained.
MOST_SEEDS = 1000
# Lines that people read.
MOST_SUSPECTS = 50


def evaluate(
    gallery: GalleryPath,
    labels: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE",
            help="csv of set_id,person; .npz of set_names, set_person; or a YouTube Faces folder.",
        ),
    ],
    rerankers: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C", help="Re-rankers to compare, separated by commas, or all (default: auto)."
        ),
    ] = None,
    similarity: Similarity = "max_max",
    prepare: Prepare = "auto",
    seed: Seed = 0,
    seeds: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of seeds, from --seed on (default: 1; with --report 3)."),
    ] = None,
    queries: Annotated[
        list[Path] | None,
        typer.Option(metavar="SOURCE", help="Use the sets of another gallery or source as queries."),
    ] = None,
    split: Annotated[
        bool,
        typer.Option("--split", help="Take one set of each person out of the gallery and use it as a query."),
    ] = False,
    count_query: Annotated[
        bool,
        typer.Option(
            "--count-query",
            help="Count the query as its own first match, to compare with figures that do so: with c matches "
            "the ANR becomes c / (c + 1) of itself, and rank-1 and match in 100 are always 1.",
        ),
    ] = False,
    decisions: Annotated[
        bool,
        typer.Option(
            "--decisions",
            help="Let decisions, and who was seen side by side, count as in find: confirmed sets join the "
            "query and are ranked first, rejected ones last.",
        ),
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Also give every measure by group, from this column of the labels."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write a report with figures to this folder.")
    ] = None,
    faces: Annotated[bool, typer.Option("--faces", help="Show pictures of faces in the report.")] = False,
    suspects: Annotated[
        bool,
        typer.Option(
            "--suspects", help="Measure nothing; list labels that are probably wrong or duplicates."
        ),
    ] = False,
    engine: Engine = None,
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure on your own labels: each set with a match is a query, left out of the gallery."""
    from lookalike import index, open_gallery
    from lookalike.cli.output import print_evaluation, print_groups
    from lookalike.evaluation.experiment import Experiment, check_experiment
    from lookalike.evaluation.labels import join_labels, read_groups, read_labels, with_nobody
    from lookalike.evaluation.statistics import grouped
    from lookalike.search.question import read_queries

    if suspects:
        if split or queries or count_query or decisions or by or report or faces or seeds is not None:
            raise typer.BadParameter(
                "--suspects measures nothing: leave out --split, --queries, --count-query, --decisions, "
                "--by, --report, --faces and --seeds"
            )
        _suspects(
            gallery, labels, rerankers or PLAIN, similarity, prepare, seed, engine, address, json, quiet
        )
        return
    if split and queries:
        raise typer.BadParameter("--split and --queries are two different protocols: give one of them")
    if count_query and (split or queries):
        raise typer.BadParameter(
            "--count-query is about sets of the gallery: a query from outside, as of --split and --queries, "
            "cannot be its own match"
        )
    if count_query and report is not None:
        raise typer.BadParameter(
            "--count-query has no report: what its figures and tests say holds with the query left out"
        )
    if decisions and (split or queries):
        raise typer.BadParameter(
            "--decisions is about sets of the gallery: nothing is decided of a query from outside, as of "
            "--split and --queries"
        )
    if decisions and report is not None:
        raise typer.BadParameter(
            "--decisions has no report: its figures and tests are about searches that know of none"
        )
    if faces and report is None:
        raise typer.BadParameter("--faces is about a report: give --report DIR too")
    if seeds is not None and not 1 <= seeds <= MOST_SEEDS:
        raise typer.BadParameter(f"--seeds must be from 1 to {MOST_SEEDS}, got {seeds}")
    if report is not None:
        _check_report(report)
    names = _names((PLAIN if report is None else REPORTED) if rerankers is None else rerankers)
    chosen = range(seed, seed + (seeds or (1 if report is None else 3)))
    known = join_labels(read_labels(path) for path in labels)
    groups = None if by is None else read_groups(labels, by)
    with open_engine(engine, address) as place, open_gallery(gallery) as opened:
        asked = [query for path in queries for query in read_queries(opened, path)] if queries else None
        unlabelled = 0
        if by is not None:
            known, unlabelled = with_nobody(known, [*opened.ids(), *(one.id for one in asked or ())])
        check_experiment(opened, known, names, chosen, asked)
        track = Progresses(quiet)
        tables = index(opened, similarity, track, prepare, place, track.before)
        experiment = Experiment(opened, tables, known, names, chosen, asked, split, count_query, decisions)
        if not split:
            for name in experiment.methods:
                for fitted in experiment.fitted(name, track, track.before):
                    say_caution(fitted, quiet)
        sweep = experiment.focus if report is not None else None
        done = experiment.already_asked(sweep)
        if done:
            say(f"going on after {done} queries of an interrupted run", quiet)
        result = experiment.run(sweep, track)
        parted = None if by is None or groups is None else grouped(result, by, groups, unlabelled)
        if report is not None:
            from lookalike.evaluation.report import report as write

            write(report, experiment, result, faces, _command(), track, parted)
        experiment.finish()
    if json:
        print_json(result.to_dict() | ({} if parted is None else {"by": parted.to_dict()}))
    else:
        print_evaluation(result)
        if parted is not None:
            print_groups(parted)
    if report is not None:
        say(f"the report is in {report / 'report.html'}", quiet)


def compare(
    first: Annotated[Path, typer.Argument(metavar="A.json", help="report.json of a run, or its folder.")],
    second: Annotated[Path, typer.Argument(metavar="B.json", help="report.json of another run.")],
    json: Json = False,
) -> None:
    """Compare two recorded evaluations, query by query where both asked the same."""
    from lookalike.evaluation.measures import MEASURES
    from lookalike.evaluation.statistics import compare as compare_records
    from lookalike.evaluation.statistics import read_record, words

    found = compare_records(read_record(first), read_record(second))
    if json:
        print_json(found.to_dict())
        return
    for what, names in ((f"only in {first}", found.only_first), (f"only in {second}", found.only_second)):
        if names:
            print(plain(f"{what}: {', '.join(names)}"))
    if found.differences:
        print(f"made otherwise: {', '.join(found.differences)}")
    columns = [("method", "left"), ("measure", "left"), ("first", "right"), ("second", "right")]
    print_table(
        [*columns, ("second - first", "right"), ("95 % interval", "left"), ("p", "right")],
        (
            (
                line.method,
                MEASURES[line.measure][0],
                f"{line.first:.4f}",
                f"{line.second:.4f}",
                f"{line.change.difference.mean if line.change else line.second - line.first:+.4f}",
                f"{line.change.difference.low:+.4f} to {line.change.difference.high:+.4f}"
                if line.change
                else "-",
                f"{line.p_corrected:.4f}" if line.change else "-",
            )
            for line in found.lines
        ),
    )
    print(plain(words(found)))


def _suspects(
    gallery: Path,
    labels: list[Path],
    reranker: str,
    similarity: str,
    prepare: str,
    seed: int,
    engine: str | None,
    address: str | None,
    json: bool,
    quiet: bool,
) -> None:
    """List labels that are probably wrong."""
    from lookalike import open_gallery, open_search
    from lookalike.evaluation.labels import check_labels, join_labels, read_labels
    from lookalike.evaluation.suspects import suspects

    known = join_labels(read_labels(path) for path in labels)
    track = Progresses(quiet)
    with open_engine(engine, address) as place, open_gallery(gallery) as opened:
        check_labels(known, opened.ids())
        search = open_search(
            opened, similarity, reranker, seed, track, None, prepare, place, before=track.before
        )
        found = suspects(search, known, track)
    if json:
        print_json(found.to_dict())
        return
    print(f"{len(found.sets)} of {found.labelled} sets look like somebody else's", end="")
    print(f"; {found.alone} cannot be told, for nobody else has their label" if found.alone else "")
    if found.sets:
        columns = [("probability", "right"), ("set", "left"), ("label", "left"), ("seems", "left")]
        rows = [(percent(one.probability), one.id, one.label, one.seems, one.nearest) for one in found.sets]
        print_table([*columns, ("nearest", "left")], rows[:MOST_SUSPECTS])
        if len(rows) > MOST_SUSPECTS:
            print(f"and {len(rows) - MOST_SUSPECTS} less probable ones: --json has all")
    print(f"\n{len(found.pairs)} pairs of labels are more likely one person than two")
    if found.pairs:
        print_table(
            [("probability", "right"), ("label", "left"), ("label", "left"), ("sets", "right")],
            ((percent(one.probability), one.one, one.other, one.sets) for one in found.pairs),
        )


def _check_report(folder: Path) -> None:
    """Refuse a folder that could not be written in the end, before the work is done."""
    from lookalike.evaluation.drawing import check_libraries
    from lookalike.evaluation.report import check_report_folder

    check_libraries()
    check_report_folder(folder)


def _command() -> str:
    """How the command was called, as a person would type it."""
    return shlex.join(["lookalike", *sys.argv[1:]])


def _names(text: str) -> list[str]:
    """Split a list of parts at its commas, but not at those between the options of a part."""
    names: list[str] = []
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        if names and "=" in piece and ":" not in piece:
            names[-1] += f",{piece}"
        else:
            names.append(piece)
    if EVERYTHING in names:
        from lookalike import registry

        # What is named comes first, in its order; then everybody else.
        named = [name for name in names if name != EVERYTHING]
        others = sorted(registry.names("rerankers"), key=lambda name: name != PLAIN)
        return [*named, *(name for name in others if name not in named)]
    return names
