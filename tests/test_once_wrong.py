"""Once wrong: every fault that was found by attacking the verbs, kept as a case."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike import FaceSet, Gallery, Search, find, index, open_search, registry, train
from lookalike.cli import demo, output
from lookalike.errors import BadInput, Conflict, NotFound, StorageFailed
from lookalike.gallery.export import export
from lookalike.gallery.forget import remove
from lookalike.indexing.build import index_states
from lookalike.indexing.store import TableStore
from lookalike.ingest.add import add
from lookalike.progress import silent
from lookalike.rerankers.learnt import Learnt
from lookalike.search.question import read_query
from lookalike.similarities.contract import SetSimilarity
from lookalike.similarities.max_max import MaxMax
from tests.announced import is_indexed
from tests.small_world import small_world


def world():
    return small_world(people=4, sets=2, faces=3)[0]


@pytest.fixture
def gallery(tmp_path):
    with Gallery(tmp_path / "g", create=True) as gallery:
        for one in world():
            gallery.add(one)
        yield gallery


def npz(path, names, each=2, **arrays):
    np.savez(
        path, image_set=np.repeat(np.arange(len(names)), each), set_names=np.array(list(names)), **arrays
    )
    return path


# terminal


@pytest.mark.parametrize("id", [":smile:", "a:+1:b", r"x\[red]y", "\\[/]", "\\"])
def test_table_prints_ids_literally(id, capsys):
    output.print_table([("set", "left"), ("n", "left")], [(id, 1)])
    assert capsys.readouterr().out.splitlines()[1].split() == [id, "1"]


def test_say_prints_literally(capsys):
    output.say(":smile:")
    assert capsys.readouterr().err == ":smile:\n"


def test_title_is_literal(capsys):
    output.print_table([("set", "left")], [("a long enough row",)], title="[b]x[/b]")
    assert "[b]x[/b]" in capsys.readouterr().out


def test_table_prints_escape_sequences_harmlessly(capsys):
    output.print_table([("origin", "left")], [("/films/\x1b[31mred\nnext",)])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert len(out.splitlines()) == 2


# demo


def test_demo_does_not_delete_clips_that_are_mine(tmp_path, monkeypatch):
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / "holiday.mp4").write_text("mine")
    monkeypatch.setattr(demo, "PEOPLE", 2)
    with pytest.raises(BadInput):
        demo.run(tmp_path, 0, silent)
    assert (tmp_path / "clips" / "holiday.mp4").exists()


def test_bad_seed_keeps_the_earlier_demo(tmp_path):
    (tmp_path / "clips").mkdir()
    (tmp_path / "labels.csv").write_text("")
    with pytest.raises(BadInput):
        demo.run(tmp_path, -1, silent)
    assert (tmp_path / "labels.csv").exists()


@pytest.mark.parametrize("how", ["link", "dot"])
def test_demo_into_an_empty_folder_by_link_or_dot(tmp_path, how, monkeypatch):
    monkeypatch.setattr(
        demo, "draw_collection", lambda *a, **k: (_ for _ in ()).throw(StorageFailed("enough"))
    )
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path / "real")
    with pytest.raises(StorageFailed, match="enough"):
        demo.run(tmp_path / "link" if how == "link" else Path("."), 0, silent)


# removing


def left(gallery, what):
    return [p for p in Path(f"{gallery.path}.derived").rglob("*") if p.is_file() and what in p.read_bytes()]


def marked():
    faces = np.random.default_rng(7).normal(size=(3, 12))
    return FaceSet("forget-me", faces)


@pytest.mark.parametrize("damage", ["manifest", "killed"])
def test_removal_reaches_tables_nobody_can_read(gallery, damage):
    gallery.add(marked())
    index(gallery)
    [stored] = TableStore.beside(gallery.path).stored()
    if damage == "manifest":
        (stored.path / "manifest.json").write_text("{")
    else:  # what a killed process leaves: everything but the last rename
        stored.path.rename(stored.path.with_name(".writing-0123456789abcdef"))
    remove(gallery, ["forget-me"])
    assert left(gallery, b"forget-me") == []


# indexing and training against a gallery that changes meanwhile


def test_set_added_between_contents_and_fingerprint_is_not_lost(gallery, monkeypatch):
    real = Gallery.contents
    extra = FaceSet("zz", marked().faces)
    once = []

    def contents(self):
        found = real(self)
        if not once:
            once.append(1)
            self.add(extra)  # another process, right now
        return found

    monkeypatch.setattr(Gallery, "contents", contents)
    index(gallery)
    assert "zz" in index(gallery).ids


def test_regressor_of_older_tables_is_not_stored_for_the_newer_gallery(gallery):
    tables = index(gallery)
    gallery.add(FaceSet("zz", marked().faces))  # another process, between index and train
    train(tables, "learnt", 0, gallery)
    now = index(gallery)
    stored, fresh = train(now, "learnt", 0, gallery), train(now, "learnt", 0)
    np.testing.assert_array_equal(stored.regressor_.landmarks_, fresh.regressor_.landmarks_)


def test_silently_changed_weights_are_noticed(gallery):
    tables = index(gallery)
    first = train(tables, "learnt", 0, gallery)
    [kept] = [one for one in TableStore.beside(gallery.path).stored() if " seed " in one.manifest.kind]
    path = kept.path / kept.manifest.arrays["weights"].file
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 0x10
    path.write_bytes(damaged)
    again = train(tables, "learnt", 0, gallery)
    np.testing.assert_array_equal(again.regressor_.weights_, first.regressor_.weights_)


def test_status_knows_whether_what_was_learnt_fits(gallery):
    train(index(gallery), "learnt", 0, gallery)
    assert all(state["fits"] for state in index_states(gallery))


# exporting


def test_export_below_a_file(gallery, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StorageFailed):
        export(gallery, tmp_path / "file" / "x.npz")


def test_export_to_a_name_too_long(gallery, tmp_path):
    with pytest.raises(StorageFailed):
        export(gallery, tmp_path / ("x" * 300))


def test_interrupted_export_of_pictures_can_be_repeated(tmp_path, monkeypatch):
    with Gallery(tmp_path / "g", create=True) as gallery:
        gallery.add(FaceSet("a", [[1.0, 2.0]], pictures=[b"picture"]))

        def stop(aside, path):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr("lookalike.atomic.link", stop)
            with pytest.raises(KeyboardInterrupt):
                export(gallery, tmp_path / "x.npz", pictures=tmp_path / "faces")
        assert export(gallery, tmp_path / "x.npz", pictures=tmp_path / "faces") == 1


def test_export_does_not_take_over_a_file_of_mine(gallery, tmp_path):
    (tmp_path / "x.npz.unfinished").write_text("mine")
    export(gallery, tmp_path / "x.npz")
    assert (tmp_path / "x.npz.unfinished").read_text() == "mine"


def test_export_ids_as_a_string(gallery, tmp_path):
    with pytest.raises(BadInput, match="list"):
        export(gallery, tmp_path / "x.npz", "clip-000")


def test_there_and_back_without_options_and_query_again(tmp_path):
    rng = np.random.default_rng(0)
    add(tmp_path / "g", [npz(tmp_path / "x.npz", "abc", e=rng.normal(size=(6, 8)))])
    with Gallery(tmp_path / "g") as gallery:
        export(gallery, tmp_path / "out.npz")
        add(tmp_path / "h", [tmp_path / "out.npz"])
        with Gallery(tmp_path / "h") as again:
            assert again.descriptor == gallery.descriptor
            assert again.fingerprint() == gallery.fingerprint()


def test_there_and_back_into_its_own_gallery(tmp_path):
    rng = np.random.default_rng(0)
    add(tmp_path / "g", [npz(tmp_path / "x.npz", "abc", e=rng.normal(size=(6, 8)))])
    with Gallery(tmp_path / "g") as gallery:
        export(gallery, tmp_path / "out.npz")
        remove(gallery, ["a"])
        assert add(tmp_path / "g", [tmp_path / "out.npz"]).added == ["a"]
        assert read_query(gallery, tmp_path / "out.npz", "b").id == "b"


# ingest


def test_query_of_another_kind_and_equal_length_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    add(
        tmp_path / "g",
        [npz(tmp_path / "x.npz", "ab", images=rng.integers(0, 255, (4, 30, 26), dtype=np.uint8))],
    )
    other = npz(tmp_path / "y.npz", "q", embeddings=rng.normal(size=(2, 1770)))
    with Gallery(tmp_path / "g") as gallery, pytest.raises(Conflict):
        read_query(gallery, other)


def test_pictures_for_a_gallery_of_arrays_are_refused_in_words_that_help(tmp_path):
    rng = np.random.default_rng(0)
    add(tmp_path / "g", [npz(tmp_path / "x.npz", "ab", e=rng.normal(size=(4, 8)))])
    images = npz(tmp_path / "y.npz", "q", images=rng.integers(0, 255, (2, 30, 26), dtype=np.uint8))
    (tmp_path / "album").mkdir()
    Image.fromarray(rng.integers(0, 255, (30, 26), dtype=np.uint8)).save(tmp_path / "album" / "1.png")
    for source in (tmp_path / "album", images):
        with pytest.raises(Conflict, match="ready-made descriptors"):
            add(tmp_path / "g", [source])


def test_sources_as_one_string(tmp_path):
    os.chdir(tmp_path)
    (tmp_path / "ab").mkdir()
    with pytest.raises(BadInput, match="list"):
        add(tmp_path / "g", "ab")


def test_link_to_a_forbidden_place_in_a_folder(tmp_path, monkeypatch):
    (tmp_path / "album").mkdir()
    Image.fromarray(np.arange(900, dtype=np.uint8).reshape(30, 30)).save(tmp_path / "album" / "1.png")
    (tmp_path / "album" / "link").symlink_to("/proc/1/cwd/x")
    if os.access("/proc/1/cwd", os.R_OK):
        real = Path.is_file

        def is_file(self):
            if self.name == "link":
                raise PermissionError(13, "Permission denied", str(self))
            return real(self)

        monkeypatch.setattr(Path, "is_file", is_file)
    assert add(tmp_path / "g", [tmp_path / "album"], cropped=True).added == ["album"]


# numbers


@pytest.mark.parametrize("similarity", registry.names("similarities"))
def test_a_copy_of_one_face_is_first(similarity):
    rng = np.random.default_rng(0)
    sets = [FaceSet(f"{n:02d}", rng.normal(size=(1 + n % 3, 40)) + 1) for n in range(12)]
    for one in sets:
        assert find(FaceSet("copy", one.faces), sets, similarity)[0].id == one.id


def test_threads_of_a_caller_leave_the_library_as_it_was():
    from lookalike.kernels.threads import one_blas_thread
    from tests.kernels.test_threads import arithmetic_libraries

    def limits():
        return {one["filepath"]: one["num_threads"] for one in arithmetic_libraries()}

    before, meet, seen = limits(), threading.Barrier(2), []

    def enter_and_leave(late):
        with one_blas_thread():
            meet.wait()
            time.sleep(0.05 * late)
            seen.append(set(limits().values()))

    threads = [threading.Thread(target=enter_and_leave, args=(late,)) for late in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [{1}, {1}]
    assert limits() == before


@pytest.mark.parametrize("wrong", ["x.gallery", Path("x.gallery"), None, [[1.0, 2.0]], {"a": 1}])
def test_what_is_no_gallery_is_said(wrong):
    with pytest.raises(BadInput, match="Gallery"):
        find("a", wrong)


def test_what_is_no_query_is_said():
    sets, _ = small_world(people=2)
    with pytest.raises(BadInput, match="a set id or a FaceSet"):
        find(np.ones((2, 3)), sets)
    assert list(open_search(sets).find_many([])) == []
    with pytest.raises(BadInput, match="open_search"):
        Search(index(sets), "learnt")
    with pytest.raises(BadInput, match="not fitted"):
        Search(index(sets), Learnt()).find(sets[0].id)


@pytest.mark.parametrize(
    "wrong",
    [{"origin": None}, {"sources": [Path("a")]}, {"sources": None}, {"pictures": "abc"}, {"sources": "a"}],
)
def test_what_is_no_part_of_a_set_is_said(wrong):
    with pytest.raises(BadInput, match="must be"):
        FaceSet("a", [[1.0, 2.0]], **wrong)


def test_a_set_that_comes_back_without_its_pictures_is_the_same_set(tmp_path):
    with Gallery(tmp_path / "g", create=True) as gallery:
        assert gallery.add(FaceSet("a", [[1.0, 2.0]], pictures=[b"picture"]))
        assert not gallery.add(FaceSet("a", [[1.0, 2.0]]))
        with pytest.raises(Conflict):
            gallery.add(FaceSet("a", [[1.0, 2.5]]))


def test_a_newer_version_of_a_part_does_not_find_old_tables(gallery):
    class Mine(MaxMax):
        def match_many(self, a, b):
            found = super().match_many(a, b)
            return found._replace(scores=found.scores / self.version)

        def match_near(self, *asked):
            return SetSimilarity.match_near(self, *asked)

    old = index(gallery, Mine())
    assert is_indexed(gallery, Mine())
    Mine.version = 2
    assert not is_indexed(gallery, Mine())
    # Nor is it brought up to date from them: every score is made again.
    np.testing.assert_array_equal(index(gallery, Mine()).neighbours.scores, old.neighbours.scores / 2)


def test_an_interrupted_removal_leaves_nothing_of_the_set(gallery):
    gallery.add(marked())
    index(gallery)

    def stop(items, text, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        remove(gallery, ["forget-me"], stop)
    assert left(gallery, b"forget-me") == []


def test_a_wrong_id_costs_no_work(gallery):
    index(gallery)
    gallery.add(marked())

    def no_work(items, text, total):
        raise AssertionError(text)

    with pytest.raises(NotFound):
        remove(gallery, ["typo"], no_work)
