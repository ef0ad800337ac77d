"""Sheet: what was found about somebody as one page to hand over, which needs nothing but a browser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from itertools import chain, groupby, repeat
from pathlib import PurePath
from typing import Final

from lookalike import __version__
from lookalike.errors import BadInput
from lookalike.exchange.appearances import Appearance, Selection, files_of_faces
from lookalike.faceset import timecode
from lookalike.gallery.decisions import decision_lines
from lookalike.ranking import data_address, isolated, percent, spread

# A page of so many faces has about 50 MB; more is no sheet any more.
MOST: Final = 1000
FACES: Final = 6
# Nothing runs and nothing is loaded, whatever a name says.
POLICY: Final = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0; }
dt { opacity: .75; } dd { margin: 0; overflow-wrap: anywhere; }
article { border-top: 1px solid GrayText; padding: 1rem 0; break-inside: avoid; }
article h3 { margin: 0 0 .5rem; font-size: 1rem; overflow-wrap: anywhere; }
img { width: 88px; height: 88px; object-fit: cover; border-radius: 4px; margin: 0 4px 4px 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
td, th { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; }
@media (max-width: 36rem) { dl { display: block; } dd { margin: 0 0 .4rem; } }
"""
MEANING: Final = (
    "The probability of an answer says how likely it is that the set shows the person of the query, as "
    "estimated on this gallery itself, without labels: of 100 answers at 80 %, about 80 should be right. "
    "It is an estimate by a program, no identification: people who are alike, faces that are small, dark or "
    "turned, and groups whom the model knows less well make it err. Look at the faces and the videos before "
    "you decide."
)


def as_sheet(chosen: Selection) -> bytes:
    """One page of HTML, with faces, places, times, hashes, versions, decisions; no script, nothing loaded."""
    if len(chosen.appearances) > MOST:
        raise BadInput(
            f"a sheet shows up to {MOST} appearances, and {len(chosen.appearances)} were chosen: "
            "choose a person, some sets, or a table (csv, json, parquet)"
        )
    page = "".join(_page(chosen))
    return page.encode("utf-8", "backslashreplace")


def _page(chosen: Selection) -> Iterator[str]:
    ranking, gallery = chosen.ranking, chosen.gallery
    what = "Answers for" if ranking is not None else "Appearances of" if chosen.person else "Appearances in"
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{what} {escape(chosen.title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{what} {isolated(chosen.title)}</h1>\n"
    )
    facts = {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "by": f"lookalike {__version__}",
        "gallery": PurePath(gallery.path).name,
        "gallery SHA-256": gallery.fingerprint(),
        "faces described by": gallery.descriptor or "",
        "appearances": str(len(chosen.appearances)),
    }
    if ranking is not None:
        facts |= {"compared by": ranking.similarity, "ranked by": ranking.reranker}
        facts["ranked"] = f"{len(ranking)} of {ranking.total} sets are shown. {ranking.reading}"
    yield _facts(facts)
    if ranking is not None:
        yield f"<h2>What the probability means</h2>\n<p>{escape(MEANING)}</p>\n"
        asked = ranking.query_pictures
        if asked is None:
            asked = gallery.get(ranking.query, pictures=True).pictures
        yield f"<h2>The query</h2>\n<p>{isolated(ranking.query)}</p>\n<p>{_faces(asked, ranking.query)}</p>\n"
    yield "<h2>Where and when</h2>\n"
    number = 0
    for set_id, several in groupby(chosen.appearances, key=lambda one: one.set_id):
        # Who else adds or removes meanwhile costs pictures, and no appearance.
        for one, pictures in zip(several, chain(_pictures(chosen, set_id), repeat(())), strict=False):
            number += 1
            yield _article(number, one, pictures)
    yield from _decisions(chosen)
    yield "</body></html>\n"


def _pictures(chosen: Selection, set_id: str) -> list[Sequence[bytes]]:
    """The pictures of a set, for each of its files in the order of its appearances."""
    found = chosen.gallery.get(set_id, pictures=True)
    parts = files_of_faces(found, chosen.gallery.files_of(set_id))
    return [[found.pictures[place] for place in part.places] if found.pictures else [] for part in parts]


def _article(number: int, one: Appearance, pictures: Sequence[bytes]) -> str:
    best, answer = one.best, one.answer
    facts = {"set": one.set_id, "person": one.person}
    if answer is not None:
        facts |= {"probability": percent(answer.probability), "score": f"{answer.score:.3f}"}
    if one.decision:
        # What nobody said of these two follows from other decisions, or from one picture that shows both.
        facts["decision"] = f"{one.decision}, {one.decided or 'as follows from others'}"
    facts["file"] = one.file.path if one.file is not None else one.origin
    if one.start is not None and one.end is not None:
        facts["seen"] = f"from {timecode(one.start)} to {timecode(one.end)} in the video"
    if best is not None:
        left, top, width, height = best.box
        at = "" if best.time is None else f" at {timecode(best.time)}"
        facts["face"] = (
            f"{width:.0f} x {height:.0f} pixels, {left:.0f} from the left, {top:.0f} from the top{at}"
        )
        facts["weaknesses"] = ", ".join(best.weaknesses)
    facts["file SHA-256"] = "" if one.file is None else one.file.content
    facts["set SHA-256"] = one.content
    return (
        f"<article><h3>{number}. {isolated(one.label)}</h3>"
        f"<p>{_faces(pictures, one.label)}</p>{_facts(facts)}</article>\n"
    )


def _facts(facts: dict[str, str]) -> str:
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{isolated(said)}</dd>" for name, said in facts.items() if said
    )
    return f"<dl>{rows}</dl>\n"


def _faces(pictures: Sequence[bytes], label: str) -> str:
    addresses = [address for one in spread(pictures, FACES) if (address := data_address(one))]
    alt = escape(f"face of {label}")
    return "".join(f'<img src="{address}" alt="{alt}">' for address in addresses)


def _decisions(chosen: Selection) -> Iterator[str]:
    """What was decided about these sets, and by it about the person."""
    sets = {one.set_id for one in chosen.appearances}
    if chosen.ranking is not None:
        sets.add(chosen.ranking.query)
    lines = [
        line
        for line in decision_lines(chosen.gallery.decisions())
        if sets & {line["query"], line["target"]}
        or (chosen.person is not None and line["person"] == chosen.person.number)
    ]
    if not lines:
        yield "<h2>Decisions</h2>\n<p>Nothing was decided about these sets.</p>\n"
        return
    columns = ("number", "made", "what", "query", "target", "name", "undone", "by")
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    rows = "".join(f"<tr>{_cells(line[name] for name in columns)}</tr>\n" for line in lines)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    yield f'<h2>Decisions</h2>\n<div class="wide" tabindex="0">{table}</div>\n'


def _cells(values: Iterable[object]) -> str:
    words = ("yes" if value is True else str(value or "") for value in values)
    return "".join(f"<td>{isolated(word)}</td>" for word in words)
