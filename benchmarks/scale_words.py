"""Words of the page about scale: amounts, durations and tables as people read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

Show = Callable[[float | None], str]
NOTHING = "not measured"
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_TIMES = (
    (365 * 86_400.0, "years"),
    (86_400.0, "days"),
    (3600.0, "h"),
    (60.0, "min"),
    (1.0, "s"),
    (1e-3, "ms"),
    (1e-6, "µs"),
    (1e-9, "ns"),
)


def number(value: float | None) -> str:
    """Two or three digits that count."""
    if value is None:
        return NOTHING
    if value >= 100:
        return f"{value:,.0f}"
    return (f"{value:.1f}" if value >= 10 else f"{value:.2g}").removesuffix(".0")


def amount(value: float | None) -> str:
    """Bytes."""
    if value is None:
        return NOTHING
    size, unit = next(((size, unit) for size, unit in _UNITS if value >= size), (1.0, ""))
    return f"{number(value / size)} {unit}B"


def duration(value: float | None) -> str:
    """Seconds, in the unit that suits them."""
    if value is None:
        return NOTHING
    # Two of a unit at least, but for those that have no smaller neighbour.
    for size, unit in _TIMES:
        if value >= (2 * size if size > 1 else size):
            return f"{number(value / size)} {unit}"
    return "0 s" if value == 0 else f"{value:.1e} s"


def rate(value: float | None) -> str:
    """Floating point operations a second."""
    return NOTHING if value is None else f"{number(value / 1e9)} GFLOP/s"


def count(sets: float) -> str:
    """How many sets."""
    if sets >= 1e9:
        return f"{number(sets / 1e9)} billion"
    return f"{number(sets / 1e6)} million" if sets >= 1e6 else f"{sets:,.0f}"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as Markdown."""
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


MEASURED: dict[str, tuple[str, Show]] = {
    "set_bytes": ("a prepared set, in memory and on disk", amount),
    "gallery_bytes": ("a set in the gallery file, without pictures", amount),
    "id_bytes": ("id, hash and place of a set at the coordinator", amount),
    "prepare": ("preparing a set", duration),
    "multiply_rate": ("bare multiplication of two runs", rate),
    "near_rate": ("comparing two runs (`match_near`)", rate),
    "finish": ("finishing a pair that may be neighbours", duration),
    "row": ("a set of a query's row", duration),
    "some_row": ("the same, of sets that lie all over the memory", duration),
    "place_row": ("putting what is said of a set in its place", duration),
    "fetch": ("fetching a set for a run", duration),
    "list_merge": ("a list that changes", duration),
    "pair_merge": ("a pair that is offered", duration),
    "feature": ("the five numbers of a target and a proxy", duration),
    "agreement": ("looking up an agreement", duration),
    "pool": ("weighing a set by its strangers and pooling it with its kin", duration),
    "code_bytes": ("a coded face", amount),
    "look_fixed": ("a query by shortlist, whatever the size", duration),
    "look_face": ("the same, for each coded face", duration),
    "look_batch": ("a face among many, for each coded face", duration),
}
