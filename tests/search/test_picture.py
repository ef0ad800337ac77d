from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageColor

from lookalike import FaceSet, Gallery, Search, open_search
from lookalike.demo.footage import write_footage
from lookalike.errors import BadInput, LookalikeError, NotFound, StorageFailed
from lookalike.ingest.pictures import decode_picture, encode_picture
from lookalike.search.picture import (
    CHAIN_LEFT,
    FACE,
    FRAME,
    GAP,
    INK,
    LONGEST,
    MARGIN,
    PAPER,
    RIGHT,
    WIDTH,
    WRONG,
    draw_faces,
    draw_ranking,
)
from tests.small_world import small_world

HEAD, ROW = FACE + 96, FACE + 2 * GAP + 26


def coloured(faceset: FaceSet, colour: tuple[int, int, int]) -> FaceSet:
    """Its first face in this colour, each further one darker."""
    shades = [np.array(colour) * (1 - 0.4 * number / len(faceset)) for number in range(len(faceset))]
    pictures = [encode_picture(np.full((40, 30, 3), shade).astype(np.uint8)) for shade in shades]
    return FaceSet(faceset.id, faceset.faces, faceset.origin, pictures=pictures)


# One strong colour a set, far from those of the page: whose face is shown can be told from the pixels.
COLOURS = [(250, 0, 0), (0, 0, 250), (250, 250, 0), (250, 0, 250), (0, 250, 250), (0, 120, 0)]
SETS = [
    coloured(one, colour)
    for one, colour in zip(small_world(people=2, sets=3, faces=2)[0], COLOURS, strict=True)
]
BY_ID = {one.id: one for one in SETS}


@pytest.fixture
def gallery(tmp_path: Path) -> Iterator[Gallery]:
    with Gallery(tmp_path / "g", create=True) as gallery:
        for faceset in SETS:
            gallery.add(faceset)
        yield gallery


@pytest.fixture
def search() -> Search:
    return open_search(SETS, reranker="arithmetic_mean")


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        assert image.format == "PNG"
        assert image.mode == "RGB"
        return np.asarray(image).astype(int)


def has(part: np.ndarray, colour: str | tuple[int, ...], within: int = 12) -> bool:
    wanted = ImageColor.getrgb(colour) if isinstance(colour, str) else colour
    return bool((np.abs(part - np.array(wanted)).max(axis=-1) <= within).any())


def shade(faceset: FaceSet, face: int) -> tuple[int, ...]:
    """The colour of one face."""
    return tuple(decode_picture(faceset.pictures[face])[20, 15])


def shown(part: np.ndarray) -> set[str]:
    """Ids of the sets of which a face is seen."""
    return {one.id for one in SETS if any(has(part, shade(one, face)) for face in range(len(one)))}


