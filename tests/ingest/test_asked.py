"""What a worker of an engine does with one file, and what it says if it cannot."""

from __future__ import annotations

import os
import pickle
import platform
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lookalike import registry
from lookalike.errors import BadInput, NotFound
from lookalike.ingest import remote
from lookalike.ingest.files import find_files
from lookalike.ingest.remote import Asked, library_versions, look_at
from lookalike.ingest.seen import Settings
from lookalike.ingest.workers import Gathered, Workers, gather
from tests import media
from tests.ingest.test_workers import pids

LBP = registry.build("descriptors", "lbp")
MACHINE = f"the machine {platform.node()!r}"


def asked(path: Path, **changes: object) -> Asked:
    [file] = find_files(path).media
    whole = Asked(file, file.sha256(), Settings(), LBP.identity, "", library_versions())
    return replace(whole, **changes)  # type: ignore[arg-type]


def test_what_travels_is_what_this_machine_would_find(tmp_path: Path) -> None:
    one = asked(media.video(tmp_path))
    with Workers(Settings()) as workers:
        *_, (_, expected) = gather(workers, [one.file], LBP)
    found = pickle.loads(pickle.dumps(look_at(pickle.loads(pickle.dumps(one)))))
    assert isinstance(expected, Gathered)
    assert [track for track, _ in found.tracks] == [track for track, _ in expected.tracks]
    for (_, faces), (_, others) in zip(found.tracks, expected.tracks, strict=True):
        assert np.array_equal(faces, others)
    assert (found.remark, found.reason) == ("", None)


def test_nothing_is_done_for_nothing() -> None:
    assert look_at(None) == Gathered()


def test_a_child_is_kept_for_the_next_file_and_replaced_when_it_was_stopped(tmp_path: Path) -> None:
    one = asked(media.photo(tmp_path))
    look_at(one)
    first = remote._workers(Settings())
    [child] = pids(first)
    look_at(one)
    assert pids(remote._workers(Settings())) == [child]
    first.close()  # as somebody does who interrupts
    assert len(look_at(one).tracks) == 1
    other = replace(one, settings=Settings(rate=2.0))
    [child] = pids(remote._workers(Settings()))
    look_at(other)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_file_that_cannot_be_used_is_told_and_not_raised(tmp_path: Path) -> None:
    reason = look_at(asked(media.headless_video(tmp_path))).reason
    assert isinstance(reason, BadInput)
    assert str(reason).startswith(f"{str(tmp_path / 'headless.mp4')!r} cannot be read as a video")


def test_a_file_that_is_not_there_or_not_the_same(tmp_path: Path) -> None:
    one = asked(media.photo(tmp_path))
    other = look_at(replace(one, content="0" * 64)).reason
    assert isinstance(other, BadInput)
    assert f"is another file on {MACHINE}, or was changed meanwhile: all machines must" in str(other)
    one.file.path.unlink()
    missing = look_at(one).reason
    assert isinstance(missing, NotFound)
    assert f"is not there on {MACHINE}: all machines must reach" in str(missing)
    one.file.path.mkdir()
    unread = look_at(one).reason
    assert isinstance(unread, BadInput)
    assert str(unread).endswith(f" (on {MACHINE})")


def test_another_version_of_a_library_is_refused(tmp_path: Path) -> None:
    one = asked(media.photo(tmp_path))
    assert [name.split()[0] for name in one.versions][:2] == ["av", "opencv-python-headless"]
    [found] = [name for name in one.versions if name.startswith("av ")]
    with pytest.raises(BadInput, match=rf"^{MACHINE} has {found}, the one that asks has 1\.0: install"):
        look_at(replace(one, versions=("av 1.0",)))
    # What only one of the two has is missed by whoever uses it, if it is.
    assert look_at(replace(one, versions=("unheard-of 1.0",))).reason is None


def test_a_model_that_is_not_there_is_said_with_the_machine(tmp_path: Path) -> None:
    one = asked(media.photo(tmp_path), descriptor="onnx:sha256=" + "ab" * 32, model_file="/nowhere.onnx")
    with pytest.raises(NotFound, match=rf"/nowhere\.onnx.* \(on {MACHINE}\)$"):
        look_at(one)
