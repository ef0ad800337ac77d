"""Demo: the whole tour on a collection of people who never existed."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from lookalike import atomic
from lookalike.demo.films import draw_collection, write_collection
from lookalike.errors import BadInput, StorageFailed
from lookalike.evaluation.drawing import check_libraries
from lookalike.evaluation.experiment import Experiment
from lookalike.evaluation.labels import Labels, read_labels
from lookalike.evaluation.measures import Evaluation
from lookalike.evaluation.report import report
from lookalike.gallery.gallery import Gallery
from lookalike.indexing.build import index
from lookalike.indexing.fit import check_seed
from lookalike.ingest.add import add
from lookalike.progress import Track
from lookalike.ranking import Answer, Ranking
from lookalike.search.picture import draw_ranking
from lookalike.search.query import Search

PEOPLE = 60
# Hard enough that the baseline makes mistakes, and a person still sees who is who.
DIFFICULTY = 0.4
# The mark of a folder that a demo made, and everything that a demo puts there.
MARK = ".lookalike-demo"
GALLERY = "demo.gallery"
REPORT = "report"
MADE = (
    "clips",
    "labels.csv",
    "ranking.png",
    GALLERY,
    f"{GALLERY}-wal",
    f"{GALLERY}-shm",
    f"{GALLERY}.derived",
    REPORT,
)
RERANKERS = ("auto", "learnt", "csls", "cprr")
SEEDS = (0, 1, 2)


def run(folder: Path, seed: int, track: Track) -> Path:
    """Draw, add, index, train, compare methods, find, show why, report; end on one screen.

    The folder may hold an earlier demo, which is replaced, but nothing else (BadInput). The path of the
    gallery is returned.
    """
    check_seed(seed)
    try:
        _clear(folder)
        atomic.make_folders(folder)
        atomic.write(folder / MARK, b"Made by `lookalike demo`, which replaces what is here.\n", over=True)
    except OSError as reason:
        raise StorageFailed(f"{folder} cannot be used for the demo: {reason.strerror}") from reason
    print(f"Drawing {PEOPLE} people who never existed ...")
    drawn = track(draw_collection(PEOPLE, difficulty=DIFFICULTY, seed=seed), "drawing clips", None)
    write_collection(folder, drawn)
    labels = read_labels(folder / "labels.csv")
    path = folder / GALLERY
    done = add(path, [folder / "clips"], track=track, cropped=True)
    with Gallery(path) as gallery:
        tables = index(gallery, track=track)
        experiment = Experiment(gallery, tables, labels, RERANKERS, SEEDS)
        result = experiment.run(RERANKERS[0], track)
        search = Search(tables, experiment.fitted(RERANKERS[0])[0])
        query = _telling_query(search, result, labels)
        matches = {id for id, person in labels.items() if person == labels[query] and id != query}
        ranking = search.find(query, 10)
        right = [answer for answer in ranking if answer.id in matches]
        # The right answer that rose most, or the first one.
        shown = max(right or ranking, key=lambda a: (a.baseline_rank - a.rank, -a.rank))
        draw_ranking(gallery, search, query, folder / "ranking.png", 8, matches)
        said = [
            f"{PEOPLE} people who never existed are on {len(done.added)} drawn clips. No clip is labelled.",
            "",
            f"Question  Which other clips show the person of {query}?",
            f"Found     {', '.join(answer.id for answer in right) or 'none'}: {len(right)} of "
            f"{len(matches)} other clips of this person, among the first {len(ranking)} answers.",
            *_reasons(search, query, shown),
            "",
            f"Picture   {folder / 'ranking.png'}",
            f"Report    {_report(folder, experiment, result, track)}",
            f"Page      {sys.argv[0]} serve {shlex.quote(str(path))}",
            f"Yours     {sys.argv[0]} open FOLDER",
        ]
        experiment.finish()
    print("\n".join(said))
    return path


def _reasons(search: Search, query: str, shown: Answer) -> list[str]:
    """Through whom an answer was found, and why, in two sentences."""
    speakers = [one for one in search.explain(query, shown.id).relatives if one.moved > 0]
    if shown.baseline_rank <= shown.rank or not speakers:
        return [f"Why       Compared directly, {shown.id} is alike. No other clip was needed."]
    first = max(speakers, key=lambda one: one.moved)
    return [
        f"Through   {first.id}, which resembles both {query} and {shown.id}",
        f"Why       Compared directly, {shown.id} would be answer {shown.baseline_rank}.",
        f"          It is answer {shown.rank}, because {first.id} and other clips resemble both.",
    ]


def _report(folder: Path, experiment: Experiment, result: Evaluation, track: Track) -> str:
    """Write the report and say where; without the libraries that draw it, say how to get them."""
    try:
        check_libraries()
    except BadInput as reason:
        return f"none: {reason}"
    command = f"lookalike demo --out {shlex.quote(str(folder))}"
    report(folder / REPORT, experiment, result, faces=True, command=command, track=track)
    return f"{folder / REPORT / 'report.html'} (how well each method finds these people)"


def _telling_query(search: Search, result: Evaluation, labels: Labels) -> str:
    """Choose a query that shows what the re-ranker does: most right answers that it brought up.

    Its first answer is right: whoever tries the product first shall not meet a mistake first.
    """

    def told(ranking: Ranking) -> tuple[bool, int, int]:
        right = [answer for answer in ranking if labels[answer.id] == labels[ranking.query]]
        brought = sum(answer.baseline_rank > len(ranking) for answer in right)
        return bool(right) and right[0].rank == 1, brought, len(right)

    return max(search.find_many(result.queries, 10), key=told).query


def _clear(folder: Path) -> None:
    """Remove an earlier demo, known by its mark; refuse a folder with anything else in it."""
    if not folder.exists():
        return
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / MARK).is_file()):
        raise BadInput(f"{folder} holds something that is not a demo: choose another folder with --out")
    for name in MADE:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            atomic.delete_tree(path, quietly=False)
        else:
            atomic.delete(path)