def chain(sheet: np.ndarray, place: int, length: int) -> list[tuple[int, ...]]:
    """The colours of the faces in the chain of one answer, from the query to the target."""
    top = HEAD + place * ROW + 22 + FACE // 2 - 10
    return [tuple(sheet[top, CHAIN_LEFT + (FACE + 46) * number + FACE // 2]) for number in range(length)]


def row(sheet: np.ndarray, place: int) -> np.ndarray:
    return sheet[HEAD + place * ROW - 3 : HEAD + (place + 1) * ROW - 3]


def test_the_picture_shows_query_answers_and_go_betweens(
    gallery: Gallery, search: Search, tmp_path: Path
) -> None:
    path = tmp_path / "new" / "folder" / "ranking.png"
    query = SETS[0].id
    draw_ranking(gallery, search, query, path, top=4)
    sheet = pixels(path)
    assert sheet.shape == (HEAD + 4 * ROW + MARGIN, WIDTH, 3)
    assert tuple(sheet[0, 0]) == ImageColor.getrgb(PAPER)
    assert has(sheet, INK)
    assert tuple(sheet[MARGIN + 28 + 5, MARGIN + 5]) == pytest.approx(COLOURS[0], abs=12)
    ranking = search.find(query, 4)
    assert any(answer.through for answer in ranking)
    for place, answer in enumerate(ranking):
        found = search.explain(query, answer.id)
        assert shown(row(sheet, place)[:, :480]) == {answer.id}
        asked, target = SETS[0], BY_ID[answer.id]
        faces = [shade(asked, found.query_face), shade(target, found.target_face)]
        if answer.through is not None:
            proxy, one = BY_ID[answer.through], found.witnesses[0]
            assert one.proxy == answer.through
            faces = [shade(asked, one.query_face), shade(proxy, one.proxy_face_to_query)]
            faces += [shade(proxy, one.proxy_face_to_target), shade(target, one.target_face_to_proxy)]
        assert np.abs(np.subtract(chain(sheet, place, len(faces)), faces)).max() <= 2


def test_without_a_reranker_faces_meet_directly(gallery: Gallery, tmp_path: Path) -> None:
    search = open_search(SETS, reranker="baseline")
    draw_ranking(gallery, search, SETS[0].id, tmp_path / "x.png", top=2)
    sheet = pixels(tmp_path / "x.png")
    for place, answer in enumerate(search.find(SETS[0].id, 2)):
        assert shown(row(sheet, place)[:, 480:]) == {SETS[0].id, answer.id}


def test_answers_are_marked_only_if_somebody_knows(gallery: Gallery, search: Search, tmp_path: Path) -> None:
    query = SETS[0].id
    ids = search.find(query, 3).ids
    draw_ranking(gallery, search, query, tmp_path / "unknown.png", 3)
    edge = pixels(tmp_path / "unknown.png")[:, : MARGIN - 2]
    assert not has(edge, RIGHT)
    assert not has(edge, WRONG)
    draw_ranking(gallery, search, query, tmp_path / "known.png", 3, matches={ids[1]})
    sheet = pixels(tmp_path / "known.png")
    for place, (right, wrong) in enumerate([(False, True), (True, False), (False, True)]):
        edge = row(sheet, place)[:, : MARGIN - 2]
        assert (has(edge, RIGHT), has(edge, WRONG)) == (right, wrong)
    draw_ranking(gallery, search, query, tmp_path / "none.png", 3, matches=[])
    edge = pixels(tmp_path / "none.png")[:, : MARGIN - 2]
    assert (has(edge, RIGHT), has(edge, WRONG)) == (False, True)


def test_a_query_from_outside_with_its_own_pictures(gallery: Gallery, search: Search, tmp_path: Path) -> None:
    orange = (250, 120, 0)
    outside = coloured(FaceSet("[b]outside[/b] :smile: ä名", SETS[0].faces + 0.01), orange)
    draw_ranking(gallery, search, outside, tmp_path / "x.png")
    sheet = pixels(tmp_path / "x.png")
    assert sheet.shape[0] == HEAD + len(SETS) * ROW + MARGIN, "it shows all there are if top is more"
    assert has(sheet[:HEAD], orange)
    colours = [shade(outside, face) for face in range(len(outside))]
    for place in range(len(SETS)):
        assert any(has(row(sheet, place)[:, 480:], colour) for colour in colours)


def test_many_and_odd_pictures_fit_the_page(gallery: Gallery, search: Search, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    shapes = [(1, 1), (500, 3), (3, 500, 3), *[(20, 20)] * 20]
    pictures = [encode_picture(rng.integers(0, 256, shape, dtype=np.uint8)) for shape in shapes]
    faces = SETS[0].faces[:1] + 0.01 * rng.normal(size=(len(shapes), SETS[0].dimension))
    long = FaceSet("x" * 1000, faces, pictures=pictures)
    draw_ranking(gallery, search, long, tmp_path / "x.png", 1)
    assert pixels(tmp_path / "x.png").shape == (HEAD + ROW + MARGIN, WIDTH, 3)


def test_answers_without_pictures_leave_their_place_empty(search: Search, tmp_path: Path) -> None:
    """Pictures of a set are all there or none; a gallery may have both kinds of sets."""
    with Gallery(tmp_path / "g", create=True) as gallery:
        for number, one in enumerate(SETS):
            gallery.add(one if number == 0 else FaceSet(one.id, one.faces))
        draw_ranking(gallery, search, SETS[0].id, tmp_path / "x.png", 3)
        sheet = pixels(tmp_path / "x.png")
        assert shown(sheet) == {SETS[0].id}


def test_a_query_without_pictures_is_refused_in_words(
    gallery: Gallery, search: Search, tmp_path: Path
) -> None:
    said = "query .* has no pictures to show: add it from pictures"
    with pytest.raises(BadInput, match=said):
        draw_ranking(gallery, search, FaceSet("q", SETS[0].faces), tmp_path / "x.png")
    with Gallery(tmp_path / "plain", create=True) as plain:
        for one in SETS:
            plain.add(FaceSet(one.id, one.faces))
        with pytest.raises(BadInput, match=said):
            draw_ranking(plain, search, SETS[0].id, tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()


def test_mistakes(gallery: Gallery, search: Search, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no set 'nobody'"):
        draw_ranking(gallery, search, "nobody", tmp_path / "x.png")
    with pytest.raises(BadInput, match="top must be"):
        draw_ranking(gallery, search, SETS[0].id, tmp_path / "x.png", top=0)
    damaged = FaceSet("q", SETS[0].faces, pictures=[b"no picture"] * len(SETS[0]))
    with pytest.raises(BadInput, match="not a picture"):
        draw_ranking(gallery, search, damaged, tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize("name", ["file/x.png", "x.unknown", "x"])
def test_places_that_cannot_be_written(gallery: Gallery, search: Search, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StorageFailed, match="cannot be written"):
        draw_ranking(gallery, search, SETS[0].id, tmp_path / name)
    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / name).exists()


def test_what_is_there_stays(gallery: Gallery, search: Search, tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file.png").write_text("mine")
    for name in ("folder.png", "file.png"):
        with pytest.raises(LookalikeError, match=name):
            draw_ranking(gallery, search, SETS[0].id, tmp_path / name)
    assert (tmp_path / "file.png").read_text() == "mine"


def test_drawing_twice_gives_the_same_picture(gallery: Gallery, search: Search, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("one.png", "two.png"):
            draw_ranking(gallery, search, SETS[1].id, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_faces_to_choose_from_are_framed_and_numbered(tmp_path: Path) -> None:
    gray = np.full((300, 400, 3), 90, np.uint8)
    Image.fromarray(gray).save(tmp_path / "photo.png")
    draw_faces(tmp_path / "photo.png", None, [(20, 60, 80, 100), (250, 5, 90, 90)], tmp_path / "one.png")
    sheet = pixels(tmp_path / "one.png")
    assert sheet.shape == (300, 400, 3)
    for left, top, right, bottom in ((20, 60, 100, 160), (250, 5, 340, 95)):
        for row_, column in ((bottom, (left + right) // 2), (top + 50, left), (top + 50, right)):
            assert has(sheet[row_ - 2 : row_ + 3, column - 2 : column + 3], FRAME)
        # The middle of the face is left as it is.
        assert not has(sheet[top + 30 : bottom - 30, left + 30 : right - 30], FRAME)
    # Its number is above the first face, and inside where there is no room above.
    first, second = sheet[40:60, 20:60], sheet[5:25, 250:290]
    assert has(first, "#ffffff", 40)
    assert has(second, "#ffffff", 40)
    assert not np.array_equal(first, second), "1 and 2 look alike"
    assert (sheet[200:, :] == 90).all()


def test_large_photos_with_faces_to_choose_from_are_reduced(tmp_path: Path) -> None:
    Image.fromarray(np.full((1500, 2 * LONGEST), 90, np.uint8)).save(tmp_path / "photo.png")
    draw_faces(tmp_path / "photo.png", None, [(1000, 400, 400, 600)], tmp_path / "one.png")
    sheet = pixels(tmp_path / "one.png")
    assert sheet.shape == (750, LONGEST, 3)
    assert has(sheet[300:310, 495:510], FRAME)
    assert not has(sheet[:, 710:], FRAME)


def test_faces_are_shown_at_their_time(tmp_path: Path) -> None:
    frames = (np.full((90, 160, 3), level, np.uint8) for level in (40, 200))
    write_footage(tmp_path / "film.mp4", frames, 1.0)
    draw_faces(tmp_path / "film.mp4", 1.0, [(60, 40, 30, 30)], tmp_path / "one.png")
    assert tuple(pixels(tmp_path / "one.png")[85, 10]) == pytest.approx((200, 200, 200), abs=4)
    with pytest.raises(StorageFailed, match="cannot be written"):
        draw_faces(tmp_path / "film.mp4", 1.0, [], tmp_path / "one.unknown")
