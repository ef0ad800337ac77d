"""Ranking: the answers to one query, best first; as text, and as HTML that a notebook can show."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from importlib import import_module
from typing import Any, Final, overload

from lookalike.errors import BadInput, LookalikeError

# How many faces stand for a set: as many as fit into a line.
FACES: Final = 6
SIDE: Final = 56  # pixels
# The kinds of pictures that a gallery keeps, by their first bytes. SVG would be a document, not pixels.
KINDS: Final = (
    (b"\x89PNG\r\n\x1a\n", 0, "png"),
    (b"\xff\xd8\xff", 0, "jpeg"),
    (b"WEBP", 8, "webp"),
)

# Half-transparent gray is seen on white and on black, and all else is left to the notebook.
RULE: Final = "1px solid rgba(128,128,128,.4)"
CELL: Final = f"padding:.25em .8em .25em 0;border:0;border-top:{RULE};vertical-align:middle;text-align:left"
LINE: Final = "border-top:3px double currentColor"
PICTURE: Final = (
    f"display:inline-block;width:{SIDE}px;height:{SIDE}px;object-fit:cover;margin:0 2px 0 0;"
    "border-radius:3px;vertical-align:middle"
)
TABLE: Final = "border-collapse:collapse;margin:.5em 0;font-variant-numeric:tabular-nums"
# Notebooks typeset what stands between dollars, unless told not to: a name may not be a formula.
NO_FORMULAS: Final = "tex2jax_ignore mathjax_ignore"


@dataclass(frozen=True)
class Strip:
    """One line: what is said of a set, and its faces."""

    name: str  # id of the set
    words: Sequence[str]  # one for each column, in the order of the headings; the name comes behind the first
    pictures: Sequence[bytes] = field(default=(), repr=False)  # encoded, of its faces, as many as there are
    line: bool = False  # whether a double line is drawn above it


def table(title: str, headings: Sequence[str], strips: Sequence[Strip], notes: Sequence[str] = ()) -> str:
    """Draw strips as a table: no script, no style sheet, nothing loaded from elsewhere, all text escaped.

    `title` is read aloud before the table. There is a heading for each of the words of a strip; ``set`` and
    ``faces`` are put between and behind, faces only if somebody has a picture. `notes` stand below.
    """
    drawn = [faces(one) for one in strips]
    pictured = any(drawn)
    first, *rest = headings
    shown = (first, "set", *rest, *(("faces",) if pictured else ()))
    head = "".join(f'<th scope="col" style="{CELL};border-top:0">{escape(one)}</th>' for one in shown)
    rows = "".join(
        _row(strip, (images,) if pictured else ()) for strip, images in zip(strips, drawn, strict=True)
    )
    below = "".join(f'<p style="margin:.3em 0">{escape(note)}</p>' for note in notes)
    return (
        f'<div class="{NO_FORMULAS}"><table style="{TABLE}">'
        f'<caption style="caption-side:top;text-align:left;color:inherit">{isolated(title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{below}</div>"
    )


def isolated(text: str) -> str:
    """Text of others, escaped; letters that turn the direction of writing turn nothing beyond it."""
    return f"<bdi>{escape(text)}</bdi>"


def faces(strip: Strip, count: int = FACES) -> str:
    """A few faces of a set, spread over it, as pictures inside the page; nothing if there are none."""
    addresses = [address for one in spread(strip.pictures, count) if (address := data_address(one))]
    return "".join(
        f'<img src="{address}" alt="face of {escape(strip.name)}" style="{PICTURE}">' for address in addresses
    )


def still_there(pictures: Callable[[str], Sequence[bytes]] | None, set_id: str) -> Sequence[bytes]:
    """The pictures of a set; none where they are gone: what was found may outlast its gallery."""
    try:
        return pictures(set_id) if pictures else ()
    except LookalikeError:
        return ()


def spread(pictures: Sequence[bytes], count: int = FACES) -> list[bytes]:
    """At most so many of them, in even steps from the first on."""
    kept = min(count, len(pictures))
    return [pictures[place * len(pictures) // kept] for place in range(kept)]


def media_type(picture: bytes) -> str | None:
    """What a browser is told that a picture is; None if it is no PNG, JPEG or WebP."""
    for start, place, kind in KINDS:
        if picture[place : place + len(start)] == start:
            return f"image/{kind}"
    return None


def data_address(picture: bytes) -> str | None:
    """A picture as its own address; None if it is no PNG, JPEG or WebP."""
    kind = media_type(picture)
    return None if kind is None else f"data:{kind};base64,{b64encode(picture).decode('ascii')}"


def _row(strip: Strip, images: Sequence[str]) -> str:
    style = f"{CELL};{LINE}" if strip.line else CELL
    first, *rest = strip.words
    cells = [escape(first), None, *map(isolated, rest), *images]
    return "<tr>{}</tr>".format(
        "".join(
            f'<th scope="row" style="{style};font-weight:inherit">{isolated(strip.name)}</th>'
            if cell is None
            else f'<td style="{style}">{cell}</td>'
            for cell in cells
        )
    )


# Ranking: the answer to a query, best first, with the reason for every place.


# A notebook keeps what it shows: a few dozen rows of faces are a megabyte.
MOST_SHOWN: Final = 20


@dataclass(frozen=True)
class Answer:
    """One set of the gallery in its place.

    Attributes
    ----------
    rank : int
        1 is best; on a shortlist, its place there.
    id : str
        The set.
    score : float
        How sure the re-ranker is that it shows the query's person.
    baseline : float
        How alike the two sets are by themselves.
    baseline_rank : int
        Its place without the re-ranker, among the same sets.
    through : str or None
        The proxy that made the score; None if no single one did.
    probability : float or None
        How likely it is the query's person, as far as this gallery can tell; never more than for the answer
        before. None where nothing can be said.

    Examples
    --------
    >>> from lookalike import Answer
    >>> answer = Answer(1, "clip-7", 0.83, 0.61, baseline_rank=4, through="clip-2", probability=0.947)
    >>> answer.way, answer.sure
    ('clip-2', '95 %')
    """

    rank: int
    id: str
    score: float
    baseline: float
    baseline_rank: int
    through: str | None
    probability: float | None = None

    @property
    def way(self) -> str:
        """How the score came about, in a word: the proxy, directly, or by the neighbourhood as a whole."""
        return self.through or ("directly" if self.score == self.baseline else "neighbours")

    @property
    def sure(self) -> str:
        """The probability for people; see `percent`."""
        return percent(self.probability)


# What is known of an answer, and the kind of it, in order.
ANSWER_COLUMNS: Final[dict[str, type]] = {
    "rank": int,
    "id": str,
    "score": float,
    "baseline": float,
    "baseline_rank": int,
    "through": str,
    "probability": float,
}


@dataclass(frozen=True)
class Decided:
    """A set that is no answer, because it is known whom it shows; and how that is known, in words."""

    id: str
    reason: str = ""


@dataclass(frozen=True)
class Ranking(Sequence[Answer]):
    """Sets of a gallery in decreasing order of confidence that they match the query.

    Attributes
    ----------
    query : str
        Id of the query set.
    answers : tuple of Answer
        Best first; all sets of the gallery, or the first few.
    total : int
        How many sets were ranked.
    similarity, reranker : str
        The parts that made the order, with their options.
    sets : int
        How many sets there are besides the query: more than were ranked if a shortlist was.
    worth_reading : int or None
        How many sets, the first ones, are more likely the query's person than not; there may be more of them
        than answers were asked for. None where nothing can be said.
    confirmed, rejected : tuple of Decided
        Sets that are known to show the query's person, who ask too, and somebody else. They are no answers,
        and no rank counts them.
    pictures : callable, optional
        Gives the pictures of a set by its id, for notebooks; no part of what a ranking says.
    query_pictures : sequence of bytes, optional
        Those of a query from outside; None if the query is a set of the gallery.

    Examples
    --------
    >>> from lookalike import find
    >>> from lookalike.demo.vectors import vector_world
    >>> sets = [one for one, _ in vector_world(counts={3: 8}, faces=4, dimension=118)]
    >>> ranking = find("video-0001", sets, reranker="baseline", top=2)
    >>> ranking.ids, ranking.total, ranking[0].rank
    (['video-0019', 'video-0016'], 23, 1)
    """

    query: str
    answers: tuple[Answer, ...]
    total: int
    similarity: str
    reranker: str
    sets: int
    worth_reading: int | None = None
    pictures: Callable[[str], Sequence[bytes]] | None = field(default=None, compare=False, repr=False)
    query_pictures: Sequence[bytes] | None = field(default=None, compare=False, repr=False)
    confirmed: tuple[Decided, ...] = ()
    rejected: tuple[Decided, ...] = ()

    @overload
    def __getitem__(self, place: int) -> Answer: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Answer, ...]: ...
    def __getitem__(self, place: int | slice) -> Answer | tuple[Answer, ...]:
        return self.answers[place]

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    @property
    def ids(self) -> list[str]:
        """The sets in order."""
        return [answer.id for answer in self.answers]

    @property
    def reading(self) -> str:
        """Where the ranking stops being worth reading, in a sentence."""
        worth = self.worth_reading
        if not self.sets and (self.confirmed or self.rejected):
            return "No set is left to compare: all others are decided."
        if worth is None:
            return "There are too few sets for probabilities."
        if not worth:
            said = "No answer is more likely the same person than not."
        elif worth == 1:
            said = "Only the first answer is more likely the same person than not."
        else:
            more = f"; {len(self)} are shown" if worth > len(self) else ""
            said = f"The first {worth} answers are more likely the same person than not{more}."
        # Confirming the most probable answers lowers the probabilities of the rest.
        fewer = "Confirmed sets are not counted, so fewer matches are left among the others."
        return f"{said} {fewer}" if self.confirmed else said

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        plain = asdict(replace(self, pictures=None, query_pictures=None))
        return {name: value for name, value in plain.items() if not name.endswith("pictures")}

    def to_arrow(self) -> Any:
        """The answers as a table of Arrow, one a row; needs pyarrow."""
        arrow = _library("pyarrow", "lookalike[parquet]")
        kinds = {int: arrow.int64(), float: arrow.float64(), str: arrow.string()}
        columns = [(name, kinds[kind]) for name, kind in ANSWER_COLUMNS.items()]
        return arrow.Table.from_pylist([asdict(one) for one in self.answers], arrow.schema(columns))

    def to_pandas(self) -> Any:
        """The answers as a data frame of pandas, one a row, by rank; needs pandas."""
        pandas = _library("pandas", "pandas")
        rows = [asdict(one) for one in self.answers]
        return pandas.DataFrame(rows, columns=list(ANSWER_COLUMNS)).set_index("rank")

    def _repr_html_(self) -> str:
        """The answers as strips of faces, for notebooks: the query first, then the best."""
        headings = ("rank", "probability", "score", "baseline", "through")
        asked = still_there(self.pictures, self.query) if self.query_pictures is None else self.query_pictures
        query = Strip(self.query, ("query", *("" for _ in headings[1:])), asked)
        shown = self.answers[:MOST_SHOWN]
        reading = replace(self, answers=shown).reading
        strips = [
            Strip(
                one.id,
                (
                    str(one.rank),
                    one.sure,
                    f"{one.score:.3f}",
                    f"{one.baseline:.3f} (rank {one.baseline_rank})",
                    one.way,
                ),
                still_there(self.pictures, one.id),
                # Below it an answer is more likely somebody else.
                line=self.worth_reading is not None and one.rank == self.worth_reading + 1,
            )
            for one in shown
        ]
        known = [
            Strip(one.id, ("", "confirmed", "", "", one.reason), still_there(self.pictures, one.id))
            for one in self.confirmed[:MOST_SHOWN]
        ]
        title = f"{len(shown)} of {self.total} sets, ranked by {self.reranker.partition(':')[0]}"
        return table(title, headings, [query, *known, *strips], [reading])


def _library(name: str, package: str) -> Any:
    """A library that is not needed otherwise."""
    try:
        return import_module(name)
    except ImportError:
        raise BadInput(f"this needs {name}, which is not installed: pip install '{package}'") from None


def percent(probability: float | None) -> str:
    """A probability for people: whole percent, never quite none or all; a dash where nothing can be said."""
    if probability is None:
        return "-"
    if probability <= 0.005:
        return "< 1 %"
    return "> 99 %" if probability >= 0.995 else f"{100 * probability:.0f} %"
