"""Guard: who may ask this server anything. Every request passes here first, every answer last.

The page shows faces of people to one person at one machine. Other pages that this person has open, other
programs and other machines must neither see them nor change anything:

- The ``Host`` must be ours: a foreign name that was made to point here (DNS rebinding) is refused.
- ``Origin`` and ``Sec-Fetch-Site`` must not name anybody else: other pages, and those of other ports of this
  machine, are refused.
- The address that was printed holds a token. It works once, and becomes a cookie that scripts cannot read and
  that the browser never sends along for another site. Without the cookie nothing is shown.
- What changes something is never a GET, must say that it comes from our own page, and carries a header and
  a content type that a form of another page cannot send.
- Programs show a key instead (``Authorization: Bearer``), if there are any. No page of others can send that
  header: browsers would ask us first, and are told nothing. It opens what its scopes are for (`Keys`).
- Bodies have a largest size. The headers of every answer, errors too, forbid the browser everything foreign.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import os
import re
import secrets
import stat
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from hmac import compare_digest
from http import HTTPStatus
from pathlib import Path
from typing import Final, NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lookalike.errors import BadInput, readable, unreadable
from lookalike.web.wording import where

logger = logging.getLogger(__name__)

UPLOADS = ("/api/uploads", "/api/files")
PUBLIC = "/static/"
MOST_JSON, MOST_UPLOAD = 2**20, 2 * 2**30
# Seconds in which each piece of a body must come.
FOR_BODY = 60.0
# What the guard tells of a request: whether it showed the cookie or a key, and what the key is called.
OWNER, KEY = "lookalike.owner", "lookalike.key"
# So many wrong tokens within so many seconds; then wrong ones are told to wait. The right one always works.
WRONG, WITHIN = 10, 60.0
USED = "This address works once, in one browser, or is not the printed one: start `lookalike` for a new one."
# What browsers say of a request from our own page, and of an address that somebody typed.
OURS = ("same-origin", "none")

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; img-src 'self'; media-src 'self'; "
    "style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# Files of our own show nobody: a browser may keep them, and asks each time whether they are still the same.
KEPT = "no-cache"

# Keys of programs.

READ, DECIDE, ADD = SCOPES = ("read", "decide", "add")
# 128 random bits take 22 letters; digits, letters, hyphens and underscores need no quotation marks anywhere.
LETTERS: Final = re.compile(r"[A-Za-z0-9_-]{22,200}")
# Names are shown in the history of decisions.
LONGEST_NAME: Final = 100
LINE: Final = 1000
# Requests that a key may make at once, and each second from then on.
BURST, RATE = 60, 20.0
MAKE: Final = "python -c 'import secrets; print(secrets.token_urlsafe(24))' makes one"


class Denied(NamedTuple):
    """Why a request with a key is refused; and how many seconds later it would not be, if time helps."""

    status: int
    words: str
    wait: float = 0.0


def scope_of(method: str, path: str) -> str | None:
    """What a key must be for to ask this; None if it is no matter of programs.

    An upload is looked through and forgotten: to read. Only what is kept of it is added.
    """
    if method in ("GET", "HEAD"):
        return READ if path.startswith(("/api/", "/pictures/", "/films/")) else None
    looking = re.fullmatch(r"/api/(searches(/evidence)?|uploads(/[^/]+/together)?)", path)
    if looking or (method == "DELETE" and path.startswith("/api/uploads/")):
        return READ
    if path.startswith(("/api/judgements", "/api/people", "/api/groups")):
        return DECIDE
    return ADD if path.startswith("/api/") else None


@dataclass
class Key:
    """A key as it is remembered: its name, its scopes, the hash of it, and how much it may ask just now."""

    name: str
    scopes: frozenset[str]
    digest: bytes
    left: float = BURST
    seen: float = 0.0

    def wait(self, now: float) -> float:
        """Count a request; how many seconds it comes too early, 0 if it does not."""
        self.left = min(BURST, self.left + RATE * (now - self.seen))
        self.seen = now
        if self.left < 1:
            return (1 - self.left) / RATE
        self.left -= 1
        return 0.0


class Keys:
    """The keys of a server.

    Parameters
    ----------
    keys : iterable of Key
    clock : callable
        Seconds, ever increasing.
    """

    def __init__(self, keys: Iterable[Key] = (), clock: Callable[[], float] = time.monotonic) -> None:
        self._keys = {one.digest: one for one in keys}
        self._clock = clock

    def __bool__(self) -> bool:
        return bool(self._keys)

    def find(self, header: str) -> Key | None:
        """The key that a request shows (``Authorization: Bearer KEY``); None if there is no such key.

        Looked up by its hash: how long that takes says nothing of keys that are like it.
        """
        kind, _, given = header.partition(" ")
        found = self._keys.get(hashed(given.strip()))
        return found if kind.lower() == "bearer" else None

    def denied(self, key: Key, method: str, path: str) -> Denied | None:
        """Why a key does not open this; None if it does."""
        wait = key.wait(self._clock())
        if wait:
            said = f"This key asks too often: at most {BURST} at once and {RATE:.0f} a second. Wait a moment."
            return Denied(429, said, wait)
        scope = scope_of(method, path)
        if scope is None:
            return Denied(403, "Keys are for the interface of programs, /api/ and its pictures and films.")
        if scope not in key.scopes:
            return Denied(403, f"This key is not for that: its line of the key file needs {scope!r}.")
        return None


def hashed(key: str) -> bytes:
    """What is remembered of a key."""
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


def read_keys(path: Path) -> Keys:
    """Read a key file: on each line a name, scopes with commas between them, and the key.

    Parameters
    ----------
    path : Path
        A text that nobody but its owner may read. Empty lines, and those that begin with ``#``, say nothing.

    Raises
    ------
    NotFound, BadInput
        If it cannot be read, others may read it, or a line is wrong; no sentence shows a key.
    """
    try:
        with path.open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise BadInput(
                    f"the key file {readable(path)!r} can be read or changed by others: "
                    f"`chmod 600` it, and make new keys if others may have read it"
                )
            lines = file.read(LINE * 1000).splitlines()
    except UnicodeDecodeError:
        raise BadInput(f"the key file {readable(path)!r} is no text in UTF-8: write it anew") from None
    except OSError as reason:
        raise unreadable(path, reason) from None
    found: list[Key] = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            found.append(_read_line(line, f"line {number} of the key file {readable(path)!r}"))
            if found[-1].name in [one.name for one in found[:-1]]:
                raise BadInput(f"line {number} of the key file {readable(path)!r} has a name that is taken")
    if not found:
        raise BadInput(f"the key file {readable(path)!r} has no key: write NAME SCOPES KEY; {MAKE}")
    if len({one.digest for one in found}) < len(found):
        raise BadInput(f"the key file {readable(path)!r} has one key twice: give everybody their own; {MAKE}")
    return Keys(found)


def _read_line(line: str, where: str) -> Key:
    pieces = line.split()
    if len(pieces) != 3:
        raise BadInput(
            f"{where} has {len(pieces)} words: write NAME SCOPES KEY, as in `nightly read,add ...`"
        )
    name, scopes, key = pieces
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise BadInput(
            f"{where} has a name that is not one of at most {LONGEST_NAME} letters that can be seen"
        )
    chosen = frozenset(scopes.split(","))
    if not chosen <= set(SCOPES):
        wrong = min(chosen - set(SCOPES))
        raise BadInput(f"{where} has the scope {wrong!r}: choose from {', '.join(SCOPES)}")
    if not LETTERS.fullmatch(key):
        raise BadInput(
            f"{where} has a key of {len(key)} characters: it takes 22 to 200 letters, digits, - and _; {MAKE}"
        )
    return Key(name, chosen, hashed(key))


# Who may ask.

NO_KEYS = Keys()
Say = Callable[[Request, int, str], Response]


class Guard:
    """Lets through what our own page asks, and nothing else.

    Parameters
    ----------
    app : ASGIApp
        What is guarded.
    token : str
        The secret in the printed address; it works once.
    hosts : collection of str
        Names and ports by which the server is reached, as in ``127.0.0.1:8417``.
    say : callable
        Makes the answer out of a request, a status and a sentence.
    most_upload : int
        Largest upload in bytes.
    keys : Keys
        Those of programs.
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        hosts: Collection[str],
        say: Say,
        most_upload: int = MOST_UPLOAD,
        keys: Keys = NO_KEYS,
    ) -> None:
        self._app, self._say, self._most_upload, self._keys = app, say, most_upload, keys
        self._hosts = frozenset(hosts)
        self._token: bytes | None = token.encode()
        self._session: bytes | None = None
        self._wrong: deque[float] = deque(maxlen=WRONG)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request, started = Request(scope), False

        async def guarded_send(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if scope["path"].startswith(PUBLIC) and message["status"] < 400:
                    headers["Cache-Control"] = KEPT
            await send(message)

        refused = self._refusal(request) or self._entering(request)
        if refused is not None:
            await refused(scope, receive, guarded_send)
            return
        try:
            most = self._most_upload if scope["path"] in UPLOADS else MOST_JSON
            await self._app(scope, limited(request, receive, most), guarded_send)
        except Exception as mistake:
            logger.error("a mistake of ours, at %s %s: %s", request.method, _route(scope), where(mistake))
            if not started:
                sentence = "Something went wrong on our side: try again, or start the server again."
                await self._say(request, 500, sentence)(scope, receive, guarded_send)

    def _refusal(self, request: Request) -> Response | None:
        """Why a request cannot come from our own page; None if it can."""
        headers = request.headers
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return self._say(request, 400, "This server is reached by its printed address only.")
        foreign = any(origin != f"http://{hosts[0]}" for origin in origins)
        sites = headers.getlist("sec-fetch-site")
        if foreign or any(site not in OURS for site in sites):
            return self._say(request, 403, "Another page asked for this. Open the printed address yourself.")
        if request.method in ("GET", "HEAD"):
            return None
        if request.method not in ("POST", "DELETE"):
            return self._say(request, 405, f"{request.method} is not done here.")
        from_page = (origins or sites == ["same-origin"]) and headers.get("x-lookalike") == "1"
        if not (from_page or self._shows_key(request)):
            return self._say(request, 403, "Changes are made from the page itself, or as its manual says.")
        wanted = "multipart/form-data" if request.scope["path"] in UPLOADS else "application/json"
        if request.method == "POST" and _content_type(headers) != wanted:
            return self._say(request, 415, f"This must be sent as {wanted}.")
        return None

    def _shows_key(self, request: Request) -> bool:
        return bool(self._keys) and "authorization" in request.headers

    def _entering(self, request: Request) -> Response | None:
        """Turn the token into a cookie, once; refuse who has neither. None if the cookie or key is right."""
        if self._shows_key(request):
            key = self._keys.find(request.headers["authorization"])
            if key is None:
                return self._wrong_secret(request, "There is no such key.")
            request.scope[OWNER], request.scope[KEY] = True, key.name
            denied = self._keys.denied(key, request.method, request.scope["path"])
            return None if denied is None else later(self._say(request, *denied[:2]), denied.wait)
        # Two servers on one machine share its cookies, which know no ports: each has its own name.
        cookie = f"lookalike-{(request.scope.get('server') or ('', 0))[1]}"
        given = request.cookies.get(cookie, "").encode()
        known = self._session is not None and compare_digest(given, self._session)
        if request.scope["path"] == "/" and request.method == "GET" and "token" in request.query_params:
            token = request.query_params["token"].encode()
            enter = RedirectResponse("/", HTTPStatus.SEE_OTHER)
            if self._token is not None and compare_digest(token, self._token):
                self._token, self._session = None, secrets.token_hex(16).encode()
                enter.set_cookie(cookie, self._session.decode(), path="/", httponly=True, samesite="strict")
                return enter
            return enter if known else self._wrong_secret(request, USED)
        request.scope[OWNER] = known
        if known or (request.method == "GET" and request.scope["path"].startswith(PUBLIC)):
            return None
        return self._say(request, 401, "Open the address that `lookalike` printed, in this browser.")

    def _wrong_secret(self, request: Request, sentence: str) -> Response:
        now = time.monotonic()
        if len(self._wrong) == WRONG and (wait := self._wrong[0] + WITHIN - now) > 0:
            said = "Too many wrong addresses or keys were tried: wait a minute."
            return later(self._say(request, 429, said), wait)
        self._wrong.append(now)
        return self._say(request, 401, sentence)


def _route(scope: Scope) -> str:
    """The pattern that a request matched: what stands in its place may name somebody, and is not logged."""
    return str(getattr(scope.get("route"), "path", "no known address"))


def _content_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def later(answer: Response, seconds: float) -> Response:
    """The same answer, which says when to come again if that is a matter of time."""
    if seconds > 0:
        answer.headers["Retry-After"] = str(math.ceil(seconds))
    return answer


def limited(request: Request, receive: Receive, most: int) -> Receive:
    """Stop reading a body that is too large, whatever it says of its length, or that does not come."""
    read, is_read = 0, False

    async def receive_limited() -> Message:
        nonlocal read, is_read
        try:
            # Once all of it is read, this waits for whoever asked to leave, however long that takes.
            message = await (receive() if is_read else asyncio.wait_for(receive(), FOR_BODY))
        except TimeoutError:
            raise HTTPException(408, f"Nothing came for {FOR_BODY:.0f} seconds: send it again.") from None
        is_read = not message.get("more_body", False)
        read += len(message.get("body", b""))
        said = request.headers.get("content-length", "")
        if read > most or (said.isdecimal() and int(said[:20]) > most):
            raise HTTPException(413, f"This is too large: at most {most // 2**20} MB can be taken.")
        return message

    return receive_limited
