"""Picture: a ranking drawn as one, with the faces each answer came through; or the faces to choose from."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from PIL.PngImagePlugin import PngInfo

from lookalike import atomic
from lookalike.errors import BadInput, StorageFailed
from lookalike.faceset import Box, FaceSet
from lookalike.gallery.gallery import Gallery
from lookalike.ingest.pictures import decode_picture
from lookalike.ingest.reading import read_still_apart
from lookalike.ranking import Ranking, spread
from lookalike.search.explain import Explanation
from lookalike.search.query import Search

FACE, GAP, MARGIN, WIDTH = 72, 6, 24, 960
CHAIN_LEFT = 490
STRIP = 5
# Longer side of a picture in which faces are numbered, and the colour of their frames.
LONGEST, FRAME = 1600, "#d2268a"
# A PNG file says by this that it was drawn here, and may be drawn over.
MARK = "Software", "lookalike"
PAPER, INK, FAINT, RIGHT, WRONG = "#fbfaf7", "#22252a", "#7a7f87", "#2f8f5b", "#c9695a"


def draw_ranking(
    gallery: Gallery,
    search: Search,
    query: str | FaceSet,
    path: Path,
    top: int = 8,
    matches: Collection[str] | None = None,
    ranking: Ranking | None = None,
) -> None:
    """Write a PNG that shows the best answers and through whom they came.

    `matches` are ids known to be right, if anybody knows: answers are then marked right or wrong. `ranking`
    has the answers, if they were asked for already. Raise BadInput if the query has no pictures, or the file
    exists.
    """
    check_new(path)
    asked = gallery.get(query, pictures=True) if isinstance(query, str) else query
    if not asked.pictures:
        raise BadInput(f"query {asked.id!r} has no pictures to show: add it from pictures instead of arrays")
    ranking = search.find(query, top) if ranking is None else ranking
    row_height = FACE + 2 * GAP + 26
    head = FACE + 96
    sheet = Image.new("RGB", (WIDTH, head + row_height * len(ranking) + MARGIN), PAPER)
    pen = ImageDraw.Draw(sheet)
    pen.text((MARGIN, MARGIN - 8), f"Who else is this?   {asked.id}", INK, _font(20))
    for place, picture in enumerate(asked.pictures[:8]):
        _paste(sheet, picture, MARGIN + place * (FACE + GAP), MARGIN + 28)
    below = f"{ranking.total} sets ranked by {ranking.reranker.partition(':')[0]}, nobody labelled"
    if ranking.confirmed:
        below += f"; {len(ranking.confirmed)} confirmed, not shown"
    pen.text((MARGIN, MARGIN + 28 + FACE + 10), below, FAINT, _font(14))
    for place, explanation in enumerate(search.explain_many(query, ranking.ids)):
        answer = ranking[place]
        target = gallery.get(answer.id, pictures=True)
        top_edge = head + place * row_height
        if matches is not None:
            colour = RIGHT if answer.id in matches else WRONG
            pen.rectangle((MARGIN - 12, top_edge, MARGIN - 7, top_edge + FACE + 22), fill=colour)
        moved = "" if answer.rank == answer.baseline_rank else f"   (baseline: {answer.baseline_rank})"
        pen.text(
            (MARGIN, top_edge - 2), f"{answer.rank}.  {answer.id}   {answer.score:.2f}{moved}", INK, _font(15)
        )
        for number, picture in enumerate(spread(target.pictures, STRIP)):
            _paste(sheet, picture, MARGIN + number * (FACE + GAP), top_edge + 22)
        _chain(sheet, pen, gallery, asked, target, explanation, top_edge)
    _write(sheet, path)


def draw_faces(source: Path, at: float | None, boxes: Sequence[Box], path: Path) -> None:
    """Write a PNG of a photo, or of a video at so many seconds, in which faces are framed and numbered."""
    still = Image.fromarray(read_still_apart(source, at)).convert("RGB")
    scale = min(1.0, LONGEST / max(still.size))
    sheet = still.resize((round(still.width * scale), round(still.height * scale)), Image.Resampling.LANCZOS)
    pen = ImageDraw.Draw(sheet)
    line, size = max(2, max(sheet.size) // 300), max(16, max(sheet.size) // 40)
    for number, box in enumerate(boxes, start=1):
        left, top, width, height = (scale * side for side in box)
        pen.rectangle((left, top, left + width, top + height), outline=FRAME, width=line)
        # Above the face, or inside where there is no room above.
        corner = (max(0.0, left), top - size if top >= size else max(0.0, top))
        label = pen.textbbox(corner, f" {number} ", _font(size))
        pen.rectangle(label, fill=FRAME)
        pen.text(corner, f" {number} ", "#ffffff", _font(size))
    _write(sheet, path)


def _write(sheet: Image.Image, path: Path) -> None:
    try:
        atomic.make_folders(path.parent)
        atomic.write(path, _encoded(sheet, path), over=_is_ours(path))
    except (OSError, ValueError) as reason:
        raise StorageFailed(f"the picture {path} cannot be written: {reason}") from reason


def _encoded(sheet: Image.Image, path: Path) -> bytes:
    kind = Image.registered_extensions().get(path.suffix.lower())
    if kind is None:
        raise ValueError(f"unknown file extension: {path.suffix}")
    encoded = io.BytesIO()
    mark = PngInfo()
    mark.add_text(*MARK)
    sheet.save(encoded, kind, **({"pnginfo": mark} if kind == "PNG" else {}))
    return encoded.getvalue()


def check_new(path: Path) -> None:
    """Refuse to draw over a file that is there, unless it is a PNG file that was drawn here and says so."""
    try:
        there = path.exists() and not _is_ours(path)
    except OSError as reason:
        raise StorageFailed(f"the picture {path} cannot be written: {reason.strerror}") from reason
    if there:
        raise BadInput(f"{path} is there already: choose another name for the picture, or remove it")


def _is_ours(path: Path) -> bool:
    """Whether a file is a PNG that was drawn here."""
    if not path.is_file():
        return False
    try:
        with Image.open(path, formats=["PNG"]) as there:
            return there.info.get(MARK[0]) == MARK[1]
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return False


def _chain(
    sheet: Image.Image,
    pen: ImageDraw.ImageDraw,
    gallery: Gallery,
    query: FaceSet,
    target: FaceSet,
    explanation: Explanation,
    top_edge: int,
) -> None:
    """The faces that met, from the query on the left to the target on the right."""
    answer = explanation.answer
    if answer.through is None:
        links = [(query, explanation.query_face), (target, explanation.target_face)]
        words, joins = answer.way, [f"{answer.baseline:.2f}"]
    else:
        witness = next(one for one in explanation.witnesses if one.proxy == answer.through)
        proxy = gallery.get(answer.through, pictures=True)
        links = [
            (query, witness.query_face),
            (proxy, witness.proxy_face_to_query),
            (proxy, witness.proxy_face_to_target),
            (target, witness.target_face_to_proxy),
        ]
        s1, _, s3, s4, _ = witness.numbers
        words, joins = f"through {answer.through}", [f"{s1:.2f}", f"{s4:.2f}", f"{s3:.2f}"]
    pen.text((CHAIN_LEFT, top_edge - 2), words, FAINT, _font(15))
    step = FACE + 46
    for place, (owner, face) in enumerate(links):
        left = CHAIN_LEFT + place * step
        if owner.pictures:
            _paste(sheet, owner.pictures[face], left, top_edge + 22)
        if place:
            middle = top_edge + 22 + FACE // 2
            pen.line((left - 42, middle, left - 4, middle), fill=FAINT, width=2)
            pen.text((left - 23, middle - 4), joins[place - 1], INK, _font(13), anchor="mb")


def _paste(sheet: Image.Image, picture: bytes, left: int, top: int) -> None:
    face = Image.fromarray(decode_picture(picture)).convert("RGB")
    sheet.paste(face.resize((FACE, FACE), Image.Resampling.LANCZOS), (left, top))


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
