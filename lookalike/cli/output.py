"""What a person sees in the terminal: options, progress, tables, reasons, errors in one line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from lookalike.faceset import timecode
from lookalike.progress import Step
from lookalike.progress import Task as Making
from lookalike.ranking import percent

# What draws tables and bars takes longer to load than most commands take: it is loaded where it is used.
if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import ProgressColumn, Task

    from lookalike.engines import contract
    from lookalike.evaluation.measures import Evaluation
    from lookalike.evaluation.statistics import Grouped
    from lookalike.rerankers import contract as rerankers
    from lookalike.search.explain import Explanation, Line

GalleryPath = Annotated[Path, typer.Argument(metavar="GALLERY", help="The gallery file.")]
Query = Annotated[
    str,
    typer.Argument(metavar="QUERY", help="A set id, a photo, a video, a folder of photos or an .npz file."),
]
Queries = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="QUERY...",
        help="A set id, a photo, a video, a folder of photos or an .npz file; several are one person.",
        show_default=False,
    ),
]
Plain = Annotated[bool, typer.Option("--plain", help="Ignore decisions, and who was seen together.")]
QuerySet = Annotated[
    str | None, typer.Option("--set", metavar="ID", help="The set to search with, if QUERY holds several.")
]
Face = Annotated[
    int | None,
    typer.Option(metavar="N", help="The face to search with, counted from the left, if QUERY shows several."),
]
At = Annotated[
    str | None, typer.Option(metavar="TIME", help="When the face is seen in the video, as 00:01:10 or 70.5.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no remarks.")]
Similarity = Annotated[
    str, typer.Option(metavar="NAME", help="Set similarity, with options as in max_max:samples=10.")
]
Prepare = Annotated[
    str,
    typer.Option(
        "--prepare",
        metavar="NAME",
        help="Preparation of faces, with options as in within:root=true; or none.",
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine", metavar="NAME", show_default="local", help="Where to compare sets: local or ray."
    ),
]
Address = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="The Ray cluster (default: one is started for this command)."),
]
OneReranker = Annotated[
    str, typer.Option(metavar="NAME", help="Re-ranker, with options as in learnt:proxies=5.")
]
Seed = Annotated[
    int, typer.Option(metavar="N", help="Seed for the random sets from which the re-ranker learns.")
]

Item = TypeVar("Item")

# Letters in a line of a table that goes to a file or another program.
WIDE: Final = 200

# Without a terminal, one line at most this often says how far the work is.
SECONDS_BETWEEN_LINES = 10.0


@cache
def console(stderr: bool = False) -> Console:
    """Where people read: data goes to stdout, everything else to stderr."""
    from rich.console import Console

    is_file = not stderr and not (sys.stdout and sys.stdout.isatty())
    width = WIDE if is_file else None
    return Console(stderr=stderr, highlight=False, emoji=False, soft_wrap=True, width=width)


class Progresses:
    """Shows progress on stderr: a bar in a terminal, a line now and then in a log, nothing if quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    def __call__(self, items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        """Yield the items, showing how many have passed and how long the rest will take."""
        if self.quiet:
            return iter(items)
        is_seen = console(stderr=True).is_terminal
        return self._bar(items, text, total) if is_seen else self._lines(items, text, total)

    def before(self, task: Making) -> None:
        """Say what is about to be made."""
        say(task.words, self.quiet)

    def _bar(self, items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        # A file may be called like a style.
        words = TextColumn("{task.description}", markup=False)
        columns = words, BarColumn(), MofNCompleteColumn(), _time_left()
        with Progress(*columns, console=console(stderr=True), transient=True) as bar:
            task = bar.add_task(text, total=total)
            for item in items:
                yield item
                told = {"description": f"{text}: {plain(item.words)}"} if isinstance(item, Step) else {}
                bar.update(task, advance=1, left=getattr(item, "left", None), **told)  # type: ignore[arg-type]

    def _lines(self, items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        start = said = time.monotonic()
        for done, item in enumerate(items, start=1):
            yield item
            now = time.monotonic()
            if now - said >= SECONDS_BETWEEN_LINES:
                said = now
                step = item if isinstance(item, Step) else Step("")
                rest = (now - start) / done * ((total or 0) - done) if step.left is None else step.left
                left = f" of {total}, about {rest:.0f} s left" if total else ""
                words = f"; {plain(step.words)}" if step.words else ""
                console(stderr=True).print(f"{text}: {done}{left}{words}", markup=False)


def _time_left() -> ProgressColumn:
    """Time left as the work itself tells it, or as its pace so far does."""
    from rich.progress import TimeRemainingColumn
    from rich.text import Text

    class Left(TimeRemainingColumn):
        def render(self, task: Task) -> Text:
            """Write it as hours, minutes and seconds."""
            left = task.fields.get("left")
            if left is None:
                return super().render(task)
            minutes, seconds = divmod(round(left), 60)
            return Text(f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}", style="progress.remaining")

    return Left()


def plain(text: str) -> str:
    """Show control characters by their number: a name may not steer the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def say(text: str, quiet: bool = False) -> None:
    """Tell the person something that is not data."""
    if not quiet:
        console(stderr=True).print(text, markup=False)


def say_caution(reranker: rerankers.Reranker, quiet: bool) -> None:
    """Say what is to be minded of a re-ranker, if anything is."""
    if reranker.caution:
        say(f"lookalike: {reranker.caution}", quiet)


def open_engine(name: str | None, address: str | None) -> AbstractContextManager[contract.Engine | None]:
    """The engine that is asked for, closed when the work is done; None without one, as for the library."""
    if name is None and address is None:
        return nullcontext()
    from lookalike import registry

    name = name or "local"
    given = "" if address is None else f"{',' if ':' in name else ':'}address={address}"
    engine: contract.Engine = registry.build("engines", f"{name}{given}")
    return engine


def seen_from_to(start: float | None, end: float | None) -> str:
    """From when to when a set is seen in its video; nothing for what is in no video."""
    return "" if start is None or end is None else f"{timecode(start)} - {timecode(end)}"


def listed(paths: Iterable[str]) -> str:
    """Files by their names, without their folders."""
    return ", ".join(PurePath(path).name for path in paths)


def print_json(value: Any) -> None:
    """Print data for programs: one object."""
    # Plain print: no colours, no wrapping. What the output cannot hold is escaped the way JSON does.
    wide = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    print(json.dumps(value, ensure_ascii=not wide, indent=2, allow_nan=False))


def print_table(
    columns: list[tuple[str, str]], rows: Iterable[Iterable[object]], title: str | None = None
) -> None:
    """Print data for people. Columns are (heading, justify)."""
    cells = [[plain(str(cell)) for cell in row] for row in rows]
    lines = None if title else _lines_of_table(columns, cells)
    if lines is not None:
        print(*lines, sep="\n")
        return
    from rich.table import Table
    from rich.text import Text

    shown = Text(plain(title)) if title else None
    table = Table(title=shown, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for heading, justify in columns:
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in cells:
        table.add_row(*map(Text, row))
    console().print(table)


def _lines_of_table(columns: list[tuple[str, str]], rows: list[list[str]]) -> list[str] | None:
    """The lines of a table; None where rich is needed: in a terminal, or if letters or lines are wide."""
    table = [[heading for heading, _ in columns], *rows]
    if (sys.stdout and sys.stdout.isatty()) or not all(cell.isascii() for row in table for cell in row):
        return None
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) > WIDE or 0 in widths:
        return None
    is_right = [justify == "right" for _, justify in columns]
    return [
        "  ".join(
            cell.rstrip().rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_right, strict=True)
        )
        for row in table
    ]


# Reasons in words: an explanation and an evaluation for people to read.


def print_explanation(explanation: Explanation) -> None:
    """Print the evidence: the baseline first, then what every proxy says, the most convinced first."""
    from lookalike.method.metafeatures import NUMBERS

    answer = explanation.answer
    print_place(explanation)
    print(
        f"Its score is {answer.score:.3f}. By themselves the two are {answer.baseline:.3f} alike (baseline), "
        f"which is rank {answer.baseline_rank}: face {explanation.query_face} of the query and face "
        f"{explanation.target_face} of the target."
    )
    if answer.probability is not None:
        who = ", both"
        # Beside the probability of the answer this one would contradict it, unless it says whose it is.
        if explanation.ranked is not None or explanation.verdict is not None:
            who = f" without decisions, {explanation.asked or explanation.query} and {answer.id}"
        print(plain(f"As far as this gallery can tell{who} are one person with probability {answer.sure}."))
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


def print_place(explanation: Explanation) -> None:
    """Print which answer it is, or why it is none, before the evidence of two sets alone."""
    answer, query, ranked = explanation.answer, explanation.query, explanation.ranked
    alone = f"answer {answer.rank} of {explanation.total} for {explanation.asked or query}"
    if explanation.verdict is not None:
        who = "the same person" if explanation.verdict == "same" else "somebody else"
        why = f"it is known to show {who} ({explanation.reason})"
        print(plain(f"{answer.id} is no answer for {query}: {why}. Without decisions it would be {alone}."))
    elif ranked is not None:
        sure = "" if ranked.probability is None else f", with probability {ranked.sure}"
        place = f"{answer.id} is answer {ranked.rank} of {explanation.among} for {query}{sure}"
        print(plain(f"{place}, with decisions counted. Without them it would be {alone}:"))
    else:
        print(plain(f"{answer.id} is {alone}."))


def _print_sum(explanation: Explanation) -> None:
    """Print what the score is the sum of: the pair alone, and what others added."""
    from lookalike.search.explain import agreeing

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
    print(f"Lists count {100 * trust:.0f} % for this query: {agrees}. What the score is the sum of:\n")
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
    """Print the counts and one line of measures for each re-ranker."""
    from lookalike.evaluation.measures import MEASURES, SURENESS

    facts = result.to_dict()
    print(f"{facts['queries']} queries, {facts['sets']} sets, {facts['distractors']} of them distractors")
    queries, people = result.with_one_match()
    print(f"{queries} queries have a single match, of {people} people")
    if result.query_counted:
        print(
            "The query counts as its own match, found first (--count-query): ANR and mAP look better than "
            "they are, rank-1 and match in 100 are 1 whatever is found."
        )
    if result.known is not None:
        told = result.known
        print(
            f"Decisions count (--decisions): of {told.queries} queries something was known, {told.confirmed} "
            f"times a set was ranked first as confirmed and {told.rejected} times last as rejected, "
            f"{told.contradicted} of them against the labels."
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
    from lookalike.evaluation.statistics import INTERVAL, METHOD

    for columns, rows in (parted.measures(), parted.sureness()):
        if rows:
            print()
            words = {METHOD: "reranker", INTERVAL: INTERVAL, parted.column: parted.column}
            print_table([(words.get(one, one), "left" if one in words else "right") for one in columns], rows)
    if remarks := parted.remarks():
        print("", *map(plain, remarks), sep="\n")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
