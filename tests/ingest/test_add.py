from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from scipy.io import savemat

from lookalike import Gallery, registry
from lookalike.descriptors.lbp import Lbp
from lookalike.errors import BadInput, Conflict, GalleryUnreadable, LookalikeError, NotFound
from lookalike.ingest import add as ingest
from lookalike.ingest.add import add
from lookalike.ingest.footage import Added
from lookalike.ingest.pictures import encode_picture
from lookalike.search.question import read_query

LBP_SPEC = registry.spec(Lbp())


def faces(count: int, seed: int = 0, height: int = 30, width: int = 26) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, height, width), dtype=np.uint8)


def vectors(count: int, dimension: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)


def picture_folder(
    folder: Path, names: Iterable[str] = ("a", "b", "c"), each: int = 2, seed: int = 0
) -> Path:
    """One set for each name, which also seeds its pictures: the same name always has the same pictures."""
    for name in names:
        (folder / name).mkdir(parents=True)
        for number, picture in enumerate(faces(each, seed + sum(name.encode()))):
            Image.fromarray(picture).save(folder / name / f"{number}.png")
    return folder


def npz(path: Path, names: Iterable[str] = ("a", "b", "c"), each: int = 2, **arrays: Any) -> Path:
    given = list(names)
    np.savez(path, image_set=np.repeat(np.arange(len(given)), each), set_names=np.array(given), **arrays)
    return path


def contents(path: Path) -> dict[str, str]:
    with Gallery(path) as gallery:
        return gallery.contents()


