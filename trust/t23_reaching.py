"""T23: media that try to reach out open no socket and no other file; the system itself is asked (strace)."""

from __future__ import annotations

import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice, product
from pathlib import Path
from typing import Final

from lookalike.progress import Track, silent
from tests import media
from tests.gallery.children import PREAMBLE
from trust.apart import ROOT
from trust.outcome import Failures, Outcome, share_of

TITLE: Final = (
    "media that reach out: playlists, scripts, references, links; no socket and no file beside the given ones"
)
RELEASE: Final = 69
LEFT_OUT: Final = "systems without strace, where only a listener and the faces found are looked at"

LOOK: Final = """
from lookalike.ingest.footage import add_footage
done = add_footage(Path(sys.argv[1]), [Path(sys.argv[2])], "lbp")
print(len(done.added), done.files, len(done.failed))
"""

Write = Callable[[Path, str], object]


def _text(form: str) -> Write:
    return lambda path, target: path.write_text(form.replace("TARGET", target))


def _hidden(path: Path, target: str) -> None:
    """A playlist as the subtitles of an AVI: players that go by content open it."""
    text = f"#EXTM3U\n#EXTINF:10,\n{target}\n#EXT-X-ENDLIST\n".encode()
    stream = b"GAB2\0\2\0" + struct.pack("<IHI", 0, 4, len(text)) + text
    body = b"AVI LIST\x04\0\0\0hdrlLIST" + struct.pack("<I", 12 + len(stream)) + b"movi00tx"
    body += struct.pack("<I", len(stream)) + stream
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)


def _linked(path: Path, target: str) -> None:
    made = media.linked_video(path.parent, Path(target))
    made.rename(path)


def _link(path: Path, target: str) -> None:
    """A symbolic link that leads out of the folder that is looked through."""
    path.symlink_to(target)


def _behind(form: str) -> Write:
    """After the first bytes of something else."""

    def write(path: Path, target: str) -> None:
        path.write_bytes(b"\0\0\0\x18ftypisom\0\0\2\0isomiso2" + form.replace("TARGET", target).encode())

    return write


HLS: Final = "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:2.2,\nTARGET\n#EXT-X-ENDLIST\n"
NESTED: Final = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nTARGET\n"
KEY: Final = '#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="TARGET"\n#EXTINF:2,\nTARGET\n#EXT-X-ENDLIST\n'
CONCAT: Final = "ffconcat version 1.0\nfile 'TARGET'\n"
SUBFILE: Final = "#EXTM3U\n#EXTINF:2,\nconcat:subfile,,start,0,end,99,,:TARGET|TARGET\n#EXT-X-ENDLIST\n"
DASH: Final = (
    '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><AdaptationSet>'
    '<Representation id="1" mimeType="video/mp4"><BaseURL>TARGET</BaseURL></Representation></AdaptationSet>'
    "</Period></MPD>"
)
SDP: Final = (
    "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\na=control:TARGET\n"
)
SVG: Final = '<svg xmlns="http://www.w3.org/2000/svg"><image href="TARGET" width="99" height="99"/></svg>'
XXE: Final = '<!DOCTYPE x [<!ENTITY y SYSTEM "TARGET">]><svg xmlns="http://www.w3.org/2000/svg">&y;</svg>'
PLS: Final = "[playlist]\nFile1=TARGET\nNumberOfEntries=1\n"
RAM: Final = "RTSPtextTARGET\r\n"

WAYS: Final[tuple[tuple[str, Write], ...]] = (
    ("a.m3u8", _text(HLS)),
    ("b.mp4", _text(HLS)),
    ("c.ffconcat", _text(CONCAT)),
    ("d.mp4", _text(CONCAT)),
    ("e.mov", _linked),
    ("f.avi", _hidden),
    ("g.mpd", _text(DASH)),
    ("h.mp4", _text(DASH)),
    ("i.mkv", _text(NESTED)),
    ("j.mp4", _text(KEY)),
    ("k.ts", _text(SUBFILE)),
    ("l.sdp", _text(SDP)),
    ("m.mp4", _text(SDP)),
    ("n.svg", _text(SVG)),
    ("o.jpg", _text(SVG)),
    ("p.jpg", _text(XXE)),
    ("q.pls", _text(PLS)),
    ("r.mp4", _behind(HLS)),
    ("s.mov", _text(RAM)),
    ("t.jpg", _text(HLS)),
    ("link.mp4", _link),
    ("link.jpg", _link),
    ("link", _link),
)


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """All cases in one run that is watched: whatever is opened names the case."""
    started, failures, cases = time.monotonic(), Failures("T23"), 0
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as listener:
        folder = Path(name)
        cases = _written(folder, share_of(RELEASE, share, 4), listener.getsockname()[1])
        for _ in track([0], "T23", 1):
            failures += _watched(folder)
        listener.settimeout(0.01)
        try:
            listener.accept()
            failures.append("somebody connected to the listener")
        except TimeoutError:
            pass
    note = "" if shutil.which("strace") else "without strace: only the listener was asked"
    return Outcome("T23", cases, failures, time.monotonic() - started, note)


def _written(folder: Path, count: int, port: int) -> int:
    (folder / "in").mkdir()
    (folder / "outside").mkdir()
    good = media.video(folder, ".mp4")
    shutil.copy(media.photo(folder), folder / "in" / "good.jpg")
    written = 0
    for number, (kind, (name, write)) in enumerate(islice(product(range(3), WAYS), count)):
        target = folder / "outside" / f"case-{number}.mp4"
        shutil.copy(good, target)
        said = (str(target), f"../outside/{target.name}", f"http://127.0.0.1:{port}/case-{number}.ts")[kind]
        write(folder / "in" / f"{number}-{name}", said)
        written += 1
    return written


def _watched(folder: Path) -> list[str]:
    """Look for faces in the folder, and read what the system was asked for."""
    log = folder / "log"
    words = [sys.executable, "-c", PREAMBLE + LOOK, str(folder / "g"), str(folder / "in")]
    if shutil.which("strace"):
        calls = "trace=%network,open,openat,openat2,creat"
        words = ["strace", "-f", "-qq", "-s", "300", "-e", calls, "-o", str(log), *words]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if ended.returncode:
        return [f"it ended with {ended.returncode}: {ended.stderr[-300:]}"]
    wrong = []
    if log.exists() and "good.jpg" not in log.read_text(errors="replace"):
        wrong.append("strace has not seen what was opened")
    for line in log.read_text(errors="replace").splitlines() if log.exists() else ():
        if re.search(r"sa_family=AF_INET|socket\(AF_INET|outside/case-|/in/\d+-link", line):
            wrong.append(line[:200])
    found, files, _ = map(int, ended.stdout.split())
    # The good photo; the film with a reference is a film of its own, of which nothing is seen.
    if found > 1:
        wrong.append(f"{found} sets were found in {files} files: one photo has a face")
    return wrong
