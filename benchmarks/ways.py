"""Ways through the house: how many files and functions of ours, and transactions, four things run through.

``python -m benchmarks.ways`` draws a small gallery and a film, does each thing once to have everything
loaded, then again while it counts, and writes ``bench-results/ways.json``. ``--list`` also names the files.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import io
import json
import os
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

import lookalike

ROOT = Path(lookalike.__file__).parent
RESULTS = Path("bench-results")
PEOPLE = 24

# Run by every Python that our processes start: tells each function that it enters, once, through a pipe,
# since a child that decodes may write no file.
CHILD = """
import os, sys, threading
out, seen = os.open(os.environ["LOOKALIKE_WAYS"], os.O_WRONLY), set()
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code not in seen:
        seen.add(code)
        if code.co_filename.startswith(os.environ["LOOKALIKE_ROOT"]) and code.co_flags & 1:
            os.write(out, f"{code.co_filename}\\t{code.co_qualname}\\n".encode())
threading.setprofile(note)
sys.setprofile(note)
"""


@dataclass
class Way:
    """What was run through: functions as (file, name), those of children apart."""

    functions: set[tuple[str, str]] = field(default_factory=set)
    in_children: set[tuple[str, str]] = field(default_factory=set)
    transactions: int = 0
    manifests: int = 0

    def counts(self) -> dict[str, int]:
        """The figures that are written."""
        return {
            "files": len(files(self.functions)),
            "files_with_children": len(files(self.functions | self.in_children)),
            "functions": len(self.functions),
            "files_in_children": len(files(self.in_children)),
            "functions_in_children": len(self.in_children),
            "transactions": self.transactions,
            "manifest_reads": self.manifests,
        }


def files(functions: set[tuple[str, str]]) -> list[str]:
    """The files that functions are in, below the package."""
    return sorted({str(Path(file).relative_to(ROOT)) for file, _ in functions})


class Tracer:
    """Counts while a way is followed; made before the threads that it shall see."""

    def __init__(self, folder: Path) -> None:
        self._way: Way | None = None
        self._codes: dict[Any, tuple[str, str] | None] = {}
        (folder / "sitecustomize.py").write_text(CHILD)
        pipe = folder / "pipe"
        os.mkfifo(pipe)
        # Open for both: then the pipe lasts longer than any child, and reading it does not wait for one.
        self._pipe = os.open(pipe, os.O_RDWR)
        self._heard_all = threading.Event()
        before = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), str(ROOT.parent), before)))
        os.environ |= {"LOOKALIKE_WAYS": str(pipe), "LOOKALIKE_ROOT": str(ROOT)}
        threading.Thread(target=self._listen, daemon=True).start()
        sys.addaudithook(self._heard)
        connect = sqlite3.connect

        def connected(*given: Any, **more: Any) -> sqlite3.Connection:
            connection = connect(*given, **more)
            connection.set_trace_callback(self._stated)
            return connection

        sqlite3.connect = connected  # type: ignore[assignment]  # for as long as this process lasts
        threading.setprofile(self._called)

    @contextmanager
    def following(self) -> Iterator[Way]:
        """Count what happens in the block."""
        way = self._way = Way()
        sys.setprofile(self._called)
        try:
            yield way
        finally:
            sys.setprofile(None)
            # An empty line comes behind all that children have told.
            self._heard_all.clear()
            os.write(self._pipe, b"\n")
            self._heard_all.wait()
            self._way = None

    def _called(self, frame: FrameType, event: str, argument: object) -> None:
        way, code = self._way, frame.f_code
        if way is None or event != "call":
            return
        if code not in self._codes:
            is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
            self._codes[code] = _named(code.co_filename, code.co_qualname) if is_function else None
        named = self._codes[code]
        if named is not None:
            way.functions.add(named)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and self._way is not None:
            path, mode, _ = arguments
            self._way.manifests += "r" in (mode or "") and str(path).endswith("manifest.json")

    def _stated(self, statement: str) -> None:
        if self._way is not None and statement.upper().startswith("BEGIN"):
            self._way.transactions += 1

    def _listen(self) -> None:
        with open(self._pipe, "rb", closefd=False) as told:
            for line in told:
                file, _, name = line.decode().rstrip("\n").partition("\t")
                named = _named(file, name)
                if not file:
                    self._heard_all.set()
                elif self._way is not None and named is not None:
                    self._way.in_children.add(named)


def _named(file: str, name: str) -> tuple[str, str] | None:
    """A function of ours by its file and name; what has no name belongs to the function around it."""
    is_ours = file.startswith(f"{ROOT}{os.sep}") and file.endswith(".py")
    last = name.rpartition(".")[2]
    # With every import line Python asks the package for its modules, and for former names of them: that is no
    # part of a way.
    is_import = last in ("find_spec", "__getattr__") and file.endswith("__init__.py")
    return (file, name) if is_ours and not last.startswith("<") and not is_import else None


def ways(folder: Path) -> dict[str, Way]:
    """Follow each way in an empty folder.

    Everything is done twice: what is loaded and made the first time is no part of the way.
    """
    tracer = Tracer(folder)
    gallery, ids = _draw(folder)
    films = folder / "films.gallery"
    first, second = _films(folder)
    return {
        "find": _followed(tracer, ("find", gallery, ids[0]), ("find", gallery, ids[1])),
        "add": _followed(tracer, ("add", films, first), ("add", films, second)),
        "page": _page(tracer, gallery),
        "forget": _followed(tracer, ("forget", gallery, ids[-1]), ("forget", gallery, ids[-2])),
    }


def _followed(tracer: Tracer, before: Sequence[object], words: Sequence[object]) -> Way:
    _run(*before)
    with tracer.following() as way:
        _run(*words)
    return way


def _run(*words: object) -> None:
    """Run a command in this process."""
    from lookalike.cli.app import app

    with redirect_stdout(io.StringIO()):
        app([*map(str, words), "--json", "--quiet"], standalone_mode=False)


def _page(tracer: Tracer, gallery: Path) -> Way:
    """Open a set on the page, which shows its answers too."""
    from lookalike.web.app import create_app

    host, token = "127.0.0.1:8417", "a" * 22
    app = create_app(gallery, token, [host])

    async def opened() -> Way:
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client,
        ):
            await client.get(f"/?token={token}")
            keys = [one["key"] for one in (await client.get("/api/sets?limit=2")).json()["sets"]]
            (await client.get(f"/sets/{keys[0]}")).raise_for_status()
            with tracer.following() as way:
                (await client.get(f"/sets/{keys[1]}")).raise_for_status()
        return way

    return asyncio.run(opened())


def _draw(folder: Path) -> tuple[Path, list[str]]:
    """A gallery of drawn clips, indexed and trained, and the ids of its sets."""
    from lookalike.demo.films import draw_collection, write_collection

    write_collection(folder, draw_collection(PEOPLE, sets=(1, 3), frames=4, size=64))
    gallery = folder / "drawn.gallery"
    done = lookalike.add(gallery, [folder / "clips"], cropped=True)
    with lookalike.Gallery(gallery) as opened:
        lookalike.open_search(opened)
    return gallery, done.added


def _films(folder: Path) -> tuple[Path, Path]:
    from lookalike.demo.footage import draw_footage, write_footage

    made = []
    for seed in (0, 1):
        film = draw_footage(people=2, seconds=5, rate=10, seed=seed)
        made.append(folder / f"film-{seed}.mp4")
        write_footage(made[-1], film.frames(), film.rate)
    return made[0], made[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.ways", description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the JSON file")
    parser.add_argument("--list", action="store_true", help="name the files of each way")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = ways(Path(folder))
    options.out.mkdir(parents=True, exist_ok=True)
    record = {"version": lookalike.__version__, "ways": {name: way.counts() for name, way in found.items()}}
    (options.out / "ways.json").write_text(json.dumps(record, indent=2) + "\n")
    for name, way in found.items():
        print(
            f"{name}: "
            + ", ".join(f"{count} {what.replace('_', ' ')}" for what, count in way.counts().items())
        )
        for file in files(way.functions | way.in_children) if options.list else ():
            print(f"  {file}")


if __name__ == "__main__":
    main()