def left_by(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a gallery may be made, alone in its folder."""
    (tmp_path / "kept").mkdir()
    return tmp_path / "kept" / "g.gallery"


def test_a_folder_of_pictures(tmp_path: Path, path: Path) -> None:
    source = picture_folder(tmp_path / "album", ["x", "y/2", "y/10"])
    assert add(path, [source], cropped=True) == Added(["x", "y/2", "y/10"], [])
    with Gallery(path) as gallery:
        assert gallery.descriptor == LBP_SPEC
        assert gallery.dimension == 1770
        found = gallery.get("y/10", pictures=True)
    drawn = faces(2, sum(b"y/10"))
    np.testing.assert_array_equal(found.faces, Lbp().describe_many(drawn))
    assert found.pictures == tuple(encode_picture(picture) for picture in drawn)
    assert found.origin == str(source / "y" / "10")
    assert found.sources == ("y/10/0.png", "y/10/1.png")


def test_images_of_an_npz_give_the_sets_that_files_give(tmp_path: Path, path: Path) -> None:
    images = np.concatenate([faces(2, sum(name.encode())) for name in "abc"])
    assert add(path, [npz(tmp_path / "x.npz", images=images)]).added == ["a", "b", "c"]
    other = tmp_path / "other.gallery"
    add(other, [picture_folder(tmp_path / "album")], cropped=True)
    assert contents(path) == contents(other)
    assert add(path, [tmp_path / "album"]) == Added([], ["a", "b", "c"])


def test_an_array_of_an_npz_with_its_pictures_as_evidence(tmp_path: Path, path: Path) -> None:
    images, given = faces(6), vectors(6)
    source = npz(tmp_path / "x.npz", images=images, embeddings=given, image_names=list("uvwxyz"))
    add(path, [source], array="embeddings")
    with Gallery(path) as gallery:
        assert gallery.descriptor == "array:embeddings"
        found = gallery.get("b", pictures=True)
    np.testing.assert_array_equal(found.faces, given[2:4])
    assert found.pictures == tuple(encode_picture(picture) for picture in images[2:4])
    assert (found.sources, found.origin) == (("w", "x"), str(source))


def test_descriptors_without_pictures(tmp_path: Path, path: Path) -> None:
    add(path, [npz(tmp_path / "x.npz", embeddings=vectors(6))])
    with Gallery(path) as gallery:
        assert gallery.descriptor == "array:embeddings"
        assert gallery.get("a", pictures=True).pictures == ()


def test_what_made_ready_descriptors_can_be_said(tmp_path: Path, path: Path) -> None:
    described = Lbp().describe_many(faces(6))
    add(path, [npz(tmp_path / "x.npz", lbp=described)], descriptor="lbp", array="lbp")
    with Gallery(path) as gallery:
        assert gallery.descriptor == LBP_SPEC
    assert add(path, [picture_folder(tmp_path / "album", ["d"])], cropped=True).added == ["d"]


def test_one_picture_is_a_set_of_one(tmp_path: Path, path: Path) -> None:
    picture_folder(tmp_path / "album", ["a"])
    assert add(path, [tmp_path / "album" / "a" / "1.png"], cropped=True).added == ["1.png"]


def test_the_descriptor_of_the_gallery_is_used_again(tmp_path: Path, path: Path) -> None:
    add(path, [picture_folder(tmp_path / "first", ["a"])], descriptor="lbp:rows=3,columns=2", cropped=True)
    add(path, [picture_folder(tmp_path / "second", ["b"])])
    with Gallery(path) as gallery:
        expected = Lbp(rows=3, columns=2).describe_many(faces(2, sum(b"b")))
        np.testing.assert_array_equal(gallery.get("b").faces, expected)


def test_the_array_of_the_gallery_is_used_again(tmp_path: Path, path: Path) -> None:
    add(path, [npz(tmp_path / "x.npz", e=vectors(6), f=vectors(6, seed=1))], array="f")
    more = npz(tmp_path / "y.npz", "d", e=vectors(2, seed=2), f=vectors(2, seed=3), images=faces(2))
    add(path, [more])
    with Gallery(path) as gallery:
        np.testing.assert_array_equal(gallery.get("d").faces, vectors(2, seed=3))
        assert len(gallery.get("d", pictures=True).pictures) == 2


def test_adding_again_changes_nothing(tmp_path: Path, path: Path) -> None:
    source = picture_folder(tmp_path / "album")
    add(path, [source], cropped=True)
    before, bytes_before = contents(path), path.read_bytes()
    assert add(path, [source]) == Added([], ["a", "b", "c"])
    assert contents(path) == before
    assert path.read_bytes() == bytes_before


def test_adding_more_adds_only_what_is_new(tmp_path: Path, path: Path) -> None:
    source = picture_folder(tmp_path / "album")
    add(path, [source], cropped=True)
    picture_folder(source, ["0", "d"])
    assert add(path, [source]) == Added(["0", "d"], ["a", "b", "c"])
    assert add(path, [npz(tmp_path / "x.npz", "e", images=faces(2))]).added == ["e"]
    assert list(contents(path)) == ["0", "a", "b", "c", "d", "e"]


def test_nothing_to_add_makes_no_gallery(path: Path) -> None:
    assert add(path, []) == Added([], [])
    assert left_by(path.parent) == []


def bad_pictures(folder: Path) -> Path:
    picture_folder(folder, ["y", "z"])
    last = folder / "z" / "1.png"
    last.write_bytes(last.read_bytes()[:200])
    return folder


def bad_sources(folder: Path) -> dict[str, tuple[Path, type[LookalikeError], str]]:
    """Each with what is wrong with it."""
    folder.mkdir()
    small = npz(folder / "small.npz", "yz", images=faces(4, height=4, width=4))
    objects = npz(folder / "objects.npz", "yz", images=np.array([{}] * 4, dtype=object))
    cut = npz(folder / "cut.npz", "yz", images=faces(4))
    cut.write_bytes(cut.read_bytes()[:-40])
    (folder / "empty").mkdir()
    (folder / "note.txt").write_text("hello")
    return {
        "damaged picture": (bad_pictures(folder / "pictures"), BadInput, "damaged picture"),
        "too small": (small, BadInput, "set 'y' cannot be described: picture 0 of 2"),
        "objects": (objects, BadInput, "Python objects"),
        "cut": (cut, BadInput, "not a whole .npz file"),
        "no pictures": (folder / "empty", BadInput, "no picture in it"),
        "no source": (folder / "note.txt", BadInput, "nothing that can be read"),
        "missing": (folder / "missing", NotFound, "no file or folder"),
        "other kind": (npz(folder / "e.npz", "yz", e=vectors(4)), Conflict, "array:e"),
        "same id": (npz(folder / "a.npz", "ya", images=faces(4)), Conflict, "two sets are called 'a', in"),
    }


BAD = [
    "damaged picture",
    "too small",
    "objects",
    "cut",
    "no pictures",
    "no source",
    "missing",
    "other kind",
    "same id",
]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("wrong", BAD)
def test_something_bad_anywhere_changes_nothing(tmp_path: Path, path: Path, wrong: str, first: bool) -> None:
    good = picture_folder(tmp_path / "album")
    bad, error, said = bad_sources(tmp_path / "bad")[wrong]
    sources = [bad, good] if first else [good, bad]
    with pytest.raises(error, match=said):
        add(path, sources, cropped=True)
    assert left_by(path.parent) == [], "a gallery was made although nothing could be added"
    add(path, [picture_folder(tmp_path / "old", ["old"])], cropped=True)
    before = path.read_bytes()
    with pytest.raises(error, match=said) as caught:
        add(path, sources)
    assert "were added and stay" not in str(caught.value)
    assert list(contents(path)) == ["old"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 0.0])
def test_bad_numbers_change_nothing(tmp_path: Path, path: Path, wrong: float) -> None:
    given = vectors(6)
    given[5] = wrong
    with pytest.raises(BadInput, match="face 5 of 'e'"):
        add(path, [npz(tmp_path / "x.npz", e=given)])
    assert left_by(path.parent) == []


def test_another_descriptor_is_refused(tmp_path: Path, path: Path) -> None:
    add(path, [picture_folder(tmp_path / "album", ["a"])], cropped=True)
    before = contents(path)
    more = picture_folder(tmp_path / "more", ["b"])
    with pytest.raises(Conflict, match=r"made by 'lbp:rows=6.*made by 'lbp:rows=3"):
        add(path, [more], descriptor="lbp:rows=3")
    with pytest.raises(Conflict, match=r"made by 'lbp:.*made by 'array:e'"):
        add(path, [npz(tmp_path / "x.npz", "b", e=vectors(2, 1770))], array="e")
    with pytest.raises(NotFound, match="no descriptor called 'bpl'"):
        add(path, [more], descriptor="bpl")
    assert contents(path) == before


def test_another_dimension_is_refused(tmp_path: Path, path: Path) -> None:
    add(path, [npz(tmp_path / "x.npz", e=vectors(6))])
    before = contents(path)
    longer = npz(tmp_path / "y.npz", "d", e=vectors(2, 7))
    with pytest.raises(Conflict, match=r"faces of 6 numbers.* 'd' have 7"):
        add(path, [longer])
    with pytest.raises(Conflict, match=r"set 'f'.*\(6 numbers\).*set 'd'.*\(7 numbers\)"):
        add(path, [npz(tmp_path / "z.npz", "f", e=vectors(2)), longer])
    assert contents(path) == before


def test_a_used_id_with_other_content_is_refused_before_anything_is_added(tmp_path: Path, path: Path) -> None:
    add(path, [npz(tmp_path / "x.npz", e=vectors(6))])
    before = contents(path)
    changed = npz(tmp_path / "y.npz", ["new", "b"], e=vectors(4, seed=1))
    with pytest.raises(Conflict, match="already has a set 'b'"):
        add(path, [changed])
    assert contents(path) == before


def test_pictures_can_not_join_ready_made_descriptors(tmp_path: Path, path: Path) -> None:
    add(path, [npz(tmp_path / "x.npz", e=vectors(6))])
    before = contents(path)
    for source in (picture_folder(tmp_path / "album"), npz(tmp_path / "y.npz", "d", images=faces(2))):
        with pytest.raises(LookalikeError):
            add(path, [source])
    assert contents(path) == before


def test_what_is_not_a_gallery_stays_as_it_is(tmp_path: Path, path: Path) -> None:
    path.write_text("a letter")
    with pytest.raises(GalleryUnreadable, match="not a gallery"):
        add(path, [picture_folder(tmp_path / "album")])
    assert path.read_text() == "a letter"
    with pytest.raises(NotFound, match="folder of"):
        add(tmp_path / "nowhere" / "g", [tmp_path / "album"])


# Sources too large for the memory.


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sets of two faces of 6 numbers are one part."""
    monkeypatch.setattr(ingest, "HELD_BYTES", 2 * 6 * 4)


@pytest.mark.usefixtures("in_parts")
def test_parts_give_the_gallery_that_the_whole_gives(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = npz(tmp_path / "x.npz", "abcdefg", e=vectors(14))
    assert add(path, [source]) == Added(list("abcdefg"), [])
    assert add(path, [source]) == Added([], list("abcdefg"))
    monkeypatch.undo()
    add(tmp_path / "whole", [source])
    assert contents(path) == contents(tmp_path / "whole")


@pytest.mark.usefixtures("in_parts")
def test_a_bad_later_part_keeps_the_earlier_ones_and_counts_them(tmp_path: Path, path: Path) -> None:
    good = npz(tmp_path / "x.npz", "abcde", e=vectors(10))
    bad = npz(tmp_path / "y.npz", "fg", e=vectors(4, 7))
    with pytest.raises(Conflict, match=r"set 'e'.*set 'f'.*\(4 sets before it were added and stay\)"):
        add(path, [good, bad])
    assert list(contents(path)) == list("abcd")
    bad.unlink()
    with pytest.raises(NotFound, match="no file or folder") as caught:
        add(path, [good, bad])
    # Those that were there already are not counted; the last one had waited for company.
    assert "stay" not in str(caught.value)
    npz(bad, "fg", e=vectors(4, seed=2))
    assert add(path, [good, bad]) == Added(list("efg"), list("abcd"))


@pytest.mark.usefixtures("in_parts")
def test_a_used_id_in_a_later_part(tmp_path: Path, path: Path) -> None:
    add(path, [npz(tmp_path / "x.npz", "c", e=vectors(2, seed=5))])
    with pytest.raises(Conflict, match=r"already has a set 'c'.*\(2 sets before it were added and stay\)"):
        add(path, [npz(tmp_path / "y.npz", "abcd", e=vectors(8))])
    assert list(contents(path)) == list("abc")


class Stop(Exception):
    """What an interruption looks like from here."""


def stopping(text: str, after: int) -> Any:
    """A track that interrupts the work of one kind after so many items."""
    passed = 0

    def track(items: Iterable[Any], its_text: str, total: int | None) -> Iterator[Any]:
        nonlocal passed
        for item in items:
            if its_text == text:
                if passed == after:
                    raise Stop
                passed += 1
            yield item

    return track


@pytest.mark.parametrize("text", ["describing sets", "adding sets"])
@pytest.mark.parametrize("after", range(6))
@pytest.mark.usefixtures("in_parts")
def test_interrupted_work_goes_on_where_it_stopped(tmp_path: Path, path: Path, text: str, after: int) -> None:
    source = npz(tmp_path / "x.npz", "abcdef", e=vectors(12))
    with pytest.raises(Stop):
        add(path, [source], track=stopping(text, after))
    finished = 2 * (after // 2) if text == "describing sets" else after
    there = list("abcdef")[:finished]
    assert (list(contents(path)) if path.exists() else []) == there
    assert add(path, [source]) == Added(list("abcdef")[finished:], there)


def test_progress_is_shown_with_what_is_known(tmp_path: Path, path: Path) -> None:
    seen: list[tuple[str, int | None]] = []

    def track(items: Iterable[Any], text: str, total: int | None) -> Iterator[Any]:
        seen.append((text, total))
        return iter(items)

    add(path, [npz(tmp_path / "x.npz", e=vectors(6))], track=track)
    add(path, [npz(tmp_path / "y.npz", "abcd", e=vectors(8))], track=track)
    assert seen == [
        ("describing sets", None),
        ("adding sets", 3),
        ("describing sets", None),
        ("adding sets", 1),
    ]


# Other sources.


def parquet(path: Path, owners: str = "aabbcc", **columns: Any) -> Path:
    given = {name: [*map(list, column)] for name, column in columns.items()}
    pq.write_table(pa.table({"set_id": list(owners), **given}), path)
    return path


def tracks(path: Path, count: int = 4, each: int = 2) -> Path:
    rows = (f"{frame},{track},1,2,3,4,1" for track in range(count) for frame in range(1, each + 1))
    path.write_text("\n".join(rows))
    return path


def kind_of(path: Path) -> str | None:
    with Gallery(path) as gallery:
        return gallery.descriptor


def test_parquet_gives_the_sets_that_npz_gives(tmp_path: Path, path: Path) -> None:
    source = parquet(tmp_path / "x.parquet", e=vectors(6))
    assert add(path, [source]) == Added(["a", "b", "c"], [])
    assert kind_of(path) == "array:e"
    assert add(path, [npz(tmp_path / "x.npz", e=vectors(6))]) == Added([], ["a", "b", "c"])
    with Gallery(path) as gallery:
        assert gallery.get("b").sources == ("x.parquet#2", "x.parquet#3")


def test_the_column_of_the_gallery_is_used_again(tmp_path: Path, path: Path) -> None:
    both = {"e": vectors(6), "f": vectors(6, seed=1)}
    add(path, [parquet(tmp_path / "x.parquet", **both)], array="f")
    add(path, [parquet(tmp_path / "y.parquet", "dd", e=vectors(2, seed=2), f=vectors(2, seed=3))])
    with Gallery(path) as gallery:
        assert gallery.descriptor == "array:f"
        np.testing.assert_array_equal(gallery.get("d").faces, vectors(2, seed=3))
        asked = parquet(tmp_path / "q.parquet", "qq", e=vectors(2, seed=4), f=vectors(2, seed=5))
        np.testing.assert_array_equal(read_query(gallery, asked).faces, vectors(2, seed=5))
    before = contents(path)
    with pytest.raises(Conflict, match=r"made by 'array:f'.*made by 'array:g'"):
        add(path, [parquet(tmp_path / "z.parquet", "gg", g=vectors(2))])
    assert contents(path) == before


def test_something_bad_late_in_a_parquet_file_changes_nothing(tmp_path: Path, path: Path) -> None:
    given = vectors(6)
    given[5, 0] = np.nan
    with pytest.raises(BadInput, match="face 1 of set 'c' in 'e' has a NaN"):
        add(path, [parquet(tmp_path / "x.parquet", e=given)])
    assert left_by(path.parent) == []


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_tracks_with_features(tmp_path: Path, path: Path, suffix: str) -> None:
    features = tmp_path / f"f{suffix}"
    np.save(features, vectors(8)) if suffix == ".npy" else np.savez(features, features=vectors(8))
    source = tracks(tmp_path / "film.txt")
    done = add(path, [source], features=features)
    assert done == Added([f"film/{track}" for track in range(4)], [])
    assert kind_of(path) == "array:features"
    with Gallery(path) as gallery:
        np.testing.assert_array_equal(gallery.get("film/2").faces, vectors(8)[4:6])
    assert add(path, [source], features=str(features)).unchanged == done.added


def test_two_lists_with_features_of_their_own_share_a_gallery(tmp_path: Path, path: Path) -> None:
    for name in ("one", "two"):
        np.save(tmp_path / f"{name}.npy", vectors(8))
        add(path, [tracks(tmp_path / f"{name}.txt")], features=tmp_path / f"{name}.npy")
    assert len(contents(path)) == 8


def test_the_array_of_the_gallery_is_looked_for_in_the_features(tmp_path: Path, path: Path) -> None:
    for name, array in (("one", "f"), ("two", None)):
        np.savez(tmp_path / f"{name}.npz", e=vectors(8), f=vectors(8, seed=1))
        add(path, [tracks(tmp_path / f"{name}.txt")], array=array, features=tmp_path / f"{name}.npz")
    with Gallery(path) as gallery:
        np.testing.assert_array_equal(gallery.get("two/0").faces, vectors(8, seed=1)[:2])


def test_features_that_are_missing_or_not_wanted(tmp_path: Path, path: Path) -> None:
    np.save(tmp_path / "f.npy", vectors(8))
    source, other = tracks(tmp_path / "x.txt"), npz(tmp_path / "x.npz", e=vectors(6))
    with pytest.raises(BadInput, match=r"x\.txt' lists faces but does not describe them.*--features FILE"):
        add(path, [source])
    with pytest.raises(BadInput, match="needs no features"):
        add(path, [other], features=tmp_path / "f.npy")
    for sources in ([source, other], []):
        with pytest.raises(
            BadInput, match=f"belong to one source, got {len(sources)}: add them one at a time"
        ):
            add(path, sources, features=tmp_path / "f.npy")
    with pytest.raises(NotFound, match=r"g\.npy"):
        add(path, [source], features=tmp_path / "g.npy")
    assert left_by(path.parent) == []
    add(path, [other])
    with Gallery(path) as gallery, pytest.raises(BadInput, match="lookalike add --features FILE"):
        read_query(gallery, source)


def test_who_made_the_features_can_be_said(tmp_path: Path, path: Path) -> None:
    np.save(tmp_path / "f.npy", vectors(8))
    add(path, [tracks(tmp_path / "x.txt")], descriptor="arcface r100", features=tmp_path / "f.npy")
    assert kind_of(path) == "arcface r100"


def youtube(root: Path) -> Path:
    folder = root / "descriptors_DB" / "Ann_Bo"
    folder.mkdir(parents=True)
    for number in (0, 10, 9):
        lbp, cslbp = vectors(3, 1770, seed=number), vectors(3, 480, seed=number)
        for variant in ("aligned_video", "video"):
            given = {"VID_DESCS_LBP": lbp.T, "VID_DESCS_CSLBP": cslbp.T}
            savemat(folder / f"{variant}_{number}.mat", given)
    return root


def test_youtube_faces(tmp_path: Path, path: Path) -> None:
    source = youtube(tmp_path / "ytf")
    assert add(path, [source], most=2).added == ["Ann_Bo/0", "Ann_Bo/9", "Ann_Bo/10"]
    assert kind_of(path) == "array:aligned_video/VID_DESCS_LBP"
    with Gallery(path) as gallery:
        np.testing.assert_array_equal(gallery.get("Ann_Bo/9").faces, vectors(3, 1770, seed=9)[[0, 2]])
    other = path.with_name("other")
    add(other, [source], array="video/VID_DESCS_CSLBP")
    assert kind_of(other) == "array:video/VID_DESCS_CSLBP"
    # The array of the gallery is taken again, though it is not the first of the source.
    assert add(other, [source]).unchanged == ["Ann_Bo/0", "Ann_Bo/9", "Ann_Bo/10"]
    with pytest.raises(Conflict, match="VID_DESCS_LBP"):
        add(other, [source], array="aligned_video/VID_DESCS_LBP")


def test_most_faces_of_a_set(tmp_path: Path, path: Path) -> None:
    album = picture_folder(tmp_path / "album", ["a"], each=5)
    (album / "a" / "1.png").write_bytes(b"broken, but not among those that are kept")
    add(path, [album], most=3, cropped=True)
    with Gallery(path) as gallery:
        assert gallery.get("a").sources == ("a/0.png", "a/2.png", "a/4.png")
        drawn = faces(5, sum(b"a"))[[0, 2, 4]]
        np.testing.assert_array_equal(gallery.get("a").faces, Lbp().describe_many(drawn))
    # With another number the set would be another one under the same name.
    with pytest.raises(Conflict, match="already has a set 'a'"):
        add(path, [album], most=2)


@pytest.mark.parametrize("most", [0, -3, 1.0, "4", True])
def test_most_is_checked_before_any_work(tmp_path: Path, most: Any) -> None:
    with pytest.raises(BadInput, match=f"most faces of a set must be a whole number from 1 up, got {most!r}"):
        add(tmp_path / "nowhere" / "g", [tmp_path / "missing"], most=most)


# Who is on a set is nobody's business here.


def test_person_labels_are_never_read(tmp_path: Path, path: Path) -> None:
    """Labels that could not even be opened do no harm, and no label reaches the file."""
    people = {"set_person": np.array([3, 1, 2]), "person_names": np.array(["Dorothea Brooke"] * 3)}
    add(path, [npz(tmp_path / "x.npz", e=vectors(6), **people)])
    assert b"Dorothea" not in path.read_bytes()
    objects = {name: np.array([{}] * 3, dtype=object) for name in people}
    other = tmp_path / "other"
    add(other, [npz(tmp_path / "y.npz", e=vectors(6), **objects)])
    assert contents(path) == contents(other)


@pytest.mark.parametrize("name", ["set_person", "person_names"])
def test_labels_cannot_be_chosen_as_faces(tmp_path: Path, path: Path, name: str) -> None:
    labels = {"set_person": vectors(6), "person_names": vectors(6)}
    with pytest.raises(BadInput, match=f"no faces in '{name}': choose the array: e$"):
        add(path, [npz(tmp_path / "x.npz", e=vectors(6), **labels)], array=name)
    assert left_by(path.parent) == []


# Queries from outside.


@pytest.fixture
def pictured(tmp_path: Path, path: Path) -> Iterator[Gallery]:
    add(path, [picture_folder(tmp_path / "album")], cropped=True)
    with Gallery(path) as gallery:
        yield gallery


def test_a_query_from_pictures(tmp_path: Path, pictured: Gallery) -> None:
    asked = picture_folder(tmp_path / "asked", ["a"])
    found = read_query(pictured, asked)
    assert found.content_hash() == pictured.get("a", pictures=True).content_hash()
    [one] = read_query(pictured, asked / "a" / "1.png").faces
    np.testing.assert_array_equal(one, found.faces[1])
    assert len(pictured) == 3, "asking adds nothing"


def test_a_query_of_several_sets_needs_a_choice(tmp_path: Path, pictured: Gallery) -> None:
    sources = [tmp_path / "album", npz(tmp_path / "x.npz", images=faces(6))]
    for source in sources:
        with pytest.raises(BadInput, match=r"several sets \('a', 'b', \.\.\.\): choose one with --set"):
            read_query(pictured, source)
        assert read_query(pictured, source, "c").id == "c"
        with pytest.raises(LookalikeError, match="holds no set called 'd'"):
            read_query(pictured, source, "d")
    with pytest.raises(NotFound, match="no file or folder"):
        read_query(pictured, tmp_path / "missing")


def test_a_query_is_described_as_the_gallery_is(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as empty:
        add(empty.path, [picture_folder(tmp_path / "album")], descriptor="lbp:rows=2,columns=2", cropped=True)
        found = read_query(empty, npz(tmp_path / "x.npz", "q", images=faces(2)))
        np.testing.assert_array_equal(found.faces, Lbp(rows=2, columns=2).describe_many(faces(2)))


def test_a_query_takes_the_array_of_the_gallery(tmp_path: Path, path: Path) -> None:
    add(path, [npz(tmp_path / "x.npz", e=vectors(6))])
    with Gallery(path) as gallery:
        several = npz(tmp_path / "y.npz", "q", d=vectors(2, seed=8), e=vectors(2, seed=9), images=faces(2))
        asked = read_query(gallery, several)
        np.testing.assert_array_equal(asked.faces, vectors(2, seed=9))
        assert len(asked.pictures) == 2
        for wrong in (npz(tmp_path / "z.npz", "q", images=faces(2)), picture_folder(tmp_path / "album")):
            with pytest.raises(LookalikeError):
                read_query(gallery, wrong)


# Ids.


def test_ids_from_every_kind_of_source_are_plain_text(tmp_path: Path) -> None:
    """Arrays of NumPy have texts of their own, which are written otherwise."""
    given, features = vectors(6), tmp_path / "f.npy"
    np.save(features, vectors(8))
    sources: list[tuple[Path, dict[str, Any]]] = [
        (npz(tmp_path / "x.npz", embeddings=given), {}),
        (parquet(tmp_path / "x.parquet", embedding=given), {}),
        (picture_folder(tmp_path / "album"), {"cropped": True}),
        (youtube(tmp_path / "ytf"), {}),
        (tracks(tmp_path / "x.txt"), {"features": features}),
    ]
    for number, (source, options) in enumerate(sources):
        first, again = (add(tmp_path / f"{number}.gallery", [source], **options) for _ in range(2))
        with Gallery(tmp_path / f"{number}.gallery") as gallery:
            ids = [*first.added, *again.unchanged, *gallery.ids(), *(one.id for one in gallery.sets())]
        assert len(ids) >= 12
        assert {type(id) for id in ids} == {str}, source.name
